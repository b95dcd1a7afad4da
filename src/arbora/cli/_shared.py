"""Steps that several commands take."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora.cli._exit import Unusable
from arbora.cli.reading import Data, ReadOptions, read_data
from arbora.tree import Tree


def limit_threads(threads: int | None) -> None:
    """At most so many threads in NumPy's libraries, numba and, if it is loaded, PyTorch."""
    if threads is None:
        return
    import sys

    import numba
    import threadpoolctl

    threadpoolctl.threadpool_limits(threads)
    numba.set_num_threads(min(threads, numba.get_num_threads()))
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)


def options_for(source_format: str, **given: Any) -> ReadOptions:
    """Reading options of a command; a format said on the command line is that of the data."""
    known = ("label_column", "name_column", "delimiter", "key", "obsm")
    return ReadOptions(format=source_format, **{name: given.get(name) for name in known})


def data_for_tree(tree: Tree, source: str | None, options: ReadOptions) -> Data | None:
    """The data behind a tree, one row a leaf."""
    if source is None:
        return None
    data = read_data(source, options)
    if data.kind == "tree":
        raise Unusable(f"{source} is a tree; --data wants the data behind it.")
    if data.n_points != tree.n_leaves:
        raise Unusable(f"{source} has {data.n_points:,} rows, the tree {tree.n_leaves:,} leaves.")
    return data


def named(tree: Tree, names: list[str] | None) -> Tree:
    """The tree with these leaf names, unless it has its own or the number differs."""
    if names is None or tree.name is not None or len(names) != tree.n_leaves:
        return tree
    return tree.replace(name=names)


def page_content(tree: Tree, data: Data | None) -> dict[str, Any]:
    """What the explorer can show of the data: columns, names, and (for vectors) exemplars and scatter."""
    if data is None or data.n_points != tree.n_leaves:
        return {}
    content: dict[str, Any] = {}
    metadata = dict(data.metadata)
    if data.labels is not None:
        title = str(data.label_name or "label")
        metadata.pop(title, None)
        content["classes"] = {title: data.labels}
    if metadata:
        content["metadata"] = metadata
    if data.names is not None:
        content["names"] = data.names
    if data.kind == "vectors" and not hasattr(data.values, "tocsr") and data.values.shape[1] <= 2048:
        content["features"] = np.asarray(data.values, dtype=np.float64)
    return content


def tree_facts(tree: Tree) -> dict[str, Any]:
    """Size and shape of a tree."""
    return {
        "leaves": tree.n_leaves,
        "internal nodes": tree.n_internal,
        "binary": tree.is_binary,
        "depth": int(tree.depths.max()),
        "heights": tree.height is not None,
        "supports": tree.support is not None,
        "names": tree.name is not None,
    }
