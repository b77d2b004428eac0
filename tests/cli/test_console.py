"""Tables on a terminal of 80 columns."""

import io
import os
import subprocess
import sys

import pytest
from bnpzoo.cli import console
from rich.console import Console


@pytest.fixture
def printed(monkeypatch):
    """Print a table; return its lines."""

    def printed(*arguments, width=80):
        text = io.StringIO()
        monkeypatch.setattr(console, "out", Console(file=text, width=width))
        console.print_table(*arguments)
        return text.getvalue().rstrip("\n").splitlines()

    return printed


def test_words_are_whole(printed):
    labels = ["kernel (sparse)", "numpyro (T=8)", "stan (T=8)"]
    row = ["mean_log_strength", 0.98771, -0.96482e-3, -1234.5, 2.304, 1.016, "inconclusive"]
    lines = printed("Means", ["quantity", *labels, "apart (MCSE)", "R-hat", "verdict"], [row])
    assert max(map(len, lines)) <= 80
    assert {"(sparse)", "numpyro", "R-hat", "verdict"} <= {word for line in lines for word in line.split()}
    assert lines[-1].split() == [
        "mean_log_strength",
        "0.9877",
        "-0.0009648",
        "-1234",
        "2.304",
        "1.016",
        row[-1],
    ]


def test_a_word_that_is_longer_than_the_terminal(printed):
    lines = printed("Topics", ["topic", "words"], [[1, "a " * 60 + "x" * 300]])
    assert max(map(len, lines)) <= 80
    assert sum(line.count("x") for line in lines) == 300


def test_columns_without_room_stand_below(printed):
    names = [f"category-{c:02}" for c in range(12)]
    lines = printed(
        "Confusion", ["label", *names], [[name, *range(r, r + 12)] for r, name in enumerate(names)]
    )
    assert max(map(len, lines)) <= 80
    words = [line.split() for line in lines]
    headers = [row for row in words if row and row[0] == "label"]
    assert len(headers) > 1
    assert [name for header in headers for name in header[1:]] == names
    last = [row[1:] for row in words if row and row[0] == names[-1]]
    assert [int(cell) for row in last for cell in row] == list(range(11, 23))


@pytest.mark.parametrize("width", [20, 30, 40, 43, 60, 79, 80, 81, 120])
def test_nothing_of_a_cell_is_cut_off(printed, width):
    names = ["topic", "share", "90% interval", "stability", "words", "more words"]
    words = "aa aaa aaaaaaaa aaaaaaaaaaaaaaaaaaa aaaaaaaaaaaaaaaaaaaaaaaaaaa 日本語日本語日本語日本語"
    row = [0, "27.5%", "22.8% to 33.0%", "0.92", words, words]
    lines = printed("T", names, [row, row], width=width)
    assert max(map(len, lines)) <= width
    for letter in "a日本語":
        assert sum(line.count(letter) for line in lines[1:]) >= 4 * words.count(letter)


def test_names_are_neither_pictures_nor_markup(capsys):
    console.say(":one: [b]")
    console.print_table(":two: [i]", ["a :three: [u]", "n [s]"], [[":four: [dim]", 1]])
    told = "".join(capsys.readouterr())
    for name in (":one: [b]", ":two: [i]", "a :three: [u]", "[s]", ":four: [dim]"):
        assert name in told


def test_a_terminal_obeys_no_name(capsys):
    console.say("\x1b[31mred")
    console.print_table("\x1b[1m", ["a\x1b[2m"], [["\x1b[3m"]])
    assert "\x1b" not in "".join(capsys.readouterr())


def test_what_a_bar_is_of_is_taken_literally(monkeypatch):
    text = io.StringIO()
    monkeypatch.setattr(console, "err", Console(file=text, width=80, force_terminal=True, emoji=False))
    with console.one_bar() as move:
        move(1, 2, ":five: [red]")
    assert ":five: [red]" in text.getvalue()


def test_a_reader_that_has_gone_is_no_disagreement(fit_file):
    """`bnpzoo … | head` with its pipe closed before anything is written."""
    command = [sys.executable, "-m", "bnpzoo", "topics", str(fit_file)]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.returncode == console.ExitCode.CLOSED_PIPE == 141
    assert not done.stderr
