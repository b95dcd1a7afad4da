"""What holds for every estimator: scikit-learn's own checks, and a contract beyond them.

`NOT_YET` lists the claims that an estimator does not keep yet; one that it does keep must leave the list.
"""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import arbora as ab
from arbora._base.training import HISTORY

ESTIMATORS = [
    ab.TreeClustering(random_state=0),
    ab.OnlineTree(random_state=0),
    ab.GHHC(n_internal=15, max_steps=20, random_state=0),
    ab.HypHC(max_epochs=10, n_triples=2000, random_state=0),
    ab.FPH(n_internal=32, max_epochs=20, random_state=0),
    ab.L2H(n_bootstraps=2, random_state=0),
    ab.TURTLE(max_steps=60, inner_steps=3, learning_rate=1e-2, inner_learning_rate=1e-2, random_state=0),
    ab.TEMI(max_steps=60, n_heads=2, random_state=0),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(ESTIMATORS, xfail_strict=True)
def test_scikit_learn_check(estimator, check):
    check(estimator)


# ---- beyond scikit-learn's checks ----------------------------------------------------------------------------

X, Y = make_blobs(60, n_features=6, centers=3, cluster_std=0.5, random_state=0)
MODELS = {type(estimator).__name__: estimator for estimator in ESTIMATORS}
# L2H clusters the columns of its logits, flat models have no tree
OF_POINTS = ("TreeClustering", "OnlineTree", "GHHC", "HypHC", "FPH")
FLAT = ("TURTLE", "TEMI")
TRAINED = ("GHHC", "HypHC", "FPH", "TURTLE", "TEMI")
NOT_YET: set[tuple[str, str]] = set()


def fitted(name, data=X, **options):
    model = clone(MODELS[name])
    known = model.get_params()
    model.set_params(**{key: value for key, value in {"n_clusters": 3, **options}.items() if key in known})
    return model.fit(data)


def claim(*names):
    """Parametrize by estimators; those that do not keep the claim yet must fail."""

    def decorate(test):
        kept = test.__name__.removeprefix("test_")
        cases = [
            pytest.param(name, marks=pytest.mark.xfail(strict=True)) if (kept, name) in NOT_YET else name
            for name in names
        ]
        return pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")(
            pytest.mark.parametrize("name", cases)(test)
        )

    return decorate


def having(parameter, *names):
    return [name for name in names if parameter in MODELS[name].get_params()]


@claim(*OF_POINTS)
def test_the_tree_has_one_leaf_per_point_and_labels_are_a_cut_of_it(name):
    model = fitted(name)
    assert isinstance(model.tree_, ab.Tree) and model.tree_.n_leaves == len(X)
    assert model.labels_.shape == (len(X),) and model.labels_.dtype == np.int64
    assert set(model.labels_) == {0, 1, 2}


@claim(*TRAINED)
def test_the_training_curve_is_one_structured_array(name):
    model = fitted(name)
    assert model.history_.dtype == HISTORY and len(model.history_) > 0
    length = "n_epochs_" if "max_epochs" in model.get_params() else "n_steps_"
    steps = model.history_["step"]
    assert (np.diff(steps) > 0).all() and 1 <= steps[-1] <= getattr(model, length)


@claim(*MODELS)
def test_the_same_seed_gives_the_same_labels(name):
    one, other = (fitted(name, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    if hasattr(one, "tree_"):
        assert one.tree_ == other.tree_


@claim(*having("n_jobs", *MODELS))
def test_no_result_depends_on_the_number_of_threads(name):
    one, two = (fitted(name, random_state=5, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    if hasattr(one, "tree_"):
        assert one.tree_ == two.tree_


@claim(*OF_POINTS)
def test_the_index_of_a_frame_names_the_leaves(name):
    frame = pd.DataFrame(X, index=[f"p{k}" for k in range(len(X))], columns=list("abcdef"))
    tree = fitted(name, frame).tree_
    assert tree.name is not None and tree.name[: len(X)].tolist() == list(frame.index)


@claim(*[name for name in MODELS if hasattr(MODELS[name], "predict") and name != "L2H"])
def test_predict_knows_the_points_it_was_trained_on(name):
    model = fitted(name)
    assert adjusted_rand_score(model.predict(X), model.labels_) > 0.8


@claim(*[name for name in OF_POINTS if hasattr(MODELS[name], "predict")])
def test_predict_answers_at_any_number_of_clusters(name):
    model = fitted(name)
    found = model.predict(X, n_clusters=2)
    assert found.dtype == np.int64 and set(found) <= {0, 1}


@claim(*MODELS)
def test_inputs_stay_as_they_are(name):
    data = X.copy()
    data.setflags(write=False)
    frame = pd.DataFrame(X)
    before = frame.copy()
    fitted(name, data)
    fitted(name, frame)
    pd.testing.assert_frame_equal(frame, before)
    if MODELS[name].__sklearn_tags__().input_tags.sparse:
        # unsorted, with duplicates: what is tidied up in place would show
        rows = np.r_[0, np.arange(60), 0]
        cols = np.r_[1, np.arange(60) % 6, 1]
        sparse = sp.coo_array((np.ones(62), (rows, cols)), shape=(60, 6)).tocsr()
        copy = sparse.copy()
        fitted(name, sparse)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(sparse, part), getattr(copy, part))


@claim(*having("verbose", *MODELS))
def test_verbose_writes_to_standard_error_only(name, capsys):
    fitted(name, verbose=True)
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err != ""
    fitted(name)
    assert capsys.readouterr() == ("", "")


@claim(*MODELS)
def test_parameters_and_fitted_attributes_are_documented(name):
    kind = type(MODELS[name])
    text = inspect.getdoc(kind) or ""
    missing = [parameter for parameter in MODELS[name].get_params() if parameter not in text]
    public = [
        attribute for attribute in vars(fitted(name)) if attribute.endswith("_") and attribute[0] != "_"
    ]
    missing += [attribute for attribute in public if attribute not in text]
    # scikit-learn's own
    assert set(missing) <= {"n_features_in_", "feature_names_in_"}


@claim(*having("checkpoint", *MODELS))
def test_a_checkpoint_is_a_folder(name, tmp_path):
    fitted(name, checkpoint=tmp_path / "folder")
    assert (tmp_path / "folder").is_dir() and any((tmp_path / "folder").iterdir())


@claim(*MODELS)
def test_a_wrong_seed_is_refused_in_words(name):
    if "random_state" not in MODELS[name].get_params():
        pytest.skip("nothing is random")
    with pytest.raises(TypeError, match="random_state must be"):
        fitted(name, random_state="seven")
