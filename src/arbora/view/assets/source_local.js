// Everything is in the page: the same questions as RemoteSource, answered from the arrays.
import { compareFlat } from "./agreement.js";
import { Finder } from "./search.js";

const MISSING_LEAF_CODE = 65535;
const TITLE_WORDS = 3;
const PATH_ON_CARD = 40;
const CHILDREN_ON_CARD = 50;
const EXEMPLARS_ON_CARD = 12;
const SIMILAR_ON_CARD = 6;
const HISTOGRAM_BINS = 24;

export class LocalSource {
  constructor(whole) {
    this.complete = true;
    this.hold(whole);
  }

  // Answer from these facts and arrays from now on.
  hold({ facts, arrays }) {
    this.facts = facts;
    this.arrays = arrays;
    const slots = new Int32Array(facts.nNodes).fill(-1);
    arrays.id.forEach((node, k) => (slots[node] = k));
    this.slots = slots;
    this.parents = this.readParents();
    this.gained = null;
    this.titles = new Map();
    this.finder = new Finder({ facts, arrays }, (node) => this.nameOf(node), (node) => this.sizeOf(node));
  }

  readParents() {
    const { opened, id } = this.arrays;
    const parents = new Int32Array(id.length).fill(-1);
    this.firsts = new Int32Array(id.length);
    let next = 1;
    for (let k = 0; k < id.length; k++) {
      this.firsts[k] = next;
      for (let c = 0; c < opened[k]; c++) parents[next++] = k;
    }
    return parents;
  }

  async start(column) {
    return { facts: this.facts, arrays: { ...this.arrays, ...this.columnArrays(column) } };
  }

  columnArrays(column) {
    const k = this.facts.columns.findIndex((c) => c.name === column);
    return k < 0 ? {} : { value: this.arrays[`value${k}`], share: this.arrays[`share${k}`] };
  }

  // Values of the listed nodes, or of all nodes in the order of the arrays.
  async column(column, nodes = null) {
    const { value, share } = this.columnArrays(column);
    if (!nodes) return { value, share };
    const at = nodes.map((node) => this.slots[node]);
    return { value: value.constructor.from(at, (k) => value[k]), share: Uint8Array.from(at, (k) => share[k]) };
  }

  async leaves(column) {
    return this.arrays[`leaves${this.facts.columns.findIndex((c) => c.name === column)}`];
  }

  async path(node) {
    const path = [];
    for (let k = this.slots[node]; k >= 0; k = this.parents[k]) path.push(this.arrays.id[k]);
    return path;
  }

  // ---- names and search -------------------------------------------------------------------------------

  sizeOf(node) {
    return this.arrays.size[this.slots[node]];
  }

  nameOf(node) {
    if (node < this.facts.nLeaves) return this.facts.names ? this.facts.names[node] : String(node);
    const own = this.facts.innerNames[node];
    if (own || !this.facts.vocabulary) return own || "";
    if (!this.titles.has(node)) this.titles.set(node, this.topWords(this.slots[node], TITLE_WORDS).join(", "));
    return this.titles.get(node);
  }

  async names(nodes) {
    return nodes.map((node) => this.nameOf(node));
  }

  async search(text) {
    return this.finder.find(text);
  }

  async members(wanted) {
    return this.finder.members(wanted);
  }

  // ---- cutting ----------------------------------------------------------------------------------------

  // How many steps the finest cut into at most k clusters makes.
  splitsFor(k) {
    if (!this.gained) {
      const { parted } = this.arrays;
      // the root never parts from anything: its entry is the number of all steps
      this.gained = new Int32Array(parted[0]);
      for (const step of parted) if (step < parted[0]) this.gained[step]++;
    }
    let done = 0, clusters = 1;
    while (done < this.gained.length && clusters + this.gained[done] <= k) clusters += this.gained[done++];
    // steps below what the page holds
    while (done > 0 && this.gained[done - 1] === 0) done--;
    return done;
  }

  // The clusters, numbered as tree.cut does, by the smallest leaf each holds: slots of their pieces, the largest first.
  clustersOf(k) {
    const { rank, parted, id, size } = this.arrays, done = this.splitsFor(k);
    const top = new Int32Array(id.length), pieces = new Map();
    for (let s = 0; s < id.length; s++) {
      const p = this.parents[s];
      top[s] = p < 0 || parted[s] < done ? s : top[p];
      if (rank[s] < done || (p >= 0 && rank[p] >= done)) continue;
      if (!pieces.has(top[s])) pieces.set(top[s], { first: Infinity, slots: [] });
      const cluster = pieces.get(top[s]);
      cluster.slots.push(s);
      cluster.first = Math.min(cluster.first, this.firstLeaf(s));
    }
    const clusters = [...pieces.values()].sort((a, b) => a.first - b.first).map((one) => one.slots);
    for (const slots of clusters) slots.sort((a, b) => size[b] - size[a] || id[a] - id[b]);
    return { done, clusters };
  }

  firstLeaf(s) {
    const { start, size, leafOrder } = this.arrays;
    let first = Infinity;
    for (let at = start[s]; at < start[s] + size[s]; at++) first = Math.min(first, leafOrder[at]);
    return first;
  }

  clusterOfPlace(clusters) {
    const { start, size } = this.arrays, cluster = new Int32Array(this.facts.nLeaves);
    clusters.forEach((slots, k) => slots.forEach((s) => cluster.fill(k, start[s], start[s] + size[s])));
    return cluster;
  }

  async cut(k, column) {
    const { done, clusters } = this.clustersOf(k), a = this.arrays, n = this.facts.nLeaves;
    const sizes = clusters.map((slots) => slots.reduce((sum, s) => sum + a.size[s], 0));
    const entropy = sizes.reduce((sum, size) => sum - (size / n) * Math.log(size / n), 0);
    const pieces = clusters.flatMap((slots, cluster) => slots.map((s) => [s, cluster])).sort((p, q) => a.start[p[0]] - a.start[q[0]]);
    const facts = {
      clusters: clusters.length, largest: sizes.reduce((p, q) => Math.max(p, q), 0), smallest: sizes.reduce((p, q) => Math.min(p, q), n),
      effective: Math.exp(entropy), splits: done, roots: clusters.map((slots) => a.id[slots[0]]), sizes,
      pieces: pieces.map(([s]) => a.id[s]), pieceCluster: pieces.map(([, cluster]) => cluster),
      pieceStart: pieces.map(([s]) => a.start[s]), pieceSize: pieces.map(([s]) => a.size[s]),
    };
    const c = this.facts.columns.findIndex((one) => one.name === column);
    if (c >= 0 && this.facts.columns[c].scores) {
      Object.assign(facts, this.compare(clusters, c));
    }
    return facts;
  }

  // Scores of a cut against column number c.
  compare(clusters, c) {
    return compareFlat(this.clusterOfPlace(clusters), clusters.length, this.arrays[`leaves${c}`], this.facts.columns[c].categories.length);
  }

  async labels(k) {
    const label = new Int32Array(this.facts.nLeaves);
    this.clusterOfPlace(this.clustersOf(k).clusters).forEach((cluster, at) => (label[this.arrays.leafOrder[at]] = cluster));
    return { names: Array.from({ length: this.facts.nLeaves }, (_, leaf) => this.nameOf(leaf)), label };
  }

  // ---- the node card ----------------------------------------------------------------------------------

  async card(node) {
    const a = this.arrays, s = this.slots[node], isLeaf = node < this.facts.nLeaves;
    const above = (await this.path(node)).slice(1);
    const shown = this.exemplars(s);
    const finite = (array) => (array && Number.isFinite(array[s]) ? array[s] : null);
    const children = [];
    for (let k = 0; k < Math.min(a.opened[s], CHILDREN_ON_CARD); k++) children.push(a.id[this.firsts[s] + k]);
    return {
      node, name: this.nameOf(node), size: a.size[s], depth: above.length, height: finite(a.height), support: finite(a.support), children,
      path: this.pathOnCard(above),
      columns: this.facts.columns.map((column, k) => this.summary(column, k, s)),
      exemplars: shown.map((leaf) => [leaf, this.nameOf(leaf)]),
      reasons: this.facts.reasons[node] || [],
      words: this.facts.vocabulary && !isLeaf ? this.topWords(s, 10) : [],
      similar: isLeaf ? this.similar(node).map((leaf) => [leaf, this.nameOf(leaf)]) : [],
      text: this.facts.texts && isLeaf ? this.facts.texts[node] : null,
      images: this.imagesOf(shown),
    };
  }

  pathOnCard(above) {
    return above.slice(0, PATH_ON_CARD).map((one) => [one, this.nameOf(one), this.sizeOf(one)]);
  }

  // What a column says about a node; missing values do not count.
  summary(column, k, s) {
    const from = this.arrays.start[s], to = from + this.arrays.size[s];
    if (column.kind === "text") return to - from === 1 ? { text: column.texts[from] } : {};
    const values = this.arrays[`leaves${k}`];
    if (column.kind === "category") return this.classCounts(values, from, to, column.categories.length);
    let known = 0, sum = 0, least = Infinity, most = -Infinity;
    for (let at = from; at < to; at++) {
      const value = values[at];
      if (Number.isNaN(value)) continue;
      known++;
      sum += value;
      least = Math.min(least, value);
      most = Math.max(most, value);
    }
    if (!known) return { known };
    const summary = { known, mean: sum / known, least, most };
    return to - from > 1 ? { ...summary, bins: this.histogram(values, from, to, column.range) } : summary;
  }

  // Values along the color scale, in equal steps; those beyond its ends count for the ends.
  histogram(values, from, to, [low, high]) {
    if (high <= low) return [];
    const bins = new Array(HISTOGRAM_BINS).fill(0);
    for (let at = from; at < to; at++) {
      if (!Number.isNaN(values[at])) bins[Math.min(Math.max(Math.floor(((values[at] - low) / (high - low)) * HISTOGRAM_BINS), 0), HISTOGRAM_BINS - 1)]++;
    }
    return bins;
  }

  classCounts(codes, from, to, nClasses) {
    const counts = new Int32Array(nClasses);
    let known = 0;
    for (let at = from; at < to; at++) {
      if (codes[at] === MISSING_LEAF_CODE) continue;
      counts[codes[at]]++;
      known++;
    }
    const mix = Array.from(counts, (count, code) => [code, count]).filter((pair) => pair[1]).sort((p, q) => q[1] - p[1]);
    return { known, mix: mix.slice(0, 12) };
  }

  exemplars(s) {
    const a = this.arrays, most = EXEMPLARS_ON_CARD;
    if (a.exemplars) return Array.from(a.exemplars.subarray(s * most, (s + 1) * most)).filter((leaf) => leaf >= 0);
    const count = Math.min(a.size[s], most);
    return Array.from({ length: count }, (_, k) => a.leafOrder[a.start[s] + Math.floor(((2 * k + 1) * a.size[s]) / (2 * count))]);
  }

  similar(leaf) {
    return this.arrays.similar ? Array.from(this.arrays.similar.subarray(leaf * SIMILAR_ON_CARD, (leaf + 1) * SIMILAR_ON_CARD)).filter((other) => other >= 0) : [];
  }

  imagesOf(leaves) {
    if (!this.facts.image) return undefined;
    const pixels = this.facts.image.reduce((p, q) => p * q, 1);
    const images = new Uint8Array(leaves.length * pixels);
    leaves.forEach((leaf, k) => images.set(this.arrays.images.subarray(leaf * pixels, (leaf + 1) * pixels), k * pixels));
    return images;
  }

  wordCounts(s) {
    const a = this.arrays, counts = new Int32Array(this.facts.vocabulary.length);
    for (let k = a.wordOffsets[a.start[s]]; k < a.wordOffsets[a.start[s] + a.size[s]]; k++) counts[a.wordIndex[k]]++;
    return counts;
  }

  topWords(s, most) {
    // the formula of tree/word_scores.py
    const a = this.arrays, size = a.size[s], up = this.parents[s];
    const here = this.wordCounts(s), above = up >= 0 ? this.wordCounts(up) : null;
    const scored = [];
    here.forEach((count, word) => {
      if (!count) return;
      const share = count / size;
      const score = above ? share * Math.log(share / ((above[word] - count + 0.5) / (a.size[up] - size + 1))) : share;
      if (score > 0) scored.push([score, word]);
    });
    return scored.sort((p, q) => q[0] - p[0] || p[1] - q[1]).slice(0, most).map((pair) => this.facts.vocabulary[pair[1]]);
  }

  // ---- scatter and second tree ------------------------------------------------------------------------

  async points() {
    return this.arrays.points;
  }

  async tangle() {
    const arrays = {};
    for (const [name, array] of Object.entries(this.arrays)) {
      if (name.startsWith("tangle.")) arrays[name.slice(7)] = array;
    }
    return { facts: this.facts.tangle, arrays };
  }
}
