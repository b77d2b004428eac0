"""Hierarchical Dirichlet processes of two and three levels."""
