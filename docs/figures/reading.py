import matplotlib.pyplot as plt

import arbora as ab

names = ["owl", "hen", "duck", "cod", "eel", "bat", "cat"]
points = [[9.0, 1.0], [8.2, 2.4], [8.0, 2.9], [1.0, 8.5], [1.6, 9.4], [4.6, 4.0], [4.0, 3.2]]
tree = ab.linkage(points, "average").replace(name=[*names, *[None] * 6])
figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
tree.plot("dendrogram", ax=axis, n_clusters=3, names=names)
