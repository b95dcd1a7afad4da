// The part of the tree the page holds: typed arrays, children of a node side by side.
// count[i]: number of children, 0 for a leaf, -1 for a node whose children have not been asked for yet.
const STORE_INTS = ["id", "parent", "first", "count", "start", "size", "rank", "deep", "depth"];
const STORE_FLOATS = ["y", "rho", "x0", "y0", "x1", "y1", "along", "bottom"];
const STORE_DOUBLES = ["x", "value"];
const MISSING_CODE = 65535;

export class Store {
  constructor(facts) {
    this.nLeaves = facts.nLeaves;
    this.leafRho = facts.leafRho || 0;
    this.maxDepth = Math.max(facts.maxDepth, 1);
    this.scale = facts.scale || "height";
    this.length = 0;
    this.capacity = 0;
    this.slotOfNode = new Int32Array(facts.nNodes).fill(-1);
    this.grow(1024);
  }

  grow(needed) {
    if (needed <= this.capacity) return;
    const capacity = Math.max(needed, 2 * this.capacity);
    const enlarge = (old, Type) => {
      const larger = new Type(capacity);
      if (old) larger.set(old);
      return larger;
    };
    for (const name of STORE_INTS) this[name] = enlarge(this[name], Int32Array);
    for (const name of STORE_FLOATS) this[name] = enlarge(this[name], Float32Array);
    for (const name of STORE_DOUBLES) this[name] = enlarge(this[name], Float64Array);
    this.share = enlarge(this.share, Uint8Array);
    this.capacity = capacity;
  }

  addRoot(arrays) {
    const base = this.append(arrays);
    this.parent[base] = -1;
    this.depth[base] = 0;
    this.link(base, base + 1, arrays.id.length);
  }

  addBelow(slot, opened, arrays) {
    if (this.count[slot] !== -1) return;
    const base = this.append(arrays);
    this.count[slot] = opened;
    this.first[slot] = base;
    for (let k = 0; k < opened; k++) this.adopt(base + k, slot);
    this.link(base, base + opened, arrays.id.length);
  }

  append(arrays) {
    const base = this.length, n = arrays.id.length;
    this.grow(base + n);
    this.count.set(arrays.opened, base);
    for (const name of ["id", "start", "size", "rank", "deep", "x", "y", "rho", "x0", "y0", "x1", "y1"]) {
      if (arrays[name]) this[name].set(arrays[name], base);
    }
    this.length = base + n;
    for (let i = base; i < base + n; i++) this.slotOfNode[this.id[i]] = i;
    this.setValues(arrays, base);
    this.rescale(base);
    return base;
  }

  setValues(arrays, base) {
    if (!arrays.value) return;
    const codes = arrays.value instanceof Uint16Array;
    for (let k = 0; k < arrays.value.length; k++) {
      this.value[base + k] = codes && arrays.value[k] === MISSING_CODE ? NaN : arrays.value[k];
    }
    this.share.set(arrays.share, base);
  }

  // Children of the n nodes from `base` follow, in order, from `next`.
  link(base, next, n) {
    for (let i = base; i < base + n; i++) {
      if (this.count[i] <= 0) continue;
      this.first[i] = next;
      for (let k = 0; k < this.count[i]; k++) this.adopt(next + k, i);
      next += this.count[i];
    }
    this.rescale(base);
  }

  adopt(child, slot) {
    this.parent[child] = slot;
    this.depth[child] = this.depth[slot] + 1;
  }

  setScale(scale) {
    this.scale = scale;
    this.rescale(0);
  }

  // along: 0 at the root, 1 at the lowest leaf; bottom: where the lowest leaf below a node is.
  rescale(from) {
    const logN = Math.log(Math.max(this.nLeaves, 2));
    for (let i = from; i < this.length; i++) {
      if (this.scale === "depth") {
        this.along[i] = this.depth[i] / this.maxDepth;
        this.bottom[i] = this.deep[i] / this.maxDepth;
      } else {
        this.along[i] = this.scale === "height" ? this.y[i] : 1 - Math.log(this.size[i]) / logN;
        this.bottom[i] = 1;
      }
    }
  }

  slot(node) {
    return node >= 0 && node < this.slotOfNode.length ? this.slotOfNode[node] : -1;
  }

  ids() {
    return Array.from(this.id.subarray(0, this.length));
  }
}
