"""Average linkage on FPH's graphs in the order of their published files, by two rules for equal merges."""

from __future__ import annotations

import arbora as ab
from arbora.reproduce.table import Method, Table
from arbora.reproduce.tables.fph import SMALL, Problem
from arbora.reproduce.tables.fph_figures import AVERAGE, TIES, load_cuts
from arbora.similarity.graph import GraphSimilarity


def chain_linkage(similarity: GraphSimilarity) -> ab.Tree:
    """Average linkage of a graph's edges, each of weight 1, by chains of nearest neighbors.

    Of equal neighbors a chain takes the one with the smallest number, and it starts at the smallest: the rule of the
    code that FPH's authors published, which decides much where all edges weigh the same.

    Examples
    --------
    >>> import arbora as ab
    >>> from arbora.reproduce.tables.fph_order import chain_linkage
    >>> chain_linkage(ab.similarity.graph(([0, 1, 2], [1, 2, 3]))).to_newick()
    '((0,1),(2,3));'
    """
    csr, n = similarity.csr, similarity.n_points
    # number of edges to each neighboring cluster
    edges = {
        node: dict.fromkeys(csr.indices[csr.indptr[node] : csr.indptr[node + 1]].tolist(), 1)
        for node in range(n)
    }
    size = dict.fromkeys(range(n), 1)
    merges: list[tuple[int, int]] = []
    parts: list[int] = []
    chain: list[int] = []
    while edges:
        chain = chain or [next(iter(edges))]
        last = chain[-1]
        near = edges[last]
        if not near:
            # a whole component, as nothing else is left of its chain
            parts.append(chain.pop())
            del edges[last]
            continue
        nearest = min(near, key=lambda other: (-near[other] / size[other], other))
        if len(chain) < 2 or nearest != chain[-2]:
            chain.append(nearest)
            continue
        del chain[-2:]
        new = n + len(merges)
        merges.append((last, nearest))
        _merge(edges, last, nearest, new)
        size[new] = size.pop(last) + size.pop(nearest)
    while len(parts) > 1:
        merges.append((parts.pop(), parts.pop()))
        parts.append(n + len(merges) - 1)
    return ab.Tree.from_merges(merges, n)


def _merge(edges: dict[int, dict[int, int]], a: int, b: int, new: int) -> None:
    """Replace two clusters by one that has the edges of both."""
    joined = edges.pop(a)
    for other, count in edges.pop(b).items():
        joined[other] = joined.get(other, 0) + count
    del joined[a], joined[b]
    for other, count in joined.items():
        theirs = edges[other]
        theirs.pop(a, None)
        theirs.pop(b, None)
        theirs[new] = count
    edges[new] = joined


def _chained(problem: Problem, seed: int) -> ab.Tree:
    return chain_linkage(problem.graph).compress(problem.n_internal, problem.graph, "tsd")


ORDER = Table(
    "fph",
    "order",
    "Average linkage in the order of the published files",
    SMALL[:3],
    TIES.metrics,
    (
        AVERAGE,
        Method(
            "average linkage, the authors' rule for equal merges",
            _chained,
            "experiment",
            "Average linkage",
            is_random=False,
            slower=0.1,
            note="Chains of nearest neighbors; of equal ones, the node with the smallest number.",
        ),
    ),
    load_cuts,
    TIES.score,
    n_seeds=1,
    note="The code that the paper's authors published has no NMI in it, so that how they cut is not known; its "
    "average linkage and compression were run on their files. fph/ties has the same for random orders.",
)

TABLES = (ORDER,)
