"""Options of `refine` in combination: every pair of values, each result checked by plain definitions."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from pairs import covering_table
from trees import leaf_sets, random_tree

import arbora as ab
from arbora.errors import ConstraintError

N = 14
MUST = [(0, 5), (5, 9), (2, 3)]
CANNOT = [(0, 1), (4, 7)]
OPTIONS = {
    "kind": ("graph", "loops", "cosine", "dense", "negative"),
    "objective": ("dasgupta", "tsd"),
    "start": ("binary", "wide", "unary"),
    "must_link": (None, MUST, [(0, 1)]),
    "cannot_link": (None, CANNOT),
    "keep_subtrees": (None, "one", "two nested and one"),
    "keep_top": (None, 1, 3),
    "n_perturbations": (0, 2),
    "sample_weight": (None, "given"),
    "n_internal": (None, 5),
    "max_sweeps": (1, 100),
    "n_jobs": (1, None),
}


def does_not_combine(case):
    """Combinations that are refused by a plain ValueError, or that there is no similarity for."""
    bound = any(case[name] is not None for name in ("must_link", "cannot_link", "keep_subtrees", "keep_top"))
    return (
        (case["objective"] == "tsd" and (case["sample_weight"] or case["kind"] not in ("graph", "loops")))
        or (case["n_internal"] is not None and bound)
        or (case["start"] == "wide" and case["keep_top"] == 3)
    )


TABLE = covering_table(OPTIONS, lambda case: not does_not_combine(case))


def name_of(case):
    return "-".join(f"{value}" for name, value in case.items() if value is not None and "link" not in name)


def make_similarity(kind, rng):
    if kind == "cosine":
        return ab.similarity.cosine(rng.normal(size=(N, 3)))
    if kind == "negative":
        return ab.similarity.cosine(rng.normal(size=(N, 3)), affine=False)
    W = np.triu(rng.random((N, N)), 1)
    if kind == "dense":
        return ab.similarity.dense(W + W.T + np.eye(N))
    W *= rng.random((N, N)) < 0.4
    loops = np.diag(rng.random(N)) if kind == "loops" else 0
    return ab.similarity.graph(sp.csr_array(W + W.T + loops))


def make_start(kind, rng):
    if kind == "unary":
        return random_tree(N, rng, unary=0.4)
    return random_tree(N, rng, max_branching=2 if kind == "binary" else 4)


def kept_nodes(tree, which):
    below = tree.sizes[: tree.root]
    proper = np.flatnonzero((below > 1) & (below < N - 2))
    if which is None:
        return None
    if which == "one":
        return [int(proper[0])]
    outer = int(proper[-1])
    inside = [int(v) for v in proper if set(tree.leaves(v)) < set(tree.leaves(outer))]
    apart = [int(v) for v in range(tree.root) if not set(tree.leaves(v)) & set(tree.leaves(outer))]
    return [*inside[:1], outer, apart[-1]]


def clades(tree):
    return {frozenset(leaves) for leaves in leaf_sets(tree)}


def meeting_size(tree, i, j):
    return min(len(clade) for clade in clades(tree) if {i, j} <= clade)


def linked_groups(must_link):
    groups = [{leaf} for leaf in range(N)]
    for i, j in must_link or ():
        one, other = (next(group for group in groups if leaf in group) for leaf in (i, j))
        if one is not other:
            groups.remove(other)
            one |= other
    return [frozenset(group) for group in groups if len(group) > 1]


def objective_by_definition(tree, similarity, objective, weights):
    """Smaller is better."""
    if objective == "tsd":
        return -ab.metrics.tree_sampling_divergence(tree, similarity, normalize=False)
    cost, sets = 0.0, leaf_sets(tree)
    loops = getattr(similarity, "self_loops", np.zeros(N))
    for i, j in itertools.combinations_with_replacement(range(N), 2):
        weight = loops[i] if i == j else float(similarity.pairs(i, j))
        clade = sets[tree.parent[i]] if i == j else min((s for s in sets if {i, j} <= s), key=len)
        cost += weight * sum(weights[leaf] for leaf in clade)
    return cost


def fits_what_is_kept(tree, case, nodes):
    """Whether links and kept parts can hold together, and the parts below a kept top."""
    all_clades = clades(tree)
    kept = [frozenset(tree.leaves(v).tolist()) for v in nodes or ()]
    parts = [frozenset(range(N))]
    if case["keep_top"] is not None:
        labels = tree.collapse_unary().cut(case["keep_top"])
        parts = [frozenset(np.flatnonzero(labels == k).tolist()) for k in range(case["keep_top"])]
        for whole in kept:
            met = [part for part in parts if part & whole]
            if len(met) > 1:
                parts = [part for part in parts if part not in met] + [frozenset().union(*met)]
    groups, apart = linked_groups(case["must_link"]), case["cannot_link"] or ()
    fine = all(not {i, j} <= group for i, j in apart for group in groups)
    for group in groups:
        fine &= any(group <= part for part in parts) or group in all_clades
        fine &= all(not group & whole or whole <= group or group in all_clades for whole in kept)
        fine &= all(not group < whole or group in all_clades for whole in kept)
    for i, j in apart:
        is_top = meeting_size(tree, i, j) == N
        fine &= is_top or len(parts) == 1
        fine &= is_top or not any({i, j} <= whole for whole in kept)
        fine &= len(parts) == 1 or not any({i, j} <= part for part in parts)
    return fine, parts, kept


def check_case(case, similarity, tree, nodes, weights=None):
    """Refine and check what came out; returns whether the links and the kept parts go together."""
    options = {name: case[name] for name in OPTIONS if name not in ("kind", "start", "objective")}
    options |= {"keep_subtrees": nodes, "sample_weight": weights, "random_state": 3}
    before = tree.parent.copy(), None if weights is None else weights.copy()
    is_feasible, parts, kept = fits_what_is_kept(tree, case, nodes)
    if not is_feasible:
        with pytest.raises(ConstraintError):
            ab.refine(tree, similarity, case["objective"], **options)
        return False
    found = ab.refine(tree, similarity, case["objective"], **options)
    assert ab.refine(tree, similarity, case["objective"], **options) == found
    np.testing.assert_array_equal(tree.parent, before[0])
    if weights is not None:
        np.testing.assert_array_equal(weights, before[1])
    assert found.n_leaves == N and np.isfinite(found.height).all()
    if case["n_internal"] is not None:
        assert found.n_internal <= case["n_internal"]
    there, here = clades(tree), clades(found)
    groups, apart = linked_groups(case["must_link"]), case["cannot_link"] or ()
    assert set(groups) <= here
    assert all(meeting_size(found, i, j) == N for i, j in apart)
    for whole in kept:
        assert {clade for clade in there if clade <= whole} == {clade for clade in here if clade <= whole}
    if len(parts) > 1:
        assert set(parts) <= here
        above = [{c for c in some if any(part < c for part in parts)} for some in (there, here)]
        assert above[0] == above[1]
    is_allowed = set(groups) <= there and all(meeting_size(tree, i, j) == N for i, j in apart)
    if is_allowed and (case["n_internal"] is None or tree.n_internal <= case["n_internal"]):
        sizes = np.ones(N) if weights is None else weights
        costs = [objective_by_definition(t, similarity, case["objective"], sizes) for t in (found, tree)]
        assert costs[0] <= costs[1] + 1e-9 * abs(costs[1])
    return True


@pytest.mark.parametrize("number", range(len(TABLE)), ids=[name_of(case) for case in TABLE])
def test_every_pair_of_options_gives_a_tree_that_honors_both(number):
    case, rng = TABLE[number], np.random.default_rng(number)
    similarity, tree = make_similarity(case["kind"], rng), make_start(case["start"], rng)
    weights = rng.integers(1, 9, N).astype(float) if case["sample_weight"] else None
    check_case(case, similarity, tree, kept_nodes(tree, case["keep_subtrees"]), weights)


def test_random_links_with_random_kept_parts_are_honored_or_refused():
    outcomes = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        tree = random_tree(N, rng, unary=0.2)
        pairs = [tuple(rng.choice(N, 2, replace=False).tolist()) for _ in range(2)]
        case = dict.fromkeys(OPTIONS) | {"max_sweeps": 2, "n_perturbations": 0, "n_jobs": 1}
        case["objective"] = "dasgupta" if seed % 3 else "tsd"
        case["must_link" if seed % 2 else "cannot_link"] = pairs[: 1 + seed % 3 // 2]
        case["keep_top"] = None if seed % 5 == 0 else int(rng.integers(1, 4))
        nodes = [int(rng.integers(tree.root))] if seed % 3 else None
        outcomes.append(check_case(case, make_similarity("loops", rng), tree, nodes))
    assert 20 < sum(outcomes) < 100


def test_links_and_kept_parts_hold_together():
    rng = np.random.default_rng(0)
    similarity = make_similarity("graph", rng)
    tree = ab.Tree.from_newick("(((0,1),(2,3)),((4,5),(6,(7,8))),((9,10),(11,(12,13))));")
    found = ab.refine(tree, similarity, keep_top=3, must_link=[(0, 3), (9, 13)], cannot_link=[(0, 4)])
    assert {frozenset({0, 3}), frozenset({9, 13}), frozenset(range(4))} <= clades(found)
    kept = ab.refine(tree, similarity, keep_subtrees=[int(tree.lca(7, 8))], must_link=[(7, 8), (8, 0)])
    assert {frozenset({7, 8}), frozenset({0, 7, 8})} <= clades(kept)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep_top": 3, "must_link": [(0, 4)]}, "keep_top=3 holds in different parts"),
        ({"keep_top": 3, "cannot_link": [(0, 1)]}, "keep_top=3 lets them meet below the root"),
        ({"keep_subtrees": "pair", "must_link": [(0, 2)]}, r"leaves \[0, 1\] stay as they are"),
        ({"keep_subtrees": "pair", "cannot_link": [(0, 1)]}, "keeps them in one subtree"),
    ],
)
def test_links_that_contradict_kept_parts_are_refused(options, message):
    similarity = make_similarity("graph", np.random.default_rng(0))
    tree = ab.Tree.from_newick("(((0,1),(2,3)),((4,5),(6,(7,8))),((9,10),(11,(12,13))));")
    if "keep_subtrees" in options:
        options = {**options, "keep_subtrees": [int(tree.lca(0, 1))]}
    with pytest.raises(ConstraintError, match=message):
        ab.refine(tree, similarity, **options)


def test_kept_nodes_are_those_of_the_tree_given_also_where_it_has_unary_nodes():
    parent = [13, 12, 14, 19, 12, 17, 12, 16, 18, 16, 13, 18, 15, 14, 19, 17, 19, 19, 19, -1]
    tree = ab.Tree(parent, 12)
    W = np.triu(np.random.default_rng(3).random((12, 12)), 1)
    found = ab.refine(tree, ab.similarity.graph(sp.csr_array(W + W.T)), keep_subtrees=[16], random_state=0)
    assert frozenset(tree.leaves(16).tolist()) in clades(found)


def test_a_tree_with_unary_nodes_over_self_loops_never_gets_worse():
    W = [[0.9115, 0.9972, 0, 0], [0.9972, 0.7381, 0, 0.2626], [0, 0, 0.7193, 0], [0, 0.2626, 0, 0.8618]]
    graph = ab.similarity.graph(sp.csr_array(np.array(W)))
    tree = ab.Tree([5, 7, 4, 5, 6, 6, 7, -1], 4)
    found = ab.refine(tree, graph, keep_subtrees=[5, 4], random_state=3)
    assert ab.metrics.dasgupta_cost(found, graph) <= ab.metrics.dasgupta_cost(tree, graph)


@pytest.mark.parametrize("weights", ([1e9, 1e-9, 3.0], [1e300, 1e-300, 1.0], [1e-300, 1e-300, 1e-300]))
def test_weights_of_any_magnitude_are_searched(weights):
    graph = ab.similarity.graph(([0, 1, 0], [1, 2, 2], [1.0, 2.0, 3.0]))
    assert ab.refine(ab.linkage(graph), graph, sample_weight=weights).n_leaves == 3


@pytest.mark.parametrize("objective", ("dasgupta", "tsd"))
@pytest.mark.parametrize("scale", (1e-300, 1e-160, 1e160, 1e290))
def test_the_scale_of_similarities_does_not_matter(objective, scale):
    rng = np.random.default_rng(1)
    W = np.triu(rng.random((N, N)) * (rng.random((N, N)) < 0.5), 1)
    tree = random_tree(N, rng)
    one, other = (
        ab.refine(
            tree,
            ab.similarity.graph(sp.csr_array(factor * (W + W.T))),
            objective,
            n_perturbations=2,
            random_state=0,
        )
        for factor in (1.0, scale)
    )
    assert one.same_topology(other)


@pytest.mark.parametrize("n_internal", (None, 3))
@pytest.mark.parametrize("objective", ("dasgupta", "tsd"))
def test_a_graph_without_edges_is_searched(objective, n_internal):
    empty = ab.similarity.graph(sp.csr_array((6, 6)))
    tree = random_tree(6, np.random.default_rng(0))
    found = ab.refine(tree, empty, objective, n_internal=n_internal, n_perturbations=2, random_state=0)
    assert found.n_leaves == 6
