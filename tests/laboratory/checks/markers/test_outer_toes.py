"""A toe marker on the head of the fifth metatarsal is named, whichever way the feet point."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import loaded

import musclesolve
from musclesolve.laboratory import Trial
from musclesolve.laboratory.checks.markers.landmark_order import OUTER_TOE, ankle_inside, outer_toes
from musclesolve.tables import Markers

STRIDE = Path(musclesolve.__file__).with_name("data") / "reference_stride" / "trial.toml"
OF_FEET = ("heel", "toe", "metatarsal_5", "ankle_medial", "ankle_lateral")


def with_outer_toes(trial: Trial, sides: str = "rl") -> Trial:
    return replace(
        trial,
        mapping={**trial.mapping, **{f"toe_{side}": trial.mapping[f"metatarsal_5_{side}"] for side in sides}},
    )


def turned_out(trial: Trial, markers: Markers, degrees: float) -> Markers:
    """Both feet with their malleoli turned outward about the vertical through the lateral malleolus."""
    position = markers.position.copy()
    for side, outward in zip("rl", (-1.0, 1.0), strict=True):
        c, s = np.cos(np.radians(degrees)), outward * np.sin(np.radians(degrees))
        labels = [next(iter(trial.mapping[f"{name}_{side}"])) for name in OF_FEET]
        places = [markers.names.index(label) for label in labels if label in markers]
        about = markers[labels[-1]][:, None, :2]
        position[:, places, :2] = about + (position[:, places, :2] - about) @ np.array([[c, s], [-s, c]])
    return replace(markers, position=position)


@pytest.mark.parametrize("sides", ["rl", "l"])
def test_toe_markers_on_the_fifth_metatarsal_are_named(sides: str, recorded_walk_trial: Trial) -> None:
    for path in (STRIDE, recorded_walk_trial.path):
        case = loaded(path)
        assert not list(outer_toes(case))
        spoiled = case.with_trial(with_outer_toes(case.trial, sides))
        (found,) = outer_toes(spoiled)
        labels = {next(iter(case.trial.mapping[f"metatarsal_5_{side}"])) for side in sides}
        assert (found.code, found.severity, set(found.where.markers)) == ("outer_toe", "warning", labels)


def test_the_walk_alone_shows_it_without_a_standing_trial() -> None:
    case = loaded(STRIDE)
    assert case.trial.static is not None
    moving = replace(case.trial, static=None)
    for side in "rl":
        sound, outer = (ankle_inside(trial, side) for trial in (moving, with_outer_toes(moving)))
        assert sound is not None and outer is not None
        assert sound < 0.5 * OUTER_TOE and outer > 1.5 * OUTER_TOE


@pytest.mark.parametrize("degrees", [20.0, -20.0])
def test_feet_that_point_outward_are_no_fault(degrees: float) -> None:
    case = loaded(STRIDE)
    assert case.trial.static is not None
    trial = replace(
        case.trial,
        markers=turned_out(case.trial, case.trial.markers, degrees),
        static=turned_out(case.trial, case.trial.static, degrees),
    )
    heel, toe = (
        np.nanmean(trial.markers[next(iter(trial.mapping[f"{name}_l"]))], axis=0) for name in ("heel", "toe")
    )
    assert np.sign(toe[1] - heel[1]) == np.sign(degrees)
    assert not list(outer_toes(case.with_trial(trial)))
