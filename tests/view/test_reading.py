"""Reading in the page: names on nodes, texts of leaves, every column, search, levels, folded trees, keys, print."""

import base64
import time

import numpy as np
import pytest
from trees import random_tree
from view.browser import chromium, explorer, needs_browser, open_page, severe_messages, wait_for
from view.large_trees import line_tree

from arbora.view import to_html
from arbora.view._pack import unpack
from arbora.view.content import Content
from arbora.view.folding import folded_pack

TOPICS = {"sport": "match goal player", "money": "shares bank market", "space": "rocket orbit moon"}


@pytest.fixture(scope="module")
def documents():
    """Ninety documents of three topics in a taxonomy with named nodes."""
    topic = np.repeat(list(TOPICS), 30)
    tree = line_tree(90).taxonomy([3, 9])
    names = [f"{name} {k}" for k, name in enumerate(topic)]
    inner = [f"Topic {k}" for k in range(90, tree.n_nodes)]
    content = {
        "classes": {"topic": np.where(np.arange(90) % 5 == 0, None, topic)},
        "metadata": {"date": np.datetime64("2020-01-01") + np.arange(90), "words": np.arange(90) ** 2.0},
        "texts": [f"{TOPICS[name]} document {k}" for k, name in enumerate(topic)],
    }
    return tree.replace(name=[*names, *inner]), content


# ---- folded pages ----------------------------------------------------------------------------------------


def test_a_folded_page_keeps_counts_words_and_exemplars():
    tree = line_tree(5000)
    texts = [f"word{k // 500} common" for k in range(5000)]
    content = Content(tree, texts=texts, classes=np.arange(5000) // 500)
    facts, arrays = unpack(folded_pack(content, 64))
    groups = arrays["opened"] <= 0
    assert facts["nGroups"] == groups.sum() == 64
    assert arrays["size"][groups].sum() == 5000
    assert arrays["cellCount0"].sum() == 5000
    card = facts["cards"][int(np.flatnonzero(arrays["id"] == tree.root)[0])]
    assert card["size"] == 5000
    assert len(card["exemplars"]) == 12
    deepest = int(np.argmax(groups * arrays["size"]))
    assert facts["cards"][deepest]["words"]


def test_a_tree_of_any_size_has_a_page(tmp_path):
    tree = line_tree(200_000)
    path = to_html(tree, tmp_path / "t.html", max_leaves=300, classes=np.arange(200_000) // 25_000)
    assert path.stat().st_size < 2e6
    small = to_html(random_tree(20, np.random.default_rng(0)), tmp_path / "s.html", max_leaves=300)
    assert small.stat().st_size < 1e6
    with pytest.raises(ValueError, match="max_leaves=2000"):
        to_html(tree, tmp_path / "u.html")
    with pytest.raises(ValueError, match="max_leaves"):
        to_html(tree, tmp_path / "u.html", max_leaves=1)


# ---- in the browser --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def driver(documents, tmp_path_factory):
    tree, content = documents
    path = to_html(tree, tmp_path_factory.mktemp("page") / "documents.html", **content)
    with chromium() as browser:
        browser.address = path.as_uri()
        open_page(browser, browser.address)
        yield browser
        assert severe_messages(browser) == []


def text_of(driver, selector):
    return driver.execute_script("return document.querySelector(arguments[0])?.textContent", selector)


def painted(driver):
    """The texts that the present view paints."""
    svg = explorer(driver, "e.stage.svg()")
    return [part.split("<")[0] for part in svg.split(">") if "</text" in part]


@needs_browser
@pytest.mark.browser
def test_keys_work_at_once_and_after_a_button(driver):
    from selenium.webdriver import ActionChains

    ActionChains(driver).send_keys("3").perform()
    wait_for(driver, "document.getElementById('arbora').explorer.stage.name === 'icicle'")
    driver.find_element("css selector", ".views [data-view=treemap]").click()
    ActionChains(driver).send_keys("2").perform()
    wait_for(driver, "document.getElementById('arbora').explorer.stage.name === 'dendrogram'")


@needs_browser
@pytest.mark.browser
def test_a_taxonomy_opens_folded_at_its_first_level_with_names(driver):
    assert explorer(driver, "e.cut.clusters") == 3
    assert driver.find_element("css selector", ".check input").is_selected()
    assert driver.execute_script(
        "return [...document.querySelectorAll('[data-level]')].map((c) => c.dataset.level)"
    ) == ["3", "9"]
    for view in ("dendrogram", "icicle", "treemap", "circular"):
        explorer(
            driver,
            f"(await e.showView('{view}', false), e.fit(), await new Promise((r) => setTimeout(r, 700)))",
        )
        assert sum(text.startswith("Topic") for text in painted(driver)) >= 3, view


@needs_browser
@pytest.mark.browser
def test_drilling_goes_from_level_to_level_with_a_trail_back(driver, documents):
    tree, _ = documents
    explorer(driver, "(await e.showView('treemap', false), e.cutting.drillOut(), await e.setCut(3, false))")
    leaf_slot = "e.store.slot(5)"
    explorer(driver, f"await e.cutting.drill({leaf_slot})")
    first = explorer(driver, "e.selected")
    assert tree.depths[first] == 1
    assert 5 in tree.leaves(first)
    explorer(driver, f"await e.cutting.drill({leaf_slot})")
    assert tree.depths[explorer(driver, "e.selected")] == 2
    assert explorer(driver, "e.cut.clusters") == 9
    names = driver.execute_script(
        "return [...document.querySelectorAll('.trail li')].map((step) => step.textContent)"
    )
    assert names[1:] == [tree.label(first), tree.label(explorer(driver, "e.selected"))]
    explorer(driver, f"await e.cutting.drill({leaf_slot})")
    assert not explorer(driver, "e.cutting.folds")
    explorer(driver, "e.cutting.setFolds(true)")
    driver.find_element("css selector", ".trail li button").click()
    wait_for(driver, "document.querySelector('.trail').hidden")


@needs_browser
@pytest.mark.browser
def test_a_leaf_shows_its_text_and_every_column(driver):
    explorer(driver, "await e.goTo(31)")
    wait_for(driver, "document.querySelector('.card-title')?.textContent === 'money 31'")
    assert text_of(driver, ".text p") == "shares bank market document 31"
    values = driver.execute_script(
        "return Object.fromEntries([...document.querySelectorAll('.values dd')]"
        ".map((d) => [d.dataset.column, d.textContent.trim()]))"
    )
    assert values == {"topic": "money", "date": "2020-02-01", "words": "961"}


@needs_browser
@pytest.mark.browser
def test_the_card_of_a_node_shows_all_columns_and_follows_the_color(driver, documents):
    tree, _ = documents
    explorer(driver, f"await e.select({tree.root})")
    for color in ("date", "topic", "words"):
        explorer(driver, f"await e.setColor('{color}')")
        shown = driver.execute_script(
            "return [...document.querySelectorAll('.card [data-column]')].map((c) => c.dataset.column)"
        )
        assert shown == ["topic", "date", "words"]
    assert "18 without a value" in text_of(driver, ".card .mix")
    assert float(text_of(driver, "[data-fact=Purity]")) == pytest.approx(1 / 3, abs=1e-3)


@needs_browser
@pytest.mark.browser
def test_dates_have_a_time_scale_and_long_tails_are_clipped(driver):
    explorer(driver, "await e.setColor('date')")
    assert text_of(driver, ".legend .ends") == "2020-01-012020-03-30"
    explorer(driver, "await e.setColor('topic')")
    counts = driver.execute_script(
        "return [...document.querySelectorAll('.legend .count')].map((c) => Number(c.textContent))"
    )
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == 72


@needs_browser
@pytest.mark.browser
def test_search_finds_topics_words_and_values(driver):
    box = driver.find_element("css selector", "input[type=search]")
    for typed, kind in (("topic 9", "node"), ("rocket", "word"), ("money", "value"), ("document 77", "text")):
        box.clear()
        box.send_keys(typed)
        wait_for(driver, f"document.querySelector('.found [data-kind={kind}]')")
    box.clear()
    box.send_keys("rocket")
    wait_for(driver, "document.querySelector('.found [data-kind=word]')")
    driver.find_element("css selector", ".found [data-kind=word]").click()
    wait_for(driver, "document.getElementById('arbora').explorer.marks.length === 30")
    explorer(driver, "e.escape(null)")


@needs_browser
@pytest.mark.browser
def test_a_number_that_no_cut_has_is_said(driver):
    explorer(driver, "await e.setCut(5, true)")
    assert "No cut has 5 clusters: 3 or " in text_of(driver, ".cut-note")
    explorer(driver, "await e.setCut(9, true)")
    assert driver.execute_script("return document.querySelector('.cut-note').hidden")


@needs_browser
@pytest.mark.browser
def test_on_paper_circles_stay_round(driver):
    explorer(driver, "(await e.showView('circular', false), e.cutting.drillOut())")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    time.sleep(0.3)
    fit = driver.execute_script("return getComputedStyle(document.querySelector('canvas.stage')).objectFit")
    hidden = driver.execute_script("return getComputedStyle(document.querySelector('.tools')).display")
    shown = driver.execute_script("return document.querySelector('.side').innerText")
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    # what the colors mean stays, what only a pointer can do goes
    assert "Color" in shown and "Clusters" in shown
    assert "Click a node" not in shown and "Shift-drag" not in shown
    assert fit == "contain"
    assert hidden == "none"
    printed = driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert base64.b64decode(printed).startswith(b"%PDF")


@needs_browser
@pytest.mark.browser
def test_the_tooltip_leaves_what_it_names_in_sight(driver):
    from selenium.webdriver import ActionChains

    explorer(driver, "(await e.showView('treemap', false), e.cutting.setFolds(true), e.cutting.drillOut())")
    canvas = driver.find_element("css selector", "canvas.stage")
    ActionChains(driver).move_to_element_with_offset(canvas, -120, 60).perform()
    wait_for(driver, "!document.querySelector('.tip').hidden")
    boxes = driver.execute_script(
        "const t = document.querySelector('.tip').getBoundingClientRect(), c = document.querySelector('canvas.stage')"
        ".getBoundingClientRect(); return [t.left, t.right, t.top, t.bottom,"
        "c.left + c.width / 2 - 120, c.top + c.height / 2 + 60];"
    )
    left, right, top, bottom, x, y = boxes
    assert not (left <= x <= right and top <= y <= bottom)
    assert text_of(driver, ".tip .strong").startswith("Topic")


@needs_browser
@pytest.mark.browser
def test_a_folded_page_is_explored_like_any_other(driver, tmp_path):
    tree = line_tree(60_000)
    texts = [f"word{k // 6000} common" for k in range(60_000)]
    path = to_html(tree, tmp_path / "t.html", max_leaves=400, texts=texts, classes=np.arange(60_000) // 6000)
    open_page(driver, path.as_uri())
    assert driver.find_element("css selector", ".brand").text == "Tree of 60,000 leaves\nin 400 groups"
    explorer(driver, "await e.setCut(12, true)")
    from sklearn.metrics import adjusted_rand_score

    expected = adjusted_rand_score(np.arange(60_000) // 6000, tree.cut(n_clusters=12))
    assert explorer(driver, "e.cut.ari") == pytest.approx(expected)
    for view in ("circular", "dendrogram", "icicle", "treemap", "disk"):
        explorer(driver, f"(await e.showView('{view}', false), e.stage.paint())")
        assert explorer(driver, "e.stage.frame.length") > 20
    explorer(driver, "await e.select(e.cut.roots[0])")
    assert text_of(driver, ".words p")
    explorer(driver, "await e.finding.search('word3')")
    assert driver.execute_script("return document.querySelectorAll('.found [data-kind=node]').length") > 0
    open_page(driver, driver.address)
