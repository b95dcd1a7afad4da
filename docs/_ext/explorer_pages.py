"""Explorer pages inside the guide: those that examples write, and the directive that shows one.

An example writes its page as any program would, `tree.to_html("digits.html")`. The scraper moves the file to
`_made/explore/`, which the build copies beside the guide, and puts a frame with it below the block that wrote it.
"""

from html import escape
from pathlib import Path
from shutil import move
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from sphinx_gallery.scrapers import matplotlib_scraper

MADE = Path(__file__).parent.parent / "_made" / "explore"
_FRAME = """<div class="explorer">
<iframe data-page="{address}" data-state="{state}" title="{title}" loading="lazy"></iframe>
<p>{title} <a href="{address}">Open it on a page of its own.</a></p>
</div>"""


def frame(address, title, state=""):
    """The HTML of a frame; `guide.js` gives it the address with the guide's theme."""
    return _FRAME.format(address=escape(address), title=escape(title), state=escape(state))


def embed_written(block, block_vars, gallery_conf):
    """Sphinx-gallery's scraper: the reST that shows the pages a block of an example has written."""
    folder = Path(block_vars["src_file"]).parent
    depth = len(Path(block_vars["target_file"]).parent.relative_to(gallery_conf["src_dir"]).parts)
    MADE.mkdir(parents=True, exist_ok=True)
    shown = []
    for page in sorted(folder.glob("*.html")):
        move(page, MADE / page.name)
        text = frame("../" * depth + "explore/" + page.name, "The page that this writes: touch it.")
        shown.append(".. raw:: html\n\n" + "".join(f"    {line}\n" for line in text.splitlines()))
    return "\n\n".join(shown)


def draw_whole(block, block_vars, gallery_conf):
    """Sphinx-gallery's scraper of figures, with all that stands beside the axes and without empty margins."""
    return matplotlib_scraper(block, block_vars, gallery_conf, bbox_inches="tight")


def tidy(gallery_conf, name, when="before"):
    """Sphinx-gallery's call between examples: the tables and models that one has written go."""
    folder = Path(gallery_conf["src_dir"]) / gallery_conf["examples_dirs"]
    for written in [*folder.glob("*.csv"), *folder.glob("*.npz")]:
        written.unlink()


class Explorer(Directive):
    """`.. explorer:: digits.html`, with a title and, if wanted, the state the page opens in."""

    required_arguments = 1
    option_spec: ClassVar = {"title": directives.unchanged_required, "state": directives.unchanged}

    def run(self):
        """One raw node with the frame."""
        document = self.state.document.settings.env.docname
        address = "../" * document.count("/") + "explore/" + self.arguments[0]
        text = frame(address, self.options["title"], self.options.get("state", ""))
        return [nodes.raw("", text, format="html")]


def setup(app):
    """Register the directive; the scraper is named in `sphinx_gallery_conf`."""
    app.add_directive("explorer", Explorer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
