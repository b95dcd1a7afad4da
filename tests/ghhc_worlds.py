"""Random data and nodes in the ball."""

import numpy as np


def random_points(rng, n, dimension=4, norm=0.9):
    points = rng.standard_normal((n, dimension))
    return norm * points / np.linalg.norm(points, axis=1, keepdims=True)


def random_nodes(rng, n, dimension=4, norm=0.85):
    return random_points(rng, n, dimension) / 0.9 * rng.uniform(0.05, norm, size=(n, 1))


def blobs(rng, sizes, dimension=8, spread=0.15):
    centers = random_points(rng, len(sizes), dimension, norm=1.0)
    parts = [c + spread * rng.standard_normal((size, dimension)) for c, size in zip(centers, sizes)]
    return np.concatenate(parts), np.repeat(np.arange(len(sizes)), sizes)
