"""The systems that learn by gradient, ours among them, and those that other packages bring."""

from __future__ import annotations

from arbora.baselines.system import System

_GRAPH_METRICS = ("cosine", "euclidean")

OURS = (
    System(
        name="hyphc",
        title="HypHC",
        takes=("vectors", "graph", "similarities"),
        gives="tree",
        paper="Chami et al. 2020, From trees to continuous embeddings and back: hyperbolic hierarchical clustering",
        call="arbora.hyperbolic:HypHC",
        deviations="One angle per leaf in place of two coordinates; see the page on HypHC.",
        metrics=("cosine",),
    ),
    System(
        name="ghhc",
        title="gHHC",
        takes=("vectors",),
        gives="tree",
        paper="Monath et al. 2019, Gradient-based hierarchical clustering using continuous representations of trees "
        "in hyperbolic space",
        call="arbora.hyperbolic:GHHC",
        deviations="See the page on gHHC.",
        metrics=("cosine",),
    ),
    System(
        name="fph",
        title="FPH",
        takes=("graph",),
        gives="tree",
        paper="Zügner et al. 2022, End-to-end learning of probabilistic hierarchies on graphs",
        call="arbora.probabilistic:FPH",
        deviations="The expected cost of sampled trees in place of the soft one by default; see the page on FPH.",
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="l2h",
        title="L2H",
        takes=("logits",),
        gives="tree",
        paper="Palumbo et al. 2025, From logits to hierarchies: hierarchical clustering made simple",
        call="arbora.logits:L2H",
        deviations="Refined by default (refine=False for the paper's). The tree is over the classes.",
    ),
    System(
        name="turtle",
        title="TURTLE",
        takes=("vectors",),
        gives="labels",
        paper="Gadetsky et al. 2024, Let go of your labels with unsupervised transfer",
        call="arbora.logits:TURTLE",
        library="PyTorch",
        needs=("torch",),
        extra="torch",
    ),
    System(
        name="temi",
        title="TEMI",
        takes=("vectors",),
        gives="labels",
        paper="Adaloglou et al. 2023, Exploring the limits of deep image clustering using pretrained models",
        call="arbora.logits:TEMI",
        library="PyTorch",
        needs=("torch",),
        extra="torch",
    ),
)

EMBEDDINGS = (
    System(
        name="deepwalk-ward",
        title="DeepWalk + Ward",
        takes=("graph",),
        gives="tree",
        paper="Perozzi et al. 2014, DeepWalk; with Ward 1963 as FPH's Ward column",
        call="arbora.baselines.on_graphs:deepwalk_linkage",
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="deepwalk-average",
        title="DeepWalk + average linkage",
        takes=("graph",),
        gives="tree",
        paper="Perozzi et al. 2014, DeepWalk",
        call="arbora.baselines.on_graphs:deepwalk_linkage",
        fixed={"method": "average"},
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="vgae-ward",
        title="VGAE + Ward",
        takes=("graph",),
        gives="tree",
        paper="Kipf and Welling 2016, Variational graph auto-encoders",
        call="arbora.baselines.on_graphs:autoencoder_linkage",
        library="PyTorch",
        needs=("torch",),
        extra="torch",
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="deepwalk-links",
        title="DeepWalk",
        takes=("graph",),
        gives="scores",
        paper="Perozzi et al. 2014, DeepWalk: online learning of social representations",
        call="arbora.baselines.on_graphs:deepwalk_links",
    ),
    System(
        name="vgae-links",
        title="VGAE",
        takes=("graph",),
        gives="scores",
        paper="Kipf and Welling 2016, Variational graph auto-encoders",
        call="arbora.baselines.on_graphs:autoencoder_links",
        library="PyTorch",
        needs=("torch",),
        extra="torch",
    ),
)

FITTED = (
    System(
        name="ufit",
        title="UFit",
        takes=("vectors", "graph"),
        gives="tree",
        paper="Chierchia and Perret 2019, Ultrametric fitting by gradient descent",
        call="arbora.baselines.ufit:ufit",
        deviations="Written here with its own gradients in place of higra and PyTorch. An edge between neighbors has "
        "its length; the authors' notebook halves it where only one of the two counts the other as near. A graph's "
        "distances, which the paper leaves open, are 1 / weight.",
        metrics=("euclidean",),
    ),
)

LEARNED: tuple[System, ...] = (*OURS, *EMBEDDINGS, *FITTED)
