"""A connection that must get on: bytes that trickle in do not hold a thread for ever."""

from __future__ import annotations

import io
import socket
import time
from typing import Any

IDLE = 60.0  # seconds that a connection may be silent between two requests
REQUEST = 20.0  # seconds from the first byte of a request to its last


class TimedReader(io.RawIOBase):
    """Reads from a socket until a deadline: IDLE seconds for the first byte of a request, then REQUEST for all of it.

    Raises TimeoutError when the deadline has passed, however often single bytes arrive.
    """

    def __init__(self, connection: socket.socket, idle: float = IDLE, request: float = REQUEST) -> None:
        self.connection, self.idle, self.request = connection, idle, request
        self.begun = False
        self.until = time.monotonic() + idle

    def await_request(self) -> None:
        """Start to wait for the next request."""
        self.begun, self.until = False, time.monotonic() + self.idle

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("the request took too long")
        self.connection.settimeout(left)
        count = self.connection.recv_into(buffer)
        if not self.begun:
            self.begun, self.until = True, time.monotonic() + self.request
        self.connection.settimeout(self.request)  # for the answer
        return count
