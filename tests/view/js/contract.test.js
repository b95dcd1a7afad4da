// A page that holds its data answers as the Python session does: fixtures come from tests/view/contract.py.
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assertAnswers, bytesOf } from "./close.js";

const assets = new URL("../../../src/arbora/view/assets/", import.meta.url);
const { LocalSource } = await import(new URL("source_local.js", assets));
const { FoldedSource } = await import(new URL("source_folded.js", assets));
const { RemoteSource } = await import(new URL("source_remote.js", assets));
const { unpack } = await import(new URL("pack.js", assets));

for (const page of JSON.parse(readFileSync(process.env.ARBORA_CONTRACT, "utf8"))) {
  const whole = unpack(bytesOf(page.pack));
  const local = whole.facts.folded ? new FoldedSource(whole) : new LocalSource(whole);
  page.asked.forEach((one) => {
    test(`${page.name}: ${one.method}(${JSON.stringify(one.args)})`, () => assertAnswers([one], local, (ask) => new RemoteSource(ask)));
  });
}
