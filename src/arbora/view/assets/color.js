// Colors: one list of CSS colors per way of coloring, and for every node an index into it (-1: neutral).
const CONTINUOUS_STEPS = 64;
const NO_CATEGORY = 65535;

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

  // cut: as a source answers; every piece is a node that lies in one cluster, numbered as in tree.cut
  setCut(cut) {
    this.clusterOfPiece = new Map();
    if (cut) cut.pieces.forEach((node, k) => this.clusterOfPiece.set(node, cut.pieceCluster[k]));
    this.refresh();
  }

  refresh() {
    const column = this.column;
    if (column && column.kind !== "category") this.css = this.dark ? this.palette.continuousDark : this.palette.continuous;
    else this.css = this.categoryColors(column);
  }

  // Those chosen for the categories of the column, or forty different colors and then from the beginning.
  categoryColors(column) {
    if (column && column.colors) return column.colors;
    return this.dark ? this.palette.dark : this.palette.light;
  }

  // Color of a cluster, or of a category of a column.
  colorOf(k, column = null) {
    const colors = this.categoryColors(column);
    return colors[k % colors.length];
  }

  // Index for a node: `cluster` is the cluster it lies in (-1 above the cut).
  indexOf(store, i, cluster) {
    if (this.by === "cut") return cluster < 0 ? -1 : cluster % this.css.length;
    const value = store.value[i];
    if (Number.isNaN(value)) return -1;
    const column = this.column;
    if (column.kind === "category") return store.share[i] >= 128 ? value % this.css.length : -1;
    return scaleStep(column, value);
  }

  indexOfLeafValue(value) {
    const column = this.column;
    if (!column || Number.isNaN(value)) return -1;
    if (column.kind === "category") return value === NO_CATEGORY ? -1 : value % this.css.length;
    return scaleStep(column, value);
  }
}

// Values beyond the ends of the scale take the color of the end.
function scaleStep(column, value) {
  const [low, high] = column.range;
  const t = high > low ? (value - low) / (high - low) : 0.5;
  return Math.min(CONTINUOUS_STEPS - 1, Math.max(0, Math.floor(t * CONTINUOUS_STEPS)));
}
