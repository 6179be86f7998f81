"""Joint reactions with muscle forces in symbols, beside the numeric road of subjects and OpenSim models."""

from __future__ import annotations

from pathlib import Path

import casadi
import numpy as np
import pytest
from loop_models import independent, model_text
from moving_stride import moving_stride
from recorded_data import recorded
from refusals import refused
from small_model import TEXT, save_model
from symbolic_states import drawn_motion

import muscle_db
import musclesolve as ms
from musclesolve.dynamics.inverse.newton_euler import distal_loads, segment_motion
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.models.opensim.inverse_dynamics import inverse_dynamics, model_motion
from musclesolve.models.opensim.load_dynamics import LoadDynamics
from musclesolve.models.opensim.model import TO_GLOBAL
from musclesolve.muscles import muscle_state
from musclesolve.muscles.scaling.scale_muscles import scale_muscles

FRAMES = 12


@pytest.fixture(scope="module")
def stride():
    """Model, motion and loads of the bundled stride, its skeleton, and loads as numbers (T, 12)."""
    model, motion, wrenches = moving_stride(FRAMES)
    walker = ms.symbolic.skeleton(model, [wrench.body for wrench in wrenches])
    return model, motion, wrenches, walker, np.hstack([np.hstack([w.force, w.moment]) for w in wrenches])


def total(loads, force):
    """Force and moment (T, J, 6) of all joints at tendon forces (T, n)."""
    pulls = loads.all_pulls
    return np.concatenate(
        [
            net + np.einsum("tjnx,tn->tjx", pull, force)
            for net, pull in ((loads.net, pulls.force), (loads.net_moment, pulls.moment))
        ],
        axis=2,
    )


def found_in(reactions, *states):
    """The function of a body in states, (T, J, 6)."""
    return np.stack([np.array(reactions.reactions(*state)).T for state in zip(*states, strict=True)])


def close(found, expected) -> None:
    assert np.abs(expected).max() > 100.0
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


# moving frames; ligament of the knee; paths by iteration
@pytest.mark.parametrize("muscle_set", ["silva_2003_wrapped", "gait2392_hip", "rajagopal_2023"])
def test_reactions_of_a_subject_are_those_of_run(stride, muscle_set: str) -> None:
    model, motion, wrenches, walker, w = stride
    muscles = scale_muscles(model, muscle_db.load(muscle_set), "r", passive="table")
    forces = distal_loads(model, segment_motion(model, motion), list(wrenches))
    loads = MuscleJoints(model, muscles).loads(motion, forces, muscle_state(model, muscles, motion))
    chain = ms.symbolic.muscle_chain(model, muscle_set, side="r")
    reactions = ms.symbolic.joint_reactions(walker, chain)
    assert reactions.joints == loads.joints and reactions.muscles == chain.muscles
    force = np.random.default_rng(1).uniform(0.0, 800.0, (FRAMES, len(chain.muscles)))
    states = motion.coordinates, motion.rates, motion.second, w, force
    close(found_in(reactions, *states), total(loads, force))


def beside_share(model, muscles=None, ligament: float = 1.0) -> ms.symbolic.joint_reactions:
    """Compare a model with joint loads of the numeric road, in random states; returns the reactions."""
    body, chain = ms.symbolic.skeleton(model), ms.symbolic.muscle_chain(model, muscles)
    reactions = ms.symbolic.joint_reactions(body, chain, ligament=ligament)
    if model.in_loops:
        names, draw = independent(model), np.random.default_rng(1)
        free = [size * draw.normal(size=(4, len(names))) for size in (0.02, 1.0, 4.0)]
        free[0] += [model.coordinates[name].default for name in names]
        columns = [dict(zip(names, array.T, strict=True)) for array in free]
        motion = model_motion(model, 0.1 * np.arange(4), *columns)
    else:
        free, motion = drawn_motion(model, body.dofs, frames=4)
    dynamics = LoadDynamics(model, motion, inverse_dynamics(model, motion))
    joints = [joint for joint in model.joints if joint.name in reactions.joints]
    loads = dynamics.joint_loads(joints, chain.muscles, ligament)
    assert loads.joints == reactions.joints
    force = np.random.default_rng(1).uniform(0.0, 800.0, (4, len(chain.muscles)))
    found = found_in(reactions, *free, np.zeros((4, 0)), force)
    halves = [half @ TO_GLOBAL.T for half in np.split(found, 2, axis=2)]
    close(np.concatenate(halves, axis=2), total(loads, force))
    return reactions


@pytest.mark.parametrize(
    ("place", "muscles"),
    [
        ("opensim_models/arm26.osim", None),
        ("opensim_models/gait2392.osim", None),
        ("opensim_models/rajagopal_lai_uhlrich_2023.osim", ["gaslat_r", "vasmed_r", "recfem_r", "soleus_r"]),
        ("unusual_models/r11_reversed_knee_ankle.osim", None),
        ("unusual_models/r6_function_path.osim", None),
        ("models_of_today/thoracoscapular.osim", ["DeltoideusScapula_M", "Infraspinatus_I"]),
    ],
)
def test_reactions_of_a_model_are_those_of_share(place: str, muscles: list[str] | None) -> None:
    """Moving points, coupled patellas, paths by iteration and by functions, reversed joints, a closed loop."""
    assert beside_share(ms.read_osim(recorded(place)), muscles).joints


def test_ball_joints_and_a_driven_patella_carry_muscles(tmp_path: Path) -> None:
    reactions = beside_share(ms.read_osim(save_model(tmp_path, TEXT)), ligament=1.2)
    assert reactions.joints == ("hip_r", "knee_joint_r", "patella_joint_r", "ankle_r")


def test_derivatives_are_those_of_differences(stride) -> None:
    _, motion, _, walker, w = stride
    chain = ms.symbolic.muscle_chain(stride[0], "gait2392_hip", side="r")
    function = ms.symbolic.joint_reactions(walker, chain).reactions
    c, force = casadi.SX.sym("c", 44), casadi.SX.sym("F", len(chain.muscles))
    value = casadi.vec(function(c, motion.rates[3], motion.second[3], w[3], force))
    slope = casadi.Function("slope", [c, force], [casadi.jacobian(value, casadi.vertcat(c, force))])
    at, f = motion.coordinates[3], np.random.default_rng(2).uniform(0.0, 800.0, len(chain.muscles))
    exact = np.array(slope(at, f))

    def reactions(c, f):
        return np.array(function(c, motion.rates[3], motion.second[3], w[3], f)).T.ravel()

    for name in ("hip_flexion_r", "knee_flexion_r", "ankle_dorsiflexion_r"):
        step = 1e-6 * (np.arange(44) == walker.dofs.index(name))
        quotient = (reactions(at + step, f) - reactions(at - step, f)) / 2e-6
        np.testing.assert_allclose(exact[:, walker.dofs.index(name)], quotient, rtol=1e-5, atol=1e-3)
    by_force = exact[:, 44:] @ f + reactions(at, 0.0 * f)
    np.testing.assert_allclose(reactions(at, f), by_force, atol=1e-8)  # linear in the forces


def test_what_does_not_belong_together_is_refused(stride, tmp_path: Path) -> None:
    model, motion, _, walker, w = stride
    chain = ms.symbolic.muscle_chain(model, "silva_2003", side="r")
    other = ms.symbolic.muscle_chain(ms.dynamics.human_model(stature=1.6), "silva_2003", side="r")
    with refused("bad_value", "another subject"):
        ms.symbolic.joint_reactions(walker, other)
    with refused("bad_type", "muscles"):
        ms.symbolic.joint_reactions(walker, [chain])
    with refused("unsupported", "factors"):
        ms.symbolic.joint_reactions(
            walker, ms.symbolic.muscle_chain(model, "silva_2003", side="r", factors=["size"])
        )
    with refused("bad_type", "body"):
        ms.symbolic.joint_reactions(model, chain)
    path = tmp_path / "loop.osim"
    path.write_text(model_text("PointConstraint"), encoding="utf-8")
    with refused("bad_value", "muscles"):
        ms.symbolic.joint_reactions(walker, ms.symbolic.muscle_chain(ms.read_osim(path), "pull"))
    function = ms.symbolic.joint_reactions(walker, chain).reactions
    still = motion.coordinates[0], motion.rates[0], motion.second[0], w[0]
    with refused("bad_value", "F of joint_reactions.reactions", "43 numbers", chain.muscles[0]):
        function(*still, np.zeros(5))
    lost = np.where(np.arange(43) == 1, np.nan, 100.0)
    with refused("not_finite", chain.muscles[1]):
        function(*still, lost)
