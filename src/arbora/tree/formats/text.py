"""A tree as indented text, for reading."""

from __future__ import annotations

from arbora._base.memory import refuse_if_too_large
from arbora._base.params import check_whole
from arbora.tree._tree import Tree

# Four characters of two bytes, in a line and in the text that joins the lines.
_BYTES_PER_STEP = 16


def write(tree: Tree, *, max_depth: int | None = None, max_children: int | None = 20) -> str:
    """The tree as lines of text, children indented below their parent and in drawing order.

    Parameters
    ----------
    tree : Tree
    max_depth : int, optional
        Nodes further down are not shown; a node at this depth shows how many leaves are below it.
    max_children : int, optional
        Of a node with more children, this many are shown and the others counted.

    Examples
    --------
    >>> from arbora import Tree
    >>> print(Tree.from_newick("((owl,hen,emu)birds,(cod,eel),ant)animals;").to_text())
    animals (6)
    ├── birds (3)
    │   ├── owl
    │   ├── hen
    │   └── emu
    ├── 7 (2)
    │   ├── cod
    │   └── eel
    └── ant
    """
    deepest = None if max_depth is None else check_whole(max_depth, "max_depth", least=0)
    shown = None if max_children is None else check_whole(max_children, "max_children")
    n_steps = int(tree.depths.sum() if deepest is None else tree.depths[tree.depths <= deepest].sum())
    refuse_if_too_large(_BYTES_PER_STEP * n_steps, "Lines as long as the tree is deep", "Set max_depth.")
    lines: list[str] = []
    # (node or the text of a line, how its line begins, how the lines below it begin, depth)
    stack: list[tuple[int | str, str, str, int]] = [(tree.root, "", "", 0)]
    while stack:
        node, first, rest, depth = stack.pop()
        if isinstance(node, str):
            lines.append(first + node)
            continue
        count = "" if node < tree.n_leaves else f" ({int(tree.sizes[node]):,})"
        lines.append(first + _one_line(tree.label(node)) + count)
        if deepest is not None and depth >= deepest:
            continue
        below: list[int | str] = list(tree.children(node).tolist())
        if shown is not None and len(below) > shown:
            below = [*below[:shown], f"... {len(below) - shown:,} more"]
        for k in range(len(below) - 1, -1, -1):
            is_last = k == len(below) - 1
            branch, stem = ("└── ", "    ") if is_last else ("├── ", "│   ")
            stack.append((below[k], rest + branch, rest + stem, depth + 1))
    return "\n".join(lines)


def _one_line(name: str) -> str:
    """A name without line breaks and control characters, which would break the picture."""
    return "".join(letter if letter.isprintable() else " " for letter in name)
