"""iTOL (Interactive Tree Of Life): a Newick file and the annotation files to drop on it."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from arbora._base.files import write_whole
from arbora._base.types import PathLike
from arbora.tree._tree import Tree
from arbora.tree.same_order import row_of_leaf

# Steps of this share of the color wheel keep any number of hues apart.
_GOLDEN_TURN = 0.618034


def write(
    tree: Tree, directory: PathLike, *, metadata: Mapping[str, Sequence[Any]] | None = None
) -> list[Path]:
    """Write ``tree.nwk``, ``labels.txt`` (where the tree has names) and one color strip per column.

    Nodes go by their number in the files (``I`` before that of an internal node), so names may hold any
    character; the label file says what iTOL is to show. Every file is written whole: a full disk leaves the old one.

    Parameters
    ----------
    tree : Tree
    directory : path
        Made if it does not exist; files of the same name are replaced.
    metadata : mapping of str to sequence, optional
        For each strip its title and one category per leaf.

    Returns
    -------
    list of Path
        The files, the tree first.

    Examples
    --------
    >>> import tempfile
    >>> from arbora import Tree
    >>> tree = Tree.from_newick("((owl,hen),cod);")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in tree.to_itol(folder, metadata={"can fly": ["yes", "no", "no"]})]
    ['tree.nwk', 'labels.txt', 'strip_can_fly.txt']
    """
    columns = _checked_columns(tree, metadata)
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    ids = [str(leaf) for leaf in range(tree.n_leaves)]
    ids += [f"I{node}" for node in range(tree.n_leaves, tree.n_nodes)]
    contents = {"tree.nwk": tree.replace(name=ids).to_newick() + "\n"}
    if tree.name is not None:
        named = [(node_id, _clean(name)) for node_id, name in zip(ids, tree.name) if name]
        contents["labels.txt"] = _annotation("LABELS", {}, named)
    for title, values in columns.items():
        contents[f"strip_{re.sub(r'[^0-9A-Za-z]+', '_', title).strip('_')}.txt"] = _strip(title, values)
    paths = []
    for file_name, text in contents.items():
        path = directory / file_name
        write_whole(path, text.encode("utf-8"))
        paths.append(path)
    return paths


def _checked_columns(tree: Tree, metadata: Mapping[str, Sequence[Any]] | None) -> dict[str, list[str]]:
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping):
        raise TypeError(f"metadata must map titles to one category per leaf. Got {type(metadata).__name__}.")
    columns = {}
    for title, values in metadata.items():
        texts = [_clean(str(value)) for value in values]
        if len(texts) != tree.n_leaves:
            raise ValueError(
                f"metadata[{str(title)!r}] must have n_leaves={tree.n_leaves} entries. Got {len(texts)}."
            )
        columns[str(title)] = [texts[row] for row in row_of_leaf(tree, values, f"metadata[{str(title)!r}]")]
    files = {re.sub(r"[^0-9A-Za-z]+", "_", title).strip("_") for title in columns}
    if len(files) != len(columns) or "" in files:
        raise ValueError(f"metadata must have titles that differ in letters or digits. Got {list(columns)}.")
    return columns


def _strip(title: str, values: list[str]) -> str:
    categories = list(dict.fromkeys(values))
    colors = {category: _color(k) for k, category in enumerate(categories)}
    settings = {
        "DATASET_LABEL": _clean(title),
        "COLOR": colors[categories[0]],
        "LEGEND_TITLE": _clean(title),
        "LEGEND_SHAPES": "\t".join("1" for _ in categories),
        "LEGEND_COLORS": "\t".join(colors.values()),
        "LEGEND_LABELS": "\t".join(categories),
    }
    rows = [(str(leaf), f"{colors[value]}\t{value}") for leaf, value in enumerate(values)]
    return _annotation("DATASET_COLORSTRIP", settings, rows)


def _annotation(kind: str, settings: dict[str, str], rows: list[tuple[str, str]]) -> str:
    head = [kind, "SEPARATOR TAB", *(f"{key}\t{value}" for key, value in settings.items()), "DATA"]
    return "\n".join([*head, *(f"{node_id}\t{value}" for node_id, value in rows)]) + "\n"


def _clean(text: str) -> str:
    """Without tabs and line breaks, which separate fields and rows."""
    return re.sub(r"[\t\r\n]+", " ", text)


def _color(k: int) -> str:
    """Distinct colors: hues by the golden ratio, lightness in three steps."""
    hue, lightness = (k * _GOLDEN_TURN) % 1.0, (0.45, 0.62, 0.32)[k % 3]
    red, green, blue = colorsys.hls_to_rgb(hue, lightness, 0.65)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"
