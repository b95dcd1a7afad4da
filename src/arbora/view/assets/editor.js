// A tree that its page may change, with every state it had: what view/editing.py is where Python answers.
import { newickText } from "./edit_tree.js";
import { mergedNodes, movedNode, renamedNode, splitNode, withoutNode } from "./edits.js";

const MOST_STEPS = 200;
const LONGEST_NAME = 300;

export class Editor {
  // state: { tree, kept }, kept being which of the first tree's leaves its leaves are; cost(state) -> number or null
  constructor(state, cost, costNote) {
    this.first = this.now = this.saved = state;
    this.past = [];
    this.future = [];
    this.costs = new WeakMap();
    this.costOf = cost;
    this.costNote = costNote;
  }

  apply(details) {
    const actions = ["merge", "move", "redo", "remove", "rename", "save", "split", "state", "undo"];
    if (!actions.includes(details.action)) throw new Error(`action must be one of ['${actions.join("', '")}'].`);
    const select = this[details.action](details);
    return { ...this.facts(), select };
  }

  facts() {
    const cost = (state) => {
      if (!this.costs.has(state.tree)) this.costs.set(state.tree, this.costOf(state));
      return this.costs.get(state.tree);
    };
    return {
      canUndo: this.past.length > 0, canRedo: this.future.length > 0, changed: this.now !== this.saved, path: null,
      cost: cost(this.now), costBefore: cost(this.past[this.past.length - 1] || this.first), costFirst: cost(this.first), costNote: this.costNote,
    };
  }

  newick() {
    this.saved = this.now;
    return newickText(this.now.tree);
  }

  // ---- actions ----------------------------------------------------------------------------------------

  state() {
    return null;
  }

  rename({ node, name }) {
    this.checkNode(node, "node");
    if (typeof name !== "string" || name.length > LONGEST_NAME) throw new Error(`name must be a string of at most ${LONGEST_NAME} characters.`);
    this.become(renamedNode(this.now.tree, node, name.trim()));
    return node;
  }

  merge({ nodes, name = null }) {
    if (!Array.isArray(nodes) || nodes.length < 2 || nodes.length > 1000) throw new Error("nodes must be a list of at least two nodes.");
    if (name !== null && (typeof name !== "string" || name.length > LONGEST_NAME)) throw new Error(`name must be a string of at most ${LONGEST_NAME} characters.`);
    nodes.forEach((node) => this.checkNode(node, "node"));
    const leaves = nodes.flatMap((node) => this.now.tree.leaves(node));
    this.become(mergedNodes(this.now.tree, nodes, name));
    return this.now.tree.nodeOver(leaves);
  }

  move({ node, to }) {
    this.checkNode(node, "node");
    this.checkNode(to, "to");
    const leaves = this.now.tree.leaves(node);
    this.become(movedNode(this.now.tree, node, to));
    return this.now.tree.nodeOver(leaves);
  }

  split({ node }) {
    this.checkNode(node, "node");
    const leaves = this.now.tree.leaves(node);
    this.become(splitNode(this.now.tree, node));
    return this.now.tree.nodeOver(leaves);
  }

  remove({ node }) {
    this.checkNode(node, "node");
    const { tree, kept } = this.now, gone = new Set(tree.leaves(node));
    this.become(withoutNode(tree, node), kept.filter((_, leaf) => !gone.has(leaf)));
    return this.now.tree.root;
  }

  undo() {
    if (!this.past.length) throw new Error("There is nothing to undo.");
    this.future.push(this.now);
    this.now = this.past.pop();
    return null;
  }

  redo() {
    if (!this.future.length) throw new Error("There is nothing to redo.");
    this.past.push(this.now);
    this.now = this.future.pop();
    return null;
  }

  save() {
    throw new Error("There is no file to save to. Download the tree instead.");
  }

  // ---- helpers ----------------------------------------------------------------------------------------

  become(tree, kept = this.now.kept) {
    this.past = [...this.past.slice(-MOST_STEPS + 1), this.now];
    this.future = [];
    this.now = { tree, kept };
  }

  checkNode(node, key) {
    if (!Number.isInteger(node) || node < 0 || node > this.now.tree.root) throw new Error(`${key} must be a node of the tree, in [0, ${this.now.tree.root}].`);
  }
}
