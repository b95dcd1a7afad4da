"""Files that could be read in two ways are not read in the wrong one without a word."""

import numpy as np
import pytest

import arbora as ab

EDGES = [
    ("Mr A", "Mr B", 3),
    ("Mr B", "Mr C", 1),
    ("Mr C", "Mr A", 2),
    ("Mr C", "Mr D", 1),
    ("Mr D", "Mr B", 4),
]


@pytest.mark.parametrize("header", ["", "person\tfriend\tmeetings\n"])
def test_pairs_of_names_are_an_edge_list_whatever_the_header_says(tmp_path, header):
    path = tmp_path / "names.tsv"
    path.write_text(header + "".join(f"{a}\t{b}\t{w}\n" for a, b, w in EDGES))
    data = ab.read(path)
    assert data.kind == "graph" and data.names == ["Mr A", "Mr B", "Mr C", "Mr D"]
    assert data.values.sum() == 2 * 11 and "taken as an edge list" in str(data)
    assert ab.read(path, kind="vectors").values.shape == (5, 1)


def test_a_table_with_two_columns_of_other_words_stays_a_table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("town,river,size\n" + "".join(f"town{k},river{k % 3},{k}.5\n" for k in range(9)))
    assert ab.read(path).kind == "vectors"


def test_pairs_of_whole_numbers_are_named_in_a_warning(tmp_path):
    path = tmp_path / "pairs.txt"
    pairs = np.random.default_rng(0).integers(0, 9, size=(40, 2))
    path.write_text("".join(f"{a} {b}\n" for a, b in pairs))
    with pytest.warns(UserWarning, match="as an edge list does"):
        assert ab.read(path).values.shape == (40, 2)
    assert ab.read(path, kind="vectors").kind == "vectors"
    assert ab.read(path, format="edges").kind == "graph"


def test_one_number_per_pair_of_points_is_not_taken_for_one_per_point(tmp_path):
    distances = np.arange(1.0, 16.0)
    np.save(tmp_path / "d.npy", distances)
    with pytest.raises(ValueError, match="condensed distances of 6 points"):
        ab.read(tmp_path / "d.npy")
    assert ab.read(tmp_path / "d.npy", kind="distances").values.shape == (6, 6)
    assert ab.read(tmp_path / "d.npy", kind="vectors").values.shape == (15, 1)
    for values in (distances - 5, distances[:14]):
        np.save(tmp_path / "d.npy", values)
        assert ab.read(tmp_path / "d.npy").kind == "vectors"


def test_distances_called_similarities_are_refused_with_the_word_to_say(tmp_path):
    np.save(tmp_path / "d.npy", np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))))
    with pytest.raises(ValueError, match="kind='distances'"):
        ab.read(tmp_path / "d.npy", kind="similarities")
