"""Which words set a node apart: the one formula behind keywords, topics and the page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arbora._base.types import Floats


def word_scores(
    here: NDArray[np.number], size: int, above: NDArray[np.number] | None = None, size_above: int = 0
) -> Floats:
    """Score of each word at a node: its share there times the logarithm of how much larger that is than beside it.

    Class-based tf-idf with the siblings as the other classes. At the root, which has none, the share counts alone.

    Parameters
    ----------
    here : array of shape (n_words,)
        How many of the node's texts contain each word, or how often they do together.
    size : int
        Texts of the node.
    above, size_above : optional
        The same for its parent. Half a text is added beside the node, so that a word absent there has a finite score.

    Examples
    --------
    >>> import numpy as np
    >>> from arbora.tree.word_scores import word_scores
    >>> word_scores(np.array([2, 2]), 2, np.array([4, 2]), 4).round(2)
    array([0.18, 1.79])
    """
    share = here / size
    if above is None:
        return np.asarray(share, dtype=np.float64)
    others = (above - here + 0.5) / (size_above - size + 1)
    return np.asarray(share * np.log(np.maximum(share, 1e-12) / others), dtype=np.float64)
