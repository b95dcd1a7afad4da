"""The page as a file: complete, closed to everything outside, and its script well formed."""

import base64
import hashlib
import html
import json
import re
import zlib

import numpy as np
import pytest
from trees import random_tree
from view.large_trees import line_tree

import arbora as ab
from arbora import Tree
from arbora.view import bundle, palette, to_html
from arbora.view._pack import pack, unpack
from arbora.view.content import Content
from arbora.view.page import whole_pack, whole_page

HOSTILE = [
    "</script><script>window.broken = 1</script>",
    "<img src=x onerror='window.broken = 1'>",
    "\u2028\u2029 ' \" ` ${window.broken = 1}",
    "=cmd|' /C calc'!A0",
]


def embedded(page):
    """Facts and arrays inside a page."""
    text = re.search(r'id="arbora-data">([^<]*)</script>', page).group(1)
    return unpack(zlib.decompress(base64.b64decode(text)))


def test_a_page_holds_the_whole_tree():
    tree = random_tree(60, np.random.default_rng(0), max_branching=4)
    labels = np.arange(60) % 3
    facts, arrays = embedded(whole_page(Content(tree, classes=labels)))
    assert facts["nLeaves"] == 60
    assert sorted(arrays["id"].tolist()) == list(range(tree.n_nodes))
    assert arrays["leaves0"].tolist() == labels[tree.leaf_order].tolist()


def test_a_page_names_no_address_and_runs_only_its_own_script(tmp_path):
    page = to_html(Tree.from_newick("((a,b),c);"), tmp_path / "t.html").read_text(encoding="utf-8")
    addresses = set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", page)) - {"http://www.w3.org"}
    assert not addresses
    assert "default-src 'none'" in page
    assert "unsafe" not in page
    for kind, tag in (("script", "script"), ("style", "style")):
        body = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in page


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_never_markup(name):
    tree = Tree.from_newick("((a,b),c);")
    page = whole_page(Content(tree, names=[name, "b", "c"], metadata={name: [name, "x", "y"]}, title=name))
    assert name not in page.replace(html.escape(name), "")
    assert page.count("</script>") == 2
    facts, _ = embedded(page)
    assert facts["names"][0] == name
    assert facts["columns"][0]["name"] == name


def test_fifty_thousand_leaves_fit_in_fifteen_megabytes(tmp_path):
    tree = line_tree(50_000)
    names = [f"a leaf with a usual name, number {k}" for k in range(50_000)]
    path = to_html(
        tree, tmp_path / "t.html", names=names, classes=np.arange(50_000) % 17,
        metadata={"value": np.random.default_rng(0).random(50_000)},
        points=np.random.default_rng(1).random((50_000, 2)),
    )  # fmt: skip
    assert path.stat().st_size < 15e6


def test_larger_trees_are_refused_with_a_way_out(tmp_path):
    with pytest.raises(ValueError, match=r"tree\.explore\(\)"):
        to_html(line_tree(50_001), tmp_path / "t.html")
    assert not (tmp_path / "t.html").exists()


def test_writing_again_replaces_the_page_and_leaves_nothing_behind(tmp_path):
    tree = Tree.from_newick("((a,b),c);")
    to_html(tree, tmp_path / "t.html")
    to_html(tree, tmp_path / "t.html", title="second")
    assert "<title>second</title>" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["t.html"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"classes": [1, 2]}, "one value per leaf"),
        ({"names": ["a"]}, "names must hold"),
        ({"points": np.zeros((3, 3))}, "two columns"),
        ({"points": [[0, np.nan]] * 3}, "finite"),
        ({"images": np.zeros((3, 4))}, "images must have shape"),
        ({"images": np.zeros((3, 400, 4))}, "256"),
        ({"texts": "abc"}, "texts must hold"),
        ({"compare": Tree.from_newick("(a,b);")}, r"same leaves.*only in other"),
        ({"colors": "none"}, "title of a column"),
        ({"metadata": [1, 2, 3]}, "metadata must"),
    ],
)
def test_wrong_content_is_named(content, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Content(Tree.from_newick("((a,b),c);"), **content)


def test_packed_arrays_come_back():
    arrays = {
        "a": np.arange(5, dtype=np.uint8), "b": np.arange(3, dtype=np.int32), "c": np.array([1.5, -2.5]),
        "d": np.arange(4, dtype=np.uint16), "e": np.zeros(0, dtype=np.float32),
    }  # fmt: skip
    facts, back = unpack(pack({"name": "ü </script>"}, arrays))
    assert facts == {"name": "ü </script>"}
    assert all(
        np.array_equal(back[name], array) and back[name].dtype == array.dtype
        for name, array in arrays.items()
    )


def test_top_words_are_those_a_node_uses_more_than_the_rest():
    tree = Tree.from_newick("((a,b),(c,d));")
    texts = ["the cat purrs", "a cat sleeps", "dogs bark loudly", "big dogs bark"]
    content = Content(tree, texts=texts)
    assert content.words.top(4)[0] == "cat"
    assert set(content.words.top(5)[:2]) == {"dogs", "bark"}
    assert "the" not in content.words.vocabulary


def test_a_second_tree_is_matched_by_name():
    tree = Tree.from_newick("((a,b),(c,d));")
    other = Tree.from_newick("((d,c),(b,a));")
    facts, _ = unpack(whole_pack(Content(tree, compare=other)))
    assert facts["tangle"]["robinsonFoulds"] == 0
    assert facts["tangle"]["crossings"] == 0


def test_untangling_never_adds_crossings():
    from arbora.view.tangle import crossings, face_to_face, untangled

    fewer = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        tree, other = random_tree(15, rng, max_branching=3), random_tree(15, rng, max_branching=3)
        left, right = face_to_face(tree, other)
        assert left.same_topology(tree)
        assert right.same_topology(other)
        assert crossings(left, right) <= crossings(tree, untangled(tree, other))
        fewer += crossings(left, right) < crossings(tree, other)
        assert crossings(*face_to_face(tree, tree.reorder(rng.random(15)))) == 0
    assert fewer >= 18


def test_no_two_modules_of_the_page_define_the_same_name():
    for entry in ("main", "widget"):
        text = bundle.script(entry)
        assert not re.search(r"^(import|export) ", text, re.MULTILINE)


def machado(rgb, kind):
    """Simulated dichromacy (Machado, Oliveira and Fernandes 2009, severity 1) in linear light."""
    rows = {
        "protan": (
            0.152286,
            1.052583,
            -0.204868,
            0.114503,
            0.786281,
            0.099216,
            -0.003882,
            -0.048116,
            1.051998,
        ),
        "deutan": (0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881),
    }
    matrix = np.reshape(rows[kind], (3, 3))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return np.clip(linear @ matrix.T, 0, 1)


def lab(linear):
    xyz = linear @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    t = xyz / np.array([0.9505, 1.0, 1.089])
    f = np.where(t > 0.008856, np.cbrt(t), 7.787 * t + 16 / 116)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)


@pytest.mark.parametrize("colors", [palette.LIGHT, palette.DARK])
@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_the_first_ten_colors_differ_for_color_blind_readers(colors, kind):
    seen = lab(machado(np.array([palette.rgb(color) for color in colors[:10]]) / 255, kind))
    distance = np.linalg.norm(seen[:, None] - seen[None], axis=2) + 1e9 * np.eye(10)
    assert distance.min() > 12, np.round(distance.min(axis=1), 1)


def test_facts_are_plain_json():
    facts, _ = embedded(whole_page(Content(Tree.from_newick("((a:1,b:1):1,c:2);"), classes=["x", None, "y"])))
    json.dumps(facts, allow_nan=False)
    assert facts["columns"][0]["categories"] == ["x", "y"]


def test_huge_heights_reach_the_page_as_finite_numbers():
    tree = Tree.from_newick("((a,b),c);").replace(height=[0, 0, 0, 1e300, 1.7e308])
    _, arrays = embedded(whole_page(Content(tree)))
    assert np.isfinite(arrays["height"]).all()
    assert np.isfinite(arrays["y"]).all()
    assert arrays["height"].max() == 1.7e308


def test_labels_is_no_argument_any_more(tmp_path):
    with pytest.raises(TypeError, match="labels"):
        Tree.from_newick("((a,b),c);").to_html(tmp_path / "t.html", labels=[1, 2, 3])


def test_colors_are_a_title_or_values():
    tree = Tree.from_newick("((a,b),(c,d));")
    assert Content(tree, metadata={"x": [1.5, 2, 3, 4], "y": list("aabb")}, colors="y").color == "y"
    content = Content(tree, classes=list("aabb"), colors=[1.5, 2.5, 3.5, 4.5])
    assert content.color == "colors"
    assert content.column("colors").kind == "number"
    assert Content(tree, classes=list("aabb"), colors="cut").color == "cut"


def test_trees_of_other_leaves_are_not_compared():
    tree, other = Tree.from_newick("((a,b),(c,d));"), Tree.from_newick("((a,b),(c,e));")
    with pytest.raises(ValueError, match="only in the tree: 'e'"):
        Content(tree, compare=other)
    twice = Tree.from_newick("((a,a),(c,d));")
    with pytest.raises(ValueError, match="names repeat"):
        Content(twice, compare=Tree.from_newick("((c,a),(a,d));"))


def test_nodes_of_a_graph_say_how_dense_they_are_and_who_is_central():
    graph = ab.similarity.graph(([0, 0, 0, 4, 3], [1, 2, 3, 5, 4], [1, 1, 1, 1, 0.5]))
    tree = ab.cluster(graph, random_state=0)
    node = int(tree.lca(0, 1)) if tree.lca(0, 1) != tree.root else int(tree.children(tree.root)[0])
    content = Content(tree, similarity=graph, names=list("abcdef"))
    reason = ab.insight.explain_graph(tree, graph, node=node)[0]
    density, central = (one["rule"] for one in content.reasons(node))
    assert f"{reason.density_inside:.3g} inside, {reason.density_outside:.3g} to all others" in density
    assert central.startswith(f"central: {'abcdef'[reason.central[0]]}, ")
    assert Content(tree, similarity=ab.similarity.cosine(np.eye(6))).explained == []


def test_nodes_say_what_sets_them_apart_where_features_have_names():
    import arbora as ab

    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, (20, 3)), rng.normal([9, 0, 0], 1, (20, 3))])
    tree = ab.linkage(X, "ward")
    content = Content(tree, features=X, feature_names=["length", "width", "mass"])
    assert content.reasons(int(tree.children(tree.root)[0]))[0]["name"] == "length"
    assert content.reasons(0) == content.reasons(tree.root) == []
    assert Content(tree, features=X).explained == []
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["length", "width", "mass"])
    assert Content(tree, features=frame).feature_names == ["length", "width", "mass"]
    with pytest.raises(ValueError, match="feature_names must hold 3"):
        Content(tree, features=X, feature_names=["a"])
    with pytest.raises(ValueError, match="Pass features too"):
        Content(tree, feature_names=["a"])


def test_no_public_name_is_also_a_module():
    import pkgutil

    import arbora.view

    modules = {module.name for module in pkgutil.iter_modules(arbora.view.__path__)}
    assert not modules & set(arbora.view.__all__)
    assert all(callable(getattr(arbora.view, name)) for name in arbora.view.__all__)


def test_in_a_notebook_explore_gives_a_widget(monkeypatch):
    pytest.importorskip("anywidget")
    from arbora.view import server

    monkeypatch.setattr(server, "_in_notebook", lambda: True)
    shown = Tree.from_newick("((a,b),c);").explore(view="icicle")
    assert shown.view == "icicle"
