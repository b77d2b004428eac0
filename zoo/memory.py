"""Memory: what is asked for, what there is, and one line where it does not fit."""

import os
from collections.abc import Mapping
from pathlib import Path

UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


class TooLarge(ValueError):
    """Something would not fit into memory. The message is one line, and nothing has been allocated."""


def require_memory(needs: int | Mapping[str, int], what: str) -> None:
    """Raise `TooLarge` unless so much memory is available.

    Parameters
    ----------
    needs : int, or mapping of str to int
        Bytes, whole numbers of any size; or those of each part, by its name.
    what : str
        What was asked for, as the beginning of the message.
    """
    parts = needs if isinstance(needs, Mapping) else {"": needs}
    total, free = sum(parts.values()), available_memory()
    if total > free:
        largest = max(parts, key=lambda name: parts[name])
        mostly = f" (for {largest} {in_words(parts[largest])})" if largest else ""
        raise TooLarge(
            f"{what}: would take {in_words(total)} of memory{mostly}; {in_words(free)} are available"
        )


def available_memory() -> int:
    """Bytes that can be had without swapping: the system's, or what is left of the control group's limit.

    Where the system does not say what is free, all that the machine has; else no limit that matters.
    """
    return min(_of_system(), _of_control_group())


def in_words(n_bytes: int) -> str:
    """Return a number of bytes in the largest unit of which there is one, as in ``7.1 GiB``."""
    power = min(max(n_bytes.bit_length() - 1, 0) // 10, len(UNITS) - 1)
    count = n_bytes / 1024**power if n_bytes < 2**100 else n_bytes // 1024**power
    return f"{count:,.1f} {UNITS[power]}" if power and count < 1e6 else f"{count:,.0f} {UNITS[power]}"


def _of_system() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not a POSIX system
        return 2**62


def _of_control_group(folder: Path = Path("/sys/fs/cgroup")) -> int:
    """Return what is left to a container: version 2 of control groups, its own at the root."""
    try:
        limit = int((folder / "memory.max").read_text())
        used = int((folder / "memory.current").read_text())
    except (OSError, ValueError):  # no control groups, or the limit is "max"
        return 2**62
    return max(0, limit - used + _of_files(folder / "memory.stat"))


def _of_files(path: Path) -> int:
    """Return what a container holds of files and gives up where memory is asked for."""
    try:
        stat = dict(line.split() for line in path.read_text().splitlines())
        return int(stat["active_file"]) + int(stat["inactive_file"])
    except (OSError, ValueError, KeyError):
        return 0
