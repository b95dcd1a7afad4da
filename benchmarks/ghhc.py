"""gHHC: quality beside speed, on the sets and tasks of the paper.

    python benchmarks/ghhc.py [quality] [aloi] [covtype] [speed] [school] [words] [scale] [--quick] [--seeds N]

Without a name all but `scale` run. Data comes from ARBORA_DATA (default ../shared/data). Results are printed
and written to benchmarks/results/ghhc_<name>.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.cluster import Birch

import arbora as ab
from arbora.hyperbolic.ghhc.candidates import choose_candidates, left_out_mass
from arbora.hyperbolic.ghhc.distances import NodeTable
from arbora.hyperbolic.ghhc.objectives import ranking_cost
from arbora.hyperbolic.ghhc.sampling import TripleSampler
from arbora.metrics import dendrogram_purity
from arbora.tasks import multitask

DATA = Path(os.environ.get("ARBORA_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
RESULTS = Path(__file__).resolve().parent / "results"
AUTHORS_CPU_SECONDS = 38.0  # the authors' TensorFlow code on zoo: 50,000 triples, 64 internal nodes
STEPS = 5_000  # of the section scale
SEEDS = range(5)


def load(name):
    with np.load(DATA / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def report(name, result):
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"ghhc_{name}.json").write_text(json.dumps(result, indent=1))


def mean(values):
    return f"{np.mean(values):.4f} ± {np.std(values):.4f}"


def timed(run):
    cpu, wall = time.process_time(), time.perf_counter()
    result = run()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compile_kernels():
    """A small fit that takes the ways of a large one, so that no clock counts the compiler."""
    X = np.random.default_rng(0).standard_normal((2000, 8)).astype(np.float32)
    ab.GHHC(n_internal=600, max_steps=2, random_state=0).fit(X)


def edge_of_ball(X):
    """The rows as gHHC sees them: centered columns, one norm."""
    X = np.asarray(X, np.float64) - np.mean(X, axis=0, dtype=np.float64)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)


def small_sets():
    glass = load("vectors/glass")
    yield "glass", [(glass["X"], glass["y"])] * len(SEEDS)
    digits = load("vectors/digits1797")
    parts = []
    for seed in SEEDS:
        rows = np.random.default_rng(seed).choice(len(digits["y"]), 200, replace=False)
        parts.append((digits["X"][rows], digits["y"][rows]))
    yield "digits (200 of 1797, 5 draws)", parts


# ---- peers -----------------------------------------------------------------------------------------------


def birch_tree(X, threshold):
    """The tree BIRCH builds, over the rows."""
    model = Birch(threshold=threshold, n_clusters=None).fit(X)
    parent, leaf_node = [], []
    stack = [(model.root_, -1)]
    place_of_leaf = {}
    while stack:
        node, above = stack.pop()
        number = len(parent)
        parent.append(above)
        for cluster in node.subclusters_:
            if cluster.child_ is None:
                place_of_leaf[id(cluster)] = len(parent)
                parent.append(number)
            else:
                stack.append((cluster.child_, number))
    walk = model.dummy_leaf_.next_leaf_
    while walk is not None:  # the order in which labels number the leaf clusters
        leaf_node += [place_of_leaf[id(cluster)] for cluster in walk.subclusters_]
        walk = walk.next_leaf_
    from arbora.hyperbolic.ghhc.extract import extract_tree

    return extract_tree(np.array(leaf_node)[model.labels_], np.array(parent)).tree


def peers(X, seed):
    order = np.random.default_rng(seed).permutation(len(X))

    def online():
        tree = ab.OnlineTree(random_state=seed).partial_fit(X[order]).tree_
        parent = tree.parent.copy()
        parent[: len(X)][order] = tree.parent[: len(X)]
        return ab.Tree(parent, len(X))

    yield "HAC average", lambda: ab.linkage(X, method="average")
    yield "HAC Ward", lambda: ab.linkage(X, method="ward")
    for threshold in (0.1, 0.3, 0.6):
        yield f"BIRCH, threshold {threshold}", lambda t=threshold: birch_tree(X, t)
    yield "hierarchical k-means", lambda: ab.hierarchical_kmeans(X, random_state=seed)
    yield "online insertion (PERCH-style)", online


# ---- sections --------------------------------------------------------------------------------------------


def run_quality(quick):
    """Glass and digits against the paper; without a gradient step, and refined on the kNN graph, beside."""
    paper = {"glass": 0.463, "digits (200 of 1797, 5 draws)": 0.675}
    result = {}
    for name, parts in small_sets():
        scores, untrained, refined, cpu = [], [], [], []
        for seed, (X, y) in zip(SEEDS, parts):
            model, spent, _ = timed(lambda X=X, seed=seed: ab.GHHC(random_state=seed).fit(X))
            scores.append(dendrogram_purity(model.tree_, y))
            untrained.append(dendrogram_purity(ab.GHHC(max_steps=0, random_state=seed).fit(X).tree_, y))
            similarity = ab.similarity.knn(edge_of_ball(X), n_neighbors=15, metric="euclidean")
            refined.append(dendrogram_purity(ab.refine(model.tree_, similarity, random_state=seed), y))
            cpu.append(spent)
        print(
            f"{name:32s} gHHC {mean(scores)} (paper {paper[name]}); without steps {mean(untrained)}; refined "
            f"{mean(refined)}; {np.mean(cpu):.2f} CPU-s"
        )
        result[name] = {"dendrogram_purity": scores, "without_steps": untrained, "refined": refined}
        result[name]["cpu_seconds"] = cpu
        peer_scores = {}
        for seed, (X, y) in zip(SEEDS, parts):
            for peer, run in peers(edge_of_ball(X), seed):
                peer_scores.setdefault(peer, []).append(dendrogram_purity(run(), y))
        for peer, values in peer_scores.items():
            print(f"    {peer:32s} {mean(values)}")
        result[name]["peers"] = peer_scores
    report("quality", result)


def run_aloi(quick):
    """aloi5k against HAC, BIRCH, hierarchical k-means and online insertion; linkage refined as gHHC is."""
    data = load("vectors/aloi5k")
    rows = slice(None, 1500 if quick else None)
    X, y = edge_of_ball(data["X"][rows]), data["y"][rows]
    seeds = list(SEEDS)[: 1 if quick else None]
    result = {}

    def record(name, run, seed):
        tree, cpu, _ = timed(run)
        entry = result.setdefault(name, {"dendrogram_purity": [], "cpu_seconds": []})
        entry["dendrogram_purity"].append(dendrogram_purity(tree, y))
        entry["cpu_seconds"].append(cpu)
        print(f"    seed {seed}, {name}: {entry['dendrogram_purity'][-1]:.4f}, {cpu:.1f} CPU-s", flush=True)
        return tree

    similarity = ab.similarity.knn(X, n_neighbors=15, metric="euclidean")
    for seed in seeds:
        for n_internal in (1000, 4000, 8000):
            name = f"gHHC, {n_internal} nodes"
            model = ab.GHHC(n_internal=n_internal, random_state=seed)
            tree = record(name, lambda m=model: m.fit(X).tree_, seed)
            record(f"{name}, refined", lambda t=tree, s=seed: ab.refine(t, similarity, random_state=s), seed)
        for name, run in peers(X, seed):
            if seed == seeds[0] or not name.startswith(("HAC", "BIRCH")):  # those do not depend on it
                tree = record(name, run, seed)
                if name.startswith("HAC"):
                    record(f"{name}, refined", lambda t=tree: ab.refine(t, similarity, random_state=0), seed)
    for name, entry in result.items():
        print(f"{name:32s} {mean(entry['dendrogram_purity'])}  {np.mean(entry['cpu_seconds']):8.2f} CPU-s")
    report("aloi", result)


def run_covtype(quick):
    """500,000 rows of covtype, 5,000 nodes; purity on the paper's evaluation rows.

    The tree over all rows is refined on their kNN graph, and both trees are restricted to the evaluation rows.
    """
    data, rows = load("vectors/covtype"), load("vectors/covtype_ghhc_evalpts5k")["idx"]
    X, y = data["X"].astype(np.float32), data["y"][rows]
    n_rows = 50_000 if quick else 500_000
    others = np.setdiff1d(np.arange(len(X)), rows)
    result = {"n_rows": n_rows, "runs": []}
    compile_kernels()
    for seed in SEEDS:
        chosen = np.random.default_rng(seed).choice(others, n_rows - len(rows), replace=False)
        taken = np.sort(np.concatenate([rows, chosen]))
        sample, judged = X[taken], np.searchsorted(taken, rows)
        model, cpu, wall = timed(lambda X=sample, s=seed: ab.GHHC(n_internal=5000, random_state=s).fit(X))
        run = {"purity": dendrogram_purity(model.tree_.restrict(judged), y), "seconds": wall}
        run |= {"cpu_seconds": cpu, "peak_megabytes": peak_megabytes()}
        start = ab.GHHC(n_internal=5000, max_steps=0, random_state=seed).fit(sample).tree_
        run["without_steps"] = dendrogram_purity(start.restrict(judged), y)

        def refined(X=sample, tree=model.tree_, s=seed):
            graph = ab.similarity.knn(
                edge_of_ball(X).astype(np.float32), n_neighbors=15, metric="euclidean", n_jobs=-1
            )
            return ab.refine(tree, graph, random_state=s)

        better, _, run["refine_seconds"] = timed(refined)
        run["refined"] = dendrogram_purity(better.restrict(judged), y)
        print(
            f"covtype {n_rows} rows, seed {seed}: {run['purity']:.4f} (paper 0.444), without steps "
            f"{run['without_steps']:.4f}; {wall:.0f} s, {cpu:.0f} CPU-s, peak {run['peak_megabytes']:.0f} MB; "
            f"refined on the kNN graph of all rows {run['refined']:.4f}, {run['refine_seconds']:.0f} s, "
            f"peak {peak_megabytes():.0f} MB",
            flush=True,
        )
        result["runs"].append(run)
        report("covtype", result)
    keys = ("purity", "without_steps", "refined")
    purity, untrained, refined = ([run[key] for run in result["runs"]] for key in keys)
    print(f"covtype: {mean(purity)}, without steps {mean(untrained)}, refined {mean(refined)}")


def run_speed(quick):
    """Zoo, 50,000 triples, 64 nodes: the authors' code took 38 CPU-seconds."""
    data = load("vectors/zoo")
    ab.GHHC(max_steps=2, random_state=0).fit(data["X"])  # compile
    spent = [timed(lambda s=s: ab.GHHC(random_state=s).fit(data["X"]))[1] for s in SEEDS]
    ratio = AUTHORS_CPU_SECONDS / np.median(spent)
    print(f"zoo, 500 steps of 100 triples, 64 nodes: {np.median(spent):.3f} CPU-s, {ratio:.0f} times fewer")
    result = {"zoo_cpu_seconds": spent, "ratio": ratio}
    X = edge_of_ball(load("vectors/aloi5k")["X"])[: 1500 if quick else None].astype(np.float32)
    model = ab.GHHC(n_internal=1000 if quick else 4000, max_steps=0, random_state=0).fit(X)
    result["aloi5k"] = compare_steps("aloi5k", model.nodes_, 0.9 * X)
    result["digits"] = compare_fits()
    for dimension in (128,) if quick else (128, 2048):
        rng = np.random.default_rng(0)
        nodes, points = (edge_of_ball(rng.standard_normal((n, dimension))) for n in (20_000, 2000))
        nodes *= rng.uniform(0.1, 0.85, (len(nodes), 1))
        name = f"random, {dimension} dimensions"
        result[name] = compare_steps(name, nodes.astype(np.float32), (0.9 * points).astype(np.float32))
    report("speed", result)


def compare_steps(name, nodes, points, n_repeats=3):
    """CPU-seconds of cost and gradient of 100 triples, over all nodes and over the 128 nearest; and what the
    second leaves out: mass of the two LCA distributions, and how far its gradient is from the exact one."""
    table = NodeTable(nodes)
    sampler = TripleSampler(points.__getitem__, len(points), 0, 10, 2000, 50)
    triples = sampler.pool(0)[sampler.draw(0, 100, np.random.default_rng(0))]
    seconds, gradients = {}, {}
    for n_candidates in (None, 128):

        def step(n=n_candidates):
            return ranking_cost(table, triples, temperature=0.2, n_candidates=n)

        found = step().nodes  # compiles
        gradients[n_candidates] = np.zeros_like(nodes)
        gradients[n_candidates][found.rows] = found.values
        seconds[n_candidates] = min(timed(step)[1] for _ in range(n_repeats))
    apart = np.linalg.norm(gradients[128] - gradients[None]) / np.linalg.norm(gradients[None])
    pair, triple = left_out_mass(table, triples, 0.2, 128)
    chosen = choose_candidates(table, triples, 0.2)
    print(
        f"{name}, {len(nodes)} nodes: exact {seconds[None]:.3f} CPU-s a step, 128 candidates "
        f"{seconds[128]:.3f}, which leave out {pair:.0%} of the mass over LCAs of pairs and {triple:.0%} of "
        f"that of triples; gradients differ by {apart:.2f} of the exact one; 'auto' considers {chosen or 'all'}"
    )
    return {
        "exact_seconds": seconds[None],
        "restricted_seconds": seconds[128],
        "left_out": [pair, triple],
        "gradient_difference": float(apart),
    }


def compare_fits(n_nodes=1000):
    """Purity of fits on all digits over all nodes and over the 128 nearest of a triple."""
    data = load("vectors/digits1797")
    purity = {}
    for n_candidates in (None, 128):
        model = ab.GHHC(n_internal=n_nodes, n_candidates=n_candidates, random_state=0)
        purity[n_candidates] = dendrogram_purity(model.fit(data["X"]).tree_, data["y"])
    print(f"digits, {n_nodes} nodes: purity {purity[None]:.4f} exact, {purity[128]:.4f} with 128 candidates")
    return {"exact": purity[None], "restricted": purity[128]}


def run_school(quick):
    """Explained variance on the school data: 75 % of each school's pupils train, seeds 0..4 (quick: 0)."""
    data = load("vectors/school")
    X, y, task = data["X"], data["score"], data["y"]
    result = {
        "split": "multitask.split_by_task(task, 0.75, seed)",
        "seeds": list(SEEDS)[: 1 if quick else None],
    }
    for seed in result["seeds"]:
        train = multitask.split_by_task(task, 0.75, seed)
        models = {
            "single task": multitask.SingleTaskRegression(),
            "MTRL": multitask.RelationshipRegression(),
            "gHHC tree": multitask.TreeRegression(random_state=seed),
        }
        for name, model in models.items():
            fitted, cpu, _ = timed(lambda m=model, t=train: m.fit(X[t], y[t], task[t]))
            entry = result.setdefault(name, {"explained_variance_percent": [], "cpu_seconds": []})
            entry["explained_variance_percent"].append(fitted.score(X[~train], y[~train], task[~train]))
            entry["cpu_seconds"].append(cpu)
    paper = {"single task": 23.5, "MTRL": 29.9, "gHHC tree": 38.4}
    for name, value in paper.items():
        entry = result[name]
        print(
            f"school, {name:12s} {mean(entry['explained_variance_percent'])} % (paper {value}); "
            f"{np.mean(entry['cpu_seconds']):.1f} CPU-s"
        )
    report("school", result)


def run_words(quick):
    """GloVe with a tree on the four corpora; clusters of words judged against WordNet."""
    from arbora.tasks.word_embeddings import TreeGloVe, read_documents
    from arbora.tasks.wordnet import WordNet, judge

    names = ("brown",) if quick else ("brown", "gutenberg_nltk", "movie_reviews", "wikitext2_valid_test")
    documents = [document for name in names for document in read_documents(DATA / "text" / f"{name}.txt.gz")]
    wordnet = WordNet.load(DATA / "text" / "wordnet30_noun.npz")
    result = {}
    for label, weight in (("joint", None), ("GloVe first, then the tree", 0.0)):
        changes = {} if weight is None else {"tree_weight": weight}
        model = TreeGloVe(2000 if quick else 5000, random_state=0, **changes)
        fitted, cpu, _ = timed(lambda m=model: m.fit(documents))
        score = judge(fitted.words_, fitted.clusters_, wordnet)
        print(
            f"words, {label}: WordNet depth {score.within:.3f} within clusters, {score.random:.3f} within "
            f"random ones ({score.n_pairs} pairs, {len(np.unique(fitted.clusters_))} clusters); "
            f"{cpu:.0f} CPU-s",
            flush=True,
        )
        result[label] = {**score._asdict(), "cpu_seconds": cpu}
    report("words", result)


class StepClock:
    """Callback that notes when every step ended."""

    def __init__(self):
        self.ends = []

    def setup(self, estimator, context): ...

    def teardown(self, estimator, context): ...

    def on_fit_task_begin(self, estimator, context): ...

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "step":
            self.ends.append(time.perf_counter())

    def seconds_a_step(self):
        return (self.ends[-1] - self.ends[0]) / (len(self.ends) - 1)


def run_scale(quick):
    """A memory-mapped array of 1,300,000 by 128, 20,000 nodes, 5,000 steps of 100 (or as many as --steps says)."""
    n_rows, n_nodes, n_steps = (50_000, 2_000, 200) if quick else (1_300_000, 20_000, STEPS)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        rng = np.random.default_rng(0)
        top, low = rng.standard_normal((50, 128)), rng.standard_normal((1000, 128))
        data = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n_rows, 128))
        label = rng.integers(1000, size=n_rows)
        for begin in range(0, n_rows, 50_000):
            part = label[begin : begin + 50_000]
            noise = 0.7 * rng.standard_normal((len(part), 128))
            data[begin : begin + 50_000] = top[part % 50] + 0.8 * low[part] + noise
        data.flush()
        del data
        mapped = np.load(path, mmap_mode="r")
        compile_kernels()
        clock = StepClock()
        model = ab.GHHC(n_internal=n_nodes, max_steps=n_steps, random_state=0).set_callbacks(clock)
        fitted, cpu, wall = timed(lambda: model.fit(mapped))
        rows = np.sort(rng.choice(n_rows, min(20_000, n_rows), replace=False))
        purity = dendrogram_purity(fitted.tree_over(mapped[rows]), label[rows])
    print(
        f"{n_rows} by 128 memory map, {n_nodes} nodes, {n_steps} steps: {wall / 60:.1f} min, "
        f"{cpu / 60:.1f} CPU-min, {clock.seconds_a_step():.3f} s a step, peak {peak_megabytes():.0f} MB; "
        f"purity over {len(rows)} rows, 1000 classes: {purity:.3f}"
    )
    report(
        "scale",
        {"minutes": wall / 60, "cpu_minutes": cpu / 60, "peak_megabytes": peak_megabytes(), "purity": purity},
    )


SECTIONS = {
    "quality": run_quality,
    "aloi": run_aloi,
    "covtype": run_covtype,
    "speed": run_speed,
    "school": run_school,
    "words": run_words,
    "scale": run_scale,
}


def main():
    global SEEDS, STEPS
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=5, help="runs of each method")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of the section scale")
    options = parser.parse_args()
    SEEDS, STEPS = range(options.seeds), options.steps
    for name in options.sections or [name for name in SECTIONS if name != "scale"]:
        SECTIONS[name](options.quick)


if __name__ == "__main__":
    main()
