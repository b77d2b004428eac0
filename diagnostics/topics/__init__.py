"""What a fit found: topics and their words, documents and tokens, over all chains and kept draws."""

from .documents import correlations, documents, representatives, tokens
from .last_draw import Topic, topics_of
from .matching import MatchedTopics, match_topics
from .summaries import Summary, number_of_topics, ranked_words, topic_words, topics
from .transform import transform

__all__ = [
    "MatchedTopics",
    "Summary",
    "Topic",
    "correlations",
    "documents",
    "match_topics",
    "number_of_topics",
    "ranked_words",
    "representatives",
    "tokens",
    "topic_words",
    "topics",
    "topics_of",
    "transform",
]
