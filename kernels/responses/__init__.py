"""Documents that have responses, numbers or categories, which depend on the topics of their tokens."""
