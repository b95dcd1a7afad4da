// One bar per node: as tall as its leaves, from its parent's height to its own.
import { PlanarView, Ink } from "./planar.js";
import { typeFor } from "./labels.js";
import { OPEN, LEAF } from "./walk.js";

const ROOT_BAND = 0.03;
// Opacity of open nodes, closed nodes and leaves.
const ICICLE_ALPHA = [0.86, 0.5, 0.7];

export class IcicleView extends PlanarView {
  fitted() {
    const left = 24, right = 24, top = 20, bottom = 28;
    return {
      px: left, zx: Math.max(this.width - left - right, 50),
      py: top, zy: Math.max(this.height - top - bottom, 50),
    };
  }

  zoomAxes() {
    return { x: false, y: true };
  }

  left(i) {
    const p = this.store.parent[i];
    return p < 0 ? this.camera.px : this.camera.px + this.camera.zx * (ROOT_BAND + (1 - ROOT_BAND) * this.store.along[p]);
  }

  right(i) {
    return this.camera.px + this.camera.zx * (ROOT_BAND + (1 - ROOT_BAND) * this.store.along[i]);
  }

  top(i) {
    return this.camera.py + (this.camera.zy * this.store.start[i]) / this.store.nLeaves;
  }

  locate(i) {
    this.sx = this.right(i);
    this.sy = this.top(i) + this.extent(i) / 2;
  }

  extent(i) {
    return (this.camera.zy * this.store.size[i]) / this.store.nLeaves;
  }

  outside(i) {
    const top = this.top(i);
    return top > this.height + 2 || top + this.extent(i) < -2;
  }

  leafSpot(start) {
    return { x: this.camera.px + this.camera.zx, y: this.camera.py + (this.camera.zy * (start + 0.5)) / this.store.nLeaves };
  }

  focusCamera(i) {
    const f = this.fitted(), s = this.store, n = s.nLeaves;
    const zy = (f.zy * n) / (Math.max(s.size[i], Math.min(4, n)) * 1.08);
    const from = Math.min(s.parent[i] >= 0 ? s.along[s.parent[i]] : 0, 0.9995);
    const zx = f.zx / (1 - from);
    return { zx, zy, px: f.px - from * zx, py: this.height / 2 - (zy * (s.start[i] + s.size[i] / 2)) / n };
  }

  paint(ctx, frame, look) {
    const ink = new Ink(ctx, look.css, look.neutral);
    const gap = 0.5;
    for (let k = 0; k < frame.length; k++) {
      const i = frame.slot[k], top = this.top(i), e = frame.extent[k];
      if (top > this.height || top + e < 0) continue;
      const x0 = frame.up[k] >= 0 ? frame.x[frame.up[k]] : this.camera.px;
      const x1 = frame.kind[k] === OPEN ? frame.x[k] : this.camera.px + this.camera.zx * (ROOT_BAND + (1 - ROOT_BAND) * this.store.bottom[i]);
      ink.fill(frame.color[k]);
      ctx.globalAlpha = ICICLE_ALPHA[frame.kind[k]];
      const inset = e > 3 ? gap : 0;
      ctx.fillRect(x0 + gap, top + inset, Math.max(x1 - x0 - gap, 0.5), Math.max(e - 2 * inset, 0.5));
    }
    ctx.globalAlpha = 1;
    this.paintLabels(ctx, frame, look);
  }

  paintLabels(ctx, frame, look) {
    ctx.font = look.font;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    let size = 0;
    for (let k = 0; k < frame.length; k++) {
      const i = frame.slot[k], e = frame.extent[k], fitting = typeFor(e);
      if (!fitting) continue;
      if (fitting !== size) ctx.font = look.fontOf((size = fitting));
      const x0 = Math.max(frame.up[k] >= 0 ? frame.x[frame.up[k]] : this.camera.px, 0);
      const x1 = frame.kind[k] === OPEN ? frame.x[k] : this.camera.px + this.camera.zx * this.store.bottom[i];
      const room = x1 - x0 - 8;
      if (room < 22) continue;
      const text = look.fitted(frame.kind[k] === LEAF ? look.name(this.store.id[i]) : look.title(i), room);
      if (!text) continue;
      ctx.fillStyle = look.textOn(frame.color[k], ICICLE_ALPHA[frame.kind[k]]);
      const middle = Math.min(Math.max(this.top(i) + e / 2, 10), this.height - 10);
      if (middle > this.top(i) && middle < this.top(i) + e) ctx.fillText(text, x0 + 5, middle);
    }
  }

  outline(ctx, i) {
    const { x, y, w, h } = this.box(i);
    ctx.fillRect(x, y, w, h);
  }

  box(i) {
    const x1 = this.camera.px + this.camera.zx * (ROOT_BAND + (1 - ROOT_BAND) * this.store.bottom[i]);
    return { x: this.left(i), y: this.top(i), w: Math.max(x1 - this.left(i), 2), h: Math.max(this.extent(i), 2) };
  }

  hit(frame, x, y) {
    let best = -1;
    for (let k = 0; k < frame.length; k++) {
      const i = frame.slot[k], top = this.top(i);
      const left = frame.up[k] >= 0 ? frame.x[frame.up[k]] : this.camera.px;
      const right = frame.kind[k] === OPEN ? frame.x[k] : this.camera.px + this.camera.zx;
      if (y >= top && y < top + Math.max(frame.extent[k], 1) && x >= left && x <= right) best = i;
    }
    return best;
  }
}
