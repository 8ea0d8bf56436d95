"""The search finds the parameters of a cascade of filter, nonlinearity and filter from data without noise."""

import numpy as np

from lfno.identification.feedback.blocks import Blocks, Screen
from lfno.identification.feedback.candidate import Bench
from lfno.identification.feedback.cascade import cascade_law, nonlinearities
from lfno.identification.feedback.initial import signal_scales
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.windows import cut
from tests.identification.feedback.systems import multisines, solved, stretches

STEP = 0.2
FRONT, BACK = np.array([-0.6 + 1.2j]), np.array([-0.5 + 0j])


def wiener_hammerstein(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the rate of (z, z′, y) for z″ + 1.2 z′ + 1.8 z = u and y′ = z + 0.4 z² − 0.3 z³ − 0.5 y."""
    z, rate, y = x.T
    return np.stack([rate, u - 1.2 * rate - 1.8 * z, z + 0.4 * z**2 - 0.3 * z**3 - 0.5 * y], axis=1)


def test_a_cascade_is_found_from_rough_poles() -> None:
    force = multisines(6, 300, STEP, 2.5, 0)
    data = stretches(force, solved(wiener_hammerstein, np.zeros((6, 3)), force, STEP)[:, 2:])
    scales = signal_scales(data)
    bench = Bench(cut(data[:4], STEP, scales, "linear"), cut(data[4:], STEP, scales, "linear"))
    screen = Screen(bench.train)
    error, blocks = screen.refined(Blocks(1.4 * FRONT, np.array([0.0, 1.0]), 0.7 * BACK), 12)
    assert error < 0.02
    assert np.abs(blocks.front / FRONT - 1).max() < 0.05
    assert np.abs(blocks.back / BACK - 1).max() < 0.05
    terms, shape, gains, slope = next(nonlinearities(screen, blocks))
    assert terms.names[:2] == ["z^2", "z^3"]
    law = cascade_law(screen, blocks, terms, shape, gains, slope)
    found = bench.fit("cascade", law, Structure(1, 1, terms), "linear", tolerance=1e-6)
    assert found.error < 1e-5
    for pole in (*FRONT, *BACK):
        assert np.abs(found.law.poles - pole).min() < 1e-5
    sizes = np.abs(found.law.gains).max(0)
    assert np.all(sizes[2:] < 1e-3 * sizes[1])  # the nonlinearity has the degree three
