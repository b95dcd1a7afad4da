"""Hierarchies from the logits of flat models (L2H), and flat models that give logits (TURTLE, TEMI)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    "EstimateWarning": "arbora.logits._warnings",
    "L2H": "arbora.logits.l2h",
    "ProbabilityWarning": "arbora.logits._warnings",
    "TEMI": "arbora.logits.temi",
    "TURTLE": "arbora.logits.turtle",
    "calibration_error": "arbora.logits.calibration",
    "choose_n_clusters": "arbora.logits.choose",
    "class_report": "arbora.logits.report",
    "evaluate_tree": "arbora.logits.evaluate",
    "expand": "arbora.tree.groups",
    "fit_temperature": "arbora.logits.calibration",
    "hierarchical_f1": "arbora.logits.hierarchical",
    "mistake_severity": "arbora.logits.hierarchical",
    "name_nodes": "arbora.logits.taxonomy",
    "node_scores": "arbora.logits.hierarchical",
    "risk_coverage": "arbora.logits.hierarchical",
    "from_estimator": "arbora.logits._from_estimator",
    "taxonomy_tree": "arbora.logits.taxonomy",
}

__all__ = sorted(_HOME_OF_NAME)

if TYPE_CHECKING:
    from arbora.logits._from_estimator import from_estimator as from_estimator
    from arbora.logits._warnings import EstimateWarning as EstimateWarning
    from arbora.logits._warnings import ProbabilityWarning as ProbabilityWarning
    from arbora.logits.calibration import calibration_error as calibration_error
    from arbora.logits.calibration import fit_temperature as fit_temperature
    from arbora.logits.choose import choose_n_clusters as choose_n_clusters
    from arbora.logits.evaluate import evaluate_tree as evaluate_tree
    from arbora.logits.hierarchical import hierarchical_f1 as hierarchical_f1
    from arbora.logits.hierarchical import mistake_severity as mistake_severity
    from arbora.logits.hierarchical import node_scores as node_scores
    from arbora.logits.hierarchical import risk_coverage as risk_coverage
    from arbora.logits.l2h import L2H as L2H
    from arbora.logits.report import class_report as class_report
    from arbora.logits.taxonomy import name_nodes as name_nodes
    from arbora.logits.taxonomy import taxonomy_tree as taxonomy_tree
    from arbora.logits.temi import TEMI as TEMI
    from arbora.logits.turtle import TURTLE as TURTLE
    from arbora.tree.groups import expand as expand
else:
    __getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
