// A report beside the tree: its figures, tables, reliability diagram and confusion matrix.
import { el, replaceChildren } from "./dom.js";
import { counted, short } from "./format.js";

const DIAGRAM_SIDE = 300, DIAGRAM_MARGIN = 58;
const MATRIX_MOST = 560, MATRIX_LEAST_CELL = 1, MATRIX_MOST_CELL = 26;
// Cells of this many pixels leave room for names beside the rows.
const MATRIX_NAMED_CELL = 11, MATRIX_NAME_WIDTH = 170;

export class Report {
  constructor(app) {
    this.app = app;
    this.data = app.facts.report;
    this.box = el("section", { class: "report", "aria-label": "Report" });
  }

  // Built when it is first seen: colors come from the theme.
  show() {
    const { warnings, notes, sections } = this.data;
    replaceChildren(this.box,
      ...warnings.map((text) => el("p", { class: "warning" }, text)), ...notes.map((text) => el("p", { class: "note" }, text)),
      ...sections.map((section) => el("article", { "data-section": section.name }, el("h2", {}, section.title), el("p", { class: "note" }, section.text), this.body(section))));
  }

  body(section) {
    if (section.matrix) return this.matrix(section);
    if (section.name === "summary") return this.figures(section);
    if (section.name === "calibration") return el("div", { class: "side-by-side" }, this.diagram(section.rows), this.table(section));
    return this.table(section);
  }

  figures(section) {
    return el("dl", { class: "figures" }, section.rows.map(({ figure, value }) => el("div", {}, el("dt", {}, figure), el("dd", { "data-figure": figure }, cellText(value)))));
  }

  table(section) {
    const keys = Object.keys(section.columns);
    return el("table", {}, el("thead", {}, el("tr", {}, ...keys.map((key) => el("th", { title: section.columns[key] }, key.replaceAll("_", " "))))),
      el("tbody", {}, ...section.rows.map((row) => el("tr", {}, ...keys.map((key) => el("td", { class: typeof row[key] === "number" ? "number" : null }, this.cell(key, row[key])))))));
  }

  // Nodes and classes lead to the tree.
  cell(key, value) {
    const node = key === "node" ? value : typeof value === "string" ? this.leafOf(value) : undefined;
    if (node === undefined || node === null) return cellText(value);
    return el("button", { type: "button", class: "plain link", onclick: () => this.app.leaveReport(node) }, cellText(value));
  }

  leafOf(name) {
    this.leaves ??= new Map((this.app.facts.names || []).map((one, leaf) => [one, leaf]));
    return this.leaves.get(name);
  }

  // Accuracy against confidence; a calibrated model lies on the diagonal. Dots grow with the points of a bin.
  diagram(rows) {
    const { look } = this.app, canvas = sharpCanvas(DIAGRAM_SIDE + DIAGRAM_MARGIN, DIAGRAM_SIDE + DIAGRAM_MARGIN, "diagram");
    const ctx = canvas.getContext("2d"), at = (x, y) => [DIAGRAM_MARGIN + x * DIAGRAM_SIDE - 6, 6 + (1 - y) * (DIAGRAM_SIDE - 6)];
    const total = rows.reduce((most, row) => Math.max(most, row.points), 1);
    ctx.strokeStyle = look.border;
    ctx.fillStyle = look.text;
    ctx.font = look.font;
    for (const tick of [0, 0.25, 0.5, 0.75, 1]) {
      line(ctx, at(tick, 0), at(tick, 1));
      line(ctx, at(0, tick), at(1, tick));
      ctx.textAlign = "center";
      ctx.fillText(String(tick), at(tick, 0)[0], DIAGRAM_SIDE + 16);
      ctx.textAlign = "right";
      ctx.fillText(String(tick), DIAGRAM_MARGIN - 12, at(0, tick)[1] + 4);
    }
    ctx.strokeStyle = look.neutral;
    line(ctx, at(0, 0), at(1, 1));
    ctx.strokeStyle = look.accent;
    ctx.fillStyle = look.accent;
    const seen = rows.filter((row) => row.points > 0);
    seen.forEach((row, k) => {
      const [x, y] = at(row.confidence, row.accuracy);
      if (k) line(ctx, at(seen[k - 1].confidence, seen[k - 1].accuracy), [x, y]);
      ctx.beginPath();
      ctx.arc(x, y, 2 + 6 * Math.sqrt(row.points / total), 0, 2 * Math.PI);
      ctx.fill();
    });
    ctx.fillStyle = look.text;
    ctx.textAlign = "center";
    ctx.fillText("confidence", DIAGRAM_MARGIN + DIAGRAM_SIDE / 2, DIAGRAM_SIDE + 32);
    ctx.save();
    ctx.translate(10, DIAGRAM_SIDE / 2);
    ctx.rotate(-Math.PI / 2);
    ctx.fillText("accuracy", 0, 0);
    ctx.restore();
    return el("figure", {}, canvas);
  }

  // Rows are true classes, columns predicted ones; a cell's color is its share of the row.
  matrix({ matrix, names }) {
    const { coloring } = this.app, n = names.length;
    const colors = coloring.dark ? coloring.palette.continuousDark : coloring.palette.continuous;
    const side = Math.min(Math.max(Math.floor(MATRIX_MOST / n), MATRIX_LEAST_CELL), MATRIX_MOST_CELL);
    const named = side >= MATRIX_NAMED_CELL ? MATRIX_NAME_WIDTH : 0;
    const canvas = sharpCanvas(n * side + named, n * side, "matrix"), ctx = canvas.getContext("2d");
    const note = el("figcaption", { class: "note" }, "Point at a cell to see what it counts. Colors: share of the true class, square root.");
    matrix.forEach((row, i) => {
      const sum = row.reduce((a, b) => a + b, 0);
      row.forEach((count, j) => {
        const share = sum ? Math.sqrt(count / sum) : 0;
        ctx.fillStyle = colors[Math.min(Math.floor(share * colors.length), colors.length - 1)];
        ctx.fillRect(j * side, i * side, side, side);
      });
      if (named) this.nameRow(ctx, names[i], n * side + 6, (i + 0.5) * side, named - 8);
    });
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      const j = Math.floor((event.clientX - box.left) / side), i = Math.floor((event.clientY - box.top) / side);
      if (names[i] !== undefined && names[j] !== undefined) note.textContent = `${names[i]} taken for ${names[j]}: ${counted(matrix[i][j], "point")}`;
    });
    return el("figure", {}, canvas, note);
  }

  nameRow(ctx, name, x, y, room) {
    const { look } = this.app;
    ctx.fillStyle = look.text;
    ctx.font = look.font;
    ctx.textBaseline = "middle";
    ctx.fillText(look.fitted(name, room), x, y);
  }
}

function cellText(value) {
  return typeof value === "number" ? short(value) : value === null || value === undefined ? "–" : String(value);
}

function line(ctx, from, to) {
  ctx.beginPath();
  ctx.moveTo(...from);
  ctx.lineTo(...to);
  ctx.stroke();
}

// A canvas of this many CSS pixels, with all the pixels of the screen.
function sharpCanvas(width, height, name) {
  const dpr = Math.min(window.devicePixelRatio || 1, 2);
  const canvas = el("canvas", { class: name, width: Math.round(width * dpr), height: Math.round(height * dpr) });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.getContext("2d").setTransform(dpr, 0, 0, dpr, 0, 0);
  return canvas;
}
