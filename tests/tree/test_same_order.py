"""Leaves and points that have names must not be taken for each other by position."""

import numpy as np
import pandas as pd
import pytest

import arbora as ab
from arbora.tree.same_order import check_same_order

NAMES = list("abcdef")
TREE = ab.Tree.from_newick("((d:1,f:1):4,((a:1,c:1):1,(b:1,e:1):1):3);")
X = np.array([[0.0, 1.0], [5.0, 1.0], [0.5, 1.0], [20.0, 1.0], [5.5, 1.0], [21.0, 2.0]])
FRAME = pd.DataFrame(X, index=NAMES, columns=["x", "y"])
DISTANCES = pd.DataFrame(np.abs(X[:, :1] - X[:, 0]), NAMES, NAMES)
SIMILARITY = ab.similarity.knn(FRAME, 3)

USES = {
    "dasgupta_cost": lambda tree: ab.metrics.dasgupta_cost(tree, SIMILARITY),
    "tsd": lambda tree: ab.metrics.tree_sampling_divergence(tree, SIMILARITY),
    "score": lambda tree: ab.metrics.score(tree, SIMILARITY),
    "cophenetic": lambda tree: ab.metrics.cophenetic_correlation(tree, DISTANCES),
    "refine": lambda tree: ab.refine(tree, SIMILARITY, random_state=0),
    "predict": lambda tree: ab.search.predict(tree, SIMILARITY, X[:1], n_clusters=2),
    "explain": lambda tree: ab.insight.explain(tree, FRAME),
    "explain_graph": lambda tree: ab.insight.explain_graph(tree, SIMILARITY),
    "cut by modularity": lambda tree: tree.cut(2, by="modularity", similarity=SIMILARITY),
    "cut by variance": lambda tree: tree.cut(2, by="variance", data=FRAME),
    "reorder": lambda tree: tree.reorder("optimal", data=FRAME),
    "reorder by weights": lambda tree: tree.reorder(FRAME["x"]),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_tree_whose_leaves_are_in_another_order_is_refused_and_taken_once_matched(use):
    with pytest.raises(ValueError, match=r"leaf 0 of the tree is 'd', which is point 3"):
        use(TREE)
    use(TREE.matched_to(NAMES))
    use(TREE.replace(name=None))


def test_names_that_only_one_side_has_say_nothing():
    check_same_order(TREE, list("uvwxyz"), "similarity")
    check_same_order(TREE, None, "similarity")
    check_same_order(TREE, ["d", "f", "a", "c", "b", "a new name"], "similarity")
    check_same_order(TREE.replace(name=None), NAMES, "similarity")
    # which of two equal names is meant cannot be said
    check_same_order(ab.Tree.from_newick("((c,c),b);"), ["x", "c", "b"], "similarity")


def test_numbers_as_names_are_those_of_points_without_names():
    """A file of a tree without names has its leaves in the order of drawing."""
    tree = ab.linkage(X, "average")
    read = ab.Tree.from_newick(tree.to_newick())
    assert read.leaf_names != tree.leaf_names
    with pytest.raises(ValueError, match=r"matched_to\(\['0', '1', '2', ...\]\)"):
        ab.metrics.dasgupta_cost(read, ab.similarity.knn(X, 3))
    with pytest.raises(ValueError, match="of y"):
        ab.metrics.dendrogram_purity(read, [0, 1, 0, 2, 1, 2])
    # rows of a shuffled frame are called by numbers too
    shuffled = pd.DataFrame(X, index=[3, 0, 5, 1, 4, 2])
    ab.metrics.dasgupta_cost(ab.linkage(shuffled, "average"), ab.similarity.knn(X, 3))
    matched = read.matched_to(range(6))
    assert ab.metrics.dendrogram_purity(matched, [0, 1, 0, 2, 1, 2]) == 1


LABELS = pd.Series([0, 1, 0, 2, 1, 2], index=NAMES)
PERMUTED = LABELS[list("fcaebd")]


@pytest.mark.parametrize("given", [PERMUTED, {"level": PERMUTED}, PERMUTED.to_frame("level")])
def test_every_score_finds_classes_by_name(given):
    scores = ab.metrics.score(TREE, y=given)
    assert scores["nmi"] == scores["dendrogram_purity"] == 1
    assert next(iter(ab.metrics.level_scores(TREE, given).values()))["nmi"] == 1


def test_classes_of_which_some_have_the_names_of_other_leaves_are_refused():
    for score in (ab.metrics.dendrogram_purity, ab.metrics.level_scores):
        with pytest.raises(ValueError, match="of y"):
            score(TREE, PERMUTED.rename({"f": "F"}))
