"""How large the pieces of distributed work are. Results depend on these sizes, never on the workers."""

from __future__ import annotations

import math
from dataclasses import dataclass

# Rows of a block are a multiple of this, so that matrix products have the same shapes whatever the caller's chunks.
ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class Limits:
    """Bounds that do not depend on the data.

    Parameters
    ----------
    part : int
        Rows of a part, about; up to this many rows are clustered as in memory, by one task.
    part_bytes : int
        Bytes of a part's rows and of its candidates for neighbors, about: parts of wide rows, and of rows that are
        candidates in many parts, are smaller. A task needs about three times as much.
    most_parts : int
        Most parts there can be: beyond that, parts grow with the data, and exchanges between them stay few.
    cells_per_part : int
        k-means cells that a part is made of, on average.
    places : int
        Cells in whose parts a row can be a candidate for neighbors: its own and those with the nearest centers.
    nearness : float
        A center counts as near up to this multiple of the squared distance to the nearest one.
    sample : int
        Rows drawn for the cells, for the choice of metric and scale, and to compare new points with.
    pieces : int
        Heavy points whose tree is searched on the coordinator, about.
    smallest_piece : int
        Rows that a heavy point stands for, at least where there are many rows.
    inner_pieces : int
        How many times larger a heavy point may be where none of its rows has a neighbor in another part.
    edges : int
        Edges of a part of a graph in shards, about; a graph of no more, and of no more nodes than `part`, is searched
        as in memory.

    Examples
    --------
    >>> from arbora.scale import LIMITS, Limits
    >>> LIMITS.part, Limits(part=5_000).part
    (100000, 5000)
    """

    part: int = 100_000
    part_bytes: int = 1 << 27
    most_parts: int = 512
    cells_per_part: int = 16
    places: int = 8
    nearness: float = 2.0
    sample: int = 100_000
    pieces: int = 65_536
    smallest_piece: int = 4
    inner_pieces: int = 16
    edges: int = 5_000_000


LIMITS = Limits()


@dataclass(frozen=True)
class Plan:
    """Sizes for one data set; see `Limits`."""

    n_rows: int
    part: int
    block: int
    n_cells: int
    n_sampled: int
    piece: int
    limits: Limits

    @classmethod
    def of(cls, n_rows: int, limits: Limits = LIMITS, *, total: float | None = None) -> Plan:
        """The sizes that suit a number of rows, which weigh `total` where they do not all count for one."""
        weight = n_rows if total is None else math.ceil(total)
        part = max(limits.part, -(-weight // limits.most_parts))
        n_cells = limits.cells_per_part * -(-weight // part)
        return cls(
            n_rows=n_rows,
            part=part,
            block=-(-part // ROWS_AT_ONCE) * ROWS_AT_ONCE,
            n_cells=n_cells,
            n_sampled=min(n_rows, max(limits.sample, 48 * n_cells)),
            piece=max(limits.smallest_piece, -(-n_rows // limits.pieces)),
            limits=limits,
        )

    @property
    def is_one_part(self) -> bool:
        """Whether all rows make one part."""
        return self.n_rows <= self.part

    def rows_of_part(self, bytes_per_row: float) -> float:
        """Rows of a part, about, where each brings this many bytes, its copies included."""
        least = self.n_rows / self.limits.most_parts
        return min(self.part, max(least, self.limits.part_bytes / bytes_per_row))
