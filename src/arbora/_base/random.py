"""What `random_state` means, everywhere: as in scikit-learn.

A whole number gives the same result each time. None gives another result each time, unless the caller has seeded
NumPy's global generator. A `RandomState` or `Generator` moves on with each use.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np

from arbora._base.types import RandomState

LARGEST_SEED = 2**31 - 1


def seed_of(random_state: RandomState) -> int:
    """A whole number that decides everything random from here on.

    Examples
    --------
    >>> from arbora._base.random import seed_of
    >>> seed_of(7) == seed_of(7)
    True
    """
    if random_state is None:
        return int(np.random.randint(LARGEST_SEED))  # noqa: NPY002 (as scikit-learn: np.random.seed is obeyed)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(LARGEST_SEED))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(LARGEST_SEED))
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if not 0 <= random_state < 2**32:
            raise ValueError(f"random_state must lie in [0, 2**32). Got {random_state!r}.")
        return int(np.random.RandomState(int(random_state)).randint(LARGEST_SEED))
    raise TypeError(
        "random_state must be None, a whole number, or a NumPy RandomState or Generator. "
        f"Got {type(random_state).__name__}."
    )


def generator(random_state: RandomState, *stream: int) -> np.random.Generator:
    """A new generator, as `random_state` says; `stream` numbers distinguish several of them."""
    return np.random.default_rng((seed_of(random_state), *stream))


def numpy_generator(random_state: RandomState) -> np.random.Generator:
    """As `generator`, but a whole number seeds NumPy's generator as it is, so that published figures stay the same."""
    if isinstance(random_state, Integral):
        seed_of(random_state)
        return np.random.default_rng(int(random_state))
    return np.random.default_rng(seed_of(random_state))


def is_reproducible(random_state: RandomState) -> bool:
    """Whether the same call gives the same result: only then can a checkpoint insist on the seed."""
    return isinstance(random_state, Integral)


def with_words_for_seed(random_state: RandomState) -> RandomState:
    """The same value, checked: a wrong one is refused in arbora's words, before long work begins."""
    if random_state is not None and not isinstance(
        random_state, (np.random.Generator, np.random.RandomState)
    ):
        seed_of(random_state)
    return random_state
