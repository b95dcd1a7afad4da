// The Poincaré disk: the tree in the hyperbolic plane, moved by isometries (focus and context).
import { Ink, nearestDrawn } from "./planar.js";
import { mobiusMove, mobiusAngle, mobiusDrag, mobiusTranslate, clampToDisk } from "./mobius.js";
import { paintNodeNames } from "./labels.js";
import { OPEN, CLOSED, LEAF } from "./walk.js";

const FULL_TURN = 2 * Math.PI;
// Pixels: shorter branches are drawn straight.
const STRAIGHT_BELOW = 14;

export class DiskView {
  constructor(store) {
    this.store = store;
    this.sx = 0;
    this.sy = 0;
    this.width = 1;
    this.height = 1;
    this.labelSpace = 0;
    this.camera = this.fitted();
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  fitted() {
    return { ax: 0, ay: 0, ux: 1, uy: 0 };
  }

  fit() {
    this.camera = this.fitted();
  }

  get radius() {
    const whole = Math.min(this.width, this.height) / 2 - 30;
    const named = (FULL_TURN * (whole - this.labelSpace)) / this.store.nLeaves >= 13;
    return Math.max(named ? whole - 0.8 * this.labelSpace : whole, 40);
  }

  angleAt(position) {
    return (FULL_TURN * position) / this.store.nLeaves - Math.PI / 2;
  }

  // Disk coordinates of a point given by direction and hyperbolic distance, as seen by the camera.
  seen(angle, rho) {
    const r = Math.tanh(rho / 2), c = this.camera;
    const m = mobiusMove(r * Math.cos(angle), r * Math.sin(angle), c.ax, c.ay);
    this.dx = c.ux * m.x - c.uy * m.y;
    this.dy = c.ux * m.y + c.uy * m.x;
  }

  locate(i) {
    const s = this.store;
    this.seen(this.angleAt(s.start[i] + s.size[i] / 2), s.rho[i]);
    this.sx = this.width / 2 + this.radius * this.dx;
    this.sy = this.height / 2 + this.radius * this.dy;
  }

  boundary(position) {
    const c = this.camera;
    return mobiusAngle(this.angleAt(position), c.ax, c.ay) + Math.atan2(c.uy, c.ux);
  }

  // A subtree lies between its node and the arc of its leaves on the rim: the length of that arc, or the way there.
  extent(i) {
    const s = this.store;
    const arc = this.boundary(s.start[i] + s.size[i]) - this.boundary(s.start[i]);
    return this.radius * Math.min(Math.abs(arc), FULL_TURN);
  }

  outside() {
    return false;
  }

  leafSpot(start) {
    this.seen(this.angleAt(start + 0.5), this.store.leafRho);
    return { x: this.width / 2 + this.radius * this.dx, y: this.height / 2 + this.radius * this.dy };
  }

  toDisk(x, y) {
    return clampToDisk((x - this.width / 2) / this.radius, (y - this.height / 2) / this.radius, 0.995);
  }

  // Dragging carries the point under the pointer along: a translation of the hyperbolic plane.
  pan(dx, dy, x, y) {
    const from = this.toDisk(x - dx, y - dy), to = this.toDisk(x, y);
    this.camera = mobiusDrag(this.camera, from.x, from.y, to.x, to.y);
  }

  // Zooming in walks towards the pointer: what lies there comes to the middle and unfolds.
  zoom(x, y, factor) {
    const p = this.toDisk(x, y);
    const norm = Math.hypot(p.x, p.y);
    const step = Math.tanh(Math.log(factor) / 2);
    if (norm < 0.02) return;
    const t = clampToDisk((-p.x / norm) * step * Math.min(1, norm * 2), (-p.y / norm) * step * Math.min(1, norm * 2));
    this.camera = mobiusTranslate(this.camera, t.x, t.y);
  }

  between(a, b, t) {
    // along the geodesic from center to center, the turn by its angle
    const rel = mobiusMove(b.ax, b.ay, a.ax, a.ay);
    const norm = Math.hypot(rel.x, rel.y);
    const part = norm > 0 ? Math.tanh(t * Math.atanh(Math.min(norm, 1 - 1e-12))) / norm : 0;
    const at = mobiusMove(rel.x * part, rel.y * part, -a.ax, -a.ay);
    const center = clampToDisk(at.x, at.y);
    let turn = Math.atan2(b.uy, b.ux) - Math.atan2(a.uy, a.ux);
    turn -= FULL_TURN * Math.round(turn / FULL_TURN);
    const angle = Math.atan2(a.uy, a.ux) + turn * t;
    return { ax: center.x, ay: center.y, ux: Math.cos(angle), uy: Math.sin(angle) };
  }

  focusCamera(i) {
    const s = this.store, angle = this.angleAt(s.start[i] + s.size[i] / 2);
    const a = clampToDisk(Math.tanh(s.rho[i] / 2) * Math.cos(angle), Math.tanh(s.rho[i] / 2) * Math.sin(angle));
    return { ax: a.x, ay: a.y, ux: this.camera.ux, uy: this.camera.uy };
  }

  paint(ctx, frame, look) {
    const R = this.radius, cx = this.width / 2, cy = this.height / 2;
    ctx.beginPath();
    ctx.arc(cx, cy, R, 0, FULL_TURN);
    ctx.fillStyle = look.surface;
    ctx.fill();
    ctx.lineWidth = 1;
    ctx.strokeStyle = look.border;
    ctx.stroke();
    const ink = new Ink(ctx, look.css, look.neutral);
    this.paintClosed(ctx, frame, ink);
    this.paintBranches(ctx, frame, ink, look);
    for (let k = 0; k < frame.length; k++) {
      const size = this.dot(frame, k);
      if (size < 1) continue;
      ink.fill(frame.color[k]);
      ctx.beginPath();
      ctx.arc(frame.x[k], frame.y[k], size, 0, FULL_TURN);
      ctx.fill();
    }
    this.paintLabels(ctx, frame, look);
  }

  // Dots shrink with the metric towards the rim.
  dot(frame, k) {
    const u = (frame.x[k] - this.width / 2) / this.radius, v = (frame.y[k] - this.height / 2) / this.radius;
    const lens = Math.max(1 - u * u - v * v, 0);
    if (frame.kind[k] === LEAF) return Math.min(1 + 3 * lens, 4);
    return lens < 0.06 ? 0 : 1.2 + 4.5 * lens * Math.min(1, Math.log(1 + this.store.size[frame.slot[k]]) / 8);
  }

  paintClosed(ctx, frame, ink) {
    const R = this.radius, cx = this.width / 2, cy = this.height / 2, s = this.store;
    ctx.globalAlpha = 0.5;
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] !== CLOSED) continue;
      const i = frame.slot[k];
      const from = this.boundary(s.start[i]), to = this.boundary(s.start[i] + s.size[i]);
      ink.fill(frame.color[k]);
      ctx.beginPath();
      ctx.moveTo(frame.x[k], frame.y[k]);
      if (frame.extent[k] > 3) ctx.arc(cx, cy, R, from, to);
      else {
        ctx.lineTo(cx + R * Math.cos(from), cy + R * Math.sin(from));
        ctx.lineTo(cx + R * Math.cos(from) + 0.8, cy + R * Math.sin(from) + 0.8);
      }
      ctx.closePath();
      ctx.fill();
    }
    ctx.globalAlpha = 1;
  }

  paintBranches(ctx, frame, ink, look) {
    let pending = 0;
    ctx.lineWidth = look.line;
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
      this.addGeodesic(ctx, frame.x[up], frame.y[up], frame.x[k], frame.y[k]);
      pending++;
    }
    if (pending) ctx.stroke();
  }

  // Geodesics are circles that meet the rim at right angles.
  addGeodesic(ctx, x0, y0, x1, y1) {
    ctx.moveTo(x0, y0);
    const R = this.radius, cx = this.width / 2, cy = this.height / 2;
    if (Math.hypot(x1 - x0, y1 - y0) < STRAIGHT_BELOW) return ctx.lineTo(x1, y1);
    const px = (x0 - cx) / R, py = (y0 - cy) / R, qx = (x1 - cx) / R, qy = (y1 - cy) / R;
    const cross = px * qy - py * qx;
    if (Math.abs(cross) < 1e-3) return ctx.lineTo(x1, y1);
    const p2 = 1 + px * px + py * py, q2 = 1 + qx * qx + qy * qy;
    const ox = (p2 * qy - q2 * py) / (2 * cross), oy = (q2 * px - p2 * qx) / (2 * cross);
    const r = Math.sqrt(Math.max(ox * ox + oy * oy - 1, 0));
    const from = Math.atan2(py - oy, px - ox);
    let sweep = Math.atan2(qy - oy, qx - ox) - from;
    sweep -= FULL_TURN * Math.round(sweep / FULL_TURN);
    ctx.arc(cx + R * ox, cy + R * oy, R * r, from, from + sweep, sweep < 0);
  }

  paintLabels(ctx, frame, look) {
    ctx.font = look.font;
    ctx.textBaseline = "middle";
    ctx.fillStyle = look.text;
    const cx = this.width / 2, cy = this.height / 2;
    let lastX = NaN, lastY = NaN;
    for (let k = 0; k < frame.length; k++) {
      if (frame.kind[k] === OPEN || frame.extent[k] < 13) continue;
      if (Math.hypot(frame.x[k] - lastX, frame.y[k] - lastY) < 13) continue;
      const i = frame.slot[k];
      const text = frame.kind[k] === LEAF ? look.name(this.store.id[i]) : look.title(i);
      if (!text) continue;
      lastX = frame.x[k];
      lastY = frame.y[k];
      const angle = Math.atan2(frame.y[k] - cy, frame.x[k] - cx);
      const flipped = Math.cos(angle) < 0;
      ctx.save();
      ctx.translate(frame.x[k] + 7 * Math.cos(angle), frame.y[k] + 7 * Math.sin(angle));
      ctx.rotate(flipped ? angle + Math.PI : angle);
      ctx.textAlign = flipped ? "right" : "left";
      ctx.fillText(text, 0, 0);
      ctx.restore();
    }
    paintNodeNames(ctx, frame, this.store, look, (k) => ({ x: frame.x[k], y: frame.y[k] - 10 }), this.width, this.height);
  }

  outline(ctx, i) {
    const s = this.store;
    this.locate(i);
    ctx.beginPath();
    ctx.moveTo(this.sx, this.sy);
    ctx.arc(this.width / 2, this.height / 2, this.radius, this.boundary(s.start[i]), this.boundary(s.start[i] + s.size[i]));
    ctx.closePath();
    ctx.fill();
    ctx.beginPath();
    ctx.arc(this.sx, this.sy, 7, 0, FULL_TURN);
    ctx.fill();
  }

  hit(frame, x, y) {
    const near = nearestDrawn(frame, x, y, 10);
    return near >= 0 ? frame.slot[near] : -1;
  }

  cameraText() {
    const c = this.camera;
    return [c.ax, c.ay, c.ux, c.uy].map((v) => +v.toPrecision(15)).join(",");
  }

  setCameraText(text) {
    const [ax, ay, ux, uy] = text.split(",").map(Number);
    const norm = Math.hypot(ux, uy);
    if (![ax, ay, ux, uy].every(Number.isFinite) || norm === 0) return;
    const a = clampToDisk(ax, ay);
    this.camera = { ax: a.x, ay: a.y, ux: ux / norm, uy: uy / norm };
  }
}
