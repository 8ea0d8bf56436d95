"""A linear system whose sensor has a curved characteristic: derivatives, exact recovery, units and storage."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lfno.core.grid import Grid
from lfno.data.stretches import Stretch
from lfno.identification.feedback import FeedbackModel, fit_feedback
from lfno.identification.feedback.candidate import Bench
from lfno.identification.feedback.initial import signal_scales, single
from lfno.identification.feedback.law import Law, split
from lfno.identification.feedback.problem import Point, Problem
from lfno.identification.feedback.sensor import sensors
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.feedback.windows import cut

STEP = 0.5
POLES = np.array([-0.3 + 0j, -0.2 + 1.1j])


def law(terms: Terms, outputs: int = 1) -> Law:
    """Return a law with one decay, one oscillation, two inputs and curved sensors."""
    draw = np.random.default_rng(1)
    drive = draw.normal(size=(2, 2)) + 1j * draw.normal(size=(2, 2)) * [[0], [1]]
    return Law(
        POLES, drive, np.zeros((3, terms.count)), draw.normal(size=(terms.signals, 3)), draw.normal(size=terms.shapes),
        draw.normal(size=(outputs, 3)), np.zeros((outputs, 2)), np.zeros(outputs), np.zeros(3),
        np.tile([-1e9, 1e9], (terms.signals, 1)), terms, 0.3 * draw.normal(size=(outputs, terms.count)),
    )  # fmt: skip


def linear_output(terms: Terms, sensor: list[float]) -> Law:
    """Return a law with one sensor. The sensor measures the signal z, the output of the linear part, with an RMS near one."""
    own = law(terms)
    size = float(np.std([one.outputs for one in simulated(law(Terms(1)), held(4, 320, 0))]))
    read = own.read / size
    return replace(own, read=read, pick=read, sensor=np.array([sensor]))


def held(count: int, size: int, seed: int) -> np.ndarray:
    """Return inputs (count, 2, size) that keep each random value for eight samples."""
    return np.repeat(np.random.default_rng(seed).normal(size=(count, 2, size // 8)), 8, axis=-1)


def simulated(own: Law, inputs: np.ndarray, scale: float = 1.0) -> list[Stretch]:
    """Return stretches with the outputs of a law, multiplied by `scale`. The inputs are constant between samples."""
    model = FeedbackModel(
        own, Structure(1, 1, own.terms, sensor=True), np.zeros(2), Grid.line(inputs.shape[-1], STEP), "zero", STEP,
        np.zeros((own.terms.signals, 2)), np.zeros((1, 1)), np.zeros(len(own.read)),
    )  # fmt: skip
    return [Stretch(u, scale * y, start="rest") for u, y in zip(inputs, model.predict(inputs), strict=True)]


@pytest.mark.parametrize(
    ("terms", "outputs"),
    [(Terms(1, powers=((2,), (3,)), knees=(0,)), 1), (Terms(2, powers=((2, 0), (0, 3)), knees=(0, 1, 1)), 2)],
)
def test_the_jacobian_equals_finite_differences(terms: Terms, outputs: int) -> None:
    own = law(terms, outputs)
    data = [Stretch(one.inputs, one.outputs) for one in simulated(own, held(2, 40, 0))]
    windows = cut(data, STEP, signal_scales(data), "linear")
    structure = Structure(1, 1, terms, sensor=True)
    problem = Problem(windows, structure, own)
    point = Point(structure.pack(own), 0.1 * np.random.default_rng(0).normal(size=(len(windows), 3)))
    found = problem.jacobian(point, problem.states(point))
    for k in range(len(point.vector)):
        nudge = 1e-6 * np.eye(len(point.vector))[k]
        ends = [problem.residual(Point(point.vector + sign * nudge, point.starts)) for sign in (1, -1)]
        assert np.abs((ends[0] - ends[1]) / 2e-6 - found[..., k]).max() < 1e-7 * (1 + np.abs(found[..., k]).max())
    for k in range(3):
        nudge = 1e-6 * np.eye(3)[k]
        ends = [problem.residual(Point(point.vector, point.starts + sign * nudge)) for sign in (1, -1)]
        assert np.abs((ends[0] - ends[1]) / 2e-6 - found[..., len(point.vector) + k]).max() < 1e-7 * (1 + np.abs(found).max())


def test_a_polynomial_sensor_is_found_exactly(tmp_path: Path) -> None:
    """The true law has two inputs and a scaled output. The model has the same poles, outputs and characteristic."""
    own = linear_output(Terms(1, powers=((2,), (3,))), [0.3, -0.1])
    train, validation, test = (simulated(own, held(4, 320, seed), 50.0) for seed in (1, 2, 3))
    model = fit_feedback(train, validation, Grid.line(320, STEP), seconds=1e6)
    assert model.structure.sensor
    assert model.hold == "zero"
    for pole in POLES:
        assert np.abs(model.small_signal_modes().poles - pole).min() < 1e-5
    model.save(tmp_path / "sensor.safetensors")
    again = FeedbackModel.load(tmp_path / "sensor.safetensors")
    for one in test:
        assert np.abs(again.predict(one.inputs[None])[0] - one.outputs).max() < 1e-5 * np.abs(one.outputs).max()
    force, output, lower, upper = again.characteristic()
    rest = [-np.linalg.solve(own.matrix, split(own.drive.T, 1)[channel]) for channel in range(2)]
    curves = [50 * own.outputs(force[:, None] * state, np.zeros((len(force), 2)))[:, 0] for state in rest]
    assert min(np.abs(curve - output).max() for curve in curves) < 1e-4 * np.abs(output).max()
    assert np.all(upper >= lower)


def test_knees_describe_a_saturating_sensor() -> None:
    data = simulated(linear_output(Terms(1), []), held(6, 320, 4))
    data = [Stretch(one.inputs, np.tanh(one.outputs), start="rest") for one in data]
    bench = Bench(cut(data[:4], STEP, signal_scales(data), "zero"), cut(data[4:], STEP, signal_scales(data), "zero"))
    linear = bench.fit("linear", replace(law(Terms(1)), sensor=None), Structure(1, 1, Terms(1)), "zero")
    assert linear.error > 0.1
    assert min(one.error for one in sensors(bench, linear, lambda text: None)) < 0.01


def test_a_nearly_double_decay_becomes_one_decay() -> None:
    poles = np.array([-1.0 + 1e-7j, -0.5 + 2j, -0.3 + 0j])
    assert single(poles).tolist() == [-1.0, -0.5 + 2j, -0.3]
