import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from trees import chain

import arbora as ab
from arbora.metrics.inputs import (
    as_array,
    as_clusters,
    as_labels,
    as_leaf_of_point,
    by_name,
    check_same_length,
)


def test_labels_become_numbers_in_sorted_order():
    codes, n_classes = as_labels(["b", "a", None, "b"])
    assert codes.tolist() == [1, 0, -1, 1] and n_classes == 2
    assert as_labels([3, -1, 5]).codes.tolist() == [0, -1, 1]
    assert as_labels([True, False]).n_classes == 2


def test_a_nan_between_strings_stays_a_nan():
    assert as_array(["a", float("nan")]).dtype == object
    assert as_array(np.array(["a", "nan"])).dtype.kind == "U"
    assert as_labels(np.array(["a", "nan"])).n_classes == 2


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: as_labels([[1, 2]]), ValueError, "one label per point"),
        (lambda: as_labels([1, "a"]), TypeError, "mixture"),
        (lambda: as_labels([0.0, np.inf]), ValueError, "infinity. Point 1"),
        (lambda: as_labels([1, 1, -1]), ValueError, "one class, 1"),
        (lambda: as_labels(np.array(["2026-01-01"], dtype="datetime64[D]")), TypeError, "numbers or strings"),
        (lambda: as_clusters(["a", None]), ValueError, "cluster for every point"),
        (lambda: as_clusters([[1]]), ValueError, "one entry per point"),
        (lambda: check_same_length([1], [1, 2], ("y", "labels")), ValueError, "y and labels.*Got 1 and 2"),
        (lambda: as_leaf_of_point(None, chain(3), 4), ValueError, "4 labels and 3 leaves"),
        (lambda: as_leaf_of_point([0.5], chain(3), 1), TypeError, "leaf numbers"),
        (lambda: as_leaf_of_point([0, 3], chain(3), 2), ValueError, r"n_leaves=3\). Got 0..3"),
        (lambda: as_leaf_of_point([0], chain(3), 2), ValueError, "Got 1 and 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_came(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_labels_whose_index_names_the_leaves_are_matched_by_name():
    X, y = load_iris(return_X_y=True)
    named = pd.Series(y, index=[f"flower {k}" for k in range(150)])
    tree = ab.linkage(pd.DataFrame(X, index=named.index), "average")
    read = ab.Tree.from_newick(tree.to_newick())
    assert read.leaf_names != tree.leaf_names
    purity = ab.metrics.dendrogram_purity(tree, y)
    assert (
        ab.metrics.dendrogram_purity(read, named) == ab.metrics.dendrogram_purity(read, named[::-1]) == purity
    )
    levels = ab.metrics.level_scores(read, named.to_frame("species"))
    assert levels["species"]["nmi"] == ab.metrics.level_scores(tree, {"species": y})["species"]["nmi"]


def test_an_index_that_is_not_the_names_of_the_leaves_means_nothing():
    tree = ab.Tree.from_newick("((a,b),(c,d));")
    y = pd.Series([0, 0, 1, 1], index=list("wxyz"))
    assert by_name(tree, y, None) is None and by_name(tree, y.to_numpy(), None) is None
    assert by_name(tree.replace(name=None), pd.Series([0, 0, 1, 1], index=list("abcd")), None) is None
    assert ab.metrics.dendrogram_purity(tree, y) == 1.0
