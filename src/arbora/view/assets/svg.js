// The few canvas calls the views use, written as SVG: one painting code for the screen and for files.
export class SvgContext {
  constructor(width, height, background) {
    this.width = width;
    this.height = height;
    this.parts = [];
    this.stack = [];
    this.fillStyle = "#000000";
    this.strokeStyle = "#000000";
    this.lineWidth = 1;
    this.globalAlpha = 1;
    this.font = "12px sans-serif";
    this.textAlign = "left";
    this.textBaseline = "alphabetic";
    this.transform = "";
    this.path = [];
    if (background) this.parts.push(`<rect width="${width}" height="${height}" fill="${background}"/>`);
  }

  num(v) {
    return String(Math.round(v * 100) / 100);
  }

  attributes(kind) {
    const color = kind === "fill" ? this.fillStyle : this.strokeStyle;
    const alpha = this.globalAlpha < 1 ? ` ${kind}-opacity="${this.num(this.globalAlpha)}"` : "";
    const moved = this.transform ? ` transform="${this.transform}"` : "";
    return `${kind}="${svgText(color)}"${alpha}${moved}`;
  }

  fillRect(x, y, w, h) {
    if (x > this.width || y > this.height || x + w < 0 || y + h < 0) return;
    this.parts.push(`<rect x="${this.num(x)}" y="${this.num(y)}" width="${this.num(w)}" height="${this.num(h)}" ${this.attributes("fill")}/>`);
  }

  strokeRect(x, y, w, h) {
    this.parts.push(`<rect x="${this.num(x)}" y="${this.num(y)}" width="${this.num(w)}" height="${this.num(h)}" fill="none" stroke-width="${this.num(this.lineWidth)}" ${this.attributes("stroke")}/>`);
  }

  beginPath() {
    this.path = [];
  }

  moveTo(x, y) {
    this.path.push(`M${this.num(x)} ${this.num(y)}`);
  }

  lineTo(x, y) {
    this.path.push(`${this.path.length ? "L" : "M"}${this.num(x)} ${this.num(y)}`);
  }

  bezierCurveTo(a, b, c, d, x, y) {
    this.path.push(`C${[a, b, c, d, x, y].map((v) => this.num(v)).join(" ")}`);
  }

  closePath() {
    this.path.push("Z");
  }

  arc(cx, cy, r, from, to, counterclockwise = false) {
    const x0 = cx + r * Math.cos(from), y0 = cy + r * Math.sin(from);
    this.lineTo(x0, y0);
    let sweep = to - from;
    if (Math.abs(sweep) >= 2 * Math.PI - 1e-9) {
      const half = sweep > 0 ? Math.PI : -Math.PI;
      this.arcPiece(cx, cy, r, from + half, half);
      this.arcPiece(cx, cy, r, from + 2 * half, half);
      return;
    }
    if (counterclockwise && sweep > 0) sweep -= 2 * Math.PI;
    if (!counterclockwise && sweep < 0) sweep += 2 * Math.PI;
    this.arcPiece(cx, cy, r, from + sweep, sweep);
  }

  arcPiece(cx, cy, r, end, sweep) {
    const large = Math.abs(sweep) > Math.PI ? 1 : 0;
    this.path.push(`A${this.num(r)} ${this.num(r)} 0 ${large} ${sweep > 0 ? 1 : 0} ${this.num(cx + r * Math.cos(end))} ${this.num(cy + r * Math.sin(end))}`);
  }

  fill() {
    this.parts.push(`<path d="${this.path.join("")}" ${this.attributes("fill")}/>`);
  }

  stroke() {
    this.parts.push(`<path d="${this.path.join("")}" fill="none" stroke-width="${this.num(this.lineWidth)}" ${this.attributes("stroke")}/>`);
  }

  fillText(text, x, y) {
    const anchor = { left: "start", right: "end", center: "middle" }[this.textAlign];
    const baseline = { middle: "central", top: "hanging" }[this.textBaseline] || "auto";
    const [, size, family] = /([\d.]+)px\s+(.*)/.exec(this.font) || [null, "12", "sans-serif"];
    this.parts.push(`<text x="${this.num(x)}" y="${this.num(y)}" font-size="${size}" font-family="${svgText(family)}" text-anchor="${anchor}" dominant-baseline="${baseline}" ${this.attributes("fill")}>${svgText(text)}</text>`);
  }

  save() {
    this.stack.push(this.transform);
  }

  restore() {
    this.transform = this.stack.pop();
  }

  translate(x, y) {
    this.transform += `translate(${this.num(x)} ${this.num(y)})`;
  }

  rotate(angle) {
    this.transform += `rotate(${this.num((angle * 180) / Math.PI)})`;
  }

  toString() {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

// Text in XML: markup escaped, characters XML 1.0 does not allow left out.
export function svgText(text) {
  return String(text)
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
