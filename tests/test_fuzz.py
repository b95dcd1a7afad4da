"""A short run of the fuzzers in `fuzz/`, other cases every day."""

import datetime
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parents[1] / "fuzz" / "run.py"
CASES_PER_DAY = 1_000_000


def run(*options):
    return subprocess.run([sys.executable, RUN, *map(str, options)], capture_output=True, text=True)


def test_the_cases_of_the_day_find_no_bug():
    first = datetime.datetime.now(datetime.UTC).date().toordinal() * CASES_PER_DAY
    print(f"first case: {first}")
    found = run("--first", first, "--seconds", 20)
    print(found.stdout)
    assert found.returncode == 0, found.stdout + found.stderr


@pytest.mark.parametrize("number", [2, 35])
def test_a_case_is_a_function_of_its_number(number):
    assert run("--one", number).stdout == run("--one", number).stdout
