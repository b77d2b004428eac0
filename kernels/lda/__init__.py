"""Samplers of latent Dirichlet allocation and of its models of collections."""
