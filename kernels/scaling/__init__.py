"""Samplers of the hierarchical Dirichlet scaling processes."""
