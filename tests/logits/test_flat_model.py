"""What TURTLE and TEMI share: steps, losses, threads, and the choice of a number of clusters."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import arbora as ab  # noqa: E402
from arbora.errors import DivergedError  # noqa: E402
from arbora.logits import choose_n_clusters, evaluate_tree  # noqa: E402
from arbora.logits.flat_model import FlatModel, side_by_side, single_threaded  # noqa: E402

X = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)


class Scripted(FlatModel):
    """A model whose losses are given."""

    def __init__(self, n_clusters=2, *, losses=(3.0, 2.0, 1.0), n_jobs=None, random_state=0, verbose=False):
        self.n_clusters, self.losses, self.n_jobs = n_clusters, losses, n_jobs
        self.random_state, self.verbose = random_state, verbose
        self.max_steps, self.batch_size = len(losses), 4

    def _check_parameters(self, n_points):
        self._check_counts(n_points)

    def _learn(self, spaces):
        queue = iter(self.losses)
        self.loss_ = self._take_steps(lambda: torch.tensor(next(queue)))
        self.normalized_loss_ = float(np.min(np.asarray(self.loss_))) * self.n_clusters
        self.labels_ = np.zeros(len(spaces[0]), int)
        self.drawn_ = float(torch.rand(1, generator=self._generator()))

    def decision_function(self, X):
        return np.asarray(X)


def test_the_loss_is_the_mean_over_the_last_tenth_of_the_steps():
    assert float(Scripted(losses=[5.0, 4.0, 3.0]).fit(X).loss_) == 3.0
    model = Scripted(losses=[float(k) for k in range(40, 0, -1)]).fit(X)
    assert float(model.loss_) == np.mean([4, 3, 2, 1])
    assert model.n_steps_ == 40 and model.history_["loss"].tolist() == [float(k) for k in range(40, 0, -1)]
    assert model.history_["step"].tolist() == list(range(1, 41)) and np.isnan(model.history_["cost"]).all()


def test_of_several_losses_the_lowest_is_the_curve_and_all_are_averaged():
    model = Scripted(losses=[[5.0, 9.0], [4.0, 2.0]]).fit(X)
    assert model.history_["loss"].tolist() == [5.0, 2.0] and model.loss_.tolist() == [4.0, 2.0]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_ends_the_training_with_its_step(bad):
    with pytest.raises(DivergedError, match=f"turned {bad} at step 2. Lower learning_rate"):
        Scripted(losses=[1.0, bad, 1.0]).fit(X)


def test_more_clusters_than_points_are_refused():
    with pytest.raises(ValueError, match="n_clusters=41 must not exceed the number of points, 40"):
        Scripted(41).fit(X)


def test_random_numbers_follow_the_seed():
    assert Scripted(random_state=3).fit(X).drawn_ == Scripted(random_state=3).fit(X).drawn_
    assert Scripted(random_state=3).fit(X).drawn_ != Scripted(random_state=4).fit(X).drawn_


def test_predictions_are_the_largest_logits():
    np.testing.assert_array_equal(Scripted().fit(X).predict(X), X.argmax(axis=1))


def test_one_thread_inside_and_as_many_as_before_outside():
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with pytest.raises(ZeroDivisionError), single_threaded():
            assert torch.get_num_threads() == 1
            1 / 0  # noqa: B018
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_spaces_side_by_side_have_rows_of_length_one_and_zeros_stay():
    joined = side_by_side([torch.tensor([[3.0], [0.0]]), torch.tensor([[4.0], [0.0]])])
    torch.testing.assert_close(joined, torch.tensor([[0.6, 0.8], [0.0, 0.0]]))


# ---- the number of clusters ------------------------------------------------------------------------------------


def test_the_number_with_the_lowest_normalized_loss_is_chosen():
    choice = choose_n_clusters(Scripted(losses=[1.0]), X, [4, 2, 3])
    assert choice.losses == {4: 4.0, 2: 2.0, 3: 3.0}
    assert choice.best.n_clusters == 2 and choice.best.labels_.shape == (40,)


def test_several_starts_are_averaged_and_have_seeds_of_their_own():
    seeds = []

    class Noted(Scripted):
        def fit(self, X, y=None):
            seeds.append(self.random_state)
            return super().fit(X)

    choose_n_clusters(Noted(random_state=5), X, [2, 3], n_init=3)
    assert len(seeds) == 6 and seeds[0] == seeds[3] == 5 and seeds[:3] == seeds[3:]
    assert len(set(seeds)) == 3


@pytest.mark.parametrize(
    ("candidates", "options", "error", "message"),
    [
        ([], {}, ValueError, "candidates must not be empty"),
        ([1, 2], {}, ValueError, "candidates must be at least 2"),
        ([2.5], {}, TypeError, "candidates must be a whole number"),
        ([2], {"n_init": 0}, ValueError, "n_init must be at least 1"),
        ([2], {"progress": 3}, TypeError, "progress must be callable"),
    ],
)
def test_wrong_candidates_are_refused(candidates, options, error, message):
    with pytest.raises(error, match=message):
        choose_n_clusters(Scripted(), X, candidates, **options)


# ---- evaluation --------------------------------------------------------------------------------------------------


def test_flat_scores_are_taken_at_as_many_clusters_as_classes():
    tree = ab.Tree.from_newick("(((a,b),(c,d)),(e,f));")
    leaves = np.arange(6)
    for n_classes in (2, 3):
        y = tree.cut(n_clusters=n_classes)
        scores = evaluate_tree(tree, y, leaves)
        assert scores["acc"] == scores["nmi"] == scores["leaf_purity"] == 1.0
    assert evaluate_tree(tree, np.arange(6), leaves)["acc"] == 1.0
    many = evaluate_tree(tree, np.arange(12), np.repeat(leaves, 2))
    assert many["acc"] == 0.5, "twelve classes on six leaves: at most one of two is right"


def test_coarse_labels_are_scored_level_by_level():
    tree = ab.Tree.from_newick("((a,b),(c,d));")
    y = np.arange(4)
    scores = evaluate_tree(tree, y, coarse={"half": [0, 0, 1, 1], "crossed": [0, 1, 0, 1]})
    assert scores["levels"]["half"]["acc"] == 1.0 and scores["levels"]["crossed"]["acc"] == 0.5
    assert evaluate_tree(tree, y, coarse=[0, 0, 1, 1])["levels"].keys() == {"coarse"}
    assert "levels" not in evaluate_tree(tree, y)
