"""What a report finds, held to its definitions on small random classifiers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logits.l2h_by_definition import clustered_logits
from scipy.special import softmax
from trees import random_tree

import arbora as ab
from arbora.logits._class_facts import gather_facts
from arbora.logits._class_findings import (
    class_columns,
    conflicts,
    confusable_pairs,
    unexpected_pairs,
    weak_nodes,
)
from arbora.logits._rows import ArrayRows
from arbora.logits.hierarchical import node_scores
from arbora.logits.taxonomy import Placement, taxonomy_tree

NAMES = [f"class {c}" for c in range(7)]


def case(seed, n_classes=7):
    logits = clustered_logits(150, n_classes, seed)
    facts = gather_facts([ArrayRows(logits)], n_classes)
    y = np.random.default_rng(seed).integers(0, n_classes, len(logits))
    p, best = softmax(logits, axis=1), logits.argmax(axis=1)
    mean = np.array(
        [p[best == c].mean(axis=0) if (best == c).any() else np.zeros(n_classes) for c in range(n_classes)]
    )
    mutual = 0.5 * (mean + mean.T)
    np.fill_diagonal(mutual, 0)
    return logits, y, facts, mutual


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 30))
def test_pairs_are_those_with_most_mutual_probability(seed, max_rows):
    _, y, facts, mutual = case(seed)
    confusion = facts.confusion(y)
    table = confusable_pairs(facts, confusion, NAMES, None, max_rows)
    i, j = np.triu_indices(7, 1)
    wanted = np.sort(mutual[i, j])[::-1][:max_rows]
    np.testing.assert_allclose([row["probability"] for row in table], wanted, atol=1e-12)
    for row in table:
        a, b = NAMES.index(row["a"]), NAMES.index(row["b"])
        assert row["errors"] == confusion[a, b] + confusion[b, a]
        assert row["probability"] == pytest.approx((row["a_to_b"] + row["b_to_a"]) / 2)


def test_pairs_have_errors_and_distances_only_where_these_are_known():
    _, y, facts, _ = case(0)
    assert confusable_pairs(facts, None, NAMES, None, 3)[0].keys() == {
        "a", "b", "probability", "a_to_b", "b_to_a"
    }  # fmt: skip
    placement = Placement(taxonomy_tree(["x"] * 3 + ["y"] * 4, 7))
    row = confusable_pairs(facts, facts.confusion(y), NAMES, placement, 3)[0]
    a, b = NAMES.index(row["a"]), NAMES.index(row["b"])
    assert row["distance"] == (0.0 if (a < 3) == (b < 3) else 1.0)


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_a_tree_has_no_conflict_with_itself(seed):
    tree = random_tree(7, np.random.default_rng(seed))
    assert conflicts(tree, Placement(tree), NAMES, 99) == []


def test_a_class_that_joins_strangers_is_a_conflict():
    # class 2 joins one of the tools
    tree = ab.Tree([6, 6, 7, 7, 8, 8, 10, 9, 9, 10, -1], 6, support=np.linspace(0, 1, 11))
    placement = Placement(taxonomy_tree(["pet"] * 3 + ["tool"] * 3, 6))
    (found,) = conflicts(tree, placement, NAMES, 99)
    assert {found["group"], found["host"]} == {"class 2", "class 3"} and found["node"] == 7
    assert {found["taxon"], found["host_taxon"]} == {"pet", "tool"}
    assert found["levels"] == 1 and found["support"] == tree.support[7]
    (bare,) = conflicts(tree.replace(support=None), placement, NAMES, 99)
    assert np.isnan(bare["support"]) and conflicts(tree, placement, NAMES, 0) == []


def test_a_class_that_joins_a_whole_taxon_is_none():
    """The taxon had no nearer place to go."""
    tree = ab.Tree([6, 6, 9, 7, 7, 8, 10, 8, 9, 10, -1], 6)
    placement = Placement(taxonomy_tree(["pet"] * 3 + ["tool"] * 3, 6))
    assert conflicts(tree, placement, NAMES, 99) == []


@settings(max_examples=15)
@given(st.integers(0, 1000))
def test_unexpected_pairs_are_nearer_to_each_other_than_one_of_them_to_its_kin(seed):
    _, _, facts, mutual = case(seed)
    labels = np.random.default_rng(seed).integers(0, 3, 7)
    placement = Placement(taxonomy_tree(labels, 7))
    for row in unexpected_pairs(facts, NAMES, placement, 99):
        a, b, kin = (NAMES.index(row[key]) for key in ("a", "b", "kin"))
        assert row["probability"] == pytest.approx(mutual[a, b])
        assert row["kin_probability"] == pytest.approx(mutual[a, kin]) and mutual[a, kin] < mutual[a, b]
        assert labels[a] == labels[kin] != labels[b]
        same = [c for c in range(7) if c != a and labels[c] == labels[a]]
        assert mutual[a, kin] == pytest.approx(max(mutual[a, c] for c in same))
        assert row["meet_in"] == "everything" and row["distance"] == 1


@settings(max_examples=15)
@given(st.integers(0, 1000), st.integers(1, 20))
def test_weak_nodes_have_the_lowest_scores_in_order(seed, max_rows):
    logits, y, _, _ = case(seed)
    tree = random_tree(7, np.random.default_rng(seed))
    scores = node_scores(tree, y, logits.argmax(axis=1))
    table = weak_nodes(tree, scores, NAMES, max_rows)
    known = [v for v in range(tree.n_nodes - 1) if scores.n_true[v] + scores.n_predicted[v] > 0]
    assert [row["f1"] for row in table] == sorted(float(scores.f1[v]) for v in known)[:max_rows]
    for row in table:
        assert row["node"] != tree.root and row["classes"] == tree.sizes[row["node"]]
        if row["node"] < 7:
            assert row["name"] == NAMES[row["node"]]


def test_long_groups_are_abbreviated_and_named_ones_called_by_their_name():
    tree = ab.Tree([9] * 8 + [10, 10, -1], 9)
    y = np.arange(9)
    scores = node_scores(tree, y, np.roll(y, 1))
    names = list("abcdefghi")
    row = next(row for row in weak_nodes(tree, scores, names, 99) if row["node"] == 9)
    assert row["name"] == "a, b, c, d, e, f and 2 more"
    named = tree.replace(name=[""] * 9 + ["letters", ""])
    row = next(row for row in weak_nodes(named, scores, names, 99) if row["node"] == 9)
    assert row["name"] == "letters"


def test_columns_of_classes_equal_their_definitions():
    logits, y, facts, mutual = case(5)
    confusion = facts.confusion(y)
    placement = Placement(taxonomy_tree(["x"] * 3 + ["y"] * 4, 7))
    columns = class_columns(facts, confusion, NAMES, placement)
    best, p = logits.argmax(axis=1), softmax(logits, axis=1).max(axis=1)
    assert columns["taxon"] == ["x"] * 3 + ["y"] * 4
    assert columns["predicted points"] == np.bincount(best, minlength=7).tolist()
    assert all(isinstance(value, float) for value in columns["predicted points"])
    for c in range(7):
        if (best == c).any():
            assert columns["confidence"][c] == pytest.approx(p[best == c].mean())
        if (y == c).any():
            assert columns["accuracy"][c] == pytest.approx((best[y == c] == c).mean())
        assert columns["confused with"][c] == NAMES[int(mutual[c].argmax())]
    np.testing.assert_allclose(columns["confusion"], mutual.max(axis=1))
    assert class_columns(facts, None, NAMES, None).keys() == {
        "predicted points", "confidence", "confused with", "confusion"
    }  # fmt: skip


def test_a_single_class_is_confused_with_nothing():
    facts = gather_facts([ArrayRows(np.zeros((4, 1)))], 1)
    columns = class_columns(facts, None, ["only"], None)
    assert columns["confused with"] == [""] and columns["confusion"] == [0.0]
    assert confusable_pairs(facts, None, ["only"], None, 5) == []
