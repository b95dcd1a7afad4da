"""The options of FPH: what "by default" means, and what is refused together."""

import itertools

import numpy as np
import pytest

import arbora as ab
from arbora.probabilistic.options import Options


def of(**options):
    return Options.of(ab.FPH(**options))


@pytest.mark.parametrize(
    ("objective", "optimizer", "relaxation"),
    [
        ("dasgupta", "projected", "expected"),
        ("dasgupta", "softmax", "soft"),
        ("dasgupta", "embedding", "soft"),
        ("tsd", "projected", "soft"),
        ("tsd", "softmax", "soft"),
    ],
)
def test_the_relaxation_that_measured_best_is_the_default(objective, optimizer, relaxation):
    assert of(objective=objective, optimizer=optimizer).plan.relaxation == relaxation


def test_a_relaxation_that_was_asked_for_is_taken():
    for objective, relaxation in itertools.product(
        ("dasgupta", "tsd"), ("expected", "soft", "straight-through")
    ):
        plan = of(objective=objective, relaxation=relaxation).plan
        assert (plan.objective, plan.relaxation) == (objective, relaxation)
        assert plan.leaf_rate > 0 and plan.internal_rate > 0


@pytest.mark.parametrize(
    ("given", "rates"), [(0.2, (0.2, 0.2)), ((0.2, 0.1), (0.2, 0.1)), (np.array([0.3, 0.4]), (0.3, 0.4))]
)
def test_one_rate_is_for_both_and_two_are_for_leaves_and_nodes(given, rates):
    plan = of(learning_rate=given).plan
    assert (plan.leaf_rate, plan.internal_rate) == rates


def test_adam_has_a_rate_of_its_own():
    assert of(optimizer="softmax").plan.leaf_rate == of(optimizer="embedding").plan.internal_rate == 0.1


@pytest.mark.parametrize(
    ("options", "n_rounds"),
    [
        ({}, 1),
        ({"relaxation": "soft"}, 3),
        ({"relaxation": "soft", "n_rounds": 2}, 2),
        ({"relaxation": "soft", "batch_size": 5, "n_rounds": 2}, 1),
        ({"optimizer": "softmax", "n_rounds": 4}, 1),
    ],
)
def test_rounds_are_one_for_batches_and_for_adam(options, n_rounds):
    assert of(**options).plan.n_rounds == n_rounds


@pytest.mark.parametrize(
    ("options", "every"),
    [
        ({}, 1),
        ({"batch_size": 5}, 20),
        ({"batch_size": 5, "max_epochs": 7}, 7),
        ({"evaluate_every": 3}, 3),
        ({"evaluate_every": 30, "max_epochs": 10}, 10),
    ],
)
def test_the_last_epoch_is_always_evaluated(options, every):
    assert of(**options).plan.evaluate_every == every


def test_spare_nodes_are_not_used_with_batches():
    assert of().use_spare_nodes and not of(batch_size=5).use_spare_nodes
    assert not of(use_spare_nodes=False).use_spare_nodes


def test_plain_values_are_passed_on():
    options = of(n_internal="elbow", dtype="float32", refine={"max_seconds": 1}, checkpoint_every=7)
    assert options.n_internal == "elbow" and options.dtype == np.float32
    assert options.refine == {"max_seconds": 1} and options.checkpoint_every == 7
    assert of(refine=True).refine == {} and of().refine is None
    tree = ab.Tree([2, 2, -1], 2)
    assert of(init=tree).init is tree and of().objective == "dasgupta"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_internal": 1.5}, TypeError, "n_internal must be a whole number"),
        ({"n_internal": "Elbow"}, ValueError, 'n_internal must be a whole number or "elbow"'),
        ({"learning_rate": "fast"}, TypeError, "learning_rate must be a number"),
        ({"learning_rate": ()}, ValueError, "learning_rate must be a positive number or a pair"),
        ({"learning_rate": (0.1, 0.0)}, ValueError, "learning_rate must be greater than 0"),
        ({"patience": 0}, ValueError, "patience must be at least 1"),
        ({"batch_limit": 0}, ValueError, "batch_limit must be at least 1"),
        ({"evaluate_every": 0}, ValueError, "evaluate_every must be at least 1"),
        ({"checkpoint_every": 0}, ValueError, "checkpoint_every must be at least 1"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1"),
        ({"exact_q": 1}, TypeError, "exact_q must be True or False"),
        ({"use_spare_nodes": "no"}, TypeError, "use_spare_nodes must be True or False"),
        ({"verbose": 2}, TypeError, "verbose must be True or False"),
        ({"refine": "yes"}, TypeError, "refine must be True, False or a dictionary"),
        ({"similarity": "cosine"}, ValueError, "similarity must be one of 'auto', 'graph', 'knn'"),
        ({"n_jobs": 0}, ValueError, "n_jobs must not be 0"),
        ({"init": 3}, ValueError, "init must be a Tree or one of 'average'"),
        ({"batch_size": 4, "optimizer": "embedding"}, ValueError, 'batch_size needs optimizer="projected"'),
        ({"checkpoint": "x", "optimizer": "softmax"}, ValueError, 'checkpoint needs optimizer="projected"'),
    ],
)
def test_what_cannot_be_used_is_named(options, error, message):
    with pytest.raises(error, match=message):
        of(**options)
