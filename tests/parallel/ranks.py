"""Processes as torchrun starts them, from a server that has torch loaded."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

from tests.faults import victims


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def launch(count: int, folder: Path, **changes: Any) -> list[Any]:
    port = free_port()
    return [victims.start(victims.telling, folder.with_suffix(f".{rank}"), train, rank, count, port, folder, changes)
            for rank in range(count)]  # fmt: skip


def train(rank: int, count: int, port: int, folder: Path, changes: dict[str, Any]) -> None:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(count)}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    victims.train(folder, **changes)
