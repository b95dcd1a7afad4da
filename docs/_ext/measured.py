"""A table of measured figures from a JSON file: `.. measured:: which_method.json`."""

import json
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

TITLES = {
    "cluster": "``ab.cluster(X)``, 64 columns",
    "ward": '``ab.linkage(X, "ward")``, 64 columns',
    "graph": "``ab.cluster(adjacency)``, about 10 edges per node",
    "online": "``ab.OnlineTree().partial_fit(X)``, 64 columns",
    "hyphc": "``ab.HypHC().fit(X)``, 64 columns",
    "ghhc": "``ab.GHHC(n_internal=255).fit(X)``, 64 columns",
    "fph": "``ab.FPH(n_internal=64, max_epochs=100).fit(adjacency)``",
    "l2h": "``ab.L2H().fit(logits)``, 100 classes",
}


class Measured(Directive):
    """Rows of `benchmarks/which_method.py`."""

    required_arguments = 1

    def run(self):
        """A list table, parsed where the directive stands."""
        here = Path(self.state.document.current_source).parent / self.arguments[0]
        self.state.document.settings.env.note_dependency(str(here))
        lines = [".. list-table::", "   :header-rows: 1", "   :widths: 55 15 15 15", ""]
        lines += ["   * - Call", "     - Points", "     - CPU seconds", "     - Peak memory, GiB"]
        for found in json.loads(here.read_text(encoding="utf-8")):
            kind = found["row"].rsplit("_", 1)[0]
            if kind in TITLES:
                lines += [f"   * - {TITLES[kind]}", f"     - {found['n']:,}"]
                lines += [f"     - {found['cpu_seconds']:.1f}", f"     - {found['peak_gib']:.2f}"]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, source=str(here)), 0, holder)
        return holder.children


def setup(app):
    """Register the directive."""
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
