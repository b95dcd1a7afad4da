"""Metadata columns: values of the leaves, in leaf order, and what they say about every node above."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora.tree import Tree
from arbora.view import _kernels as kernels

MISSING = 65535
_MAX_CATEGORIES = 4096
_FEW_INTEGERS = 40


@dataclass(frozen=True)
class Column:
    """One metadata column over a tree's leaves.

    Attributes
    ----------
    name : str
    categories : list of str, or None for a column of numbers
    values : ndarray
        In leaf order: uint16 codes (65535 = missing) of a categorical column, else float32 (NaN = missing).
    """

    tree: Tree
    name: str
    categories: list[str] | None
    values: NDArray[Any]

    @property
    def kind(self) -> str:
        """Either "category" or "number"."""
        return "number" if self.categories is None else "category"

    @cached_property
    def _signed_codes(self) -> NDArray[np.int64]:
        codes = self.values.astype(np.int64)
        codes[codes == MISSING] = -1
        return codes

    @cached_property
    def of_nodes(self) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """For every node: its most frequent class and that class's share (of 255); or its mean, and 255."""
        tree = self.tree
        if self.categories is None:
            known = np.isfinite(self.values)
            total = _running(np.where(known, self.values, 0.0))
            count = _running(known.astype(np.float64))
            end = tree.leaf_start + tree.sizes
            with np.errstate(invalid="ignore"):
                mean = (total[end] - total[tree.leaf_start]) / (count[end] - count[tree.leaf_start])
            return mean.astype(np.float32), np.full(tree.n_nodes, 255, dtype=np.uint8)
        winner, count = kernels.majority_below(
            self._signed_codes, len(self.categories), tree.leaf_start, tree.sizes
        )
        codes = np.where(winner < 0, MISSING, winner).astype(np.uint16)
        return codes, np.round(255 * count / tree.sizes).astype(np.uint8)

    def counts(self, node: int, most: int = 12) -> list[tuple[int, int]]:
        """The most frequent classes below a node: (code, count), most frequent first."""
        start, size = int(self.tree.leaf_start[node]), int(self.tree.sizes[node])
        codes = self._signed_codes[start : start + size]
        count = np.bincount(codes[codes >= 0], minlength=len(self.categories or ()))
        top = np.argsort(-count, kind="stable")[:most]
        return [(int(code), int(count[code])) for code in top if count[code]]


def read_columns(tree: Tree, metadata: Any, labels: Any = None) -> list[Column]:
    """Columns of a mapping or data frame, one value a leaf; `labels` becomes the first, called "label"."""
    given: dict[str, Any] = {}
    if labels is not None:
        given["label"] = labels
    if metadata is not None:
        if hasattr(metadata, "columns") and hasattr(metadata, "__getitem__"):
            given.update({str(name): metadata[name] for name in metadata.columns})
        elif isinstance(metadata, Mapping):
            given.update({str(name): values for name, values in metadata.items()})
        else:
            raise TypeError(
                f"metadata must map names to values, or be a data frame. Got {type(metadata).__name__}."
            )
    return [read_column(tree, name, values) for name, values in given.items()]


def read_column(tree: Tree, name: str, values: Any) -> Column:
    """One column: text, booleans and few distinct integers are categories; other numbers stay numbers."""
    array = np.asarray(values)
    if array.shape != (tree.n_leaves,):
        raise ValueError(
            f"Column {name!r} must have one value a leaf, shape ({tree.n_leaves},). Got {array.shape}."
        )
    array = array[tree.leaf_order]
    if array.dtype.kind == "f" or (array.dtype.kind in "iu" and len(np.unique(array)) > _FEW_INTEGERS):
        return Column(tree, name, None, array.astype(np.float32))
    missing = np.zeros(len(array), dtype=bool)
    if array.dtype.kind not in "iuUSb":
        missing = np.array([value is None or value != value for value in array])
        array = array.astype(str)
    distinct, known_codes = np.unique(array[~missing], return_inverse=True)
    codes = np.zeros(len(array), dtype=np.int64)
    codes[~missing] = known_codes
    if (
        len(distinct) > _MAX_CATEGORIES
    ):  # names rather than classes: keep the most frequent, the rest is "other"
        keep = np.argsort(-np.bincount(codes), kind="stable")[: _MAX_CATEGORIES - 1]
        renumber = np.full(len(distinct), _MAX_CATEGORIES - 1)
        renumber[keep] = np.arange(len(keep))
        distinct, codes = np.append(distinct[keep].astype(str), "other"), renumber[codes]
    codes = np.where(missing, MISSING, codes).astype(np.uint16)
    return Column(tree, name, [str(value) for value in distinct], codes)


def _running(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
