"""Hierarchies from the logits of flat models (L2H), and flat models that give logits (TURTLE, TEMI)."""

from __future__ import annotations

import importlib
from typing import Any

_HOME_OF_NAME = {
    "EstimateWarning": "l2h",
    "L2H": "l2h",
    "TEMI": "temi",
    "TURTLE": "turtle",
    "calibration_error": "calibration",
    "choose_n_clusters": "choose",
    "class_report": "report",
    "evaluate_flat": "evaluate",
    "evaluate_tree": "evaluate",
    "expand": "expansion",
    "fit_temperature": "calibration",
    "from_estimator": "estimator_logits",
    "taxonomy_tree": "taxonomy",
}

__all__ = sorted(_HOME_OF_NAME)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF_NAME:
        raise AttributeError(f"module 'arbora.logits' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"arbora.logits.{_HOME_OF_NAME[name]}"), name)
    globals()[name] = value
    return value
