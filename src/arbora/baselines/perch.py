"""PERCH (Kobren et al. 2017): a tree grown point by point, with rotations that keep it pure and balanced."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora._base.arrays import as_vectors, row_names
from arbora._base.params import check_switch
from arbora._base.random import generator
from arbora._base.threads import in_background
from arbora._base.types import RandomState
from arbora.baselines import _perch_kernels as kernels
from arbora.tree import Tree


def perch(data: Any, *, balance: bool = True, shuffle: bool = True, random_state: RandomState = None) -> Tree:
    """Insert each point beside its nearest neighbor, then rotate where nodes are masked or out of balance [1]_.

    A node is masked where it is nearer to its aunt than to its sibling: aunt and sibling change places, from the new
    point upwards as long as there is something to change. Where all points of a cluster are nearer to each other than
    to any other point, every order of insertion gives a tree of dendrogram purity 1.

    Parameters
    ----------
    data : array-like of shape (n_points, n_features)
        Compared by Euclidean distance.
    balance : bool, default=True
        Also rotate where that makes sizes more even, and no node leaves what it is certainly nearest to.
    shuffle : bool, default=True
        Insert in random order; otherwise in the order given.
    random_state : int, RandomState, Generator or None
        Seeds the order.

    Returns
    -------
    tree : Tree
        Binary, without heights.

    Notes
    -----
    The nearest neighbor is exact: nodes are searched best first by the distance to the box around their points.
    Distances between nodes are estimated as in the authors' code: from two corners of the box of one to the points
    of the other, or to its box where they are more than 10.

    References
    ----------
    .. [1] Kobren, Monath, Krishnamurthy, McCallum, "A hierarchical algorithm for extreme clustering", KDD 2017.

    Examples
    --------
    >>> from arbora.baselines.perch import perch
    >>> perch([[0.0], [9.0], [1.0], [9.5], [0.5]], random_state=0).cut(n_clusters=2)
    array([0, 1, 0, 1, 0])
    """
    check_switch(balance, "balance")
    check_switch(shuffle, "shuffle")
    points, names = as_vectors(data, argument="data"), row_names(data)
    n = len(points)
    if n == 1:
        return Tree([-1], 1, name=names)
    # by a power of two, which is exact: squares neither overflow nor vanish
    points = np.ldexp(points, -int(np.frexp(np.abs(points).max())[1]))
    order = generator(random_state).permutation(n) if shuffle else np.arange(n)
    parent = in_background(lambda: kernels.grow(points, order, bool(balance)))
    return Tree.from_parents(parent, n, sort=True, name=names)
