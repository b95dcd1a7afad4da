import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import random_tree

import arbora as ab


def test_a_renamed_and_grown_tree_keeps_its_clusters():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(4, 5)) * 8
    y = rng.integers(4, size=120)
    X = centers[y] + rng.normal(size=(120, 5))
    names = [f"doc{k}" for k in range(120)]
    old = ab.cluster(X[:80], metric="euclidean", random_state=0).replace(name=names[:80])
    order = rng.permutation(np.arange(20, 120))
    new = ab.cluster(X[order], metric="euclidean", random_state=1).replace(name=[names[k] for k in order])
    found = ab.match(old, new, 4)
    assert (found.n_common, found.n_only_old, found.n_only_new) == (60, 20, 40)
    assert found.similarity == pytest.approx(np.ones(4))
    relabeled = found.relabel(new.cut(4))
    labels = old.cut(4)
    for place, leaf in enumerate(order):
        if leaf < 80:
            assert relabeled[place] == labels[leaf]
    assert "became cluster" in str(found)


def test_clusters_without_a_partner_say_so():
    old = ab.Tree.from_newick("((a,b),(c,d));")
    new = ab.Tree.from_newick("((a,b),(x,y));")
    found = ab.match(old, new, 2)
    assert found.new_of_old.tolist() == [0, -1]
    assert "no cluster of its own" in str(found)


def test_trees_that_share_no_names_or_only_one_of_which_has_names_are_refused():
    named, other = ab.Tree.from_newick("((a,b),c);"), ab.Tree.from_newick("((x,y),z);")
    with pytest.raises(ValueError, match="no leaf name in common"):
        ab.match(named, other, 2)
    with pytest.raises(ValueError, match="has names"):
        ab.match(named, ab.Tree([3, 3, 4, 4, -1], 3), 2)
    with pytest.raises(ValueError, match="must not repeat"):
        ab.match(named, ab.Tree.from_newick("((a,a),c);"), 2)


@settings(max_examples=30)
@given(st.integers(2, 9), st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4))
def test_overlaps_and_matches_equal_their_definition(n, seed, n_old, n_new):
    rng = np.random.default_rng(seed)
    old, new = random_tree(n, rng), random_tree(n, rng)
    n_old, n_new = min(n_old, n), min(n_new, n)
    found = ab.match(old, new, n_old, n_clusters_new=n_new)
    a, b = old.cut(n_old), new.cut(n_new)
    for i, j in np.ndindex(n_old, n_new):
        assert found.overlap[i, j] == ((a == i) & (b == j)).sum()
    jaccard = np.array(
        [
            [np.sum((a == i) & (b == j)) / np.sum((a == i) | (b == j)) for j in range(n_new)]
            for i in range(n_old)
        ]
    )
    # the best of all ways to pair clusters
    few, many = sorted((n_old, n_new))
    table = jaccard if n_old <= n_new else jaccard.T
    best = max(
        sum(table[k, place] for k, place in enumerate(places))
        for places in itertools.permutations(range(many), few)
    )
    assert found.similarity.sum() == pytest.approx(best)
    matched = found.new_of_old >= 0
    assert len(set(found.new_of_old[matched].tolist())) == matched.sum()
    assert (found.similarity[~matched] == 0).all()


def test_a_tree_matches_itself_completely():
    tree = random_tree(12, np.random.default_rng(0))
    found = ab.match(tree, tree, 4)
    assert found.new_of_old.tolist() == [0, 1, 2, 3] and found.similarity.tolist() == [1.0] * 4
    np.testing.assert_array_equal(found.relabel(tree.cut(4)), tree.cut(4))
    assert found.n_only_old == found.n_only_new == 0


def test_new_clusters_without_a_match_get_numbers_of_their_own():
    old = ab.Tree.from_newick("((a,b),(c,d));")
    new = ab.Tree.from_newick("(((a,b),(c,d)),((u,v),(w,x)));")
    found = ab.match(old, new, 2, n_clusters_new=4)
    labels = found.relabel(new.cut(4))
    old_labels = dict(zip("abcd", old.cut(2)))
    names = [new.label(leaf) for leaf in range(8)]
    assert all(labels[names.index(name)] == old_labels[name] for name in "abcd")
    assert set(labels) == {0, 1, 2, 3} and {labels[names.index(name)] for name in "uvwx"} == {2, 3}


def test_leaves_without_names_are_the_same_by_number():
    tree = random_tree(6, np.random.default_rng(1))
    found = ab.match(tree, random_tree(9, np.random.default_rng(2)), 2)
    assert (found.n_common, found.n_only_old, found.n_only_new) == (6, 0, 3)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "^n_clusters must be at least 1"),
        ({"n_clusters": 2.0}, TypeError, "^n_clusters must be a whole number"),
        ({"n_clusters": 2, "n_clusters_new": 0}, ValueError, "^n_clusters_new must be at least 1"),
        ({"n_clusters": 99}, ValueError, "n_clusters"),
    ],
)
def test_wrong_numbers_of_clusters_are_named(options, error, message):
    tree = random_tree(6, np.random.default_rng(1))
    with pytest.raises(error, match=message):
        ab.match(tree, tree, **options)


def test_with_a_least_size_dust_is_no_cluster_and_numbers_are_those_of_the_estimator():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 3)) + 20 * np.eye(3)[k] for k in range(3)] + [[[500.0, 500, 500]]])
    model = ab.TreeClustering(3, metric="euclidean", random_state=0).fit(X)
    found = ab.match(model.tree_, model.tree_, 3, min_size="auto")
    assert found.overlap.sum(axis=1).tolist() == np.bincount(model.labels_).tolist()
    assert found.overlap.sum(axis=1).min() >= 60
