"""Corpora, and the associations of their words."""

from .corpus import Corpus, CorpusError

__all__ = ["Corpus", "CorpusError"]
