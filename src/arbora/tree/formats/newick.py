"""Newick text: the common language of trees."""

from __future__ import annotations

import re

import numpy as np

from arbora._base.types import Floats
from arbora.errors import FormatError
from arbora.tree._tree import Tree
from arbora.tree.formats import _kernels as kernels

_PROBLEMS = {
    kernels.UNEXPECTED: "{found!r} does not belong here",
    kernels.OPEN_COMMENT: "the comment that opens here is never closed with ']'",
    kernels.OPEN_QUOTE: 'the quoted label that opens here is never closed with "\'"',
    kernels.NOT_CLOSED: "the text ends before every '(' is closed: it is truncated",
    kernels.CLOSED_TOO_OFTEN: "this ')' closes nothing",
    kernels.NO_END: "a tree ends with ';', which is missing",
    kernels.AFTER_END: "there is more text after ';': pass one tree at a time",
    kernels.NO_LENGTH: "':' is followed by no branch length",
}
_NEEDS_QUOTES = re.compile(r"[\s()\[\]{},:;'\"]")
_SAME_DEPTH = 1e-9  # leaves whose depths agree to this share of the deepest count as equally deep


def read(text: str, *, support: bool = False) -> Tree:
    """Tree from Newick text; leaves are numbered as they appear.

    Quoted labels, comments in square brackets, branch lengths, unary and n-ary nodes are understood.
    Underscores in labels stay underscores. Heights come from the branch lengths (a missing one counts as 0):
    the deepest leaf has height 0. Without any branch length the tree has no heights.

    Parameters
    ----------
    text : str
        One tree, ending with a semicolon.
    support : bool
        Take the labels of internal nodes as supports instead of names; above 1 they count as percentages.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((ant:1, 'honey bee':1)0.9:2, cat[comment]:3);", support=True)
    >>> tree.name[:3].tolist(), tree.height.tolist(), tree.support[3]
    (['ant', 'honey bee', 'cat'], [0.0, 0.0, 0.0, 1.0, 3.0], np.float64(0.9))
    """
    if not isinstance(text, str):
        raise TypeError(
            f"text must be a str. Got {type(text).__name__}. Use pathlib.Path(file).read_text() for a file."
        )
    if not text.strip():
        raise FormatError("The text is empty: a Newick tree is at least 'name;'.")
    raw = text.encode("utf-8")
    bound = raw.count(b"(") + raw.count(b",") + 1
    scanned = kernels.scan_newick(np.frombuffer(raw, dtype=np.uint8), bound)
    problem, position, seen_parent, spans, is_inner, closed = scanned
    if problem != kernels.TEXT_OK:
        raise _error_at(raw, int(position), _PROBLEMS[problem])
    seen = np.concatenate(
        [np.flatnonzero(~is_inner), closed]
    )  # leaves as they appear, then children before parents
    n_leaves = len(seen) - len(closed)
    number = np.full(len(seen) + 1, -1, dtype=np.int64)  # the last entry answers for the root's parent, -1
    number[seen] = np.arange(len(seen))
    parent = number[seen_parent[seen]]
    labels = _labels(raw, spans[seen, :2])
    supports = None
    if support:
        supports, labels = _supports(labels, n_leaves)
    return Tree(
        parent,
        n_leaves,
        height=_heights(raw, spans[seen, 2:], parent, n_leaves),
        support=supports,
        name=labels,
    )


def _error_at(raw: bytes, position: int, what: str) -> FormatError:
    around = raw[max(position - 20, 0) : position + 20].decode("utf-8", "replace")
    found = raw[position : position + 1].decode("utf-8", "replace")
    return FormatError(f"Not a Newick tree: at byte {position}, near {around!r}, {what.format(found=found)}.")


def _labels(raw: bytes, spans: np.ndarray) -> list[str] | None:
    if not (spans[:, 1] > spans[:, 0]).any():
        return None
    # two flat lists, not one of pairs: millions of small lists would keep the garbage collector busy
    starts, ends = spans.T
    labels = [raw[a:b].decode("utf-8") for a, b in zip(starts.tolist(), ends.tolist())]
    if b"'" in raw:
        labels = [label[1:-1].replace("''", "'") if label[:1] == "'" else label for label in labels]
    return labels


def _supports(labels: list[str] | None, n_leaves: int) -> tuple[list[float] | None, list[str] | None]:
    if labels is None:
        return None, None
    try:
        values = np.array([float(label) if label else np.nan for label in labels[n_leaves:]])
    except ValueError as error:
        raise FormatError(f"support=True wants numbers as labels of internal nodes: {error}.") from error
    if (values > 1).any():
        values = values / 100
    return [np.nan] * n_leaves + values.tolist(), labels[:n_leaves]


def _heights(raw: bytes, spans: np.ndarray, parent: np.ndarray, n_leaves: int) -> Floats | None:
    """Heights from branch lengths, with the leaves at exactly 0 where all are equally deep."""
    has_length = spans[:-1, 1] > spans[:-1, 0]  # the root's own length is of no use
    if not has_length.any():
        return None
    length = np.zeros(len(parent))
    try:
        starts, ends = spans[:-1][has_length].T
        length[:-1][has_length] = [float(raw[a:b]) for a, b in zip(starts.tolist(), ends.tolist())]
    except ValueError as error:
        raise FormatError(f"Not a Newick tree: a branch length is not a number ({error}).") from error
    if not np.isfinite(length).all():
        raise FormatError("Not a Newick tree: a branch length is not finite.")
    longest, shortest = kernels.measure_to_leaves(parent, n_leaves, length)
    if (longest - shortest <= _SAME_DEPTH * abs(longest[-1])).all():
        return longest
    distance = kernels.measure_from_root(parent, length)
    return distance[:n_leaves].max() - distance


def write(tree: Tree, *, lengths: bool | None = None, support: bool = False) -> str:
    """Newick text of a tree, leaves in drawing order.

    Parameters
    ----------
    tree : Tree
    lengths : bool, optional
        Write branch lengths. By default where the tree has heights.
    support : bool
        Write supports, not names, as the labels of internal nodes.

    Examples
    --------
    >>> from arbora import Tree
    >>> Tree([2, 2, -1], 2, height=[0, 0, 1.5], name=["it's", "b"]).to_newick()
    "('it''s':1.5,b:1.5);"
    """
    height = tree.height if lengths is None or lengths else None
    if lengths and height is None:
        raise ValueError("lengths=True needs a tree with heights: use tree.replace(height=...).")
    order, opens, comma = kernels.write_order(tree.parent, tree.n_leaves, tree.leaf_order, *tree.child_lists)
    labels = _written_labels(tree, support)
    if height is not None:
        above = height[tree.parent[:-1]] - height[:-1]
        labels = [f"{label}:{length!r}" for label, length in zip(labels, above.tolist())] + [labels[-1]]
    inner = order >= tree.n_leaves
    pieces = [""] * (3 * len(order))
    pieces[0::3] = [")" if closes else "(" * n for closes, n in zip(inner.tolist(), opens.tolist())]
    pieces[1::3] = [labels[node] for node in order.tolist()]
    pieces[2::3] = ["," if follows else "" for follows in comma.tolist()]
    return "".join(pieces) + ";"


def _written_labels(tree: Tree, support: bool) -> list[str]:
    """Text of each node: names quoted where they must be, numbers of leaves that have none."""
    if tree.name is None:
        labels = [str(leaf) for leaf in range(tree.n_leaves)] + [""] * tree.n_internal
    else:
        labels = [_quoted(name) for name in tree.name]
        if "" in labels[: tree.n_leaves]:
            labels[: tree.n_leaves] = [
                label or str(leaf) for leaf, label in enumerate(labels[: tree.n_leaves])
            ]
    if support:
        if tree.support is None:
            raise ValueError("support=True needs a tree with supports: use tree.replace(support=...).")
        values = tree.support[tree.n_leaves :].tolist()
        labels[tree.n_leaves :] = ["" if value != value else repr(value) for value in values]
    return labels


def _quoted(name: str) -> str:
    return "'" + name.replace("'", "''") + "'" if _NEEDS_QUOTES.search(name) else name
