"""``arbora consensus``."""

from __future__ import annotations

import sys
from pathlib import Path

from arbora.cli._console import Console
from arbora.cli._exit import WrongOption
from arbora.cli.pages import tree_facts
from arbora.cli.writing import check_writable, tree_format, write_bytes, write_tree
from arbora.tree import Tree


def run_consensus(sources: list[str], min_share: float, out: Path | None, console: Console) -> None:
    """The clades that most trees of some files have; as Newick with their supports, or in another format."""
    console.give_way_to(out)
    check_writable(out)
    kind = "newick" if out is None else tree_format(str(out))
    if not 0.5 <= min_share <= 1:
        raise WrongOption(f"--min-share must lie between 0.5 and 1. Got {min_share}.")
    trees = [tree for source in sources for tree in Tree.load_all(source)]
    agreed = Tree.consensus(trees, min_share=min_share)
    text = agreed.to_newick(support=True) + "\n"
    if out is None or str(out) == "-":
        if not console.as_json:
            sys.stdout.write(text)
    elif kind == "newick":
        write_bytes(out, text.encode("utf-8"))
    else:
        write_tree(agreed, str(out))
    if out is not None:
        console.say(
            f"{len(trees):,} trees over {agreed.n_leaves:,} leaves agree on {agreed.n_internal:,} clades of at most "
            f"{agreed.n_leaves - 1:,}"
        )
        if str(out) != "-":
            console.say(f"wrote {out}")
    facts = {"trees": len(trees), "tree": tree_facts(agreed), "newick": text.strip()}
    console.result({**facts, "written": [] if out is None else [str(out)]})
