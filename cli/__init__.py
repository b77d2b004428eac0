"""The command line: thin, no statistics, one module a command."""

from .app import app


def main() -> None:
    """Entry point of the ``bnpzoo`` command."""
    app()
