"""Every planted fault is found by its own finding, first in the report; what is clean yields nothing above a note."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from examined import examined
from package_tables import package_table
from thorough import of_each

import musclesolve
from musclesolve import check
from musclesolve.files import Trial
from musclesolve.studies.synthetic import faults, plant

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"
# What is looked for in the place of a finding, besides its code.
PLACES = {
    "knee_markers_swapped": {"R.Knee", "L.Knee"},
    "ankle_swapped_for_a_while": {"R.Ankle", "L.Ankle"},
    "heel_and_toe_exchanged": {"R.Heel", "R.Toe"},
    "marker_slipped": {"R.Ankle"},
    "marker_moved_after_standing": {"R.MT5"},
    "marker_frozen": {"L.Heel"},
    "gap": {"L.Wrist"},
    "leap": {"R.Knee"},
    "ghost": {"R.Heel"},
    "two_labels_on_one_marker": {"L.MT5", "L.Toe"},
    "knee_marker_20mm_inward": {"R.Knee", "R.MKnee"},
}
PLATES = {
    "contact_not_measured": "left",
    "force_without_contact": "right",
    "pressure_offset_100mm": "right",
    "points_stray": "left",
    "plate_drift": "right",
    "plate_baseline": "right",
    "plate_clipped": "left",
    "plate_turned": "right",
    "pressure_runs_backward": "right",
    "right_points_30mm_ahead": "right",
    "left_points_30mm_behind": "left",
    "right_points_30mm_left": "right",
    "left_points_30mm_left": "left",
    "right_points_15mm_ahead_and_left": "right",
    "left_points_15mm_ahead_and_right": "left",
    "right_plate_10_percent_low": "right",
    "left_plate_10_percent_low": "left",
    "right_free_moment_reversed": "right",
    "left_free_moment_reversed": "left",
}
# What cannot but be reported as well.
AS_WELL = {
    "forces_cut": {"time_range"},
    # The rate of the clock shows beside the mean delay that it causes.
    "force_clock_slow": {"clock_rate"},
    # The swinging foot gets force of the other plate.
    "crosstalk_between_plates": {"force_without_contact", "pressure_outside"},
}
ON_THE_STRIDE = [
    "cameras_tilted_left",
    "contact_not_measured",
    "forces_early_12ms",
    "forces_early_30ms",
    "knee_markers_swapped",
    "mass_wrong",
    "plate_drift",
    "plate_turned",
    "plates_tilted_left",
    "vertical_tilted_left",
]


@pytest.fixture(scope="module")
def planted(recorded_walk_trial: Trial, tmp_path_factory: pytest.TempPathFactory):
    """The report on the recorded walk with a fault, checked once."""

    def report(name: str):
        return examined(plant(name, recorded_walk_trial.path, tmp_path_factory.mktemp(name)), costs=False)

    return cache(report)


@pytest.mark.parametrize("name", of_each(faults(), lambda name: faults()[name].code))
def test_each_fault_of_the_recorded_walk_is_found(name: str, planted) -> None:
    report = planted(name)
    own = faults()[name].code
    if own is None:
        # What no recording shows accuses nothing else.
        assert report.codes == (), str(report)
        return
    first = report.findings[0]
    assert first.code == own
    assert first.severity in ("error", "warning")
    # One fault, one kind of finding: nothing else is blamed.
    assert set(report.codes) <= {own} | AS_WELL.get(name, set()), str(report)
    if name in PLACES:
        assert set(first.where.markers) == PLACES[name]
    if name in PLATES:
        assert first.where.plate == PLATES[name]


@pytest.mark.parametrize("name", ON_THE_STRIDE)
def test_faults_of_the_reference_stride_are_found(name: str, tmp_path: Path) -> None:
    report = examined(plant(name, STRIDE, tmp_path))
    assert set(report.codes) == {faults()[name].code}, str(report)


def test_clean_recordings_yield_nothing_above_a_note(walk_with_emg: Path) -> None:
    for path in (walk_with_emg, STRIDE):
        report = check(path)
        assert report.codes == (), str(report)
        assert report.ok


def test_every_fault_names_a_code_that_there_is() -> None:
    assert len(faults()) >= 40
    assert {fault.code for fault in faults().values()} - {None} <= set(
        package_table("laboratory/results/findings.toml")
    )
    assert all(fault.about.endswith(".") for fault in faults().values())


def test_a_shift_is_measured_with_its_sign(planted) -> None:
    late, early = (planted(name).findings[0] for name in ("forces_late_50ms", "forces_early_30ms"))
    measured = [int(finding.what.partition("(")[2].partition(" ms")[0]) for finding in (late, early)]
    assert abs(measured[0] - 50) <= 8
    assert abs(measured[1] + 30) <= 8


def test_times_and_sizes_are_those_of_the_fault(recorded_walk_trial: Trial, planted) -> None:
    slip = planted("marker_slipped").findings[0]
    middle = sum(recorded_walk_trial.time_range) / 2
    assert slip.where.times[0][0] == pytest.approx(middle, abs=0.011)
    assert 25 <= float(slip.what.partition("moves by ")[2].partition(" mm")[0]) <= 35
    shifted = planted("pressure_offset_100mm").findings[0]
    ahead = float(shifted.what.partition("(")[2].partition(" mm")[0])
    assert 80 <= ahead <= 120
    swapped = planted("ankle_swapped_for_a_while").findings[0]
    (span,) = swapped.where.times
    assert span[1] - span[0] == pytest.approx(0.19, abs=0.011)


def test_faults_do_not_hide_each_other(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    names = ("forces_late_50ms", "marker_slipped", "plate_baseline", "plates_mirrored", "stature_wrong")
    trial = recorded_walk_trial.path
    for name in names:
        trial = plant(name, trial, tmp_path / name)
    assert set(check(trial).codes) == {faults()[name].code for name in names}


def test_two_faults_are_both_found(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    once = plant("up_axis_wrong", recorded_walk_trial.path, tmp_path / "once")
    text = once.read_text(encoding="utf-8").replace('up = "+z"', 'up = "+y"')
    once.write_text(text, encoding="utf-8")
    twice = plant("force_in_kilonewtons", once, tmp_path / "twice")
    thrice = plant("knee_markers_swapped", twice, tmp_path / "thrice")
    text = thrice.read_text(encoding="utf-8").replace('up = "+y"', 'up = "+z"')
    thrice.write_text(text, encoding="utf-8")
    assert set(check(thrice).codes) == {"up_axis", "force_units", "pair_swapped"}
