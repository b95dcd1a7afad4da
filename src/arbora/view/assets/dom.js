// Building the page: text is always a text node, never markup.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.className = value;
    else if (name in node && typeof value !== "string") node[name] = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) node.append(child);
  }
  return node;
}

export function replaceChildren(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
}

// An address as a link, if it is one that only leads somewhere; anything else stays text.
const SAFE = new Set(["http:", "https:", "mailto:"]);

export function link(text) {
  let protocol;
  try {
    protocol = new URL(text).protocol;
  } catch {
    return text;
  }
  if (!SAFE.has(protocol)) return text;
  return el("a", { href: text, target: "_blank", rel: "noopener noreferrer" }, text);
}

export function swatch(color) {
  const node = el("span", { class: "swatch", "aria-hidden": "true" });
  node.style.backgroundColor = color;
  return node;
}

export function bar(share, color) {
  const inner = el("span", { class: "bar-fill" });
  inner.style.width = `${(100 * share).toFixed(1)}%`;
  inner.style.backgroundColor = color;
  return el("span", { class: "bar", "aria-hidden": "true" }, inner);
}
