// A page that holds its data edits its tree as the Python session does: fixtures come from tests/view/contract.py.
import { readFileSync } from "node:fs";
import { test } from "node:test";
import assert from "node:assert/strict";
import { assertAnswers, assertClose, bytesOf } from "./close.js";

const assets = new URL("../../../src/arbora/view/assets/", import.meta.url);
const { EditableSource } = await import(new URL("source_editable.js", assets));
const { RemoteSource } = await import(new URL("source_remote.js", assets));
const { pythonNumber } = await import(new URL("edit_tree.js", assets));
const { unpack } = await import(new URL("pack.js", assets));

for (const page of JSON.parse(readFileSync(process.env.ARBORA_CONTRACT, "utf8"))) {
  test(page.name, async () => {
    const source = new EditableSource(unpack(bytesOf(page.pack)));
    for (const { details, facts, error, asked } of page.steps) {
      const where = JSON.stringify(details);
      if (error) await assert.rejects(source.edit(details), { message: error }, where);
      else assertClose(await source.edit(details), facts, where);
      await assertAnswers(asked, source, (ask) => new RemoteSource(ask));
    }
  });
}

test("numbers are written as Python writes them", () => {
  const written = [1, -0, 0.1, 1e-4, 1e-5, 1.5e-7, 123456789012345680, 1e16, 1e22, 1.25e300, 2 ** 53];
  assert.deepEqual(written.map(pythonNumber), ["1.0", "-0.0", "0.1", "0.0001", "1e-05", "1.5e-07", "1.2345678901234568e+17", "1e+16", "1e+22", "1.25e+300", "9007199254740992.0"]);
});
