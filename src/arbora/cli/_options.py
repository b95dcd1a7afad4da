"""Options that several commands share, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

FORMATS = (
    "auto", "npy", "npz", "csv", "tsv", "parquet", "h5ad", "edges", "graphml", "mtx", "linkage", "newick",
)  # fmt: skip
DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="npy, npz, csv, tsv, parquet, h5ad, edge list, GraphML, MatrixMarket; - for standard input.",
        show_default=False,
    ),
]
TreeFile = Annotated[
    str,
    typer.Argument(
        metavar="TREE",
        help="A tree: arbora's npz, Newick, or a linkage matrix (npy, csv); - for standard input.",
        show_default=False,
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help="auto, npy, npz, csv, tsv, parquet, h5ad, edges, graphml, mtx, linkage or newick.",
        autocompletion=lambda: list(FORMATS),
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label-column", help="Column of classes: kept out of the features, used for scores and colours."
    ),
]
NameColumn = Annotated[str | None, typer.Option("--name-column", help="Column of names: the leaves' labels.")]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="Of a text table; found by itself otherwise.")
]
Key = Annotated[str | None, typer.Option("--key", help="Array to use of an npz with several.")]
Obsm = Annotated[str | None, typer.Option("--obsm", help="Of an h5ad: this obsm entry, or X.")]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="For the same result again.")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="At most so many; all cores otherwise.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Results as one JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="With an error, also the trace.")]
OutFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Where the tree goes: .npz, .nwk, or a linkage matrix as .npy, .csv; - for Newick.",
    ),
]
