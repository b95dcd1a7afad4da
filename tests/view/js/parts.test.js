// Parts of the page that need no browser.
import { test } from "node:test";
import assert from "node:assert/strict";

const assets = new URL("../../../src/arbora/view/assets/", import.meta.url);
const { counted, dateText, durationText, leavesText, short } = await import(new URL("format.js", assets));
const { csvCell } = await import(new URL("files.js", assets));
const { readState, stateText } = await import(new URL("link.js", assets));
const { foldText } = await import(new URL("search.js", assets));
const { mobiusDrag, mobiusMove } = await import(new URL("mobius.js", assets));
const { compareFlat } = await import(new URL("agreement.js", assets));
const { Store } = await import(new URL("store.js", assets));
const { Coloring } = await import(new URL("color.js", assets));
const { Frame, walk } = await import(new URL("walk.js", assets));

test("one leaf is one leaf", () => {
  assert.equal(leavesText(1), "1 leaf");
  assert.equal(leavesText(19043), "19,043 leaves");
  assert.equal(counted(1, "point"), "1 point");
});

test("numbers, dates and durations read as such", () => {
  assert.equal(short(0.1234567), "0.123");
  assert.equal(short(null), "–");
  assert.equal(dateText(1577836800, true), "2020-01-01");
  assert.equal(dateText(1577836860, false), "2020-01-01 00:01");
  assert.equal(dateText(1e300, true), "–");
  assert.equal(durationText(90), "90 s");
  assert.equal(durationText(86400 * 3), "3 days");
});

test("cells that begin like a formula stay text", () => {
  assert.equal(csvCell("=1+1"), "'=1+1");
  assert.equal(csvCell("-3.5"), "-3.5");
  assert.equal(csvCell('a "b", c'), '"a ""b"", c"');
});

test("the state survives the address", () => {
  const state = { view: "disk", k: 7, color: "a & b", scale: "size", theme: "dark", select: 12, camera: "1,2", collapsed: [3, 4], folds: true, report: false };
  assert.deepEqual(readState(`#${stateText(state)}`), state);
  assert.equal(readState("#select=-1&k=x").select, null);
  assert.equal(readState("").folds, null);
});

test("folding ignores case, accents and compatibility forms", () => {
  assert.equal(foldText("Straße"), "strasse");
  assert.equal(foldText("MÜLLER"), "muller");
  assert.equal(foldText("ﬁne"), "fine");
});

test("a drag carries the point under the pointer along", () => {
  const camera = mobiusDrag({ ax: 0.1, ay: 0.2, ux: 1, uy: 0 }, 0.3, 0.1, -0.2, 0.4);
  const back = mobiusMove(0.3, 0.1, -0.1, -0.2);
  const seen = mobiusMove(back.x, back.y, camera.ax, camera.ay);
  const turned = [camera.ux * seen.x - camera.uy * seen.y, camera.ux * seen.y + camera.uy * seen.x];
  assert.ok(Math.hypot(turned[0] + 0.2, turned[1] - 0.4) < 1e-9);
});

test("scores of equal and of single clusters", () => {
  assert.deepEqual(compareFlat([0, 0, 1, 1], 2, Uint16Array.of(1, 1, 0, 0), 2), { purity: 1, nmi: 1, ari: 1 });
  assert.equal(compareFlat([0, 0, 0, 0], 1, Uint16Array.of(0, 0, 1, 1), 2).ari, 0);
  assert.deepEqual(compareFlat([0], 1, Uint16Array.of(65535), 2), {});
});

// A root with two pairs below it: nodes 4 and 5 over leaves 0..3.
function smallStore() {
  const store = new Store({ nLeaves: 4, nNodes: 7, maxDepth: 2, scale: "depth" });
  store.addRoot({
    id: Int32Array.of(6, 4, 5, 0, 1, 2, 3), opened: Int32Array.of(2, 2, 2, 0, 0, 0, 0), start: Int32Array.of(0, 0, 2, 0, 1, 2, 3),
    size: Int32Array.of(4, 2, 2, 1, 1, 1, 1), rank: Int32Array.of(0, 1, 2, 3, 3, 3, 3), deep: Int32Array.of(2, 2, 2, 2, 2, 2, 2),
  });
  return store;
}

test("the walk folds what the cut does not split", () => {
  const store = smallStore(), frame = new Frame();
  const view = { locate(i) { this.sx = 10 * i; this.sy = 10 * i; }, extent: () => 100, outside: () => false };
  const coloring = new Coloring({ columns: [] }, { light: ["#000000"], dark: ["#ffffff"] });
  walk(store, view, coloring, new Set(), { threshold: 1, budget: 99 }, frame, []);
  assert.equal(frame.length, 7);
  walk(store, view, coloring, new Set(), { threshold: 1, budget: 99, foldFrom: 1 }, frame, []);
  assert.deepEqual(Array.from(frame.slot.subarray(0, frame.length), (slot) => store.id[slot]), [6, 4, 5]);
  walk(store, view, coloring, new Set([4]), { threshold: 1, budget: 99 }, frame, []);
  assert.equal(frame.length, 5);
});

test("forty clusters have forty colors, the next begins again", () => {
  const light = Array.from({ length: 40 }, (_, k) => `#0000${(k + 16).toString(16)}`);
  const coloring = new Coloring({ columns: [] }, { light, dark: light });
  assert.equal(new Set(light.map((_, k) => coloring.colorOf(k))).size, 40);
  assert.equal(coloring.colorOf(40), coloring.colorOf(0));
});
