"""Running a command inside the test's process, which spares it the imports."""

from __future__ import annotations

from dataclasses import dataclass

from typer.testing import CliRunner

from arbora.cli import app


@dataclass
class Done:
    code: int
    out: str
    err: str


def run(*arguments, code=0, stdin=None):
    """Output of ``arbora <arguments>``, which must end with this exit code."""
    done = CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr)
    return Done(done.exit_code, done.stdout, done.stderr)


@dataclass
class Finished:
    """What `subprocess.run` would return."""

    returncode: int
    stdout: bytes
    stderr: bytes


def arbora(*arguments, stdin=None):
    """``arbora <arguments>`` without a process of its own, whatever its exit code."""
    done = CliRunner().invoke(app, [str(one) for one in arguments], input=stdin)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Finished(done.exit_code, done.stdout_bytes, done.stderr_bytes)
