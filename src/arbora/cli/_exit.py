"""Exit codes that scripts can use, and errors of one line."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from arbora.errors import ArboraError, DivergedError, FormatError, MissingExtraError, TooLargeError

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


class CommandError(Exception):
    """A failure with its exit code and one line for the user."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Unreadable(CommandError):
    """The input cannot be read."""

    def __init__(self, message: str) -> None:
        super().__init__(UNREADABLE, message)


class Unusable(CommandError):
    """The input was read, but does not serve."""

    def __init__(self, message: str) -> None:
        super().__init__(UNUSABLE, message)


class Unwritable(CommandError):
    """The output cannot be written."""

    def __init__(self, message: str) -> None:
        super().__init__(UNWRITABLE, message)


@contextmanager
def one_line_errors(debug: bool) -> Iterator[None]:
    """Turn exceptions into one line on stderr and an exit code; with `debug`, the trace comes first."""
    try:
        yield
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader went away: nothing to say
        raise typer.Exit(OK) from None
    except KeyboardInterrupt:
        _say("Interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except Exception as error:
        if debug:
            traceback.print_exc()
        _say(_line(error))
        raise typer.Exit(code_of(error)) from None


def code_of(error: BaseException) -> int:
    """Exit code of an exception."""
    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, FormatError):
        return UNREADABLE
    if isinstance(error, (MissingExtraError, ImportError)):
        return MISSING
    if isinstance(error, (TooLargeError, MemoryError, DivergedError, ValueError, TypeError)):
        return UNUSABLE
    if isinstance(error, (FileNotFoundError, IsADirectoryError, PermissionError)):
        return UNREADABLE
    return FAILED


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    known = isinstance(error, (CommandError, ArboraError, ValueError, TypeError, ImportError, OSError))
    text = text if known else f"{type(error).__name__}: {text} (use --debug for the trace)"
    return text if len(text) <= 600 else text[:599] + "…"


def _say(text: str) -> None:
    # Text from a file may hold control characters: a terminal must not obey them.
    clean = "".join(c if c.isprintable() else "�" for c in text)
    print(f"arbora: {clean}", file=sys.stderr)
