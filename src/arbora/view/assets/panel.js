// The page around the stage: header, search, colors, cut, node card, scatter.
import { el, replaceChildren, swatch, short } from "./dom.js";
import { KEY_HELP } from "./keyboard.js";

export const VIEW_TITLES = {
  circular: "Circular", dendrogram: "Dendrogram", icicle: "Icicle", treemap: "Treemap", disk: "Disk", tangle: "Compare",
};
const LEGEND_LIMIT = 24;

export class Panel {
  constructor(root, app) {
    this.app = app;
    this.canvas = el("canvas", { class: "stage", tabindex: "0", "aria-label": "Tree. Arrow keys walk it, question mark lists all keys." });
    this.tip = el("div", { class: "tip", hidden: true });
    this.status = el("div", { class: "status" });
    this.live = el("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
    this.help = this.buildHelp();
    this.body = el("div", { class: "arbora" },
      this.buildHeader(),
      el("div", { class: "work" },
        el("section", { class: "picture" }, this.canvas, this.tip, this.status, this.help),
        this.buildSide()),
      this.live);
    root.append(this.body);
  }

  buildHeader() {
    this.viewButtons = el("nav", { class: "views", "aria-label": "View" });
    this.search = el("input", {
      type: "search", placeholder: "Search leaves", "aria-label": "Search leaves by name", autocomplete: "off", spellcheck: "false", maxlength: "200",
      oninput: () => this.app.search(this.search.value), onkeydown: (event) => this.searchKey(event),
    });
    this.found = el("ul", { class: "found", role: "listbox", "aria-label": "Leaves found", hidden: true });
    const tool = (text, label, action, name) => el("button", { type: "button", class: "tool", title: label, "aria-label": label, "data-action": name, onclick: action }, text);
    this.menu = el("div", { class: "menu", hidden: true },
      ...[["SVG picture", "svg"], ["PNG picture", "png"], ["Clusters as CSV", "csv"], ["Copy link", "link"]].map(([text, kind]) =>
        el("button", { type: "button", "data-export": kind, onclick: () => { this.menu.hidden = true; this.app.export(kind); } }, text)));
    return el("header", { class: "top" },
      el("div", { class: "brand" }, el("span", { class: "mark", "aria-hidden": "true" }), this.titleText = el("h1", {}, this.app.facts.title)),
      this.viewButtons,
      el("div", { class: "search" }, this.search, this.found),
      el("div", { class: "tools" },
        tool("Fit", "Show everything (0)", () => this.app.fit(), "fit"),
        el("div", { class: "holder" }, tool("Export", "Export", () => { this.menu.hidden = !this.menu.hidden; }, "export"), this.menu),
        tool("◐", "Light or dark (t)", () => this.app.toggleTheme(), "theme"),
        tool("?", "Keys (?)", () => this.app.toggleHelp(), "help")));
  }

  buildHelp() {
    return el("div", { class: "help", role: "dialog", "aria-label": "Keys", hidden: true },
      el("h2", {}, "Keys"),
      el("dl", {}, ...KEY_HELP.flatMap(([key, what]) => [el("dt", {}, key), el("dd", {}, what)])),
      el("p", {}, "Wheel zooms along the leaves; with Shift along the heights, with Ctrl both. Double-click zooms to a node. In the disk, dragging is a hyperbolic translation."));
  }

  buildSide() {
    const { facts } = this.app;
    this.colorSelect = el("select", { "aria-label": "Color by", onchange: () => this.app.setColor(this.colorSelect.value) },
      el("option", { value: "cut" }, "Clusters of the cut"),
      ...facts.columns.map((column) => el("option", { value: column.name }, column.name)));
    const scales = [["height", "Height"], ["size", "Size (log)"], ["depth", "Depth"]].filter(([name]) => name !== "height" || facts.hasHeight);
    this.scaleSelect = el("select", { "aria-label": "Branch lengths", onchange: () => this.app.setScale(this.scaleSelect.value) },
      ...scales.map(([value, text]) => el("option", { value }, text)));
    this.legend = el("ul", { class: "legend" });
    this.slider = el("input", { type: "range", min: "0", max: "1000", step: "1", "aria-label": "Number of clusters", class: "cut-slider",
      oninput: () => this.app.setCut(this.app.clustersAt(Number(this.slider.value)), true) });
    this.number = el("input", { type: "number", min: "1", class: "cut-number", "aria-label": "Number of clusters",
      onchange: () => this.app.setCut(Number(this.number.value), true) });
    this.scores = el("dl", { class: "scores" });
    this.card = el("div", { class: "card" });
    this.scatterCanvas = el("canvas", { class: "scatter", "aria-label": "Points in the plane" });
    this.scatterBox = el("section", { hidden: !facts.hasPoints }, el("h2", {}, "Points"), this.scatterCanvas,
      el("p", { class: "note" }, "Shift-drag marks points in the tree."));
    return el("aside", { class: "side" },
      el("section", {}, el("div", { class: "row" }, el("label", {}, "Color"), this.colorSelect), this.legend),
      el("section", {}, el("div", { class: "row" }, el("label", {}, "Clusters"), this.slider, this.number), this.scores),
      el("section", {}, el("div", { class: "row" }, el("label", {}, "Lengths"), this.scaleSelect)),
      el("section", { class: "card-box" }, this.card),
      this.scatterBox);
  }

  showViews(names, current) {
    replaceChildren(this.viewButtons, names.map((name, k) => el("button", {
      type: "button", "data-view": name, "aria-pressed": String(name === current), title: `${VIEW_TITLES[name]} (${k + 1})`,
      onclick: () => this.app.showView(name),
    }, VIEW_TITLES[name])));
  }

  // ---- search -----------------------------------------------------------------------------------------

  showFound(result, text) {
    this.found.hidden = !text.trim();
    const items = result.found.map(([leaf, name], k) => el("li", {
      role: "option", tabindex: "-1", "data-leaf": String(leaf), "aria-selected": String(k === 0),
      onclick: () => this.app.goTo(leaf),
    }, name));
    const rest = result.count - result.found.length;
    const note = result.count === 0 ? "No leaf has this in its name." : rest > 0 ? `and ${short(rest)} more` : null;
    replaceChildren(this.found, items, note && el("li", { class: "note" }, note));
  }

  searchKey(event) {
    const items = [...this.found.querySelectorAll("[role=option]")];
    const at = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
    if (event.key === "Enter" && items[at]) items[at].click();
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const to = Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), items.length - 1);
    items.forEach((item, k) => item.setAttribute("aria-selected", String(k === to)));
    items[to]?.scrollIntoView({ block: "nearest" });
  }

  // ---- colors and cut --------------------------------------------------------------------------------

  showLegend() {
    const { coloring, cut } = this.app, column = coloring.column;
    this.colorSelect.value = coloring.by;
    if (column && column.kind === "number") {
      const strip = el("div", { class: "strip", "aria-hidden": "true" }, ...coloring.css.filter((_, k) => k % 4 === 0).map((color) => swatch(color)));
      return replaceChildren(this.legend, el("li", { class: "scale" }, strip, el("div", { class: "ends" }, el("span", {}, short(column.range[0])), el("span", {}, short(column.range[1])))));
    }
    const entries = column
      ? column.categories.map((name, k) => ({ color: coloring.css[k], name: name === "" ? "(empty)" : name }))
      : (cut ? cut.roots : []).map((node, k) => ({ color: coloring.css[k % coloring.css.length], name: `Cluster ${k + 1}`, node }));
    const items = entries.slice(0, LEGEND_LIMIT).map(({ color, name, node }) => el("li", {},
      node === undefined ? [swatch(color), el("span", { class: "name" }, name)]
        : el("button", { type: "button", class: "plain", onclick: () => this.app.goTo(node) }, swatch(color), el("span", { class: "name" }, name))));
    const more = entries.length > LEGEND_LIMIT ? el("li", { class: "note" }, `and ${short(entries.length - LEGEND_LIMIT)} more`) : null;
    return replaceChildren(this.legend, items, more);
  }

  showCut(cut, against) {
    this.number.value = String(cut.clusters);
    this.slider.value = String(this.app.sliderAt(cut.clusters));
    this.slider.setAttribute("aria-valuetext", `${cut.clusters} clusters`);
    const rows = [["Largest", short(cut.largest)], ["Smallest", short(cut.smallest)], ["Effective", short(cut.effective)]];
    if (cut.purity !== undefined) rows.push(["Purity", short(cut.purity)], ["NMI", short(cut.nmi)], ["ARI", short(cut.ari)]);
    replaceChildren(this.scores, rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", { "data-score": name }, value)]),
      against && cut.purity !== undefined ? el("p", { class: "note" }, `against ${against}`) : null);
  }

  // ---- small things -----------------------------------------------------------------------------------

  showTip(lines, event) {
    this.tip.hidden = !lines;
    if (!lines) return;
    replaceChildren(this.tip, lines.map((line, k) => el("div", { class: k ? "note" : "strong" }, line)));
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    this.tip.style.left = `${Math.max(Math.min(x + 14, box.width - this.tip.offsetWidth - 6), 4)}px`;
    this.tip.style.top = `${Math.max(Math.min(y + 16, box.height - this.tip.offsetHeight - 6), 4)}px`;
  }

  say(text) {
    this.live.textContent = text;
  }
}
