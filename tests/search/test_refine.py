import itertools
import time
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trees import insert_above, random_tree, trees

import arbora as ab
from arbora.errors import ConstraintError, Interrupted, TooLargeError
from arbora.search.engines import GraphEngine
from arbora.search.multilevel import Levels, improve_by_levels
from arbora.search.run import Run


def random_similarity(kind, n, rng):
    if kind == "cosine":
        return ab.similarity.cosine(rng.normal(size=(n, 3)))
    if kind == "negative cosine":
        return ab.similarity.cosine(rng.normal(size=(n, 3)), affine=False)
    W = np.triu(rng.random((n, n)), 1)
    if kind == "graph":
        W *= rng.random((n, n)) < 0.4
        return ab.similarity.graph(sp.csr_array(W + W.T))
    return ab.similarity.dense(W + W.T + np.eye(n))


KINDS = ("cosine", "negative cosine", "dense", "graph")


def all_binary_trees(n):
    """Every binary tree over n leaves, by inserting leaf after leaf on every edge."""
    found = [ab.Tree([-1], 1)]
    for _ in range(n - 1):
        found = [insert_above(tree, node) for tree in found for node in range(tree.n_nodes)]
    return found


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@example(
    tree=ab.Tree([3, 3, 3, -1], 3), seed=7666
)  # splitting a node costs more where similarities are negative
@given(tree=trees(max_leaves=12), seed=st.integers(0, 10**6))
def test_refine_never_returns_a_worse_tree(kind, tree, seed):
    similarity = random_similarity(kind, tree.n_leaves, np.random.default_rng(seed))
    found = ab.refine(tree, similarity, random_state=0)
    assert ab.metrics.dasgupta_cost(found, similarity) <= ab.metrics.dasgupta_cost(tree, similarity) + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_with_perturbations_the_optimum_over_all_trees_is_found(kind):
    every_tree = all_binary_trees(6)
    assert len(every_tree) == 945
    rng = np.random.default_rng(0)
    missed = 0
    for _ in range(50):
        similarity = random_similarity(kind, 6, rng)
        costs = [ab.metrics.dasgupta_cost(tree, similarity) for tree in every_tree]
        found = ab.refine(random_tree(6, rng), similarity, n_perturbations=12, random_state=0)
        missed += ab.metrics.dasgupta_cost(found, similarity) > min(costs) + 1e-9
    assert missed == 0


@pytest.mark.parametrize("kind", KINDS)
def test_relabeled_points_give_the_same_cost(kind):
    rng = np.random.default_rng(1)
    n = 10
    W = random_similarity(kind, n, rng).pairs(*np.indices((n, n)))
    order = rng.permutation(n)
    np.fill_diagonal(W, W.max())
    W -= min(W.min(), 0)
    tree = random_tree(n, rng)
    one = ab.refine(tree, ab.similarity.dense(W), n_perturbations=20, random_state=0)
    other = ab.refine(
        tree.restrict(order), ab.similarity.dense(W[np.ix_(order, order)]), n_perturbations=20, random_state=0
    )
    costs = [
        ab.metrics.dasgupta_cost(t, ab.similarity.dense(w))
        for t, w in ((one, W), (other, W[np.ix_(order, order)]))
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-9)


def test_the_same_seed_gives_the_same_tree():
    rng = np.random.default_rng(2)
    graph = random_similarity("graph", 60, rng)
    tree = random_tree(60, rng)
    one, other = (ab.refine(tree, graph, n_perturbations=3, random_state=7) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("objective", ["dasgupta", "tsd"])
def test_at_most_n_internal_nodes_remain_and_perturbations_only_help(objective):
    rng = np.random.default_rng(3)
    graph = random_similarity("graph", 80, rng)
    tree = random_tree(80, rng)
    costs = []
    for n_perturbations in (0, 8):
        found = ab.refine(
            tree, graph, objective, n_internal=20, n_perturbations=n_perturbations, random_state=0
        )
        assert found.n_internal <= 20
        costs.append(GraphEngine(graph, objective).costs(found).sum())
    assert costs[1] <= costs[0]


def test_a_weighted_point_counts_as_many_in_every_size():
    rng = np.random.default_rng(4)
    graph = random_similarity("graph", 30, rng)
    weights = rng.integers(1, 9, 30).astype(float)
    tree = random_tree(30, rng)
    found = ab.refine(tree, graph, sample_weight=weights, n_perturbations=4, random_state=0)
    plain = ab.refine(tree, graph, n_perturbations=4, random_state=0)
    cost = {t: ab.metrics.dasgupta_cost(t, graph, sample_weight=weights) for t in (found, plain)}
    assert cost[found] < cost[plain]


@pytest.mark.parametrize("kind", ("graph", "cosine"))
def test_must_link_groups_form_subtrees_and_cannot_link_is_parted_at_the_root(kind):
    rng = np.random.default_rng(5)
    similarity = random_similarity(kind, 30, rng)
    groups = [[0, 11, 25], [3, 4]]
    must = [(0, 11), (11, 25), (3, 4)]
    apart = [(0, 3), (7, 8), (8, 9), (9, 7)]
    found = ab.refine(random_tree(30, rng), similarity, must_link=must, cannot_link=apart, random_state=0)
    for group in groups:
        top = group[0]
        for leaf in group[1:]:
            top = found.lca(top, leaf)
        assert sorted(found.leaves(top)) == group
    assert (found.lca(*np.array(apart).T) == found.root).all()


def test_infeasible_links_are_named():
    with pytest.raises(
        ConstraintError, match=r"Leaves 0 and 2 cannot be linked, but must_link joins them: group \[0, 1, 2\]"
    ):
        ab.refine(
            random_tree(5, np.random.default_rng(0)),
            ab.similarity.cosine(np.eye(5)),
            must_link=[(0, 1), (1, 2)],
            cannot_link=[(0, 2)],
        )


def test_kept_subtrees_and_kept_top_stay():
    rng = np.random.default_rng(6)
    graph = random_similarity("graph", 40, rng)
    tree = random_tree(40, rng)
    node = next(v for v in range(40, tree.n_nodes) if 5 <= tree.sizes[v] <= 12)
    found = ab.refine(tree, graph, keep_subtrees=[node])
    leaves = np.sort(tree.leaves(node))
    top = leaves[0]
    for leaf in leaves[1:]:
        top = found.lca(int(top), int(leaf))
    assert found.subtree(top).same_topology(tree.subtree(node))
    kept = ab.refine(tree, graph, keep_top=4)
    for cluster in range(4):
        members = np.flatnonzero(tree.cut(4) == cluster)
        together = kept.lca(np.full(len(members), members[0]), members).max()
        assert sorted(kept.leaves(int(together))) == members.tolist()


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.sampled_from(["dasgupta", "tsd"]))
def test_search_by_levels_only_improves(seed, objective):
    rng = np.random.default_rng(seed)
    graph = random_similarity("graph", 120, rng)
    tree = random_tree(120, rng, max_branching=3)
    engine = GraphEngine(graph, objective)
    before = engine.costs(tree).sum()
    levels = Levels(large=1, block=30, pieces=(20, 5))
    found = improve_by_levels(engine, tree, Run(), rng, levels=levels, n_threads=2)
    assert engine.costs(found).sum() <= before + 1e-9
    assert found.n_leaves == 120


def test_small_and_degenerate_inputs():
    for n, kind in itertools.product((1, 2, 3), KINDS):
        tree = random_tree(n, np.random.default_rng(0))
        assert ab.refine(tree, random_similarity(kind, n, np.random.default_rng(1))).n_leaves == n
    nothing = ab.similarity.graph(sp.csr_array((6, 6)))
    assert ab.refine(random_tree(6, np.random.default_rng(0)), nothing).n_leaves == 6
    same = ab.similarity.cosine(np.ones((9, 2)))
    assert ab.refine(random_tree(9, np.random.default_rng(0)), same, n_perturbations=2).is_binary


@pytest.fixture
def in_cpu_seconds(monkeypatch):
    """Budgets of time count what this process computes: a busy machine changes the clock."""
    clock = SimpleNamespace(monotonic=time.process_time, perf_counter=time.process_time)
    monkeypatch.setattr("arbora._base.progress.time", clock)


def test_a_time_budget_is_spent_on_perturbations_and_then_ends_the_search(in_cpu_seconds):
    rng = np.random.default_rng(8)
    tree, graph = random_tree(50, rng), random_similarity("graph", 50, rng)
    ab.refine(tree, graph, n_perturbations=1, random_state=0)
    began = time.process_time()
    found = ab.refine(tree, graph, max_seconds=0.3, random_state=0)
    assert 0.3 <= time.process_time() - began < 5
    plain = ab.refine(tree, graph, random_state=0)
    assert ab.metrics.dasgupta_cost(found, graph) <= ab.metrics.dasgupta_cost(plain, graph)


def test_parts_share_the_time_by_their_sizes(in_cpu_seconds):
    rng = np.random.default_rng(8)
    tree, graph = random_tree(60, rng), random_similarity("graph", 60, rng)
    began = time.process_time()
    found = ab.refine(tree, graph, max_seconds=0.5, keep_top=6, random_state=0)
    assert time.process_time() - began < 5
    alone = ab.refine(tree, graph, n_perturbations=2, keep_top=6, random_state=0)
    cost = ab.metrics.dasgupta_cost
    assert cost(found, graph) <= cost(alone, graph) * (1 + 1e-3)


@pytest.mark.parametrize("options", ({}, {"keep_top": 3}, {"must_link": [(0, 1), (1, 2)]}))
def test_ctrl_c_raises_with_the_best_tree_so_far(options):
    rng = np.random.default_rng(9)
    graph, tree = random_similarity("graph", 50, rng), random_tree(50, rng)
    calls = []

    def press(stage, done, total):
        calls.append(done)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted) as stop:
        ab.refine(tree, graph, n_perturbations=5, progress=press, **options)
    found = stop.value.tree
    assert found.n_leaves == 50 and found.height is not None
    if not options:
        assert ab.metrics.dasgupta_cost(found, graph) < ab.metrics.dasgupta_cost(tree, graph)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "modularity"}, "objective must be one of 'dasgupta', 'tsd'"),
        ({"n_internal": 0}, "n_internal must be at least 1"),
        ({"n_perturbations": -1}, "n_perturbations must be at least 0"),
        ({"sample_weight": [1.0, 2.0]}, "sample_weight must hold 5 positive numbers"),
        ({"objective": "tsd", "sample_weight": np.ones(5)}, "does not apply to objective='tsd'"),
        ({"must_link": [(0, 9)]}, r"must_link must name leaves in \[0, 5\)"),
        ({"must_link": [(0, 1, 2)]}, "must_link must be pairs"),
        ({"cannot_link": [(2, 2)]}, "separates leaf 2 from itself"),
        ({"n_internal": 2, "must_link": [(0, 1)]}, "cannot be combined"),
        ({"keep_subtrees": [99]}, "a node of keep_subtrees must lie in"),
        ({"keep_top": 6}, r"keep_top must lie in \[1, 5\]"),
    ],
)
def test_bad_arguments_are_named(options, message):
    graph = random_similarity("graph", 5, np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        ab.refine(random_tree(5, np.random.default_rng(0)), graph, **options)


def test_wrong_kinds_and_sizes_are_refused():
    tree = random_tree(5, np.random.default_rng(0))
    with pytest.raises(TypeError, match="similarity must be a similarity, a sparse adjacency"):
        ab.refine(tree, np.eye(5))
    with pytest.raises(ValueError, match="similarity has 4 points, but the tree has 5 leaves"):
        ab.refine(tree, ab.similarity.cosine(np.eye(4)))
    with pytest.raises(TypeError, match="tree must be a Tree"):
        ab.refine("((a,b),c);", ab.similarity.cosine(np.eye(3)))


def test_too_many_points_for_all_pairs_are_refused_beforehand():
    n = 13_000
    similarity = ab.similarity.cosine(np.random.default_rng(0).normal(size=(n, 2)), affine=False)
    with pytest.raises(TooLargeError, match=r"12000 points\. Got 13000\. Use similarity\.knn"):
        ab.refine(random_tree(n, np.random.default_rng(0)), similarity)
