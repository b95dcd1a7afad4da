"""The Poincaré disk during HypHC's training, frame by frame (the paper's Fig. 2)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.files import write_whole
from arbora._base.params import check_whole
from arbora._base.types import PathLike
from arbora.tree import Tree
from arbora.view import palette
from arbora.view.picture import pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Points that draw one geodesic.
_ARC_POINTS = 24


class Frame(NamedTuple):
    """One epoch of a fit."""

    epoch: int
    cost: float
    embedding: NDArray[np.float64]
    tree: Tree


class DiskFrames:
    """Collect the leaf embeddings of a fit and draw them in the disk.

    A scikit-learn callback: pass an instance to ``HypHC(...).set_callbacks``; afterwards `figure` draws some epochs
    side by side and `save` writes an animation. Only embeddings of two dimensions can be drawn.

    Parameters
    ----------
    classes : array-like of shape (n,), optional
        Known classes of the leaves: their colors.
    every : int, default=1
        Record every n-th epoch.
    with_tree : bool, default=True
        Draw the decoded tree: an internal node lies at the hyperbolic ancestor of the leaves it joins.

    Attributes
    ----------
    frames : list of Frame
        Epoch (from 1), cost, embedding and tree of the recorded epochs.

    Examples
    --------
    >>> import numpy as np
    >>> import arbora as ab
    >>> frames = ab.view.DiskFrames(every=2)
    >>> X = np.random.default_rng(0).normal(size=(12, 3))
    >>> _ = ab.HypHC(max_epochs=6, n_triples=200, random_state=0).set_callbacks(frames).fit(X)
    >>> [frame.epoch for frame in frames.frames]
    [1, 3, 5]
    """

    def __init__(self, classes: ArrayLike | None = None, *, every: int = 1, with_tree: bool = True) -> None:
        self.classes = None if classes is None else np.asarray(classes)
        self.every = check_whole(every, "every")
        self.with_tree = with_tree
        self.frames: list[Frame] = []

    def setup(self, estimator: Any, context: Any) -> None:
        """Start over: scikit-learn calls this before a fit."""
        self.frames = []

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing to do."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any) -> None:
        """Record an epoch: scikit-learn calls this after each."""
        if context.task_name != "epoch":
            return
        embedding = fitted_estimator.embedding_
        if embedding.shape[1] != 2:
            raise ValueError(
                f"Only embeddings in the disk can be drawn. Got dimension {embedding.shape[1]}. "
                "Use HypHC(dimension=2)."
            )
        epoch = fitted_estimator.n_epochs_
        if (epoch - 1) % self.every == 0:
            self.frames.append(Frame(epoch, fitted_estimator.cost_, embedding, fitted_estimator.tree_))

    def teardown(self, estimator: Any, context: Any) -> None:
        """Nothing to do."""

    def figure(self, n_frames: int = 4, *, size: float = 3.0) -> Figure:
        """Draw some epochs, evenly chosen, side by side; a matplotlib figure."""
        plt = pyplot()
        if not self.frames:
            raise ValueError("There are no frames yet. Pass this object to HypHC().set_callbacks and fit.")
        chosen = np.unique(np.linspace(0, len(self.frames) - 1, min(n_frames, len(self.frames))).astype(int))
        figure: Figure
        figure, axes = plt.subplots(1, len(chosen), figsize=(size * len(chosen), size * 1.12), squeeze=False)
        for axis, index in zip(axes[0], chosen):
            self.draw(axis, self.frames[index])
        figure.tight_layout()
        return figure

    def draw(self, axis: Axes, frame: Frame) -> None:
        """Draw one epoch on a matplotlib axis."""
        plt = pyplot()
        axis.set_aspect("equal")
        axis.set_axis_off()
        axis.set_xlim(-1.05, 1.05)
        axis.set_ylim(-1.05, 1.05)
        axis.add_patch(plt.Circle((0, 0), 1.0, fill=False, color="0.6", linewidth=0.8))
        if self.with_tree and frame.tree.n_leaves > 1:
            for arc in tree_arcs(frame.tree, frame.embedding):
                axis.plot(arc[:, 0], arc[:, 1], color="0.75", linewidth=0.6, zorder=1)
        axis.scatter(
            frame.embedding[:, 0], frame.embedding[:, 1], c=self._colors(len(frame.embedding)), s=10, zorder=2
        )
        axis.set_title(f"epoch {frame.epoch}, cost {frame.cost:.4g}", fontsize=9)

    def save(self, path: PathLike, *, frames_per_second: int = 8, size: float = 4.0) -> None:
        """Write an animation (.gif needs Pillow, .mp4 needs ffmpeg)."""
        plt = pyplot()
        from matplotlib.animation import FuncAnimation

        if not self.frames:
            raise ValueError("There are no frames yet. Pass this object to HypHC().set_callbacks and fit.")
        figure, axis = plt.subplots(figsize=(size, size * 1.08))

        def show(index: int) -> None:
            axis.clear()
            self.draw(axis, self.frames[index])

        animation = FuncAnimation(figure, show, frames=len(self.frames), interval=1000 / frames_per_second)
        # matplotlib writes to a name, and knows the format by it
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / f"frames{Path(path).suffix}"
            animation.save(written, fps=frames_per_second)
            write_whole(path, written.read_bytes())
        plt.close(figure)

    def _colors(self, n: int) -> Any:
        if self.classes is None:
            return "C0"
        if self.classes.shape != (n,):
            raise ValueError(f"classes must have one entry per leaf, shape ({n},). Got {self.classes.shape}.")
        found, codes = np.unique(self.classes, return_inverse=True)
        shades = palette.categorical(len(found))
        return [shades[code] for code in codes]


def node_points(tree: Tree, embedding: ArrayLike) -> NDArray[np.float64]:
    """A place in the disk for every node: leaves where they are, the root at the origin.

    An internal node lies where the geodesic between the outer leaves of two of its children is nearest to the
    origin, the hyperbolic ancestor from which it was decoded.
    """
    leaves = np.asarray(embedding, dtype=np.float64)
    points = np.zeros((tree.n_nodes, 2))
    points[: tree.n_leaves] = leaves
    starts = tree.child_offsets[:-1]
    first, second = (
        tree.child_index[starts],
        tree.child_index[np.minimum(starts + 1, len(tree.child_index) - 1)],
    )
    left = tree.leaf_order[tree.leaf_start[first] + tree.sizes[first] - 1]
    right = tree.leaf_order[tree.leaf_start[second]]
    points[tree.n_leaves :] = _nearest_to_origin(leaves[left], leaves[right])
    points[tree.root] = 0.0
    return points


def _nearest_to_origin(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The point of the chord nearest to the center, in the Klein model and back."""
    x, y = (2 * p / (1 + (p**2).sum(-1, keepdims=True)) for p in (x, y))
    chord = y - x
    square = np.maximum((chord**2).sum(-1, keepdims=True), 1e-300)
    t = np.clip(-(x * chord).sum(-1, keepdims=True) / square, 0.0, 1.0)
    foot = x + t * chord
    place: NDArray[np.float64] = foot / (1 + np.sqrt(np.maximum(1 - (foot**2).sum(-1, keepdims=True), 0.0)))
    return place


def tree_arcs(tree: Tree, embedding: ArrayLike) -> NDArray[np.float64]:
    """Geodesics from every node to its parent: float64[n_nodes - 1, points, 2]."""
    points = node_points(tree, embedding)
    x, y = points[:-1, None, :], points[tree.parent[:-1], None, :]
    x, y = (2 * p / (1 + (p**2).sum(-1, keepdims=True)) for p in (x, y))
    t = np.linspace(0, 1, _ARC_POINTS)[None, :, None]
    # straight in the Klein model
    chord = x + t * (y - x)
    arcs: NDArray[np.float64] = chord / (1 + np.sqrt(np.maximum(1 - (chord**2).sum(-1, keepdims=True), 0.0)))
    return arcs
