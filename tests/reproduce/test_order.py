"""Average linkage by chains: the same tree where no merges are equal, the authors' rule where they are."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora.reproduce.tables.fph_order import chain_linkage


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
