"""Columns over a tree's leaves: what each leaf has, and what that says about every node above."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbora._base.arrays import frame_columns
from arbora._base.types import Ints
from arbora.reading.links import is_link
from arbora.tree import Tree
from arbora.tree.same_order import row_of_leaf
from arbora.view import _kernels as kernels
from arbora.view import palette
from arbora.view.values import Values, read_values

ColumnKind = Literal["category", "number", "time", "duration", "text"]
MISSING = 65535
HISTOGRAM_BINS = 24
_MAX_CATEGORIES = 4096
_MAX_CODES = 40
_MOST_TEXT = 500
_SCALE_OF: dict[str, ColumnKind] = {
    "integer": "number",
    "number": "number",
    "time": "time",
    "duration": "duration",
}
# Numbers whose sums would overflow are treated as infinite: they have no color.
_BEYOND_SUMS = 1e290
# Share of the values that a color scale leaves beyond each of its ends, where outliers would decide it.
_BEYOND_SCALE = 0.02


@dataclass(frozen=True)
class Column:
    """One column over a tree's leaves.

    Attributes
    ----------
    name : str
    kind : {"category", "number", "time", "duration", "text"}
        Times are seconds since 1970, durations seconds. Text is shown and searched, never a color.
    categories : list of str
        Of a column of categories; otherwise empty.
    values : ndarray
        In leaf order: uint16 codes (65535 = missing) of categories, str of texts ("" = missing), else floats
        (NaN = missing).
    lumped : bool
        Rare categories beyond 4,096 are one, "other": such a column colors, but scores nothing.
    colors : list of str, optional
        Colors of the categories, where the user has chosen them.
    links : bool
        Whether texts are addresses, which a card shows as links.
    """

    tree: Tree
    name: str
    kind: ColumnKind
    categories: list[str]
    values: NDArray[Any]
    lumped: bool = False
    colors: list[str] | None = None
    links: bool = False

    @property
    def shades(self) -> list[str]:
        """A color per category: those that were given, else the palette's."""
        return palette.categorical(len(self.categories)) if self.colors is None else self.colors

    @property
    def is_scale(self) -> bool:
        """Whether values are colored on a scale."""
        return self.kind in ("number", "time", "duration")

    @property
    def scores(self) -> bool:
        """Whether cuts can be scored against this column."""
        return self.kind == "category" and not self.lumped and len(self.categories) > 0

    @cached_property
    def _signed_codes(self) -> NDArray[np.int64]:
        codes = self.values.astype(np.int64)
        codes[codes == MISSING] = -1
        return codes

    @cached_property
    def range(self) -> tuple[float, float]:
        """Ends of the color scale: all values, or from the 2nd to the 98th percentile where outliers decide."""
        known = self.values[np.isfinite(self.values)].astype(np.float64)
        if len(known) == 0:
            return 0.0, 1.0
        least, most = float(known.min()), float(known.max())
        low, high = (float(q) for q in np.quantile(known, [_BEYOND_SCALE, 1 - _BEYOND_SCALE]))
        clipped = high > low and (most - least) > 1.5 * (high - low)
        return (low, high) if clipped else (least, most)

    @cached_property
    def of_nodes(self) -> tuple[NDArray[Any], NDArray[np.uint8]]:
        """For every node: its most frequent class and that class's share of the known (of 255); or its mean."""
        tree = self.tree
        if self.is_scale:
            known = np.isfinite(self.values)
            total = _running(np.where(known, self.values, 0.0))
            count = _running(known.astype(np.float64))
            end = tree.leaf_start + tree.sizes
            with np.errstate(invalid="ignore"):
                mean = (total[end] - total[tree.leaf_start]) / (count[end] - count[tree.leaf_start])
            return _for_colors(mean, self.kind), np.full(tree.n_nodes, 255, dtype=np.uint8)
        winner, count = kernels.majority_below(
            self._signed_codes, len(self.categories), tree.leaf_start, tree.sizes
        )
        known = np.diff(_running((self._signed_codes >= 0).astype(np.float64))[_bounds(tree)], axis=1)[:, 0]
        codes = np.where(winner < 0, MISSING, winner).astype(np.uint16)
        return codes, np.round(255 * count / np.maximum(known, 1)).astype(np.uint8)

    def summary(self, node: int, most: int = 12) -> dict[str, Any]:
        """What the column says about one node, as the card shows it; missing values do not count."""
        start, size = int(self.tree.leaf_start[node]), int(self.tree.sizes[node])
        values = self.values[start : start + size]
        if self.kind == "text":
            return {"text": str(values[0])} if size == 1 else {}
        if self.kind == "category":
            codes = self._signed_codes[start : start + size]
            count = np.bincount(codes[codes >= 0], minlength=len(self.categories))
            top = np.argsort(-count, kind="stable")[:most]
            mix = [[int(code), int(count[code])] for code in top if count[code]]
            return {"known": int(count.sum()), "mix": mix}
        known = values[np.isfinite(values)].astype(np.float64)
        if len(known) == 0:
            return {"known": 0}
        least, mean, greatest = float(known.min()), float(known.mean()), float(known.max())
        found = {"known": len(known), "mean": mean, "least": least, "most": greatest}
        return found | ({"bins": self._histogram(known)} if size > 1 else {})

    def _histogram(self, known: NDArray[np.float64]) -> list[int]:
        """Values along the color scale, in equal steps; those beyond its ends count for the ends."""
        low, high = self.range
        if high <= low:
            return []
        step = np.floor((known - low) / (high - low) * HISTOGRAM_BINS).clip(0, HISTOGRAM_BINS - 1)
        counts: list[int] = np.bincount(step.astype(np.int64), minlength=HISTOGRAM_BINS).tolist()
        return counts

    def facts(self) -> dict[str, Any]:
        """What the page must know about the column."""
        facts: dict[str, Any] = {"name": self.name, "kind": self.kind, "categories": self.categories}
        if self.is_scale:
            known = self.values[np.isfinite(self.values)].astype(np.float64)
            facts["range"] = list(self.range)
            facts["ends"] = [float(known.min()), float(known.max())] if len(known) else [0.0, 1.0]
        if self.links:
            facts["links"] = True
        if self.kind == "time":
            facts["wholeDays"] = bool(np.all((self.values % 86400 == 0) | np.isnan(self.values)))
        if self.kind == "category":
            codes = self._signed_codes
            facts["counts"] = np.bincount(codes[codes >= 0], minlength=len(self.categories)).tolist()
            facts["scores"] = self.scores
            if self.colors is not None:
                facts["colors"] = self.colors
        return facts


def read_columns(
    tree: Tree, classes: Any = None, metadata: Any = None, category_colors: Any = None
) -> list[Column]:
    """Columns of `classes` (always categories) and of `metadata`, one value per leaf.

    Either is a mapping of titles to values or a data frame; `classes` may also be one array, titled by its name if
    it has one (a pandas or polars Series), else "class".
    """
    found: dict[str, Column] = {}
    for given, argument in ((classes, "classes"), (metadata, "metadata")):
        for title, values in _titled(given, argument).items():
            if title in found:
                raise ValueError(f"Two columns are called {title!r}. Rename one.")
            found[title] = read_column(tree, title, values, as_classes=argument == "classes")
    return [_colored(column, category_colors) for column in found.values()]


def _colored(column: Column, category_colors: Any) -> Column:
    """The column with the colors that were chosen for its categories; the palette's for the others."""
    if category_colors is None:
        return column
    if not isinstance(category_colors, Mapping):
        raise TypeError(
            "category_colors must map titles of columns to {category: '#rrggbb'}. "
            f"Got {type(category_colors).__name__}."
        )
    given = category_colors.get(column.name)
    if given is None or column.kind != "category":
        return column
    if not isinstance(given, Mapping):
        raise TypeError(
            f"category_colors[{column.name!r}] must map categories to colors. Got {type(given).__name__}."
        )
    chosen = {str(category): _hex(color, column.name) for category, color in given.items()}
    shades = [chosen.get(name, shade) for name, shade in zip(column.categories, column.shades, strict=True)]
    return replace(column, colors=shades)


def _hex(color: Any, title: str) -> str:
    text = str(color).lower()
    if re.fullmatch("#[0-9a-f]{6}", text) is None:
        raise ValueError(f"category_colors[{title!r}] must hold colors as '#rrggbb'. Got {color!r}.")
    return text


def _titled(given: Any, argument: str) -> dict[str, Any]:
    if given is None:
        return {}
    columns = frame_columns(given)
    if columns is not None:
        return columns
    if hasattr(given, "columns") and hasattr(given, "__getitem__"):
        return {str(name): given[name] for name in given.columns}
    if isinstance(given, Mapping):
        return {str(name): values for name, values in given.items()}
    if argument == "classes":
        name = getattr(given, "name", None)
        return {"class" if not isinstance(name, str) or not name else name: given}
    raise TypeError(
        f"{argument} must map titles to values, or be a data frame. Got {type(given).__name__}. "
        f"Write {argument}={{'title': values}}."
    )


def read_column(tree: Tree, name: str, values: Any, *, as_classes: bool = False) -> Column:
    """One column, in leaf order.

    Numbers, times and durations get a scale. Categories are text, booleans, and integers that look like codes: all
    of 0..m-1, or of 1..m, with m at most 40. Text of which more than 40 values and more than half are distinct is
    text to read, and so are addresses (http, https, mailto). With `as_classes` whatever is given is a category.
    """
    read = read_values(values, name, tree.n_leaves)
    ordered = _in_order(read, row_of_leaf(tree, values, name)[tree.leaf_order])
    if ordered.kind in ("text", "boolean"):
        return _text_column(tree, name, ordered, as_classes)
    if as_classes or (ordered.kind == "integer" and _are_codes(ordered.data)):
        return _number_category(tree, name, ordered)
    kind = _SCALE_OF[ordered.kind]
    with np.errstate(invalid="ignore"):
        shown = ~ordered.missing & (np.abs(ordered.data) < _BEYOND_SUMS)
    return Column(tree, name, kind, [], compact(np.where(shown, ordered.data, np.nan)))


def _in_order(values: Values, order: Ints) -> Values:
    return Values(values.kind, values.data[order], values.missing[order])


def _are_codes(data: NDArray[np.float64]) -> bool:
    distinct = np.unique(data[np.isfinite(data)])
    return 0 < len(distinct) <= _MAX_CODES and bool(
        np.array_equal(distinct, np.arange(len(distinct)) + distinct[0]) and distinct[0] in (0, 1)
    )


def _number_category(tree: Tree, name: str, values: Values) -> Column:
    """Numbers and times given as classes: in their own order, not in that of their digits."""
    distinct, codes = np.unique(values.data[~values.missing], return_inverse=True)
    if values.kind == "time":
        times = distinct.astype("datetime64[s]")
        days = times.astype("datetime64[D]")
        text = [str(one) for one in (days if np.array_equal(times, days) else times)]
    else:
        text = [f"{one:.0f}" if one == np.round(one) else repr(float(one)) for one in distinct]
    return _category_column(tree, name, text, codes, values.missing)


def _text_column(tree: Tree, name: str, values: Values, as_classes: bool) -> Column:
    known = values.data[~values.missing]
    distinct = len(set(known.tolist()))
    if not as_classes and len(known) and all(map(is_link, known)):
        return Column(tree, name, "text", [], values.data, links=True)
    if not as_classes and distinct > max(_MAX_CODES, len(known) / 2):
        text = np.array([_clipped(text) for text in values.data], dtype=object)
        return Column(tree, name, "text", [], text)
    categories, codes = np.unique(known.astype(str), return_inverse=True)
    return _category_column(tree, name, [str(one) for one in categories], codes, values.missing)


def _category_column(
    tree: Tree, name: str, categories: list[str], known_codes: NDArray[Any], missing: NDArray[np.bool_]
) -> Column:
    lumped = len(categories) > _MAX_CATEGORIES
    if lumped:
        keep = np.argsort(-np.bincount(known_codes), kind="stable")[: _MAX_CATEGORIES - 1]
        renumber = np.full(len(categories), _MAX_CATEGORIES - 1)
        renumber[keep] = np.arange(len(keep))
        categories, known_codes = [*(categories[k] for k in keep), "other"], renumber[known_codes]
    codes = np.full(len(missing), MISSING, dtype=np.uint16)
    codes[~missing] = known_codes
    return Column(tree, name, "category", categories, codes, lumped)


def compact(values: NDArray[np.float64]) -> NDArray[Any]:
    """float32 where that changes nothing, otherwise float64: a page shows what was given."""
    with np.errstate(over="ignore"):
        small = values.astype(np.float32)
    same = np.array_equal(small.astype(np.float64), values, equal_nan=True)
    return small if same else values.astype(np.float64)


def _for_colors(mean: NDArray[np.float64], kind: ColumnKind) -> NDArray[Any]:
    """Means of the nodes: seven digits, except for times, where seven digits resolve only hours."""
    with np.errstate(over="ignore"):
        small = mean.astype(np.float32)
    return mean if kind == "time" or np.isinf(small).any() else small


def _bounds(tree: Tree) -> NDArray[np.int64]:
    return np.stack([tree.leaf_start, tree.leaf_start + tree.sizes], axis=1)


def _running(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
