"""Options: hostile words and numbers on the command line."""

import os
import tempfile
from pathlib import Path

import pytest
from bnpzoo.zoo.inference import save
from hypothesis import given
from hypothesis import strategies as st
from malformed import words

COUNTS = ["-1", "0", "1", "2", "3", "1000000000000", "1" * 23, "1e3", "nan", "", " ", "x", "0x2", "１", "--"]
"""None in between, where a command would do as it is told and take its time."""

NUMBERS = [*COUNTS, "0.5", "-0.5", "1e-300", "5e-324", "1e308", "1e309", "inf", "-inf", "-nan"]

PRIORS = [
    "Gamma(1,1)",
    "Gamma(0,1)",
    "Gamma(1,5e-324)",
    "Gamma(1e308,1)",
    "Beta(1,1)",
    "Gamma(1)",
    "Gamma(,)",
    "Normal(0,1)",
]

counts = st.sampled_from(COUNTS)
names = words.filter(lambda word: "\0" not in word and "\ud800" not in word and len(word) < 200)
settings = st.builds(
    "{}={}".format,
    st.sampled_from(["alpha", "eta", "n_topics", "gamma", "b", "a", "lengths", "x", ""]),
    st.sampled_from(NUMBERS + PRIORS) | names,
)
models = st.sampled_from(["lda", "hdp", "hpyp", "sparse_transfer", "focused", "cclda", "nope", ""])

COMMANDS = {
    "simulate": {
        "--documents": counts, "--length": counts, "--words": counts, "--groups": counts, "--seed": counts,
        "--set": settings,
    },
    "fit": {
        "--chains": counts, "--draws": counts, "--thin": st.sampled_from(["-1", "0", "1", "x"]),
        "--seed": counts, "--truncation": counts, "--variant": names, "--backend": names, "--groups": names,
        "--split": names, "--set": settings,
    },
    "topics": {"--words": counts, "--topics": counts, "--csv": names},
    "differences": {
        "--words": counts, "--topics": counts, "--chain": counts, "--csv": names, "--figure": names,
    },
    "evaluate": {
        "--groups": names, "--split": names, "--coverage": st.sampled_from(NUMBERS), "--top": counts,
        "--seed": counts,
    },
    "compare": {"--threshold": st.sampled_from(NUMBERS)},
    "report": {"--out": names},
    "associate": {
        "--reference": names, "--window": counts, "--embeddings": names, "--strengths": names,
        "--most": counts,
    },
    "show": {"--json": names},
    "list": {"--x": names},
    "validate": {"--rung": names, "--variant": names, "--budget": names},
}  # fmt: skip


@st.composite
def commands(draw):
    """Draw a command and one to three of its options."""
    command = draw(st.sampled_from(sorted(COMMANDS)))
    options = COMMANDS[command]
    chosen = draw(st.lists(st.sampled_from(sorted(options)), min_size=1, max_size=3, unique=True))
    return command, [part for option in chosen for part in (option, draw(options[option]))]


@given(commands(), st.data())
@pytest.mark.slow
def test_any_option(fits, run, corpus_file, command, data):
    name, options = command
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        fit, other, home = here / "fit.nc", here / "other.nc", Path.cwd()
        save(fits["hpyp"][0], fit)
        save(fits["hpyp"][1], other)
        arguments = {
            "simulate": [data.draw(models), "--out", here / "drawn.npz", "--documents", 3, "--words", 4],
            "fit": [
                data.draw(models),
                corpus_file,
                "--tune",
                1,
                "--draws",
                2,
                "--chains",
                1,
                "--out",
                here / "new.nc",
            ],
            "topics": [data.draw(st.sampled_from([fit, corpus_file, here]))],
            "differences": [data.draw(st.sampled_from([fit, corpus_file]))],
            "evaluate": [fit, data.draw(st.sampled_from([corpus_file, fit, here]))],
            "compare": [fit, data.draw(st.sampled_from([fit, other, corpus_file]))],
            "report": [fit, other],
            "associate": [corpus_file, "--out", here / "with.npz"],
            "show": [data.draw(models)],
            "list": [],
            "validate": ["lda", "--out", here / "validation", "--rung", "nope"],
        }[name]
        os.chdir(here)
        try:
            run(name, *arguments, *options)
        finally:
            os.chdir(home)
        hidden = [file for file in os.listdir(here) if file.startswith(".")]
        assert not hidden, f"left behind: {hidden}"
