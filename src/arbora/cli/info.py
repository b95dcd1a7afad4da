"""``arbora info``."""

from __future__ import annotations

import importlib.util
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from arbora import __version__
from arbora.cli._console import Console
from arbora.cli._options import Reading
from arbora.cli._run import describe, options_of
from arbora.cli.pages import tree_facts
from arbora.reading import read_file
from arbora.tree import Tree

_PARTS = {
    "PyTorch (hyphc in any dimension, nn)": "torch",
    "pictures": "matplotlib",
    "explorer": "starlette",
    "notebook widget": "anywidget",
    "parquet, arrow": "pyarrow",
    "h5ad": "anndata",
    "Excel": "openpyxl",
    "GraphML, GML, GEXF, Pajek": "networkx",
}


def run_info(source: str | None, reading: Reading, console: Console) -> None:
    """Facts about a file, or about this installation."""
    if source is None:
        facts = _installation()
        console.table(facts)
        console.result(facts)
        return
    found = read_file(source, options_of(reading))
    if isinstance(found, Tree):
        facts = {"source": source, "kind": "tree", "points": found.n_leaves, **tree_facts(found)}
        console.table(facts)
        console.result(facts)
        return
    describe(found, console)
    console.result({**found.facts(), "names": found.names is not None, "warnings": list(found.warnings)})


def _installation() -> dict[str, Any]:
    facts: dict[str, Any] = {
        "arbora": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count() or 1,
    }
    for package in ("numpy", "scipy", "scikit-learn", "numba"):
        facts[package] = version(package)
    for part, module in _PARTS.items():
        try:
            found = version(module) if importlib.util.find_spec(module) else "not installed"
        except PackageNotFoundError:
            found = "installed"
        facts[part] = found
    return facts
