"""Streams between the clusters of two trees."""

import numpy as np
import pytest

import arbora as ab

pytest.importorskip("matplotlib")


@pytest.fixture
def match():
    X = np.random.default_rng(0).normal(size=(60, 2)) + 8 * (np.arange(60) % 4)[:, None]
    return ab.match(
        ab.linkage(X, "ward"), ab.linkage(X[:, ::-1] + 3 * X[:, :1] ** 2, "average"), 4, n_clusters_new=5
    )


def test_streams_are_as_wide_as_what_clusters_share(match):
    ax = ab.view.plot_match(match)
    streams = ax.collections[: int((match.overlap > 0).sum())]
    # a quarter of the picture is space between blocks
    unit = (1 - 0.25) / match.n_common
    heights = []
    for stream in streams:
        corners = stream.get_paths()[0].vertices
        start = corners[np.isclose(corners[:, 0], corners[:, 0].min())][:, 1]
        heights.append(round((start.max() - start.min()) / unit))
    assert sorted(heights) == sorted(match.overlap[match.overlap > 0].tolist())


def test_a_cluster_keeps_the_color_of_what_it_continues(match):
    from matplotlib.colors import to_hex

    ax = ab.view.plot_match(match)
    n_old, n_new = match.overlap.shape
    blocks = [to_hex(block.get_facecolor()[0]) for block in ax.collections[-(n_old + n_new) :]]
    old, new = blocks[:n_old], set(blocks[n_old:])
    continued = {old[k] for k in range(n_old) if match.new_of_old[k] >= 0}
    assert continued <= new
    assert "#8a94a0" in new


def test_names_are_one_per_cluster(match):
    with pytest.raises(ValueError, match="old_names"):
        ab.view.plot_match(match, old_names=["a"])
    with pytest.raises(TypeError, match="match"):
        ab.view.plot_match(match.overlap)


def test_small_streams_can_be_left_out(match):
    fewer = ab.view.plot_match(match, min_share=0.5).collections
    assert len(fewer) < len(ab.view.plot_match(match).collections)
