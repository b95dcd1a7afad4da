"""Options that several commands share, each described once, and the groups in which they come."""

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
        "--label-column", help="Column of classes: kept out of the features, used for scores and colors."
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
DataBehind = Annotated[
    str | None,
    typer.Option("--data", "-d", help="The data behind the tree: costs, classes, columns, scatter."),
]
OtherTree = Annotated[str | None, typer.Option("--compare", help="Another tree over the same leaves.")]
Metric = Annotated[str, typer.Option("--metric", help="Of vectors: cosine or euclidean.")]
CheckpointFolder = Annotated[
    Path | None,
    typer.Option("--checkpoint", help="Folder that keeps a long fit's progress; run again to resume."),
]


def reading_text(format: Format = "auto", delimiter: Delimiter = None) -> None:
    """How a file of text is read."""


def reading_arrays(
    format: Format = "auto", delimiter: Delimiter = None, key: Key = None, obsm: Obsm = None
) -> None:
    """How a file of any kind is read."""


def reading(
    label_column: LabelColumn = None,
    name_column: NameColumn = None,
    format: Format = "auto",
    delimiter: Delimiter = None,
    key: Key = None,
    obsm: Obsm = None,
) -> None:
    """How data is read, and which columns are none of its features."""


def threading(threads: Threads = None) -> None:
    """How much of the machine is used."""


def running(seed: Seed = None, threads: Threads = None) -> None:
    """How a computation is repeated, and how much of the machine it uses."""


def talking(quiet: Quiet = False, as_json: Json = False, debug: Debug = False) -> None:
    """What is said."""
