"""Trees made by arbora or elsewhere: saved archives, Newick, linkage matrices, GraphML."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np

from arbora.errors import FormatError, TreeError
from arbora.reading.arrays import as_numbers, load_array, load_arrays
from arbora.reading.columns import without_names
from arbora.reading.contents import Contents
from arbora.reading.frames import read_arrow, read_parquet
from arbora.reading.options import ReadOptions
from arbora.reading.tables import number_matrix, read_columns
from arbora.reading.text import decoded, layout_of
from arbora.tree import Tree
from arbora.tree.formats import nexus, phyloxml

_TREE_JSON = re.compile(
    rb'\s*\{\s*("format"\s*:\s*"arbora|("[^"]*"\s*:\s*("[^"]*"|[-\d.eE+]+|null)\s*,\s*)*"children"\s*:\s*\[)'
)


def is_saved_tree(contents: Contents) -> bool:
    """Whether an archive of arrays is a tree that arbora saved."""
    import io
    import zipfile

    try:
        with zipfile.ZipFile(contents.path or io.BytesIO(contents.raw)) as archive:
            return {"parent.npy", "n_leaves.npy"} <= set(archive.namelist())
    except (zipfile.BadZipFile, OSError):
        return False


def load_saved_tree(contents: Contents) -> Tree:
    """A tree that `Tree.save` wrote."""
    if contents.path is not None:
        return Tree.load(contents.path)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.npz"
        path.write_bytes(contents.raw)
        return Tree.load(path)


def read_newick(contents: Contents) -> Tree:
    """Newick text."""
    return Tree.from_newick(decoded(contents.raw, contents.name))


def read_tree_text(contents: Contents, format: str) -> Tree:
    """One tree in Nexus, phyloXML or JSON."""
    if format == "phyloxml":
        found = phyloxml.read(contents.raw)
    elif format == "nexus":
        found = list(nexus.read(decoded(contents.raw, contents.name)).values())
    else:
        found = [Tree.from_json(decoded(contents.raw, contents.name))]
    if len(found) != 1:
        raise FormatError(
            f"{contents.name} holds {len(found)} trees, where one is expected. In Python, Tree.load_all reads them; "
            "arbora consensus joins them."
        )
    return found[0]


def is_tree_json(contents: Contents) -> bool:
    """Whether a JSON file holds a tree: what arbora wrote, or nested objects with children."""
    return bool(_TREE_JSON.match(contents.head.lstrip(b"\xef\xbb\xbf")))


def read_linkage(contents: Contents, options: ReadOptions) -> Tree:
    """SciPy's (n - 1) x 4 matrix, as .npy, .npz, text, Parquet or Arrow."""
    raw, name = contents.head, contents.name
    if raw.startswith(b"\x93NUMPY"):
        matrix = as_numbers(load_array(contents), name)
    elif raw.startswith(b"PK\x03\x04"):
        arrays = load_arrays(contents)
        matrix = as_numbers(arrays[options.use or next(iter(arrays))], name)
    elif raw.startswith(b"PAR1"):
        matrix = number_matrix(read_parquet(contents, options)[0], name)
    elif raw.startswith((b"ARROW1", b"FEA1")):
        matrix = number_matrix(read_arrow(contents, options)[0], name)
    else:
        text = decoded(contents.raw, name)
        layout = layout_of(text, name, options)
        columns, _ = without_names(read_columns(text, layout, name), layout.n_row_names)
        matrix = number_matrix(columns, name)
    try:
        return Tree.from_linkage(np.asarray(matrix, dtype=np.float64))
    except (TreeError, ValueError, TypeError, IndexError) as error:
        raise FormatError(f"{name} is not a linkage matrix: {error}") from error
