// The state of the page as text after the #, and back.
export function stateText(state) {
  const text = new URLSearchParams();
  for (const key of ["view", "k", "color", "scale", "theme", "select", "camera"]) {
    if (state[key] !== null && state[key] !== undefined && state[key] !== "") text.set(key, state[key]);
  }
  text.set("folds", state.folds ? "1" : "0");
  if (typeof state.report === "boolean") text.set("report", state.report ? "1" : "0");
  if (state.collapsed && state.collapsed.length) text.set("collapsed", state.collapsed.slice(0, 500).join("."));
  return text.toString();
}

export function readState(text) {
  const given = new URLSearchParams(text.replace(/^#/, ""));
  const number = (key) => (/^\d{1,10}$/.test(given.get(key) || "") ? Number(given.get(key)) : null);
  return {
    view: given.get("view"),
    k: number("k"),
    color: given.get("color"),
    scale: given.get("scale"),
    theme: given.get("theme"),
    select: number("select"),
    camera: given.get("camera"),
    report: given.has("report") ? given.get("report") === "1" : null,
    folds: given.has("folds") ? given.get("folds") === "1" : null,
    collapsed: (given.get("collapsed") || "").split(".").filter((id) => /^\d{1,10}$/.test(id)).map(Number),
  };
}
