// Everything is in the page: the same questions as RemoteSource, answered from the arrays.
const MISSING_LEAF_CODE = 65535;

export class LocalSource {
  constructor({ facts, arrays }) {
    this.facts = facts;
    this.arrays = arrays;
    this.complete = true;
    const slots = new Int32Array(facts.nNodes);
    arrays.id.forEach((node, k) => (slots[node] = k));
    this.slots = slots;
    this.parents = this.readParents();
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

  async column(column) {
    return this.columnArrays(column);
  }

  async leaves(column) {
    return this.arrays[`leaves${this.facts.columns.findIndex((c) => c.name === column)}`];
  }

  async path(node) {
    const path = [];
    for (let k = this.slots[node]; k >= 0; k = this.parents[k]) path.push(this.arrays.id[k]);
    return path;
  }

  nameOf(node) {
    if (node >= this.facts.nLeaves) return this.facts.innerNames[node] || "";
    return this.facts.names ? this.facts.names[node] : String(node);
  }

  async names(nodes) {
    return nodes.map((node) => this.nameOf(node));
  }

  async search(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return { count: 0, found: [] };
    const hits = [];
    for (let leaf = 0; leaf < this.facts.nLeaves; leaf++) {
      const name = this.nameOf(leaf), folded = name.toLowerCase();
      if (folded.includes(wanted)) hits.push([leaf, name, folded === wanted ? 0 : folded.startsWith(wanted) ? 1 : 2]);
    }
    hits.sort((a, b) => a[2] - b[2] || a[0] - b[0]);
    return { count: hits.length, found: hits.slice(0, 50).map(([leaf, name]) => [leaf, name]) };
  }

  // Splits in order of rank until one more would give too many clusters.
  clusterRoots(k) {
    const { opened, rank, id, start } = this.arrays;
    const gained = new Int32Array(this.facts.nNodes - this.facts.nLeaves);
    for (let s = 0; s < id.length; s++) if (opened[s] > 0) gained[rank[s]] = opened[s] - 1;
    let done = 0, clusters = 1;
    while (done < gained.length && clusters + gained[done] <= k) clusters += gained[done++];
    const roots = [];
    for (let s = 0; s < id.length; s++) {
      const p = this.parents[s];
      if (rank[s] >= done && (p < 0 || rank[p] < done)) roots.push(s);
    }
    return roots.sort((a, b) => start[a] - start[b]);
  }

  async cut(k, column) {
    const roots = this.clusterRoots(k);
    const sizes = roots.map((s) => this.arrays.size[s]);
    const n = this.facts.nLeaves;
    const entropy = sizes.reduce((sum, size) => sum - (size / n) * Math.log(size / n), 0);
    const facts = {
      clusters: roots.length, largest: sizes.reduce((a, b) => Math.max(a, b), 0),
      smallest: sizes.reduce((a, b) => Math.min(a, b), n), effective: Math.exp(entropy),
      roots: roots.map((s) => this.arrays.id[s]),
    };
    const c = this.facts.columns.findIndex((one) => one.name === column);
    if (c >= 0 && this.facts.columns[c].kind === "category") {
      Object.assign(facts, compareFlat(sizes, this.arrays[`leaves${c}`], this.facts.columns[c].categories.length));
    }
    return facts;
  }

  async labels(k) {
    const label = new Int32Array(this.facts.nLeaves);
    this.clusterRoots(k).forEach((s, cluster) => {
      for (let at = this.arrays.start[s]; at < this.arrays.start[s] + this.arrays.size[s]; at++) {
        label[this.arrays.leafOrder[at]] = cluster;
      }
    });
    return { names: Array.from({ length: this.facts.nLeaves }, (_, leaf) => this.nameOf(leaf)), label };
  }

  async card(node, column) {
    const a = this.arrays, s = this.slots[node];
    const above = (await this.path(node)).slice(1);
    const shown = this.exemplars(s);
    const finite = (array) => (array && Number.isFinite(array[s]) ? array[s] : null);
    const children = [];
    for (let k = 0; k < Math.min(a.opened[s], 50); k++) children.push(a.id[this.firsts[s] + k]);
    const card = {
      node, name: this.nameOf(node), size: a.size[s], depth: above.length,
      height: finite(a.height), support: finite(a.support), children,
      path: above.slice(0, 200).map((one) => [one, this.nameOf(one), a.size[this.slots[one]]]),
      exemplars: shown.map((leaf) => [leaf, this.nameOf(leaf)]),
      words: this.topWords(s), mix: [], mean: null, images: this.imagesOf(shown),
    };
    const c = this.facts.columns.findIndex((one) => one.name === column);
    if (c < 0) return card;
    if (this.facts.columns[c].kind === "category") card.mix = this.classCounts(s, c);
    else card.mean = finite(a[`value${c}`]);
    return card;
  }

  exemplars(s) {
    const a = this.arrays, most = 12;
    if (a.exemplars) return Array.from(a.exemplars.subarray(s * most, (s + 1) * most)).filter((leaf) => leaf >= 0);
    const count = Math.min(a.size[s], most);
    return Array.from({ length: count }, (_, k) => a.leafOrder[a.start[s] + Math.floor(((2 * k + 1) * a.size[s]) / (2 * count))]);
  }

  imagesOf(leaves) {
    if (!this.facts.image) return undefined;
    const pixels = this.facts.image.reduce((p, q) => p * q, 1);
    const images = new Uint8Array(leaves.length * pixels);
    leaves.forEach((leaf, k) => images.set(this.arrays.images.subarray(leaf * pixels, (leaf + 1) * pixels), k * pixels));
    return images;
  }

  classCounts(s, c) {
    const codes = this.arrays[`leaves${c}`], a = this.arrays;
    const counts = new Int32Array(this.facts.columns[c].categories.length);
    for (let at = a.start[s]; at < a.start[s] + a.size[s]; at++) if (codes[at] !== MISSING_LEAF_CODE) counts[codes[at]]++;
    return Array.from(counts, (count, code) => [code, count]).filter((pair) => pair[1]).sort((p, q) => q[1] - p[1]).slice(0, 12);
  }

  topWords(s) {
    if (!this.facts.vocabulary) return [];
    const a = this.arrays, n = this.facts.nLeaves, size = a.size[s];
    const counts = new Int32Array(this.facts.vocabulary.length);
    for (let k = a.wordOffsets[a.start[s]]; k < a.wordOffsets[a.start[s] + size]; k++) counts[a.wordIndex[k]]++;
    const scored = [];
    counts.forEach((count, word) => {
      if (!count) return;
      const share = count / size;
      const score = share * Math.log((share + 1e-9) / (a.wordTotal[word] / n));
      if (score > 0 || size === n) scored.push([score, word]);
    });
    return scored.sort((p, q) => q[0] - p[0] || p[1] - q[1]).slice(0, 10).map((pair) => this.facts.vocabulary[pair[1]]);
  }

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

// Purity, normalized mutual information and adjusted Rand index of clusters that are runs of the leaf order.
export function compareFlat(sizes, codes, nLabels) {
  const byLabel = new Float64Array(nLabels);
  let n = 0, best = 0, mutual = 0, pairs = 0, clusterPairs = 0, entropy = 0, at = 0;
  const choose = (v) => (v * (v - 1)) / 2;
  for (let k = 0; k < codes.length; k++) if (codes[k] !== MISSING_LEAF_CODE) { byLabel[codes[k]]++; n++; }
  if (!n) return {};
  const counts = new Float64Array(nLabels);
  for (const size of sizes) {
    const touched = [];
    let known = 0, most = 0;
    for (let k = at; k < at + size; k++) {
      const code = codes[k];
      if (code === MISSING_LEAF_CODE) continue;
      if (!counts[code]++) touched.push(code);
      known++;
    }
    for (const code of touched) {
      const count = counts[code];
      most = Math.max(most, count);
      pairs += choose(count);
      mutual += (count / n) * Math.log((n * count) / (known * byLabel[code]));
      counts[code] = 0;
    }
    best += most;
    clusterPairs += choose(known);
    if (known) entropy -= (known / n) * Math.log(known / n);
    at += size;
  }
  let labelPairs = 0, labelEntropy = 0;
  for (const count of byLabel) {
    labelPairs += choose(count);
    if (count) labelEntropy -= (count / n) * Math.log(count / n);
  }
  const mean = (entropy + labelEntropy) / 2, chance = (clusterPairs * labelPairs) / Math.max(choose(n), 1);
  const most = (clusterPairs + labelPairs) / 2;
  return {
    purity: best / n,
    nmi: mean <= 1e-12 ? 1 : Math.max(mutual / mean, 0),
    ari: most === chance ? 1 : (pairs - chance) / (most - chance),
  };
}
