"""What must not change a result does not: order of rows, scale, duplicates, constant columns, names, threads."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import arbora as ab

SEED = 3
N_BLOBS = 4


def blobs(n=40, d=4):
    """Separated groups whose values are exact in float32, with no two distances alike."""
    rng = np.random.default_rng(0)
    centers = 8 * np.eye(d)[np.arange(n) % N_BLOBS]
    return np.round((centers + rng.normal(size=(n, d))) * 2**10) / 2**10


def fit(model):
    return lambda X, n_jobs: model(n_jobs).fit(X).tree_


def linked(method):
    return lambda X, n_jobs: ab.linkage(X, method)


def neighbors(X, n_jobs=1):
    return ab.similarity.knn(X, 5, "euclidean", random_state=SEED, n_jobs=n_jobs)


LINKAGES = ("average", "complete", "single", "weighted", "Ward", "centroid", "median")
METHODS = {
    "cluster": lambda X, n_jobs: ab.cluster(X, metric="euclidean", scale="none", random_state=SEED, n_jobs=n_jobs),
    "TreeClustering": fit(
        lambda n_jobs: ab.TreeClustering(metric="euclidean", scale="none", random_state=SEED, n_jobs=n_jobs)
    ),
    **{f"{name} linkage": linked(name.lower()) for name in LINKAGES},
    "linkage of neighbors": lambda X, n_jobs: ab.linkage(neighbors(X, n_jobs)),
    "Paris": lambda X, n_jobs: ab.linkage(neighbors(X, n_jobs), "paris"),
    "bisecting k-means": lambda X, n_jobs: ab.bisecting_kmeans(X, random_state=SEED),
    "hierarchical k-means": lambda X, n_jobs: ab.hierarchical_kmeans(X, N_BLOBS, n_init=5, random_state=SEED),
    "refine": lambda X, n_jobs: ab.refine(ab.linkage(X), neighbors(X), random_state=SEED, n_jobs=n_jobs),
    "OnlineTree": fit(lambda n_jobs: ab.OnlineTree(random_state=SEED)),
    "HypHC": fit(lambda n_jobs: ab.HypHC(max_epochs=2, random_state=SEED, n_jobs=n_jobs)),
    "GHHC": fit(lambda n_jobs: ab.GHHC(max_steps=5, n_internal=8, random_state=SEED, n_jobs=n_jobs)),
    "FPH": fit(lambda n_jobs: ab.FPH(max_epochs=3, n_internal=8, random_state=SEED, n_jobs=n_jobs)),
    "L2H": fit(lambda n_jobs: ab.L2H(n_bootstraps=0, random_state=SEED, n_jobs=n_jobs)),
}  # fmt: skip
# Distances alone decide; a constant column adds nothing to them.
BY_ANGLE = ("HypHC", "OnlineTree")
BY_CLASS = ("L2H",)
BY_DISTANCE = tuple(method for method in METHODS if method not in (*BY_ANGLE, *BY_CLASS))
# Searches and training draw rows, and nearest neighbors tie at the weight 1: only these depend on distances alone.
WITHOUT_DRAWS = tuple(f"{name} linkage" for name in LINKAGES)
every_method = pytest.mark.parametrize("method", METHODS)
every_method_of_points = pytest.mark.parametrize("method", [m for m in METHODS if m not in BY_CLASS])


def tree_of(method, X, n_jobs=1):
    return METHODS[method](X, n_jobs)


def same(first, second):
    """Same clades, whatever the nodes are numbered."""
    return clades(first) == clades(second)


def clades(tree, leaf=lambda k: k):
    return {frozenset(leaf(int(k)) for k in tree.leaves(node)) for node in range(tree.n_nodes)}


@every_method
def test_the_order_of_numbers_in_memory_changes_nothing(method):
    X = blobs()
    assert same(tree_of(method, X), tree_of(method, np.asfortranarray(X)))


@every_method
def test_a_view_with_gaps_is_read_as_its_numbers(method):
    X = blobs()
    wide = np.zeros((2 * len(X), 2 * X.shape[1]))
    wide[::2, ::2] = X
    assert same(tree_of(method, X), tree_of(method, wide[::2, ::2]))


@every_method_of_points
def test_names_of_rows_change_no_tree(method):
    X = blobs()
    frame = pd.DataFrame(X, index=[f"row {k}" for k in range(len(X))])
    assert same(tree_of(method, X), tree_of(method, frame))


@every_method
def test_single_precision_gives_the_tree_of_double_precision_where_values_are_exact(method):
    X = blobs()
    assert same(tree_of(method, X), tree_of(method, X.astype(np.float32)))


@every_method
def test_the_number_of_threads_changes_nothing(method):
    X = blobs()
    assert same(tree_of(method, X, n_jobs=1), tree_of(method, X, n_jobs=2))


@every_method
def test_the_same_seed_gives_the_same_tree(method):
    X = blobs()
    assert same(tree_of(method, X), tree_of(method, X))


@every_method_of_points
@pytest.mark.parametrize("factor", [2.0**-40, 2.0**40])
def test_a_unit_of_measurement_changes_nothing(method, factor):
    X = blobs()
    assert same(tree_of(method, X), tree_of(method, X * factor))


@pytest.mark.parametrize("method", BY_DISTANCE)
def test_a_constant_column_changes_nothing(method):
    X = blobs()
    assert same(tree_of(method, X), tree_of(method, np.column_stack([X, np.full(len(X), 0.5)])))


@pytest.mark.parametrize("method", WITHOUT_DRAWS)
def test_permuted_rows_give_the_permuted_tree(method):
    X = blobs()
    order = np.random.default_rng(1).permutation(len(X))
    moved = tree_of(method, X[order])
    assert clades(moved, leaf=lambda k: int(order[k])) == clades(tree_of(method, X))


@every_method_of_points
def test_permuted_rows_give_the_same_flat_clusters(method):
    X = blobs()
    order = np.random.default_rng(1).permutation(len(X))
    labels = tree_of(method, X[order]).cut(N_BLOBS)
    together = labels[:, None] == labels
    assert (together == ((order % N_BLOBS)[:, None] == order % N_BLOBS)).all()


def test_permuted_rows_of_logits_give_the_same_tree_of_classes():
    X = blobs(d=6)
    order = np.random.default_rng(1).permutation(len(X))
    assert same(tree_of("L2H", X), tree_of("L2H", X[order]))


def test_permuted_classes_give_the_permuted_tree():
    X = blobs(d=6)
    order = np.random.default_rng(1).permutation(6)
    moved = tree_of("L2H", X[:, order])
    assert clades(moved, leaf=lambda k: int(order[k])) == clades(tree_of("L2H", X))


def test_permuted_rows_give_the_permuted_neighbor_graph():
    X = blobs()
    order = np.random.default_rng(1).permutation(len(X))
    graph = ab.similarity.knn(X, 5, "euclidean").csr.toarray()
    moved = ab.similarity.knn(X[order], 5, "euclidean").csr.toarray()
    np.testing.assert_allclose(moved, graph[np.ix_(order, order)], rtol=1e-9)


@pytest.mark.parametrize("method", WITHOUT_DRAWS)
def test_a_duplicate_is_next_to_its_original(method):
    X = blobs()
    tree = tree_of(method, np.concatenate([X, X[:3]]))
    assert all(frozenset({k, len(X) + k}) in clades(tree) for k in range(3))


@every_method_of_points
def test_duplicates_are_in_one_flat_cluster(method):
    X = blobs()
    labels = tree_of(method, np.concatenate([X, X[:3]])).cut(N_BLOBS)
    assert (labels[len(X) :] == labels[:3]).all()


def test_names_of_leaves_change_nothing_in_refine():
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((12, 12)) < 0.4, 1).astype(float)
    graph = ab.similarity.graph(sp.csr_array(W + W.T))
    plain = ab.linkage(graph)
    named = plain.replace(name=[f"node {k}" for k in range(plain.n_nodes)])
    assert same(
        ab.refine(plain, graph, random_state=0, n_perturbations=2),
        ab.refine(named, graph, random_state=0, n_perturbations=2),
    )


def test_renaming_leaves_changes_no_topology():
    tree = tree_of("average linkage", blobs())
    assert same(tree, tree.rename({k: f"leaf {k}" for k in range(tree.n_leaves)}))


@pytest.mark.parametrize("method", ["cluster", "TreeClustering", "GHHC", "L2H"])
@pytest.mark.parametrize("ends", [(7, 20), (1, 39), (20,)])
def test_chunks_give_the_tree_of_the_whole(method, ends):
    X = blobs(d=6)
    assert same(tree_of(method, X), tree_of(method, np.split(X, ends)))


FLAT = {
    "TURTLE": lambda X, n_jobs: ab.TURTLE(N_BLOBS, max_steps=3, random_state=SEED, n_jobs=n_jobs).fit(X).labels_,
    "TEMI": lambda X, n_jobs: ab.TEMI(
        N_BLOBS, max_steps=3, n_heads=2, n_neighbors=5, random_state=SEED, n_jobs=n_jobs
    ).fit(X).labels_,
}  # fmt: skip
FORMS = {
    "Fortran order": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "frame": lambda X: pd.DataFrame(X, index=[f"row {k}" for k in range(len(X))]),
    # a list would be several spaces
    "chunks": lambda X: iter(np.split(X, [7, 20])),
}


@pytest.mark.parametrize("method", FLAT)
@pytest.mark.parametrize("form", FORMS)
def test_flat_models_do_not_depend_on_how_the_rows_are_held(method, form):
    X = blobs()
    assert np.array_equal(FLAT[method](X, 1), FLAT[method](FORMS[form](X), 1))


@pytest.mark.parametrize("method", FLAT)
def test_flat_models_do_not_depend_on_the_number_of_threads(method):
    X = blobs()
    assert np.array_equal(FLAT[method](X, 1), FLAT[method](X, 2))


@every_method
def test_the_same_seed_gives_the_same_tree_over_equal_points(method):
    X = np.ones((12, 3))
    assert same(tree_of(method, X), tree_of(method, X))
