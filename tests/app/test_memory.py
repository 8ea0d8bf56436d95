"""The program returns memory that it no longer needs to the system, whichever thread allocated the memory."""

import platform
import subprocess
import sys

import pytest

RESIDENT = """
import threading
import numpy as np
from lfno.app.memory import return_freed_memory, trim
from lfno.cli.allocator import keep_freed_memory

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

keep_freed_memory()  # as every command does
if {release}:
    assert return_freed_memory()
held, kept = [], []

def work():
    for _ in range(200):
        held.append(np.ones(12_500))  # 100 kB
        kept.append(np.ones(10))  # small things that stay lie between large ones that go

before = resident()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
held.clear()
if {release}:
    trim()
print(resident() - before)
"""


def growth(release: bool) -> int:
    """Return by how many kilobytes a process has grown after it allocated and freed 160 MB."""
    told = subprocess.run([sys.executable, "-c", RESIDENT.format(release=release)], capture_output=True, text=True, check=True)
    return int(told.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library is told")
def test_freed_memory_returns() -> None:
    assert growth(release=False) > 100_000
    assert growth(release=True) < 30_000
