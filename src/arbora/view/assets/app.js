// The explorer: state, and what happens when it changes.
import { Store } from "./store.js";
import { Coloring, categoryColors } from "./color.js";
import { Stage } from "./stage.js";
import { Panel } from "./panel.js";
import { LinkedScatter } from "./linked_scatter.js";
import { Loader } from "./loader.js";
import { showCard } from "./card.js";
import { short } from "./dom.js";
import { listenToPointer } from "./pointer.js";
import { listenToKeys } from "./keyboard.js";
import { readState, stateText } from "./link.js";
import { exportView } from "./export.js";
import { brightness, clipText, fitText, labelSpace } from "./text.js";
import { DendrogramView } from "./view_dendrogram.js";
import { CircularView } from "./view_circular.js";
import { IcicleView } from "./view_icicle.js";
import { TreemapView } from "./view_treemap.js";
import { DiskView } from "./view_disk.js";
import { TangleView } from "./view_tangle.js";

const MOST_ON_SLIDER = 2000;
const LABEL_FONT = '11.5px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", Arial, sans-serif';

export class Explorer {
  constructor(root, source, opening, options) {
    this.source = source;
    this.options = options;
    this.facts = opening.facts;
    this.collapsed = new Set();
    this.selected = null;
    this.hovered = -1;
    this.marks = [];
    this.names = new Map();
    this.nameQueue = new Set();
    this.loader = new Loader(this);
    this.cutTicket = 0;
    this.store = new Store(this.facts);
    this.store.addRoot(opening.arrays);
    this.coloring = new Coloring(this.facts, this.facts.palette);
    this.panel = new Panel(root, this);
    this.stage = new Stage(this.panel.canvas, this.store, this.coloring, {
      look: () => this.look,
      collapsed: this.collapsed,
      selected: () => (this.selected === null ? -1 : this.store.slot(this.selected)),
      hovered: () => this.hovered,
      marks: () => this.marks,
      want: (list) => this.loader.fetchBelow(list),
      moved: () => this.rememberState(),
    });
    this.addViews();
    this.scatter = new LinkedScatter(this.panel.scatterCanvas, this);
    listenToPointer(this.stage, this);
    listenToKeys(this.panel.body, this);
    new ResizeObserver(() => { this.stage.resize(); this.scatter.repaint(); }).observe(this.panel.canvas);
  }

  addViews() {
    const views = { circular: CircularView, dendrogram: DendrogramView, icicle: IcicleView, treemap: TreemapView, disk: DiskView };
    this.stage.resize();
    this.stage.setLabelSpace(labelSpace(this.facts));
    for (const [name, View] of Object.entries(views)) this.stage.addView(name, new View(this.store));
  }

  async open() {
    const wanted = readState(this.options.hash ? location.hash : "");
    this.setTheme(wanted.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    if (["height", "size", "depth"].includes(wanted.scale)) this.applyScale(wanted.scale);
    this.panel.scaleSelect.value = this.store.scale;
    wanted.collapsed.forEach((node) => this.collapsed.add(node));
    const first = this.facts.color || (this.facts.columns[0] && this.facts.columns[0].name) || "cut";
    const color = wanted.color && (wanted.color === "cut" || this.facts.columns.some((c) => c.name === wanted.color)) ? wanted.color : first;
    showCard(this.panel.card, null, this);
    await this.showView(this.viewNames().includes(wanted.view) ? wanted.view : this.options.view || "circular", false);
    if (wanted.camera) this.stage.view.setCameraText(wanted.camera);
    this.stage.paint();
    this.firstPaint = performance.now();
    await this.setCut(wanted.k || this.usualClusters(), false);
    await this.setColor(color);
    if (this.facts.hasPoints) this.scatter.load();
    if (wanted.select !== null && wanted.select < this.facts.nNodes) await this.goTo(wanted.select, false);
    this.ready = true;
    this.panel.body.dataset.ready = "yes";
  }

  usualClusters() {
    const column = this.facts.columns.find((one) => one.kind === "category");
    return Math.max(1, Math.min(column ? column.categories.length : 8, this.facts.nLeaves, 60));
  }

  // ---- looks ------------------------------------------------------------------------------------------

  setTheme(theme) {
    this.theme = theme === "dark" ? "dark" : "light";
    this.panel.body.dataset.theme = this.theme;
    this.coloring.setTheme(this.theme === "dark");
    this.refreshLook();
  }

  toggleTheme() {
    this.setTheme(this.theme === "dark" ? "light" : "dark");
    this.repaint();
    this.panel.showLegend();
    this.rememberState();
  }

  refreshLook() {
    const style = getComputedStyle(this.panel.body);
    const color = (name) => style.getPropertyValue(name).trim();
    const measure = document.createElement("canvas").getContext("2d");
    measure.font = LABEL_FONT;
    const on = [color("--on-dark"), color("--on-light")];
    this.look = {
      css: this.coloring.css, background: color("--background"), surface: color("--surface"), neutral: color("--neutral"),
      text: color("--text"), border: color("--border"), accent: color("--accent"), line: 1.1, font: LABEL_FONT,
      name: (node) => this.nameOf(node),
      count: (slot) => (this.store.size[slot] > 1 ? short(this.store.size[slot]) : ""),
      textOn: (index) => (index < 0 || brightness(this.coloring.css[index % this.coloring.css.length]) < 0.5 ? on[0] : on[1]),
      fitted: (text, room) => fitText(measure, text, room),
    };
    if (this.theme === "light") this.look.textOn = (index) => (index < 0 ? color("--text") : brightness(this.coloring.css[index % this.coloring.css.length]) < 0.45 ? on[0] : on[1]);
  }

  repaint() {
    if (this.look) this.look.css = this.coloring.css;
    this.stage.request();
    this.scatter.repaint();
  }

  nameOf(node) {
    const known = this.names.get(node);
    if (known !== undefined) return known;
    if (!this.facts.hasNames && node < this.facts.nLeaves) return String(node);
    this.nameQueue.add(node);
    if (this.nameQueue.size === 1) setTimeout(() => this.fetchNames(), 30);
    return "";
  }

  async fetchNames() {
    const nodes = [...this.nameQueue].slice(0, 4000);
    this.nameQueue.clear();
    const names = await this.source.names(nodes);
    nodes.forEach((node, k) => this.names.set(node, clipText(names[k])));
    this.stage.request();
  }

  // ---- views ------------------------------------------------------------------------------------------

  viewNames() {
    return ["circular", "dendrogram", "icicle", "treemap", "disk", ...(this.facts.hasTangle ? ["tangle"] : [])];
  }

  get animated() {
    return !matchMedia("(prefers-reduced-motion: reduce)").matches && this.options.animate !== false;
  }

  async showView(name, animate = this.animated) {
    if (name === "tangle" && !this.stage.views.tangle) {
      this.stage.addView("tangle", new TangleView(this.store, await this.source.tangle(), this.coloring));
    }
    this.stage.show(name, animate);
    this.panel.showViews(this.viewNames(), name);
    this.showStatus();
    this.rememberState();
  }

  showStatus() {
    const known = this.source.complete ? "" : ` · ${short(this.store.length)} of ${short(this.facts.nNodes)} nodes loaded`;
    this.panel.status.textContent = `${short(this.facts.nLeaves)} leaves${known}`;
  }

  applyScale(scale) {
    this.store.setScale(scale === "height" && !this.facts.hasHeight ? "size" : scale);
  }

  setScale(scale) {
    this.applyScale(scale);
    this.stage.request();
    this.rememberState();
  }

  fit() {
    this.stage.fly(this.stage.view.fitted(), this.animated);
  }

  focus(slot) {
    this.stage.fly(this.stage.view.focusCamera(slot), this.animated);
  }

  focusSelected() {
    if (this.selected !== null) this.focus(this.store.slot(this.selected));
  }

  zoomBy(factor) {
    const slot = this.selected === null ? -1 : this.store.slot(this.selected);
    if (slot >= 0) this.stage.view.locate(slot);
    const view = this.stage.view;
    view.zoom(slot >= 0 ? view.sx : this.stage.width / 2, slot >= 0 ? view.sy : this.stage.height / 2, factor);
    this.stage.touch();
  }

  // ---- selecting --------------------------------------------------------------------------------------

  async select(node) {
    this.selected = node;
    this.repaint();
    if (node === null) return showCard(this.panel.card, null, this);
    const column = this.columnForCard();
    const card = await this.source.card(node, column ? column.name : null);
    if (this.selected !== node) return undefined;
    showCard(this.panel.card, card, this);
    this.panel.say(`${card.name || `Node ${node}`}, ${short(card.size)} leaves`);
    return this.rememberState();
  }

  async goTo(node, fly = true) {
    this.panel.found.hidden = true;
    const slot = await this.loader.reach(node);
    const path = await this.source.path(node);
    path.slice(1).forEach((above) => this.collapsed.delete(above));
    if (node < this.facts.nLeaves) this.marks = [this.store.start[slot]];
    await this.select(node);
    if (fly) this.focus(this.contextOf(slot));
  }

  // For a leaf: the nearest ancestor with a handful of leaves, so that it is seen among its neighbors.
  contextOf(slot) {
    let at = slot;
    while (this.store.parent[at] >= 0 && this.store.size[at] < 12) at = this.store.parent[at];
    return at;
  }

  columnForCard() {
    return this.coloring.column || this.truthColumn() || null;
  }

  truthColumn() {
    const by = this.coloring.column;
    if (by && by.kind === "category") return by;
    return this.facts.columns.find((column) => column.kind === "category") || null;
  }

  colorsOf(column) {
    return categoryColors(column.categories.length, this.theme === "dark" ? this.facts.palette.dark : this.facts.palette.light, this.theme === "dark");
  }

  click(slot) {
    this.panel.menu.hidden = true;
    this.panel.found.hidden = true;
    this.panel.canvas.focus({ preventScroll: true });
    this.select(slot < 0 ? null : this.store.id[slot]);
  }

  hover(slot, event) {
    const changed = slot !== this.hovered;
    this.hovered = slot;
    if (changed) this.repaint();
    this.panel.showTip(slot < 0 ? null : this.tipLines(slot), event);
  }

  tipLines(slot) {
    const node = this.store.id[slot], size = this.store.size[slot];
    const lines = [this.nameOf(node) || (size === 1 ? `Leaf ${node}` : `Node ${node}`)];
    if (size > 1) lines.push(`${short(size)} leaves`);
    const column = this.coloring.column, value = this.store.value[slot];
    if (column && !Number.isNaN(value)) {
      const share = this.store.share[slot] / 255;
      lines.push(column.kind === "number" ? `${column.name}: ${short(value)}` : `${column.categories[value]}${size > 1 ? ` ${Math.round(100 * share)} %` : ""}`);
    }
    return lines;
  }

  escape(target) {
    if (target && target.blur && target !== this.panel.canvas) target.blur();
    this.panel.found.hidden = true;
    this.panel.menu.hidden = true;
    this.panel.help.hidden = true;
    this.marks = [];
    this.scatter.marked = null;
    this.select(null);
    this.panel.canvas.focus({ preventScroll: true });
  }

  async step(direction) {
    const s = this.store;
    if (this.selected === null) return this.select(s.id[0]);
    const slot = s.slot(this.selected);
    if (direction === "parent") return s.parent[slot] >= 0 ? this.select(s.id[s.parent[slot]]) : undefined;
    if (direction === "child") {
      if (s.count[slot] === -1) await this.loader.loadBelow(slot);
      return s.count[slot] > 0 ? this.select(s.id[s.first[slot]]) : undefined;
    }
    const parent = s.parent[slot];
    if (parent < 0) return undefined;
    const to = slot + (direction === "next" ? 1 : -1);
    return to >= s.first[parent] && to < s.first[parent] + s.count[parent] ? this.select(s.id[to]) : undefined;
  }

  toggleCollapse() {
    if (this.selected === null || this.store.size[this.store.slot(this.selected)] < 2) return;
    if (!this.collapsed.delete(this.selected)) this.collapsed.add(this.selected);
    this.select(this.selected);
  }

  expandAll() {
    this.collapsed.clear();
    this.select(this.selected);
  }

  // ---- colors and cut --------------------------------------------------------------------------------

  async setColor(name) {
    this.coloring.setBy(name);
    if (this.coloring.column) {
      for (let from = 0; from < this.store.length; from += 100000) {
        const to = Math.min(from + 100000, this.store.length);
        const arrays = await this.source.column(name, this.source.complete ? [] : Array.from(this.store.id.subarray(from, to)));
        this.store.setValues(arrays, from);
        if (this.source.complete) break;
      }
    }
    await this.scatter.recolor();
    this.panel.showLegend();
    if (this.cut) await this.setCut(this.cut.clusters, false);
    this.repaint();
    this.rememberState();
  }

  sliderAt(k) {
    const most = Math.min(this.facts.nLeaves, MOST_ON_SLIDER);
    return most <= 1 ? 0 : Math.round((1000 * Math.log(Math.min(k, most))) / Math.log(most));
  }

  clustersAt(position) {
    const most = Math.min(this.facts.nLeaves, MOST_ON_SLIDER);
    return Math.max(1, Math.round(Math.exp((position / 1000) * Math.log(most))));
  }

  stepCut(by) {
    const now = this.cut ? this.cut.clusters : 1;
    const next = this.facts.reachable ? this.facts.reachable.find((k) => k > now) : now + 1;
    this.setCut(by > 0 ? next || now : now - 1, true);
  }

  async setCut(k, show) {
    const wanted = Math.min(Math.max(Math.round(k) || 1, 1), this.facts.nLeaves);
    const ticket = ++this.cutTicket;
    const truth = this.truthColumn();
    const cut = await this.source.cut(wanted, truth ? truth.name : null);
    if (ticket !== this.cutTicket) return; // a newer position of the slider is on its way
    this.cut = cut;
    this.coloring.setCut(cut.roots);
    this.panel.showCut(cut, truth && truth.name);
    if (show && this.coloring.by !== "cut") {
      this.coloring.setBy("cut");
      this.panel.showCut(cut, truth && truth.name);
    }
    await this.scatter.recolor();
    this.panel.showLegend();
    this.repaint();
    this.rememberState();
  }

  // ---- search, scatter --------------------------------------------------------------------------------

  focusSearch() {
    this.panel.search.focus();
  }

  async search(text) {
    const ticket = (this.searchTicket = (this.searchTicket || 0) + 1);
    const result = await this.source.search(text.slice(0, 200));
    if (ticket !== this.searchTicket) return;
    this.panel.showFound(result, text);
    const slots = result.found.map(([leaf]) => this.store.slot(leaf)).filter((slot) => slot >= 0);
    this.marks = slots.map((slot) => this.store.start[slot]);
    this.scatter.marked = this.facts.hasPoints ? this.marks : null;
    this.repaint();
  }

  // ---- out --------------------------------------------------------------------------------------------

  async export(kind) {
    if (kind === "link") await this.copyLink();
    else await exportView(this, kind);
  }

  async copyLink() {
    this.rememberState();
    try {
      await navigator.clipboard.writeText(location.href);
      this.panel.say("Link copied");
    } catch {
      this.panel.say(`Copy the address of this page: it restores this view`);
    }
  }

  rememberState() {
    if (!this.options.hash || !this.ready) return;
    const text = stateText({
      view: this.stage.name, k: this.cut && this.cut.clusters, color: this.coloring.by, scale: this.store.scale,
      theme: this.theme, select: this.selected, camera: this.stage.view.cameraText(), collapsed: [...this.collapsed],
    });
    history.replaceState(null, "", `#${text}`);
  }

  toggleHelp() {
    this.panel.help.hidden = !this.panel.help.hidden;
  }
}
