"""FPH's Table 1, average linkage with 512 internal nodes: the metric on trees made by the paper's rules."""

import heapq

import numpy as np
import pytest
import scipy.sparse as sp
from data_sets import load

import arbora as ab
from arbora.metrics import dasgupta_cost
from arbora.tree.pass_kernels import sum_to_root

PRINTED = {"polblogs": 355.61, "openflight": 363.40, "citeseer": 83.69, "cora_ml": 292.77}
# Which of equally near clusters joins first is not fixed by the paper, and moves citeseer between 81 and 87.
DECIDED_BY_TIES = {"citeseer", "cora_ml"}


def fph_graph(name):
    """Reciprocated edges have weight 2, a self-loop is one edge of weight 1."""
    data = load(f"graphs/{name}")
    n = int(data["n"])
    weights = data.get("weights", np.ones(len(data["rows"]))).astype(float)
    edges = ab.similarity.graph((data["rows"], data["cols"], weights), n_points=n)
    loops = np.bincount(data.get("selfloops", np.empty(0, dtype=int)), minlength=n).astype(float)
    return ab.similarity.GraphSimilarity(edges.csr, loops)


def average_linkage(adjacency):
    """Nearest-neighbor chains in plain Python, the smallest number first among equals."""
    n = adjacency.shape[0]
    coo = adjacency.tocoo()
    near = {i: {} for i in range(n)}
    for i, j, w in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist()):
        near[i][j] = w
    size, merges, chain = dict.fromkeys(range(n), 1), [], []
    while len(near) > 1:
        chain = chain or [next(iter(near))]
        a = chain.pop()
        b = min(near[a], key=lambda v: (size[v] * size[a] / near[a][v], v))
        if not chain:
            chain = [a, b]
        elif chain[-1] != b:
            chain += [a, b]
        else:
            chain.pop()
            joined = n + len(merges)
            merges.append((a, b))
            size[joined] = size[a] + size[b]
            near[joined] = {}
            for old in (a, b):
                for v, w in near.pop(old).items():
                    if v not in (a, b):
                        del near[v][old]
                        near[v][joined] = near[joined][v] = near[joined].get(v, 0.0) + w
    return ab.Tree.from_merges(merges, n)


def compressed(tree, graph, n_internal):
    """The authors' greedy contraction: v into its parent u costs p_v s_u + p_u s_v.

    p is the share of edges that meet at a node, s its share of the degrees; both add up when nodes merge.
    """
    n, root = tree.n_leaves, tree.root
    p, s = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    p[n:] = ab.similarity.GraphSimilarity(graph.csr).cross(tree) / graph.total
    s[:n] = graph.degrees / graph.degrees.sum()
    s = sum_to_root(tree.parent, s)
    parent, latest, heap = tree.parent.copy(), dict.fromkeys(range(n, root), 0), []
    children = {v: set(tree.children(v)[tree.children(v) >= n].tolist()) for v in range(n, tree.n_nodes)}

    def offer(v):
        if v != root:
            latest[v] += 1
            heapq.heappush(heap, (p[v] * s[parent[v]] + p[parent[v]] * s[v], v, latest[v]))

    for v in range(n, root):
        offer(v)
    while len(latest) > n_internal - 1:
        _, v, version = heapq.heappop(heap)
        if latest.get(v) != version:
            continue
        u = parent[v]
        del latest[v]
        p[u], s[u] = p[u] + p[v], s[u] + s[v]
        children[u] = (children[u] | children.pop(v)) - {v}
        for child in children[u]:
            parent[child] = u
        for changed in (u, *children[u]):
            offer(changed)
    return without(tree, set(range(n, root)) - set(latest))


def without(tree, contracted):
    kept = [v for v in range(tree.n_nodes) if v not in contracted]
    number = {v: k for k, v in enumerate(kept)} | {-1: -1}
    above = tree.parent.copy()
    for v in range(tree.n_nodes - 2, -1, -1):
        if above[v] in contracted:
            above[v] = above[above[v]]
    return ab.Tree([number[above[v]] for v in kept], tree.n_leaves)


@pytest.mark.data
@pytest.mark.parametrize("name", PRINTED)
def test_fph_average_linkage_row_comes_out(name):
    graph = fph_graph(name)
    unweighted = sp.csr_array((np.ones(graph.csr.nnz), graph.csr.indices, graph.csr.indptr), graph.csr.shape)
    tree = average_linkage(unweighted)
    cost = dasgupta_cost(compressed(tree, graph, 512), graph, normalize=True)
    if name in DECIDED_BY_TIES:
        assert cost == pytest.approx(PRINTED[name], rel=5e-4)
    else:
        assert round(cost, 2) == PRINTED[name]
    assert dasgupta_cost(tree.compress(512, graph), graph, normalize=True) < cost
