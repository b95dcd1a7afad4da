// A view on a plane: screen = p + z * world, per axis. Subclasses say where nodes lie in the world.
export class PlanarView {
  constructor(store) {
    this.store = store;
    this.sx = 0;
    this.sy = 0;
    this.width = 1;
    this.height = 1;
    this.camera = { px: 0, py: 0, zx: 1, zy: 1 };
    this.labelSpace = 0;
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
  }

  fit() {
    this.camera = this.fitted();
  }

  pan(dx, dy) {
    this.camera = { ...this.camera, px: this.camera.px + dx, py: this.camera.py + dy };
  }

  zoom(x, y, factor, axes = this.zoomAxes()) {
    const c = { ...this.camera };
    const fitted = this.fitted();
    const most = Math.max(4, 40 * this.store.nLeaves / Math.max(this.height, 1));
    if (axes.x) {
      const zx = Math.min(Math.max(c.zx * factor, fitted.zx * 0.5), fitted.zx * most);
      c.px = x - (x - c.px) * (zx / c.zx);
      c.zx = zx;
    }
    if (axes.y) {
      const zy = Math.min(Math.max(c.zy * factor, fitted.zy * 0.5), fitted.zy * most);
      c.py = y - (y - c.py) * (zy / c.zy);
      c.zy = zy;
    }
    this.camera = c;
  }

  zoomAxes() {
    return { x: true, y: true };
  }

  // Between two cameras: positions of the middle of the screen and logarithms of zoom go linearly.
  between(a, b, t) {
    const mix = (za, zb) => Math.exp(Math.log(za) * (1 - t) + Math.log(zb) * t);
    const zx = mix(a.zx, b.zx), zy = mix(a.zy, b.zy);
    const middle = (p, z, q, y, size, zt) => {
      const u = (size / 2 - p) / z, v = (size / 2 - q) / y;
      const s = z === y ? t : (1 / zt - 1 / z) / (1 / y - 1 / z); // keeps the path straight while zooming
      return size / 2 - (u + (v - u) * s) * zt;
    };
    return {
      zx, zy,
      px: middle(a.px, a.zx, b.px, b.zx, this.width, zx),
      py: middle(a.py, a.zy, b.py, b.zy, this.height, zy),
    };
  }

  cameraText() {
    const c = this.camera, f = this.fitted();
    // relative to the fitted camera, so that a link works in a window of another size
    return [c.zx / f.zx, c.zy / f.zy, (c.px - f.px) / f.zx, (c.py - f.py) / f.zy].map((v) => +v.toPrecision(9)).join(",");
  }

  setCameraText(text) {
    const [rx, ry, ox, oy] = text.split(",").map(Number);
    if (![rx, ry, ox, oy].every(Number.isFinite) || rx <= 0 || ry <= 0) return;
    const f = this.fitted();
    this.camera = { zx: f.zx * rx, zy: f.zy * ry, px: f.px + ox * f.zx, py: f.py + oy * f.zy };
  }
}

// Which drawn node lies nearest a screen point, within `reach` pixels (-1: none).
export function nearestDrawn(frame, x, y, reach) {
  let best = -1, bestDistance = reach * reach;
  for (let k = 0; k < frame.length; k++) {
    const dx = frame.x[k] - x, dy = frame.y[k] - y;
    const d = dx * dx + dy * dy;
    if (d < bestDistance) {
      bestDistance = d;
      best = k;
    }
  }
  return best;
}

// Sets fillStyle (or strokeStyle) only when it changes.
export class Ink {
  constructor(ctx, css, neutral) {
    this.ctx = ctx;
    this.css = css;
    this.neutral = neutral;
    this.fillIndex = -2;
    this.strokeIndex = -2;
  }

  fill(index) {
    if (index === this.fillIndex) return;
    this.fillIndex = index;
    this.ctx.fillStyle = index < 0 ? this.neutral : this.css[index % this.css.length];
  }

  stroke(index) {
    if (index === this.strokeIndex) return false;
    this.strokeIndex = index;
    this.ctx.strokeStyle = index < 0 ? this.neutral : this.css[index % this.css.length];
    return true;
  }
}
