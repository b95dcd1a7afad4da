"""How many clusters a tree has, where the caller does not say.

Heights compare joins with chance on a logarithmic scale, so a long step down from one join to the next says that the
clusters between them stay apart for long. The number is taken at the longest step, a step down to k clusters counting
``sqrt(k)`` times: the joins of many clusters lie closer together than those of few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from arbora._base.types import Floats
from arbora.tree.parting import joining_heights

if TYPE_CHECKING:
    from arbora.tree._tree import Tree

# More clusters than the square root of the leaves over this are not considered: among many joins a long step is chance.
_FEWER = 1.5


class NumberFound(NamedTuple):
    """A number of clusters, and the step in height that speaks for it."""

    n_clusters: int
    above: float
    below: float

    @property
    def reason(self) -> str:
        """Why this number, in words."""
        if self.n_clusters == 1:
            return "no two branches are large enough to be clusters"
        return f"the longest step in height, from {self.above:.3g} down to {self.below:.3g}"


def least_size(n_points: int) -> int:
    """Fewest leaves of a cluster when the number of clusters is to be found."""
    return min(n_points, max(2, int(np.sqrt(n_points / 2))))


def find_number(tree: Tree, min_size: int | None = None) -> NumberFound:
    """The number of clusters at the longest step in height.

    Parameters
    ----------
    tree : Tree
        With heights.
    min_size : int, optional
        Fewest leaves of a branch that can be a cluster; by default the square root of half the leaves.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.tree.number import find_number
    >>> pairs = Tree.from_newick("(((a:1,b:1):1,(c:1,d:1):1):7,((e:1,f:1):1,(g:1,h:1):1):7);")
    >>> find_number(pairs).n_clusters
    2
    """
    if tree.height is None:
        raise ValueError('n_clusters="auto" needs a tree with heights. This one has none: pass a number.')
    steps = split_heights(tree, least_size(tree.n_leaves) if min_size is None else min_size)
    if len(steps) < 2:
        height = float(steps[0]) if len(steps) else 0.0
        return NumberFound(1 + len(steps), height, height)
    most = max(2, int(np.sqrt(tree.n_leaves) / _FEWER))
    drops = (steps[:-1] - steps[1:])[: most - 1]
    best = int(np.argmax(drops * np.sqrt(np.arange(2, len(drops) + 2))))
    return NumberFound(best + 2, float(steps[best]), float(steps[best + 1]))


def split_heights(tree: Tree, min_size: int) -> Floats:
    """Heights, falling, at which branches of at least `min_size` leaves part.

    A node with c such children counts c - 1 times.
    """
    is_large = tree.sizes[: tree.root] >= min_size
    n_large = np.bincount(tree.parent[: tree.root][is_large], minlength=tree.n_nodes)
    heights = np.repeat(joining_heights(tree), np.maximum(n_large - 1, 0))
    return np.sort(heights)[::-1]
