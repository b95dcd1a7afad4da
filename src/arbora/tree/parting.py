"""The order in which branches part from the rest of a tree, by which it is cut into any number of clusters.

Clusters are made from the root down. A step opens one node: its branches part from the largest of them, which stays
with what is left of the tree above. The highest node is opened first, so that without a least size the clusters after
k - 1 steps of a binary tree are those of SciPy's ``fcluster(..., criterion="maxclust")``.

With a least size only branches of that size part. What is smaller stays where it is: with the largest branch of the
node at which it joins, down to the cluster in which that ends. The default, "auto", is a twenty-fifth of the mean
size of a cluster, ``n_leaves // (25 * n_clusters)``. It falls as the clusters become more, so that a small branch
parts once there are enough clusters for its size, and no cluster is ever put together again: the cut into k + 1
clusters refines that into k, whatever the least size. Where no branch of that size is left, the next smaller ones part.

Trees of complete levels, as `taxonomy` makes them, were cut on purpose: in them, "auto" lets branches of any size part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from arbora._base.params import check_choice, check_whole
from arbora._base.types import Bools, Floats, Ints
from arbora.tree import parting_kernels as kernels
from arbora.tree.pass_kernels import max_to_root

if TYPE_CHECKING:
    from arbora.tree._tree import Tree

Exact = Literal["raise", "nearest", "binarize"]
MinSize: TypeAlias = int | Literal["auto"]
# A branch is a cluster from this share of the mean size on: by height alone nothing distinguishes a rare cluster from
# dust. Chosen on the sets of benchmarks/defaults.py that are not reported, and on the four graphs of the FPH paper.
SHARE_OF_MEAN = 25


class Parts(NamedTuple):
    """The clusters of a cut.

    `labels` of the leaves are numbered by first leaf, and `nodes` has the largest node inside each cluster. A leaf that
    is not in the core is not below the node of its cluster, but in a branch too small to be one.
    """

    labels: Ints
    nodes: Ints
    is_core: Bools


class PartingOrder(NamedTuple):
    """The steps by which branches part from the root down.

    After t steps there are ``n_clusters[t]`` clusters, and the next opens ``nodes[t]`` at ``height[t]``. ``step`` says
    per node when it parts from its parent, ``first`` when something below it parts; ``len(nodes)`` means never.
    """

    nodes: Ints
    n_clusters: Ints
    height: Floats
    step: Ints
    first: Ints

    def n_steps(self, n_clusters: int, exact: Exact = "raise") -> int:
        """How many steps lead to that many clusters; `exact` decides where there is no such number."""
        steps = int(np.searchsorted(self.n_clusters, n_clusters))
        if steps < len(self.n_clusters) and self.n_clusters[steps] == n_clusters:
            return steps
        if steps == len(self.n_clusters):
            if exact == "nearest":
                return steps - 1
            raise ValueError(
                f"There is no cut into n_clusters={n_clusters} with clusters of this size, but into "
                f"{self.n_clusters[-1]} at most. Lower min_size, or pass exact='nearest'."
            )
        fewer, more = int(self.n_clusters[steps - 1]), int(self.n_clusters[steps])
        if exact == "nearest":
            return steps - 1 if n_clusters - fewer <= more - n_clusters else steps
        raise ValueError(
            f"There is no cut into n_clusters={n_clusters}: the split of node {self.nodes[steps - 1]} leads "
            f"from {fewer} to {more}. Ask for {fewer} or {more}, or pass exact='nearest' for the nearer of them "
            f"or exact='binarize' for a cut of tree.binarize()."
        )

    def parts(self, tree: Tree, n_steps: int) -> Parts:
        """The clusters after that many steps."""
        labels, nodes, piece = kernels.name_parts(
            tree.parent, tree.n_leaves, tree.sizes, self.step, self.first, n_steps
        )
        return Parts(labels, nodes, piece == nodes[labels])


def joining_heights(tree: Tree) -> Floats:
    """Height at which the leaves below each node have all joined: that of the highest join below.

    Without heights the number of leaves serves. Leaves and unary nodes join nothing; a leaf has height -inf.
    """
    if tree.height is None:
        return tree.sizes.astype(np.float64)
    height = np.full(tree.n_nodes, -np.inf)
    joins = tree.n_leaves + np.flatnonzero(tree.n_children >= 2)
    height[joins] = tree.height[joins]
    highest: Floats = max_to_root(tree.parent, height)
    return highest


def has_complete_levels(tree: Tree) -> bool:
    """Whether all leaves lie equally deep and some node has more than two children, as in a taxonomy."""
    return not tree.is_binary and bool(np.ptp(tree.depths[: tree.n_leaves]) == 0)


def parting_order(tree: Tree, min_size: MinSize = "auto") -> PartingOrder:
    """Highest node first; of equally high ones the largest number, so that parents come before children.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.tree.parting import parting_order
    >>> chain = Tree.from_newick("(((((a,b),(c,d)),e),f),g);")
    >>> parting_order(chain, 1).nodes, parting_order(chain, 2).nodes
    (array([12, 11, 10,  9,  8,  7]), array([9]))
    """
    height = joining_heights(tree)
    branches = np.flatnonzero(staying_children(tree)[tree.parent[:-1]] != np.arange(tree.root))
    least = _least_size(tree, min_size)
    if least is not None:
        branches = branches[tree.sizes[branches] >= least]
        since = np.ones(len(branches), dtype=np.int64)
    else:
        since = tree.n_leaves // (SHARE_OF_MEAN * (tree.sizes[branches] + 1)) + 1
    is_opened = np.zeros(tree.n_nodes, dtype=np.bool_)
    is_opened[tree.parent[branches]] = True
    # by number: a largest number among equally high nodes comes first
    opened = np.flatnonzero(is_opened)[::-1]
    opened = opened[np.argsort(-height[opened], kind="stable")]
    place = np.empty(tree.n_nodes, dtype=np.int64)
    place[opened] = np.arange(len(opened))
    # NumPy sorts short whole numbers by their digits
    in_line = np.argsort(since.astype(np.min_scalar_type(since.max(initial=0))), kind="stable")
    branches, since = branches[in_line], since[in_line]
    when, places = kernels.part_branches(place[tree.parent[branches]], since, len(opened))
    nodes = opened[places]
    step = np.full(tree.n_nodes, len(nodes), dtype=np.int64)
    step[branches] = when
    gained = np.bincount(when, minlength=len(nodes))
    return PartingOrder(
        nodes=nodes,
        n_clusters=np.concatenate([[1], 1 + np.cumsum(gained)]).astype(np.int64),
        height=np.append(height[nodes], -np.inf),
        step=step,
        first=kernels.first_below(tree.parent, step),
    )


def staying_children(tree: Tree) -> Ints:
    """The largest child of each node, from which the others part; of equally large ones the first. -1 for leaves."""
    staying: Ints = kernels.largest_children(tree.parent, tree.sizes)
    return staying


def _least_size(tree: Tree, min_size: Any) -> int | None:
    """Fewest leaves of a branch that parts; None where it depends on the number of clusters."""
    if not isinstance(min_size, str):
        return check_whole(min_size, "min_size")
    check_choice(min_size, "min_size", ("auto",))
    return 1 if has_complete_levels(tree) else None


def check_exact(exact: Any) -> Exact:
    """One of the ways to treat a number of clusters that a tree does not have."""
    found: Exact = check_choice(exact, "exact", get_args(Exact))
    return found


def check_count(tree: Tree, argument: str, value: Any) -> int:
    number = check_whole(value, argument, least=None)
    if not 1 <= number <= tree.n_leaves:
        raise ValueError(f"{argument} must lie in [1, n_leaves={tree.n_leaves}]. Got {value!r}.")
    return number
