"""A cluster of Dask: found by its address or made here, and whether its machines are like this one."""

import logging
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from ..._version import __version__
from ...kernels.toolbox.jit import CACHE_DIRECTORY

if TYPE_CHECKING:
    from distributed import Client

CONNECT_SECONDS = 5.0
"""How long a scheduler may take to answer."""

JOIN_SECONDS = 30.0
"""How long a first worker may take to join; a cluster that grows on demand starts one only then."""

OURS = {"set_as_default": False}
"""What the user computes with Dask, perhaps by xarray, stays where it was."""

EXPECTED = "expected local, local:N, tcp://HOST:PORT or the file of a scheduler"


class ClusterError(OSError):
    """A cluster cannot be used, or is lost; the message is one line and says why."""


def dask_library() -> Any:
    """Return Dask's library of clusters, which is optional."""
    try:
        import distributed
    except ImportError:
        raise ImportError("a cluster needs the library distributed: pip install 'bnpzoo[dask]'") from None
    return distributed


def software() -> dict[str, str]:
    """Versions on which the bits of draws depend, where this is called."""
    return {
        "bnpzoo": __version__,
        "the source of its kernels": CACHE_DIRECTORY.name,
        "numba": numba.__version__,
        "numpy": np.__version__,
    }


def check_software(there: Mapping[str, str], here: Mapping[str, str], worker: str) -> None:
    """Raise `ClusterError` where a worker has other versions."""
    for name, version in here.items():
        if there.get(name) != version:
            raise ClusterError(
                f"dask: worker {worker}: {name} is {there.get(name)} there and {version} here; "
                "draws would not have the same bits"
            )


@contextmanager
def cluster_at(address: "str | Client") -> Iterator["Client"]:
    """Connect to a cluster, see that its workers have this software, and part from it at the end.

    Parameters
    ----------
    address : str or distributed.Client
        ``tcp://HOST:PORT`` of a scheduler, or the file that it has written; or ``local:N``: a cluster of N
        processes on this machine, by default one a core, which is closed at the end. Or a client, which
        stays connected.

    Yields
    ------
    distributed.Client

    Raises
    ------
    ClusterError
        There is no such cluster, or it has no workers, or other software.
    ImportError
        The library is not installed.
    ValueError
        That is no address.
    """
    dask_library()
    if not isinstance(address, str):
        if not hasattr(address, "scheduler"):
            raise ValueError(f"cluster: expected an address or a client of Dask, found {address!r}")
        _check_workers(address, str(address.scheduler and address.scheduler.address))
        yield address
        return
    with ExitStack() as stack:
        client = _connected(address, stack)
        _check_workers(client, address)
        yield client


def check_address(address: str) -> None:
    """Raise the ValueError or ImportError of `cluster_at` for what can be seen without a connection."""
    dask_library()
    kind, _, number = address.partition(":")
    if kind == "local" and not (address == kind or (number.isdecimal() and int(number) > 0)):
        raise ValueError(f"dask: expected a number of processes after local:, found {number!r}")
    if kind != "local" and "://" not in address and not Path(address).is_file():
        raise ValueError(f"dask: {EXPECTED}, found {address!r}")


def _connected(address: str, stack: ExitStack) -> "Client":
    check_address(address)
    distributed = dask_library()
    kind, _, number = address.partition(":")
    if kind == "local":
        local = distributed.LocalCluster(
            n_workers=int(number or os.cpu_count() or 1),
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,  # a worker that is ended for its memory would only begin again
            silence_logs=logging.CRITICAL,
        )
        client = stack.enter_context(distributed.Client(stack.enter_context(local), **OURS))
        client.register_plugin(_deaf_to_interrupts())
        return client
    where = {"address": address} if "://" in address else {"scheduler_file": address}
    try:
        client = distributed.Client(**where, **OURS, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, KeyError, TypeError, AssertionError) as error:  # of a wrong file as well
        raise ClusterError(f"dask: {address}: no scheduler answers: {_line(error)}") from None
    stack.callback(_part, client)
    return client


def _part(client: "Client") -> None:
    """Close a connection; where the scheduler is lost, whoever needed it has said so."""
    with suppress(OSError):
        client.close(timeout=CONNECT_SECONDS)


def _deaf_to_interrupts() -> Any:
    """Make a plugin for workers of this terminal, whose Ctrl-C is for the run, and not for them."""

    class Deaf(dask_library().WorkerPlugin):
        def setup(self, worker: Any) -> None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    return Deaf()


def _check_workers(client: "Client", address: str) -> None:
    """Have each worker tell its software; the first call also waits for one to join."""
    try:
        client.submit(software, pure=False).result(timeout=JOIN_SECONDS)
        found: Any = client.run(software)
    except TimeoutError:
        raise ClusterError(f"dask: {address}: no worker has joined within {JOIN_SECONDS:.0f} s") from None
    except Exception as error:  # whatever a machine says that has no bnpzoo, or another one
        raise ClusterError(
            f"dask: {address}: the scheduler and all workers need the same bnpzoo as here: {_line(error)}"
        ) from None
    for worker, there in found.items():
        check_software(there, software(), worker)


def _line(error: Exception) -> str:
    """Return the innermost reason, in one line."""
    reason: BaseException = error
    while reason.__cause__ is not None:
        reason = reason.__cause__
    return str(reason).partition("\n")[0] or type(reason).__name__
