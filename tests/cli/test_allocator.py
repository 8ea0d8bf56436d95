"""`keep_freed_memory`: an array that is allocated and freed in every step gets new memory pages only in the first step."""

import platform
import subprocess
import sys

import pytest

#: a program that prints the number of page faults (memory pages that the system hands out) of 20 steps
PROGRAM = """
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


def page_faults(keep: bool) -> int:
    """Return the number of page faults with or without `keep_freed_memory`."""
    told = subprocess.run([sys.executable, "-c", PROGRAM.format(keep=keep)], capture_output=True, text=True, check=True)
    return int(told.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library has the setting")
def test_kept_memory_causes_fewer_page_faults() -> None:
    assert page_faults(keep=True) < 0.1 * page_faults(keep=False)
