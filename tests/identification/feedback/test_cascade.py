"""The search finds the parameters of a cascade of filter, nonlinearity and filter from data without noise."""

import numpy as np

from lfno.identification.feedback.blocks import Blocks, Screen
from lfno.identification.feedback.branches import cascade_law, nonlinearities
from lfno.identification.feedback.candidate import Bench
from lfno.identification.feedback.cascade import branched
from lfno.identification.feedback.initial import signal_scales
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.windows import cut
from tests.identification.feedback.systems import multisines, solved, stretches

#: sampling step in seconds
STEP = 0.2
#: poles of the front filter of `wiener_hammerstein`
FRONT = np.array([-0.6 + 1.2j])
#: pole of the back filter of `wiener_hammerstein`
BACK = np.array([-0.5 + 0j])


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
    error, blocks = screen.refined(Blocks(1.4 * FRONT, np.array([[0.0, 1.0]]), 0.7 * BACK), 12)
    assert error < 0.02
    assert np.abs(blocks.front / FRONT - 1).max() < 0.05
    assert np.abs(blocks.back / BACK - 1).max() < 0.05
    shapes = next(nonlinearities(screen, blocks))
    assert shapes[0][0].names[:2] == ["z^2", "z^3"]
    law = cascade_law(screen, blocks, shapes)
    found = bench.fit("cascade", law, Structure(1, 1, law.terms), "linear", tolerance=1e-6)
    assert found.error < 1e-5
    for pole in (*FRONT, *BACK):
        assert np.abs(found.law.poles - pole).min() < 1e-5
    sizes = np.abs(found.law.gains).max(0)
    assert np.all(sizes[2:] < 1e-3 * sizes[1])  # the nonlinearity has the degree three


def two_branches(x: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the rate of (z, z′, w, y₁, y₁′, y₂) for two parallel cascades with the output y₁ + y₂.

    z″ + 1.2 z′ + 1.8 z = u,  y₁″ + 0.4 y₁′ + 3 y₁ = z + z²/2   and   w′ + 0.4 w = u,  y₂′ + 0.5 y₂ = tanh(w/2)/2.
    """
    z, rate, slow, y, speed, other = x.T
    first, second = z + 0.5 * z**2, np.tanh(0.5 * slow)
    change = [rate, u - 1.2 * rate - 1.8 * z, u - 0.4 * slow]
    return np.stack([*change, speed, first - 0.4 * speed - 3 * y, 0.5 * second - 0.5 * other], axis=1)


def test_two_branches_are_found_and_their_law_has_the_same_outputs() -> None:
    force = multisines(6, 300, STEP, 2.5, 0)
    states = solved(two_branches, np.zeros((6, 6)), force, STEP)
    data = stretches(force, states[:, 3:4] + states[:, 5:6])
    windows = cut(data, STEP, signal_scales(data), "linear")
    screen = Screen(windows)
    front, back = np.array([-0.4 + 0j, -0.6 + 1.2j]), np.array([-0.5 + 0j, -0.2 + 1.72j])
    one = Blocks(1.2 * front, np.array([[0.0, 1.0, 0.0]]), 0.9 * back)
    two = min(branched(screen, one), key=screen.error)
    error, blocks = screen.refined(two, 12)
    assert error < 0.1 * screen.refined(one, 12)[0]
    assert error < 0.01
    law = cascade_law(screen, blocks, next(nonlinearities(screen, blocks)))
    structure = Structure(law.decays, len(law.poles) - law.decays, law.terms, rank_one=False)
    bench = Bench(windows, windows)
    # the law has the curves of the fast fit, so it is good before its own fit
    assert bench.fit("start", law, structure, "linear", iterations=0).error < 0.05
    assert bench.fit("fit", law, structure, "linear", iterations=8).error < 0.01


def test_the_slopes_are_the_derivatives_of_the_squared_error() -> None:
    force = multisines(4, 300, STEP, 2.5, 1)
    data = stretches(force, solved(wiener_hammerstein, np.zeros((4, 3)), force, STEP)[:, 2:])
    screen = Screen(cut(data, STEP, signal_scales(data), "linear"))
    blocks = Blocks(1.3 * FRONT, np.array([[0.2, 1.0]]), 0.8 * BACK)
    vector = blocks.pack()
    found = screen.slopes(vector, blocks).T @ screen.residual(vector, blocks)
    for place, nudge in enumerate(1e-5 * np.eye(len(vector))):
        ends = [(screen.residual(vector + sign * nudge, blocks) ** 2).sum() / 2 for sign in (1, -1)]
        assert abs((ends[0] - ends[1]) / 2e-5 - found[place]) < 1e-3 * np.abs(found).max()
