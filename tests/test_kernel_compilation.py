"""What makes a first call wait, kept out of kernels."""

import ast
from pathlib import Path

import arbora

DECORATORS = {"kernel", "inner", "inlined", "pass_kernel"}
SOURCES = sorted(Path(arbora.__file__).parent.rglob("*.py"))


def kernels_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            names = [getattr(d, "func", d) for d in node.decorator_list]
            if DECORATORS & {name.id for name in names if isinstance(name, ast.Name)}:
                yield node


def is_one_number(value):
    is_named = isinstance(value, ast.Name) and value.id.isupper()
    is_signed = isinstance(value, ast.UnaryOp) and is_one_number(value.operand)
    return is_named or is_signed or isinstance(value, (ast.Constant, ast.Attribute))


def slices_filled_from_arrays(function):
    """Statements such as ``a[:n] = b``."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and not is_one_number(node.value):
            for target in node.targets:
                if isinstance(target, ast.Subscript) and any(
                    isinstance(part, ast.Slice) for part in ast.walk(target.slice)
                ):
                    yield ast.unparse(node)


def test_no_kernel_fills_a_slice_from_an_array():
    """numba compiles two CPU seconds of words for shapes that do not fit; a loop compiles at once."""
    found = [
        f"{path.name}: {line}"
        for path in SOURCES
        for function in kernels_of(path)
        for line in slices_filled_from_arrays(function)
    ]
    assert found == []


def test_the_rule_sees_what_it_forbids():
    source = "@kernel()\ndef f(a, b):\n    a[:2] = b\n    a[:2] = 0.0\n    a[1] = b[1]\n"
    (function,) = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    assert list(slices_filled_from_arrays(function)) == ["a[:2] = b"]
