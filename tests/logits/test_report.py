"""Reading a classifier: the report finds what was put in."""

from __future__ import annotations

import json

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
    # wrong more often than the model thinks
    y = np.where(np.random.default_rng(1).random(len(y)) < 0.3, 0, y)
    published = {"n_bootstraps": 0, "refine": False}
    sharp = ab.L2H(**published).fit(5 * logits)
    report = class_report(sharp, 5 * logits, y)
    assert "overconfident" in report.warnings[0] and "temperature=" in report.warnings[0]
    assert report.temperature == pytest.approx(5 * class_report(model, logits, y).temperature, rel=0.01)
    assert 0 < report.changed_groups <= 1
    calibrated = ab.L2H(**published, temperature=report.recommended_temperature).fit(5 * logits)
    after = class_report(calibrated, 5 * logits, y)
    assert after.temperature == pytest.approx(1, abs=0.01)
    assert after.calibration.error < report.calibration.error


def test_where_calibrating_changes_no_group_it_is_a_note(planted):
    logits, y, model = planted
    report = class_report(model, logits, y)
    assert report.changed_groups == 0 and not report.warnings
    assert "do not depend on it" in report.notes[0]


def test_the_advice_for_probabilities_with_zeros_can_be_followed_and_helps():
    rng = np.random.default_rng(0)
    p = softmax(2 * rng.normal(size=(3000, 6)), axis=1)
    y = np.array([rng.choice(6, p=row**3 / (row**3).sum()) for row in p])
    shares = np.array([rng.multinomial(30, row) for row in p]) / 30
    y[:30] = shares[:30].argmin(axis=1)
    model = ab.L2H(from_probabilities=True, n_bootstraps=0).fit(shares)
    report = class_report(model, shares, y)
    said = " ".join(report.warnings + report.notes)
    assert "underconfident" in said and "from_probabilities=True, temperature=0." in said
    followed = ab.L2H(
        from_probabilities=True, n_bootstraps=0, temperature=report.recommended_temperature
    ).fit(shares)
    assert class_report(followed, shares, y).calibration.error < report.calibration.error / 2


def test_without_labels_a_saturated_model_is_warned_about(planted):
    logits, _, _ = planted
    report = class_report(ab.L2H(n_bootstraps=0).fit(100 * logits), 100 * logits)
    assert "almost always sure" in report.warnings[0]
    assert report.calibration is None


def test_report_prints_and_becomes_frames_and_pages(planted, tmp_path):
    logits, y, model = planted
    report = class_report(model, logits, y, taxonomy=SUPERCLASS, max_rows=3)
    assert "Confusable pairs" in str(report) and "dogsled" in str(report)
    assert report._repr_html_().count("<table>") == 7
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
    with pytest.raises(ValueError, match="expecting 8 features"):
        class_report(model, logits[:, :3])
    with pytest.raises(ValueError, match="y must lie"):
        class_report(model, logits, y + 1)
    with pytest.raises(ValueError, match="one entry per class"):
        class_report(model, logits, taxonomy=["animal"])
    with pytest.raises(ValueError, match="max_rows"):
        class_report(model, logits, max_rows=0)


@pytest.mark.parametrize("taxonomy", ["animal", {"husky"}, 3, [["a"], "b"] * 4])
def test_what_is_no_taxonomy_is_refused(planted, taxonomy):
    logits, _, model = planted
    with pytest.raises(TypeError, match="taxonomy must"):
        class_report(model, logits, taxonomy=taxonomy)


def test_a_taxonomy_by_name_equals_the_list(planted):
    logits, y, model = planted
    by_name = dict(zip(reversed(NAMES), reversed(SUPERCLASS)))
    one, other = (class_report(model, logits, y, taxonomy=given) for given in (by_name, SUPERCLASS))
    assert one.conflicts == other.conflicts and one.conflicts
    with pytest.raises(ValueError, match="no entry for 'husky'"):
        class_report(model, logits, taxonomy=dict.fromkeys(NAMES[1:], "x"))
    with pytest.raises(ValueError, match="no class called 'tiger'"):
        class_report(model, logits, taxonomy={**by_name, "tiger": "animal"})


def test_true_classes_by_name(planted):
    logits, y, model = planted
    named = class_report(model, logits, [NAMES[c] for c in y])
    assert np.array_equal(named.confusion, class_report(model, logits, y).confusion)


def test_figures_equal_their_definitions(planted):
    logits, y, model = planted
    report = class_report(model, logits, y)
    own = logits.argmax(axis=1)
    assert report.calibration.accuracy == pytest.approx((own == y).mean())
    for v in range(report.tree.n_nodes):
        leaves = report.tree.leaves(v)
        inside = np.isin(own, leaves)
        assert report.nodes.precision[v] == pytest.approx(np.isin(y, leaves)[inside].mean())
    confusion = next(section for section in report.sections() if section.name == "confusion")
    assert confusion.names == [NAMES[c] for c in report.tree.leaf_order]
    assert confusion.matrix.sum() == len(y) and np.trace(confusion.matrix) == (own == y).sum()


@pytest.mark.parametrize("kind", ["path", "batches", "half"])
def test_reports_read_whatever_fit_reads(planted, kind, tmp_path):
    logits, y, model = planted
    np.save(tmp_path / "x.npy", logits)
    source = {
        "path": tmp_path / "x.npy",
        "batches": (part for part in np.array_split(logits, 7)),
        "half": logits.astype(np.float16),
    }[kind]
    whole, found = class_report(model, logits, y), class_report(model, source, y)
    assert np.allclose(found.pairs[0]["probability"], whole.pairs[0]["probability"], atol=1e-3)
    assert np.abs(found.confusion - whole.confusion).sum() < 10
    with pytest.raises(ValueError, match="one class per point, 4000"):
        class_report(model, logits, y[:-1])


def test_the_report_as_data_is_json_and_markdown(planted):
    logits, y, model = planted
    report = class_report(model, logits, y, taxonomy=SUPERCLASS)
    found = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    names = [section["name"] for section in found["sections"]]
    assert names == ["summary", "calibration", "pairs", "conflicts", "spurious", "nodes", "confusion"]
    for section in report.sections():
        assert all(list(row) == list(section.columns) for row in section.rows)
        # every column is explained
        assert all(meaning for key, meaning in section.columns.items() if key != "value")
    text = report.to_markdown()
    assert "## Confusable pairs" in text and "| husky |" in text and "- `kin`: of the classes" in text


def test_names_in_reports_are_escaped(planted):
    logits, _, _ = planted
    names = ["<script>alert(1)</script>", "a|b", *NAMES[2:]]
    report = class_report(ab.L2H(n_bootstraps=0, class_names=names).fit(logits), logits)
    assert "<script>" not in report._repr_html_() and "&lt;script&gt;" in report._repr_html_()
    assert "a\\|b" in report.to_markdown()


def test_counts_are_numbers_not_categories(planted):
    logits, _, model = planted
    assert all(isinstance(value, float) for value in class_report(model, logits).columns["predicted points"])


def test_inner_nodes_are_named_after_the_taxa_they_match(planted):
    logits, _, model = planted
    taxonomy = ["dog", "dog", "cat", "cat", "sled", "road", "road", "road"]
    tree = class_report(model, logits, taxonomy=taxonomy).tree
    assert tree.name[tree.lca(0, 1)] == "dog" and tree.name[tree.lca(5, 7)] == "road"
    # the whole tree is no taxon
    assert tree.name[tree.root] == ""


def test_pairs_nearer_than_kin_are_not_called_spurious(planted):
    logits, _, model = planted
    report = class_report(model, logits, taxonomy=["a", "a", "b", "b", "c", "d", "d", "d"])
    for row in report.spurious:
        assert row["probability"] > row["kin_probability"] and row["kin"] not in (row["a"], row["b"])


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
