"""The server returns freed memory to the operating system, also memory that threads allocated."""

import platform
import subprocess
import sys

import pytest

#: a program whose threads allocate and free 160 MB; it prints by how many kilobytes its memory has grown
PROGRAM = """
import threading
import numpy as np
from lfno.app.memory import return_freed_memory, trim
from lfno.cli.allocator import keep_freed_memory

def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS"))

keep_freed_memory()  # the command line does this, too
if {release}:
    assert return_freed_memory()
held, kept = [], []

def work():
    for _ in range(200):
        held.append(np.ones(12_500))  # 100 kB
        kept.append(np.ones(10))  # small arrays that are not freed lie between the large arrays

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
    """Return the growth of the memory in kilobytes, with or without `return_freed_memory` and `trim`."""
    told = subprocess.run([sys.executable, "-c", PROGRAM.format(release=release)], capture_output=True, text=True, check=True)
    return int(told.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library has the setting")
def test_freed_memory_is_returned() -> None:
    assert growth(release=False) > 100_000
    assert growth(release=True) < 30_000
