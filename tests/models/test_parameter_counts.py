"""The numbers of parameters equal the published tables, in which a complex parameter counts once."""

from functools import partial

import pytest

from lfno import FNO, LFNO, LNO, Grid
from lfno.paper.cost import count_parameters

GRID = Grid.line(2048, dt=0.01)
PAPER_LFNO = {"width": 4, "n_poles": 16, "modes": 16, "activation": "relu"}


@pytest.mark.parametrize(
    ("model", "once", "real"),
    [
        # lift 8, poles and residues 2·4·4·16, channel map W 20, projection 769 (4 → 128 → 1 channels)
        (lambda: LNO(GRID, width=4, n_poles=16, activation="sin"), 1309, 1309 + 512),
        # lift 8, four transient layers (532 each, with W), two steady layers (256 each), projection 769
        *(
            (partial(LFNO, GRID, layout=layout, steady=steady, **PAPER_LFNO), 3417, 3417 + 4 * 512 + 2 * 256)
            for layout in ("branches", "sequence")
            for steady in ("shared", "free")
        ),
        (lambda: FNO(GRID, width=16, modes=4, grid_channels=True), 7537, 7537 + 4 * 1024),
        (lambda: FNO(GRID, width=4, modes=16), 1881, 1881 + 4 * 256),
        (lambda: FNO(GRID, width=4, modes=16, grid_channels=True), 1885, 1885 + 4 * 256),
    ],
)
def test_counts_of_the_published_tables(model, once, real):
    assert count_parameters(model()) == {"complex_once": once, "real": real}


def test_shared_poles_are_counted_once_for_all_pairs_of_channels():
    pairs = count_parameters(LNO(GRID, width=6, n_poles=5))["complex_once"]
    shared = count_parameters(LNO(GRID, width=6, n_poles=5, share_poles=True))["complex_once"]
    assert pairs - shared == 5 * (6 * 6 - 1)
