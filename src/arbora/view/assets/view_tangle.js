// Two trees face to face; lines join the same leaf on both sides.
import { DendrogramView } from "./view_dendrogram.js";
import { typeFor } from "./labels.js";
import { Frame, LEAF, walk } from "./walk.js";
import { Store } from "./store.js";

const TREE_SHARE = 0.36;

// The second tree: root on the right.
class MirroredView extends DendrogramView {
  locate(i) {
    super.locate(i);
    this.sx = this.width - this.sx;
  }

  paintClosed(ctx, frame, k) {
    const left = this.width - (this.camera.px + this.camera.zx);
    const y = frame.y[k], e = Math.max(frame.extent[k], 0.8);
    ctx.globalAlpha = 0.55;
    ctx.fillRect(left, y - e / 2, Math.max(frame.x[k] - left, 1), e);
    ctx.globalAlpha = 1;
  }

  paint(ctx, frame, look) {
    const w = look.line;
    ctx.fillStyle = look.neutral;
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] === 1) this.paintClosed(ctx, frame, k);
      const up = frame.up[k];
      if (up < 0) continue;
      const px = frame.x[up], py = frame.y[up], x = frame.x[k], y = frame.y[k];
      ctx.fillRect(x, y - w / 2, Math.max(px - x, w), w);
      if (Math.abs(y - py) > w) ctx.fillRect(px - w / 2, Math.min(y, py) - w / 2, w, Math.abs(y - py) + w);
    }
  }
}

export class TangleView extends DendrogramView {
  constructor(store, tangle, coloring) {
    super(store);
    this.coloring = coloring;
    this.facts = tangle.facts;
    this.lines = tangle.arrays;
    const other = new Store({ ...tangle.facts, nNodes: 2 * tangle.facts.nLeaves, maxDepth: 1, scale: "height" });
    other.addRoot(tangle.arrays);
    this.other = other;
    this.mirror = new MirroredView(other);
    this.otherFrame = new Frame();
  }

  fitted() {
    return { px: 24, zx: Math.max(this.width * TREE_SHARE - 24, 50), py: 36, zy: Math.max(this.height - 66, 50) };
  }

  focusCamera(i) {
    const f = this.fitted(), s = this.store, n = s.nLeaves;
    const zy = (f.zy * n) / (Math.max(s.size[i], Math.min(6, n)) * 1.08);
    return { ...f, zy, py: this.height / 2 - (zy * (s.start[i] + s.size[i] / 2)) / n };
  }

  pan(dx, dy) {
    super.pan(0, dy);
  }

  paint(ctx, frame, look) {
    super.paint(ctx, frame, { ...look, name: () => "", title: () => "", inner: () => "" });
    this.mirror.resize(this.width, this.height);
    this.mirror.camera = this.camera;
    const plain = { clusterOfPiece: new Map(), indexOf: () => -1 };
    walk(this.other, this.mirror, plain, new Set(), { threshold: 1.5, budget: 20000 }, this.otherFrame, []);
    this.mirror.paint(ctx, this.otherFrame, look);
    this.paintLines(ctx, frame, look);
    this.paintLeafNames(ctx, frame, look);
    this.paintDistances(ctx, look);
  }

  // Names of leaves beside the first tree, over the lines.
  paintLeafNames(ctx, frame, look) {
    const c = this.camera, size = typeFor(c.zy / this.store.nLeaves);
    if (!size) return;
    ctx.font = look.fontOf(size);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    const room = Math.max((this.width - 2 * (c.px + c.zx)) / 3, 30);
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] !== LEAF || frame.y[k] < -8 || frame.y[k] > this.height + 8) continue;
      const text = look.fitted(look.name(this.store.id[frame.slot[k]]), room);
      if (!text) continue;
      const x = c.px + c.zx + 8;
      ctx.globalAlpha = 0.8;
      ctx.fillStyle = look.background;
      ctx.fillRect(x - 2, frame.y[k] - size / 2, look.width(text) * (size / 11.5) + 4, size);
      ctx.globalAlpha = 1;
      ctx.fillStyle = look.text;
      ctx.fillText(text, x, frame.y[k]);
    }
  }

  // Color of the first tree's drawn leaf or closed node that covers each line.
  lineColors(frame) {
    const ends = [];
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] !== 0) ends.push([this.store.start[frame.slot[k]], frame.color[k]]);
    }
    ends.sort((a, b) => a[0] - b[0]);
    let at = 0;
    return Array.from(this.lines.lineFrom, (position) => {
      while (at + 1 < ends.length && ends[at + 1][0] <= position) at++;
      return ends.length ? ends[at][1] : -1;
    });
  }

  paintLines(ctx, frame, look) {
    const c = this.camera, n = this.store.nLeaves;
    const x0 = c.px + c.zx + 4, x1 = this.width - x0, bend = (x1 - x0) / 2.4;
    const colors = this.lineColors(frame);
    ctx.lineWidth = this.lines.lineFrom.length > 1500 ? 0.6 : 1;
    ctx.globalAlpha = this.lines.lineFrom.length > 800 ? 0.45 : 0.75;
    const step = look.moving ? Math.ceil(this.lines.lineFrom.length / 500) : 1;
    for (let k = 0; k < this.lines.lineFrom.length; k += step) {
      const y0 = c.py + (c.zy * (this.lines.lineFrom[k] + 0.5)) / n, y1 = c.py + (c.zy * (this.lines.lineTo[k] + 0.5)) / n;
      if (Math.max(y0, y1) < 0 || Math.min(y0, y1) > this.height) continue;
      ctx.strokeStyle = colors[k] < 0 ? look.neutral : look.css[colors[k] % look.css.length];
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
      ctx.stroke();
    }
    ctx.globalAlpha = 1;
  }

  paintDistances(ctx, look) {
    const f = this.facts;
    ctx.font = look.font;
    ctx.textBaseline = "top";
    ctx.textAlign = "center";
    ctx.fillStyle = look.text;
    const share = (100 * f.robinsonFouldsShare).toFixed(1);
    const sampled = f.sampled ? ` · lines: every ${Math.round(f.nLeaves / this.lines.lineFrom.length)}th leaf` : "";
    const text = `Robinson–Foulds ${f.robinsonFoulds.toLocaleString("en")} (${share} %) · ${f.crossings.toLocaleString("en")} crossings${sampled}`;
    ctx.fillText(text, this.width / 2, 10);
  }
}
