import math

import numpy as np
import pytest

import arbora as ab
from arbora.hyperbolic.hyphc.decode import decode_circle
from arbora.view.disk import DiskFrames, node_points, tree_arcs

pytest.importorskip("matplotlib").use("Agg")


def fitted(frames, **options):
    X = np.random.default_rng(0).normal(size=(14, 3))
    ab.HypHC(max_epochs=5, n_triples=200, random_state=0, **options).set_callbacks(frames).fit(X)
    return frames


def test_epochs_are_kept_drawn_and_saved(tmp_path):
    frames = fitted(DiskFrames(classes=np.arange(14) % 3, every=2))
    assert [frame.epoch for frame in frames.frames] == [1, 3, 5]
    figure = frames.figure(n_frames=2)
    assert len(figure.axes) == 2
    assert all(len(axis.collections[0].get_offsets()) == 14 for axis in figure.axes)
    assert all(len(axis.lines) == 26 for axis in figure.axes)  # an arc above every node but the root
    path = tmp_path / "disk.gif"
    frames.save(path, frames_per_second=2, size=1.0)
    assert path.read_bytes()[:4] == b"GIF8"


def test_inner_nodes_lie_at_their_ancestors_depth():
    theta = np.random.default_rng(1).uniform(0, 2 * math.pi, 25)
    radius = 4.0
    tree = decode_circle(theta, radius)
    points = node_points(tree, math.tanh(radius / 2) * np.column_stack([np.cos(theta), np.sin(theta)]))
    inner = np.arange(25, tree.root)
    depth = 2 * np.arctanh(np.linalg.norm(points[inner], axis=1))
    np.testing.assert_allclose(radius - depth, tree.height[inner], atol=1e-6)
    arcs = tree_arcs(tree, points[:25])
    np.testing.assert_allclose(arcs[:, 0], points[:-1], atol=1e-9)
    np.testing.assert_allclose(arcs[:, -1], points[tree.parent[:-1]], atol=1e-9)


def test_what_cannot_be_drawn_is_named():
    with pytest.raises(ValueError, match="every"):
        DiskFrames(every=0)
    with pytest.raises(ValueError, match="no frames"):
        DiskFrames().figure()
    with pytest.raises(ValueError, match="classes"):
        fitted(DiskFrames(classes=[0, 1])).figure()
    with pytest.raises(ValueError, match="dimension"):
        fitted(DiskFrames(), dimension=3)
