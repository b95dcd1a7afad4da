"""After the build: links that lead to no file, or to no place in it, are warnings."""

import re
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

logger = logging.getLogger(__name__)
_LINK = re.compile(r'\b(?:href|src|data-page)="([^"]+)"')
_PLACE = re.compile(r'\b(?:id|name)="([^"]+)"')
# Sources of the package link to the reference by names that it may know differently; explorer pages have no links.
_NOT_OURS = {"_modules", "_static", "explore"}


def broken_links(root):
    """Pages and the links on them that lead nowhere; nothing is asked of the network."""
    places = {}

    def has_place(page, name):
        if page not in places:
            places[page] = set(_PLACE.findall(page.read_text(encoding="utf-8")))
        return name in places[page]

    for page in sorted(root.rglob("*.html")):
        if page.relative_to(root).parts[0] in _NOT_OURS:
            continue
        for link in set(_LINK.findall(page.read_text(encoding="utf-8"))):
            address = urlsplit(unescape(link))
            if address.scheme or address.netloc:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            is_place = address.fragment and target.suffix == ".html" and "explore" not in target.parts
            if not target.exists() or (is_place and not has_place(target, unquote(address.fragment))):
                yield page.relative_to(root), link


def check(app, failure):
    """Sphinx calls this when all pages are written."""
    if failure is None and app.builder.format == "html":
        for page, link in broken_links(Path(app.outdir)):
            logger.warning("%s links to %s, which is not there", page, link)


def setup(app):
    """Register the check."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
