"""``python -m bnpzoo``: the command line."""

from .cli import main

main()
