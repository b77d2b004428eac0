"""Samplers of the hierarchical Dirichlet processes of two and three levels."""
