// The node card: what is known about the selected node, all columns included.
import { el, replaceChildren, swatch, bar, link } from "./dom.js";
import { categoryText, short, valueText } from "./format.js";

const MIX_ROWS = 8;

export function showCard(box, card, app) {
  if (!card) {
    return replaceChildren(box, el("h2", {}, "Node"), el("p", { class: "note hint" }, "Click a node to see what is in it."));
  }
  const title = card.name || (card.size === 1 ? `Leaf ${card.node}` : `Node ${card.node}`);
  return replaceChildren(box,
    el("h2", { class: "card-title" }, title),
    el("dl", { class: "facts" }, cardFacts(card, app).flatMap(([name, value]) => [el("dt", {}, name), el("dd", { "data-fact": name }, value)])),
    cardActions(card, app), app.editing && app.editing.actions(card), cardText(card), card.size === 1 ? cardExemplars(card, app) : null, cardColumns(card, app),
    card.size > 1 ? cardExemplars(card, app) : null, cardReasons(card), cardWords(card), cardSimilar(card, app), cardPath(card, app));
}

function cardFacts(card, app) {
  const facts = [["Leaves", short(card.size)], ["Depth", short(card.depth)]];
  if (card.height !== null) facts.push(["Height", short(card.height, 4)]);
  if (card.support !== null) facts.push(["Support", short(card.support)]);
  const truth = app.facts.columns.indexOf(app.cutting.truth);
  const known = truth >= 0 ? card.columns[truth].known : 0;
  if (known && card.size > 1) facts.push(["Purity", short(card.columns[truth].mix[0][1] / known)]);
  const scores = app.facts.report?.node_scores || {};
  for (const [name, title] of [["precision", "Precision"], ["recall", "Recall"], ["f1", "F1"]]) {
    if (scores[name] && scores[name][card.node] !== null) facts.push([title, short(scores[name][card.node])]);
  }
  facts.push(["Number", String(card.node)]);
  return facts;
}

function cardActions(card, app) {
  const collapsed = app.collapsed.has(card.node);
  return el("div", { class: "actions" },
    el("button", { type: "button", "data-action": "zoom", onclick: () => app.focusSelected() }, "Zoom here"),
    card.size > 1 && el("button", { type: "button", "data-action": "collapse", onclick: () => app.selection.toggleCollapse() }, collapsed ? "Expand" : "Collapse"));
}

function cardText(card) {
  return card.text ? el("div", { class: "text" }, el("h3", {}, "Text"), el("p", {}, card.text)) : null;
}

// ---- columns ------------------------------------------------------------------------------------------

function cardColumns(card, app) {
  const parts = app.facts.columns.map((column, k) => {
    const summary = card.columns[k];
    if (card.size === 1) return leafValue(column, summary, app);
    if (column.kind === "category") return classMix(column, summary, card, app);
    return column.kind === "text" ? null : scaleSummary(column, summary, card);
  });
  return card.size === 1 ? el("dl", { class: "values" }, parts.flat()) : el("div", { class: "columns" }, parts);
}

function leafValue(column, summary, app) {
  const name = el("dt", {}, column.name);
  const value = (...children) => [name, el("dd", { "data-column": column.name }, ...children)];
  if (column.kind === "text") return value(summary.text ? (column.links ? link(summary.text) : summary.text) : "–");
  if (!summary.known) return value("–");
  if (column.kind !== "category") return value(valueText(column, summary.mean, 6));
  const code = summary.mix[0][0];
  return value(swatch(app.coloring.colorOf(code, column)), ` ${categoryText(column, code)}`);
}

function missingNote(summary, card) {
  const missing = card.size - summary.known;
  return missing ? el("p", { class: "note" }, `${short(missing)} without a value`) : null;
}

function classMix(column, summary, card, app) {
  if (!summary.known) return null;
  const rows = summary.mix.slice(0, MIX_ROWS).map(([code, count]) => {
    const color = app.coloring.colorOf(code, column), name = categoryText(column, code);
    return el("div", { class: "mix-row" }, swatch(color), el("span", { class: "name", title: name }, name), bar(count / summary.known, color), el("span", { class: "count" }, short(count)));
  });
  return el("div", { class: "mix", "data-column": column.name }, el("h3", {}, column.name), ...rows, missingNote(summary, card));
}

function scaleSummary(column, summary, card) {
  if (!summary.known) return null;
  const range = summary.least === summary.most ? "" : ` (${valueText(column, summary.least)} to ${valueText(column, summary.most)})`;
  return el("div", { class: "mix", "data-column": column.name }, el("h3", {}, column.name), el("p", { class: "mean" }, `Mean ${valueText(column, summary.mean)}${range}`), histogram(column, summary.bins), missingNote(summary, card));
}

// How the values lie along the scale: for dates, when; the ends are those of the whole tree's scale.
function histogram(column, bins) {
  if (!bins || !bins.length) return null;
  const most = Math.max(...bins, 1);
  const bars = bins.map((count) => {
    const bar = el("span", { title: short(count) });
    bar.style.height = `${count ? Math.max((100 * count) / most, 6) : 0}%`;
    return bar;
  });
  return el("div", { class: "histogram" }, el("div", { class: "bins", "aria-hidden": "true" }, ...bars),
    el("div", { class: "ends" }, ...column.range.map((value) => el("span", {}, valueText(column, value)))));
}

// ---- exemplars, words, path ---------------------------------------------------------------------------

function cardExemplars(card, app) {
  if (card.size === 1 && !card.images) return null;
  const items = card.exemplars.map(([leaf, name], k) => {
    const picture = card.images ? thumbnail(card.images, app.facts.image, k) : null;
    return el("button", { type: "button", class: picture ? "thumb" : "chip", title: name, "data-leaf": String(leaf), disabled: app.source.slots?.[leaf] < 0, onclick: () => app.goTo(leaf) }, picture || name);
  });
  const kind = card.images ? (card.size === 1 ? "thumbs single" : "thumbs") : "chips";
  return el("div", { class: "exemplars" }, card.size > 1 ? el("h3", {}, "Exemplars") : null, el("div", { class: kind }, items));
}

// Pixels to a small canvas; no data: URLs needed.
export function thumbnail(images, shape, k) {
  const [height, width, channels = 1] = shape;
  const canvas = el("canvas", { width, height });
  const ctx = canvas.getContext("2d");
  const data = ctx.createImageData(width, height);
  const from = k * width * height * channels;
  for (let p = 0; p < width * height; p++) {
    for (let c = 0; c < 3; c++) data.data[4 * p + c] = images[from + p * channels + (channels === 3 ? c : 0)];
    data.data[4 * p + 3] = 255;
  }
  ctx.putImageData(data, 0, 0);
  return canvas;
}

function cardReasons(card) {
  if (!card.reasons.length) return null;
  const title = ({ name, effect }) => (effect === null ? name : `${name}: ${effect > 0 ? "+" : "−"}${short(Math.abs(effect))} standard deviations`);
  return el("div", { class: "reasons" }, el("h3", {}, card.reasons[0].effect === null ? "What holds it together" : "What sets it apart from its siblings"),
    el("ul", {}, ...card.reasons.map((reason) => el("li", { title: title(reason) }, reason.rule || reason.name))));
}

function cardWords(card) {
  if (!card.words.length) return null;
  return el("div", { class: "words" }, el("h3", {}, "Top words"), el("p", {}, card.words.join(" · ")));
}

function cardSimilar(card, app) {
  if (!card.similar || !card.similar.length) return null;
  const chips = card.similar.map(([leaf, name]) =>
    el("button", { type: "button", class: "chip", title: name, "data-leaf": String(leaf), disabled: app.source.slots?.[leaf] < 0, onclick: () => app.goTo(leaf) }, name));
  return el("div", { class: "similar" }, el("h3", {}, "Most similar"), el("div", { class: "chips" }, chips));
}

function cardPath(card, app) {
  if (!card.path.length) return null;
  return el("div", { class: "path" }, el("h3", {}, "Path to the root"), el("ol", {}, ...card.path.map(([node, name, size]) =>
    el("li", {}, el("button", { type: "button", class: "plain", title: name, onclick: () => app.goTo(node) }, el("span", { class: "name" }, name || `Node ${node}`)), el("span", { class: "count" }, short(size))))));
}
