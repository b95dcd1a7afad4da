"""All kernels compiled ahead of time, by calling what uses them on small data: for container images and timings."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import arbora as ab
from arbora._base.jit import KERNELS, compiling_all, is_ready, watch
from arbora._base.params import check_switch
from arbora._base.progress import Bar, ProgressCallback, Stage, both, check_progress
from arbora._base.types import Floats

# rows for which neighbors are searched in cells, and graphs linked in rounds
_MANY_ROWS = 21_000


class CompiledKernels(NamedTuple):
    """What `compile_kernels` did."""

    n_compiled: int
    n_ready: int
    n_kernels: int
    seconds: float


def compile_kernels(*, verbose: bool = False, progress: ProgressCallback | None = None) -> CompiledKernels:
    """Compile the kernels ahead of their first use, and keep them on disk.

    Runs each method on small data, which takes a minute or two the first time and seconds after that. Methods whose
    extra is not installed are left out. For container images, continuous integration, and timings.

    Parameters
    ----------
    verbose : bool
        Show progress on standard error.
    progress : callable, optional
        Called with ``("compile", done, total)``: calls made, of how many.

    Returns
    -------
    n_compiled : int
        Kernels that were compiled now.
    n_ready : int
        Kernels that are ready; the others serve rare kinds of input.
    n_kernels : int
        All kernels.
    seconds : float
        By the clock.

    Examples
    --------
    >>> import arbora as ab
    >>> built = ab.compile_kernels()  # doctest: +SKIP
    >>> print(f"{built.n_ready} of {built.n_kernels} kernels are ready")  # doctest: +SKIP
    """
    report = check_progress(progress)
    if check_switch(verbose, "verbose"):
        report = both(report, Bar())
    began, n_before = time.perf_counter(), watch.n_kernels
    _import_kernels()
    calls = _calls()
    with Stage(report, "compile", total=len(calls)) as stage, compiling_all(), warnings.catch_warnings():
        # warnings about small random data would say nothing
        warnings.simplefilter("ignore")
        for done, call in enumerate(calls):
            call()
            stage.update(done + 1)
    n_ready = sum(is_ready(kernel) for kernel in KERNELS)
    return CompiledKernels(watch.n_kernels - n_before, n_ready, len(KERNELS), time.perf_counter() - began)


def _import_kernels() -> None:
    """Import the modules of all kernels, so that they are counted whether used or not."""
    for module in pkgutil.walk_packages(ab.__path__, "arbora."):
        if module.name.endswith(("kernels", "_state")):
            importlib.import_module(module.name)


def _calls() -> list[Callable[[], Any]]:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4)) + np.repeat(rng.normal(size=(3, 4)) * 4, 20, axis=0)
    calls = [*_searches(rows), *_linkages(rows), *_trees(rows), *_methods(rows), *_views(rows)]
    if importlib.util.find_spec("torch") is not None:
        calls.extend(_torch_methods(rows))
    return calls


def _searches(rows: Floats) -> list[Callable[[], Any]]:
    labels = np.repeat(np.arange(3), 20)
    many = np.random.default_rng(1).normal(size=(_MANY_ROWS, 4))
    near, dense = ab.similarity.knn(rows), ab.similarity.dense(np.exp(rows @ rows.T / 10))
    dots = ab.similarity.cosine(np.abs(rows))
    tree = ab.linkage(near)

    def grow() -> None:
        model = ab.TreeClustering(3, random_state=0).fit(rows)
        model.predict(rows[:5])
        model.partial_fit(rows[:5] + 0.01)

    def stream() -> None:
        model = ab.OnlineTree(random_state=0).partial_fit(rows).partial_fit(rows[:3])
        model.predict(rows[:5])
        model.remove([0, 1]).refine()

    return [
        lambda: ab.cluster(rows, random_state=0, n_perturbations=1),
        lambda: ab.cluster(many, random_state=0),
        lambda: ab.refine(tree, near, "tsd", n_perturbations=1, random_state=0),
        lambda: ab.refine(tree, near, n_internal=10, n_perturbations=1, random_state=0),
        lambda: ab.refine(tree, dots, n_perturbations=1, random_state=0),
        lambda: ab.refine(tree, dense, random_state=0),
        lambda: ab.predict(tree, ab.similarity.cosine(rows), rows[:4], n_clusters=3),
        grow,
        stream,
        lambda: ab.metrics.dendrogram_purity(tree, labels),
    ]


def _linkages(rows: Floats) -> list[Callable[[], Any]]:
    near = ab.similarity.knn(rows)
    return [
        *(lambda method=method: ab.linkage(near, method) for method in ("single", "complete", "paris")),
        lambda: ab.linkages.community_linkage(near, undivided=10),
        lambda: ab.bisecting_kmeans(rows, random_state=0),
        lambda: ab.hierarchical_kmeans(rows, random_state=0),
    ]


def _trees(rows: Floats) -> list[Callable[[], Any]]:
    near, labels = ab.similarity.knn(rows), np.repeat(np.arange(3), 20)
    tree, other = ab.linkage(near), ab.linkage(rows, method="ward")
    return [
        lambda: tree.cut(n_clusters=3),
        lambda: tree.cut(height=float(np.median(np.asarray(tree.height)))),
        lambda: tree.cut("auto", by="modularity", similarity=near),
        lambda: tree.cut(3, by="modularity", similarity=near),
        lambda: tree.compress(10, near),
        lambda: tree.taxonomy([2, 4]),
        lambda: tree.reorder(data=rows),
        lambda: tree.lca(0, 1),
        lambda: tree.depths,
        lambda: tree.cut(max_size=20),
        lambda: ab.Tree.from_newick(tree.to_newick()),
        lambda: tree.robinson_foulds(other),
        lambda: tree.triplet_distance(other),
        lambda: tree.cophenetic(),
        lambda: ab.metrics.level_scores(tree, labels),
        lambda: ab.metrics.dasgupta_bounds(near),
        lambda: ab.metrics.tree_sampling_divergence(tree, near),
        lambda: ab.metrics.dasgupta_cost(tree, ab.similarity.cosine(rows)),
        lambda: ab.metrics.dasgupta_cost(tree, ab.similarity.dense(np.exp(rows @ rows.T / 10))),
        lambda: ab.explain(tree, rows),
    ]


def _methods(rows: Floats) -> list[Callable[[], Any]]:
    adjacency = ab.similarity.knn(rows).csr
    return [
        lambda: ab.HypHC(3, max_epochs=1, random_state=0).fit(rows),
        lambda: ab.FPH(n_internal=8, max_epochs=2, random_state=0).fit(adjacency),
        lambda: ab.FPH(n_internal=8, objective="tsd", max_epochs=2, random_state=0).fit(adjacency),
        lambda: ab.L2H().fit(rows),
        lambda: ab.L2H().fit(rows.astype(np.float32)),
    ]


def _torch_methods(rows: Floats) -> list[Callable[[], Any]]:
    return [lambda: ab.GHHC(3, n_internal=8, max_steps=2, random_state=0).fit(rows)]


def _views(rows: Floats) -> list[Callable[[], Any]]:
    tree = ab.linkage(rows)

    def write_page() -> None:
        with tempfile.TemporaryDirectory() as folder:
            tree.to_html(Path(folder) / "page.html", features=rows)

    return [write_page]
