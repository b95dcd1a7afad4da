// The scatter and the tree follow each other: hover, selection, marks and colors.
import { Scatter } from "./scatter.js";
import { counted } from "./format.js";

export class LinkedScatter extends Scatter {
  constructor(canvas, app) {
    super(canvas, (k) => this.hoverPoint(k), (k) => this.pickPoint(k), (found) => this.brushed(found));
    this.app = app;
  }

  async load() {
    this.setPoints(await this.app.source.points());
    await this.recolor();
    this.repaint();
  }

  async recolor() {
    const { app } = this;
    if (!this.points) return;
    const colors = new Int16Array(this.n).fill(-1);
    if (app.coloring.column) {
      const values = await app.source.leaves(app.coloring.by);
      for (let k = 0; k < colors.length; k++) colors[k] = app.coloring.indexOfLeafValue(values[k]);
    } else if (app.cut) {
      const { pieceCluster, pieceStart, pieceSize } = app.cut;
      pieceCluster.forEach((c, k) => colors.fill(c % app.coloring.css.length, pieceStart[k], pieceStart[k] + pieceSize[k]));
    }
    this.setColors(colors);
  }

  repaint() {
    const { app } = this;
    if (!this.points || !app.look) return;
    const range = (slot) => (slot >= 0 ? { start: app.store.start[slot], size: app.store.size[slot] } : null);
    this.paint(app.look, range(app.selected === null ? -1 : app.store.slot(app.selected)), range(app.hovered));
  }

  // The smallest node the page holds that has the leaf at position k below it.
  slotAtLeaf(k) {
    let slot = 0;
    const s = this.app.store;
    while (s.count[slot] > 0) {
      let child = s.first[slot];
      while (child + 1 < s.first[slot] + s.count[slot] && s.start[child + 1] <= k) child++;
      slot = child;
    }
    return slot;
  }

  hoverPoint(k) {
    this.app.selection.hovered = k < 0 ? -1 : this.slotAtLeaf(k);
    this.app.repaint();
  }

  pickPoint(k) {
    if (k >= 0) this.app.goTo(this.app.store.id[this.slotAtLeaf(k)], false);
    else this.app.select(null);
  }

  brushed(found) {
    this.app.selection.mark(found);
    this.app.panel.say(`${counted(found.length, "point")} marked`);
  }
}
