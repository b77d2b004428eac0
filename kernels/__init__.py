"""Ground floor: numba samplers over flat arrays. Arrays in, arrays out; NumPy, numba and llvmlite only."""
