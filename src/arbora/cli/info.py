"""``arbora info``."""

from __future__ import annotations

import importlib.util
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from arbora import __version__
from arbora.cli._console import Console
from arbora.cli._shared import tree_facts
from arbora.cli.reading import ReadOptions, read_data

_PARTS = {
    "PyTorch (hyphc in any dimension, nn)": "torch",
    "pictures": "matplotlib",
    "explorer": "starlette",
    "notebook widget": "anywidget",
    "parquet": "pyarrow",
    "h5ad": "anndata",
    "GraphML": "networkx",
}


def run_info(*, source: str | None, quiet: bool, as_json: bool, **reading: Any) -> None:
    """Facts about a file, or about this installation."""
    console = Console(quiet, as_json)
    if source is None:
        facts = _installation()
    else:
        known = ("format", "delimiter", "key", "obsm")
        data = read_data(source, ReadOptions(**{name: reading[name] for name in known if reading.get(name)}))
        facts = {**data.facts(), **(tree_facts(data.values) if data.kind == "tree" else {})}
        facts |= {"names": data.names is not None} if data.kind != "tree" else {}
        for note in data.notes:
            console.note(note)
    console.table(facts)
    console.result(facts)


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
