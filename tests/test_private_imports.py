"""No package reaches into the private modules or names of another; `make lint` runs this too."""

import ast
from pathlib import Path

import pytest

import arbora

ROOT = Path(arbora.__file__).parent
# What lies below every package is theirs to use; its own private names are not.
SHARED = "_base"


def private_imports(source: str, package: str) -> list[str]:
    """Imports, in the source of a module of `package`, of what another package keeps to itself."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith("arbora."):
            continue
        owner, *inner = str(node.module).split(".")[1:]
        names = [*inner, *(alias.name for alias in node.names)]
        if owner == SHARED:
            names = [alias.name for alias in node.names]
        if owner != package and any(name.startswith("_") and name != "__version__" for name in names):
            found.append(f"line {node.lineno}: from {node.module} import {', '.join(names)}")
    return found


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_imports_what_another_package_keeps_to_itself(path):
    assert private_imports(path.read_text(encoding="utf-8"), path.relative_to(ROOT).parts[0]) == []


def test_a_private_import_is_found():
    source = "from arbora.tree._arrays import x\nfrom arbora._base.jit import kernel\nfrom arbora.tree import Tree\n"
    assert private_imports(source, "search") == ["line 1: from arbora.tree._arrays import _arrays, x"]
    assert private_imports(source, "tree") == []
    assert private_imports("from arbora._base.jit import _hidden", "tree") == [
        "line 1: from arbora._base.jit import _hidden"
    ]
