// In which order a cut takes an edited tree apart: what tree/parting.py computes, for a page without Python.
import { maxToRoot } from "./edit_tree.js";

const SHARE_OF_MEAN = 25;

// parted: the step at which each node parts from its parent; rank: the first that parts something below it.
export function partingOrder(tree) {
  const branches = lighterBranches(tree), { place, nPlaces } = placesOf(tree, branches);
  const step = partBranches(branches.map((node) => place[tree.parent[node]]), sinceWhen(tree, branches), nPlaces);
  const never = step.reduce((most, one) => Math.max(most, one + 1), 0);
  const parted = new Int32Array(tree.nNodes).fill(never), rank = new Int32Array(tree.nNodes).fill(never);
  branches.forEach((node, k) => (parted[node] = step[k]));
  for (let node = 0; node < tree.root; node++) {
    const above = tree.parent[node];
    rank[above] = Math.min(rank[above], rank[node], parted[node]);
  }
  return { rank, parted };
}

// All but the root and the largest child of each node, of equally large ones the first; the largest of them first.
function lighterBranches(tree) {
  const stays = new Int32Array(tree.nNodes).fill(-1), found = [];
  for (let node = 0; node < tree.root; node++) {
    const above = tree.parent[node];
    if (stays[above] < 0 || tree.sizes[node] > tree.sizes[stays[above]]) stays[above] = node;
  }
  for (let node = 0; node < tree.root; node++) if (stays[tree.parent[node]] !== node) found.push(node);
  return found.sort((a, b) => tree.sizes[b] - tree.sizes[a] || a - b);
}

// The place of each node with branches to part, the highest first, of equally high ones the largest number.
function placesOf(tree, branches) {
  let height = tree.sizes;
  if (tree.height) {
    height = maxToRoot(tree.parent, Float64Array.from(tree.height, (one, node) => (tree.children[node].length >= 2 ? one : -Infinity)));
  }
  const nodes = [...new Set(branches.map((node) => tree.parent[node]))];
  nodes.sort((a, b) => (height[a] === height[b] ? b - a : height[b] - height[a]));
  const place = new Int32Array(tree.nNodes).fill(-1);
  nodes.forEach((node, k) => (place[node] = k));
  return { place, nPlaces: nodes.length };
}

// From how many clusters on each branch is large enough; in a tree of complete levels, from the first.
function sinceWhen(tree, branches) {
  const depths = tree.depths.subarray(0, tree.nLeaves);
  const hasLevels = tree.children.some((below) => below.length > 2 || below.length === 1) && depths.every((one) => one === depths[0]);
  return branches.map((node) => (hasLevels ? 1 : Math.floor(tree.nLeaves / (SHARE_OF_MEAN * (tree.sizes[node] + 1))) + 1));
}

// The step at which each branch parts: of the places with branches that are large enough, the first is opened next.
function partBranches(places, since, nPlaces) {
  const step = new Int32Array(places.length), waiting = Array.from({ length: nPlaces }, () => []), heap = [];
  let counted = 0, parted = 0, steps = 0;
  while (parted < places.length) {
    const bound = heap.length ? parted + 2 : Math.max(parted + 2, since[counted]);
    for (; counted < places.length && since[counted] <= bound; counted++) {
      const here = waiting[places[counted]];
      if (!here.length) push(heap, places[counted]);
      here.push(counted);
    }
    const here = waiting[pop(heap)];
    for (const branch of here) step[branch] = steps;
    parted += here.length;
    here.length = 0;
    steps++;
  }
  return step;
}

// ---- a heap of which the smallest comes first -----------------------------------------------------------

function push(heap, entry) {
  let at = heap.length;
  heap.push(entry);
  for (; at > 0 && heap[(at - 1) >> 1] > entry; at = (at - 1) >> 1) heap[at] = heap[(at - 1) >> 1];
  heap[at] = entry;
}

function pop(heap) {
  const smallest = heap[0], last = heap.pop(), left = heap.length;
  let at = 0;
  for (let below = 1; below < left; below = 2 * at + 1) {
    if (below + 1 < left && heap[below + 1] < heap[below]) below++;
    if (heap[below] >= last) break;
    heap[at] = heap[below];
    at = below;
  }
  if (left) heap[at] = last;
  return smallest;
}
