"""One pass of Louvain's method: every node joins the neighboring community that raises modularity most."""

from __future__ import annotations

import numpy as np

from arbora._base.jit import kernel


@kernel(nogil=True)
def join_best_communities(
    first, last, label, indptr, indices, data, degree, loops, volume, beside, noted, resolution, risen
):
    """Move the nodes first .. last-1, one after the other; returns by how much modularity rises, added to `risen`.

    Weights are shares of the whole, in single precision as in scikit-network, so that the same ties are equal. `volume`
    is the sum of degrees of each community; `beside` (zeros) and `noted` (int64, two rows) are scratch: weight between
    the node and a community, which node noted a community last, and the communities it noted.
    """
    for node in range(first, last):
        own, mine = label[node], degree[node]
        n_noted = 0
        for k in range(indptr[node], indptr[node + 1]):
            other = label[indices[k]]
            if noted[0, other] != node:
                noted[0, other] = node
                noted[1, n_noted] = other
                n_noted += 1
            beside[other] += data[k]
        kept = beside[own] - loops[node]
        lost = kept + kept
        # both directions of an edge count, one by one: rounding is that of scikit-network
        for _ in range(2):
            lost -= resolution * mine * (volume[own] - mine)
        best, most = own, np.float32(0.0)
        for k in range(n_noted):
            other = noted[1, k]
            if other == own:
                continue
            gain = beside[other] + beside[other]
            for _ in range(2):
                gain -= resolution * mine * volume[other]
            gain -= lost
            if gain > most or (gain == most and best != own and other < best):
                best, most = other, gain
        for k in range(n_noted):
            beside[noted[1, k]] = 0.0
            noted[0, noted[1, k]] = -1
        if best != own:
            risen += most
            label[node] = best
            volume[own] -= mine
            volume[best] += mine
    return risen
