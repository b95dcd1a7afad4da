"""The tables themselves: names that exist, data that can be had, and recipes that give the papers' values."""

import numpy as np
import pytest
from graphs import random_graph

import arbora as ab
from arbora.reproduce import data as published
from arbora.reproduce.graph_scores import tsd_as_printed
from arbora.reproduce.papers import _figures
from arbora.reproduce.runner import Choice, plan
from arbora.reproduce.tables import all_tables, find


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.key)
def test_every_printed_name_is_one_of_the_papers(table):
    known = {key[3] for key in _figures() if key[0] == table.paper}
    assert {method.printed for method in table.methods if method.printed} <= known
    assert len({method.name for method in table.methods}) == len(table.methods)
    assert len({data.name for data in table.data}) == len(table.data)


def test_every_figure_of_the_papers_has_a_row():
    rows = {(table.paper, table.name, data.name) for table in all_tables() for data in table.data}
    # TURTLE's family level of Table 8 is the leaves of the tree: nothing is cut there
    figures = {key[:3] for key in _figures()} - {("l2h", "8", "inaturalist21-family")}
    assert figures <= rows


def test_a_clone_without_data_runs_what_ships_or_is_drawn(monkeypatch):
    monkeypatch.delenv("ARBORA_DATA", raising=False)
    cells, refused = plan(all_tables(), Choice(quick=True))
    named = {(cell.table.key, cell.data.name) for cell in cells}
    for wanted in (
        ("arbora/bundled", "wine"),
        ("arbora/bundled", "breast-cancer"),
        ("hyphc/1", "iris"),
        ("hyphc/3a", "iris"),
        ("ghhc/1", "digits"),
        ("fph/10", "hsbm-100"),
        ("fph/3", "a hundredth"),
    ):
        assert wanted in named
    assert all(not cell.data.files for cell in cells)
    assert "ARBORA_DATA" in refused["hyphc/1, zoo, HypHC"]


def test_cells_come_cheapest_first_and_methods_without_chance_once():
    cells, _ = plan([find("hyphc/1")], Choice(datasets=("iris", "segm")))
    assert [cell.seconds for cell in cells] == sorted(cell.seconds for cell in cells)
    seeds = [cell.seed for cell in cells if (cell.data.name, cell.method.name) == ("iris", "Average linkage")]
    assert seeds == [0]
    assert sum((cell.data.name, cell.method.name) == ("iris", "HypHC") for cell in cells) == 5


def test_a_whole_name_chooses_itself_and_a_part_all_that_hold_it():
    table = find("hyphc/1")
    whole, _ = plan([table], Choice(methods=("tree search",), datasets=("iris",), n_seeds=1))
    assert [cell.method.name for cell in whole] == ["tree search"]
    part, _ = plan([table], Choice(methods=("search",), datasets=("iris",), n_seeds=1))
    assert [cell.method.name for cell in part] == ["HypHC + tree search", "tree search"]


def test_standardized_rows_are_hyphcs_recipe():
    X = np.array([[1.0, 5.0, 0.0], [2.0, 5.0, 4.0], [6.0, 5.0, 2.0]])
    rows = published.standardized(X)
    assert rows.shape == (3, 2)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)


def test_tsd_as_printed_equals_its_definition():
    graph = random_graph(12, np.random.default_rng(0), loops=True)
    tree = ab.linkage(graph, "average")
    degree = graph.degrees / graph.degrees.sum()
    p, q = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    for i in range(12):
        for j in range(12):
            if i != j:
                node = tree.lca(i, j)
                q[node] += degree[i] * degree[j]
                p[node] += float(graph.pairs(np.array([i]), np.array([j]))[0]) / graph.degrees.sum()
    inside = (p > 0) & (q > 0)
    nats = ab.metrics.tree_sampling_divergence(tree, graph, normalize=False)
    information = nats / ab.metrics.tree_sampling_divergence(tree, graph)
    expected = 100 * np.sum(p[inside] * np.log(p[inside] / q[inside])) / information
    assert tsd_as_printed(tree, graph) == pytest.approx(expected)


@pytest.mark.data
def test_average_linkage_gives_the_papers_cost(monkeypatch):
    import data_sets

    if not (data_sets.FOLDER / "vectors" / "zoo.npz").exists():
        pytest.skip("needs vectors/zoo.npz: set ARBORA_DATA to the folder of published data sets")
    monkeypatch.setenv("ARBORA_DATA", str(data_sets.FOLDER))
    table = find("hyphc/1")
    problem = table.load("zoo", 0, False)
    tree = table.method("Average linkage").run(problem, 0)
    assert table.score(problem, tree)["dasgupta_ordered_pairs"] == pytest.approx(282_900, abs=50)
