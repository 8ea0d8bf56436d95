"""A connection with time limits, so that a client that sends very slowly cannot occupy a thread for ever."""

from __future__ import annotations

import io
import socket
import time
from typing import Any

IDLE = 60.0  # s; longest time without a byte between two requests
REQUEST = 20.0  # s; longest time from the first to the last byte of a request


class TimedReader(io.RawIOBase):
    """Read from a socket until a deadline.

    The first byte of a request must arrive within `idle` seconds, and the whole request within `request` seconds after
    the first byte. Reading raises TimeoutError after the deadline, even if single bytes still arrive.
    """

    def __init__(self, connection: socket.socket, idle: float = IDLE, request: float = REQUEST) -> None:
        self.connection, self.idle, self.request = connection, idle, request
        self.begun = False
        self.until = time.monotonic() + idle

    def await_request(self) -> None:
        """Set the deadline for the first byte of the next request."""
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
        self.connection.settimeout(self.request)  # limit for sending the answer
        return count
