"""
Digits: from a table to a page
==============================

1,797 handwritten digits, 64 pixels each. The tree sees the pixels and nothing else; that the images show digits
is only used to judge it, at the end.
"""

import csv

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import arbora as ab

digits = load_digits()

# %%
# The file
# --------
# A table as anyone might have it: one row per image, one column per pixel, the digit in the last column.
# ``ab.read`` says what it takes for what; the label column is never a feature.
with open("digits.csv", "w", newline="") as file:
    table = csv.writer(file)
    table.writerow([*digits.feature_names, "digit"])
    table.writerows([*row, f"digit {y}"] for row, y in zip(digits.data, digits.target))

data = ab.read("digits.csv", label_column="digit")
print(data)

# %%
# The tree
# --------
# ``report_`` says what was chosen for you, and what the search gained over average linkage. (The seconds are
# those of the machine that built this page, which also had other work to do.)
model = ab.TreeClustering(n_clusters=10, random_state=0).fit(data)
print(model.report_)

# %%
# How good
# --------
# Without the labels: the cost, printed above. With them: do two images of the same digit meet in a branch of
# that digit?
rivals = {
    "arbora": model.tree_,
    "Ward": ab.linkage(digits.data, "ward"),
    "average linkage": ab.linkage(digits.data, "average"),
    "bisecting k-means": ab.bisecting_kmeans(digits.data, random_state=0),
}
for name, tree in rivals.items():
    flat = model.labels_ if name == "arbora" else tree.cut(n_clusters=10)
    accuracy = ab.metrics.clustering_accuracy(digits.target, flat)
    purity = ab.metrics.dendrogram_purity(tree, digits.target)
    print(
        f"{name:18} purity {purity:.3f}, ten clusters match {accuracy:.0%} of the images"
    )

# %%
# What is in a cluster
# --------------------
# The exemplars are the members with the most similarity to the rest of their cluster.
exemplars = ab.insight.exemplars(model.similarity_, model.labels_, n_exemplars=8)
figure, axes = plt.subplots(10, 8, figsize=(6, 7.2))
for row, members in zip(axes, exemplars.values()):
    for axis in row:
        axis.axis("off")
    for axis, member in zip(row, members):
        axis.imshow(digits.images[member], cmap="gray_r")
figure.suptitle("Ten clusters, the eight most typical images of each", y=0.94)
plt.show()

# %%
# What goes wrong
# ---------------
# Clusters in rows, digits in columns: where a row has two large numbers, the tree has joined what people keep
# apart.
print("         ", " ".join(f"{digit:4d}" for digit in range(10)))
for cluster in range(10):
    counts = np.bincount(digits.target[model.labels_ == cluster], minlength=10)
    print("cluster", cluster, " ".join(f"{count:4d}" for count in counts))

# %%
# The page
# --------
# One file, nothing fetched from anywhere: send it to someone.
page = model.tree_.to_html(
    "digits.html",
    title="Digits",
    classes={"digit": data.y},
    images=digits.images,
    features=digits.data,
)
