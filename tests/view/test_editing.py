"""Edits of a tree from its page."""

import http.client
import json

import numpy as np
import pytest
from view.browser import chromium, explorer, needs_browser, open_page, severe_messages, wait_for

import arbora as ab
from arbora import Tree
from arbora.reading import read_tree
from arbora.view import explore
from arbora.view._pack import unpack
from arbora.view.editing import Editor, edges_in_page

NEWICK = "((owl:1,hen:1)birds:2,((cod:1,eel:1)fish:1,ant:2)rest:1);"


def groups(tree):
    """The names below each internal node."""
    return {
        frozenset(tree.label(leaf) for leaf in tree.leaves(v)) for v in range(tree.n_leaves, tree.n_nodes)
    }


def test_edits_are_those_of_the_tree_and_can_be_taken_back():
    tree = Tree.from_newick(NEWICK)
    editor = Editor(tree)
    editor.apply({"action": "rename", "node": tree.find("fish"), "name": " sea "})
    assert editor.tree.find("sea") == tree.find("fish")
    answer = editor.apply({"action": "move", "node": tree.find("ant"), "to": tree.find("birds")})
    assert editor.tree.same_topology(tree.move("ant", "birds"))
    assert answer["select"] == editor.tree.find("ant")
    answer = editor.apply({"action": "merge", "nodes": [editor.tree.find("birds"), editor.tree.find("sea")]})
    assert set(editor.tree.leaves(answer["select"])) == set(range(5))
    for _ in range(3):
        answer = editor.apply({"action": "undo"})
    assert editor.tree is tree
    assert answer["canRedo"]
    assert not answer["canUndo"]
    editor.apply({"action": "redo"})
    assert editor.tree.find("sea")
    editor.apply({"action": "rename", "node": 0, "name": "eagle owl"})
    with pytest.raises(ValueError, match="nothing to redo"):
        editor.apply({"action": "redo"})


def test_a_node_is_split_and_removed_with_all_that_is_known_of_it():
    tree = Tree.from_newick(NEWICK)
    X = np.random.default_rng(0).normal(size=(5, 3))
    about = {
        "classes": {"kind": list("aabbc")},
        "texts": ["x"] * 5,
        "features": X,
        "metadata": {"legs": [2, 2, 0, 0, 6]},
    }
    with explore(tree, open_browser=False, edit=True, **about) as viewer:
        status, body = ask(viewer, {"action": "split", "node": tree.find("fish")})
        assert status == 200
        assert viewer.tree.same_topology(tree.split("fish"))
        status, body = ask(viewer, {"action": "remove", "node": viewer.tree.find("birds")})
        assert status == 200
        assert [viewer.tree.label(leaf) for leaf in range(3)] == ["cod", "eel", "ant"]
        expected = ab.metrics.dasgupta_cost(viewer.tree, ab.similarity.knn(X).subset([2, 3, 4]))
        assert unpack(body)[0]["cost"] == pytest.approx(expected)
        shown = viewer._session.content
        assert shown.columns[0].categories == ["b", "c"]
        assert np.allclose(shown.features, X[2:])
        assert ask(viewer, {"action": "remove", "node": viewer.tree.root})[0] == 400
        ask(viewer, {"action": "undo"})
        ask(viewer, {"action": "undo"})
        assert viewer.tree.same_topology(tree)
        assert viewer._session.content.columns[0].categories == ["a", "b", "c"]


def test_the_cost_of_an_edit_is_dasguptas():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.1, (5, 3)), rng.normal(5, 0.1, (5, 3))])
    similarity = ab.similarity.cosine(np.abs(X))
    tree = ab.linkage(X, "average")
    editor = Editor(tree, similarity)
    before = editor.apply({"action": "state"})["cost"]
    assert before == pytest.approx(ab.metrics.dasgupta_cost(tree, similarity))
    worse = editor.apply({"action": "move", "node": 0, "to": 9})
    assert worse["costBefore"] == before
    assert worse["cost"] == pytest.approx(ab.metrics.dasgupta_cost(editor.tree, similarity))


@pytest.mark.parametrize("name", ["tree.npz", "tree.nwk"])
def test_saving_writes_where_it_was_allowed_and_nowhere_else(tmp_path, name):
    tree = Tree.from_newick(NEWICK)
    editor = Editor(tree, path=tmp_path / name)
    editor.apply({"action": "rename", "node": tree.find("fish"), "name": "sea"})
    assert list(tmp_path.iterdir()) == []
    assert not editor.apply({"action": "save"})["changed"]
    path = tmp_path / name
    saved = Tree.load(path) if name.endswith("npz") else Tree.from_newick(path.read_text())
    assert saved.find("sea") >= 0
    with pytest.raises(ValueError, match="no file to save to"):
        Editor(tree).apply({"action": "save"})
    with pytest.raises(ValueError, match=r"\.npz or Newick"):
        Editor(tree, path=tmp_path / "tree.exe")


@pytest.mark.parametrize(
    "details",
    [
        {},
        {"action": "format"},
        {"action": ["undo"]},
        {"action": "undo"},
        {"action": "rename", "node": 99, "name": "x"},
        {"action": "rename", "node": 0, "name": "x" * 1000},
        {"action": "rename", "node": 0, "name": 5},
        {"action": "merge", "nodes": [0]},
        {"action": "merge", "nodes": "01"},
        {"action": "move", "node": 8, "to": 0},
        {"action": "move", "node": True, "to": 0},
        {"action": "move", "node": 2**70, "to": 0},
        {"action": "split", "node": 0},
        {"action": "remove", "node": 8},
        {"action": "remove"},
    ],
)
def test_impossible_edits_are_refused_and_change_nothing(details):
    tree = Tree.from_newick(NEWICK)
    editor = Editor(tree)
    with pytest.raises(ValueError):
        editor.apply(details)
    assert editor.tree is tree


def ask(viewer, details, **changed):
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=120)
    headers = {"content-type": "application/json", "x-arbora-token": viewer.token, **changed}
    connection.request("POST", "/api/edit", json.dumps(details), headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def test_only_a_page_that_was_allowed_to_can_edit():
    tree = Tree.from_newick(NEWICK)
    rename = {"action": "rename", "node": 0, "name": "x"}
    with explore(tree, open_browser=False) as viewer:
        assert ask(viewer, rename)[0] == 404
    with explore(tree, open_browser=False, edit=True, classes=list("aabbc")) as viewer:
        assert ask(viewer, rename, origin="https://evil.example")[0] == 403
        assert ask(viewer, rename, host="evil.example")[0] == 403
        assert ask(viewer, rename, **{"x-arbora-token": "guess"})[0] == 403
        assert ask(viewer, rename, **{"content-type": "text/plain"})[0] == 415
        assert viewer.tree.label(0) == "owl"
        status, body = ask(viewer, rename)
        assert status == 200
        assert unpack(body)[0]["canUndo"]
        assert viewer.tree.label(0) == "x"


def test_what_cannot_go_together_is_refused():
    tree = Tree.from_newick(NEWICK)
    with pytest.raises(ValueError, match="compare is about the tree as it is"):
        explore(tree, open_browser=False, edit=True, compare=tree)
    with pytest.raises(ValueError, match="9 points"):
        explore(tree, open_browser=False, edit=True, similarity=ab.similarity.cosine(np.eye(9)))


def drag(driver, node, to):
    """Drag one node of the page onto another, with the mouse."""
    from selenium.webdriver import ActionChains

    spot = explorer(
        driver,
        "(() => { const v = e.stage.view, at = (n) => { v.locate(e.store.slot(n)); return [v.sx, v.sy]; };"
        f"return [at({node}), at({to})]; }})()",
    )
    canvas = driver.find_element("css selector", "canvas.stage")
    middle = (canvas.size["width"] / 2, canvas.size["height"] / 2)
    start, end = ([round(p - m) for p, m in zip(place, middle, strict=True)] for place in spot)
    actions = ActionChains(driver).move_to_element_with_offset(canvas, *start).click_and_hold()
    actions.move_by_offset(5, 5).move_to_element_with_offset(canvas, *end).release().perform()


@needs_browser
@pytest.mark.browser
def test_the_page_renames_merges_moves_and_takes_back(tmp_path):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    tree = Tree.from_newick(NEWICK)
    features = np.random.default_rng(0).normal(size=(5, 3))
    ready = "document.querySelector('.arbora')?.dataset.ready === 'yes'"
    path = tmp_path / "tree.nwk"
    with (
        explore(tree, open_browser=False, edit=path, features=features, view="dendrogram") as viewer,
        chromium() as driver,
    ):
        open_page(driver, viewer.url)
        assert "Cost" in driver.find_element("css selector", ".cost").text
        explorer(driver, f"await e.select({tree.find('fish')})")
        driver.find_element("css selector", ".card [data-edit=rename]").click()
        ActionChains(driver).send_keys("sea", Keys.ENTER).perform()
        wait_for(driver, "document.querySelector('[data-edit=undo]')?.disabled === false")
        wait_for(driver, ready)
        assert viewer.tree.find("sea") == tree.find("fish")
        wait_for(driver, "document.querySelector('.card-title')?.textContent === 'sea'")

        # drag the selected subtree onto another node
        explorer(driver, f"await e.select({viewer.tree.find('ant')})")
        drag(driver, viewer.tree.find("ant"), viewer.tree.find("birds"))
        end_time = 100
        while groups(viewer.tree) == groups(tree) and end_time:
            end_time -= 1
            explorer(driver, "await new Promise((r) => setTimeout(r, 50))")
        assert frozenset({"owl", "hen", "ant"}) in groups(viewer.tree)
        wait_for(driver, "document.querySelector('.cost')?.textContent.includes('last edit')")

        driver.find_element("css selector", "[data-edit=undo]").click()
        wait_for(driver, "document.querySelector('[data-edit=redo]')?.disabled === false")
        assert groups(viewer.tree) == groups(tree)
        assert not path.exists()
        wait_for(driver, ready)
        driver.find_element("css selector", "[data-edit=save]").click()
        wait_for(driver, "document.querySelector('.edit-note')?.textContent === 'Saved.'")
        assert "sea" in path.read_text()
        explorer(driver, f"await e.select({tree.find('birds')})")
        wait_for(driver, "document.querySelector('.card [data-edit=split]') !== null")
        driver.find_element("css selector", ".card [data-edit=remove]").click()
        wait_for(driver, "document.querySelector('[data-edit=save]')?.disabled === false")
        assert viewer.tree.n_leaves == 3
        assert severe_messages(driver) == []


@needs_browser
@pytest.mark.browser
def test_a_page_without_permission_has_no_tools_to_edit(tmp_path):
    with chromium() as driver:
        open_page(driver, Tree.from_newick(NEWICK).to_html(tmp_path / "t.html").as_uri())
        explorer(driver, "await e.select(6)")
        assert driver.execute_script("return document.querySelectorAll('[data-edit]').length") == 0


READY = "document.querySelector('.arbora')?.dataset.ready === 'yes'"


@needs_browser
@pytest.mark.browser
def test_a_page_without_a_server_edits_and_downloads_what_is_read_back(tmp_path):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    tree = Tree.from_newick(NEWICK)
    features = np.random.default_rng(0).normal(size=(5, 3))
    page = tree.to_html(tmp_path / "t.html", edit=True, features=features, view="dendrogram")
    expected = tree.rename({"fish": "sea"}).move("ant", "birds")
    with chromium() as driver:
        open_page(driver, page.as_uri())
        explorer(driver, f"await e.select({tree.find('fish')})")
        driver.find_element("css selector", ".card [data-edit=rename]").click()
        ActionChains(driver).send_keys("sea", Keys.ENTER).perform()
        wait_for(driver, "document.querySelector('.card-title')?.textContent === 'sea'")
        wait_for(driver, READY)
        explorer(driver, f"await e.select({tree.find('ant')})")
        drag(driver, tree.find("ant"), tree.find("birds"))
        wait_for(driver, "document.querySelector('.cost')?.textContent.includes('last edit')")
        wait_for(driver, READY)
        cost = explorer(driver, "(await e.source.edit({action: 'state'})).cost")
        assert cost == pytest.approx(ab.metrics.dasgupta_cost(expected, ab.similarity.knn(features)))
        for key in ("undo", "redo"):
            driver.find_element("css selector", f"[data-edit={key}]").click()
            other = "redo" if key == "undo" else "undo"
            wait_for(driver, f"document.querySelector('[data-edit={other}]')?.disabled === false")
            wait_for(driver, READY)
        # what would be downloaded
        driver.execute_script(
            "HTMLAnchorElement.prototype.click = function () {"
            " window.saved = [this.download, window.blob]; };"
            "const make = URL.createObjectURL.bind(URL);"
            "URL.createObjectURL = (blob) => { window.blob = blob; return make(blob); };"
        )
        driver.find_element("css selector", "[data-edit=download]").click()
        wait_for(driver, "window.saved !== undefined")
        name, text = driver.execute_async_script(
            "const done = arguments[0]; window.saved[1].text().then((text) => done([window.saved[0], text]));"
        )
        (tmp_path / name).write_text(text)
        assert severe_messages(driver) == []
    saved = read_tree(tmp_path / name)
    assert saved.same_topology(expected)
    assert groups(saved) == groups(expected)
    assert saved.find("sea") >= 0


@needs_browser
@pytest.mark.browser
def test_a_page_without_the_data_says_that_costs_are_not_known(tmp_path):
    with chromium() as driver:
        open_page(driver, Tree.from_newick(NEWICK).to_html(tmp_path / "t.html", edit=True).as_uri())
        explorer(driver, "await e.select(6)")
        assert "not known" in driver.find_element("css selector", ".cost-note").text
        driver.find_element("css selector", ".card [data-edit=remove]").click()
        wait_for(driver, "document.querySelector('[data-edit=undo]')?.disabled === false")
        assert explorer(driver, "e.facts.nLeaves") == 3


def test_pages_that_cannot_be_edited_are_refused(tmp_path):
    tree = Tree.from_newick(NEWICK)
    for wrong, match in (
        ({"edit": True, "max_leaves": 3}, "upper part"),
        ({"edit": True, "compare": tree}, "compare is about"),
        ({"edit": True, "similarity": ab.similarity.cosine(np.eye(4))}, "4 points, but the tree has 5"),
        ({"edit": "yes"}, "edit must be True or False"),
    ):
        with pytest.raises((ValueError, TypeError), match=match):
            tree.to_html(tmp_path / "t.html", **wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_similarity_of_all_pairs_is_too_large_for_a_page_of_many_leaves():
    graph, note = edges_in_page(ab.similarity.knn(np.random.default_rng(0).normal(size=(600, 3))))
    assert note is None
    assert len(graph["edgeWeight"]) > 600
    arrays, note = edges_in_page(ab.similarity.cosine(np.random.default_rng(0).normal(size=(600, 3))))
    assert arrays == {}
    assert "600 leaves" in note


def test_leaves_without_names_keep_their_numbers_when_others_go():
    editor = Editor(Tree([4, 4, 5, 5, 6, 6, -1], n_leaves=4))
    editor.apply({"action": "remove", "node": 0})
    assert [editor.tree.label(leaf) for leaf in range(3)] == ["1", "2", "3"]
