"""Reading a classifier: what it confuses, what it groups against a taxonomy, and whether to trust its probabilities."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.threads import count_threads
from arbora.logits._protocol import Assignment, Reading
from arbora.logits._rows import ArrayRows
from arbora.logits.calibration import Calibration, calibration_error, fit_temperature
from arbora.logits.l2h import L2H
from arbora.logits.taxonomy import Placement, taxonomy_tree
from arbora.tree import Tree

TOLERATED_ERROR = 0.05
_SURE = 0.99
_NAMES_SHOWN = 6
TABLES = ("pairs", "conflicts", "spurious")


@dataclass(frozen=True)
class ClassReport:
    """What `class_report` found.

    Attributes
    ----------
    tree : Tree
        Over the classes.
    pairs : list of dict
        Confusable pairs: mean probability that points of one get for the other (`probability`, and each way); with
        labels also `errors`, with a taxonomy `distance` (0 siblings, 1 unrelated).
    conflicts : list of dict
        Groups that merge against the taxonomy: `group` (of `taxon`) joins `host` although the taxonomy has nearer
        classes; `levels` counts the levels of the taxonomy it skipped, `support` is the bootstrap's.
    spurious : list of dict
        Candidate spurious correlations: pairs that the model relates and the taxonomy does not; `score` is probability
        times distance.
    calibration : Calibration or None
        With labels: expected calibration error and its parts.
    temperature : float or None
        With labels: the temperature that calibrates the logits.
    changed_groups : float or None
        Share of the tree's groups that are not in the tree of the calibrated logits.
    warnings : list of str
    columns : dict
        Per class: points, confidence, and, with labels, accuracy; what it is most confused with.
    """

    tree: Tree
    pairs: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]
    spurious: list[dict[str, Any]]
    calibration: Calibration | None
    temperature: float | None
    changed_groups: float | None
    warnings: list[str]
    columns: dict[str, list[Any]] = field(repr=False)

    def to_frame(self, table: str = "pairs") -> Any:
        """One of the tables ("pairs", "conflicts", "spurious") as a pandas data frame."""
        from importlib import import_module

        if table not in TABLES:
            raise ValueError(f"table must be one of {TABLES}. Got {table!r}.")
        return import_module("pandas").DataFrame(getattr(self, table))

    def __str__(self) -> str:
        parts = [f"Warning: {text}" for text in self.warnings]
        if self.calibration is not None:
            parts.append(
                f"Accuracy {self.calibration.accuracy:.3f}, mean confidence {self.calibration.confidence:.3f}, "
                f"calibration error {self.calibration.error:.3f}, temperature {self.temperature:.2f}"
            )
        for title, rows in self._titled():
            parts.append(title + "\n" + _text_table(rows))
        return "\n\n".join(parts)

    def _titled(self) -> list[tuple[str, list[dict[str, Any]]]]:
        titles = ("Confusable pairs", "Groups against the taxonomy", "Candidate spurious correlations")
        return [
            (title, rows) for title, rows in zip(titles, (self.pairs, self.conflicts, self.spurious)) if rows
        ]

    def _repr_html_(self) -> str:
        parts = [f"<p><b>Warning:</b> {html.escape(text)}</p>" for text in self.warnings]
        return "".join(parts + [f"<h4>{title}</h4>{_html_table(rows)}" for title, rows in self._titled()])

    def explore(self, **options: Any) -> Any:
        """Open the explorer on the tree with the report's figures as columns; see `arbora.view.explore`."""
        return self.tree.explore(**{"metadata": self.columns, **options})

    def to_html(self, path: Any, **options: Any) -> Any:
        """Write the explorer page with the report's figures as columns; see `Tree.to_html`."""
        return self.tree.to_html(path, **{"metadata": self.columns, "title": "Class report", **options})


def class_report(
    model: L2H,
    logits: Any,
    y: Any = None,
    *,
    taxonomy: Any = None,
    max_rows: int = 20,
) -> ClassReport:
    """Read a classifier through the tree of its classes.

    Parameters
    ----------
    model : L2H
        Fitted on this classifier's logits.
    logits : array-like, shape (n_points, n_classes)
        Of the same or other points, in memory.
    y : array-like of int, shape (n_points,), optional
        True classes as column numbers: adds errors, accuracy, calibration and the temperature that mends it.
    taxonomy : Tree, sequence of labels or of paths, optional
        What classes ought to be near: superclasses, WordNet's hypernym paths, or a tree. Adds conflicts with it and
        candidate spurious correlations.
    max_rows : int
        Rows of each table.

    Returns
    -------
    report : ClassReport
        Prints as tables; `to_frame`, `explore` and `to_html` show it elsewhere.

    Examples
    --------
    >>> import numpy as np, arbora as ab
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 4, 400)
    >>> near = np.array([[4, 2, 0, 0], [2, 4, 0, 1], [0, 0, 4, 2], [0, 1, 2, 4]])
    >>> logits = near[y] + rng.normal(size=(400, 4))
    >>> l2h = ab.L2H(class_names=["cat", "dog", "car", "bus"], random_state=0).fit(logits)
    >>> report = ab.logits.class_report(l2h, logits, y, taxonomy=["pet", "pet", "vehicle", "vehicle"])
    >>> sorted([report.pairs[0]["a"], report.pairs[0]["b"]])
    ['bus', 'car']
    """
    if not isinstance(model, L2H) or not hasattr(model, "tree_"):
        raise TypeError("model must be a fitted L2H. Got " + type(model).__name__ + ".")
    if max_rows < 1:
        raise ValueError(f"max_rows must be 1 or more. Got {max_rows!r}.")
    rows = _open(model, logits)
    assignment = rows.scan()
    y = _checked_labels(y, assignment)
    tree = model.tree_
    names = [tree.label(c) for c in range(tree.n_leaves)]
    confusion = _mean_probabilities(rows, assignment)
    placement = None if taxonomy is None else Placement(taxonomy_tree(taxonomy, tree.n_leaves))
    calibration, temperature, changed, warnings = _trust(model, rows, assignment, y)
    return ClassReport(
        tree=tree,
        pairs=_confusable_pairs(confusion, assignment, y, names, placement, max_rows),
        conflicts=[] if placement is None else _conflicts(tree, placement, names, max_rows),
        spurious=[] if placement is None else _spurious_pairs(confusion, names, placement, max_rows),
        calibration=calibration,
        temperature=temperature,
        changed_groups=changed,
        warnings=warnings,
        columns=_class_columns(assignment, confusion, y, names, placement),
    )


def _open(model: L2H, logits: Any) -> ArrayRows:
    reading = Reading(model.from_probabilities, model.temperature, count_threads(model.n_jobs))
    rows = ArrayRows(logits, reading)
    if rows.array.ndim != 2 or rows.array.shape[1] != model.n_classes_ or len(rows.array) == 0:
        raise ValueError(f"logits must have shape (n_points, {model.n_classes_}). Got {rows.array.shape}.")
    return rows


def _checked_labels(y: Any, assignment: Assignment) -> NDArray[np.int64] | None:
    if y is None:
        return None
    y = np.asarray(y)
    if y.shape != assignment.assigned.shape or y.dtype.kind not in "iu":
        raise ValueError(
            f"y must hold one class number a point, {len(assignment.assigned)}. Got {y.dtype}, shape {y.shape}."
        )
    if y.min() < 0 or y.max() >= assignment.n_classes:
        raise ValueError(f"y must lie in [0, n_classes={assignment.n_classes}). Got {y.min()}..{y.max()}.")
    return np.asarray(y, np.int64)


def _mean_probabilities(rows: ArrayRows, assignment: Assignment) -> NDArray[np.float64]:
    """Mean probability that the points assigned to each class give every class (rows without points are 0)."""
    return rows.probability_sums(assignment) / np.maximum(assignment.counts, 1)[:, None]


def _confusable_pairs(
    confusion: NDArray[np.float64],
    assignment: Assignment,
    y: NDArray[np.int64] | None,
    names: list[str],
    placement: Placement | None,
    max_rows: int,
) -> list[dict[str, Any]]:
    a, b = np.triu_indices(len(confusion), 1)
    value = 0.5 * (confusion[a, b] + confusion[b, a])
    best = np.argsort(-value, kind="stable")[:max_rows]
    a, b, value = a[best], b[best], value[best]
    errors = None
    if y is not None:
        errors = np.zeros((len(confusion), len(confusion)), np.int64)
        np.add.at(errors, (y, assignment.assigned), 1)
    distance = None if placement is None else placement.distance(a, b)
    table = []
    for k in range(len(a)):
        i, j = int(a[k]), int(b[k])
        row = {"a": names[i], "b": names[j], "probability": float(value[k])}
        row |= {"a_to_b": float(confusion[i, j]), "b_to_a": float(confusion[j, i])}
        if errors is not None:
            row["errors"] = int(errors[i, j] + errors[j, i])
        if distance is not None:
            row["distance"] = float(distance[k])
        table.append(row)
    return table


def _conflicts(tree: Tree, placement: Placement, names: list[str], max_rows: int) -> list[dict[str, Any]]:
    """Merges whose smaller side had nearer classes in the taxonomy than those it joined."""
    table: list[dict[str, Any]] = []
    for v in range(tree.n_leaves, tree.n_nodes):
        children = sorted(tree.children(v).tolist(), key=lambda child: (tree.sizes[child], child))
        group, host = tree.leaves(children[0]), np.concatenate([tree.leaves(c) for c in children[1:]])
        met = int(placement.depth[placement.meet(np.concatenate([group, host]))])
        skipped = placement.nearest_elsewhere(group) - met
        # A group as large as its taxon may be had no nearer place than this one.
        if skipped < 1 or placement.nearest_elsewhere(host) <= met:
            continue
        table.append(
            {
                "node": v,
                "group": _listed(group, names),
                "taxon": placement.name(placement.meet(group)),
                "host": _listed(host, names),
                "host_taxon": placement.name(placement.meet(host)),
                "levels": skipped,
                "support": float("nan") if tree.support is None else float(tree.support[v]),
            }
        )
    table.sort(key=lambda row: (-row["levels"], row["node"]))
    return table[:max_rows]


def _listed(classes: NDArray[np.int64], names: list[str]) -> str:
    shown = ", ".join(names[c] for c in classes[:_NAMES_SHOWN].tolist())
    return shown + (f" and {len(classes) - _NAMES_SHOWN} more" if len(classes) > _NAMES_SHOWN else "")


def _spurious_pairs(
    confusion: NDArray[np.float64], names: list[str], placement: Placement, max_rows: int
) -> list[dict[str, Any]]:
    a, b = np.triu_indices(len(confusion), 1)
    value = 0.5 * (confusion[a, b] + confusion[b, a])
    score = value * placement.distance(a, b)
    best = np.argsort(-score, kind="stable")[:max_rows]
    table = []
    for k in best.tolist():
        if score[k] <= 1.0 / len(confusion) ** 2:  # what chance alone would give a pair
            break
        i, j = int(a[k]), int(b[k])
        row = {"a": names[i], "b": names[j], "score": float(score[k]), "probability": float(value[k])}
        row["meet_in"] = placement.name(placement.meet([i, j]))
        table.append(row)
    return table


def _trust(
    model: L2H, rows: ArrayRows, assignment: Assignment, y: NDArray[np.int64] | None
) -> tuple[Calibration | None, float | None, float | None, list[str]]:
    """Calibration, the temperature that mends it, how much of the tree it changes, and warnings."""
    warnings = []
    if (n_empty := int((assignment.counts == 0).sum())) > 0:
        warnings.append(
            f"{n_empty} classes are predicted for no point: their place in the tree rests on probabilities."
        )
    if y is None:
        if float(np.mean(assignment.confidence > _SURE)) > 0.9:
            warnings.append(
                "The model is almost always sure: if it is overconfident, similarities between classes are noise. "
                "Pass labels of held-out points to check."
            )
        return None, None, None, warnings
    logits = _plain_logits(rows)
    calibration, temperature = calibration_error(logits, y), fit_temperature(logits, y)
    changed = None
    if calibration.error > TOLERATED_ERROR:
        changed = _changed_groups(model, logits, temperature)
        kind = "overconfident" if calibration.confidence > calibration.accuracy else "underconfident"
        warnings.append(
            f"The model is {kind} (calibration error {calibration.error:.3f}): L2H reads similarity from "
            f"probabilities, and {changed:.0%} of the groups change once calibrated. "
            f"Fit again with L2H(temperature={temperature * model.temperature:.2f})."
        )
    return calibration, temperature, changed, warnings


def _plain_logits(rows: ArrayRows) -> NDArray[np.float64]:
    """Logits as the model sees them: decoded, tempered, logarithms of probabilities."""
    return np.log(np.maximum(rows.probabilities(), 1e-30))


def _changed_groups(model: L2H, logits: NDArray[np.float64], temperature: float) -> float:
    plain: dict[str, Any] = {
        "from_probabilities": False,
        "n_bootstraps": 0,
        "class_names": None,
        "refine": model.refine,
    }
    before = L2H(aggregation=model.aggregation, merging=model.merging, **plain).fit(logits).tree_
    after = L2H(aggregation=model.aggregation, merging=model.merging, **plain).fit(logits / temperature).tree_
    return float(before.robinson_foulds(after, normalize=True)) if before.n_leaves > 2 else 0.0


def _class_columns(
    assignment: Assignment,
    confusion: NDArray[np.float64],
    y: NDArray[np.int64] | None,
    names: list[str],
    placement: Placement | None,
) -> dict[str, list[Any]]:
    n = assignment.n_classes
    confidence = np.bincount(assignment.assigned, assignment.confidence, minlength=n)
    other = 0.5 * (confusion + confusion.T)
    np.fill_diagonal(other, -1.0)
    columns: dict[str, list[Any]] = {}
    if placement is not None:
        columns["taxon"] = [placement.name(int(placement.tree.parent[c])) for c in range(n)]
    columns["predicted points"] = assignment.counts.tolist()
    columns["confidence"] = (confidence / np.maximum(assignment.counts, 1)).tolist()
    if y is not None:
        hits = np.bincount(y, assignment.assigned == y, minlength=n)
        columns["accuracy"] = (hits / np.maximum(np.bincount(y, minlength=n), 1)).tolist()
    columns["confused with"] = [names[int(c)] for c in other.argmax(axis=1)] if n > 1 else [""]
    columns["confusion"] = other.max(axis=1).clip(0).tolist()
    return columns


def _cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _text_table(rows: list[dict[str, Any]]) -> str:
    head = list(rows[0])
    cells = [head] + [[_cell(row[key]) for key in head] for row in rows]
    widths = [max(len(line[k]) for line in cells) for k in range(len(head))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip() for line in cells
    )


def _html_table(rows: list[dict[str, Any]]) -> str:
    head = "".join(f"<th>{html.escape(key)}</th>" for key in rows[0])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row.values()) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
