"""What parts send each other adds up to what one machine would compute."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import clades, random_tree

from arbora.scale.division import bundled
from arbora.scale.neighbors import Directed, PartGraph, join_part, mail_edges
from arbora.scale.pieces import PieceSizes, cut_to_pieces, mail_labels, piece_graph, read_labels, sum_edges
from arbora.scale.searches import assemble, move_points, side_by_side, subtree_of
from arbora.similarity import GraphSimilarity
from arbora.similarity.part_neighbors import neighbor_edges
from arbora.tree import Tree
from arbora.tree.surgery import graft


def random_graph(rng, n, density=0.2):
    """A directed graph as knn finds it, and its joined form by definition: a + b - ab."""
    directed = rng.random((n, n)) * (rng.random((n, n)) < density)
    np.fill_diagonal(directed, 0)
    directed = directed.astype(np.float32)
    return directed, directed + directed.T - directed * directed.T


def parts_of(rng, directed, n_parts):
    """The graph in parts, joined by letters."""
    n = len(directed)
    owner = rng.integers(n_parts, size=n)
    owner[:n_parts] = np.arange(n_parts)
    pieces = []
    for part in range(n_parts):
        ids = np.flatnonzero(owner == part)
        rows = sp.csr_array(directed[ids])
        pieces.append(
            Directed(
                ids,
                np.zeros(len(ids), np.int32),
                rows.indptr.astype(np.int64),
                rows.indices.astype(np.int64),
                rows.data,
                owner[rows.indices].astype(np.int32),
            )
        )
    letters = [mail_edges(one, part) for part, one in enumerate(pieces)]
    return [
        join_part(one, part, {k: letter.get(part) for k, letter in enumerate(letters) if k != part})
        for part, one in enumerate(pieces)
    ]


def dense_of(parts, n):
    matrix = np.zeros((n, n))
    for part in parts:
        matrix[np.ix_(part.ids, part.ids)] = part.csr.toarray()
        matrix[part.ids[part.out_point], part.out_id] = part.out_weight
    return matrix


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 999), st.integers(2, 4))
def test_letters_join_the_two_directions_of_edges_as_on_one_machine(seed, n_parts):
    rng = np.random.default_rng(seed)
    directed, joined = random_graph(rng, 30)
    assert np.allclose(dense_of(parts_of(rng, directed, n_parts), 30), joined, rtol=1e-6)


def trees_of(rng, graphs, largest):
    sizes = PieceSizes(largest, 2 * largest)
    return [cut_to_pieces(random_tree(len(graph.ids), rng), graph, sizes) for graph in graphs]


def out_labels_of(graphs, trees):
    letters = [mail_labels(*pair) for pair in zip(graphs, trees)]
    return [
        read_labels(graph, {k: letters[k][part] for k in np.unique(graph.out_owner).tolist()})
        for part, graph in enumerate(graphs)
    ]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 999), st.integers(2, 4), st.integers(1, 6))
def test_sums_of_parts_are_the_contracted_graph(seed, n_parts, largest):
    rng = np.random.default_rng(seed)
    directed, joined = random_graph(rng, 30)
    graphs = parts_of(rng, directed, n_parts)
    trees = trees_of(rng, graphs, largest)
    labels = out_labels_of(graphs, trees)
    edges = [sum_edges(g, p, t, o) for p, (g, t, o) in enumerate(zip(graphs, trees, labels))]
    heavy = piece_graph([t.sizes for t in trees], edges)
    piece = np.empty(30, dtype=int)
    for part, (graph, tree) in enumerate(zip(graphs, trees)):
        piece[graph.ids] = heavy.first[part] + tree.label
    member = np.eye(len(heavy.sizes))[piece]
    expected = member.T @ joined @ member
    np.fill_diagonal(expected, 0)
    assert np.allclose(heavy.graph.toarray(), expected, rtol=1e-5, atol=1e-7)
    assert heavy.sizes.max() <= 2 * largest
    lies_out = np.concatenate(
        [np.bincount(t.label[g.out_point], minlength=len(t.nodes)) for g, t in zip(graphs, trees)]
    )
    assert heavy.sizes[lies_out > 0].max(initial=0) <= largest
    assert np.array_equal(heavy.sizes, np.bincount(piece))


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 999), st.integers(2, 4), st.integers(1, 6))
def test_new_parts_hold_the_same_graph_and_the_pieces_below_the_new_tree(seed, n_parts, largest):
    rng = np.random.default_rng(seed)
    n = 30
    directed, joined = random_graph(rng, n)
    graphs = parts_of(rng, directed, n_parts)
    trees = trees_of(rng, graphs, largest)
    labels = out_labels_of(graphs, trees)
    first = np.concatenate([[0], np.cumsum([len(t.nodes) for t in trees])])
    sizes = np.concatenate([t.sizes for t in trees]).astype(float)
    top = random_tree(len(sizes), rng)
    bundles = bundled(top, sizes, 12)
    bundle = bundles.label
    moved = [move_points(g, t, o, p, first, bundle) for p, (g, t, o) in enumerate(zip(graphs, trees, labels))]
    whole = grafted(graphs, trees, top)
    news = []
    for part in range(int(bundle.max()) + 1):
        pieces = np.flatnonzero(bundle == part)
        found = [subtree_of(top, int(node)) for node in bundles.nodes[bundles.of_node == part]]
        over, roots = side_by_side([t for _, t in found], [np.searchsorted(pieces, b) for b, _ in found])
        new = assemble([one.get(part) for one in moved], part, over, pieces, roots)
        tree = Tree(new.parent, len(new.graph.ids))
        for node in new.roots.tolist():
            below = new.graph.ids[tree.leaves(node)]
            kept = whole.restrict(np.sort(below)) if len(below) > 1 else None
            if kept is not None:
                assert clades(tree.subtree(node)) == clades(kept)
        news.append(new.graph)
    assert np.allclose(dense_of(news, n), joined, rtol=1e-6)


def grafted(graphs, trees, top):
    """The tree of all parts on one machine, by definition."""
    parts, leaves = [], []
    for graph, found in zip(graphs, trees):
        for node in found.nodes.tolist():
            below, tree = subtree_of(found.tree, node)
            parts.append(tree)
            leaves.append(graph.ids[below])
    return graft(top, parts, leaves)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 999), st.integers(2, 40), st.integers(1, 20))
def test_bundles_are_subtrees_of_bounded_weight_that_cover_all_leaves(seed, n, most):
    rng = np.random.default_rng(seed)
    tree, weight = random_tree(n, rng), rng.integers(1, 5, size=n).astype(float)
    found = bundled(tree, weight, most)
    total = np.bincount(found.label, weight)
    np.testing.assert_allclose(found.weight, total)
    heaviest = np.bincount(found.of_node)
    assert ((total <= most) | (heaviest == 1)).all()
    for k, node in enumerate(found.nodes.tolist()):
        assert set(np.flatnonzero(found.node_of_leaf == k)) == set(tree.leaves(node).tolist())
        assert weight[tree.leaves(node)].sum() <= most or node < n


def test_pieces_never_join_what_has_nothing_in_common():
    matrix = sp.csr_array(np.kron(np.eye(3), np.ones((2, 2)) - np.eye(2)).astype(np.float32))
    empty = np.empty(0, dtype=np.int64)
    graph = PartGraph(
        np.arange(6), np.zeros(6, np.int32), matrix.indptr, matrix.indices, matrix.data,
        empty.astype(np.int32), empty, empty.astype(np.int32), empty.astype(np.float32),
    )  # fmt: skip
    found = cut_to_pieces(Tree([6, 6, 7, 7, 8, 8, 9, 9, 10, 10, -1], 6), graph, PieceSizes(6, 6))
    assert sorted(found.sizes.tolist()) == [2, 2, 2]
    assert np.isclose(GraphSimilarity(graph.csr).total, found.cross.sum())


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 999))
def test_neighbors_of_own_rows_are_the_nearest_of_all_rows(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 3)).astype(np.float32)
    found = neighbor_edges(rows, 15, 4, "euclidean", seed=0)
    gap = np.linalg.norm(rows[:15, None].astype(float) - rows[None], axis=2)
    gap[np.arange(15), np.arange(15)] = np.inf
    nearest = np.sort(np.argsort(gap, axis=1)[:, :4], axis=1)
    assert np.array_equal(np.sort(found.indices.reshape(15, 4), axis=1), nearest)
