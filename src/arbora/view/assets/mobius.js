// Isometries of the Poincaré disk: z -> (z - a) / (1 - conj(a) z), on pairs of numbers to keep frames free of garbage.
export const mobiusOut = { x: 0, y: 0 };

export function mobiusMove(zx, zy, ax, ay) {
  const nx = zx - ax, ny = zy - ay;
  const dx = 1 - (ax * zx + ay * zy), dy = -(ax * zy - ay * zx);
  const d = dx * dx + dy * dy;
  mobiusOut.x = (nx * dx + ny * dy) / d;
  mobiusOut.y = (ny * dx - nx * dy) / d;
  return mobiusOut;
}

// Image of the boundary point at `angle`, as a continuous, increasing function of the angle.
export function mobiusAngle(angle, ax, ay) {
  const c = Math.cos(angle), s = Math.sin(angle);
  const wx = 1 - (ax * c + ay * s), wy = -(ax * s - ay * c);
  return angle - 2 * Math.atan2(wy, wx);
}

// A view of the disk is z -> u (z - a) / (1 - conj(a) z) with |u| = 1: camera = {ax, ay, ux, uy}.
// mobiusDrag follows it by the translation along the geodesic that carries the seen point p to q.
export function mobiusDrag(camera, px, py, qx, qy) {
  const t = translationOfOrigin(px, py, qx, qy);
  return mobiusTranslate(camera, t.x, t.y);
}

// The same camera followed by the translation that carries the origin to t.
export function mobiusTranslate(camera, tx, ty) {
  const { ax, ay, ux, uy } = camera;
  // The new center is what was seen at -t; the new turn makes the old center appear at t.
  const seen = mobiusMove(-(tx * ux + ty * uy), -(ty * ux - tx * uy), -ax, -ay);
  const a = clampToDisk(seen.x, seen.y);
  const old = mobiusMove(ax, ay, a.x, a.y);
  const vx = tx * old.x + ty * old.y, vy = ty * old.x - tx * old.y;
  const norm = Math.hypot(vx, vy);
  if (norm < 1e-12) return { ax: a.x, ay: a.y, ux, uy };
  return { ax: a.x, ay: a.y, ux: vx / norm, uy: vy / norm };
}

// Where the translation that brings p to q (along their geodesic) brings the origin.
export function translationOfOrigin(px, py, qx, qy) {
  // Solve (p + t) / (1 + conj(t) p) = q for t: linear in the two real parts of t.
  // p + t = q + q conj(t) p  ->  t - (q p) conj(t) = q - p
  const mx = qx * px - qy * py, my = qx * py + qy * px;
  const bx = qx - px, by = qy - py;
  // (1 - mx) tx - my ty = bx ;  -my tx + (1 + mx) ty = by
  const det = (1 - mx) * (1 + mx) - my * my;
  return clampToDisk((bx * (1 + mx) + my * by) / det, ((1 - mx) * by + my * bx) / det);
}

export function clampToDisk(x, y, limit = 1 - 1e-9) {
  const norm = Math.hypot(x, y);
  return norm <= limit ? { x, y } : { x: (x * limit) / norm, y: (y * limit) / norm };
}
