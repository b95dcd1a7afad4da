"""How many nodes a triple must look at, and that training looks at so many."""

import ghhc_worlds as worlds
import numpy as np
import pytest

import arbora as ab
from arbora.hyperbolic.ghhc import candidates
from arbora.hyperbolic.ghhc.candidates import NEGLIGIBLE_MASS, choose_candidates, left_out_mass
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.model import lca_distributions


def world(n_nodes=600, seed=0):
    rng = np.random.default_rng(seed)
    points = np.stack([worlds.random_points(rng, 10, 6) for _ in range(3)])
    return NodeTable(worlds.random_nodes(rng, n_nodes, 6)), points


def test_left_out_mass_is_that_of_the_nodes_beyond_the_nearest():
    table, points = world()
    expected = np.zeros(2)
    masses = lca_distributions(table, points, 0.1)
    for t in range(points.shape[1]):
        scores = table.scores(points[:, t])
        pair = np.argsort(np.maximum(scores[0], scores[1]))[:8]
        others = [node for node in np.argsort(scores.max(axis=0)) if node not in pair][:8]
        expected += [1 - mass[t, [*pair, *others]].sum() for mass in masses]
    np.testing.assert_allclose(left_out_mass(table, points, 0.1, 16), expected / points.shape[1])


@pytest.mark.parametrize("temperature", (0.002, 0.02, 0.1, 1.0))
def test_the_choice_leaves_out_negligible_mass_and_a_smaller_one_would_not(monkeypatch, temperature):
    monkeypatch.setattr(candidates, "CHOICES", (8, 16, 32, 64, 128))
    table, points = world()
    chosen = choose_candidates(table, points, temperature)
    for n_candidates in candidates.CHOICES:
        is_enough = max(left_out_mass(table, points, temperature, n_candidates)) <= NEGLIGIBLE_MASS
        assert is_enough == (chosen is not None and n_candidates >= chosen)


def test_few_nodes_are_all_considered():
    table, points = world(n_nodes=candidates.EXACT_UP_TO)
    assert choose_candidates(table, points, 1e-6) is None


def test_training_considers_as_many_as_were_chosen_last(monkeypatch):
    monkeypatch.setattr(candidates, "EXACT_UP_TO", 10)
    monkeypatch.setattr(candidates, "CHOICES", (4,))
    X = np.random.default_rng(0).normal(size=(200, 3))
    fits = {
        name: ab.GHHC(41, max_steps=20, temperature=temperature, n_candidates=n, random_state=0).fit(X)
        for name, temperature, n in (
            ("cold", 1e-3, "auto"),
            ("four", 1e-3, 4),
            ("warm", 1.0, "auto"),
            ("all", 1.0, None),
        )
    }
    np.testing.assert_array_equal(fits["cold"].nodes_, fits["four"].nodes_)
    np.testing.assert_array_equal(fits["warm"].nodes_, fits["all"].nodes_)


def test_a_resumed_fit_keeps_the_choice_of_the_first(monkeypatch, tmp_path):
    monkeypatch.setattr(candidates, "EXACT_UP_TO", 10)
    monkeypatch.setattr(candidates, "CHOICES", (4,))
    X = np.random.default_rng(0).normal(size=(200, 3))
    options = {"max_steps": 20, "temperature": 1e-3, "random_state": 0, "checkpoint_every": 5}
    whole = ab.GHHC(41, **options).fit(X)
    monkeypatch.setattr(ab.GHHC, "_after_step", stopping_after(ab.GHHC._after_step, 7))
    with pytest.raises(KeyboardInterrupt):
        ab.GHHC(41, checkpoint=tmp_path, **options).fit(X)
    monkeypatch.undo()
    np.testing.assert_array_equal(ab.GHHC(41, checkpoint=tmp_path, **options).fit(X).nodes_, whole.nodes_)


def stopping_after(after_step, n_steps):
    def stop(self, state, *others):
        if state.step > n_steps:
            raise KeyboardInterrupt
        return after_step(self, state, *others)

    return stop
