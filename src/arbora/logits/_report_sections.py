"""The sections of a class report: titles, sentences, and what every column means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from arbora.logits.sections import Section

if TYPE_CHECKING:
    from arbora.logits.report import ClassReport

_PAIRS = {
    "a": "a class",
    "b": "another one",
    "probability": "mean of the two next columns: how much the model takes them for each other",
    "a_to_b": "mean probability of b over the points predicted to be a",
    "b_to_a": "mean probability of a over the points predicted to be b",
    "errors": "points of one that were predicted to be the other",
    "distance": "in the taxonomy: 0 for classes of one parent, 1 for classes that only the root joins",
}
_CONFLICTS = {
    "node": "node of the tree",
    "group": "the smaller side of the merge",
    "taxon": "the smallest taxon that holds the group",
    "host": "what it merged with",
    "host_taxon": "the smallest taxon that holds the host",
    "levels": "levels of the taxonomy between the nearest other classes of the group and where it meets the host",
    "support": "share of bootstrap replicates with the same merge",
}
_SPURIOUS = {
    "a": "the class that is nearer to b than to its own relatives",
    "b": "the class it is taken for",
    "probability": "how much the model takes a and b for each other",
    "kin": "of the classes nearer to a in the taxonomy, the one the model takes it for most",
    "kin_probability": "how much it does",
    "distance": "of a and b in the taxonomy, 0 to 1",
    "meet_in": "the smallest taxon that holds both",
}
_NODES = {
    "node": "node of the tree",
    "name": "class, taxon, or the classes in it",
    "classes": "number of classes",
    "points": "points that belong to it",
    "precision": "of the points predicted in it, the share that belongs to it",
    "recall": "of the points that belong to it, the share predicted in it",
    "f1": "harmonic mean of both",
}
_BINS = {
    "confidence": "mean confidence of the points of a bin",
    "accuracy": "share of them that is predicted correctly",
    "points": "points of the bin",
}


def sections_of(report: ClassReport) -> list[Section]:
    """All sections with content, in order."""
    found = [_summary(report)]
    if report.calibration is not None:
        found.append(_calibration(report))
    found.append(
        _table("pairs", "Confusable pairs", "Classes the model takes for each other.", _PAIRS, report.pairs)
    )
    found.append(
        _table(
            "conflicts",
            "Groups against the taxonomy",
            "Merges of the tree that skip levels of the taxonomy: the group had nearer classes elsewhere.",
            _CONFLICTS,
            report.conflicts,
        )
    )
    found.append(
        _table(
            "spurious",
            "Related by the model, not by the taxonomy",
            "Candidate spurious correlations (a shared background or context), or a taxonomy that is too coarse: the "
            "model takes a for b more than for any class that the taxonomy puts nearer to a.",
            _SPURIOUS,
            report.spurious,
        )
    )
    found.append(
        _table(
            "nodes",
            "Weakest classes and groups",
            "A group counts as predicted when any of its classes is.",
            _NODES,
            report.weak_nodes,
        )
    )
    if report.confusion is not None:
        found.append(_confusion(report))
    return [section for section in found if section.rows or section.matrix is not None]


def _table(name: str, title: str, text: str, meanings: dict[str, str], rows: list[dict[str, Any]]) -> Section:
    columns = {key: meanings[key] for key in rows[0]} if rows else {}
    return Section(name, title, text, columns, rows)


def _summary(report: ClassReport) -> Section:
    figures: list[tuple[str, Any]] = [("points", report.n_points), ("classes", report.tree.n_leaves)]
    if report.calibration is not None:
        figures += [
            ("accuracy", report.calibration.accuracy),
            ("mean confidence", report.calibration.confidence),
            ("calibration error", report.calibration.error),
            ("hierarchical F1", report.hierarchical_f1),
            ("mistake severity", report.mistake_severity),
        ]
    if report.recommended_temperature is not None:
        figures.append(("recommended temperature", report.recommended_temperature))
    columns = {
        "figure": "calibration error: mean distance of confidence and accuracy; mistake severity: mean height at which "
        "mistakes meet the truth, in edges",
        "value": "",
    }
    rows = [{"figure": name, "value": value} for name, value in figures]
    return Section("summary", "Summary", "The classifier in figures.", columns, rows)


def _calibration(report: ClassReport) -> Section:
    found = report.calibration
    assert found is not None
    rows = [
        {"confidence": float(c), "accuracy": float(a), "points": int(n)}
        for c, a, n in zip(found.bin_confidence, found.bin_accuracy, found.bin_count)
    ]
    text = "Bins of a reliability diagram: a calibrated model is right as often as it is confident."
    return Section("calibration", "Calibration", text, dict(_BINS), rows)


def _confusion(report: ClassReport) -> Section:
    order = report.tree.leaf_order
    assert report.confusion is not None
    matrix = np.ascontiguousarray(report.confusion[np.ix_(order, order)])
    names = [report.tree.label(int(c)) for c in order]
    text = "Points by true class (row) and predicted class (column), in the order of the tree."
    return Section("confusion", "Confusion matrix", text, matrix=matrix, names=names)
