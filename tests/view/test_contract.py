"""The page's own answers equal the Python session's: in node, and in Chromium."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from view.browser import chromium, explorer, needs_browser, open_page
from view.contract import contents, questions, write_edits, write_fixture

from arbora.view._pack import unpack
from arbora.view.page import write_page
from arbora.view.session import Session

NODE = shutil.which("node")
TESTS = Path(__file__).parent / "js"
needs_node = pytest.mark.skipif(NODE is None, reason="needs node on the PATH")


@needs_node
@pytest.mark.parametrize("name", ["contract", "parts", "edits"])
def test_the_page_answers_as_python_does_in_node(tmp_path, name):
    write = write_edits if name == "edits" else write_fixture
    fixture = write(tmp_path / "contract.json")
    environment = {**os.environ, "ARBORA_CONTRACT": str(fixture)}
    command = [NODE, "--experimental-default-type=module", str(TESTS / f"{name}.test.js")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=900)
    failed = [line for line in done.stdout.splitlines() if line.lstrip().startswith(("not ok", "error:"))]
    assert done.returncode == 0, "\n".join(failed[:10]) or done.stderr[-2000:]
    assert "# pass 0" not in done.stdout


def remote_shape(method, facts, arrays):
    """What RemoteSource makes of an answer."""
    lists = {name: values.tolist() for name, values in arrays.items()}
    if method in ("path", "names"):
        return facts[method]
    if method in ("leaves", "members", "points"):
        return lists[{"leaves": "values", "members": "places", "points": "points"}[method]]
    if method == "column":
        return lists
    if method == "tangle":
        return {"facts": facts, "arrays": lists}
    return {**facts, **lists}


@needs_browser
@pytest.mark.browser
def test_the_page_answers_as_python_does_in_chromium(tmp_path):
    plain = (
        "((v) => JSON.parse(JSON.stringify(v, (_, x) => ArrayBuffer.isView(x) ? Array.from(x)"
        " : typeof x === 'number' && !Number.isFinite(x) ? null : x)))"
    )
    _, content = next(iter(contents()))
    session = Session(content)
    asked = list(questions(content))
    with chromium() as driver:
        open_page(driver, write_page(content, tmp_path / "page.html").as_uri())
        calls = json.dumps([[method, args] for method, args, _, _ in asked])
        found = explorer(
            driver, f"await Promise.all({calls}.map(([m, a]) => e.source[m](...a).then({plain})))"
        )
    for (method, args, question, details), answer in zip(asked, found, strict=True):
        wanted = remote_shape(method, *unpack(session.answer(question, details)))
        assert_close(answer, json.loads(json.dumps(wanted)), f"{method}{args}")


def assert_close(found, wanted, where):
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys(), where
        for key in wanted:
            assert_close(found[key], wanted[key], f"{where}.{key}")
    elif isinstance(wanted, list):
        assert len(found) == len(wanted), where
        for k, (one, other) in enumerate(zip(found, wanted, strict=True)):
            assert_close(one, other, f"{where}[{k}]")
    elif isinstance(wanted, float):
        if np.isnan(wanted):
            assert found is None, where
        else:
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-12), where
    else:
        assert found == wanted, where
