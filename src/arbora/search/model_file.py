"""The file of a fitted `TreeClustering`: its settings, its tree and the similarity the tree was built by."""

from __future__ import annotations

import json
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbora._base.files import read_archive, write_archive
from arbora._base.types import PathLike
from arbora.errors import FormatError
from arbora.search.report import ClusterReport
from arbora.similarity.archive import similarity_from_arrays, similarity_to_arrays
from arbora.similarity.scaling import Scaling
from arbora.tree.formats.npz import tree_from_arrays, tree_to_arrays

if TYPE_CHECKING:
    from arbora.search.tree_clustering import TreeClustering

MARKER = "arbora.tree-clustering"
# Settings that belong to a process, not to a model.
_NOT_SAVED = ("checkpoint",)


def write_model(model: TreeClustering, path: PathLike) -> None:
    """Write a fitted model, all or nothing."""
    about = {
        "params": _settings(model),
        "fitted_on": model._fitted_on,
        "metric": model.metric_,
        "scaling": None if model._scaling is None else model._scaling.kind,
        "n_features_in": getattr(model, "n_features_in_", None),
        "feature_names_in": _names(getattr(model, "feature_names_in_", None)),
        "report": model.report_.to_dict(),
    }
    arrays = {
        "about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        "labels": model.labels_,
        **_prefixed("tree", tree_to_arrays(model.tree_)),
        **_prefixed("similarity", similarity_to_arrays(model.similarity_)),
        **({} if model._scaling is None else _prefixed("scaling", model._scaling.arrays())),
    }
    write_archive(path, MARKER, arrays)


def read_model(model: TreeClustering, path: PathLike) -> TreeClustering:
    """Give an unfitted model the state that `write_model` wrote."""
    arrays = read_archive(path, MARKER)
    try:
        about = json.loads(arrays["about"].tobytes())
        model.set_params(**about["params"])
        model.tree_ = tree_from_arrays(_part("tree", arrays))
        names = None if model.tree_.name is None else model.tree_.name[: model.tree_.n_leaves].tolist()
        model.similarity_ = similarity_from_arrays(_part("similarity", arrays), names)
        model.labels_ = arrays["labels"].astype(np.int64)
        model.report_ = ClusterReport.from_dict(about["report"], model.similarity_)
        model._fitted_on = str(about["fitted_on"])
        model.metric_ = about["metric"]
        kind = about["scaling"]
        model._scaling = None if kind is None else Scaling.from_arrays(kind, _part("scaling", arrays))
        _set_features(model, about)
        if not model.similarity_.n_points == model.tree_.n_leaves == len(model.labels_):
            raise ValueError("its tree, similarity and labels have different numbers of points")
    except (KeyError, TypeError, ValueError) as problem:
        raise FormatError(f"{path} is damaged, or not what arbora saved: {problem}") from problem
    return model


def _settings(model: TreeClustering) -> dict[str, Any]:
    settings = {name: value for name, value in model.get_params(deep=False).items() if name not in _NOT_SAVED}
    if not isinstance(settings["random_state"], Integral):
        settings["random_state"] = None
    return {
        name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()
    }


def _set_features(model: TreeClustering, about: dict[str, Any]) -> None:
    if about["n_features_in"] is not None:
        model.n_features_in_ = int(about["n_features_in"])
    if about["feature_names_in"] is not None:
        model.feature_names_in_ = np.array(about["feature_names_in"], dtype=object)


def _names(names: NDArray[Any] | None) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _prefixed(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {f"{prefix}/{name}": array for name, array in arrays.items()}


def _part(prefix: str, arrays: dict[str, Any]) -> dict[str, Any]:
    return {
        name.removeprefix(f"{prefix}/"): array
        for name, array in arrays.items()
        if name.startswith(f"{prefix}/")
    }
