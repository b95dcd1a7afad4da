"""Rows of tables that come from the registry, and FPH's figures on a graph that needs no data set."""

import numpy as np
import pytest

import arbora as ab
from arbora.probabilistic import small_hsbm
from arbora.reproduce.graph_scores import nmi, quality
from arbora.reproduce.systems import WithOutliers, baseline, cut
from arbora.reproduce.tables import fph_figures as figures
from arbora.reproduce.tables.fph import Problem

DRAWN = small_hsbm(0)
GRAPH = ab.similarity.graph(DRAWN.adjacency)
PROBLEM = Problem(GRAPH, DRAWN.levels[1], 12)
TREE = ab.linkage(GRAPH, "average")


# ---- systems -----------------------------------------------------------------------------------------------------


def test_a_row_runs_the_system_on_what_it_takes_of_a_problem():
    row = baseline("average", "Average linkage", printed="HAC", of=lambda problem: problem.graph)
    assert row.name == "Average linkage" and row.printed == "HAC"
    assert row.run(PROBLEM, 0) == TREE
    assert row.missing() == "" and isinstance(row.deviations(), str)


def test_options_come_from_the_row_and_from_the_problem():
    row = baseline(
        "deepwalk-ward",
        "Ward",
        of=lambda problem: problem.graph,
        parameters={"dimension": 3},
        options=lambda problem: {"n_clusters": problem.n_internal},
    )
    assert row.parameters == {"dimension": 3}
    labels = row.run(PROBLEM, 1, **row.parameters)
    wanted = ab.baselines.fit("deepwalk-ward", GRAPH, dimension=3, n_clusters=12, random_state=1)
    np.testing.assert_array_equal(labels, wanted)
    assert len(set(labels.tolist())) == 12


def test_a_system_with_outliers_says_so_of_its_tree():
    row = baseline("average", "Average linkage", of=lambda problem: problem.graph, has_outliers=True)
    assert row.run(PROBLEM, 0) == WithOutliers(TREE)


def test_a_wide_root_is_cut_into_its_children_rather_than_into_one_cluster():
    tree = ab.Tree.from_groups([-1] + [0] * 30, np.repeat(np.arange(1, 31), 20))
    labels = cut(WithOutliers(tree), 10)
    np.testing.assert_array_equal(labels, np.repeat(np.arange(30), 20))


def test_a_system_that_is_not_there_says_so_and_keeps_its_row():
    row = baseline("no-such-system", "Something else")
    assert row.missing() == "no-such-system is not in arbora.baselines" and row.deviations() == ""
    cannot = baseline("tcl-images", "TCL")
    assert "GPU" in cannot.missing()


# ---- figures -----------------------------------------------------------------------------------------------------


def test_every_figure_is_a_table_of_fph_with_methods_of_different_names():
    assert len({table.name for table in figures.TABLES}) == len(figures.TABLES)
    for table in figures.TABLES:
        assert table.paper == "fph" and table.data and table.metrics
        assert len({method.name for method in table.methods}) == len(table.methods)


def test_the_figure_of_sizes_has_both_methods_at_every_size():
    names = [method.name for method in figures.FIGURE_2.methods]
    for n in figures.NODES:
        assert f"FPH, {n} nodes" in names and f"Average linkage, {n} nodes" in names


@pytest.mark.parametrize("n_internal", [5, 20])
def test_linkage_is_compressed_to_the_size_of_its_row(n_internal):
    found = figures._linked(PROBLEM, 0, n_internal=n_internal)
    both = (TREE.compress(n_internal, GRAPH, objective) for objective in ("dasgupta", "tsd"))
    assert found == quality(GRAPH, *both)


def test_fph_is_trained_at_the_size_of_its_row_for_each_objective():
    small, large = (figures._sized(PROBLEM, 0, n_internal=n, max_epochs=2) for n in (4, 30))
    assert large["dasgupta_normalized"] < small["dasgupta_normalized"]
    assert large["tsd_percent"] > small["tsd_percent"]


@pytest.mark.parametrize("cut", ["flat", "size"])
def test_a_tree_is_judged_by_its_divergence_and_by_either_cut(cut):
    found = figures._judged(PROBLEM, TREE, cut)
    assert found["tsd_percent"] == pytest.approx(100 * ab.metrics.tree_sampling_divergence(TREE, GRAPH))
    if cut == "flat":
        assert found["nmi"] == nmi(TREE, GRAPH, PROBLEM.y)
    else:
        labels = TREE.replace(height=None).cut(n_clusters=4)
        assert found["nmi"] == pytest.approx(ab.metrics.flat_scores(PROBLEM.y, labels)["nmi"])


def test_training_and_search_are_judged_alike_and_the_planted_tree_is_found():
    start = figures._untrained(PROBLEM, 0)
    searched = figures._searched(PROBLEM, 0, n_perturbations=0)
    trained = figures._trained(PROBLEM, 0, max_epochs=2)
    assert start.keys() == searched.keys() == trained.keys() == {"tsd_percent", "nmi"}
    assert searched["tsd_percent"] >= start["tsd_percent"] - 1e-9
    perfect = figures._judged(PROBLEM, DRAWN.tree, "flat")
    assert perfect["nmi"] == pytest.approx(1.0)
