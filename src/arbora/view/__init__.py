"""Trees to see: layouts, static pictures, and the explorer page.

Names load on first use: pictures need matplotlib, the explorer starlette and uvicorn, the widget anywidget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    "DiskFrames": "arbora.view.disk",
    "Layout": "arbora.view.layout",
    "clustermap": "arbora.view.heatmap",
    "explore": "arbora.view.server",
    "plot": "arbora.view.static",
    "plot_cost_history": "arbora.view.curves",
    "plot_levels": "arbora.view.curves",
    "plot_match": "arbora.view.alluvial",
    "plot_over_time": "arbora.view.timeline",
    "to_html": "arbora.view.page",
    "widget": "arbora.view.notebook",
}

__all__ = sorted(_HOME_OF_NAME)

if TYPE_CHECKING:
    from arbora.view.alluvial import plot_match as plot_match
    from arbora.view.curves import plot_cost_history as plot_cost_history
    from arbora.view.curves import plot_levels as plot_levels
    from arbora.view.disk import DiskFrames as DiskFrames
    from arbora.view.heatmap import clustermap as clustermap
    from arbora.view.layout import Layout as Layout
    from arbora.view.notebook import widget as widget
    from arbora.view.page import to_html as to_html
    from arbora.view.server import explore as explore
    from arbora.view.static import plot as plot
    from arbora.view.timeline import plot_over_time as plot_over_time
else:
    __getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
