"""Checks of what is given beside a tree: names, texts, images, rows of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import as_vectors, check_finite, is_missing
from arbora.similarity import Similarity
from arbora.tree import Tree
from arbora.tree.same_order import check_same_order

_MOST_PIXELS = 256
_MOST_TEXT = 4000


def checked_names(names: Iterable[Any], n_leaves: int, argument: str = "names") -> list[str]:
    """One str per leaf."""
    if isinstance(names, (str, bytes)):
        raise ValueError(
            f"{argument} must hold one name per leaf ({n_leaves}). Got one {type(names).__name__}."
        )
    found = [str(name) for name in names]
    if len(found) != n_leaves:
        raise ValueError(f"{argument} must hold one name per leaf ({n_leaves}). Got {len(found)}.")
    return found


def checked_texts(texts: Iterable[Any], n_leaves: int) -> list[str]:
    """One text per leaf, "" where a leaf has none."""
    if isinstance(texts, (str, bytes)):
        raise ValueError(f"texts must hold one text per leaf ({n_leaves}). Got one {type(texts).__name__}.")
    found = ["" if is_missing(text) else str(text) for text in texts]
    if len(found) != n_leaves:
        raise ValueError(f"texts must hold one text per leaf ({n_leaves}). Got {len(found)}.")
    return found


def snippet(text: str, most: int = _MOST_TEXT) -> str:
    """The beginning of a text, as much as a page shows."""
    return text if len(text) <= most else text[: most - 1] + "…"


def checked_rows(values: Any, n_leaves: int, argument: str) -> NDArray[np.float64]:
    """Finite numbers, one row per leaf."""
    array: NDArray[np.float64] = as_vectors(values, argument=argument)
    if len(array) != n_leaves:
        raise ValueError(
            f"{argument} must have one row per leaf, shape ({n_leaves}, ...). Got {array.shape}."
        )
    return array


def checked_images(images: Any, n_leaves: int) -> NDArray[np.uint8]:
    """Thumbnails as bytes; other numbers are scaled to their range."""
    array = np.asarray(images)
    if array.ndim not in (3, 4) or len(array) != n_leaves or (array.ndim == 4 and array.shape[3] != 3):
        raise ValueError(
            f"images must have shape ({n_leaves}, h, w) or ({n_leaves}, h, w, 3). Got {array.shape}."
        )
    if max(array.shape[1:3]) > _MOST_PIXELS:
        raise ValueError(
            f"images must be at most {_MOST_PIXELS} pixels wide and high: they are thumbnails. "
            f"Got {array.shape[1:3]}."
        )
    if array.dtype == np.uint8:
        return array
    array = array.astype(np.float64)
    check_finite(array, "images")
    low, high = float(array.min()), float(array.max())
    return np.round((array - low) * (255 / max(high - low, 1e-300))).astype(np.uint8)


def checked_report(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report as plain values: warnings, notes, and sections with title, text, and table or matrix."""
    if not isinstance(report, Mapping) or not isinstance(report.get("sections"), list):
        raise ValueError(
            "report must be a mapping with a list of sections, as ClassReport.to_dict() gives it."
        )
    for section in report["sections"]:
        absent = {"name", "title", "text", "columns", "rows"} - set(section)
        if absent:
            raise ValueError(f"Every section of a report needs {sorted(absent)}. Got {sorted(section)}.")
    return {"warnings": [], "notes": [], **report}


def checked_similarity(similarity: Any, tree: Tree) -> Similarity:
    """A similarity with a point per leaf, none of which is called as another leaf is."""
    if not isinstance(similarity, Similarity):
        raise TypeError(
            f"similarity must be a similarity, such as TreeClustering.similarity_. Got {type(similarity).__name__}."
        )
    if similarity.n_points != tree.n_leaves:
        raise ValueError(
            f"similarity has {similarity.n_points} points, but the tree has {tree.n_leaves} leaves."
        )
    check_same_order(tree, similarity.names, "similarity")
    return similarity


def similarity_or_neighbors(similarity: Any, features: Any, most: int) -> Any:
    """The similarity given, or the neighbor graph of up to `most` features; None where there is neither."""
    if similarity is not None or features is None:
        return similarity
    rows = as_vectors(features, argument="features")
    if not 2 < len(rows) <= most:
        return None
    from arbora.similarity import knn

    return knn(rows)
