"""The identification recovers equations from their solutions by independent solvers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.data.dataset import Dataset
from lfno.identification.field_law import FieldLaw, identify_law
from lfno.identification.field_law.equation import Equation
from lfno.systems import ReactionDiffusion


def split(inputs, outputs, train=16):
    return (inputs[:train], outputs[:train]), (inputs[train:], outputs[train:])


@pytest.fixture(scope="module")
def diffusing():
    """Samples of y_t = 0.6 y_xx + 0.8 y² − f from the solver of the library, a polynomial Galerkin method."""
    system = ReactionDiffusion(D=0.6, k=0.8)
    forces = lfno.dataset("reaction-diffusion-rich", count=26, seed=3).inputs[:, 0]
    answers = system.solve(0.2 * forces, system.grid)
    return 0.2 * forces[:, None], answers, system.grid


def test_terms_and_coefficients_of_a_reaction_with_diffusion(diffusing):
    inputs, outputs, grid = diffusing
    law = identify_law(*split(inputs, outputs), grid)
    assert law.equation.order == 1
    assert law.equation.pairs == pytest.approx({"f": -1.0, "y_xx": 0.6, "y²": 0.8}, rel=2e-3)
    modes = law.small_signal_modes()
    true = ReactionDiffusion(D=0.6, k=0.8).linearised_poles()
    for pole in true[:3]:
        assert np.abs(modes.poles - pole).min() < 2e-3 * abs(pole)


def test_noise_of_one_per_cent_leaves_the_terms_and_widens_the_intervals(diffusing):
    inputs, outputs, grid = diffusing
    noise = np.random.default_rng(0).normal(size=outputs.shape)
    law = identify_law(*split(inputs, outputs + 0.01 * outputs.std() * noise), grid)
    assert set(law.equation.terms) == {"f", "y_xx", "y²"}
    for name, true in {"f": -1.0, "y_xx": 0.6, "y²": 0.8}.items():
        value, low, high = law.intervals[name]
        assert value == pytest.approx(true, rel=0.02)
        assert abs(value - true) < high - low


def test_a_bistable_rod_with_free_ends_by_finite_differences():
    """y_t = 0.2 y_xx + y − y³ + f, solved by the method of lines on a grid nine times finer."""
    fine, points, t = 361, 41, 0.1 * np.arange(40)
    x = np.linspace(0, 4, fine)
    generator = np.random.default_rng(1)
    inputs, outputs = [], []
    for _ in range(22):
        a, b, c = generator.uniform(-3, 3, 3)

        def force(time, a=a, b=b, c=c):
            return (a * np.sin(1.3 * time) + b * np.cos(np.pi * x / 4) * np.sin(2.1 * time)) + c * np.cos(np.pi * x / 2) * time

        def rate(time, y, force=force):
            mirrored = np.concatenate([y[1:2], y, y[-2:-1]])
            return 0.2 * np.diff(mirrored, 2) / (x[1] ** 2) + y - y**3 + force(time)

        solution = solve_ivp(rate, (0, t[-1]), np.zeros(fine), t_eval=t, method="LSODA", lband=1, uband=1, rtol=1e-8, atol=1e-8)
        inputs.append(np.stack([force(time)[::9] for time in t], axis=-1))
        outputs.append(solution.y[::9])
    grid = Grid((Axis("x", points, 0.1, boundary="free"), Axis("t", 40, 0.1, time=True)))
    law = identify_law(*split(np.stack(inputs)[:, None], np.stack(outputs)[:, None]), grid)
    assert law.basis == "cosine"
    assert law.equation.pairs == pytest.approx({"f": 1.0, "y": 1.0, "y_xx": 0.2, "y³": -1.0}, rel=0.01)


def test_the_order_in_time_of_a_beam_is_found():
    data = lfno.dataset("beam-rich", count=24)
    law = identify_law(*split(data.inputs, data.outputs), data.grid)
    assert law.equation.order == 2
    assert set(law.equation.terms) == {"f", "y_xxxx"}


def test_the_file_gives_the_same_answer_and_the_parts_add_up(diffusing, tmp_path):
    inputs, outputs, grid = diffusing
    law = identify_law(*split(inputs, outputs), grid)
    law.save(tmp_path / "law.safetensors")
    again = FieldLaw.load(tmp_path / "law.safetensors")
    answer = law.predict(inputs[:2])
    assert np.array_equal(again.predict(inputs[:2]), answer)
    transient, steady = law.decompose(inputs[:2])
    assert transient + steady == pytest.approx(answer, abs=1e-12)
    finer = grid.change("x", size=99, step=grid["x"].step / 2)
    shape = np.sin(np.pi * finer["x"].points / finer["x"].points[-1])
    force = shape[:, None] * np.sin(grid["t"].points)
    coarse = law.predict(force[None, None, ::2], grid)
    assert law.predict(force[None, None], finer)[..., ::2, :] == pytest.approx(coarse, abs=1e-6)


def test_wrong_data_raise_an_error(diffusing):
    inputs, outputs, grid = diffusing
    moved = outputs + outputs.std() * np.sin(np.arange(26)[:, None, None, None] + np.pi * np.linspace(0, 1, 50)[:, None])
    with pytest.raises(LfnoError, match="start from different fields"):
        identify_law(*split(inputs, moved), grid)
    for still in (0.0, 1.0):
        with pytest.raises(LfnoError, match="does not move"):
            identify_law(*split(inputs, np.full_like(outputs, still)), grid, basis="cosine")
    with pytest.raises(LfnoError, match="are zero"):
        identify_law(*split(0 * inputs, outputs), grid)
    equation = Equation(1, ("y_xx", "f"), np.ones(2))
    law = FieldLaw(equation, "sine", np.zeros(8), grid, np.zeros((2, 2)), np.ones(8))
    with pytest.raises(LfnoError, match="shape"):
        law.predict(inputs[0])
    with pytest.raises(LfnoError, match="long"):
        law.predict(inputs, grid.change("x", step=2 * grid["x"].step))


def test_fit_keeps_the_equation_of_a_field_and_trains_no_network(diffusing, tmp_path):
    inputs, outputs, grid = diffusing
    model = lfno.fit(Dataset(inputs, outputs, grid), minutes=1)
    assert model.kind == "equation"
    assert [one.name for one in model.fitted.candidates] == ["linear", "equation"]
    assert "0.6 ∂²y/∂x²" in model.equation
    assert model.split_caveat == ""
    path = model.save(tmp_path / "field.safetensors")
    again = lfno.load(path)
    assert again.equation == model.equation
    assert np.array_equal(again.predict(inputs[:2]), model.predict(inputs[:2]))
    with pytest.raises(LfnoError, match="signals"):
        again.export("c", tmp_path / "field.c")
    with pytest.raises(LfnoError, match="no export of this model of fields"):
        again.export("torch", tmp_path / "field.pt2")
