"""Commands as plain functions: shared groups of options arrive as records, errors become one line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import typer

from arbora.cli import _options as o
from arbora.cli._exit import MEANINGS, one_line_errors

_CODES = "  ".join(f"{code}: {meaning}." for code, meaning in MEANINGS.items())
# The name under which a command receives the record of a group of options.
_RECORD = {
    o.reading: "reading",
    o.reading_tree: "reading",
    o.running: "running",
    o.threading: "running",
    o.console: "console",
}

app = typer.Typer(
    name="arbora",
    help="Hierarchical clustering you can optimize, measure and explore.",
    epilog=f"Exit codes: {_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def command(*groups: Callable[..., Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Register a command with these groups of options besides its own.

    Each group is a function of its options that returns a record; the command receives the record. Every command
    also takes those of `o.console`, and ``--debug``.
    """

    def register(action: Callable[..., None]) -> Callable[..., None]:
        with_console = (*groups, o.console)
        options = {group: _parameters(group) for group in with_console}
        taken = set(_RECORD.values())
        own = [p for p in _parameters(action) if p.name not in taken]
        debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=o.Debug)

        def run(debug: bool, **given: Any) -> None:
            with one_line_errors(debug, given["as_json"]):
                records = {
                    _RECORD[group]: group(**{p.name: given.pop(p.name) for p in options[group]})
                    for group in with_console
                }
                action(**given, **records)

        parameters = [*own, *(p for group in with_console for p in options[group]), debug]
        parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
        vars(run)["__signature__"] = inspect.Signature(parameters)
        run.__annotations__ = {p.name: p.annotation for p in parameters}
        app.command(name=action.__name__, help=inspect.getdoc(action))(run)
        return action

    return register


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function, eval_str=True).parameters.values())
