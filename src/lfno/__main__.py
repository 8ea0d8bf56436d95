"""Run the command line as `python -m lfno`.

torchrun starts lfno in this form. The form also works if the script `lfno` is not on the path.
"""

from lfno.cli import main

main()
