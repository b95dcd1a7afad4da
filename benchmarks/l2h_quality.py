"""L2H's trees on real classifiers, beside average linkage on the confusion matrix and on class-mean logits.

    python benchmarks/l2h_quality.py [--quick] [--picture PATH]

CIFAR-100: the tree comes from half the points, and dendrogram purity and LHD against the 20 superclasses are measured
on the other half (mean of several splits). ImageNet: agreement with WordNet. Needs the published data sets.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr

import arbora as ab

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ARBORA_DATA", ROOT.parent / "shared" / "data"))
RESULTS = Path(__file__).parent / "results"


def confusion_linkage(predicted, y, n_classes):
    """Average linkage on 1 - symmetrized confusion rates."""
    rate = np.zeros((n_classes, n_classes))
    np.add.at(rate, (y, predicted), 1)
    rate /= np.maximum(rate.sum(axis=1, keepdims=True), 1)
    distance = 1 - (rate + rate.T) / 2
    np.fill_diagonal(distance, 0)
    return ab.Tree.from_linkage(linkage(squareform(distance, checks=False), "average"))


def mean_linkage(logits, n_classes, metric):
    """Average linkage on the mean logits of the points assigned to each class."""
    own = logits.argmax(axis=1)
    means = np.array(
        [logits[own == c].mean(axis=0) if (own == c).any() else logits.mean(axis=0) for c in range(n_classes)]
    )
    return ab.Tree.from_linkage(linkage(pdist(means.astype(np.float64), metric), "average"))


def trees_of(logits, y, n_classes):
    """Every method's tree and its CPU seconds."""
    published = {"n_bootstraps": 0, "refine": False}
    methods = {
        "L2H (Algorithm 1)": lambda: ab.L2H(**published).fit(logits).tree_,
        "L2H (default)": lambda: ab.L2H(n_bootstraps=0).fit(logits).tree_,
        "L2H (sum)": lambda: ab.L2H(**published, aggregation="sum").fit(logits).tree_,
        "L2H (mean of means)": lambda: ab.L2H(**published, aggregation="mean_of_means").fit(logits).tree_,
        "L2H (all pairs)": lambda: ab.L2H(**published, merging="all_pairs").fit(logits).tree_,
        "average linkage, confusion": lambda: confusion_linkage(logits.argmax(axis=1), y, n_classes),
        "average linkage, mean logits, Euclidean": lambda: mean_linkage(logits, n_classes, "euclidean"),
        "average linkage, mean logits, cosine": lambda: mean_linkage(logits, n_classes, "cosine"),
    }
    for name, build in methods.items():
        began = time.process_time()
        tree = build()
        yield name, tree, time.process_time() - began


def cifar100(n_splits):
    data = np.load(DATA / "logits/cifar100_wrn16-4_test.npz")
    logits, y = data["logits"], data["labels"].astype(np.int64)
    coarse = data["coarse_of_fine"].astype(np.int64)
    rng = np.random.default_rng(0)
    rows = {}
    for _ in range(n_splits):
        train = rng.permutation(len(y)) < len(y) // 2
        for name, tree, seconds in trees_of(logits[train], y[train], 100):
            scores = ab.logits.evaluate_tree(tree, coarse[y[~train]], logits[~train].argmax(axis=1))
            rows.setdefault(name, []).append({**scores, "cpu_seconds": seconds})
    return {
        name: {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        for name, runs in rows.items()
    }


def wordnet():
    facts = json.loads((DATA / "logits/imagenet1k_classes_wordnet.json").read_text())
    taxonomy = ab.logits.taxonomy_tree(facts["hypernym_path_first"], 1000)
    names = facts["node_names"]
    below = {
        word: np.array(
            [any(names.get(taxon) == word for taxon in path) for path in facts["hypernym_path_first"]]
        )
        for word in ("artifact", "organism", "bird", "dog", "mammal", "reptile", "clothing")
    }
    return taxonomy, below, facts["name"]


def imagenet(picture=None):
    data = np.load(DATA / "logits/imagenet_val5k_efficientnetlite2.npz")
    logits, y = data["logits"].astype(np.float32), data["labels"].astype(np.int64)
    taxonomy, below, names = wordnet()
    kind = np.where(below["artifact"], 0, np.where(below["organism"], 1, -1))
    i, j = np.triu_indices(1000, 1)
    depth = taxonomy.depths[taxonomy.lca(i, j)]
    rows = {}
    for name, tree, seconds in trees_of(logits, y, 1000):
        meet = -np.log(tree.sizes[tree.lca(i, j)])
        rows[name] = {
            "lca_correlation": float(spearmanr(meet, depth)[0]),
            "robinson_foulds": float(tree.robinson_foulds(taxonomy, normalize=True)),
            "organism_artifact_purity": ab.metrics.dendrogram_purity(tree, kind),
            "best_organism_node": best_node(tree, below["organism"]),
            "best_bird_node": best_node(tree, below["bird"]),
            "cpu_seconds": seconds,
        }
        if picture is not None and name == "L2H (Algorithm 1)":
            draw(tree.replace(name=names), kind, below, picture)
    return rows


def best_node(tree, members):
    """Jaccard overlap of a set of classes with the node that matches it best."""
    inside = np.concatenate([members.astype(np.float64), np.zeros(tree.n_internal)])
    for v in range(tree.n_nodes - 1):
        inside[tree.parent[v]] += inside[v]
    return float((inside / (tree.sizes + members.sum() - inside)).max())


def draw(tree, kind, below, path):
    """Figure 3a: the circular tree colored by WordNet's artifact and organism, with strips for smaller taxa."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colors = np.array(["artifact", "organism", "other"])[kind]
    taxa = np.select([below[w] for w in ("bird", "dog", "clothing")], ["bird", "dog", "clothing"], "other")
    _, ax = plt.subplots(figsize=(9, 9))
    tree.plot(
        "circular", ax=ax, classes=colors, metadata={"taxa": taxa}, names=False, scale="size", max_leaves=1000
    )
    ax.set_title("ImageNet classes by L2H, colored by WordNet")
    ax.figure.savefig(path, dpi=90, bbox_inches="tight")
    print(f"wrote {path}")


def show(title, rows):
    keys = list(next(iter(rows.values())))
    print(f"\n{title}\n{'':42s}" + "".join(f"{key[:14]:>15s}" for key in keys))
    for name, row in rows.items():
        print(f"{name:42s}" + "".join(f"{row[key]:15.4f}" for key in keys), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--picture", type=Path, default=RESULTS / "l2h_imagenet.png")
    arguments = parser.parse_args()
    RESULTS.mkdir(exist_ok=True)
    ab.L2H(n_bootstraps=0).fit(np.random.default_rng(0).normal(size=(50, 5)).astype(np.float32))
    results = {"cifar100": cifar100(2 if arguments.quick else 10)}
    show("CIFAR-100, WideResNet logits, against 20 superclasses", results["cifar100"])
    if not arguments.quick:
        results["imagenet"] = imagenet(arguments.picture)
        show("ImageNet, EfficientNet-Lite2 logits (5 images a class), against WordNet", results["imagenet"])
    (RESULTS / "l2h_quality.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
