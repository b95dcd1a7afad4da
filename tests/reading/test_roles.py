"""Which columns become features, labels, names, texts and metadata."""

import numpy as np
import pytest
from reading.files import written

import arbora as ab


def table(n=30, **columns):
    rng = np.random.default_rng(0)
    return {"x": rng.normal(size=n), "y": rng.normal(size=n), **columns}


def test_a_column_of_vectors_is_the_features_and_numbers_beside_it_are_metadata():
    rng = np.random.default_rng(0)
    E = rng.normal(size=(5, 4))
    data = ab.read({"title": list("abcde"), "n_words": [3, 1, 4, 1, 5], "embedding": list(E)})
    assert np.array_equal(data.values, E)
    assert data.names == list("abcde")
    assert list(data.metadata) == ["n_words"]


def test_two_columns_of_vectors_are_asked_about():
    columns = {"a": [[1.0, 2], [3, 4]], "b": [[5.0], [6]]}
    with pytest.raises(ValueError, match="embedding_column="):
        ab.read(columns)
    assert ab.read(columns, embedding_column="b").values.tolist() == [[5], [6]]


@pytest.mark.parametrize("name", ["doc_id", "id", "ID", "customerId", "uuid"])
def test_identifiers_are_names_and_never_features(name):
    data = ab.read(table(**{name: np.arange(900, 930)}))
    assert data.feature_names == ["x", "y"]
    assert data.names[0] == "900"


def test_repeated_identifiers_are_metadata():
    data = ab.read(table(customer_id=np.arange(30) // 2))
    assert data.feature_names == ["x", "y"]
    assert "customer_id" in data.metadata
    assert "identify" in str(data)


@pytest.mark.parametrize("start", [0, 1])
def test_a_first_column_that_counts_the_rows_is_names(start):
    data = ab.read({"n": np.arange(30) + start, **table()})
    assert data.feature_names == ["x", "y"]
    assert data.names[0] == str(start)


def test_a_later_column_that_counts_the_rows_is_no_feature():
    assert ab.read(table(position=np.arange(30))).feature_names == ["x", "y"]


def test_a_column_that_rules_the_variance_is_named_in_a_warning_and_scaling_answers_it():
    with pytest.warns(UserWarning, match="'year'"):
        ab.read(table(year=np.random.default_rng(1).integers(1950, 2020, 30)))
    data = ab.read(table(year=np.random.default_rng(1).integers(1950, 2020, 30)), scale="standard")
    assert np.allclose(data.values.mean(axis=0), 0)
    assert np.allclose(data.values.std(axis=0), 1)
    assert data.warnings == ()


def test_robust_scaling_is_not_moved_by_an_outlier():
    data = ab.read({"x": [1.0, 2, 3, 4, 1e9], "y": [5.0, 6, 7, 8, 9]}, scale="robust")
    assert data.values[:4, 0].tolist() == [-1, -0.5, 0, 0.5]


def test_features_and_drop_choose_columns_by_pattern():
    columns = table(e1=np.ones(30), e2=np.zeros(30), age=np.ones(30))
    assert ab.read(columns, features="e*").feature_names == ["e1", "e2"]
    assert ab.read(columns, features=["x", "age"]).feature_names == ["x", "age"]
    data = ab.read(columns, drop="e*,age")
    assert data.feature_names == ["x", "y"]
    assert not data.metadata


def test_a_pattern_without_a_column_is_refused_with_what_there_is():
    with pytest.raises(ValueError, match=r"no column 'z\*' \(features=\). It has 'x', 'y'"):
        ab.read(table(), features="z*")


def test_a_feature_that_is_text_is_refused():
    with pytest.raises(ValueError, match="must hold numbers"):
        ab.read(table(color=["red"] * 30), features="color")


def test_missing_labels_are_no_class(tmp_path):
    text = "x,z,topic\n1,2.5,a\n2,0.5,\n3,1,NA\n4,7,b\n"
    data = ab.read(written(tmp_path / "x.csv", text), label_column="topic")
    assert data.y.tolist() == ["a", None, None, "b"]
    assert "2 points without a label" in str(data)


def test_whole_numbers_as_labels_stay_whole_also_beside_missing_ones():
    data = ab.read({"x": [1.0, 2, 3], "k": [0, 1, None]}, label_column="k")
    assert data.y.tolist() == [0, 1, None]
    assert ab.read({"x": [1.0, 2, 3], "k": [0, 1, 1]}, label_column="k").y.dtype == np.int64


def test_dates_are_dates(tmp_path):
    text = "day,x,z\n2024-01-31,1,2\n2024-02-01,3,4.5\n,5,6\n"
    data = ab.read(written(tmp_path / "x.csv", text))
    assert data.metadata["day"].dtype == "datetime64[D]"
    assert data.metadata["day"][0] == np.datetime64("2024-01-31")
    assert np.isnat(data.metadata["day"][2])


def test_long_text_is_texts_and_short_distinct_text_is_names():
    texts = [f"{k} " + "once upon a time " * 10 for k in range(30)]
    data = ab.read(table(story=texts, title=[f"title {k}" for k in range(30)]))
    assert data.texts == texts
    assert data.names[3] == "title 3"


def test_texts_with_a_single_number_are_not_clustered_by_that_number():
    texts = ["a long story " * 20] * 5
    with pytest.raises(ValueError, match="features='n_words'"):
        ab.read({"text": texts, "n_words": [3.0, 5, 4, 7, 2]})
    assert ab.read({"text": texts, "n_words": [3.0, 5, 4, 7, 2]}, features="n_words").values.shape == (5, 1)


def test_metadata_of_another_file_is_matched_by_name(tmp_path):
    written(tmp_path / "m.csv", "id,town\nc,Ulm\na,Bonn\nb,Jena\n")
    data = ab.read({"id": ["a", "b", "c"], "x": [1.0, 2, 4]}, metadata=tmp_path / "m.csv")
    assert data.metadata["town"].tolist() == ["Bonn", "Jena", "Ulm"]


def test_metadata_of_another_length_without_names_is_refused():
    with pytest.raises(ValueError, match="metadata="):
        ab.read({"x": [1.0, 2, 4]}, metadata={"town": ["Ulm", "Ulm"]})


def test_missing_values_are_warned_about_with_row_and_column_and_refused_when_used(tmp_path):
    path = written(tmp_path / "x.csv", "a,b\n1,2.5\n,4\n5,NA\n")
    with pytest.warns(
        UserWarning, match="2 missing or infinite values in columns 'a', 'b', the first in row 2"
    ):
        data = ab.read(path)
    with pytest.raises(ValueError, match="row 2, column 'a'"):
        data.check_usable()


def test_a_table_without_numbers_says_what_it_has():
    with pytest.raises(ValueError, match=r"no column of numbers to cluster by\. Columns of text: 'a', 'b'"):
        ab.read({"a": ["red", "red"], "b": ["blue", "blue"]})


def test_a_dataset_goes_straight_into_cluster_and_linkage_with_its_names():
    rng = np.random.default_rng(0)
    names = [f"p{k}" for k in range(12)]
    data = ab.read({"id": names, "a": rng.normal(size=12), "b": rng.normal(size=12)})
    assert [ab.cluster(data, random_state=0).label(k) for k in range(12)] == names
    assert [ab.linkage(data, "ward").label(k) for k in range(12)] == names


def test_a_subset_keeps_everything_in_step():
    data = ab.read(table(kind=["a", "b"] * 15, title=[f"t{k}" for k in range(30)]), label_column="kind")
    part = data.subset([5, 2])
    assert part.names == ["t5", "t2"]
    assert part.y.tolist() == ["b", "a"]
    assert np.array_equal(part.values, data.values[[5, 2]])


def test_a_column_of_addresses_is_neither_names_nor_texts():
    columns = {
        "url": [f"https://example.org/{k}/{'long' * 40}" for k in range(3)],
        "mail": ["mailto:a@b.org", None, "mailto:c@d.org"],
        "title": ["a", "b", "c"],
        "x": [1.5, 2.5, 3.5],
        "v": [0.5, 0.25, 4.0],
    }
    data = ab.read(columns)
    assert data.names == ["a", "b", "c"] and data.texts is None
    assert "'url' (links)" in data.roles["metadata"] and "'mail' (links)" in data.roles["metadata"]
    del columns["title"]
    assert ab.read(columns).names is None
    assert ab.read(columns, name_column="url").names == columns["url"]


def test_metadata_whose_names_match_only_partly_is_refused():
    data = {"name": ["a", "b", "c"], "x": [0.5, 1.0, 2.0]}
    with pytest.raises(ValueError, match="names some of the points, but not 'c'"):
        ab.read(data, metadata={"name": ["b", "a", "d"], "town": ["Ulm", "Bonn", "Jena"]})


def test_metadata_is_matched_by_whichever_column_holds_the_names():
    data = {"name": ["a", "b", "c"], "x": [0.5, 1.0, 2.0]}
    more = {"leaf": [0, 1, 2], "kind": ["u", "v", "w"], "called": ["c", "a", "b"], "cluster": [5, 6, 7]}
    assert ab.read(data, metadata=more).metadata["cluster"].tolist() == [6, 7, 5]


def test_a_column_with_few_of_the_names_is_no_column_of_names():
    data = {"name": ["Monaco", "France", "Spain"], "x": [0.5, 1.0, 2.0]}
    more = {"capital": ["Monaco", "Paris", "Madrid"], "size": [1, 2, 3]}
    assert ab.read(data, metadata=more).metadata["size"].tolist() == [1, 2, 3]


def test_metadata_with_several_rows_for_a_point_is_refused():
    pandas = pytest.importorskip("pandas")
    more = pandas.DataFrame({"town": ["Ulm", "Bonn", "Jena", "Bonn"]}, index=["c", "a", "b", "a"])
    with pytest.raises(ValueError, match="several rows for 'a'"):
        ab.read({"name": ["a", "b", "c"], "x": [0.5, 1.0, 2.0]}, metadata=more)


def test_a_subset_is_chosen_by_numbers_or_by_a_mask():
    data = ab.read({"name": ["a", "b", "c"], "x": [0.5, 1.0, 2.0]})
    assert data.subset([2, 0]).names == ["c", "a"]
    assert (
        data.subset(np.array([False, True, True])).names
        == data.subset([False, True, True]).names
        == ["b", "c"]
    )
    for rows in ([True, False], [0.5, 1.0], ["a"]):
        with pytest.raises(TypeError, match="rows must be row numbers, or a mask of 3 points"):
            data.subset(rows)
