"""Running the command as a user does: a process of its own, real files."""

from __future__ import annotations

import os
import subprocess
import sys


def arbora(*arguments, cwd=None, stdin=None, env=None, timeout=900):
    """The finished process of ``arbora <arguments>``; stdin is bytes."""
    return subprocess.run(
        [sys.executable, "-m", "arbora", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        timeout=timeout,
        env={**os.environ, "COLUMNS": "100", **(env or {})},
        check=False,
    )


def assert_one_line_error(done, code, *words):
    """Failed with this exit code and exactly one line on stderr, without a trace."""
    text = done.stderr.decode()
    assert done.returncode == code, (done.returncode, text, done.stdout.decode()[-300:])
    lines = [line for line in text.splitlines() if line.strip()]
    assert len(lines) == 1, text
    assert lines[0].startswith("arbora: ")
    assert "Traceback" not in text
    for word in words:
        assert word in text, text
