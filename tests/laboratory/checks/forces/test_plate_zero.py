"""The zero of the plates in every direction, and what is no fault of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drafted_folders import as_c3d, drafted, recordings
from examined import examined
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory import PlateForce, Trial
from musclesolve.laboratory.checks.case import case_of
from musclesolve.laboratory.checks.forces.plate_zero_and_saturation import (
    LARGEST_ZERO,
    SWAYS,
    ZERO,
    force_steps,
    points_of_other_plates,
)
from musclesolve.studies import synthetic_recording

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"


def add(copy: TrialCopy, side: str, force: np.ndarray) -> None:  # type: ignore[type-arg]
    """Add a force (3,) or (S, 3) to what the channels of a plate show; the point is computed from them."""
    for plate in copy.plates(side):  # type: ignore[arg-type]
        copy.set_plate(plate, "force", copy.plate(plate, "force") + force)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("axis", "side", "sign"), [(0, "r", 1.0), (1, "l", 1.0), (2, "r", -1.0)])
def test_a_wrong_zero_is_found_in_every_direction(axis: int, side: str, sign: float, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    add(copy, side, 20.0 * sign * np.eye(3)[axis])
    report = copy.examined(tmp_path)
    assert set(report.codes) == {"plate_baseline"}, str(report)
    off = f"{20.0 * sign:.1f} N {('forward', 'to the left', 'upward')[axis]}"
    assert off in report.findings[0].what


@pytest.mark.parametrize(("axis", "hertz", "share"), [(0, 4.0, 1.8), (1, 8.0, 1.8), (0, 4.0, 0.8)])
def test_a_plate_that_vibrates_is_found_in_the_swings_of_its_foot(
    axis: int, hertz: float, share: float, tmp_path: Path
) -> None:
    copy = TrialCopy(STRIDE)
    wave = share * SWAYS * np.sqrt(2.0) * np.sin(2.0 * np.pi * hertz * copy.forces.time)
    add(copy, "r", wave[:, None] * np.eye(3)[axis])
    found = [each for each in copy.examined(tmp_path).findings if each.code == "plate_baseline"]
    assert ["sways" in each.what for each in found] == [True] * (share > 1.0)


def test_a_plate_that_was_zeroed_by_the_mean_of_the_trial_names_what_to_subtract(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    mean = copy.plate(copy.plates("r")[0], "force").mean(axis=0)
    add(copy, "r", -mean)
    report = copy.examined(tmp_path)
    assert report.codes == ("plate_baseline",), str(report)
    assert f"{-mean[2]:.1f} N upward" in report.findings[0].what


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("share", "codes"), [(0.7, set()), (1.3, {"plate_baseline"})])
@pytest.mark.parametrize("axis", [0, 2])
def test_the_limit_of_the_zero(axis: int, share: float, codes: set[str], tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    add(copy, "r", share * ZERO * np.eye(3)[axis])
    assert set(copy.examined(tmp_path).codes) == codes


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("share", "found"), [(0.7, True), (1.3, False)])
def test_a_great_force_in_the_swing_is_no_zero(share: float, found: bool, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    add(copy, "r", share * LARGEST_ZERO * np.eye(3)[2])
    assert ("plate_baseline" in copy.examined(tmp_path).codes) == found


@pytest.mark.in_part(2)
@pytest.mark.parametrize("size", [-30.0, 12.0])
def test_a_step_of_the_zero_is_not_blamed_on_the_feet(size: float, tmp_path: Path) -> None:
    copy = TrialCopy(synthetic_recording(tmp_path / "whole", strides=4, truth=False, force_rate_hz=300.0))
    late = copy.forces.time > np.mean(copy.span)
    add(copy, "r", size * late[:, None] * np.eye(3)[2])
    report = copy.examined(tmp_path / "spoiled")
    assert report.codes[:1] == ("plate_drift",), str(report)
    assert not {"force_without_contact", "contact_without_force"} & set(report.codes), str(report)


@pytest.mark.thorough
def test_a_zero_that_leaves_and_comes_back_drifts(tmp_path: Path) -> None:
    copy = TrialCopy(synthetic_recording(tmp_path / "whole", strides=4, truth=False, force_rate_hz=300.0))
    first, last = copy.span
    middle = np.abs(copy.forces.time - 0.5 * (first + last)) < 0.15 * (last - first)
    add(copy, "r", 12.0 * middle[:, None] * np.eye(3)[2])
    (found,) = [
        each
        for each in copy.examined(tmp_path / "spoiled").findings
        if each.code in ("plate_drift", "plate_baseline")
    ]
    assert found.code == "plate_drift" and "+12 N upward" in found.what


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("size", "found"), [(7.0, False), (16.0, True)])
def test_a_drift_is_no_unit(size: float, found: bool, tmp_path: Path) -> None:
    copy = TrialCopy(synthetic_recording(tmp_path / "whole", strides=3, truth=False, force_rate_hz=300.0))
    add(copy, "l", np.linspace(0.0, size, copy.forces.time.size)[:, None] * np.eye(3)[2])
    report = copy.examined(tmp_path / "spoiled")
    assert ("plate_drift" in report.codes) == found, str(report)
    assert "point_units" not in report.codes


def test_samples_that_are_held_are_no_amplifier_at_its_limit(tmp_path: Path) -> None:
    """Forces of 50 Hz, each held until the next: the greatest one is held, too."""
    copy = TrialCopy()
    held = round(0.02 / float(np.diff(copy.forces.time).mean()))
    for plate in copy.plates():
        for role in ("force", "point", "moment"):
            values = copy.plate(plate, role)
            copy.set_plate(plate, role, values[np.arange(len(values)) // held * held])
    said = [each.what for each in copy.examined(tmp_path).findings if each.code == "plate_clipped"]
    assert said and all("values were held" in what for what in said), said


@pytest.mark.parametrize(("milliseconds", "codes"), [(60, ("plate_clipped",)), (12, ())])
def test_a_recorder_that_holds_its_last_sample_is_found(
    milliseconds: int, codes: tuple[str, ...], tmp_path: Path
) -> None:
    copy = TrialCopy(STRIDE)
    plate = copy.plates("r")[0]
    force = copy.plate(plate, "force")
    first = int(np.flatnonzero(force[:, 2] > 300.0)[20])
    force[first : first + round(0.001 * milliseconds * copy.forces.time.size / np.ptp(copy.forces.time))] = (
        force[first]
    )
    copy.set_plate(plate, "force", force)
    found = [each for each in copy.examined(tmp_path).findings if each.code == "plate_clipped"]
    assert tuple(each.code for each in found) == codes
    assert all("the whole force stays exactly the same" in each.what for each in found)


def test_channels_of_coarse_steps_hold_no_sample(tmp_path: Path) -> None:
    copy = TrialCopy(synthetic_recording(tmp_path / "whole", truth=False, force_rate_hz=1000.0))
    for plate in copy.plates("r"):
        copy.set_plate(plate, "force", 25.0 * np.round(copy.plate(plate, "force") / 25.0))
    report = copy.examined(tmp_path / "coarse")
    assert not [each for each in report.findings if "held its last sample" in each.what]


def test_the_zero_of_a_plate_in_a_c3d_file_is_told_and_taken_off(tmp_path: Path) -> None:
    """Its force counts only under the foot, so the zero shows in what the plate reads before and after."""

    def shifted(file: Any) -> None:
        file["data"]["analogs"][0, 2] += 18.0

    path = drafted(as_c3d(recordings(tmp_path / "text"), tmp_path / "c3d", shifted))
    (found,) = [each for each in examined(path).findings if each.code == "plate_baseline"]
    assert "-18.0 N upward" in found.what and found.where.file.name == "walk.c3d"
    path.write_text(path.read_text() + "\n[plates]\nvertical_zero_n = { 1 = -18.0 }\n")
    assert "plate_baseline" not in examined(path).codes


@pytest.mark.parametrize(
    ("factor", "lost", "plates"), [(1.12, 0.0, {"left"}), (1.0, 0.02, {"right", "left"}), (1.0, 0.0, set())]
)
def test_a_force_that_goes_on_at_another_level_is_found(
    factor: float, lost: float, plates: set[str], recorded_walk_trial: Trial
) -> None:
    """A gain changes amid a step, or samples are lost in double support."""
    trial, changed = recorded_walk_trial, list[PlateForce]()
    for plate in trial.forces:
        first, gain = int(0.62 * len(plate.time)), np.ones((len(plate.time), 1))
        gain[int(0.58 * len(plate.time)) :] = factor if plate.side == "l" else 1.0
        later = round(lost * plate.rate)
        force = np.concatenate([(gain * plate.force)[:first], plate.force[first + later :]])
        force = np.concatenate([force, np.repeat(force[-1:], later, axis=0)]) if lost else gain * plate.force
        changed.append(replace(plate, force=force))
    case = case_of(replace(trial, forces=tuple(changed)))
    assert {finding.where.plate for finding in force_steps(case)} == plates


@pytest.mark.parametrize(("threshold", "found"), [(10.0, False), (30.0, False), (80.0, True)])
def test_thresholds_of_plates_that_are_added_under_a_foot_are_small_steps(
    threshold: float, found: bool, recorded_walk_trial: Trial
) -> None:
    """A foot rolls from one plate to another one; a program sets small forces of each to zero and adds both.

    The subject is light, so that thresholds are a great share of the body weight.
    """
    trial, added = recorded_walk_trial, list[PlateForce]()
    light = replace(trial, subject=replace(trial.subject, mass=0.5 * trial.subject.mass))
    for plate in trial.forces:
        bears = np.flatnonzero(plate.force[:, 2] > 300.0)
        share = np.interp(np.arange(len(plate.time)), bears[[0, -1]], [-0.5, 1.5]).clip(0.0, 1.0)[:, None]
        parts = 0.5 * share * plate.force, 0.5 * (1.0 - share) * plate.force
        force = sum(np.where(part[:, 2:] < threshold, 0.0, part) for part in parts)
        added.append(replace(plate, force=np.asarray(force)))
    assert bool(list(force_steps(case_of(replace(light, forces=tuple(added)))))) == found


def test_samples_that_are_missing_at_stated_times_are_no_steps(recorded_walk_trial: Trial) -> None:
    trial, cut = recorded_walk_trial, list[PlateForce]()
    for plate in trial.forces:
        kept = np.abs(plate.time - 0.93) > 0.025
        parts = {name: getattr(plate, name)[kept] for name in ("time", "force", "point", "moment")}
        cut.append(replace(plate, unloaded=None, **parts))
    assert not list(force_steps(case_of(replace(trial, forces=tuple(cut)))))


@pytest.mark.parametrize(
    ("axis", "name"), [(0, "forward coordinate"), (1, "sideward coordinate"), (None, "")]
)
def test_points_whose_coordinate_two_plates_exchanged(
    axis: int | None, name: str, recorded_walk_trial: Trial
) -> None:
    trial = recorded_walk_trial
    one, other = (plate.point for plate in trial.forces)
    points = [np.where(np.arange(3) == axis, b, a) for a, b in ((one, other), (other, one))]
    forces = tuple(replace(plate, point=point) for plate, point in zip(trial.forces, points, strict=True))
    said = list(points_of_other_plates(case_of(replace(trial, forces=forces))))
    assert len(said) == 2 * (axis is not None)
    assert all(f"with the {name} of another plate" in entry.what for entry in said)


def test_exchanged_points_of_two_plates_are_named(tmp_path: Path) -> None:
    """And nothing else is: before, they were called points in inches, or held samples."""
    copy = TrialCopy(STRIDE)
    points = {plate: copy.plate(plate, "point") for plate in copy.plates()}
    for plate, other in zip(points, reversed(points), strict=True):
        copy.set_plate(plate, "point", points[other])
    report = copy.examined(tmp_path)
    assert set(report.codes) == {"plates_swapped"}, str(report)
    assert all("points of the plates are exchanged" in entry.what for entry in report.of("error"))


@pytest.mark.parametrize(("newtons", "named"), [(0.0, False), (20.0, False), (50.0, True), (100.0, True)])
def test_small_forces_that_were_set_to_zero_are_named(newtons: float, named: bool, tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    for plate in copy.plates("r"):
        force = copy.plate(plate, "force")
        copy.set_plate(plate, "force", force * (force[:, 2:] > newtons))
    report = copy.examined(tmp_path)
    cut = [entry.what for entry in report.findings if entry.code == "plate_clipped"]
    assert [what.startswith("all contacts of the right plate begin and end at") for what in cut] == [
        True
    ] * named
