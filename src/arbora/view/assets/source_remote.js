// Asks a Python session: over HTTP (page served locally) or over a notebook's comm. `ask(question, details)` -> bytes.
import { unpack } from "./pack.js";

export class RemoteSource {
  constructor(ask) {
    this.ask = async (question, details = {}) => unpack(await ask(question, details));
    this.complete = false;
  }

  start(column) {
    return this.ask("overview", { column });
  }

  below(node, column) {
    return this.ask("nodes", { root: node, column });
  }

  async path(node) {
    return (await this.ask("path", { node })).facts.path;
  }

  async names(nodes) {
    return (await this.ask("names", { nodes })).facts.names;
  }

  async search(text) {
    return (await this.ask("search", { text })).facts;
  }

  async members(wanted) {
    return (await this.ask("members", wanted)).arrays.places;
  }

  async column(column, nodes) {
    return (await this.ask("column", { column, nodes })).arrays;
  }

  async leaves(column) {
    return (await this.ask("leaves", { column })).arrays.values;
  }

  async cut(k, column) {
    const { facts, arrays } = await this.ask("cut", { k, column });
    return { ...facts, ...Object.fromEntries(Object.entries(arrays).map(([name, values]) => [name, Array.from(values)])) };
  }

  async labels(k) {
    const { facts, arrays } = await this.ask("labels", { k });
    return { names: facts.names, label: arrays.label };
  }

  async card(node) {
    const { facts, arrays } = await this.ask("card", { node });
    return { ...facts, images: arrays.images };
  }

  // Only where the page may change the tree.
  async edit(details) {
    return (await this.ask("edit", details)).facts;
  }

  async newick() {
    return (await this.ask("newick")).facts.newick;
  }

  async points() {
    return (await this.ask("points")).arrays.points;
  }

  tangle() {
    return this.ask("tangle");
  }
}

export function askOverHttp(token) {
  return async (question, details) => {
    const response = await fetch(`api/${question}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-arbora-token": token },
      body: JSON.stringify(details),
      credentials: "omit",
      cache: "no-store",
    });
    if (!response.ok) {
      const why = response.status === 400 ? (await response.text()).trim() : "";
      throw new Error(why || `The server answered ${response.status} to "${question}".`);
    }
    return response.arrayBuffer();
  };
}

export function askOverComm(model) {
  const waiting = new Map();
  let next = 1;
  model.on("msg:custom", (message, buffers) => {
    const done = waiting.get(message.reply);
    if (!done) return;
    waiting.delete(message.reply);
    if (message.error) return done.reject(new Error(message.error));
    const view = buffers[0];
    done.resolve(view.buffer ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : view);
  });
  return (question, details) => new Promise((resolve, reject) => {
    const number = next++;
    waiting.set(number, { resolve, reject });
    model.send({ number, question, details });
  });
}
