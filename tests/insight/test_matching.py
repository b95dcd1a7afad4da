import numpy as np
import pytest

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
