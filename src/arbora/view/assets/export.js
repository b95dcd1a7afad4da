// Pictures of the screen and clusters as files.
import { saveBlob, csvText } from "./files.js";

export async function exportView(app, kind) {
  const name = "arbora-tree";
  if (kind === "svg") saveBlob(new Blob([app.stage.svg()], { type: "image/svg+xml" }), `${name}.svg`);
  if (kind === "png") {
    app.stage.paint();
    const blob = await new Promise((done) => app.panel.canvas.toBlob(done, "image/png"));
    saveBlob(blob, `${name}.png`);
  }
  if (kind === "csv") {
    const { names, label } = await app.source.labels(app.cut.clusters);
    const rows = [["leaf", "name", "cluster"]];
    names.forEach((one, leaf) => rows.push([leaf, one, label[leaf]]));
    saveBlob(new Blob([csvText(rows)], { type: "text/csv" }), `${name}-${app.cut.clusters}-clusters.csv`);
  }
}
