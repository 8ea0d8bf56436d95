"""Modes with intervals: 95 % intervals contain the true values in 95 % of records. Free decays need no input."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import lfilter

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.identify import Modes, identify
from lfno.identification.mode import merge_coinciding, mode_list
from lfno.identification.modes import free_modes, linearised_modes, modes
from lfno.identification.probe import input_band, random_forces
from lfno.systems import Duffing, Lorenz, Pendulum

#: number of simulated records in each test of the intervals
RECORDS = 200
#: a linear system with two modes
TRUE = Modes(np.array([-0.15 + 3j, -0.4 + 7j]), np.array([[[-0.3j, -0.2j]]]), np.zeros((1, 1)), np.ones(2), 0.0, "linear")


def physics(poles):
    """Return frequency in Hz and damping ratio of each pole, (poles, 2), slowest pole first."""
    poles = np.sort_complex(1j * np.asarray(poles)) / 1j
    poles = poles[np.argsort(poles.imag)]
    return np.stack([poles.imag / (2 * np.pi), -poles.real / np.abs(poles)], axis=1)


def covered(found, poles):
    """Return whether the intervals of frequency and damping of each mode contain the true values, (modes, 2) of bool."""
    found = sorted(found, key=lambda mode: mode.frequency)
    intervals = np.array([[mode.frequency_interval, mode.damping_interval] for mode in found])
    truth = physics(poles)
    return (intervals[..., 0] <= truth) & (truth <= intervals[..., 1])


@pytest.mark.parametrize("colour", [0.0, 0.9])
def test_95_percent_intervals_cover_the_truth_in_95_percent_of_forced_records(colour):
    """Each record has 50 s and 10 % noise: white, or with a correlation of 0.9 from sample to sample."""
    grid, hits = Grid.line(1000, dt=0.05), []
    for record in range(RECORDS):
        draw = np.random.default_rng(record)
        force = draw.normal(size=(1, 1, 1000))
        motion = TRUE.simulate(force, 0.05)
        noise = lfilter([1.0], [1.0, -colour], draw.normal(size=motion.shape))
        noisy = motion + 0.1 * motion.std() * np.sqrt(1 - colour**2) * noise
        hits.append(covered(mode_list(identify(force, noisy, grid, poles=TRUE.poles, hold="linear")), TRUE.poles))
    share = np.mean(hits, axis=0)
    assert 0.92 <= np.mean(share) <= 0.98
    assert share.min() > 0.90  # one quantity in 200 records: three standard deviations below 95 %


class TwoMasses:
    """A chain from the ground: a mass of 10 kg, then a mass of 6 kg. The force acts on the mass of 10 kg.

    springs: 14 kN/m and 9 kN/m
    dampers: 30 N s/m and 12 N s/m
    """

    mass = np.diag([10.0, 6.0])
    stiffness = np.array([[23e3, -9e3], [-9e3, 9e3]])
    damping = np.array([[42.0, -12.0], [-12.0, 12.0]])

    def __init__(self):
        inverse = np.linalg.inv(self.mass)
        self.matrix = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ self.stiffness, -inverse @ self.damping]])
        values = np.linalg.eigvals(self.matrix)
        self.poles = values[values.imag > 0]

    def decay(self, size, step):
        """Return both displacements (channels, time) after an impulse on the mass of 10 kg."""
        state, advance, path = np.array([0.0, 0.0, 0.1, 0.0]), expm(self.matrix * step), []
        for _ in range(size):
            path.append(state[:2])
            state = advance @ state
        return np.array(path).T


@pytest.mark.parametrize("channels", [1, 2])
def test_a_free_decay_without_input_gives_both_modes(channels):
    """Ten seconds at 100 Hz with 1 % noise and an offset give the frequency to 0.5 % and the damping to 5 %."""
    system = TwoMasses()
    np.testing.assert_allclose(physics(system.poles), [[4.12, 0.0246], [8.90, 0.0440]], rtol=2e-3)
    clean = system.decay(1000, 0.01)[None, :channels]
    for seed in range(5):
        noise = 0.01 * clean.std(axis=(0, 2), keepdims=True) * np.random.default_rng(seed).normal(size=clean.shape)
        found = free_modes(clean + noise + 0.1 * clean.max(), Grid.line(1000, dt=0.01))
        assert len(found) == 2
        seen = np.array([[mode.frequency, mode.damping_ratio] for mode in sorted(found, key=lambda m: m.frequency)])
        assert np.abs(seen / physics(system.poles) - 1).max(axis=0) == pytest.approx([0, 0], abs=0.05)
        assert np.abs(seen[:, 0] / physics(system.poles)[:, 0] - 1).max() < 0.005


def test_95_percent_intervals_of_free_decays():
    system, hits = TwoMasses(), []
    clean = system.decay(500, 0.01)[None, :1]
    for seed in range(RECORDS):
        noise = 0.05 * clean.std() * np.random.default_rng(seed).normal(size=clean.shape)
        found = free_modes(clean + noise, Grid.line(500, dt=0.01), max_modes=2)
        hits.append(covered(found[:2], system.poles))
    assert 0.92 <= np.mean(hits) <= 0.98


def test_the_modes_of_a_linear_system_are_found_and_no_others():
    grid = Grid.line(3000, dt=0.05)
    draw = np.random.default_rng(1)
    force = draw.normal(size=(1, 1, 3000))
    motion = TRUE.simulate(force, 0.05)
    found = modes(force, motion + 0.05 * motion.std() * draw.normal(size=motion.shape), grid)
    assert len(found) == 2
    assert covered(found, TRUE.poles).mean() >= 0.75


def test_small_signal_modes_of_a_pendulum_and_of_lorenz_about_its_fixed_point():
    """The modes are the eigenvalues of the equations, linearised about the equilibrium that the system reaches."""
    grid = Grid.line(512, dt=0.04)
    pendulum, lorenz = Pendulum(c=0.5), Lorenz(rho=5)
    found = linearised_modes(lambda x: pendulum.solve(x[:, 0], grid), grid, (0.05, 1.0), 1e-3, settle=0.0)
    assert found.poles == pytest.approx([-0.25 + 1j * np.sqrt(1 - 0.25**2)], rel=1e-4)
    found = linearised_modes(lambda x: lorenz.solve(x[:, 0], grid), grid, (0.05, 2.0), 1e-3, settle=0.5)
    beta, x = 8 / 3, np.sqrt(8 / 3 * 4)
    true = np.linalg.eigvals([[-10, 10, 0], [1, -1, -x], [x, x, -beta]])
    assert found.poles[0] == pytest.approx(true[true.imag > 0][0], rel=1e-3)
    assert found.poles[1] == pytest.approx(true[true.imag == 0][0], rel=0.02)


@pytest.mark.parametrize("damping", [1.9, 2.0, 2.0001, 2.01, 3.0])
def test_modes_near_critical_damping(damping):
    """A damping c below 2 gives one oscillation, and c above 2 gives two decays.

    Two nearly equal decays are listed as one mode with a damping ratio of 1.
    """
    grid, system = Grid.line(512, dt=0.04), Duffing(c=damping)
    found = linearised_modes(lambda x: system.solve(x[:, 0], grid), grid, (0.05, 1.0), 1e-3, settle=0.0)
    assert found.contributions.max() < 10
    assert found.error < 1e-4
    if abs(damping - 2) < 0.001:
        [pole] = found.poles
        assert pole == pytest.approx(-1, abs=0.02)
    else:
        assert np.sort_complex(found.poles) == pytest.approx(np.sort_complex(system.linearised_poles()), rel=1e-4)


def test_modes_with_the_same_pole_are_merged():
    """The merged mode has the response of both modes. Two modes with different shapes at the same pole are not merged."""
    parts = [-0.3j, -0.1j]
    poles = np.array([-0.15 + 3j, -0.1501 + 3.0001j])
    split = Modes(poles, np.array([[parts]]), np.zeros((1, 1)), np.array([0.75, 0.25]), 0.0, "linear",
                  covariance=np.full((2, 2, 2), 1e-8))  # fmt: skip
    merged = merge_coinciding(split)
    force = np.random.default_rng(0).normal(size=(1, 1, 1000))
    assert len(merged.poles) == 1
    assert merged.contributions == pytest.approx([1.0])
    np.testing.assert_allclose(merged.simulate(force, 0.05), split.simulate(force, 0.05), atol=2e-3)
    shapes = np.moveaxis(np.array([np.diag([1, 0]), np.diag([0, 1])]), 0, -1) * -0.3j
    twins = Modes(poles, shapes, np.zeros((2, 2)), np.ones(2), 0.0, "linear", covariance=np.zeros((2, 2, 2)))
    assert len(merge_coinciding(twins).poles) == 2


def test_errors_of_a_response_add_no_modes():
    """The response has an error of 4 % at other frequencies. With the known accuracy, only the true modes are strong."""
    lie = Modes(np.array([-0.3 + 4.5j]), np.array([[[-0.3j]]]), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    grid = Grid.line(1000, dt=0.05)
    forces = random_forces(4, 1, 1000, 0.05, (0.05, 2.0))
    truth, wrong = TRUE.simulate(forces, 0.05), lie.simulate(forces, 0.05)
    share = 0.04 * np.linalg.norm(truth) / np.linalg.norm(wrong)

    def respond(force):
        return TRUE.simulate(force, 0.05) + share * lie.simulate(force, 0.05)

    found = linearised_modes(respond, grid, (0.05, 2.0), 1.0, settle=0.0, accuracy=0.05)
    strong = found.poles[found.contributions > 0.05]
    assert len(strong) == 2
    assert np.abs(np.sort(strong.imag) / TRUE.poles.imag - 1).max() < 0.02


def test_the_band_of_a_chirp():
    t = 0.01 * np.arange(4000)
    low, high = input_band(np.sin(2 * np.pi * (1 + 0.1 * t) * t), 0.01)  # from 1 to 9 Hz
    assert 1 < low < 2.5
    assert 7 < high < 9


def test_inputs_constant_in_time_have_the_whole_band():
    assert input_band(np.ones((3, 2, 100)), 0.01) == (0.0, 50.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: free_modes(np.zeros((1, 8)), Grid.line(8, dt=0.1)), "samples, channels, time"),
        (lambda: linearised_modes(np.zeros_like, Grid.line(512, dt=0.1), (0.1, 1.0), 1.0), "zero or not finite"),
        (lambda: linearised_modes(np.zeros_like, Grid.line(512, dt=0.1), (9.0, 10.0), 1.0), "holds no frequency"),
        (lambda: linearised_modes(np.zeros_like, Grid.line(512, dt=0.1), (0.1, 1.0), -1.0), "positive amplitude"),
    ],
)
def test_bad_arguments_raise_an_error(call, words):
    with pytest.raises(LfnoError, match=words):
        call()


def test_indistinguishable_poles_are_merged_and_cancelling_pairs_are_not() -> None:
    poles, wide = np.array([-0.001 + 5.37j, -0.001 + 5.40j]), np.full((2, 2, 2), 0.0)
    wide[:, 1, 1] = 100.0
    fit = Modes(poles, np.array([[[1.0 - 3j, -1.0 + 0.6j]]]), np.zeros((1, 1)), np.array([0.2, 0.1]), 0.0, "linear")
    assert len(mode_list(replace(fit, covariance=wide))) == 1
    assert len(mode_list(replace(fit, covariance=1e-6 * wide))) == 2
    pair = replace(fit, residues=np.array([[[1.0 + 0j, -0.99 + 0j]]]), covariance=wide)
    assert len(mode_list(pair)) == 2


def test_a_weak_mode_with_an_uncertain_pole_is_not_listed() -> None:
    poles, shares = np.array([-0.2 + 3j, -0.1]), np.array([0.98, 0.02])
    fit = Modes(poles, np.ones((1, 1, 2), complex), np.zeros((1, 1)), shares, 0.0, "linear")
    wide = np.zeros((2, 2, 2))
    wide[1, 0, 0] = 1e4
    assert [round(mode.contribution, 2) for mode in mode_list(replace(fit, covariance=wide), 0.01)] == [0.98]


def test_intervals_of_uncertain_modes_stay_within_possible_values() -> None:
    """The interval of a time constant follows from the interval of the decay rate. It is unbounded if the rate can be zero."""
    poles = np.array([-0.5 + 3j, -0.5 + 0.1j, 0.5 + 3j, -0.2 + 0j])
    widths = np.array([0.1, 0.4, 0.4, 1e5])
    covariance = widths[:, None, None] ** 2 * np.eye(2)
    fit = Modes(poles, np.ones((1, 1, 4)) + 0j, np.zeros((1, 1)), np.ones(4), 0.0, "linear", covariance=covariance)
    sure, slow, growing, decay = mode_list(fit)
    np.testing.assert_allclose(sure.time_constant_interval, [1 / (0.5 + 0.1959964), 1 / (0.5 - 0.1959964)])
    np.testing.assert_allclose(slow.time_constant_interval, [1 / (0.5 + 4 * 0.1959964), np.inf])
    np.testing.assert_allclose(growing.time_constant_interval, [-np.inf, 1 / (-0.5 - 4 * 0.1959964)])
    assert decay.time_constant_interval[0] > 0
    assert slow.frequency_interval[0] == 0
    assert 0 <= slow.damping_interval[0] < slow.damping_interval[1] <= 1
    assert mode_list(fit, stable=False)[2].damping_interval[0] < growing.damping_interval[0] == growing.damping_ratio
    assert slow.to_dict()["time_constant_interval"][1] is None
