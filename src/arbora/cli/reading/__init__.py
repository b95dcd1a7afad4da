"""Reading what people have: arrays, tables, graphs, single-cell files, trees; also from standard input."""

from arbora.cli.reading._data import Data, ReadOptions
from arbora.cli.reading._open import read_data, read_tree

__all__ = ["Data", "ReadOptions", "read_data", "read_tree"]
