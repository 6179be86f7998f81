"""Knees bent beyond 80 degrees: who flexes, who extends, and how much passive force extends them."""

from __future__ import annotations

import numpy as np
import pytest
from whole_legs import WHOLE_LEGS

import muscle_db
from muscle_db.model import LEG_DOFS
from musclesolve import muscle_geometry
from musclesolve.dynamics import human_model
from musclesolve.muscles import scale_muscles
from musclesolve.muscles.passive.joint_moments import published_sweeps, states_along
from musclesolve.muscles.scaling.scaled_paths import reference_model

DEEP = np.radians(np.arange(80.0, 121.0, 5.0))


def arms(database, subject, side, group):
    """Moment arms about the knee (P, k) [m] of the muscles of a leg whose long name begins with one of `group`."""
    found = muscle_geometry({f"knee_flexion_{side}": DEEP}, None, database, subject)
    own = [name for name in found.muscle.values if name.endswith(f"_{side}") and name.startswith(group)]
    return found.moment_arm.sel(dof=f"knee_flexion_{side}", muscle=own).values


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2023", "silva_2003_wrapped"])
def test_gastrocnemii_flex_and_quadriceps_extend(name, own, side):
    """To 120 degrees, on the standard subject and on the skeleton of the set."""
    database = muscle_db.load(name)
    subject = reference_model(database.reference) if own else human_model()
    assert arms(database, subject, side, "gastrocnemius").min() > 5e-3
    quadriceps = arms(database, subject, side, ("rectus_femoris", "vastus"))
    assert quadriceps.shape[1] == 4 and quadriceps.max() < -14e-3 and quadriceps.min() > -45e-3


def test_gastrocnemii_of_silva_2003_turn_into_extensors():
    """Known: two fixed points beyond 31 degrees, and nothing that keeps them behind the condyles; stored as printed.

    silva_2003_wrapped has an origin above the condyles and a cylinder.
    """
    found = 1e3 * arms(muscle_db.load("silva_2003"), human_model(), "r", "gastrocnemius")
    assert found[0].max() > 0.0 and found[-1].max() < -5.0


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("subject", [None, (58.0, 1.55, "female"), (95.0, 1.95)])
def test_wrapped_gastrocnemii_keep_the_print_and_go_on_with_the_condyle(side, subject):
    """Arms and fibers of silva_2003 where its second point is on the path; then some 20 mm, without a jump."""
    model = human_model() if subject is None else human_model(*subject)
    degrees = np.arange(-10.0, 120.5, 0.5)
    angle, dof = np.radians(degrees), f"knee_flexion_{side}"
    heads = [f"gastrocnemius_{head}_{side}" for head in ("medial", "lateral")]
    printed, wrapped = (
        muscle_geometry({dof: angle}, None, muscle_db.load(name), model)
        for name in ("silva_2003", "silva_2003_wrapped")
    )
    arm, arm_printed = (each.moment_arm.sel(dof=dof, muscle=heads).values for each in (wrapped, printed))
    fiber, fiber_printed = (
        each.normalized_fiber_length.sel(muscle=heads).values for each in (wrapped, printed)
    )
    before = degrees <= 22.0
    np.testing.assert_allclose(arm[before], arm_printed[before], atol=1e-9)
    np.testing.assert_allclose(fiber[before], fiber_printed[before], atol=2e-3)
    deep = degrees >= 30.0
    assert arm[deep].min() > 13e-3 and arm[deep].max() < 26e-3
    length = wrapped.musculotendon_length.sel(muscle=heads).values
    jump = np.diff(length, axis=0) + 0.5 * (arm[1:] + arm[:-1]) * np.diff(angle)[:, None]
    assert np.abs(jump).max() < 3e-5


def test_only_the_gastrocnemii_of_the_wrapped_set_differ():
    printed, wrapped = muscle_db.load("silva_2003"), muscle_db.load("silva_2003_wrapped")
    assert [a.name for a, b in zip(wrapped, printed, strict=True) if a != b] == [
        "gastrocnemius_medial",
        "gastrocnemius_lateral",
    ]
    assert wrapped.printed().muscles == printed.printed().muscles
    model = human_model()
    here, there = (scale_muscles(model, each, "r").parameters for each in (wrapped, printed))
    same = [not name.startswith("gastrocnemius") for name in here.names]
    for field in ("optimal_fiber_length", "tendon_slack_length"):
        np.testing.assert_allclose(getattr(here, field)[same], getattr(there, field)[same], rtol=1e-12)


@pytest.mark.parametrize("name", WHOLE_LEGS)
def test_calibrated_quadriceps_extend_a_bent_knee_as_much_as_was_measured(model, name):
    """From 80 to 120 degrees they extend by at most 4.5 N m more than was measured."""
    muscles = scale_muscles(model, muscle_db.load(name), "r", passive="calibrated")
    quadriceps = [group == "quadriceps_femoris" for group in muscles.groups]
    sweeps = [sweep for sweep in published_sweeps() if sweep.dof == "knee_flexion"]
    for sweep, state in zip(sweeps, states_along(model, muscles, sweeps), strict=True):
        arm = state.moment_arm[:, LEG_DOFS.index("knee_flexion")]
        moment = (arm * state.passive_force)[:, quadriceps].sum(axis=1)
        deep = sweep.angle >= 80.0
        assert (moment[deep] > sweep.moment[deep] - 4.5).all(), sweep
