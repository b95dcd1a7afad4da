"""Which names an XML file gives back as they were written."""

from __future__ import annotations

import re
from collections.abc import Iterable

from arbora.tree._tree import Tree

# Readers turn a carriage return into a line feed; the rest is forbidden.
_FOREIGN = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_names(trees: Iterable[Tree], format: str, *, as_tokens: bool = False) -> None:
    """Refuse names that would come back as others, or that no reader takes.

    Readers of tokens collapse runs of blanks, and leave out those at the ends.

    Examples
    --------
    >>> from arbora import Tree
    >>> from arbora.tree.formats.xml import check_names
    >>> check_names([Tree([2, 2, -1], 2, name=["owl", "barn owl "])], "phyloXML", as_tokens=True)
    Traceback (most recent call last):
    ...
    ValueError: phyloXML cannot hold the name 'barn owl '. Change it with tree.rename, or use arbora's own file or JSON.
    """
    for tree in trees:
        for name in [] if tree.name is None else tree.name.tolist():
            if _FOREIGN.search(name) or (as_tokens and name != " ".join(name.split())):
                raise ValueError(
                    f"{format} cannot hold the name {name!r}. Change it with tree.rename, or use arbora's own file or "
                    "JSON."
                )
