"""Makes of PyStan what CmdStan is: a compiler, and an executable that samples one chain.

`stan_engines` starts this file as a script, in a process of its own. PyStan's own interface is an HTTP server
that forks its chains, keeps every fit it ever made, compiles into the current folder, and has no draws to
show before the last; so this goes past it to the extension modules that httpstan compiles.
"""

import asyncio
import contextlib
import importlib.util
import io
import json
import os
import socket
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import TextIO

SAMPLER = "hmc_nuts_diag_e_adapt"
DRAW = b'{"version":1,"topic":"sample","values":{'
LOG = b'{"version":1,"topic":"logger"'
FLAGS = ["-std=c++17", "-O3", "-g0", "-w"]
"""As httpstan's own, without the symbols for a debugger that Python's flags ask for: a third of the time."""

WRITERS = 4
"""Connections that Stan opens: for messages, initial values, draws and diagnostics."""


def build(source: Path) -> None:
    """Compile a Stan program to an extension module beside it."""
    import httpstan.cache
    import httpstan.models

    folder = source.parent
    os.chdir(folder)  # setuptools leaves its intermediate files in the current folder
    httpstan.cache.cache_directory = lambda: folder / "httpstan"
    # Where standard error is no file httpstan leaves alone what the compiler writes there.
    with contextlib.redirect_stderr(io.StringIO()):
        program = source.read_text(encoding="utf-8")
        asyncio.run(httpstan.models.build_services_extension_module(program, FLAGS))
    (module,) = (path for path in folder.glob("httpstan/models/*/*") if path.suffix in EXTENSION_SUFFIXES)
    module.rename(source.with_suffix(".so"))


def sample(compiled: Path, order: Path, chain: int, draws: Path) -> int:
    """Sample one chain; write its draws as CSV, and messages to standard output; return Stan's status."""
    from httpstan.services import arguments

    module = _load(compiled)
    job = json.loads(order.read_text(encoding="utf-8"))
    given = job["settings"] | {"chain": chain, "data": job["data"], "init": {}}
    names = arguments.function_arguments(SAMPLER, module)
    defaults = {
        name: arguments.lookup_default(arguments.Method["SAMPLE"], name)
        for name in names
        if name not in given
    }
    os.chdir(draws.parent)  # so that the path of the socket is short: it may have about a hundred bytes
    draws = Path(draws.name)
    path = draws.with_suffix(".sock")
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server,
        draws.open("w", encoding="ascii") as file,
    ):
        server.bind(str(path))
        server.listen(WRITERS)
        listener = Thread(target=_listen, args=(server, Draws(file, job["names"])), daemon=True)
        listener.start()
        status = getattr(module, f"{SAMPLER}_wrapper")(socket_filename=str(path), **given, **defaults)
        listener.join()
    return status


def _load(compiled: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("stan_services", compiled)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Draws:
    """Writes draws as CSV, of which only some columns are wanted, each as soon as it comes.

    Parameters
    ----------
    file : text file
    names : list of str
        Variables that are wanted.
    """

    def __init__(self, file: TextIO, names: list[str]):
        self._file = file
        self._names = set(names)
        self._columns: list[str] = []

    def write(self, values: dict[str, float]) -> None:
        """Write one draw, and before the first the names of the columns."""
        if not self._columns:
            self._columns = [name for name in values if name.partition(".")[0] in self._names]
            self._write_line(self._columns)
        self._write_line([repr(float(values[name])) for name in self._columns])

    def _write_line(self, cells: list[str]) -> None:
        self._file.write(",".join(cells) + "\n")
        self._file.flush()


def _listen(server: socket.socket, draws: Draws) -> None:
    """Take in what Stan writes, until it has closed all its connections."""
    threads = []
    for _ in range(WRITERS):
        connection, _ = server.accept()
        threads.append(Thread(target=_read, args=(connection, draws)))
        threads[-1].start()
    for thread in threads:
        thread.join()


def _read(connection: socket.socket, draws: Draws) -> None:
    with connection, connection.makefile("rb") as lines:
        for line in lines:
            if line.startswith(DRAW):
                draws.write(json.loads(line)["values"])
            elif line.startswith(LOG):
                print(json.loads(line)["values"][0].partition(":")[2], flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "build":
        build(Path(sys.argv[2]))
    else:
        sys.exit(sample(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), Path(sys.argv[5])))
