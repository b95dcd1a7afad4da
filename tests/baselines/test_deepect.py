"""DeepECT: its losses against their definitions, and how its tree grows and shrinks."""

import numpy as np
import pytest

import arbora as ab

torch = pytest.importorskip("torch")
from arbora.baselines.deepect import CenterTree, deepect  # noqa: E402


def grown(n_leaves, seed=0):
    """A tree of centers in the plane, and the points it was grown on."""
    points = torch.as_tensor(np.random.default_rng(seed).normal(size=(60, 2)), dtype=torch.float32)
    tree = CenterTree(n_leaves, 2, seed)
    while tree.n_leaves < n_leaves:
        tree.grow(points)
        tree.update(tree.assign(points))
    return tree, points


def below(tree, node, leaf):
    if node not in tree.children:
        return leaf == node
    a, b = tree.children[node]
    return below(tree, a, leaf) | below(tree, b, leaf)


def test_the_losses_are_those_of_the_paper():
    """The losses of Mautz et al. 2020, point by point."""
    tree, points = grown(5)
    leaf = tree.assign(points)
    centers = tree.centers.detach().numpy()
    compression = 0.0
    for a, b in tree.children.values():
        line = (centers[a] - centers[b]) / np.linalg.norm(centers[a] - centers[b])
        for side in (a, b):
            for point in points[below(tree, side, leaf)].numpy():
                compression += abs((centers[side] - point) @ line)
    compression /= 2 * len(tree.children) * len(points)
    assert float(tree.compression_loss(points, leaf)) == pytest.approx(compression, rel=1e-4)
    gaps = [np.linalg.norm(centers[k] - points[leaf == k].numpy().mean(axis=0)) for k in tree.leaves]
    assert float(tree.center_loss(points, leaf).detach()) == pytest.approx(np.mean(gaps), rel=1e-4)


def test_the_leaf_with_the_largest_sum_of_squares_is_split():
    tree, points = grown(3)
    leaf = tree.assign(points)
    centers = tree.centers.detach()
    spread = {k: float((points[leaf == k] - centers[k]).square().sum()) for k in tree.leaves}
    tree.grow(points)
    assert max(spread, key=spread.get) in tree.children
    assert tree.n_leaves == 4


def test_inner_centers_are_weighted_means_of_their_childrens():
    tree, points = grown(4)
    tree.update(tree.assign(points))
    for node, (a, b) in tree.children.items():
        total = tree.weight[a] + tree.weight[b]
        mean = (tree.weight[a] * tree.centers[a] + tree.weight[b] * tree.centers[b]) / total
        assert torch.allclose(tree.centers[node], mean, atol=1e-6)


def test_a_leaf_without_points_is_taken_out_and_its_sibling_moves_up():
    tree, points = grown(4)
    leaf = tree.assign(points)
    empty = tree.leaves[-1]
    for _ in range(10):
        tree.update(leaf[leaf != empty])
    assert empty not in tree.leaves and tree.n_leaves == 3
    assert tree.tree_over(points, None).n_leaves == 60


def test_separated_groups_are_found():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 40)
    X = 8 * rng.normal(size=(4, 10))[y] + rng.normal(size=(160, 10))
    tree = deepect(
        X,
        n_groups=4,
        hidden=(32,),
        latent=4,
        pretrain_epochs=30,
        max_steps=60,
        grow_every=15,
        batch_size=64,
        random_state=0,
    )
    assert ab.metrics.dendrogram_purity(tree, y) > 0.95


def test_the_seed_decides_the_tree_and_leaves_pytorchs_own_alone():
    X = np.random.default_rng(0).normal(size=(40, 3))
    options = {
        "n_groups": 3,
        "hidden": (4,),
        "latent": 2,
        "pretrain_epochs": 1,
        "max_steps": 4,
        "grow_every": 2,
    }
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    assert deepect(X, random_state=1, **options) == deepect(X, random_state=1, **options)
    assert torch.equal(before, torch.random.get_rng_state())


def test_equal_points_that_cannot_be_split_leave_a_valid_tree():
    tree = deepect(np.ones((4, 2)), max_steps=2, pretrain_epochs=1, hidden=(4,), latent=2, random_state=0)
    assert tree.n_leaves == 4
