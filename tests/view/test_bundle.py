"""One script out of the page's modules."""

import re

import pytest

from arbora.view import bundle


def test_what_a_module_imports_comes_before_it():
    text = bundle.script("main")
    assert text.index("class Store") < text.index("class Explorer") < text.index("function startPage")
    assert not re.search(r"^(import|export) ", text, re.MULTILINE)


def test_names_that_two_modules_share_are_refused(monkeypatch):
    files = {
        "a.js": 'import { x } from "./b.js";\nconst y = x;\n',
        "b.js": "export const x = 1;\nconst y = 2;\n",
    }
    monkeypatch.setattr(bundle, "asset", files.__getitem__)
    with pytest.raises(ValueError, match=r"a\.js and b\.js both define y"):
        bundle.script.__wrapped__("a")


def test_circles_of_imports_are_refused(monkeypatch):
    files = {"a.js": 'import { x } from "./b.js";\n', "b.js": 'import { y } from "./a.js";\n'}
    monkeypatch.setattr(bundle, "asset", files.__getitem__)
    with pytest.raises(ValueError, match="a -> b -> a"):
        bundle.script.__wrapped__("a")
