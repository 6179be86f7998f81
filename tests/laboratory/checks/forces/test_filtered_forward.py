"""Forces that were filtered forward in time alone are late, and pull down after each contact."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded
from scipy.signal import butter, filtfilt, lfilter
from trial_copy import TrialCopy

from musclesolve.laboratory import Trial
from musclesolve.laboratory.checks.case import load
from musclesolve.laboratory.checks.forces.newtons_law import pull_after_contacts


def filtered(trial: Trial, hertz: float, forward_alone: bool) -> Trial:
    plates = []
    for plate in trial.forces:
        b, a = butter(2, hertz / (0.5 * plate.rate))
        force = (lfilter if forward_alone else filtfilt)(b, a, plate.force, axis=0)
        plates.append(replace(plate, force=np.asarray(force)))
    return replace(trial, forces=tuple(plates))


@pytest.mark.parametrize(("hertz", "least"), [(6.0, 8.0), (10.0, 1.0), (15.0, 0.4)])
def test_plates_pull_after_contacts_if_their_filter_ran_forward_alone(
    hertz: float, least: float, recorded_walk_trial: Trial
) -> None:
    assert pull_after_contacts(recorded_walk_trial) == 0.0
    assert pull_after_contacts(filtered(recorded_walk_trial, hertz, False)) == 0.0
    assert pull_after_contacts(filtered(recorded_walk_trial, hertz, True)) > least


@pytest.mark.parametrize(("milliseconds", "found"), [(-4.0, False), (-10.0, True), (10.0, False)])
def test_forces_that_come_before_the_motion_are_found_from_what_soft_tissue_allows(
    milliseconds: float, found: bool, tmp_path: Path
) -> None:
    copy = TrialCopy()
    copy.forces = replace(copy.forces, time=copy.forces.time + milliseconds / 1000.0)
    assert ("time_offset" in copy.examined(tmp_path).codes) == found


def test_forces_that_are_filtered_forward_are_named(tmp_path: Path) -> None:
    copy = TrialCopy()
    b, a = butter(2, 12.0 / (0.5 / float(np.diff(copy.forces.time).mean())))
    for plate in copy.plates():
        copy.set_plate(plate, "force", lfilter(b, a, copy.plate(plate, "force"), axis=0))
    report = copy.examined(tmp_path)
    assert report.codes[0] == "time_offset" and "forward in time alone" in report.findings[0].what, str(
        report
    )


def test_a_filter_that_is_unusual_is_not_blamed_on_the_plates(tmp_path: Path) -> None:
    copy = TrialCopy(recorded("treadmill_walk/p1/walk.toml"))
    copy.set_key("filter", "force_cutoff_hz", "1.0")
    codes = copy.examined(tmp_path).codes
    assert "unusual_value" in codes and "plate_scale" not in codes


def test_without_readable_plates_no_range_is_known(tmp_path: Path) -> None:
    """Gaps of markers are then no errors: nobody knows which of them are in the range."""
    copy = TrialCopy()
    column = copy.settings.force[0].force
    kept = (line for line in copy.lines if not line.startswith(("start_s", "end_s")))
    copy.lines = [line.replace(f'"{column}"', '"no_such_"') for line in kept]
    case, findings = load(copy.write(tmp_path))
    assert case is not None and findings and case.lacks_range
