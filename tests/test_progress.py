"""One contract for `progress`: (stage, done, total), each stage from nothing to all of it, never falling back."""

from __future__ import annotations

import importlib
import inspect
import itertools

import pytest
from sklearn.datasets import make_blobs
from test_vocabulary import PACKAGES

import arbora as ab

X = make_blobs(150, n_features=5, centers=4, cluster_std=2.0, random_state=0)[0]
GRAPH = ab.similarity.knn(X, 5, metric="euclidean")
START = ab.linkage(GRAPH, "single")
CALLS = {
    "cluster": lambda **options: ab.cluster(X, random_state=0, **options),
    "refine": lambda **options: ab.refine(START, GRAPH, n_perturbations=2, random_state=0, **options),
    "TreeClustering.refine": lambda **options: (
        ab.TreeClustering(random_state=0).fit(X).refine(n_perturbations=2, **options)
    ),
    "insert": lambda **options: ab.search.insert(START.restrict(range(120)), GRAPH, **options),
    "choose_n_clusters": lambda **options: ab.logits.choose_n_clusters(
        ab.TEMI(max_steps=5, n_heads=1, random_state=0), X, (2, 3), **options
    ),
    "knn": lambda **options: ab.similarity.knn(X, 5, **options),
}
call = pytest.mark.parametrize("name", CALLS)


@call
def test_every_stage_goes_from_nothing_to_all_of_it(name):
    heard = []
    CALLS[name](progress=lambda *report: heard.append(report))
    assert heard and all(len(report) == 3 for report in heard)
    stages = [stage for stage, _ in itertools.groupby(heard, key=lambda report: report[0])]
    assert len(set(stages)) == len(stages), "stages follow each other"
    for stage in stages:
        done = [report[1] for report in heard if report[0] == stage]
        totals = {report[2] for report in heard if report[0] == stage}
        assert len(totals) == 1
        assert done[0] == 0 and done[-1] == totals.pop()
        assert all(a <= b for a, b in itertools.pairwise(done))


@call
def test_listening_changes_nothing(name):
    def plain(result):
        """What two results are compared by."""
        result = getattr(result, "tree_", result)
        if isinstance(result, ab.similarity.Similarity):
            return result.csr.toarray().tolist()
        return result if isinstance(result, ab.Tree) else repr(result)

    assert plain(CALLS[name]()) == plain(CALLS[name](progress=lambda *report: None))


@call
def test_what_cannot_be_called_is_refused_by_name(name):
    with pytest.raises(TypeError, match="progress must be callable"):
        CALLS[name](progress="yes")


@call
def test_what_a_listener_raises_reaches_the_caller(name):
    def complain(*report):
        raise LookupError("stop")

    with pytest.raises(LookupError, match="stop"):
        CALLS[name](progress=complain)


# Compiles every kernel there is, so that it has its own test (test_ahead.py).
APART = {"compile_kernels"}


def test_every_public_function_with_progress_is_held_to_the_contract():
    found = {
        name
        for package in PACKAGES
        for name in getattr(importlib.import_module(package), "__all__", ())
        if inspect.isfunction(value := getattr(importlib.import_module(package), name))
        and "progress" in inspect.signature(value).parameters
    }
    assert found - APART <= set(CALLS)
