"""Speed and memory of the tree at a million leaves, random and chain-shaped, beside SciPy and higra.

    python benchmarks/tree.py            # the sizes of the targets; about five minutes, 4 GB
    python benchmarks/tree.py --quick    # a tenth of them

Times are CPU seconds of this process; the wall clock stands beside them. Kernels are compiled before. Every
value printed is checked against the other library, or against what must come out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import higra as hg
import numpy as np
import scipy.cluster.hierarchy as sch
from _record import record
from scipy.spatial.distance import pdist

from arbora import Tree


def random_linkage(n, seed=0):
    """Linkage matrix of a random binary tree: pairs of a shuffled queue join in rounds."""
    rng = np.random.default_rng(seed)
    roots, made, steps = rng.permutation(n), n, []
    size = np.ones(2 * n - 1)
    while len(roots) > 1:
        n_pairs = max(len(roots) // 3, 1)
        pairs = np.sort(roots[: 2 * n_pairs].reshape(-1, 2), axis=1)
        joined = made + np.arange(n_pairs)
        size[joined] = size[pairs].sum(axis=1)
        steps.append(pairs)
        made += n_pairs
        roots = rng.permutation(np.concatenate([joined, roots[2 * n_pairs :]]))
    height = np.sort(rng.random(n - 1))
    return np.column_stack([np.concatenate(steps), height, size[n:]])


def chain_linkage(n, seed=0):
    """Linkage matrix of the deepest tree: leaf k + 1 joins the tree of the first k + 1 leaves."""
    before = np.concatenate([[0], np.arange(n, 2 * n - 2)])
    height = np.sort(np.random.default_rng(seed).random(n - 1))
    pairs = np.sort(np.column_stack([before, np.arange(1, n)]), axis=1)
    return np.column_stack([pairs, height, np.arange(2, n + 1)])


class Report:
    """Rows as they come, on the screen and as JSON."""

    def __init__(self):
        self.rows = []
        header = f"{'value':>12s} {'CPU s':>8s} {'wall s':>8s} {'CPU/ours':>9s} target"
        print(f"{'task':44s} {'library':8s} {header}")

    def measure(self, task, library, call, *, value=len, target=None):
        wall, cpu = time.perf_counter(), time.process_time()
        result = call()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self.add(task, library, float(value(result)), cpu, wall, target)
        return result

    def add(self, task, library, value, cpu, wall, target=None):
        ours = next((row["cpu_s"] for row in self.rows if row["task"] == task), cpu)
        ratio = cpu / ours if ours else 1.0
        row = {"task": task, "library": library, "value": value, "cpu_s": cpu, "wall_s": wall}
        self.rows.append(row | {"ratio": ratio, "target": target})
        met = "" if target is None else f"{target:g} " + ("met" if cpu < target else "MISSED")
        print(f"{task:44s} {library:8s} {value:12.6g} {cpu:8.3f} {wall:8.3f} {ratio:8.1f}x {met}", flush=True)


def derived(tree):
    """A tree with every derived array computed."""
    tree.lca(0, tree.n_leaves - 1)
    assert tree.depths is not None and tree.is_binary
    return tree


def held_bytes(tree):
    arrays = {}
    for value in vars(tree).values():
        for array in value if isinstance(value, tuple) else (value,):
            if isinstance(array, np.ndarray):
                arrays[id(array)] = array.nbytes
    return sum(arrays.values())


def compile_kernels():
    Z = random_linkage(50)
    tree = derived(Tree.from_linkage(Z))
    (
        tree.cut(n_clusters=3),
        tree.cut(height=0.5),
        tree.cut(min_size=2),
        tree.compress(5),
        tree.taxonomy([2, 5]),
    )
    Tree.from_newick(tree.to_newick())
    tree.robinson_foulds(tree), tree.triplet_distance(tree), tree.cophenetic(), tree.restrict(range(20))
    tree.reorder(data=np.random.default_rng(0).random((50, 2)))


def large(report, shape, Z):
    n = len(Z) + 1
    tree = report.measure(
        f"from_linkage + derived arrays, {shape} {n}",
        "arbora",
        lambda: derived(Tree.from_linkage(Z)),
        target=1.5,
    )
    assert np.array_equal(tree.to_linkage(), Z)
    report.add(f"bytes a leaf, {shape} {n}", "arbora", held_bytes(tree) / n, 0, 0)
    assert held_bytes(tree) < 250 * n
    task = f"cut into 1000, {shape} {n}"
    labels = report.measure(task, "arbora", lambda: tree.cut(n_clusters=1000), value=count, target=0.5)
    theirs = report.measure(task, "scipy", lambda: sch.fcluster(Z, 1000, "maxclust"), value=count)
    check_same_clusters(labels, theirs)
    i, j = np.random.default_rng(1).integers(0, n, (2, n))
    task = f"LCA of {n} pairs, {shape}"
    found = report.measure(task, "arbora", lambda: tree.lca(i, j), value=np.max, target=1.0)
    if shape == "random":  # on chains higra's time is quadratic: 5 CPU seconds for 100,000 leaves
        parents = np.where(tree.parent < 0, tree.root, tree.parent)
        theirs = report.measure(
            task, "higra", lambda: hg.Tree(parents).lowest_common_ancestor(i, j), value=np.max
        )
        assert np.array_equal(found, theirs)
    files(report, shape, tree)
    report.measure(f"compress to 512, {shape} {n}", "arbora", lambda: tree.compress(512))
    report.measure(f"taxonomy([7, 30, 120]), {shape} {n}", "arbora", lambda: tree.taxonomy([7, 30, 120]))


def files(report, shape, tree):
    n = tree.n_leaves
    task = f"Newick write + read, {shape} {n}"
    back = report.measure(task, "arbora", lambda: Tree.from_newick(tree.to_newick()), target=15.0)
    assert np.allclose(np.sort(back.height), np.sort(tree.height))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tree.npz"

        def save_and_load():
            tree.save(path)
            return Tree.load(path)

        assert report.measure(f"save + load, {shape} {n}", "arbora", save_and_load) == tree


def small_cut(report, n):
    """SciPy's cut_tree keeps an n x n table, so it is asked on a small tree only."""
    Z = random_linkage(n)
    task = f"cut into 1000, random {n}"
    report.measure(task, "arbora", lambda: Tree.from_linkage(Z).cut(n_clusters=1000), value=count)
    report.measure(task, "cut_tree", lambda: sch.cut_tree(Z, 1000), value=count)


def compare(report, n):
    trees = [Tree.from_linkage(random_linkage(n, seed)) for seed in (0, 1)]
    report.measure(f"Robinson-Foulds, {n}", "arbora", lambda: trees[0].robinson_foulds(trees[1]), value=float)
    report.measure(
        f"triplet distance, {n}",
        "arbora",
        lambda: trees[0].triplet_distance(trees[1], normalize=True),
        value=float,
    )


def order(report, n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    y = pdist(X)
    Z = sch.linkage(y, "average")
    task = f"optimal leaf order (length), {n}"

    def length(leaves):
        return np.linalg.norm(np.diff(X[leaves], axis=0), axis=1).sum()

    report.measure(task, "arbora", lambda: Tree.from_linkage(Z).reorder(data=y).leaf_order, value=length)
    report.measure(task, "scipy", lambda: sch.leaves_list(sch.optimal_leaf_ordering(Z, y)), value=length)


def count(labels):
    return len(np.unique(labels))


def check_same_clusters(ours, theirs):
    """Raise unless both labellings are the same up to names (random heights: no ties)."""
    pairs = np.unique(np.column_stack([ours, theirs.ravel()]), axis=0)
    assert len(pairs) == count(ours) == count(theirs)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes")
    quick = parser.parse_args().quick
    n = 100_000 if quick else 1_000_000
    compile_kernels()
    report = Report()
    large(report, "random", random_linkage(n))
    large(report, "chain", chain_linkage(n))
    small_cut(report, 2000)
    compare(report, 20_000 if quick else 100_000)
    order(report, 300 if quick else 1000)
    path = record("tree", report.rows, quick=quick)
    print(f"written to {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path.name}")


if __name__ == "__main__":
    main()
