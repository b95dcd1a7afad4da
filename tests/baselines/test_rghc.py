"""RGHC's relaxed cost against its definition, its decoding, and blocks that FPH's authors found with it."""

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

import arbora as ab
from arbora.probabilistic import small_hsbm

torch = pytest.importorskip("torch")
from arbora.baselines.rghc import Routers, relaxed_cost, rghc  # noqa: E402


def cost_by_definition(reach, W):
    """Over all pairs and all ways down for both: the share of points expected below the node at which they part."""
    n, depth = len(W), len(reach) - 1
    leaves = range(2**depth)
    total = 0.0
    for i in range(n):
        for j in range(n):
            for a in leaves:
                for b in leaves:
                    level = next(k for k in range(depth, -1, -1) if a >> (depth - k) == b >> (depth - k))
                    share = reach[level][:, a >> (depth - level)].mean()
                    total += W[i, j] * reach[depth][i, a] * reach[depth][j, b] * share
    return total / W.sum()


@pytest.mark.parametrize("seed", range(3))
def test_the_cost_equals_its_definition(seed):
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randn((5, 3), generator=generator)
    W = torch.rand((5, 5), generator=generator)
    W = (W + W.T) * (1 - torch.eye(5))
    reach = Routers(3, 3, 4, generator)(rows)
    found = float(relaxed_cost(reach, W).detach())
    arrays = [level.detach().double().numpy() for level in reach]
    assert found == pytest.approx(cost_by_definition(arrays, W.double().numpy()), rel=1e-5)


@pytest.mark.parametrize("depth", [1, 3])
def test_routers_and_their_gradients_are_those_of_the_plain_formula(depth):
    generator = torch.Generator().manual_seed(depth)
    routers = Routers(3, depth, 5, generator)
    rows = torch.randn(7, 3, generator=generator)
    torch.nn.init.normal_(routers.shift, generator=generator)

    def gradients(probabilities):
        routers.zero_grad()
        (probabilities * torch.arange(probabilities.numel()).reshape(probabilities.shape)).sum().backward()
        return [parameter.grad.clone() for parameter in routers.parameters()]

    lowest = routers(rows)[-1]
    hidden = torch.relu(torch.einsum("nd,rdh->rnh", rows, routers.first) + routers.shift)
    left = torch.sigmoid(hidden @ routers.second + routers.offset).squeeze(2)
    plain = []
    for node in range(2**depth):
        chance, router = torch.ones(7), 0
        for bit in f"{node:0{depth}b}":
            chance = chance * (left[router] if bit == "0" else 1 - left[router])
            router = 2 * router + 1 + int(bit)
        plain.append(chance)
    torch.testing.assert_close(lowest, torch.stack(plain, dim=1))
    for found, expected in zip(gradients(lowest), gradients(torch.stack(plain, dim=1)), strict=True):
        torch.testing.assert_close(found, expected)


def test_certain_routers_pay_dasguptas_cost_of_the_tree_they_decide():
    """Where every way is certain, the relaxed cost times the number of points is Dasgupta's, over the total weight."""
    groups = np.array([0, 0, 1, 2, 3, 3])
    lowest = torch.eye(4)[torch.as_tensor(groups)]
    reach = [torch.ones(6, 1), lowest.reshape(6, 2, 2).sum(2), lowest]
    W = np.triu(np.random.default_rng(0).random((6, 6)), 1)
    W += W.T
    found = 6 * float(relaxed_cost(reach, torch.as_tensor(W, dtype=torch.float32)))
    tree = ab.Tree.from_groups([-1, 0, 0, 1, 1, 2, 2], groups + 3)
    expected = ab.metrics.dasgupta_cost(tree, ab.similarity.dense(W + np.eye(6)), normalize=True)
    assert found == pytest.approx(expected, rel=1e-5)


def test_training_finds_two_groups():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = np.array([[3.0, 0.0], [0.0, 3.0]])[y] + 0.1 * rng.normal(size=(40, 2))
    tree = rghc(X, n_internal=3, max_steps=100, learning_rate=0.01, random_state=0)
    assert ab.metrics.dendrogram_purity(tree, y) == 1.0


def test_edges_as_pairs_need_a_graph():
    with pytest.raises(ValueError, match="needs a graph"):
        rghc(np.eye(4), pairs="edges")


@pytest.mark.slow
def test_blocks_of_a_small_hsbm_are_found_at_its_first_level():
    """FPH, Table 10: on HSBM graphs of 100 nodes, RGHC has an NMI of 1.0 at the first level."""
    graph = small_hsbm(0)
    tree = rghc(graph.adjacency, n_internal=63, random_state=0)
    top = np.asarray(graph.levels)[0]
    labels = tree.cut(n_clusters=len(np.unique(top)), exact="nearest")
    assert normalized_mutual_info_score(top, labels) > 0.8
