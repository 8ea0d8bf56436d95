"""A model has a caveat exactly if its split into transient and steady is not physical."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.evaluation.caveat import NOT_PHYSICAL, SPLIT_WRONG, lasting_caveat, split_caveat
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.models.storage import SHIPPED
from lfno.systems import REGISTRY

GRID = lfno.Grid.line(64, dt=0.1)


def trained_on(name: str) -> lfno.LFNO:
    model = lfno.LFNO(GRID, width=2, modes=4, n_poles=2, steady="exact")
    model.provenance = {"data": {"name": name}}
    return model


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("duffing-c05", "one shape of forcing (duffing-c05)"),
        ("heat", "one shape of forcing (heat)"),
        ("duffing-c0-rich", "the system is not damped"),
        ("beam-rich", "the system is not damped"),
        ("burgers-rich", "started and not driven"),
    ],
)
def test_training_data_that_do_not_determine_the_split(name: str, reason: str) -> None:
    caveat = split_caveat(trained_on(name))
    assert caveat.startswith(NOT_PHYSICAL)
    assert reason in caveat


@pytest.mark.parametrize("name", ["duffing-c05-rich", "pendulum-c05-rich", "heat-rich", "somebody's own data"])
def test_exact_layers_trained_on_varied_forcing_of_a_damped_system_need_no_caveat(name: str) -> None:
    assert split_caveat(trained_on(name)) == ""


def test_the_caveat_states_the_measured_error_of_a_wrong_split() -> None:
    model = trained_on("heat-rich")
    model.provenance["split_errors"] = {"prediction": 0.01, "steady": 0.25, "transient": 0.2}
    assert split_caveat(model).startswith(SPLIT_WRONG)
    assert "25 %" in split_caveat(model)
    model.provenance["split_errors"] = {"prediction": 0.01, "steady": 0.015, "transient": 0.015}
    assert split_caveat(model) == ""


def test_shipped_models_of_random_inputs_contain_the_errors_of_their_split() -> None:
    """The names of data sets with random inputs end in -rich."""
    found = {name: lfno.load(name) for name in ("heat-rich", "duffing-c05-rich", "reaction-diffusion-rich-lfno")}
    assert all(set(model.provenance["split_errors"]) == {"prediction", "steady", "transient"} for model in found.values())
    wrong = found["reaction-diffusion-rich-lfno"]
    assert wrong.split_caveat.startswith(SPLIT_WRONG)
    assert wrong.provenance["split_caveat"] == wrong.split_caveat
    assert not found["heat-rich"].split_caveat


def test_networks_without_a_physical_split() -> None:
    assert "free parameters" in split_caveat(lfno.LFNO(GRID, width=2, modes=4, n_poles=2, steady="residual"))
    assert "no poles" in split_caveat(lfno.FNO(GRID, width=2, modes=4))


def test_a_model_file_contains_the_caveat_in_its_provenance(tmp_path: Path) -> None:
    saved = lfno.Surrogate([trained_on("duffing-c05")]).save(tmp_path / "one.safetensors")
    assert lfno.load(saved).provenance["split_caveat"].startswith(NOT_PHYSICAL)
    saved = lfno.Surrogate([trained_on("duffing-c05-rich")]).save(tmp_path / "rich.safetensors")
    assert "split_caveat" not in lfno.load(saved).provenance


def test_a_linear_model_of_one_forcing_shape_has_a_caveat() -> None:
    modes = Modes(np.array([-1 + 2j]), np.ones((1, 1, 1), complex), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    model = lfno.Surrogate([ModalModel(modes, np.zeros(1), np.zeros(1), GRID, {"data": {"name": "heat"}})])
    assert "one shape of forcing (heat)" in model.split_caveat
    with pytest.warns(UserWarning, match=NOT_PHYSICAL):
        model.decompose(np.zeros(64))


def test_every_shipped_model_of_one_forcing_shape_has_a_caveat() -> None:
    for file in SHIPPED.glob("*.safetensors"):
        if file.stem in REGISTRY and not file.stem.endswith("-rich"):
            model = lfno.load(file)
            assert model.split_caveat.startswith(NOT_PHYSICAL), file.stem
            assert model.provenance["split_caveat"].startswith(NOT_PHYSICAL), file.stem


def test_the_flag_damped_agrees_with_the_equation() -> None:
    """After a short push, the motion decays if and only if the system is damped."""
    for name in ("duffing-c0", "duffing-c05", "pendulum-c05"):
        entry = REGISTRY[name]
        system = entry.system(**entry.parameters)
        push = lambda t: np.where(t < 1, np.sin(np.pi * t) ** 2, 0.0)  # noqa: E731
        x = system.solve(push, lfno.Grid.line(2048, dt=0.02))[0, 0]
        late, early = np.abs(x[-400:]).max(), np.abs(x[200:600]).max()
        assert (late < 0.1 * early) == system.damped


@pytest.mark.parametrize(("rate", "fades"), [(1.0, True), (1e-3, False)])
def test_a_transient_of_a_slow_pole_has_not_faded_at_the_end(rate: float, fades: bool) -> None:
    """x′ = −rate x + 1 from rest: the steady part is 1/rate, the transient part −e^(−rate t)/rate."""
    t = np.linspace(0, 20, 200)
    transient = -np.exp(-rate * t) / rate
    assert (lasting_caveat(transient, transient + 1 / rate) == "") is fades
