// The legend: classes by size, clusters by size, scales with their ends.
import { el, replaceChildren, swatch } from "./dom.js";
import { categoryText, short, valueText } from "./format.js";

const LEGEND_LIMIT = 40;

export class Legend {
  constructor(box, app) {
    this.box = box;
    this.app = app;
  }

  async show() {
    const { coloring } = this.app, column = coloring.column;
    this.app.panel.colorSelect.value = coloring.by;
    if (!column) return this.showClusters();
    return column.kind === "category" ? this.showClasses(column) : this.showScale(column);
  }

  showScale(column) {
    const strip = el("div", { class: "strip", "aria-hidden": "true" }, ...this.app.coloring.css.filter((_, k) => k % 4 === 0).map((color) => swatch(color)));
    const [low, high] = column.range, [least, most] = column.ends;
    const ends = [`${least < low ? "≤ " : ""}${valueText(column, low)}`, `${most > high ? "≥ " : ""}${valueText(column, high)}`];
    const beyond = least < low || most > high ? el("div", { class: "note" }, `All: ${valueText(column, least)} to ${valueText(column, most)}`) : null;
    replaceChildren(this.box, el("li", { class: "scale" }, strip, el("div", { class: "ends" }, ...ends.map((text) => el("span", {}, text))), beyond));
  }

  showClasses(column) {
    const order = column.categories.map((_, code) => code).filter((code) => column.counts[code]);
    order.sort((a, b) => column.counts[b] - column.counts[a] || a - b);
    this.list(order.map((code) => ({
      color: this.app.coloring.colorOf(code, column), name: categoryText(column, code), count: column.counts[code],
      act: () => this.app.finding.markValue(column.name, code),
    })));
  }

  async showClusters() {
    const { cut } = this.app;
    if (!cut) return replaceChildren(this.box);
    const order = cut.roots.map((_, k) => k).sort((a, b) => cut.sizes[b] - cut.sizes[a] || a - b);
    const shown = order.slice(0, LEGEND_LIMIT);
    const names = this.app.facts.hasInnerNames ? await this.app.names.list(shown.map((k) => cut.roots[k])) : [];
    if (cut !== this.app.cut || this.app.coloring.column) return undefined;
    return this.list(order.map((k, at) => ({
      color: this.app.coloring.colorOf(k), name: names[at] ? `${k} · ${names[at]}` : `Cluster ${k}`, count: cut.sizes[k],
      act: () => this.app.goTo(cut.roots[k]),
    })));
  }

  list(entries) {
    const long = entries.slice(0, LEGEND_LIMIT).some(({ name }) => name.length > 11);
    this.box.classList.toggle("wide", long);
    const items = entries.slice(0, LEGEND_LIMIT).map(({ color, name, count, act }) => el("li", {},
      el("button", { type: "button", class: "plain", title: name, onclick: act }, swatch(color), el("span", { class: "name" }, name)),
      el("span", { class: "count" }, short(count))));
    const more = entries.length > LEGEND_LIMIT ? el("li", { class: "note" }, `and ${short(entries.length - LEGEND_LIMIT)} more`) : null;
    replaceChildren(this.box, items, more);
  }
}
