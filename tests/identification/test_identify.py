"""The poles of known systems are recovered from responses that an independent method computes."""

import numpy as np
import pytest
from scipy.signal import lsim

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.identify import Modes, identify
from lfno.identification.response import HOLDS, interpolate, pole_response
from lfno.spectral.physics import describe_poles

from .oscillator import Oscillator, multisine

#: sampling step in seconds
STEP = 0.02
#: number of samples in a response
SIZE = 800
#: number of steps of the force in one sampling step
SUBSTEPS = 8


def worst(found: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """Return the largest relative errors of frequency and damping ratio, each true pole against the nearest found pole."""
    nearest = np.array([found[np.abs(found - pole).argmin()] for pole in true])
    is_, should = describe_poles(nearest), describe_poles(true)
    names = ("frequency", "damping_ratio")
    frequency, damping = (float(np.abs(is_[name] / should[name] - 1).max()) for name in names)
    return frequency, damping


@pytest.fixture(scope="module")
def smooth() -> tuple[np.ndarray, np.ndarray]:
    """Return fifty random multisines and the responses to them.

    The simulation has a time step eight times smaller than the returned data.
    """
    force = multisine(50, SIZE, STEP, seed=1, substeps=SUBSTEPS)
    return force[..., ::SUBSTEPS], Oscillator().respond(force, STEP, SUBSTEPS)


@pytest.mark.parametrize(("noise", "frequency", "damping"), [(0.0, 0.001, 0.01), (0.01, 0.01, 0.1)])
def test_two_modes_from_fifty_responses(
    smooth: tuple[np.ndarray, np.ndarray], noise: float, frequency: float, damping: float
) -> None:
    force, motion = smooth
    rng = np.random.default_rng(2)
    motion = motion + noise * motion.std((0, 2), keepdims=True) * rng.normal(size=motion.shape)
    modes = identify(force, motion, Grid.line(SIZE, STEP))
    assert len(modes.poles) == 2
    assert len(modes.path) == 2
    missed = worst(modes.poles, Oscillator().poles)
    assert missed[0] < frequency
    assert missed[1] < damping
    picked = [np.abs(modes.poles - pole).argmin() for pole in Oscillator().poles]
    assert np.abs(modes.shapes[:, picked] - Oscillator().shapes).max() < 1e-5 + 3 * noise


def test_an_input_that_is_linear_between_samples_is_recognised() -> None:
    force = np.random.default_rng(3).normal(size=(20, 2, 400))
    motion = Oscillator().respond(force, STEP)
    modes = identify(force, motion, Grid.line(400, STEP))
    assert modes.hold == "linear"
    assert max(worst(modes.poles, Oscillator().poles)) < 1e-9
    assert np.abs(modes.simulate(force, STEP) - motion).max() < 1e-10
    time = STEP * np.arange(300)
    impulse = np.einsum("oin,nt->oit", modes.residues, np.exp(np.outer(modes.poles, time))).real
    assert np.abs(impulse - Oscillator().impulse(300, STEP)).max() < 1e-9


def test_overdamped_system_and_direct_term() -> None:
    """One long record of u = f + 4 (e^{−t} − e^{−5t}) ∗ f gives two decays and a direct term."""
    force = np.random.default_rng(4).normal(size=(1, 1, 4000))
    time = 0.05 * np.arange(4000)
    motion = lsim(([16.0], [1.0, 6.0, 5.0]), force[0, 0], time)[1] + force[0, 0]
    modes = identify(force, motion[None, None], Grid.line(4000, 0.05))
    assert np.sort(modes.poles.real) == pytest.approx([-5.0, -1.0], rel=1e-6)
    assert (modes.poles.imag == 0).all()
    assert modes.direct == pytest.approx(1.0, rel=1e-6)


def test_given_poles_are_refined_and_none_is_added(smooth: tuple[np.ndarray, np.ndarray]) -> None:
    force, motion = smooth
    start = Oscillator().poles * 1.02
    modes = identify(force[:10], motion[:10], Grid.line(SIZE, STEP), poles=np.concatenate([start, start.conj()]))
    assert len(modes.poles) == 2
    assert max(worst(modes.poles, Oscillator().poles)) < 1e-3
    lower = identify(force[:10], motion[:10], Grid.line(SIZE, STEP), poles=start.conj())
    assert np.allclose(lower.poles, modes.poles)


def test_a_record_that_is_not_at_rest(smooth: tuple[np.ndarray, np.ndarray]) -> None:
    """The record is cut from the middle of a longer response. The warm-up is simulated and does not count in the error."""
    force = np.random.default_rng(5).normal(size=(1, 1, 9000))
    true = Modes(np.array([-0.5 + 4j]), np.full((1, 1, 1), 1.0 - 2j), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    motion = true.simulate(force, 0.05)[..., 3000:]
    modes = identify(force[..., 3000:], motion, Grid.line(6000, 0.05), warmup=1000)
    assert modes.poles == pytest.approx(true.poles, rel=1e-6)


@pytest.mark.parametrize("hold", HOLDS)
def test_derivative_of_a_pole_response(hold: str) -> None:
    pieces = interpolate(np.random.default_rng(6).normal(size=(2, 50)), 0.1, hold)
    pole, change = -0.3 + 2j, 1e-6
    ahead, behind = (pole_response(pole + sign * change, pieces, 0.1)[0] for sign in (1, -1))
    assert pole_response(pole, pieces, 0.1)[1] == pytest.approx((ahead - behind) / (2 * change), abs=1e-7)


def test_fields_are_refused() -> None:
    with pytest.raises(LfnoError, match="signals"):
        identify(np.zeros((2, 1, 4, 9)), np.zeros((2, 1, 4, 9)), Grid.line(9, 0.1))
    with pytest.raises(LfnoError, match="missing"):
        identify(np.full((2, 1, 9), np.nan), np.zeros((2, 1, 9)), Grid.line(9, 0.1))


def test_too_large_signals_and_too_fast_poles_are_refused() -> None:
    values = np.random.default_rng(7).normal(size=(2, 1, 60))
    with pytest.raises(LfnoError, match="beyond 1e100"):
        identify(values, 1e200 * values, Grid.line(60, 0.1))
    with pytest.raises(LfnoError, match=r"too fast for samples that are 0\.1 apart"):
        identify(values, values, Grid.line(60, 0.1), poles=np.array([-1e9 + 1j]))


def test_a_gap_does_not_disturb_the_modes(smooth: tuple[np.ndarray, np.ndarray]) -> None:
    """The poles are accurate although the values in the gap are wrong."""
    force, motion = smooth
    mask = np.ones(motion.shape, dtype=bool)
    mask[:, 1, SIZE // 3 : SIZE // 2] = False
    spoiled = np.where(mask, motion, 1e3)
    modes = identify(force, spoiled, Grid.line(SIZE, STEP), mask=mask)
    assert max(worst(modes.poles[:2], Oscillator().poles)) < 1e-4
    with pytest.raises(LfnoError, match="no moment"):
        identify(force, motion, Grid.line(SIZE, STEP), mask=np.zeros(SIZE, dtype=bool))


@pytest.mark.parametrize("hold", ["zero", "linear", "cubic"])
def test_the_steady_state_equals_the_response_after_many_repeats(hold: str) -> None:
    """The input jumps from its last sample to its first sample, so the interpolation between these two samples matters."""
    modes = Modes(np.array([-0.6 + 5j, -3.0]), np.array([[[1 - 0.3j, 2.0]]]), np.zeros((1, 1)), np.ones(2), 0.0, hold)
    force = np.random.default_rng(0).normal(size=(2, 1, 40))
    late = modes.simulate(np.tile(force, 30), 0.1)[..., -80:-40]
    np.testing.assert_allclose(modes.steady(force, 0.1), late, atol=1e-6 * np.abs(late).max())


def test_constant_offsets_of_input_and_output_add_no_modes() -> None:
    """One mode explains the whole motion for every offset of input and output."""
    grid = Grid.line(3000, dt=0.05)
    force = np.random.default_rng(0).normal(size=(1, 1, 3000))
    truth = Modes(np.array([-0.5 + 0j]), np.full((1, 1, 1), 0.5 + 0j), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    motion = truth.simulate(force + 5, 0.05) + 40
    found = identify(force + 5, motion, grid, warmup=400, constant=True)
    assert found.poles == pytest.approx([-0.5], rel=1e-3)
    assert found.contributions == pytest.approx([1.0], rel=0.02)
