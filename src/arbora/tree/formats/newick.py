"""Newick text: the common language of trees."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from arbora._base.params import check_choice
from arbora._base.types import Floats, Ints
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
    kernels.AFTER_END: "there is more text after ';': Tree.load_all reads files of several trees",
    kernels.NO_LENGTH: "':' is not followed by a branch length",
}
# Many readers turn an underscore outside quotes into a blank.
_NEEDS_QUOTES = re.compile(r"[\s()\[\]{},:;'\"_=]")
# Possessive throughout: text that never ends is abandoned after one pass.
_STATEMENT = re.compile(r"(?:[^;'\[]++|'(?:[^']|'')*+'|\[[^\]]*+\])*+;")
# Leaves whose depths agree to this share of the deepest count as equally deep.
_SAME_DEPTH = 1e-9

Support: TypeAlias = bool | Literal["first", "last"]


def read(text: str | os.PathLike[str], *, support: Support = False) -> Tree:
    """Tree from Newick text; leaves are numbered as they appear.

    Quoted labels, comments in square brackets, branch lengths, unary and n-ary nodes are understood.
    Underscores in labels stay underscores. Heights come from the branch lengths (a missing one counts as 0):
    the deepest leaf has height 0. Without any branch length the tree has no heights.

    Parameters
    ----------
    text : str or path
        One tree, ending with a semicolon; or the name of a file with one.
    support : bool, "first" or "last"
        Take the labels of internal nodes as supports instead of names; above 1 they count as percentages. Of
        several numbers, as IQ-TREE writes them ("95/0.99"), the first (also for True) or the last is taken.

    Examples
    --------
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((ant:1, 'honey bee':1)0.9:2, cat[comment]:3);", support=True)
    >>> tree.name[:3].tolist(), tree.height.tolist(), tree.support[3]
    (['ant', 'honey bee', 'cat'], [0.0, 0.0, 0.0, 1.0, 3.0], np.float64(0.9))
    """
    check_choice(support, "support", (False, True, "first", "last"))
    raw = _text(text).encode("utf-8")
    bound = raw.count(b"(") + raw.count(b",") + 1
    scanned = kernels.scan_newick(np.frombuffer(raw, dtype=np.uint8), bound)
    problem, position, seen_parent, spans, is_inner, closed = scanned
    if problem != kernels.TEXT_OK:
        raise _error_at(raw, int(position), _PROBLEMS[problem])
    # leaves as they appear, then children before parents
    seen = np.concatenate([np.flatnonzero(~is_inner), closed])
    n_leaves = len(seen) - len(closed)
    # the last entry answers for the root's parent, -1
    number = np.full(len(seen) + 1, -1, dtype=np.int64)
    number[seen] = np.arange(len(seen))
    parent = number[seen_parent[seen]]
    labels = _labels(raw, spans[seen, :2])
    supports = None
    if support:
        supports, labels = _supports(labels, n_leaves, support)
    return Tree(
        parent,
        n_leaves,
        height=_heights(raw, spans[seen, 2:], parent, n_leaves),
        support=supports,
        name=labels,
    )


def read_all(text: str) -> list[Tree]:
    """All trees of a text, each ending with a semicolon."""
    found = [read(statement + ";") for statement in statements(text)]
    if not found:
        # the text as a whole is wrong: say how
        found.append(read(text))
    return found


def statements(text: str) -> list[str]:
    """The parts of a text that end with a semicolon outside quotes and comments, without it."""
    found, end = [], 0
    while match := _STATEMENT.match(text, end):
        end = match.end()
        found.append(match.group()[:-1])
    if text[end:].strip():
        # what is left has no end: the reader says what is wrong with it
        found.append(text[end:])
    return found


def _text(text: str | os.PathLike[str]) -> str:
    """The text itself, or that of the file it names (a text without a semicolon is not a tree)."""
    if isinstance(text, os.PathLike):
        return Path(text).read_text(encoding="utf-8-sig")
    if not isinstance(text, str):
        raise TypeError(f"text must be a str, or the path of a file. Got {type(text).__name__}.")
    if not text.strip():
        raise FormatError("The text is empty: a Newick tree is at least 'name;'.")
    is_short = len(text) < 4096 and "(" not in text and ";" not in text and "\n" not in text
    if is_short and Path(text).is_file():
        return Path(text).read_text(encoding="utf-8-sig")
    if is_short and Path(text).suffix:
        raise FormatError(f"{text!r} is neither Newick text nor a file that exists.")
    return text


def _error_at(raw: bytes, position: int, what: str) -> FormatError:
    around = raw[max(position - 20, 0) : position + 20].decode("utf-8", "replace")
    found = raw[position : position + 1].decode("utf-8", "replace")
    return FormatError(f"Not a Newick tree: at byte {position}, near {around!r}, {what.format(found=found)}.")


def _labels(raw: bytes, spans: Ints) -> list[str] | None:
    if not (spans[:, 1] > spans[:, 0]).any():
        return None
    # two flat lists, not one of pairs: millions of small lists would keep the garbage collector busy
    starts, ends = spans.T
    labels = [raw[a:b].decode("utf-8") for a, b in zip(starts.tolist(), ends.tolist())]
    if b"'" in raw:
        labels = [unquoted(label) for label in labels]
    return labels


def _supports(
    labels: list[str] | None, n_leaves: int, which: Support
) -> tuple[list[float] | None, list[str] | None]:
    if labels is None:
        return None, None
    place = -1 if which == "last" else 0
    try:
        numbers = [[float(part) for part in label.split("/")] if label else [] for label in labels[n_leaves:]]
    except ValueError as error:
        raise FormatError(f"support=True wants numbers as labels of internal nodes: {error}.") from error
    values = np.array([several[place] if several else np.nan for several in numbers])
    return [np.nan] * n_leaves + as_shares(values).tolist(), labels[:n_leaves]


def as_shares(supports: Floats) -> Floats:
    """Supports in [0, 1]: where one is above 1, they are percentages."""
    shares: Floats = supports / 100 if (supports > 1).any() else supports
    return shares


def _heights(raw: bytes, spans: Ints, parent: Ints, n_leaves: int) -> Floats | None:
    """Heights from the branch lengths of the text."""
    has_length = spans[:, 1] > spans[:, 0]
    length = np.full(len(parent), np.nan)
    try:
        starts, ends = spans[has_length].T
        length[has_length] = [float(raw[a:b]) for a, b in zip(starts.tolist(), ends.tolist())]
    except ValueError as error:
        raise FormatError(f"Not a Newick tree: a branch length is not a number ({error}).") from error
    if not np.isfinite(length[has_length][:-1] if has_length[-1] else length[has_length]).all():
        raise FormatError("Not a Newick tree: a branch length is not finite.")
    return heights_of_lengths(parent, n_leaves, length)


def heights_of_lengths(parent: Ints, n_leaves: int, length: Floats) -> Floats | None:
    """Heights from branch lengths (NaN: none, which counts as 0), with the leaves at 0 where all are equally deep."""
    # the root's own length is not used
    length = np.append(length[:-1], 0.0)
    if np.isnan(length[:-1]).all():
        return None
    length = np.nan_to_num(length, nan=0.0)
    longest, shortest = kernels.measure_to_leaves(parent, n_leaves, length)
    if (longest - shortest <= _SAME_DEPTH * abs(longest[-1])).all():
        equal: Floats = longest
        return equal
    distance: Floats = kernels.measure_from_root(parent, length)
    return np.asarray(distance[:n_leaves].max() - distance)


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
        labels = [quoted(name) for name in tree.name]
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


def quoted(name: str, *, keep: str = "") -> str:
    """The name as a label, in quotes where it must be; the characters `keep` need none."""
    plain = name.translate({ord(letter): None for letter in keep}) if keep else name
    return "'" + name.replace("'", "''") + "'" if _NEEDS_QUOTES.search(plain) else name


def unquoted(label: str) -> str:
    """The name that a label stands for."""
    return label[1:-1].replace("''", "'") if label[:1] == "'" else label
