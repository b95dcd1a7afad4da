"""Semi-supervised classification with HypHC embeddings (Sec. 6.4 of the paper).

All points and their similarities are known, the labels of a few. *Two-step* learns the embedding first and a
hyperbolic logistic regression on it afterwards; *end-to-end* then trains both losses together, so that the tree
also respects the labels. Label propagation, which learns no tree, is the baseline.

The embedding is learned on the circle, where that is quick, and then in a ball of three dimensions from triples that
mostly hold neighbors: on a circle a leaf cannot get past others to those it resembles.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arbora._base.pytorch import nn, torch
from arbora._base.random import numpy_generator
from arbora.hyperbolic import poincare
from arbora.hyperbolic.hyphc.decode import decode
from arbora.hyperbolic.hyphc.estimator import HypHC
from arbora.hyperbolic.hyphc.loss import circle_mean_loss, triple_losses
from arbora.hyperbolic.hyphc.triples import TripleSampler
from arbora.hyperbolic.optim import RiemannianAdam
from arbora.nn.hyperbolic_logistic import HyperbolicLogisticRegression
from arbora.tree import Tree

METHODS = ("two-step", "end-to-end", "label-propagation")
_CLASSIFIER_RATE, _CLASSIFIER_STARTS = 0.1, 6
# Learning rate of the leaves at the end of a training, as a share of that at its start.
_SLOWED = 0.05
# How far leaves initially leave the circle in each further dimension, relative to its radius.
_LIFT = 0.1
# Neighbors of each point that triples are drawn from.
_NEIGHBORS = 10


# Triples and their similarities.
Block = tuple[NDArray[np.int64], NDArray[np.float64]]


class Split(NamedTuple):
    """Rows used for training, validation and testing.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.classification import Split
    >>> split = Split(train=np.arange(3), validation=np.array([3]), test=np.arange(4, 10))
    >>> [len(rows) for rows in split]
    [3, 1, 6]
    """

    train: NDArray[np.int64]
    validation: NDArray[np.int64]
    test: NDArray[np.int64]


class Classified(NamedTuple):
    """Outcome of a run: accuracies, a label for every point, what was learned (None for label propagation).

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.classification import classify
    >>> X = [[1, 0], [1, 0.1], [0.9, 0], [0, 1], [0.1, 1], [0, 0.9], [1, 0.2], [0.2, 1], [0.8, 0], [0, 0.8]]
    >>> found = classify(X, list("aaabbbabab"), "label-propagation", random_state=1)
    >>> found.tree is None, found.labels.shape
    (True, (10,))
    """

    test_accuracy: float
    validation_accuracy: float
    labels: NDArray[Any]
    embedding: NDArray[np.float64] | None
    tree: Tree | None


def split_rows(n_points: int, random_state: int = 0, parts: tuple[float, float] = (0.3, 0.1)) -> Split:
    """Random split: 30 % for training, 10 % for validation and 60 % for testing, as in the paper.

    Examples
    --------
    >>> from arbora.tasks.classification import split_rows
    >>> [len(rows) for rows in split_rows(100)]
    [30, 10, 60]
    """
    if min(parts) < 0 or parts[0] == 0 or sum(parts) >= 1:
        raise ValueError(f"parts must be positive shares that leave some points for testing. Got {parts!r}.")
    rows = numpy_generator(random_state).permutation(n_points)
    first = max(1, round(parts[0] * n_points))
    second = first + round(parts[1] * n_points)
    if second >= n_points:
        raise ValueError(f"{n_points} points are too few to split. Got parts {parts!r}.")
    return Split(rows[:first], rows[first:second], rows[second:])


def classify(
    X: Any,
    y: ArrayLike,
    method: str = "end-to-end",
    *,
    split: Split | None = None,
    dimension: int = 3,
    radius: float = 3.0,
    max_epochs: int = 50,
    n_steps: int = 600,
    batch_size: int | None = None,
    tree_weight: float = 30.0,
    penalty: float = 0.01,
    learning_rate: float = 0.1,
    temperature: float = 0.1,
    neighbor_bias: float = 0.95,
    random_state: int = 0,
) -> Classified:
    """Classify all points from the labels of a few.

    Parameters
    ----------
    X : array-like of shape (n, d), or a similarity
        Vectors (compared by cosine) or any similarity.
    y : array-like of shape (n,)
        Labels of all points; only those of ``split.train`` are used for learning. Those of ``split.validation`` are for
        choosing settings.
    method : {"end-to-end", "two-step", "label-propagation"}
    split : Split, optional
        By default `split_rows` with `random_state`.
    dimension : int, default=3
        Of the ball, at least 2.
    radius : float, default=3.0
        Hyperbolic distance of the points from the origin while they are classified.
    max_epochs : int, default=50
        Of the HypHC training on the circle that comes first.
    n_steps : int, default=600
        Of the leaves in the ball, then of the classifier on them (after a third of that from each of six starts), and
        of joint training (end-to-end).
    batch_size : int, optional
        Triples per step of the leaves. By default four per point, but at least 1,024.
    tree_weight : float, default=30.0
        Weight of HypHC's loss, per triple, beside the cross-entropy in joint training.
    penalty : float, default=0.01
        Weight of the squared lengths of the classifier's normals in joint training, where leaves that follow
        every label would otherwise let them grow without bound.
    learning_rate : float, default=0.1
        Of the leaves; it falls to a twentieth.
    temperature : float, default=0.1
        Of HypHC's loss in the ball.
    neighbor_bias : float, default=0.95
        Share of the triples that hold a pair of neighbors, so that leaves whose label is known pull along those
        that they resemble most.
    random_state : int

    Returns
    -------
    Classified

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tasks.classification import classify
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal([5, 0, 0], 1, (20, 3)), rng.normal([0, 5, 0], 1, (20, 3))])
    >>> result = classify(X, np.repeat(["a", "b"], 20), max_epochs=2, n_steps=20, batch_size=50)
    >>> result.test_accuracy > 0.9
    True
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {METHODS}. Got {method!r}.")
    similarity, classes, codes = _checked(X, y)
    split = split_rows(len(codes), random_state) if split is None else split
    if method == "label-propagation":
        found = propagate_labels(similarity, codes, split.train)
        return _scored(found, codes, classes, split, None, None)
    _check_least(
        ("dimension", dimension, 2), ("n_steps", n_steps, 1), ("The number of points in X", len(codes), 3)
    )
    circle = HypHC(1, max_epochs=max_epochs, random_state=random_state).fit(similarity).embedding_
    model = _Joint(_lifted(circle, dimension, random_state), codes, split, radius)
    batch_size = max(1024, 4 * len(codes)) if batch_size is None else batch_size
    sampler = TripleSampler(
        similarity,
        n_steps * batch_size,
        neighbor_bias=neighbor_bias,
        n_neighbors=_NEIGHBORS,
        seed=random_state,
    )
    how = _Descent(n_steps, tree_weight, penalty, learning_rate, temperature)
    model.train_leaves(sampler.blocks(0, batch_size), how)
    model.train_classifier(n_steps)
    if method == "end-to-end":
        model.train_jointly(sampler.blocks(1, batch_size), how)
    points, found = model.outcome()
    return _scored(found, codes, classes, split, points, decode(points))


def _check_least(*numbers: tuple[str, int, int]) -> None:
    """Refuse numbers, each given with its name, that are below their least value."""
    for name, value, least in numbers:
        if value < least:
            raise ValueError(f"{name} must be at least {least}. Got {value!r}.")


def _lifted(circle: NDArray[np.float64], dimension: int, seed: int) -> NDArray[np.float64]:
    """Points of a circle near it in a ball of more dimensions, off it at random so that they can pass each other."""
    aside = np.random.default_rng(seed).normal(scale=_LIFT, size=(len(circle), dimension - 2))
    return np.column_stack([circle, aside * np.linalg.norm(circle, axis=1, keepdims=True)])


class _Descent(NamedTuple):
    """How leaves are trained."""

    n_steps: int
    tree_weight: float
    penalty: float
    rate: float
    temperature: float


class _Joint:
    """Leaf embeddings at one radius and a hyperbolic logistic regression on them."""

    def __init__(
        self, embedding: NDArray[np.float64], codes: NDArray[np.int64], split: Split, radius: float
    ) -> None:
        start = poincare.at_radius(torch.as_tensor(embedding), 1.0)
        self._points = start.clone().requires_grad_()
        self._radius = radius
        self._target = torch.as_tensor(codes)
        self._train = torch.as_tensor(split.train)
        self._classifier = HyperbolicLogisticRegression(start.shape[1], int(codes.max()) + 1)

    def train_classifier(self, n_steps: int) -> None:
        """Minimize the cross-entropy of the training rows, leaves held fixed.

        Classes that lie side by side make many minima. So several starts are trained briefly, and the one with the
        lowest loss continues.
        """
        placed = poincare.at_radius(self._points.detach()[self._train], self._radius)
        tried = []
        for towards in self._starts():
            self._face(towards)
            loss = self._descend(placed, n_steps // 3)
            tried.append((loss, copy.deepcopy(self._classifier.state_dict())))
        self._classifier.load_state_dict(min(tried, key=lambda found: found[0])[1])
        self._descend(placed, n_steps)

    def _starts(self) -> Iterator[torch.Tensor]:
        """Where the gyroplanes of the classes may face: their labeled leaves on average, then one of them each."""
        points, target = self._points.detach()[self._train], self._target[self._train]
        mean = torch.zeros_like(self._classifier.normal).index_add_(0, target, points)
        yield mean
        rng = np.random.default_rng(0)
        for _ in range(_CLASSIFIER_STARTS - 1):
            order = torch.as_tensor(rng.permutation(len(target)))
            one = mean.clone()
            # of several leaves of a class one stays
            one[target[order]] = points[order]
            yield one

    def _face(self, towards: torch.Tensor) -> None:
        """Start every gyroplane at the origin, turned towards its class: random starts often end in poor minima."""
        with torch.no_grad():
            self._classifier.offset.zero_()
            self._classifier.normal.copy_(0.5 * torch.nn.functional.normalize(towards, eps=1e-9))

    def _descend(self, placed: torch.Tensor, n_steps: int) -> float:
        """Steps of Adam on the classifier; returns its last loss."""
        optimizer = torch.optim.Adam(self._classifier.parameters(), lr=_CLASSIFIER_RATE)
        loss = torch.tensor(np.inf)
        for _ in range(n_steps):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self._classifier(placed), self._target[self._train])
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
        return float(loss.detach())

    def train_leaves(self, blocks: Iterator[Block], how: _Descent) -> None:
        """Minimize HypHC's loss alone."""
        for triples, weights in self._steps(blocks, how, []):
            self._tree_loss(triples, weights, how.temperature).backward()  # type: ignore[no-untyped-call]

    def train_jointly(self, blocks: Iterator[Block], how: _Descent) -> None:
        """Minimize cross-entropy and HypHC's loss together; leaves and classifier move.

        The classifier should have been trained on the embedding as it is: an untrained one would drag the
        labeled leaves away from those they resemble.
        """
        for triples, weights in self._steps(blocks, how, list(self._classifier.parameters())):
            placed = poincare.at_radius(self._points[self._train], self._radius)
            loss = nn.functional.cross_entropy(self._classifier(placed), self._target[self._train])
            loss = loss + how.penalty * self._classifier.normal.square().sum()
            loss = loss + how.tree_weight * self._tree_loss(triples, weights, how.temperature)
            loss.backward()  # type: ignore[no-untyped-call]

    def _steps(self, blocks: Iterator[Block], how: _Descent, planes: list[Any]) -> Iterator[Block]:
        """The triples of each step, for the caller to put a gradient on the leaves and `planes`, which then move."""
        groups: list[dict[str, Any]] = [{"params": [self._points], "ball": True, "lr": how.rate}]
        if planes:
            groups.append({"params": planes, "ball": False, "lr": _CLASSIFIER_RATE})
        optimizer = RiemannianAdam(groups)
        for step, block in zip(range(how.n_steps), blocks):
            optimizer.param_groups[0]["lr"] = how.rate * _SLOWED ** (step / how.n_steps)
            optimizer.zero_grad()
            yield block
            optimizer.step()

    def _tree_loss(
        self, triples: NDArray[np.int64], weights: NDArray[np.float64], temperature: float
    ) -> torch.Tensor:
        if self._points.shape[1] == 2:
            return circle_mean_loss(
                self._points, triples, weights, radius=self._radius, temperature=temperature
            )
        placed = poincare.at_radius(self._points, self._radius)
        return triple_losses(placed[torch.as_tensor(triples)], torch.as_tensor(weights), temperature).mean()

    @torch.no_grad()
    def outcome(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Embedding and class of every point."""
        placed = poincare.at_radius(self._points, self._radius)
        return placed.numpy(), self._classifier(placed).argmax(-1).numpy()


def propagate_labels(
    similarity: Any, codes: NDArray[np.int64], train: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Label propagation (scikit-learn) over the same similarities: the baseline without a tree.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.similarity import dense
    >>> from arbora.tasks.classification import propagate_labels
    >>> blocks = np.kron(np.eye(2), np.ones((3, 3)))
    >>> propagate_labels(dense(blocks), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 5])).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    from sklearn.semi_supervised import LabelPropagation

    n = similarity.n_points
    known = np.full(n, -1)
    known[train] = codes[train]
    everyone = np.arange(n)
    W = similarity.pairs(everyone[:, None], everyone[None, :])
    model = LabelPropagation(kernel=lambda first, second: W[first.ravel().astype(int)], max_iter=10_000)
    model.fit(everyone[:, None].astype(float), known)
    return np.asarray(model.transduction_, dtype=np.int64)


def _checked(X: Any, y: ArrayLike) -> tuple[Any, NDArray[Any], NDArray[np.int64]]:
    from arbora.similarity import cosine
    from arbora.similarity.protocol import is_similarity

    similarity = X if is_similarity(X) else cosine(X)
    labels = np.asarray(y)
    if labels.shape != (similarity.n_points,):
        raise ValueError(
            f"y must have one label per point, shape ({similarity.n_points},). Got {labels.shape}."
        )
    classes, codes = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y must have at least two classes. Got {len(classes)}.")
    return similarity, classes, codes.astype(np.int64)


def _scored(
    found: NDArray[np.int64],
    codes: NDArray[np.int64],
    classes: NDArray[Any],
    split: Split,
    embedding: NDArray[np.float64] | None,
    tree: Tree | None,
) -> Classified:
    right = found == codes
    validation = float(right[split.validation].mean()) if len(split.validation) else float("nan")
    return Classified(float(right[split.test].mean()), validation, classes[found], embedding, tree)
