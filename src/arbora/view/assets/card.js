// The node card: what is known about the selected node.
import { el, replaceChildren, swatch, bar, short } from "./dom.js";

export function showCard(box, card, app) {
  if (!card) {
    return replaceChildren(box, el("h2", {}, "Node"), el("p", { class: "note" }, "Click a node to see what is in it."));
  }
  const title = card.name || (card.size === 1 ? `Leaf ${card.node}` : `Node ${card.node}`);
  const collapsed = app.collapsed.has(card.node);
  return replaceChildren(box,
    el("h2", { class: "card-title" }, title),
    el("dl", { class: "facts" }, cardFacts(card, app).flatMap(([name, value]) => [el("dt", {}, name), el("dd", { "data-fact": name }, value)])),
    el("div", { class: "actions" },
      el("button", { type: "button", "data-action": "zoom", onclick: () => app.focusSelected() }, "Zoom here"),
      card.size > 1 && el("button", { type: "button", "data-action": "collapse", onclick: () => app.toggleCollapse() }, collapsed ? "Expand" : "Collapse")),
    cardMix(card, app), cardExemplars(card, app), cardWords(card), cardPath(card, app));
}

function cardFacts(card, app) {
  const facts = [["Leaves", short(card.size)], ["Depth", short(card.depth)]];
  if (card.height !== null) facts.push(["Height", short(card.height, 4)]);
  if (card.support !== null) facts.push(["Support", short(card.support)]);
  const known = card.mix.reduce((sum, pair) => sum + pair[1], 0);
  if (known) facts.push(["Purity", short(card.mix[0][1] / card.size)]);
  if (card.mean !== null) facts.push([`Mean ${app.columnForCard().name}`, short(card.mean)]);
  facts.push(["Number", String(card.node)]);
  return facts;
}

function cardMix(card, app) {
  if (!card.mix.length) return null;
  const column = app.columnForCard();
  const colors = app.colorsOf(column);
  return el("div", { class: "mix" }, el("h3", {}, column.name), ...card.mix.slice(0, 8).map(([code, count]) =>
    el("div", { class: "mix-row" }, swatch(colors[code]), el("span", { class: "name" }, column.categories[code] || "(empty)"),
      bar(count / card.size, colors[code]), el("span", { class: "count" }, short(count)))));
}

function cardExemplars(card, app) {
  if (card.size === 1 && !card.images) return null;
  const items = card.exemplars.map(([leaf, name], k) => {
    const picture = card.images ? thumbnail(card.images, app.facts.image, k) : null;
    return el("button", { type: "button", class: picture ? "thumb" : "chip", title: name, "data-leaf": String(leaf), onclick: () => app.goTo(leaf) }, picture || name);
  });
  return el("div", { class: "exemplars" }, el("h3", {}, "Exemplars"), el("div", { class: card.images ? "thumbs" : "chips" }, items));
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

function cardWords(card) {
  if (!card.words.length) return null;
  return el("div", { class: "words" }, el("h3", {}, "Top words"), el("p", {}, card.words.join(" · ")));
}

function cardPath(card, app) {
  if (!card.path.length) return null;
  return el("div", { class: "path" }, el("h3", {}, "Path to the root"), el("ol", {}, ...card.path.slice(0, 40).map(([node, name, size]) =>
    el("li", {}, el("button", { type: "button", class: "plain", onclick: () => app.goTo(node) }, name || `Node ${node}`), el("span", { class: "count" }, short(size))))));
}
