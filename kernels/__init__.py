"""Ground floor: numba samplers over flat arrays. Arrays in, arrays out; only NumPy, and numba with llvmlite."""
