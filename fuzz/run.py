"""Run drawn cases against arbora and count what happens.

    python fuzz/run.py --seconds 180            cases 0, 1, 2, ... for three minutes
    python fuzz/run.py --first 5000 --count 100
    python fuzz/run.py --count 100000 --seconds 86400 --log cases.jsonl
    python fuzz/run.py --one 5017               one case here, with its trace

A case is a function of its number alone. Cases run in a child process, which is replaced when it dies or when one
case takes too long. Outcomes: ok; clear (an error of ours that names an argument or file); foreign (an error that does
not, or comes from another library); bug (an exception no user should see); wrong (a result that breaks a promise);
crash; hang.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import selectors
import subprocess
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

BAD = ("bug", "wrong", "crash", "hang")
OUTCOMES = ("ok", "clear", "foreign", *BAD)
# CPU seconds, as the clock says little on a busy machine; what waits for ever uses none, so the clock has a say too.
CASE_SECONDS = 60.0
CLOCK_PER_CPU = 10.0
# Kernels that are not cached yet are compiled by the first cases that need them.
WARMING_SECONDS = 240.0
WARMING_CASES = 30
MEMORY = 16 << 30
# What Python itself says of a call that cannot work, which no check of ours came before.
PYTHONS_WORDS = re.compile(
    r"unexpected keyword argument|required (positional|keyword-only) argument|positional arguments? but|object is not |"
    r"unsupported operand|not supported between|has no len|truth value of an array"
)
# What messages name where an argument has parts.
PARTS = {"adjacency", "rows", "edges", "weights", "Node", "Nodes", "Leaf", "Leaves", "merges", "Newick"}


# ---- one case --------------------------------------------------------------------------------------------


def draw(number: int) -> tuple[Any, np.random.Generator]:
    """(what case `number` does, the generator for its details)."""
    import calls
    import commands
    import files
    import meaning_calls
    import model_calls
    import tree_calls

    rng = np.random.default_rng(number)
    tables = {
        0.42: calls.CALLS,
        0.24: tree_calls.TREES,
        0.14: files.FILES,
        0.03: commands.COMMANDS,
        0.10: meaning_calls.MEANING,
        0.07: model_calls.MODELS,
    }
    table = list(tables.values())[rng.choice(len(tables), p=list(tables))]
    shares = np.array(list(table.values()), dtype=float)
    return list(table)[int(rng.choice(len(table), p=shares / shares.sum()))], rng


def outcome_of(error: BaseException, note: Any) -> str:
    """Which outcome an exception is."""
    from checks import WrongResult

    from arbora.errors import ArboraError, TreeError

    if isinstance(error, WrongResult):
        return "wrong"
    if isinstance(error, TreeError) and not note.gives_tree:
        return "bug"
    if isinstance(error, (UnicodeError, RecursionError)) and not isinstance(error, ArboraError):
        return "bug"
    if isinstance(error, ArboraError):
        return "clear"
    if isinstance(error, FileNotFoundError) and note.file is not None:
        return "clear"
    if isinstance(error, (ValueError, TypeError)):
        return "clear" if _is_clear(error, note) else "foreign"
    return "bug"


def _frames(error: BaseException) -> list[Any]:
    import arbora

    home = str(Path(str(arbora.__file__)).parent)
    return [
        frame
        for frame, _ in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename.startswith(home)
    ]


def _is_clear(error: BaseException, note: Any) -> bool:
    """Raised in arbora and naming something, or by scikit-learn's check of the input, as in every estimator."""
    if PYTHONS_WORDS.search(str(error)):
        return False
    last = list(traceback.walk_tb(error.__traceback__))[-1][0].f_code.co_filename
    ours = _frames(error)
    if ours and ("sklearn/utils/validation" in last or "sklearn/base" in last):
        return True
    return bool(ours) and last == ours[-1].f_code.co_filename and _names_something(error, note)


def _names_something(error: BaseException, note: Any) -> bool:
    """The message holds the name of an argument on the way to where it was raised, a part of the input, or the file."""
    text = str(error)
    arguments = {
        name
        for frame in _frames(error)
        for name in frame.f_code.co_varnames[: frame.f_code.co_argcount + frame.f_code.co_kwonlyargcount]
    } | {key for frame in _frames(error) for key in _keys(frame)}
    names = (arguments | PARTS | note.words) - {"self", "cls", "value"}
    in_words = bool(set(re.findall(r"\w+", text)) & names) or bool(re.search(r"\b\w+=", text))
    return in_words or (note.file is not None and note.file in text)


def _keys(frame: Any) -> set[str]:
    """Names that checks were handed (`name`, `argument`, `key`), and an estimator's own parameters."""
    told = {str(frame.f_locals[word]) for word in ("name", "argument", "key") if word in frame.f_locals}
    parameters = getattr(frame.f_locals.get("self"), "get_params", None)
    return told | {"X"} | (set(parameters(deep=False)) if callable(parameters) else set())


def run_case(number: int) -> dict[str, Any]:
    """Run one case and say what happened."""
    from calls import Note

    do, rng = draw(number)
    note = Note()
    record: dict[str, Any] = {"case": number, "call": do.__name__, "outcome": "ok", "message": ""}
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            do(rng, note)
    except Exception as error:
        record["outcome"] = outcome_of(error, note)
        record["message"] = f"{type(error).__name__}: {error}"[:300]
        record["trace"] = "".join(traceback.format_exception(error))[-3000:]
    record["cpu"] = round(time.process_time() - began, 4)
    record["said"] = note.said
    return record


def child(first: int, stop: int, seconds: float) -> None:
    """Run cases and write a line before and after each; none begins when the time is up."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    end = time.monotonic() + seconds
    for number in range(first, stop):
        if time.monotonic() > end:
            break
        lines.write(json.dumps({"begin": number}) + "\n")
        lines.write(json.dumps(run_case(number), default=repr) + "\n")


# ---- many cases ------------------------------------------------------------------------------------------


def records(first: int, stop: int, seconds: float) -> Iterator[dict[str, Any]]:
    """What happened in each case; a child that dies or hangs costs one case."""
    end = time.monotonic() + seconds
    while first < stop and time.monotonic() < end:
        for record in _watch(first, stop, end - time.monotonic()):
            if "case" in record:
                yield record
                first = record["case"] + 1


def _watch(first: int, stop: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Lines of one child until it ends, and a record of how it ended if badly."""
    options = ["--first", str(first), "--count", str(stop - first), "--seconds", str(seconds)]
    command = [sys.executable, __file__, "--child", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert process.stdout is not None
    os.set_blocking(process.stdout.fileno(), False)
    number, done, since, spent, rest = first, 0, time.monotonic(), 0.0, b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            data = process.stdout.read() if selector.select(1.0) else None
            if data == b"":
                break
            *lines, rest = (rest + (data or b"")).split(b"\n")
            for record in map(json.loads, lines):
                number, since, spent = (
                    record.get("begin", number),
                    time.monotonic(),
                    _cpu_seconds(process.pid),
                )
                done += "case" in record
                yield record
            allowed = WARMING_SECONDS if done < WARMING_CASES else CASE_SECONDS
            waited = time.monotonic() - since
            if waited > allowed and (
                _cpu_seconds(process.pid) - spent > allowed or waited > CLOCK_PER_CPU * allowed
            ):
                process.kill()
                process.wait()
                yield _failure(number, "hang", "the case did not end")
                return
    code = process.wait()
    if code != 0:
        yield _failure(number, "crash", f"the process ended with {code}")


def _cpu_seconds(pid: int) -> float:
    """CPU seconds of a process so far; those of the clock where there is no such file."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return time.monotonic()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _failure(number: int, outcome: str, message: str) -> dict[str, Any]:
    return {"case": number, "call": draw(number)[0].__name__, "outcome": outcome, "message": message}


def logged(found: Iterator[dict[str, Any]], path: Path) -> Iterator[dict[str, Any]]:
    """The same records, each added to a file at once: a run that is stopped keeps its count."""
    with path.open("a", buffering=1) as log:
        for record in found:
            shown = record if record["outcome"] not in ("ok", "clear") else _short(record)
            log.write(json.dumps(shown) + "\n")
            yield record


def _short(record: dict[str, Any]) -> dict[str, Any]:
    return {key: record[key] for key in ("case", "call", "outcome", "cpu")}


def report(found: Iterator[dict[str, Any]]) -> Counter[str]:
    """Print counts, and the first case of every kind of failure."""
    counts: Counter[str] = Counter()
    kinds: dict[tuple[str, str, str], list[int]] = {}
    for record in found:
        counts[record["outcome"]] += 1
        if record["outcome"] not in ("ok", "clear"):
            short = re.sub(r"[-+]?\d[\d.e+-]*", "#", record["message"])[:140]
            kinds.setdefault((record["outcome"], record["call"], short), []).append(record["case"])
    for (outcome, call, message), cases in sorted(
        kinds.items(), key=lambda kind: (kind[0][0], -len(kind[1]))
    ):
        print(f"{outcome:8s} {len(cases):4d} x {call}: {message}\n              --one {cases[0]}")
    total = sum(counts.values())
    print(f"{total} cases: " + ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES))
    if kinds:
        print("Repeat one case: python fuzz/run.py --one N")
    return counts


def main() -> int:
    """Read the options and run; the exit code is 1 where a case failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--count", type=int, default=10**9, help="how many cases at most")
    parser.add_argument("--seconds", type=float, default=180, help="how long at most")
    parser.add_argument("--log", type=Path, help="file to which every case is added as a line of JSON")
    parser.add_argument("--one", type=int, help="run this case alone, here, and show its trace")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        record = run_case(given.one)
        print("\n".join([record["call"], *record["said"], record.get("trace", ""), record["outcome"]]))
        return int(record["outcome"] in BAD)
    stop = given.first + given.count
    if given.child:
        child(given.first, stop, given.seconds)
        return 0
    print(f"cases from {given.first}, {given.seconds:g} seconds", flush=True)
    found = records(given.first, stop, given.seconds)
    counts = report(found if given.log is None else logged(found, given.log))
    return int(any(counts[outcome] for outcome in BAD))


if __name__ == "__main__":
    sys.exit(main())
