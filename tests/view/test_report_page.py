"""The page of a class report draws what the report offers."""

import numpy as np
import pytest
from view.browser import chromium, explorer, needs_browser, open_page, severe_messages, wait_for

import arbora as ab
from arbora import Tree
from arbora.view.content import Content


@pytest.fixture(scope="module")
def report():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 900)
    near = 3 * np.eye(6) + 2 * np.kron(np.eye(3), np.ones((2, 2)))
    logits = near[y] + rng.normal(size=(900, 6))
    names = ["cat", "dog", "car", "bus", "oak", "<b>elm</b>"]
    model = ab.L2H(class_names=names, random_state=0).fit(logits)
    kinds = dict(zip(names, ["pet", "pet", "vehicle", "vehicle", "tree", "tree"], strict=True))
    return ab.logits.class_report(model, logits, y, taxonomy=kinds)


def test_a_report_that_is_none_is_refused():
    tree = Tree.from_newick("(a,b);")
    with pytest.raises(ValueError, match="list of sections"):
        Content(tree, report={"title": "x"})
    with pytest.raises(ValueError, match="needs"):
        Content(tree, report={"sections": [{"name": "summary"}]})
    assert Content(tree, report={"sections": []}).facts()["report"]["warnings"] == []


@needs_browser
@pytest.mark.browser
def test_the_page_of_a_class_report_contains_the_report(report, tmp_path):
    path = report.to_html(tmp_path / "report.html")
    with chromium() as driver:
        open_page(driver, path.as_uri())
        shown = driver.execute_script(
            "return [...document.querySelectorAll('[data-section]')].map((s) => s.dataset.section)"
        )
        assert shown == [section.name for section in report.sections()]
        assert {"summary", "calibration", "pairs", "confusion"} <= set(shown)
        accuracy = driver.find_element("css selector", "[data-figure=accuracy]").text
        assert float(accuracy) == pytest.approx(report.calibration.accuracy, abs=1e-3)
        assert (
            driver.execute_script(
                "return document.querySelectorAll('.report .diagram, .report .matrix').length"
            )
            == 2
        )
        rows = driver.execute_script(
            "return document.querySelectorAll('[data-section=pairs] tbody tr').length"
        )
        assert rows == len(report.pairs)
        assert driver.execute_script("return document.querySelectorAll('.report b').length") == 0

        driver.find_element("css selector", "[data-section=pairs] .link").click()
        wait_for(
            driver,
            f"document.getElementById('arbora').explorer.selected === {report.tree.find(report.pairs[0]['a'])}",
        )
        assert driver.execute_script("return document.querySelector('.report').hidden")
        node = report.tree.n_leaves
        explorer(driver, f"await e.select({node})")
        recall = driver.find_element("css selector", "[data-fact=Recall]").text
        assert float(recall) == pytest.approx(report.nodes.recall[node], abs=1e-3)
        assert severe_messages(driver) == []
