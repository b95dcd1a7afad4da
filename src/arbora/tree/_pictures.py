"""Pictures and pages of a tree, which `arbora.view`, a layer above, makes: reached by name at call time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from arbora._base.types import PathLike
from arbora.tree._arrays import TreeArrays

if TYPE_CHECKING:
    from anywidget import AnyWidget
    from matplotlib.axes import Axes

    from arbora.tree._tree import Tree
    from arbora.view.content import Columns
    from arbora.view.layout import Scale
    from arbora.view.page import View
    from arbora.view.picture import Kind, Orientation
    from arbora.view.server import Viewer


class TreePictures(TreeArrays):
    """The pictures of `Tree`."""

    def plot(
        self,
        kind: Kind = "dendrogram",
        *,
        ax: Axes | None = None,
        names: bool | Iterable[Any] | None = None,
        classes: Columns | None = None,
        metadata: Columns | None = None,
        colors: str | ArrayLike | None = None,
        category_colors: Mapping[str, Mapping[str, str]] | None = None,
        n_clusters: int | None = None,
        support: bool = False,
        scale: Scale | Literal["auto"] = "auto",
        orientation: Orientation = "left",
        max_leaves: int = 600,
        line_width: float | None = None,
        legend: bool = True,
        title: str | None = None,
    ) -> Axes:
        """Draw with matplotlib; see `arbora.view.plot` for every parameter.

        Examples
        --------
        >>> from arbora import Tree
        >>> ax = Tree.from_newick("((ant:1,bee:1):2,(cat:2,dog:2):1);").plot(classes=["insect"] * 2 + ["pet"] * 2)
        >>> [text.get_text() for text in ax.texts]
        ['ant', 'bee', 'cat', 'dog']
        """
        axes: Axes = import_module("arbora.view").plot(
            self, kind, ax=ax, names=names, classes=classes, metadata=metadata, colors=colors,
            category_colors=category_colors, n_clusters=n_clusters,
            support=support, scale=scale, orientation=orientation, max_leaves=max_leaves, line_width=line_width,
            legend=legend, title=title,
        )  # fmt: skip
        return axes

    def explore(
        self,
        *,
        view: View = "circular",
        names: Iterable[Any] | None = None,
        classes: Columns | None = None,
        metadata: Columns | None = None,
        colors: str | ArrayLike | None = None,
        category_colors: Mapping[str, Mapping[str, str]] | None = None,
        texts: Iterable[Any] | None = None,
        images: ArrayLike | None = None,
        features: ArrayLike | None = None,
        feature_names: Iterable[Any] | None = None,
        points: ArrayLike | None = None,
        compare: Tree | None = None,
        report: Mapping[str, Any] | None = None,
        title: str | None = None,
        edit: bool | PathLike = False,
        similarity: Any = None,
        port: int = 0,
        open_browser: bool = True,
        block: bool = False,
    ) -> Viewer | AnyWidget:
        """Open the explorer page, or a widget in a notebook; see `arbora.view.explore` for every parameter.

        Examples
        --------
        >>> from arbora import Tree
        >>> with Tree.from_newick("((a,b),c);").explore(open_browser=False) as viewer:
        ...     viewer.url.startswith("http://127.0.0.1:")
        True
        """
        viewer: Viewer | AnyWidget = import_module("arbora.view").explore(
            self, view=view, names=names, classes=classes, metadata=metadata, colors=colors,
            category_colors=category_colors, texts=texts, images=images,
            features=features, feature_names=feature_names, points=points, compare=compare, report=report, title=title,
            edit=edit, similarity=similarity, port=port, open_browser=open_browser, block=block,
        )  # fmt: skip
        return viewer

    def to_html(
        self,
        path: PathLike,
        *,
        view: View = "circular",
        max_leaves: int | None = None,
        names: Iterable[Any] | None = None,
        classes: Columns | None = None,
        metadata: Columns | None = None,
        colors: str | ArrayLike | None = None,
        category_colors: Mapping[str, Mapping[str, str]] | None = None,
        texts: Iterable[Any] | None = None,
        images: ArrayLike | None = None,
        features: ArrayLike | None = None,
        feature_names: Iterable[Any] | None = None,
        points: ArrayLike | None = None,
        compare: Tree | None = None,
        report: Mapping[str, Any] | None = None,
        title: str | None = None,
        edit: bool = False,
        similarity: Any = None,
    ) -> Path:
        """Write the explorer as one self-contained page; see `arbora.view.explore` for every parameter.

        Examples
        --------
        >>> import tempfile
        >>> from arbora import Tree
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Tree.from_newick("((a,b),c);").to_html(f"{folder}/tree.html", classes={"kind": [1, 1, 2]}).name
        'tree.html'
        """
        written: Path = import_module("arbora.view").to_html(
            self, path, view=view, max_leaves=max_leaves, names=names, classes=classes, metadata=metadata,
            colors=colors, category_colors=category_colors, texts=texts, images=images, features=features,
            feature_names=feature_names, points=points,
            compare=compare, report=report, title=title, edit=edit, similarity=similarity,
        )  # fmt: skip
        return written
