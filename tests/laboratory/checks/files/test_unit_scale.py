"""Units of points and markers are recognized; whole millimeters are no fault."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory.checks.files.times_units_axes import unit_of_points
from musclesolve.laboratory.trial.plates.foot_contacts import FootTrack
from musclesolve.studies import synthetic_recording
from musclesolve.tables import read_mot, write_mot

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("per_meter", "name"), [(1000.0, "millimeters"), (100.0, "centimeters"), (1 / 0.0254, "inches")]
)
def test_points_are_brought_to_meters_from_their_unit(per_meter: float, name: str, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    for plate in copy.plates():
        copy.set_plate(plate, "point", per_meter * copy.plate(plate, "point"))
    report = copy.examined(tmp_path)
    assert set(report.codes) == {"point_units"}, str(report)
    assert all(f"in {name}" in finding.what for finding in report.of("error"))


def test_points_of_which_some_stray_are_in_no_other_unit(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    for plate in copy.plates():
        carries = np.flatnonzero(copy.plate(plate, "force")[:, 2] > 300.0)
        point = copy.plate(plate, "point").copy()
        point[carries[: len(carries) // 6], 0] += 6.0
        copy.set_plate(plate, "point", point)
    report = copy.examined(tmp_path)
    assert "point_units" not in report.codes and "plate_instant" in report.codes, str(report)


@pytest.mark.parametrize("axis", [0, 1])
def test_points_with_one_axis_in_millimeters_have_no_unit_of_all_axes(axis: int, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.change_plates(["point"], lambda points: points * np.where(np.arange(3) == axis, 1000.0, 1.0), "r")
    report = copy.examined(tmp_path)
    assert set(report.codes) == {"point_units"}, str(report)
    (said,) = report.of("error")
    assert f"only the numbers along {'xy'[axis]} are in millimeters" in said.what
    assert "point_unit in" not in said.remedy


@pytest.mark.parametrize("meters", [1.0, 0.0254, 0.01, 0.001])
@pytest.mark.parametrize("walked", [0.0, 0.65, 6.0], ids=["one step", "a belt", "all steps over ground"])
def test_the_points_of_a_plate_go_as_far_as_its_feet(walked: float, meters: float) -> None:
    time, step = np.linspace(0.0, 5.0, 501), np.array([1.0, 0.0, 0.0])
    heel = np.outer(time / 5.0, walked * step)
    feet = [FootTrack(time, heel + at, heel + at + 0.2 * step) for at in (0.0, 0.3 * step)]
    point = (heel + np.outer(time / 5.0, 0.15 * step))[:, :2] / meters
    _, _, factor = unit_of_points(time, point, np.ones(501, bool), feet)
    assert factor == (None if meters == 1.0 else meters)


@pytest.mark.parametrize(("factor", "is_found"), [(2.0, False), (10.0, True)])
def test_a_free_moment_that_no_friction_bears_is_named(factor: float, is_found: bool, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    (plate,) = copy.plates("r")
    copy.set_plate(plate, "moment", factor * copy.plate(plate, "moment"))
    found = [each for each in copy.examined(tmp_path).findings if each.code == "free_moment"]
    assert len(found) == is_found and all("mm times the vertical force" in each.what for each in found)


@pytest.mark.parametrize("per_meter", [0.001, 1 / 25.4, 1 / 304.8])
def test_markers_are_brought_to_meters_from_their_unit(per_meter: float, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.put(per_meter * copy.walk.position)
    assert copy.static is not None
    copy.put(per_meter * copy.static.position, static=True)
    report = copy.examined(tmp_path)
    # Five decimals of a millimeter: what is far too small has lost its digits.
    assert report.codes[:1] == ("marker_units",), str(report)
    if per_meter > 0.001:
        assert set(report.codes) == {"marker_units"}, str(report)


def scaled_without(lines: str, per_meter: float, folder: Path) -> Path:
    """The stride with positions times a factor, its trial file without the lines of a pattern."""
    copy = TrialCopy(STRIDE)
    copy.put(per_meter * copy.walk.position)
    path = copy.write(folder)
    text = re.sub(rf"(?m)^{lines}$", "", path.read_text(encoding="utf-8"))
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("per_meter", [0.1, 1.0, 1000.0])
def test_a_factor_of_ten_or_more_shows_without_a_stature(per_meter: float, tmp_path: Path) -> None:
    """As in a drafted file; before, every pair of markers was called merged, and the cause was not said."""
    report = examined(scaled_without("stature_m.*", per_meter, tmp_path))
    assert set(report.codes) == {"trial_file", *["marker_units"] * (per_meter != 1.0)}, str(report)


@pytest.mark.parametrize("per_meter", [0.001, 0.1, 1.0, 10.0, 3.28084])
def test_a_factor_of_ten_or_more_or_feet_show_without_shoulders(per_meter: float, tmp_path: Path) -> None:
    path = scaled_without(r"(shoulder|elbow|wrist)\w* = .*", per_meter, tmp_path)
    named = [entry.what for entry in examined(path).of("error") if entry.code == "marker_units"]
    assert len(named) == (per_meter != 1.0) and all("front spines" in what for what in named)


@pytest.mark.parametrize(("rate_hz", "marker_set"), [(200.0, "plug_in_gait"), (500.0, "gait2392")])
def test_a_resting_marker_in_whole_millimeters_is_not_frozen(
    marker_set: str, rate_hz: float, tmp_path: Path
) -> None:
    trial = synthetic_recording(
        tmp_path, truth=False, marker_set=marker_set, decimals=0, marker_rate_hz=rate_hz
    )
    assert examined(trial).codes == ()


def test_times_in_milliseconds_are_called_so(tmp_path: Path) -> None:
    folder = shutil.copytree(STRIDE.parent, tmp_path / "stride")
    table = read_mot(folder / "forces.mot")
    write_mot(folder / "forces.mot", replace(table, time=1000.0 * table.time))
    first = examined(folder / "trial.toml").findings[0]
    assert first.code == "low_rate" and first.severity == "error" and "milliseconds" in first.what
