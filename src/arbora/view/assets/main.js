// Starts the explorer in a page of its own: data in the page, or asked for from the local server.
import { Explorer } from "./app.js";
import { LocalSource } from "./source_local.js";
import { RemoteSource, askOverHttp } from "./source_remote.js";
import { inflateText, unpack } from "./pack.js";

async function startPage() {
  const began = performance.now();
  const root = document.getElementById("arbora");
  const data = document.getElementById("arbora-data");
  try {
    const source = data
      ? new LocalSource(unpack(await inflateText(data.textContent)))
      : new RemoteSource(askOverHttp(new URLSearchParams(location.search).get("token") || ""));
    const opening = await source.start(null);
    const explorer = new Explorer(root, source, opening, { hash: true, view: root.dataset.view || undefined, animate: root.dataset.animate !== "no" });
    root.explorer = explorer;
    explorer.began = began;
    document.title = opening.facts.title;
    await explorer.open();
  } catch (error) {
    const note = document.createElement("p");
    note.className = "failed";
    note.textContent = `The tree could not be shown. ${error.message}`;
    root.replaceChildren(note);
    throw error;
  }
}

startPage();
