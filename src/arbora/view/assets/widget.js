// Starts the explorer in a notebook cell.
import { Explorer } from "./app.js";
import { LocalSource } from "./source_local.js";
import { RemoteSource, askOverComm } from "./source_remote.js";
import { inflateBytes, unpack } from "./pack.js";

async function showInCell(root, source, model, select) {
  const opening = await source.start(null);
  root.explorer?.dispose();
  const explorer = new Explorer(root, source, opening, {
    hash: false, view: model.get("view"), reload: (node) => showInCell(root, source, model, node),
  });
  root.explorer = explorer;
  await explorer.open(select);
  explorer.onSelect = () => {
    model.set("selected", explorer.selected === null ? -1 : explorer.selected);
    model.save_changes();
  };
}

export async function renderWidget({ model, el: host }) {
  const shadow = host.attachShadow ? host.attachShadow({ mode: "open" }) : host;
  const style = document.createElement("style");
  style.textContent = model.get("_style");
  const root = document.createElement("div");
  root.className = "widget";
  root.style.height = `${model.get("height")}px`;
  shadow.append(style, root);
  const sent = model.get("_data");
  const whole = sent && sent.byteLength > 0;
  const source = whole ? new LocalSource(unpack(await inflateBytes(sent))) : new RemoteSource(askOverComm(model));
  await showInCell(root, source, model);
  model.on("change:selected", () => {
    const node = model.get("selected");
    if (node >= 0 && node !== root.explorer.selected) root.explorer.goTo(node, false);
  });
}
