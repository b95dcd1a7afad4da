"""Which first rows are headers."""

import pytest

from arbora.errors import FormatError
from arbora.reading.header import is_header


@pytest.mark.parametrize(
    ("first", "rest", "expected"),
    [
        (["a", "b"], [["1", "2"], ["3", "4"]], True),
        (["1", "2"], [["3", "4.5"], ["5", "6"]], False),
        (["", "0", "1"], [["0", "2", "3"], ["1", "4", "5"]], True),
        (["0", "1", "2"], [["0.5", "2", "3"]], True),
        (["0", "1", "2"], [["3", "4", "5"]], False),
        (["0", "1"], [["0.5", "2.0"], ["0.25", "1e-3"]], True),
        (["1", "2"], [["5", "7"], ["6", "6"]], False),
        (["0", "1", "2", "3"], [["0.5", "7", "1", "3"]], True),
        (["1990", "1991"], [["5", "7"], ["6", "8"]], True),
        (["1990", "1991"], [["1992", "1995"], ["1996", "1999"]], False),
        (["town", "1990", "2000"], [["Ulm", "5", "7"]], True),
        (["town", "1990"], [["Ulm", "5.5"], ["Bonn", "7.25"]], True),
        (["Ulm", "1990"], [["Bonn", "2004"]], False),
        (["a", "[1, 2]"], [["b", "[3, 4]"]], False),
        (["x", "1.5"], [["y", "2.5"]], False),
        (["red", "green"], [["blue", "white"], ["red", "black"]], False),
        (["name", "town"], [["Ann", "Ulm"], ["Bob", "Bonn"]], True),
        ([str(k) for k in range(9)], [["7"] * 9, ["3"] * 9], True),
        (["5", "3"], [], False),
    ],
)
def test_headers_are_told_from_data(first, rest, expected):
    assert is_header(first, rest, "x.csv") is expected


def test_what_may_be_either_is_asked_about():
    with pytest.raises(FormatError, match="header=True or header=False"):
        is_header(["0", "1", "2"], [["7", "9", "3"], ["4", "4", "4"]], "x.csv")
