"""One run of a command: data that was read, how vectors are compared, seed and threads, in one record."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbora._base.checkpoint import Checkpoint, identity_of
from arbora._base.threads import count_threads
from arbora.cli._console import Console
from arbora.cli._exit import Unwritable, WrongOption, as_options, check_option
from arbora.cli._options import Reading, ReadingTree, Running
from arbora.reading import Dataset, ReadOptions, read_data, read_tree
from arbora.reading.checks import ruling_columns, warnings_of
from arbora.similarity.scaling import SCALES
from arbora.tree import Tree

if TYPE_CHECKING:
    from arbora.search.cluster import Settled

# Metrics of the graph of nearest neighbors, on which costs are measured and trees refined; "auto" picks what suits.
GRAPH_METRICS = ("auto", "cosine", "euclidean")


@dataclass(frozen=True)
class Comparing:
    """How vectors become the graph of nearest neighbors on which trees are measured and refined."""

    metric: str = "auto"
    scale: str = "auto"

    @classmethod
    def asked(cls, metric: str | None, scale: str) -> Comparing:
        """By the options of the command line; a metric that graphs do not have concerns the method alone."""
        check_option("--scale", scale, SCALES)
        return cls(metric if metric in GRAPH_METRICS else "auto", scale)

    @classmethod
    def of_scaled(cls, metric: str | None) -> Comparing:
        """For vectors that are already scaled: their direction no longer means anything."""
        return cls(metric if metric in GRAPH_METRICS else "euclidean", "none")


@dataclass
class Run:
    """Everything that decides a tree, and where its progress is reported and saved."""

    data: Dataset
    method: str
    metric: str | None
    running: Running
    console: Console
    settings: dict[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    comparing: Comparing = Comparing()
    # How vectors were compared in the end, once that is known; words, and why it was chosen.
    compared_by: str | None = None
    reason: str | None = None

    @property
    def seed(self) -> int | None:
        """Seed of random choices."""
        return self.running.seed

    def open_checkpoint(self, **options: Any) -> None:
        """Claim the folder for this run; one that belongs to other data, options or another seed is refused."""
        if self.folder is None:
            return
        identity = identity_of(
            values=self.data.values, kind=self.data.kind, method=self.method, metric=self.metric,
            comparing=repr(self.comparing),
            settings={name: repr(value) for name, value in self.settings.items()}, **options,
        )  # fmt: skip
        try:
            kept = Checkpoint(self.folder, method="arbora", identity=identity, random_state=self.running.seed)
        except OSError as error:
            raise Unwritable(
                f"{self.folder} cannot be used for a checkpoint: {error.strerror or error}."
            ) from error
        if self.running.seed is None:
            # the seed drawn at the first run serves all that resume it
            self.running = Running(kept.seed, self.running.threads)

    def note_comparison(self, metric: str, scale: str, reason: str | None = None) -> None:
        """Remember how vectors were compared."""
        self.compared_by = metric if scale == "none" else f"{metric}, scale {scale}"
        self.reason = reason or self.reason
        if scale == "none":
            for warning in warnings_of(self.data, scale):
                if warning not in self.data.warnings:
                    self.console.note(f"warning: {self.data.source}: {warning}")
            return
        ruling = ruling_columns(self.data)
        if ruling is not None:
            self.console.note(
                f"{self.data.source}: {ruling}; scaled, every column counts the same. --drop leaves columns out, "
                "--features chooses them"
            )

    def inner_folder(self, name: str) -> str | None:
        """Folder in which a method that can resume saves its own progress."""
        return None if self.folder is None else str(self.folder / name)

    def saved_tree(self, stage: str) -> Tree | None:
        """The tree of a stage that an earlier run finished."""
        path = None if self.folder is None else self.folder / f"{stage}.npz"
        return Tree.load(path) if path is not None and path.exists() else None

    def save_tree(self, stage: str, tree: Tree) -> None:
        """Save the tree of a finished stage."""
        if self.folder is not None:
            tree.save(self.folder / f"{stage}.npz")


def options_of(reading: Reading) -> ReadOptions:
    """Options of `arbora.read`; a wrong one is an error of usage."""
    try:
        return ReadOptions.checked(**asdict(reading))
    except (ValueError, TypeError) as error:
        text = str(error)
        raise WrongOption(f"--{text.split(' ', 1)[0].replace('_', '-')} {text.split(' ', 1)[1]}") from error


def read_dataset(source: str, reading: Reading, console: Console, *, only_shown: bool = False) -> Dataset:
    """The data; prints how it was interpreted, and warns about what is doubtful.

    Missing values are refused, unless the data is only shown.
    """
    with console.stage("read"):
        data = read_data(source, options_of(reading))
    if not only_shown:
        data.check_usable()
    describe(data, console)
    return data


def describe(data: Dataset, console: Console) -> None:
    """Print how the columns were interpreted."""
    lines = as_options(str(data)).splitlines()
    n_warnings = len(data.warnings)
    console.say("\n".join(lines[: len(lines) - n_warnings]))
    for warning in data.warnings:
        console.note(f"warning: {data.source}: {as_options(warning)}")


def read_tree_file(source: str, reading: Reading | ReadingTree, *, own_format: bool = False) -> Tree:
    """A tree; the options of a command that also reads data are those of the data, but for the delimiter."""
    return read_tree(
        source, ReadOptions(format=reading.format if own_format else "auto", delimiter=reading.delimiter)
    )


def limit_threads(running: Running) -> None:
    """Limit the threads of NumPy's libraries, numba and, if it is loaded, PyTorch."""
    if running.threads is None:
        return
    import numba
    import threadpoolctl

    threadpoolctl.threadpool_limits(running.threads)
    numba.set_num_threads(min(running.threads, numba.get_num_threads()))
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(running.threads)


def settle(run: Run) -> Settled:
    """The vectors as they are compared, with the metric; noted in the run."""
    from arbora.search.cluster import Options
    from arbora.search.inputs import read_input

    run.data.check_usable()
    options = Options(metric=run.comparing.metric, scale=run.comparing.scale)  # type: ignore[arg-type]
    settled = options.settle(read_input(run.data))
    if run.data.kind == "vectors":
        run.note_comparison(settled.metric, settled.scale, settled.reason)
    return settled


def graph_of(settled: Settled, run: Run) -> Any:
    """The graph of nearest neighbors as `arbora.cluster` builds it; other data as it is."""
    from arbora.search.cluster import N_NEIGHBORS
    from arbora.search.inputs import compare

    return compare(
        settled.given,
        metric=settled.metric,
        similarity="auto",
        n_neighbors=N_NEIGHBORS,
        n_jobs=count_threads(run.running.threads),
        random_state=run.seed,
        progress=lambda share: run.console.progress("neighbors", share, 1.0),
    )


def neighbor_graph(run: Run) -> Any:
    """What trees are measured and refined on."""
    return graph_of(settle(run), run)


def graph_cost(tree: Tree, similarity: Any) -> float:
    """Dasgupta cost over the total weight, the one figure that `fit` and `refine` print; 0 where nothing is similar."""
    from arbora.metrics import dasgupta_cost

    if similarity.total <= 0:
        return 0.0
    return float(dasgupta_cost(tree, similarity, normalize=True))


def graph_words(run: Run) -> str:
    """What `neighbor_graph` gives, in words."""
    if run.data.kind == "vectors":
        return f"graph of nearest neighbors ({run.compared_by})"
    return "graph of nearest neighbors" if run.data.kind == "distances" else run.data.kind
