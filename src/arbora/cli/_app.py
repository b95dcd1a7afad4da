"""The command ``arbora``: each command and its own options; what it does is in a module imported when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from arbora.baselines.registry import FIT_NAMES
from arbora.cli import _options as o
from arbora.cli import _tree_commands as _tree_commands
from arbora.cli._console import Console
from arbora.cli._exit import FAILED, INTERRUPTED, interrupts
from arbora.cli._register import app, command

METHODS = ("auto", *FIT_NAMES)


def main() -> None:
    """Entry point of the ``arbora`` command."""
    interrupts.install()
    try:
        app(prog_name="arbora")
    except SystemExit as end:
        if interrupts.was_pressed and end.code == FAILED:
            # an interrupt outside of what a command does, between reading its options and its end
            raise SystemExit(INTERRUPTED) from None
        raise


def _version(value: bool) -> None:
    if value:
        from arbora import __version__

        print(f"arbora {__version__}")
        raise typer.Exit()


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


Html = Annotated[Path | None, typer.Option("--html", help="Also write an explorable page.")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Parameter of the method, as name=value; may be repeated."
    ),
]


@command(o.reading, o.running)
def fit(
    data: o.DataFile,
    method: Annotated[
        str,
        typer.Option("--method", "-m", help=", ".join(METHODS) + ".", autocompletion=lambda: list(METHODS)),
    ] = "auto",
    out: o.OutFile = None,
    model: Annotated[
        Path | None,
        typer.Option("--model", help="Also write the fitted model, for arbora predict (method auto)."),
    ] = None,
    html: Html = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Also write a JSON report: data, method, scores, times.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", help="Also write a picture: .png, .pdf or .svg.")
    ] = None,
    metric: o.Metric = None,
    settings: Settings = None,
    refine: Annotated[
        bool, typer.Option("--refine", metavar="", help="Improve the tree by local search afterwards.")
    ] = False,
    checkpoint: o.CheckpointFolder = None,
    logits: Annotated[
        bool,
        typer.Option(
            "--logits", metavar="", help="The columns are a classifier's classes (for --method l2h)."
        ),
    ] = False,
    scanpy: Annotated[
        str | None,
        typer.Option(
            "--scanpy",
            help="For an h5ad: build a tree over the groups of this obs column, and write it for scanpy's plots.",
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            help="Leave the rows in their file: build the tree with this many local Dask worker processes.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler", metavar="ADDRESS", help="The same on your own Dask cluster: tcp://host:port."
        ),
    ] = None,
    *,
    reading: o.Reading,
    running: o.Running,
    console: Console,
) -> None:
    """Build a tree over the rows of a table or the nodes of a graph."""
    from arbora.cli.fit import FitTask, Outputs, run_fit

    outputs = Outputs(out, html, report, picture, model)
    task = FitTask(
        data, method, metric, settings or [], refine, logits, checkpoint, scanpy, workers, scheduler
    )
    run_fit(task, outputs, reading, running, console)


@command(o.reading, o.running)
def refine(
    tree: o.TreeFile,
    data: Annotated[
        str,
        typer.Option("--data", "-d", help="The data behind the tree, matched by name.", show_default=False),
    ],
    out: o.OutFile = None,
    objective: Annotated[
        str,
        typer.Option(
            "--objective", help="What to optimize: dasgupta (lower is better) or tsd (higher is better)."
        ),
    ] = "dasgupta",
    metric: o.Metric = None,
    max_sweeps: Annotated[
        int, typer.Option("--max-sweeps", min=1, help="Largest number of passes over the tree.")
    ] = 100,
    checkpoint: o.CheckpointFolder = None,
    *,
    reading: o.Reading,
    running: o.Running,
    console: Console,
) -> None:
    """Improve a tree by local search: move subtrees to better places until no move helps."""
    from arbora.cli.refine import RefineTask, run_refine

    task = RefineTask(tree, data, out, objective, metric, max_sweeps, checkpoint)
    run_refine(task, reading, running, console)


@command(o.reading, o.running)
def predict(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A model that fit --model wrote, or a tree together with --data."
        ),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="New points, with the same columns as the data.")],
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", "-k", min=1, help="Number of clusters; by default the model's."),
    ] = None,
    data: o.DataBehind = None,
    metric: o.Metric = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help=".csv, .tsv, .npy, .json or .parquet.")
    ] = None,
    *,
    reading: o.Reading,
    running: o.Running,
    console: Console,
) -> None:
    """Assign new points to the clusters of a tree, which stays as it is."""
    from arbora.cli.predict import PredictTask, run_predict

    run_predict(PredictTask(model, new, clusters, data, metric, out), reading, running, console)


@command(o.running)
def words(
    corpus: Annotated[
        list[Path],
        typer.Argument(metavar="CORPUS", help="Text files, plain or .gz, one document per line."),
    ],
    n_words: Annotated[int, typer.Option("--words", min=3, help="Size of the vocabulary.")] = 5000,
    dimension: Annotated[int, typer.Option("--dimension", min=1, help="Length of a word vector.")] = 50,
    n_internal: Annotated[int, typer.Option("--nodes", min=1, help="Internal nodes of the tree.")] = 511,
    max_epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes over the text.")] = 20,
    min_count: Annotated[int, typer.Option("--min-count", min=1, help="Fewest occurrences of a word.")] = 5,
    show: Annotated[int, typer.Option("--show", min=1, help="Branches of the tree to show.")] = 12,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The tree: .npz, .nwk, .json ...")] = None,
    vectors: Annotated[
        Path | None, typer.Option("--vectors", help="The word vectors as text, one word per line.")
    ] = None,
    wordnet: Annotated[
        Path | None, typer.Option("--wordnet", help="Noun hypernyms (.npz) to judge the clusters by.")
    ] = None,
    *,
    running: o.Running,
    console: Console,
) -> None:
    """Word vectors and a tree of the words, learned together from text files (gHHC with GloVe)."""
    from arbora.cli.words import WordsTask, run_words

    task = WordsTask(
        corpus, n_words, dimension, n_internal, max_epochs, min_count, show, out, vectors, wordnet
    )
    run_words(task, running, console)


@command(o.reading, o.running)
def report(
    data: Annotated[
        str,
        typer.Argument(
            metavar="LOGITS", help="A classifier's logits: an npz with logits, y and class_names, or a table."
        ),
    ],
    html: Html = None,
    taxonomy: Annotated[
        Path | None,
        typer.Option("--taxonomy", help="Known superclass of each class: JSON, or csv of class,superclass."),
    ] = None,
    settings: Settings = None,
    *,
    reading: o.Reading,
    running: o.Running,
    console: Console,
) -> None:
    """Report on a classifier: which classes it confuses, its calibration, and the tree of its classes."""
    from arbora.cli.report import run_report

    run_report(data, html, taxonomy, settings or [], reading, running, console)


@command(o.threading)
def demo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path(
        "demo-output"
    ),
    *,
    running: o.Running,
    console: Console,
) -> None:
    """Cluster handwritten digits, compare with Ward and average linkage, and write an explorable page."""
    from arbora.cli.demo import run_demo

    run_demo(folder, running, console)


@command(o.threading)
def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="[PAPER", help="hyphc, ghhc, fph, l2h or arbora; all if omitted.", show_default=False
        ),
    ] = None,
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]]", help="One of its tables, as named by --list.", show_default=False),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", metavar="", help="Short training, two seeds: to see that it runs.")
    ] = False,
    methods: Annotated[
        list[str] | None,
        typer.Option("--methods", help="A method's name, or part of one; may be repeated."),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option("--datasets", help="A data set's name, or part of one; may be repeated."),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="Number of seeds; by default the table's.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for a JSON file per result, and pictures.")
    ] = Path("reproduced"),
    again: Annotated[bool, typer.Option("--again", metavar="", help="Also rerun finished results.")] = False,
    shows_list: Annotated[
        bool, typer.Option("--list", metavar="", help="List the tables, and run nothing.")
    ] = False,
    *,
    running: o.Running,
    console: Console,
) -> None:
    """Reproduce the papers' tables: their figures beside ours, with CPU seconds, memory and a verdict."""
    from arbora.cli.reproduce import ReproduceTask, run_reproduce
    from arbora.reproduce.runner import Choice

    choice = Choice(tuple(methods or ()), tuple(datasets or ()), seeds, quick)
    run_reproduce(ReproduceTask(paper, table, choice, out, again, shows_list), running, console)


@command()
def compile(*, console: Console) -> None:
    """Compile everything ahead of time, so that no later command waits for it: for container images and CI."""
    from arbora.cli.compile import run_compile

    run_compile(console)
