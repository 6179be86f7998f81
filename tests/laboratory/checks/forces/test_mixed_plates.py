"""Force of other plates in a plate, told from a wrong zero by its variation while the foot is in the air."""

from __future__ import annotations

from pathlib import Path

import pytest
from trial_copy import TrialCopy

from musclesolve.studies.synthetic.faults import lift_right_plate, mix_plates


@pytest.mark.parametrize(
    ("plant", "code"),
    [
        (lambda copy: mix_plates(copy, 0.03), "plate_channel"),
        (lambda copy: lift_right_plate(copy, 22.0, 22.0), "plate_baseline"),
    ],
)
def test_a_share_of_the_other_plate_is_no_wrong_zero(tmp_path: Path, plant, code) -> None:
    copy = TrialCopy()
    plant(copy)
    codes = {each.code for each in copy.examined(tmp_path, costs=False).findings if each.severity == "error"}
    assert codes == {code}
