// Colors: one list of CSS colors a way of coloring, and for every node an index into it (-1: neutral).
const CONTINUOUS_STEPS = 64;

export class Coloring {
  constructor(facts, palette) {
    this.palette = palette;
    this.facts = facts;
    this.dark = false;
    this.setCut(null);
    this.by = "cut";
  }

  get column() {
    return this.by === "cut" ? null : this.facts.columns.find((column) => column.name === this.by) || null;
  }

  setTheme(dark) {
    this.dark = dark;
    this.refresh();
  }

  setBy(name) {
    this.by = name;
    this.refresh();
  }

  // roots: nodes of the clusters, in leaf order
  setCut(roots) {
    this.clusterOfRoot = new Map();
    if (roots) roots.forEach((node, k) => this.clusterOfRoot.set(node, k));
    this.refresh();
  }

  refresh() {
    const base = this.dark ? this.palette.dark : this.palette.light;
    const column = this.column;
    if (!column) this.css = base;
    else if (column.kind === "number") this.css = this.palette.continuous;
    else this.css = categoryColors(column.categories.length, base, this.dark);
  }

  // Index for a node: `cluster` is the cluster it lies in (-1 above the cut).
  indexOf(store, i, cluster) {
    if (this.by === "cut") return cluster < 0 ? -1 : cluster % this.css.length;
    const value = store.value[i];
    if (Number.isNaN(value)) return -1;
    const column = this.column;
    if (column.kind === "category") return store.share[i] >= 128 ? value : -1;
    const [low, high] = column.range;
    const t = high > low ? (value - low) / (high - low) : 0.5;
    return Math.min(CONTINUOUS_STEPS - 1, Math.max(0, Math.floor(t * CONTINUOUS_STEPS)));
  }

  indexOfLeafValue(value) {
    const column = this.column;
    if (!column || Number.isNaN(value)) return -1;
    if (column.kind === "category") return value === 65535 ? -1 : value;
    const [low, high] = column.range;
    const t = high > low ? (value - low) / (high - low) : 0.5;
    return Math.min(CONTINUOUS_STEPS - 1, Math.max(0, Math.floor(t * CONTINUOUS_STEPS)));
  }
}

// Up to the length of the safe list as it is; beyond it the list again, ever lighter or darker.
export function categoryColors(n, base, dark) {
  const colors = [];
  for (let k = 0; k < n; k++) {
    const round = Math.floor(k / base.length);
    const amount = round === 0 ? 0 : 0.22 + 0.18 * ((round - 1) % 3);
    colors.push(amount ? mixColor(base[k % base.length], round % 2 ? (dark ? "#ffffff" : "#000000") : "#8f8f8f", amount) : base[k % base.length]);
  }
  return colors;
}

export function mixColor(a, b, t) {
  const parse = (c) => [1, 3, 5].map((k) => parseInt(c.slice(k, k + 2), 16));
  const p = parse(a), q = parse(b);
  return "#" + p.map((v, k) => Math.round(v + (q[k] - v) * t).toString(16).padStart(2, "0")).join("");
}
