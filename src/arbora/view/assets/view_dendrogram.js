// Root on the left, leaves on the right: height runs across, leaves run down.
import { PlanarView, Ink, nearestDrawn } from "./planar.js";
import { paintNodeNames, typeFor } from "./labels.js";
import { OPEN, CLOSED, LEAF } from "./walk.js";

// Pixels per leaf below which names are left out.
const LABEL_SPACING = 5.3;

export class DendrogramView extends PlanarView {
  fitted() {
    const left = 28, right = 28 + this.labelRoom(1), top = 24, bottom = 30;
    return {
      px: left, zx: Math.max(this.width - left - right, 50),
      py: top, zy: Math.max(this.height - top - bottom, 50),
    };
  }

  // Room for leaf names, where zooming `times` over the whole leaves enough height for them.
  labelRoom(times) {
    const leaves = (times * (this.height - 54)) / this.store.nLeaves >= LABEL_SPACING ? this.labelSpace : 0;
    return Math.max(leaves, this.titleSpace || 0);
  }

  zoomAxes() {
    return { x: false, y: true };
  }

  locate(i) {
    this.sx = this.camera.px + this.camera.zx * this.store.along[i];
    this.sy = this.camera.py + (this.camera.zy * this.store.x[i]) / this.store.nLeaves;
  }

  extent(i) {
    return (this.camera.zy * this.store.size[i]) / this.store.nLeaves;
  }

  top(i) {
    return this.camera.py + (this.camera.zy * this.store.start[i]) / this.store.nLeaves;
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
    const size = Math.max(s.size[i], Math.min(6, n));
    const zy = (f.zy * n) / (size * 1.08);
    const py = this.height / 2 - (zy * (s.start[i] + s.size[i] / 2)) / n;
    const from = Math.min(s.parent[i] >= 0 ? s.along[s.parent[i]] : 0, 0.9995);
    const room = this.labelRoom(zy / f.zy) - this.labelRoom(1);
    const zx = (f.zx - room) / (1 - from);
    return { zx, zy, px: f.px - from * zx, py };
  }

  paint(ctx, frame, look) {
    const ink = new Ink(ctx, look.css, look.neutral);
    const w = look.line;
    for (let k = 0; k < frame.length; k++) {
      const up = frame.up[k];
      ink.fill(frame.color[k]);
      if (frame.kind[k] === CLOSED) this.paintClosed(ctx, frame, k);
      if (up < 0) continue;
      const px = frame.x[up], py = frame.y[up], x = frame.x[k], y = frame.y[k];
      if (Math.max(y, py) < -4 || Math.min(y, py) > this.height + 4) continue;
      ctx.fillRect(px, y - w / 2, Math.max(x - px, w), w);
      if (Math.abs(y - py) > w) ctx.fillRect(px - w / 2, Math.min(y, py) - w / 2, w, Math.abs(y - py) + w);
    }
    this.paintLabels(ctx, frame, look);
  }

  paintClosed(ctx, frame, k) {
    const i = frame.slot[k];
    const right = this.camera.px + this.camera.zx * this.store.bottom[i];
    const x = frame.x[k], y = frame.y[k], e = frame.extent[k];
    ctx.globalAlpha = 0.55;
    if (e < 4) ctx.fillRect(x, y - Math.max(e, 0.8) / 2, Math.max(right - x, 1), Math.max(e, 0.8));
    else {
      const top = this.top(i);
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(right, top + 0.5);
      ctx.lineTo(right, top + e - 0.5);
      ctx.closePath();
      ctx.fill();
    }
    ctx.globalAlpha = 1;
  }

  // Type shrinks with the rows, down to what can be read; below that every second name is left out.
  paintLabels(ctx, frame, look) {
    let size = typeFor(Math.max(this.camera.zy / this.store.nLeaves, LABEL_SPACING));
    ctx.font = look.fontOf(size);
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    ctx.fillStyle = look.text;
    let last = -1e9;
    for (let k = 0; k < frame.length; k++) {
      const kind = frame.kind[k], y = frame.y[k];
      if (kind === OPEN || y < -8 || y > this.height + 8 || frame.extent[k] < LABEL_SPACING) continue;
      const fitting = typeFor(frame.extent[k]);
      if (y - last < (size + fitting) / 2 - 0.5) continue;
      if (fitting !== size) ctx.font = look.fontOf((size = fitting));
      const i = frame.slot[k];
      const text = kind === LEAF ? look.name(this.store.id[i]) : look.title(i);
      if (!text) continue;
      ctx.fillText(text, this.camera.px + this.camera.zx * this.store.bottom[i] + 6, y);
      last = y;
    }
    paintNodeNames(ctx, frame, this.store, look, (k) => ({ x: (frame.x[k] + frame.x[frame.up[k]]) / 2, y: frame.y[k] - 10 }), this.width, this.height);
  }

  outline(ctx, i) {
    const x0 = this.camera.px + this.camera.zx * this.store.along[i];
    const x1 = this.camera.px + this.camera.zx * this.store.bottom[i];
    ctx.fillRect(x0, this.top(i), Math.max(x1 - x0, 3), Math.max(this.extent(i), 2));
  }

  hit(frame, x, y) {
    const near = nearestDrawn(frame, x, y, 9);
    if (near >= 0) return frame.slot[near];
    // otherwise the smallest drawn closed node or leaf on this row, or the node whose branch passes here
    let best = -1, bestExtent = Infinity;
    for (let k = 0; k < frame.length; k++) {
      const i = frame.slot[k], top = this.top(i), e = Math.max(frame.extent[k], 2);
      if (y < top || y > top + e || e >= bestExtent) continue;
      const left = frame.up[k] >= 0 ? frame.x[frame.up[k]] : frame.x[k] - 20;
      const right = frame.kind[k] === OPEN ? frame.x[k] : this.camera.px + this.camera.zx * this.store.bottom[i] + 120;
      const onBranch = Math.abs(y - frame.y[k]) < 5;
      if (x >= left && x <= right && (onBranch || (frame.kind[k] !== OPEN && x >= frame.x[k]))) {
        best = i;
        bestExtent = e;
      }
    }
    return best;
  }
}
