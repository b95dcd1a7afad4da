"""The network of TreeVAE: a chain of representations upwards, and a binary tree of latent variables downwards."""

from __future__ import annotations

from typing import Any, NamedTuple

from arbora._base.pytorch import Tensor, nn, torch

_TINY = 1e-7


class Gaussian(NamedTuple):
    """Mean and variance of independent normal variables."""

    mean: Tensor
    variance: Tensor

    def sample(self) -> Tensor:
        """A draw through which gradients pass."""
        return self.mean + torch.randn_like(self.mean) * (self.variance + _TINY).sqrt()


class Losses(NamedTuple):
    """Parts of the negative bound on the likelihood, means over the rows, and where each row goes."""

    reconstruction: Tensor
    root: Tensor
    nodes: Tensor
    decisions: Tensor
    # probability of each leaf, [n_rows, n_leaves], in the order of `TreeNetwork.leaves`
    leaf: Tensor


def combine(first: Gaussian, second: Gaussian) -> Gaussian:
    """The normalized product of two normal densities."""
    weight = 1 / (first.variance + _TINY), 1 / (second.variance + _TINY)
    variance = 1 / (weight[0] + weight[1])
    return Gaussian(variance * (weight[0] * first.mean + weight[1] * second.mean), variance)


def divergence(q: Gaussian, p: Gaussian) -> Tensor:
    """Kullback-Leibler divergence of q from p, for each row."""
    ratio = (q.variance + _TINY) / (p.variance + _TINY)
    square = (q.mean - p.mean).square() / (p.variance + _TINY)
    return 0.5 * (ratio + square - 1 - ratio.log()).sum(dim=1)


def decision_divergence(q: Tensor, p: Tensor) -> Tensor:
    """The same for a choice between two, by the probability of the first."""
    q, p = q.clamp(_TINY, 1 - _TINY), p.clamp(_TINY, 1 - _TINY)
    return q * (q / p).log() + (1 - q) * ((1 - q) / (1 - p)).log()


def _layer(n_in: int, n_out: int) -> Any:
    return nn.Sequential(nn.Linear(n_in, n_out), nn.BatchNorm1d(n_out), nn.LeakyReLU(0.01))


class ToGaussian(nn.Module):
    """A hidden layer, if any, and linear maps to mean and variance."""

    def __init__(self, n_in: int, latent: int, hidden: int = 0) -> None:
        super().__init__()
        self.body = _layer(n_in, hidden) if hidden else nn.Identity()
        self.mean = nn.Linear(hidden or n_in, latent)
        self.variance = nn.Linear(hidden or n_in, latent)

    def forward(self, x: Tensor) -> Gaussian:
        """Mean and variance for each row."""
        h = self.body(x)
        return Gaussian(self.mean(h), nn.functional.softplus(self.variance(h)))


class Router(nn.Module):
    """Probability of going left."""

    def __init__(self, n_in: int, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(_layer(n_in, hidden), nn.Linear(hidden, 1))

    def forward(self, x: Tensor) -> Tensor:
        """For each row."""
        return torch.sigmoid(self.body(x)).squeeze(1)


class Node(nn.Module):
    """A latent variable; its parent decides its prior. A leaf has a decoder, another node two routers."""

    def __init__(self, depth: int, latent: int, hidden: int, n_features: int, decoder_hidden: int) -> None:
        super().__init__()
        self.depth = depth
        self.posterior = ToGaussian(hidden, latent)
        self.prior = ToGaussian(latent, latent, hidden) if depth else None
        self.decoder: Any = nn.Sequential(
            _layer(latent, decoder_hidden), nn.Linear(decoder_hidden, n_features)
        )
        self.router: Any = None
        self.router_of_posterior: Any = None

    def become_inner(self, latent: int, hidden: int) -> None:
        """Give up the decoder for a choice between two children."""
        self.decoder = None
        self.router, self.router_of_posterior = Router(latent, hidden), Router(hidden, hidden)


class TreeNetwork(nn.Module):
    """Encoder, representations for every depth, and the nodes; children come after their parents.

    Parameters
    ----------
    n_features, latent, hidden : int
    encoder_hidden : int
        Of encoder and decoders.
    max_depth : int
        Deepest place of a leaf.
    is_binary : bool
        Whether features lie between 0 and 1 and are rebuilt as probabilities (otherwise by squared error).
    """

    def __init__(
        self, n_features: int, latent: int, hidden: int, encoder_hidden: int, max_depth: int, is_binary: bool
    ) -> None:
        super().__init__()
        self.latent, self.hidden, self.n_features = latent, hidden, n_features
        self.encoder_hidden, self.max_depth, self.is_binary = encoder_hidden, max_depth, is_binary
        self.encoder = nn.Sequential(_layer(n_features, encoder_hidden), _layer(encoder_hidden, hidden))
        self.upward = nn.ModuleList([_layer(hidden, hidden) for _ in range(max_depth)])
        self.nodes: Any = nn.ModuleList()
        self.parent: list[int] = []
        self.sides: dict[int, tuple[int, int]] = {}
        self._add(-1, 0)
        self.split(0)

    def _add(self, parent: int, depth: int) -> int:
        self.nodes.append(Node(depth, self.latent, self.hidden, self.n_features, self.encoder_hidden))
        self.parent.append(parent)
        return len(self.parent) - 1

    @property
    def leaves(self) -> list[int]:
        """Nodes without children, in the order of their numbers."""
        return [node for node in range(len(self.parent)) if node not in self.sides]

    def split(self, node: int) -> list[Any]:
        """Give a leaf two children; the modules that are new."""
        inner = self.nodes[node]
        inner.become_inner(self.latent, self.hidden)
        depth = inner.depth + 1
        self.sides[node] = (self._add(node, depth), self._add(node, depth))
        a, b = self.sides[node]
        return [inner.router, inner.router_of_posterior, self.nodes[a], self.nodes[b]]

    def represent(self, rows: Tensor) -> list[Tensor]:
        """A representation for each depth, the root's first."""
        chain = [self.encoder(rows)]
        for layer in self.upward:
            chain.append(layer(chain[-1]))
        return chain[::-1]

    def forward(self, rows: Tensor) -> Losses:
        """The parts of the bound."""
        chain = self.represent(rows)
        reach = {0: torch.ones(len(rows))}
        drawn: dict[int, Tensor] = {}
        zero = torch.zeros(len(rows))
        root, nodes, decisions, rebuilt = zero, zero, zero, zero
        leaf_probability = []
        for number, node in enumerate(self.nodes):
            found = chain[node.depth]
            q = node.posterior(found)
            if number == 0:
                p = Gaussian(torch.zeros_like(q.mean), torch.ones_like(q.variance))
                root = divergence(q, p)
            else:
                p = node.prior(drawn[self.parent[number]])
                q = combine(q, p)
                nodes = nodes + reach[number] * divergence(q, p)
            drawn[number] = q.sample()
            if number in self.sides:
                left = node.router_of_posterior(found)
                decisions = decisions + reach[number] * decision_divergence(left, node.router(drawn[number]))
                a, b = self.sides[number]
                reach[a], reach[b] = reach[number] * left, reach[number] * (1 - left)
            else:
                rebuilt = rebuilt + reach[number] * self._error(node.decoder(drawn[number]), rows)
                leaf_probability.append(reach[number])
        parts = rebuilt.mean(), root.mean(), nodes.mean(), decisions.mean()
        return Losses(*parts, torch.stack(leaf_probability, dim=1))

    def _error(self, guess: Tensor, rows: Tensor) -> Tensor:
        if self.is_binary:
            loss = nn.functional.binary_cross_entropy_with_logits(guess, rows, reduction="none")
        else:
            loss = (guess - rows).square()
        return loss.sum(dim=1)

    def leaf_probabilities(self, rows: Tensor) -> Tensor:
        """Probability of each leaf by the posterior routers, which need no draws: [n_rows, n_leaves]."""
        chain = self.represent(rows)
        reach = {0: torch.ones(len(rows))}
        for number, (a, b) in sorted(self.sides.items()):
            node = self.nodes[number]
            left = node.router_of_posterior(chain[node.depth])
            reach[a], reach[b] = reach[number] * left, reach[number] * (1 - left)
        return torch.stack([reach[leaf] for leaf in self.leaves], dim=1)
