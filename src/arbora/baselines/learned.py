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
        name="deepwalk-hyphc",
        title="HypHC",
        takes=("graph",),
        gives="tree",
        paper="Chami et al. 2020, on DeepWalk vectors as FPH's HypHC column",
        call="arbora.baselines.on_graphs:deepwalk_hyphc",
        deviations="Our HypHC, with its own number of triples; FPH drew 50 million.",
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="deepwalk-ghhc",
        title="HGHC",
        takes=("graph",),
        gives="tree",
        paper="Monath et al. 2019 (gHHC), on DeepWalk vectors as FPH's HGHC column",
        call="arbora.baselines.on_graphs:deepwalk_ghhc",
        deviations="Our gHHC, 500 steps of 100 triples; FPH says 10 iterations and not of what.",
        metrics=_GRAPH_METRICS,
    ),
    System(
        name="deepwalk-ufit",
        title="UF",
        takes=("graph",),
        gives="tree",
        paper="Chierchia and Perret 2019 (UFit), on DeepWalk vectors as FPH's UF column",
        call="arbora.baselines.on_graphs:deepwalk_ufit",
        deviations="FPH does not say what UF was fitted to. Its figures change with the dimension of DeepWalk vectors "
        "(Tables 8 and 9), so those: their nearest neighbors and a spanning tree, as in the authors' notebook.",
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
        name="rghc",
        title="RGHC",
        takes=("vectors", "graph"),
        gives="tree",
        paper="Monath et al. 2017, Gradient-based hierarchical clustering (workshop)",
        call="arbora.baselines.rghc:rghc",
        library="PyTorch",
        deviations="Written from the paper's description, as no code was published: a complete tree, one hidden layer "
        "per router, batches of points with all their pairs, all routers trained at once (the paper also trains those "
        "of disjoint subtrees in parallel). Settings are FPH's (App. B.7).",
        needs=("torch",),
        extra="torch",
        metrics=("cosine",),
    ),
    System(
        name="deepect",
        title="DeepECT",
        takes=("vectors",),
        gives="tree",
        paper="Mautz et al. 2020, DeepECT: the deep embedded cluster tree",
        call="arbora.baselines.deepect:deepect",
        library="PyTorch",
        deviations="An encoder of 256-256-10 units in place of 500-500-2000-10, trained as a whole for 20 epochs "
        "instead of layer by layer with noise; 10,000 steps instead of 50,000; no augmented images.",
        needs=("torch",),
        extra="torch",
    ),
    System(
        name="treevae",
        title="TreeVAE",
        takes=("vectors",),
        gives="tree",
        paper="Manduchi et al. 2023, Tree variational autoencoders",
        call="arbora.baselines.treevae:treevae",
        library="PyTorch",
        deviations="Perceptrons of one hidden layer in place of convolutions as encoder and decoders; 20 + 5 per split "
        "epochs of 20,000 rows, at least 16 steps, instead of 150 + 150 and 80 of all; no contrastive loss on "
        "augmented images; a constant learning rate.",
        needs=("torch",),
        extra="torch",
    ),
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

BACKBONES = (
    System(
        name="tcl",
        title="TCL",
        takes=("vectors",),
        gives="labels",
        paper="Li et al. 2022, Twin contrastive learning for online clustering",
        call="arbora.baselines.tcl:TCL",
        library="PyTorch",
        deviations="The two contrastive heads on given features; noise and left-out features stand for augmented "
        "images, and confident predictions are learned from in the last third of the steps.",
        needs=("torch",),
        extra="torch",
    ),
    System(
        name="tcl-images",
        title="TCL",
        takes=("vectors",),
        gives="labels",
        paper="Li et al. 2022, Twin contrastive learning for online clustering",
        call="arbora.baselines.tcl:TCL",
        library="PyTorch",
        deviations="Not written: see why it cannot run.",
        cannot="TCL trains a ResNet34 from scratch on augmented images for 1,000 epochs, which needs a GPU for days "
        "and the images themselves. Its heads on features are 'tcl'.",
    ),
)

PACKAGES = (
    System(
        name="fast-hdbscan",
        title="fast_hdbscan",
        takes=("vectors",),
        gives="tree",
        paper="Campello et al. 2013, Density-based clustering based on hierarchical density estimates",
        call="arbora.baselines.packages:fast_hdbscan",
        library="fast_hdbscan",
        deviations="The whole tree of mutual reachability is given, not the condensed one. Groups that its search of "
        "neighbors leaves unconnected are joined at the top, in its order.",
        needs=("fast_hdbscan",),
        extra="baselines",
        metrics=("euclidean",),
    ),
    System(
        name="evoc",
        title="EVoC",
        takes=("vectors",),
        gives="tree",
        paper="Healy and McInnes 2025, EVoC: embedding vector oriented clustering",
        call="arbora.baselines.packages:evoc",
        library="evoc",
        deviations="Its layers are joined to one tree.",
        needs=("evoc",),
        extra="baselines",
        metrics=("cosine",),
    ),
    System(
        name="genie",
        title="genieclust",
        takes=("vectors",),
        gives="tree",
        paper="Gagolewski et al. 2016, Genie: a new, fast, and outlier-resistant hierarchical clustering algorithm",
        call="arbora.baselines.packages:genie",
        library="genieclust (AGPL; no extra installs it)",
        needs=("genieclust",),
        metrics=("euclidean",),
    ),
    System(
        name="umap-ward",
        title="UMAP + Ward",
        takes=("vectors",),
        gives="tree",
        paper="Lowe et al. 2024, An empirical study into clustering of unseen datasets with self-supervised encoders",
        call="arbora.baselines.packages:umap_ward",
        library="umap-learn, fastcluster",
        deviations="UMAP runs in one thread, so that a seed decides the result.",
        needs=("umap",),
        extra="baselines",
        metrics=("euclidean",),
    ),
)

EXPECTED = (
    System(
        name="eph",
        title="EPH",
        takes=("graph",),
        gives="tree",
        paper="Kollovieh et al. 2024, Expected probabilistic hierarchies",
        call="arbora.probabilistic:FPH",
        fixed={"relaxation": "straight-through"},
        deviations="The published gradient of the expected cost, straight-through at one sampled tree per step, in our "
        "projected descent with its own step sizes. 'fph' descends the same expectation by exact conditional costs.",
        metrics=_GRAPH_METRICS,
    ),
)

LEARNED: tuple[System, ...] = (*OURS, *EXPECTED, *EMBEDDINGS, *FITTED, *BACKBONES, *PACKAGES)
