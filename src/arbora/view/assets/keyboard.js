// Everything the mouse does, from the keyboard.
export const KEY_HELP = [
  ["1 … 6", "switch the view"],
  ["↑ ↓ ← →", "walk the tree from the selected node"],
  ["+ −", "zoom in and out"],
  ["0", "show everything"],
  ["Enter", "zoom to the selected node"],
  ["c", "collapse or expand the selected node"],
  ["x", "expand everything"],
  ["[ ]", "fewer, more clusters"],
  ["/", "search"],
  ["t", "light, dark"],
  ["l", "copy a link to this view"],
  ["Esc", "clear the selection"],
  ["?", "this help"],
];

export function listenToKeys(root, app) {
  root.addEventListener("keydown", (event) => {
    const target = event.composedPath()[0];
    const typing = target && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
    if (event.key === "Escape") return app.escape(target);
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return undefined;
    const action = keyAction(app, event.key, target);
    if (!action) return undefined;
    event.preventDefault();
    return action();
  });
}

function keyAction(app, key, target) {
  const views = app.viewNames();
  if (/^[1-9]$/.test(key) && views[Number(key) - 1]) return () => app.showView(views[Number(key) - 1]);
  const onButton = target && target.tagName === "BUTTON";
  const actions = {
    "+": () => app.zoomBy(1.4),
    "=": () => app.zoomBy(1.4),
    "-": () => app.zoomBy(1 / 1.4),
    "0": () => app.fit(),
    c: () => app.toggleCollapse(),
    x: () => app.expandAll(),
    "[": () => app.stepCut(-1),
    "]": () => app.stepCut(1),
    "/": () => app.focusSearch(),
    t: () => app.toggleTheme(),
    l: () => app.copyLink(),
    "?": () => app.toggleHelp(),
  };
  if (!onButton) {
    actions.ArrowUp = () => app.step("previous");
    actions.ArrowDown = () => app.step("next");
    actions.ArrowLeft = () => app.step("parent");
    actions.ArrowRight = () => app.step("child");
    actions.Enter = () => app.focusSelected();
  }
  return actions[key];
}
