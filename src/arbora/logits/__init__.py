"""Hierarchies from the logits of flat models (L2H), and flat models that give logits (TURTLE, TEMI)."""

from __future__ import annotations

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    "EstimateWarning": "arbora.logits.l2h",
    "L2H": "arbora.logits.l2h",
    "TEMI": "arbora.logits.temi",
    "TURTLE": "arbora.logits.turtle",
    "calibration_error": "arbora.logits.calibration",
    "choose_n_clusters": "arbora.logits.choose",
    "class_report": "arbora.logits.report",
    "evaluate_flat": "arbora.logits.evaluate",
    "evaluate_tree": "arbora.logits.evaluate",
    "expand": "arbora.logits.expansion",
    "fit_temperature": "arbora.logits.calibration",
    "from_estimator": "arbora.logits.estimator_logits",
    "taxonomy_tree": "arbora.logits.taxonomy",
}

__all__ = sorted(_HOME_OF_NAME)
__getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
