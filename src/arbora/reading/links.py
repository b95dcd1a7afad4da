"""Addresses: what a column of them holds leads somewhere, and is neither a name nor a text."""

from __future__ import annotations

from urllib.parse import urlsplit

_LONGEST_LINK = 2000


def is_link(text: str) -> bool:
    """Whether a text is an address that a page may lead to: http, https or mailto, and nothing that runs.

    Examples
    --------
    >>> from arbora.reading.links import is_link
    >>> is_link("https://example.org/a?b=c"), is_link("javascript:alert(1)"), is_link("https:// two words")
    (True, False, False)
    """
    if len(text) > _LONGEST_LINK or any(
        character.isspace() or not character.isprintable() for character in text
    ):
        return False
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    if parts.scheme == "mailto":
        return "@" in parts.path
    return parts.scheme in ("http", "https") and bool(parts.netloc)
