"""Looking at trees: layouts, static pictures, and the explorer page.

Names load on first use: pictures need matplotlib, the explorer starlette and uvicorn, the widget anywidget.
"""

from __future__ import annotations

from arbora._base.lazy import load_on_use

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
__getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
