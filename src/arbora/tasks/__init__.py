"""What the papers do with trees: link prediction, topics of nodes, classification, regression, word embeddings.

Each module loads on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    name: f"arbora.tasks.{name}"
    for name in (
        "block_model",
        "classification",
        "graph_autoencoder",
        "link_prediction",
        "multitask",
        "topics",
        "word_embeddings",
        "wordnet",
    )
}

__all__ = [*_HOME_OF_NAME]

if TYPE_CHECKING:
    from arbora.tasks import block_model as block_model
    from arbora.tasks import classification as classification
    from arbora.tasks import graph_autoencoder as graph_autoencoder
    from arbora.tasks import link_prediction as link_prediction
    from arbora.tasks import multitask as multitask
    from arbora.tasks import topics as topics
    from arbora.tasks import word_embeddings as word_embeddings
    from arbora.tasks import wordnet as wordnet
else:
    __getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
