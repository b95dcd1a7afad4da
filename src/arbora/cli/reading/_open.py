"""Which reader a file needs: by its first bytes, then by its name."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path

from arbora.cli._exit import Unreadable, Unusable
from arbora.cli._options import FORMATS
from arbora.cli.reading import _arrays, _graphs, _single_cell, _tables, _trees
from arbora.cli.reading._data import Data, ReadOptions
from arbora.errors import FormatError
from arbora.tree import Tree

_READERS = {
    "npy": _arrays.read_npy,
    "npz": _arrays.read_npz,
    "csv": _tables.read_csv,
    "tsv": _tables.read_csv,
    "parquet": _tables.read_parquet,
    "h5ad": _single_cell.read_h5ad,
    "edges": _graphs.read_edges,
    "graphml": _graphs.read_graphml,
    "mtx": _graphs.read_matrix_market,
    "linkage": _trees.read_linkage,
    "newick": _trees.read_newick,
}
_SUFFIXES = {
    "npy": (".npy",),
    "npz": (".npz",),
    "csv": (".csv", ".txt"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "h5ad": (".h5ad",),
    "edges": (".edges", ".edgelist", ".el"),
    "graphml": (".graphml", ".xml"),
    "mtx": (".mtx",),
    "newick": (".nwk", ".newick", ".tree", ".tre"),
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_MOST_UNPACKED = 8 * 2**30


def read_data(source: str, options: ReadOptions) -> Data:
    """Vectors, graph or tree from a path, or from standard input for "-"."""
    raw, suffix, name = _contents(source)
    kind = options.format if options.format != "auto" else guess_format(raw, suffix)
    if kind not in _READERS:
        raise Unreadable(f"{name}: format must be one of {', '.join(FORMATS)}. Got {kind!r}.")
    try:
        data = _READERS[kind](raw, name, options)
    except (Unreadable, Unusable, FormatError, ImportError):
        raise
    except MemoryError:
        raise
    except Exception as error:
        raise Unreadable(f"{name} is not a readable {kind} file: {error}") from error
    if data.n_points == 0:
        raise Unusable(f"{name} holds no points.")
    return data


def read_tree(source: str, options: ReadOptions) -> Tree:
    """A tree from arbora's npz, Newick, or a linkage matrix in any array or table format."""
    raw, suffix, name = _contents(source)
    kind = options.format if options.format != "auto" else guess_format(raw, suffix)
    if kind in ("npy", "csv", "tsv", "parquet"):
        kind = "linkage"  # an array where a tree is expected
    if kind not in ("npz", "linkage", "newick"):
        raise Unreadable(
            f"{name} is a {kind} file, not a tree. Make one with: arbora fit {name} --out tree.npz"
        )
    try:
        data = _READERS[kind](raw, name, options)
    except (Unreadable, Unusable, FormatError):
        raise
    except Exception as error:
        raise Unreadable(f"{name} is not a readable tree: {error}") from error
    if data.kind != "tree":
        raise Unreadable(f"{name} holds data, not a tree. Make one with: arbora fit {name} --out tree.npz")
    return data.values


def guess_format(raw: bytes, suffix: str) -> str:
    """Format by the first bytes; text without a mark of its own by the file's name, and else a table."""
    if raw.startswith(b"\x93NUMPY"):
        return "npy"
    if raw.startswith(b"PK\x03\x04"):
        return "npz"
    if raw.startswith(b"PAR1"):
        return "parquet"
    if raw.startswith(b"\x89HDF\r\n\x1a\n"):
        return "h5ad"
    start = raw[:4096].lstrip()
    if start.startswith(b"%%MatrixMarket"):
        return "mtx"
    if start.startswith((b"<?xml", b"<graphml")):
        return "graphml"
    by_name = _BY_SUFFIX.get(suffix)
    if by_name is None and start.startswith(b"(") and b";" in raw[-64:]:
        return "newick"
    return by_name or "csv"


def _contents(source: str) -> tuple[bytes, str, str]:
    if source == "-":
        if sys.stdin.isatty():
            raise Unreadable("Nothing on standard input. Give a file, or pipe one in.")
        raw, path, name = sys.stdin.buffer.read(), Path(""), "standard input"
    else:
        path, name = Path(source), source
        raw = _file_bytes(path)
    if raw.startswith(b"\x1f\x8b"):
        raw = _unpacked(raw, name)
        path = path.with_suffix("") if path.suffix == ".gz" else path
    if not raw:
        raise Unreadable(f"{name} is empty.")
    return raw, path.suffix.lower(), name


def _file_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise Unreadable(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise Unreadable(f"{path} is a folder.") from None
    except PermissionError:
        raise Unreadable(f"{path} may not be read: permission denied.") from None
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}.") from error


def _unpacked(raw: bytes, name: str) -> bytes:
    parts, total = [], 0
    try:
        with gzip.open(io.BytesIO(raw)) as file:
            while part := file.read(2**24):
                total += len(part)
                if total > _MOST_UNPACKED:
                    raise Unreadable(f"{name} unpacks to more than {_MOST_UNPACKED >> 30} GB.")
                parts.append(part)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"{name} is a damaged gzip file: {error}.") from error
    return b"".join(parts)
