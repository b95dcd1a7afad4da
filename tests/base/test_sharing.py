"""Shares of a step: fixed in number, joined in order, whoever works on them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arbora._base.sharing import N_SHARES, Shares, share_bounds


class Busy:
    """Workers that must not be given anything to do."""

    client = None

    def gather(self, tasks):
        raise AssertionError("there are no workers")


@given(st.integers(0, 200), st.integers(1, 20))
def test_bounds_cover_every_item_once_and_no_share_is_empty(n_items, n_shares):
    bounds = share_bounds(n_items, n_shares)
    assert [item for first, last in bounds for item in range(first, last)] == list(range(n_items))
    assert len(bounds) == min(n_items, n_shares)
    heights = [last - first for first, last in bounds]
    assert not heights or max(heights) - min(heights) <= 1


def test_the_number_of_shares_is_fixed():
    assert len(share_bounds(1000)) == N_SHARES


@pytest.mark.parametrize("workers", [None, Busy()])
@pytest.mark.parametrize("here", [True, False])
def test_without_workers_shares_run_here_in_order(workers, here):
    shares = Shares(workers)
    assert not shares.are_spread and shares.send("a", 2) == ["a", 2]
    calls = []
    found = shares.run(
        lambda *arguments: calls.append(arguments) or len(calls), ["c"], [(1,), (2, 3)], here=here
    )
    assert calls == [("c", 1), ("c", 2, 3)] and found == [1, 2]


def test_what_is_sent_can_be_run_with_and_results_keep_their_order():
    dask = pytest.importorskip("dask")

    class Client:
        def scatter(self, values, broadcast, hash):
            assert broadcast and not hash
            return [dask.delayed(value) for value in values]

    class Workers:
        client = Client()
        n_gathered = 0

        def gather(self, tasks):
            self.n_gathered += 1
            return list(dask.compute(*tasks, scheduler="synchronous"))

    workers = Workers()
    shares = Shares(workers)
    (sent,) = shares.send([10, 20])
    assert shares.are_spread
    assert shares.run(lambda common, k: sum(common) * k, [sent], [(1,), (2,), (3,)], here=False) == [
        30,
        60,
        90,
    ]
    assert workers.n_gathered == 1
    assert shares.run(lambda k: k, [], [(1,)], here=True) == [1] and workers.n_gathered == 1
