"""What a tree means: keywords, reasons, exemplars, outliers, topics over time, and which cluster became which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbora._base.lazy import load_on_use

_HOME_OF_NAME = {
    "Explanation": "arbora.insight.reasons",
    "Feature": "arbora.insight.reasons",
    "Keyword": "arbora.insight.words",
    "Match": "arbora.insight.matching",
    "MergeSuggestion": "arbora.insight.merges",
    "OverTime": "arbora.insight.times",
    "Similar": "arbora.insight.members",
    "Topic": "arbora.insight.words",
    "exemplars": "arbora.insight.members",
    "explain": "arbora.insight.reasons",
    "explain_graph": "arbora.insight.reasons",
    "keywords": "arbora.insight.words",
    "match": "arbora.insight.matching",
    "merge_suggestions": "arbora.insight.merges",
    "named": "arbora.insight.words",
    "outlier_scores": "arbora.insight.members",
    "over_time": "arbora.insight.times",
    "similar": "arbora.insight.members",
    "telling_features": "arbora.insight.telling",
}

__all__ = sorted(_HOME_OF_NAME)

if TYPE_CHECKING:
    from arbora.insight.matching import Match as Match
    from arbora.insight.matching import match as match
    from arbora.insight.members import Similar as Similar
    from arbora.insight.members import exemplars as exemplars
    from arbora.insight.members import outlier_scores as outlier_scores
    from arbora.insight.members import similar as similar
    from arbora.insight.merges import MergeSuggestion as MergeSuggestion
    from arbora.insight.merges import merge_suggestions as merge_suggestions
    from arbora.insight.reasons import Explanation as Explanation
    from arbora.insight.reasons import Feature as Feature
    from arbora.insight.reasons import explain as explain
    from arbora.insight.reasons import explain_graph as explain_graph
    from arbora.insight.telling import telling_features as telling_features
    from arbora.insight.times import OverTime as OverTime
    from arbora.insight.times import over_time as over_time
    from arbora.insight.words import Keyword as Keyword
    from arbora.insight.words import Topic as Topic
    from arbora.insight.words import keywords as keywords
    from arbora.insight.words import named as named
else:
    __getattr__, __dir__ = load_on_use(__name__, _HOME_OF_NAME)
