"""`Tree`: flat arrays with a thin object over them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from numpy.typing import ArrayLike

from arbora._base.types import Floats, Ints, Objective, PathLike
from arbora.tree._arrays import TreeArrays

if TYPE_CHECKING:
    from typing import Literal, Unpack

    from anywidget import AnyWidget
    from matplotlib.axes import Axes

    from arbora.tree.cutting import Criterion, Exact, Level
    from arbora.tree.formats.frame import Library
    from arbora.tree.formats.newick import Support
    from arbora.tree.objective_cut import CutObjective, MinSize
    from arbora.tree.taxonomy import LevelObjective
    from arbora.view.content import Columns
    from arbora.view.layout import Scale
    from arbora.view.page import View
    from arbora.view.picture import Kind, Orientation
    from arbora.view.server import Viewer

# Methods import what they need when they are called: a tree alone loads neither SciPy nor the formats.


class Tree(TreeArrays):
    """A rooted tree over the points of a data set.

    Leaves are ``0 .. n_leaves-1`` (row i of the data is leaf i), internal nodes follow with children before
    parents, and the root is last. Any branching is allowed. A tree never changes: operations return a new
    one.

    Parameters
    ----------
    parent : array-like of int, shape (n_nodes,)
        Parent of each node, -1 for the root. `Tree.from_parents` accepts nodes in any order.
    n_leaves : int
        Number of leaves.
    height : array-like of float, shape (n_nodes,), optional
        Where each node is drawn and cut; leaves usually at 0.
    support : array-like of float, shape (n_nodes,), optional
        How sure each node is, a probability; NaN where unknown.
    name : sequence of str, length n_leaves or n_nodes, optional
        Names; an empty string, None or NaN means none.
    order : array-like of int, shape (n_leaves,), optional
        The order in which leaves are drawn, as far as the tree allows it. By default leaf 0 comes first.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4, name=["ant", "bee", "cat", "dog"])
    >>> tree.to_newick()
    '((ant,bee),(cat,dog));'
    >>> tree.lca([0, 0], [1, 3])
    array([4, 6])
    >>> tree.cut(n_clusters=2)
    array([0, 0, 1, 1])
    """

    def replace(self, **changes: Any) -> Tree:
        """A tree with other `height`, `support`, `name` or `order` (pass None to drop one)."""
        unknown = set(changes) - {"height", "support", "name", "order"}
        if unknown:
            raise TypeError(f"replace() takes height, support, name, order. Got {sorted(unknown)}.")
        kept = {"height": self._height, "support": self._support, "name": self._name, "order": self._order}
        return Tree(self._parent, self._n_leaves, **{**kept, **changes})

    # ---- building (see _build.py, groups.py and formats/) ------------------------------------------------

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
    def load(cls, path: PathLike) -> Tree:
        """From a file: arbora's own (`save`), Newick, Nexus, phyloXML or JSON, known by its contents."""
        from arbora.tree.formats import files

        return files.load(path)

    @classmethod
    def load_all(cls, path: PathLike) -> list[Tree]:
        """All trees of a Newick, Nexus or phyloXML file, in its order."""
        from arbora.tree.formats import files

        return files.load_all(path)

    # ---- writing -----------------------------------------------------------------------------------------

    def to_linkage(self) -> Floats:
        """SciPy linkage matrix of a binary tree (heights default to leaf counts); `leaf_names` are its names."""
        from arbora.tree import _build

        return _build.to_linkage(self)

    def to_newick(self, *, lengths: bool | None = None, support: bool = False) -> str:
        """Newick text; branch lengths are written where the tree has heights, unless ``lengths=False``."""
        from arbora.tree.formats import newick

        return newick.write(self, lengths=lengths, support=support)

    def to_networkx(self) -> Any:
        """A networkx directed tree with edges from parent to child and node attributes."""
        from arbora.tree.formats import networkx

        return networkx.write(self)

    def to_itol(
        self, directory: PathLike, *, metadata: Mapping[str, Sequence[Any]] | None = None
    ) -> list[Path]:
        """Newick and iTOL annotation files (names, one color strip per column of `metadata`) in a directory."""
        from arbora.tree.formats import itol

        return itol.write(self, directory, metadata=metadata)

    def to_frame(self, library: Library = "pandas") -> Any:
        """One row per node, as a frame of pandas or polars: parent, name, size, depth, height, support, is_leaf."""
        from arbora.tree.formats import frame

        return frame.write(self, library)

    def to_json(self, *, indent: int | None = None) -> str:
        """JSON text of the arrays, flat, which `from_json` gives back unchanged."""
        from arbora.tree.formats import nested

        return nested.write(self, indent=indent)

    def to_d3(self) -> dict[str, Any]:
        """Nested dictionaries with ``name``, ``children`` and ``value``, as ``d3.hierarchy`` takes them."""
        from arbora.tree.formats import nested

        return nested.to_nested(self)

    def to_text(self, *, max_depth: int | None = None, max_children: int | None = 20) -> str:
        """The tree as lines of text, children indented below their parent."""
        from arbora.tree.formats import text

        return text.write(self, max_depth=max_depth, max_children=max_children)

    def save(self, path: PathLike) -> None:
        """Write to a file that `load` reads; an existing file stays whole until the new one is complete.

        The name says the format: ``.nwk``, ``.newick``, ``.tre`` Newick, ``.nex`` Nexus, ``.xml`` phyloXML,
        ``.json`` JSON, anything else arbora's own, which alone keeps every array to the last bit.
        """
        from arbora.tree.formats import files

        files.save(self, path)

    @staticmethod
    def save_all(trees: Sequence[Tree], path: PathLike) -> None:
        """Write several trees into one Newick, Nexus or phyloXML file that `load_all` reads."""
        from arbora.tree.formats import files

        files.save_all(trees, path)

    # ---- cutting (see cutting.py) ------------------------------------------------------------------------

    def cut(
        self,
        n_clusters: int | Literal["auto"] | None = None,
        *,
        height: float | None = None,
        max_size: int | None = None,
        min_size: MinSize | None = None,
        by: CutObjective = "height",
        similarity: Any = None,
        data: ArrayLike | None = None,
        exact: Exact = "raise",
        outliers: bool = False,
    ) -> Ints:
        """Flat cluster label of each leaf, by exactly one of `n_clusters`, `height`, `max_size` and `min_size`.

        Parameters
        ----------
        n_clusters : int or "auto", optional
            Split from the root down, highest node first (largest where the tree has no heights), until there
            are exactly this many. With inversions (centroid linkage) a node is as high as the highest below
            it. With another objective `by`, the best of all partitions that the tree contains. "auto" takes the
            number with the best value, for `by` "modularity" or "density".
        height : float, optional
            The largest clusters whose members all join at or below this height.
        max_size : int, optional
            The fewest splits after which no cluster has more leaves.
        min_size : int or "auto", optional
            Alone: the most splits such that no cluster has fewer leaves. With `n_clusters`: smaller branches are
            no clusters; their leaves join the largest cluster nearest to them in the tree. "auto" is a twentieth
            of the mean size by height or balance, and half its square root by the other objectives. Without it
            a branch of any size counts.
        by : {"height", "information", "modularity", "density", "variance", "balance"}
            What the cut into `n_clusters` is best at; see `arbora.tree.objective_cut`. "information" and
            "modularity" need `similarity`, "variance" needs `data`.
        similarity : similarity, optional
            What the tree was built by.
        data : array-like of shape (n_leaves, d), optional
            Vectors of the leaves.
        exact : {"raise", "nearest", "binarize"}
            What to do where the split of an n-ary node jumps over `n_clusters`:

            - ``"raise"``: a ValueError that names the numbers there are;
            - ``"nearest"``: the nearest of these numbers, of equally near ones the smallest;
            - ``"binarize"``: exactly `n_clusters`, from the tree with that node taken apart in steps
              (`binarize`).
        outliers : bool
            Label leaves of branches below `min_size` with -1 instead of joining them to a cluster.

        Returns
        -------
        labels : ndarray of int64, shape (n_leaves,)
            Numbered by first leaf: leaf 0 is always in cluster 0 (unless it is an outlier).

        Examples
        --------
        >>> from arbora import Tree
        >>> tree = Tree.from_newick("((a,b),(c,d),(e,f));")
        >>> tree.cut(2, exact="nearest")
        array([0, 0, 0, 0, 0, 0])
        >>> tree.cut(2, exact="binarize")
        array([0, 0, 0, 0, 1, 1])
        >>> chain = Tree.from_newick("(((((a,b),(c,d)),e),f),g);")
        >>> chain.cut(2), chain.cut(2, min_size=2), chain.cut(2, min_size=2, outliers=True)
        (array([0, 0, 0, 0, 0, 0, 1]), array([0, 0, 1, 1, 0, 0, 0]), array([ 0,  0,  1,  1, -1, -1, -1]))
        """
        from arbora.tree import cutting, objective_cut

        if n_clusters is not None and (by != "height" or min_size is not None or n_clusters == "auto"):
            if height is not None or max_size is not None:
                raise ValueError("n_clusters cannot be combined with height or max_size.")
            return objective_cut.best_cut(
                self,
                n_clusters,
                by,
                min_size=1 if min_size is None else min_size,
                similarity=similarity,
                data=data,
                exact=exact,
                outliers=outliers,
            )
        objective_cut.refuse_without_n_clusters(by, min_size, outliers)
        return cutting.cut(
            self,
            n_clusters,
            height=height,
            max_size=max_size,
            min_size=cast("int | None", min_size),
            exact=exact,
        )

    def cut_nodes(self, n_clusters: int | None = None, **criterion: Unpack[Criterion]) -> Ints:
        """The nodes that stand for the clusters of `cut`, in label order."""
        from arbora.tree import cutting

        return cutting.cut_nodes(self, n_clusters, **criterion)

    def flat_clusterings(
        self, n_clusters: Sequence[int] | None = None, *, exact: Exact = "raise"
    ) -> Iterator[tuple[int, Ints]]:
        """Iterate over (n_clusters, labels) along the tree, coarse to fine."""
        from arbora.tree import cutting

        return cutting.flat_clusterings(self, n_clusters, exact=exact)

    def levels(self, max_levels: int = 3, *, max_clusters: int | None = None) -> list[Level]:
        """The few cuts that carry most: those before the largest gaps in height."""
        from arbora.tree import cutting

        return cutting.levels(self, max_levels, max_clusters=max_clusters)

    def taxonomy(
        self, n_clusters: Sequence[int], *, min_size: MinSize = "auto", by: LevelObjective = "height"
    ) -> Tree:
        """N-ary tree over the same leaves with exactly these numbers of clusters at its levels.

        Branches below `min_size` join the nearest cluster; see `arbora.tree.taxonomy.taxonomy`.
        """
        from arbora.tree.taxonomy import taxonomy

        return taxonomy(self, n_clusters, min_size=min_size, by=by)

    def prune(self, n_clusters: int | None = None, **criterion: Unpack[Criterion]) -> Tree:
        """The upper part as a tree: the clusters of a cut become its leaves, in label order."""
        from arbora.tree import cutting

        return cutting.prune(self, n_clusters, **criterion)

    # ---- other shapes (see surgery.py, groups.py, _compress.py, _order.py) -------------------------------

    def subtree(self, node: int) -> Tree:
        """The tree below a node; its leaves, ascending, become 0, 1, ..."""
        from arbora.tree import surgery

        return surgery.subtree(self, node)

    def restrict(self, leaves: ArrayLike) -> Tree:
        """The tree that remains when only these leaves are kept (numbered in the given order)."""
        from arbora.tree import surgery

        return surgery.restrict(self, leaves)

    def collapse_unary(self) -> Tree:
        """Without nodes that have a single child."""
        from arbora.tree import surgery

        return surgery.collapse_unary(self)

    def binarize(self) -> Tree:
        """Binary: a node with more children becomes a balanced run of binary nodes at the same height."""
        from arbora.tree import surgery

        return surgery.binarize(self)

    def expand(self, leaf_of_point: ArrayLike) -> Tree:
        """Tree over points: every leaf becomes a node with the points that belong to it below."""
        from arbora.tree import groups

        return groups.expand(self, leaf_of_point)

    def compress(self, n_internal: int, similarity: Any = None, objective: Objective = "dasgupta") -> Tree:
        """With at most `n_internal` internal nodes, contracting those that cost least."""
        from arbora.tree import _compress

        return _compress.compress(self, n_internal, similarity, objective)

    def reorder(self, by: Any = "optimal", *, data: Any = None) -> Tree:
        """The same tree, drawn in another order: optimal leaf ordering, by a weight per leaf, or by size."""
        from arbora.tree import _order

        return _order.reorder(self, by, data=data)

    # ---- editing by hand (see _edit.py) ------------------------------------------------------------------

    def find(self, name: str) -> int:
        """The node of this name; ValueError where there is none, or more than one."""
        from arbora.tree import _edit

        return _edit.find(self, name)

    def rename(self, names: Mapping[Any, Any]) -> Tree:
        """With other names for some nodes: a mapping from nodes, or their present names, to new names."""
        from arbora.tree import _edit

        return _edit.rename(self, names)

    def merge(self, nodes: Iterable[int | str], *, name: str | None = None) -> Tree:
        """Several nodes made one: it has the children of them all, and stands where they met."""
        from arbora.tree import _edit

        return _edit.merge(self, nodes, name=name)

    def move(self, node: int | str, to: int | str) -> Tree:
        """A subtree put elsewhere: it becomes a child of `to`, or joins `to` under a new node if that is a leaf."""
        from arbora.tree import _edit

        return _edit.move(self, node, to)

    def split(
        self,
        node: int | str,
        groups: Iterable[Iterable[int | str]] | None = None,
        *,
        names: Sequence[str] | None = None,
    ) -> Tree:
        """A node taken apart: into its children, or into groups of what is below it."""
        from arbora.tree import _edit

        return _edit.split(self, node, groups, names=names)

    def remove(self, nodes: Iterable[int | str]) -> Tree:
        """Without these nodes and all that is below them; the leaves that remain are numbered in their order."""
        from arbora.tree import _edit

        return _edit.remove(self, nodes)

    # ---- comparing (see matching.py and _compare.py) -----------------------------------------------------

    def matched_to(self, other: Tree | Sequence[Any]) -> Tree:
        """The same tree with its leaves numbered as in `other`: a tree, or names in the wanted order.

        Leaves are matched by name; a leaf without a name goes by its number, so that a tree whose leaves are
        named "0", "1", ... fits one without names. Names that differ, or repeat, are refused.
        """
        from arbora.tree import matching

        return matching.matched_to(self, other)

    def same_topology(self, other: Tree, *, common: bool = False) -> bool:
        """Whether both trees group the leaves alike, whatever their internal numbering and heights."""
        from arbora.tree import _compare

        return _compare.same_topology(self, other, common=common)

    def robinson_foulds(self, other: Tree, *, normalize: bool = False, common: bool = False) -> float:
        """Number of clades in one tree only (divided by the number of clades with ``normalize=True``)."""
        from arbora.tree import _compare

        return _compare.robinson_foulds(self, other, normalize=normalize, common=common)

    def triplet_distance(self, other: Tree, *, normalize: bool = False, common: bool = False) -> float:
        """Number of leaf triples that the two trees resolve differently (their share with ``normalize=True``)."""
        from arbora.tree import _compare

        return _compare.triplet_distance(self, other, normalize=normalize, common=common)

    def cophenetic(self, i: ArrayLike | None = None, j: ArrayLike | None = None) -> Floats:
        """Height of the LCA of given pairs, or of all pairs in SciPy's condensed order."""
        from arbora.tree import _compare

        return _compare.cophenetic(self, i, j)

    def cophenetic_correlation(self, other: Tree, *, common: bool = False) -> float:
        """Correlation, over all pairs of leaves, of the heights at which they meet in both trees."""
        from arbora.tree import _compare

        return _compare.cophenetic_correlation(self, other, common=common)

    # ---- pictures (see arbora.view, a layer above: hence by name) ----------------------------------------

    def plot(
        self,
        kind: Kind = "dendrogram",
        *,
        ax: Axes | None = None,
        names: bool | Iterable[Any] | None = None,
        classes: Columns | None = None,
        metadata: Columns | None = None,
        colors: str | ArrayLike | None = None,
        n_clusters: int | None = None,
        support: bool = False,
        scale: Scale | Literal["auto"] = "auto",
        orientation: Orientation = "left",
        max_leaves: int = 600,
        line_width: float | None = None,
        legend: bool = True,
        title: str | None = None,
    ) -> Axes:
        """Draw with matplotlib; see `arbora.view.plot` for every parameter.

        Examples
        --------
        >>> from arbora import Tree
        >>> ax = Tree.from_newick("((ant:1,bee:1):2,(cat:2,dog:2):1);").plot(classes=["insect"] * 2 + ["pet"] * 2)
        >>> [text.get_text() for text in ax.texts]
        ['ant', 'bee', 'cat', 'dog']
        """
        axes: Axes = import_module("arbora.view").plot(
            self, kind, ax=ax, names=names, classes=classes, metadata=metadata, colors=colors, n_clusters=n_clusters,
            support=support, scale=scale, orientation=orientation, max_leaves=max_leaves, line_width=line_width,
            legend=legend, title=title,
        )  # fmt: skip
        return axes

    def explore(
        self,
        *,
        view: View = "circular",
        names: Iterable[Any] | None = None,
        classes: Columns | None = None,
        metadata: Columns | None = None,
        colors: str | ArrayLike | None = None,
        texts: Iterable[Any] | None = None,
        images: ArrayLike | None = None,
        features: ArrayLike | None = None,
        points: ArrayLike | None = None,
        compare: Tree | None = None,
        title: str | None = None,
        edit: bool | PathLike = False,
        similarity: Any = None,
        port: int = 0,
        open_browser: bool = True,
        block: bool = False,
    ) -> Viewer | AnyWidget:
        """Open the explorer page, or a widget in a notebook; see `arbora.view.explore` for every parameter.

        Examples
        --------
        >>> from arbora import Tree
        >>> with Tree.from_newick("((a,b),c);").explore(open_browser=False) as viewer:
        ...     viewer.url.startswith("http://127.0.0.1:")
        True
        """
        viewer: Viewer | AnyWidget = import_module("arbora.view").explore(
            self, view=view, names=names, classes=classes, metadata=metadata, colors=colors, texts=texts, images=images,
            features=features, points=points, compare=compare, title=title, edit=edit, similarity=similarity, port=port,
            open_browser=open_browser, block=block,
        )  # fmt: skip
        return viewer

    def to_html(
        self,
        path: PathLike,
        *,
        view: View = "circular",
        max_leaves: int | None = None,
        names: Iterable[Any] | None = None,
        classes: Columns | None = None,
        metadata: Columns | None = None,
        colors: str | ArrayLike | None = None,
        texts: Iterable[Any] | None = None,
        images: ArrayLike | None = None,
        features: ArrayLike | None = None,
        points: ArrayLike | None = None,
        compare: Tree | None = None,
        title: str | None = None,
    ) -> Path:
        """Write the explorer as one self-contained page; see `arbora.view.explore` for every parameter.

        Examples
        --------
        >>> import tempfile
        >>> from arbora import Tree
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Tree.from_newick("((a,b),c);").to_html(f"{folder}/tree.html", classes={"kind": [1, 1, 2]}).name
        'tree.html'
        """
        written: Path = import_module("arbora.view").to_html(
            self, path, view=view, max_leaves=max_leaves, names=names, classes=classes, metadata=metadata,
            colors=colors, texts=texts, images=images, features=features, points=points, compare=compare, title=title,
        )  # fmt: skip
        return written
