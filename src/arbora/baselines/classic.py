"""The systems that came before gradients: linkages, k-means, BIRCH, communities, block models."""

from __future__ import annotations

from arbora.baselines.system import System, Takes

_SQUARE: tuple[Takes, ...] = ("distances", "similarities")
_LINKAGE_METRICS = ("euclidean", "cosine", "cityblock", "correlation", "chebyshev", "canberra", "braycurtis")
_GRAPH_METRICS = ("cosine", "euclidean")
_EUCLIDEAN = ("euclidean",)
_FASTCLUSTER = "fastcluster (vectors, distances), arbora (graphs)"
# FPH compares the graph baselines on weighted graphs as they are
_ON_GRAPHS = ("average", "single", "complete")


def _linkage(name: str, paper: str) -> System:
    takes: tuple[Takes, ...] = ("vectors", *_SQUARE, *(("graph",) if name in _ON_GRAPHS else ()))
    return System(
        name=name,
        title=f"{name.capitalize()} linkage",
        takes=takes,
        gives="tree",
        paper=paper,
        call="arbora.linkages:linkage",
        fixed={"method": name},
        library=_FASTCLUSTER if name in _ON_GRAPHS else "fastcluster",
        metrics=_EUCLIDEAN if name in ("ward", "centroid", "median") else _LINKAGE_METRICS,
    )


LINKAGES = (
    _linkage("average", "Sokal and Michener 1958"),
    _linkage("complete", "Sørensen 1948"),
    _linkage("single", "Sneath 1957"),
    _linkage("weighted", "Sokal and Michener 1958 (WPGMA)"),
    _linkage("centroid", "Sokal and Michener 1958 (UPGMC)"),
    _linkage("median", "Gower 1967 (WPGMC)"),
    _linkage("ward", "Ward 1963"),
)

GRAPHS = (
    System(
        name="paris",
        title="Paris",
        takes=("graph",),
        gives="tree",
        paper="Bonald et al. 2018, Hierarchical graph clustering using node pair sampling",
        call="arbora.linkages:linkage",
        fixed={"method": "paris"},
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="louvain",
        title="Louvain",
        takes=("graph",),
        gives="tree",
        paper="Blondel et al. 2008, Fast unfolding of communities in large networks",
        call="arbora.linkages:louvain",
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="communities",
        title="Average linkage inside communities",
        takes=("graph",),
        gives="tree",
        paper="none: Louvain's communities, divided again and again, decide which merges come first",
        call="arbora.linkages:community_linkage",
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="dcsbm",
        title="DCSBM",
        takes=("graph",),
        gives="labels",
        paper="Karrer and Newman 2011, Stochastic blockmodels and community structure in networks",
        call="arbora.baselines.on_graphs:block_model_labels",
        deviations="FPH ran graph-tool (GPL), which samples partitions. Here blocks start as Louvain communities "
        "and single nodes move while the penalized likelihood grows.",
        metrics=_GRAPH_METRICS,
    ),
)

INCREMENTAL = (
    System(
        name="scc",
        title="SCC",
        takes=("vectors", "graph"),
        gives="tree",
        paper="Monath et al. 2021, Scalable hierarchical agglomerative clustering",
        call="arbora.baselines.scc:scc",
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="perch",
        title="PERCH",
        takes=("vectors",),
        gives="tree",
        paper="Kobren et al. 2017, A hierarchical algorithm for extreme clustering",
        call="arbora.baselines.perch:perch",
        deviations="Without the modes that the authors added for more points than fit into memory: collapsed leaves "
        "and beam search.",
        metrics=_EUCLIDEAN,
    ),
)

DIVISIVE = (
    System(
        name="birch",
        title="BIRCH",
        takes=("vectors",),
        gives="tree",
        paper="Zhang et al. 1996, BIRCH: an efficient data clustering method for very large databases",
        call="arbora.linkages:birch",
        library="scikit-learn",
        deviations="The threshold follows from the data by default; scikit-learn's is 0.5 (threshold=0.5).",
        metrics=_EUCLIDEAN,
    ),
    System(
        name="bisecting-kmeans",
        title="Bisecting k-means",
        takes=("vectors",),
        gives="tree",
        paper="Steinbach et al. 2000, A comparison of document clustering techniques",
        call="arbora.linkages:bisecting_kmeans",
        library="arbora, scikit-learn for large groups",
        metrics=_EUCLIDEAN,
    ),
    System(
        name="hierarchical-kmeans",
        title="Hierarchical k-means",
        takes=("vectors",),
        gives="tree",
        paper="Nister and Stewenius 2006, Scalable recognition with a vocabulary tree",
        call="arbora.linkages:hierarchical_kmeans",
        library="arbora, scikit-learn for large groups",
        metrics=_EUCLIDEAN,
    ),
)

LINKS = (
    System(
        name="adamic-adar",
        title="Adamic-Adar",
        takes=("graph",),
        gives="scores",
        paper="Adamic and Adar 2003, Friends and neighbors on the web",
        call="arbora.baselines.on_graphs:adamic_adar",
    ),
    System(
        name="dcsbm-links",
        title="DCSBM",
        takes=("graph",),
        gives="scores",
        paper="Karrer and Newman 2011, Stochastic blockmodels and community structure in networks",
        call="arbora.baselines.on_graphs:block_model_links",
        deviations="As for dcsbm. The score is the expected number of edges of a pair.",
    ),
)

SUPERVISED = (
    System(
        name="label-propagation",
        title="Label propagation",
        takes=("partly labeled vectors",),
        gives="labels",
        paper="Zhu and Ghahramani 2002, Learning from labeled and unlabeled data with label propagation",
        call="arbora.baselines.supervised:label_propagation",
        library="scikit-learn",
    ),
    System(
        name="single-task",
        title="STL",
        takes=("tasks",),
        gives="predictions",
        paper="Monath et al. 2019 (gHHC), Table 2",
        call="arbora.baselines.supervised:single_task",
        deviations="Ridge regression of each task; its strength is chosen on held-out rows. The paper names neither.",
    ),
    System(
        name="mtrl",
        title="MTRL",
        takes=("tasks",),
        gives="predictions",
        paper="Zhang and Yeung 2010, A convex formulation for learning task relationships",
        call="arbora.baselines.supervised:relationship_learning",
        deviations="Strengths are chosen on held-out rows; constants are not penalized.",
    ),
)

CLASSIC: tuple[System, ...] = (*LINKAGES, *GRAPHS, *INCREMENTAL, *DIVISIVE, *LINKS, *SUPERVISED)
