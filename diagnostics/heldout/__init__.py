"""Scores of new documents."""

from .scores import HeldOut, document_completion, left_to_right, posterior_predictives, posterior_topics

__all__ = ["HeldOut", "document_completion", "left_to_right", "posterior_predictives", "posterior_topics"]
