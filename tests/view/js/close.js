// What the tests of the page share: bytes of a fixture, and equality of answers.
import assert from "node:assert/strict";

export const bytesOf = (text) => {
  const buffer = Buffer.from(text, "base64");
  return buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.byteLength);
};

// Equal, numbers to twelve digits.
export function assertClose(found, wanted, where) {
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

// A test for each question of a fixture: what the page answers is what Python did.
export async function assertAnswers(asked, local, remoteOf) {
  for (const { method, args, question, details, answer } of asked) {
    const remote = remoteOf(async (put, given) => {
      assert.equal(put, question);
      assert.deepEqual(JSON.parse(JSON.stringify(given ?? {})), details);
      return bytesOf(answer);
    });
    assertClose(await local[method](...args), await remote[method](...args), `${method}(${JSON.stringify(args)})`);
  }
}
