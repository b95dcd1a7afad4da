"""Options that several commands share, each described once, and the records that groups of them become."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from arbora.cli._console import Console
from arbora.cli._exit import WrongOption

FORMATS = (
    "auto", "npy", "npz", "csv", "tsv", "json", "jsonl", "parquet", "arrow", "xlsx", "h5ad", "edges", "adjacency",
    "graphml", "gml", "gexf", "pajek", "mtx", "phylip", "linkage", "newick", "nexus",
    "phyloxml",
)  # fmt: skip
# Groups of options in the help.
READING, RUNNING, PRINTING = "How data is read", "How it runs", "What is printed"

DataFile = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Table (csv, tsv, json, jsonl, parquet, arrow, xlsx), array (npy, npz), cells (h5ad) or graph (edge list, "
        "GraphML, GML, GEXF, Pajek, MatrixMarket); also packed; - for standard input.",
        show_default=False,
    ),
]
TreeFile = Annotated[
    str,
    typer.Argument(
        metavar="TREE",
        help="A tree: arbora's npz, Newick, GraphML, or a linkage matrix (npy, csv); - for standard input.",
        show_default=False,
    ),
]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        help=f"Format of the file, if it cannot be detected: {', '.join(FORMATS)}.",
        autocompletion=lambda: list(FORMATS),
        rich_help_panel=READING,
    ),
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features", help="Columns to cluster by, as in 'e*' or 'width,height'.", rich_help_panel=READING
    ),
]
Drop = Annotated[
    str | None,
    typer.Option("--drop", help="Columns to leave out, as in 'year,*_id'.", rich_help_panel=READING),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label-column",
        help="Column of known classes: never a feature, used for scores and colors.",
        rich_help_panel=READING,
    ),
]
NameColumn = Annotated[
    str | None,
    typer.Option("--name-column", help="Column of names: the labels of the leaves.", rich_help_panel=READING),
]
TextColumn = Annotated[
    str | None,
    typer.Option("--text-column", help="Column of texts, shown in the explorer.", rich_help_panel=READING),
]
EmbeddingColumn = Annotated[
    str | None,
    typer.Option(
        "--embedding-column", help="Column of vectors, if there are several.", rich_help_panel=READING
    ),
]
Metadata = Annotated[
    str | None,
    typer.Option(
        "--metadata",
        metavar="FILE",
        help="Table of more columns, matched by name or by row.",
        rich_help_panel=READING,
    ),
]
Scale = Annotated[
    str,
    typer.Option(
        "--scale",
        help="auto (whatever suits the columns), standard (mean and deviation), robust (median and quartiles), "
        "rank, components (principal components that stand out of noise) or none.",
        rich_help_panel=READING,
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        help="What a square matrix holds: distances, similarities, vectors or graph.",
        rich_help_panel=READING,
    ),
]
Directed = Annotated[
    str | None,
    typer.Option(
        "--directed",
        help="How to combine the two directions of an edge: sum, max or mean.",
        rich_help_panel=READING,
    ),
]
Use = Annotated[
    str | None,
    typer.Option(
        "--use",
        help="Array of an npz, sheet of an xlsx, or of an h5ad: X, obsm:NAME, obsp:NAME, layers:NAME.",
        rich_help_panel=READING,
    ),
]
Genes = Annotated[
    str | None,
    typer.Option(
        "--genes",
        help="Genes of an h5ad to color by, as in 'CD3D,HLA-*'; by default those most telling of the largest splits.",
        rich_help_panel=READING,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter", help="Delimiter of a text table, if it cannot be detected.", rich_help_panel=READING
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option("--decimal", help="Decimal mark of a text table: . or ,", rich_help_panel=READING),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        metavar="",
        help="Whether a text table has a header, if it cannot be detected.",
        rich_help_panel=READING,
    ),
]
Seed = Annotated[
    str,
    typer.Option(
        "--seed",
        help="Whole number; the same command gives the same tree. 'random' gives another one each time.",
        rich_help_panel=RUNNING,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", min=1, help="Largest number of threads; by default all cores.", rich_help_panel=RUNNING
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=PRINTING, metavar=""),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print results, and errors, as one JSON object.", rich_help_panel=PRINTING, metavar=""
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug", help="Print the trace of an error as well.", rich_help_panel=PRINTING, metavar=""
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "-o",
        help="Where to write the tree: .npz, .nwk, .graphml, or a linkage matrix as .npy, .csv; - for Newick.",
    ),
]
DataBehind = Annotated[
    str | None,
    typer.Option(
        "--data", "-d", help="The data behind the tree, matched by name: costs, classes, columns, scatter."
    ),
]
OtherTree = Annotated[
    str | None, typer.Option("--compare", help="Another tree over the same leaves, matched by name.")
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric", help="How vectors are compared; each method has its own default, which is printed."
    ),
]
CheckpointFolder = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint", help="Folder for the progress of a long fit; run the same command again to resume."
    ),
]


@dataclass(frozen=True)
class Reading:
    """How data is read, as given on the command line."""

    features: str | None
    drop: str | None
    label_column: str | None
    name_column: str | None
    text_column: str | None
    embedding_column: str | None
    metadata: str | None
    scale: str
    kind: str | None
    directed: str | None
    use: str | None
    genes: str | None
    format: str
    delimiter: str | None
    decimal: str | None
    header: bool | None


@dataclass(frozen=True)
class ReadingTree:
    """How a tree is read, as given on the command line."""

    format: str = "auto"
    delimiter: str | None = None
    use: str | None = None


@dataclass(frozen=True)
class Running:
    """Seed (None for another each time) and number of threads (None for all cores)."""

    seed: int | None = 0
    threads: int | None = None


def reading(
    features: Features = None,
    drop: Drop = None,
    label_column: LabelColumn = None,
    name_column: NameColumn = None,
    text_column: TextColumn = None,
    embedding_column: EmbeddingColumn = None,
    metadata: Metadata = None,
    scale: Scale = "auto",
    kind: Kind = None,
    directed: Directed = None,
    use: Use = None,
    genes: Genes = None,
    format: Format = "auto",
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    header: Header = None,
) -> Reading:
    """How data is read, and which columns have which role."""
    return Reading(
        features, drop, label_column, name_column, text_column, embedding_column, metadata, scale, kind, directed, use,
        genes, format, delimiter, decimal, header,
    )  # fmt: skip


def reading_tree(format: Format = "auto", delimiter: Delimiter = None) -> ReadingTree:
    """How the file of a tree is read."""
    return ReadingTree(format, delimiter)


def threading(threads: Threads = None) -> Running:
    """How much of the machine is used."""
    return Running(0, threads)


def running(seed: Seed = "0", threads: Threads = None) -> Running:
    """How a computation is repeated, and how much of the machine it uses."""
    if seed == "random":
        return Running(None, threads)
    if not seed.isdecimal() or int(seed) >= 2**32:
        raise WrongOption(f"--seed must be a whole number below 4294967296, or random. Got {seed!r}.")
    return Running(int(seed), threads)


def console(quiet: Quiet = False, as_json: Json = False) -> Console:
    """What is printed."""
    return Console(quiet, as_json)
