"""Blind mutants: wrong programs that nobody chose, and what notices them."""
