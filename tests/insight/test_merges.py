"""Suggestions which clusters could be one."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from trees import random_tree

import arbora as ab


def information(W, labels):
    """Sum over clusters of p ln(p / q), by definition."""
    total, worth = W.sum(), 0.0
    for label in np.unique(labels):
        inside = labels == label
        p, q = W[np.ix_(inside, inside)].sum() / total, (W[inside].sum() / total) ** 2
        worth += p * np.log(p / q) if p > 0 else 0.0
    return worth


@given(st.integers(4, 14), st.integers(0, 99))
def test_the_loss_is_the_information_that_the_cut_has_less_after_the_join(n, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.7), 1)
    W = W + W.T
    W[0, 1] = W[1, 0] = 1.0
    tree = random_tree(n, rng)
    labels = tree.cut(3)
    for found in ab.insight.merge_suggestions(tree, ab.similarity.graph(sp.csr_array(W)), labels):
        a, b = found.labels
        joined = np.where(labels == b, a, labels)
        assert found.loss == pytest.approx(information(W, labels) - information(W, joined), abs=1e-9)
        members = [np.flatnonzero(labels == each) for each in (a, b)]
        assert [sorted(tree.leaves(node)) for node in found.nodes] == [m.tolist() for m in members]
        between = W[np.ix_(*members)].sum() * W.sum() / (W[members[0]].sum() * W[members[1]].sum())
        assert found.times_chance == pytest.approx(between)


def test_the_two_halves_of_one_group_come_first_wherever_they_are_in_the_tree():
    X, y = make_blobs([30, 30, 60], 4, centers=np.eye(3, 4) * 20, random_state=0)
    X[y == 1] += X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)
    similarity = ab.similarity.knn(X, 8, "euclidean")
    parts = [np.flatnonzero(y == k) for k in range(3)]
    apart = "(({}),(({}),({})));".format(*(",".join(map(str, part)) for part in parts))
    tree = ab.Tree.from_newick(apart).matched_to([str(k) for k in range(120)])
    first = ab.insight.merge_suggestions(tree, similarity, tree.cut(3), n_suggestions=1)[0]
    assert {y[tree.leaves(node)[0]] for node in first.nodes} == {0, 1}
    assert not first.are_siblings and "different places" in first.reason and first.share_of_inside > 0.5
    merged = tree.merge(first.nodes)
    assert any(
        sorted(merged.leaves(node)) == sorted([*parts[0], *parts[1]]) for node in range(120, merged.n_nodes)
    )


def test_clusters_without_any_similarity_are_never_suggested():
    graph = ab.similarity.graph(([0, 2], [1, 3]), n_points=4)
    assert ab.insight.merge_suggestions(ab.Tree.from_newick("((0,1),(2,3));"), graph, [0, 0, 1, 1]) == []


def test_many_clusters_are_summed_in_blocks(monkeypatch):
    X, _ = make_blobs(60, random_state=0)
    tree, similarity = ab.cluster(X, random_state=0), ab.similarity.knn(X)
    whole = ab.insight.merge_suggestions(tree, similarity, tree.cut(12))
    monkeypatch.setattr("arbora.insight.merges._BLOCK", 5)
    assert [one.labels for one in ab.insight.merge_suggestions(tree, similarity, tree.cut(12))] == [
        one.labels for one in whole
    ]


def test_what_does_not_fit_is_refused():
    tree = ab.Tree.from_newick("((0,1),(2,3));")
    with pytest.raises(ValueError, match="3 points"):
        ab.insight.merge_suggestions(tree, ab.similarity.graph(([0, 1], [1, 2])), [0, 0, 1, 1])
    signed = ab.similarity.cosine([[1.0, 0], [-1, 0], [0, 1], [0, -1]], affine=False)
    with pytest.raises(ValueError, match="negative"):
        ab.insight.merge_suggestions(tree, signed, [0, 0, 1, 1])
    path = ab.similarity.graph(([0, 1, 2], [1, 2, 3]))
    for wrong in ([0, 1], [0.5] * 4, [-1] * 4):
        with pytest.raises(ValueError, match="labels must hold"):
            ab.insight.merge_suggestions(tree, path, wrong)


def test_leaves_in_no_cluster_count_for_nothing_and_dust_does_not_part_siblings():
    path = ab.similarity.graph(([0, 1, 2, 3, 4], [1, 2, 3, 4, 5]))
    tree = ab.Tree.from_newick("((((0,1),2),(3,4)),5);")
    found = ab.insight.merge_suggestions(tree, path, [0, 0, 1, 1, 1, -1])
    assert [one.labels for one in found] == [(0, 1)] and found[0].are_siblings
    assert sorted(tree.leaves(found[0].nodes[1])) == [3, 4]
