// One rectangle per node inside its parent's, its area the number of its leaves.
import { PlanarView, Ink } from "./planar.js";
import { paintNodeNames } from "./labels.js";
import { OPEN, LEAF } from "./walk.js";

// Opacity of open nodes (not painted), closed nodes and leaves.
const TILE_ALPHA = [0, 0.62, 0.8];

export class TreemapView extends PlanarView {
  fitted() {
    const margin = 20;
    return { px: margin, py: margin, zx: Math.max(this.width - 2 * margin, 50), zy: Math.max(this.height - 2 * margin - 14, 50) };
  }

  locate(i) {
    const s = this.store, c = this.camera;
    this.sx = c.px + (c.zx * (s.x0[i] + s.x1[i])) / 2;
    this.sy = c.py + (c.zy * (s.y0[i] + s.y1[i])) / 2;
  }

  // The shorter side decides: a node thinner than a few pixels is painted as one.
  extent(i) {
    const s = this.store;
    return Math.min(this.camera.zx * (s.x1[i] - s.x0[i]), this.camera.zy * (s.y1[i] - s.y0[i]));
  }

  outside(i) {
    const s = this.store, c = this.camera;
    return c.px + c.zx * s.x0[i] > this.width || c.px + c.zx * s.x1[i] < 0 ||
      c.py + c.zy * s.y0[i] > this.height || c.py + c.zy * s.y1[i] < 0;
  }

  leafSpot() {
    return null;
  }

  focusCamera(i) {
    const s = this.store, f = this.fitted();
    const w = Math.max(s.x1[i] - s.x0[i], 1e-6), h = Math.max(s.y1[i] - s.y0[i], 1e-6);
    const ratio = Math.min(0.9 / w, 0.9 / h);
    const zx = f.zx * ratio, zy = f.zy * ratio;
    return { zx, zy, px: this.width / 2 - (zx * (s.x0[i] + s.x1[i])) / 2, py: this.height / 2 - (zy * (s.y0[i] + s.y1[i])) / 2 };
  }

  paint(ctx, frame, look) {
    const ink = new Ink(ctx, look.css, look.neutral);
    const s = this.store, c = this.camera;
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] === OPEN) continue;
      const i = frame.slot[k];
      const x = c.px + c.zx * s.x0[i], y = c.py + c.zy * s.y0[i];
      const w = c.zx * (s.x1[i] - s.x0[i]), h = c.zy * (s.y1[i] - s.y0[i]);
      ink.fill(frame.color[k]);
      ctx.globalAlpha = TILE_ALPHA[frame.kind[k]];
      ctx.fillRect(x, y, Math.max(w, 0.7), Math.max(h, 0.7));
    }
    ctx.globalAlpha = 1;
    this.paintBorders(ctx, frame, look);
    this.paintLabels(ctx, frame, look);
  }

  // Lines between siblings, the wider the higher their parent: the nesting is read from them.
  paintBorders(ctx, frame, look) {
    const s = this.store, c = this.camera;
    ctx.fillStyle = look.background;
    for (let k = 0; k < frame.length; k++) {
      if (frame.up[k] < 0) continue;
      const i = frame.slot[k], parent = frame.slot[frame.up[k]];
      const e = frame.extent[frame.up[k]];
      if (e < 4) continue;
      const line = Math.min(5, 0.35 + e / 110);
      const x0 = c.px + c.zx * s.x0[i], y0 = c.py + c.zy * s.y0[i], x1 = c.px + c.zx * s.x1[i], y1 = c.py + c.zy * s.y1[i];
      if (s.x0[i] > s.x0[parent] + 1e-7) ctx.fillRect(x0 - line / 2, y0, line, y1 - y0);
      if (s.y0[i] > s.y0[parent] + 1e-7) ctx.fillRect(x0, y0 - line / 2, x1 - x0, line);
    }
  }

  paintLabels(ctx, frame, look) {
    const s = this.store, c = this.camera;
    ctx.font = look.font;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] === OPEN || frame.extent[k] < 14) continue;
      const i = frame.slot[k], w = c.zx * (s.x1[i] - s.x0[i]);
      if (w < 26) continue;
      const text = look.fitted(frame.kind[k] === LEAF ? look.name(s.id[i]) : look.title(i), w - 8);
      if (!text) continue;
      ctx.fillStyle = look.textOn(frame.color[k], TILE_ALPHA[frame.kind[k]]);
      ctx.fillText(text, c.px + c.zx * s.x0[i] + 4, c.py + c.zy * s.y0[i] + 4);
    }
    paintNodeNames(ctx, frame, s, look, (k) => ({ x: frame.x[k], y: frame.y[k] }), this.width, this.height);
  }

  outline(ctx, i) {
    const { x, y, w, h } = this.box(i);
    ctx.fillRect(x, y, w, h);
  }

  box(i) {
    const s = this.store, c = this.camera;
    return {
      x: c.px + c.zx * s.x0[i], y: c.py + c.zy * s.y0[i],
      w: Math.max(c.zx * (s.x1[i] - s.x0[i]), 2), h: Math.max(c.zy * (s.y1[i] - s.y0[i]), 2),
    };
  }

  hit(frame, x, y) {
    const s = this.store, c = this.camera;
    const u = (x - c.px) / c.zx, v = (y - c.py) / c.zy;
    for (let k = 0; k < frame.length; k++) {
      const i = frame.slot[k];
      if (frame.kind[k] !== OPEN && u >= s.x0[i] && u < s.x1[i] && v >= s.y0[i] && v < s.y1[i]) return i;
    }
    return -1;
  }
}
