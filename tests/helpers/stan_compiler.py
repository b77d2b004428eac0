"""The C++ compiler, for Stan programs: it reads Stan's header once, which is a third of what they take.

Run in place of the compiler, as `environment` says. What it makes is the same.
"""

import fcntl
import hashlib
import os
import shlex
import subprocess
import sys
from pathlib import Path

HEADER = "#include <stan/model/model_header.hpp>\n"


def environment(folder: Path) -> dict[str, str]:
    """Variables with which PyStan takes this compiler; the header, of some 800 MB, is kept in `folder`.

    Or in that which the variable ``STAN_HEADER_IN`` names.
    """
    if "STAN_COMPILER" in os.environ:  # it is taken already
        return {}
    folder = Path(os.environ.get("STAN_HEADER_IN", folder))
    folder.mkdir(parents=True, exist_ok=True)
    return {
        "STAN_HEADER_IN": str(folder),
        "STAN_COMPILER": os.environ.get("CXX", "g++"),
        "CXX": shlex.join([sys.executable, __file__]),
    }


def main(arguments: list[str]) -> int:
    """Compile or link as told."""
    compiler = shlex.split(os.environ["STAN_COMPILER"])
    if "-c" in arguments:
        start, output = arguments.index("-c"), arguments.index("-o")
        options = [*arguments[:start], *arguments[start + 2 : output], *arguments[output + 2 :]]
        arguments = ["-include", str(_header(compiler, options)), *arguments]
    return subprocess.call([*compiler, *arguments])


def _header(compiler: list[str], options: list[str]) -> Path:
    """Header beside which there is one precompiled with `options`; one process makes it, others wait."""
    folder = Path(os.environ["STAN_HEADER_IN"])
    version = subprocess.check_output([*compiler, "--version"], text=True)
    own = [option for option in options if not (option.startswith("-I") and "httpstan/models" in option)]
    digest = hashlib.sha256("\n".join([version, *own]).encode()).hexdigest()[:16]
    header = folder / digest / "header.hpp"
    with (folder / f"{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not header.exists():
            header.parent.mkdir(exist_ok=True)
            source = header.with_suffix(".cpp")
            source.write_text(HEADER, encoding="utf-8")
            target = header.with_suffix(".hpp.gch")
            subprocess.check_call([*compiler, *own, "-x", "c++-header", str(source), "-o", str(target)])
            source.rename(header)
    return header


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
