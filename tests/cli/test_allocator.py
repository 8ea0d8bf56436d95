"""Arrays that are allocated and freed in every step get their memory pages from the system only once."""

import platform
import subprocess
import sys

import pytest

FAULTS = """
import resource, torch
from lfno.cli.allocator import keep_freed_memory
if {keep}:
    assert keep_freed_memory()
def steps():
    for _ in range(20):
        torch.ones(12_000_000)  # 48 MB
steps()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
steps()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(keep: bool) -> int:
    told = subprocess.run([sys.executable, "-c", FAULTS.format(keep=keep)], capture_output=True, text=True, check=True)
    return int(told.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library is told")
def test_pages_are_asked_for_once() -> None:
    assert faults(keep=True) < 0.1 * faults(keep=False)
