"""What a fit found: topics and their words, documents and tokens, over all chains and kept draws."""

from .documents import correlations, document_blocks, documents, representatives, tokens
from .hierarchy import Hierarchy, LayerTopic, Link, hierarchy_of
from .labelled import coefficients, topics_by_label
from .last_draw import Topic, topics_of
from .matching import MatchedTopics, match_topics
from .sentences import Sentences, sentence_topics
from .specific import Comment, comments, specific
from .subtle import subtle
from .summaries import Summary, number_of_topics, rank_words, ranked_words, topic_words, topics
from .transform import transform, transform_blocks

__all__ = [
    "Comment",
    "Hierarchy",
    "LayerTopic",
    "Link",
    "MatchedTopics",
    "Sentences",
    "Summary",
    "Topic",
    "coefficients",
    "comments",
    "correlations",
    "document_blocks",
    "documents",
    "hierarchy_of",
    "match_topics",
    "number_of_topics",
    "rank_words",
    "ranked_words",
    "representatives",
    "sentence_topics",
    "specific",
    "subtle",
    "tokens",
    "topic_words",
    "topics",
    "topics_by_label",
    "topics_of",
    "transform",
    "transform_blocks",
]
