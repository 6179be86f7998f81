"""A channel of force or moment that two plates exchanged is named with its axis, and exchanged back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from trial_copy import TrialCopy

from musclesolve.data import reference_stride
from musclesolve.laboratory.checks.files.times_units_axes import exchanged_channels
from tests.support.examined import loaded
from tests.support.recorded_data import recorded


@pytest.mark.parametrize("name", ["", "treadmill_walk/p1/walk.toml", "instrumented_knee/walk_ss9.toml"])
@pytest.mark.parametrize(
    ("role", "axis"), [("force", 0), ("force", 1), ("force", 2), ("moment", 2), ("moment", None)]
)
def test_an_exchanged_channel_is_named_and_exchanged_back(
    name: str, role: str, axis: int | None, tmp_path: Path
) -> None:
    copy = TrialCopy(recorded(name) if name else reference_stride())
    one, other = copy.plates()[:2]
    sound = [copy.plate(plate, role) for plate in (one, other)]
    for plate, own, of_other in zip((one, other), sound, sound[::-1], strict=True):
        copy.set_plate(plate, role, np.where(np.arange(3) == axis, of_other, own))
    case = loaded(copy.write(tmp_path))
    found = list(exchanged_channels(case))
    assert [f.code for f in found] == ["plates_swapped"] * (axis is not None)
    for said in found:
        of_file = copy.settings.laboratory.forward[1], copy.settings.laboratory.up[1]
        names = (of_file[0], next(k for k in "xyz" if k not in of_file), of_file[1])
        assert axis is not None and f"{role}s along {names[axis]} of the files" in said.what
        for plate, right in zip(case.repaired(said).trial.forces, sound, strict=False):
            assert np.abs(getattr(plate, role) - right).max() < 0.01 * np.abs(right).max()
