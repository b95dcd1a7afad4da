"""Scores of predictions in a tree of classes, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from logits.l2h_by_definition import clustered_logits

import arbora as ab
from arbora.logits import hierarchical_f1, mistake_severity, node_scores, risk_coverage


def case(n_classes, seed, n_points=40):
    rng = np.random.default_rng(seed)
    logits = clustered_logits(60, n_classes, seed)
    tree = ab.L2H(n_bootstraps=0, refine=False).fit(logits).tree_
    return tree, rng.integers(0, n_classes, n_points), rng.integers(0, tree.n_nodes, n_points)


def ancestors(tree, node):
    """The node and all above it but the root."""
    found = set()
    while node != tree.root:
        found.add(int(node))
        node = tree.parent[node]
    return found


@given(st.integers(2, 10), st.integers(0, 10**6))
def test_node_scores_count_points_below_each_node(n_classes, seed):
    tree, y, predicted = case(n_classes, seed)
    scores = node_scores(tree, y, predicted)
    for v in range(tree.n_nodes):
        below = {u for u in range(tree.n_nodes) if u == v or v == tree.root or v in ancestors(tree, u)}
        is_true, is_predicted = np.isin(y, list(below)), np.isin(predicted, list(below))
        assert scores.n_true[v] == is_true.sum() and scores.n_predicted[v] == is_predicted.sum()
        if is_predicted.any():
            assert scores.precision[v] == pytest.approx((is_true & is_predicted).sum() / is_predicted.sum())
        else:
            assert np.isnan(scores.precision[v])
        if is_true.any():
            assert scores.recall[v] == pytest.approx((is_true & is_predicted).sum() / is_true.sum())


@given(st.integers(2, 10), st.integers(0, 10**6))
def test_hierarchical_f1_equals_its_definition(n_classes, seed):
    tree, y, predicted = case(n_classes, seed)
    pairs = [(ancestors(tree, a), ancestors(tree, b)) for a, b in zip(y, predicted)]
    shared = sum(len(a & b) for a, b in pairs)
    precision, recall = shared / max(1, sum(len(b) for _, b in pairs)), shared / sum(len(a) for a, _ in pairs)
    expected = 2 * precision * recall / (precision + recall) if shared else 0.0
    assert hierarchical_f1(tree, y, predicted) == pytest.approx(expected)
    assert hierarchical_f1(tree, y, y) == 1.0


def test_severity_is_the_height_at_which_mistakes_meet_the_truth():
    tree = ab.Tree.from_newick("(((a,b),c),(d,e));")
    assert mistake_severity(tree, ["a", "a", "a"], [1, 2, 3]) == pytest.approx((1 + 2 + 3) / 3)
    assert mistake_severity(tree, ["a"], [3], normalize=True) == 1.0
    # an inner node above the truth is no mistake
    assert np.isnan(mistake_severity(tree, ["a", "b"], [0, tree.lca(0, 2)]))


def test_classes_are_given_by_number_or_name():
    tree = ab.Tree.from_newick("((a,b),c);")
    by_name, by_number = node_scores(tree, ["a", "c"], [0, 2]), node_scores(tree, [0, 2], [0, 2])
    assert np.array_equal(by_name.n_true, by_number.n_true)
    with pytest.raises(ValueError, match="No class is called 'x'"):
        node_scores(tree, ["x", "c"], [0, 2])
    with pytest.raises(ValueError, match="one class per point"):
        node_scores(tree, ["a"], [0, 2])
    with pytest.raises(ValueError, match="n_nodes=5"):
        node_scores(tree, ["a"], [5])
    with pytest.raises(TypeError, match="node number"):
        node_scores(tree, ["a"], [0.5])


def test_risk_and_coverage_are_those_of_the_predictions():
    rng = np.random.default_rng(0)
    logits = clustered_logits(800, 9, 0)
    y = np.where(rng.random(800) < 0.2, rng.integers(0, 9, 800), logits.argmax(axis=1))
    model = ab.L2H(n_bootstraps=0).fit(logits[:400])
    curve = risk_coverage(model, logits[400:], y[400:], confidences=[0.5, 0.95, 0.8])
    assert curve.confidence.tolist() == [0.95, 0.8, 0.5]
    tree, p = model.tree_, model.predict_proba(logits[400:], n_clusters=9)
    for k, confidence in enumerate(curve.confidence):
        nodes = model.predict(logits[400:], confidence=confidence)
        wrong = [c not in tree.leaves(v) for c, v in zip(y[400:], nodes)]
        assert curve.risk[k] == pytest.approx(np.mean(wrong))
        assert curve.class_share[k] == pytest.approx((nodes < 9).mean())
        assert curve.coverage[k] == pytest.approx(np.mean(1 - np.log(tree.sizes[nodes]) / np.log(9)))
        given_ = p.max(axis=1) >= confidence
        assert curve.flat_coverage[k] == pytest.approx(given_.mean())
    assert (np.diff(curve.coverage) >= 0).all()
    assert 0 <= curve.area <= 1


def test_all_confidences_by_default_and_wrong_ones_refused():
    logits = clustered_logits(100, 5, 0)
    model = ab.L2H(n_bootstraps=0).fit(logits)
    assert len(risk_coverage(model, logits, logits.argmax(axis=1)).risk) == 50
    with pytest.raises(ValueError, match="confidences"):
        risk_coverage(model, logits, logits.argmax(axis=1), confidences=[])
    with pytest.raises(ValueError, match="confidences"):
        risk_coverage(model, logits, logits.argmax(axis=1), confidences=[0.0])
