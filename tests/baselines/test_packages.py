"""Trees read out of other packages are the trees that those packages found."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import arbora as ab
from arbora.baselines.packages import bridged, evoc, fast_hdbscan, genie, tree_of_layers, umap_ward

X, Y = make_blobs(120, centers=5, n_features=6, random_state=3)


def test_hdbscans_tree_is_single_linkage_of_mutual_reachability():
    """By the definition of Campello et al. 2013: max of the distance and both core distances."""
    pytest.importorskip("fast_hdbscan")
    from scipy.spatial.distance import pdist, squareform

    distances = squareform(pdist(X))
    core = np.sort(distances, axis=1)[:, 5]
    reach = np.maximum(np.maximum(core[:, None], core[None]), distances)
    np.fill_diagonal(reach, 0.0)
    expected = ab.linkage(reach, "single", metric="precomputed").height[120:]
    found = fast_hdbscan(X, min_samples=5).height[120:]
    assert np.allclose(np.sort(found), np.sort(expected), rtol=1e-5)


def test_parts_that_hdbscan_leaves_apart_meet_above_all_that_it_joined():
    """Its search of neighbors leaves groups unconnected, and joins them at infinity, which no tree has."""
    apart = np.array([[0, 1, 0.5, 2], [2, 3, 1.5, 2], [4, 5, np.inf, 4]])
    tree = ab.Tree.from_linkage(bridged(apart))
    assert tree.height[tree.root] == 3.0
    assert tree.cut(n_clusters=2).tolist() == [0, 0, 1, 1]
    never_joined = ab.Tree.from_linkage(bridged(np.array([[0, 1, np.inf, 2]])))
    assert np.isfinite(never_joined.height).all()


def test_genies_cut_is_genies_own():
    genieclust = pytest.importorskip("genieclust")
    own = genieclust.Genie(n_clusters=5).fit_predict(X)
    tree = genie(X)
    # merges are numbered in their order: the last four joined five clusters
    last = tree.n_nodes - 4
    tops = [v for v in range(last) if tree.parent[v] >= last]
    labels = np.empty(120, dtype=int)
    for number, top in enumerate(tops):
        labels[tree.leaves(top)] = number
    assert ab.metrics.clustering_accuracy(own, labels) == 1.0


def test_layers_that_nest_become_the_tree_of_their_nesting():
    tree = tree_of_layers([np.array([0, 0, 1, 1, -1, 2]), np.array([0, 0, 0, 0, 1, 1])], 6)
    assert {frozenset(tree.leaves(v).tolist()) for v in range(6, tree.n_nodes)} == {
        frozenset([0, 1]),
        frozenset([2, 3]),
        frozenset([0, 1, 2, 3]),
        frozenset([4, 5]),
        frozenset(range(6)),
    }


def test_a_cluster_that_a_coarser_layer_cuts_through_goes_where_most_of_it_is():
    tree = tree_of_layers([np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])], 4)
    assert frozenset([0, 1, 2]) in {frozenset(tree.leaves(v).tolist()) for v in range(4, tree.n_nodes)}


@pytest.mark.slow
def test_evocs_finest_clusters_are_nodes_of_its_tree():
    module = pytest.importorskip("evoc")
    from arbora._base.random import seed_of

    model = module.EVoC(random_state=seed_of(0)).fit(X.astype(np.float32))
    tree = evoc(X, random_state=0)
    clades = {frozenset(tree.leaves(v).tolist()) for v in range(tree.n_nodes)}
    finest = model.cluster_layers_[0]
    assert {frozenset(np.flatnonzero(finest == k).tolist()) for k in range(finest.max() + 1)} <= clades


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_umap_and_ward_find_blobs():
    pytest.importorskip("umap")
    tree = umap_ward(X, n_neighbors=10, dimension=3, random_state=0)
    assert ab.metrics.clustering_accuracy(Y, tree.cut(n_clusters=5)) > 0.95


def test_few_rows_are_clustered_as_they_are():
    assert umap_ward([[0.0], [1.0], [9.0]]).to_newick(lengths=False) == "((0,1),2);"
