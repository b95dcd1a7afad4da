// The search box: what is found, and what choosing it does.
import { el, replaceChildren } from "./dom.js";
import { leavesText, short } from "./format.js";

const KIND_TEXT = { node: "topic", value: "value", word: "word", leaf: "", text: "in text" };
const LONGEST_SEARCH = 200;

export class Finding {
  constructor(app) {
    this.app = app;
    this.ticket = 0;
  }

  async search(text) {
    const ticket = ++this.ticket;
    const result = await this.app.source.search(text.slice(0, LONGEST_SEARCH));
    if (ticket !== this.ticket) return;
    this.show(result, text);
    const { store } = this.app;
    const slots = result.found.filter((hit) => hit.node !== undefined && hit.node < this.app.facts.nLeaves).map((hit) => store.slot(hit.node));
    this.app.selection.mark(slots.filter((slot) => slot >= 0).map((slot) => store.start[slot]));
  }

  show(result, text) {
    const { found } = this.app.panel;
    found.hidden = !text.trim();
    const items = result.found.map((hit, k) => el("li", {
      role: "option", tabindex: "-1", "data-kind": hit.kind, "data-leaf": hit.node === undefined ? null : String(hit.node), "aria-selected": String(k === 0),
      onclick: () => this.choose(hit),
    }, el("span", { class: "name" }, hit.column ? `${hit.column}: ${hit.title || "(empty)"}` : hit.title),
    el("span", { class: "count" }, hit.count === undefined ? KIND_TEXT[hit.kind] : `${KIND_TEXT[hit.kind]} · ${leavesText(hit.count)}`)));
    const rest = result.count - result.found.length;
    const note = result.count === 0 ? "Nothing has this in its name, text or values." : rest > 0 ? `and ${short(rest)} more` : null;
    replaceChildren(found, items, note && el("li", { class: "note" }, note));
  }

  choose(hit) {
    this.app.panel.found.hidden = true;
    if (hit.kind === "word") return this.markMembers({ word: hit.word });
    if (hit.kind === "value") return this.markValue(hit.column, hit.code);
    return this.app.goTo(hit.node);
  }

  async markValue(column, code) {
    await this.markMembers({ column, code });
    if (this.app.coloring.by !== column) await this.app.setColor(column);
  }

  async markMembers(wanted) {
    const places = Array.from(await this.app.source.members(wanted));
    this.app.selection.mark(places);
    this.app.panel.say(`${leavesText(places.length)} marked`);
  }

  key(event) {
    const items = [...this.app.panel.found.querySelectorAll("[role=option]")];
    const at = items.findIndex((item) => item.getAttribute("aria-selected") === "true");
    if (event.key === "Enter" && items[at]) items[at].click();
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const to = Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), items.length - 1);
    items.forEach((item, k) => item.setAttribute("aria-selected", String(k === to)));
    items[to]?.scrollIntoView({ block: "nearest" });
  }
}
