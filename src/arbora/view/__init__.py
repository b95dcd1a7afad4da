"""Looking at trees: layouts, static pictures, and the explorer page.

Names load on first use: pictures need matplotlib, the explorer starlette and uvicorn, the widget anywidget.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOME_OF_NAME = {
    "Layout": "arbora.view.layout",
    "clustermap": "arbora.view.heatmap",
    "disk_frames": "arbora.view.disk",
    "explore": "arbora.view.server",
    "plot": "arbora.view.static",
    "plot_cost_history": "arbora.view.curves",
    "plot_levels": "arbora.view.curves",
    "to_html": "arbora.view.page",
    "widget": "arbora.view.notebook",
}

__all__ = list(_HOME_OF_NAME)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF_NAME:
        raise AttributeError(f"module 'arbora.view' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF_NAME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
