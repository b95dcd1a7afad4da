// Mouse, pen, touch and wheel on the stage.
export function listenToPointer(stage, app) {
  const canvas = stage.canvas;
  const touches = new Map();
  let drag = null, pinch = null;

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  canvas.addEventListener("pointerdown", (event) => {
    const p = at(event);
    touches.set(event.pointerId, p);
    canvas.setPointerCapture(event.pointerId);
    if (touches.size === 2) pinch = spread(touches);
    drag = { ...p, moved: false, node: carried(stage, app, p) };
  });

  canvas.addEventListener("pointermove", (event) => {
    const p = at(event), before = touches.get(event.pointerId);
    if (!before) return app.hover(stage.view ? stage.view.hit(stage.frame, p.x, p.y) : -1, event);
    touches.set(event.pointerId, p);
    if (touches.size === 2 && pinch) {
      const now = spread(touches);
      stage.view.zoom(now.x, now.y, now.distance / Math.max(pinch.distance, 1));
      stage.view.pan(now.x - pinch.x, now.y - pinch.y, now.x, now.y);
      pinch = now;
      return stage.touch();
    }
    if (!drag) return undefined;
    if (!drag.moved && Math.hypot(p.x - drag.x, p.y - drag.y) < 4) return undefined;
    drag.moved = true;
    canvas.classList.add("dragging");
    if (drag.node !== null) return app.hover(stage.view.hit(stage.frame, p.x, p.y), event);
    stage.view.pan(p.x - before.x, p.y - before.y, p.x, p.y);
    return stage.touch();
  });

  const release = (event) => {
    const p = at(event);
    touches.delete(event.pointerId);
    pinch = null;
    canvas.classList.remove("dragging");
    if (drag && event.type === "pointerup") {
      const slot = stage.view.hit(stage.frame, p.x, p.y);
      if (!drag.moved) app.click(slot, event);
      else if (drag.node !== null) app.editing.drop(drag.node, slot);
    }
    if (touches.size === 0) drag = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", (event) => app.hover(-1, event));

  canvas.addEventListener("dblclick", (event) => {
    const p = at(event), slot = stage.view.hit(stage.frame, p.x, p.y);
    app.cutting.drill(slot);
  });

  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const p = at(event);
    const step = event.deltaMode === 1 ? 16 : 1;
    const delta = (Math.abs(event.deltaY) >= Math.abs(event.deltaX) ? event.deltaY : event.deltaX) * step;
    const factor = Math.exp(-Math.max(Math.min(delta, 240), -240) * 0.0016);
    // with Shift the other axis (heights), with Ctrl or Alt both
    const axes = event.shiftKey ? { x: true, y: false } : event.ctrlKey || event.altKey ? { x: true, y: true } : undefined;
    stage.view.zoom(p.x, p.y, factor, axes);
    stage.touch();
  }, { passive: false });
}

// Where the tree may be edited, dragging the selected node carries its subtree; other drags move the picture.
function carried(stage, app, p) {
  const slot = app.selection.slot;
  return app.editing && slot > 0 && stage.view.hit(stage.frame, p.x, p.y) === slot ? app.selected : null;
}

function spread(touches) {
  const [a, b] = [...touches.values()];
  return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, distance: Math.hypot(a.x - b.x, a.y - b.y) };
}
