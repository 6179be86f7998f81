"""Without markers of the trunk great errors of plates and clock are found, and named rightly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from examined import examined, loaded
from recorded_data import recorded
from trial_copy import TrialCopy

from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.checks.forces.newtons_law import frame_rate
from musclesolve.laboratory.checks.forces.plate_axes import horizontal_axes

STRIDE = reference_stride()


def reverse(copy: TrialCopy, side: str, axis: int) -> None:
    """Reverse a horizontal channel of the plate of a side: 0 forward, 1 left."""
    plate = copy.plates(side)[0]
    force = copy.plate(plate, "force")
    force[:, axis] *= -1.0
    copy.set_plate(plate, "force", force)


def later(copy: TrialCopy, shift: float) -> None:
    """Let the forces come later by a shift [s]."""
    copy.forces.time[:] += shift


def changed(change: Callable[[TrialCopy], None] | None, trial: Path, folder: Path) -> Path:
    """Write a changed copy that knows only pelvis and legs."""
    copy = TrialCopy(trial)
    upper = ("shoulder", "elbow", "wrist", "hand", "neck", "head")
    copy.lines[:] = [line for line in copy.lines if not line.startswith(upper)]
    if change is not None:
        change(copy)
    return copy.write(folder)


def without_trunk(change: Callable[[TrialCopy], None] | None, trial: Path, folder: Path):
    """Examine a changed copy that knows only pelvis and legs."""
    return examined(changed(change, trial, folder))


@pytest.mark.in_part(2)
@pytest.mark.parametrize("axis", [0, 1], ids=["forward", "left"])
@pytest.mark.parametrize("side", ["r", "l"])
def test_a_reversed_channel_is_named(side: str, axis: int, tmp_path: Path) -> None:
    report = without_trunk(partial(reverse, side=side, axis=axis), STRIDE, tmp_path)
    assert report.codes == ("plate_axes",), str(report)
    (finding,) = report.of("error")
    assert finding.where.plate == {"r": "right", "l": "left"}[side]
    assert f"the {('forward', 'left')[axis]} force" in finding.what


def test_a_dead_channel_stops_no_check(tmp_path: Path) -> None:
    """Before, the balance of the plates asked for its gain, and failed."""

    def change(copy: TrialCopy) -> None:
        copy.set_plate(plate := copy.plates("r")[0], "force", copy.plate(plate, "force") * [0.0, 1.0, 1.0])

    assert "check_failed" not in without_trunk(change, STRIDE, tmp_path).codes


def test_a_plate_turned_by_half_a_turn_is_repaired_whole(tmp_path: Path) -> None:
    def change(copy: TrialCopy) -> None:
        reverse(copy, "l", 0)
        reverse(copy, "l", 1)

    case = loaded(changed(change, STRIDE, tmp_path))
    found = list(horizontal_axes(case))
    assert [each.code for each in found] == ["plate_axes", "plate_axes"]
    for each in found:
        case = case.repaired(each)
    assert list(horizontal_axes(case)) == []


def test_a_foot_that_crosses_under_the_pelvis_may_push_outward(tmp_path: Path) -> None:
    def change(copy: TrialCopy) -> None:
        position = copy.walk.position.copy()
        for k, name in enumerate(copy.walk.names):
            if name.endswith("_l") and name.startswith(("knee", "ankle", "heel", "toe", "metatarsal")):
                position[:, k, 1] -= 0.2
        copy.put(position)
        plate = copy.plates("l")[0]
        copy.set_plate(plate, "point", copy.plate(plate, "point") - [0.0, 0.2, 0.0])
        reverse(copy, "l", 1)

    assert "plate_axes" not in without_trunk(change, STRIDE, tmp_path).codes


@pytest.mark.in_part(2)
@pytest.mark.parametrize("shift", [-0.06, -0.04, 0.04, 0.06, 0.09])
def test_a_shift_of_the_forces_is_found(shift: float, tmp_path: Path) -> None:
    report = without_trunk(partial(later, shift=shift), STRIDE, tmp_path)
    assert report.codes == ("time_offset",), str(report)


@pytest.mark.in_part(2)
def test_a_sound_walk_is_not_accused(tmp_path: Path) -> None:
    assert without_trunk(None, STRIDE, tmp_path).codes == ()


@pytest.mark.parametrize("walk", ["treadmill_emg/s01/trial.toml", "instrumented_knee/walk_ss1.toml"])
def test_an_unseen_trunk_accuses_no_plate_and_no_scale(walk: str, tmp_path: Path) -> None:
    """Its sway looks like forward forces of another size, and on a treadmill like another scale of space."""
    assert not {"plate_scale", "space_scale"} & {*without_trunk(None, recorded(walk), tmp_path).codes}


def test_an_unseen_trunk_does_not_delay_the_forward_force(recorded_walk_trial: Trial, tmp_path: Path) -> None:
    assert without_trunk(None, recorded_walk_trial.path, tmp_path).codes == ()


def test_a_wrong_frame_rate_is_named(tmp_path: Path) -> None:
    def change(copy: TrialCopy) -> None:
        rate = 2.0 * copy.walk.rate
        time = copy.walk.time
        copy.walk = replace(copy.walk, time=time[0] + (time - time[0]) * copy.walk.rate / rate)

    case = loaded(changed(change, STRIDE, tmp_path / "case"))
    (fault,) = frame_rate(case)
    trial, start = case.trial, case.trial.markers.time[0]
    mended = case.repaired(fault).trial
    assert not mended.legs
    stated = np.array([*trial.markers.time, *trial.time_range])
    np.testing.assert_allclose([*mended.markers.time, *mended.time_range], start + 2.0 * (stated - start))
    report = without_trunk(change, STRIDE, tmp_path)
    # At a higher rate the recording ends before the stated time range does.
    assert set(report.codes) - {"time_range"} == {"clock_rate"}, str(report)
    assert any("only 60 Hz makes them fit" in error.what for error in report.of("error"))


@pytest.mark.parametrize(("side", "factor"), [("r", 0.88), ("l", 1.12), ("l", 1.0)])
def test_a_plate_of_another_scale_is_found_by_both_single_supports(
    side: str, factor: float, recorded_walk_trial: Trial, tmp_path: Path
) -> None:
    def scaled(copy: TrialCopy) -> None:
        for plate in copy.plates(side):  # type: ignore[arg-type]
            for role in ("force", "moment"):
                copy.set_plate(plate, role, factor * copy.plate(plate, role))

    report = without_trunk(scaled, recorded_walk_trial.path, tmp_path)
    plates = [f.where.plate for f in report.findings if f.code == "plate_scale"]
    assert plates == ([{"r": "right", "l": "left"}[side]] if factor != 1.0 else [])
