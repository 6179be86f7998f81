"""A plate whose scale, place or clock is another one in a single contact, and points of force that are held."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded
from trial_copy import TrialCopy

from musclesolve._util.arrays import true_runs

Change = Callable[[TrialCopy, slice], None]


def scaled(copy: TrialCopy, contact: slice) -> None:
    (plate,) = copy.plates("l")
    force = copy.plate(plate, "force").copy()
    force[contact] *= 1.15
    copy.set_plate(plate, "force", force)


def moved(copy: TrialCopy, contact: slice) -> None:
    (plate,) = copy.plates("l")
    point = copy.plate(plate, "point").copy()
    point[contact, 0] += 0.03
    copy.set_plate(plate, "point", point)


def late(copy: TrialCopy, contact: slice) -> None:
    around, count = slice(contact.start - 60, contact.stop + 60), round(0.025 * 1000.0)
    copy.change_plates(["force", "point", "moment"], lambda values: rolled(values, around, count), "l")


def rolled(values: np.ndarray, around: slice, count: int) -> np.ndarray:
    changed = values.copy()
    changed[around] = np.roll(values[around], count, axis=0)
    return changed


def held(copy: TrialCopy, contact: slice) -> None:
    (plate,) = copy.plates("l")
    point = copy.plate(plate, "point").copy()
    middle = (contact.start + contact.stop) // 2
    point[middle : contact.stop] = point[middle]
    copy.set_plate(plate, "point", point)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (scaled, "plate_scale", "then it shows 1.1"),
        (moved, "pressure_offset", "in the contact that begins at"),
        (late, "clock_rate", "the delay between markers and forces changes"),
        (held, "plate_clipped", "the point of force stays exactly the same"),
    ],
)
def test_an_error_of_one_contact_is_found_by_name(
    change: Change, code: str, words: str, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded("treadmill_emg/s01/trial.toml"))
    (plate,) = copy.plates("l")
    contacts = [run for run in true_runs(copy.plate(plate, "force")[:, 2] > 20.0) if run[1] - run[0] > 400]
    change(copy, slice(*contacts[len(contacts) // 2]))
    (found, *others) = (f for f in copy.examined(tmp_path).findings if f.severity != "note")
    assert found.code == code and words in found.what
    assert found.where.plate == "left" or change is late  # a late plate may look like a clock that changes
    assert not others


def test_errors_of_an_elbow_marker_leave_the_plates_judged(tmp_path: Path) -> None:
    """A recording whose elbow marker slips: plates that are off 15 mm in opposite directions are found."""
    copy = TrialCopy(recorded("treadmill_walk/p1/walk.toml"))
    for side, ahead in (("r", -0.015), ("l", 0.015)):
        away = [ahead, 0.0, 0.0]
        copy.change_plates(["point"], lambda point, away=away: point + away, side)  # type: ignore[misc]
    found = {(f.code, f.where.plate) for f in copy.examined(tmp_path).findings}
    assert ("pressure_offset", "left") in found
    assert any(code == "marker_slipped" for code, _ in found)
