"""phyloXML, through Biopython."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from arbora._base.optional import require
from arbora.errors import FormatError
from arbora.tree._build import leaves_first
from arbora.tree._tree import Tree
from arbora.tree.formats import newick
from arbora.tree.formats.xml import check_names

_TOO_DEEP = "The tree is nested too deeply for Biopython. Use Newick or arbora's own file."


def read(data: bytes) -> list[Tree]:
    """All trees of a phyloXML file; names, branch lengths and the first confidence of each clade are read.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.tree.formats import phyloxml
    >>> phyloxml.read(phyloxml.write([Tree.from_newick("((owl:1,hen:1)birds:1,cod:2);")]))[0].to_newick()
    '((owl:1.0,hen:1.0)birds:1.0,cod:2.0);'
    """
    parser = require("Bio.Phylo.PhyloXMLIO", "Reading phyloXML")
    try:
        found = [_tree(phylogeny) for phylogeny in parser.parse(io.BytesIO(data))]
    except RecursionError as error:
        raise FormatError(_TOO_DEEP) from error
    except FormatError:
        raise
    # the XML parser and Biopython raise many kinds of errors on damaged files
    except Exception as error:
        raise FormatError(f"Not a phyloXML file: {error}") from error
    if not found:
        raise FormatError("The phyloXML file has no tree.")
    return found


def _tree(phylogeny: Any) -> Tree:
    clades, above, stack = [], [], [(phylogeny.root, -1)]
    while stack:
        clade, parent = stack.pop()
        clades.append(clade)
        above.append(parent)
        stack.extend((child, len(clades) - 1) for child in reversed(clade.clades))
    is_leaf = np.array([not clade.clades for clade in clades])
    order, parent_of = leaves_first(above, is_leaf)
    n_leaves = int(is_leaf.sum())
    length = np.array([np.nan if clades[k].branch_length is None else clades[k].branch_length for k in order])
    support = np.array([_confidence(clades[k]) for k in order])
    names = [clades[k].name for k in order]
    return Tree(
        parent_of,
        n_leaves,
        height=newick.heights_of_lengths(parent_of, n_leaves, length),
        support=None if np.isnan(support).all() else newick.as_shares(support),
        name=names if any(names) else None,
    )


def _confidence(clade: Any) -> float:
    return float(clade.confidences[0].value) if clade.confidences else np.nan


def write(trees: Sequence[Tree]) -> bytes:
    """A phyloXML file of some trees: names, branch lengths where there are heights, supports as confidences."""
    xml = require("Bio.Phylo.PhyloXML", "Writing phyloXML")
    writer = require("Bio.Phylo.PhyloXMLIO", "Writing phyloXML")
    check_names(trees, "phyloXML", as_tokens=True)
    file = io.BytesIO()
    phylogenies = [xml.Phylogeny(root=_clade(tree, xml), rooted=True) for tree in trees]
    try:
        writer.write(xml.Phyloxml({}, phylogenies=phylogenies), file, encoding="utf-8")
    except RecursionError as error:
        raise FormatError(_TOO_DEEP) from error
    return file.getvalue()


def _clade(tree: Tree, xml: Any) -> Any:
    """Biopython's clade of the root, children in drawing order."""
    names = tree.leaf_names + (
        [""] * tree.n_internal if tree.name is None else list(tree.name[tree.n_leaves :])
    )
    clades = [xml.Clade(name=name or None) for name in names]
    for node in range(tree.n_nodes):
        clades[node].clades = [clades[child] for child in tree.children(node)]
        above = tree.parent[node]
        if tree.height is not None and above >= 0:
            clades[node].branch_length = float(tree.height[above] - tree.height[node])
        if tree.support is not None and not np.isnan(tree.support[node]):
            clades[node].confidences = [xml.Confidence(float(tree.support[node]), "support")]
    return clades[tree.root]
