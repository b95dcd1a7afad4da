"""The bytes of a file or of standard input, unpacked, and the format they are in."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from arbora._base.memory import available_memory
from arbora.errors import FormatError, TooLargeError
from arbora.reading.columns import NUMBER

_PACKED: dict[bytes, tuple[str, Callable[..., Any]]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
}
_PACKED_SUFFIXES = (".gz", ".bz2", ".xz", ".zip")
_SUFFIXES = {
    "npy": (".npy",),
    "npz": (".npz",),
    "csv": (".csv", ".txt", ".dat"),
    "tsv": (".tsv", ".tab"),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "xlsx": (".xlsx", ".xlsm"),
    "h5ad": (".h5ad",),
    "edges": (".edges", ".edgelist", ".el"),
    "adjacency": (".adjlist",),
    "graphml": (".graphml",),
    "gml": (".gml",),
    "gexf": (".gexf",),
    "pajek": (".net", ".paj"),
    "mtx": (".mtx",),
    "phylip": (".phy", ".phylip"),
    "newick": (".nwk", ".newick", ".tree", ".tre"),
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
# A packed file may not unpack to more than this share of the free memory: it is held twice while being joined.
_SHARE = 0.35
_MOST_UNPACKED = 8 * 2**30
_HEAD = 65536
# The number of points, alone on the first line.
_PHYLIP = re.compile(rb"\s*(\d+)\s*\r?\n")


class Contents:
    """Bytes with their name in messages, and the suffix of the file.

    Attributes
    ----------
    path : Path or None
        The file that holds just these bytes; None for standard input and what was packed.
    head : bytes
        The first bytes, by which formats are recognized.
    """

    def __init__(self, name: str, suffix: str, raw: bytes | None, path: Path | None = None) -> None:
        self.name, self.suffix, self.path = name, suffix, path
        self._raw = raw
        self.head = _file_bytes(path, _HEAD) if raw is None and path is not None else (raw or b"")[:_HEAD]

    @property
    def raw(self) -> bytes:
        """All of it, read when first asked for."""
        if self._raw is None:
            assert self.path is not None
            self._raw = _file_bytes(self.path)
        return self._raw


def contents_of(source: str) -> Contents:
    """Contents of a path, or of standard input for "-"; gzip, bzip2, xz and zip with one file are unpacked."""
    if source == "-":
        if sys.stdin.isatty():
            raise FormatError("Nothing on standard input. Name a file, or pipe one in.")
        contents = Contents("standard input", "", sys.stdin.buffer.read())
    else:
        path = Path(source)
        contents = Contents(source, path.suffix.lower(), None, path)
    if not contents.head:
        raise FormatError(f"{contents.name} is empty.")
    suffix = contents.suffix
    if suffix in _PACKED_SUFFIXES:
        suffix = Path(source).with_suffix("").suffix.lower()
    for mark, (kind, opened) in _PACKED.items():
        if contents.head.startswith(mark):
            raw = _unpacked(contents.raw, contents.name, kind, opened)
            contents = Contents(contents.name, suffix, raw)
    if contents.head.startswith(b"PK\x03\x04"):
        contents = _member_or_archive(contents)
    if not contents.head:
        raise FormatError(f"{contents.name} is empty.")
    return contents


def format_of(contents: Contents) -> str:
    """Format by the first bytes; for text without a marker, by the file's name, and otherwise a table."""
    raw = contents.head
    for mark, kind in (
        (b"\x93NUMPY", "npy"),
        (b"PAR1", "parquet"),
        (b"ARROW1", "arrow"),
        (b"FEA1", "arrow"),
        (b"\x89HDF\r\n\x1a\n", "h5ad"),
    ):
        if raw.startswith(mark):
            return kind
    if raw.startswith(b"PK\x03\x04"):
        return "xlsx" if contents.suffix in (".xlsx", ".xlsm") or b"[Content_Types].xml" in raw else "npz"
    by_name = _BY_SUFFIX.get(contents.suffix)
    start = raw.lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"%%MatrixMarket"):
        return "mtx"
    if start.startswith(b"<"):
        return _xml_format(start, contents.name)
    if by_name not in ("csv", "tsv", None):
        return by_name
    return _text_format(start, contents) or by_name or "csv"


def _xml_format(start: bytes, name: str) -> str:
    for word, kind in ((b"<graphml", "graphml"), (b"<gexf", "gexf"), (b"<phyloxml", "phyloxml")):
        if word in start.lower():
            return kind
    raise FormatError(f"{name} is an XML or HTML file, but neither GraphML nor GEXF.")


def _text_format(start: bytes, contents: Contents) -> str | None:
    if start.upper().startswith(b"#NEXUS"):
        return "nexus"
    if start.startswith((b"{", b"[{", b"[[", b"[\n", b"[\r", b"[ ")):
        lines = [line for line in start.splitlines()[:3] if line.strip()]
        return "jsonl" if start.startswith(b"{") and _is_one_record(lines[0]) else "json"
    if start.startswith(b"(") and b";" in contents.raw[-64:]:
        return "newick"
    if _is_phylip(start):
        return "phylip"
    if start.lower().startswith((b"*vertices", b"*network")):
        return "pajek"
    if start.startswith((b"graph [", b"graph\n[", b"Creator ")):
        return "gml"
    return None


def _is_phylip(start: bytes) -> bool:
    """Whether text begins like a matrix of PHYLIP: a count alone on its line, then a name and numbers."""
    found = _PHYLIP.match(start)
    if found is None or int(found[1]) < 2:
        return False
    lines = start[found.end() :].decode("utf-8", "replace").splitlines()
    parts = lines[0].split() if lines else []
    return bool(parts) and NUMBER.fullmatch(parts[0]) is None and all(NUMBER.fullmatch(p) for p in parts[1:])


def _is_one_record(line: bytes) -> bool:
    import json

    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _file_bytes(path: Path, most: int = -1) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except FileNotFoundError:
        raise FormatError(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise FormatError(f"{path} is a folder.") from None
    except PermissionError:
        raise FormatError(f"{path} cannot be read: permission denied.") from None
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error


def most_unpacked() -> int:
    """Bytes that a packed file may unpack to."""
    free = available_memory()
    return _MOST_UNPACKED if free is None else min(_MOST_UNPACKED, int(_SHARE * free))


def _unpacked(raw: bytes, name: str, kind: str, opened: Callable[..., Any]) -> bytes:
    try:
        with opened(io.BytesIO(raw)) as file:
            return _limited(file, name)
    except (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name} is a damaged {kind} file: {error}.") from error


def _limited(file: IO[bytes], name: str) -> bytes:
    most = most_unpacked()
    parts, total = [], 0
    while part := file.read(2**24):
        total += len(part)
        if total > most:
            raise TooLargeError(
                f"{name} unpacks to more than {most / 2**30:.2g} GiB. Unpack it yourself first."
            )
        parts.append(part)
    return b"".join(parts)


def _member_or_archive(contents: Contents) -> Contents:
    """The one file of a zip; NumPy's archives and Excel's books, which are zips as well, stay as they are."""
    name, suffix = contents.name, contents.suffix
    try:
        with zipfile.ZipFile(contents.path or io.BytesIO(contents.raw)) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]
            announced = sum(info.file_size for info in members)
            if announced > most_unpacked():
                raise TooLargeError(
                    f"{name} announces {announced / 2**30:.3g} GiB of contents, more than there is memory for."
                )
            names = [info.filename for info in members]
            if "[Content_Types].xml" in names or any(one.endswith(".npy") for one in names):
                return contents
            if len(members) != 1:
                raise FormatError(f"{name} is a zip of {len(members)} files. Unpack it, and name one.")
            with archive.open(members[0]) as file:
                return Contents(name, Path(names[0]).suffix.lower(), _limited(file, name))
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
        kind = ".npz" if suffix == ".npz" else "zip"
        raise FormatError(f"{name} is not a whole {kind} file: {error}") from error
