"""The explorer in a real browser: every view, every tool, hostile names, a million leaves."""

import csv
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits
from view.browser import chromium, explorer, needs_browser, open_page, severe_messages, wait_for

from arbora import Tree
from arbora.view import to_html
from arbora.view.tangle import face_to_face

pytestmark = [needs_browser, pytest.mark.browser]
VIEWS = ("circular", "dendrogram", "icicle", "treemap", "disk", "tangle")
HOSTILE = "</script><img src=x onerror='window.broken=1'><b>bold</b>"


@pytest.fixture(scope="module")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def digits():
    """400 digits, their Ward tree, and an average tree to compare."""
    from scipy.cluster.hierarchy import linkage

    data = load_digits()
    X, y = data.data[:400], data.target[:400]
    names = [f"digit {digit} number {k}" for k, digit in enumerate(y)]
    names[7] = HOSTILE
    tree = Tree.from_linkage(linkage(X, "ward"))
    other = Tree.from_linkage(linkage(X, "average"))
    tree, other = face_to_face(tree, other)  # as the page will draw them
    content = {
        "classes": {"label": y}, "names": names, "features": X, "images": data.images[:400], "compare": other,
        "metadata": {"ink": X.mean(axis=1), HOSTILE: y % 2}, "texts": [f"word{digit} common" for digit in y],
    }  # fmt: skip
    return tree, content


@pytest.fixture(scope="module")
def driver(digits, downloads, tmp_path_factory):
    tree, content = digits
    path = to_html(tree, tmp_path_factory.mktemp("page") / "digits.html", **content)
    with chromium(downloads) as browser:
        open_page(browser, path.as_uri())
        browser.address = path.as_uri()
        yield browser


@pytest.fixture(autouse=True)
def no_errors(request):
    yield
    if "driver" in request.fixturenames:
        browser = request.getfixturevalue("driver")
        assert severe_messages(browser) == []
        assert browser.execute_script("return window.broken") is None


def colors_on_canvas(driver):
    """How many different colors the stage shows."""
    return driver.execute_script(
        "const c = document.querySelector('canvas.stage');"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; const seen = new Set();"
        "for (let k = 0; k < d.length; k += 4) seen.add((d[k] << 16) | (d[k + 1] << 8) | d[k + 2]);"
        "return seen.size;"
    )


def show(driver, view):
    driver.execute_script(f"document.querySelector('.views [data-view={view}]').click()")
    wait_for(driver, f"document.getElementById('arbora').explorer.stage.name === '{view}'")
    wait_for(driver, "document.getElementById('arbora').explorer.stage.animation === null")
    time.sleep(0.2)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_paints_the_tree(driver, view):
    show(driver, view)
    assert explorer(driver, "e.stage.frame.length") > 50
    assert colors_on_canvas(driver) > 10


@pytest.mark.parametrize("view", VIEWS[:5])
def test_every_drawn_node_is_hit_where_it_is_drawn(driver, view):
    show(driver, view)
    hits = explorer(
        driver,
        "(() => { const s = e.stage, f = s.frame; let tried = 0, right = 0;"
        "for (let k = 0; k < f.length; k += 7) {"
        "  let x = f.x[k], y = f.y[k];"
        "  if (s.name === 'icicle') x -= 1;"
        "  if (s.name === 'treemap' && f.kind[k] === 0) continue;"
        "  if (x < 0 || y < 0 || x > s.width || y > s.height) continue;"
        "  const found = s.view.hit(f, x, y); tried++;"
        "  if (found < 0) continue; s.view.locate(found);"
        "  if (Math.hypot(s.view.sx - f.x[k], s.view.sy - f.y[k]) < 12) right++;"
        "} return [tried, right]; })()",
    )
    assert hits[0] > 20
    assert hits[1] >= 0.9 * hits[0]


def test_switching_views_is_animated(driver):
    show(driver, "circular")
    during = explorer(
        driver,
        "(e.showView('dendrogram', true), await new Promise((r) => setTimeout(r, 60)),"
        "e.stage.animation !== null)",
    )
    assert during is True
    wait_for(driver, "document.getElementById('arbora').explorer.stage.animation === null")


def test_search_finds_and_goes_to_a_leaf(driver):
    box = driver.find_element("css selector", "input[type=search]")
    box.clear()
    box.send_keys("number 123")
    wait_for(driver, "document.querySelectorAll('.found [role=option]').length === 1")
    driver.find_element("css selector", ".found [role=option]").click()
    wait_for(driver, "document.getElementById('arbora').explorer.selected === 123")
    wait_for(driver, "document.querySelector('.card-title').textContent.endsWith('number 123')")


def test_hostile_names_stay_text(driver):
    explorer(driver, "await e.goTo(7, false)")
    wait_for(driver, f"document.querySelector('.card-title').textContent === {HOSTILE!r}")
    box = driver.find_element("css selector", "input[type=search]")
    box.clear()
    box.send_keys("onerror")
    wait_for(driver, "document.querySelectorAll('.found [role=option]').length === 1")
    assert driver.execute_script("return document.querySelectorAll('#arbora img, #arbora b').length") == 0
    assert driver.execute_script("return window.broken") is None
    explorer(driver, f"await e.setColor({HOSTILE!r})")
    explorer(driver, "e.escape(null)")


def test_the_card_tells_what_is_in_a_node(driver, digits):
    tree, _ = digits
    explorer(driver, f"await e.setColor('label'), await e.select({tree.root - 3})")
    wait_for(driver, f"document.querySelector('[data-fact=Number]')?.textContent === '{tree.root - 3}'")
    facts = driver.execute_script(
        "return Object.fromEntries("
        "[...document.querySelectorAll('[data-fact]')].map((d) => [d.dataset.fact, d.textContent]))"
    )
    assert int(facts["Leaves"].replace(",", "")) == tree.sizes[tree.root - 3]
    assert 0 < float(facts["Purity"]) <= 1
    assert driver.execute_script("return document.querySelectorAll('.thumb canvas').length") == 12
    assert driver.execute_script("return document.querySelectorAll('.mix-row').length") >= 1
    assert "word" in driver.find_element("css selector", ".words p").text
    path = driver.execute_script("return document.querySelectorAll('.path li').length")
    assert path == len(tree.ancestors(tree.root - 3))


def test_the_cut_slider_colors_and_scores_as_python_does(driver, digits):
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    tree, content = digits
    explorer(driver, "await e.setColor('label')")
    driver.execute_script(
        "const s = document.querySelector('.cut-slider'); s.value = 400; s.dispatchEvent(new Event('input'))"
    )
    wait_for(driver, "document.getElementById('arbora').explorer.coloring.by === 'cut'")
    k = explorer(driver, "e.cut.clusters")
    labels = tree.cut(n_clusters=k)
    assert explorer(driver, "e.cut.ari") == pytest.approx(
        adjusted_rand_score(content["classes"]["label"], labels)
    )
    assert explorer(driver, "e.cut.nmi") == pytest.approx(
        normalized_mutual_info_score(content["classes"]["label"], labels)
    )
    shown = driver.find_element("css selector", "[data-score=NMI]").text
    assert float(shown) == pytest.approx(
        normalized_mutual_info_score(content["classes"]["label"], labels), abs=5e-3
    )


def test_collapse_hides_what_is_below_and_expand_brings_it_back(driver, digits):
    tree, _ = digits
    show(driver, "dendrogram")
    explorer(driver, "e.selection.expandAll(), e.fit()")
    node = tree.root - 2
    explorer(driver, f"await e.select({node})")
    wait_for(driver, "document.getElementById('arbora').explorer.stage.animation === null")
    before = explorer(driver, "e.stage.frame.length")
    driver.find_element("css selector", ".actions [data-action=collapse]").click()
    wait_for(driver, f"document.getElementById('arbora').explorer.stage.frame.length < {before}")
    hidden = explorer(
        driver, "Array.from(e.stage.frame.slot.subarray(0, e.stage.frame.length)).map((s) => e.store.id[s])"
    )
    below = set(tree.leaves(node).tolist())
    assert not below & set(hidden)
    explorer(driver, "e.selection.toggleCollapse()")
    wait_for(driver, f"document.getElementById('arbora').explorer.stage.frame.length === {before}")


def test_hovering_shows_the_node(driver):
    from selenium.webdriver import ActionChains

    show(driver, "circular")
    spot = explorer(
        driver, "(() => { const f = e.stage.frame; return [f.x[3], f.y[3], e.store.size[f.slot[3]]]; })()"
    )
    canvas = driver.find_element("css selector", "canvas.stage")
    width, height = canvas.size["width"], canvas.size["height"]
    ActionChains(driver).move_to_element_with_offset(
        canvas, round(spot[0] - width / 2), round(spot[1] - height / 2)
    ).perform()
    wait_for(driver, "!document.querySelector('.tip').hidden")
    assert "leaves" in driver.find_element("css selector", ".tip").text


def test_selecting_a_node_lights_up_its_points(driver, digits):
    tree, _ = digits
    explorer(driver, f"await e.select({tree.root - 1})")
    drawn = explorer(
        driver,
        "(() => { let n = 0; const sc = e.scatter, real = sc.paintRange.bind(sc);"
        "sc.paintRange = (c, l, from, to, ...rest) => { n = to - from; real(c, l, from, to, ...rest); };"
        "sc.repaint(); sc.paintRange = real; return n; })()",
    )
    assert drawn == tree.sizes[tree.root - 1]


def test_picking_a_point_selects_its_leaf(driver, digits):
    tree, _ = digits
    explorer(driver, "(e.scatter.pickPoint(17), await new Promise((r) => setTimeout(r, 300)))")
    assert explorer(driver, "e.selected") == tree.leaf_order[17]


def test_coloring_by_numbers_shows_a_scale(driver):
    explorer(driver, "await e.setColor('ink')")
    assert driver.execute_script("return document.querySelectorAll('.legend .strip .swatch').length") == 16
    explorer(driver, "await e.setColor('label')")
    assert driver.execute_script("return document.querySelectorAll('.legend li').length") == 10


def test_the_tanglegram_tells_distance_and_crossings(driver, digits):
    tree, content = digits
    show(driver, "tangle")
    facts = explorer(driver, "e.stage.view.facts")
    assert facts["robinsonFoulds"] == tree.robinson_foulds(content["compare"])
    assert facts["crossings"] <= facts["crossingsBefore"]


def test_exports_are_whole_files(driver, digits, downloads):
    from xml.dom.minidom import parseString

    tree, _ = digits
    show(driver, "dendrogram")
    for kind in ("svg", "png", "csv"):
        explorer(driver, f"await e.export('{kind}')")
    end = time.monotonic() + 120
    while (
        time.monotonic() < end
        and len([p for p in downloads.iterdir() if p.suffix in (".svg", ".png", ".csv")]) < 3
    ):
        time.sleep(0.1)
    found = {path.suffix: path for path in downloads.iterdir()}
    drawing = parseString(found[".svg"].read_bytes())
    assert len(drawing.getElementsByTagName("rect")) > 100
    assert found[".png"].read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(found[".csv"].read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 400
    k = explorer(driver, "e.cut.clusters")
    expected = tree.cut(n_clusters=k)
    assert [int(row["cluster"]) for row in rows] == expected.tolist()
    assert len(set(expected)) == k
    assert any("<img" in row["name"] for row in rows)


def test_svg_of_every_view_is_well_formed(driver):
    from xml.dom.minidom import parseString

    for view in VIEWS:
        show(driver, view)
        parseString(explorer(driver, "e.stage.svg()"))


def test_the_keyboard_walks_zooms_and_cuts(driver, digits):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    tree, _ = digits
    explorer(driver, "e.escape(null)")
    driver.execute_script("document.querySelector('canvas.stage').focus()")

    def press(*keys):
        ActionChains(driver).send_keys(*keys).perform()

    def selects(node):
        wait_for(driver, f"document.getElementById('arbora').explorer.selected === {node}")

    press("2")
    wait_for(driver, "document.getElementById('arbora').explorer.stage.name === 'dendrogram'")
    press(Keys.ARROW_DOWN)
    selects(tree.root)
    press(Keys.ARROW_RIGHT)
    selects(tree.children(tree.root)[0])
    press(Keys.ARROW_DOWN)
    selects(tree.children(tree.root)[1])
    press(Keys.ARROW_LEFT)
    selects(tree.root)
    k = explorer(driver, "e.cut.clusters")
    press("]")
    wait_for(driver, f"document.getElementById('arbora').explorer.cut.clusters === {k + 1}")
    theme = explorer(driver, "e.theme")
    press("t")
    wait_for(driver, f"document.getElementById('arbora').explorer.theme !== '{theme}'")
    press("t", "?")
    wait_for(driver, "document.querySelector('.help').checkVisibility()")
    press(Keys.ESCAPE)
    wait_for(driver, "!document.querySelector('.help').checkVisibility()")
    selects("null")


def test_dragging_in_the_disk_is_a_hyperbolic_translation(driver):
    show(driver, "disk")
    explorer(driver, "e.stage.view.fit()")
    result = explorer(
        driver,
        "(() => { const v = e.stage.view, slots = [0, 1, 2, 5, 9];"
        "const places = () => slots.map((i) => { v.locate(i); return [v.dx, v.dy]; });"
        "const before = places(); v.locate(1); const px = v.sx, py = v.sy;"
        "v.pan(60, -35, px + 60, py - 35); v.pan(-20, 80, px + 40, py + 45); const after = places();"
        "v.locate(1); const turn = Math.hypot(v.camera.ux, v.camera.uy);"
        "return { before, after, moved: [v.sx - px, v.sy - py], turn }; })()",
    )

    def distances(places):
        z = np.array([complex(*p) for p in places])
        return np.arctanh(np.abs((z[:, None] - z) / (1 - np.conj(z[:, None]) * z)))

    assert np.allclose(distances(result["before"]), distances(result["after"]), atol=1e-9)
    assert result["moved"] == pytest.approx([40, 45], abs=1e-6)
    assert result["turn"] == pytest.approx(1)


def test_a_link_restores_the_view(driver, digits):
    tree, _ = digits
    show(driver, "icicle")
    explorer(driver, f"await e.setCut(7, true), await e.select({tree.root - 5}), e.setScale('depth')")
    explorer(driver, "(e.stage.view.zoom(300, 200, 2.5), e.toggleTheme())")
    state = (
        "[e.stage.name, e.cut.clusters, e.selected, e.store.scale, e.theme, e.stage.view.cameraText(),"
        "e.coloring.by]"
    )
    wanted = explorer(driver, state)
    address = driver.execute_script("return location.href")
    driver.get("about:blank")
    open_page(driver, address)
    assert explorer(driver, state) == wanted
    driver.get("about:blank")
    open_page(driver, driver.address)


def test_the_policy_blocks_foreign_scripts(driver):
    ran = driver.execute_async_script(
        "const done = arguments[0]; const s = document.createElement('script');"
        "s.textContent = 'window.foreign = 1';"
        "document.body.append(s); setTimeout(() => done(window.foreign === undefined), 100);"
    )
    assert ran
    severe_messages(driver)  # the refusal itself is logged
