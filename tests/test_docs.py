"""Every code block of the README and the guide runs as printed.

A block that needs names which the page only speaks of (a user's own model, files on disk) finds them in `given`.
"""

import doctest
import re
import webbrowser
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.rst"))]
_MARKDOWN = re.compile(r"```python\n(.*?)```", re.DOTALL)
_RST = re.compile(r"^( *)\.\. code-block:: python\n((?:\n|\1 +.*\n)+)", re.MULTILINE)


def blocks(page):
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        return _MARKDOWN.findall(text)
    found = []
    for indent, body in _RST.findall(text):
        lines = [line[len(indent) :] for line in body.splitlines()]
        width = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        found.append("\n".join(line[width:] for line in lines))
    return [block for block in found if ">>>" not in block]


def given(folder):
    """What a page's reader is supposed to have: data, files, a network of their own."""
    import matplotlib.pyplot as plt
    import scipy.sparse as sp
    import torch
    from sklearn.datasets import load_digits

    import arbora as ab

    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 10)
    X = rng.normal(size=(40, 6)) + 4 * rng.normal(size=(4, 6))[y]
    np.save(folder / "features.npy", X)
    tree = ab.cluster(X, random_state=0)
    images = torch.tensor(load_digits().data, dtype=torch.float32)
    pairs = torch.utils.data.TensorDataset(images, torch.zeros(len(images)))
    loader = torch.utils.data.DataLoader(pairs, batch_size=256)
    triples = torch.tensor([[0, 1, 2], [3, 4, 5]])
    return {
        "ab": ab, "np": np, "plt": plt, "torch": torch, "X": X, "y": y, "new": X[:5], "tree": tree,
        "topics": tree.taxonomy([2, 4]), "adjacency": sp.csr_array(np.ones((5, 5)) - np.eye(5)), "n_points": 40,
        "triples": triples, "similarities": torch.rand(2, 3), "my_loss": 0.0, "module": torch.nn.Linear(64, 10),
        "loader": loader, "superclass_of_each_class": [k // 5 for k in range(10)],
        "clip_features": rng.normal(size=(300, 8)), "dino_features": rng.normal(size=(300, 8)),
    }  # fmt: skip


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_code_blocks_run(page, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(webbrowser, "open", lambda *_, **__: True)
    names = given(tmp_path)
    for number, block in enumerate(blocks(page)):
        exec(compile(block, f"{page.name}, block {number}", "exec"), names)
    names["plt"].close("all")
    assert names["ab"].__name__ == "arbora"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if ">>>" in page.read_text(encoding="utf-8")], ids=lambda page: page.name
)
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert tried > 0
    assert failed == 0
