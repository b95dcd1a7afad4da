"""Genes of cells: what was measured behind the vectors that were clustered, to color cells by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

# Columns that a page can offer to color by.
_MOST_GENES = 200


@dataclass(frozen=True, eq=False)
class Genes:
    """Expression of genes in cells.

    Attributes
    ----------
    values : ndarray or sparse matrix, shape (n_cells, n_genes)
        As the cells hold it: normalized and on a logarithmic scale, as a rule.
    names : list of str
        One per gene.
    source : str
        Where it was found: "raw.X", "X" or a layer.
    chosen : tuple of str
        Genes that were asked for, which are columns of the metadata.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.reading import Genes
    >>> genes = Genes(np.array([[0.0, 2.0], [1.0, 0.0]]), ["CD3D", "LYZ"], "X")
    >>> genes.matching(["L*"]), genes.columns(["LYZ"])
    (['LYZ'], {'LYZ': array([2., 0.])})
    """

    values: Any
    names: list[str]
    source: str
    chosen: tuple[str, ...] = ()

    def columns(self, names: Iterable[str]) -> dict[str, NDArray[np.float64]]:
        """Expression of some genes, by name: columns of metadata."""
        place = {name: k for k, name in reversed(list(enumerate(self.names)))}
        return {name: self._column(place[name]) for name in names}

    def matching(self, patterns: Iterable[str]) -> list[str]:
        """Genes of these names; ``*`` stands for anything. A pattern without any is refused."""
        found: dict[str, None] = {}
        for pattern in patterns:
            hits = [pattern] if pattern in self.names else [n for n in self.names if fnmatchcase(n, pattern)]
            if not hits:
                near = [n for n in self.names if n.lower() == pattern.lower()]
                hint = f" Did you mean {near[0]!r}?" if near else f" It has {', '.join(self.names[:5])}, ..."
                raise ValueError(f"{self.source} has no gene {pattern!r} (genes=).{hint}")
            found.update(dict.fromkeys(hits))
        if len(found) > _MOST_GENES:
            raise ValueError(
                f"genes= matches {len(found):,} genes; a page offers {_MOST_GENES} at most. Name fewer."
            )
        return list(found)

    def subset(self, rows: Sequence[int] | NDArray[np.int64]) -> Genes:
        """The same for some of the cells."""
        return replace(self, values=self.values[np.asarray(rows)])

    def _column(self, place: int) -> NDArray[np.float64]:
        column = self.values[:, [place]]
        dense = column.toarray() if sp.issparse(column) else np.asarray(column)
        return np.asarray(dense, dtype=np.float64).ravel()


def genes_of(cells: Any, layer: str | None = None) -> Genes | None:
    """Genes of an AnnData object: those of the layer that is used, else of raw, else of X; None without any."""
    if layer is not None:
        return Genes(_sliceable(cells.layers[layer]), _names(cells.var_names), f"layers[{layer!r}]")
    if cells.raw is not None:
        return Genes(_sliceable(cells.raw.X), _names(cells.raw.var_names), "raw.X")
    if cells.X is None or cells.n_vars == 0:
        return None
    return Genes(_sliceable(cells.X), _names(cells.var_names), "X")


def _names(names: Iterable[Any]) -> list[str]:
    return [str(name) for name in names]


def _sliceable(values: Any) -> Any:
    """The matrix in a form whose rows and columns can be taken."""
    return values if not sp.issparse(values) or values.format in ("csr", "csc") else values.tocsr()
