"""Every input format gives the same numbers, and damaged ones say so."""

import gzip
import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from scipy.cluster.hierarchy import linkage

from arbora.cli._exit import CommandError
from arbora.cli.reading import ReadOptions, read_data, read_tree
from arbora.tree import Tree

X = np.array([[1.0, 2.5], [3.0, -4.0], [0.5, 6.0], [7.0, 8.0]])
SPECIES = ["cat", "cat", "dog", "dog"]


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def npy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_npy_keeps_the_numbers(tmp_path):
    assert np.array_equal(read_data(written(tmp_path / "x.npy", npy_bytes(X)), ReadOptions()).values, X)


def test_npz_finds_matrix_and_labels(tmp_path):
    np.savez(tmp_path / "x.npz", X=X, y=np.arange(4), other=np.zeros(9))
    data = read_data(str(tmp_path / "x.npz"), ReadOptions())
    assert np.array_equal(data.values, X)
    assert data.labels.tolist() == [0, 1, 2, 3]


def test_npz_with_several_arrays_wants_a_key(tmp_path):
    np.savez(tmp_path / "x.npz", left=X, right=2 * X)
    with pytest.raises(CommandError, match="--key"):
        read_data(str(tmp_path / "x.npz"), ReadOptions())
    assert np.array_equal(read_data(str(tmp_path / "x.npz"), ReadOptions(key="right")).values, 2 * X)


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", " "])
@pytest.mark.parametrize("header", [True, False])
def test_tables_are_read_whatever_their_delimiter_and_header(tmp_path, delimiter, header):
    lines = [delimiter.join(["a", "b"])] if header else []
    lines += [delimiter.join(map(str, row)) for row in X]
    data = read_data(written(tmp_path / "x.csv", "\n".join(lines) + "\n"), ReadOptions())
    assert np.array_equal(data.values, X)


def test_the_label_column_is_no_feature(tmp_path):
    text = "a,species,b\n" + "".join(f"{a},{s},{b}\n" for (a, b), s in zip(X, SPECIES, strict=True))
    data = read_data(written(tmp_path / "x.csv", text), ReadOptions(label_column="species"))
    assert np.array_equal(data.values, X)
    assert data.labels.tolist() == SPECIES
    assert data.label_name == "species"


def test_a_numeric_label_column_is_no_feature_either(tmp_path):
    text = "a,b,kind\n" + "".join(f"{a},{b},{k}\n" for (a, b), k in zip(X, [0, 0, 1, 1], strict=True))
    data = read_data(written(tmp_path / "x.csv", text), ReadOptions(label_column="kind"))
    assert data.values.shape == (4, 2)


def test_a_first_column_of_distinct_text_names_the_rows(tmp_path):
    text = "id,a,b\n" + "".join(f"row{k},{a},{b}\n" for k, (a, b) in enumerate(X))
    data = read_data(written(tmp_path / "x.csv", text), ReadOptions())
    assert data.names == ["row0", "row1", "row2", "row3"]


def test_quoted_cells_and_byte_order_marks_are_understood(tmp_path):
    text = '\ufeff"a","b, or c"\r\n"1","2"\r\n"3","4"\r\n'
    assert read_data(written(tmp_path / "x.csv", text), ReadOptions()).values.tolist() == [[1, 2], [3, 4]]


def test_gzipped_tables_are_unpacked(tmp_path):
    path = written(tmp_path / "x.csv.gz", gzip.compress(b"a,b\n1,2\n3,4\n"))
    assert read_data(path, ReadOptions()).values.tolist() == [[1, 2], [3, 4]]


def test_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"a": X[:, 0], "b": X[:, 1], "species": SPECIES})
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    data = read_data(str(tmp_path / "x.parquet"), ReadOptions(label_column="species"))
    assert np.array_equal(data.values, X)
    assert data.labels.tolist() == SPECIES


def test_h5ad_reads_x_or_obsm_and_obs_labels(tmp_path):
    anndata = pytest.importorskip("anndata")
    pandas = pytest.importorskip("pandas")
    obs = pandas.DataFrame({"species": pandas.Categorical(SPECIES)}, index=list("pqrs"))
    cells = anndata.AnnData(X=sp.csr_matrix(X), obs=obs, obsm={"X_pca": X[:, :1] * 10})
    cells.write_h5ad(tmp_path / "x.h5ad")
    data = read_data(str(tmp_path / "x.h5ad"), ReadOptions(label_column="species"))
    assert np.array_equal(data.values, X[:, :1] * 10)
    assert data.names == ["p", "q", "r", "s"]
    whole = read_data(str(tmp_path / "x.h5ad"), ReadOptions(obsm="X"))
    assert np.array_equal(whole.values.toarray(), X)


def test_edge_lists_name_their_nodes_and_may_have_weights(tmp_path):
    data = read_data(written(tmp_path / "g.edges", "# graph\na b 2\nb c\n"), ReadOptions())
    assert data.kind == "graph"
    assert data.names == ["a", "b", "c"]
    assert data.values.toarray().tolist() == [[0, 2, 0], [2, 0, 1], [0, 1, 0]]


def test_graphml(tmp_path):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_edge("a", "b", weight=2.0)
    graph.add_edge("b", "c", weight=0.5)
    networkx.write_graphml(graph, tmp_path / "g.graphml")
    data = read_data(str(tmp_path / "g.graphml"), ReadOptions())
    assert data.values.sum() == 5.0
    assert data.names == ["a", "b", "c"]


def test_graphml_with_entities_is_refused(tmp_path):
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><graphml>&a;</graphml>'
    with pytest.raises(CommandError, match="entities"):
        read_data(written(tmp_path / "g.graphml", bomb), ReadOptions())


def test_matrix_market_square_is_a_graph_and_rectangular_is_vectors(tmp_path):
    scipy.io.mmwrite(tmp_path / "g.mtx", sp.csr_matrix([[0, 1.0], [1.0, 0]]))
    assert read_data(str(tmp_path / "g.mtx"), ReadOptions()).kind == "graph"
    scipy.io.mmwrite(tmp_path / "x.mtx", sp.csr_matrix(np.ones((3, 2))))
    assert read_data(str(tmp_path / "x.mtx"), ReadOptions()).kind == "vectors"


def test_trees_come_from_npz_newick_and_linkage_matrices(tmp_path):
    Z = linkage(X, "average")
    tree = Tree.from_linkage(Z)
    tree.save(tmp_path / "t.npz")
    np.save(tmp_path / "z.npy", Z)
    np.savetxt(tmp_path / "z.csv", Z, delimiter=",")
    newick = written(tmp_path / "t.nwk", tree.to_newick())
    for source in (tmp_path / "t.npz", tmp_path / "z.npy", tmp_path / "z.csv", newick):
        assert read_tree(str(source), ReadOptions()).n_leaves == 4
    assert read_tree(str(tmp_path / "z.csv"), ReadOptions()).same_topology(tree)


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
        ("x.csv", "one:two\nthree:four\nfive:six\n", "--delimiter"),
        ("x.csv", bytes(range(256)) * 40, "binary"),
        ("x.csv", "red,green\nblue,white\n", "no column of numbers"),
        ("x.parquet", b"PAR1 and then nothing", "not a whole parquet"),
        ("x.h5ad", b"\x89HDF\r\n\x1a\n", "not a whole h5ad"),
        ("x.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1", "not a whole MatrixMarket"),
        ("g.graphml", "<?xml version='1.0'?><graphml><graph>", "not a whole GraphML"),
        ("g.edges", "a b c d e\n", "line 1"),
        ("g.edges", "a b 1\nb c heavy\n", "no number"),
        ("g.edges", "a b 1\nb c -3\n", "not negative"),
        ("x.csv.gz", gzip.compress(b"a,b\n1,2\n" * 500, mtime=0)[:-30], "damaged gzip"),
    ],
)
def test_damaged_files_are_named_with_what_is_wrong(tmp_path, name, content, words):
    with pytest.raises(CommandError) as caught:
        read_data(written(tmp_path / name, content), ReadOptions())
    assert words in str(caught.value)
    assert name in str(caught.value)


def test_a_huge_npy_header_is_refused(tmp_path):
    header = ("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }" + " " * 70000).encode()
    raw = b"\x93NUMPY\x02\x00" + len(header).to_bytes(4, "little") + header + b"\0" * 32
    with pytest.raises(CommandError, match=r"not a whole \.npy"):
        read_data(written(tmp_path / "x.npy", raw), ReadOptions())


def test_a_line_of_too_many_columns_is_refused(tmp_path):
    with pytest.raises(CommandError, match="columns"):
        read_data(written(tmp_path / "x.csv", ",".join(["1"] * 200_001) + "\n"), ReadOptions())


def test_missing_values_are_counted(tmp_path):
    data = read_data(written(tmp_path / "x.csv", "a,b\n1,2\n,4\n5,NA\n"), ReadOptions())
    with pytest.raises(CommandError, match="2 missing"):
        data.check_usable()


def test_a_forbidden_file_is_one_clear_error(tmp_path, monkeypatch):
    from pathlib import Path

    def denied(self):
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path / "secret.npy", npy_bytes(X))
    monkeypatch.setattr(Path, "read_bytes", denied)
    with pytest.raises(CommandError, match=r"secret\.npy may not be read"):
        read_data(path, ReadOptions())
