"""
Your own network: a tree learned together with it
=================================================

HypHC's cost of a tree is differentiable, so it can be one more term of a loss. Here a small network learns to
classify images from 100 labels, and at the same time to put all images where a good tree over them is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import arbora as ab

# sphinx_gallery_thumbnail_number = 2

try:
    import torch
except ImportError as missing:
    raise SystemExit(
        "This example needs PyTorch: pip install 'arbora[torch]'"
    ) from missing

# Matrices this small are quicker on one core.
torch.set_num_threads(1)
torch.manual_seed(0)
rng = np.random.default_rng(0)
digits = load_digits()
kept = rng.permutation(len(digits.data))[:600]
X, y = (
    torch.tensor(digits.data[kept] / 16, dtype=torch.float32),
    torch.tensor(digits.target[kept]),
)
labeled = torch.arange(100)

# %%
# The network
# -----------
# An encoder with two heads: classes, and places in the Poincaré ball, all at the same distance from its center.
# The more dimensions the ball has, the more easily images pass each other on their way.
RADIUS = 4.0


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU())
        self.classes = torch.nn.Linear(64, 10)
        self.direction = torch.nn.Linear(64, 8)

    def forward(self, images):
        hidden = self.encoder(images)
        direction = torch.nn.functional.normalize(self.direction(hidden))
        return self.classes(hidden), np.tanh(RADIUS / 2) * direction


# %%
# The loss
# --------
# Cross-entropy on the labels there are, and ``HypHCLoss`` on triples: of two neighbors and any third image,
# which two meet first? Similarities come from the graph of nearest neighbors of the pixels.
graph = ab.similarity.knn(X.numpy(), metric="cosine")
similarity = np.stack([graph.rows([image]).ravel() for image in range(len(X))])
neighbors = np.argwhere(similarity > 0)
tree_loss = ab.nn.HypHCLoss(temperature=0.02)


def some_triples(n_triples=500):
    """Two neighbors and a third image each, and their three similarities."""
    i, j = neighbors[rng.integers(0, len(neighbors), n_triples)].T
    k = rng.integers(0, len(X), n_triples)
    i, j, k = np.stack([i, j, k])[:, (i != k) & (j != k)]
    weights = np.column_stack([similarity[i, j], similarity[i, k], similarity[j, k]])
    return torch.tensor(np.column_stack([i, j, k])), torch.tensor(
        weights, dtype=torch.float32
    )


network = Network()
optimizer = torch.optim.Adam(network.parameters(), lr=5e-3)
curve = []
for _ in range(300):
    logits, places = network(X)
    class_part = torch.nn.functional.cross_entropy(logits[labeled], y[labeled])
    tree_part = tree_loss(places, *some_triples())
    (class_part + 3 * tree_part).backward()
    optimizer.step()
    optimizer.zero_grad()
    curve.append((class_part.item(), tree_part.item()))

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.semilogy(
    curve, label=["cross-entropy, 100 labels", "cost of the tree, per triple"]
)
axis.set_xlabel("step")
axis.legend()
plt.show()

# %%
# The tree
# --------
# ``decode`` reads the tree off the places.
with torch.no_grad():
    logits, places = network(X)
tree = ab.hyperbolic.decode(places.numpy())
unseen = np.arange(100, len(X))
right = logits.argmax(1)[unseen] == y[unseen]
print(f"accuracy on images without a label: {right.float().mean():.1%}")
purity = ab.metrics.dendrogram_purity(tree, y.numpy())
print(f"dendrogram purity of the tree: {purity:.2f}")
tree.plot("circular", classes={"digit": y.numpy()})
plt.show()

# %%
# Refining it
# -----------
# A learned tree is a good start; the search takes it from there, on the same graph.
refined = ab.refine(tree, graph, random_state=0)
alone = ab.cluster(graph, random_state=0)
for name, found in {"refined": refined, "search alone": alone}.items():
    print(f"{name}: purity {ab.metrics.dendrogram_purity(found, y.numpy()):.2f}")

# %%
# On data that a search can see as a whole, the search needs no network. The loss is for what the search cannot do:
# a representation that has learned the tree, and places for images that come later, with one pass through the
# network.

# %%
# The page
# --------
page = refined.to_html(
    "joint.html",
    title="Joint training",
    classes={"digit": y.numpy()},
    images=digits.images[kept],
    features=X.numpy(),
    view="disk",
)
