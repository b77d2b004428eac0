"""The application ``bnpzoo``: its commands, and what becomes of their errors."""

import warnings
from importlib import metadata
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from . import (
    associate,
    browse,
    compare,
    convert,
    demo,
    differences,
    doctor,
    documents,
    evaluate,
    expect,
    experiment,
    export,
    fit,
    hierarchy,
    labels,
    listing,
    mixing,
    predict,
    report,
    sentences,
    show,
    simulate,
    topics,
    validate,
)
from .console import ExitCode, err, fail, out, say


class Commands(TyperGroup):
    """Commands whose foreseeable errors are one red line and exit code 2, and Ctrl-C a yellow one and 130.

    A warning is a yellow line.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse empty arguments: a path that is one would be taken for the current folder."""
        for before, argument in zip([self.name or "", *args], args, strict=False):
            option = argument.removesuffix("=")
            if not argument or (option.startswith("--") and option != argument):
                fail(f"expected something after {option or before}, found nothing")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; ``--debug`` lets its errors through with their traceback."""
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _say_warning
                return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            say(f"Interrupted: {interrupt}." if str(interrupt) else "Interrupted.", "yellow", err)
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except BrokenPipeError:
            out.on_broken_pipe()
        except Exception as error:
            if ctx.params.get("debug") or not _foreseeable(error):
                raise
            fail(_with_remedy(str(error)))


def _say_warning(message: Warning | str, *_: object) -> None:
    say(str(message), "yellow", err)


REMEDIES = {
    "expected a corpus with groups": "--groups names a covariate, or says how many to simulate",
    "expected a corpus with associations": "`bnpzoo associate` adds them to a corpus",
    "expected a corpus with labels": "--set labels=NAME says which covariate, --groups how many to simulate",
    "response: expected a covariate of the corpus": "--set response=NAME says which",
    "expected a label of the fit": "fit with --set labels=NAME,NAME for others",
    "expected a truncation, the most topics": "--truncation says it",
    "expected UTF-8": "text in another encoding is read with, say, --encoding latin-1",
}
"""What can be done about errors of models, by what these say: on the command line, that is."""


def _with_remedy(message: str) -> str:
    """Return the message of an error, and what to do on the command line where the library cannot know it."""
    return "; ".join([message, *(remedy for error, remedy in REMEDIES.items() if error in message)])


def _foreseeable(error: Exception) -> bool:
    """Whether the user can do something about `error`, whose message says what."""
    if isinstance(error, (ValueError, OSError, MemoryError)):
        return True
    if isinstance(error, ImportError) and "pip install" in str(error):  # of a library that is optional
        return True
    from ..zoo.inference.stan_chains import StanError

    return isinstance(error, StanError)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done; 1 fits disagree (compare, demo), or a sampler is rejected or a mutant is not "
    "(validate); 2 wrong usage or input; 3 too few draws to tell (compare, demo); 130 interrupted (fit: "
    "before the first draw, or after the last); 141 the reader of the output has closed it.",
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

    Try `bnpzoo demo` first. Then `bnpzoo list` shows the models, `bnpzoo fit hdp texts.csv --out fit.nc`
    samples one, and `bnpzoo topics fit.nc` shows what it found.
    """


app.command("list")(listing.list_models)
app.command()(show.show)
app.command()(simulate.simulate)
app.command()(convert.convert)
app.command()(associate.associate)
app.command()(fit.fit)
app.command()(compare.compare)
app.command()(evaluate.evaluate)
app.command()(predict.predict)
app.command()(topics.topics)
app.command()(documents.documents)
app.command()(documents.transform)
app.command()(sentences.subtle)
app.command()(sentences.specific)
app.command()(differences.differences)
app.command()(labels.labels)
app.command()(hierarchy.hierarchy)
app.command()(expect.expect)
app.command()(report.report)
app.command()(browse.browse)
app.command()(export.export)
app.command()(validate.validate)
app.command()(mixing.mixing)
app.add_typer(experiment.experiment, name="experiment")
app.command()(demo.demo)
app.command()(doctor.doctor)
