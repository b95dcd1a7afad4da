"""What ARCHITECTURE.md says of the whole package and can be checked by reading it; `make lint` runs this too."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import arbora

SOURCE = Path(arbora.__file__).parent
ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
MODULES = sorted(SOURCE.rglob("*.py"))
# records that several kernels share, with the short functions that read and write them
SHARED_RECORDS = ("search/_state.py", "linkages/_heaps.py")
# files in a temporary folder, for libraries that only read from or write to a path
TEMPORARY = ("reading/trees.py", "reading/single_cell.py", "view/disk.py", "cli/tables_out.py")

WRITERS = ("write_text", "write_bytes", "tofile", "write_h5ad", "to_parquet", "to_csv", "savez")
MODES = {"w", "wb", "a", "ab", "x", "xb", "w+", "r+"}


def layers():
    """The contract of import-linter, lowest layer first, as names of packages and modules."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    listed = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [{name.strip().removeprefix("arbora.") for name in layer.split("|")} for layer in reversed(listed)]


def table_of_layers():
    """The rows of the table in ARCHITECTURE.md, in order, as names of packages and modules."""
    rows = re.search(r"## Layers.*?\n((?:\|.*\n)+)", TEXT).group(1).splitlines()[2:]
    return [set(re.findall(r"`([a-z_]+)/?`", row.split("|")[1])) for row in rows]


def test_every_package_is_in_a_layer_that_lint_imports_checks():
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages <= set().union(*layers())


def test_the_table_of_layers_lists_them_in_the_order_that_is_checked():
    place = {name: k for k, layer in enumerate(layers()) for name in layer}
    rows = table_of_layers()
    assert set().union(*rows) == set(place)
    lowest = [min(place[name] for name in row) for row in rows]
    highest = [max(place[name] for name in row) for row in rows]
    assert all(above > below for below, above in zip(highest, lowest[1:], strict=False))


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`([\w/]+\.(?:py|js|csv))`", TEXT))))
def test_every_file_that_is_named_exists(name):
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    files = tracked or [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.*")]
    assert any(file == name or file.endswith("/" + name) for file in files)


def test_compiled_loops_live_in_kernel_files():
    found = {
        str(path.relative_to(SOURCE))
        for path in MODULES
        if re.search(
            r"^@(kernel|inner|inlined|pass_kernel|njit|numba\.)",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    }
    assert {name for name in found if not name.endswith("_kernels.py")} == set(SHARED_RECORDS)


def writes(path):
    """Names of the calls in a module that write files."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        is_method = isinstance(node.func, ast.Attribute)
        name = node.func.attr if is_method else getattr(node.func, "id", "")
        given = [*node.args[:2], *(key.value for key in node.keywords if key.arg == "mode")]
        modes = {value.value for value in given if isinstance(value, ast.Constant)}
        if (is_method and name in WRITERS) or (name == "open" and modes & MODES):
            yield name


def test_files_are_written_by_one_module_alone():
    found = {str(path.relative_to(SOURCE)) for path in MODULES if any(writes(path))}
    assert found - {*TEMPORARY} == {"_base/files.py"}


def test_pytorch_is_imported_in_one_place():
    imports = re.compile(r"^\s*(import torch|from torch[. ])", re.MULTILINE)
    found = [path for path in MODULES if imports.search(path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(SOURCE)) for path in found] == ["_base/pytorch.py"]
