"""Every command that README and guide show runs as printed, on files such as the page speaks of."""

import re
import shlex
import tomllib

import numpy as np
import pytest
import typer
from cli.in_process import run
from test_docs import PAGES, ROOT, short

from arbora.cli._app import app

COMMANDS = typer.main.get_command(app).commands
# These train for hours or minutes; that their options exist is tested with the rest.
LONG = ("arbora reproduce hyphc", "arbora reproduce fph", "arbora compile")
_LITERAL = re.compile(r"::\n\n((?: +arbora .*\n)+)")
_BLOCK = re.compile(r"^( *)\.\. code-block:: console\n((?:\n|\1 +.*\n)+)", re.MULTILINE)
_INLINE = re.compile(r"``?(arbora [a-z]+[^`]*)``?")


def shown(page):
    """What a page has after a prompt, without the comments."""
    blocks = "\n".join(body for _, body in _BLOCK.findall(page.read_text(encoding="utf-8")))
    return [line.partition(" #")[0].strip() for line in re.findall(r"^ *\$ (.*)$", blocks, re.MULTILINE)]


def mentioned(page):
    """Commands in the middle of a sentence, or below it without a prompt."""
    text = page.read_text(encoding="utf-8")
    lines = [line.partition(" #")[0] for block in _LITERAL.findall(text) for line in block.splitlines()]
    found = [" ".join(text.split()) for text in [*_INLINE.findall(text), *lines]]
    return [text for text in found if text.split()[1] in COMMANDS]


def table(path, n, rng, *, label):
    """Points of three species, with names and perhaps their species."""
    kind = rng.integers(0, 3, n)
    values = rng.normal(size=(n, 4)) + 5 * kind[:, None]
    rows = [f"p{k},{','.join(f'{x:.3f}' for x in values[k])},{'abc'[kind[k]]}" for k in range(n)]
    head = f"name,w,x,y,z,{label}"
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def documents(path, rng):
    """The table of documents that the page on the command line reads."""
    import pandas as pd

    words = np.array(["tree", "leaf", "root", "branch", "cut", "height", "cost", "node"])
    topics = np.array([f"topic {k % 12}" for k in range(3000)], dtype=object)
    topics[:30] = None
    pd.DataFrame({
        "title": [f"On {words[k % 8]} number {k}" for k in range(3000)],
        "text": [" ".join(rng.choice(words, 30)) for _ in range(3000)],
        "topic": topics,
        "date": pd.date_range("2020-01-01", periods=3000, freq="h"),
        "n_words": rng.integers(20, 900, 3000) + 0.5,
        "embedding": list(rng.normal(size=(3000, 100)).astype(np.float32)),
    }).to_parquet(path)  # fmt: skip


def cells(path, rng):
    """Cells of four types, with the genes that the page names."""
    anndata = pytest.importorskip("anndata")
    import pandas as pd

    kind = np.repeat(np.arange(4), 15)
    genes = ["CD3D", "MS4A1", "HLA-A", "HLA-B", "LYZ", "NKG7"]
    counts = rng.poisson(2 + 6 * np.eye(4, 6)[kind]).astype(np.float32)
    names = [f"cell {k}" for k in range(60)]
    made = anndata.AnnData(counts, var=pd.DataFrame(index=genes), obs=pd.DataFrame(index=names))
    made.obs["cell_type"] = pd.Categorical(np.array(["T", "B", "NK", "monocyte"])[kind])
    made.write_h5ad(path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of."""
    rng = np.random.default_rng(0)
    for name in ("table", "old", "new", "data"):
        table(tmp_path / f"{name}.csv", 60, rng, label="species")
    table(tmp_path / "wine.csv", 60, rng, label="cultivar")
    ring = [f"n{k} n{(k + step) % 30}" for k in range(30) for step in (1, 2)]
    (tmp_path / "graph.edges").write_text("\n".join(ring) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run("fit", "table.csv", "--label-column", "species", "--method", "average", "--out", "other.nwk")
    cells(tmp_path / "cells.h5ad", rng)
    documents(tmp_path / "docs.parquet", rng)
    return tmp_path


def without_server(arguments):
    """`show` would serve its page until Ctrl-C: here it writes it."""
    if arguments[0] == "show" and "--html" not in arguments:
        return [*arguments, "--html", "shown.html"]
    return arguments


@pytest.mark.parametrize("page", [page for page in PAGES if shown(page)], ids=short)
def test_commands_run(page, folder):
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in shown(page):
        if line.startswith("pip install"):
            assert set(re.findall(r"\[(\w+)\]", line)) <= set(extras["optional-dependencies"])
        elif not line.startswith(LONG):
            assert line.startswith("arbora ")
            run(*without_server(shlex.split(line)[1:]))


def test_info_prints_what_the_page_says(folder):
    page = (ROOT / "docs" / "cli.rst").read_text(encoding="utf-8")
    said = re.search(r"\$ (arbora info docs.parquet .*)\n((?:   .+\n)+)", page)
    printed = run(*shlex.split(said[1])[1:]).out
    for line in said[2].splitlines():
        assert line.strip() in printed


@pytest.mark.parametrize(
    ("page", "line"),
    [(short(page), line) for page in PAGES for line in dict.fromkeys([*mentioned(page), *shown(page)])],
)
def test_options_of_commands_exist(page, line):
    if not line.startswith("arbora "):
        return
    name, *rest = shlex.split(line.replace("…", ""))[1:]
    known = {"--help"}.union(*((*one.opts, *one.secondary_opts) for one in COMMANDS[name].params))
    for option in rest:
        if re.match(r"--?[a-z]", option):
            assert option.partition("=")[0] in known, f"{page}: {line}"
