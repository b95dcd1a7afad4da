"""Interpreted and compiled forms of a pass agree; compiling is noticed, and counted."""

import gc
import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trees import trees

from arbora._base import jit
from arbora.linkages import _kernels as linkage_kernels
from arbora.search import _height_kernels
from arbora.tree import edit_kernels, objective_kernels, pass_kernels


def both_forms(kernel, *arguments):
    copies = [tuple(np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments) for _ in range(2)]
    return [(form(*given), given) for form, given in zip((kernel.interpreted, kernel.compiled), copies)]


def assert_same(kernel, *arguments):
    """The same result, and the same changes to the arguments, to the last bit."""
    (one, given_one), (other, given_other) = both_forms(kernel, *arguments)
    for x, y in zip(
        one if isinstance(one, tuple) else (one,), other if isinstance(other, tuple) else (other,)
    ):
        np.testing.assert_array_equal(x, y)
        assert np.asarray(x).dtype == np.asarray(y).dtype
    for x, y in zip(given_one, given_other):
        np.testing.assert_array_equal(x, y)


@settings(max_examples=25)
@given(trees(max_leaves=20), st.integers(0, 10**6))
def test_interpreted_passes_equal_compiled_ones(tree, seed):
    rng = np.random.default_rng(seed)
    parent, n = tree.parent, tree.n_leaves
    value = rng.random(tree.n_nodes)
    assert_same(pass_kernels.find_order_problem, parent, n)
    assert_same(pass_kernels.count_leaves, parent, n)
    assert_same(pass_kernels.sum_to_root, parent, value)
    assert_same(pass_kernels.max_to_root, parent, value)
    assert_same(pass_kernels.count_depths, parent)
    assert_same(pass_kernels.list_children, parent, n, rng.permutation(n))
    assert_same(pass_kernels.place_leaves, n, tree.sizes, tree.child_offsets, tree.child_lists[1])
    assert_same(pass_kernels.first_leaves, parent, n, tree.sizes)
    assert_same(pass_kernels.join_neighbors, parent, n, tree.leaf_start)
    assert_same(pass_kernels.sort_children_first, parent, n)
    assert_same(pass_kernels.keep_nodes, parent, np.append(rng.random(tree.n_nodes - 1) < 0.5, True))
    pairs = rng.integers(0, tree.n_nodes, size=(2, 30))
    arrays = tree.leaf_start, tree.sizes, tree.neighbor_lca, tree.range_maxima
    assert_same(pass_kernels.find_lca, *arrays, *pairs)
    assert_same(pass_kernels.meeting_mass, parent, value[:n], value[:n] ** 2)
    assert_same(_height_kernels.multiply_children, parent, value)
    share, weight = rng.random(tree.n_internal), rng.random(tree.n_internal)
    assert_same(_height_kernels.pool_ratios, parent, n, tree.n_children, share, weight)


@settings(max_examples=25)
@given(trees(min_leaves=2, max_leaves=20), st.integers(1, 20), st.integers(0, 10**6))
def test_interpreted_cuts_equal_compiled_ones(tree, most, seed):
    rng = np.random.default_rng(seed)
    parent, n = tree.parent, tree.n_leaves
    value, is_eligible = rng.random(tree.n_nodes), rng.random(tree.n_nodes) < 0.8
    is_eligible[tree.root] = True
    assert_same(objective_kernels.count_parts, parent, n, is_eligible, most)
    n_parts = objective_kernels.count_parts(parent, n, is_eligible, most)
    starts = np.concatenate([[0], np.cumsum(n_parts)])
    arrays = tree.child_offsets, tree.child_index, value, n_parts, starts
    assert_same(objective_kernels.fill_tables, n, *arrays)
    table = objective_kernels.fill_tables(n, *arrays)
    own = table[starts[tree.root] : starts[tree.root] + n_parts[tree.root]]
    n_clusters = int(rng.choice(1 + np.flatnonzero(own > -np.inf)))
    assert_same(objective_kernels.choose_nodes, n, tree.root, *arrays, table, n_clusters)
    chosen = objective_kernels.choose_nodes(n, tree.root, *arrays, table, n_clusters)
    assert_same(objective_kernels.label_leaves, parent, n, tree.sizes, chosen)
    order = np.arange(n, tree.n_nodes)
    assert_same(edit_kernels.contract_unary, parent, order, n, rng.random(tree.n_nodes))


def test_a_pass_that_says_how_much_it_does_is_compiled_by_that(monkeypatch):
    # whatever an earlier run has left on disk
    monkeypatch.setattr(jit, "is_ready", lambda compiled: False)

    @jit.pass_kernel(steps=lambda values: 1000 * len(values))
    def total(values):
        result = 0.0
        for value in values:
            result += value
        return result

    few = np.ones(10)
    assert total(few) == 10 and not total.compiled.overloads
    assert total(np.ones(1000)) == 1000 and total.compiled.overloads


@settings(max_examples=25)
@given(st.integers(2, 20), st.integers(0, 10**6))
def test_interpreted_merges_equal_compiled_ones(n, seed):
    rng = np.random.default_rng(seed)
    # nodes that are not yet merged, two of which each merge takes
    free, pairs = list(range(n)), []
    for t in range(n - 1):
        one, other = sorted(free.pop(int(rng.integers(len(free)))) for _ in range(2))
        pairs.append((one, other))
        free.append(n + t)
    left, right = np.array(pairs).T
    assert_same(linkage_kernels.cap_by_children, left, right, rng.random(n - 1), n)
    empty = np.full(2 * n - 1, -1), np.ones(2 * n - 1, dtype=np.int64)
    assert_same(linkage_kernels.merge_in_order, left, right, n, *empty)
    assert_same(linkage_kernels.join_parts, *empty, np.arange(n), n)


def test_a_pass_is_interpreted_until_it_has_read_much(monkeypatch):
    monkeypatch.setattr(jit, "is_ready", lambda compiled: False)
    monkeypatch.setattr(jit, "_INTERPRETED_ENTRIES", 10)
    kernel = jit.PassKernel(total_of, {})
    assert kernel(np.arange(6)) == 15 and not kernel.compiled.overloads
    assert kernel(np.arange(6)) == 15 and kernel.compiled.overloads


def total_of(values):
    total = 0
    for value in values:
        total += value
    return total


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_not_collected_while_a_kernel_compiles_and_afterwards_as_before(collects):
    watch, ours = (
        jit.CompilerWatch(),
        SimpleNamespace(data={"dispatcher": pass_kernels.count_leaves.compiled}),
    )
    before = gc.isenabled()
    try:
        gc.enable() if collects else gc.disable()
        watch.on_start(ours)
        watch.on_start(ours)
        watch.on_end(ours)
        assert not gc.isenabled()
        watch.on_end(ours)
        assert gc.isenabled() == collects
    finally:
        gc.enable() if before else gc.disable()


@pytest.mark.parametrize("watched", [True, False])
def test_only_a_terminal_is_told_of_compiling(monkeypatch, capsys, watched):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: watched, raising=False)
    watch = jit.CompilerWatch()
    ours = SimpleNamespace(data={"dispatcher": pass_kernels.count_leaves.compiled})
    watch.on_start(ours)
    watch.on_end(ours)
    said = capsys.readouterr().err
    assert watch.n_kernels == 1 and watch.seconds >= 0
    assert said == "" if not watched else "compiling, once" in said and said.endswith("\r\x1b[K")


CLUSTER = """
import numpy as np, arbora as ab
tree = ab.cluster(np.random.default_rng(0).normal(size=(60, 3)), random_state=0)
print(tree.to_newick(lengths=False))
"""


@pytest.mark.slow
def test_two_processes_that_compile_at_once_do_not_disturb_each_other(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", CLUSTER]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(command, env=environment, **pipes) for _ in range(2)]
    answers = [process.communicate() for process in started]
    third = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert [process.returncode for process in started] == [0, 0], answers
    assert {out for out, _ in answers} == {third.stdout} and third.stdout.startswith("(")
    assert all(err == "" for _, err in answers)
