"""What a report finds: confusable pairs, groups against a taxonomy, relations that the taxonomy does not know."""

from __future__ import annotations

from typing import Any

import numpy as np

from arbora._base.types import Floats, Ints
from arbora.logits._class_facts import ClassFacts
from arbora.logits.hierarchical import NodeScores
from arbora.logits.taxonomy import Placement
from arbora.tree import Tree

_NAMES_SHOWN = 6
_CANDIDATES = 500


def confusable_pairs(
    facts: ClassFacts,
    confusion: Ints | None,
    names: list[str],
    placement: Placement | None,
    max_rows: int,
) -> list[dict[str, Any]]:
    """Pairs of classes whose points give each other most probability."""
    mutual = facts.mutual()
    a, b = np.triu_indices(facts.n_classes, 1)
    best = np.argsort(-mutual[a, b], kind="stable")[:max_rows]
    a, b = a[best], b[best]
    distance = None if placement is None else placement.distance(a, b)
    table = []
    for k, (i, j) in enumerate(zip(a.tolist(), b.tolist())):
        row = {"a": names[i], "b": names[j], "probability": float(mutual[i, j])}
        row |= {"a_to_b": float(facts.relatedness[i, j]), "b_to_a": float(facts.relatedness[j, i])}
        if confusion is not None:
            row["errors"] = int(confusion[i, j] + confusion[j, i])
        if distance is not None:
            row["distance"] = float(distance[k])
        table.append(row)
    return table


def conflicts(tree: Tree, placement: Placement, names: list[str], max_rows: int) -> list[dict[str, Any]]:
    """Merges whose smaller side had nearer classes in the taxonomy than those it joined."""
    table: list[dict[str, Any]] = []
    for v in range(tree.n_leaves, tree.n_nodes):
        children = sorted(tree.children(v).tolist(), key=lambda child: (tree.sizes[child], child))
        group, host = tree.leaves(children[0]), np.concatenate([tree.leaves(c) for c in children[1:]])
        met = int(placement.depth[placement.meet(np.concatenate([group, host]))])
        skipped = placement.nearest_elsewhere(group) - met
        # a group that is its whole taxon has no nearer place than this one
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


def unexpected_pairs(
    facts: ClassFacts, names: list[str], placement: Placement, max_rows: int
) -> list[dict[str, Any]]:
    """Pairs that the model relates more than one of them to any class nearer to it in the taxonomy."""
    mutual = facts.mutual()
    a, b = np.triu_indices(facts.n_classes, 1)
    distance = placement.distance(a, b)
    score = mutual[a, b] * distance
    everyone = np.arange(facts.n_classes)
    # what chance alone would give a pair
    least = 1.0 / facts.n_classes**2
    table: list[dict[str, Any]] = []
    for k in np.argsort(-score, kind="stable")[:_CANDIDATES].tolist():
        if score[k] <= least or len(table) == max_rows:
            break
        i, j = int(a[k]), int(b[k])
        found = None
        for one in (i, j):
            apart = placement.distance(np.full(facts.n_classes, one), everyone)
            kin = everyone[(apart < distance[k]) & (everyone != one)]
            nearest = int(kin[mutual[one, kin].argmax()]) if len(kin) else -1
            if nearest >= 0 and mutual[one, nearest] < mutual[i, j]:
                found = one, nearest
                break
        if found is None:
            continue
        one, nearest = found
        row = {"a": names[one], "b": names[j if one == i else i], "probability": float(mutual[i, j])}
        row |= {"kin": names[nearest], "kin_probability": float(mutual[one, nearest])}
        row |= {"distance": float(distance[k]), "meet_in": placement.name(placement.meet([i, j]))}
        table.append(row)
    return table


def weak_nodes(tree: Tree, scores: NodeScores, names: list[str], max_rows: int) -> list[dict[str, Any]]:
    """Nodes with the lowest F1, classes and groups alike."""
    inside = [
        v for v in range(tree.n_nodes) if v != tree.root and scores.n_true[v] + scores.n_predicted[v] > 0
    ]
    inside.sort(key=lambda v: (scores.f1[v], v))
    table = []
    for v in inside[:max_rows]:
        own = "" if tree.name is None or v < tree.n_leaves else str(tree.name[v])
        table.append(
            {
                "node": v,
                "name": names[v] if v < tree.n_leaves else own or _listed(tree.leaves(v), names),
                "classes": int(tree.sizes[v]),
                "points": int(scores.n_true[v]),
                "precision": float(scores.precision[v]),
                "recall": float(scores.recall[v]),
                "f1": float(scores.f1[v]),
            }
        )
    return table


def class_columns(
    facts: ClassFacts, confusion: Ints | None, names: list[str], placement: Placement | None
) -> dict[str, list[Any]]:
    """Per class what pictures color by.

    Counts are floats: a few distinct whole numbers would be taken for categories.
    """
    n, mutual = facts.n_classes, facts.mutual()
    columns: dict[str, list[Any]] = {}
    if placement is not None:
        columns["taxon"] = [placement.name(int(placement.tree.parent[c])) for c in range(n)]
    columns["predicted points"] = facts.counts.astype(np.float64).tolist()
    columns["confidence"] = (facts.confidence_sums / np.maximum(facts.counts, 1)).tolist()
    if confusion is not None:
        hits: Floats = np.diag(confusion) / np.maximum(confusion.sum(axis=1), 1)
        columns["accuracy"] = hits.tolist()
    columns["confused with"] = [names[int(c)] for c in mutual.argmax(axis=1)] if n > 1 else [""]
    columns["confusion"] = mutual.max(axis=1).tolist()
    return columns


def _listed(classes: Ints, names: list[str]) -> str:
    shown = ", ".join(names[c] for c in classes[:_NAMES_SHOWN].tolist())
    return shown + (f" and {len(classes) - _NAMES_SHOWN} more" if len(classes) > _NAMES_SHOWN else "")
