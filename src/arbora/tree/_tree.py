"""`Tree`: flat arrays with a thin object over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import ArrayLike

from arbora._base.types import Floats, Ints, Objective, PathLike
from arbora.tree._pictures import TreePictures
from arbora.tree._sources import TreeSources

if TYPE_CHECKING:
    from typing import Unpack

    import networkx
    import pandas
    import polars

    from arbora.insight.words import Keyword, Topic
    from arbora.tree.cutting import Criterion, Level
    from arbora.tree.formats.frame import Library
    from arbora.tree.objective_cut import CutObjective
    from arbora.tree.parting import Exact, MinSize
    from arbora.tree.taxonomy import LevelObjective

# Methods import what they need when they are called: a tree alone loads neither SciPy nor the formats.


class Tree(TreeSources, TreePictures):
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

    # ---- writing -----------------------------------------------------------------------------------------

    def to_linkage(self) -> Floats:
        """SciPy linkage matrix of a binary tree (heights default to leaf counts); `leaf_names` are its names."""
        from arbora.tree import _build

        return _build.to_linkage(self)

    def to_hclust(self) -> dict[str, Any]:
        """The parts of R's ``hclust``: merge, height, order, labels, numbered from 1; ``save("tree.R")`` for R."""
        from arbora.tree.formats import hclust

        return hclust.write(self)

    def to_newick(self, *, lengths: bool | None = None, support: bool = False) -> str:
        """Newick text; branch lengths are written where the tree has heights, unless ``lengths=False``."""
        from arbora.tree.formats import newick

        return newick.write(self, lengths=lengths, support=support)

    def to_networkx(self) -> networkx.DiGraph[int]:
        """A networkx directed tree with edges from parent to child and node attributes."""
        from arbora.tree.formats import networkx

        return networkx.write(self)

    def to_itol(
        self, directory: PathLike, *, metadata: Mapping[str, Sequence[Any]] | None = None
    ) -> list[Path]:
        """Newick and iTOL annotation files (names, one color strip per column of `metadata`) in a directory."""
        from arbora.tree.formats import itol

        return itol.write(self, directory, metadata=metadata)

    @overload
    def to_frame(self, library: Literal["pandas"] = "pandas") -> pandas.DataFrame: ...

    @overload
    def to_frame(self, library: Literal["polars"]) -> polars.DataFrame: ...

    def to_frame(self, library: Library = "pandas") -> pandas.DataFrame | polars.DataFrame:
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

        The extension decides the format: ``.nwk``, ``.newick``, ``.tre`` Newick, ``.nex`` Nexus, ``.xml`` phyloXML,
        ``.graphml`` GraphML, ``.json`` JSON, ``.R`` an ``hclust`` object for R's ``dget``, anything else arbora's
        own, which alone keeps every array to the last bit.
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
            number at the longest step in height (`arbora.tree.number`) or, for `by` "modularity" or "density",
            that with the best value.
        height : float, optional
            The largest clusters whose members all join at or below this height.
        max_size : int, optional
            The fewest splits after which no cluster has more leaves.
        min_size : int or "auto", optional
            With `n_clusters`: smaller branches are not clusters; their leaves stay with the larger side of the node
            at which they join. "auto", the default, is a twenty-fifth of the mean size of a cluster by height or
            balance, and half its square root by the other objectives; a size that leaves too few clusters is lowered.
            Below 50 leaves per cluster it changes nothing. With 1 a branch of any size is a cluster, as in SciPy's
            ``fcluster``. Without `n_clusters`: the most splits such that no cluster has fewer leaves.
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
            Label leaves of branches too small to be clusters with -1 instead of joining them to one.

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
        from arbora.tree import cutting

        return cutting.cut(
            self,
            n_clusters,
            outliers=outliers,
            height=height,
            max_size=max_size,
            min_size=min_size,
            by=by,
            similarity=similarity,
            data=data,
            exact=exact,
        )

    def cut_nodes(
        self, n_clusters: int | Literal["auto"] | None = None, **criterion: Unpack[Criterion]
    ) -> Ints:
        """The nodes that stand for the clusters of `cut`, in label order.

        `criterion` as in `cut`. Leaves of branches too small to be clusters belong to a cluster of `cut`, but are not
        below its node.

        Examples
        --------
        >>> from arbora import Tree
        >>> tree = Tree.from_newick("(((a:1,b:1):3,(c:1,d:1):3):1,((e:4,f:4):0.5,g:4.5):0.5);")
        >>> tree.cut_nodes(3), tree.cut_nodes(3, by="balance")
        (array([ 9, 10,  6]), array([ 7,  8, 11]))
        """
        from arbora.tree import cutting

        return cutting.cut_nodes(self, n_clusters, **criterion)

    def flat_clusterings(
        self,
        n_clusters: Sequence[int] | None = None,
        *,
        exact: Exact = "raise",
        min_size: MinSize = "auto",
    ) -> Iterator[tuple[int, Ints]]:
        """Iterate over (n_clusters, labels) of `cut` along the tree, coarse to fine."""
        from arbora.tree import cutting

        return cutting.flat_clusterings(self, n_clusters, exact=exact, min_size=min_size)

    def levels(self, max_levels: int = 3, *, max_clusters: int | None = None) -> list[Level]:
        """The few most telling cuts: those before the largest gaps in height."""
        from arbora.tree import cutting

        return cutting.levels(self, max_levels, max_clusters=max_clusters)

    def taxonomy(
        self, n_clusters: Sequence[int], *, min_size: MinSize = "auto", by: LevelObjective = "height"
    ) -> Tree:
        """N-ary tree over the same leaves with exactly these numbers of clusters at its levels.

        Each level is the `cut` into that number; see `arbora.tree.taxonomy.taxonomy`.
        """
        from arbora.tree.taxonomy import taxonomy

        return taxonomy(self, n_clusters, min_size=min_size, by=by)

    def prune(self, n_clusters: int | Literal["auto"] | None = None, **criterion: Unpack[Criterion]) -> Tree:
        """The upper part as a tree: the clusters of a cut become its leaves, in label order; as in `cut_nodes`."""
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
        """The tree with at most `n_internal` internal nodes, contracting those that cost least."""
        from arbora.tree import _compress

        return _compress.compress(self, n_internal, similarity, objective)

    def reorder(self, by: Any = "optimal", *, data: Any = None) -> Tree:
        """The same tree, drawn in another order: optimal leaf ordering, by a weight per leaf, or by size."""
        from arbora.tree import _order

        return _order.reorder(self, by, data=data)

    # ---- editing by hand (see _edit.py) ------------------------------------------------------------------

    def find(self, name: str) -> int:
        """The node of this name; ValueError if there is none, or more than one."""
        from arbora.tree import _edit

        return _edit.find(self, name)

    def rename(self, names: Mapping[Any, Any]) -> Tree:
        """With other names for some nodes: a mapping from nodes, or their present names, to new names."""
        from arbora.tree import _edit

        return _edit.rename(self, names)

    def merge(self, nodes: Iterable[int | str], *, name: str | None = None) -> Tree:
        """Several nodes merged into one, which has the children of them all and stands where they met."""
        from arbora.tree import _edit

        return _edit.merge(self, nodes, name=name)

    def move(self, node: int | str, to: int | str) -> Tree:
        """A subtree moved elsewhere: it becomes a child of `to`, or joins `to` under a new node if that is a leaf."""
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

    # ---- meaning (see arbora.insight) --------------------------------------------------------------------

    def keywords(self, texts: Sequence[str], *, n_words: int = 5, **options: Any) -> dict[int, list[Keyword]]:
        """The words that set each node apart from its siblings; options as in `arbora.insight.keywords`."""
        found: dict[int, list[Keyword]] = import_module("arbora.insight").keywords(
            self, texts, n_words=n_words, **options
        )
        return found

    def named(
        self,
        texts: Sequence[str] | None = None,
        *,
        function: Callable[[Topic], str] | None = None,
        **options: Any,
    ) -> Tree:
        """The tree with names on its inner nodes, no two alike; options as in `arbora.insight.named`."""
        found: Tree = import_module("arbora.insight").named(self, texts, function=function, **options)
        return found
