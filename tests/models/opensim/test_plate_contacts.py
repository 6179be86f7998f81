"""Feet on force plates by their contacts: belts, one plate for both feet, a run, feet that stand together."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve._util.sides import SIDES, Side
from musclesolve.models.opensim.external_loads import PlateFeet, Sole, feet_on_plate

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


def steps(rate: float = 200.0) -> tuple[np.ndarray, dict[Side, np.ndarray], dict[Side, Sole]]:
    """A walk on one belt at 1 m/s: each foot stands for 0.7 s of a stride of 1.1 s."""
    time = np.arange(0.0, 3.3, 1.0 / rate)
    soles, loads = {}, {}
    for k, side in enumerate(SIDES):
        since = np.mod(time - 0.55 * k, 1.1)
        swing = np.clip((since - 0.7) / 0.4, 0.0, 1.0)
        smooth = swing**2 * (3.0 - 2.0 * swing)
        x = np.where(since < 0.7, 0.35 - since, -0.35 + 0.7 * smooth)
        z = 0.15 * np.sin(np.pi * swing) ** 2
        heel = np.stack([x, np.full_like(x, 0.1 * (1 - 2 * k)), z], axis=1)
        toes = heel + np.array([0.18, 0.0, 0.0])
        soles[side] = Sole(time, heel, toes)
        weight = 700.0 * np.clip(np.minimum(since, 0.7 - since) / 0.15, 0.0, 1.0)
        point = heel + np.array([0.18, 0.0, 0.0]) * np.clip(since / 0.7, 0.0, 1.0)[:, None]
        point[:, 2] = 0.0
        loads[side] = np.hstack([np.zeros((len(time), 2)), weight[:, None], point])
    return time, loads, soles


def test_a_walk_on_one_belt_is_known_while_one_foot_stands() -> None:
    time, loads, soles = steps()
    found = assigned(time, loads, soles)
    carried = {side: loads[side][:, 2] > THRESHOLD for side in SIDES}
    together = carried["r"] & carried["l"]
    inside = (time > 0.2) & (time < 3.1)
    for side, other in (("r", "l"), ("l", "r")):
        assert found.under[side][inside & carried[side] & ~carried[other]].mean() > 0.85
        assert not (found.under[side] & carried[other] & ~carried[side]).any()
        # what one foot is given while the other one still bears a little
        stray = found.under[side] & together
        assert (loads[other][stray, 2] < 0.35 * 700.0).all()
    assert found.shared[inside & together].mean() > 0.85


@pytest.mark.parametrize("share", [0.5, 0.35])
def test_feet_that_stand_together_on_one_plate_are_not_told_apart(share: float) -> None:
    time = np.arange(0.0, 2.0, 0.01)
    soles, loads = {}, {}
    for side, sign, part in (("r", -1.0, share), ("l", 1.0, 1.0 - share)):
        heel = np.tile([0.0, 0.17 * sign, 0.03], (len(time), 1))
        soles[side] = Sole(time, heel, heel + np.array([0.18, 0.0, 0.0]))
        point = np.tile([0.08, 0.17 * sign, 0.0], (len(time), 1))
        loads[side] = np.hstack([np.tile([0.0, 0.0, 700.0 * part], (len(time), 1)), point])
    found = assigned(time, loads, soles)
    assert found.shared.all() and not any(under.any() for under in found.under.values())
    # a name decides where the contact does not
    assert assigned(time, loads, soles, "l").under["l"].all()
    # one of them alone, the other one beside the plate
    alone = {"r": loads["r"], "l": loads["l"] * np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])}
    assert assigned(time, alone, soles).under["r"].all()


def test_a_force_beside_both_feet_belongs_to_none() -> None:
    time, loads, soles = steps()
    away = {side: load + np.array([0.0, 0.0, 0.0, 0.0, 1.0, 0.0]) for side, load in loads.items()}
    found = assigned(time, away, soles)
    assert found.far.any() and not any((under & found.loaded).any() for under in found.under.values())
