"""Run the benchmarks."""

from .speed import main

main()
