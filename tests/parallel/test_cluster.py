"""Jobs on a Dask scheduler with three workers: all results arrive once, even if a worker is killed or a job fails."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lfno.core import cluster
from lfno.core.errors import LfnoError
from tests.faults import victims
from tests.parallel.ranks import free_port

distributed = pytest.importorskip("distributed")


def listens(address: str) -> bool:
    """Return whether a process listens at this address."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", int(address.rpartition(":")[2]))) == 0


@pytest.fixture
def three_workers(tmp_path):
    """Start a scheduler and three workers. Yield the address of the scheduler and the processes of the workers."""
    address = f"tcp://127.0.0.1:{free_port()}"
    environment = os.environ | {"OMP_NUM_THREADS": "1", "LFNO_CACHE": str(tmp_path / "cache")}
    root = Path(__file__).parents[2]
    environment["PYTHONPATH"] = os.pathsep.join([str(root), str(root / "src")])
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", address.rpartition(":")[2], "--no-dashboard"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment, "cwd": tmp_path}
    processes = [subprocess.Popen(scheduler, **quiet)]
    while not listens(address):
        assert processes[0].poll() is None, "the scheduler ended"
        time.sleep(0.05)
    processes += [subprocess.Popen(worker, **quiet) for _ in range(3)]
    try:
        with distributed.Client(address, timeout=victims.HANG, set_as_default=False) as client:
            client.wait_for_workers(3, timeout=victims.HANG)
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def note(job: int, folder: Path) -> None:
    """Wait half a second, then write one file. A negative job fails."""
    time.sleep(0.5)
    if job < 0:
        raise LfnoError(f"job {job} cannot be done")
    (folder / "notes").mkdir()
    (folder / "notes" / f"{job}.txt").write_text(str(os.getpid()))


@pytest.mark.long
def test_all_results_arrive_if_a_worker_is_killed(three_workers, tmp_path):
    address, workers = three_workers
    killer = kill_at_the_first("*.txt", tmp_path / "out", workers[0])
    done = [job for job, _ in cluster.spread(address, note, list(range(12)), {"notes": tmp_path / "out"})]
    killer.join()
    workers[0].wait()
    assert sorted(done) == list(range(12)), "a result is missing or came twice"
    assert sorted(int(path.stem) for path in (tmp_path / "out").iterdir()) == list(range(12))


@pytest.mark.long
def test_a_job_that_fails_does_not_stop_the_others(three_workers, tmp_path):
    address, _ = three_workers
    results = cluster.spread(address, note, [-1, 1, 2, 3], {"notes": tmp_path / "out"})
    assert sorted(next(results)[0] for _ in range(3)) == [1, 2, 3]
    with pytest.raises(LfnoError, match=r"1 of 4 jobs failed .* job -1 cannot be done"):
        next(results)


def kill_at_the_first(pattern: str, folder: Path, worker: subprocess.Popen[bytes]) -> threading.Thread:
    """Start a thread that kills a worker as soon as the first result has arrived. Return the thread."""

    def watch() -> None:
        while not list(folder.rglob(pattern)):
            time.sleep(0.02)
        worker.kill()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    return thread


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run an lfno command in a folder, and check that it succeeds."""
    command = [sys.executable, "-m", "lfno", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=victims.HANG)
    assert done.returncode == 0, done.stderr
    return done


@pytest.mark.long
def test_training_runs_on_a_cluster(three_workers, tmp_path):
    """`lfno reproduce --scheduler` finishes all runs although a worker is killed. The same command again has nothing to do."""
    address, workers = three_workers
    small = ["--epochs", "2", "--set", "width=2", "--set", "modes=4", "--set", "n_poles=2", "--device", "cpu"]
    tasks = ["--tasks", "duffing-c05,pendulum-c05,lorenz-rho5", "--models", "lfno,lno", "--seeds", "1"]
    command = ["reproduce", *tasks, *small, "--scheduler", address, "--out", "results"]
    killer = kill_at_the_first("*.json", tmp_path / "results", workers[1])
    first = run(tmp_path, *command)
    killer.join()
    assert workers[1].wait() != 0
    assert len(list((tmp_path / "results").rglob("*.json"))) == 6
    assert first.stderr.count("seed 0") == 6, "a result came twice"
    assert "0 of 6 runs to do" in run(tmp_path, *command).stderr


@pytest.mark.long
def test_data_sets_on_a_cluster(three_workers, tmp_path):
    """`lfno data make --scheduler` makes all data sets although a worker is killed. Their files equal those made locally."""
    address, workers = three_workers
    names = ["duffing-c0", "duffing-c05", "pendulum-c05", "lorenz-rho5", "lorenz-rho10", "heat", "beam"]
    command = ["data", "make", *names, "--count", "24", "--out"]
    killer = kill_at_the_first("*.h5", tmp_path / "there", workers[2])
    made = run(tmp_path, *command, "there", "--scheduler", address)
    killer.join()
    assert workers[2].wait() != 0
    assert f"{len(names)} of {len(names)}, 0 s left" in made.stderr, "a job is missing or came twice"
    assert made.stdout.count("exists already") == len(names), "a data set did not come from the cluster"
    run(tmp_path, *command, "here")
    assert len(list((tmp_path / "there").iterdir())) == len(names)
    for path in (tmp_path / "there").iterdir():
        assert path.read_bytes() == (tmp_path / "here" / path.name).read_bytes(), path.name


def test_a_missing_scheduler_gives_one_error_message(tmp_path, monkeypatch):
    monkeypatch.setattr(distributed, "Client", lambda *a, **k: (_ for _ in ()).throw(OSError("timed out")))
    with pytest.raises(LfnoError, match="no Dask scheduler at tcp"):
        list(cluster.spread("tcp://127.0.0.1:1", note, [1], {"notes": tmp_path}))
