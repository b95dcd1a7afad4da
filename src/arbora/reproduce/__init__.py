"""Every table of the papers, run again: ``arbora reproduce``.

A table is data (`arbora.reproduce.table.Table`): data sets, methods, metrics and what is known beforehand. Each cell
runs in a process of its own and leaves one JSON file; pages of the documentation are made from those files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    "Data": "arbora.reproduce.table",
    "Found": "arbora.reproduce.table",
    "Method": "arbora.reproduce.table",
    "Metric": "arbora.reproduce.table",
    "Record": "arbora.reproduce.records",
    "Table": "arbora.reproduce.table",
}

__all__ = sorted(_HOME_OF_NAME)

if TYPE_CHECKING:
    from arbora.reproduce.records import Record as Record
    from arbora.reproduce.table import Data as Data
    from arbora.reproduce.table import Found as Found
    from arbora.reproduce.table import Method as Method
    from arbora.reproduce.table import Metric as Metric
    from arbora.reproduce.table import Table as Table
else:
    __getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
