"""Bytes and their formats: recognized by what they begin with, unpacked, and limited."""

import bz2
import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest
from reading.files import written

import arbora as ab
from arbora.errors import FormatError, TooLargeError
from arbora.reading import contents as module
from arbora.reading.contents import Contents, contents_of, format_of
from arbora.reading.trees import is_saved_tree, is_tree_json

CSV = b"a,b\n1.5,2\n3,4.5\n"


@pytest.mark.parametrize(
    ("raw", "suffix", "kind"),
    [
        (b"\x93NUMPY...", ".csv", "npy"),
        (b"PAR1...", "", "parquet"),
        (b"ARROW1..", ".bin", "arrow"),
        (b"FEA1", "", "arrow"),
        (b"\x89HDF\r\n\x1a\n", "", "h5ad"),
        (b"PK\x03\x04....", ".xlsx", "xlsx"),
        (b"PK\x03\x04..[Content_Types].xml", "", "xlsx"),
        (b"PK\x03\x04....", "", "npz"),
        (b"%%MatrixMarket matrix", ".txt", "mtx"),
        (b"  \n<?xml?><graphml>", ".txt", "graphml"),
        (b"<GEXF>", "", "gexf"),
        (b"<phyloxml>", "", "phyloxml"),
        (b"#nexus\nbegin", ".txt", "nexus"),
        (b'{"a": 1}\n{"a": 2}', "", "jsonl"),
        (b'{\n"a": [1]}', "", "json"),
        (b"[[1, 2]]", "", "json"),
        (b"((a,b),c);", "", "newick"),
        (b"(a,b) without an end", "", "csv"),
        (b"*Vertices 3", "", "pajek"),
        (b"graph [\n", "", "gml"),
        (b"a b\n", ".edges", "edges"),
        (b"1\t2\n", ".tsv", "tsv"),
        (b"1,2\n", "", "csv"),
        (b"\xef\xbb\xbf((a,b),c);", "", "newick"),
    ],
)
def test_formats_are_recognized_by_their_beginning_before_their_name(raw, suffix, kind):
    assert format_of(Contents("x", suffix, raw)) == kind


def test_other_xml_is_refused():
    with pytest.raises(FormatError, match="x is an XML or HTML file, but neither GraphML nor GEXF"):
        format_of(Contents("x", "", b"<html>"))


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_packed_files_are_unpacked_by_their_mark_whatever_they_are_called(suffix, pack, tmp_path):
    for name in (f"t.csv{suffix}", "t.anything"):
        found = contents_of(str(written(tmp_path / name, pack(CSV))))
        assert found.raw == CSV and found.path is None
    assert contents_of(str(tmp_path / f"t.csv{suffix}")).suffix == ".csv"
    whole = pack(CSV * 500)
    with pytest.raises(FormatError, match="is a damaged"):
        contents_of(str(written(tmp_path / "cut", whole[: len(whole) // 2])))
    with pytest.raises(FormatError, match="is empty"):
        contents_of(str(written(tmp_path / "nothing", pack(b""))))


def test_a_zip_of_one_file_is_that_file_and_folders_do_not_count(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.mkdir("folder")
        archive.writestr("folder/inner.tsv", b"a\tb\n")
    found = contents_of(str(tmp_path / "t.zip"))
    assert found.raw == b"a\tb\n" and found.suffix == ".tsv"
    with zipfile.ZipFile(tmp_path / "t.zip", "a") as archive:
        archive.writestr("second.csv", b"")
    with pytest.raises(FormatError, match=r"is a zip of 2 files. Unpack it, and name one"):
        contents_of(str(tmp_path / "t.zip"))
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 and nothing more")
    with pytest.raises(FormatError, match=r"not a whole .npz file"):
        contents_of(str(tmp_path / "bad.npz"))


def test_what_unpacks_to_more_than_fits_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "available_memory", lambda: 10_000)
    assert module.most_unpacked() == 3500
    with pytest.raises(TooLargeError, match="unpacks to more than"):
        contents_of(str(written(tmp_path / "bomb.gz", gzip.compress(bytes(100_000)))))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.csv", bytes(100_000))
    with pytest.raises(TooLargeError, match=r"announces .* GiB of contents"):
        contents_of(str(written(tmp_path / "bomb.zip", buffer.getvalue())))
    monkeypatch.setattr(module, "available_memory", lambda: None)
    assert module.most_unpacked() == 8 * 2**30


@pytest.mark.parametrize(("name", "message"), [("absent.csv", "There is no file"), (".", "is a folder")])
def test_what_cannot_be_opened_is_named(name, message, tmp_path):
    with pytest.raises(FormatError, match=message):
        contents_of(str(tmp_path / name))


def test_an_empty_file_is_named(tmp_path):
    with pytest.raises(FormatError, match="is empty"):
        contents_of(str(written(tmp_path / "e.csv", b"")))


def test_standard_input_is_read_or_asked_for(monkeypatch):
    class Stream:
        def __init__(self, raw, is_terminal=False):
            self.buffer, self._is_terminal = io.BytesIO(raw), is_terminal

        def isatty(self):
            return self._is_terminal

    monkeypatch.setattr("sys.stdin", Stream(CSV))
    assert contents_of("-").raw == CSV
    monkeypatch.setattr("sys.stdin", Stream(gzip.compress(CSV)))
    assert contents_of("-").raw == CSV
    monkeypatch.setattr("sys.stdin", Stream(b"", True))
    with pytest.raises(FormatError, match="Nothing on standard input"):
        contents_of("-")


def test_only_the_head_of_a_file_is_read_before_it_is_needed(tmp_path, monkeypatch):
    path = written(tmp_path / "t.csv", CSV * 20_000)
    sizes = []
    plain = module._file_bytes
    monkeypatch.setattr(module, "_file_bytes", lambda p, most=-1: sizes.append(most) or plain(p, most))
    found = contents_of(str(path))
    assert sizes == [65536] and len(found.head) == 65536
    assert len(found.raw) == len(CSV) * 20_000 and found.raw is found.raw


# ---- trees among other files -------------------------------------------------------------------------------------

TREE = ab.Tree.from_newick("((a,b),c);")


def test_saved_trees_are_told_from_other_archives(tmp_path):
    TREE.save(tmp_path / "t.npz")
    np.savez(tmp_path / "x.npz", X=np.eye(2))
    assert is_saved_tree(contents_of(str(tmp_path / "t.npz")))
    assert not is_saved_tree(contents_of(str(tmp_path / "x.npz")))
    assert not is_saved_tree(Contents("x", "", b"no archive"))


@pytest.mark.parametrize(
    ("raw", "is_tree"),
    [
        (TREE.to_json().encode(), True),
        (b'{"name": "root", "children": [{"name": "a"}]}', True),
        (b'\xef\xbb\xbf {"children": []}', True),
        (b'{"nodes": [], "links": []}', False),
        (b'[{"children": 3}]', False),
        (b'{"a": [1, 2]}', False),
    ],
)
def test_json_of_trees_is_told_from_json_of_tables(raw, is_tree):
    assert is_tree_json(Contents("x", ".json", raw)) is is_tree


@pytest.mark.parametrize("form", ["npy", "npz", "csv", "pandas", "parquet", "arrow"])
def test_linkage_matrices_are_read_from_every_kind_of_table(form, tmp_path):
    tree = ab.linkage(np.random.default_rng(0).normal(size=(5, 2)), "average")
    matrix = tree.to_linkage()
    path = tmp_path / f"m.{form}"
    if form == "npy":
        np.save(path, matrix)
    elif form == "npz":
        np.savez(path, Z=matrix)
    elif form == "csv":
        np.savetxt(path, matrix, delimiter=",")
    elif form == "pandas":
        pytest.importorskip("pandas").DataFrame(matrix).to_csv(path)
    else:
        pyarrow = pytest.importorskip("pyarrow")
        table = pyarrow.table({f"c{k}": matrix[:, k] for k in range(4)})
        if form == "parquet":
            pytest.importorskip("pyarrow.parquet").write_table(table, path)
        else:
            pytest.importorskip("pyarrow.feather").write_feather(table, str(path))
    found = ab.reading.read_tree(str(path), ab.reading.ReadOptions(format="linkage"))
    assert found.same_topology(tree)
    np.testing.assert_allclose(found.height, tree.height)


def test_what_is_no_linkage_matrix_says_why(tmp_path):
    np.save(tmp_path / "m.npy", np.ones((3, 2)))
    with pytest.raises(FormatError, match=r"m.npy is not a linkage matrix"):
        ab.reading.read_tree(str(tmp_path / "m.npy"), ab.reading.ReadOptions(format="linkage"))
