"""One checkpoint for every method: a folder that knows what it belongs to."""

import numpy as np
import pytest
import scipy.sparse as sp

import arbora as ab
from arbora._base.checkpoint import Checkpoint, identity_of, rng_from_array, rng_to_array
from arbora.errors import FormatError

X = np.random.default_rng(0).random((100, 3))
TREE = ab.linkage(X[:6])


def changed(array, place):
    array = array.copy()
    array[place] += 1e-9
    return array


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 12}, {"a": 11, "b": 2}),
        ({"a": "1"}, {"a": 1}),
        ({"a": 1}, {"a": True}),
        ({"a": [1, [2]]}, {"a": [[1], 2]}),
        ({"a": None}, {}),
        ({"a": X}, {"a": changed(X, (99, 2))}),
        ({"a": X}, {"a": X.astype(np.float32)}),
        ({"a": X}, {"a": X.reshape(50, 6)}),
        ({"a": sp.csr_array(X)}, {"a": sp.csr_array(changed(X, (99, 2)))}),
        ({"a": TREE}, {"a": TREE.replace(height=None)}),
        ({"a": ab.similarity.cosine(X)}, {"a": ab.similarity.cosine(changed(X, (99, 2)))}),
        ({"a": ab.similarity.gaussian(X, 1.0)}, {"a": ab.similarity.gaussian(X, 2.0)}),
        ({"a": ab.similarity.dense(X @ X.T)}, {"a": ab.similarity.dense(2 * X @ X.T)}),
        ({"a": ab.similarity.graph(([0, 1], [1, 2]))}, {"a": ab.similarity.graph(([0, 1], [1, 3]))}),
    ],
)
def test_whatever_differs_has_another_identity(one, other):
    assert identity_of(**one) == identity_of(**one)
    assert identity_of(**one) != identity_of(**other)


def test_the_order_of_options_does_not_matter():
    assert identity_of(a=1, b=2) == identity_of(b=2, a=1)


def test_an_object_without_an_identity_is_refused_not_hashed_by_its_address():
    with pytest.raises(TypeError, match="plain values"):
        identity_of(a=object())


def test_what_is_kept_is_loaded_again(tmp_path):
    first = Checkpoint(tmp_path / "new", method="M", identity="i", random_state=3)
    assert first.load() is None
    first.keep({"x": X, "n": 5})
    first.keep({"y": X}, "other")
    again = Checkpoint(tmp_path / "new", method="M", identity="i", random_state=3)
    assert again.seed == first.seed
    np.testing.assert_array_equal(again.load()["x"], X)
    assert int(again.load()["n"]) == 5
    np.testing.assert_array_equal(again.load("other")["y"], X)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": "N"}, "it was saved by M, not by N"),
        ({"identity": "j"}, "data or options differ"),
        ({"random_state": 4}, "random_state differs"),
    ],
)
def test_the_folder_of_other_work_is_refused(changes, message, tmp_path):
    options = {"method": "M", "identity": "i", "random_state": 3}
    Checkpoint(tmp_path, **options)
    with pytest.raises(ValueError, match=message):
        Checkpoint(tmp_path, **{**options, **changes})


def test_without_a_seed_the_first_one_is_used_again(tmp_path):
    first = Checkpoint(tmp_path, method="M", identity="i")
    assert Checkpoint(tmp_path, method="M", identity="i").seed == first.seed


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    path = tmp_path / "state.npz"
    path.write_text("something")
    with pytest.raises(ValueError, match="is a file"):
        Checkpoint(path, method="M", identity="i")


def test_damage_is_named_with_what_to_delete(tmp_path):
    kept = Checkpoint(tmp_path, method="M", identity="i")
    kept.keep({"x": X})
    path = tmp_path / "state.npz"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(FormatError, match=r"Delete .*state.npz"):
        kept.load()
    (tmp_path / "identity.json").write_text("{")
    with pytest.raises(FormatError, match="Delete the folder"):
        Checkpoint(tmp_path, method="M", identity="i")


def test_a_generator_goes_through_a_checkpoint_unchanged(tmp_path):
    rng = np.random.default_rng(5)
    rng.random(3)
    kept = Checkpoint(tmp_path, method="M", identity="i")
    kept.keep({"rng": rng_to_array(rng)})
    other = np.random.default_rng()
    rng_from_array(other, kept.load()["rng"])
    assert (other.random(9) == rng.random(9)).all()
