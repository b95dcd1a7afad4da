// More of a large tree: asks the source for the children of nodes that cover enough pixels.
const LOADS_AT_ONCE = 4;

export class Loader {
  constructor(app) {
    this.app = app;
    this.loading = new Set();
  }

  // list: [slot, pixels] of nodes that deserve children the page lacks, the largest first
  async fetchBelow(list) {
    const { app } = this;
    if (app.source.complete) return;
    list.sort((a, b) => b[1] - a[1]);
    const asks = [];
    for (const [slot] of list) {
      if (this.loading.size >= LOADS_AT_ONCE) break;
      if (!this.loading.has(slot) && app.store.count[slot] === -1) asks.push(this.loadBelow(slot));
    }
    if (!asks.length) return;
    await Promise.all(asks);
    app.stage.request();
    app.showStatus();
  }

  async loadBelow(slot) {
    const { source, store, coloring } = this.app;
    this.loading.add(slot);
    try {
      const asked = coloring.column ? coloring.by : null;
      const { facts, arrays } = await source.below(store.id[slot], asked);
      const base = store.length;
      store.addBelow(slot, facts.rootOpened, arrays);
      // the color may have changed meanwhile
      const now = coloring.column ? coloring.by : null;
      if (now !== asked && now) store.setValues(await source.column(now, Array.from(arrays.id)), base);
    } finally {
      this.loading.delete(slot);
    }
  }

  // Makes sure the page holds a node, asking for its ancestors' children from the top.
  // path: from the node up to the root
  async reach(node, path) {
    const { store } = this.app;
    if (store.slot(node) >= 0) return store.slot(node);
    for (const above of [...path].reverse()) {
      const slot = store.slot(above);
      if (above !== node && store.count[slot] === -1) await this.loadBelow(slot);
    }
    this.app.showStatus();
    return store.slot(node);
  }
}
