"""The commands predict, decompose, poles and export for a trained model, with all file formats and other sampling rates."""

from __future__ import annotations

import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.files import READERS, Variable, read
from lfno.data.files.write import WRITERS, write
from lfno.surrogate.stitch import predict_record
from tests.cli.rig import SMALL, STEP, answer, call, signals, write_csv


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the models `one` and `two` (an ensemble) of one record, and the model `many` of trajectories."""
    folder = tmp_path_factory.mktemp("ask")
    write_csv(folder / "rig.csv", signals(3000))
    for name, more in (("one", []), ("two", ["--ensemble", 2])):
        words = ["fit", folder / "rig.csv", "--window", 128, "--epochs", 5, *SMALL, *more, "--out", folder / name, "--quiet"]
        call(*words)
    parts = [signals(600, seed) for seed in range(20)]
    stacked = {name: np.stack([part[name] for part in parts]) for name in ("force", "u")}
    np.savez(folder / "many.npz", t=parts[0]["t"], **stacked)
    call("fit", folder / "many.npz", "--epochs", 3, *SMALL, "--out", folder / "many", "--quiet")
    return folder


@pytest.mark.parametrize("ending", sorted(set(READERS) & set(WRITERS)))
def test_the_prediction_file_has_the_format_of_the_input_file(home: Path, tmp_path: Path, ending: str) -> None:
    """The input file has no output. Therefore the command reports no error of the prediction."""
    columns = {name: values for name, values in signals(500, seed=9).items() if name != "u"}
    path = tmp_path / f"question{ending}"
    units = {"t": "s", "force": "N"}
    write(path, [Variable.of(name, values, units[name], ("t",)) for name, values in columns.items()])
    naming = ["--input", "array:1", "--time", "array:0"] if ending == ".npy" else []
    report = answer("predict", home / "one", path, *naming)
    out = Path(report["out"])
    assert out == tmp_path / f"question-prediction{ending}"
    assert "error" not in report
    found = read(out)
    name = "array:2" if ending == ".npy" else "u"
    told = np.ravel(found[name].array([]))
    call("predict", home / "one", home / "rig.csv", "-o", tmp_path / "all.npz")
    assert told.shape == (500,)
    assert np.isfinite(told).all()


def test_a_prediction_does_not_depend_on_the_file_format(home: Path, tmp_path: Path) -> None:
    columns = signals(500, seed=9)
    np.savez(tmp_path / "a.npz", **columns)
    write_csv(tmp_path / "a.csv", columns)
    for ending in ("npz", "csv"):
        call("predict", home / "one", tmp_path / f"a.{ending}", "-o", tmp_path / f"out.{ending}")
    first, second = (np.ravel(read(tmp_path / f"out.{ending}")["u"].array([])) for ending in ("npz", "csv"))
    np.testing.assert_allclose(first, second, atol=1e-5)


@pytest.mark.parametrize(("ending", "name"), [(".mat", "data.u"), (".h5", "run1/u"), (".csv", "Sensor 3")])
def test_names_of_structures_groups_and_columns_can_be_written(tmp_path: Path, ending: str, name: str) -> None:
    from scipy.io import savemat

    values = signals(1500)
    path, force = tmp_path / f"a{ending}", name.replace("u", "force").replace("Sensor 3", "force")
    arrays = {"t": values["t"], force: values["force"], name: values["u"]}
    if ending == ".mat":
        savemat(path, {"t": values["t"], "data": {"force": values["force"], "u": values["u"]}})
    elif ending == ".h5":
        with h5py.File(path, "w") as file:
            for key, array in arrays.items():
                file[key] = array
    else:
        write(path, [Variable.of(key, array, "", ("t",)) for key, array in arrays.items()])
    words = ["--input", force, "--output", name, "--time", "t"]
    call("fit", path, *words, "--window", 128, "--epochs", 1, *SMALL, "--out", tmp_path / "run", "--quiet")
    told = {"data.u": "data_u", "run1/u": "run1_u"}.get(name, name)
    report = answer("predict", tmp_path / "run", path, "-o", tmp_path / f"b{ending}")
    answered = np.ravel(read(report["out"])[told].array([]))
    assert np.isfinite(answered).all()
    parts = answer("decompose", tmp_path / "run", path, "-o", tmp_path / "parts")["arrays"]
    assert parts.endswith(ending)
    np.testing.assert_allclose(np.ravel(read(parts)["prediction"].array([])), answered, atol=1e-5)


def test_a_gap_in_the_outputs_does_not_stop_a_prediction(home: Path, tmp_path: Path) -> None:
    columns = signals(500, seed=9)
    write_csv(tmp_path / "whole.csv", columns)
    gap = {**columns, "u": np.where(np.arange(500) == 300, np.nan, columns["u"])}
    np.savez(tmp_path / "gap.npz", **gap)
    whole = answer("predict", home / "one", tmp_path / "whole.csv", "-o", tmp_path / "a.npz")
    report = answer("predict", home / "one", tmp_path / "gap.npz", "-o", tmp_path / "b.npz")
    assert "error" in whole
    assert any("1 value of 500 (u) not measured" in note for note in report["notes"])
    assert report["error"]["l2"] == pytest.approx(whole["error"]["l2"], rel=0.01)
    np.testing.assert_allclose(np.load(tmp_path / "b.npz")["u"], np.load(tmp_path / "a.npz")["u"], atol=1e-5)


def test_an_input_with_another_name_is_accepted_with_a_note(home: Path, tmp_path: Path) -> None:
    columns = signals(500, seed=9)
    np.savez(tmp_path / "a.npz", t=columns["t"], Kraft=columns["force"], u=columns["u"])
    report = answer("predict", home / "one", tmp_path / "a.npz", "-o", tmp_path / "b.npz")
    assert "'Kraft' is taken as the input, which was called 'force' in training" in report["notes"]
    assert any("do not rely on them" in note for note in report["notes"])


def test_trajectories_in_a_table_give_predictions_in_a_table(home: Path, tmp_path: Path) -> None:
    data = np.load(home / "many.npz")
    variables = [Variable.of("t", data["t"], "s", ("t",))]
    variables += [Variable.of(name, data[name][:3], "", ("sample", "t")) for name in ("force", "u")]
    write(tmp_path / "many.csv", variables)
    report = answer("predict", home / "many", tmp_path / "many.csv", "--sample", "sample")
    direct = answer("predict", home / "many", home / "many.npz", "-o", tmp_path / "b.npz")
    assert direct["error"]["l2"] < 1.5
    again = read(report["out"])["u"].array([]).reshape(3, -1)
    np.testing.assert_allclose(again, np.load(tmp_path / "b.npz")["u"][:3], atol=1e-5)


def test_predictions_at_twice_the_sampling_rate_agree_at_common_points(tmp_path: Path) -> None:
    """A smooth force gives the same response within 1 % if it is sampled twice as often. A training window has 512 samples."""
    rng = np.random.default_rng(0)
    size = 6000
    spectrum = np.zeros(size + 1, complex)
    spectrum[1:300] = np.exp(2j * np.pi * rng.random(299))
    fine = np.fft.irfft(spectrum, 2 * size) * 60
    motion = np.convolve(fine, np.exp(-np.arange(400) * 0.02) * np.sin(np.arange(400) * 0.05))[: 2 * size] / 20
    columns = {"t": STEP * np.arange(size), "force": fine[::2], "u": motion[::2]}
    write_csv(tmp_path / "rig.csv", columns)
    words = ["fit", tmp_path / "rig.csv", "--window", 512, "--warmup", 200, "--epochs", 8, *SMALL]
    call(*words, "--out", tmp_path / "run", "--quiet")
    np.savez(tmp_path / "coarse.npz", t=columns["t"], force=fine[::2])
    np.savez(tmp_path / "fine.npz", t=STEP / 2 * np.arange(2 * size), force=fine)
    told = {}
    for name in ("coarse", "fine"):
        report = answer("predict", tmp_path / "run", tmp_path / f"{name}.npz", "-o", tmp_path / f"{name}-out.npz")
        told[name] = np.load(tmp_path / f"{name}-out.npz")["u"]
    assert any("time step of 0.025" in note for note in report["notes"])
    difference = told["fine"][::2] - told["coarse"]
    assert np.linalg.norm(difference[200:]) < 0.01 * np.linalg.norm(told["coarse"][200:])


def test_an_ensemble_gives_its_spread(home: Path, tmp_path: Path) -> None:
    call("predict", home / "two", home / "rig.csv", "-o", tmp_path / "out.npz")
    with np.load(tmp_path / "out.npz") as out:
        assert (out["u_spread"] > 0).mean() > 0.99
        both = lfno.load(home / "two")
        record, _ = both.read(home / "rig.csv")
        members = [lfno.Surrogate([member]).ask(record).values[0] for member in both.members]
        np.testing.assert_allclose(out["u"], np.mean(members, 0), atol=1e-6)
        np.testing.assert_allclose(out["u_spread"], np.std(members, 0, ddof=1), atol=1e-6)
    rows = answer("poles", home / "two", "--out", tmp_path)["modes"]
    assert rows[0]["frequency_interval"][0] < rows[0]["frequency"] < rows[0]["frequency_interval"][1]


@pytest.mark.parametrize("more", [["--start", 20], []], ids=["one window", "stitched"])
def test_decomposition_adds_up(home: Path, tmp_path: Path, more: list) -> None:
    call("decompose", home / "one", home / "rig.csv", "-o", tmp_path, *more)
    found = read(tmp_path / "decomposition.csv")
    parts = {name: np.ravel(found[name].array([])) for name in ("t", "transient", "steady", "prediction")}
    np.testing.assert_allclose(parts["transient"] + parts["steady"], parts["prediction"], atol=1e-6)
    assert parts["t"][0] == (20 if more else 0)
    assert len(parts["t"]) == (128 if more else 3000)
    assert (tmp_path / "decomposition.png").stat().st_size > 1000
    call("predict", home / "one", home / "rig.csv", "-o", tmp_path / "p.npz")
    if not more:
        np.testing.assert_allclose(parts["prediction"], np.load(tmp_path / "p.npz")["u"], atol=1e-5)


def test_decompose_one_of_many(home: Path, tmp_path: Path) -> None:
    said = call("decompose", home / "many", home / "many.npz", "--trajectory", 3, "-o", tmp_path)
    assert "RMS of the transient part" in said
    assert np.load(tmp_path / "decomposition.npz")["steady"].shape == (600,)


def test_poles_table_and_figures(home: Path, tmp_path: Path) -> None:
    report = answer("poles", home / "many", "--data", home / "many.npz", "--out", tmp_path, "--layers", 5)
    assert len(report["layers"]) == 5
    assert all(row["re"] < 0 for row in report["layers"])
    assert {Path(name).name for name in report["figures"]} == {"s-plane.png", "bode.png"}
    said = call("poles", home / "many", "--out", tmp_path, "--amplitude", 0.1)
    assert "frequency" in said
    assert "pulse of height 0.1" in said


def test_export_to_onnx(home: Path, tmp_path: Path) -> None:
    import onnxruntime

    report = answer("export", home / "many", "--to", "onnx", "-o", tmp_path / "m.onnx")
    assert report["error"] < 1e-4
    session = onnxruntime.InferenceSession(report["out"], providers=["CPUExecutionProvider"])
    told = json.loads(session.get_modelmeta().custom_metadata_map["lfno_signals"])
    assert told["inputs"] == [["force", ""]]
    force = np.load(home / "many.npz")["force"][:4, None].astype(np.float32)
    call("predict", home / "many", home / "many.npz", "-o", tmp_path / "p.npz")
    (found,) = session.run(None, {"input": force})
    np.testing.assert_allclose(found[:, 0], np.load(tmp_path / "p.npz")["u"][:4], atol=1e-4)


def test_the_loop_on_the_page_deploy_runs_an_exported_model_along_a_record(home: Path, tmp_path: Path) -> None:
    import onnxruntime

    page = (Path(__file__).parents[2] / "docs" / "how-to" / "deploy.md").read_text()
    loop = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[-1]
    report = answer("export", home / "one", "-o", tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(report["out"], providers=["CPUExecutionProvider"])
    record = signals(3000)["force"][None].astype(np.float32)
    names = {"session": session, "record": record}
    exec(loop, names)
    model = lfno.load(home / "one")  # predict window by window, like the loop
    windows = predict_record(model.members[0].predict, record, Grid.line(3000, STEP), model.grid, model.signals.warmup)
    np.testing.assert_allclose(names["answer"], windows, atol=1e-4)


def test_all_commands_accept_a_shipped_model(tmp_path: Path) -> None:
    """A shipped model was trained on a built-in data set, not on a file with names and units."""
    t = 0.01 * np.arange(2048)
    np.savez(tmp_path / "force.npz", t=t, force=5 * np.exp(-0.05 * t) * np.sin(5 * t))
    asked = ["duffing-c05", tmp_path / "force.npz", "--input", "force"]
    own = lfno.load("duffing-c05").predict(np.load(tmp_path / "force.npz")["force"])
    call("predict", *asked, "--out", tmp_path / "answer.csv")
    assert "not physical: " in call("decompose", *asked, "--out", tmp_path / "parts")
    assert "one shape of forcing (duffing-c05)" in call("poles", "duffing-c05", "--out", tmp_path / "poles")
    found = np.ravel(read(tmp_path / "answer.csv")["u"].array([]))
    np.testing.assert_allclose(found, own, rtol=1e-4, atol=1e-4 * np.abs(own).max())
    told = answer("predict", *asked, "--out", tmp_path / "answer.csv")
    assert not any("to be predicted" in note for note in told["notes"])
    longer = 0.01 * np.arange(4096)
    np.savez(tmp_path / "longer.npz", t=longer, force=np.sin(5 * longer))
    told = answer("predict", "duffing-c05", tmp_path / "longer.npz", "--out", tmp_path / "longer.csv")
    assert any("without a warm-up" in note for note in told["notes"])
    call("export", "duffing-c05", "--to", "torch", "--out", tmp_path / "duffing.pt2")
    assert (tmp_path / "duffing.pt2").stat().st_size > 0


def test_a_unit_that_differs_from_training_is_an_error(home: Path, tmp_path: Path) -> None:
    text = (home / "rig.csv").read_text()
    assert "[N]" in text.splitlines()[0]
    (tmp_path / "kilo.csv").write_text(text.replace("[N]", "[kN]", 1))
    with pytest.raises(LfnoError, match="is in kN and the model was trained with N"):
        call("predict", home / "one", tmp_path / "kilo.csv", "--out", tmp_path / "answer.csv")


def test_a_record_shorter_than_the_warm_up_has_a_prediction_but_no_error(home: Path, tmp_path: Path) -> None:
    lines = (home / "rig.csv").read_text().splitlines()
    (tmp_path / "short.csv").write_text("\n".join(lines[:12]) + "\n")
    told = answer("predict", home / "one", tmp_path / "short.csv", "--out", tmp_path / "answer.csv")
    assert "error" not in told
    assert any("no comparison" in note for note in told["notes"])
