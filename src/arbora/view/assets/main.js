// Starts the explorer in a page of its own: data in the page, or asked for from the local server.
import { Explorer } from "./app.js";
import { LocalSource } from "./source_local.js";
import { EditableSource } from "./source_editable.js";
import { FoldedSource } from "./source_folded.js";
import { RemoteSource, askOverHttp } from "./source_remote.js";
import { inflateText, unpack } from "./pack.js";

async function showExplorer(root, source, select) {
  const opening = await source.start(null);
  root.explorer?.dispose();
  const explorer = new Explorer(root, source, opening, {
    hash: true, view: root.dataset.view || undefined, animate: root.dataset.animate !== "no",
    // after an edit everything is asked for again
    reload: (node) => showExplorer(root, source, node),
  });
  root.explorer = explorer;
  document.title = opening.facts.title;
  await explorer.open(select);
}

function sourceOf(whole) {
  if (whole.facts.folded) return new FoldedSource(whole);
  return whole.facts.editable ? new EditableSource(whole) : new LocalSource(whole);
}

async function startPage() {
  const root = document.getElementById("arbora");
  const data = document.getElementById("arbora-data");
  try {
    const source = data
      ? sourceOf(unpack(await inflateText(data.textContent)))
      : new RemoteSource(askOverHttp(new URLSearchParams(location.search).get("token") || ""));
    await showExplorer(root, source);
  } catch (error) {
    const note = document.createElement("p");
    note.className = "failed";
    note.textContent = `The tree could not be shown. ${error.message}`;
    root.replaceChildren(note);
    throw error;
  }
}

startPage();
