#!/bin/sh
# Print the path of a Python that can run all of bnpzoo, Stan included: 3.12 to 3.14, with venv and pip.
# Looks for python3.14 ... python3.12 and python3 in every directory of PATH, then at pyenv's versions.

# A candidate may be a shim that exists and does not run, so each is tried. 3.13.0 has a bug that breaks PyStan.
usable() {
    "$1" -c '
import ensurepip, sys, venv
version = sys.version_info[:3]
sys.exit(not (3, 12) <= version < (3, 15) or version == (3, 13, 0))' >/dev/null 2>&1
}

try() {
    if [ -x "$1" ] && usable "$1"; then
        "$1" -c 'import sys; print(sys.executable)'
        exit 0
    fi
}

for name in python3.14 python3.13 python3.12 python3; do
    IFS=:
    for directory in $PATH; do
        try "$directory/$name"
    done
    unset IFS
done

for minor in 14 13 12; do
    for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.$minor.*/bin/python3; do
        try "$candidate"
    done
done

echo "bnpzoo needs Python 3.12 to 3.14 (not 3.13.0) with venv: install uv (https://docs.astral.sh/uv) or Python from https://www.python.org/downloads" >&2
exit 1
