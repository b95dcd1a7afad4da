"""One script out of the page's modules: in order of their imports, with the module syntax taken off.

The modules are plain ES modules with named imports from each other, so that editors and linters understand
them; concatenated they share one scope, which is why their top-level names must differ (checked here).
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r"^import \{[^}]*\} from \"\./(\w+)\.js\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|class|let) )", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^(?:export )?(?:async )?(?:function|class|const|let) (\w+|\{[^}]*\})", re.MULTILINE)


@cache
def asset(name: str) -> str:
    """Text of one file of the page."""
    return files("arbora.view").joinpath("assets", name).read_text(encoding="utf-8")


@cache
def script(entry: str) -> str:
    """The script that starts from the module `entry`, everything it imports before it."""
    order: list[str] = []
    _visit(entry, order, ())
    seen: dict[str, str] = {}
    for module in order:
        for name in _top_level_names(asset(f"{module}.js")):
            if name in seen:
                raise ValueError(f"{module}.js and {seen[name]}.js both define {name}: rename one.")
            seen[name] = module
    bodies = [_EXPORT.sub("", _IMPORT.sub("", asset(f"{module}.js"))).strip() for module in order]
    return '"use strict";\n' + "\n\n".join(bodies) + "\n"


def _visit(module: str, order: list[str], above: tuple[str, ...]) -> None:
    if module in order:
        return
    if module in above:
        raise ValueError(
            f"The page's modules import each other in a circle: {' -> '.join([*above, module])}."
        )
    for needed in _IMPORT.findall(asset(f"{module}.js")):
        _visit(needed, order, (*above, module))
    order.append(module)


def _top_level_names(source: str) -> list[str]:
    names: list[str] = []
    for found in _TOP_LEVEL.findall(source):
        names += re.findall(r"\w+", found)
    return names
