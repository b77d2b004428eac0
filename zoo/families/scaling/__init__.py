"""Hierarchical Dirichlet scaling processes: topics that are more likely under some labels."""
