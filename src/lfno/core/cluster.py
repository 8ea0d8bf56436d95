"""Run jobs on a Dask cluster and collect the files of each job. The machines of the cluster need no shared disk.

If a worker dies, Dask gives its job to another worker. A job that raises an error is tried again, at most RETRIES times.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from lfno.core.errors import LfnoError
from lfno.core.tensorfile import write_atomically

RETRIES = 2  # times: a job that raises an error is tried again this often, because a machine may fail for a moment

Job = TypeVar("Job")
Work = Callable[[Any, Path], object]  # (job, folder): writes the files of the job into subfolders of the folder


def spread(
    address: str, work: Work, jobs: Sequence[Job], targets: Mapping[str, Path]
) -> Iterator[tuple[Job, list[Path]]]:
    """Run jobs on a cluster and yield each job with the paths of its files, as soon as it is finished.

    address: the address of the Dask scheduler, as "tcp://127.0.0.1:8786".
    work: the function that runs a job on a worker.
    jobs: the jobs; they must be picklable.
    targets: a folder on this machine for each subfolder that `work` writes to: `{"records": Path("results")}`.

    If all attempts of a job fail, the other jobs continue, and LfnoError is raised at the end. LfnoError is raised at the first
    step of the iteration if Dask is not installed, if the scheduler cannot be reached, or if the scheduler has no workers.
    """
    try:
        from distributed import Client, as_completed
    except ImportError as error:
        raise LfnoError("--scheduler needs Dask: install it with pip install 'lfno[cluster]'") from error
    try:
        client = Client(address, timeout=10, set_as_default=False)
    except (OSError, ValueError) as error:
        raise LfnoError(f"there is no Dask scheduler at {address}: start one with `dask scheduler`") from error
    failed: list[str] = []
    with client:
        if not client.scheduler_info()["workers"]:
            raise LfnoError(f"the scheduler at {address} has no workers: start some with `dask worker {address} --nthreads 1`")
        futures = {client.submit(_files, work, job, key=f"lfno-{os.urandom(8).hex()}", retries=RETRIES): job for job in jobs}
        for future in as_completed(futures, loop=client.loop):
            try:
                found = future.result()
            except Exception as error:  # any error of a worker; the other jobs continue
                failed.append(f"{futures[future]}: {str(error).splitlines()[0] if str(error) else type(error).__name__}")
                continue
            paths = []
            for name, content in found.items():
                kind, _, rest = name.partition("/")
                paths.append(targets[kind] / rest)
                write_atomically(paths[-1], content)
            yield futures[future], paths
            future.release()
    if failed:
        raise LfnoError(f"{len(failed)} of {len(jobs)} jobs failed on the cluster; the first: {failed[0]}")


def _files(work: Work, job: Any) -> dict[str, bytes]:
    """Run a job in a temporary folder of a worker. Return the contents of the files that the job wrote, by relative path."""
    with TemporaryDirectory(prefix="lfno-") as folder:
        work(job, Path(folder))
        found = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}
