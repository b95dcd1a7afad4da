"""Nexus: a block of named Newick trees, with numbers for the leaves and a table that translates them.

Read and written here rather than by Biopython, whose reader is recursive and turns underscores into blanks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from arbora.errors import FormatError
from arbora.tree._tree import Tree
from arbora.tree.formats import newick

_QUOTED_OR_COMMENT = re.compile(r"('(?:[^']|'')*+')|\[[^\]]*+\]")
_COMMAND = re.compile(r"(?:\s|\[[^\]]*+\])*+([A-Za-z]+)\s*")
_WORD = re.compile(r"'(?:[^']|'')*+'|[^\s,]+")


def read(text: str, *, support: newick.Support = False) -> dict[str, Tree]:
    """All trees of a Nexus file by name, in its order.

    Leaves are numbered as they appear in each tree, and named by the ``translate`` table where there is one.

    Examples
    --------
    >>> from arbora.tree.formats import nexus
    >>> text = "#NEXUS begin trees; translate 1 owl, 2 'sea eagle'; tree one = [&R] (1,2); end;"
    >>> nexus.read(text)["one"].to_newick()
    "(owl,'sea eagle');"
    """
    stripped = text.lstrip("\ufeff \t\r\n")
    if stripped[:6].upper() != "#NEXUS":
        raise FormatError("Not a Nexus file: it must begin with '#NEXUS'.")
    found: dict[str, Tree] = {}
    translation: dict[str, str] = {}
    block = ""
    for command in newick.statements(stripped[6:]):
        start = _COMMAND.match(command)
        word, rest = (start[1].lower(), command[start.end() :]) if start else ("", "")
        if word == "begin":
            block, translation = _without_comments(rest).strip().lower(), {}
        elif word in ("end", "endblock"):
            block = ""
        elif block == "trees" and word == "translate":
            translation = _translation(_without_comments(rest))
        elif block == "trees" and word in ("tree", "utree"):
            name, tree = _named_tree(rest, support, translation)
            if name in found:
                raise FormatError(f"Not a Nexus file: two trees are called {name!r}.")
            found[name] = tree
    if block:
        raise FormatError(f"The Nexus file is cut short: its block {block!r} does not end with 'end;'.")
    if not found:
        raise FormatError("The Nexus file has no tree: no 'tree' command in a 'begin trees' block.")
    return found


def _named_tree(command: str, support: newick.Support, translation: Mapping[str, str]) -> tuple[str, Tree]:
    head, equals, text = command.partition("=")
    words = _WORD.findall(_without_comments(head))
    if not equals or not words:
        raise FormatError(f"Not a Nexus file: a tree is written 'tree name = (...)'. Got {head[:60]!r}.")
    tree = newick.read(text.strip() + ";", support=support)
    if translation and tree.name is not None:
        names = [translation.get(name, name) for name in tree.name[: tree.n_leaves]]
        tree = tree.replace(name=[*names, *tree.name[tree.n_leaves :]])
    # an asterisk marks the default tree
    return newick.unquoted(words[-1].lstrip("*")), tree


def _without_comments(text: str) -> str:
    """Without what stands in brackets, except inside quotes."""
    return _QUOTED_OR_COMMENT.sub(lambda found: found[1] or " ", text)


def _translation(text: str) -> dict[str, str]:
    words = _WORD.findall(text)
    if len(words) % 2:
        raise FormatError("Not a Nexus file: 'translate' must list pairs of a key and a name.")
    return {newick.unquoted(key): newick.unquoted(name) for key, name in zip(words[::2], words[1::2])}


def write(trees: Mapping[str, Tree] | Sequence[Tree], *, lengths: bool | None = None) -> str:
    """A Nexus file of some trees, named ``tree_1``, ``tree_2``, ... unless a mapping names them.

    Where names of leaves need quotes, trees hold numbers and a table translates them: Biopython's reader does not know
    quotes inside trees. It therefore misreads names of internal nodes with commas, colons or parentheses; phyloXML
    carries these too.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.tree.formats import nexus
    >>> print(nexus.write({"one": Tree.from_newick("(owl,hen);")}))
    #NEXUS
    begin taxa;
      dimensions ntax=2;
      taxlabels owl hen;
    end;
    begin trees;
      tree one = [&R] (owl,hen);
    end;
    <BLANKLINE>
    """
    if isinstance(trees, Mapping):
        by_name = dict(trees)
    else:
        by_name = {f"tree_{k}": tree for k, tree in enumerate(trees, start=1)}
    taxa = list(dict.fromkeys(name for tree in by_name.values() for name in tree.leaf_names))
    lines = ["#NEXUS", "begin taxa;", f"  dimensions ntax={len(taxa)};"]
    labels = [newick.quoted(name) for name in taxa]
    lines += [f"  taxlabels {' '.join(labels)};", "end;", "begin trees;"]
    keys = dict(zip(taxa, map(str, range(1, len(taxa) + 1)))) if labels != taxa else {}
    if keys:
        lines.append("  translate " + ", ".join(map(" ".join, zip(keys.values(), labels))) + ";")
    for name, tree in by_name.items():
        text = _numbered(tree, keys).to_newick(lengths=lengths)
        lines.append(f"  tree {newick.quoted(name, keep='_')} = [&R] {text}")
    return "\n".join([*lines, "end;", ""])


def _numbered(tree: Tree, keys: Mapping[str, str]) -> Tree:
    """The tree with the keys of its leaves' names instead of these."""
    inner = [""] * tree.n_internal if tree.name is None else tree.name[tree.n_leaves :].tolist()
    return tree.replace(name=[*(keys[name] for name in tree.leaf_names), *inner]) if keys else tree
