"""
BERTopic: our clusterer in its pipeline, our tree as its hierarchy
==================================================================

BERTopic turns documents into topics: embed, reduce, cluster, name. Its clusterer is any scikit-learn estimator,
so ``TreeClustering`` goes in as it is, and the tree it has built is a hierarchy of the topics. Where BERTopic
is not installed when this page is built, arbora does the same alone, and the output says so.
"""

import inspect
import re
from importlib import import_module

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import arbora as ab

# %%
# Documents
# ---------
# The first paragraphs of docstrings, as in :doc:`plot_documents`: real texts that need no download. Embeddings
# are computed beforehand, here from the words of whole docstrings; a sentence model's would go in at the same place.
MODULES = (
    "numpy.fft",
    "numpy.linalg",
    "scipy.signal",
    "scipy.special",
    "scipy.stats",
    "sklearn.metrics",
)


def summary(docstring):
    """The prose that it begins with: no signatures, no markup, no list of parameters."""
    lines = re.split(r"\n(?:Parameters|Returns)\n", docstring)[0].splitlines()
    kept = [line for line in lines if not re.search(r"\w\(|::|=|https?:", line)]
    markup = r":\w+:|[`*$\\]|Read more in the.*|.*keyword-only.*"
    return re.sub(markup, " ", " ".join(kept))


docstrings = [
    inspect.getdoc(getattr(import_module(module), name)) or ""
    for module in MODULES
    for name in import_module(module).__all__
]
docstrings = [text for text in docstrings if len(summary(text)) > 80]
documents = [summary(text) for text in docstrings]
words = TfidfVectorizer(stop_words="english", max_df=0.2, min_df=3, sublinear_tf=True)
weights = words.fit_transform(docstrings)
embeddings = TruncatedSVD(100, random_state=0).fit_transform(weights)
print(f"{len(documents)} documents")

# %%
# The pipeline
# ------------
# No dimension is reduced: the tree works on the embeddings themselves. (BERTopic reduces because density fades
# in many dimensions.)
clusterer = ab.TreeClustering(n_clusters=16, random_state=0)
try:
    from bertopic import BERTopic
    from bertopic.dimensionality import BaseDimensionalityReduction
except ImportError:
    print("BERTopic is not installed where this page was built: arbora alone.")
    clusterer.fit(embeddings)
    topics = clusterer.labels_
else:
    model = BERTopic(
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=clusterer,
        vectorizer_model=CountVectorizer(stop_words="english"),
        embedding_model=None,
    )
    topics, _ = model.fit_transform(documents, embeddings)
    topics = np.array(topics)
    print(model.get_topic_info()[["Topic", "Count", "Name"]].to_string(index=False))

# %%
# The hierarchy
# -------------
# BERTopic would now compute distances between topics and link them. There is no need: the clusterer has the
# tree over all documents, and its topics are nodes of it. Nodes above them are the hierarchy.
levels = clusterer.tree_.taxonomy([4, 16], min_size=5, by="balance").named(documents)
print(levels.prune(n_clusters=16).to_text(max_depth=2))

# %%
levels.prune(n_clusters=16).plot("dendrogram")
plt.show()

# %%
# The page
# --------
page = levels.to_html(
    "bertopic.html",
    title="Topics",
    classes={"topic": [f"topic {topic}" for topic in topics]},
    texts=[text[:200] for text in documents],
    view="icicle",
)
