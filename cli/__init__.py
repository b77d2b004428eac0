"""The command line: thin, no statistics, one module a command."""


def main() -> None:
    """Entry point of the ``bnpzoo`` command."""
    from .app import app

    app()
