// Level of detail: from the root down, open only what covers enough pixels, skip what would fall on the same pixel.
export const OPEN = 0, CLOSED = 1, LEAF = 2;
const SAME_PIXEL = 0.6;

export class Frame {
  constructor() {
    this.length = 0;
    this.resize(4096);
  }

  resize(capacity) {
    const copy = (old, Type) => {
      const larger = new Type(capacity);
      if (old) larger.set(old);
      return larger;
    };
    // slot: node of the store; up: index in this frame of the drawn ancestor, -1 for the root
    this.slot = copy(this.slot, Int32Array);
    this.up = copy(this.up, Int32Array);
    this.x = copy(this.x, Float32Array);
    this.y = copy(this.y, Float32Array);
    this.extent = copy(this.extent, Float32Array);
    this.color = copy(this.color, Int16Array);
    this.kind = copy(this.kind, Uint8Array);
    this.capacity = capacity;
  }

  add(slot, up, x, y, extent, color, kind) {
    if (this.length === this.capacity) this.resize(2 * this.capacity);
    const k = this.length++;
    this.slot[k] = slot;
    this.up[k] = up;
    this.x[k] = x;
    this.y[k] = y;
    this.extent[k] = extent;
    this.color[k] = color;
    this.kind[k] = kind;
    return k;
  }
}

const walkStack = { slot: new Int32Array(4096), up: new Int32Array(4096), cluster: new Int32Array(4096) };

function walkPush(depth, slot, up, cluster) {
  if (depth === walkStack.slot.length) {
    for (const name of ["slot", "up", "cluster"]) {
      const larger = new Int32Array(2 * depth);
      larger.set(walkStack[name]);
      walkStack[name] = larger;
    }
  }
  walkStack.slot[depth] = slot;
  walkStack.up[depth] = up;
  walkStack.cluster[depth] = cluster;
}

// Fill `frame` with what `view` should draw; nodes that deserve children the page lacks go to `wanted`.
export function walk(store, view, coloring, collapsed, options, frame, wanted) {
  const { threshold, budget, foldFrom = Infinity } = options;
  frame.length = 0;
  wanted.length = 0;
  let depth = 0, lastX = NaN, lastY = NaN, lastUp = -2;
  walkPush(depth++, 0, -1, -1);
  while (depth > 0) {
    depth--;
    const slot = walkStack.slot[depth], up = walkStack.up[depth];
    let cluster = walkStack.cluster[depth];
    if (cluster < 0) cluster = clusterAt(coloring, store, slot);
    view.locate(slot);
    const x = view.sx, y = view.sy;
    const extent = view.extent(slot);
    const count = store.count[slot];
    const isLeaf = count === 0;
    const folded = store.rank[slot] >= foldFrom || collapsed.has(store.id[slot]);
    const opens = !isLeaf && extent > threshold && !folded && !view.outside(slot);
    if (opens && count === -1) wanted.push([slot, extent]);
    if (opens && count > 0) {
      const passes = up >= 0 && Math.abs(x - frame.x[up]) < SAME_PIXEL && Math.abs(y - frame.y[up]) < SAME_PIXEL &&
        Math.abs(extent - frame.extent[up]) < SAME_PIXEL;
      const at = passes ? up : frame.add(slot, up, x, y, extent, coloring.indexOf(store, slot, cluster), OPEN);
      for (let k = count - 1; k >= 0; k--) walkPush(depth++, store.first[slot] + k, at, cluster);
      if (frame.length > budget) return false;
      continue;
    }
    if (extent < 1 && up === lastUp && Math.abs(x - lastX) < SAME_PIXEL && Math.abs(y - lastY) < SAME_PIXEL) continue;
    frame.add(slot, up, x, y, extent, coloring.indexOf(store, slot, cluster), isLeaf ? LEAF : CLOSED);
    lastX = x;
    lastY = y;
    lastUp = up;
  }
  return true;
}

function clusterAt(coloring, store, slot) {
  const found = coloring.clusterOfPiece.get(store.id[slot]);
  return found === undefined ? -1 : found;
}
