"""Word vectors and a tree of the words learned together: GloVe's objective with gHHC's (gHHC, Sec. 5).

Epochs of GloVe (`arbora.tasks.glove`) alternate with steps of gHHC, whose gradient moves the nodes of the tree and the
directions of the word vectors. On the command line, ``arbora words corpus.txt``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from arbora._base.params import check_real, check_whole
from arbora._base.random import seed_of
from arbora._base.rows import open_rows
from arbora._base.threads import count_cores
from arbora.hyperbolic.ghhc import decode
from arbora.hyperbolic.ghhc.initialize import initial_nodes
from arbora.hyperbolic.ghhc.model import LARGEST_NORM
from arbora.hyperbolic.ghhc.objectives import RowGradient, ranking_cost
from arbora.hyperbolic.ghhc.placement import BallPlacement
from arbora.hyperbolic.ghhc.sampling import RowTripleSampler, step_generator
from arbora.hyperbolic.ghhc.train import TrainingPlan, TrainingState, margin_step, start, update_candidates
from arbora.tasks.corpus import build_corpus, cooccurrences
from arbora.tasks.glove import GloVe
from arbora.tree import Tree

# Norm of words in the ball, and the largest of nodes.
_NORM = 0.9
_LIMIT = _NORM * LARGEST_NORM


class TreeGloVe(BaseEstimator):
    """Word vectors by GloVe with a tree of the words learned jointly.

    Parameters
    ----------
    n_words : int, default 5000
        Size of the vocabulary: the most frequent words.
    dimension : int, default 50
    n_internal : int, default 511
        Internal nodes of the tree.
    max_epochs : int, default 20
        Passes over the co-occurrences; the tree joins after the first half.
    tree_steps : int, default 100
        Steps of gHHC after each such pass.
    tree_rate : float, default 0.1
        Learning rate of the nodes.
    tree_weight : float, default 0.005
        How strongly the tree moves the words: size of a step relative to a word vector. 0 learns the tree
        without moving them.
    window, min_count, learning_rate, x_max, alpha
        As in GloVe; window and x_max suit texts of a few million words.
    random_state : int, RandomState or None

    Attributes
    ----------
    words_ : list of str
    vectors_ : float32[n_words, dimension]
    tree_ : Tree
        Over the words, with their names.
    clusters_ : int64[n_words]
        Node that is each word's parent: words with the same parent form a cluster.
    glove_costs_, tree_costs_ : list of float
        Mean costs of each epoch.

    Examples
    --------
    >>> from arbora.tasks.word_embeddings import TreeGloVe
    >>> text = [["red", "green", "blue", "color"] * 20, ["one", "two", "three", "number"] * 20]
    >>> model = TreeGloVe(n_words=8, dimension=4, n_internal=7, random_state=0).fit(text)
    >>> sorted(model.tree_.name[:8].tolist())[:3]
    ['blue', 'color', 'green']
    """

    def __init__(
        self,
        n_words: int = 5000,
        *,
        dimension: int = 50,
        n_internal: int = 511,
        max_epochs: int = 20,
        tree_steps: int = 100,
        tree_rate: float = 0.1,
        tree_weight: float = 0.005,
        window: int = 5,
        min_count: int = 5,
        learning_rate: float = 0.05,
        x_max: float = 10.0,
        alpha: float = 0.75,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_words = n_words
        self.dimension = dimension
        self.n_internal = n_internal
        self.max_epochs = max_epochs
        self.tree_steps = tree_steps
        self.tree_rate = tree_rate
        self.tree_weight = tree_weight
        self.window = window
        self.min_count = min_count
        self.learning_rate = learning_rate
        self.x_max = x_max
        self.alpha = alpha
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, documents: Iterable[Sequence[str]], y: object = None) -> TreeGloVe:
        """Learn from documents, each a sequence of words."""
        self._check()
        seed = seed_of(self.random_state)
        rng = np.random.default_rng(seed)
        corpus = build_corpus(documents, self.n_words, self.min_count)
        self.words_, self.counts_ = corpus.words, corpus.counts
        counts = cooccurrences(corpus, self.window)
        glove = GloVe(
            counts,
            dimension=self.dimension,
            x_max=self.x_max,
            alpha=self.alpha,
            learning_rate=self.learning_rate,
            rng=rng,
        )
        state: TrainingState | None = None
        self.glove_costs_: list[float] = []
        self.tree_costs_: list[float] = []
        for epoch in range(self.max_epochs):
            self.glove_costs_.append(glove.run_epoch(rng))
            if 2 * (epoch + 1) > self.max_epochs or epoch + 1 == self.max_epochs:
                state = self._tree_epoch(glove, state, seed)
            self._report(epoch)
        self.vectors_ = glove.vectors()
        # the last epoch always moves the tree
        assert state is not None
        self._decode(state)
        return self

    def _check(self) -> None:
        for name in ("n_words", "dimension", "n_internal", "max_epochs", "window", "min_count"):
            check_whole(getattr(self, name), name)
        check_whole(self.tree_steps, "tree_steps", least=0)
        for name in ("tree_rate", "learning_rate", "x_max"):
            check_real(getattr(self, name), name, above=0)
        check_real(self.tree_weight, "tree_weight", least=0)

    def _plan(self, seed: int) -> TrainingPlan:
        return TrainingPlan(
            n_steps=self.tree_steps * self.max_epochs,
            batch_size=100,
            learning_rate=self.tree_rate,
            temperature=0.2,
            noise=0.0,
            margin=0.3,
            margin_weight=0.01,
            margin_nodes=256,
            n_candidates="auto",
            optimizer="sgd",
            seed=seed,
            n_threads=count_cores(),
        )

    def _tree_epoch(self, glove: GloVe, state: TrainingState | None, seed: int) -> TrainingState:
        """Steps of gHHC on the present words; nodes and words move."""
        placement = BallPlacement(glove.vectors().mean(axis=0), None, _NORM)
        points = placement(glove.vectors())
        if state is None:
            nodes = initial_nodes(points, self.n_internal, step_generator(seed, 2**32))
            state = start(self._plan(seed), nodes, placement)
        state.placement = placement
        plan = self._plan(seed)
        sampler = RowTripleSampler(
            points.__getitem__, len(points), seed + state.step, 10, 2**14, self.tree_steps
        )
        costs = []
        for _ in range(self.tree_steps):
            rng = step_generator(seed, state.step)
            triples = sampler.draw(0, plan.batch_size, rng)
            rows = sampler.rows[triples]
            current = placement(glove.vectors(rows.ravel())).reshape(*rows.shape, -1)
            update_candidates(plan, state, current)
            result = ranking_cost(
                state.table,
                current,
                temperature=plan.temperature,
                n_candidates=state.n_candidates,
                with_points=True,
                n_threads=plan.n_threads,
            )
            mean = RowGradient(result.nodes.rows, result.nodes.values / plan.batch_size)
            state.optimizer.step(state.table, mean, plan.learning_rate, _LIMIT)
            if state.step % 2:
                margin_step(plan, state, rng, plan.learning_rate, _LIMIT)
            if self.tree_weight and result.points is not None:
                glove.turn(rows.ravel(), placement, result.points.reshape(rows.size, -1), self.tree_weight)
            costs.append(float(result.cost.mean()) - 1.5 * len(state.table))
            state.step += 1
        self.tree_costs_.append(float(np.mean(costs)) if costs else float("nan"))
        return state

    def _report(self, epoch: int) -> None:
        if self.verbose:
            tree = f", tree {self.tree_costs_[-1]:.3f}" if self.tree_costs_ else ""
            print(
                f"epoch {epoch + 1}/{self.max_epochs}: GloVe {self.glove_costs_[-1]:.4f}{tree}",
                file=sys.stderr,
                flush=True,
            )

    def _decode(self, state: TrainingState) -> None:
        placement = BallPlacement(self.vectors_.mean(axis=0), None, _NORM)
        found, self.clusters_, _ = decode.most_likely_tree(state.table, open_rows(self.vectors_), placement)
        tree = found.tree
        self.tree_ = Tree(
            tree.parent, tree.n_leaves, height=tree.height, support=tree.support, name=self.words_
        )
        self.nodes_ = state.table.nodes

    def nearest(self, word: str, n: int = 10) -> list[str]:
        """Words whose vectors point most nearly the same way."""
        check_is_fitted(self, "vectors_")
        if word not in self.words_:
            raise ValueError(f"word must be one of words_. Got {word!r}.")
        unit = self.vectors_ / np.linalg.norm(self.vectors_, axis=1, keepdims=True)
        order = np.argsort(-(unit @ unit[self.words_.index(word)]))
        return [self.words_[place] for place in order[1 : n + 1]]


def outline(result: TreeGloVe, n_branches: int = 12, n_words: int = 8) -> str:
    """The tree in words: its largest branches, and the clusters in them by their most frequent words.

    Examples
    --------
    >>> from arbora.tasks.word_embeddings import TreeGloVe, outline
    >>> text = [["red", "green", "blue", "color"] * 20, ["one", "two", "three", "number"] * 20]
    >>> model = TreeGloVe(n_words=8, dimension=4, n_internal=7, random_state=0).fit(text)
    >>> "words: " in outline(model, n_branches=2)
    True
    """
    tree, labels = result.tree_, decode.cut(result.tree_, n_branches)
    lines = []
    for branch in np.argsort(-np.bincount(labels)):
        members = np.flatnonzero(labels == branch)
        lines.append(f"{len(members):6d} words: {', '.join(result.words_[m] for m in members[:n_words])}")
        above = tree.parent[members]
        sizes = Counter(above.tolist())
        for node, size in sizes.most_common(4):
            if size > 1 and len(sizes) > 1:
                some = members[above == node][:n_words]
                lines.append(f"       └ {size:4d}: {', '.join(result.words_[m] for m in some)}")
    return "\n".join(lines)
