"""Where trees come from: parent arrays, groups, merges, other libraries, text and files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from arbora._base.types import PathLike
from arbora.tree._arrays import TreeArrays

if TYPE_CHECKING:
    from arbora.tree._tree import Tree
    from arbora.tree.formats.newick import Support


class TreeSources(TreeArrays):
    """The constructors of `Tree`; their work is done in _build.py, groups.py and formats/."""

    @classmethod
    def from_parents(
        cls, parent: ArrayLike, n_leaves: int | None = None, *, sort: bool = False, **per_node: Any
    ) -> Tree:
        """From a parent array; ``sort=True`` accepts internal nodes in any order (and renumbers them)."""
        from arbora.tree import _build

        return _build.from_parents(parent, n_leaves, sort=sort, **per_node)

    @classmethod
    def from_groups(
        cls,
        parent_of_group: ArrayLike,
        group_of_leaf: ArrayLike,
        *,
        height: ArrayLike | None = None,
        support: ArrayLike | None = None,
        name: Sequence[Any] | None = None,
        leaf_support: ArrayLike | None = None,
        leaf_name: Sequence[Any] | None = None,
    ) -> Tree:
        """From a hierarchy of groups and the group of each leaf, without empty groups and groups of one child.

        Parameters
        ----------
        parent_of_group : array-like of int, shape (n_groups,)
            Group above each group, in any order; -1 (or itself) for the root.
        group_of_leaf : array-like of int, shape (n_leaves,)
            Group of each leaf.
        height, support, name : array-like of shape (n_groups,), optional
            Of the groups; leaves have height 0. The support of a group that is left out multiplies that of
            the child in its place.
        leaf_support, leaf_name : array-like of shape (n_leaves,), optional
            Of the leaves.

        Examples
        --------
        >>> from arbora import Tree
        >>> Tree.from_groups([2, 2, -1, 2], [0, 0, 0, 1, 1], name=["fish", "birds", "all", "none"]).to_newick()
        '((0,1,2)fish,(3,4)birds)all;'
        """
        from arbora.tree import groups

        return groups.tree_of_groups(
            parent_of_group,
            group_of_leaf,
            height=height,
            support=support,
            name=name,
            leaf_support=leaf_support,
            leaf_name=leaf_name,
        ).tree

    @classmethod
    def from_linkage(cls, Z: ArrayLike, *, name: Sequence[str] | None = None) -> Tree:
        """From a SciPy linkage matrix, heights included."""
        from arbora.tree import _build

        return _build.from_linkage(Z, name=name)

    @classmethod
    def from_merges(
        cls,
        pairs: Iterable[Sequence[int]],
        n_leaves: int | None = None,
        *,
        height: ArrayLike | None = None,
        name: Sequence[str] | None = None,
    ) -> Tree:
        """From the nodes merged at each step (two or more); step t makes node ``n_leaves + t``."""
        from arbora.tree import _build

        return _build.from_merges(pairs, n_leaves, height=height, name=name)

    @classmethod
    def from_hclust(
        cls, merge: ArrayLike, height: ArrayLike | None = None, labels: Sequence[str] | None = None
    ) -> Tree:
        """From the parts of R's ``hclust``: negative numbers are points, positive ones earlier rows, from 1."""
        from arbora.tree.formats import hclust

        return hclust.read(merge, height, labels)

    @classmethod
    def from_sklearn(cls, model: Any) -> Tree:
        """From a fitted scikit-learn model with ``children_`` (and ``distances_``, if it has them)."""
        from arbora.tree import _build

        return _build.from_sklearn(model)

    @classmethod
    def from_newick(cls, text: str | os.PathLike[str], *, support: Support = False) -> Tree:
        """From Newick text or a file of it, leaves numbered as they appear; `support`: internal labels are supports.

        Of several supports, as IQ-TREE writes them ("95/0.99"), True and "first" take the first, "last" the last.
        """
        from arbora.tree.formats import newick

        return newick.read(text, support=support)

    @classmethod
    def from_networkx(cls, graph: Any, *, height: str = "height") -> Tree:
        """From a networkx directed tree with edges from parent to child."""
        from arbora.tree.formats import networkx

        return networkx.read(graph, height=height)

    @classmethod
    def from_json(cls, text: str) -> Tree:
        """From JSON text that `to_json` wrote, or nested objects with ``children`` as `to_d3` makes them."""
        from arbora.tree.formats import nested

        return nested.read(text)

    @classmethod
    def consensus(cls, trees: Sequence[Tree], *, min_share: float = 0.5) -> Tree:
        """The clades that most of several trees have, with the share of trees that have each (majority rule)."""
        from arbora.tree import consensus

        return consensus.consensus(trees, min_share=min_share)

    @classmethod
    def load(cls, path: PathLike) -> Tree:
        """From a file: arbora's own (`save`), Newick, Nexus, phyloXML, GraphML or JSON, known by its contents."""
        from arbora.tree.formats import files

        return files.load(path)

    @classmethod
    def load_all(cls, path: PathLike) -> list[Tree]:
        """All trees of a Newick, Nexus or phyloXML file, in its order."""
        from arbora.tree.formats import files

        return files.load_all(path)
