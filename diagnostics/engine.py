"""Where the laboratory's and the experiments' work is done: in processes here, or on a cluster of Dask."""

from collections.abc import Iterable, Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from joblib import Parallel, parallel_config

from ..zoo.inference import cluster_at

if TYPE_CHECKING:
    from distributed import Client


@contextmanager
def on_cluster(cluster: "str | Client") -> Iterator[None]:
    """Let joblib, and with it the replications of `sbc`, run on a cluster meanwhile.

    A worker may be lost: what it was at is done again, by another one.

    Parameters
    ----------
    cluster : str or distributed.Client
        As for `sample`.

    Raises
    ------
    ClusterError, ImportError, ValueError
        As of `cluster_at`.
    """
    with cluster_at(cluster) as client, parallel_config("dask", client=client):
        yield


def unordered(
    tasks: Iterable[Any],
    n_jobs: int,
    cluster: "str | Client | None" = None,
    pre_dispatch: str = "2 * n_jobs",
    backend: str | None = None,
) -> Iterator[Any]:
    """Results of tasks of joblib, as they come.

    Parameters
    ----------
    tasks : iterable
        Made by `joblib.delayed`; taken when there is somebody to begin with them.
    n_jobs : int
        Processes here; -1 for one a core. A cluster has as many as it has.
    cluster : str or distributed.Client, optional
    pre_dispatch : str
        How many tasks are taken ahead of their results.
    backend : str, optional
        Of joblib.

    Raises
    ------
    MemoryError
        A process was ended from outside, as an operating system does that runs out of memory.
    """
    with nullcontext() if cluster is None else on_cluster(cluster):
        try:
            yield from Parallel(n_jobs, backend, return_as="generator_unordered", pre_dispatch=pre_dispatch)(
                tasks
            )
        except BrokenProcessPool:
            raise MemoryError(
                "a process was ended from outside, as happens where memory runs out: fewer of them take less"
            ) from None
