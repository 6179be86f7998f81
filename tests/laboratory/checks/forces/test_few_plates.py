"""Sound recordings that show little of a walk, or none, are not accused of plates with other axes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import other_walks as walks
import pytest
from trial_copy import TrialCopy

from musclesolve.laboratory.checks.analysis import find_time_range
from musclesolve.laboratory.checks.case import load
from musclesolve.laboratory.checks.forces.plate_axes import best_rotation, horizontal_axes, way_of_pressure
from musclesolve.studies import synthetic_recording

SOUND = {
    "as it is": lambda copy: None,
    **{f"sideward force times {k}": partial(walks.scale_sideways, factor=k) for k in (0.5, 0.7)},
    **{
        f"trunk {mm} mm at {hz} Hz, {k}": partial(
            walks.sway_trunk, amplitude=0.001 * mm, frequency=hz, phase=0.25 * np.pi * k
        )
        for mm, hz, k in ((30, 0.92, 0), (8, 1.85, 4), (8, 1.85, 5), (8, 1.85, 6))
    },
}


@pytest.fixture(scope="module", params=[("r2", "l2"), ("r2", "l2", "r3")], ids=str)
def over_plates(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walk")
    return synthetic_recording(folder, truth=False, strides=3, force_rate_hz=300.0, steps=request.param)


def accused(trial: Path) -> list[str]:
    """Return the findings of the checks of the horizontal axes in the time range that check chooses."""
    case, findings = load(trial)
    assert case is not None and not findings
    case = find_time_range(case)
    return [finding.what for check in (horizontal_axes, way_of_pressure) for finding in check(case)]


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", SOUND)
def test_a_walk_over_few_plates_is_not_accused(over_plates: Path, name: str, tmp_path: Path) -> None:
    copy = TrialCopy(over_plates)
    SOUND[name](copy)
    assert not accused(copy.write(tmp_path))


def test_a_foot_that_only_pushes_and_one_that_only_brakes_show_no_rotation() -> None:
    """Both go along with an error of the sideward motion that changes sides with the feet."""
    time = np.linspace(0.0, 1.0, 100)
    push, brake = (np.where(on, 140.0 * np.sin(2 * np.pi * time), 0.0) for on in (time < 0.5, time >= 0.5))
    feet = [
        np.stack([part, np.where(part != 0.0, side, 0.0)], axis=1)
        for part, side in ((push, 30.0), (brake, -30.0))
    ]
    due = feet[0] + feet[1]
    due[:, 1] += 40.0 * np.sin(2 * np.pi * time)
    assert best_rotation(feet, due, [(0, 1), (0,), (1,)]) is None


def backward(copy: TrialCopy) -> None:
    """A walk back in time, which obeys the same laws."""
    last, time = copy.walk.time[-1], copy.forces.time
    copy.put(copy.walk.position[::-1].copy())
    columns = [np.interp(last - time, time, column) for column in copy.forces.values.T]
    copy.forces = replace(copy.forces, values=np.stack(columns, axis=1))


def test_a_center_of_pressure_goes_backward_in_a_walk_backward(tmp_path: Path) -> None:
    trial = synthetic_recording(tmp_path / "walk", truth=False, strides=2, force_rate_hz=300.0)
    copy = TrialCopy(trial)
    backward(copy)
    assert not accused(copy.write(tmp_path / "backward"))


@pytest.mark.parametrize(("gain", "severity"), [(1.0, None), (0.5, "error"), (1.2, "warning")])
def test_one_plate_that_bears_too_little_or_too_much_is_found(gain, severity, tmp_path: Path) -> None:
    """Its only contact has no other one beside it that bears the whole body."""
    trial = synthetic_recording(tmp_path / "walk", truth=False, strides=3, force_rate_hz=300.0, steps=("r2",))
    copy = TrialCopy(trial)
    for role in ("force", "moment"):
        copy.set_plate(0, role, gain * copy.plate(0, role))
    report = copy.examined(tmp_path / "changed")
    found = [(f.code, f.severity, f.where.plate) for f in report.findings if f.severity != "note"]
    assert found == ([] if severity is None else [("mass", severity, "right")]), str(report)


def test_a_contact_that_is_left_out_is_not_weighed(tmp_path: Path) -> None:
    """The other foot has a whole contact; the trunk is not seen, so that only the pelvis shows how the body rises."""
    options = {"truth": False, "strides": 3, "force_rate_hz": 300.0, "steps": ("r2", "l2")}
    copy = TrialCopy(synthetic_recording(tmp_path / "walk", **options))
    for role in ("force", "moment"):
        copy.set_plate(0, role, 0.5 * copy.plate(0, role))
    copy.lines = [line for line in copy.lines if not line.startswith(("shoulder", "neck"))]
    report = copy.examined(tmp_path / "changed")
    assert "mass" not in report.codes, str(report)
