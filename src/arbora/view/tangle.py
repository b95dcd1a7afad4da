"""Two trees face to face: the second turned to fit the first, the lines between them, their distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.tree import Tree
from arbora.view import _kernels as kernels
from arbora.view.layout import Layout, largest_nodes

_MAX_LINES = 4_000


def untangled(tree: Tree, other: Tree) -> Tree:
    """`other` with the children of every node ordered by the mean place of their leaves in `tree`."""
    return other.reorder(by=tree.leaf_start[: tree.n_leaves].astype(np.float64))


def face_to_face(tree: Tree, other: Tree, rounds: int = 6) -> tuple[Tree, Tree]:
    """Both trees turned to fit each other, in turns; the pair with the fewest crossings.

    Only the order of siblings changes.
    """
    best = (tree, untangled(tree, other))
    fewest = crossings(*best)
    left, right = best
    for _ in range(rounds):
        left = untangled(right, left)
        right = untangled(left, right)
        found = crossings(left, right)
        if found >= fewest:
            break
        best, fewest = (left, right), found
    return best


def crossings(tree: Tree, other: Tree) -> int:
    """Number of pairs of leaves whose lines cross when the two trees are drawn face to face."""
    return int(kernels.count_inversions(other.leaf_start[tree.leaf_order]))


def tangle_parts(content: Any, limit: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What the page draws of the second tree: nodes, lines (a sample in a large tree) and the distances."""
    tree, other = content.tree, content.compare
    if other is None:
        raise ValueError("There is no second tree: pass compare=.")
    turned = other  # content has turned both already
    layout = Layout(turned)
    nodes, opened = largest_nodes(turned, turned.root, limit)
    step = max(1, -(-tree.n_leaves // _MAX_LINES))
    lines = np.arange(step // 2, tree.n_leaves, step)
    arrays = {
        "id": nodes.astype(np.int32),
        "opened": opened.astype(np.int32),
        "start": turned.leaf_start[nodes].astype(np.int32),
        "size": turned.sizes[nodes].astype(np.int32),
        "x": layout.center[nodes].astype(np.float32),
        "y": layout.along()[nodes].astype(np.float32),
        "lineFrom": lines.astype(np.int32),
        "lineTo": turned.leaf_start[tree.leaf_order[lines]].astype(np.int32),
    }
    facts = {
        "robinsonFoulds": float(tree.robinson_foulds(turned)),
        "robinsonFouldsShare": float(tree.robinson_foulds(turned, normalize=True)),
        "crossings": crossings(tree, turned),
        "crossingsBefore": content.crossings_before,
        "sampled": step > 1,
        "nLeaves": turned.n_leaves,
    }
    return facts, arrays
