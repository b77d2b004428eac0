"""Ground floor: numba samplers over flat arrays. Arrays in, arrays out; NumPy, numba and llvmlite only."""

from .toolbox.cache import find_place

find_place()
