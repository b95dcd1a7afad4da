"""Word vectors and a tree of the words learned together: GloVe's objective with gHHC's (gHHC, Sec. 5).

Epochs of GloVe (Pennington et al., 2014) alternate with steps of gHHC, whose gradient moves the nodes of the
tree and the directions of the word vectors. On the command line::

    python -m arbora.tasks.word_embeddings corpus.txt --words 5000 --nodes 511 --show 12

trains on a text file (plain or gzip; a document a line) and shows the tree.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from arbora._base.rows import open_rows
from arbora._base.threads import count_cores
from arbora.errors import FormatError
from arbora.hyperbolic.ghhc import decode
from arbora.hyperbolic.ghhc.initialize import initial_nodes
from arbora.hyperbolic.ghhc.model import LARGEST_NORM
from arbora.hyperbolic.ghhc.objectives import RowGradient, ranking_cost
from arbora.hyperbolic.ghhc.placement import BallPlacement
from arbora.hyperbolic.ghhc.sampling import TripleSampler, step_generator
from arbora.hyperbolic.ghhc.train import (
    TrainingPlan,
    TrainingState,
    margin_step,
    start,
    update_candidates,
)
from arbora.tasks import _glove_kernels as kernels
from arbora.tasks.wordnet import WordNet, judge
from arbora.tree import Tree

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]
_DOCUMENT_END, _OUTSIDE = -2, -1
_PAIR_BLOCK = 400_000  # tokens whose pairs are summed at a time
_NORM = 0.9  # of words in the ball
_LIMIT = _NORM * LARGEST_NORM  # of nodes


# ---- text ------------------------------------------------------------------------------------------------


def read_documents(path: str | PathLike) -> Iterator[list[str]]:
    """Lower-case words of each line of a text file, plain or gzip."""
    path = Path(path)
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            for line in file:
                words = line.lower().split()
                if words:
                    yield words
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise FormatError(f"{path} is not a text file in UTF-8, or is cut short ({error}).") from error


class Corpus(NamedTuple):
    """Words by falling frequency, and the text as their numbers."""

    words: list[str]
    counts: Ints
    tokens: NDArray[np.int32]


def build_corpus(documents: Iterable[Sequence[str]], n_words: int, min_count: int = 5) -> Corpus:
    """The most frequent words and the text in terms of them.

    Examples
    --------
    >>> from arbora.tasks.word_embeddings import build_corpus
    >>> corpus = build_corpus([["a", "b", "a"], ["b", "c", "a"]], n_words=10, min_count=1)
    >>> corpus.words, corpus.tokens.tolist()
    (['a', 'b', 'c'], [0, 1, 0, -2, 1, 2, 0, -2])
    """
    documents = [list(document) for document in documents]
    counted = Counter(word for document in documents for word in document)
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:n_words]
    kept = [(word, count) for word, count in ranked if count >= min_count]
    if len(kept) < 3:
        raise ValueError(
            f"The text must hold at least 3 words {min_count} times. It has {len(kept)} such words."
        )
    number = {word: place for place, (word, _) in enumerate(kept)}
    tokens = [
        place
        for document in documents
        for place in [*(number.get(word, _OUTSIDE) for word in document), _DOCUMENT_END]
    ]
    return Corpus(
        [word for word, _ in kept], np.array([count for _, count in kept]), np.array(tokens, np.int32)
    )


def cooccurrences(corpus: Corpus, window: int = 10) -> coo_array:
    """Symmetric counts of words within `window` of each other, weighted by 1 / distance."""
    n_words = len(corpus.words)
    total = csr_array((n_words, n_words), dtype=np.float32)
    for begin in range(0, len(corpus.tokens), _PAIR_BLOCK):
        end = min(begin + _PAIR_BLOCK, len(corpus.tokens))
        left, right, weight = kernels.window_pairs(corpus.tokens, begin, end, window)
        total = total + coo_array((weight, (left, right)), shape=(n_words, n_words)).tocsr()
    return (total + total.T).tocoo()


# ---- the model -------------------------------------------------------------------------------------------


class TreeGloVe(BaseEstimator):
    """Word vectors by GloVe with a tree of the words learned jointly.

    Parameters
    ----------
    n_words : int, default 5000
        Size of the vocabulary: the most frequent words.
    dimension : int, default 50
    n_internal : int, default 511
        Internal nodes of the tree.
    n_epochs : int, default 20
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
        n_epochs: int = 20,
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
        self.n_epochs = n_epochs
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
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        rng = np.random.default_rng(seed)
        corpus = build_corpus(documents, self.n_words, self.min_count)
        self.words_, self.counts_ = corpus.words, corpus.counts
        counts = cooccurrences(corpus, self.window)
        glove = _GloVe(counts, len(self.words_), self, rng)
        state: TrainingState | None = None
        self.glove_costs_: list[float] = []
        self.tree_costs_: list[float] = []
        for epoch in range(self.n_epochs):
            self.glove_costs_.append(glove.run_epoch(rng))
            if 2 * (epoch + 1) > self.n_epochs or epoch + 1 == self.n_epochs:
                state = self._tree_epoch(glove, state, seed)
            self._report(epoch)
        self.vectors_ = glove.vectors()
        if state is not None:  # the last epoch always moves the tree
            self._decode(state)
        return self

    def _check(self) -> None:
        for name in ("n_words", "dimension", "n_internal", "n_epochs", "window", "min_count"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1. Got {getattr(self, name)!r}.")
        for name in ("tree_rate", "learning_rate", "x_max"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive. Got {getattr(self, name)!r}.")

    def _plan(self, seed: int) -> TrainingPlan:
        return TrainingPlan(
            n_steps=self.tree_steps * self.n_epochs,
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

    def _tree_epoch(self, glove: _GloVe, state: TrainingState | None, seed: int) -> TrainingState:
        """Steps of gHHC on the present words; nodes and words move."""
        placement = BallPlacement(glove.vectors().mean(axis=0), None, _NORM)
        points = placement(glove.vectors())
        if state is None:
            nodes = initial_nodes(points, self.n_internal, step_generator(seed, 2**32))
            state = start(self._plan(seed), nodes, placement)
        state.placement = placement
        plan = self._plan(seed)
        sampler = TripleSampler(
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
                f"epoch {epoch + 1}/{self.n_epochs}: GloVe {self.glove_costs_[-1]:.4f}{tree}",
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


class _GloVe:
    """State of GloVe's factorization, words and contexts with their biases in the last column."""

    def __init__(
        self, counts: coo_array, n_words: int, settings: TreeGloVe, rng: np.random.Generator
    ) -> None:
        self.rows, self.columns = counts.row.astype(np.int32), counts.col.astype(np.int32)
        self.logs = np.log(counts.data).astype(np.float32)
        self.strengths = np.minimum((counts.data / settings.x_max) ** settings.alpha, 1.0).astype(np.float32)
        shape = (n_words, settings.dimension + 1)
        self.word, self.context = (
            ((rng.random(shape) - 0.5) / settings.dimension).astype(np.float32) for _ in range(2)
        )
        self.word_square, self.context_square = np.ones(shape, np.float32), np.ones(shape, np.float32)
        self.rate = settings.learning_rate

    def run_epoch(self, rng: np.random.Generator) -> float:
        order = rng.permutation(len(self.rows))
        return kernels.glove_epoch(
            self.rows,
            self.columns,
            self.logs,
            self.strengths,
            order,
            self.word,
            self.context,
            self.word_square,
            self.context_square,
            self.rate,
        )

    def vectors(self, rows: Ints | slice = slice(None)) -> Floats:
        """Word plus context vector, as GloVe recommends."""
        return self.word[rows, :-1] + self.context[rows, :-1]

    def turn(self, rows: Ints, placement: BallPlacement, by_points: Floats, weight: float) -> None:
        """Turn words against the gradient of the tree's cost by their places; lengths stay GloVe's."""
        words, place = np.unique(rows, return_inverse=True)
        gradient = np.zeros((len(words), by_points.shape[1]), by_points.dtype)
        np.add.at(gradient, place.ravel(), by_points)
        centered = self.vectors(words) - placement.mean
        length = np.linalg.norm(centered, axis=1, keepdims=True)
        unit = centered / np.maximum(length, 1e-12)
        across = gradient - (gradient * unit).sum(axis=1, keepdims=True) * unit
        size = np.linalg.norm(across, axis=1, keepdims=True)
        turned = unit - weight * across / np.maximum(size, np.median(size) + 1e-12)
        turned *= length / np.linalg.norm(turned, axis=1, keepdims=True)
        change = (0.5 * (turned - centered)).astype(np.float32)
        self.word[words, :-1] += change
        self.context[words, :-1] += change


# ---- command ---------------------------------------------------------------------------------------------


def outline(result: TreeGloVe, n_branches: int = 12, n_words: int = 8) -> str:
    """The tree in words: its largest branches, and the clusters in them by their most frequent words."""
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Train on text files, show the tree of words, and save it where asked."""
    parser = argparse.ArgumentParser(
        prog="python -m arbora.tasks.word_embeddings",
        description="Learn word vectors and a tree of the words from text files.",
    )
    parser.add_argument("corpus", nargs="+", help="text files, plain or .gz, a document a line")
    parser.add_argument("--words", type=int, default=5000, help="size of the vocabulary")
    parser.add_argument("--dimension", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=511, help="internal nodes of the tree")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--min-count", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=12, metavar="N", help="branches of the tree to show")
    parser.add_argument("--save-tree", metavar="FILE", help="write the tree (.npz or .nwk)")
    parser.add_argument("--save-vectors", metavar="FILE", help="write the vectors, a word a line")
    parser.add_argument("--wordnet", metavar="FILE", help="noun hypernyms (.npz) to judge the clusters by")
    options = parser.parse_args(arguments)
    documents = [document for path in options.corpus for document in read_documents(path)]
    result = TreeGloVe(
        options.words,
        dimension=options.dimension,
        n_internal=options.nodes,
        n_epochs=options.epochs,
        min_count=options.min_count,
        random_state=options.seed,
        verbose=True,
    ).fit(documents)
    print(outline(result, options.show))
    if options.save_tree:
        if options.save_tree.endswith(".npz"):
            result.tree_.save(options.save_tree)
        else:
            Path(options.save_tree).write_text(result.tree_.to_newick() + "\n", encoding="utf-8")
    if options.save_vectors:
        with open(options.save_vectors, "w", encoding="utf-8") as file:
            for word, vector in zip(result.words_, result.vectors_):
                file.write(f"{word} {' '.join(f'{value:.6g}' for value in vector)}\n")
    if options.wordnet:
        score = judge(result.words_, result.clusters_, WordNet.load(options.wordnet))
        print(
            f"WordNet: common ancestors within clusters at depth {score.within:.3f}, within random clusters "
            f"of the same sizes at {score.random:.3f} ({score.n_pairs} pairs)"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
