// Everything the mouse does, from the keyboard.
export const KEY_HELP = [
  ["1 … 6", "switch the view"],
  ["↑ ↓ ← →", "walk the tree from the selected node"],
  ["+ −", "zoom in and out"],
  ["0", "show everything"],
  ["Enter", "zoom to the selected node"],
  ["d", "go down one level at the selected node"],
  ["f", "fold what lies below the cut, or show it"],
  ["c", "collapse or expand the selected node"],
  ["x", "expand everything"],
  ["[ ]", "fewer, more clusters"],
  ["/", "search"],
  ["t", "light, dark"],
  ["l", "copy a link to this view"],
  ["Esc", "clear the selection"],
  ["?", "this help"],
];

export function listenToKeys(root, app, signal) {
  root.addEventListener("keydown", (event) => {
    const target = event.composedPath()[0];
    const typing = target && (/^(SELECT|TEXTAREA)$/.test(target.tagName) || (target.tagName === "INPUT" && target.type !== "checkbox"));
    if (event.key === "Escape") return app.escape(target);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return undefined;
    const action = keyAction(app, event.key, target);
    if (!action) return undefined;
    event.preventDefault();
    return action();
  }, { signal });
}

function keyAction(app, key, target) {
  const views = app.viewNames();
  if (/^[1-9]$/.test(key) && views[Number(key) - 1]) return () => app.showView(views[Number(key) - 1]);
  // Enter presses the button that has the focus
  if (key === "Enter" && target && target.tagName === "BUTTON") return undefined;
  const actions = {
    "+": () => app.zoomBy(1.4),
    "=": () => app.zoomBy(1.4),
    "-": () => app.zoomBy(1 / 1.4),
    0: () => app.cutting.drillOut(),
    c: () => app.selection.toggleCollapse(),
    x: () => app.selection.expandAll(),
    d: () => app.cutting.drill(app.selection.slot),
    f: () => app.cutting.setFolds(!app.cutting.folds),
    "[": () => app.cutting.step(-1),
    "]": () => app.cutting.step(1),
    "/": () => app.panel.search.focus(),
    t: () => app.toggleTheme(),
    l: () => app.copyLink(),
    "?": () => app.toggleHelp(),
    ArrowUp: () => app.selection.step("previous"),
    ArrowDown: () => app.selection.step("next"),
    ArrowLeft: () => app.selection.step("parent"),
    ArrowRight: () => app.selection.step("child"),
    Enter: () => app.focusSelected(),
  };
  if (app.editing) {
    actions.u = () => app.editing.apply({ action: "undo" });
    actions.r = () => app.editing.apply({ action: "redo" });
  }
  return actions[key];
}
