// The page around the stage: header, breadcrumb, side column.
import { el, replaceChildren } from "./dom.js";
import { short } from "./format.js";
import { KEY_HELP } from "./keyboard.js";
import { clipText } from "./text.js";

export const VIEW_TITLES = {
  circular: "Circular", dendrogram: "Dendrogram", icicle: "Icicle", treemap: "Treemap", disk: "Disk", tangle: "Compare",
};
const EXPORTS = [["SVG picture", "svg"], ["PNG picture", "png"], ["Clusters as CSV", "csv"], ["Copy link", "link"]];
const LONGEST_TIP_LINE = 90;

export class Panel {
  constructor(root, app) {
    this.app = app;
    this.canvas = el("canvas", { class: "stage", tabindex: "0", "aria-label": "Tree. Arrow keys walk it, question mark lists all keys." });
    this.tip = el("div", { class: "tip", hidden: true });
    this.live = el("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    this.trail = el("nav", { class: "trail", "aria-label": "Where we are", hidden: true });
    this.help = this.buildHelp();
    this.body = el("div", { class: "arbora" },
      this.buildHeader(),
      el("div", { class: "work" },
        this.picture = el("section", { class: "picture" }, this.app.editing && this.app.editing.bar, this.trail, el("div", { class: "canvas-box" }, this.canvas, this.tip, this.help)),
        this.app.report && this.app.report.box,
        this.buildSide()),
      this.live);
    root.append(this.body);
  }

  // ---- header -----------------------------------------------------------------------------------------

  buildHeader() {
    this.viewButtons = el("nav", { class: "views", "aria-label": "View" });
    this.status = el("span", { class: "status" });
    this.search = el("input", {
      type: "search", placeholder: "Search", "aria-label": "Search names, texts and values", autocomplete: "off", spellcheck: "false", maxlength: "200",
      oninput: () => this.app.finding.search(this.search.value), onkeydown: (event) => this.app.finding.key(event),
    });
    this.found = el("ul", { class: "found", role: "listbox", "aria-label": "Found", hidden: true });
    return el("header", { class: "top" },
      el("div", { class: "brand" }, el("span", { class: "mark", "aria-hidden": "true" }), el("h1", {}, this.app.facts.title), this.status),
      this.viewButtons,
      el("div", { class: "search" }, this.search, this.found),
      this.buildTools());
  }

  buildTools() {
    const tool = (text, label, action, name) => el("button", { type: "button", class: "tool", title: label, "aria-label": label, "data-action": name, onclick: action }, text);
    this.menu = el("div", { class: "menu", hidden: true }, ...EXPORTS.map(([text, kind]) =>
      el("button", { type: "button", "data-export": kind, onclick: () => { this.menu.hidden = true; this.app.export(kind); } }, text)));
    this.reportButton = this.app.report && tool("Report", "Report or tree", () => this.app.setReport(!this.app.showsReport), "report");
    return el("div", { class: "tools" },
      this.reportButton,
      tool("Fit", "Show everything (0)", () => this.app.cutting.drillOut(), "fit"),
      el("div", { class: "holder" }, tool("Export", "Export", () => { this.menu.hidden = !this.menu.hidden; }, "export"), this.menu),
      tool("◐", "Light or dark (t)", () => this.app.toggleTheme(), "theme"),
      tool("?", "Keys (?)", () => this.app.toggleHelp(), "help"));
  }

  buildHelp() {
    return el("div", { class: "help", role: "dialog", "aria-label": "Keys", hidden: true },
      el("h2", {}, "Keys"),
      el("dl", {}, ...KEY_HELP.flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, what)])),
      el("p", {}, "Wheel zooms along the leaves; with Shift along the heights, with Ctrl both. Double-click goes down one level of clusters. In the disk, dragging is a hyperbolic translation."));
  }

  showViews(names, current) {
    replaceChildren(this.viewButtons, names.map((name, k) => el("button", {
      type: "button", "data-view": name, "aria-pressed": String(name === current), title: `${VIEW_TITLES[name]} (${k + 1})`,
      onclick: () => this.app.showView(name),
    }, VIEW_TITLES[name])));
  }

  showReport(shown) {
    this.app.report.box.hidden = !shown;
    this.picture.hidden = shown;
    this.reportButton.textContent = shown ? "Tree" : "Report";
  }

  showTrail(trail) {
    this.trail.hidden = !trail.length;
    const steps = trail.map(({ node, name }, k) => el("li", {}, el("button", {
      type: "button", class: "plain", title: name, "aria-current": k === trail.length - 1 ? "true" : null,
      onclick: () => (k === 0 ? this.app.cutting.drillOut() : this.app.cutting.open(node)),
    }, clipText(name, 32))));
    replaceChildren(this.trail, el("ol", {}, ...steps));
  }

  // ---- side -------------------------------------------------------------------------------------------

  buildSide() {
    const { facts } = this.app;
    this.colorSelect = el("select", { "aria-label": "Color by", onchange: () => this.app.setColor(this.colorSelect.value) },
      el("option", { value: "cut" }, "Clusters of the cut"),
      ...facts.columns.filter((column) => column.kind !== "text").map((column) => el("option", { value: column.name }, column.name)));
    this.legend = el("ul", { class: "legend" });
    this.card = el("div", { class: "card" });
    this.scatterCanvas = el("canvas", { class: "scatter", "aria-label": "Points in the plane" });
    this.scatterBox = el("section", { class: "points-box", hidden: !facts.hasPoints }, el("h2", {}, "Points"), this.scatterCanvas,
      el("p", { class: "note" }, "Shift-drag marks points in the tree."));
    return el("aside", { class: "side" },
      el("section", { class: "color-box" }, el("div", { class: "row" }, el("label", {}, "Color"), this.colorSelect), this.legend),
      this.buildCut(),
      el("section", { class: "scale-box" }, el("div", { class: "row" }, el("label", {}, "Lengths"), this.buildScales())),
      el("section", { class: "card-box" }, this.card),
      this.scatterBox);
  }

  buildScales() {
    const { facts } = this.app;
    const scales = [["height", "Height"], ["size", "Size (log)"], ["depth", "Depth"]].filter(([name]) => name !== "height" || facts.hasHeight);
    this.scaleSelect = el("select", { "aria-label": "Branch lengths", onchange: () => this.app.setScale(this.scaleSelect.value) },
      ...scales.map(([value, text]) => el("option", { value }, text)));
    return this.scaleSelect;
  }

  buildCut() {
    const { facts, cutting } = this.app;
    this.slider = el("input", { type: "range", min: "0", max: "1000", step: "1", "aria-label": "Number of clusters", class: "cut-slider",
      oninput: () => cutting.set(cutting.clustersAt(Number(this.slider.value)), true) });
    this.number = el("input", { type: "number", min: "1", class: "cut-number", "aria-label": "Number of clusters",
      onchange: () => cutting.set(Number(this.number.value), true) });
    this.levels = el("div", { class: "levels", hidden: !facts.levels.length }, el("span", { class: "note" }, facts.isTaxonomy ? "Levels" : "Suggested"),
      ...facts.levels.map(([k]) => el("button", { type: "button", class: "chip", "data-level": String(k), onclick: () => cutting.set(k, true) }, short(k))));
    this.folds = el("input", { type: "checkbox", onchange: () => cutting.setFolds(this.folds.checked) });
    this.cutNote = el("p", { class: "note cut-note", hidden: true });
    this.scores = el("dl", { class: "scores" });
    return el("section", { class: "cut-box" }, el("div", { class: "row" }, el("label", {}, "Clusters"), this.slider, this.number), this.cutNote, this.levels,
      el("label", { class: "check" }, this.folds, "Fold what lies below the cut (f)"), this.scores);
  }

  showFolds(folds) {
    this.folds.checked = folds;
  }

  showCut(cut, against, wanted) {
    this.number.value = String(cut.clusters);
    this.slider.value = String(this.app.cutting.sliderAt(cut.clusters));
    this.slider.setAttribute("aria-valuetext", `${cut.clusters} clusters`);
    this.cutNote.hidden = wanted === cut.clusters;
    if (wanted !== cut.clusters) {
      const next = (this.app.facts.reachable || []).find((k) => k > cut.clusters);
      this.cutNote.textContent = `No cut has ${short(wanted)} clusters: ${short(cut.clusters)}${next ? ` or ${short(next)}` : ""}.`;
    }
    for (const chip of this.levels.querySelectorAll(".chip")) chip.setAttribute("aria-pressed", String(chip.dataset.level === String(cut.clusters)));
    const rows = [["Largest", short(cut.largest)], ["Smallest", short(cut.smallest)], ["Effective", short(cut.effective)]];
    if (cut.purity !== undefined) rows.push(["Purity", short(cut.purity)], ["NMI", short(cut.nmi)], ["ARI", short(cut.ari)]);
    replaceChildren(this.scores, rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", { "data-score": name }, value)]),
      against && cut.purity !== undefined ? el("p", { class: "note" }, `against ${against}`) : null);
  }

  // ---- small things -----------------------------------------------------------------------------------

  closeAll() {
    this.menu.hidden = true;
    this.found.hidden = true;
    this.help.hidden = true;
  }

  // Above and beside the pointer, so that what it points at stays in sight.
  showTip(lines, event) {
    this.tip.hidden = !lines;
    if (!lines) return;
    replaceChildren(this.tip, lines.map((line, k) => el("div", { class: k ? "note" : "strong" }, clipText(line, LONGEST_TIP_LINE))));
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const left = x + 18 + width <= box.width - 4 ? x + 18 : x - width - 18;
    const top = y - height - 14 >= 4 ? y - height - 14 : y + 22;
    this.tip.style.left = `${Math.max(left, 4)}px`;
    this.tip.style.top = `${Math.min(top, box.height - height - 4)}px`;
  }

  say(text) {
    this.live.textContent = text;
  }
}
