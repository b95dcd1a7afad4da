// The explorer: its parts, and how they hear of each other.
import { Store } from "./store.js";
import { Coloring } from "./color.js";
import { Stage } from "./stage.js";
import { Panel } from "./panel.js";
import { Looks } from "./looks.js";
import { NameBook } from "./names.js";
import { Selection } from "./selection.js";
import { Cutting } from "./cutting.js";
import { Finding } from "./finding.js";
import { Legend } from "./legend.js";
import { LinkedScatter } from "./linked_scatter.js";
import { Loader } from "./loader.js";
import { leavesText, short } from "./format.js";
import { listenToPointer } from "./pointer.js";
import { listenToKeys } from "./keyboard.js";
import { readState, stateText } from "./link.js";
import { exportView } from "./export.js";
import { preparePrint } from "./print.js";
import { Editing } from "./editing.js";
import { Report } from "./report.js";
import { labelSpace } from "./text.js";
import { DendrogramView } from "./view_dendrogram.js";
import { CircularView } from "./view_circular.js";
import { IcicleView } from "./view_icicle.js";
import { TreemapView } from "./view_treemap.js";
import { DiskView } from "./view_disk.js";
import { TangleView } from "./view_tangle.js";

const VIEW_OF_NAME = { circular: CircularView, dendrogram: DendrogramView, icicle: IcicleView, treemap: TreemapView, disk: DiskView };
const VALUES_AT_ONCE = 100000;

export class Explorer {
  constructor(root, source, opening, options) {
    this.source = source;
    this.options = options;
    this.facts = opening.facts;
    this.store = new Store(this.facts);
    this.store.addRoot(opening.arrays);
    this.coloring = new Coloring(this.facts, this.facts.palette);
    this.names = new NameBook(source, this.facts, () => this.stage.request());
    this.loader = new Loader(this);
    this.selection = new Selection(this);
    this.cutting = new Cutting(this);
    this.finding = new Finding(this);
    this.editing = this.facts.editable ? new Editing(this) : null;
    this.report = this.facts.report ? new Report(this) : null;
    this.closing = new AbortController();
    this.panel = new Panel(root, this);
    this.legend = new Legend(this.panel.legend, this);
    this.looks = new Looks(this.panel.body, this.coloring, this.store, this.names);
    this.stage = this.buildStage();
    this.scatter = new LinkedScatter(this.panel.scatterCanvas, this);
    listenToPointer(this.stage, this);
    // a page of its own hears keys wherever the focus is; a cell of a notebook only its own
    listenToKeys(options.hash ? document : this.panel.body, this, this.closing.signal);
    if (options.hash) preparePrint(this, this.closing.signal);
    this.sizes = new ResizeObserver(() => { this.stage.resize(); this.scatter.repaint(); });
    this.sizes.observe(this.panel.canvas);
  }

  // Makes room for another explorer in the same place.
  dispose() {
    this.closing.abort();
    this.sizes.disconnect();
    this.panel.body.remove();
  }

  buildStage() {
    const stage = new Stage(this.panel.canvas, this.store, this.coloring, {
      look: () => this.looks.current,
      collapsed: this.selection.collapsed,
      foldFrom: () => this.cutting.foldFrom,
      selected: () => this.selection.slot,
      hovered: () => this.selection.hovered,
      marks: () => this.selection.marks,
      want: (list) => this.loader.fetchBelow(list),
      moved: () => this.rememberState(),
    });
    stage.resize();
    stage.setLabelSpace(labelSpace(this.facts), this.facts.hasInnerNames ? 130 : 0);
    for (const [name, View] of Object.entries(VIEW_OF_NAME)) stage.addView(name, new View(this.store));
    return stage;
  }

  // select: a node to begin with, where the address names none
  async open(select = null) {
    const wanted = readState(this.options.hash ? location.hash : "");
    this.looks.setTheme(wanted.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
    if (["height", "size", "depth"].includes(wanted.scale)) this.applyScale(wanted.scale);
    this.panel.scaleSelect.value = this.store.scale;
    wanted.collapsed.forEach((node) => this.selection.collapsed.add(node));
    this.selection.showCard();
    await this.showView(this.viewNames().includes(wanted.view) ? wanted.view : this.options.view || "circular", false);
    if (wanted.camera) this.stage.view.setCameraText(wanted.camera);
    this.stage.paint();
    this.firstPaint = performance.now();
    await this.cutting.set(wanted.k || this.cutting.usualClusters(), false);
    this.cutting.setFolds(wanted.folds === null ? this.facts.isTaxonomy : wanted.folds);
    await this.setColor(this.colorable(wanted.color) || this.facts.color || "cut");
    if (this.facts.hasPoints) this.scatter.load();
    const first = select ?? wanted.select;
    if (first !== null && first < this.facts.nNodes) await this.selection.goTo(first, false);
    if (this.editing) await this.editing.open();
    if (this.report) this.setReport(wanted.report === null ? first === null : wanted.report);
    this.ready = true;
    this.panel.body.dataset.ready = "yes";
  }

  colorable(name) {
    return name === "cut" || this.facts.columns.some((column) => column.name === name && column.kind !== "text") ? name : null;
  }

  // ---- what the parts hold ----------------------------------------------------------------------------

  get selected() {
    return this.selection.node;
  }

  get collapsed() {
    return this.selection.collapsed;
  }

  get hovered() {
    return this.selection.hovered;
  }

  get marks() {
    return this.selection.marks;
  }

  get cut() {
    return this.cutting.cut;
  }

  get theme() {
    return this.looks.theme;
  }

  get look() {
    return this.looks.current;
  }

  select(node) {
    return this.selection.select(node);
  }

  goTo(node, fly) {
    return this.selection.goTo(node, fly);
  }

  setCut(k, show) {
    return this.cutting.set(k, show);
  }

  // ---- views ------------------------------------------------------------------------------------------

  viewNames() {
    return [...Object.keys(VIEW_OF_NAME), ...(this.facts.hasTangle ? ["tangle"] : [])];
  }

  get animated() {
    return !matchMedia("(prefers-reduced-motion: reduce)").matches && this.options.animate !== false;
  }

  async showView(name, animate = this.animated) {
    if (name === "tangle" && !this.stage.views.tangle) {
      this.stage.addView("tangle", new TangleView(this.store, await this.source.tangle(), this.coloring));
    }
    if (this.showsReport) this.setReport(false);
    this.stage.show(name, animate);
    this.panel.showViews(this.viewNames(), name);
    this.showStatus();
    this.rememberState();
  }

  showStatus() {
    const known = this.facts.folded ? ` in ${short(this.facts.nGroups)} groups` : this.source.complete ? "" : ` · ${short(this.store.length)} of ${short(this.facts.nNodes)} nodes loaded`;
    const leaves = leavesText(this.facts.nLeaves);
    this.panel.status.textContent = `${this.facts.title.endsWith(leaves) ? "" : leaves}${known}`.replace(/^ · /, "");
  }

  applyScale(scale) {
    this.store.setScale(scale === "height" && !this.facts.hasHeight ? "size" : scale);
  }

  setScale(scale) {
    this.applyScale(scale);
    this.stage.request();
    this.rememberState();
  }

  setTheme(theme) {
    this.looks.setTheme(theme);
    this.selection.showCard();
    if (this.showsReport) this.report.show();
    this.repaint();
    this.legend.show();
    this.rememberState();
  }

  toggleTheme() {
    this.setTheme(this.theme === "dark" ? "light" : "dark");
  }

  repaint() {
    this.looks.refresh();
    this.stage.request();
    this.scatter.repaint();
  }

  fit() {
    this.stage.fly(this.stage.view.fitted(), this.animated);
  }

  focus(slot) {
    this.stage.fly(this.stage.view.focusCamera(slot), this.animated);
  }

  focusSelected() {
    if (this.selected !== null) this.focus(this.selection.slot);
  }

  zoomBy(factor) {
    const slot = this.selection.slot, view = this.stage.view;
    if (slot >= 0) view.locate(slot);
    view.zoom(slot >= 0 ? view.sx : this.stage.width / 2, slot >= 0 ? view.sy : this.stage.height / 2, factor);
    this.stage.touch();
  }

  // ---- pointer and keys -------------------------------------------------------------------------------

  click(slot) {
    this.panel.closeAll();
    this.panel.canvas.focus({ preventScroll: true });
    if (this.editing?.chosen(slot)) return;
    this.select(slot < 0 ? null : this.store.id[slot]);
  }

  hover(slot, event) {
    this.selection.hover(slot, event);
  }

  escape(target) {
    if (target && target.blur && target !== this.panel.canvas) target.blur();
    this.panel.closeAll();
    this.panel.canvas.focus({ preventScroll: true });
    if (this.editing?.pick) return this.editing.endPick();
    return this.selection.clear();
  }

  // The report takes the place of the picture.
  setReport(shown) {
    this.showsReport = shown;
    if (shown) this.report.show();
    this.panel.showReport(shown);
    this.stage.resize();
    this.rememberState();
  }

  // From the report to a node of the tree.
  leaveReport(node) {
    this.setReport(false);
    return this.goTo(node);
  }

  toggleHelp() {
    this.panel.help.hidden = !this.panel.help.hidden;
  }

  // ---- colors -----------------------------------------------------------------------------------------

  async setColor(name) {
    this.coloring.setBy(name);
    if (this.coloring.column) await this.loadValues(name);
    await this.scatter.recolor();
    if (this.cut) await this.cutting.set(this.cut.clusters, false);
    await this.legend.show();
    this.selection.showCard();
    this.repaint();
    this.rememberState();
  }

  async loadValues(name) {
    if (this.source.complete) return this.store.setValues(await this.source.column(name), 0);
    for (let from = 0; from < this.store.length; from += VALUES_AT_ONCE) {
      const nodes = Array.from(this.store.id.subarray(from, Math.min(from + VALUES_AT_ONCE, this.store.length)));
      this.store.setValues(await this.source.column(name, nodes), from);
    }
    return undefined;
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
      this.panel.say("Copy the address of this page: it restores this view");
    }
  }

  rememberState() {
    if (!this.options.hash || !this.ready) return;
    const text = stateText({
      view: this.stage.name, k: this.cut && this.cut.clusters, color: this.coloring.by, scale: this.store.scale,
      theme: this.theme, select: this.selected, camera: this.stage.view.cameraText(), collapsed: [...this.collapsed],
      folds: this.cutting.folds, report: this.report ? this.showsReport : null,
    });
    history.replaceState(null, "", `#${text}`);
  }
}
