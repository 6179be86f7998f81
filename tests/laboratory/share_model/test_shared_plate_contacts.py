"""Feet on force plates by their contacts, of a synthetic run."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve._util.sides import SIDES, Side
from musclesolve.models.opensim.external_loads import PlateFeet, Sole, feet_on_plate
from musclesolve.studies.synthetic.reference_stride import StrideSubject
from musclesolve.studies.synthetic.running_stride import (
    HEIGHT,
    PRESSURE_TRAVEL,
    RunGround,
    foot_path,
    foot_points,
)

UP = np.array([0.0, 0.0, 1.0])


THRESHOLD = 20.0


def assigned(
    time: np.ndarray, loads: dict[Side, np.ndarray], soles: dict[Side, Sole], named: Side | None = None
) -> PlateFeet:
    """The assignment of a plate that bears both loads, (F, point) side by side in (S, 6)."""
    force = loads["r"][:, :3] + loads["l"][:, :3]
    vertical = np.maximum(force[:, 2:], 1e-9)
    point = (loads["r"][:, 3:] * loads["r"][:, 2:3] + loads["l"][:, 3:] * loads["l"][:, 2:3]) / vertical
    return feet_on_plate(time, force, point, soles, UP, THRESHOLD, named)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("on_belt", [True, False])
def test_a_run_over_one_plate(on_belt: bool) -> None:
    """Every step belongs to the foot that takes it, over ground and on the one belt of a treadmill."""
    person = StrideSubject.load()
    subject = person.subject
    ground = RunGround(subject.mass, 2.5, 0.70, 0.36, HEIGHT * subject.stature, PRESSURE_TRAVEL)
    path = foot_path(person, ground)
    time = np.arange(0.0, 3.0 * ground.period, 0.005)
    seen = np.arange(0.0, 3.0 * ground.period + 0.01, 0.01)
    soles, loads = {}, {}
    back = ground.speed if on_belt else 0.0
    for k, side in enumerate(SIDES):
        phase = 0.5 * k * ground.period
        mirror = np.array([1.0, -1.0, 1.0]) if k else np.ones(3)

        def moved(
            times: np.ndarray, part: str, phase: float = phase, mirror: np.ndarray = mirror
        ) -> np.ndarray:
            point = foot_points(person, ground, path, times - phase)[part] * mirror
            point[:, 0] += ground.speed * phase - back * times
            return point

        soles[side] = Sole(seen, moved(seen, "heel"), moved(seen, "toe"))
        under = 0.5 * (moved(time, "heel") + moved(time, "toe"))
        under[:, 2] = 0.0
        loads[side] = np.hstack([ground.force(time, k), under])
    found = assigned(time, loads, soles)
    assert not found.shared.any() and not found.far.any()
    for side in SIDES:
        loaded = loads[side][:, 2] > THRESHOLD
        assert found.under[side][loaded].all()
        assert not (found.under[side] & (loads["l" if side == "r" else "r"][:, 2] > THRESHOLD)).any()
