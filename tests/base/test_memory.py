"""What is free, and what is refused because it is not."""

import subprocess
import sys

import pytest

from arbora._base import memory
from arbora.errors import TooLargeError

GIB = 2**30


def write_group(folder, version, limit, used, cached):
    if version == 2:
        names = ("memory.max", "memory.current", "memory.stat")
        statistics = f"anon 5\nactive_file {cached // 2}\ninactive_file {cached - cached // 2}\n"
    else:
        names = [f"memory/memory.{name}" for name in ("limit_in_bytes", "usage_in_bytes", "stat")]
        statistics = (
            f"active_file 1\ntotal_active_file {cached // 2}\ntotal_inactive_file {cached - cached // 2}\n"
        )
    for name, text in zip(names, (str(limit), str(used), statistics)):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("version", [1, 2])
def test_cached_files_of_a_container_are_free_memory(tmp_path, version):
    write_group(tmp_path, version, limit=8 * GIB, used=7 * GIB, cached=5 * GIB)
    assert memory._free_of_container(tmp_path) == 6 * GIB


def test_a_container_without_a_limit_sets_none(tmp_path):
    write_group(tmp_path, 2, limit="max", used=GIB, cached=0)
    assert memory._free_of_container(tmp_path) is None
    assert memory._free_of_container(tmp_path / "nowhere") is None


def test_statistics_that_cannot_be_read_count_as_no_cache(tmp_path):
    write_group(tmp_path, 2, limit=8 * GIB, used=GIB, cached=0)
    (tmp_path / "memory.stat").write_text("nonsense")
    assert memory._free_of_container(tmp_path) == 7 * GIB


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_limit_of_the_process_is_known():
    code = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, resource.RLIM_INFINITY))
from arbora._base.memory import available_memory
print(available_memory())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0 < int(run.stdout) < 3 * GIB


def test_what_does_not_fit_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 10 * GIB)
    memory.refuse_if_too_large(7 * GIB, "The distances", "Use fewer.")
    with pytest.raises(TooLargeError, match=r"The distances take 9 GiB; 10 GiB are free. Use fewer."):
        memory.refuse_if_too_large(9 * GIB, "The distances", "Use fewer.")


def test_nothing_is_refused_where_nothing_is_known(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: None)
    memory.refuse_if_too_large(2**60, "Everything", "")


def test_free_memory_is_known_and_plausible():
    assert 2**20 < memory.available_memory() < 2**50
