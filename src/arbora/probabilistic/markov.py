"""The tree Markov chain of FPH: one function per theorem, in PyTorch, differentiable.

A (n x n') holds the probabilities of a leaf's parent, B (n' x n', strictly upper triangular) those of an internal
node's; the last internal node is the root. Zügner et al., "End-to-end learning of probabilistic hierarchies on
graphs", ICLR 2022; equations and theorems as numbered there.
"""

from __future__ import annotations

from arbora._base.pytorch import Tensor, torch


def check_parameters(A: Tensor, B: Tensor, tolerance: float = 1e-6) -> None:
    """Raise unless (A, B) is a probabilistic hierarchy (Def. 1)."""
    if A.ndim != 2 or B.ndim != 2 or B.shape[0] != B.shape[1] or A.shape[1] != B.shape[0]:
        raise ValueError(f"A must be n x n' and B n' x n'. Got shapes {tuple(A.shape)} and {tuple(B.shape)}.")
    if not (torch.isfinite(A).all() and torch.isfinite(B).all()):
        raise ValueError("A and B must be finite. Got NaN or infinity.")
    if (A < -tolerance).any() or (B < -tolerance).any():
        raise ValueError(f"A and B must not be negative. The smallest entry is {min(A.min(), B.min()):.3g}.")
    if torch.tril(B).abs().max() > tolerance:
        raise ValueError("B must be strictly upper triangular: parents come after their children.")
    off = torch.cat([A.sum(1) - 1, B.sum(1)[:-1] - 1, B.sum(1)[-1:]]).abs().max()
    if off > max(tolerance, 1e-4 if A.dtype == torch.float32 else tolerance):
        raise ValueError(f"Rows of A and B must sum to 1 (the root's to 0). One is off by {off:.3g}.")


def fundamental_matrix(B: Tensor) -> Tensor:
    """N = (I - B)^-1 (Def. 2): probability that a walk from z_k passes z_l, itself included."""
    identity = torch.eye(len(B), dtype=B.dtype, device=B.device)
    N: Tensor = torch.linalg.solve_triangular(identity - B, identity, upper=True, unitriangular=True)
    return N


def internal_ancestors(B: Tensor) -> Tensor:
    """p_anc(z_l | z_k) among internal nodes (Eq. 8): no node is its own ancestor."""
    return fundamental_matrix(B) - torch.eye(len(B), dtype=B.dtype, device=B.device)


def leaf_ancestors(A: Tensor, B: Tensor) -> Tensor:
    """p_anc(z_k | v_i) = A (I - B)^-1, n x n' (Eq. 8); equal under tree sampling and Markov chain (Thm 2).

    Examples
    --------
    >>> A = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> B = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    >>> leaf_ancestors(A, B)
    tensor([[1.0000, 1.0000],
            [0.5000, 1.0000]])
    """
    identity = torch.eye(len(B), dtype=B.dtype, device=B.device)
    P: Tensor = torch.linalg.solve_triangular(identity - B, A, upper=True, unitriangular=True, left=False)
    return P


def lca_from_joint(joint: Tensor, B: Tensor) -> Tensor:
    """Solve for LCA probabilities given summed products of ancestor probabilities (Thm 6).

    ``joint (I + Pt * Pt)^-1``: what two independent walks share at z_k, less what they share because they had
    already met below. Linear in `joint`, so products may be summed over any pairs first.
    """
    squared = internal_ancestors(B) ** 2
    matrix = squared + torch.eye(len(B), dtype=B.dtype, device=B.device)
    rows = joint if joint.ndim == 2 else joint[None]
    solved: Tensor = torch.linalg.solve_triangular(matrix, rows, upper=True, unitriangular=True, left=False)
    return solved if joint.ndim == 2 else solved[0]


def lca_probabilities(A: Tensor, B: Tensor, i: Tensor, j: Tensor) -> Tensor:
    """p(z = v_i ^ v_j) of given pairs of leaves, one row per pair (Thm 5, 6); a leaf with itself: its parent.

    Examples
    --------
    >>> A = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> B = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    >>> lca_probabilities(A, B, torch.tensor([0]), torch.tensor([1]))
    tensor([[0.5000, 0.5000]])
    """
    P = leaf_ancestors(A, B)
    met = lca_from_joint(P[i] * P[j], B)
    return torch.where((i == j)[:, None], A[i], met)


def lca_by_recursion(A: Tensor, B: Tensor, i: int, j: int) -> Tensor:
    """p(z = v_i ^ v_j) of two different leaves by the recursion of Thm 4, one internal node after the other."""
    P, Pt = leaf_ancestors(A, B), internal_ancestors(B)
    found: list[Tensor] = []
    for k in range(len(B)):
        earlier = sum(
            (found[below] * Pt[below, k] ** 2 for below in range(k)), torch.zeros((), dtype=A.dtype)
        )
        found.append(P[i, k] * P[j, k] - earlier)
    return torch.stack(found)


def edge_lca_distribution(A: Tensor, B: Tensor, pairs: Tensor, loops: Tensor) -> Tensor:
    """p(z) over all edges at once, in O(m n') (App. A.10, re-associated).

    Parameters
    ----------
    pairs : sparse n x n, symmetric, zero diagonal
        P(v_i, v_j) for i != j.
    loops : n
        P(v_i, v_i): a self-loop meets at the leaf's parent.
    """
    P = leaf_ancestors(A, B)
    return lca_from_joint((P * (pairs @ P)).sum(0), B) + loops @ A


def node_lca_distribution(A: Tensor, B: Tensor, nodes: Tensor, exact: bool = True) -> Tensor:
    """q(z) of two leaves drawn independently with probabilities `nodes` (App. A.11), or its proxy."""
    P = leaf_ancestors(A, B)
    joint = (nodes @ P) ** 2
    if not exact:
        return lca_from_joint(joint, B)
    square = nodes**2
    return lca_from_joint(joint - square @ (P * P), B) + square @ A


def sample_tree(A: Tensor, B: Tensor, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
    """One-hot (A, B) of a sampled tree: every row picks its parent independently (Sec. 2.2)."""
    leaf_parent = torch.multinomial(A.detach(), 1, generator=generator)
    hard_A = torch.zeros_like(A).scatter_(1, leaf_parent, 1.0)
    hard_B = torch.zeros_like(B)
    if len(B) > 1:
        parent = torch.multinomial(B.detach()[:-1], 1, generator=generator)
        hard_B[:-1].scatter_(1, parent, 1.0)
    return hard_A, hard_B


def most_likely_tree(A: Tensor, B: Tensor) -> tuple[Tensor, Tensor]:
    """One-hot (A, B) of the tree with the largest probability: every row its largest entry."""
    hard_A = torch.zeros_like(A).scatter_(1, A.detach().argmax(1, keepdim=True), 1.0)
    hard_B = torch.zeros_like(B)
    if len(B) > 1:
        hard_B[:-1].scatter_(1, B.detach()[:-1].argmax(1, keepdim=True), 1.0)
    return hard_A, hard_B


def log_probability(A: Tensor, B: Tensor, leaf_parent: Tensor, parent: Tensor) -> Tensor:
    """Logarithm of the probability of a tree given by its parents (Eq. 10); the root's entry is ignored.

    Examples
    --------
    >>> A = torch.tensor([[1.0, 0.0], [0.5, 0.5]])
    >>> B = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    >>> log_probability(A, B, torch.tensor([0, 1]), torch.tensor([1, 1])).exp()
    tensor(0.5000)
    """
    leaves = torch.log(A.gather(1, leaf_parent[:, None])).sum()
    return leaves + torch.log(B[:-1].gather(1, parent[:-1, None])).sum()
