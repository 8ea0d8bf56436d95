"""`lfno fit` and `lfno train`: the errors and modes are right, and the folder of the run holds all files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.data.files import Variable
from lfno.data.files.write import write
from tests.cli.rig import SMALL, answer, call, signals, write_csv
from tests.identification.oscillator import Oscillator, multisine


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the record rig.csv and the folder `run` of a model fitted to the record."""
    folder = tmp_path_factory.mktemp("fit")
    write_csv(folder / "rig.csv", signals(3000))
    words = ["--window", 128, "--epochs", 2, *SMALL, "--ensemble", 2, "--quiet"]
    call("fit", folder / "rig.csv", *words, "--out", folder / "run")
    return folder


def test_the_folder_of_the_run_holds_all_files(run: Path) -> None:
    for name in ("model.safetensors", "metrics.json", "log.jsonl", "figures/prediction.png", "report.html"):
        assert (run / "run" / name).stat().st_size > 0
    metrics = json.loads((run / "run" / "metrics.json").read_text())
    assert set(metrics["test"]) == {"LFNO", "mean", "persistence", "linear baseline", "linear"}
    assert [name.rpartition(" ")[2] for name in metrics["outputs"]] == ["[m]"]
    assert "slightly better than the best simple model" in metrics["verdict"]
    # the network starts from the linear model; two epochs hardly improve it, and the verdict says so
    assert metrics["test"]["LFNO"]["nrmse"] == pytest.approx(metrics["test"]["linear"]["nrmse"], rel=0.1)
    assert "The LFNO is worth its training" not in metrics["verdict"]
    assert any("delimiter" in note for note in metrics["notes"])
    assert any("steady modes" in reason for reason in metrics["choices"])


def test_the_reported_error_is_the_error_of_the_saved_model(run: Path) -> None:
    """The test data are the last fifth of the record, without the warm-up."""
    from lfno.data.signals import read_signals

    surrogate, record = lfno.load(run / "run"), read_signals(run / "rig.csv")
    warmup = surrogate.signals.warmup
    assert warmup > 0
    missed = (surrogate.ask(record).values - record.outputs)[:, 2400 + warmup :]
    metrics = json.loads((run / "run" / "metrics.json").read_text())
    assert metrics["test"]["LFNO"]["rmse"] == pytest.approx([float(np.sqrt((missed**2).mean()))], rel=1e-4)


def test_the_output_names_warm_up_candidates_errors_and_verdict(tmp_path: Path) -> None:
    columns = signals(2000, saturated=False)
    columns["u"] += 0.01 * np.random.default_rng(1).normal(size=2000)  # the noise is all that a linear model cannot predict
    write_csv(tmp_path / "rig.csv", columns)
    words = ["--window", 128, "--epochs", 1, *SMALL, "--model", "auto", "--out", tmp_path / "run"]
    said = call("fit", tmp_path / "rig.csv", *words)
    told = ("are warm-up and not scored", "steady modes along t", "linear baseline", "RMSE", "[m]", "candidates", "Use the")
    for words in told:
        assert words in said


def test_the_model_remembers_names_units_and_normalisers(run: Path) -> None:
    surrogate = lfno.load(run / "run")
    told = surrogate.provenance["data"]["signals"]
    assert (told["inputs"], told["outputs"], told["record"]) == ([["force", "N"]], [["u", "m"]], True)
    force = signals(3000)["force"][:2000]
    assert float(surrogate.networks[0].input_scale) == pytest.approx(np.sqrt((force**2).mean()), rel=0.1)


def test_resuming_a_finished_run_gives_the_same_errors(run: Path, tmp_path: Path) -> None:
    words = ["fit", run / "rig.csv", "--window", 128, "--epochs", 2, *SMALL, "--out", tmp_path / "run"]
    first = answer(*words)
    assert answer(*words, "--resume")["test"]["LFNO"] == first["test"]["LFNO"]
    with pytest.raises(LfnoError, match="nothing to resume"):
        call(*words[:-1], tmp_path / "gone", "--resume")


def test_a_matlab_file_with_its_own_split_of_a_field(tmp_path: Path) -> None:
    from scipy.io import savemat

    x, t = np.linspace(0, 1, 12), np.arange(20) * 0.1
    rng = np.random.default_rng(0)
    parts = {}
    for part, count in (("train", 10), ("vali", 3), ("test", 4)):
        size = rng.uniform(0.5, 2, (count, 1, 1))
        parts[f"f_{part}"] = size * np.sin(np.pi * x)[:, None] * np.exp(-t)
        parts[f"u_{part}"] = size**2 * np.sin(np.pi * x)[:, None] * (1 - np.exp(-t))
    savemat(tmp_path / "pde.mat", {**parts, "x": x, "t": t})
    metrics = answer("fit", tmp_path / "pde.mat", "--epochs", 2, *SMALL, "--out", tmp_path / "run")
    assert metrics["samples"] == {"train": 10, "validation": 3, "test": 4}
    model = lfno.load(tmp_path / "run" / "model.safetensors")
    assert model.grid.names == ("x", "t")
    out = tmp_path / "out.mat"
    report = answer("predict", tmp_path / "run", tmp_path / "pde.mat", "-o", out)
    assert report["error"]["rmse"][0] > 0
    from scipy.io import loadmat

    assert loadmat(out)["u"].shape == (17, 12, 20)


def test_a_known_initial_state_is_an_input(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    t, x0 = np.arange(100) * 0.05, rng.normal(size=20)
    np.savez(tmp_path / "a.npz", t=t, f=rng.normal(size=(20, 100)), x0=x0, u=x0[:, None] * np.exp(-t))
    words = ["--input", "f,x0", "--output", "u"]
    answer("fit", tmp_path / "a.npz", *words, "--epochs", 1, *SMALL, "--out", tmp_path / "run")
    assert lfno.load(tmp_path / "run").channels == (2, 1)
    assert "error" in answer("predict", tmp_path / "run", tmp_path / "a.npz", "-o", tmp_path / "b.npz")


@pytest.fixture(scope="module")
def fifty() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return time, forces `(sample, time)` and displacements `(sample, output, time)` of an oscillator with two masses.

    The force of the simulation has four values per time step. The data have only every fourth value.
    """
    force = multisine(50, 400, 0.1, 0, substeps=4)
    return 0.1 * np.arange(400), force[:, 0, ::4], Oscillator().respond(force, 0.1, 4)


@pytest.mark.parametrize(
    ("ending", "noise", "frequency", "damping"), [("npz", 0.0, 1e-3, 1e-2), ("csv", 0.01, 1e-2, 0.1)]
)
def test_modal_identification_from_the_command_line(
    fifty: tuple[np.ndarray, ...], ending: str, noise: float, frequency: float, damping: float, tmp_path: Path
) -> None:
    """`lfno fit --linear` finds both poles and mode shapes of an oscillator with two masses from fifty responses.

    The NPZ file holds arrays. The CSV file holds one table with the responses below each other.
    """
    t, f, motion = fifty
    motion = motion + noise * motion.std((0, 2), keepdims=True) * np.random.default_rng(1).normal(size=motion.shape)
    path, words = tmp_path / f"a.{ending}", ["--input", "f", "--output", "u,w", "--linear", "--out", tmp_path / "run"]
    variables = [Variable.of("t", t, "s", ("t",)), Variable.of("f", f, "N", ("sample", "t"))]
    variables += [Variable.of(name, motion[:, k], "m", ("sample", "t")) for k, name in enumerate("uw")]
    write(path, variables)
    rows = answer("fit", path, *words, *(["--sample", "sample"] if ending == "csv" else []))["modes"]
    found = np.array([complex(row["re"], row["im"]) for row in rows])
    system, picked = Oscillator(), []
    for pole in system.poles:
        picked.append(rows[int(np.abs(found - pole).argmin())])
        assert 2 * np.pi * picked[-1]["frequency"] == pytest.approx(pole.imag, rel=frequency)
        assert picked[-1]["damping_ratio"] == pytest.approx(-pole.real / abs(pole), rel=damping)
    shapes = np.array([[complex(*z) for z in row["shape"]] for row in picked]).T
    np.testing.assert_allclose(shapes, system.shapes, atol=0.02)
    strong = [row for row in rows if row["contribution"] > 0.1]
    assert len(strong) == 2


def test_a_linear_model_predicts_at_any_sampling_rate(fifty: tuple[np.ndarray, ...], tmp_path: Path) -> None:
    t, f, motion = fifty
    np.savez(tmp_path / "a.npz", t=t, f=f, u=motion[:, 0], w=motion[:, 1])
    call("fit", tmp_path / "a.npz", "--input", "f", "--output", "u,w", "--linear", "--out", tmp_path / "run")
    assert answer("predict", tmp_path / "run", tmp_path / "a.npz", "-o", tmp_path / "b.npz")["error"]["l2"] < 1e-3
    assert answer("poles", tmp_path / "run")["modes"]
    fine = multisine(50, 400, 0.1, 0, substeps=2)[:, 0]
    np.savez(tmp_path / "fine.npz", t=0.05 * np.arange(799), f=fine)
    call("predict", tmp_path / "run", tmp_path / "fine.npz", "-o", tmp_path / "c.npz")
    np.testing.assert_allclose(np.load(tmp_path / "c.npz")["u"][:, ::2], motion[:, 0], atol=2e-3 * np.abs(motion).max())


def test_train_on_a_built_in_data_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lfno.core.grid import Grid
    from lfno.data.make import dataset

    tiny = dataset("duffing-c05", out=tmp_path, count=20, grid=Grid.line(64, dt=0.1))
    monkeypatch.setattr("lfno.surrogate.source.builtin", lambda name: tiny)
    metrics = answer("train", "duffing-c05", "--epochs", 2, *SMALL, "--set", "modes=8", "--out", tmp_path / "run", "--fold", 1)
    assert "interpolation" in metrics["test"]
    assert metrics["samples"]["test"] == 4
