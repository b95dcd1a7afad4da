"""Scanning Newick byte by byte: every way to go wrong has its place, and lengths add up along ways."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import leaf_sets, trees

import arbora as ab
from arbora.tree.formats import _kernels as kernels


def scan(text):
    raw = np.frombuffer(text.encode(), dtype=np.uint8)
    return kernels.scan_newick(raw, text.count("(") + text.count(",") + 1), raw


@pytest.mark.parametrize(
    ("text", "problem", "at"),
    [
        ("(a,b);", kernels.TEXT_OK, 6),
        (" ( a , b ) ; [done] ", kernels.TEXT_OK, 20),
        ("a;", kernels.TEXT_OK, 2),
        ("(a,b)", kernels.NO_END, 5),
        ("(a,b;", kernels.NOT_CLOSED, 4),
        ("(a,(b,c);", kernels.NOT_CLOSED, 8),
        ("a,b;", kernels.UNEXPECTED, 1),
        ("(a,b));", kernels.CLOSED_TOO_OFTEN, 5),
        ("(a,b); c", kernels.AFTER_END, 7),
        ("(a:,b);", kernels.NO_LENGTH, 3),
        ("(a:1:2,b);", kernels.UNEXPECTED, 4),
        ("(a'b',c);", kernels.UNEXPECTED, 2),
        ("('a,b);", kernels.OPEN_QUOTE, 1),
        ("(a[b,c);", kernels.OPEN_COMMENT, 2),
        ("(a,b);[", kernels.OPEN_COMMENT, 6),
        ("(a](b);", kernels.UNEXPECTED, 2),
        ("(a,b)(c,d);", kernels.UNEXPECTED, 5),
    ],
)
def test_every_problem_is_found_at_its_byte(text, problem, at):
    (found, where, *_), _ = scan(text)
    assert (found, where) == (problem, at)


def test_labels_and_lengths_are_where_they_stand():
    (_, _, parent, spans, is_inner, closed), raw = scan("((a:1.5,'b c':2)x:3,d)[note]root;")
    words = [tuple(raw[s:e].tobytes().decode() for s, e in (row[:2], row[2:])) for row in spans]
    assert words == [("root", ""), ("x", "3"), ("a", "1.5"), ("'b c'", "2"), ("d", "")]
    assert parent.tolist() == [-1, 0, 1, 1, 0]
    assert is_inner.tolist() == [True, True, False, False, False] and closed.tolist() == [1, 0]


def test_comments_nest_and_quotes_are_doubled():
    raw = np.frombuffer(b"[a[b]c]x", dtype=np.uint8)
    assert kernels.end_of_comment(raw, 0) == 7
    quoted = np.frombuffer(b"'it''s'x", dtype=np.uint8)
    assert kernels.end_of_quote(quoted, 0) == 6
    assert kernels.end_of_comment(np.frombuffer(b"[a[b]", dtype=np.uint8), 0) == -1
    assert kernels.end_of_quote(np.frombuffer(b"'a''", dtype=np.uint8), 0) == -1


@pytest.mark.parametrize(
    ("text", "end"), [(b"abc,", 3), (b"a b :", 3), (b"a\t\n(", 1), (b"word", 4), (b"x[c]", 1)]
)
def test_words_end_before_signs_and_without_their_blanks(text, end):
    assert kernels.end_of_word(np.frombuffer(text, dtype=np.uint8), 0) == end


@settings(max_examples=60)
@given(st.text(alphabet="(),:;'[] ab1.\n", max_size=25))
def test_any_text_is_read_or_refused_with_its_place(text):
    try:
        tree = ab.Tree.from_newick(text)
    except (ValueError, OSError) as problem:
        assert str(problem)
    else:
        assert tree.n_leaves >= 1
        again = ab.Tree.from_newick(tree.to_newick())
        assert again.n_leaves == tree.n_leaves and again.n_nodes == tree.n_nodes


@settings(max_examples=40)
@given(trees(max_leaves=10, unary=0.2))
def test_nodes_are_written_children_before_parents_in_the_order_of_leaves(tree):
    order, opens, comma = kernels.write_order(
        tree.parent, tree.n_leaves, tree.leaf_order, tree.child_offsets, tree.child_index
    )
    assert sorted(order.tolist()) == list(range(tree.n_nodes))
    place = np.argsort(order)
    assert all(place[node] < place[tree.parent[node]] for node in range(tree.n_nodes - 1))
    assert [node for node in order if node < tree.n_leaves] == tree.leaf_order.tolist()
    assert opens.sum() == tree.n_internal
    assert comma.sum() == (tree.n_children - 1).sum()


@settings(max_examples=40)
@given(trees(max_leaves=10, unary=0.2), st.integers(0, 1000))
def test_distances_are_sums_of_lengths_along_ways(tree, seed):
    length = np.random.default_rng(seed).random(tree.n_nodes)
    from_root = kernels.measure_from_root(tree.parent, length)
    longest, shortest = kernels.measure_to_leaves(tree.parent, tree.n_leaves, length)
    for node in range(tree.n_nodes):
        way = [node, *tree.ancestors(node)]
        assert from_root[node] == pytest.approx(sum(length[v] for v in way if v != tree.root))
        below = [from_root[leaf] - from_root[node] for leaf in leaf_sets(tree)[node]]
        assert longest[node] == pytest.approx(max(below), abs=1e-12)
        assert shortest[node] == pytest.approx(min(below), abs=1e-12)
