"""Work that is killed, interrupted or starved of disk at random moments, and what must be left afterwards.

    python tests/faults.py kills --count 100
    python tests/faults.py signals --count 30
    python tests/faults.py kills signals disks

Every case is forked from one process in which everything is imported and compiled, so that it costs milliseconds. That
process must have one thread: `run` in `test_faults.py` sets the environment for it. A case that leaves something else
than it should is an AssertionError, which names the case and the seed.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import arbora as ab
from arbora.cli import main
from arbora.cli._exit import INTERRUPTED, OK, UNWRITABLE

# the user whom root becomes where permissions are to count
NOBODY = 65534
SIGNALS = (signal.SIGINT, signal.SIGTERM)
rng = np.random.default_rng()


def blobs(n: int, seed: int = 0) -> np.ndarray:
    """Points in six groups."""
    drawn = np.random.default_rng(seed)
    return drawn.normal(size=(n, 6)) + drawn.normal(scale=4, size=(6, 6))[np.arange(n) % 6]


# ---- processes -------------------------------------------------------------------------------------------


def forked(work: Callable[..., Any], *arguments: Any, silent: bool = True) -> int:
    """Start work in a copy of this process; returns its number. What it returns, if whole, is its exit code."""
    # a copy is not ready for signals before it is here
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    child = os.fork()
    if child:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        return child
    code = 99
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        if silent:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        result = work(*arguments)
        code = result if isinstance(result, int) else OK
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def ended(child: int, number: signal.Signals | None = None, after: float = 0.0) -> int:
    """Exit code of a process, which gets a signal after so many seconds if it is still running by then."""
    end = time.monotonic() + after
    while number is not None:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= end:
            os.kill(child, number)
            break
        time.sleep(0.001)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def seconds_of(work: Callable[..., Any], *arguments: Any) -> float:
    """How long a fork takes for some work, the second time."""
    for _ in range(2):
        began = time.monotonic()
        assert ended(forked(work, *arguments, silent=False)) == OK
    return time.monotonic() - began


def command(*line: Any) -> int:
    """Exit code of ``arbora <line>``, in this process."""
    sys.argv = ["arbora", *map(str, line)]
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def litter(folder: Path) -> list[str]:
    """Unfinished files in a folder."""
    return [str(path) for path in folder.rglob("*.part")]


# ---- what is written -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Saving:
    """Something to write under a name, in two versions, and how to tell which is there."""

    write: Callable[[Path, int], Any]
    version: Callable[[Path], int]

    def keep_writing(self, path: Path) -> None:
        """Write one version after the other, until killed."""
        for k in range(10_000):
            self.write(path, k % 2)


def _page_version(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    assert text.rstrip().endswith("</html>"), "a page that is cut short"
    return next(k for k in (0, 1) if f"version {k}" in text)


def savings() -> dict[str, Saving]:
    """All that arbora writes under a name of the user's."""
    trees = [ab.linkage(blobs(3000, seed), "ward") for seed in (0, 1)]
    growing = [ab.OnlineTree(random_state=0).partial_fit(blobs(600, seed)) for seed in (0, 1)]
    models = [
        ab.TreeClustering(3, random_state=0, n_perturbations=0).fit(blobs(300, seed)) for seed in (0, 1)
    ]
    classes = [ab.L2H(random_state=0).fit(blobs(400, seed)) for seed in (0, 1)]

    def of_models(known: list[Any], kind: Any) -> Saving:
        return Saving(
            lambda path, k: known[k].save(path),
            lambda path: [model.tree_ for model in known].index(kind.load(path).tree_),
        )

    return {
        "Tree.save": Saving(
            lambda path, k: trees[k].save(path), lambda path: trees.index(ab.Tree.load(path))
        ),
        "to_html": Saving(lambda path, k: trees[k].to_html(path, title=f"version {k}"), _page_version),
        "OnlineTree.save": of_models(growing, ab.OnlineTree),
        "TreeClustering.save": of_models(models, ab.TreeClustering),
        "L2H.save": of_models(classes, ab.L2H),
    }


def kill_savings(count: int) -> Iterator[str]:
    """After a kill -9 the old file or the new one is there, whole; the next write removes what the killed one left."""
    known = savings()
    with tempfile.TemporaryDirectory() as name:
        for kind, saving in known.items():
            path = Path(name) / kind
            saving.write(path, 0)
            once = seconds_of(saving.write, path, 1)
            for _ in range(count):
                code = ended(
                    forked(saving.keep_writing, path), signal.SIGKILL, rng.uniform(0, 4 * once + 0.01)
                )
                assert code == -signal.SIGKILL, f"{kind}: ended with {code} before it was killed"
                assert saving.version(path) in (0, 1), kind
                yield f"{kind}: whole"
            saving.write(path, 0)
            assert not litter(path.parent), f"{kind}: {litter(path.parent)}"


# ---- fits that resume ------------------------------------------------------------------------------------


def fits() -> dict[str, Callable[[Path | None], ab.Tree]]:
    """Fits with a checkpoint, each a second long or less."""
    X = blobs(240)
    graph = ab.similarity.knn(X, 6, metric="euclidean")
    first = ab.linkage(graph, "single")
    return {
        "cluster": lambda kept: ab.cluster(X, n_perturbations=12, random_state=3, checkpoint=kept),
        "refine": lambda kept: ab.refine(first, graph, n_perturbations=12, random_state=3, checkpoint=kept),
        "HypHC": lambda kept: ab.HypHC(
            max_epochs=8, n_triples=4000, random_state=3, checkpoint=kept, checkpoint_every=1
        ).fit(X).tree_,
        "GHHC": lambda kept: ab.GHHC(
            n_internal=15, max_steps=40, random_state=3, checkpoint=kept, checkpoint_every=4
        ).fit(X).tree_,
        "FPH": lambda kept: ab.FPH(
            n_internal=20, max_epochs=20, random_state=3, checkpoint=kept, checkpoint_every=2
        ).fit(graph).tree_,
    }  # fmt: skip


def kill_fits(count: int) -> Iterator[str]:
    """A fit killed at up to three moments ends with the tree of one that was never stopped."""
    with tempfile.TemporaryDirectory() as name:
        for kind, fit in fits().items():
            expected = fit(None)
            whole = seconds_of(fit, None)
            for number in range(count):
                kept, out = Path(name) / f"{kind}{number}", Path(name) / f"{kind}{number}.npz"
                for _ in range(3):
                    if (
                        ended(forked(_fit_and_save, fit, kept, out), signal.SIGKILL, rng.uniform(0, whole))
                        == OK
                    ):
                        break
                code = ended(forked(_fit_and_save, fit, kept, out, silent=False))
                assert code == OK, f"{kind}: what was killed does not resume"
                assert ab.Tree.load(out) == expected, f"{kind}: resumed to another tree"
                yield f"{kind}: resumed to the same tree"


def _fit_and_save(fit: Callable[[Path], ab.Tree], kept: Path, out: Path) -> None:
    fit(kept).save(out)


# ---- the command line ------------------------------------------------------------------------------------

METHODS = {
    "auto": ("--set", "n_perturbations=12"),
    "refined": ("-m", "single", "--refine"),
    "hyphc": ("-m", "hyphc", "--set", "max_epochs=6", "--set", "n_triples=3000"),
    "ghhc": ("-m", "ghhc", "--set", "max_steps=30", "--set", "n_internal=15"),
    "fph": ("-m", "fph", "--set", "max_epochs=15", "--set", "n_internal=20"),
    "average": ("-m", "average"),
}


@contextmanager
def stage() -> Iterator[tuple[Path, Callable[..., list[Any]]]]:
    """(a folder with data, the command that fits a method with these outputs)."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "x.npy", blobs(240))

        def line(method: str, out: str) -> list[Any]:
            page = ("--html", folder / f"{out}.html", "--report", folder / f"{out}.json")
            kept = ("--checkpoint", folder / f"{out}-kept")
            return [
                "fit",
                folder / "x.npy",
                "-q",
                *METHODS[method],
                "--out",
                folder / f"{out}.npz",
                *page,
                *kept,
            ]

        yield folder, line


def stop_commands(count: int, signals: tuple[signal.Signals, ...]) -> Iterator[str]:
    """``arbora fit`` stopped at a random moment: the documented exit code, whole outputs, the same tree next time."""
    expected_code = {
        signal.SIGINT: INTERRUPTED,
        signal.SIGTERM: -signal.SIGTERM,
        signal.SIGKILL: -signal.SIGKILL,
    }
    with stage() as (folder, line):
        for method in METHODS:
            assert command(*line(method, method)) == OK
            expected = ab.Tree.load(folder / f"{method}.npz")
            whole = seconds_of(_fresh, line(method, f"{method}-timed"))
            for number in range(count):
                out = f"{method}{number}"
                for suffix in ("npz", "html", "json"):
                    (folder / f"{out}.{suffix}").write_bytes(b"old")
                which = signals[number % len(signals)]
                code = ended(forked(command, *line(method, out)), which, rng.uniform(0, whole))
                assert code in (OK, expected_code[which]), f"{method}: {which.name} ends with {code}"
                _outputs_are_whole(folder, out, expected, is_done=code == OK)
                if which is not signal.SIGKILL and code != -signal.SIGTERM:
                    assert not litter(folder), f"{method}: {which.name} leaves {litter(folder)}"
                code = ended(forked(command, *line(method, out)))
                assert code == OK, f"{method}: does not resume after {which.name}: {code}"
                assert ab.Tree.load(folder / f"{out}.npz") == expected, (
                    f"{method}: another tree after {which.name}"
                )
                yield f"arbora fit {method}: {which.name}"


def _fresh(line: list[Any]) -> int:
    """The command without what an earlier run of it kept."""
    shutil.rmtree(line[-1], ignore_errors=True)
    return command(*line)


def _outputs_are_whole(folder: Path, out: str, expected: ab.Tree, is_done: bool) -> None:
    tree, page, report = (folder / f"{out}.{suffix}" for suffix in ("npz", "html", "json"))
    states = [path.read_bytes() == b"old" for path in (tree, page, report)]
    assert states[0] or ab.Tree.load(tree) == expected, "a tree that is not finished was written"
    assert states[1] or page.read_text(encoding="utf-8").rstrip().endswith("</html>"), "half a page"
    assert states[2] or report.read_bytes().rstrip().endswith(b"}"), "half a report"
    assert not is_done or not any(states), "ended well without writing"


# ---- disks -----------------------------------------------------------------------------------------------


def full_disks() -> Iterator[str]:
    """On a full disk, and in a folder that cannot be written to, the old file stays and nothing is left beside it."""
    known = savings()
    with tempfile.TemporaryDirectory() as name:
        for kind, saving in known.items():
            path = Path(name) / kind
            saving.write(path, 0)
            size = path.stat().st_size
            for limit in (0, 100, size // 2, size - 1):
                code = ended(forked(_starved, limit, saving.write, path, 1))
                assert code == UNWRITABLE, f"{kind}: a full disk is no OSError"
                assert saving.version(path) == 0 and not litter(path.parent), kind
                yield f"{kind}: full disk"
            code = ended(forked(_forbidden, path.parent, saving.write, path, 1))
            path.parent.chmod(0o755)
            assert code == UNWRITABLE, f"{kind}: a read-only folder is no OSError"
            assert saving.version(path) == 0 and not litter(path.parent), kind
            yield f"{kind}: read-only folder"
    yield from _full_disks_of_commands()


def _forbidden(folder: Path, write: Callable[..., Any], *arguments: Any) -> int:
    """UNWRITABLE if writing as a user who may not write to the folder is an OSError."""
    os.chmod(folder, 0o555)
    if os.geteuid() == 0:
        os.setuid(NOBODY)
    try:
        result = write(*arguments)
    except OSError:
        return UNWRITABLE
    return result if isinstance(result, int) else OK


def _starved(limit: int, write: Callable[..., Any], *arguments: Any) -> int:
    """UNWRITABLE if a file of `limit` bytes makes the write an OSError: as far as it can see, the disk is full then."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        result = write(*arguments)
    except OSError:
        return UNWRITABLE
    return result if isinstance(result, int) else OK


def _full_disks_of_commands() -> Iterator[str]:
    with stage() as (folder, line):
        for out, limit in (("a", 0), ("b", 2000), ("c", 12_000), ("d", 100_000)):
            for suffix in ("npz", "html", "json"):
                (folder / f"{out}.{suffix}").write_bytes(b"old")
            code = ended(forked(_starved, limit, command, *line("auto", out)))
            assert code == UNWRITABLE, f"arbora fit on a full disk ends with {code}"
            assert not litter(folder)
            assert command(*line("auto", out)) == OK, "does not resume once there is room"
            yield "arbora fit: full disk"
        assert command("convert", folder / "a.npz", "/dev/full", "--to", "newick", "-q") == UNWRITABLE
        yield "arbora convert: /dev/full"
        code = ended(forked(_forbidden, folder, command, "convert", folder / "a.npz", folder / "a.nwk"))
        folder.chmod(0o755)
        assert code == UNWRITABLE, f"arbora convert into a read-only folder ends with {code}"
        yield "arbora convert: read-only folder"


# ---- running ---------------------------------------------------------------------------------------------


def cases(kind: str, count: int) -> Iterator[str]:
    """All cases of a kind, `count` of each."""
    if kind == "kills":
        yield from kill_savings(count)
        yield from kill_fits(max(1, count // 5))
        yield from stop_commands(max(1, count // 6), (signal.SIGKILL,))
    elif kind == "signals":
        yield from stop_commands(count, (signal.SIGINT, signal.SIGTERM))
    else:
        yield from full_disks()


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="+", choices=["kills", "signals", "disks"])
    parser.add_argument("--count", type=int, default=2)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**31)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    print(f"seed {given.seed}", flush=True)
    found: Counter[str] = Counter()
    for kind in given.kinds:
        found.update(cases(kind, given.count))
    for what, n in found.items():
        print(f"{n:5d} {what}")
