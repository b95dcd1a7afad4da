import contextlib
import io
import json

import dendropy
import numpy as np
import pandas
import polars
import pytest
from Bio import Phylo
from hypothesis import given
from hypothesis import strategies as st
from trees import chain, leaf_sets, trees

from arbora import Tree
from arbora.errors import FormatError
from arbora.tree.formats import frame, nested, newick, nexus, phyloxml, text

EMPTY_GRAPHML = (
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed"/></graphml>'
)
names = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=8)


def full_tree():
    return Tree(
        [3, 3, 4, 4, -1],
        3,
        height=[0, 0, 0, 1, 2],
        support=[np.nan, np.nan, np.nan, 0.5, np.nan],
        name=["sea_eagle", "it's a 木", "c", "birds", ""],
    )


def same_tree(back, tree, *, with_support=False):
    assert back.matched_to(tree).same_topology(tree)
    assert np.allclose(back.matched_to(tree).cophenetic(), tree.cophenetic())
    if with_support:
        assert np.nansum(back.support) == np.nansum(tree.support)


# ---- files of any format ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "suffix", [".npz", ".nwk", ".newick", ".tre", ".nex", ".xml", ".graphml", ".json", ".arbora", ""]
)
def test_what_is_saved_under_any_name_is_loaded(tmp_path, suffix):
    path = tmp_path / f"tree{suffix}"
    full_tree().save(path)
    same_tree(Tree.load(path), full_tree(), with_support=suffix in (".npz", ".xml", ".graphml", ".json"))
    assert Tree.load(path).leaf_names == full_tree().leaf_names
    assert len(Tree.load_all(path)) == 1


@pytest.mark.parametrize("suffix", [".nwk", ".nex", ".xml"])
def test_several_trees_in_one_file(tmp_path, suffix):
    path = tmp_path / f"trees{suffix}"
    several = [full_tree(), Tree.from_newick("(a:1,(b:0.5,'x;y':0.5):0.5);")]
    Tree.save_all(several, path)
    for back, tree in zip(Tree.load_all(path), several, strict=True):
        same_tree(back, tree)
    with pytest.raises(FormatError, match=r"holds 2 trees. Use Tree.load_all"):
        Tree.load(path)


def test_the_contents_decide_where_the_name_does_not(tmp_path):
    for k, content in enumerate(
        ["(a,b);", "#NEXUS\nbegin trees; tree t = (a,b); end;", full_tree().to_json()]
    ):
        path = tmp_path / f"{k}.txt"
        path.write_text("\ufeff" + content if k == 0 else content, encoding="utf-8")
        assert Tree.load(path).n_leaves in (2, 3)


def test_one_tree_formats_refuse_several(tmp_path):
    for name in ("t.npz", "t.json"):
        with pytest.raises(ValueError, match="can hold one tree"):
            Tree.save_all([full_tree()], tmp_path / name)
    with pytest.raises(TypeError, match="at least one Tree"):
        Tree.save_all([], tmp_path / "t.nwk")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.nwk", "((a,b"),
        ("a.nwk", "(a,b)); (c,d);"),
        ("a.nex", "#NEXUS begin data; end;"),
        ("a.nex", "#NEXUS begin trees; tree t (a,b); end;"),
        ("a.nex", "#NEXUS begin trees; translate 1; tree t = (1,2); end;"),
        ("a.nex", "#NEXUS begin trees; tree t = (a,b); tree t = (a,b); end;"),
        ("a.xml", "<phyloxml"),
        ("a.xml", "<html></html>"),
        ("a.graphml", "<graphml"),
        (
            "a.graphml",
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="directed"/></graphml>',
        ),
        ("a.json", "{"),
        ("a.json", "[]"),
        ("a.json", '{"format": "arbora.tree", "version": 1, "n_leaves": 2}'),
        ("a.json", '{"format": "arbora.tree", "version": 2}'),
        ("a.json", '{"children": [3, 4]}'),
        ("a.json", '{"children": 3}'),
        ("a.nex", "#NEXUS begin trees; tree t = (a,b);"),
        ("a.nex", "#NEXUS begin trees; tree t = (a,b); tree u = (a,b"),
        ("a.txt", "hello"),
    ],
)
def test_damaged_files_are_refused_by_name(tmp_path, name, content):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    for load in (Tree.load, Tree.load_all):
        with pytest.raises(FormatError, match=name):
            load(path)


@pytest.mark.parametrize("suffix", [".nwk", ".nex", ".xml", ".graphml", ".json"])
@given(st.data())
def test_a_damaged_file_is_read_or_refused_in_our_words(tmp_path_factory, suffix, data):
    path = tmp_path_factory.mktemp("damaged") / f"tree{suffix}"
    full_tree().save(path)
    raw = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(raw[: data.draw(st.integers(1, len(raw)))]))
    with contextlib.suppress(FormatError):
        assert Tree.load(path).n_leaves >= 1


@pytest.mark.parametrize("text", ["(" + "a," * 200_000 + "'", "[" * 200_000, "'" * 200_001, "(a,b);" * 3000])
def test_text_without_an_end_is_given_up_at_once(tmp_path, text):
    for name, start in (("t.nwk", ""), ("t.nex", "#NEXUS begin trees; tree t = ")):
        path = tmp_path / name
        path.write_text(start + text)
        with contextlib.suppress(FormatError):
            assert len(Tree.load_all(path)) == 3000


def test_from_newick_takes_a_file_and_says_when_there_is_none(tmp_path):
    path = tmp_path / "t.nwk"
    full_tree().save(path)
    assert Tree.from_newick(path) == Tree.from_newick(str(path)) == Tree.load(path)
    with pytest.raises(FormatError, match=r"'missing.nwk' is neither Newick text nor a file"):
        Tree.from_newick("missing.nwk")


# ---- Newick ----------------------------------------------------------------------------------------------------


@given(st.lists(st.text("ab_X '", min_size=1, max_size=6), min_size=2, max_size=5, unique_by=str.lower))
def test_other_readers_keep_names_with_underscores_and_blanks(labels):
    written = Tree.from_merges([range(len(labels))], name=labels).to_newick()
    theirs = dendropy.Tree.get(data=written, schema="newick")
    assert [leaf.taxon.label for leaf in theirs.leaf_node_iter()] == labels
    assert Tree.from_newick(written).leaf_names == labels


def test_supports_of_iq_tree_are_read():
    both = "((a,b)95/0.99:1,(c,d)87.5/0.5:1,e);"
    assert Tree.from_newick(both, support=True).support[5:7].tolist() == [0.95, 0.875]
    assert Tree.from_newick(both, support="last").support[5:7].tolist() == [0.99, 0.5]
    with pytest.raises(FormatError, match="wants numbers"):
        Tree.from_newick("((a,b)95/x,c);", support=True)
    with pytest.raises(ValueError, match="support must be one of"):
        Tree.from_newick(both, support="middle")


def test_statements_end_at_semicolons_outside_quotes_and_comments():
    assert newick.statements("a;'b;''c'[;]; d") == ["a", "'b;''c'[;]", " d"]
    assert newick.statements("a 'open;") == ["a 'open;"]
    assert [tree.n_leaves for tree in newick.read_all("(a,b);\n(c,d,e);\n")] == [2, 3]


# ---- Nexus and phyloXML ----------------------------------------------------------------------------------------


@given(trees(min_leaves=2, max_leaves=10, heights=True), st.data())
def test_nexus_is_read_by_us_biopython_and_dendropy(tree, data):
    # punctuation alone stops dendropy, and Biopython joins blanks
    plain = st.text("abcXYZ 123,:;()[]'_", max_size=6).map(lambda end: " ".join(f"N{end}".split()))
    labels = data.draw(st.lists(plain, min_size=tree.n_leaves, max_size=tree.n_leaves, unique=True))
    tree = tree.replace(name=labels)
    written = nexus.write({"one": tree})
    same_tree(nexus.read(written)["one"], tree)
    theirs = dendropy.Tree.get(data=written, schema="nexus")
    assert sorted(leaf.taxon.label for leaf in theirs.leaf_node_iter()) == sorted(labels)
    # Biopython keeps the quotes
    found = {leaf.name for leaf in Phylo.read(io.StringIO(written), "nexus").get_terminals()}
    assert found <= {*labels, *map(newick.quoted, labels)} and len(found) == tree.n_leaves


def test_nexus_translates_numbers_and_skips_other_blocks():
    content = """#nexus [a comment; with a semicolon]
    Begin Taxa; Dimensions ntax=2; TaxLabels x y; End;
    BEGIN TREES;
        Translate 1 'Homo sapiens', 2 Pan_paniscus;
        TREE * best = [&U] (1:1, 2:1)root;
        utree other = (2,1);
    END;"""
    found = nexus.read(content)
    assert list(found) == ["best", "other"]
    assert found["best"].name.tolist() == ["Homo sapiens", "Pan_paniscus", "root"]
    with pytest.raises(FormatError, match="begin with"):
        nexus.read("(a,b);")


@given(trees(min_leaves=2, max_leaves=10, heights=True))
def test_phyloxml_gives_the_tree_back_and_biopython_reads_it(tree):
    tree = tree.replace(
        name=[f"n_{node}" for node in range(tree.n_nodes)], support=np.full(tree.n_nodes, 0.25)
    )
    written = phyloxml.write([tree])
    back = phyloxml.read(written)[0]
    same_tree(back, tree)
    assert sorted(back.name) == sorted(tree.name)
    assert back.support.tolist() == tree.support.tolist()
    assert len(Phylo.read(io.BytesIO(written), "phyloxml").get_terminals()) == tree.n_leaves


def test_a_chain_too_deep_for_biopython_is_refused_with_advice():
    with pytest.raises(FormatError, match="nested too deeply"):
        phyloxml.write([chain(3000)])
    assert nexus.read(nexus.write([chain(3000)]))["tree_1"].n_leaves == 3000


# ---- JSON, D3, frames, text ------------------------------------------------------------------------------------


@given(trees(max_leaves=10, unary=0.2, heights=True), st.data())
def test_json_gives_everything_back(tree, data):
    tree = tree.replace(
        name=data.draw(st.lists(names, min_size=tree.n_nodes, max_size=tree.n_nodes)),
        support=[np.nan] * tree.n_leaves + [0.1] * tree.n_internal,
        order=np.arange(tree.n_leaves)[::-1],
    )
    back = Tree.from_json(tree.to_json(indent=1))
    assert back == tree
    assert back.leaf_order.tolist() == tree.leaf_order.tolist()
    nested_back = Tree.from_json(json.dumps(tree.to_d3())) if tree.n_leaves > 1 else back
    assert nested_back.leaf_names == [tree.name[leaf] for leaf in tree.leaf_order]
    numbered = nested_back.restrict(np.argsort(tree.leaf_order))
    assert set(map(frozenset, leaf_sets(numbered))) == set(map(frozenset, leaf_sets(tree)))


def test_d3_objects_have_what_d3_reads():
    root = full_tree().to_d3()
    assert root == nested.to_nested(full_tree())
    assert root["children"][0] == {
        "name": "birds",
        "node": 3,
        "height": 1.0,
        "support": 0.5,
        "children": [
            {"name": "sea_eagle", "node": 0, "height": 0.0, "value": 1},
            {"name": "it's a 木", "node": 1, "height": 0.0, "value": 1},
        ],
    }
    assert Tree([2, 2, -1], 2).to_d3()["children"][1]["name"] == "1"
    # deep trees are made and read without recursion
    deep = chain(3000).to_d3()
    assert nested.from_nested(deep).n_leaves == 3000


def test_json_says_what_is_wrong():
    with pytest.raises(TypeError, match="str of JSON"):
        Tree.from_json(3)
    with pytest.raises(FormatError, match=r"Tree.load\(path\)"):
        Tree.from_json("tree.json")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_has_one_row_per_node(library):
    tree = full_tree()
    table = tree.to_frame(library)
    assert isinstance(table, {"pandas": pandas, "polars": polars}[library].DataFrame)
    assert list(table.columns) == ["node", "parent", "name", "size", "depth", "height", "support", "is_leaf"]
    assert list(table["size"]) == tree.sizes.tolist()
    assert list(table["is_leaf"]) == [True, True, True, False, False]
    rows = table.to_dict("records") if library == "pandas" else table.to_dicts()
    assert rows[3]["name"] == "birds" and rows[3]["parent"] == 4 and rows[3]["support"] == 0.5
    assert rows[4]["parent"] in (None, pandas.NA) and rows[4]["name"] is None
    with pytest.raises(ValueError, match="library must be one of"):
        frame.write(tree, "arrow")


def test_text_shows_depth_and_counts_what_it_leaves_out():
    tree = Tree.from_newick("(((a,b)x,c)y,'two\nlines')all;")
    assert tree.to_text(max_depth=1) == "all (4)\n├── y (3)\n└── two lines"
    assert tree.to_text(max_depth=0) == "all (4)"
    star = Tree.from_merges([range(30)])
    assert star.to_text(max_children=2).splitlines() == ["30 (30)", "├── 0", "├── 1", "└── ... 28 more"]
    assert len(star.to_text(max_children=None).splitlines()) == 31
    assert text.write(chain(1200)).count("\n") == 2 * 1200 - 2
    with pytest.raises(ValueError, match="max_depth must be at least 0"):
        tree.to_text(max_depth=-1)


def test_the_names_of_a_linkage_matrix_are_the_leaf_names():
    tree = full_tree()
    assert (
        Tree.from_linkage(tree.to_linkage(), name=tree.leaf_names).matched_to(tree).leaf_names
        == tree.leaf_names
    )
    assert Tree([2, 2, -1], 2).leaf_names == ["0", "1"]


def test_a_full_disk_leaves_old_itol_files(tmp_path, monkeypatch):
    tree = full_tree()
    tree.to_itol(tmp_path)
    old = (tmp_path / "tree.nwk").read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        Tree.from_newick("(a,b);").to_itol(tmp_path)
    assert (tmp_path / "tree.nwk").read_bytes() == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["labels.txt", "tree.nwk"]


XML_KEEPS = [
    "it's",
    'say "hi"',
    "x[1]",
    "<b>&amp;</b>",
    "]]>",
    "ünïcödé",
    "\U0001f600",
    "&#x41;",
    "a//b\\c",
    "=cmd",
]


@pytest.mark.parametrize("suffix", [".xml", ".graphml"])
def test_names_come_back_from_xml_as_they_were(tmp_path, suffix):
    pytest.importorskip("Bio" if suffix == ".xml" else "networkx")
    tree = Tree([len(XML_KEEPS)] * len(XML_KEEPS) + [-1], len(XML_KEEPS), name=XML_KEEPS)
    tree.save(tmp_path / f"t{suffix}")
    assert Tree.load(tmp_path / f"t{suffix}").leaf_names == XML_KEEPS


@pytest.mark.parametrize(
    ("suffix", "name"),
    [
        (".xml", "\x1b[31mred"),
        (".graphml", "\x0b"),
        (".graphml", "a\rb"),
        (".xml", " lead"),
        (".xml", "two\nlines"),
    ],
)
def test_names_that_xml_would_change_are_refused(tmp_path, suffix, name):
    pytest.importorskip("Bio" if suffix == ".xml" else "networkx")
    with pytest.raises(ValueError, match="cannot hold the name"):
        Tree([2, 2, -1], 2, name=["owl", name]).save(tmp_path / f"t{suffix}")
    assert list(tmp_path.iterdir()) == []
