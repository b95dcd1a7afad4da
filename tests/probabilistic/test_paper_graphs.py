"""The paper's graphs, where the data is: Table 1 at 512 internal nodes, without tree search."""

import numpy as np
import pytest
from data_sets import load

import arbora as ab


def load_graph(name):
    data = load(f"graphs/{name}")
    rows, cols = data["rows"], data["cols"]
    weights = data["weights"].astype(np.float64) if "weights" in data else np.ones(len(rows))
    if "selfloops" in data:  # 2 on the diagonal of the paper's adjacency: one edge of weight 1
        rows, cols = (np.concatenate([ends, data["selfloops"]]) for ends in (rows, cols))
        weights = np.concatenate([weights, data["selfloop_weights"] / 2])
    return ab.similarity.graph((rows, cols, weights), n_points=int(data["n"]))


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "paper"), [("cora_ml", 256), ("citeseer", 77.5), ("polblogs", 263), ("openflight", 356)]
)
def test_dasgupta_cost_is_below_the_papers(name, paper):
    graph = load_graph(name)
    model = ab.FPH(n_internal=512, max_epochs=80, random_state=0).fit(graph)
    assert model.tree_.n_internal <= 512
    assert ab.metrics.dasgupta_cost(model.tree_, graph, normalize=True) <= paper


@pytest.mark.data
@pytest.mark.slow
def test_soft_loss_falls_below_what_the_decoded_tree_reaches():
    parameters = {"relaxation": "soft", "max_epochs": 60, "n_rounds": 1, "use_spare_nodes": False}
    model = ab.FPH(n_internal=512, random_state=0, **parameters).fit(load_graph("cora_ml"))
    assert model.history_["loss"][-1] < 0.85 * model.score_
    assert model.score_ == pytest.approx(model.history_["cost"].min())
