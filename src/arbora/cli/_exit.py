"""Exit codes that scripts can use, and errors of one line."""

from __future__ import annotations

import errno
import json
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import typer

from arbora._base.interrupts import Remembering
from arbora.errors import ArboraError, FormatError, MissingExtraError

OK = 0
FAILED = 1  # something went wrong inside arbora
USAGE = 2  # wrong options (typer's own code)
UNREADABLE = 3  # the input is missing, forbidden, damaged or of another kind
UNUSABLE = 4  # the input was read, but this cannot be done with it
UNWRITABLE = 5  # the output cannot be written
MISSING = 6  # an optional dependency or method is not installed
INTERRUPTED = 130

MEANINGS = {
    OK: "done",
    FAILED: "failed inside arbora (use --debug)",
    USAGE: "wrong options",
    UNREADABLE: "input missing, forbidden, damaged or of another kind",
    UNUSABLE: "input read, but unusable for this",
    UNWRITABLE: "output cannot be written",
    MISSING: "an optional dependency or method is not installed",
    INTERRUPTED: "interrupted",
}
# Arguments of `arbora.read` that are options here; its errors name them as Python does.
_READ_ARGUMENTS = (
    "features", "drop", "label_column", "name_column", "text_column", "embedding_column", "metadata", "scale", "kind",
    "directed", "use", "genes", "format", "decimal", "delimiter", "header",
)  # fmt: skip
# Errors that only writing can cause: no room, too large for the disk or the user's quota, mounted read-only.
_WRITING = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EROFS)
# Whether Ctrl-C was pressed since the command began.
interrupts = Remembering()
_ARGUMENT = re.compile(rf"\b({'|'.join(_READ_ARGUMENTS)})=(\s|\)|$)?")


class CommandError(Exception):
    """A failure with its exit code and one line for the user."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class WrongOption(CommandError):
    """An option has an invalid value, or options exclude each other."""

    def __init__(self, message: str) -> None:
        super().__init__(USAGE, message)


class Unusable(CommandError):
    """The input was read, but cannot be used for this."""

    def __init__(self, message: str) -> None:
        super().__init__(UNUSABLE, message)


class Unwritable(CommandError):
    """The output cannot be written."""

    def __init__(self, message: str) -> None:
        super().__init__(UNWRITABLE, message)


def check_option(option: str, value: str, choices: Iterable[str]) -> None:
    """Refuse a value that is not one of the choices."""
    known = tuple(choices)
    if value not in known:
        raise WrongOption(f"{option} must be one of {', '.join(known)}. Got {value!r}.")


@contextmanager
def one_line_errors(debug: bool, as_json: bool = False) -> Iterator[None]:
    """Turn exceptions into one line on stderr and an exit code; with `debug`, the trace comes first.

    With `as_json` the error is also the one JSON object on standard output.
    """
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except BrokenPipeError:
        # the reader has gone away: nobody is left to report to
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(OK) from None
    except KeyboardInterrupt:
        _report("Interrupted.", INTERRUPTED, as_json)
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if interrupts.was_pressed:
            # libraries turn some KeyboardInterrupts into errors of their own
            _report("Interrupted.", INTERRUPTED, as_json)
            raise typer.Exit(INTERRUPTED) from None
        if debug:
            traceback.print_exc()
        _report(_line(error), code_of(error), as_json)
        raise typer.Exit(code_of(error)) from None


def code_of(error: BaseException) -> int:
    """Exit code of an exception."""
    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, FormatError):
        return UNREADABLE
    if isinstance(error, ImportError):
        return MISSING
    if isinstance(error, (ArboraError, ValueError, MemoryError)):
        return UNUSABLE
    if isinstance(error, TypeError) and str(error).endswith("."):
        # a sentence of arbora's own checks; Python's own messages have no full stop
        return UNUSABLE
    if isinstance(error, OSError):
        return UNWRITABLE if error.errno in _WRITING else UNREADABLE
    return FAILED


def printable(text: str) -> str:
    """Text that is safe on any terminal and in any encoding: control characters and broken letters replaced."""
    clean = "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)
    return clean.encode("utf-8", "replace").decode("utf-8")


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, ImportError) and not isinstance(error, MissingExtraError):
        extra = "torch" if "torch" in text else "all"
        text = f"{text.rstrip('.')}. Install it with: pip install 'arbora[{extra}]'"
    elif code_of(error) == FAILED:
        text = f"{type(error).__name__}: {text} (use --debug for the trace)"
    elif isinstance(error, OSError) and error.errno in _WRITING:
        text = f"{error.filename or 'The output'} cannot be written: {error.strerror}. What was there is unchanged."
    text = as_options(text)
    return text if len(text) <= 700 else text[:699] + "…"


def as_options(text: str) -> str:
    """Arguments of Python functions in a message as the options of this command: label_column= as --label-column."""

    def option(found: re.Match[str]) -> str:
        name = f"--{found[1].replace('_', '-')}"
        return f"{name}{found[2]}" if found[2] is not None else f"{name} "

    text = re.sub(r"\bheader=True or header=False", "--header or --no-header", text)
    return _ARGUMENT.sub(option, text)


def _report(text: str, code: int, as_json: bool) -> None:
    line = " ".join(printable(text).split())
    print(f"arbora: {line}", file=sys.stderr)
    if as_json:
        print(json.dumps({"error": line, "code": code, "meaning": MEANINGS[code]}, ensure_ascii=False))
