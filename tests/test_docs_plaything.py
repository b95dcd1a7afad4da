"""The trees of the guide that can be dragged: what they show is what arbora computes, and their best is the best."""

import json
import re
from functools import cache
from itertools import combinations, product
from pathlib import Path

import pytest
from view.browser import chromium, needs_browser, severe_messages

import arbora as ab

SCRIPT = Path(__file__).parent.parent / "docs" / "_static" / "plaything.js"
NAMES = "abcdefgh"
CLASSES = ["blue"] * 4 + ["orange"] * 4


def edges():
    """The graph that the script draws."""
    found = re.findall(r'\["(\w)", "(\w)", (\d)\]', SCRIPT.read_text(encoding="utf-8"))
    return [(NAMES.index(i), NAMES.index(j), float(weight)) for i, j, weight in found]


def graph():
    i, j, weights = zip(*edges(), strict=True)
    return ab.similarity.graph((list(i), list(j), list(weights)))


def stated_best(measure):
    text = SCRIPT.read_text(encoding="utf-8")
    return float(re.search(rf'title: "{measure}", best: ([\d.]+)', text)[1])


def test_the_graph_has_eleven_edges():
    assert len(edges()) == 11


def test_the_best_cost_is_the_least_of_all_binary_trees():
    weights = {frozenset((i, j)): weight for i, j, weight in edges()}

    @cache
    def best(leaves):
        found = [0] if len(leaves) < 2 else []
        for size in range(1, len(leaves) // 2 + 1):
            for side in map(frozenset, combinations(sorted(leaves), size)):
                rest = leaves - side
                across = sum(weights.get(frozenset((i, j)), 0) for i in side for j in rest)
                found.append(across * len(leaves) + best(side) + best(rest))
        return min(found)

    assert best(frozenset(range(8))) == stated_best("cost")


def test_the_best_divergence_is_the_highest_of_all_trees_with_two_groups():
    shown = graph()
    parents = (place for place in product((8, 9, 10), repeat=8) if min(place.count(8), place.count(9)) > 1)
    trees = (ab.Tree([*place, 10, 10, -1], n_leaves=8) for place in parents)
    highest = max(ab.metrics.tree_sampling_divergence(tree, shown) for tree in trees)
    assert round(highest, 3) == stated_best("TSD")


def as_tree(shown):
    """arbora's tree of the nested lists that the script keeps."""
    newick = json.dumps(shown).replace("[", "(").replace("]", ")").replace('"', "") + ";"
    return ab.Tree.from_newick(newick).matched_to(list(NAMES))


DEFINITIONS = {
    "cost": lambda tree: ab.metrics.dasgupta_cost(tree, graph()),
    "tsd": lambda tree: ab.metrics.tree_sampling_divergence(tree, graph()),
    "purity": lambda tree: ab.metrics.dendrogram_purity(tree, CLASSES),
}


def drop_on(driver, box, leaf, other):
    """Drag a leaf onto another with the mouse."""
    from selenium.webdriver import ActionChains

    here, there = (
        box.find_element("css selector", f".tree circle[data-leaf={name}]") for name in (leaf, other)
    )
    ActionChains(driver).click_and_hold(here).move_to_element(there).release().perform()


@needs_browser
@pytest.mark.browser
def test_dragging_leaves_shows_what_arbora_computes(tmp_path):
    boxes = "".join(f'<div class="plaything" data-measure="{name}"></div>' for name in DEFINITIONS)
    page = tmp_path / "page.html"
    page.write_text(f"<!doctype html>{boxes}<script src='{SCRIPT.as_uri()}'></script>", encoding="utf-8")
    with chromium(height=2400) as driver:
        driver.get(page.as_uri())
        for name, definition in DEFINITIONS.items():
            box = driver.find_element("css selector", f"[data-measure={name}]")
            seen = set()
            for leaf, other in [(None, None), ("e", "b"), ("d", "c"), ("h", "g"), ("b", "a")]:
                if leaf:
                    drop_on(driver, box, leaf, other)
                shown = float(box.find_element("css selector", ".now").text)
                digits = {"cost": 0, "tsd": 3, "purity": 2}[name]
                expected = definition(as_tree(json.loads(box.get_attribute("data-tree"))))
                assert shown == pytest.approx(expected, abs=0.51 * 10**-digits)
                seen.add(shown)
            assert len(seen) > 2
            box.find_element("css selector", ".again").click()
            for _ in range(20):
                box.find_element("css selector", ".search").click()
            best = float(box.find_element("css selector", ".best").text)
            assert float(box.find_element("css selector", ".now").text) == best
        assert severe_messages(driver) == []
