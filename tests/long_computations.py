"""Computations of the public names that take seconds or more, for tests that interrupt them.

Each is a program: it calls `compute` with a small case, which compiles what the large one needs, and the large one.
"""

from quick_systems import QUICK

START = """
import os, signal, tempfile
import numpy as np, scipy.sparse as sp, arbora as ab

# a shell starts what runs in the background deaf to Ctrl-C
signal.signal(signal.SIGINT, signal.default_int_handler)
rng = np.random.default_rng(0)

def graph(n, m):
    i, j = rng.integers(0, n, (2, m))
    W = sp.coo_array((rng.random(m), (i, (j + (i == j)) % n)), shape=(n, n)).tocsr()
    return ab.similarity.graph(W + W.T)

def tree(n):
    parent, nodes, last = np.full(2 * n - 1, -1), rng.permutation(n), n
    while len(nodes) > 1:
        half = len(nodes) // 2
        new = np.arange(last, last + half)
        parent[nodes[:half]] = parent[nodes[half : 2 * half]] = new
        nodes, last = np.concatenate([new, nodes[2 * half :]]), last + half
    made = ab.Tree.from_parents(parent, n, sort=True)
    return made.replace(height=np.log2(made.sizes))

def points(n, d):
    return rng.normal(size=(n, d))

def texts(n):
    return ["w" + " w".join(row) for row in (rng.zipf(1.3, (n, 30)) % 30_000).astype(str)]

def a_path(name):
    return os.path.join(tempfile.mkdtemp(), name)

def compute(small, large):
    small()
    print("ready", flush=True)
    try:
        while True:
            large()
    except (KeyboardInterrupt, SystemError) as error:
        # a signal that meets numba while it reads a kernel's arguments comes as the cause of a SystemError
        while isinstance(error, SystemError):
            error = error.__cause__
        print("stopped" if isinstance(error, KeyboardInterrupt) else repr(error), flush=True)

"""


def calls(prepare: str, call: str, small: str, large: str) -> str:
    """A program that makes a call on something small and on something large, named x and y in the call."""
    return f"""{prepare}
def call(x, y=None):
    return {call}

compute(lambda: call({small}), lambda: call({large}))
"""


def on_vectors(call: str, n_rows: int, n_columns: int = 16) -> str:
    """A program that makes a call on rows `x`."""
    return calls(f"X = points({n_rows}, {n_columns})", call, "X[:60]", "X")


def on_graph(call: str, n_points: int, n_edges: int) -> str:
    """A program that makes a call on a graph `x`."""
    return calls(f"a, g = graph(50, 200), graph({n_points}, {n_edges})", call, "a", "g")


def on_tree(call: str, n_leaves: int, prepare: str = "") -> str:
    """A program that makes a call on a tree `x`."""
    return calls(f"a, t = tree(50), tree({n_leaves})\n{prepare}", call, "a", "t")


def on_pair(call: str, small: str, large: str) -> str:
    """A program that makes a call on two things, `x` and `y`."""
    return calls(f"small, large = ({small}), ({large})", call, "*small", "*large")


def _with_labels(n: int) -> tuple[str, str]:
    return "graph(50, 200), np.arange(50) % 3", f"graph({n}, {n} * 8), np.arange({n}) % 40"


WORK = {
    # linkages
    "linkage of a graph": on_graph("ab.linkage(x)", 400_000, 3_000_000),
    "linkage of a graph, paris": on_graph("ab.linkage(x, 'paris')", 400_000, 3_000_000),
    "linkage of a graph, single": on_graph("ab.linkage(x, 'single')", 400_000, 3_000_000),
    "louvain": on_graph("ab.linkages.louvain(x)", 300_000, 2_000_000),
    "linkage of vectors": on_vectors("ab.linkage(x)", 12_000, 8),
    "linkage of vectors, ward": on_vectors("ab.linkage(x, 'ward')", 40_000, 8),
    "linkage of cosines": calls(
        "X = points(30_000, 64)",
        "ab.linkage(x)",
        "ab.similarity.cosine(X[:60])",
        "ab.similarity.cosine(X)",
    ),
    "bisecting k-means": on_vectors("ab.bisecting_kmeans(x)", 60_000, 32),
    "hierarchical k-means": on_vectors("ab.hierarchical_kmeans(x)", 200_000, 32),
    "birch": on_vectors("ab.linkages.birch(x, threshold=2.0)", 100_000, 16),
    # similarities
    "neighbors": on_vectors("ab.similarity.knn(x)", 300_000, 64),
    "a gaussian similarity": on_vectors("ab.similarity.gaussian(x).total", 40_000, 16),
    "all pairs": on_vectors("ab.similarity.all_pairs(x)", 9_000, 64),
    "deepwalk": on_graph("ab.probabilistic.deepwalk(x, n_walks=2)", 50_000, 300_000),
    # search
    "cluster": on_vectors("ab.cluster(x, random_state=0)", 60_000, 32),
    "cluster, all pairs": on_vectors("ab.cluster(x, similarity='cosine', random_state=0)", 6_000, 32),
    "refine": on_pair("ab.refine(x, y)", "tree(50), graph(50, 200)", "tree(20_000), graph(20_000, 200_000)"),
    "refine by divergence": on_pair(
        "ab.refine(x, y, 'tsd')", "tree(50), graph(50, 200)", "tree(8_000), graph(8_000, 60_000)"
    ),
    "refine to fewer nodes": on_pair(
        "ab.refine(x, y, n_internal=20)", "tree(50), graph(50, 200)", "tree(8_000), graph(8_000, 60_000)"
    ),
    "OnlineTree": on_vectors("ab.OnlineTree().fit(abs(x))", 100_000, 16),
    "OnlineTree.remove": on_vectors(
        "(lambda m: [m.remove(list(range(i, i + 20))) for i in range(0, len(x) - 50, 20)])"
        "(ab.OnlineTree().fit(x))",
        20_000,
    ),
    "predict": calls(
        "X = points(200_000, 16)" + "\ns = ab.similarity.cosine(X[:2_000]); t = ab.linkage(s)",
        "ab.predict(t, s, x)",
        "X[:60]",
        "X",
    ),
    "predict by neighbors": calls(
        "X = points(200_000, 16)" + "\ns = ab.similarity.knn(X[:20_000]); t = ab.linkage(s)",
        "ab.search.place(t, s, x, n_clusters=9)",
        "X[:60]",
        "X",
    ),
    "insert": on_pair(
        "ab.search.insert(x, y)",
        "ab.linkage(ab.similarity.cosine((P := points(60, 8))[:50])), ab.similarity.cosine(P)",
        "ab.linkage(ab.similarity.knn((P := points(20_000, 8))[:10_000])), ab.similarity.knn(P)",
    ),
    "partial_fit": on_vectors(
        "ab.TreeClustering().fit(x[: len(x) // 2]).partial_fit(x[len(x) // 2 :])", 20_000
    ),
    # learned trees
    "HypHC": on_vectors("ab.HypHC(max_epochs=1 if len(x) < 99 else 50).fit(x)", 20_000),
    "GHHC": on_vectors("ab.GHHC(max_steps=1 if len(x) < 99 else 500).fit(x)", 200_000, 64),
    "FPH": on_graph(
        "ab.FPH(max_epochs=1 if x.n_points < 99 else 50, n_internal=49).fit(x)", 100_000, 600_000
    ),
    **{
        f"FPH from {start}": on_graph(
            f"ab.FPH(max_epochs=1, n_internal=49, init={start!r}, random_state=0).fit(x)", *size
        )
        for start, size in (
            ("louvain", (300_000, 2_000_000)),
            ("ward", (30_000, 200_000)),
            ("search", (60_000, 400_000)),
        )
    },
    "L2H": calls("X = points(4_000, 1_500)", "ab.L2H().fit(x)", "X[:50, :5]", "X"),
    "L2H, bootstraps": calls("X = points(5_000, 300)", "ab.L2H(n_bootstraps=200).fit(x)", "X[:50, :5]", "X"),
    "class_report": calls(
        "X = points(20_000, 400)" + "\nlarge = ab.L2H(refine=False, n_bootstraps=0).fit(X)"
        "\nsmall = ab.L2H(refine=False, n_bootstraps=0).fit(X[:50, :5])",
        "str(ab.logits.class_report(x, y, np.arange(len(y)) % y.shape[1]))",
        "small, X[:50, :5]",
        "large, X",
    ),
    "TURTLE": on_vectors("ab.TURTLE(4, max_steps=2 if len(x) < 99 else 1_000).fit([x, x])", 5_000, 256),
    "TEMI": on_vectors(
        "ab.TEMI(4, max_steps=2 if len(x) < 99 else 1_000, n_neighbors=10).fit(x)", 50_000, 128
    ),
    "choose_n_clusters": on_vectors(
        "ab.logits.choose_n_clusters(ab.TURTLE(max_steps=2 if len(x) < 99 else 300), [x, x], [2, 3])",
        5_000,
        64,
    ),
    # scores
    "scores": on_pair(
        "ab.metrics.score(x, y)", "tree(50), graph(50, 200)", "tree(1_000_000), graph(1_000_000, 5_000_000)"
    ),
    "bounds": on_graph("ab.metrics.dasgupta_bounds(x)", 400_000, 3_000_000),
    "bounds of vectors": on_vectors(
        "ab.metrics.dasgupta_bounds(ab.similarity.cosine(x), n_samples=5_000_000)", 20_000
    ),
    "wang_cost": on_pair(
        "ab.metrics.wang_cost(x, y)", "tree(50), graph(50, 200)", "tree(100_000), graph(100_000, 2_000_000)"
    ),
    "purity": on_tree("ab.metrics.dendrogram_purity(x, np.arange(x.n_leaves) % 500)", 1_000_000),
    "level_scores": on_tree("ab.metrics.level_scores(x, np.arange(x.n_leaves) % 50)", 300_000),
    "least_hierarchical_distance": on_tree(
        "ab.metrics.least_hierarchical_distance(x, np.arange(x.n_leaves) % 500)", 1_000_000
    ),
    "cophenetic correlation": on_pair(
        "ab.metrics.cophenetic_correlation(x, similarity=y)",
        "tree(50), ab.similarity.cosine(points(50, 8))",
        "tree(12_000), ab.similarity.cosine(points(12_000, 64))",
    ),
    "cophenetic correlation of trees": on_pair(
        "x.cophenetic_correlation(y)", "tree(50), tree(50)", "tree(15_000), tree(15_000)"
    ),
    "cohen_addad_value": on_pair(
        "ab.metrics.cohen_addad_value(x, similarity=y)",
        "tree(50), ab.similarity.cosine(points(50, 8))",
        "tree(20_000), ab.similarity.cosine(points(20_000, 64))",
    ),
    # trees
    "comparing trees": on_pair(
        "x.robinson_foulds(y)", "tree(50), tree(50)", "tree(1_000_000), tree(1_000_000)"
    ),
    "triplet distance": on_pair(
        "x.triplet_distance(y)", "tree(50), tree(50)", "tree(100_000), tree(100_000)"
    ),
    "matched_to": on_pair("x.matched_to(y)", "tree(50), tree(50)", "tree(500_000), tree(500_000)"),
    "consensus": calls(
        "small, large = [tree(50)] * 3, [tree(100_000) for _ in range(6)]",
        "ab.Tree.consensus(x)",
        "small",
        "large",
    ),
    "optimal order": on_pair(
        "x.reorder('optimal', data=y)", "tree(50), points(50, 4)", "tree(4_900), points(4_900, 4)"
    ),
    "order by size": on_tree("x.reorder('size')", 1_000_000),
    "compress": on_pair(
        "x.compress(20, y)", "tree(50), graph(50, 200)", "tree(300_000), graph(300_000, 2_000_000)"
    ),
    "cut by information": on_pair(
        "x.cut(20, by='information', similarity=y)",
        "tree(50), graph(50, 200)",
        "tree(300_000), graph(300_000, 2_000_000)",
    ),
    "cut with a least size": on_tree("x.cut(min(x.n_leaves // 5, 2_000), min_size=3)", 1_000_000),
    "taxonomy": on_tree("x.taxonomy([2, 5, 9])", 1_000_000),
    "levels": on_tree("x.levels()", 1_000_000),
    "writing Newick": on_tree("x.to_newick()", 1_000_000),
    "reading Newick": calls(
        "a, t = tree(50).to_newick(), tree(1_000_000).to_newick()", "ab.Tree.from_newick(x)", "a", "t"
    ),
    "writing JSON": on_tree("x.to_json()", 500_000),
    "reading JSON": calls(
        "a, t = tree(50).to_json(), tree(300_000).to_json()", "ab.Tree.from_json(x)", "a", "t"
    ),
    "to_networkx": on_tree("x.to_networkx()", 500_000),
    "to_d3": on_tree("x.to_d3()", 500_000),
    "to_text": on_tree("x.to_text()", 500_000),
    "to_itol": on_tree("x.to_itol(a_path('itol'))", 500_000),
    "save": on_tree("x.save(a_path('t.npz'))", 2_000_000),
    "load": on_tree(
        "ab.Tree.load(large if x.n_leaves > 99 else small)",
        2_000_000,
        "small, large = a_path('a.npz'), a_path('t.npz'); a.save(small); t.save(large)",
    ),
    "flat clusterings": on_tree("[0 for labels in x.flat_clusterings(range(1, 40))]", 1_000_000),
    "sarkar_embedding": on_tree("ab.hyperbolic.sarkar_embedding(x)", 300_000),
    "decode": calls(
        "a, e = [ab.hyperbolic.sarkar_embedding(tree(n))[:n] for n in (50, 20_000)]",
        "ab.hyperbolic.decode(x)",
        "a",
        "e",
    ),
    # what clusters mean
    "exemplars": on_pair("ab.insight.exemplars(x, y)", *_with_labels(300_000)),
    "exemplars of vectors": on_vectors(
        "ab.insight.exemplars(ab.similarity.gaussian(x, 1.0), np.arange(len(x)) % 3)", 20_000
    ),
    "outlier_scores": on_pair("ab.insight.outlier_scores(x, y)", *_with_labels(300_000)),
    "outlier_scores of vectors": on_vectors(
        "ab.insight.outlier_scores(ab.similarity.gaussian(x, 1.0), np.arange(len(x)) % 3)", 20_000
    ),
    "merge_suggestions": on_pair(
        "ab.insight.merge_suggestions(x, y, x.cut(9))",
        "tree(50), graph(50, 200)",
        "tree(300_000), graph(300_000, 2_000_000)",
    ),
    "similar": on_vectors("ab.insight.similar(ab.similarity.cosine(x), range(40))", 100_000, 64),
    "explain": on_pair(
        "ab.explain(x, y, n_clusters=20)", "tree(50), points(50, 4)", "tree(40_000), points(40_000, 200)"
    ),
    "explain_graph": on_pair(
        "ab.insight.explain_graph(x, y, n_clusters=20)",
        "tree(50), graph(50, 200)",
        "tree(300_000), graph(300_000, 2_000_000)",
    ),
    "telling_features": on_pair(
        "ab.insight.telling_features(x, y)", "tree(50), points(50, 4)", "tree(40_000), points(40_000, 200)"
    ),
    "keywords": on_pair("ab.insight.keywords(x, y)", "tree(50), texts(50)", "tree(20_000), texts(20_000)"),
    "named": on_pair("x.named(y)", "tree(50), texts(50)", "tree(20_000), texts(20_000)"),
    "match": on_pair("ab.match(x, y, 5)", "tree(50), tree(50)", "tree(1_000_000), tree(1_000_000)"),
    "over_time": calls(
        "dates = np.datetime64('2000-01-01') + rng.integers(0, 9_000, 1_000_000)",
        "ab.insight.over_time(np.arange(x) % 9, dates[: x])",
        "50",
        "1_000_000",
    ),
    # pictures and pages
    "plot": on_tree("x.plot(max_leaves=20_000)", 20_000, "import matplotlib; matplotlib.use('agg')"),
    "plot a circle": on_tree(
        "(x.plot('circular', max_leaves=20_000), plt.close('all'))",
        20_000,
        "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt",
    ),
    "clustermap": calls(
        "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt\n"
        + "X = points(8_000, 500)",
        "(ab.view.clustermap(x), plt.close('all'))",
        "X[:50, :20]",
        "X",
    ),
    "plot_levels": on_tree(
        "(ab.view.plot_levels(x, np.arange(x.n_leaves) % 9), plt.close('all'))",
        300_000,
        "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt",
    ),
    "to_html": on_tree("x.to_html(a_path('page.html'))", 49_000),
    "a folded page": on_tree("x.to_html(a_path('page.html'), max_leaves=20_000)", 1_000_000),
    "a page with texts and vectors": on_tree(
        "x.to_html(a_path('page.html'), texts=T[: x.n_leaves], features=X[: x.n_leaves])",
        20_000,
        "T, X = texts(20_000), points(20_000, 50)",
    ),
    # files
    "reading a table": calls(
        "small, large = a_path('a.csv'), a_path('b.csv')\n"
        "row = ','.join(f'{v:.5f}' for v in points(1, 60)[0]) + '\\n'\n"
        "open(small, 'w').write(row * 50); open(large, 'w').write(row * 300_000)",
        "ab.read(x)",
        "small",
        "large",
    ),
    "reading an edge list": calls(
        "small, large = a_path('a.edges'), a_path('b.edges')\n"
        "for p, m in ((small, 50), (large, 2_000_000)):\n"
        "    np.savetxt(p, rng.integers(0, 200_000 if m > 99 else 40, (m, 2)), '%d')",
        "ab.read(x)",
        "small",
        "large",
    ),
    # systems to compare with
    **{
        f"baseline {name}": on_vectors(f"ab.baselines.fit({name!r}, x)", n, d)
        for name, n, d in (
            ("ufit", 2_000, 8),
            ("perch", 20_000, 8),
            ("scc", 50_000, 16),
        )
    },
    **{
        f"baseline {name}": make(
            f"ab.baselines.fit({name!r}, x, **({QUICK[name]!r} if {size} < 99 else {wanted!r}))", *large
        )
        for name, make, size, wanted, large in (
            ("deepect", on_vectors, "len(x)", {}, (5_000, 32)),
            ("treevae", on_vectors, "len(x)", {}, (2_000, 32)),
            ("tcl", on_vectors, "len(x)", {"n_clusters": 4}, (5_000, 32)),
            ("rghc", on_graph, "x.n_points", {}, (3_000, 20_000)),
        )
    },
    "the start of a block model": on_graph(
        "ab.tasks.block_model.fit_block_model(x, random_state=0)", 300_000, 2_000_000
    ),
    "baseline dcsbm": on_graph("ab.baselines.fit('dcsbm', x, random_state=0)", 20_000, 100_000),
}
