"""A missing package names itself and the pip line that installs it."""

import importlib.metadata
import re
import sys

import pytest

from arbora._base import optional
from arbora._base.lazy import load_on_use
from arbora._base.optional import require
from arbora.errors import MissingExtraError


def missing(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("torch", r"pip install 'arbora\[torch\]'"),
        ("h5py", r"pip install 'arbora\[formats\]'"),
        ("dask", r"pip install 'arbora\[dask\]'"),
        ("absent_package", "pip install absent_package"),
    ],
)
def test_what_is_missing_is_named_with_its_purpose_and_its_extra(module, words, monkeypatch):
    missing(monkeypatch, module)
    with pytest.raises(MissingExtraError, match=f"Reading this needs {module}. Install it with: {words}"):
        require(module, "Reading this")


def test_a_module_within_a_missing_package_names_the_package(monkeypatch):
    missing(monkeypatch, "dask")
    missing(monkeypatch, "dask.array")
    with pytest.raises(MissingExtraError, match=r"needs dask\. "):
        require("dask.array", "A Dask array")


def test_a_package_that_misses_a_dependency_of_its_own_is_another_problem(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import a_dependency_that_is_absent")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_dependency_that_is_absent") as caught:
        require("broken_package", "This")
    assert not isinstance(caught.value, MissingExtraError)


def test_the_error_is_an_import_error_so_that_it_can_be_caught_as_one():
    assert issubclass(MissingExtraError, ImportError)


def test_every_extra_that_is_named_exists_and_brings_the_package():
    of_extra = {}
    for line in importlib.metadata.requires("arbora"):
        found = re.match(r"([\w-]+).*extra == ['\"](\w+)['\"]", line)
        if found:
            of_extra.setdefault(found[2], set()).add(found[1].lower().replace("-", "_"))
    called_otherwise = {"Bio": "biopython", "umap": "umap_learn"}
    for package, extra in optional._EXTRA_OF.items():
        assert called_otherwise.get(package, package) in of_extra[extra], package


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "lazy_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("__all__ = ['tool', 'part']")
    (folder / "part.py").write_text("tool = object()")
    monkeypatch.syspath_prepend(tmp_path)
    import lazy_package

    yield lazy_package
    for name in list(sys.modules):
        if name.split(".")[0] == "lazy_package":
            del sys.modules[name]


HOMES = {"tool": "lazy_package.part", "part": "lazy_package.part"}


def test_a_name_is_loaded_on_first_use_and_kept(package):
    get, _ = load_on_use("lazy_package", HOMES)
    assert "lazy_package.part" not in sys.modules
    tool = get("tool")
    assert tool is sys.modules["lazy_package.part"].tool is package.tool


def test_a_module_that_is_a_name_is_itself(package):
    get, _ = load_on_use("lazy_package", HOMES)
    assert get("part") is sys.modules["lazy_package.part"]


def test_other_names_are_refused_as_python_does_and_all_are_listed(package):
    get, names = load_on_use("lazy_package", HOMES)
    with pytest.raises(AttributeError, match="module 'lazy_package' has no attribute 'other'"):
        get("other")
    assert names() == ["part", "tool"]
