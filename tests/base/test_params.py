"""Parameters are refused by name, with what was required and what came."""

import pytest

from arbora._base.params import check_whole


def test_whole_numbers_beyond_64_bits_are_refused():
    with pytest.raises(ValueError, match="n_perturbations must fit into 64 bits"):
        check_whole(10**30, "n_perturbations")
    assert check_whole(2**63 - 1, "n") == 2**63 - 1
