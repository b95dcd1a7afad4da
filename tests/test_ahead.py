"""Kernels compiled ahead: counted, reported, kept on disk."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from cli.in_process import run

import arbora as ab
from arbora import ahead
from arbora._base import jit
from arbora.tree import pass_kernels


def count_leaves():
    return pass_kernels.count_leaves(np.array([2, 2, -1]), 2)


def test_what_is_called_ahead_is_compiled_at_once_and_counted(monkeypatch):
    monkeypatch.setattr(ahead, "_calls", lambda: [count_leaves])
    heard = []
    built = ab.compile_kernels(progress=lambda *report: heard.append(report))
    assert pass_kernels.count_leaves.compiled.overloads
    assert 1 <= built.n_ready <= built.n_kernels == len(jit.KERNELS) and built.n_kernels > 100
    assert built.n_compiled <= 1 and built.seconds > 0
    assert heard[0] == ("compile", 0.0, 1) and heard[-1] == ("compile", 1, 1)
    assert not jit._compiles_all


def test_the_command_says_how_many_kernels_are_ready(monkeypatch):
    monkeypatch.setattr(ahead, "_calls", lambda: [count_leaves])
    assert "are ready" in run("compile").out
    assert json.loads(run("compile", "--json").out)["n_kernels"] == len(jit.KERNELS)


def test_wrong_arguments_are_refused():
    with pytest.raises(TypeError, match="progress must be callable"):
        ab.compile_kernels(progress=3)
    with pytest.raises(TypeError, match="verbose must be True or False"):
        ab.compile_kernels(verbose="yes")


BUILD = "import json, arbora as ab; print(json.dumps(ab.compile_kernels()._asdict()))"


@pytest.mark.slow
def test_nearly_all_kernels_are_built_and_none_a_second_time(tmp_path):
    built = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", BUILD],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        built.append(json.loads(done.stdout))
    assert built[0]["n_ready"] > 0.6 * built[0]["n_kernels"]
    assert built[0]["n_compiled"] > 50 and built[1]["n_compiled"] == 0
