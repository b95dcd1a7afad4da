"""What a clustering did, in figures."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from arbora._base.types import Ints
from arbora.metrics import dasgupta_bounds, dasgupta_cost
from arbora.similarity import Similarity
from arbora.tree import Tree

_SAMPLED_TRIPLES = 200_000
_EXACT_BOUNDS_UP_TO = 1000


@dataclass
class ClusterReport:
    """What `cluster` did, how much the search gained, and how long each stage took.

    Attributes
    ----------
    data, similarity : str
        What was given, and what it was compared by.
    cost_before, cost_after : float
        Dasgupta's cost of the first tree (average linkage) and of the result on that similarity, divided by the
        total similarity: the mean number of points below the node where two similar points meet.
    seconds : dict of str to float
        Time spent per stage.
    n_components : int or None
        Parts into which the graph falls, between which all similarities are 0. None where all pairs are
        compared.
    n_clusters, largest_share : int and float, or None
        Flat clusters asked for, and the share of the points that the largest of them holds; None where only a tree
        was asked for.
    choices : dict of str to str
        What was chosen and why, for each parameter that was left to arbora.

    Examples
    --------
    >>> import numpy as np, arbora as ab
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> report = ab.TreeClustering(3, random_state=0).fit(X).report_
    >>> report.data, report.n_clusters, report.cost_after <= report.cost_before
    ('40 vectors of 3 features', 3, True)
    >>> sorted(report.choices)
    ['metric', 'n_perturbations', 'similarity']
    """

    data: str
    similarity: str
    cost_before: float
    cost_after: float
    seconds: dict[str, float] = field(default_factory=dict)
    n_components: int | None = None
    n_clusters: int | None = None
    largest_share: float | None = None
    choices: dict[str, str] = field(default_factory=dict)
    _compared: Similarity | None = field(default=None, repr=False, compare=False)

    @property
    def gain(self) -> float:
        """Share by which the search lowered the cost of the first tree."""
        return 1 - self.cost_after / self.cost_before if self.cost_before else 0.0

    def after(self, tree: Tree, similarity: Similarity) -> ClusterReport:
        """The same report with the cost of another tree as the result."""
        return replace(self, cost_after=cost_per_weight(dasgupta_cost(tree, similarity), similarity))

    def with_labels(self, labels: Ints) -> ClusterReport:
        """The same report with the number of flat clusters and the share of the largest."""
        sizes = np.bincount(labels)
        return replace(self, n_clusters=len(sizes), largest_share=float(sizes.max() / len(labels)))

    def bounds(self, *, random_state: int = 0) -> tuple[float, float]:
        """Lower and upper bound of the normalized cost of any binary tree.

        Computed when asked for, as it can take longer than the search: exactly for graphs and up to 1,000 points,
        otherwise from 200,000 sampled triples.
        """
        compared = self._compared
        if compared is None or compared.n_points < 3 or compared.total <= 0:
            return self.cost_after, self.cost_after
        is_exact = compared.csr is not None or compared.n_points <= _EXACT_BOUNDS_UP_TO
        n_samples = None if is_exact else _SAMPLED_TRIPLES
        lower, upper = dasgupta_bounds(
            compared, n_samples=n_samples, random_state=random_state, normalize=True
        )
        return float(lower), float(upper)

    def to_dict(self) -> dict[str, Any]:
        """The figures as plain values."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name != "_compared"}

    @classmethod
    def from_dict(cls, values: dict[str, Any], similarity: Similarity | None = None) -> ClusterReport:
        """The report that `to_dict` was called on; `similarity` is what `bounds` needs."""
        return cls(**values, _compared=similarity)

    def __str__(self) -> str:
        lines = [
            f"{self.data} -> {self.similarity}",
            *(f"{name}: {choice}" for name, choice in self.choices.items()),
            f"Dasgupta cost (normalized): average linkage {self.cost_before:.4f}, refined {self.cost_after:.4f} "
            f"({100 * self.gain:.2f} % lower)",
            *self._words_for_parts(),
            ", ".join(f"{stage} {spent:.2f} s" for stage, spent in self.seconds.items()),
        ]
        return "\n".join(lines)

    def _words_for_parts(self) -> list[str]:
        words = []
        if self.n_components is not None and self.n_components > 1:
            words.append(f"the graph has {self.n_components:,} components")
        if self.n_clusters is not None and self.n_clusters > 1 and self.largest_share is not None:
            words.append(
                f"the largest of {self.n_clusters:,} clusters holds {self.largest_share:.0%} of the points"
            )
        return ["; ".join(words)] if words else []


def cost_per_weight(cost: float, similarity: Similarity) -> float:
    """Dasgupta's cost divided by the total similarity, where that means something."""
    if similarity.n_points < 2:
        return 0.0
    can_normalize = similarity.n_points > 2 and similarity.total > 0
    return cost / similarity.total if can_normalize else cost
