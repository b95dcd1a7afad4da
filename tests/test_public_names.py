import importlib
import inspect
import subprocess
import sys

import pytest

import arbora as ab

# the names that users and their code rely on
PROMISED = {
    "arbora": "Tree cluster refine linkage bisecting_kmeans hierarchical_kmeans OnlineTree HypHC GHHC FPH L2H "
    "TURTLE TEMI read Dataset similarity metrics nn",
    "arbora.similarity": "cosine dense graph knn gaussian",
    "arbora.metrics": "dasgupta_cost dasgupta_bounds wang_cost moseley_wang_revenue tree_sampling_divergence "
    "dendrogram_purity least_hierarchical_distance leaf_purity clustering_accuracy level_scores",
    "arbora.nn": "HypHCLoss GHHCLoss SoftDasgupta SoftTSD HyperbolicLogisticRegression PoincareEmbedding",
    "arbora.search": "predict",
    "arbora.logits": "class_report from_estimator",
    "arbora.view": "plot explore to_html clustermap DiskFrames plot_cost_history plot_levels plot_match",
}
TREE_METHODS = (
    "from_parents from_linkage from_newick from_merges from_networkx from_sklearn load parent n_leaves n_nodes root "
    "sizes depths children leaves lca is_binary cut levels compress binarize to_linkage to_newick to_networkx to_itol "
    "save plot explore to_html subtree restrict prune taxonomy flat_clusterings collapse_unary reorder robinson_foulds "
    "triplet_distance cophenetic same_topology"
)


@pytest.mark.parametrize(("module", "names"), PROMISED.items())
def test_every_promised_name_exists(module, names):
    home = importlib.import_module(module)
    missing = [name for name in names.split() if not hasattr(home, name)]
    assert missing == []


def test_the_tree_has_every_promised_method():
    assert [name for name in TREE_METHODS.split() if not hasattr(ab.Tree, name)] == []


@pytest.mark.parametrize("module", ["arbora", *(f"arbora.{name}" for name in ab._PACKAGES)])
def test_everything_in_all_exists(module):
    home = importlib.import_module(module)
    assert [name for name in getattr(home, "__all__", []) if not hasattr(home, name)] == []


def public_functions(module):
    """Functions of a module, and methods and properties of its classes, by name."""
    for name in getattr(module, "__all__", []):
        thing = getattr(module, name)
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            for part, value in vars(thing).items():
                function = getattr(value, "fget", None) or getattr(value, "__func__", value)
                if not part.startswith("_") and inspect.isfunction(function):
                    yield f"{name}.{part}", function


@pytest.mark.parametrize("module", ["arbora", *(f"arbora.{name}" for name in ab._PACKAGES)])
def test_every_public_function_says_what_it_returns(module):
    returned = {
        name: inspect.signature(function).return_annotation
        for name, function in public_functions(importlib.import_module(module))
    }
    vague = [name for name, kind in returned.items() if kind in ("Any", inspect.Signature.empty)]
    assert vague == []


def test_importing_arbora_loads_nothing_heavy():
    heavy = ("torch", "numba", "sklearn", "scipy", "matplotlib", "pandas", "starlette", "faiss")
    code = f"import sys, arbora; print([name for name in {heavy!r} if name in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


def test_the_core_works_without_pytorch():
    code = """
import sys
class WithoutTorch:
    def find_spec(self, name, *_):
        if name.split(".")[0] == "torch":
            raise ImportError(name)
sys.meta_path.insert(0, WithoutTorch())
import numpy as np, arbora as ab
X = np.random.default_rng(0).normal(size=(30, 3))
tree = ab.cluster(X, random_state=0)
print(tree.n_leaves, ab.metrics.dasgupta_cost(tree, ab.similarity.cosine(X)) > 0)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["30", "True"], done.stderr


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Forest'"):
        _ = ab.Forest
