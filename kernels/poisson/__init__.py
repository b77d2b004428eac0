"""Samplers of Poisson factor analysis and of models whose topics weigh as gamma variables."""
