"""
Documents: a tree of topics with names
======================================

Texts become vectors, vectors become a tree, and every branch gets a name from the words that its documents use
more than the rest. The texts are real and on every machine that can run this: the docstrings of NumPy, SciPy
and scikit-learn. Which module a docstring comes from is known, so the topics can be judged.
"""

import inspect
import os
import re
from collections import Counter
from importlib import import_module
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import arbora as ab

MODULES = (
    "numpy.linalg", "numpy.fft", "numpy.random", "scipy.cluster.hierarchy", "scipy.fft", "scipy.integrate",
    "scipy.interpolate", "scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.signal", "scipy.sparse.csgraph",
    "scipy.spatial.distance", "scipy.special", "scipy.stats", "sklearn.cluster", "sklearn.decomposition",
    "sklearn.ensemble", "sklearn.linear_model", "sklearn.metrics", "sklearn.preprocessing",
)  # fmt: skip


def prose(text):
    """What a docstring says before its sections: those read much the same everywhere."""
    about = re.split(
        r"\n(?:Parameters|Returns|Attributes|Methods|Notes|See Also|Examples)\n---",
        text,
    )[0]
    about = "\n".join(line for line in about.splitlines()[1:] if "(" not in line[:40])
    first = text.splitlines()[0] if text and "(" not in text.splitlines()[0] else ""
    about = re.sub(
        r"``.*?``|\.\. \S.*|:\w+:|https?:\S+|Read more.*", " ", f"{first}\n{about}"
    )
    return re.sub(
        r"[^\n.]*(?:rv_continuous|rv_discrete|instance of the|keyword-only)[^.]*\.",
        " ",
        about,
    )


names, whole, texts, modules = [], [], [], []
for module in MODULES:
    for name in getattr(import_module(module), "__all__", ()):
        docstring = inspect.getdoc(getattr(import_module(module), name, None)) or ""
        if len(prose(docstring).split()) > 8:
            names.append(f"{module}.{name}")
            whole.append(docstring)
            texts.append(prose(docstring))
            modules.append(module)
print(f"{len(texts):,} docstrings of {len(set(modules))} modules")

# %%
# Vectors
# -------
# Words by their weight, reduced to 200 numbers. Embeddings of a language model would go in at the same place.
words = TfidfVectorizer(stop_words="english", max_df=0.2, min_df=3, sublinear_tf=True)
vectors = TruncatedSVD(200, random_state=0).fit_transform(words.fit_transform(whole))
model = ab.TreeClustering(n_clusters=20, random_state=0).fit(vectors)
purity = ab.metrics.dendrogram_purity(model.tree_, modules)
print(f"dendrogram purity {purity:.2f} against the modules, which it never saw")

# %%
# Topics
# ------
# Three levels of topics, each branch named by the words that set it apart. ``by="balance"`` keeps one topic from
# holding nearly everything.
topics = model.tree_.taxonomy([8, 20, 60], min_size=8, by="balance").named(texts)
topics = topics.replace(name=[*names, *topics.name[topics.n_leaves :]])
upper = topics.prune(n_clusters=20)
print(upper.to_text(max_depth=3))

# %%
# Where a topic comes from
# ------------------------
# Topics cut across libraries: the Fourier transforms of NumPy and of SciPy are one topic, and so is their linear
# algebra; SciPy's hierarchies share one with the distances of both libraries.
labels = topics.cut(n_clusters=20)
kinds, rows = np.unique(modules, return_inverse=True)
table = np.zeros((len(kinds), 20))
np.add.at(table, (rows, labels), 1)
figure, axis = plt.subplots(figsize=(9, 9), layout="constrained")
axis.imshow(table / table.sum(axis=1, keepdims=True), cmap="Blues", aspect="auto")
axis.set_yticks(range(len(kinds)), kinds)
axis.set_xticks(
    range(20),
    [topics.label(node) for node in topics.cut_nodes(20)],
    rotation=60,
    ha="right",
)
axis.set_title("share of each module's docstrings in each topic")
plt.show()

# %%
# Which topics are one?
# ---------------------
# Of the sixty topics of the finest level, the pairs that are most alike, siblings in the tree or not, and the reason.
# Below 1 times chance they are better kept apart; ``topics.merge(pair.nodes)`` follows a suggestion.
graph = model.similarity_
for pair in ab.insight.merge_suggestions(topics, graph, topics.cut(n_clusters=60))[:3]:
    print(" + ".join(topics.label(node) for node in pair.nodes), "|", pair.reason)

# %%
# What else is like this?
# -----------------------
# The nearest docstrings to one of them, by the graph that the tree was built on.
start = names.index("numpy.fft.rfft")
for found in ab.insight.similar(graph, [start], n_similar=4)[0]:
    print(f"{found.similarity:.2f}  {names[found.point]}")

# %%
# With dates, ``ab.insight.over_time(labels, dates)`` counts topics per month, and ``ab.view.plot_over_time`` draws
# them (:doc:`../tree` has an example).

# %%
# The page
# --------
# Search for a word, open a topic, read a text. The card of a leaf leads to those most similar to it.
short = [text[:400] for text in texts]
page = topics.to_html(
    "documents.html",
    title="Docstrings",
    names=names,
    classes={"module": modules},
    texts=short,
    similarity=graph,
    view="icicle",
)

# %%
# Messages of 20 newsgroups
# -------------------------
# A published set: 7,532 messages as embeddings of a sentence model, and the group that each was sent to. The data
# hold no texts, so branches are named by the groups that make up a tenth of them or more; the tree itself has seen
# vectors only. Without ``ARBORA_DATA`` this part is left out, and says so.
path = Path(os.environ.get("ARBORA_DATA", "data")) / "embeddings"
if (path / "20news_test_minilm_l6.npz").exists():
    news = np.load(path / "20news_test_minilm_l6.npz")
    # The rows are sorted by group.
    order = np.random.default_rng(0).permutation(len(news["X"]))
    X, y = news["X"][order].astype(np.float32), news["y"][order]
    group = news["class_names"][y].tolist()
    tree = ab.cluster(X, random_state=0)
    ward = ab.linkage(X, "ward")
    levels = {"20 groups": y, "middle": news["mid"][y], "top": news["top"][y]}
    for title, classes in levels.items():
        ours = ab.metrics.dendrogram_purity(tree, classes)
        theirs = ab.metrics.dendrogram_purity(ward, classes)
        print(f"{title:10} purity {ours:.3f}, Ward {theirs:.3f}")
    threads = tree.taxonomy([6, 20], min_size=60)

    def groups_in(topic):
        """The groups that make up a tenth of a branch or more, at most three."""
        inside = Counter(group[leaf] for leaf in threads.leaves(topic.node))
        common = [name for name, n in inside.most_common(3) if n > 0.1 * topic.n_texts]
        return ", ".join(common) or "all messages"

    threads = threads.named(group, function=groups_in)
    print(threads.prune(n_clusters=20).to_text(max_depth=3))
    page = threads.to_html(
        "newsgroups.html", title="Newsgroups", classes={"group": group}, view="icicle"
    )
else:
    print("20 newsgroups: not in ARBORA_DATA, left out.")
