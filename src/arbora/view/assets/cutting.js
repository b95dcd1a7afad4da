// The cut: how many clusters, which levels to stop at, and drilling down through them.
const MOST_ON_SLIDER = 2000;
const USUAL_CLUSTERS = 8;
const MOST_AT_FIRST = 60;

export class Cutting {
  constructor(app) {
    this.app = app;
    this.ticket = 0;
    this.cut = null;
    this.folds = false;
    this.focus = null;
    this.trail = [];
  }

  // The column that cuts are scored against: the one that colors, or the first with classes.
  get truth() {
    const by = this.app.coloring.column;
    return by && by.scores ? by : this.app.facts.columns.find((column) => column.scores) || null;
  }

  usualClusters() {
    const { facts } = this.app;
    if (facts.isTaxonomy && facts.levels.length) return facts.levels[0][0];
    const column = facts.columns.find((one) => one.scores);
    return Math.max(1, Math.min(column ? column.categories.length : USUAL_CLUSTERS, facts.nLeaves, MOST_AT_FIRST));
  }

  get most() {
    return Math.min(this.app.facts.mostClusters || this.app.facts.nLeaves, MOST_ON_SLIDER);
  }

  sliderAt(k) {
    return this.most <= 1 ? 0 : Math.round((1000 * Math.log(Math.min(k, this.most))) / Math.log(this.most));
  }

  clustersAt(position) {
    return Math.max(1, Math.round(Math.exp((position / 1000) * Math.log(this.most))));
  }

  step(by) {
    const now = this.cut ? this.cut.clusters : 1;
    const next = this.app.facts.reachable ? this.app.facts.reachable.find((k) => k > now) : now + 1;
    return this.set(by > 0 ? next || now : now - 1, true);
  }

  async set(k, show) {
    const { app } = this;
    const wanted = Math.min(Math.max(Math.round(k) || 1, 1), app.facts.mostClusters || app.facts.nLeaves);
    const ticket = ++this.ticket;
    const truth = this.truth;
    const cut = await app.source.cut(wanted, truth ? truth.name : null);
    // a newer position of the slider is on its way
    if (ticket !== this.ticket) return;
    this.cut = cut;
    app.coloring.setCut(cut);
    if (show) app.coloring.setBy("cut");
    app.panel.showCut(cut, truth && truth.name, wanted);
    await app.scatter.recolor();
    await app.legend.show();
    app.repaint();
    app.rememberState();
  }

  // ---- folding at the cut and drilling down -----------------------------------------------------------

  // Nodes that the cut does not split are drawn closed: their rank is at least this.
  get foldFrom() {
    return this.folds && this.cut ? this.cut.splits : Infinity;
  }

  setFolds(folds) {
    this.folds = folds;
    this.app.panel.showFolds(folds);
    this.app.repaint();
    this.app.rememberState();
  }

  unfold() {
    if (this.folds) this.setFolds(false);
  }

  nextLevel() {
    const level = this.app.facts.levels.find(([k]) => k > this.cut.clusters);
    return level ? level[0] : null;
  }

  // The highest node in the cluster that holds a node, or the node itself above the cut.
  clusterSlot(slot) {
    const { store } = this.app;
    let at = slot;
    while (store.parent[at] >= 0 && store.rank[store.parent[at]] >= this.cut.splits) at = store.parent[at];
    return at;
  }

  // Double-click: first the cluster under the pointer, then the clusters of the next level inside it.
  async drill(slot) {
    if (slot < 0) return this.drillOut();
    const { store } = this.app;
    let target = this.clusterSlot(slot);
    if (store.id[target] === this.focus || target === 0) {
      const next = this.nextLevel();
      if (next) await this.set(next, false);
      // below the last level come the leaves
      else this.unfold();
      target = next ? this.clusterSlot(slot) : slot;
    }
    return this.open(store.id[target]);
  }

  drillOut() {
    this.focus = null;
    this.showTrail();
    this.app.fit();
  }

  async open(node) {
    const { app } = this;
    this.focus = node;
    await app.select(node);
    app.focus(app.store.slot(node));
    await this.showTrail();
  }

  // The way from the root to where we are, by the clusters of the levels on it.
  async showTrail() {
    const { app } = this;
    if (this.focus === null) return app.panel.showTrail([]);
    const { store, facts } = app, path = [];
    for (let slot = store.slot(this.focus); slot >= 0; slot = store.parent[slot]) {
      const above = store.parent[slot];
      const isLevel = above >= 0 && [...facts.levels.map((level) => level[1]), this.cut.splits].some((done) => store.rank[above] < done && store.rank[slot] >= done);
      if (above < 0 || isLevel || store.id[slot] === this.focus) path.unshift(store.id[slot]);
    }
    const names = await app.names.list(path);
    this.trail = path.map((node, k) => ({ node, name: k === 0 ? facts.title : names[k] || `Node ${node}` }));
    return app.panel.showTrail(this.trail);
  }
}
