"""Experiments of the papers, done again: methods over settings and replications, figures and numbers."""
