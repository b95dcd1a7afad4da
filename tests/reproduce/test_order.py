"""Average linkage by the authors' rule for equal merges, and NMI at cuts over random orders of the nodes."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora.probabilistic import small_hsbm
from arbora.reproduce.tables import fph_order as order
from arbora.reproduce.tables.fph import Problem
from arbora.reproduce.tables.fph_order import chain_linkage

DRAWN = small_hsbm(0)
PROBLEM = Problem(ab.similarity.graph(DRAWN.adjacency), DRAWN.levels[1], 12)
SHUFFLED = order.Shuffled(PROBLEM, {"Average linkage": 0.5, "FPH": 2.0, "FPH (Louvain init)": 3.0})


def chain_definition(adjacency):
    """The rule on a matrix of counts: from the smallest cluster on to the nearest, the smallest of equal ones."""
    n = len(adjacency)
    edges = {(a, b): float(adjacency[a, b]) for a, b in itertools.permutations(range(n), 2)}
    members = {node: (node,) for node in range(n)}
    merged, chain = set(), []
    while len(members) > 1:
        chain = chain or [min(members)]
        last = chain[-1]

        def closeness(other, last=last):
            return edges[last, other] / (len(members[last]) * len(members[other]))

        nearest = max(
            (other for other in members if other != last), key=lambda other: (closeness(other), -other)
        )
        if len(chain) > 1 and nearest == chain[-2]:
            new = max(max(members) + 1, n + len(merged))
            for other in set(members) - {last, nearest}:
                edges[new, other] = edges[other, new] = edges[last, other] + edges[nearest, other]
            members[new] = tuple(sorted(members.pop(last) + members.pop(nearest)))
            merged.add(members[new])
            del chain[-2:]
        else:
            chain.append(nearest)
    return merged


def clusters_of(tree):
    return {tuple(sorted(tree.leaves(node).tolist())) for node in range(tree.n_leaves, tree.n_nodes)}


@pytest.mark.parametrize("seed", range(20))
def test_chains_follow_their_definition_on_connected_graphs(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    adjacency = np.triu(rng.random((n, n)) < 0.3, 1)
    # a path, so that it is connected
    adjacency[np.arange(n - 1), np.arange(1, n)] = True
    adjacency = adjacency | adjacency.T
    tree = chain_linkage(ab.similarity.graph(sp.csr_array(adjacency.astype(float))))
    assert clusters_of(tree) == chain_definition(adjacency)


def test_parts_that_no_edge_joins_meet_above_their_own_trees():
    tree = chain_linkage(ab.similarity.graph(([0, 1, 3], [1, 2, 4]), n_points=6))
    assert tree.n_leaves == 6 and tree.is_binary
    assert {(3, 4), (0, 1, 2)} <= clusters_of(tree)


# ---- cuts over orders --------------------------------------------------------------------------------------------


def test_both_cuts_of_a_tree_score_the_planted_one_best():
    found = order._both_cuts(PROBLEM, DRAWN.tree)
    assert found["nmi_weighed"] == pytest.approx(1.0) and 0 <= found["nmi"] <= 1


def test_an_order_renumbers_nodes_and_labels_together():
    problem = SHUFFLED.in_order(3)
    placed = np.random.default_rng(3).permutation(PROBLEM.graph.n_points)
    wanted = PROBLEM.graph.csr.toarray()[np.ix_(placed, placed)]
    np.testing.assert_array_equal(problem.graph.csr.toarray(), wanted)
    np.testing.assert_array_equal(problem.y, np.asarray(PROBLEM.y)[placed])


@pytest.mark.parametrize(
    "tree, parameters, printed",
    [
        ("average", {}, 0.5),
        ("chains", {}, 0.5),
        ("fph", {"max_epochs": 1}, 2.0),
        ("louvain", {"max_epochs": 1}, 3.0),
    ],
)
def test_scores_over_orders_are_those_of_each_order(tree, parameters, printed):
    found = order._over_orders(SHUFFLED, 0, tree=tree, n_orders=2, **parameters)
    again = order._over_orders(SHUFFLED, 0, tree=tree, n_orders=2, **parameters)
    assert found == again and len(found.nmi) == 2 and found.printed == printed
    assert found.nmi[1] == order._compressed_nmi(
        SHUFFLED.in_order(1), order._WAYS[tree].tree(SHUFFLED.in_order(1), 1, **parameters)
    )


def test_the_spread_counts_orders_that_reach_the_printed_figure_as_it_is_printed():
    found = order._spread(SHUFFLED, order.Scattered([0.2, 0.3996, 0.6, 0.8], 0.4))
    assert found["nmi_printed"] == 0.4 and found["percent_reaching"] == 75
    assert (found["nmi_least"], found["nmi_largest"]) == (0.2, 0.8)
    assert found["nmi_mean"] == pytest.approx(0.4999) and found["nmi_deviation"] > 0
