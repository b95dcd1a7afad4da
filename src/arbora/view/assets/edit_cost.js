// Dasgupta's cost of a tree over the edges that the page holds: for each, its weight times the leaves of the node at which it meets.
export function treeCost(tree, kept, edges, nFirst) {
  if (!edges || tree.nLeaves < 2) return null;
  const place = new Int32Array(nFirst).fill(-1);
  kept.forEach((first, leaf) => (place[first] = tree.starts[leaf]));
  const over = rangeMaxima(neighborNodes(tree));
  let cost = 0;
  for (let k = 0; k < edges.weight.length; k++) {
    const a = place[edges.from[k]], b = place[edges.to[k]];
    if (a < 0 || b < 0) continue;
    const node = a === b ? tree.parent[tree.leafOrder[a]] : largestBetween(over, Math.min(a, b), Math.max(a, b) - 1);
    cost += edges.weight[k] * tree.sizes[node];
  }
  return cost;
}

// The node at which leaves at places k and k + 1 meet.
function neighborNodes(tree) {
  const meet = new Int32Array(Math.max(tree.nLeaves - 1, 0));
  for (let node = tree.nLeaves; node < tree.nNodes; node++) {
    tree.children[node].slice(1).forEach((child) => (meet[tree.starts[child] - 1] = node));
  }
  return meet;
}

// Table j holds the largest of 2^j entries from each place on: a parent's number exceeds its children's.
function rangeMaxima(values) {
  const tables = [values];
  for (let width = 1; 2 * width <= values.length; width *= 2) {
    const below = tables[tables.length - 1];
    tables.push(Int32Array.from({ length: values.length - 2 * width + 1 }, (_, k) => Math.max(below[k], below[k + width])));
  }
  return tables;
}

function largestBetween(tables, first, last) {
  const level = 31 - Math.clz32(last - first + 1);
  return Math.max(tables[level][first], tables[level][last - (1 << level) + 1]);
}
