"""What is hostile, huge or too much at once: text in every field, numbers at their limits, thousands of requests."""

import http.client
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from view.browser import chromium, explorer, needs_browser, open_page, severe_messages, wait_for

from arbora import Tree
from arbora.view import explore
from arbora.view._pack import unpack
from arbora.view.content import Content
from arbora.view.session import Session

ATTACKS = (
    "</script><script>window.broken=1</script>",
    "<img src=x onerror='window.broken=2'>",
    "\"><svg onload='window.broken=3'>",
    "javascript:window.broken=4",
    "{{constructor.constructor('window.broken=5')()}}",
    "<!--",
    "]]>\u2028\u202e\x00\x1b[31m",
    "__proto__",
)
N = len(ATTACKS)


def hostile_content():
    """A tree and everything that can be shown beside it, hostile in every field."""
    tree = Tree([8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, -1], n_leaves=N)
    tree = tree.replace(name=[*ATTACKS, *ATTACKS[:7]])
    rng = np.random.default_rng(0)
    content = {
        "classes": {ATTACKS[1]: list(ATTACKS), "__proto__": np.array(ATTACKS)[np.arange(N) % 2]},
        "metadata": {ATTACKS[2]: rng.normal(size=N), "constructor": list(ATTACKS)},
        "texts": [f"{attack} {attack}" for attack in ATTACKS],
        "features": rng.normal(size=(N, 3)),
        "feature_names": list(ATTACKS[:3]),
        "title": ATTACKS[0],
    }
    return tree, content


@needs_browser
@pytest.mark.browser
def test_no_field_of_a_page_is_taken_for_anything_but_text(tmp_path):
    tree, content = hostile_content()
    path = tree.to_html(tmp_path / "hostile.html", **content)
    with chromium() as driver:
        open_page(driver, path.as_uri())
        plain = driver.execute_script("return document.querySelectorAll('script').length")
        for view in ("circular", "dendrogram", "icicle", "treemap", "disk"):
            driver.execute_script(f"document.querySelector('.views [data-view={view}]').click()")
            wait_for(driver, f"document.getElementById('arbora').explorer.stage.name === '{view}'")
        for node in (0, 3, 7, 9, 14):
            explorer(driver, f"await e.select({node})")
            wait_for(driver, "document.querySelector('.card-title')?.textContent.length > 0")
        for title in [*content["classes"], *content["metadata"]]:
            explorer(driver, f"await e.setColor({json.dumps(title)})")
        box = driver.find_element("css selector", "input[type=search]")
        box.send_keys("broken")
        wait_for(driver, "document.querySelectorAll('.found [role=option]').length > 0")
        made = "return document.querySelectorAll('#arbora img, #arbora svg[onload], #arbora iframe, #arbora a').length"
        assert driver.execute_script(made) == 0
        assert driver.execute_script("return document.querySelectorAll('script').length") == plain
        assert driver.execute_script("return window.broken") is None
        assert driver.execute_script("return ({}).polluted") is None
        sent = "return performance.getEntriesByType('resource').map((r) => r.name).filter((n) => /^https?:/.test(n))"
        assert driver.execute_script(sent) == []
        assert severe_messages(driver) == []


EXTREME = {
    "huge": [1e308, -1e308, 1.7e308, 0, 1, 2, 3, 4],
    "infinite": [np.inf, -np.inf, 0, 1, 2, 3, 4, 5],
    "missing": [np.nan] * 8,
    "tiny": [5e-324, 1e-310, 0, 0, 0, 0, 0, 0],
    "numbers beyond floats": [10**400, -(10**400), 0, 1, 2, 3, 4, 5],
    "large whole numbers": [2**62, -(2**62), 0, 1, 2, 3, 4, 5],
}


@pytest.mark.parametrize("kind", EXTREME)
def test_numbers_at_their_limits_are_shown_or_refused_by_name(kind, tmp_path):
    tree = Tree([8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, -1], n_leaves=8)
    try:
        content = Content(tree, metadata={kind: np.array(EXTREME[kind])})
    except ValueError as error:
        assert kind in str(error)
        return
    session = Session(content)
    for node in (0, 14):
        card = unpack(session.answer("card", {"node": node}))[0]
        json.dumps(card, allow_nan=False)
    unpack(session.answer("column", {"column": kind, "nodes": list(range(15))}))
    text = tree.to_html(tmp_path / "p.html", metadata={kind: np.array(EXTREME[kind])}).read_text(
        encoding="utf-8"
    )
    assert text.rstrip().endswith("</html>")


@needs_browser
@pytest.mark.browser
def test_extreme_numbers_break_no_page(tmp_path):
    tree = Tree([8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, -1], n_leaves=8)
    usable = {}
    for kind, values in EXTREME.items():
        try:
            Content(tree, metadata={kind: np.array(values)})
        except ValueError:
            continue
        usable[kind] = np.array(values)
    path = tree.to_html(tmp_path / "extreme.html", metadata=usable)
    with chromium() as driver:
        open_page(driver, path.as_uri())
        for kind in usable:
            explorer(driver, f"await e.setColor({json.dumps(kind)})")
            explorer(driver, "await e.select(14)")
            wait_for(driver, "document.querySelector('.card-title')?.textContent.length > 0")
        assert severe_messages(driver) == []


# ---- too much at once ------------------------------------------------------------------------------------


def flood(viewer, count):
    """Statuses of so many requests, from many connections at once: right, without a token, malformed, foreign."""
    token = {"content-type": "application/json", "x-arbora-token": viewer.token}
    kinds = [
        (json.dumps({"node": 0}), token),
        (json.dumps({"node": 0}), {**token, "x-arbora-token": ""}),
        ("{", token),
        (json.dumps({"node": 0}), {**token, "origin": "https://evil.example"}),
    ]

    def some(first):
        connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=60)
        found = []
        for k in range(first, count, 20):
            body, headers = kinds[k % 4]
            connection.request("POST", "/api/path", body, headers)
            response = connection.getresponse()
            response.read()
            found.append((k % 4, response.status))
        connection.close()
        return found

    with ThreadPoolExecutor(20) as pool:
        return [one for part in pool.map(some, range(20)) for one in part]


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=pytest.mark.slow)])
def test_many_requests_at_once_are_answered_or_refused(count):
    with explore(Tree.from_newick("((a,b),c);"), open_browser=False) as viewer:
        flood(viewer, 40)
        before = resident_bytes() if os.path.exists("/proc/self/statm") else None
        found = flood(viewer, count)
        assert len(found) == count
        assert set(found) == {(0, 200), (1, 403), (2, 400), (3, 403)}
        if before is not None:
            assert resident_bytes() - before < 30 << 20
