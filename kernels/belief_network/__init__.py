"""Samplers of topics under a Dirichlet belief network."""
