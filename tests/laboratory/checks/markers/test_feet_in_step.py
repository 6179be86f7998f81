"""A leg whose markers are late against its plate is named by the other leg; front spines far ahead by the pelvis."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

import musclesolve
from musclesolve.laboratory.checks.markers.trajectories import feet_in_step
from tests.support.examined import loaded
from tests.support.recorded_data import recorded

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"
LEG = ("knee_lateral", "knee_medial", "ankle_lateral", "ankle_medial", "heel", "toe", "metatarsal_5")
BELTS = "treadmill_walk/p1/walk.toml"


@pytest.mark.parametrize("name", ["", BELTS])
@pytest.mark.parametrize(("side", "seconds"), [("r", 0.033), ("l", 0.033), ("l", -0.033), ("r", 0.0)])
def test_a_late_leg_is_named_with_its_delay(name: str, side: str, seconds: float, tmp_path: Path) -> None:
    copy = TrialCopy(recorded(name) if name else STRIDE)
    frames, position = round(seconds * copy.walk.rate), copy.walk.position.copy()
    markers = {m for part in LEG for m in copy.mapping.get(f"{part}_{side}", ()) if m in copy.walk}
    late = [copy.walk.names.index(marker) for marker in markers]
    position[:, late] = np.roll(position[:, late], frames, axis=0)
    copy.put(position)
    case = loaded(copy.write(tmp_path))
    said = [found.what for found in feet_in_step(case)]
    assert len(said) == (frames != 0)
    for what in said:
        later = {"r": "right", "l": "left"}[side if seconds > 0.0 else {"r": "l", "l": "r"}[side]]
        stops, sets_off = (
            float(part.split(" ms")[0]) for part in (what.split("stops ")[1], what.split("off ")[1])
        )
        assert what.startswith(f"the {later} foot")
        assert 0.5 * (stops + sets_off) == pytest.approx(1000 * abs(frames) / copy.walk.rate, abs=8.0)


@pytest.mark.parametrize(("ahead", "is_found"), [(0.05, True), (0.01, False)])
def test_front_spines_far_ahead_make_a_pelvis_of_no_person(
    ahead: float, is_found: bool, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded(BELTS))
    for side in "rl":
        copy.move(copy.marker(f"asis_{side}"), slice(None), copy.in_file((ahead, 0.0, 0.0)))
    pelvis = [f for f in copy.examined(tmp_path).findings if f.code == "proportions" and "pelvis" in f.what]
    assert bool(pelvis) == is_found
