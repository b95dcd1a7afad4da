"""Addresses as links and similar leaves, in Python and on the cards of a page."""

import numpy as np
import pytest
from view.browser import chromium, explorer, needs_browser, open_page, severe_messages, wait_for

import arbora as ab
from arbora.reading.links import is_link
from arbora.view._pack import unpack
from arbora.view.columns import read_column
from arbora.view.content import Content
from arbora.view.editing import editable
from arbora.view.page import write_page
from arbora.view.session import card_facts, editing_session

HOSTILE = [
    "javascript:alert(1)",
    "JAVASCRIPT://example.org/%0aalert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    " https://example.org",
    "java\nscript:alert(1)",
    "https://",
    "//example.org",
    "mailto:nobody",
    "https://[",
    "https://example.org/" + "x" * 3000,
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_runs_or_leads_nowhere_is_no_link(text):
    assert not is_link(text)


@pytest.mark.parametrize(
    "text",
    ["http://a.b", "https://example.org/a b".replace(" ", "%20"), "mailto:a@b.org", "HTTPS://EXAMPLE.ORG/é"],
)
def test_addresses_are_links(text):
    assert is_link(text)


def tree_of(n):
    return ab.Tree.from_merges([(0, 1), *((n + k - 2, k) for k in range(2, n))], n)


def test_a_column_of_addresses_is_text_to_read_however_few_differ():
    tree = tree_of(6)
    column = read_column(tree, "url", ["https://a.org", None, *["https://b.org"] * 4])
    assert column.kind == "text" and column.facts()["links"]
    mixed = read_column(tree, "url", ["https://a.org", "elsewhere", *["https://b.org"] * 4])
    assert mixed.kind == "category" and "links" not in mixed.facts()
    assert read_column(tree, "url", ["https://a.org"] * 6, as_classes=True).kind == "category"


def test_a_leaf_says_what_it_is_most_similar_to():
    X = np.array([[0.0], [1.0], [1.1], [9.0], [9.1], [30.0]])
    tree = tree_of(6)
    content = Content(tree, similarity=ab.similarity.knn(X, 2, "euclidean"), names=list("abcdef"))
    assert card_facts(content, 3)[0]["similar"][0] == [4, "e"]
    assert card_facts(content, tree.root)[0]["similar"] == []
    table = content.similar_table()
    assert [leaf for leaf in table[3] if leaf >= 0] == content.similar(3)
    assert Content(tree).similar_table() is None and Content(tree).similar(0) == []


def similar_after_removing(tree, similarity, gone, leaf):
    """Names of the leaves most similar to one, once another is removed from a page that edits."""
    session = editing_session(editable(tree, {}, similarity))
    session.answer("edit", {"action": "remove", "node": gone})
    card = unpack(session.answer("card", {"node": leaf}))[0]
    return [name for _, name in card["similar"]]


def test_similar_leaves_follow_edits():
    X = np.array([[0.0], [1.0], [1.1], [9.0], [9.1], [30.0]])
    tree = tree_of(6).replace(name=[*"abcdef", *[""] * 5])
    similarity = ab.similarity.knn(X, 3, "euclidean")
    assert card_facts(editable(tree, {}, similarity).content, 3)[0]["similar"][0] == [4, "e"]
    left = similarity.subset([0, 1, 2, 3, 5])
    wanted = ["abcdf"[one.point] for one in ab.insight.similar(left, [3], 6)[0]]
    assert wanted and similar_after_removing(tree, similarity, 4, 3) == wanted


@needs_browser
@pytest.mark.browser
def test_a_page_that_edits_shows_similar_leaves_of_those_left(tmp_path):
    X = np.random.default_rng(0).normal(size=(12, 3))
    tree = tree_of(12).replace(name=[*"abcdefghijkl", *[""] * 11])
    similarity = ab.similarity.knn(X, 8)
    with chromium() as driver:
        open_page(
            driver, tree.to_html(tmp_path / "t.html", features=X, similarity=similarity, edit=True).as_uri()
        )
        explorer(driver, "await e.source.edit({action: 'remove', node: 4})")
        found = explorer(driver, "(await e.source.card(2)).similar.map((one) => one[1])")
        assert found == similar_after_removing(tree, similarity, 4, 2) and len(found) == 6
        explorer(driver, "await e.source.edit({action: 'undo'})")
        first = [name for _, name in card_facts(Content(tree, similarity=similarity), 2)[0]["similar"]]
        assert explorer(driver, "(await e.source.card(2)).similar.map((one) => one[1])") == first


@pytest.mark.parametrize(
    ("similarity", "problem", "message"),
    [(ab.similarity.graph(([0], [1])), ValueError, "2 points"), (np.eye(6), TypeError, "ndarray")],
)
def test_another_similarity_is_refused(similarity, problem, message, tmp_path):
    with pytest.raises(problem, match=message):
        tree_of(6).to_html(tmp_path / "t.html", similarity=similarity)


@needs_browser
def test_the_page_links_to_addresses_and_leads_to_similar_leaves(tmp_path):
    X = np.array([[0.0], [1.0], [1.1], [9.0], [9.1], [30.0]])
    urls = [f"https://example.org/{k}?q=<b>" for k in range(6)]
    tree = tree_of(6).replace(name=[*"abcdef", *[""] * 5])
    bad = Content(tree, metadata={"url": urls})
    # a page whose data was tampered with must not follow anything but addresses either
    bad.columns[0].values[tree.leaf_order.tolist().index(5)] = "javascript:alert(1)"
    tree.to_html(tmp_path / "t.html", metadata={"url": urls}, similarity=ab.similarity.knn(X, 2, "euclidean"))
    write_page(bad, tmp_path / "bad.html")
    with chromium() as driver:
        open_page(driver, (tmp_path / "t.html").as_uri())
        explorer(driver, "e.goTo(3)")
        wait_for(driver, "document.querySelector('.values a')")
        link = driver.find_element("css selector", ".values a")
        assert link.get_attribute("href") == "https://example.org/3?q=%3Cb%3E" and link.text == urls[3]
        assert link.get_attribute("rel") == "noopener noreferrer" and link.get_attribute("target") == "_blank"
        driver.find_element("css selector", ".similar .chip").click()
        wait_for(driver, "document.querySelector('.card-title').textContent === 'e'")
        explorer(driver, "await e.select(7)")
        reasons = driver.find_element("css selector", ".reasons").text
        assert reasons.startswith("What holds it together") and "\ncentral: " in reasons
        assert severe_messages(driver) == []
        open_page(driver, (tmp_path / "bad.html").as_uri())
        explorer(driver, "e.goTo(5)")
        wait_for(driver, "document.querySelector('.card-title').textContent === 'f'")
        assert driver.find_elements("css selector", ".values a") == []
        assert "javascript:alert(1)" in driver.find_element("css selector", ".values").text
