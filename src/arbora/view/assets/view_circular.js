// Root in the middle, leaves around: the dendrogram in polar coordinates.
import { PlanarView, Ink, nearestDrawn } from "./planar.js";
import { paintNodeNames } from "./labels.js";
import { OPEN, CLOSED, LEAF } from "./walk.js";

const TURN = 2 * Math.PI;
// Pixels.
const THIN = 4;

export class CircularView extends PlanarView {
  fitted() {
    const whole = Math.min(this.width, this.height) / 2 - 30;
    const room = (TURN * (whole - this.labelSpace)) / this.store.nLeaves >= 11 ? this.labelSpace : 0;
    const side = Math.max(whole - room, 40);
    return { px: this.width / 2, py: this.height / 2, zx: side, zy: side };
  }

  angleAt(position) {
    return (TURN * position) / this.store.nLeaves - Math.PI / 2;
  }

  locate(i) {
    const angle = this.angleAt(this.store.x[i]), r = this.camera.zx * this.store.along[i];
    this.sx = this.camera.px + r * Math.cos(angle);
    this.sy = this.camera.py + r * Math.sin(angle);
  }

  extent(i) {
    return (this.camera.zx * TURN * this.store.size[i]) / this.store.nLeaves;
  }

  // Bounding box of the sector that a node's subtree covers, against the window.
  outside(i) {
    const s = this.store, c = this.camera;
    if (s.size[i] * 2 >= s.nLeaves) return false;
    const from = this.angleAt(s.start[i]), to = this.angleAt(s.start[i] + s.size[i]);
    const r0 = c.zx * s.along[i], r1 = c.zx * s.bottom[i] + 4;
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    const include = (angle, r) => {
      const x = c.px + r * Math.cos(angle), y = c.py + r * Math.sin(angle);
      x0 = Math.min(x0, x); x1 = Math.max(x1, x);
      y0 = Math.min(y0, y); y1 = Math.max(y1, y);
    };
    include(from, r0); include(from, r1); include(to, r0); include(to, r1);
    for (let q = Math.ceil(from / (Math.PI / 2)); q * (Math.PI / 2) <= to; q++) include(q * (Math.PI / 2), r1);
    return x1 < -2 || y1 < -2 || x0 > this.width + 2 || y0 > this.height + 2;
  }

  leafSpot(start) {
    const angle = this.angleAt(start + 0.5);
    return { x: this.camera.px + this.camera.zx * Math.cos(angle), y: this.camera.py + this.camera.zx * Math.sin(angle) };
  }

  focusCamera(i) {
    const s = this.store, f = this.fitted();
    const angle = this.angleAt(s.start[i] + s.size[i] / 2);
    const share = s.size[i] / s.nLeaves;
    if (share > 0.5) return f;
    const from = s.parent[i] >= 0 ? s.along[s.parent[i]] : 0;
    const middle = (from + s.bottom[i]) / 2;
    const across = Math.max(TURN * share * 0.9, s.bottom[i] - from, 6 / s.nLeaves);
    const zoom = Math.max((Math.min(this.width, this.height) * 0.8) / across, f.zx);
    return { zx: zoom, zy: zoom, px: this.width / 2 - zoom * middle * Math.cos(angle), py: this.height / 2 - zoom * middle * Math.sin(angle) };
  }

  paint(ctx, frame, look) {
    const ink = new Ink(ctx, look.css, look.neutral);
    const s = this.store, c = this.camera;
    ctx.lineWidth = look.line;
    this.paintThin(ctx, frame, ink);
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] === CLOSED && frame.extent[k] >= THIN) {
        ink.fill(frame.color[k]);
        this.paintClosed(ctx, frame, k);
      }
    }
    let pending = 0;
    ctx.beginPath();
    for (let k = 0; k < frame.length; k++) {
      const up = frame.up[k];
      if (up < 0) continue;
      if (frame.color[k] !== ink.strokeIndex || pending >= 120) {
        if (pending) ctx.stroke();
        ink.stroke(frame.color[k]);
        ctx.beginPath();
        pending = 0;
      }
      this.addBranch(ctx, s.along[frame.slot[up]] * c.zx, s.x[frame.slot[up]], frame, k);
      pending++;
    }
    if (pending) ctx.stroke();
    this.paintLabels(ctx, frame, look);
  }

  // Closed nodes of a few pixels, side by side and of one color, are one band: a spoke for each would cost
  // most of a frame.
  paintThin(ctx, frame, ink) {
    const s = this.store;
    let from = -1, to = -1, color = -2;
    const inner = [];
    const flush = () => {
      if (inner.length) this.fillBand(ctx, ink, color, inner, from, to);
      inner.length = 0;
    };
    ctx.globalAlpha = 0.5;
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] !== CLOSED || frame.extent[k] >= THIN) continue;
      const i = frame.slot[k];
      if (frame.color[k] !== color || s.start[i] < to || (s.start[i] - to) * this.camera.zx * TURN > s.nLeaves) {
        flush();
        from = s.start[i];
        color = frame.color[k];
      }
      to = s.start[i] + s.size[i];
      inner.push(k, frame.x[k], frame.y[k]);
    }
    flush();
    ctx.globalAlpha = 1;
  }

  fillBand(ctx, ink, color, inner, from, to) {
    const c = this.camera, a = this.angleAt(from), b = this.angleAt(to);
    ink.fill(color);
    ctx.beginPath();
    ctx.moveTo(inner[1], inner[2]);
    for (let k = 3; k < inner.length; k += 3) ctx.lineTo(inner[k + 1], inner[k + 2]);
    ctx.lineTo(c.px + c.zx * Math.cos(b), c.py + c.zx * Math.sin(b));
    ctx.arc(c.px, c.py, c.zx, b, a, true);
    ctx.closePath();
    ctx.fill();
  }

  // Along the parent's circle to the child's direction, then straight out.
  addBranch(ctx, radius, parentPosition, frame, k) {
    const c = this.camera, position = this.store.x[frame.slot[k]];
    const to = this.angleAt(position), from = this.angleAt(parentPosition);
    const arc = Math.abs(to - from) * radius;
    const x = c.px + radius * Math.cos(to), y = c.py + radius * Math.sin(to);
    if (arc > 1.5) {
      ctx.moveTo(c.px + radius * Math.cos(from), c.py + radius * Math.sin(from));
      ctx.arc(c.px, c.py, radius, from, to, to < from);
    } else ctx.moveTo(x, y);
    ctx.lineTo(frame.x[k], frame.y[k]);
  }

  paintClosed(ctx, frame, k) {
    const i = frame.slot[k], s = this.store, c = this.camera;
    const from = this.angleAt(s.start[i]), to = this.angleAt(s.start[i] + s.size[i]);
    const r = c.zx * s.bottom[i];
    ctx.globalAlpha = 0.5;
    ctx.beginPath();
    ctx.moveTo(frame.x[k], frame.y[k]);
    ctx.lineTo(c.px + r * Math.cos(from), c.py + r * Math.sin(from));
    if (frame.extent[k] > 6) ctx.arc(c.px, c.py, r, from, to);
    else ctx.lineTo(c.px + r * Math.cos(to), c.py + r * Math.sin(to));
    ctx.closePath();
    ctx.fill();
    ctx.globalAlpha = 1;
  }

  paintLabels(ctx, frame, look) {
    ctx.font = look.font;
    ctx.textBaseline = "middle";
    ctx.fillStyle = look.text;
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] === OPEN || frame.extent[k] < 11) continue;
      const i = frame.slot[k];
      const angle = this.angleAt(this.store.start[i] + this.store.size[i] / 2);
      const r = this.camera.zx * this.store.bottom[i] + 6;
      const x = this.camera.px + r * Math.cos(angle), y = this.camera.py + r * Math.sin(angle);
      if (x < -60 || y < -60 || x > this.width + 60 || y > this.height + 60) continue;
      const text = frame.kind[k] === LEAF ? look.name(this.store.id[i]) : look.title(i);
      if (!text) continue;
      const flipped = Math.cos(angle) < 0;
      ctx.save();
      ctx.translate(x, y);
      ctx.rotate(flipped ? angle + Math.PI : angle);
      ctx.textAlign = flipped ? "right" : "left";
      ctx.fillText(text, 0, 0);
      ctx.restore();
    }
    paintNodeNames(ctx, frame, this.store, look, (k) => ({ x: frame.x[k], y: frame.y[k] - 10 }), this.width, this.height);
  }

  outline(ctx, i) {
    const s = this.store, c = this.camera;
    const from = this.angleAt(s.start[i]), to = this.angleAt(s.start[i] + s.size[i]);
    ctx.beginPath();
    ctx.arc(c.px, c.py, c.zx * s.bottom[i] + 2, from, to);
    ctx.arc(c.px, c.py, Math.max(c.zx * s.along[i] - 2, 0), to, from, true);
    ctx.closePath();
    ctx.fill();
  }

  hit(frame, x, y) {
    const near = nearestDrawn(frame, x, y, 9);
    if (near >= 0) return frame.slot[near];
    const s = this.store, c = this.camera;
    const dx = x - c.px, dy = y - c.py;
    const r = Math.hypot(dx, dy) / c.zx;
    const position = ((((Math.atan2(dy, dx) + Math.PI / 2) / TURN) % 1) + 1) % 1 * s.nLeaves;
    let best = -1, bestSize = Infinity;
    for (let k = 0; k < frame.length; k++) {
      const i = frame.slot[k];
      if (frame.kind[k] === OPEN || position < s.start[i] || position >= s.start[i] + s.size[i]) continue;
      const inner = frame.up[k] >= 0 ? s.along[frame.slot[frame.up[k]]] : 0;
      if (r >= inner && r <= s.bottom[i] + 40 / c.zx && s.size[i] < bestSize) {
        best = i;
        bestSize = s.size[i];
      }
    }
    return best;
  }
}
