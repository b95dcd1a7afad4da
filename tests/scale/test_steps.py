"""Sizes of distributed work, steps kept by their workers, letters between parts, components joined at the top."""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

dask = pytest.importorskip("dask")

import arbora as ab  # noqa: E402
from arbora._base.checkpoint import Checkpoint  # noqa: E402
from arbora.scale import Limits  # noqa: E402
from arbora.scale.assembly import Whole  # noqa: E402
from arbora.scale.exchange import item, letters_to, mutual  # noqa: E402
from arbora.scale.joins import component_of_rows, join_components, means_of_components  # noqa: E402
from arbora.scale.plan import ROWS_AT_ONCE, Plan  # noqa: E402
from arbora.scale.steps import Steps  # noqa: E402


class Here:
    """Workers without other machines."""

    client = None


class Found(NamedTuple):
    values: np.ndarray
    number: np.ndarray


# ---- sizes -------------------------------------------------------------------------------------------------------


@given(st.integers(1, 10**9), st.integers(1, 10**6), st.integers(1, 1000))
def test_sizes_keep_to_their_bounds(n_rows, part, most_parts):
    limits = Limits(part=part, most_parts=most_parts)
    plan = Plan.of(n_rows, limits)
    assert -(-n_rows // plan.part) <= most_parts, "parts are few"
    assert plan.part >= part and plan.block >= plan.part and plan.block % ROWS_AT_ONCE == 0
    assert plan.block - plan.part < ROWS_AT_ONCE
    assert plan.n_cells == limits.cells_per_part * -(-n_rows // plan.part)
    assert plan.n_sampled <= n_rows and plan.piece >= limits.smallest_piece
    assert -(-n_rows // plan.piece) <= limits.pieces or plan.piece == limits.smallest_piece
    assert plan.is_one_part == (n_rows <= plan.part)


def test_rows_that_weigh_more_make_larger_parts():
    limits = Limits(part=10, most_parts=4)
    assert Plan.of(100, limits).part == 25 and Plan.of(100, limits, total=1000.5).part == 251


# ---- steps -------------------------------------------------------------------------------------------------------


def computed(calls, value):
    calls.append(value)
    return Found(np.full(3, value), np.array(value))


def test_without_a_checkpoint_every_task_is_computed():
    calls, steps = [], Steps(None, Here())
    for _ in range(2):
        found = steps.task("a", Found, computed, dask.delayed(calls, traverse=False), 7).compute(
            scheduler="sync"
        )
        assert found.number == 7
    assert steps.here("b", lambda: {"x": np.arange(2)})["x"].tolist() == [0, 1]
    steps.check_same(np.eye(2))


def test_a_finished_task_is_read_instead_of_computed(tmp_path):
    kept = Checkpoint(tmp_path, method="cluster", identity="i")
    calls = []
    for _ in range(2):
        task = Steps(kept, Here()).task("a", Found, computed, dask.delayed(calls, traverse=False), 7)
        found = task.compute(scheduler="sync")
        assert isinstance(found, Found) and found.values.tolist() == [7, 7, 7] and found.number == 7
    assert len(calls) == 1
    for _ in range(2):
        made = Steps(kept, Here()).here("top", lambda: calls.append(1) or {"x": np.arange(3)})
        assert made["x"].tolist() == [0, 1, 2]
    assert len(calls) == 2


def test_other_data_are_refused_by_a_sample_of_them(tmp_path):
    steps = Steps(Checkpoint(tmp_path, method="cluster", identity="i"), Here())
    steps.check_same(np.eye(3))
    steps.check_same(np.eye(3))
    with pytest.raises(ValueError, match="belongs to other work: its data differ"):
        steps.check_same(2 * np.eye(3))


@pytest.mark.parametrize("sees", [True, False])
def test_a_folder_that_workers_do_not_see_is_refused(sees, tmp_path):
    class Client:
        def run(self, function, path):
            assert function(path), "the sign is there while workers look for it"
            return {"tcp://one": True, "tcp://two": sees}

    class Cluster:
        client = Client()

    kept = Checkpoint(tmp_path, method="cluster", identity="i")
    if sees:
        Steps(kept, Cluster())
    else:
        with pytest.raises(
            ValueError, match=r"a folder that all workers share. 1 of 2 do not see it, tcp://two"
        ):
            Steps(kept, Cluster())
    assert not list(tmp_path.glob("seen-*")), "nothing is left behind"


# ---- letters -----------------------------------------------------------------------------------------------------


@given(st.lists(st.lists(st.integers(0, 4), max_size=4), min_size=5, max_size=5))
def test_partners_are_mutual(others):
    partners = mutual(others)
    for part, found in enumerate(partners):
        assert found == sorted(set(found))
        wanted = set(others[part]) | {other for other in range(5) if part in others[other]}
        assert set(found) == wanted


def test_letters_are_read_by_their_sender_and_absent_ones_are_none():
    letters = [{1: "from 0 to 1"}, {}, {1: "from 2 to 1"}]
    found = letters_to(dask.delayed, [dask.delayed(letter) for letter in letters], 1, [0, 2])
    assert dask.compute(found, scheduler="sync")[0] == {0: "from 0 to 1", 2: "from 2 to 1"}
    assert item(letters[1], 0) is None


# ---- components --------------------------------------------------------------------------------------------------


def test_rows_have_the_component_of_their_piece():
    tree = ab.Tree([6, 6, 7, 7, 8, 8, 9, 9, 10, 10, -1], 6)
    whole = Whole(tree, np.zeros(tree.n_internal), np.array([6, 7, 8]))
    graph = sp.csr_array(np.array([[0, 1.0, 0], [1.0, 0, 0], [0, 0, 0]]))
    n_components, of_piece, of_row = component_of_rows(graph, whole)
    assert n_components == 2 and of_piece[0] == of_piece[1] != of_piece[2]
    assert of_row.tolist() == np.repeat(of_piece, 2).tolist()


def test_means_of_components_are_those_of_all_their_rows():
    sums, sizes = np.array([[2.0, 4.0], [1.0, 1.0], [9.0, 3.0]]), np.array([2.0, 1.0, 3.0])
    found = means_of_components(sums, sizes, np.array([0, 1, 0]))
    np.testing.assert_allclose(found, [[11 / 5, 7 / 5], [1.0, 1.0]])


def test_components_are_joined_by_their_means_and_nothing_meets_above_them():
    #  three pairs, joined in the wrong order
    tree = ab.Tree([6, 6, 7, 7, 8, 8, 9, 10, 9, 10, -1], 6)
    cross = np.array([1.0, 2.0, 3.0, 0.0, 0.0])
    means = np.array([[0.0], [1.0], [50.0]])
    joined, sums = join_components(tree, cross, np.repeat(np.arange(3), 2), means)
    assert {frozenset(joined.leaves(v).tolist()) for v in range(6, 11)} >= {frozenset({0, 1, 2, 3})}
    assert sorted(sums.tolist()) == [0, 0, 1, 2, 3]
    for node in range(6, 11):
        if joined.sizes[node] == 2:
            assert sums[node - 6] == cross[int(joined.leaves(node).min()) // 2]
    mixed = np.array([0, 1, 1, 0, 2, 2])
    same, untouched = join_components(tree, cross, mixed, means)
    assert same is tree and untouched is cross, "a component that is not one subtree stays where it is"
