// Which node is selected, hovered, marked or collapsed, and what follows from it.
import { showCard } from "./card.js";
import { categoryText, leavesText, valueText } from "./format.js";

const FEW_LEAVES = 12;

export class Selection {
  constructor(app) {
    this.app = app;
    this.node = null;
    this.hovered = -1;
    this.collapsed = new Set();
    this.marks = [];
    this.shown = null;
  }

  get slot() {
    return this.node === null ? -1 : this.app.store.slot(this.node);
  }

  async select(node) {
    const { app } = this;
    this.node = node;
    app.repaint();
    if (node === null) {
      this.shown = null;
      this.showCard();
      app.onSelect?.(null);
      return app.rememberState();
    }
    const card = await app.source.card(node);
    if (this.node !== node) return undefined;
    this.shown = card;
    this.showCard();
    app.panel.say(`${card.name || `Node ${node}`}, ${leavesText(card.size)}`);
    app.onSelect?.(node);
    return app.rememberState();
  }

  // The card holds every column; its colors follow the theme.
  showCard() {
    showCard(this.app.panel.card, this.shown, this.app);
  }

  async goTo(node, fly = true) {
    const { app } = this;
    app.panel.found.hidden = true;
    const path = await app.source.path(node);
    if (!path.length) return app.panel.say("This leaf is folded away: the page holds the upper part of the tree.");
    const slot = await app.loader.reach(node, path);
    path.slice(1).forEach((above) => this.collapsed.delete(above));
    if (node < app.facts.nLeaves) {
      this.marks = [app.store.start[slot]];
      app.cutting.unfold();
    }
    await this.select(node);
    return fly ? app.focus(this.contextOf(slot)) : undefined;
  }

  // For a leaf: the nearest ancestor with a handful of leaves, so that it is seen among its neighbors.
  contextOf(slot) {
    const { store } = this.app;
    let at = slot;
    while (store.parent[at] >= 0 && store.size[at] < FEW_LEAVES) at = store.parent[at];
    return at;
  }

  hover(slot, event) {
    const changed = slot !== this.hovered;
    this.hovered = slot;
    if (changed) this.app.repaint();
    this.app.panel.showTip(slot < 0 ? null : this.tipLines(slot), event);
  }

  tipLines(slot) {
    const { store, names, coloring } = this.app;
    const node = store.id[slot], size = store.size[slot];
    const lines = [names.of(node) || (size === 1 ? `Leaf ${node}` : `Node ${node}`)];
    if (size > 1) lines.push(leavesText(size));
    const column = coloring.column, value = store.value[slot];
    if (!column || Number.isNaN(value)) return lines;
    if (column.kind === "category") lines.push(`${column.name}: ${categoryText(column, value)}${size > 1 ? ` ${Math.round((100 * store.share[slot]) / 255)} %` : ""}`);
    else lines.push(`${column.name}: ${size > 1 ? "mean " : ""}${valueText(column, value)}`);
    return lines;
  }

  mark(places) {
    this.marks = places;
    this.app.scatter.marked = this.app.facts.hasPoints ? places : null;
    this.app.repaint();
  }

  clear() {
    this.marks = [];
    this.app.scatter.marked = null;
    return this.select(null);
  }

  async step(direction) {
    const { store, loader } = this.app;
    if (this.node === null) return this.select(store.id[0]);
    const slot = this.slot;
    if (direction === "parent") return store.parent[slot] >= 0 ? this.select(store.id[store.parent[slot]]) : undefined;
    if (direction === "child") {
      if (store.count[slot] === -1) await loader.loadBelow(slot);
      return store.count[slot] > 0 ? this.select(store.id[store.first[slot]]) : undefined;
    }
    const parent = store.parent[slot];
    if (parent < 0) return undefined;
    const to = slot + (direction === "next" ? 1 : -1);
    return to >= store.first[parent] && to < store.first[parent] + store.count[parent] ? this.select(store.id[to]) : undefined;
  }

  toggleCollapse() {
    if (this.node === null || this.app.store.size[this.slot] < 2) return;
    if (!this.collapsed.delete(this.node)) this.collapsed.add(this.node);
    this.refresh();
  }

  expandAll() {
    this.collapsed.clear();
    this.app.cutting.unfold();
    this.refresh();
  }

  refresh() {
    this.showCard();
    this.app.repaint();
    this.app.rememberState();
  }
}
