// A page that holds its data answers as the Python session does: fixtures come from tests/view/contract.py.
import { readFileSync } from "node:fs";
import { test } from "node:test";
import assert from "node:assert/strict";

const assets = new URL("../../../src/arbora/view/assets/", import.meta.url);
const { LocalSource } = await import(new URL("source_local.js", assets));
const { FoldedSource } = await import(new URL("source_folded.js", assets));
const { RemoteSource } = await import(new URL("source_remote.js", assets));
const { unpack } = await import(new URL("pack.js", assets));

const bytesOf = (text) => {
  const buffer = Buffer.from(text, "base64");
  return buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
};

// Equal, numbers to twelve digits.
function assertClose(found, wanted, where) {
  if (typeof wanted === "number" && typeof found === "number") {
    if (Number.isNaN(wanted)) return assert.ok(Number.isNaN(found), `${where}: ${found} is not NaN`);
    return assert.ok(Math.abs(found - wanted) <= 1e-12 + 1e-9 * Math.abs(wanted), `${where}: ${found} is not ${wanted}`);
  }
  if (wanted === null || typeof wanted !== "object") return assert.equal(found ?? null, wanted ?? null, where);
  assert.equal(typeof found, "object", where);
  if (ArrayBuffer.isView(wanted)) assert.equal(found.constructor, wanted.constructor, `${where}: type`);
  const keys = new Set([...Object.keys(wanted), ...Object.keys(found)]);
  for (const key of keys) assertClose(found[key], wanted[key], `${where}.${key}`);
}

for (const page of JSON.parse(readFileSync(process.env.ARBORA_CONTRACT, "utf8"))) {
  const whole = unpack(bytesOf(page.pack));
  const local = whole.facts.folded ? new FoldedSource(whole) : new LocalSource(whole);
  page.asked.forEach(({ method, args, question, details, answer }) => {
    test(`${page.name}: ${method}(${JSON.stringify(args)})`, async () => {
      const remote = new RemoteSource(async (asked, given) => {
        assert.equal(asked, question);
        assert.deepEqual(JSON.parse(JSON.stringify(given)), details);
        return bytesOf(answer);
      });
      assertClose(await local[method](...args), await remote[method](...args), method);
    });
  });
}
