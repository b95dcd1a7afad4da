// A tree that can be edited in the page: the same arrays, numbers and rules as arbora.Tree.
export class EditTree {
  // parent: children before parents, leaves first; height, support, name, order (leaves as drawn): or null
  constructor({ nLeaves, parent, height = null, support = null, name = null, order = null }) {
    Object.assign(this, { nLeaves, parent, height, support, name, order });
    this.nNodes = parent.length;
    this.root = parent.length - 1;
  }

  // With some arrays replaced.
  with(changed) {
    const { nLeaves, parent, height, support, name, order } = this;
    return new EditTree({ nLeaves, parent, height, support, name, order, ...changed });
  }

  get sizes() {
    return (this.knownSizes ??= sumToRoot(this.parent, Int32Array.from(this.parent, (_, node) => (node < this.nLeaves ? 1 : 0))));
  }

  get depths() {
    if (!this.knownDepths) {
      this.knownDepths = new Int32Array(this.nNodes);
      for (let node = this.root - 1; node >= 0; node--) this.knownDepths[node] = this.knownDepths[this.parent[node]] + 1;
    }
    return this.knownDepths;
  }

  // Lists of children, siblings by the first of their leaves in `order`: each leaf climbs while it is the first below a node.
  get children() {
    if (this.knownChildren) return this.knownChildren;
    const lists = Array.from({ length: this.nNodes }, () => []);
    const climb = (leaf) => {
      for (let node = leaf; this.parent[node] >= 0; node = this.parent[node]) {
        const siblings = lists[this.parent[node]];
        siblings.push(node);
        if (siblings.length > 1) break;
      }
    };
    if (this.order) this.order.forEach(climb);
    else for (let leaf = 0; leaf < this.nLeaves; leaf++) climb(leaf);
    return (this.knownChildren = lists);
  }

  // Place of each node's first leaf among the leaves as drawn.
  get starts() {
    if (!this.knownStarts) {
      this.knownStarts = new Int32Array(this.nNodes);
      for (let node = this.root; node >= this.nLeaves; node--) {
        let place = this.knownStarts[node];
        for (const child of this.children[node]) {
          this.knownStarts[child] = place;
          place += this.sizes[child];
        }
      }
    }
    return this.knownStarts;
  }

  get leafOrder() {
    if (!this.knownOrder) {
      this.knownOrder = new Int32Array(this.nLeaves);
      for (let leaf = 0; leaf < this.nLeaves; leaf++) this.knownOrder[this.starts[leaf]] = leaf;
    }
    return this.knownOrder;
  }

  leaves(node) {
    return Array.from(this.leafOrder.subarray(this.starts[node], this.starts[node] + this.sizes[node]));
  }

  // The smallest node above all of these: parents have larger numbers than their children.
  lca(nodes) {
    return nodes.reduce((a, b) => {
      while (a !== b) {
        if (a < b) a = this.parent[a];
        else b = this.parent[b];
      }
      return a;
    });
  }

  // The smallest node over these leaves: that over the first and the last of them as drawn.
  nodeOver(leaves) {
    let first = leaves[0], last = leaves[0];
    for (const leaf of leaves) {
      if (this.starts[leaf] < this.starts[first]) first = leaf;
      if (this.starts[leaf] > this.starts[last]) last = leaf;
    }
    return this.lca([first, last]);
  }

  label(node) {
    return (this.name && this.name[node]) || String(node);
  }
}

// Sums over all that is below each node, in place.
export function sumToRoot(parent, values) {
  for (let node = 0; node < parent.length - 1; node++) values[parent[node]] += values[node];
  return values;
}

export function maxToRoot(parent, values) {
  for (let node = 0; node < parent.length - 1; node++) values[parent[node]] = Math.max(values[parent[node]], values[node]);
  return values;
}

// ---- Newick -------------------------------------------------------------------------------------------

// The text that tree.to_newick() gives.
export function newickText(tree) {
  const text = Array.from({ length: tree.nNodes }, (_, node) => quotedName((tree.name && tree.name[node]) || (node < tree.nLeaves ? String(node) : "")));
  if (tree.height) {
    for (let node = 0; node < tree.root; node++) text[node] += `:${pythonNumber(tree.height[tree.parent[node]] - tree.height[node])}`;
  }
  const pieces = [];
  // children first, without recursion: a chain of thousands of nodes is a tree too
  const open = [[tree.root, 0]];
  while (open.length) {
    const top = open[open.length - 1], [node, done] = top, children = tree.children[node];
    if (done === children.length) {
      if (children.length) pieces.push(")");
      pieces.push(text[node]);
      open.pop();
      continue;
    }
    pieces.push(done ? "," : "(");
    top[1]++;
    open.push([children[done], 0]);
  }
  return `${pieces.join("")};`;
}

function quotedName(name) {
  return /[\s()[\]{},:;'"_=]/.test(name) ? `'${name.replaceAll("'", "''")}'` : name;
}

// A number as Python writes it: the same digits, another choice of when to write an exponent.
export function pythonNumber(value) {
  const size = Math.abs(value);
  if (Number.isNaN(value)) return "nan";
  if (size === Infinity) return value > 0 ? "inf" : "-inf";
  if (size && (size < 1e-4 || size >= 1e16)) return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  const text = Object.is(value, -0) ? "-0" : String(value);
  return text.includes(".") ? text : `${text}.0`;
}
