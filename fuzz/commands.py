"""Command lines: a documented exit code, no trace, no half-written output."""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
from pathlib import Path

import checks
import files
import inputs
from calls import Generator, Note
from inputs import chance, one_of

import arbora as ab

# 1 is "failed inside arbora"; 130 needs Ctrl-C.
EXPECTED = (0, 2, 3, 4, 5, 6)


def command(rng: Generator, note: Note) -> None:
    """One command on files of which some are damaged."""
    with tempfile.TemporaryDirectory() as folder:
        _write_inputs(rng, Path(folder))
        line = _line(rng, folder)
        note(" ".join(line).replace(folder, "."))
        code, output, errors = _run(line)
        checks.require(code in EXPECTED, f"exit code {code}: {errors[-300:]}")
        checks.require("Traceback" not in output + errors, f"no trace is shown: {errors[-300:]}")
        checks.require(code == 0 or errors.strip(), "an error says something")
        checks.require(not list(Path(folder).rglob("*.part")), "nothing half written is left")
        written = Path(folder) / "out.npz"
        if written.exists():
            checks.require(code == 0 or line[0] == "fit", f"a failed command (code {code}) left its output")
            checks.valid_tree(ab.Tree.load(written))


def _write_inputs(rng: Generator, folder: Path) -> None:
    n = int(one_of(rng, 2, 5, 9))
    _, X = inputs.numbers(rng, n, tame=chance(rng, 0.8))
    header = ",".join(f"c{k}" for k in range(X.shape[1]))
    table = header + "\n" + "\n".join(",".join(map(repr, row)) for row in X.tolist()) + "\n"
    edges = "\n".join(f"{k} {k + 1}" for k in range(n)) + "\n"
    inputs.tree(rng, n).save(folder / "tree.npz")
    for name, content in (("data.csv", table.encode()), ("graph.edges", edges.encode())):
        (folder / name).write_bytes(files.damaged(rng, content) if chance(rng, 0.3) else content)
    if chance(rng, 0.2):
        path = folder / "tree.npz"
        path.write_bytes(files.damaged(rng, path.read_bytes()))


def _line(rng: Generator, folder: str) -> list[str]:
    data = one_of(rng, "data.csv", "data.csv", "graph.edges", "tree.npz", "missing.csv", ".")
    tree = one_of(rng, "tree.npz", "tree.npz", "tree.npz", "data.csv", "missing.nwk")
    out = one_of(rng, "out.npz", "out.nwk", "no/such/folder/out.npz", ".", "out.xyz")
    data, tree, out = (f"{folder}/{name}" for name in (data, tree, out))
    method = one_of(rng, "auto", "average", "ward", "paris", "louvain", "birch", "l2h", "nothing")
    k = one_of(rng, "2", "1", "0", "x", "2,3", "999")
    line = one_of(
        rng,
        ["fit", data, "--method", method, "--out", out],
        ["fit", data, "--metric", one_of(rng, "cosine", "euclidean", "none"), "--out", out],
        [
            "fit",
            data,
            "--scale",
            one_of(rng, "standard", "robust", "x"),
            "--kind",
            one_of(rng, "vectors", "graph"),
        ],
        ["info", data],
        ["info", tree],
        ["cut", tree, "-k", k],
        ["cut", tree, "--height", one_of(rng, "0.5", "nan", "x")],
        ["convert", tree, out],
        ["refine", tree, "--data", data, "--out", out],
        ["score", tree, "--data", data],
        ["taxonomy", tree, "-k", k, "--out", out],
        _reproduce(rng, folder),
        ["nothing"],
    )
    return line + one_of(rng, [], [], ["--json"], ["--quiet"], ["--threads", "0"], ["--unknown"])


def _reproduce(rng: Generator, folder: str) -> list[str]:
    """Tables of the papers by wrong names, or listed: to run one takes longer than a case may."""
    paper = one_of(
        rng, [], ["hyphc"], ["l2h", "1"], ["ghhc", "nothing"], ["nothing"], ["fph", ""], ["fph", "1", "2"]
    )
    choice = one_of(rng, ["--list"], ["--list"], ["--methods", "no such method"], ["--datasets", "\x00"])
    more = one_of(
        rng,
        [],
        ["--seeds", one_of(rng, "0", "-1", "x", "999999999999999999999")],
        ["--out", f"{folder}/tree.npz"],
    )
    return ["reproduce", *paper, "--quick", *choice, *more]


def _run(line: list[str]) -> tuple[int, str, str]:
    """(exit code, standard output, standard error) of the command, in this process."""
    from arbora.cli import main

    output, errors, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["arbora", *line]
    code: object = 0
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            main()
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = before
    return (
        int(code or 0) if isinstance(code, int) or code is None else 1,
        output.getvalue(),
        errors.getvalue(),
    )


COMMANDS = {command: 1}
