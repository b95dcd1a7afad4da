"""Reading a classifier: the report finds what was put in."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax

import arbora as ab
from arbora.logits import class_report, taxonomy_tree

NAMES = ["husky", "malamute", "tabby", "lion", "dogsled", "truck", "lorry", "bicycle"]
SUPERCLASS = ["animal"] * 4 + ["artifact"] * 4


@pytest.fixture(scope="module")
def planted():
    """Eight classes; the sled (4) goes with the sled dogs (0, 1) though it is an artifact; cats are alike."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 8, 4000)
    near = np.full((8, 8), 0.0)
    for group, value in (([0, 1, 4], 3.0), ([0, 1], 1.0), ([2, 3], 3.0), ([5, 6, 7], 3.0), ([5, 6], 1.0)):
        near[np.ix_(group, group)] += value
    near[np.ix_([0, 1, 2, 3, 4], [0, 1, 2, 3, 4])] += 1.0
    near[np.diag_indices(8)] += 2.5
    logits = near[y] + rng.normal(size=(4000, 8))
    model = ab.L2H(class_names=NAMES, n_bootstraps=10, random_state=0).fit(logits)
    return logits, y, model


def test_a_planted_spurious_correlation_is_found(planted):
    logits, y, model = planted
    report = class_report(model, logits, y, taxonomy=SUPERCLASS)
    assert {report.spurious[0]["a"], report.spurious[0]["b"]} <= {"husky", "malamute", "dogsled"}
    assert "dogsled" in (report.spurious[0]["a"], report.spurious[0]["b"])
    conflict = report.conflicts[0]
    joined = {conflict["group"], *conflict["host"].split(", ")}
    assert "dogsled" in joined and joined & {"husky", "malamute"} and conflict["levels"] == 1
    assert 0 < conflict["support"] <= 1


def test_most_confusable_pair_and_its_errors(planted):
    logits, y, model = planted
    row = class_report(model, logits, y).pairs[0]
    i, j = NAMES.index(row["a"]), NAMES.index(row["b"])
    p, own = softmax(logits, axis=1), logits.argmax(axis=1)
    assert row["a_to_b"] == pytest.approx(p[own == i, j].mean())
    assert row["errors"] == ((y == i) & (own == j)).sum() + ((y == j) & (own == i)).sum()
    pairs = {
        (a, b): 0.5 * (p[own == a, b].mean() + p[own == b, a].mean()) for a in range(8) for b in range(a)
    }
    assert row["probability"] == pytest.approx(max(pairs.values()))


def test_a_taxonomy_that_agrees_has_no_conflicts(planted):
    logits, _, model = planted
    report = class_report(model, logits, taxonomy=model.tree_)
    assert report.conflicts == []


def test_overconfidence_is_warned_about_with_the_temperature_to_use(planted):
    logits, y, model = planted
    y = np.where(
        np.random.default_rng(1).random(len(y)) < 0.3, 0, y
    )  # wrong more often than the model thinks
    sharp = ab.L2H(n_bootstraps=0).fit(5 * logits)
    report = class_report(sharp, 5 * logits, y)
    assert "overconfident" in report.warnings[0] and "temperature=" in report.warnings[0]
    assert report.temperature == pytest.approx(5 * class_report(model, logits, y).temperature, rel=0.01)
    assert 0 <= report.changed_groups <= 1
    mended = ab.L2H(n_bootstraps=0, temperature=report.temperature).fit(5 * logits)
    after = class_report(mended, 5 * logits, y)
    assert after.temperature == pytest.approx(1, abs=0.01)
    assert after.calibration.error < report.calibration.error


def test_without_labels_a_saturated_model_is_warned_about(planted):
    logits, _, _ = planted
    report = class_report(ab.L2H(n_bootstraps=0).fit(100 * logits), 100 * logits)
    assert "almost always sure" in report.warnings[0]
    assert report.calibration is None


def test_report_prints_and_becomes_frames_and_pages(planted, tmp_path):
    logits, y, model = planted
    report = class_report(model, logits, y, taxonomy=SUPERCLASS, max_rows=3)
    assert "Confusable pairs" in str(report) and "dogsled" in str(report)
    assert report._repr_html_().count("<table>") == 3
    pytest.importorskip("pandas")
    assert len(report.to_frame("pairs")) == 3
    with pytest.raises(ValueError, match="table must be"):
        report.to_frame("all")
    page = report.to_html(tmp_path / "page.html")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert set(report.columns) >= {"taxon", "accuracy", "confidence", "confused with"}


def test_bad_arguments_are_refused(planted):
    logits, y, model = planted
    with pytest.raises(TypeError, match="fitted L2H"):
        class_report(ab.L2H(), logits)
    with pytest.raises(ValueError, match="logits must have shape"):
        class_report(model, logits[:, :3])
    with pytest.raises(ValueError, match="y must lie"):
        class_report(model, logits, y + 1)
    with pytest.raises(ValueError, match="one entry a class"):
        class_report(model, logits, taxonomy=["animal"])
    with pytest.raises(ValueError, match="max_rows"):
        class_report(model, logits, max_rows=0)


def test_taxa_of_one_name_in_different_places_stay_apart():
    paths = [
        ["all", "bird", "crane"],
        ["all", "bird", "heron"],
        ["all", "machine", "crane"],
        ["all", "machine", "crane"],
    ]
    tree = taxonomy_tree(paths, 4)
    assert tree.lca(2, 3) != tree.lca(0, 2) and tree.lca(0, 2) == tree.root
    assert tree.lca(0, 1) != tree.root
