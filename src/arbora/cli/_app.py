"""The commands and their options; what they do is in the modules beside, imported when a command runs."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from arbora.cli import _options as o
from arbora.cli._exit import MEANINGS, one_line_errors

_CODES = "  ".join(f"{code}: {meaning}." for code, meaning in MEANINGS.items())
METHODS = (
    "auto", "hyphc", "ghhc", "fph", "l2h", "average", "ward", "complete", "single", "weighted", "centroid",
    "median", "bisecting-kmeans", "hierarchical-kmeans",
)  # fmt: skip

app = typer.Typer(
    name="arbora",
    help="Hierarchical clustering you can optimize, measure and explore.",
    epilog=f"Exit codes: {_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Entry point of the ``arbora`` command."""
    app(prog_name="arbora")


def command(*groups: Callable[..., None]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command that takes the options of these groups besides its own, passed on by name.

    Every command also takes those of `o.talking`, and turns errors into one line.
    """

    def register(action: Callable[..., None]) -> Callable[..., None]:
        def run(debug: bool, **given: Any) -> None:
            with one_line_errors(debug):
                action(**given)

        own = inspect.signature(action, eval_str=True).parameters.values()
        parameters = [p for p in own if p.kind is not inspect.Parameter.VAR_KEYWORD]
        for group in (*groups, o.talking):
            parameters += inspect.signature(group, eval_str=True).parameters.values()
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        app.command(name=action.__name__, help=inspect.getdoc(action))(run)
        return action

    return register


def _version(value: bool) -> None:
    if value:
        from arbora import __version__

        print(f"arbora {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and leave.")
    ] = False,
) -> None:
    pass


@command(o.reading, o.running)
def fit(
    data: o.DataFile,
    method: Annotated[
        str,
        typer.Option("--method", "-m", help=", ".join(METHODS) + ".", autocompletion=lambda: list(METHODS)),
    ] = "auto",
    out: o.OutFile = None,
    html: Annotated[
        Path | None, typer.Option("--html", help="Also an explorable page (up to 50,000 leaves).")
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Also a JSON report: data, method, scores, times.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Also a picture: .png, .pdf or .svg.")
    ] = None,
    metric: o.Metric = "cosine",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Parameter of the method, as name=value; may be repeated."),
    ] = None,
    refine: Annotated[
        bool, typer.Option("--refine", help="Improve the tree by local search afterwards.")
    ] = False,
    checkpoint: o.CheckpointFolder = None,
    scanpy: Annotated[
        str | None,
        typer.Option(
            "--scanpy", help="Of an h5ad: a tree over the groups of this obs column, for scanpy's plots."
        ),
    ] = None,
    **shared: Any,
) -> None:
    """Build a tree over the rows of a table or the nodes of a graph."""
    from arbora.cli.fit import run_fit

    run_fit(
        source=data, method=method, out=out, html=html, report=report, picture=picture, metric=metric,
        settings=settings or [], refine=refine, checkpoint=checkpoint, scanpy=scanpy, **shared,
    )  # fmt: skip


@command(o.reading, o.running)
def refine(
    tree: o.TreeFile,
    data: Annotated[str, typer.Option("--data", "-d", help="The data behind the tree.", show_default=False)],
    out: o.OutFile = None,
    objective: Annotated[str, typer.Option("--objective", help="What to lower, e.g. dasgupta.")] = "dasgupta",
    metric: o.Metric = "cosine",
    max_sweeps: Annotated[int, typer.Option("--max-sweeps", min=1, help="At most so many passes.")] = 20,
    checkpoint: o.CheckpointFolder = None,
    **shared: Any,
) -> None:
    """Improve a tree by local search: prune and regraft until nothing moves."""
    from arbora.cli.refine import run_refine

    run_refine(
        tree_source=tree, source=data, out=out, objective=objective, metric=metric, max_sweeps=max_sweeps,
        checkpoint=checkpoint, **shared,
    )  # fmt: skip


@command(o.reading, o.threading)
def score(
    tree: o.TreeFile,
    data: o.DataBehind = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Classes alone: one a line, or an npy.")
    ] = None,
    compare: o.OtherTree = None,
    metric: o.Metric = "cosine",
    **shared: Any,
) -> None:
    """Measure a tree: cost on its data, agreement with classes, distance from another tree."""
    from arbora.cli.score import run_score

    run_score(tree_source=tree, source=data, labels_file=labels, compare=compare, metric=metric, **shared)


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
        int, typer.Option("--port", min=0, max=65535, help="On 127.0.0.1; 0 picks a free one.")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it.")] = True,
    edit: Annotated[
        bool, typer.Option("--edit", help="Let the page rename, merge and move nodes, and save them to TREE.")
    ] = False,
    **shared: Any,
) -> None:
    """Open the explorer page of a tree (until Ctrl-C), or write it to a file."""
    from arbora.cli.show import run_show

    run_show(
        tree_source=tree, source=data, compare=compare, html=html, view=view, port=port, browser=browser,
        edit=edit, **shared,
    )  # fmt: skip


@command(o.reading)
def plot(
    tree: o.TreeFile,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Picture: .png, .pdf or .svg.", show_default=False)
    ],
    kind: Annotated[str, typer.Option("--kind", help="dendrogram, circular, disk or icicle.")] = "dendrogram",
    data: o.DataBehind = None,
    clusters: Annotated[
        int | None, typer.Option("--clusters", "-k", min=1, help="Color the clusters of a cut.")
    ] = None,
    support: Annotated[bool, typer.Option("--support", help="Write support values.")] = False,
    max_leaves: Annotated[int, typer.Option("--max-leaves", min=2, help="Larger trees are truncated.")] = 600,
    dpi: Annotated[int, typer.Option("--dpi", min=30, max=1200)] = 200,
    **shared: Any,
) -> None:
    """Draw a tree for a paper."""
    from arbora.cli.plot import run_plot

    run_plot(
        tree_source=tree, out=out, kind=kind, source=data, clusters=clusters, support=support,
        max_leaves=max_leaves, dpi=dpi, **shared,
    )  # fmt: skip


@command(o.reading_text)
def convert(
    tree: o.TreeFile,
    out: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help=".npz, .nwk, .npy or .csv (linkage matrix), .graphml, a folder for iTOL; - is Newick.",
        ),
    ],
    to: Annotated[
        str, typer.Option("--to", help="auto (by the name), npz, newick, linkage, graphml or itol.")
    ] = "auto",
    **shared: Any,
) -> None:
    """Write a tree in another format."""
    from arbora.cli.convert import run_convert

    run_convert(tree_source=tree, out=out, to=to, **shared)


@command(o.reading_text)
def cut(
    tree: o.TreeFile,
    clusters: Annotated[
        int | None, typer.Option("--clusters", "-k", min=1, help="Exactly so many clusters.")
    ] = None,
    height: Annotated[
        float | None, typer.Option("--height", help="Clusters that join below this height.")
    ] = None,
    max_size: Annotated[int | None, typer.Option("--max-size", min=1, help="No cluster larger.")] = None,
    min_size: Annotated[int | None, typer.Option("--min-size", min=1, help="No cluster smaller.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help=".csv, .tsv or .npy; standard output otherwise.")
    ] = None,
    **shared: Any,
) -> None:
    """Flat clusters of a tree, by exactly one criterion."""
    from arbora.cli.cut import run_cut

    run_cut(
        tree_source=tree, clusters=clusters, height=height, max_size=max_size, min_size=min_size, out=out,
        **shared,
    )  # fmt: skip


@command(o.reading_arrays)
def info(
    source: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", help="A tree or data file; without one, this installation."),
    ] = None,
    **shared: Any,
) -> None:
    """What a file holds, or what this installation can do."""
    from arbora.cli.info import run_info

    run_info(source=source, **shared)


@command(o.threading)
def demo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path(
        "demo-output"
    ),
    seed: o.Seed = 0,
    **shared: Any,
) -> None:
    """Cluster handwritten digits, compare with Ward and average linkage, and write an explorable page."""
    from arbora.cli.demo import run_demo

    run_demo(folder=folder, seed=seed, **shared)
