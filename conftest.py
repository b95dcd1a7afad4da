"""Shared by tests and by the examples of docstrings."""

import sys

import pytest


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    """Figures that examples leave open would add up to a warning, which is an error here."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")
