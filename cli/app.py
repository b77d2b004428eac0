"""The application ``bnpzoo``: its commands, and what becomes of their errors."""

from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from . import (
    associate,
    compare,
    demo,
    differences,
    doctor,
    evaluate,
    experiment,
    fit,
    listing,
    report,
    show,
    simulate,
    topics,
    validate,
)
from .console import fail, say


class Commands(TyperGroup):
    """Commands whose foreseeable errors are one red line and exit code 2."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse empty words: as a path they would mean the current folder."""
        for word in args:
            if not word.strip() or (word.startswith("--") and word.endswith("=")):
                fail(f"expected words that are not empty, found {word!r} in the command")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; ``--debug`` lets its errors through with their traceback."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            if ctx.params.get("debug") or not _foreseeable(error):
                raise
            fail(str(error))


def _foreseeable(error: Exception) -> bool:
    """Whether the user can do something about `error`, whose message says what."""
    if isinstance(error, BrokenPipeError):  # `bnpzoo … | head`: Typer ends quietly
        return False
    if isinstance(error, (ValueError, OSError, MemoryError)):
        return True
    from ..zoo.inference.stan import StanMissing

    return isinstance(error, StanMissing)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 all is well; 1 fits disagree or a sampler is rejected; 2 wrong usage or input; "
    "3 too few draws to tell.",
)


def _print_version(asked: bool) -> None:
    if asked:
        say(f"bnpzoo {metadata.version('bnpzoo')}")
        raise typer.Exit


@app.callback()
def bnpzoo(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Bayesian nonparametric topic models, each written four ways, and the evidence that they agree.

    Try `bnpzoo demo` first. Then `bnpzoo list` shows the models, and
    `bnpzoo fit hdp corpus.npz --out fit.nc` samples one.
    """


app.command("list")(listing.list_models)
app.command()(show.show)
app.command()(simulate.simulate)
app.command()(associate.associate)
app.command()(fit.fit)
app.command()(compare.compare)
app.command()(evaluate.evaluate)
app.command()(topics.topics)
app.command()(differences.differences)
app.command()(report.report)
app.command()(validate.validate)
app.add_typer(experiment.experiment, name="experiment")
app.command()(demo.demo)
app.command()(doctor.doctor)
