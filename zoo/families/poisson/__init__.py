"""Poisson factor analysis, and document sides whose topics weigh as gamma variables."""
