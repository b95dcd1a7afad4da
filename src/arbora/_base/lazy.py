"""Names of a package that load on first use."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def load_on_use(
    package: str, home_of_name: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """What a package sets as its ``__getattr__`` and ``__dir__``, given the module in which each name is defined.

    A module that is itself one of the names is listed under its own path.
    """

    def get(name: str) -> Any:
        if name not in home_of_name:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(home_of_name[name])
        value = module if home_of_name[name] == f"{package}.{name}" else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted(sys.modules[package].__all__)
