"""The commands that take a tree: their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbora.cli import _options as o
from arbora.cli._console import Console
from arbora.cli._register import command

TableFile = Annotated[
    Path | None,
    typer.Option(
        "--out", "-o", help=".csv, .tsv, .npy, .json, .parquet or .h5ad; by default standard output."
    ),
]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        "--clusters",
        "-k",
        metavar="NUMBERS",
        help="Number of clusters, several levels as in 3,5,10, or auto.",
    ),
]


@command(o.reading, o.threading)
def score(
    tree: o.TreeFile,
    data: o.DataBehind = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", help="Only the classes, in the order of the leaves: one per line, or an npy."
        ),
    ] = None,
    compare: o.OtherTree = None,
    metric: o.Metric = None,
    all_pairs: Annotated[
        bool,
        typer.Option(
            "--all-pairs",
            metavar="",
            help="Costs over all pairs of cosines, as in papers, not over nearest neighbors.",
        ),
    ] = False,
    *,
    reading: o.Reading,
    running: o.Running,
    console: Console,
) -> None:
    """Measure a tree: cost on its data, agreement with classes, distance from another tree."""
    from arbora.cli.score import ScoreTask, run_score

    run_score(ScoreTask(tree, data, labels, compare, metric, all_pairs), reading, running, console)


@command(o.reading)
def show(
    tree: o.TreeFile,
    data: o.DataBehind = None,
    compare: o.OtherTree = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Write the page to a file instead of serving it.")
    ] = None,
    view: Annotated[
        str, typer.Option("--view", help="circular, dendrogram, icicle, treemap or disk.")
    ] = "circular",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1; 0 picks a free one.")
    ] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", metavar="", help="Open a browser.")
    ] = True,
    edit: Annotated[
        bool,
        typer.Option(
            "--edit",
            metavar="",
            help="Let the page change the tree, and save it to TREE (with --html: as a download).",
        ),
    ] = False,
    *,
    reading: o.Reading,
    console: Console,
) -> None:
    """Open the explorer page of a tree (until Ctrl-C), or write it to a file."""
    from arbora.cli.show import ShowTask, run_show

    run_show(ShowTask(tree, data, compare, html, view, port, browser, edit), reading, console)


@command(o.reading)
def plot(
    tree: o.TreeFile,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Picture: .png, .pdf or .svg.", show_default=False)
    ],
    view: Annotated[str, typer.Option("--view", help="dendrogram, circular, disk or icicle.")] = "dendrogram",
    data: o.DataBehind = None,
    clusters: Annotated[
        int | None, typer.Option("--clusters", "-k", min=1, help="Color the clusters of a cut.")
    ] = None,
    strips: Annotated[
        str | None,
        typer.Option("--strips", help="Columns of the data to draw as color strips, as in 'age,town'."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the picture.")] = None,
    scale_by: Annotated[
        str, typer.Option("--lengths", help="Lengths of branches: auto, height, depth or size.")
    ] = "auto",
    orientation: Annotated[
        str,
        typer.Option("--orientation", help="Where the root of a dendrogram or icicle is: left or top."),
    ] = "left",
    size: Annotated[str | None, typer.Option("--size", help="Width and height in inches, as in 8x6.")] = None,
    support: Annotated[bool, typer.Option("--support", metavar="", help="Write support values.")] = False,
    max_leaves: Annotated[
        int, typer.Option("--max-leaves", min=2, help="Number of leaves above which the tree is truncated.")
    ] = 600,
    dpi: Annotated[int, typer.Option("--dpi", min=30, max=1200, help="Dots per inch of a .png.")] = 200,
    *,
    reading: o.Reading,
    console: Console,
) -> None:
    """Draw a tree for a paper."""
    from arbora.cli.plot import PlotTask, run_plot

    task = PlotTask(
        tree, out, view, data, clusters, strips, title, scale_by, orientation, size, support, max_leaves, dpi
    )
    run_plot(task, reading, console)


@command(o.reading_tree)
def convert(
    tree: o.TreeFile,
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help=".npz, .nwk, .npy or .csv (linkage matrix), .graphml, .json, .txt, .nex, .xml, "
            ".R (hclust), a folder for iTOL (a name that ends in /); "
            "- for standard output.",
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="auto (by the name), npz, newick, linkage, graphml, itol, json, d3, text, nexus, phyloxml or hclust.",
        ),
    ] = "auto",
    *,
    reading: o.ReadingTree,
    console: Console,
) -> None:
    """Write a tree in another format."""
    from arbora.cli.convert import run_convert

    run_convert(tree, out, to, reading, console)


@command(o.reading_tree)
def cut(
    tree: o.TreeFile,
    clusters: Levels = None,
    height: Annotated[
        float | None, typer.Option("--height", help="Clusters that join below this height.")
    ] = None,
    max_size: Annotated[
        int | None, typer.Option("--max-size", min=1, help="Largest size that a cluster may have.")
    ] = None,
    min_size: Annotated[
        str | None,
        typer.Option(
            "--min-size",
            metavar="NUMBER|auto",
            help="Fewest leaves of a cluster; with -k smaller branches stay with a nearby one. By default, with -k, "
            "auto: a twenty-fifth of the mean size; 1 cuts as SciPy does.",
        ),
    ] = None,
    by: Annotated[
        str,
        typer.Option("--by", help="What the cut into -k clusters optimizes: height, density or balance."),
    ] = "height",
    out: TableFile = None,
    into: Annotated[
        str | None,
        typer.Option(
            "--into", help="h5ad whose cells get the clusters as obs columns; --out is the new file."
        ),
    ] = None,
    *,
    reading: o.ReadingTree,
    console: Console,
) -> None:
    """Flat clusters of a tree, by exactly one criterion; several levels at once with -k 3,5,10."""
    from arbora.cli.cut import CutTask, run_cut

    levels = ",".join(clusters) if clusters else None
    run_cut(CutTask(tree, levels, height, max_size, min_size, by, out, into), reading, console)


@command(o.reading_tree)
def taxonomy(
    tree: o.TreeFile,
    clusters: Annotated[
        str,
        typer.Option(
            "--clusters", "-k", help="Number of groups on each level, as in 5,20,80.", show_default=False
        ),
    ],
    min_size: Annotated[
        int | None,
        typer.Option(
            "--min-size",
            min=1,
            help="Smaller branches stay with the nearest group; by default as in arbora cut.",
        ),
    ] = None,
    by: Annotated[
        str, typer.Option("--by", help="What the levels optimize: height, density or balance.")
    ] = "height",
    out: o.OutFile = None,
    *,
    reading: o.ReadingTree,
    console: Console,
) -> None:
    """Reduce a tree to a few levels with the numbers of groups you ask for."""
    from arbora.cli.taxonomy import run_taxonomy

    run_taxonomy(tree, clusters, min_size, by, out, reading, console)


@command()
def consensus(
    trees: Annotated[
        list[str],
        typer.Argument(
            metavar="TREES...",
            help="Files of trees over the same leaves: Newick, Nexus and phyloXML may hold several each.",
            show_default=False,
        ),
    ],
    min_share: Annotated[
        float,
        typer.Option(
            "--min-share", help="Keep clades in more than this share of the trees; 1: in all of them."
        ),
    ] = 0.5,
    out: o.OutFile = None,
    *,
    console: Console,
) -> None:
    """The clades that most of several trees have, with the share of trees that have each."""
    from arbora.cli.consensus import run_consensus

    run_consensus(trees, min_share, out, console)


@command(o.reading)
def info(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="A tree or data file; without one, this installation."),
    ] = None,
    *,
    reading: o.Reading,
    console: Console,
) -> None:
    """Describe what a file holds, or what this installation can do."""
    from arbora.cli.info import run_info

    run_info(source, reading, console)
