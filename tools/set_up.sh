#!/bin/sh
# Make .venv where there is none that works, and install bnpzoo in it. Usage: tools/set_up.sh EXTRAS
set -eu
python=.venv/bin/python
has_uv() { uv --version >/dev/null 2>&1; }

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
    # uv finds or downloads a Python; without network it may fail where another is at hand.
    if ! { has_uv && uv venv --clear --python '>=3.12,<3.15,!=3.13.0' .venv; }; then
        found=$(sh tools/find_python.sh)
        echo "Making .venv with $found"
        "$found" -m venv --clear .venv
    fi
fi

if has_uv; then
    uv pip install --python "$python" --editable ".[$1]"
else
    "$python" -m pip install --disable-pip-version-check --editable ".[$1]"
fi
