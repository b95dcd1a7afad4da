// Finding leaves, topics, words and values in a page that holds its data; view/search.py finds the same.
const LISTED = { node: 12, value: 10, word: 6, leaf: 30, text: 12 };
const MOST_MEMBERS = 20000;

// Without case, accents and compatibility forms, as folded() in view/search.py.
export function foldText(text) {
  return text.toLowerCase().normalize("NFKD").replace(/\p{Mn}/gu, "").toLowerCase().replaceAll("ß", "ss").replaceAll("ς", "σ");
}

export class Finder {
  constructor({ facts, arrays }, nameOf, sizeOf) {
    this.facts = facts;
    this.arrays = arrays;
    this.nameOf = nameOf;
    this.sizeOf = sizeOf;
  }

  get names() {
    this.foldedNames ??= Array.from({ length: this.facts.nLeaves }, (_, leaf) => foldText(this.nameOf(leaf)));
    return this.foldedNames;
  }

  get texts() {
    this.foldedTexts ??= (this.facts.texts || []).map(foldText);
    return this.foldedTexts;
  }

  find(text) {
    const wanted = foldText(text.trim());
    if (!wanted) return { count: 0, found: [] };
    const leaves = this.leaves(wanted), named = new Set(leaves.map((hit) => hit.node));
    const groups = [this.nodes(wanted), this.values(wanted), this.words(wanted), leaves, this.inTexts(wanted).filter((hit) => !named.has(hit.node))];
    return {
      count: groups.reduce((sum, group) => sum + group.length, 0),
      found: groups.flatMap((group) => (group.length ? group.slice(0, LISTED[group[0].kind]) : [])),
    };
  }

  nodes(wanted) {
    const hits = [];
    for (const [node, title] of Object.entries(this.facts.innerNames)) {
      if (foldText(title).includes(wanted)) hits.push({ kind: "node", node: Number(node), title, count: this.sizeOf(Number(node)) });
    }
    return hits.sort((a, b) => matchRank(a.title, wanted) - matchRank(b.title, wanted) || b.count - a.count || a.node - b.node);
  }

  values(wanted) {
    const hits = [];
    for (const column of this.facts.columns) {
      if (column.kind !== "category") continue;
      column.categories.forEach((title, code) => {
        if (column.counts[code] && foldText(title).includes(wanted)) hits.push({ kind: "value", title, column: column.name, code, count: column.counts[code] });
      });
    }
    return hits.sort((a, b) => matchRank(a.title, wanted) - matchRank(b.title, wanted) || b.count - a.count);
  }

  words(wanted) {
    const hits = [];
    (this.facts.vocabulary || []).forEach((title, word) => {
      if (foldText(title).startsWith(wanted)) hits.push({ kind: "word", title, word, count: this.arrays.wordTotal[word] });
    });
    return hits;
  }

  leaves(wanted) {
    const hits = [];
    this.names.forEach((name, node) => {
      if (name.includes(wanted)) hits.push({ kind: "leaf", node, title: this.nameOf(node), rank: name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2 });
    });
    hits.sort((a, b) => a.rank - b.rank);
    return hits.map(({ kind, node, title }) => ({ kind, node, title }));
  }

  inTexts(wanted) {
    const found = new Set();
    this.texts.forEach((text, leaf) => { if (text.includes(wanted)) found.add(leaf); });
    for (const column of this.facts.columns) {
      if (column.kind === "text") column.texts.forEach((text, at) => { if (foldText(text).includes(wanted)) found.add(this.arrays.leafOrder[at]); });
    }
    return [...found].sort((a, b) => a - b).map((node) => ({ kind: "text", node, title: this.nameOf(node) }));
  }

  // Places in the leaf order that have a word, or a category of a column.
  members({ column, code, word }) {
    const places = [], a = this.arrays;
    if (column === undefined || column === null) {
      for (let at = 0; at < this.facts.nLeaves && places.length < MOST_MEMBERS; at++) {
        for (let k = a.wordOffsets[at]; k < a.wordOffsets[at + 1]; k++) if (a.wordIndex[k] === word) places.push(at);
      }
      return Int32Array.from(places);
    }
    const codes = a[`leaves${this.facts.columns.findIndex((one) => one.name === column)}`];
    for (let at = 0; at < codes.length && places.length < MOST_MEMBERS; at++) if (codes[at] === code) places.push(at);
    return Int32Array.from(places);
  }
}

function matchRank(title, wanted) {
  const name = foldText(title);
  return name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2;
}
