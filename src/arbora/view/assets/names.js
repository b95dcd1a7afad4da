// Names of nodes, asked for when they are first to be painted.
import { clipText } from "./text.js";

const ASKED_AT_ONCE = 4000;
const WAIT = 30;

export class NameBook {
  constructor(source, facts, onNews) {
    this.source = source;
    this.facts = facts;
    this.onNews = onNews;
    this.known = new Map();
    this.queue = new Set();
  }

  // The name, or "" until it is known.
  of(node) {
    const known = this.known.get(node);
    if (known !== undefined) return known;
    if (node < this.facts.nLeaves ? !this.facts.hasNames : !this.facts.hasInnerNames) return node < this.facts.nLeaves ? String(node) : "";
    this.queue.add(node);
    if (this.queue.size === 1) setTimeout(() => this.fetch(), WAIT);
    return "";
  }

  // The names of these nodes, now.
  async list(nodes) {
    const unknown = nodes.filter((node) => !this.known.has(node));
    if (unknown.length) await this.ask(unknown);
    return nodes.map((node) => this.known.get(node));
  }

  set(node, name) {
    this.known.set(node, clipText(name));
  }

  async fetch() {
    const nodes = [...this.queue].slice(0, ASKED_AT_ONCE);
    this.queue.clear();
    await this.ask(nodes);
    this.onNews();
  }

  async ask(nodes) {
    const names = await this.source.names(nodes);
    nodes.forEach((node, k) => this.set(node, names[k]));
  }
}
