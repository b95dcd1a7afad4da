"""Every format gives the same numbers, names and labels; files are small and written by those who own the format."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from reading.files import SPECIES, VALUES, written
from scipy.cluster.hierarchy import linkage

import arbora as ab
from arbora.reading import ReadOptions, read_tree

X = np.array(VALUES)
E = np.arange(15.0).reshape(5, 3) ** 1.5
NAMES = [f"flower {k}" for k in range(5)]


def npy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_npy_keeps_the_numbers(tmp_path):
    assert np.array_equal(ab.read(written(tmp_path / "x.npy", npy_bytes(X))).values, X)


def test_npz_finds_matrix_labels_names_and_the_names_of_classes(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, y=[0, 1, -1, 1, 0], names=NAMES, class_names=["cat", "dog", "owl"])
    data = ab.read(tmp_path / "x.npz")
    assert np.array_equal(data.values, X)
    assert data.y.tolist() == ["cat", "dog", None, "dog", "cat"]
    assert data.names == NAMES


def test_npz_of_logits_names_its_columns_by_class(tmp_path):
    np.savez(tmp_path / "x.npz", logits=X, y=[0, 1, 1, 1, 0], class_names=["cat", "dog"])
    assert ab.read(tmp_path / "x.npz").feature_names == ["cat", "dog"]


def test_npz_with_several_arrays_wants_to_know_which(tmp_path):
    np.savez(tmp_path / "x.npz", left=X, right=2 * X)
    with pytest.raises(ValueError, match="use="):
        ab.read(tmp_path / "x.npz")
    assert np.array_equal(ab.read(tmp_path / "x.npz", use="right").values, 2 * X)


@pytest.mark.parametrize("writer", ["pandas", "polars", "polars array", "arrow", "feather"])
def test_lists_and_arrays_in_typed_tables_are_vectors(tmp_path, writer):
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    columns = {"title": NAMES, "topic": SPECIES, "n_words": [3, 1, 4, 1, 5]}
    path = tmp_path / ("x.feather" if writer in ("arrow", "feather") else "x.parquet")
    if writer == "pandas":
        pandas.DataFrame({**columns, "embedding": list(E)}).to_parquet(path)
    elif writer.startswith("polars"):
        polars = pytest.importorskip("polars")
        kind = polars.Array(polars.Float32, 3) if "array" in writer else polars.List(polars.Float32)
        series = polars.Series("embedding", E.tolist(), dtype=kind)
        polars.DataFrame(columns).with_columns(series).write_parquet(path)
    else:
        import pyarrow.feather

        table = pyarrow.table({**columns, "embedding": pyarrow.array(E.tolist())})
        pyarrow.feather.write_feather(table, path, compression="uncompressed")
    data = ab.read(path, label_column="topic")
    assert np.allclose(data.values, E)
    assert data.names == NAMES
    assert data.y.tolist() == SPECIES
    assert list(data.metadata) == ["n_words"]


def test_the_index_of_pandas_names_the_rows_of_its_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]}, index=NAMES).to_parquet(tmp_path / "x.parquet")
    data = ab.read(tmp_path / "x.parquet")
    assert data.names == NAMES
    assert np.array_equal(data.values, X)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_in_memory_are_read_by_the_same_rules(library):
    pytest.importorskip(library)
    columns = {"name": NAMES, "a": X[:, 0], "b": [1, None, 3, 4, 5], "species": SPECIES, "e": E.tolist()}
    if library == "pandas":
        import pandas

        frame = pandas.DataFrame(columns).astype({"b": "Int64", "species": "string"})
    elif library == "polars":
        import polars

        frame = polars.DataFrame(columns)
    else:
        import pyarrow

        frame = pyarrow.table(columns)
    data = ab.read(frame, label_column="species")
    assert np.array_equal(data.values, E)
    assert data.names == NAMES
    assert data.y.tolist() == SPECIES
    assert np.isnan(data.metadata["b"][1])
    with pytest.warns(UserWarning, match="1 missing"):
        numbers = ab.read(frame, features="a,b", label_column="species")
    assert numbers.values.shape == (5, 2)


RECORDS = [{"name": name, "species": kind, "e": list(e)} for name, kind, e in zip(NAMES, SPECIES, E.tolist())]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.json", json.dumps(RECORDS)),
        ("x.json", json.dumps(RECORDS, indent=2)),
        ("x.jsonl", "\n".join(map(json.dumps, RECORDS))),
        ("x.txt", "\n".join(map(json.dumps, RECORDS))),
        ("x.json", json.dumps({key: [row[key] for row in RECORDS] for key in RECORDS[0]})),
    ],
)
def test_json_and_json_lines_are_records(tmp_path, name, content):
    data = ab.read(written(tmp_path / name, content), label_column="species")
    assert np.array_equal(data.values, E)
    assert data.names == NAMES
    assert data.y.tolist() == SPECIES


def test_what_pandas_writes_as_json_is_read(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": X[:, 0], "b": X[:, 1]}, index=NAMES)
    for orient in ("columns", "split"):
        frame.to_json(tmp_path / "x.json", orient=orient, double_precision=15)
        data = ab.read(tmp_path / "x.json")
        assert data.names == NAMES
        assert np.array_equal(data.values, X)


def test_json_that_is_no_table_is_refused(tmp_path):
    with pytest.raises(ValueError, match="not a table"):
        ab.read(written(tmp_path / "x.json", '{"a": 3}'))


def test_json_of_nodes_and_links_is_a_graph(tmp_path):
    nx = pytest.importorskip("networkx")
    graph = nx.Graph([("a", "b", {"weight": 2.0}), ("b", "c", {"weight": 1.0})])
    data = ab.read(written(tmp_path / "g.json", json.dumps(nx.node_link_data(graph, edges="links"))))
    assert data.kind == "graph"
    assert data.values.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]


def test_excel_sheets_are_tables(tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("openpyxl")
    frame = pandas.DataFrame({"name": NAMES, "a": X[:, 0], "b": X[:, 1], "species": SPECIES})
    with pandas.ExcelWriter(tmp_path / "x.xlsx") as writer:
        frame.to_excel(writer, sheet_name="flowers", index=False)
        frame.set_index("name").rename_axis(None).to_excel(writer, sheet_name="indexed")
    for use in (None, "indexed"):
        data = ab.read(tmp_path / "x.xlsx", label_column="species", use=use)
        assert np.array_equal(data.values, X)
        assert data.names == NAMES
        assert data.y.tolist() == SPECIES


@pytest.fixture
def cells(tmp_path):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs = pandas.DataFrame(
        {"species": pandas.Categorical([*SPECIES[:4], None]), "n_genes": [3, 1, 4, 1, 5]}, index=NAMES
    )
    graph = sp.csr_matrix(np.ones((5, 5)) - np.eye(5))
    made = anndata.AnnData(
        X=sp.csr_matrix(X),
        obs=obs,
        obsm={"X_pca": E, "X_umap": E[:, :2]},
        obsp={"connectivities": graph, "distances": graph},
        layers={"counts": 10 * X},
    )
    made.write_h5ad(tmp_path / "x.h5ad")
    return tmp_path / "x.h5ad"


def test_h5ad_offers_x_layers_obsm_and_obsp(cells):
    data = ab.read(cells, label_column="species")
    assert np.array_equal(data.values, E)
    assert data.names == NAMES
    assert data.y.tolist() == [*SPECIES[:4], None]
    assert data.metadata["n_genes"].tolist() == [3, 1, 4, 1, 5]
    assert np.array_equal(data.points, E[:, :2])
    assert np.array_equal(ab.read(cells, use="X").values.toarray(), X)
    assert np.array_equal(ab.read(cells, use="layers:counts").values, 10 * X)
    assert ab.read(cells, use="obsm:X_umap").values.shape == (5, 2)
    graph = ab.read(cells, use="obsp:connectivities", label_column="species")
    assert graph.kind == "graph"
    assert graph.facts()["edges"] == 10


def test_neighbor_distances_of_h5ad_are_not_taken_for_similarities(cells):
    with pytest.raises(ValueError, match="connectivities"):
        ab.read(cells, use="obsp:distances")
    with pytest.raises(ValueError, match=r"It has X, layers:counts, obsm:X_pca"):
        ab.read(cells, use="obsm:nothing")


def test_some_cells_are_read_like_a_copy_of_them(cells):
    import anndata

    view = anndata.read_h5ad(cells)[[2, 0]]
    found, copied = ab.read(view), ab.read(view.copy())
    assert found.names == copied.names == view.obs_names.tolist()
    assert np.array_equal(found.values, copied.values)
    assert {key: list(column) for key, column in found.metadata.items()} == {
        key: list(column) for key, column in copied.metadata.items()
    }


@pytest.mark.parametrize("use", ["X", "layers:counts", "obsm:X_pca"])
def test_cells_that_stay_in_their_file_are_read_like_those_in_memory(use, cells):
    import anndata

    backed, loaded = (ab.read(anndata.read_h5ad(cells, backed=mode), use=use).values for mode in ("r", None))
    dense = [one.toarray() if sp.issparse(one) else one for one in (backed, loaded)]
    assert np.array_equal(*dense)


def test_an_anndata_object_is_read_like_its_file(cells):
    import anndata

    assert np.array_equal(ab.read(anndata.read_h5ad(cells)).values, E)


@pytest.mark.parametrize(
    ("suffix", "pack"),
    [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
)
def test_packed_tables_are_unpacked(tmp_path, suffix, pack):
    path = written(tmp_path / f"x.csv{suffix}", pack(b"a,b\n1,2.5\n3,4\n"))
    assert ab.read(path).values.tolist() == [[1, 2.5], [3, 4]]


def test_a_zip_with_one_file_is_unpacked_and_one_with_two_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("x.csv", "a,b\n1,2.5\n3,4\n")
    assert ab.read(tmp_path / "x.zip").values.tolist() == [[1, 2.5], [3, 4]]
    with zipfile.ZipFile(tmp_path / "y.zip", "w") as archive:
        archive.writestr("x.csv", "1,2\n")
        archive.writestr("y.csv", "1,2\n")
    with pytest.raises(ValueError, match="zip of 2 files"):
        ab.read(tmp_path / "y.zip")


def test_archives_that_announce_more_than_there_is_memory_for_are_refused(tmp_path, monkeypatch):
    from arbora.reading import contents

    np.savez_compressed(tmp_path / "x.npz", X=np.zeros((10_000, 10)))
    path = written(tmp_path / "x.csv.gz", gzip.compress(b"1,2\n" * 100_000))
    monkeypatch.setattr(contents, "available_memory", lambda: 300_000)
    with pytest.raises(ab.errors.TooLargeError, match="announces"):
        ab.read(tmp_path / "x.npz")
    with pytest.raises(ab.errors.TooLargeError, match="unpacks"):
        ab.read(path)


def test_symmetric_matrices_must_be_said_to_be_distances_or_similarities(tmp_path):
    place = np.array([0.0, 1.5, 4.0, 4.25, 9.0])
    D = np.abs(np.subtract.outer(place, place))
    header = "\t".join(["", *NAMES])
    rows = [f"{name}\t" + "\t".join(map(str, row)) for name, row in zip(NAMES, D)]
    path = written(tmp_path / "d.tsv", "\n".join([header, *rows]))
    with pytest.raises(ValueError, match="kind='distances'"):
        ab.read(path)
    data = ab.read(path, kind="distances")
    assert np.array_equal(data.values, D)
    assert data.names == NAMES
    np.save(tmp_path / "d.npy", D)
    with pytest.raises(ValueError, match="kind='distances'"):
        ab.read(tmp_path / "d.npy")
    assert ab.read(tmp_path / "d.npy", kind="vectors").kind == "vectors"
    tree = ab.linkage(data, "average")
    expected = ab.Tree.from_linkage(linkage(D[np.triu_indices(5, 1)], "average"))
    assert tree.same_topology(expected.replace(name=NAMES))


def test_condensed_distances_are_opened(tmp_path):
    D = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    np.save(tmp_path / "d.npy", D[np.triu_indices(5, 1)])
    assert np.array_equal(ab.read(tmp_path / "d.npy", kind="distances").values, D)
    np.save(tmp_path / "bad.npy", np.arange(7.0))
    with pytest.raises(ValueError, match="not a condensed matrix"):
        ab.read(tmp_path / "bad.npy", kind="distances")


def test_matrix_market_square_is_a_graph_and_rectangular_is_vectors(tmp_path):
    scipy.io.mmwrite(tmp_path / "g.mtx", sp.csr_matrix([[3.0, 1.0], [1.0, 0]]))
    graph = ab.read(tmp_path / "g.mtx")
    assert graph.kind == "graph"
    assert graph.facts()["edges"] == 2
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.csr_matrix(np.ones((3, 2))))
    assert ab.read(tmp_path / "x.mtx").kind == "vectors"


def test_trees_come_from_npz_newick_linkage_matrices_and_graphml(tmp_path):
    nx = pytest.importorskip("networkx")
    Z = linkage(X, "average")
    tree = ab.Tree.from_linkage(Z)
    tree.save(tmp_path / "t.npz")
    np.save(tmp_path / "z.npy", Z)
    np.savetxt(tmp_path / "z.csv", Z, delimiter=",")
    written(tmp_path / "t.nwk", tree.to_newick())
    nx.write_graphml(tree.replace(name=NAMES).to_networkx(), tmp_path / "t.graphml")
    for name in ("t.npz", "z.npy", "z.csv", "t.nwk", "t.graphml"):
        assert read_tree(str(tmp_path / name)).n_leaves == 5
    assert read_tree(str(tmp_path / "z.csv")).same_topology(tree)
    assert read_tree(str(tmp_path / "t.graphml")).same_topology(tree.replace(name=NAMES))
    with pytest.raises(ValueError, match="is a tree"):
        ab.read(tmp_path / "t.npz")
    np.savetxt(tmp_path / "x.csv", X)
    with pytest.raises(ValueError, match="not a linkage matrix"):
        read_tree(str(tmp_path / "x.csv"), ReadOptions())


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x.npy", b"", "empty"),
        ("x.npy", npy_bytes(X)[:90], "not a whole .npy"),
        ("x.npy", npy_bytes(np.array([{"a": 1}], dtype=object)), "not a whole .npy"),
        ("x.npz", b"PK\x03\x04 cut short", "not a whole .npz"),
        ("x.csv", "a,b\n1,2\n3\n", "row 3 has 1 columns"),
        ("x.csv", "", "empty"),
        ("x.csv", "a,b\n", "no rows"),
        ("x.csv", "one:two\nthree:four\nfive:six\n", "delimiter="),
        ("x.csv", bytes(range(256)) * 40, "binary"),
        ("x.csv", "red,green\nblue,white\n", "no column of numbers"),
        ("x.parquet", b"PAR1 and then nothing", "not a whole parquet"),
        ("x.feather", b"ARROW1 and then nothing", "not a whole arrow"),
        ("x.xlsx", b"PK\x03\x04 cut short", "not a whole zip"),
        ("x.h5ad", b"\x89HDF\r\n\x1a\n", "not a whole h5ad"),
        ("x.json", '[{"a": 1}, {"a"', "not a whole JSON"),
        ("x.jsonl", '{"a": 1}\n{"a"', "line 2"),
        ("x.html", "<html><table></table></html>", "XML or HTML"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1", "not a whole MatrixMarket"),
        ("x.mtx", b"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1" + bytes(8), "NUL"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1.x", "not a number"),
        ("g.graphml", "<?xml version='1.0'?><graphml><graph>", "not a whole GraphML"),
        ("g.gml", "graph [ node [", "not a whole GML"),
        ("g.edges", "a b c d e\n", "line 1"),
        ("g.edges", "a b 1\nb c heavy\n", "not a number"),
        ("g.edges", "a b 1\nb c -3\n", "not negative"),
        ("x.csv.gz", gzip.compress(b"a,b\n1,2\n" * 500, mtime=0)[:-30], "damaged gzip"),
        ("x.nex", "#NEXUS\nbegin trees;\n", "Nexus"),
    ],
)
def test_damaged_and_foreign_files_are_named_with_what_is_wrong(tmp_path, name, content, words):
    with pytest.raises(ValueError) as caught:
        ab.read(written(tmp_path / name, content))
    assert words in str(caught.value)
    assert name in str(caught.value)


def test_missing_files_folders_and_wrong_options_are_named(tmp_path):
    with pytest.raises(ValueError, match="no file"):
        ab.read(tmp_path / "nothing.csv")
    with pytest.raises(ValueError, match="folder"):
        ab.read(tmp_path)
    with pytest.raises(ValueError, match="scale must be one of"):
        ab.read(tmp_path, scale="minmax")
    with pytest.raises(ValueError, match="delimiter must be one character"):
        ab.read(tmp_path, delimiter="::")


def test_a_huge_npy_header_is_refused(tmp_path):
    header = ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }" + " " * 70000).encode()
    raw = b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header + b"\0" * 32
    with pytest.raises(ValueError, match=r"not a whole \.npy"):
        ab.read(written(tmp_path / "x.npy", raw))


def test_a_line_of_too_many_columns_is_refused(tmp_path):
    with pytest.raises(ValueError, match="columns"):
        ab.read(written(tmp_path / "x.csv", ",".join(["1"] * 200_001) + "\n"))


@pytest.mark.parametrize("end", ["", " ", "\r", " \n"])
def test_a_matrix_market_file_is_read_however_its_last_line_ends(tmp_path, end):
    text = "%%MatrixMarket matrix coordinate real symmetric\n% a comment\n2 2 1\n2 1 1.5" + end
    assert ab.read(written(tmp_path / "x.mtx", text)).values.toarray().tolist() == [[0, 1.5], [1.5, 0]]
