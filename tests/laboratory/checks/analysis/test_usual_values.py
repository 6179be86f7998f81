"""Settings far from their usual range are warnings, whatever table they stand in."""

from pathlib import Path

import pytest
from trial_copy import TrialCopy

import musclesolve
from musclesolve import check

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"

UNUSUAL = {
    "muscles.strength": "0.5",
    "filter.unloaded_below_n": "150",
    "filter.order": "8",
    "filter.force_cutoff_hz": "3",
    "gaps.spline_s": "0.5",
    "consistency.weights": "{ toe_r = 100.0 }",
    "subject.segments.shank_r": "{ mass_factor = 3.0 }",
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_a_setting_far_from_its_usual_range_is_named_with_its_place(name: str, tmp_path: Path) -> None:
    copy, (table, _, key) = TrialCopy(STRIDE), name.rpartition(".")
    copy.set_key(table, key, UNUSUAL[name])
    (found,) = (f for f in check(copy.write(tmp_path)).findings if f.code == "unusual_value")
    assert found.severity == "warning"
    assert name.split(".")[1] in found.what and name.split(".")[1] in (found.where.field or "")


def test_a_mass_is_unusual_at_the_stature_that_is_stated(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.set_key("subject", "mass_kg", "140.0")
    said = [f.what for f in check(copy.write(tmp_path)).findings if f.code == "unusual_value"]
    assert [what.rpartition(" at ")[2] for what in said] == ["stature_m = 1.7"]
