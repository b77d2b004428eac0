"""Deliberately wrong kernels, a file a family."""
