"""A plate whose corners are in a wrong order shows steps where no foot is: it is refused, and not left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drafted_folders import as_c3d, drafted, recordings

from musclesolve import InputError, read_trial


@pytest.mark.parametrize(("order", "plate"), [((3, 2, 1, 0), 0), ((3, 2, 1, 0), 1), ((3, 0, 1, 2), 1)])
def test_a_plate_that_shows_steps_at_another_place_is_refused(
    order: tuple[int, ...], plate: int, tmp_path: Path
) -> None:
    def exchanged(file: Any) -> None:
        corners = np.array(file["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"])
        corners[:, :, plate] = corners[:, list(order), plate]
        file["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"] = corners

    path = drafted(as_c3d(recordings(tmp_path / "text"), tmp_path / "c3d", exchanged))
    with pytest.raises(InputError, match=rf"plate {plate + 1} from (.|\n)*no foot is near(.|\n)*CORNERS"):
        read_trial(path)


def test_a_plate_on_which_somebody_else_steps_is_left_out(tmp_path: Path) -> None:
    """Its steps are at other times than those of a foot that no plate carries."""

    def stranger(file: Any) -> None:
        corners = np.array(file["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"])
        corners[1, :, 1] += 2000.0
        file["parameters"]["FORCE_PLATFORM"]["CORNERS"]["value"] = corners
        file["data"]["analogs"][0, 6:12] = np.roll(file["data"]["analogs"][0, 6:12], 300, axis=1)

    trial = read_trial(drafted(as_c3d(recordings(tmp_path / "text"), tmp_path / "c3d", stranger)))
    assert {plate.side for plate in trial.forces} == {"r"}
