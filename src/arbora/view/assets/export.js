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
    const { names, label, nodes, sizes } = await app.source.labels(app.cut.clusters);
    // a page of the upper part lists its groups, others every leaf
    const rows = [nodes ? ["node", "name", "leaves", "cluster"] : ["leaf", "name", "cluster"]];
    names.forEach((one, k) => rows.push(nodes ? [nodes[k], one, sizes[k], label[k]] : [k, one, label[k]]));
    saveBlob(new Blob([csvText(rows)], { type: "text/csv" }), `${name}-${app.cut.clusters}-clusters.csv`);
  }
}
