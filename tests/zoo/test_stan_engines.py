"""What compiles and runs Stan programs: CmdStan, here one that compiles in no time, and PyStan."""

import importlib.metadata
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bnpzoo
import numpy as np
import pytest
from bnpzoo.zoo.inference import stan
from bnpzoo.zoo.inference.stan_chains import StanError, read_chain
from bnpzoo.zoo.inference.stan_engines import CmdStan, PyStan, StanMissing, find_stan

LDA = bnpzoo.get("lda", n_topics=2, alpha=0.4, eta=0.5)


@pytest.mark.stan
@pytest.mark.skipif(PyStan.find() is None, reason="needs PyStan and a C++ compiler")
@pytest.mark.slow
def test_pystan_compiles_where_nobody_looks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiled = PyStan.find().compile("parameters { real x; } model { x ~ normal(0, 1); }")
    assert {path.name for path in tmp_path.iterdir()} == {"cache"}
    assert {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()} == {
        compiled.name,
        f"{compiled.name}.lock",
    }


@pytest.mark.skipif(PyStan.find() is None, reason="needs PyStan and a C++ compiler")
@pytest.mark.parametrize(
    ("program", "compiler", "message"),
    [
        ("parameters { real x }", "g++", "Syntax error"),
        ("model { }", "false", "CompileError: Command .*'false'"),
    ],
)
def test_what_pystan_cannot_compile_is_told_in_one_line(tmp_path, monkeypatch, program, compiler, message):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CXX", compiler)
    with pytest.raises(StanError, match=message) as caught:
        PyStan(importlib.metadata.version("pystan")).compile(program)
    assert "\n" not in str(caught.value)


def test_without_stan_the_error_names_both_ways_to_get_it(monkeypatch):
    monkeypatch.setattr(CmdStan, "find", lambda: None)
    monkeypatch.setattr(PyStan, "find", lambda: None)
    with pytest.raises(StanMissing, match=r"install_cmdstan.*pystan"):
        find_stan()


def test_pystan_without_a_compiler_is_no_stan(monkeypatch):
    monkeypatch.setattr("bnpzoo.zoo.inference.stan_engines._installed", lambda distribution: "3.14.0")
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert PyStan.find() is None


def test_the_version_of_cmdstan_is_its_own(fake_cmdstan):
    assert find_stan() == CmdStan("2.36.0", fake_cmdstan.resolve())


@pytest.mark.parametrize("missing", ["bin/stanc", "makefile"])
def test_half_a_cmdstan_is_none(fake_cmdstan, missing):
    (fake_cmdstan / missing).unlink()
    assert CmdStan.find() is None


def test_cmdstan_is_compiled_for_once_and_again_when_it_changes(fake_cmdstan, micro, tmp_path):
    first = stan.run(LDA, micro, 0, 2, 10, 5, 0)
    again = stan.run(LDA, micro, 0, 2, 10, 5, 0)
    assert (first["draws"]["theta"] == again["draws"]["theta"]).all()
    assert (fake_cmdstan / "compiler.log").read_text() == "compiled\n"
    makefile = fake_cmdstan / "makefile"
    makefile.write_text(makefile.read_text().replace("2.36.0", "2.37.0"))
    newer = stan.run(LDA, micro, 0, 2, 10, 5, 0)
    assert newer["backend_version"] == "cmdstan 2.37.0"
    assert (fake_cmdstan / "compiler.log").read_text() == "compiled\ncompiled\n"
    names = sorted(path.name for path in (tmp_path / "cache" / "bnpzoo" / "stan").iterdir())
    assert [name.rpartition("-")[0] for name in names] == ["cmdstan-2.36.0", "cmdstan-2.37.0", ""]


def test_two_first_runs_at_once_compile_once(fake_cmdstan, micro, monkeypatch):
    monkeypatch.setenv("FAKE_COMPILER_SECONDS", "0.5")
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(stan.run, LDA, micro, 0, 1, 5, 5, seed) for seed in range(4)]
        assert all(run.result()["draws"]["theta"].shape == (1, 5, 3, 2) for run in runs)
    assert (fake_cmdstan / "compiler.log").read_text() == "compiled\n"


def test_cmdstan_gives_draws_of_full_precision_by_chain(fake_cmdstan, micro):
    result = stan.run(LDA, micro, 0, 2, 7, 6, 0)
    assert {name: values.shape for name, values in result["draws"].items()} == {
        "theta": (2, 6, 3, 2), "phi": (2, 6, 2, 3), "alpha": (2, 6, 1), "eta": (2, 6)
    }  # fmt: skip
    for name in ("theta", "phi"):
        np.testing.assert_allclose(result["draws"][name].sum(-1), 1.0, rtol=1e-15)
    assert (result["draws"]["theta"][0] != result["draws"]["theta"][1]).any()
    assert result["stats"]["diverging"].tolist() == [[False, False, True] * 2] * 2
    assert result["stats"]["n_steps"].tolist() == [[3, 1023] * 3] * 2
    assert (result["seconds"] > 0).all()
    assert result["compile_seconds"] > 0


def test_cmdstan_says_how_far_it_is_and_nothing_else(fake_cmdstan, micro, capfd):
    seen = {0: [], 1: []}
    stan.run(LDA, micro, 0, 2, 10, 10, 0, lambda chain, *report: seen[chain].append(report))
    for reports in seen.values():
        assert reports == [
            (0, 20, "compiling"),
            *((i, 20, "tuning") for i in range(1, 11)),
            *((i, 20, "") for i in range(11, 21)),
        ]
    assert capfd.readouterr() == ("", "")


def test_cmdstan_without_tuning(fake_cmdstan, micro):
    assert stan.run(LDA, micro, 0, 1, 0, 5, 0)["draws"]["phi"].shape == (1, 5, 2, 3)


def test_what_cmdstan_cannot_compile_is_told_in_one_line(fake_cmdstan):
    with pytest.raises(StanError, match=r"^Stan: the program does not compile: Syntax error in '.*', line 1"):
        find_stan().compile("no such block")


def test_a_compiler_that_is_not_there_is_told_in_one_line(fake_cmdstan, monkeypatch):
    monkeypatch.setenv("MAKE", "no-such-make")
    with pytest.raises(StanError, match="cannot run no-such-make: No such file"):
        find_stan().compile("model {")


def test_a_chain_that_fails_stops_the_others(fake_cmdstan, micro, monkeypatch):
    monkeypatch.setenv("FAKE_FAILS", "2")
    monkeypatch.setenv("FAKE_SECONDS", "1")
    start = time.monotonic()
    with pytest.raises(
        StanError, match=r"^Stan: chain 1 ended with status 1: Initialization .* 100 attempts\.$"
    ):
        stan.run(LDA, micro, 0, 2, 100, 100, 0)
    assert time.monotonic() - start < 60


INTERRUPTED = """
import os, signal
import numpy as np, bnpzoo
signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background may lack it

def tell(chain, done, *rest):  # in one write: chains report from threads of their own
    os.write(1, f"{{chain}} {{done}}\\n".encode())

corpus = bnpzoo.Corpus(np.array([0, 0, 1, 1, 2, 2]), np.array([0, 3, 4, 6]), n_words=3)
model = bnpzoo.get("lda", n_topics=2, alpha=0.4, eta=0.5)
run = {{"chains": 2, "tune": {tune}, "draws": 5000, "progress": tell}}
try:
    tree = bnpzoo.sample(model, corpus, "stan", **run)
except KeyboardInterrupt as stopped:
    print(stopped)
else:
    print("kept", tree.attrs["interrupted"], *tree["posterior"].sizes.values())
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("tune", [0, 5000])
@pytest.mark.slow
def test_a_signal_ends_the_chains_and_keeps_their_draws(fake_cmdstan, monkeypatch, tmp_path, number, tune):
    monkeypatch.setenv("FAKE_SECONDS", "0.02")
    command = [sys.executable, "-c", INTERRUPTED.format(tune=tune)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        started = set()
        for line in process.stdout:
            chain, done = line.split()
            started |= {chain} if int(done) >= 50 else set()
            if started == {"0", "1"}:
                break
        process.send_signal(number)
        *_, last = process.stdout.read().splitlines()
    assert process.returncode == 0
    if tune:
        assert last == "stopped before the first draw; nothing was kept"
    else:
        kept, interrupted, chains, draws = last.split()[:4]
        assert (kept, interrupted, chains) == ("kept", "1", "2")
        assert 50 <= int(draws) < 5000
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
    assert not any(str(tmp_path).encode() in line for line in running)


@pytest.mark.parametrize(
    ("written", "thin", "used", "draws"),
    [
        ((30, 30, 11, 0), 1, [0, 1], 30),
        ((30, 21, 20, 3), 1, [0, 1, 2], 20),
        ((2, 30, 30, 29), 3, [1, 2, 3], 9),
    ],
)
def test_of_chains_that_were_stopped_those_are_used_that_have_most_draws_together(
    fake_cmdstan, micro, monkeypatch, written, thin, used, draws
):
    """Chains that have drawn so far, as far as it is a draw when so many are one."""
    run = {"chains": 4, "tune": 5, "draws": 30 // thin, "thin": thin, "keep": 30}
    whole = bnpzoo.sample(LDA, micro, "stan", **run)
    _stop_after(written, monkeypatch)
    part = bnpzoo.sample(LDA, micro, "stan", **run)
    assert part.attrs["interrupted"] == 1
    assert part.attrs["left_out"] == ",".join(str(chain) for chain in range(4) if chain not in used)
    for group in ("posterior", "latents"):
        for name, values in part[group].data_vars.items():
            np.testing.assert_array_equal(values, whole[group][name].values[used, :draws])
    assert part["sample_stats"]["diverging"].equals(
        whole["sample_stats"]["diverging"][: len(used), :draws]  # the same in all chains
    )
    assert not {"interrupted", "left_out"} & {name for name, value in whole.attrs.items() if value}


def test_chains_that_have_drawn_less_than_a_draw_are_none(fake_cmdstan, micro, monkeypatch):
    _stop_after((2, 1), monkeypatch)
    with pytest.raises(KeyboardInterrupt, match="before the first draw"):
        bnpzoo.sample(LDA, micro, "stan", chains=2, tune=5, draws=5, thin=3)


def _stop_after(written, monkeypatch):
    """Let each chain have written so many draws, and no more."""
    read, lengths = read_chain, iter(written)

    def so_far(path, names):
        n = next(lengths)
        return {name: values[:n] for name, values in read(path, names).items()} if n else None

    monkeypatch.setattr(stan, "read_chain", so_far)


@pytest.mark.parametrize(
    ("text", "draws"),
    [("# a\n", None), ("lp__,x.1,x.2\n", None), ("lp__,x.1,x.2\n# b\n1,2,3\n1,4", [[2.0, 3.0]]),
     ("lp__,x.1,x.2\n0,nan,-inf\n0,0.1,2e-300\n", [[np.nan, -np.inf], [0.1, 2e-300]])],
)  # fmt: skip
def test_a_chain_is_read_as_far_as_it_has_written(tmp_path, text, draws):
    (tmp_path / "chain.csv").write_text(text)
    found = read_chain(tmp_path / "chain.csv", ("x",))
    assert found is draws is None or np.array_equal(found["x"], draws, equal_nan=True)
    assert read_chain(tmp_path / "none.csv", ("x",)) is None


def test_arrays_are_read_in_the_order_of_stan(tmp_path):
    (tmp_path / "chain.csv").write_text("y,x.1.1,x.2.1,x.1.2,x.2.2\n0,11,21,12,22\n")
    found = read_chain(tmp_path / "chain.csv", ("x", "y"))
    assert found["x"].tolist() == [[[11, 12], [21, 22]]]
    assert found["y"].tolist() == [0]
