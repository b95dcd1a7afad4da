"""L2H as the paper states it, in plain NumPy: slow, obvious, and what the fast code is tested against."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

SCORES = {
    "sum_of_means": lambda parts: sum(part.mean() for part in parts),
    "sum": lambda parts: sum(part.sum() for part in parts),
    "mean_of_means": lambda parts: sum(part.mean() for part in parts) / len(parts),
}


def l2h_by_definition(logits, aggregation="sum_of_means", merging="lowest"):
    """Steps of Algorithm 1 as pairs of tuples of classes (the listing of appendix A, its slip corrected).

    The listing's last dictionary is never filled (``for group in groups if group != lsg: group: np.mean(...)``);
    here it is.
    """
    n_classes = logits.shape[1]
    groups = [(c,) for c in range(n_classes)]
    probabilities = softmax(logits, axis=-1)
    assigned, confidence = probabilities.argmax(axis=-1), probabilities.max(axis=-1)
    steps = []
    while len(groups) > 1:
        if merging == "lowest":
            score = {g: SCORES[aggregation]([confidence[assigned == c] for c in g]) for g in groups}
            candidates = [min(score, key=score.get)]
        else:
            candidates = groups
        best = None
        for chosen in candidates:
            related = relatedness_by_definition(logits, assigned, groups, chosen)
            partner = max(related, key=related.get)
            if best is None or related[partner] > best[0]:
                best = (related[partner], chosen, partner)
        _, chosen, partner = best
        groups = [g for g in groups if g not in (chosen, partner)] + [chosen + partner]
        steps.append((chosen, partner))
    return steps


def relatedness_by_definition(logits, assigned, groups, chosen):
    """Mean reassigned probability that every other group receives from the points of one."""
    rows = logits[np.isin(assigned, chosen)]
    outside = [c for c in range(logits.shape[1]) if c not in chosen]
    masked = np.zeros_like(rows, dtype=np.float64)
    masked[:, outside] = softmax(rows[:, outside], axis=-1)
    reassigned, probability = masked.argmax(axis=-1), masked.max(axis=-1)
    return {g: np.mean([probability[reassigned == c].sum() for c in g]) for g in groups if g != chosen}


def steps_of(l2h):
    """Merges of a fitted L2H as pairs of tuples of classes, the way the definition gives them."""
    tree = l2h.tree_
    members = {c: (c,) for c in range(tree.n_leaves)}
    steps = []
    for node in range(tree.n_leaves, tree.n_nodes):
        pair = tuple(sorted(tree.children(node).tolist()))
        steps.append(frozenset(frozenset(members[v]) for v in pair))
        members[node] = sum((members[v] for v in pair), ())
    return steps


def as_sets(steps):
    """Steps without the order within groups and pairs."""
    return [frozenset(frozenset(group) for group in pair) for pair in steps]


def clustered_logits(n_points, n_classes, seed, dtype=np.float64, all_classes=True):
    """Logits with structure: classes lie on a line, points scatter around them."""
    rng = np.random.default_rng(seed)
    center = rng.normal(size=(n_classes, 3))
    own = rng.permutation(np.arange(n_points) % n_classes)
    points = center[own] + 0.4 * rng.normal(size=(n_points, 3))
    logits = -((points[:, None] - center) ** 2).sum(axis=-1) * rng.uniform(0.5, 4)
    # one sure point per class, so that none is empty
    if all_classes:
        logits[:n_classes][np.diag_indices(n_classes)] += 10
    return logits.astype(dtype)
