// Names of internal nodes on the picture: the largest first, none over another.
import { OPEN } from "./walk.js";

const MOST_NODE_NAMES = 24;
const LEAST_EXTENT = 44;
const LINE_HEIGHT = 15;
const LEAST_TYPE = 5.5, MOST_TYPE = 11.5;

// place(k) -> { x, y } where the middle of the text goes, or null
export function paintNodeNames(ctx, frame, store, look, place, width, height) {
  const named = [];
  for (let k = 0; k < frame.length; k++) {
    if (frame.kind[k] === OPEN && frame.up[k] >= 0 && frame.extent[k] >= LEAST_EXTENT) named.push(k);
  }
  named.sort((a, b) => store.size[frame.slot[b]] - store.size[frame.slot[a]]);
  const taken = [];
  ctx.font = look.font;
  ctx.textAlign = "center";
  ctx.textBaseline = "middle";
  for (const k of named) {
    if (taken.length >= MOST_NODE_NAMES) break;
    const name = look.inner(frame.slot[k]), spot = name && place(k);
    if (!spot) continue;
    const text = look.fitted(name, 170), half = look.width(text) / 2 + 4;
    const box = { x0: spot.x - half, x1: spot.x + half, y0: spot.y - LINE_HEIGHT / 2, y1: spot.y + LINE_HEIGHT / 2 };
    if (!text || box.x0 < 0 || box.y0 < 0 || box.x1 > width || box.y1 > height || taken.some((other) => overlaps(box, other))) continue;
    taken.push(box);
    ctx.globalAlpha = 0.82;
    ctx.fillStyle = look.background;
    ctx.fillRect(box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0);
    ctx.globalAlpha = 1;
    ctx.fillStyle = look.text;
    ctx.fillText(text, spot.x, spot.y);
  }
}

// Type that fits a row of this many pixels, in half points; 0 where nothing could be read.
export function typeFor(extent) {
  const size = Math.min(Math.floor(2 * extent - 1) / 2, MOST_TYPE);
  return size < LEAST_TYPE - 1 ? 0 : Math.max(size, LEAST_TYPE);
}

function overlaps(a, b) {
  return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}
