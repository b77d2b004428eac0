"""Models of documents with responses, numbers or categories, that depend on the topics of their tokens."""
