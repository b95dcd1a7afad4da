"""Majority-rule consensus against its definition: the clades that more than a share of the trees have."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import chain, random_tree

import arbora as ab
from arbora import Tree


def clades(tree):
    return {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_leaves, tree.n_nodes)}


def near_copies(n, n_trees, seed):
    """Trees that agree on much: one tree with a few leaves moved."""
    rng = np.random.default_rng(seed)
    start = ab.linkage(rng.normal(size=(n, 2)), "average")
    points = rng.normal(size=(n, 3))
    moved = [points + 0.3 * rng.normal(size=points.shape) for _ in range(n_trees - 1)]
    return [start, *(ab.linkage(one, "average") for one in moved)]


@settings(max_examples=25)
@given(st.integers(3, 14), st.integers(1, 7), st.integers(0, 999), st.sampled_from([0.5, 0.7, 1.0]))
def test_the_clades_are_those_in_more_than_the_share_of_trees_with_their_shares_as_support(n, m, seed, share):
    trees = near_copies(n, m, seed)
    count = Counter(clade for tree in trees for clade in clades(tree))
    wanted = {clade: c / m for clade, c in count.items() if (c == m if share == 1 else c > share * m)}
    found = Tree.consensus(trees, min_share=share)
    assert clades(found) == set(wanted)
    for v in range(n, found.n_nodes):
        clade = frozenset(found.leaves(v).tolist())
        assert found.support[v] == pytest.approx(wanted[clade])
    assert np.all(found.height[found.parent[: found.root]] >= found.height[: found.root])


def test_the_consensus_of_one_tree_is_that_tree():
    tree = random_tree(20, np.random.default_rng(3))
    assert Tree.consensus([tree]).same_topology(tree)


def test_chains_take_no_time_that_grows_with_the_square_of_their_leaves():
    long = chain(100_000)
    assert Tree.consensus([long, long.binarize()]) == long.replace(support=np.ones(long.n_nodes))


def test_heights_are_means_over_the_trees_that_have_the_clade():
    trees = [Tree.from_newick(f"((a:{h},b:{h}):1,c:{h + 1});") for h in (1, 3)]
    assert Tree.consensus(trees).height[3:].tolist() == [2.0, 3.0]


def test_leaves_are_matched_by_name_and_other_leaves_refused():
    trees = [Tree.from_newick(text) for text in ("((a,b),c);", "(c,(b,a));")]
    assert Tree.consensus(trees).to_newick() == "((a,b),c);"
    with pytest.raises(ValueError, match="same leaves"):
        Tree.consensus([trees[0], Tree.from_newick("((a,b),d);")])


@pytest.mark.parametrize("share", [0.4, 1.1])
def test_a_share_at_which_clades_may_contradict_each_other_is_refused(share):
    with pytest.raises(ValueError, match="min_share"):
        Tree.consensus([Tree.from_newick("((a,b),c);")], min_share=share)
    with pytest.raises(TypeError, match="at least one Tree"):
        Tree.consensus([])


def test_samples_of_fph_and_replicates_of_l2h_have_a_consensus():
    edges = [0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3]
    model = ab.FPH(2, n_internal=3, max_epochs=5, random_state=0).fit(edges)
    assert Tree.consensus(model.sample_trees(5, random_state=0)).n_leaves == 6
    logits = np.random.default_rng(0).normal(size=(60, 5)) * 3
    l2h = ab.L2H(2, n_bootstraps=6, random_state=0).fit(logits)
    agreed = Tree.consensus(l2h.replicates_)
    assert agreed.n_leaves == 5 and agreed.support.min() > 0.5


def test_the_command_line_joins_the_trees_of_several_files(tmp_path):
    from cli.in_process import arbora

    (tmp_path / "two.nwk").write_text("((a,b),(c,d));\n((b,a),(d,c));\n")
    (tmp_path / "one.nex").write_text("#NEXUS\nBEGIN TREES;\nTREE t = (((a,b),c),d);\nEND;\n")
    files = (tmp_path / "two.nwk", tmp_path / "one.nex")
    done = arbora("consensus", *files)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout.decode() == "((a,b)1.0,(c,d)0.6666666666666666)1.0;\n"
    done = arbora("consensus", *files, "--min-share", 1, "--out", tmp_path / "all.npz")
    assert done.returncode == 0 and b"3 trees over 4 leaves agree on 2 clades" in done.stdout
    assert Tree.load(tmp_path / "all.npz").to_newick() == "((a,b),c,d);"
    assert arbora("consensus", *files, "--min-share", 0.2).returncode == 2
    assert arbora("info", tmp_path / "two.nwk").returncode == 3
