import matplotlib.pyplot as plt
import numpy as np

import arbora as ab

rng = np.random.default_rng(3)
centers = np.array([[0.0, 0.0], [6.0, 1.0]])
for spread in (1.9, 0.8):
    centers = (centers[:, None] + spread * rng.standard_normal((len(centers), 3, 2))).reshape(-1, 2)
points = (centers[:, None] + 0.25 * rng.standard_normal((len(centers), 25, 2))).reshape(-1, 2)
tree = ab.cluster(points, metric="euclidean", random_state=0)
figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for axis, k in zip(axes, (2, 6, 18)):
    axis.scatter(*points.T, c=tree.cut(n_clusters=k), cmap="tab20", s=7)
    axis.set(title=f"{k} clusters", xticks=[], yticks=[])
