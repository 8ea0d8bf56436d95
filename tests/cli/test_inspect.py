"""`lfno inspect`: the table of variables, the proposed inputs and outputs, and the proposed command."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lfno.cli import build
from lfno.core.errors import LfnoError
from lfno.data.prepare import prepare
from lfno.data.prepared import Prepared
from lfno.data.signals import read_signals

T = np.arange(200) * 0.05
RUN = CliRunner()


def inspect(path: Path) -> dict:
    """Return the report of `lfno inspect --json`."""
    result = RUN.invoke(build(), ["inspect", str(path), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_a_record_in_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "rig.csv"
    path.write_text("time (s),force [N],u [m],\n" + "".join(f"{t:.2f},{np.sin(t)},{np.cos(t)},\n" for t in T))
    report = inspect(path)
    force = report["variables"][1]
    assert (force["name"], force["unit"], force["shape"], force["missing"]) == ("force", "N", [200], 0)
    assert force["max"] == pytest.approx(1, abs=1e-3)
    assert report["grid"][0]["step"] == 0.05
    assert report["command"] == f"lfno fit {path} --input force --output u --time time"
    shown = RUN.invoke(build(), ["inspect", str(path)]).output
    assert "20 Hz" in shown
    assert "--input force --output u --time time" in shown.replace("\n", " ")


def test_the_command_resamples_data_with_uneven_time_steps(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    holes = np.where(np.arange(200) == 7, np.nan, np.cos(T))
    np.savez(path, t=T * (1 + 0.01 * T), f=np.sin(T), u=holes)
    report = inspect(path)
    assert report["variables"][2]["missing"] == 1
    assert len(report["problems"]) == 1
    assert report["command"].endswith("--input f --output u --time t --resample")
    data = read_signals(path, input="f", output="u", time="t", resample=True)
    assert data.grid.to_dict()["axes"] == report["grid"]


def test_a_column_of_row_numbers_is_not_taken_for_the_trajectories(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = (f"{n},{n // 200},{T[n % 200]:.2f},{np.sin(T[n % 200] * (1 + n // 200))},{np.cos(T[n % 200])}" for n in range(600))
    path.write_text(",run,t,f,u\n" + "\n".join(rows) + "\n")
    report = inspect(path)
    assert report["kind"] == "3 trajectories"
    assert report["command"] == f"lfno fit {path} --input f --output u --time t --sample run"
    assert any("'column1' contains row numbers" in note for note in report["notes"])


def test_a_first_column_with_equal_steps_is_the_time(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{3 * k},{np.sin(k)},{np.cos(k)}" for k in range(60)]
    path.write_text("stamp (ms),force,displacement\n" + "\n".join(rows) + "\n")
    report = inspect(path)
    assert report["command"] == f"lfno fit {path} --input force --output displacement --time stamp"
    assert report["grid"][0]["step"] == pytest.approx(3e-3)
    assert any("'stamp' is taken as the time" in note for note in report["notes"])
    path.write_text("\n".join(rows) + "\n")  # no header
    assert read_signals(path, input="column2", output="column3").grid.axes[-1].step == 3


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("count", np.arange(60)),  # row numbers
        ("step", np.arange(60) * 3),  # step numbers
        ("", np.arange(60) * 3),  # every third row number of a longer table
        ("run", np.arange(60) * 3),  # run numbers
        ("u", np.arange(60) * 3),  # a signal by its name
        ("ramp (N)", np.arange(60) * 3),  # a signal by its unit
        ("stamp", np.arange(60) * -3),  # decreasing
        ("stamp", np.append(np.arange(59) * 3, 178)),  # the last step is longer
    ],
)
def test_counters_and_signals_are_not_taken_for_the_time(tmp_path: Path, name: str, column: np.ndarray) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{value},{np.sin(k)},{np.cos(k)}" for k, value in enumerate(column)]
    path.write_text(f"{name},force,displacement\n" + "\n".join(rows) + "\n")
    report = inspect(path)
    assert report["command"] is None
    with pytest.raises(LfnoError, match="no time vector"):
        read_signals(path, input="force", output="displacement")


@pytest.mark.parametrize(
    ("header", "command"),
    [
        ("time_ms,Shaker Force,Acc 1,Acc 2", "--input 'Shaker Force' --output 'Acc 1,Acc 2' --time time_ms"),
        ("ts,InputGasRate,CO2,CO3", None),
        ("elapsed (ms),heater_power,T1 temp,T2 temp", "--input heater_power --output 'T1 temp,T2 temp' --time elapsed"),
    ],
)
def test_words_in_names_tell_the_roles(tmp_path: Path, header: str, command: str | None) -> None:
    path = tmp_path / "a.csv"
    stamps = [3 * k + (0.01 * (k % 2)) for k in range(60)]  # not quite even
    rows = [f"{at},{np.sin(k)},{np.cos(k)},{np.cos(2 * k)}" for k, at in enumerate(stamps)]
    path.write_text(f"{header}\n" + "\n".join(rows) + "\n")
    report = inspect(path)
    assert report["command"] == (command and f"lfno fit {path} {command}")
    if command is None:
        assert report["example"] == {"input": "InputGasRate", "output": "CO2"}
    else:
        assert report["grid"][0]["step"] == pytest.approx(3e-3, rel=1e-3)


@pytest.mark.parametrize(
    ("header", "example"),
    [
        ("speed,voltage", {"input": "voltage", "output": "speed"}),
        ("motor_voltage,rpm", {"input": "motor_voltage", "output": "rpm"}),
        ("a,voltage", {"input": "voltage", "output": "a"}),
        ("a,b,Q_out", {"input": "a", "output": "Q_out"}),
        ("a,Valve 1,Valve 2,speed,b", {"input": "Valve 1,Valve 2", "output": "speed"}),
    ],
)
def test_unclear_names_give_the_most_likely_command_and_it_works(tmp_path: Path, header: str, example: dict[str, str]) -> None:
    path = tmp_path / "a.csv"
    columns = [np.sin((k + 1) * T) for k in range(header.count(",") + 1)]
    np.savetxt(path, np.stack([T, *columns], 1), delimiter=",", header="t," + header, comments="")
    report = inspect(path)
    assert report["options"] is None
    assert report["example"] == example
    assert isinstance(prepare(path, **report["example"]), Prepared)


@pytest.mark.parametrize(
    "arrays",
    [
        {"t": T, "force": np.ones(200), "disp": np.sin(T)},
        {"t": T, "a": np.ones(200), "b": np.sin(T)},
        {"t": T, "force": np.sin(T), "disp": np.sin(T[:190])},
    ],
)
def test_a_command_that_would_fail_is_not_proposed(tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    report = inspect(path)
    assert report["problems"]
    assert report["example"] == {}
    assert "lfno fit" not in RUN.invoke(build(), ["inspect", str(path)]).output


def test_a_constant_output_that_the_user_did_not_name_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, t=T, force=np.sin(T), temp=np.full(200, 20.0), disp=np.cos(T))
    report = inspect(path)
    assert report["command"] == f"lfno fit {path} --input force --output disp --time t"
    prepared = prepare(path)
    assert [channel.name for channel in prepared.dataset.output_channels] == ["disp"]
    assert [note for note in prepared.notes if "'temp' is constant (20) and was left out" in note]
    with pytest.raises(LfnoError, match="nothing to learn"):
        prepare(path, output="temp,disp")


def test_a_table_without_names_and_time_gives_one_message_and_a_command(tmp_path: Path) -> None:
    path = tmp_path / "dryer.dat"
    np.savetxt(path, np.stack([np.sin(T), np.cos(T)], axis=1))
    report = inspect(path)
    assert report["example"] == {"input": "column1", "output": "column2", "dt": "SECONDS"}
    asked = "--input NAME and --output NAME. There is no time vector either: give the step with --dt SECONDS"
    assert asked in report["problems"][0]
    read_signals(path, input="column1", output="column2", dt=0.1)


def test_unknown_inputs_and_outputs_give_a_message_with_the_missing_options(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, t=T, a=np.sin(T), b=np.cos(T))
    report = inspect(path)
    assert report["command"] is None
    assert "--input NAME and --output NAME" in report["problems"][0]
    assert RUN.invoke(build(), ["inspect", str(path)]).exit_code == 0


def test_a_damaged_file_gives_one_error_message(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    path.write_bytes(b"PK\x03\x04 nothing")
    result = RUN.invoke(build(), ["inspect", str(path)])
    assert isinstance(result.exception, LfnoError)
    assert "damaged" in str(result.exception)
