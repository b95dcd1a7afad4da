// Edits of a tree: move, merge, split, remove, as tree/_edit.py does them; every edit gives a new tree.
import { EditTree, maxToRoot, sumToRoot } from "./edit_tree.js";

// With another name for one node; an empty one takes it away.
export function renamedNode(tree, node, name) {
  const names = tree.name ? [...tree.name] : new Array(tree.nNodes).fill("");
  names[node] = name;
  return tree.with({ name: names });
}

// Several nodes made one, where they met.
export function mergedNodes(tree, nodes, name) {
  const chosen = [...new Set(nodes)];
  refuseNested(tree, chosen);
  if (chosen.length < 2) throw new Error(`merge needs at least two different nodes. Got ${chosen.length}.`);
  const draft = new Draft(tree), at = tree.lca(chosen);
  const internal = chosen.filter((node) => node >= tree.nLeaves).sort((a, b) => tree.sizes[b] - tree.sizes[a]);
  const names = internal.map((node) => draft.name[node]).filter(Boolean);
  let into = at;
  if (chosen.reduce((sum, node) => sum + tree.sizes[node], 0) === tree.sizes[at]) draft.name[at] = name || draft.name[at];
  else into = draft.add(at, Math.max(...chosen.map((node) => draft.height[node])), name || names[0] || "");
  for (const node of chosen) {
    for (const member of node < tree.nLeaves ? [node] : tree.children[node]) draft.parent[member] = into;
  }
  return draft.tree();
}

// A subtree put below another node, or joined with a leaf under a new node.
export function movedNode(tree, node, to) {
  if (node === tree.root) throw new Error("The root cannot be moved: it contains every node.");
  if (node === to || (to < node && tree.lca([node, to]) === node)) throw new Error(`to=${to} lies inside node=${node}, so it cannot receive it.`);
  if (tree.parent[node] === to) return tree;
  const draft = new Draft(tree);
  let target = to;
  if (to < tree.nLeaves) {
    const above = tree.parent[to], lowest = Math.max(draft.height[node], draft.height[to]);
    target = draft.add(above, Math.max(lowest, (lowest + draft.height[above]) / 2), "");
    draft.parent[to] = target;
  }
  draft.parent[node] = target;
  return draft.tree();
}

// A node that goes; its children take its place.
export function splitNode(tree, node) {
  if (node < tree.nLeaves) throw new Error(`node=${node} is a leaf and cannot be split.`);
  if (node === tree.root) throw new Error("The root has no parent to receive its children. Give groups.");
  const draft = new Draft(tree);
  for (const child of tree.children[node]) draft.parent[child] = tree.parent[node];
  return draft.tree();
}

// Without a node and all below it; the leaves that remain are numbered in their order, and keep the labels they had.
export function withoutNode(tree, node) {
  if (node === tree.root) throw new Error("nodes must leave at least one leaf. Got all of them.");
  const gone = new Uint8Array(tree.nLeaves);
  tree.leaves(node).forEach((leaf) => (gone[leaf] = 1));
  const count = new Int32Array(tree.nNodes), remains = sumToRoot(tree.parent, Int32Array.from(tree.parent, (_, v) => (v < tree.nLeaves && !gone[v] ? 1 : 0)));
  for (let v = 0; v < tree.root; v++) if (remains[v]) count[tree.parent[v]]++;
  const source = [];
  for (let v = 0; v < tree.nNodes; v++) if (v < tree.nLeaves ? !gone[v] : count[v] >= 2) source.push(v);
  const number = new Int32Array(tree.nNodes).fill(-1);
  source.forEach((v, k) => (number[v] = k));
  const parent = Int32Array.from(source, (v) => {
    let above = tree.parent[v];
    while (above >= 0 && number[above] < 0) above = tree.parent[above];
    return above < 0 ? -1 : number[above];
  });
  return new EditTree({
    nLeaves: tree.nLeaves - tree.sizes[node], parent,
    height: tree.height && Float64Array.from(source, (v) => tree.height[v]),
    support: tree.support && Float64Array.from(source, (v) => tree.support[v]),
    name: source.map((v) => (v < tree.nLeaves ? tree.label(v) : (tree.name && tree.name[v]) || "")),
    order: tree.order && tree.leafOrder.filter((leaf) => !gone[leaf]).map((leaf) => number[leaf]),
  });
}

function refuseNested(tree, nodes) {
  const byStart = [...nodes].sort((a, b) => tree.starts[a] - tree.starts[b] || b - a);
  for (let k = 1; k < byStart.length; k++) {
    const above = byStart[k - 1], below = byStart[k];
    if (tree.starts[below] < tree.starts[above] + tree.sizes[above]) {
      throw new Error(`Node ${below} ('${tree.label(below)}') lies below node ${above} ('${tree.label(above)}').`);
    }
  }
}

// ---- a tree that can change ---------------------------------------------------------------------------

// Parents, heights and names of a tree with room for new nodes; `tree` makes it whole again.
class Draft {
  constructor(before) {
    this.before = before;
    this.parent = Array.from(before.parent);
    this.height = Array.from(before.height || before.sizes);
    this.name = before.name ? [...before.name] : new Array(before.nNodes).fill("");
  }

  add(parent, height, name) {
    this.parent.push(parent);
    this.height.push(height);
    this.name.push(name);
    return this.parent.length - 1;
  }

  // The tree of what has children left, in as much of the old numbering as the new parents allow.
  tree() {
    const { before } = this, source = this.childrenFirst(this.withoutIdle());
    const number = new Int32Array(this.parent.length).fill(-1);
    source.forEach((node, k) => (number[node] = k));
    const parent = Int32Array.from(source, (node) => (this.parent[node] < 0 ? -1 : number[this.parent[node]]));
    const height = Float64Array.from(source, (node) => this.height[node]);
    const named = before.name || this.name.slice(before.nNodes).some(Boolean);
    const after = new EditTree({
      nLeaves: before.nLeaves, parent, order: before.order,
      height: before.height && (isMonotone(before) ? maxToRoot(parent, height) : height),
      name: named ? source.map((node) => this.name[node]) : null,
    });
    return before.support ? after.with({ support: supportsAfter(before, after, source) }) : after;
  }

  // Drops nodes left without children, and nodes left with one that had more: which remain.
  withoutIdle() {
    const { before, parent } = this, n = parent.length;
    const count = new Int32Array(n), remains = new Uint8Array(n).fill(1);
    parent.forEach((above) => { if (above >= 0) count[above]++; });
    const idle = [];
    for (let node = before.nLeaves; node < n; node++) if (!count[node]) idle.push(node);
    while (idle.length) {
      const node = idle.pop();
      remains[node] = 0;
      if (parent[node] >= 0 && --count[parent[node]] === 0) idle.push(parent[node]);
    }
    const passed = Uint8Array.from(remains, (stays, node) => {
      const wasUnary = node < before.nNodes && before.children[node].length === 1;
      return stays && node >= before.nLeaves && count[node] === 1 && !wasUnary ? 1 : 0;
    });
    for (let node = 0; node < n; node++) {
      if (passed[node]) remains[node] = 0;
      if (remains[node]) while (parent[node] >= 0 && passed[parent[node]]) parent[node] = parent[parent[node]];
    }
    return remains;
  }

  // The nodes that remain, children before parents, by number as far as that allows.
  childrenFirst(remains) {
    const { parent } = this, { nLeaves } = this.before, waiting = new Int32Array(parent.length);
    const nodes = Array.from(remains.keys()).filter((node) => remains[node]);
    nodes.forEach((node) => { if (parent[node] >= 0) waiting[parent[node]]++; });
    const order = [], ready = new SmallestFirst();
    const done = (node) => {
      order.push(node);
      if (parent[node] >= 0 && --waiting[parent[node]] === 0) ready.push(parent[node]);
    };
    for (let leaf = 0; leaf < nLeaves; leaf++) done(leaf);
    while (ready.size) done(ready.pop());
    return order;
  }
}

function isMonotone(tree) {
  const height = tree.height || tree.sizes;
  return tree.parent.every((above, node) => above < 0 || height[node] <= height[above]);
}

// Support of the nodes whose leaves are the same as before; NaN for the others.
function supportsAfter(before, after, source) {
  const theirs = leafKeys(before), ours = leafKeys(after);
  return Float64Array.from(source, (node, k) => (node < before.nNodes && ours[k] === theirs[node] ? before.support[node] : NaN));
}

// A key for the set of leaves below each node: two sums of scrambled leaf numbers, modulo 2^32.
export function leafKeys(tree, numberOf = (leaf) => leaf) {
  const [one, other] = [1, 2].map((seed) => {
    const total = new Int32Array(tree.nNodes);
    for (let leaf = 0; leaf < tree.nLeaves; leaf++) total[leaf] = scrambled(2 * numberOf(leaf) + seed);
    return sumToRoot(tree.parent, total);
  });
  return Array.from(one, (sum, node) => `${sum} ${other[node]}`);
}

function scrambled(number) {
  let bits = Math.imul(number ^ (number >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return bits ^ (bits >>> 16);
}

// A heap of numbers.
class SmallestFirst {
  constructor() {
    this.items = [];
  }

  get size() {
    return this.items.length;
  }

  push(item) {
    const { items } = this;
    let at = items.push(item) - 1;
    while (at > 0 && items[(at - 1) >> 1] > item) {
      items[at] = items[(at - 1) >> 1];
      at = (at - 1) >> 1;
    }
    items[at] = item;
  }

  pop() {
    const { items } = this, top = items[0], last = items.pop();
    if (!items.length) return top;
    let at = 0;
    for (let child = 1; child < items.length; child = 2 * at + 1) {
      if (child + 1 < items.length && items[child + 1] < items[child]) child++;
      if (items[child] >= last) break;
      items[at] = items[child];
      at = child;
    }
    items[at] = last;
    return top;
  }
}
