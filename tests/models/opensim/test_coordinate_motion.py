"""Coordinates of a model: units, filter, rates, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from recorded_data import recorded
from refusals import refused
from small_model import TEXT, save_model
from small_model_motion import TIME, is_angle, save_inputs, small_motion

from musclesolve import read_osim
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.tables import Table, read_mot, write_mot

RATE = 60.0


def wave(frequency_hz: float, frames: int = 601) -> dict[str, np.ndarray]:
    time = np.arange(frames) / RATE
    return {"time": time, "knee_r": 0.4 * np.sin(2.0 * np.pi * frequency_hz * time)}


def test_degrees_radians_and_datasets_are_the_same_motion(small, tmp_path: Path) -> None:
    given = small_motion(small)
    columns = {name: ("time", values) for name, values in given.items() if name != "time"}
    degrees = {
        name: ("time", np.degrees(v), {"units": "deg"}) for name, (_, v) in columns.items() if is_angle(name)
    }
    plain = coordinate_motion(small, given)
    others = [
        save_inputs(tmp_path, small)[0],
        xr.Dataset(columns, {"time": TIME}),
        xr.Dataset({**columns, **degrees}, {"time": TIME}),
    ]
    for other in others:
        found = coordinate_motion(small, other)
        np.testing.assert_allclose(found.value, plain.value, atol=1e-10)
        assert found.names == plain.names
    assert "beta_r" not in plain.names


def test_a_column_of_a_states_file_is_found(small) -> None:
    given = small_motion(small)
    renamed = {"time": TIME, "/jointset/knee_joint_r/knee_r/value": given["knee_r"]}
    assert coordinate_motion(small, renamed).names == ("knee_r",)


def test_the_amplitude_is_halved_at_the_cut_off(small) -> None:
    """As of OpenSim's filter; elsewhere 1 / (1 + (tan(pi f / fs) / tan(pi fc / fs))^6)."""
    for frequency, gain in ((6.0, 0.5), (3.0, 1.0 / (1.0 + (np.tan(np.pi / 20) / np.tan(np.pi / 10)) ** 6))):
        given = wave(frequency)
        found = coordinate_motion(small, given, 6.0).value[150:450, 0]
        np.testing.assert_allclose(found, gain * given["knee_r"][150:450], atol=2e-4)


def test_rates_are_derivatives(small) -> None:
    given = wave(1.0, 301)
    found = coordinate_motion(small, given, None)
    time, omega, inside = given["time"], 2.0 * np.pi, slice(20, -20)
    np.testing.assert_array_equal(found.value[:, 0], given["knee_r"])
    np.testing.assert_allclose(found.speed[inside, 0], 0.4 * omega * np.cos(omega * time[inside]), atol=1e-6)
    np.testing.assert_allclose(
        found.acceleration[inside, 0], -0.4 * omega**2 * np.sin(omega * time[inside]), atol=1e-4
    )


def angles_file(folder: Path, small, said: bool | None, scale: float) -> Path:
    """The small motion with its angles multiplied, under a header that says they are degrees, radians, or nothing."""
    given, path = small_motion(small), folder / "ik.mot"
    names = tuple(name for name in given if name != "time")
    values = np.stack([given[name] * (scale if is_angle(name) else 1.0) for name in names], axis=1)
    write_mot(path, Table(TIME, names, values, said, path), decimals=12)
    return path


def test_degrees_said_to_be_radians_are_refused(small, tmp_path: Path) -> None:
    """With the column, its value, and what says so: a header, or that arrays are in radians."""
    with refused(
        "bad_units", "ik.mot", " reaches 28.6", "its header states inDegrees=no", "write inDegrees=yes"
    ):
        coordinate_motion(small, angles_file(tmp_path, small, False, np.degrees(1.0)))
    given = small_motion(small)
    with refused("bad_units", "knee_r reaches 28.6", "numpy.radians") as error:
        coordinate_motion(small, {**given, "knee_r": np.degrees(given["knee_r"])})
    assert "header" not in str(error.value)


def test_degrees_that_were_converted_twice_are_refused(small, tmp_path: Path) -> None:
    """A joint under a muscle turns by no full turn."""
    with refused("bad_units", "ik.mot", "hip_a_r reaches 751", "more than a full turn"):
        coordinate_motion(small, angles_file(tmp_path, small, True, np.degrees(1.0) ** 2))


def test_units_that_the_header_does_not_state_are_those_that_the_values_show(small, tmp_path: Path) -> None:
    """Beyond a full rotation in radians: degrees. Below: radians, as OpenSim takes them. The note says why."""
    plain = coordinate_motion(small, small_motion(small))
    for scale, unit in ((np.degrees(1.0), "degrees"), (1.0, "radians")):
        found = coordinate_motion(small, angles_file(tmp_path, small, None, scale))
        np.testing.assert_allclose(found.value, plain.value, atol=1e-9)
        (note,) = found.notes
        assert f"taken as {unit}" in note and "ik.mot does not say" in note and "header states" not in note
        assert f"reaches {0.5 * scale:.3g}"[:11] in note
    still = Table(TIME, ("tx",), 9.0 * np.ones((61, 1)), None, Path("ik.mot"))
    assert coordinate_motion(small, still).notes == ()


@pytest.mark.parametrize("trial", [1, 3])
def test_recorded_degrees_under_a_header_that_says_nothing(trial: int) -> None:
    folder = recorded("fascicle_walk")
    found = coordinate_motion(read_osim(folder / "model.osim"), folder / f"trial_{trial}_IK.mot")
    assert "taken as degrees" in found.notes[0] and "knee_angle_r reaches -6" in found.notes[0]
    knee = np.degrees(found.by_name(found.value)["knee_angle_r"])
    assert -67.0 < knee.min() < -60.0 and knee.max() < 5.0


def test_a_coordinate_that_stands_twice_is_refused_with_its_columns(small, tmp_path: Path) -> None:
    path = angles_file(tmp_path, small, False, 1.0)
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index("endheader") + 1
    names = lines[start].split("\t")
    lines[3] = f"nColumns={len(names) + 1}"
    rows = [f"{line}\t0.1" for line in lines[start + 1 :]]
    path.write_text("\n".join([*lines[:start], f"{lines[start]}\tknee_r", *rows, ""]), encoding="utf-8")
    columns = f"columns {names.index('knee_r') + 1} and {len(names) + 1}"
    with refused("duplicate_name", "ik.mot", f"line {start + 1}, {columns}", "'knee_r'"):
        coordinate_motion(small, path)
    both = {**small_motion(small), "/jointset/knee_joint_r/knee_r/value": np.zeros(61)}
    with refused("duplicate_name", "'knee_r'", "'/jointset/knee_joint_r/knee_r/value'"):
        coordinate_motion(small, both)


def test_degrees_that_may_be_radians_are_noted(small) -> None:
    given = small_motion(small)
    table = Table(TIME, ("knee_r",), given["knee_r"][:, None], True, Path("ik.mot"))
    (note,) = coordinate_motion(small, table).notes
    assert "radians" in note and "knee_r" in note


def bad(**changes: object) -> dict[str, object]:
    return {**wave(1.0, 61), **changes}


@pytest.mark.parametrize(
    ("given", "code", "parts"),
    [
        ({"time": TIME, "knee": np.zeros(61)}, "missing_column", ["small"]),
        (bad(knee_r=np.where(np.arange(61) < 7, np.nan, 0.1)), "not_finite", ["knee_r"]),
        (bad(time=np.arange(61) ** 1.01), "uneven_sampling", ["resample"]),
        ({"time": TIME[:5], "knee_r": np.zeros(5)}, "too_few_frames", ["5 frames"]),
        (bad(time=np.zeros(61)), "time_not_increasing", ["coordinates"]),
        (bad(knee_r=np.zeros(60)), "bad_shape", ["knee_r", "60"]),
        (3.0, "bad_type", ["coordinates", "float"]),
        (Table(TIME, ("knee_r", "x"), np.zeros((61, 1)), False, Path()), "bad_shape", ["(61, 2)"]),
        (
            Table(TIME[::-1], ("knee_r",), np.zeros((61, 1)), False, Path()),
            "time_not_increasing",
            ["coordinates"],
        ),
    ],
)
def test_what_is_no_motion_is_refused(small, given: object, code: str, parts: list[str]) -> None:
    with refused(code, *parts):
        coordinate_motion(small, given)  # type: ignore[arg-type]


@pytest.mark.parametrize("cutoff", [0.0, -1.0, 30.0, 31.0, np.nan])
def test_a_cut_off_that_is_none_is_refused(small, cutoff: float) -> None:
    with refused("bad_number", "ut"):
        coordinate_motion(small, wave(1.0), cutoff)


def test_a_jump_is_noted_and_no_locked_coordinate_without_muscles(small, tmp_path: Path) -> None:
    given = small_motion(small)
    assert coordinate_motion(small, given).notes == ()
    jumping = {**given, "knee_r": given["knee_r"].copy()}
    jumping["knee_r"][30] += 2.0
    note = coordinate_motion(small, jumping).notes[-1]  # after the knots of the knee
    assert "knee_r" in note and "0.5" in note
    text = TEXT.replace('<Coordinate name="ankle_b_r">', '<Coordinate name="ankle_b_r"><locked>true</locked>')
    assert coordinate_motion(read_osim(save_model(tmp_path, text)), given).notes == ()  # no muscle crosses it


def test_whole_turns_are_taken_off_and_said(small, tmp_path: Path) -> None:
    """All frames one turn off, as of a published inverse kinematics, and a jump by a turn within the file."""
    given = small_motion(small)
    plain = coordinate_motion(small, given)
    turned = {**given, "knee_r": given["knee_r"] - 2.0 * np.pi}
    found = coordinate_motion(small, turned)
    np.testing.assert_allclose(found.value, plain.value, atol=1e-9)
    (note,) = found.notes
    assert "Whole turns" in note and "knee_r (-6.283 rad)" in note
    jump = {**given, "knee_r": given["knee_r"] + 2.0 * np.pi * (TIME > 0.5 * TIME[-1])}
    found = coordinate_motion(small, jump)
    np.testing.assert_allclose(found.value, plain.value, atol=1e-9)
    (note,) = found.notes
    assert "knee_r of the table jumps from" in note and "full turn" in note
    path = angles_file(tmp_path, small, True, np.degrees(1.0))
    degrees = read_mot(path)
    values = degrees.values.copy()
    values[:, degrees.names.index("knee_r")] -= 360.0
    write_mot(path, Table(TIME, degrees.names, values, True, path), decimals=12)
    found = coordinate_motion(small, path)
    np.testing.assert_allclose(found.value, plain.value, atol=1e-9)
    assert "ik.mot: knee_r (-360 degrees)" in found.notes[0]


def test_a_person_who_has_turned_around_has_no_whole_turn(small) -> None:
    given = small_motion(small)
    around = {**given, "knee_r": given["knee_r"] + np.pi}
    assert not any("degrees)" in note for note in coordinate_motion(small, around).notes)


def test_steps_of_an_integrator_are_evened(small, tmp_path: Path) -> None:
    """Rows as RRA writes them: steps of its integrator, some nearly at the same time, and the last row twice."""
    rate, generator = 500.0, np.random.default_rng(3)
    even = np.arange(501) / rate
    time = np.sort(
        np.concatenate([even, even[generator.integers(1, 499, 40)] + generator.uniform(1e-5, 1e-3, 40)])
    )
    angle = np.degrees(0.4 * np.sin(2.0 * np.pi * time))
    time, angle = np.append(time, time[-1]), np.append(angle, angle[-1] + 1e-10)  # as RRA writes it
    path = tmp_path / "Kinematics_q.sto"
    rows = "".join(f"{t:.10f}\t{a:.10f}\n" for t, a in zip(time, angle, strict=True))
    head = f"Coordinates\nversion=1\nnRows={len(time)}\nnColumns=2\ninDegrees=yes\nendheader\ntime\tknee_r\n"
    path.write_text(head + rows, encoding="utf-8")
    for cutoff in (6.0, None):
        found = coordinate_motion(small, path, cutoff)
        np.testing.assert_allclose(found.time, even, atol=1e-12)
        inside, omega = slice(60, -60), 2.0 * np.pi
        expected = -0.4 * omega**2 * np.sin(omega * even)
        np.testing.assert_allclose(found.acceleration[inside, 0], expected[inside], atol=0.02)
        assert found.resampled
        assert "repeats rows" in found.notes[0] and f"line {7 + len(time)}" in found.notes[0]
        assert any("501 frames, 2 ms apart" in note for note in found.notes)


def test_a_hole_between_rows_is_refused_with_its_times(small, tmp_path: Path) -> None:
    path = angles_file(tmp_path, small, False, 1.0)
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index("endheader") + 2
    kept = [line for line in [*lines[: start + 20], *lines[start + 40 :]] if not line.startswith("nRows")]
    path.write_text("\n".join([*kept, ""]), encoding="utf-8")
    with refused("uneven_sampling", "ik.mot", "from ") as error:
        coordinate_motion(small, path)
    assert "no cut-off" not in str(error.value)


@pytest.mark.parametrize(
    ("fault", "in_degrees"), [(np.nan, True), (573.0, True), (10.0, False), (10.0, None)]
)
def test_a_few_impossible_rows_cost_the_frames_beside_them(
    small, tmp_path: Path, fault: float, in_degrees: bool | None
) -> None:
    """An inverse kinematics that failed in two frames leaves no value, or an angle beyond a full turn."""
    table = read_mot(angles_file(tmp_path, small, in_degrees, np.degrees(1.0) if in_degrees else 1.0))
    plain = coordinate_motion(small, table, 6.0)
    assert plain.unknown is None
    values = table.values.copy()
    values[[20, 21], table.names.index("hip_a_r")] = fault
    found = coordinate_motion(small, replace(table, values=values), 6.0)
    assert found.unknown is not None
    assert np.flatnonzero(found.unknown).tolist() == list(range(10, 32))  # ten frames of 1/60 s at 6 Hz
    np.testing.assert_allclose(found.value[~found.unknown], plain.value[~found.unknown], atol=2e-3)
    assert any("are not valid" in note and "hip_a_r" in note for note in found.notes)
    assert found.frames(slice(0, 5)).unknown is not None and not found.frames(slice(0, 5)).unknown.any()
