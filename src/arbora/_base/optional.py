"""Optional dependencies: each missing one names itself and the pip line that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from arbora.errors import MissingExtraError

# The extra of pyproject.toml that brings each package.
_EXTRA_OF = {
    "torch": "torch",
    "matplotlib": "view",
    "starlette": "view",
    "uvicorn": "view",
    "anywidget": "view",
    "networkx": "formats",
    "pandas": "formats",
    "polars": "formats",
    "pyarrow": "formats",
    "h5py": "formats",
    "anndata": "formats",
    "openpyxl": "formats",
    "zarr": "formats",
    "Bio": "formats",
    "dask": "dask",
    "distributed": "dask",
    "umap": "baselines",
    "fast_hdbscan": "baselines",
    "evoc": "baselines",
}


def require(module: str, purpose: str) -> Any:
    """A module of an optional package, or `MissingExtraError` that says what needs it and how to install it.

    Examples
    --------
    >>> from arbora._base.optional import require
    >>> require("json", "Reading JSON").loads("[1]")
    [1]
    """
    package = module.split(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        # an installed package that fails to import one of its own dependencies is another problem
        if error.name is not None and error.name.split(".")[0] != package:
            raise
        extra = _EXTRA_OF.get(package)
        target = f"'arbora[{extra}]'" if extra else package
        raise MissingExtraError(
            f"{purpose} needs {package}. Install it with: pip install {target}"
        ) from error
