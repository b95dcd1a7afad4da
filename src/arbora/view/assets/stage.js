// The canvas: holds the views, paints frames, moves cameras.
import { Frame, walk } from "./walk.js";
import { SvgContext } from "./svg.js";

const MOVING = { threshold: 3, budget: 7000 };
const RESTING = { threshold: 1.2, budget: 26000 };
// Milliseconds without movement before the fine picture is painted.
const SETTLE = 140;
const MORPH = 520;
const FLIGHT = 420;

export class Stage {
  constructor(canvas, store, coloring, hooks) {
    this.canvas = canvas;
    this.store = store;
    this.coloring = coloring;
    // look(), collapsed, foldFrom(), selected(), hovered(), marks(), want(list), moved()
    this.hooks = hooks;
    this.views = {};
    this.name = null;
    this.frame = new Frame();
    this.wanted = [];
    this.lastMove = 0;
    this.lastPaint = 0;
    this.times = [];
    this.animation = null;
    this.scheduled = false;
    this.moving = { ...MOVING };
  }

  get view() {
    return this.views[this.name];
  }

  addView(name, view) {
    this.views[name] = view;
    view.resize(this.width || 1, this.height || 1);
    view.labelSpace = this.labelSpace || 0;
    view.titleSpace = this.titleSpace || 0;
    view.fit();
  }

  // Pixels for names of leaves, and for titles of closed nodes.
  setLabelSpace(pixels, titles) {
    this.labelSpace = pixels;
    this.titleSpace = titles;
    for (const view of Object.values(this.views)) Object.assign(view, { labelSpace: pixels, titleSpace: titles });
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    const width = Math.max(Math.round(box.width), 50), height = Math.max(Math.round(box.height), 50);
    if (width === this.width && height === this.height) return;
    const dpr = Math.min(window.devicePixelRatio || 1, 2);
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * dpr);
    this.canvas.height = Math.round(height * dpr);
    this.dpr = dpr;
    for (const view of Object.values(this.views)) {
      const kept = view.cameraText();
      view.resize(width, height);
      view.setCameraText(kept);
    }
    this.request();
  }

  // ---- frames -----------------------------------------------------------------------------------------

  request() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame((now) => {
      this.scheduled = false;
      this.tick(now);
    });
  }

  touch() {
    this.lastMove = performance.now();
    this.request();
  }

  tick(now) {
    if (!this.name || !this.width) return;
    if (this.animation) this.animation(now);
    else this.paint();
    if (this.animation) this.request();
    else if (performance.now() - this.lastMove < SETTLE) {
      clearTimeout(this.settling);
      this.settling = setTimeout(() => {
        this.request();
        this.hooks.moved();
      }, SETTLE + 10);
    }
  }

  get isMoving() {
    return this.animation !== null || performance.now() - this.lastMove < SETTLE;
  }

  fill(frame, options) {
    const tuned = { ...options, foldFrom: this.hooks.foldFrom() };
    for (let attempt = 0; attempt < 12; attempt++) {
      if (walk(this.store, this.view, this.coloring, this.hooks.collapsed, tuned, frame, this.wanted)) return;
      tuned.threshold *= 1.6;
    }
  }

  paint() {
    const began = performance.now();
    const moving = this.isMoving;
    this.fill(this.frame, moving ? this.moving : RESTING);
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    this.paintOn(ctx, this.frame);
    if (this.wanted.length) this.hooks.want(this.wanted);
    const took = performance.now() - began;
    if (moving) this.tune(took, began - this.lastPaint);
    this.lastPaint = began;
    this.times.push({ at: began, took, drawn: this.frame.length });
    if (this.times.length > 600) this.times.shift();
    this.hooks.painted?.();
  }

  // Movement must stay fluid: coarser when frames come slowly, finer when there is time to spare.
  // The browser rasterizes after this script has run, so the time between frames tells more than `took`.
  tune(took, since) {
    const slow = took > 24 || (since > 38 && since < 500), fast = took < 10 && since < 22;
    if (slow) {
      this.moving.budget = Math.max(1000, 0.8 * Math.min(this.moving.budget, 1.2 * this.frame.length));
      this.moving.threshold = Math.min(8, this.moving.threshold * 1.15);
    } else if (fast) {
      this.moving.budget = Math.min(MOVING.budget, this.moving.budget * 1.1);
      this.moving.threshold = Math.max(MOVING.threshold, this.moving.threshold / 1.05);
    }
  }

  paintOn(ctx, frame) {
    const look = this.hooks.look();
    look.moving = this.isMoving;
    ctx.globalAlpha = 1;
    ctx.fillStyle = look.background;
    ctx.fillRect(0, 0, this.width, this.height);
    const selected = this.hooks.selected();
    if (selected >= 0) {
      ctx.fillStyle = look.accent;
      ctx.globalAlpha = 0.16;
      this.view.outline(ctx, selected);
      ctx.globalAlpha = 1;
    }
    this.view.paint(ctx, frame, look);
    this.paintMarks(ctx, look, selected);
  }

  paintMarks(ctx, look, selected) {
    const hovered = this.hooks.hovered();
    if (hovered >= 0 && hovered !== selected) {
      ctx.fillStyle = look.accent;
      ctx.globalAlpha = 0.14;
      this.view.outline(ctx, hovered);
      ctx.globalAlpha = 1;
    }
    if (selected >= 0 && this.view.box) {
      const { x, y, w, h } = this.view.box(selected);
      ctx.strokeStyle = look.text;
      ctx.lineWidth = 2.5;
      ctx.strokeRect(x, y, w, h);
    } else if (selected >= 0) {
      this.view.locate(selected);
      ctx.strokeStyle = look.accent;
      ctx.lineWidth = 2;
      ctx.beginPath();
      ctx.arc(this.view.sx, this.view.sy, 6, 0, 2 * Math.PI);
      ctx.stroke();
    }
    ctx.fillStyle = look.accent;
    for (const start of this.hooks.marks()) {
      const spot = this.view.leafSpot(start);
      if (!spot || spot.x < -9 || spot.y < -9 || spot.x > this.width + 9 || spot.y > this.height + 9) continue;
      ctx.beginPath();
      ctx.arc(spot.x, spot.y, 3.5, 0, 2 * Math.PI);
      ctx.fill();
    }
  }

  svg() {
    const ctx = new SvgContext(this.width, this.height, null);
    this.fill(this.frame, RESTING);
    this.paintOn(ctx, this.frame);
    return ctx.toString();
  }

  // ---- switching views, flying ------------------------------------------------------------------------

  show(name, animate) {
    if (name === this.name || !this.views[name]) return;
    const from = this.name ? this.frame : null;
    const before = from && { x: from.x.slice(0, from.length), y: from.y.slice(0, from.length) };
    this.name = name;
    this.resize();
    if (!before || !animate || !from.length) {
      this.animation = null;
      this.request();
      return;
    }
    this.morph(from, before);
  }

  // Every node drawn in the old view glides to its place in the new one.
  morph(from, before) {
    const n = from.length, view = this.view;
    const tx = new Float32Array(n), ty = new Float32Array(n);
    for (let k = 0; k < n; k++) {
      view.locate(from.slot[k]);
      tx[k] = view.sx;
      ty[k] = view.sy;
    }
    const began = performance.now();
    const step = Math.max(1, Math.floor(n / 6000));
    this.animation = () => {
      const t = Math.min((performance.now() - began) / MORPH, 1);
      if (t >= 1) {
        this.animation = null;
        this.paint();
        return;
      }
      this.paintMorph(from, before, tx, ty, t * t * (3 - 2 * t), step);
    };
    this.request();
  }

  paintMorph(from, before, tx, ty, t, step) {
    const ctx = this.canvas.getContext("2d"), look = this.hooks.look();
    ctx.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    ctx.globalAlpha = 1;
    ctx.fillStyle = look.background;
    ctx.fillRect(0, 0, this.width, this.height);
    ctx.lineWidth = look.line;
    let color = -2, pending = 0;
    ctx.beginPath();
    for (let k = 0; k < tx.length; k++) {
      const up = from.up[k];
      if (up < 0 || (step > 1 && from.kind[k] !== 0 && k % step)) continue;
      if (from.color[k] !== color || pending > 120) {
        if (pending) ctx.stroke();
        color = from.color[k];
        ctx.strokeStyle = color < 0 ? look.neutral : look.css[color % look.css.length];
        ctx.beginPath();
        pending = 0;
      }
      const at = (a, b) => a + (b - a) * t;
      ctx.moveTo(at(before.x[up], tx[up]), at(before.y[up], ty[up]));
      ctx.lineTo(at(before.x[k], tx[k]), at(before.y[k], ty[k]));
      pending++;
    }
    if (pending) ctx.stroke();
  }

  fly(camera, animate) {
    const view = this.view, from = view.camera;
    if (!animate) {
      view.camera = camera;
      this.request();
      this.hooks.moved();
      return;
    }
    const began = performance.now();
    this.animation = () => {
      const t = Math.min((performance.now() - began) / FLIGHT, 1);
      view.camera = t >= 1 ? camera : view.between(from, camera, t * t * (3 - 2 * t));
      if (t >= 1) {
        this.animation = null;
        this.hooks.moved();
      }
      this.paint();
    };
    this.request();
  }
}
