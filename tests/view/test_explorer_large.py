"""A million leaves from the local server, and trees of unusual shape, in a real browser."""

import time

import numpy as np
import pytest
from trees import chain
from view.browser import chromium, explorer, needs_browser, open_page, severe_messages, wait_for
from view.large_trees import line_tree

from arbora import Tree
from arbora.view import explore, to_html

pytestmark = [needs_browser, pytest.mark.browser]

FLIGHT = """
const done = arguments[arguments.length - 1], stage = document.getElementById('arbora').explorer.stage;
let frames = 0, began = performance.now(), first = began;
function step() {
  frames++;
  const x = stage.width * 0.42, y = stage.height * 0.45;
  if (frames % 2) stage.view.zoom(x, y, frames % 60 < 30 ? 1.07 : 1 / 1.07);
  else stage.view.pan(4, frames % 40 < 20 ? 3 : -3, x, y);
  stage.touch();
  if (performance.now() - began < 1500) requestAnimationFrame(step);
  else done([frames, (performance.now() - began) / 1000]);
}
requestAnimationFrame(step);
"""


@pytest.fixture(scope="module")
def million():
    n = 1_000_000
    tree = line_tree(n)
    labels = np.arange(n) * 12 // n
    began = time.process_time()
    with explore(tree, open_browser=False, classes=labels) as viewer, chromium() as browser:
        viewer.seconds = time.process_time() - began
        began = time.monotonic()
        open_page(browser, viewer.url)
        browser.opened = time.monotonic() - began
        browser.viewer = viewer
        yield browser


def busiest_process(driver):
    """CPU seconds so far of each of the browser's processes."""
    import psutil

    root = psutil.Process(driver.service.process.pid)
    return {p.pid: sum(p.cpu_times()[:2]) for p in root.children(recursive=True)}


def test_a_million_leaves_are_seen_within_three_seconds(million):
    # Layouts and the first answer (CPU, this process) and the page until its first frame. On a machine busy
    # with other work the clock runs on, so the browser's own CPU time counts where it is less than the clock.
    painted = million.execute_script("return document.getElementById('arbora').explorer.firstPaint") / 1000
    worked = max(busiest_process(million).values())
    assert million.viewer.seconds + min(painted, worked) < 3.0
    assert explorer(million, "e.store.length") < 100_000
    assert "1,000,000 leaves" in million.find_element("css selector", ".brand").text


@pytest.mark.parametrize("view", ["circular", "dendrogram", "icicle", "treemap", "disk"])
def test_a_million_leaves_move_at_twenty_frames_a_second(million, view):
    explorer(million, f"await e.showView('{view}', false)")
    million.execute_async_script(FLIGHT)  # lets the level of detail find its pace
    before = busiest_process(million)
    frames, seconds = million.execute_async_script(FLIGHT)
    after = busiest_process(million)
    # The clock, or the CPU time of the busiest process where others hold the cores.
    worked = max(after[pid] - before.get(pid, 0) for pid in after)
    assert frames / min(seconds, max(worked, 1e-3)) >= 20
    assert severe_messages(million) == []


def test_a_leaf_of_a_million_is_found_and_shown(million):
    explorer(million, "await e.goTo(765432, true)")
    wait_for(million, "document.querySelector('[data-fact=Number]')?.textContent === '765432'")
    wait_for(million, "document.getElementById('arbora').explorer.stage.animation === null")
    assert explorer(million, "e.store.slot(765432)") >= 0


def test_the_cut_of_a_million_is_scored_by_the_server(million):
    explorer(million, "await e.setCut(12, true)")
    assert explorer(million, "e.cut.clusters") == 12
    assert 0 < explorer(million, "e.cut.purity") <= 1


def test_chains_stars_and_single_leaves_are_painted(million, tmp_path):
    star = Tree([*[3000] * 3000, -1], 3000)
    for name, tree in {
        "chain": chain(20_000),
        "star": star,
        "leaf": Tree([-1], 1),
        "pair": Tree([2, 2, -1], 2),
    }.items():
        open_page(million, to_html(tree, tmp_path / f"{name}.html").as_uri())
        for view in ("circular", "dendrogram", "icicle", "treemap", "disk"):
            explorer(million, f"(await e.showView('{view}', false), e.stage.paint())")
            drawn = explorer(million, "e.stage.frame.length")
            assert 1 <= drawn <= 30_000, (name, view)
        assert severe_messages(million) == []


def test_the_notebook_widget_runs_in_a_cell(million, tmp_path):
    import json

    from arbora.view import widget
    from arbora.view.bundle import script

    shown = widget(line_tree(300), classes=np.arange(300) % 3)
    traits = {"_style": shown._style, "height": 500, "view": "disk", "selected": -1}
    module = script("widget") + "\nexport default { render: renderWidget };\n"
    page = tmp_path / "cell.html"

    def quoted(value):
        return json.dumps(value).replace("<", "\\u003c")

    page.write_text(
        "<!doctype html><meta charset=utf-8><div id=cell></div><script type=module>"
        f"const traits = {quoted(traits)};"
        f"traits._data = new DataView(Uint8Array.from({list(shown._data)}).buffer);"
        "const model = { get: (k) => traits[k], set: (k, v) => (traits[k] = v), save_changes() {}, on() {} };"
        f"const text = {quoted(module)};"
        "const blob = URL.createObjectURL(new Blob([text], { type: 'text/javascript' }));"
        "const { default: cell } = await import(blob);"
        "await cell.render({ model, el: document.getElementById('cell') }); window.traits = traits;"
        "</script>",
        encoding="utf-8",
    )
    million.get(page.as_uri())
    root = "document.getElementById('cell').shadowRoot.querySelector('.widget')"
    wait_for(
        million,
        "document.getElementById('cell').shadowRoot?.querySelector('.arbora')?.dataset.ready === 'yes'",
    )
    assert million.execute_script(f"return {root}.explorer.stage.name") == "disk"
    million.execute_async_script(f"{root}.explorer.select(310).then(arguments[0])")
    assert million.execute_script("return window.traits.selected") == 310
    assert severe_messages(million) == []
