// The points in the plane, in leaf order: a node's leaves are one run, so selecting a node lights up one slice.
const SCATTER_LIMIT = 60000;

export class Scatter {
  constructor(canvas, onHover, onPick, onBrush) {
    this.canvas = canvas;
    this.points = null;
    this.camera = { k: 1, x: 0, y: 0 };
    this.marked = null;
    this.brush = null;
    this.onHover = onHover;
    this.onPick = onPick;
    this.onBrush = onBrush;
    this.listen();
  }

  setPoints(points) {
    this.points = points;
    this.n = points.length / 2;
    this.step = Math.max(1, Math.ceil(this.n / SCATTER_LIMIT));
    this.colors = null;
  }

  // colors: one palette index per leaf (in leaf order), or null
  setColors(colors) {
    this.colors = colors;
  }

  place(k) {
    const side = Math.min(this.width, this.height) - 20;
    const c = this.camera;
    this.px = this.width / 2 + c.k * ((this.points[2 * k] / 65535 - 0.5) * side + c.x);
    this.py = this.height / 2 - c.k * ((this.points[2 * k + 1] / 65535 - 0.5) * side - c.y);
  }

  paint(look, selection, hovered) {
    const dpr = window.devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    if (!this.points || !this.width) return;
    const w = Math.round(this.width * dpr), h = Math.round(this.height * dpr);
    if (this.canvas.width !== w || this.canvas.height !== h) {
      this.canvas.width = w;
      this.canvas.height = h;
    }
    const ctx = this.canvas.getContext("2d");
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.clearRect(0, 0, this.width, this.height);
    const size = this.n > 20000 ? 1.5 : this.n > 3000 ? 2.5 : 4;
    ctx.globalAlpha = selection ? 0.16 : 0.75;
    this.paintRange(ctx, look, 0, this.n, size, this.step);
    ctx.globalAlpha = 1;
    if (selection) {
      const step = Math.max(1, Math.ceil(selection.size / SCATTER_LIMIT));
      this.paintRange(ctx, look, selection.start, selection.start + selection.size, size + 1, step);
    }
    if (this.marked) {
      ctx.fillStyle = look.accent;
      for (const k of this.marked) this.square(ctx, k, size + 1.5);
    }
    if (hovered) this.ring(ctx, look, hovered);
    if (this.brush) {
      ctx.strokeStyle = look.accent;
      ctx.lineWidth = 1;
      const b = this.brush;
      ctx.strokeRect(Math.min(b.x0, b.x1), Math.min(b.y0, b.y1), Math.abs(b.x1 - b.x0), Math.abs(b.y1 - b.y0));
    }
  }

  paintRange(ctx, look, from, to, size, step) {
    let last = -2;
    for (let k = from; k < to; k += step) {
      const color = this.colors ? this.colors[k] : -1;
      if (color !== last) {
        last = color;
        ctx.fillStyle = color < 0 ? look.neutral : look.css[color % look.css.length];
      }
      this.square(ctx, k, size);
    }
  }

  square(ctx, k, size) {
    this.place(k);
    ctx.fillRect(this.px - size / 2, this.py - size / 2, size, size);
  }

  // A hovered node: a ring around one leaf, or around the middle of its leaves.
  ring(ctx, look, hovered) {
    ctx.strokeStyle = look.accent;
    ctx.lineWidth = 2;
    if (hovered.size > 1) {
      ctx.fillStyle = look.accent;
      ctx.globalAlpha = 0.5;
      const step = Math.max(1, Math.ceil(hovered.size / 4000));
      for (let k = hovered.start; k < hovered.start + hovered.size; k += step) this.square(ctx, k, 2.5);
      ctx.globalAlpha = 1;
      return;
    }
    this.place(hovered.start);
    ctx.beginPath();
    ctx.arc(this.px, this.py, 7, 0, 2 * Math.PI);
    ctx.stroke();
  }

  nearest(x, y) {
    let best = -1, bestDistance = 144;
    for (let k = 0; k < this.n; k++) {
      this.place(k);
      const d = (this.px - x) ** 2 + (this.py - y) ** 2;
      if (d < bestDistance) {
        bestDistance = d;
        best = k;
      }
    }
    return best;
  }

  listen() {
    let drag = null;
    const at = (event) => {
      const box = this.canvas.getBoundingClientRect();
      return { x: event.clientX - box.left, y: event.clientY - box.top };
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      const p = at(event);
      drag = { ...p, moved: false, shift: event.shiftKey };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      if (!this.points) return;
      const p = at(event);
      if (!drag) return this.onHover(this.nearest(p.x, p.y), event);
      if (Math.hypot(p.x - drag.x, p.y - drag.y) > 3) drag.moved = true;
      if (drag.shift) this.brush = { x0: drag.x, y0: drag.y, x1: p.x, y1: p.y };
      else if (drag.moved) {
        this.camera.x += event.movementX / this.camera.k;
        this.camera.y += event.movementY / this.camera.k;
      }
      this.onHover(-1, event);
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (!drag || !this.points) return;
      const p = at(event);
      if (this.brush) this.finishBrush();
      else if (!drag.moved) this.onPick(this.nearest(p.x, p.y));
      drag = null;
    });
    this.canvas.addEventListener("pointerleave", (event) => this.onHover(-1, event));
    this.canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const p = at(event), factor = Math.exp(-event.deltaY * 0.0015), c = this.camera;
      const k = Math.min(Math.max(c.k * factor, 0.5), 400);
      c.x += (p.x - this.width / 2) * (1 / k - 1 / c.k);
      c.y += (p.y - this.height / 2) * (1 / k - 1 / c.k);
      c.k = k;
      this.onHover(-1, event);
    }, { passive: false });
  }

  finishBrush() {
    const b = this.brush, found = [];
    this.brush = null;
    const x0 = Math.min(b.x0, b.x1), x1 = Math.max(b.x0, b.x1), y0 = Math.min(b.y0, b.y1), y1 = Math.max(b.y0, b.y1);
    for (let k = 0; k < this.n && found.length < 20000; k++) {
      this.place(k);
      if (this.px >= x0 && this.px <= x1 && this.py >= y0 && this.py <= y1) found.push(k);
    }
    this.onBrush(found);
  }
}
