"""The nodes of a tree as a table of pandas or polars."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from arbora._base.optional import require
from arbora._base.params import check_choice
from arbora.tree._tree import Tree

Library = Literal["pandas", "polars"]


def write(tree: Tree, library: Library = "pandas") -> Any:
    """One row per node: ``node, parent, name, size, depth, height, support, is_leaf``.

    The root has no parent; names and supports are missing where there are none.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree.from_newick("(a:1,b:1)all;").to_frame()
       node  parent name  size  depth  height  support  is_leaf
    0     0       2    a     1      1     0.0      NaN     True
    1     1       2    b     1      1     0.0      NaN     True
    2     2    <NA>  all     2      0     1.0      NaN    False
    """
    check_choice(library, "library", ("pandas", "polars"))
    module = require(library, f"A {library} frame")
    nothing = np.full(tree.n_nodes, np.nan)
    names = [None] * tree.n_nodes if tree.name is None else [name or None for name in tree.name]
    parents = [None if above < 0 else above for above in tree.parent.tolist()]
    height = nothing if tree.height is None else tree.height
    support = nothing if tree.support is None else tree.support
    if library == "pandas":
        parents, names = module.array(parents, dtype="Int64"), module.array(names, dtype=object)
    else:
        parents, names = module.Series(parents, dtype=module.Int64), module.Series(names, dtype=module.String)
        height, support = (module.Series(values).fill_nan(None) for values in (height, support))
    return module.DataFrame(
        {
            "node": np.arange(tree.n_nodes),
            "parent": parents,
            "name": names,
            "size": tree.sizes,
            "depth": tree.depths,
            "height": height,
            "support": support,
            "is_leaf": np.arange(tree.n_nodes) < tree.n_leaves,
        }
    )
