// Changing the tree: rename, merge, move, split, remove, undo, redo, save. Only where the page was made for it (edit=...).
import { el, replaceChildren } from "./dom.js";
import { saveBlob } from "./files.js";
import { short } from "./format.js";

export class Editing {
  constructor(app) {
    this.app = app;
    this.state = null;
    // { action: "merge" | "move", node } while the next click chooses the other node
    this.pick = null;
    this.bar = el("div", { class: "edit-bar", role: "toolbar", "aria-label": "Edit" });
  }

  async open() {
    this.state = await this.app.source.edit({ action: "state" });
    this.showBar();
    // edits that only this page holds are lost with it
    const warn = (event) => { if (this.state.changed && this.app.source.complete) event.preventDefault(); };
    window.addEventListener("beforeunload", warn, { signal: this.app.closing.signal });
  }

  // ---- what can be done -------------------------------------------------------------------------------

  showBar(note = "") {
    const { state } = this;
    const tool = (text, label, name, enabled, action) => el("button", { type: "button", class: "tool", title: label, "data-edit": name, disabled: !enabled, onclick: action }, text);
    replaceChildren(this.bar,
      tool("Undo", "Undo (u)", "undo", state.canUndo, () => this.apply({ action: "undo" })),
      tool("Redo", "Redo (r)", "redo", state.canRedo, () => this.apply({ action: "redo" })),
      state.path && tool(`Save ${state.path}`, `Write ${state.path}`, "save", state.changed, () => this.apply({ action: "save" })),
      tool("Download", "Download as Newick", "download", true, () => this.download()),
      this.costText(),
      el("span", { class: "note edit-note", role: "status" }, note));
  }

  costText() {
    const { cost, costBefore, costFirst, costNote } = this.state;
    if (cost === null) return costNote ? el("span", { class: "note cost-note" }, costNote) : null;
    const change = (from) => `${cost >= from ? "+" : "−"}${short(Math.abs(((cost - from) / Math.max(Math.abs(from), 1e-300)) * 100))} %`;
    const steps = cost === costFirst && cost === costBefore ? "" : ` (last edit ${change(costBefore)}, all edits ${change(costFirst)})`;
    return el("span", { class: "cost", title: "Dasgupta's cost; lower is better" }, `Cost ${short(cost, 5)}${steps}`);
  }

  actions(card) {
    const button = (text, name, action) => el("button", { type: "button", "data-edit": name, onclick: action }, text);
    return el("div", { class: "actions" },
      button("Rename", "rename", () => this.askName(card)),
      card.path.length > 0 && button("Merge with…", "merge", () => this.startPick("merge", card.node)),
      card.path.length > 0 && button("Move to…", "move", () => this.startPick("move", card.node)),
      card.path.length > 0 && card.size > 1 && button("Split", "split", () => this.apply({ action: "split", node: card.node })),
      card.path.length > 0 && button("Remove", "remove", () => this.apply({ action: "remove", node: card.node })));
  }

  askName(card) {
    const title = this.app.panel.card.querySelector(".card-title");
    const input = el("input", { type: "text", value: card.name, maxlength: "300", "aria-label": "New name", class: "rename" });
    input.value = card.name;
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter") this.apply({ action: "rename", node: card.node, name: input.value });
      if (event.key === "Escape") this.app.selection.showCard();
    });
    replaceChildren(title, input);
    input.focus();
    input.select();
  }

  // ---- choosing the other node ------------------------------------------------------------------------

  startPick(action, node) {
    this.pick = { action, node };
    this.showBar(action === "merge" ? "Click the node to merge with. Esc cancels." : "Click the node to move it to. Esc cancels.");
    this.app.panel.canvas.classList.add("picking");
  }

  endPick() {
    this.pick = null;
    this.app.panel.canvas.classList.remove("picking");
    if (this.state) this.showBar();
  }

  // A click while a node is to be chosen; true if it was used.
  chosen(slot) {
    if (!this.pick) return false;
    const { action, node } = this.pick;
    this.endPick();
    if (slot < 0) return true;
    const other = this.app.store.id[slot];
    this.apply(action === "merge" ? { action, nodes: [node, other] } : { action, node, to: other });
    return true;
  }

  drop(node, slot) {
    if (slot >= 0 && this.app.store.id[slot] !== node) this.apply({ action: "move", node, to: this.app.store.id[slot] });
  }

  // ---- doing it ---------------------------------------------------------------------------------------

  async apply(details) {
    try {
      this.state = await this.app.source.edit(details);
    } catch (error) {
      this.showBar(error.message);
      return;
    }
    if (details.action === "save") this.showBar("Saved.");
    else await this.app.options.reload(this.state.select);
  }

  async download() {
    const text = await this.app.source.newick();
    saveBlob(new Blob([`${text}\n`], { type: "text/plain" }), "tree.nwk");
    this.state = await this.app.source.edit({ action: "state" });
    this.showBar("tree.nwk holds the tree as it is now.");
  }
}
