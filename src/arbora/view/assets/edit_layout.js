// Where the nodes of an edited tree go: what view/layout.py computes, for a page without Python.
import { maxToRoot } from "./edit_tree.js";
import { partingOrder } from "./edit_parting.js";

const DISK_STEP = 0.65;
const MOST_REACHABLE = 2000;
const MOST_TAXONOMY_LEVELS = 12;

// Arrays by node, as Content.node_arrays; `wide` is the type of positions.
export function nodeArrays(tree, wide) {
  const n = tree.nLeaves, along = alongHeights(tree);
  const rho = Float32Array.from(tree.sizes, (size) => DISK_STEP * Math.max(-Math.log(Math.tan((Math.PI * size) / n / 4)), 0));
  const arrays = {
    start: tree.starts, size: tree.sizes, x: wide.from(centers(tree)), y: Float32Array.from(along), ...partingOrder(tree),
    deep: maxToRoot(tree.parent, tree.depths.slice()), rho, ...rectangles(tree),
  };
  if (tree.height) arrays.height = tree.height;
  if (tree.support) arrays.support = tree.support;
  return arrays;
}

// Nodes breadth first, and how many children of each follow.
export function breadthFirst(tree) {
  const id = [tree.root];
  for (let k = 0; k < id.length; k++) id.push(...tree.children[id[k]]);
  return { id: Int32Array.from(id), opened: Int32Array.from(id, (node) => tree.children[node].length) };
}

function centers(tree) {
  const center = new Float64Array(tree.nNodes);
  for (let node = 0; node < tree.nNodes; node++) {
    const children = tree.children[node];
    center[node] = children.length ? 0.5 * (center[children[0]] + center[children[children.length - 1]]) : tree.starts[node] + 0.5;
  }
  return center;
}

// 0 at the root, 1 at the lowest leaf: by height, or by the logarithm of the number of leaves.
function alongHeights(tree) {
  const value = tree.height ? Float64Array.from(tree.height) : Float64Array.from(tree.sizes, Math.log);
  if (tree.height) for (let node = tree.root - 1; node >= 0; node--) value[node] = Math.min(value[node], value[tree.parent[node]]);
  // scaled first: the difference of two heights near the largest float would be infinite
  const largest = Math.max(value.reduce((most, one) => Math.max(most, Math.abs(one)), 0), 1e-300);
  const scaled = value.map((one) => one / largest);
  const top = scaled[tree.root], bottom = scaled.reduce((least, one) => Math.min(least, one), Infinity);
  return scaled.map((one) => (top <= bottom ? 0 : (top - one) / (top - bottom)));
}

// The treemap: the children of a node are halved by size again and again, always across the longer side.
function rectangles(tree) {
  const sides = { x0: new Float32Array(tree.nNodes), y0: new Float32Array(tree.nNodes), x1: new Float32Array(tree.nNodes), y1: new Float32Array(tree.nNodes) };
  const areas = new Array(tree.nNodes);
  areas[tree.root] = [0, 0, 1, 1];
  for (let node = tree.root; node >= 0; node--) {
    [sides.x0[node], sides.y0[node], sides.x1[node], sides.y1[node]] = areas[node];
    if (tree.children[node].length) tile(tree, tree.children[node], areas[node], areas);
    areas[node] = null;
  }
  return sides;
}

function tile(tree, children, area, areas) {
  const open = [[0, children.length, area]];
  while (open.length) {
    const [low, high, [x0, y0, x1, y1]] = open.pop();
    if (high - low === 1) {
      areas[children[low]] = [x0, y0, x1, y1];
      continue;
    }
    let total = 0;
    for (let k = low; k < high; k++) total += tree.sizes[children[k]];
    let middle = low + 1, left = tree.sizes[children[low]];
    while (middle < high - 1 && 2 * left + tree.sizes[children[middle]] <= total) left += tree.sizes[children[middle++]];
    const share = left / total;
    if (x1 - x0 >= y1 - y0) {
      const x = x0 + share * (x1 - x0);
      open.push([low, middle, [x0, y0, x, y1]], [middle, high, [x, y0, x1, y1]]);
    } else {
      const y = y0 + share * (y1 - y0);
      open.push([low, middle, [x0, y0, x1, y]], [middle, high, [x0, y, x1, y1]]);
    }
  }
}

// ---- what the page must know about the tree as a whole -------------------------------------------------

export function treeFacts(tree, arrays, levelsBefore) {
  const isTaxonomy = hasLevels(tree);
  return {
    nLeaves: tree.nLeaves, nNodes: tree.nNodes, maxDepth: tree.depths.reduce((a, b) => Math.max(a, b), 0), leafRho: arrays.rho[0],
    scale: readableScale(tree, arrays.y), reachable: reachableCuts(tree, arrays.parted), isTaxonomy,
    levels: (isTaxonomy ? levelSizes(tree) : levelsBefore).filter((k) => k > 1 && k < tree.nLeaves),
  };
}

// Height, unless there is none or it squeezes large nodes against root or leaves.
function readableScale(tree, along) {
  if (!tree.height) return "size";
  const large = [];
  for (let node = tree.nLeaves; node < tree.root; node++) if (tree.sizes[node] * 20 >= tree.nLeaves) large.push(along[node]);
  if (large.length < 10) return "height";
  large.sort((a, b) => a - b);
  const median = (large[(large.length - 1) >> 1] + large[large.length >> 1]) / 2;
  return median > 0.02 && median < 0.98 ? "height" : "size";
}

// Numbers of clusters that a cut can give; null where all are.
function reachableCuts(tree, parted) {
  const gained = new Int32Array(parted[tree.root]);
  for (const step of parted) if (step < gained.length) gained[step]++;
  const after = [];
  let clusters = 1;
  for (const more of gained) after.push((clusters += more));
  if (!after.length || after[after.length - 1] === after.length + 1) return null;
  return [1, ...new Set(after.slice(0, MOST_REACHABLE).filter((k) => k > 1))];
}

// Whether all leaves lie at one depth, a few levels below the root.
function hasLevels(tree) {
  const depth = tree.depths[0];
  if (depth < 2 || depth > MOST_TAXONOMY_LEVELS || tree.nLeaves <= 4) return false;
  return tree.depths.subarray(0, tree.nLeaves).every((one) => one === depth);
}

function levelSizes(tree) {
  const counts = [];
  tree.depths.subarray(tree.nLeaves).forEach((depth) => (counts[depth] = (counts[depth] || 0) + 1));
  return [...new Set(counts.slice(1))].sort((a, b) => a - b);
}
