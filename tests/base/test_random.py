"""One meaning of random_state: that of scikit-learn."""

import numpy as np
import pytest

from arbora._base.random import (
    LARGEST_SEED,
    generator,
    is_reproducible,
    numpy_generator,
    seed_of,
    with_words_for_seed,
)

WHOLE = [0, 7, np.int64(7), np.uint8(3), 2**32 - 1]
MOVING = [np.random.RandomState, np.random.default_rng]


@pytest.mark.parametrize("random_state", WHOLE)
def test_a_whole_number_decides_everything(random_state):
    assert seed_of(random_state) == seed_of(random_state)
    assert 0 <= seed_of(random_state) < LARGEST_SEED
    assert generator(random_state).random() == generator(random_state).random()
    assert is_reproducible(random_state)


def test_a_whole_number_of_numpy_is_the_same_number():
    assert seed_of(np.int64(7)) == seed_of(7)
    assert numpy_generator(np.int64(7)).random() == numpy_generator(7).random()


@pytest.mark.parametrize("make", MOVING)
def test_a_generator_moves_on_with_each_use(make):
    moving = make(1)
    first, second = seed_of(moving), seed_of(moving)
    assert first != second
    again = make(1)
    assert (seed_of(again), seed_of(again)) == (first, second)
    assert not is_reproducible(moving)


def test_none_obeys_the_global_seed_and_differs_otherwise():
    state = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(3)  # noqa: NPY002
        first = [seed_of(None) for _ in range(3)]
        np.random.seed(3)  # noqa: NPY002
        assert [seed_of(None) for _ in range(3)] == first
        assert len(set(first)) == 3
    finally:
        np.random.set_state(state)  # noqa: NPY002


def test_streams_of_one_seed_are_apart_and_each_repeats():
    drawn = {stream: generator(5, *stream).random() for stream in [(1,), (2,), (1, 1), (1, 2), (2, 1)]}
    assert len(set(drawn.values())) == len(drawn)
    assert drawn[(1, 2)] == generator(5, 1, 2).random()


def test_published_figures_stay_because_numpy_is_seeded_as_it_is():
    assert numpy_generator(11).random() == np.random.default_rng(11).random()
    assert numpy_generator(np.random.RandomState(4)).random() == (
        np.random.default_rng(np.random.RandomState(4).randint(LARGEST_SEED)).random()
    )


@pytest.mark.parametrize("bad", [-1, 2**32, 10**20])
def test_numbers_that_are_no_seed_are_refused(bad):
    for read in (seed_of, generator, numpy_generator, with_words_for_seed):
        with pytest.raises(ValueError, match=r"random_state must lie in \[0, 2\*\*32\). Got"):
            read(bad)


@pytest.mark.parametrize("bad", [True, 1.0, "7", [1], np.random])
def test_other_things_are_refused_by_their_kind(bad):
    for read in (seed_of, with_words_for_seed):
        with pytest.raises(TypeError, match=f"random_state must be .* Got {type(bad).__name__}"):
            read(bad)


@pytest.mark.parametrize("good", [None, 3, np.random.RandomState(0), np.random.default_rng(0)])
def test_checking_a_seed_neither_changes_nor_uses_it(good):
    before = good.random() if hasattr(good, "random") else None
    assert with_words_for_seed(good) is good
    if isinstance(good, np.random.Generator):
        fresh = np.random.default_rng(0)
        assert fresh.random() == before
        assert good.random() == fresh.random(), "nothing was drawn in between"
