"""What a search tells while it goes on, and how it is taken up after a stop."""

import importlib
import itertools
import os

import numpy as np
import pytest
from trees import random_tree

import arbora as ab
from arbora.errors import FormatError
from arbora.search import multilevel
from arbora.search.engines import GraphEngine

perturb_module = importlib.import_module("arbora.search.perturb")
RNG = np.random.default_rng(0)
POINTS = RNG.normal(size=(6, 5))[RNG.integers(0, 6, 300)] + 0.7 * RNG.normal(size=(300, 5))


class Stopped(Exception):
    """Stands for a machine that goes down."""


def stop_at(count):
    """A callback that ends the program when it is called for the `count`-th time."""
    calls = iter(range(count))

    def report(stage, done, total=1.0):
        if stage == "refine" and next(calls, None) is None:
            raise Stopped

    return report


@pytest.fixture
def small_levels(monkeypatch):
    """Search by levels already at 300 points."""
    monkeypatch.setattr(perturb_module, "LARGE", 200)
    monkeypatch.setattr(multilevel, "BLOCK", 60)
    monkeypatch.setattr(multilevel, "PIECES", (40, 10))


@pytest.mark.parametrize("limits", ({}, {"n_perturbations": 3}, {"max_seconds": 0.3}))
def test_shares_never_fall_and_every_stage_ends(limits):
    heard = []
    ab.cluster(
        POINTS, random_state=0, progress=lambda stage, done, total: heard.append((stage, done)), **limits
    )
    assert list(dict(heard)) == ["similarity", "average linkage", "refine", "components"]
    for stage in dict(heard):
        shares = [share for name, share in heard if name == stage]
        assert shares[0] == 0 and shares[-1] == 1
        assert all(a <= b for a, b in itertools.pairwise(shares))
    assert sum(0 < share < 1 for stage, share in heard if stage == "refine") > 3


def test_a_search_by_levels_moves_through_its_levels(small_levels):
    heard = []
    ab.cluster(
        POINTS, random_state=0, n_perturbations=0, progress=lambda stage, done, total: heard.append(done)
    )
    assert any(0 < share < 0.6 for share in heard) and any(0.75 < share < 1 for share in heard)


@pytest.mark.parametrize("by_levels", (False, True))
def test_a_search_stopped_anywhere_ends_with_the_same_tree(tmp_path, request, by_levels):
    if by_levels:
        request.getfixturevalue("small_levels")
    heard = []
    whole = ab.cluster(
        POINTS, random_state=3, n_perturbations=3, progress=lambda stage, done, total: heard.append(stage)
    )
    for count in np.linspace(1, heard.count("refine") - 2, 5).astype(int):
        folder = tmp_path / str(count)
        with pytest.raises(Stopped):
            ab.cluster(POINTS, random_state=3, n_perturbations=3, checkpoint=folder, progress=stop_at(count))
        kept = set(os.listdir(folder))
        taken_up = ab.cluster(POINTS, random_state=3, n_perturbations=3, checkpoint=folder)
        np.testing.assert_array_equal(taken_up.parent, whole.parent)
        np.testing.assert_array_equal(taken_up.height, whole.height)
        assert kept < set(os.listdir(folder))
    assert len(kept) > 2  # the latest stop did leave steps to take up


def test_a_finished_search_is_not_repeated(tmp_path, monkeypatch):
    graph = ab.similarity.knn(POINTS, 5)
    start = ab.linkage(graph)
    options = {"n_perturbations": 2, "random_state": 0, "checkpoint": tmp_path}
    first = ab.refine(start, graph, **options)

    def refuse(*args, **kwargs):
        raise AssertionError("searched again")

    monkeypatch.setattr(GraphEngine, "improve", refuse)
    assert ab.refine(start, graph, **options).same_topology(first)


def test_an_unseeded_search_goes_on_with_the_seed_it_began_with(tmp_path):
    graph = ab.similarity.knn(POINTS, 5)
    start = random_tree(300, np.random.default_rng(1))
    with pytest.raises(Stopped):
        ab.refine(start, graph, n_perturbations=2, checkpoint=tmp_path, progress=stop_at(12))
    once = ab.refine(start, graph, n_perturbations=2, checkpoint=tmp_path)
    again = ab.refine(start, graph, n_perturbations=2, checkpoint=tmp_path)
    np.testing.assert_array_equal(once.parent, again.parent)


def test_another_search_or_a_damaged_folder_is_refused(tmp_path):
    graph = ab.similarity.knn(POINTS, 5)
    start = ab.linkage(graph)
    options = {"random_state": 0, "checkpoint": tmp_path}
    ab.refine(start, graph, **options)
    for other in ({"n_perturbations": 1}, {"random_state": 1}, {"objective": "tsd"}, {"must_link": [(0, 1)]}):
        with pytest.raises(ValueError, match="keeps another search"):
            ab.refine(start, graph, **{**options, **other})
    with pytest.raises(ValueError, match="keeps another search"):
        ab.refine(start, ab.similarity.knn(POINTS + 1e-3 * POINTS**2, 5), **options)
    step = tmp_path / "step0000.npz"
    step.write_bytes(step.read_bytes()[:100])
    with pytest.raises(FormatError, match="not a whole step"):
        ab.refine(start, graph, **options)
    (tmp_path / "search.json").write_text("{")
    with pytest.raises(FormatError, match="damaged"):
        ab.refine(start, graph, **options)
