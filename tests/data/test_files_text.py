"""Text tables with the formats that instruments and spreadsheets write."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lfno.core.errors import LfnoError
from lfno.data.files import read
from lfno.data.files.text_header import split_unit
from lfno.data.signals import read_signals

EXPECTED = {"t": [0.0, 0.5, 1.0], "f": [1.5, -2.0, 1e3]}

DIALECTS = {
    "plain": "t,f\n0,1.5\n0.5,-2\n1,1e3\n",
    "trailing comma": "t,f,\n0,1.5,\n0.5,-2,\n1,1e3,\n",
    "trailing comma in the rows only": "t,f\n0,1.5,\n0.5,-2,\n1,1e3,\n",
    "spaces after commas": "t, f\n0, 1.5\n0.5, -2\n1, 1e3\n",
    "semicolons and decimal commas": "t;f\n0;1,5\n0,5;-2\n1;1e3\n",
    "tabs": "t\tf\n0\t1.5\n0.5\t-2\n1\t1e3\n",
    "tabs and decimal commas": "t\tf\n0,0\t1,5\n0,5\t-2,0\n1,0\t1000,0\n",
    "blanks": " t   f\n 0   1.5\n 0.5 -2\n 1   1e3\n",
    "bars": "t|f\n0|1.5\n0.5|-2\n1|1e3\n",
    "quotes": '"t","f"\n"0","1.5"\n"0.5","-2"\n"1","1e3"\n',
    "byte order mark": "\ufefft,f\n0,1.5\n0.5,-2\n1,1e3\n",
    "windows line ends": "t,f\r\n0,1.5\r\n0.5,-2\r\n1,1e3\r\n",
    "comments and blank lines": "# rig 4\nt,f\n\n0,1.5\n# paused\n0.5,-2\n\n1,1e3\n",
    "names in a comment": "# t f\n0 1.5\n0.5 -2\n1 1e3\n",
    "preamble": "Rig 4\nOperator: K\nt,f\n0,1.5\n0.5,-2\n1,1e3\n",
    "Fortran exponents": "t f\n0 1.5D0\n0.5 -2.0D+00\n1 1.0D+03\n",
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_gives_the_same_table(dialect: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(DIALECTS[dialect].encode())
    variables = read(path)
    assert {name: variables[name].array([]).tolist() for name in variables} == EXPECTED


@pytest.mark.parametrize(
    ("header", "units"),
    [
        ("time (s),force [N]", ["s", "N"]),
        ("time [s], force (kN)", ["s", "kN"]),
        ("time,force\ns,N", ["s", "N"]),
        ("time,force\n[s],[m/s^2]", ["s", "m/s^2"]),
        ("time,force", ["", ""]),
    ],
)
def test_units_in_the_header_or_below_it(header: str, units: list[str], tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n0,1\n1,2\n2,4\n")
    variables = read(path)
    assert [variables[name].unit for name in ("time", "force")] == units


def test_missing_cells_are_nan_and_their_lines_can_be_found(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t,f\n0,1\n# a pause\n1,\n\n2,NA\n3,4\n")
    variables = read(path)
    np.testing.assert_array_equal(variables["f"].array([]), [1, np.nan, np.nan, 4])
    assert [variables.row(k) for k in range(4)] == ["line 2", "line 4", "line 6", "line 7"]


def test_a_missing_last_column_is_not_a_trailing_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t,f,u\n0,1,\n1,2,\n2,3,\n")
    assert np.isnan(read(path)["u"].array([])).all()


def test_names_repeated_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t,f,f\n0,1,2\n1,2,3\n")
    assert list(read(path)) == ["t", "f", "f_2"]
    path.write_text("0,1,2\n1,2,3\n")
    variables = read(path)
    assert list(variables) == ["column1", "column2", "column3"]
    assert any("no header" in note for note in variables.notes)


def test_iso_time_stamps_become_seconds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,f\n2024-05-01T10:00:00.0,1\n2024-05-01T10:00:00.5,2\n2024-05-01 10:00:01.0Z,3\n")
    variables = read(path)
    np.testing.assert_allclose(variables["time"].array([]), [0, 0.5, 1])
    assert variables["time"].unit == "s"


TIMES = {  # name of a form of date or time → its pattern for `strftime`, and the time of the first row
    "times of day over midnight": ("%H:%M:%S.%f", datetime(2020, 2, 29, 23, 59, 30)),
    "dates with dots": ("%d.%m.%Y %H:%M:%S.%f", datetime(2020, 2, 29, 23, 59, 30)),
    "dates with slashes": ("%m/%d/%Y %H:%M:%S.%f", datetime(2020, 2, 29, 23, 59, 30)),
    "twelve hours": ("%I:%M:%S.%f %p", datetime(2020, 2, 29, 12, 59, 30)),
    "ISO": ("%Y-%m-%dT%H:%M:%S.%fZ", datetime(2020, 2, 29, 23, 59, 30)),
    "date and time of day": ("%Y-%m-%d;%H:%M:%S.%f", datetime(2020, 2, 29, 23, 59, 30)),
    "duration": ("%H:%M:%S.%f", datetime(2020, 1, 1)),
    "duration in minutes": ("%M:%S.%f", datetime(2020, 1, 1)),
}


@pytest.mark.parametrize("form", TIMES)
def test_every_form_of_a_time_gives_the_same_seconds(form: str, tmp_path: Path) -> None:
    seconds = np.arange(240) * 0.25
    pattern, start = TIMES[form]
    rows = [f"{(start + timedelta(seconds=at)).strftime(pattern)};{k * k}" for k, at in enumerate(seconds)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([("date;clock" if ";" in pattern else "clock") + ";f", *rows]) + "\n")
    found = read(path)
    assert sorted(found) == ["clock", "f"]
    assert found["clock"].unit == "s"
    np.testing.assert_allclose(found["clock"].array([]), seconds, atol=1e-6)


def test_a_column_of_letters_that_are_time_zones_is_text(tmp_path: Path) -> None:
    """Z is the time zone of a time stamp such as 10:30Z. Alone, it is no time."""
    path = tmp_path / "a.csv"
    path.write_text("t,state,f\n" + "".join(f"{k},{'ZA'[k % 3 == 0]},{k * k}\n" for k in range(12)))
    found = read(path)
    assert not found["state"].numeric
    np.testing.assert_array_equal(found["f"].array([]), np.arange(12) ** 2)


def test_the_header_of_labview_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "a.lvm"
    header = "LabVIEW Measurement\t\nWriter_Version\t2\nMulti_Headings\tNo\nDate\t2015/03/04\n***End_of_Header***\t\n\t\n"
    header += "Channels\t2\t\nSamples\t40\t40\nX0\t0.0\t0.0\nDelta_X\t0.5\t0.5\n***End_of_Header***\t\t\n"
    rows = "".join(f"{0.5 * k:.6f}\t{k % 7}.5\t{k * k}.25\n" for k in range(40))
    path.write_text(f"{header}X_Value\tForce\tAcceleration\tComment\n{rows}")
    record = read_signals(path)
    assert [channel.name for channel in (*record.input_channels, *record.output_channels)] == ["Force", "Acceleration"]
    assert record.grid.steps == (0.5,)
    np.testing.assert_array_equal(record.outputs[0], np.arange(40) ** 2 + 0.25)


def test_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for encoding in ("utf-16", "latin-1", "utf-8-sig"):
        path.write_bytes("t [s];T [°C]\n0;1,5\n1;2,5\n".encode(encoding))
        variables = read(path)
        assert variables["T"].unit == "°C"
        np.testing.assert_array_equal(variables["T"].array([]), [1.5, 2.5])


def test_the_error_message_names_a_bad_cell_far_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t,f\n" + "".join(f"{k},{k}\n" for k in range(150_000)) + "150000,oops\n")
    with pytest.raises(LfnoError, match="line 150002, column 'f' holds 'oops'"):
        read(path)


@pytest.mark.parametrize(
    ("title", "expected"),
    [("a (b) c", ("a (b) c", "")), ("[N]", ("[N]", "")), ("v (m/s)", ("v", "m/s")), ("x []", ("x", ""))],
)
def test_split_unit(title: str, expected: tuple[str, str]) -> None:
    assert split_unit(title) == expected


finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
formats = st.sampled_from([(",", "."), (";", "."), (";", ","), ("\t", "."), ("\t", ","), ("|", ".")])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(finite, finite, finite), min_size=1, max_size=30),
    dialect=formats,
    trailing=st.booleans(),
    header=st.booleans(),
)
def test_written_tables_are_read_back(
    rows: list[tuple[float, ...]], dialect: tuple[str, str], trailing: bool, header: bool, tmp_path: Path
) -> None:
    delimiter, decimal = dialect
    end = delimiter + "\n" if trailing else "\n"
    lines = [delimiter.join(repr(v).replace(".", decimal) for v in row) + end for row in rows]
    path = tmp_path / "a.csv"
    path.write_text("".join([delimiter.join(["t", "f", "u"]) + end] * header + lines))
    variables = read(path)
    np.testing.assert_array_equal(np.stack([v.array([]) for v in variables.values()], 1), np.array(rows))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("0123456789.,;\t\n\r \"'-+eEtNa#|_[]()Zµ"), max_size=120))
def test_any_text_gives_a_table_or_an_error_message(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    try:
        variables = read(path)
    except LfnoError:
        return
    assert len({variable.shape for variable in variables.values()}) == 1
