"""`python -m lfno`: the command line, for torchrun and for machines without scripts on their path."""

from lfno.cli import main

main()
