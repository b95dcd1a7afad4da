"""All tables, by paper and name."""

from __future__ import annotations

from functools import cache

from arbora.reproduce.table import Table

PAPERS = {
    "hyphc": "Chami et al. 2020, From trees to continuous embeddings and back",
    "ghhc": "Monath et al. 2019, Gradient-based hierarchical clustering using continuous representations of trees",
    "fph": "Zügner et al. 2022, End-to-end learning of probabilistic hierarchies on graphs",
    "l2h": "Palumbo et al. 2025, From logits to hierarchies",
    "arbora": "What ships with scikit-learn, and synthetic data: no paper, no file needed",
}


@cache
def all_tables() -> tuple[Table, ...]:
    """Every table, paper by paper."""
    from arbora.reproduce.tables import (
        fph,
        fph_figures,
        fph_known,
        fph_order,
        ghhc,
        hyphc,
        hyphc_experiments,
        l2h,
        l2h_ablations,
        l2h_classes,
        scikit,
    )

    modules = (
        hyphc, hyphc_experiments, ghhc, fph, fph_known, fph_figures, fph_order, l2h, l2h_ablations, l2h_classes, scikit,
    )  # fmt: skip
    return tuple(table for module in modules for table in module.TABLES)


def find(key: str) -> Table:
    """The table that ``paper/name`` names.

    Examples
    --------
    >>> from arbora.reproduce.tables import find
    >>> find("ghhc/2").title
    'Explained variance on the school data'
    """
    for table in all_tables():
        if table.key == key:
            return table
    raise ValueError(f"There is no table {key!r}. There are {', '.join(t.key for t in all_tables())}.")
