"""Shift and scale of loads that carry and accelerate a body exactly are found again."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from musclesolve.laboratory.checks.model.load_time import best_fit, delay_of_loads, mass_of_loads
from musclesolve.laboratory.checks.model.model_case import ModelCase
from musclesolve.models.opensim import inverse_dynamics
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion, coordinate_motion
from musclesolve.models.opensim.external_loads import ExternalLoad, foot_of_side
from musclesolve.models.opensim.load_dynamics import load_dynamics, whole_motion
from musclesolve.models.opensim.model import OpenSimModel

TIME = np.linspace(0.0, 2.0, 201)
DOFS = ("hip_flexion_r", "knee_angle_r", "ankle_angle_r", "hip_flexion_l", "knee_angle_l", "ankle_angle_l")


@pytest.fixture(scope="module")
def walker(public_model) -> OpenSimModel:
    return public_model("rajagopal_2016")


def motion_of(model: OpenSimModel) -> CoordinateMotion:
    """Every free coordinate swings, at 1 and 2 Hz."""
    rng, found = np.random.default_rng(0), {"time": TIME}
    driven = {coupler.dependent for coupler in model.couplers}
    for name, each in model.coordinates.items():
        if not each.locked and name not in driven:
            size = 0.02 if not each.rotational else 0.1 if name.startswith("pelvis") else 0.35
            first, second = rng.uniform(0.0, 2.0 * np.pi, 2)
            wave = np.sin(2.0 * np.pi * TIME + first) + 0.3 * np.sin(4.0 * np.pi * TIME + second)
            found[name] = (0.6 if name.startswith("knee") else 0.0) + size * wave
    return coordinate_motion(model, found)


def case_of(model: OpenSimModel, share: float = 1.0, shift: float = 0.0) -> ModelCase:
    """Loads that carry a share of the model, by turns on its feet, and come later."""
    motion = motion_of(model)
    dynamics = inverse_dynamics(model, whole_motion(model, motion))
    force, right = (
        dynamics.wrench[:, :, 3:].sum(axis=1) * share,
        0.5 + 0.5 * np.sin(2.0 * np.pi * TIME)[:, None],
    )
    none = np.zeros((len(TIME), 3))
    loads = tuple(
        ExternalLoad(side, foot_of_side(model, side), TIME + shift, part * force, none, none)
        for side, part in (("r", right), ("l", 1.0 - right))
    )
    seen = motion.frames((TIME >= loads[0].time[0]) & (TIME <= loads[0].time[-1]))
    body = SimpleNamespace(model=model, motion=seen, every_motion=seen, dofs=DOFS, moment_table=None)
    body.dynamics, body.moment = load_dynamics(model, seen, loads), np.zeros((len(seen.time), len(DOFS)))
    return ModelCase.from_body(body)  # type: ignore[arg-type]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("share", [0.7, 0.97, 1.0, 1.03, 1.3])
def test_loads_of_another_person(walker: OpenSimModel, share: float) -> None:
    """The scale is found whatever the motion, also where one foot is not measured for a while."""
    case = case_of(walker, share)
    step = np.where((TIME > 0.3) & (TIME < 0.9), 0.0, 1.0)[:, None]
    right, left = case.loads
    for loads in (case.loads, (right, replace(left, force=left.force * step))):
        measured = replace(case, loads=loads)
        fit = best_fit(measured)
        assert fit is not None and 1.0 / fit.scale == pytest.approx(share, abs=0.02)
        assert [each.code for each in mass_of_loads(measured)] == (
            ["mass"] if abs(share - 1.0) > 0.06 else []
        )


@pytest.mark.parametrize("shift", [-0.08, -0.02, 0.0, 0.05, 0.15])
def test_loads_that_are_late(walker: OpenSimModel, shift: float) -> None:
    """The shift is found to a millisecond at any scale."""
    case = case_of(walker, 1.2, shift)
    fit = best_fit(case)
    assert fit is not None and fit.shift == pytest.approx(shift, abs=0.001)
    assert [each.code for each in delay_of_loads(case)] == (["time_offset"] if abs(shift) > 0.03 else [])
