"""Every code block of the README and the guide runs as printed.

A block that needs names which the page only speaks of (a user's own model, files on disk) finds them in `given`.
"""

import ast
import doctest
import importlib.util
import inspect
import re
import webbrowser
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# What the build writes itself is not ours to read: the reference, and the gallery of examples.
_MADE_BY_THE_BUILD = {"api", "auto_examples", "generated", "_build", "_made"}
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted(DOCS.rglob("*.rst"))
        if not _MADE_BY_THE_BUILD & set(page.relative_to(DOCS).parts)
    ),
]

_MARKDOWN = re.compile(r"```python\n(.*?)```", re.DOTALL)
_RST = re.compile(r"^( *)\.\. code-block:: python\n((?:\n|\1 +.*\n)+)", re.MULTILINE)


def short(page):
    """The page as the tests call it: with its folder, since some names occur twice."""
    return str(page.relative_to(ROOT))


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


# Pages whose code trains for more than a few seconds.
LONG = {"docs/hyphc.rst", "docs/ghhc.rst", "docs/l2h.rst"}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if short(page) in LONG else [])
        for page in PAGES
        if blocks(page)
    ],
    ids=short,
)
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


_FOR_A_CLUSTER = re.compile(r"^\.\. code-block:: py\n((?:\n| +.*\n)+)", re.MULTILINE)
# What a page says to a cluster, and what a test says on one small machine instead.
_SMALLER = {
    'Client("tcp://scheduler:8786")': "None",
    '"/shared/folder"': '"shared"',
    "FPH(50, n_internal=1000, batch_size=10_000)": "FPH(4, n_internal=8, batch_size=30, max_epochs=2)",
}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if _FOR_A_CLUSTER.search(page.read_text(encoding="utf-8"))], ids=short
)
def test_code_for_a_cluster_runs_on_one_machine(page, tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    zarr = pytest.importorskip("zarr")
    import arbora as ab

    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    zarr.save("vectors.zarr", X)
    (tmp_path / "edges").mkdir()
    ring = np.stack([np.arange(60), (np.arange(60) + 1) % 60], axis=1)
    np.save(tmp_path / "edges" / "ring.npy", ring)
    names = {"ab": ab, "np": np, "any_tree": ab.linkage(X, "single")}
    for block in _FOR_A_CLUSTER.findall(page.read_text(encoding="utf-8")):
        code = inspect.cleandoc("\n" + block)
        for said, done in _SMALLER.items():
            code = code.replace(said, done)
        exec(compile(code, page.name, "exec"), names)
    assert names["tree"].n_leaves == 60


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if ">>>" in page.read_text(encoding="utf-8")],
    ids=short,
)
# A reader of "Your first tree" sees what `read` warns of, and reads on.
@pytest.mark.filterwarnings("ignore:.*holds .* of the variance:UserWarning")
def test_examples_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(
        str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    )
    assert tried > 0
    assert failed == 0


def extension(name):
    """A module of the build: it is not installed, so it is loaded from its file."""
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference_pages():
    """The module that writes the reference."""
    return extension("reference_pages")


def test_the_reference_has_every_public_name():
    import arbora as ab

    written = reference_pages()
    listed = {name for package in written.packages() for name in written.public_names(package)}
    assert {f"arbora.{name}" for name in ab._HOME_OF_NAME} <= listed
    for package in ab._PACKAGES:
        offered = getattr(getattr(ab, package), "__all__", ())
        found = [name for name in listed if name.startswith(f"arbora.{package}.")]
        assert all(any(f".{name}" in full for full in found) for name in offered), package


def public_objects():
    """Every function and class of the reference, once, under the name it is first listed by."""
    written, found = reference_pages(), {}
    for full in (name for package in written.packages() for name in written.public_names(package)):
        home, _, name = full.rpartition(".")
        found.setdefault(id(getattr(import_module(home), name)), full)
    return sorted(found.values())


# Compiling everything takes a minute; tests/test_ahead.py makes the same call with the slow tests.
LONG_EXAMPLES = {"arbora.compile_kernels"}


@pytest.mark.parametrize("full", public_objects())
def test_every_public_name_has_an_example_that_the_doctests_run(full):
    home, _, name = full.rpartition(".")
    value = getattr(import_module(home), name)
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")
    assert examples, f"{full} has no example in its docstring"
    if full not in LONG_EXAMPLES:
        assert not any(doctest.SKIP in example.options for example in examples)
    # pytest finds the example where the object is defined, if the module there knows it by its name.
    defined = import_module(value.__module__)
    assert getattr(defined, value.__qualname__) is value
    assert (ROOT / "src") in Path(inspect.getfile(defined)).resolve().parents


def test_the_reference_has_every_command_and_option():
    page = reference_pages().command_page()
    for command in (
        "fit",
        "refine",
        "predict",
        "score",
        "show",
        "plot",
        "cut",
        "taxonomy",
        "convert",
        "info",
        "demo",
    ):
        assert f"arbora {command}\n" in page
    assert "``--label-column``" in page
    assert "``TREE``" in page


_DOC_ROLE = re.compile(r":doc:`(?:[^`<]*<)?([^`>]+)>?`")
_LINK_OPTION = re.compile(r":link: (\S+)\n\s+:link-type: doc")


@pytest.mark.parametrize("page", PAGES[1:], ids=short)
def test_links_to_other_pages_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in _DOC_ROLE.findall(text) + _LINK_OPTION.findall(text):
        there = (page.parent / target).resolve().relative_to(DOCS)
        if there.parts[0] == "auto_examples":
            place = ROOT / "examples" / there.relative_to("auto_examples")
            found = place.with_suffix(".py").exists() or there.name == "index"
        elif there.parts[0] == "api":
            found = True
        else:
            found = (DOCS / there).with_suffix(".rst").exists()
        assert found, f"{page.name} links to {target}, which is not there"


def test_the_build_finds_links_that_lead_nowhere(tmp_path):
    pytest.importorskip("sphinx")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "there.html").write_text('<p id="here">', encoding="utf-8")
    good = ["sub/there.html", "sub/there.html#here", "#top", "https://example.org/gone", "sub/there.html?x=1"]
    bad = ["gone.html", "sub/there.html#gone", "#gone", "sub/gone.png"]
    links = "".join(f'<a href="{link}"></a>' for link in good + bad)
    (tmp_path / "page.html").write_text(f'<p id="top">{links}', encoding="utf-8")
    found = extension("links_checked").broken_links(tmp_path)
    assert sorted((str(page), link) for page, link in found) == sorted(("page.html", link) for link in bad)


@pytest.mark.parametrize("page", sorted(ROOT.glob("*.md")), ids=short)
def test_links_of_the_files_at_the_top_lead_somewhere(page):
    text = re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (ROOT / target).exists(), f"{page.name} links to {target}"


def test_pictures_and_pages_that_the_guide_shows_are_made_or_there():
    written = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples").rglob("*.py"))
    for page in PAGES[1:]:
        text = page.read_text(encoding="utf-8")
        for shown in re.findall(r"\.\. explorer:: (\S+)", text):
            assert f'"{shown}"' in written, f"no example writes {shown}, which {page.name} shows"
        for drawn in re.findall(r"\.\. plot:: (\S+)", text):
            assert (DOCS / drawn).exists() or (page.parent / drawn).exists(), drawn
        for image in re.findall(r"\.\. image:: (\S+)", text):
            assert (page.parent / image).exists() or "results/pictures" in image, image


def test_examples_are_in_the_reading_order():
    order = (DOCS / "_ext" / "gallery_order.py").read_text(encoding="utf-8")
    for example in sorted((ROOT / "examples").glob("plot_*.py")):
        assert f'"{example.name}"' in order
        assert ast.get_docstring(ast.parse(example.read_text(encoding="utf-8")))


# what each method makes of six data sets takes longer than the rest together
_LONG_FIGURES = {"comparison.py"}


@pytest.mark.parametrize(
    "figure",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.slow] if path.name in _LONG_FIGURES else [])
        for path in sorted((DOCS / "figures").glob("*.py"))
    ],
)
def test_figures_of_the_guide_are_drawn_as_the_build_draws_them(figure, monkeypatch):
    import matplotlib.pyplot as plt

    # in the folder of the figure, and without a __file__
    monkeypatch.chdir(figure.parent)
    plt.close("all")
    try:
        exec(compile(figure.read_text(encoding="utf-8"), figure.name, "exec"), {"__name__": "__main__"})
        assert plt.get_fignums()
    finally:
        plt.close("all")
