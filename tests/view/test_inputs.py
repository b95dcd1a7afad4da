"""Checks of what is given beside a tree."""

import numpy as np
import pytest

from arbora.view.inputs import (
    checked_images,
    checked_names,
    checked_report,
    checked_rows,
    checked_texts,
    snippet,
)


def test_names_and_texts_need_one_entry_per_leaf():
    assert checked_names(np.array([1, 2]), 2) == ["1", "2"]
    with pytest.raises(ValueError, match=r"one name per leaf \(3\). Got 2"):
        checked_names(["a", "b"], 3)
    with pytest.raises(ValueError, match="Got one str"):
        checked_names("abc", 3)
    assert checked_texts(["a", None, float("nan")], 3) == ["a", "", ""]
    with pytest.raises(ValueError, match="texts must hold"):
        checked_texts(["a"], 2)


def test_missing_texts_of_pandas_are_empty():
    pandas = pytest.importorskip("pandas")
    assert checked_texts(pandas.Series(["a", None], dtype="string"), 2) == ["a", ""]


def test_snippets_end_with_an_ellipsis():
    assert snippet("abc", 3) == "abc"
    assert snippet("abcd", 3) == "ab…"


def test_images_are_scaled_to_bytes_and_must_be_small_and_finite():
    images = checked_images(np.linspace(-1, 1, 8).reshape(2, 2, 2), 2)
    assert images.dtype == np.uint8
    assert (images.min(), images.max()) == (0, 255)
    same = np.zeros((2, 3, 4, 3), dtype=np.uint8)
    assert checked_images(same, 2) is same
    for wrong in (np.zeros((2, 3)), np.zeros((3, 3, 3)), np.zeros((2, 3, 3, 4)), np.zeros((2, 300, 3))):
        with pytest.raises(ValueError, match="images must"):
            checked_images(wrong, 2)
    with pytest.raises(ValueError, match="finite"):
        checked_images(np.full((2, 2, 2), np.nan), 2)


def test_rows_are_read_from_sparse_matrices_and_frames():
    from scipy import sparse

    assert checked_rows(sparse.csr_array(np.eye(3)), 3, "features").tolist() == np.eye(3).tolist()
    pandas = pytest.importorskip("pandas")
    assert checked_rows(pandas.DataFrame({"x": [1, 2], "y": [3, 4]}), 2, "points").shape == (2, 2)
    with pytest.raises(ValueError, match="one row per leaf"):
        checked_rows(np.eye(3), 4, "points")


def test_reports_are_mappings_with_sections():
    assert checked_report({"sections": []}) == {"warnings": [], "notes": [], "sections": []}
    with pytest.raises(ValueError, match="report must be"):
        checked_report({"sections": "all"})
