"""Fitted L2H models in files: arrays under a marker, nothing that has to be unpickled."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.files import read_archive, write_archive
from arbora._base.types import PathLike
from arbora.errors import FormatError
from arbora.tree import Tree

if TYPE_CHECKING:
    from arbora.logits.l2h import L2H

_MARKER = "arbora.l2h"
_ARRAYS = ("assignments_", "confidences_", "merge_scores_", "merge_shares_", "class_counts_", "labels_")


def save(model: L2H, path: PathLike) -> None:
    """Write a fitted model."""
    parameters = model.get_params(deep=False)
    if callable(parameters["aggregation"]):
        raise TypeError("A model whose aggregation is a function cannot be saved. Use one of the named ones.")
    if parameters["class_names"] is not None:
        parameters["class_names"] = [str(name) for name in parameters["class_names"]]
    seed = parameters["random_state"]
    if seed is not None and not isinstance(seed, int):
        parameters["random_state"] = None
    tree = model.tree_
    facts = {
        "parameters": parameters,
        "exact": model.exact_,
        "names": None if tree.name is None else [str(name) for name in tree.name],
        "n_classes": model.n_classes_,
        "columns": list(map(str, getattr(model, "feature_names_in_", []))),
    }
    # of a model fitted on Dask some are lazy
    arrays = {name: np.asarray(getattr(model, name)) for name in _ARRAYS}
    arrays |= {"facts": _as_bytes(facts), "parent": tree.parent, "height": np.asarray(tree.height)}
    if tree.support is not None:
        arrays["support"] = tree.support
    replicates = model.replicates_
    arrays["replicate_parents"] = np.array([r.parent for r in replicates]).reshape(-1, tree.n_nodes)
    arrays["replicate_heights"] = np.array([r.height for r in replicates]).reshape(-1, tree.n_nodes)
    write_archive(path, _MARKER, arrays)


def load(kind: type[L2H], path: PathLike) -> L2H:
    """A fitted model from a file that `save` wrote; `FormatError` for any other."""
    arrays = read_archive(path, _MARKER)
    try:
        facts = json.loads(bytes(arrays["facts"]).decode())
        model = kind(**facts["parameters"])
        n = int(facts["n_classes"])
        model.n_classes_ = model.n_features_in_ = n
        model.exact_ = bool(facts["exact"])
        if facts["columns"]:
            model.feature_names_in_ = np.array(facts["columns"], dtype=object)
        for name in _ARRAYS:
            setattr(model, name, arrays[name])
        model.tree_ = Tree(
            arrays["parent"], n, height=arrays["height"], support=arrays.get("support"), name=facts["names"]
        )
        model.replicates_ = [
            Tree(parent.astype(np.int64), n, height=height)
            for parent, height in zip(arrays["replicate_parents"], arrays["replicate_heights"])
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is damaged, or not what arbora saved: {error}") from error
    return model


def _as_bytes(facts: dict[str, Any]) -> NDArray[np.uint8]:
    text = json.dumps(facts, default=lambda value: value.item())
    return np.frombuffer(text.encode(), dtype=np.uint8)
