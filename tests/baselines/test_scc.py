"""SCC against a plain twin, and against average linkage, to which it comes down with a threshold per merge."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import arbora as ab
from arbora.baselines.scc import scc


def scc_twin(W, thresholds):
    """Flat clusters after every round, from the definition in Monath et al. 2021."""
    clusters = [{i} for i in range(len(W))]
    rounds = []
    for threshold in thresholds:
        lists = [sorted(cluster) for cluster in clusters]
        mean = np.array([[W[np.ix_(a, b)].mean() if a is not b else -1.0 for b in lists] for a in lists])
        joined = {k: k for k in range(len(clusters))}
        for k, row in enumerate(mean):
            near = int(row.argmax())
            if row[near] >= threshold and row[near] > 0:
                old, new = joined[k], joined[near]
                joined = {one: new if group == old else group for one, group in joined.items()}
        groups = sorted(set(joined.values()))
        clusters = [set().union(*(clusters[k] for k in joined if joined[k] == group)) for group in groups]
        rounds.append({frozenset(cluster) for cluster in clusters})
        if len(clusters) == 1:
            break
    return rounds


@given(st.integers(3, 14), st.integers(0, 999))
def test_every_round_is_that_of_the_plain_twin(n, seed):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.6), 1)
    W += W.T
    thresholds = [0.8, 0.6, 0.4, 0.2, 0.1, 0.05]
    tree = scc(sp.csr_array(W), thresholds=thresholds)
    clades = {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_nodes)}
    expected = (
        set().union(*scc_twin(W, thresholds)) | {frozenset([i]) for i in range(n)} | {frozenset(range(n))}
    )
    assert clades == expected


@given(st.integers(3, 15), st.integers(0, 999))
def test_with_a_threshold_per_merge_it_is_average_linkage(n, seed):
    """Monath et al. 2021: SCC gives the tree of agglomerative clustering for fine enough thresholds."""
    W = np.triu(np.random.default_rng(seed).random((n, n)), 1)
    graph = ab.similarity.graph(sp.csr_array(W + W.T))
    linkage = ab.linkage(graph, "average")
    tree = scc(graph, thresholds=(1 - 1e-9) / linkage.height[n:])
    assert tree.same_topology(linkage)


def test_separated_clusters_are_found():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 12)
    X = 20 * rng.normal(size=(5, 4))[y] + rng.normal(size=(60, 4))
    assert ab.metrics.dendrogram_purity(scc(X, n_neighbors=8, metric="euclidean"), y) == 1.0


def test_a_graph_without_edges_is_joined_at_the_root():
    assert scc(ab.similarity.graph(([], []), n_points=3)).to_newick() == "(0,1,2);"
