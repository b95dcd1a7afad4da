"""Pieces of long work cover every item once, and none is much more than was asked for."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from arbora._base.pieces import pieces_of


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 60))
def test_pieces_cover_all_items_that_are_work(work, at_once):
    before = np.append(0, np.cumsum(work)).astype(np.int64)
    pieces = list(pieces_of(before, at_once))
    items = [k for first, last in pieces for k in range(first, last)]
    assert items == list(range(len(work))) or (sum(work) == 0 and items == [])
    for first, last in pieces:
        assert last > first
        assert before[last] - before[first] < at_once + max(work[first:last])
