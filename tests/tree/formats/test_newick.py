import time

import dendropy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import chain, random_binary_parents, random_tree, trees

from arbora import Tree
from arbora.errors import FormatError

names = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)


def by_dendropy(text):
    return dendropy.Tree.get(
        data=text, schema="newick", preserve_underscores=True, suppress_internal_node_taxa=True
    )


def leaf_names(tree):
    return [tree.name[leaf] for leaf in tree.leaf_order]


@given(trees(min_leaves=2, max_leaves=12, heights=True), st.data())
def test_what_is_written_is_read_back(tree, data):
    labels = data.draw(st.lists(names, min_size=tree.n_nodes, max_size=tree.n_nodes))
    tree = tree.replace(name=labels)
    back = Tree.from_newick(tree.to_newick())
    assert sorted(back.name) == sorted(labels)
    back = back.restrict(np.argsort(tree.leaf_order))  # leaves were numbered as they appeared
    # names may repeat here, so the shapes are compared by number
    assert back.replace(name=None).same_topology(tree.replace(name=None))
    assert back.name[: tree.n_leaves].tolist() == labels[: tree.n_leaves]
    assert np.allclose(back.cophenetic(), tree.cophenetic())


@given(trees(max_leaves=12, unary=0.3))
def test_shape_survives_with_unary_and_nary_nodes(tree):
    back = Tree.from_newick(tree.to_newick())
    assert back.n_nodes == tree.n_nodes
    assert back.name[: tree.n_leaves].tolist() == [str(leaf) for leaf in tree.leaf_order]
    renumbered = back.replace(name=None)
    again = Tree.from_newick(renumbered.to_newick())
    assert again.replace(name=None) == renumbered
    assert back.height is None


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("a;", ["a"]),
        ("(a,b);", ["a", "b"]),
        ("(((a)));", ["a"]),
        ("(a,b,c,(d,e));", ["a", "b", "c", "d", "e"]),
        (" ( a , b ) ; \n", ["a", "b"]),
        ("('it''s','a (b)',\"c\");", ["it's", "a (b)", '"c"']),
        ("(a[comment],[&R]b[nested [one]])[x];[after]", ["a", "b"]),
        ("(a:[&rate=1]1.5,b:1e-3)root:0;", ["a", "b"]),
        ("(two words,under_score);", ["two words", "under_score"]),
        ("(é,木);", ["é", "木"]),
        ("(a,);", ["a", ""]),
        ("('','');", ["", ""]),
    ],
)
def test_text_that_tools_write_is_understood(text, leaves):
    tree = Tree.from_newick(text)
    found = [""] * tree.n_leaves if tree.name is None else leaf_names(tree)
    assert found == leaves


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("(a,b)", "';'"),
        ("(a,b", "truncated"),
        ("((a,b);", "truncated"),
        ("(a,b));", "closes nothing"),
        ("a,b;", "does not belong"),
        ("(a,b)c d(e);", "does not belong"),
        ("(a,b);(c,d);", "load_all"),
        ("(a[oops,b);", "never closed"),
        ("('a,b);", "never closed"),
        ("(a:,b:1);", "not followed by a branch length"),
        ("(a:x,b:1);", "not a number"),
        ("(a:nan,b:1);", "not finite"),
        ("(a:1:2,b);", "does not belong"),
        ("(a'b',c);", "does not belong"),
        ("(a]b,c);", "does not belong"),
    ],
)
def test_text_that_is_no_tree_is_refused_with_the_place(text, message):
    with pytest.raises(FormatError, match=message):
        Tree.from_newick(text)


def test_only_text_is_read():
    with pytest.raises(TypeError, match="must be a str"):
        Tree.from_newick(b"(a,b);")


def test_names_that_need_quotes_get_them():
    tree = Tree([3, 3, 4, 4, -1], 3, name=["a b", "it's", "plain_name"])
    assert tree.to_newick() == "(('a b','it''s'),'plain_name');"


def test_leaves_without_a_name_get_their_number():
    assert Tree([3, 3, 4, 4, -1], 3).to_newick() == "((0,1),2);"
    assert Tree([3, 3, 4, 4, -1], 3, name=["a", "", "c"]).to_newick() == "((a,1),c);"


def test_supports_are_written_and_read_as_internal_labels():
    tree = Tree([3, 3, 4, 4, -1], 3, name=list("abc"), support=[np.nan, np.nan, np.nan, 0.75, np.nan])
    text = tree.to_newick(support=True)
    assert text == "((a,b)0.75,c);"
    back = Tree.from_newick(text, support=True)
    assert back == tree
    assert Tree.from_newick("((a,b)80,c)100;", support=True).support[3:].tolist() == [0.8, 1.0]
    with pytest.raises(FormatError, match="numbers"):
        Tree.from_newick("((a,b)x,c);", support=True)
    with pytest.raises(ValueError, match="supports"):
        Tree([2, 2, -1], 2).to_newick(support=True)


def test_branch_lengths_become_heights_with_the_deepest_leaf_at_zero():
    tree = Tree.from_newick("((a:1,b:3):2,c:1)r:9;")
    assert tree.height.tolist() == [2, 0, 4, 3, 5]
    assert tree.to_newick() == "((a:1.0,b:3.0):2.0,c:1.0)r;"
    assert tree.to_newick(lengths=False) == "((a,b),c)r;"
    with pytest.raises(ValueError, match="heights"):
        Tree([2, 2, -1], 2).to_newick(lengths=True)


def test_leaves_of_an_ultrametric_tree_come_back_at_exactly_zero():
    rng = np.random.default_rng(0)
    tree = random_tree(300, rng)
    height = np.zeros(tree.n_nodes)
    for node in range(tree.root):
        height[tree.parent[node]] = max(height[tree.parent[node]], height[node] + rng.random())
    back = Tree.from_newick(tree.replace(height=height).to_newick())
    assert (back.height[: back.n_leaves] == 0).all()
    assert np.allclose(np.sort(back.height), np.sort(height))


@given(trees(min_leaves=2, max_leaves=15, heights=True), st.integers(0, 9))
def test_dendropy_reads_the_same_tree(tree, seed):
    tree = tree.replace(name=[f"leaf {k}'s_{seed}" for k in range(tree.n_leaves)])
    theirs = by_dendropy(tree.to_newick())
    assert [leaf.taxon.label for leaf in theirs.leaf_node_iter()] == leaf_names(tree)
    distance = theirs.phylogenetic_distance_matrix()
    taxa = {leaf.taxon.label: leaf.taxon for leaf in theirs.leaf_node_iter()}
    for i in range(tree.n_leaves):
        for j in range(i):
            apart = distance.patristic_distance(taxa[tree.name[i]], taxa[tree.name[j]])
            h = tree.height
            assert apart == pytest.approx(2 * h[tree.lca(i, j)] - h[i] - h[j])


@given(st.integers(2, 25), st.integers(0, 9))
def test_what_dendropy_writes_is_read(n, seed):
    theirs = by_dendropy(random_tree(n, np.random.default_rng(seed), max_branching=3).to_newick())
    for edge in theirs.preorder_edge_iter():
        edge.length = 0.5
    tree = Tree.from_newick(theirs.as_string(schema="newick", suppress_rooting=False))
    assert leaf_names(tree) == [leaf.taxon.label for leaf in theirs.leaf_node_iter()]
    assert np.allclose(tree.height, 0.5 * (tree.depths[: tree.n_leaves].max() - tree.depths))


def test_a_chain_of_300_000_leaves_has_no_recursion_limit():
    tree = chain(300_000)
    back = Tree.from_newick(tree.to_newick())
    assert back.depths.max() == 299_999
    assert back.same_topology(tree.restrict(tree.leaf_order))


@pytest.mark.slow
def test_a_million_leaves_are_written_and_read_in_15_seconds():
    n = 1_000_000
    tree = Tree(random_binary_parents(n), n, height=np.concatenate([np.zeros(n), np.arange(1.0, n)]))
    Tree.from_newick("(a:1,b:1);").to_newick()  # compile
    before = time.process_time()
    back = Tree.from_newick(tree.to_newick())
    assert time.process_time() - before < 15
    assert back.n_leaves == n


@given(st.text("()[],:;' ab1.", max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        tree = Tree.from_newick(text)
    except FormatError:
        return
    again = Tree.from_newick(tree.to_newick())
    assert (again.n_leaves, again.n_nodes) == (tree.n_leaves, tree.n_nodes)
