"""TreeVAE: its bound against PyTorch's own densities, and how it grows."""

import numpy as np
import pytest

import arbora as ab

torch = pytest.importorskip("torch")
from torch import distributions as td  # noqa: E402

from arbora.baselines.treevae import treevae  # noqa: E402
from arbora.baselines.treevae_model import (  # noqa: E402
    Gaussian,
    TreeNetwork,
    combine,
    decision_divergence,
    divergence,
)


def drawn_gaussian(seed):
    generator = torch.Generator().manual_seed(seed)
    return Gaussian(torch.randn(5, 3, generator=generator), torch.rand(5, 3, generator=generator) + 0.1)


def normal(found):
    return td.Independent(td.Normal(found.mean, found.variance.sqrt()), 1)


def test_the_divergence_of_latent_variables_is_pytorchs():
    q, p = drawn_gaussian(0), drawn_gaussian(1)
    assert torch.allclose(divergence(q, p), td.kl_divergence(normal(q), normal(p)), rtol=1e-4, atol=1e-5)


def test_the_divergence_of_decisions_is_pytorchs():
    q, p = torch.rand(6), torch.rand(6)
    expected = td.kl_divergence(td.Bernoulli(q), td.Bernoulli(p))
    assert torch.allclose(decision_divergence(q, p), expected, rtol=1e-3, atol=1e-5)


def test_the_posterior_is_the_product_of_both_densities():
    """Manduchi et al. 2023: the logarithm of the product differs from that of the parts by a constant."""
    a, b = drawn_gaussian(0), drawn_gaussian(1)
    joint = normal(combine(a, b))
    places = [torch.randn(5, 3) for _ in range(4)]
    gaps = torch.stack([normal(a).log_prob(z) + normal(b).log_prob(z) - joint.log_prob(z) for z in places])
    assert torch.allclose(gaps, gaps[:1].expand_as(gaps), rtol=1e-3, atol=1e-3)


def network(n_splits=2):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        found = TreeNetwork(4, 2, 6, 8, 4, False)
        for _ in range(n_splits):
            found.split(found.leaves[0])
        return found


def test_leaf_probabilities_sum_to_one_and_are_those_of_the_bound():
    found, rows = network().eval(), torch.randn(7, 4)
    leaf = found.leaf_probabilities(rows)
    assert leaf.shape == (7, 4)
    assert torch.allclose(leaf.sum(dim=1), torch.ones(7), atol=1e-5)
    order = [found.leaves.index(node) for node in range(len(found.parent)) if node not in found.sides]
    assert torch.allclose(found(rows).leaf, leaf[:, order], atol=1e-5)


def test_the_reconstruction_is_weighted_by_the_way_there():
    """With routers that always go left, only the leftmost leaf's decoder pays."""
    found, rows = network(0).eval(), torch.randn(7, 4)
    router = found.nodes[0].router_of_posterior
    with torch.no_grad():
        router.body[1].weight.zero_()
        router.body[1].bias.fill_(50.0)
    torch.manual_seed(0)
    before = found(rows).reconstruction
    with torch.no_grad():
        found.nodes[2].decoder[1].bias.add_(100.0)
    torch.manual_seed(0)
    assert torch.allclose(before, found(rows).reconstruction)


def test_a_split_leaves_other_parts_as_they_were_and_names_the_new_ones():
    found = network(0)
    known = list(found.parameters())
    fresh = [parameter for module in found.split(1) for parameter in module.parameters()]
    assert not any(one is other for one in fresh for other in known)
    assert found.leaves == [2, 3, 4]


def test_separated_groups_are_found():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), 60)
    X = 6 * rng.normal(size=(3, 8))[y] + rng.normal(size=(180, 8))
    tree = treevae(
        X,
        n_groups=3,
        hidden=16,
        encoder_hidden=16,
        latent=2,
        epochs_per_split=15,
        max_epochs=25,
        batch_size=60,
        random_state=0,
    )
    assert ab.metrics.dendrogram_purity(tree, y) > 0.8


def test_the_seed_decides_the_tree():
    X = np.random.default_rng(0).random((40, 3))
    options = {"n_groups": 3, "hidden": 4, "encoder_hidden": 4, "epochs_per_split": 1, "max_epochs": 1}
    assert treevae(X, random_state=1, **options) == treevae(X, random_state=1, **options)


@pytest.mark.parametrize(
    ("length", "per_epoch"),
    [({"least_steps": 1}, 4), ({"least_steps": 7}, 7), ({"least_steps": 1, "rows_per_epoch": 20}, 2)],
)
def test_small_data_is_passed_through_several_times_and_large_data_in_part(monkeypatch, length, per_epoch):
    sizes = []
    forward = TreeNetwork.forward

    def counted(network, rows):
        sizes.append(len(rows))
        return forward(network, rows)

    monkeypatch.setattr(TreeNetwork, "forward", counted)
    X = np.random.default_rng(0).random((40, 3))
    options = {"n_groups": 2, "hidden": 4, "encoder_hidden": 4, "max_epochs": 2, "batch_size": 12}
    treevae(X, random_state=0, **options, **length)
    # two epochs of the first two leaves, and two of all parts at the end
    assert len(sizes) == 4 * per_epoch
