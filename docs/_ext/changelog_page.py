"""CHANGELOG.md as a page of the guide: headings, lists and code are all the Markdown that it uses."""

import re
from pathlib import Path

DOCS = Path(__file__).parent.parent
MARKS = {"#": "=", "##": "-", "###": "~"}


def as_rest(markdown):
    """The same text as reST."""
    lines = []
    for line in re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", markdown).splitlines():
        heading = re.fullmatch(r"(#+) (.*)", line)
        lines += [heading[2], MARKS[heading[1]] * len(heading[2])] if heading else [line]
    return "\n".join(lines) + "\n"


def setup(app):
    """Write the page before Sphinx looks for pages."""
    text = as_rest((DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8"))
    page = DOCS / "api" / "changelog.rst"
    page.parent.mkdir(exist_ok=True)
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
