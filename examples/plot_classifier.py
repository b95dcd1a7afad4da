"""
A classifier: the tree of its own classes
=========================================

Where would the points of a class go if that class did not exist? A classifier answers with its logits, and the
answers are a tree. Here the classifier is a WideResNet on CIFAR-100, and at the end an EfficientNet on ImageNet (their
logits, from ``ARBORA_DATA``); where they are absent, a logistic regression on the handwritten digits takes the place of
the first.
"""

import json
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import arbora as ab

folder = Path(os.environ.get("ARBORA_DATA", "data")) / "logits"
if (folder / "cifar100_wrn16-4_test.npz").exists():
    stored = np.load(folder / "cifar100_wrn16-4_test.npz")
    logits, y = stored["logits"], stored["labels"].astype(int)
    classes = [str(name) for name in stored["class_names"]]
    kinds = [str(stored["coarse_names"][k]) for k in stored["coarse_of_fine"]]
else:
    from sklearn.datasets import load_digits
    from sklearn.linear_model import LogisticRegression

    print("CIFAR-100 is not in ARBORA_DATA: digits by a logistic regression instead.")
    X, y = load_digits(return_X_y=True)
    fitted = LogisticRegression(C=0.01, max_iter=2000).fit(X[::2] / 16, y[::2])
    logits, y = ab.logits.from_estimator(fitted, X[1::2] / 16), y[1::2]
    classes = [f"digit {k}" for k in range(10)]
    kinds = ["round" if k in (0, 3, 5, 6, 8, 9) else "straight" for k in range(10)]
accuracy = (logits.argmax(axis=1) == y).mean()
print(f"{len(logits):,} images, {len(classes)} classes, accuracy {accuracy:.1%}")

# %%
# The tree
# --------
# It needs the logits and nothing else: no labels, no images, no gradient.
l2h = ab.L2H(class_names=classes, random_state=0).fit(logits)
purity = ab.metrics.dendrogram_purity(l2h.tree_, kinds)
print(f"purity {purity:.2f} against the superclasses, which it never saw")
l2h.tree_.plot("circular", classes={"superclass": kinds}, legend=len(set(kinds)) < 12)
plt.show()

# %%
# Which levels to use
# -------------------
# Cuts with a wide gap that survive a bootstrap of the images.
for level in l2h.levels():
    print(f"{level.n_clusters:3d} groups, stability {level.stability:.2f}")

# %%
# As sure as you need
# -------------------
# Asked for 90 % confidence, it answers with a class where it is sure and with a group where it is not.
curve = ab.logits.risk_coverage(l2h, logits, y)
plt.plot(curve.coverage, curve.risk, label="deepest node that is sure enough")
plt.plot(curve.flat_coverage, curve.flat_risk, label="class or no answer")
plt.xlabel("coverage")
plt.ylabel("risk")
plt.legend()
plt.show()

# %%
# What it confuses
# ----------------
# The report reads the classifier: accuracy, calibration, classes taken for each other, groups against the
# taxonomy. ``print(report)`` prints all of it; here are the parts that say what to do.
report = ab.logits.class_report(l2h, logits, y, taxonomy=kinds, max_rows=6)
print(*report.warnings, *report.notes, sep="\n")
print("\nTaken for each other most often:")
for pair in report.pairs:
    print(f"  {pair['a']} and {pair['b']}: {pair['errors']} images")
print("\nGrouped against the taxonomy:")
for found in report.conflicts:
    print(f"  {found['group']} ({found['taxon']})", end=" joins ")
    print(f"{found['host']} ({found['host_taxon']})")

# %%
# The page
# --------
# Tree and report, side by side.
page = report.to_html("classifier.html")

# %%
# A thousand classes
# ------------------
# ImageNet, five images per class. WordNet says what each class is, which the network never saw. The report names
# the branches by what most of their classes have in common, and lists classes that the network finds more like
# something of another kind: what it goes by there may be the background rather than the thing.
if (folder / "imagenet_val5k_efficientnetlite2.npz").exists():
    stored = np.load(folder / "imagenet_val5k_efficientnetlite2.npz")
    logits, y = stored["logits"].astype(np.float32), stored["labels"].astype(int)
    words = json.loads((folder / "imagenet1k_classes_wordnet.json").read_text())
    paths = [
        [words["node_names"].get(k, k) for k in path]
        for path in words["hypernym_path_first"]
    ]
    # two classes are called maillot
    classes = [
        f"{name} ({k})" if words["name"].count(name) > 1 else name
        for k, name in enumerate(words["name"])
    ]
    l2h = ab.L2H(class_names=classes, random_state=0).fit(logits)
    is_organism = ["organism" in path for path in paths]
    purity = ab.metrics.dendrogram_purity(l2h.tree_, is_organism)
    print(f"organisms apart from all else: purity {purity:.2f}")
    report = ab.logits.class_report(l2h, logits, y, taxonomy=paths, max_rows=6)
    print(*report.warnings, *report.notes, sep="\n")
    print("\nNearer to each other than to their own kind:")
    for pair in report.spurious:
        print(f"  {pair['a']} and {pair['b']}; its next of kin is {pair['kin']}")
    page = report.to_html("imagenet.html")
else:
    print("ImageNet is not in ARBORA_DATA.")
