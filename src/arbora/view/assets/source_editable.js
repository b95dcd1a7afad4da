// Everything is in the page, which may also change its tree: edits are made here, and answers come from the edited tree.
import { treeCost } from "./edit_cost.js";
import { breadthFirst, nodeArrays, treeFacts } from "./edit_layout.js";
import { EditTree } from "./edit_tree.js";
import { Editor } from "./editor.js";
import { leafKeys } from "./edits.js";
import { LocalSource } from "./source_local.js";

const NO_CODE = 65535;
const EXEMPLARS = 12;
const SIMILAR = 6;

export class EditableSource extends LocalSource {
  constructor(whole) {
    super(whole);
    this.first = whole;
    const { arrays, facts } = whole, tree = firstTree(this), kept = Int32Array.from({ length: tree.nLeaves }, (_, leaf) => leaf);
    const edges = arrays.edgeWeight && { from: arrays.edgeFrom, to: arrays.edgeTo, weight: arrays.edgeWeight };
    this.edges = edges;
    this.firstPlace = new Int32Array(tree.nLeaves);
    arrays.leafOrder.forEach((leaf, place) => (this.firstPlace[leaf] = place));
    this.editor = new Editor({ tree, kept }, (state) => treeCost(state.tree, state.kept, edges, tree.nLeaves), facts.costNote);
  }

  async edit(details) {
    const before = this.editor.now, answer = this.editor.apply(details), { now } = this.editor;
    if (now !== before) this.hold(now === this.editor.first ? this.first : this.wholeOf(now));
    return answer;
  }

  async newick() {
    return this.editor.newick();
  }

  // Of the leaves that are left; where the page does not hold the pairs, of those that were most similar at first.
  similar(leaf) {
    const { kept } = this.editor.now, first = kept[leaf], row = this.first.arrays.similar;
    if (this.edges) this.near ||= nearestFirst(this.edges, this.first.facts.nLeaves);
    const near = this.near ? this.near[first] : Array.from(row ? row.subarray(first * SIMILAR, (first + 1) * SIMILAR) : []);
    return near.map((other) => kept.indexOf(other)).filter((other) => other >= 0).slice(0, SIMILAR);
  }

  // ---- facts and arrays of an edited tree ---------------------------------------------------------------

  wholeOf({ tree, kept }) {
    const first = this.first, { id, opened } = breadthFirst(tree);
    const byNode = nodeArrays(tree, first.arrays.x.constructor);
    // where the leaf at each place stood at first
    const places = Int32Array.from(tree.leafOrder, (leaf) => this.firstPlace[kept[leaf]]);
    const facts = { ...first.facts, ...treeFacts(tree, byNode, first.facts.levels.map(([k]) => k)), ...namesOf(tree) };
    facts.hasInnerNames = Boolean(facts.vocabulary) || Object.keys(facts.innerNames).length > 0;
    if (facts.texts) facts.texts = Array.from(kept, (leaf) => first.facts.texts[leaf]);
    const arrays = { id, opened, leafOrder: tree.leafOrder, ...this.byPlace(places) };
    for (const [name, values] of Object.entries(byNode)) arrays[name] = values.constructor.from(id, (node) => values[node]);
    facts.columns = first.facts.columns.map((column, k) => this.columnOf(column, k, tree, places, id, arrays));
    if (first.arrays.images) arrays.images = rowsOf(first.arrays.images, kept, first.facts.image.reduce((p, q) => p * q, 1));
    const same = unchangedNodes(this.editor.first, { tree, kept });
    facts.reasons = keptReasons(first.facts.reasons, this.editor.first.tree, tree, same);
    if (first.arrays.exemplars) arrays.exemplars = this.exemplarsOf({ tree, kept }, same, id);
    const whole = { facts, arrays };
    // numbers of splits are found in the arrays
    const levels = new LocalSource(whole);
    facts.levels = facts.levels.map((k) => [k, levels.splitsFor(k)]);
    return whole;
  }

  // What is stored by the place of the leaf.
  byPlace(places) {
    const { points, wordOffsets, wordIndex, wordTotal } = this.first.arrays, found = {};
    if (points) found.points = rowsOf(points, places, 2);
    if (wordOffsets) {
      const rows = Array.from(places, (place) => wordIndex.subarray(wordOffsets[place], wordOffsets[place + 1]));
      found.wordOffsets = wordOffsets.constructor.from({ length: rows.length + 1 }, () => 0);
      rows.forEach((row, k) => (found.wordOffsets[k + 1] = found.wordOffsets[k] + row.length));
      found.wordIndex = new wordIndex.constructor(found.wordOffsets[rows.length]);
      rows.forEach((row, k) => found.wordIndex.set(row, found.wordOffsets[k]));
      found.wordTotal = new wordTotal.constructor(wordTotal.length);
      found.wordIndex.forEach((word) => found.wordTotal[word]++);
    }
    return found;
  }

  // Facts of a column; its values, by place and by node, go to `arrays`.
  columnOf(column, k, tree, places, id, arrays) {
    if (column.kind === "text") return { ...column, texts: Array.from(places, (place) => column.texts[place]) };
    const before = this.first.arrays[`leaves${k}`], values = before.constructor.from(places, (place) => before[place]);
    const { value, share } = column.kind === "category" ? majorities(tree, values) : means(tree, values);
    arrays[`leaves${k}`] = values;
    arrays[`value${k}`] = this.first.arrays[`value${k}`].constructor.from(id, (node) => value[node]);
    arrays[`share${k}`] = Uint8Array.from(id, (node) => share[node]);
    if (column.kind !== "category") return column;
    const counts = column.categories.map(() => 0);
    values.forEach((code) => { if (code !== NO_CODE) counts[code]++; });
    return { ...column, counts };
  }

  // Exemplars of a node that holds what it held, else those of its children in turn: the data behind them are not in the page.
  exemplarsOf({ tree, kept }, same, id) {
    const first = this.first.arrays.exemplars, number = new Map(Array.from(kept, (leaf, k) => [leaf, k]));
    const firstSlots = new Int32Array(this.first.facts.nNodes);
    this.first.arrays.id.forEach((node, slot) => (firstSlots[node] = slot));
    const chosen = tree.children.map((children, node) => (children.length ? null : [node]));
    for (let node = tree.nLeaves; node < tree.nNodes; node++) {
      if (same[node] >= 0) {
        const slot = firstSlots[same[node]];
        chosen[node] = Array.from(first.subarray(slot * EXEMPLARS, (slot + 1) * EXEMPLARS)).filter((leaf) => leaf >= 0).map((leaf) => number.get(leaf));
      } else chosen[node] = inTurn([...tree.children[node]].sort((a, b) => tree.sizes[b] - tree.sizes[a]).map((child) => chosen[child]));
    }
    const found = new Int32Array(id.length * EXEMPLARS).fill(-1);
    id.forEach((node, slot) => found.set(chosen[node], slot * EXEMPLARS));
    return found;
  }
}

// ---- helpers ------------------------------------------------------------------------------------------

function firstTree(source) {
  const { facts, arrays, parents } = source, parent = new Int32Array(facts.nNodes).fill(-1);
  arrays.id.forEach((node, slot) => { if (parents[slot] >= 0) parent[node] = arrays.id[parents[slot]]; });
  const byNode = (values) => values && Float64Array.from(source.slots, (slot) => values[slot]);
  const inner = Array.from({ length: facts.nNodes - facts.nLeaves }, (_, k) => facts.innerNames[facts.nLeaves + k] || "");
  const name = facts.names ? [...facts.names, ...inner] : null;
  return new EditTree({ nLeaves: facts.nLeaves, parent, height: byNode(arrays.height) || null, support: byNode(arrays.support) || null, name, order: arrays.order || null });
}

function namesOf(tree) {
  const innerNames = {};
  if (tree.name) tree.name.slice(tree.nLeaves).forEach((name, k) => { if (name) innerNames[tree.nLeaves + k] = name; });
  return { innerNames, names: tree.name && Array.from({ length: tree.nLeaves }, (_, leaf) => tree.label(leaf)), hasNames: Boolean(tree.name) };
}

// For each leaf those with a similarity to it, the most similar first, the smaller number first among equals.
function nearestFirst({ from, to, weight }, nLeaves) {
  const pairs = Array.from({ length: nLeaves }, () => []);
  weight.forEach((similarity, k) => {
    if (from[k] === to[k] || !(similarity > 0)) return;
    pairs[from[k]].push([to[k], similarity]);
    pairs[to[k]].push([from[k], similarity]);
  });
  return pairs.map((near) => near.sort((p, q) => q[1] - p[1] || p[0] - q[0]).map(([other]) => other));
}

// Some rows of a flat array of rows.
function rowsOf(values, rows, width) {
  const found = new values.constructor(rows.length * width);
  rows.forEach((row, k) => found.set(values.subarray(row * width, (row + 1) * width), k * width));
  return found;
}

// For each node the node of the first tree with the same leaves, or -1.
function unchangedNodes(first, { tree, kept }) {
  const known = new Map(leafKeys(first.tree).map((key, node) => [key, node]));
  return Int32Array.from(leafKeys(tree, (leaf) => kept[leaf]), (key) => known.get(key) ?? -1);
}

// Reasons say what sets a node apart from its siblings: they stay true where node and parent hold what they held.
function keptReasons(reasons, first, tree, same) {
  const kept = {};
  for (let node = tree.nLeaves; node < tree.root; node++) {
    const was = same[node], above = same[tree.parent[node]];
    if (was >= 0 && above >= 0 && first.parent[was] === above && reasons[was]) kept[node] = reasons[was];
  }
  return kept;
}

// Up to twelve members, one of each list in turn.
function inTurn(lists) {
  const found = [];
  for (let k = 0; found.length < EXEMPLARS && lists.some((list) => k < list.length); k++) {
    for (const list of lists) if (k < list.length && found.length < EXEMPLARS) found.push(list[k]);
  }
  return found;
}

// Mean of the known values below each node.
function means(tree, values) {
  const total = new Float64Array(values.length + 1), count = new Int32Array(values.length + 1);
  values.forEach((value, at) => {
    total[at + 1] = total[at] + (Number.isFinite(value) ? value : 0);
    count[at + 1] = count[at] + (Number.isFinite(value) ? 1 : 0);
  });
  const value = Float64Array.from(tree.starts, (from, node) => (total[from + tree.sizes[node]] - total[from]) / (count[from + tree.sizes[node]] - count[from]));
  return { value, share: new Uint8Array(tree.nNodes).fill(255) };
}

// The most frequent code below each node, the smallest of equals, and its share of the known (of 255).
// Counts of a node are those of its largest child with the others' added: O(n log n) in all.
function majorities(tree, values) {
  const value = new Uint16Array(tree.nNodes).fill(NO_CODE), share = new Uint8Array(tree.nNodes);
  const counts = new Array(tree.nNodes).fill(null), known = new Int32Array(tree.nNodes);
  for (let node = 0; node < tree.nNodes; node++) {
    const children = [...tree.children[node]].sort((a, b) => (counts[b]?.size || 0) - (counts[a]?.size || 0));
    const code = children.length ? NO_CODE : values[tree.starts[node]];
    const here = (children.length && counts[children[0]]) || new Map();
    value[node] = children.length ? value[children[0]] : code;
    known[node] = children.length ? known[children[0]] : 0;
    const add = (one, more) => {
      here.set(one, (here.get(one) || 0) + more);
      known[node] += more;
      const best = value[node] === NO_CODE ? 0 : here.get(value[node]);
      if (here.get(one) > best || (here.get(one) === best && one < value[node])) value[node] = one;
    };
    if (!children.length && code !== NO_CODE) add(code, 1);
    for (const child of children.slice(1)) counts[child]?.forEach((more, one) => add(one, more));
    children.forEach((child) => (counts[child] = null));
    counts[node] = here;
    share[node] = value[node] === NO_CODE ? 0 : roundHalfEven((255 * here.get(value[node])) / known[node]);
  }
  return { value, share };
}

function roundHalfEven(value) {
  const low = Math.floor(value), rest = value - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
}
