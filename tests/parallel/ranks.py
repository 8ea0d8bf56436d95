"""Start processes as torchrun does, but from a server that has already imported torch."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path
from typing import Any

from tests.faults import victims


def free_port() -> int:
    """Return a free TCP port of this machine."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def launch(count: int, folder: Path, dies_in: int | None = None, **changes: Any) -> list[Any]:
    """Start `count` processes of one run, and return them. dies_in: the epoch in which the second process kills itself."""
    port = free_port()
    work = [train] if dies_in is None else [dying, dies_in]
    return [victims.start(victims.telling, folder.with_suffix(f".{rank}"), *work, rank, count, port, folder, changes)
            for rank in range(count)]  # fmt: skip


def dying(epoch: int, rank: int, *arguments: Any) -> None:
    """Run `train`, but the second process kills itself (SIGKILL) in epoch `epoch`."""
    from lfno.training.loop import Trainer

    step = Trainer._pass

    def last(self: Trainer) -> None:
        if self.epoch == epoch and not self.tasks[0].name.startswith("pilot"):
            os.kill(os.getpid(), signal.SIGKILL)
        step(self)

    if rank == 1:
        Trainer._pass = last  # type: ignore[method-assign]
    train(rank, *arguments)


def train(rank: int, count: int, port: int, folder: Path, changes: dict[str, Any]) -> None:
    """Train as process number `rank` of `count` processes."""
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    victims.train(folder, **changes)
