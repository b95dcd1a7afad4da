"""Files and frames in: what is a feature, a label, a name, a text; graphs and trees."""

from __future__ import annotations

from arbora.reading._read import read, read_data, read_file, read_tree
from arbora.reading.dataset import Dataset
from arbora.reading.genes import Genes
from arbora.reading.options import ReadOptions

__all__ = ["Dataset", "Genes", "ReadOptions", "read", "read_data", "read_file", "read_tree"]
