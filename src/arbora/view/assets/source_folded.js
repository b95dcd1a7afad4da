// The upper part of a large tree is in the page; what lies below is folded into groups, with their cards.
import { compareCells } from "./agreement.js";
import { LocalSource } from "./source_local.js";
import { foldText } from "./search.js";

const MOST_FOUND = 40;

export class FoldedSource extends LocalSource {
  nameOf(node) {
    return this.facts.titles[node] || "";
  }

  firstLeaf(s) {
    return this.arrays.first[s];
  }

  async leaves() {
    return new Uint16Array(0);
  }

  // Number of the cluster of each group.
  clusterOfGroup(clusters) {
    const { start, size, groupStart } = this.arrays, cluster = new Int32Array(groupStart.length);
    const order = clusters.flatMap((slots, k) => slots.map((s) => [start[s], start[s] + size[s], k])).sort((a, b) => a[0] - b[0]);
    let at = 0;
    groupStart.forEach((from, group) => {
      while (from >= order[at][1]) at++;
      cluster[group] = order[at][2];
    });
    return cluster;
  }

  compare(clusters, c) {
    const cluster = this.clusterOfGroup(clusters), a = this.arrays;
    const group = a[`cellGroup${c}`], code = a[`cellCode${c}`], count = a[`cellCount${c}`];
    return compareCells(clusters.length, this.facts.columns[c].categories.length, (add) => {
      for (let k = 0; k < group.length; k++) add(cluster[group[k]], code[k], count[k]);
    });
  }

  // One entry per group: its node, name, size and cluster.
  async labels(k) {
    const a = this.arrays, cluster = this.clusterOfGroup(this.clustersOf(k).clusters), groups = [];
    for (let s = 0; s < a.id.length; s++) if (a.opened[s] <= 0) groups.push(s);
    groups.sort((p, q) => a.start[p] - a.start[q]);
    return { nodes: groups.map((s) => a.id[s]), names: groups.map((s) => this.nameOf(a.id[s])), sizes: groups.map((s) => a.size[s]), label: cluster };
  }

  async card(node) {
    const card = this.facts.cards[this.slots[node]], above = (await this.path(node)).slice(1);
    return { ...card, path: this.pathOnCard(above), images: this.imagesOf(card.exemplars.map(([leaf]) => leaf)) };
  }

  imagesOf(leaves) {
    if (!this.facts.image) return undefined;
    this.imageAt ??= new Map(Array.from(this.arrays.imageLeaf, (leaf, k) => [leaf, k]));
    return super.imagesOf(leaves.map((leaf) => this.imageAt.get(leaf)));
  }

  async search(text) {
    const wanted = foldText(text.trim());
    if (!wanted) return { count: 0, found: [] };
    const nodes = [];
    for (const [node, title] of Object.entries(this.facts.titles)) {
      if (title && foldText(title).includes(wanted)) nodes.push({ kind: "node", node: Number(node), title, count: this.sizeOf(Number(node)) });
    }
    nodes.sort((a, b) => b.count - a.count || a.node - b.node);
    const values = this.finder.values(wanted);
    return { count: nodes.length + values.length, found: [...values.slice(0, MOST_FOUND), ...nodes.slice(0, MOST_FOUND)] };
  }

  // The middle of every group that has the value.
  async members({ column, code }) {
    const c = this.facts.columns.findIndex((one) => one.name === column), a = this.arrays;
    const found = new Set();
    a[`cellGroup${c}`].forEach((group, k) => { if (a[`cellCode${c}`][k] === code) found.add(group); });
    const ends = (group) => (group + 1 < a.groupStart.length ? a.groupStart[group + 1] : this.facts.nLeaves);
    return Int32Array.from(found, (group) => Math.floor((a.groupStart[group] + ends(group)) / 2));
  }
}
