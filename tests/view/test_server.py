"""The local server: loopback, token, its own page, nothing else."""

import http.client
import json

import numpy as np
import pytest
from trees import random_tree
from view.large_trees import line_tree

from arbora import Tree
from arbora.view import explore, session
from arbora.view._pack import unpack
from arbora.view.content import Content
from arbora.view.scores import compare_flat
from arbora.view.search import Finder
from arbora.view.session import Session


@pytest.fixture(scope="module")
def viewer():
    tree = random_tree(40, np.random.default_rng(0))
    with explore(tree, open_browser=False, classes=np.arange(40) % 4) as running:
        yield running


def request(viewer, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=120)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def ask(viewer, question, details, **changed):
    headers = {"content-type": "application/json", "x-arbora-token": viewer.token, **changed}
    return request(viewer, "POST", f"/api/{question}", json.dumps(details), **headers)


def test_the_page_comes_with_its_token_and_strict_headers(viewer):
    response, content = request(viewer, "GET", f"/?token={viewer.token}")
    assert response.status == 200
    assert content.startswith(b"<!doctype html>")
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["content-type"].startswith("text/html")


def test_it_listens_on_loopback_only(viewer):
    assert viewer._socket.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("path", ["/", "/?token=", "/?token=guess"])
def test_without_the_token_nothing_is_shown(viewer, path):
    response, content = request(viewer, "GET", path)
    assert response.status == 403
    assert b"<script" not in content


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/../pyproject.toml",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/app.js",
        "/api/../x",
        "/api/",
        "//x",
    ],
)
def test_other_paths_do_not_exist(viewer, path):
    response, _ = request(viewer, "GET", path)
    assert response.status in (404, 405)


def test_answers_need_token_host_origin_type_size_and_a_known_question(viewer):
    assert ask(viewer, "nodes", {"root": 78})[0].status == 200
    assert ask(viewer, "nodes", {"root": 78}, **{"x-arbora-token": "guess"})[0].status == 403
    assert ask(viewer, "nodes", {"root": 78}, host="evil.example")[0].status == 403
    assert ask(viewer, "nodes", {"root": 78}, origin="https://evil.example")[0].status == 403
    assert ask(viewer, "nodes", {"root": 78}, **{"content-type": "text/plain"})[0].status == 415
    assert ask(viewer, "nodes", {"root": 78, "x": "y" * 5_000_000})[0].status == 413
    assert ask(viewer, "secrets", {})[0].status == 404
    assert request(viewer, "GET", "/api/nodes")[0].status == 405


@pytest.mark.parametrize(
    ("question", "details"),
    [
        ("nodes", {"root": -1}),
        ("nodes", {"root": 10**9}),
        ("nodes", {"root": 0}),
        ("nodes", {"root": "78"}),
        ("nodes", {"root": True}),
        ("card", {}),
        ("names", {"nodes": [10**6]}),
        ("names", {"nodes": [2**63]}),
        ("names", {"nodes": [-(2**70)]}),
        ("nodes", {"root": 2**64}),
        ("members", {}),
        ("members", {"word": 2**63}),
        ("members", {"column": "class", "code": 99}),
        ("names", {"nodes": "0"}),
        ("search", {"text": "x" * 1000}),
        ("search", {"text": 5}),
        ("cut", {"k": 0}),
        ("column", {"column": "none", "nodes": []}),
        ("column", {"column": ["label"], "nodes": []}),
    ],
)
def test_unusable_details_are_refused(viewer, question, details):
    assert ask(viewer, question, details)[0].status == 400


def test_a_body_that_is_no_object_is_refused(viewer):
    headers = {"content-type": "application/json", "x-arbora-token": viewer.token}
    for body in ("[]", "{", "[" * 100_000):
        assert request(viewer, "POST", "/api/nodes", body, **headers)[0].status == 400


def test_a_key_error_inside_an_answer_is_no_unknown_question(viewer, monkeypatch):
    def broken(self, details):
        raise KeyError("inside")

    monkeypatch.setattr(Session, "_path", broken)
    with explore(Tree.from_newick("(a,b);"), open_browser=False) as running:
        assert ask(running, "path", {"node": 0})[0].status == 500
        assert ask(running, "nothing", {})[0].status == 404


@pytest.mark.parametrize("port", [70_000, -1, "http", True])
def test_an_impossible_port_is_named(port):
    with pytest.raises((ValueError, TypeError), match="port"):
        explore(Tree.from_newick("(a,b);"), open_browser=False, port=port)


def test_half_requests_are_closed_in_time(monkeypatch):
    import socket
    import time

    from arbora.view import web

    monkeypatch.setattr(web, "PATIENCE", 0.4)
    with explore(Tree.from_newick("(a,b);"), open_browser=False) as running:
        address = ("127.0.0.1", running.port)
        with (
            socket.create_connection(address, timeout=120) as silent,
            socket.create_connection(address, timeout=120) as half,
            socket.create_connection(address, timeout=120) as body,
        ):
            half.sendall(b"GET / HTTP/1.1\r\nHost: 127")
            body.sendall(
                f"POST /api/path HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nX-Arbora-Token: {running.token}\r\n"
                "Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{".encode()
            )
            began = time.monotonic()
            assert silent.recv(1) == b""
            assert half.recv(1) == b""
            assert body.recv(100).startswith(b"HTTP/1.1 408")
            # less than PATIENCE is by itself
            assert time.monotonic() - began < 18
        assert request(running, "GET", f"/?token={running.token}")[0].status == 200


def test_a_port_in_use_is_one_clear_error(viewer):
    with pytest.raises(OSError, match="cannot be used"):
        explore(Tree.from_newick("(a,b);"), open_browser=False, port=viewer.port)


def test_a_script_that_ends_at_once_still_delivers_its_page(tmp_path):
    import subprocess
    import sys

    # The browser of this script fetches the page only after the script's last line.
    (tmp_path / "script.py").write_text(
        "import threading, time, urllib.request, webbrowser\n"
        "from arbora import Tree\n"
        "def fetch(url):\n"
        "    time.sleep(1)\n"
        "    print(len(urllib.request.urlopen(url).read()), flush=True)\n"
        "def opened(url):\n"
        "    threading.Thread(target=fetch, args=(url,), daemon=True).start()\n"
        "    return True\n"
        "webbrowser.open = opened\n"
        "Tree.from_newick('((a,b),c);').explore()\n"
    )
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], capture_output=True, timeout=600, check=True
    )
    assert int(done.stdout) > 10_000


# ---- answers ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    tree = line_tree(200_000)
    rng = np.random.default_rng(0)
    labels = np.arange(200_000) // 25_000
    return Session(Content(tree, classes={"label": labels}, points=rng.normal(size=(200_000, 2))))


def test_the_overview_of_a_large_tree_is_small(large):
    facts, arrays = unpack(large.answer("overview", {}))
    assert facts["nLeaves"] == 200_000
    assert len(arrays["id"]) <= 2 * session.OVERVIEW_NODES
    assert (arrays["opened"] == -1).any()


def test_chunks_lead_to_every_leaf(large):
    tree = large.content.tree
    leaf = 123_456
    path = unpack(large.answer("path", {"node": leaf}))[0]["path"]
    assert path == [leaf, *tree.ancestors(leaf).tolist()]
    known = set(unpack(large.answer("overview", {}))[1]["id"].tolist())
    for node in reversed(path[1:]):
        if node in known and path[path.index(node) - 1] not in known:
            known |= set(unpack(large.answer("nodes", {"root": node}))[1]["id"].tolist())
    assert leaf in known


def test_cut_scores_equal_scikit_learn(large):
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    facts, arrays = unpack(large.answer("cut", {"k": 12, "column": "label"}))
    labels = large.content.tree.cut(n_clusters=12)
    truth = np.arange(200_000) // 25_000
    assert facts["clusters"] == len(arrays["roots"]) == 12
    assert facts["ari"] == pytest.approx(adjusted_rand_score(truth, labels))
    assert facts["nmi"] == pytest.approx(normalized_mutual_info_score(truth, labels))


def test_flat_scores_of_one_cluster_and_of_the_classes_themselves():
    truth = np.array([0, 0, 1, 1, 2])
    assert compare_flat(truth, truth, 3) == pytest.approx({"purity": 1, "nmi": 1, "ari": 1})
    assert compare_flat(np.zeros(5, dtype=int), truth, 3)["ari"] == pytest.approx(0)


def test_search_puts_exact_names_first():
    tree = Tree.from_newick("((anteater,ant),(giant,Bee));")
    found = Finder(Content(tree)).find("ANT")["found"]
    assert [hit["title"] for hit in found] == ["ant", "anteater", "giant"]


def test_labels_answer_equals_the_cut(large):
    _, arrays = unpack(large.answer("labels", {"k": 5}))
    expected = large.content.tree.cut(n_clusters=5)
    assert arrays["label"].tolist() == expected.tolist()
