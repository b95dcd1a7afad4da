"""gHHC straight from the paper, in plain Python: one triple, one node at a time."""

import math

import numpy as np


def norm(z):
    return 2 * math.atanh(np.linalg.norm(z))


def distance(x, y):
    square = np.sum((x - y) ** 2)
    return math.acosh(1 + 2 * square / ((1 - x @ x) * (1 - y @ y)))


def dissimilarity(child, parent, margin=0.0):
    return distance(child, parent) * (1 + max(norm(parent) - norm(child) + margin, 0.0))


def parent(child, nodes, allowed):
    return min(allowed, key=lambda n: (distance(child, nodes[n]), n))


def softmax(logits):
    top = max(logits)
    weights = [math.exp(value - top) for value in logits]
    return [weight / sum(weights) for weight in weights]


def lca_distributions(triple, nodes, temperature=1.0, noise=None):
    noise = np.zeros(len(nodes)) if noise is None else noise
    d = [[dissimilarity(x, z) for z in nodes] for x in triple]
    pair = softmax([noise[n] - max(d[0][n], d[1][n]) / temperature for n in range(len(nodes))])
    best = pair.index(max(pair))
    logits = [noise[n] - max(d[p][n] for p in range(3)) / temperature for n in range(len(nodes))]
    logits[best] = -math.inf
    return pair, softmax(logits)


def ranking_cost(triple, nodes, temperature=1.0, noise=None):
    pair, whole = lca_distributions(triple, nodes, temperature, noise)
    total = 0.0
    for n, z in enumerate(nodes):
        change = pair[n] - whole[n]
        for sign, x in zip((1, 1, -1), triple):
            total += 1 / (1 + math.exp(-sign * dissimilarity(x, z) * change))
    return total


def smaller_nodes(n, nodes):
    """Nodes of smaller norm than node n; equal norms by order."""
    key = [(np.linalg.norm(z), m) for m, z in enumerate(nodes)]
    return [m for m in range(len(nodes)) if key[m] < key[n]]
