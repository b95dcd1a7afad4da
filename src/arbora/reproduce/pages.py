"""Pages whose tables are made from results: what stands between two markers is written here, never by hand.

In reStructuredText a table begins with ``.. arbora-results: PAPER/TABLE`` and ends with ``.. arbora-results-end``; in
Markdown the same words stand in comments. ``PAPER/TABLE METRIC: method; method`` gives a line per data set and a column
per method instead of all rows, or the other way round where there are many methods.
``python -m arbora.reproduce.pages ROOT`` (``make results``) writes the pages of a clone; ``--check`` says which differ
from their results.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from arbora._base.files import write_whole
from arbora.reproduce import records, render
from arbora.reproduce.records import Record
from arbora.reproduce.tables import find

RESULTS = Path("docs") / "results"
_RST = re.compile(
    r"^\.\. arbora-results: (?P<what>[^\n]+)\n.*?^\.\. arbora-results-end$", re.MULTILINE | re.DOTALL
)
_MARKDOWN = re.compile(
    r"^<!-- arbora-results: (?P<what>[^\n]+) -->\n.*?^<!-- arbora-results-end -->$", re.MULTILINE | re.DOTALL
)


def filled(text: str, found: Sequence[Record], *, markdown: bool = False) -> str:
    r"""A page with its tables made from records.

    Examples
    --------
    >>> from arbora.reproduce.pages import filled
    >>> page = filled(".. arbora-results: hyphc/3b dasgupta_ordered_pairs: exact decoding\n.. arbora-results-end", [])
    >>> "Not run yet: zoo, iris, glass, segmentation." in page
    True
    """

    def table(match: re.Match[str]) -> str:
        body = block(match["what"], found, markdown=markdown)
        if markdown:
            return f"<!-- arbora-results: {match['what']} -->\n{body}\n<!-- arbora-results-end -->"
        return f".. arbora-results: {match['what']}\n\n{body}\n\n.. arbora-results-end"

    return (_MARKDOWN if markdown else _RST).sub(table, text)


def block(what: str, found: Sequence[Record], *, markdown: bool = False) -> str:
    """What a marker asks for."""
    key, _, rest = what.strip().partition(" ")
    table = find(key)
    if not rest:
        return render.rst_table(table, found)
    metric, _, listed = rest.partition(":")
    methods = [name.strip() for name in listed.split(";")]
    lines = render.pivot(table, found, metric.strip(), methods)
    if len(methods) > 5 and len(lines) <= len(methods):
        lines = render.transposed(lines)
    parts = [(render.markdown_rows if markdown else render.rst_rows)(lines)] if len(lines) > 1 else []
    left = render.left_out(table, found, methods)
    return "\n\n".join([*parts, f"Not run yet: {', '.join(left)}."] if left else parts)


def pages_of(root: Path) -> list[Path]:
    """Pages of a clone that hold such tables."""
    candidates = [root / "README.md", *sorted((root / "docs").glob("*.rst"))]
    return [page for page in candidates if "arbora-results:" in page.read_text(encoding="utf-8")]


def outdated(root: Path) -> list[Path]:
    """Pages that say something else than the results below ``docs/results``."""
    return [page for page, old, new in _compared(root) if old != new]


def write_pages(root: Path) -> list[Path]:
    """Write the pages that have changed, and say which."""
    changed = [(page, new) for page, old, new in _compared(root) if old != new]
    for page, new in changed:
        write_whole(page, new.encode("utf-8"))
    return [page for page, _ in changed]


def _compared(root: Path) -> list[tuple[Path, str, str]]:
    found = records.load_all(root / RESULTS)
    texts = {page: page.read_text(encoding="utf-8") for page in pages_of(root)}
    return [(page, old, filled(old, found, markdown=page.suffix == ".md")) for page, old in texts.items()]


def main(arguments: Sequence[str]) -> int:
    """``python -m arbora.reproduce.pages [--check] [ROOT]``."""
    root = Path(next((argument for argument in arguments if argument != "--check"), "."))
    if "--check" not in arguments:
        for page in write_pages(root):
            print(f"wrote {page}")
        return 0
    wrong = outdated(root)
    for page in wrong:
        print(f"{page} differs from its results. Run: make results")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
