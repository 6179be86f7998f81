"""The thesis' own formulation on the bundled stride and the recorded walk: all equations of motion, the same answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from thorough import some
from wrapped_leg import pull_on

import muscle_db
import musclesolve as ms
from muscle_db.model import LEG_DOFS
from musclesolve import Problem, Status, solve
from musclesolve.data import reference_stride
from musclesolve.dynamics import Wrench, expand, projected_moments, segment_motion
from musclesolve.dynamics.inverse.newton_euler import distal_loads
from musclesolve.errors import InputError
from musclesolve.laboratory.bodies.linked_bodies import contact_forces, full_problem
from musclesolve.laboratory.forces import mechanics
from musclesolve.models.muscle_pulls import MuscleJoints
from musclesolve.muscles import muscle_state, scale_muscles
from musclesolve.sharing import solve_full
from musclesolve.sharing.cost import JointReactionSquared
from musclesolve.sharing.solver.batch import Batch

FRAMES, OF_STRIDE = np.arange(6, 136, 18), np.arange(4, 66, 9)
SHARED = LEG_DOFS[:5]
FAR = {"hip": "hip_line_r", "knee": "shank_r", "ankle": "foot_r"}
"""The body on the far side of each joint."""

COSTS = (
    "force_squared",
    "stress_cubed",
    "normalized_force_squared",
    "force_moment_squared",
    "soft_saturation",
    "activation_power",
    "activation_volume",
    "muscle_power",
)


def some_frames(trial, frames):
    """Model, some frames of the walk, pushes of the ground, and the muscles of both legs."""
    recorded = mechanics(trial)
    motion = recorded.motion.frames(frames)
    pushes = [Wrench(w.body, w.force[frames], w.moment[frames]) for w in recorded.wrenches]
    options = trial.settings.muscles
    database = muscle_db.load(options.database)
    muscles = {s: scale_muscles(recorded.model, database, s, options.strength, options.passive) for s in "rl"}
    states = {s: muscle_state(recorded.model, muscles[s], motion) for s in "rl"}
    return recorded.model, motion, pushes, states


@pytest.fixture(scope="module")
def walk():
    """A handful of frames of the bundled stride."""
    return some_frames(ms.read_trial(reference_stride()), OF_STRIDE)


def reduced(walk, side, **fields):
    """The problem as the pipeline makes it: by projection, moment arms and Newton's moments."""
    model, motion, pushes, states = walk
    state, rows = states[side], [LEG_DOFS.index(dof) for dof in SHARED]
    arm = state.moment_arm[:, rows]
    moments = projected_moments(model, motion, pushes)[:, [model.dof(f"{dof}_{side}") for dof in SHARED]]
    needed = moments - np.einsum("tkm,tm->tk", arm, state.passive_force)
    fibers = {
        "fiber_velocity": state.fiber_velocity,
        "fiber_force_capacity": state.fiber_force_capacity,
        "optimal_fiber_length": state.muscles.parameters.optimal_fiber_length,
    }
    strength = state.muscles.parameters.max_isometric_force
    return Problem(arm, needed, state.force_capacity, strength, **fibers, **fields)


def dofs(side):
    return [f"{dof}_{side}" for dof in SHARED]


def test_there_are_141_equations_of_motion(walk):
    model, motion, pushes, states = walk
    full = full_problem(model, motion, pushes, [states["r"]], dofs("r"))
    assert full.needed.shape[1] == 141
    assert full.jacobian.shape[1] == 141 - len(SHARED)


def test_elimination_of_the_multipliers_gives_the_reduced_problem(walk):
    model, motion, pushes, states = walk
    for person in (model, expand(model)):
        made = full_problem(person, motion, pushes, [states["l"]], dofs("l")).reduced
        usual = reduced(walk, "l")
        np.testing.assert_allclose(made.moment_arm, usual.moment_arm, atol=1e-12)
        np.testing.assert_allclose(made.moment, usual.moment, atol=1e-9)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("cost", COSTS)
def test_both_formulations_give_the_same_activations(walk, cost):
    model, motion, pushes, states = walk
    full = solve_full(full_problem(model, motion, pushes, [states["r"]], dofs("r")), cost)
    usual = solve(reduced(walk, "r"), cost)
    np.testing.assert_array_equal(full.status, usual.status)
    assert full.solved.sum() >= 6
    assert full.gap[full.solved].max() <= 1e-9
    np.testing.assert_allclose(full.activation, usual.activation, atol=1e-6)
    np.testing.assert_allclose(full.cost, usual.cost, rtol=1e-6)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("side", ["r", "l"])
def test_every_frame_of_the_walk(recorded_walk_trial, side):
    """Cubed stress is flat at rest: the cost for which the activations are the hardest to tell."""
    frames = np.array(some(range(136), 9))
    whole = some_frames(recorded_walk_trial, frames)
    model, motion, pushes, states = whole
    full = solve_full(full_problem(model, motion, pushes, [states[side]], dofs(side)), "stress_cubed")
    usual = solve(reduced(whole, side), "stress_cubed", Batch(tolerance=1e-11))
    np.testing.assert_array_equal(full.status, usual.status)
    assert full.solved.sum() > 0.73 * len(frames)
    np.testing.assert_allclose(full.activation, usual.activation, atol=1e-6)


def test_both_legs_at_once_are_the_two_legs(walk):
    model, motion, pushes, states = walk
    both = full_problem(model, motion, pushes, [states["r"], states["l"]], dofs("r") + dofs("l"))
    assert both.jacobian.shape[1] == 141 - 2 * len(SHARED)
    found = solve_full(both, "force_squared")
    alone = [solve(reduced(walk, side), "force_squared") for side in "rl"]
    solved = alone[0].solved & alone[1].solved
    assert solved.sum() >= 5
    np.testing.assert_array_equal(found.solved, solved)
    expected = np.hstack([leg.activation for leg in alone])
    np.testing.assert_allclose(found.activation[solved], expected[solved], atol=1e-6)


@pytest.fixture(scope="module", params=muscle_db.available())
def of_set(request, recorded_walk_trial):
    """Some frames with each of the sets."""
    return some_frames(recorded_walk_trial.with_settings(muscles={"database": request.param}), FRAMES)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("cost", ["stress_cubed", "activation_volume"])
def test_both_formulations_with_frames_that_move_and_wraps(of_set, cost):
    model, motion, pushes, states = of_set
    full = full_problem(model, motion, pushes, [states["r"]], dofs("r"), reserve_weight=1.0)
    usual = reduced(of_set, "r", reserve_weight=1.0)
    np.testing.assert_allclose(full.reduced.moment_arm, usual.moment_arm, atol=1e-12)
    np.testing.assert_allclose(full.reduced.moment, usual.moment, atol=1e-9)
    found, expected = solve_full(full, cost), solve(usual, cost)
    assert found.solved.all() and expected.solved.all()
    np.testing.assert_allclose(found.activation, expected.activation, atol=1e-5)


def knee_without_lever(walk, tension):
    """Force on the right shank with all muscles at the points of their paths, the quadriceps too, (T, 3) [N]."""
    model, motion, pushes, states = walk
    forces = distal_loads(model, segment_motion(model, motion), pushes)
    net = MuscleJoints(model, states["r"].muscles).loads(motion, forces, states["r"]).net[:, 1]
    pull = pull_on(states["r"].path, model.distal_bodies("knee_flexion_r"))
    return net + np.einsum("tn,tnx->tx", tension, pull)


@pytest.mark.in_part(2)
def test_joint_reactions_are_read_from_the_multipliers(of_set):
    walk = model, motion, pushes, states = of_set
    expanded = expand(model)
    full = full_problem(expanded, motion, pushes, [states["r"]], dofs("r"), reserve_weight=1.0)
    found = solve_full(full, "force_squared")
    assert found.solved.all()
    read = contact_forces(expanded, motion, found.multiplier)
    usual = solve(reduced(walk, "r", reserve_weight=1.0), "force_squared")
    np.testing.assert_allclose(found.activation, usual.activation, atol=1e-6)
    tension = usual.force + states["r"].passive_force
    segments = segment_motion(model, motion)
    joints = MuscleJoints(model, states["r"].muscles)
    contact = joints.loads(motion, distal_loads(model, segments, pushes), states["r"]).contact(tension)
    contact["knee_r"] = knee_without_lever(walk, tension)
    for joint, far in FAR.items():
        force = next(value for (body, _), value in read.items() if body == far)
        assert np.abs(force - contact[f"{joint}_r"]).max() < 1e-6 * np.abs(contact[f"{joint}_r"]).max(), joint


@pytest.mark.thorough
def test_joint_reactions_as_a_cost_are_the_same_in_both(walk):
    """The joint reactions that the cost keeps small are those of the multipliers in the one, of pulls in the other."""
    model, motion, pushes, states = walk
    state = states["r"]
    across = np.swapaxes(pull_on(state.path, model.distal_bodies("knee_flexion_r")), 1, 2)
    data = {"reaction_matrix": across, "reaction_offset": knee_without_lever(walk, state.passive_force)}
    cost = JointReactionSquared(effort=100.0)
    expanded = expand(model)
    found = solve_full(full_problem(expanded, motion, pushes, [state], dofs("r"), data=data), cost)
    usual = solve(reduced(walk, "r", **data), cost)
    assert usual.solved.sum() >= 6
    np.testing.assert_array_equal(found.solved, usual.solved)
    np.testing.assert_allclose(found.activation, usual.activation, atol=1e-6)
    read = contact_forces(expanded, motion, found.multiplier)
    knee = next(value for (body, _), value in read.items() if body == FAR["knee"])
    effort = 100.0 * np.square(found.force / state.muscles.parameters.max_isometric_force).sum(axis=1)
    squares = np.square(knee).sum(axis=1) + effort
    np.testing.assert_allclose(squares[found.solved], found.cost[found.solved], rtol=1e-6)


def test_the_multipliers_of_the_equations_are_a_virtual_displacement(walk):
    """y moves along the free directions alone, and pays for moments what the reduced formulation pays."""
    model, motion, pushes, states = walk
    full = full_problem(model, motion, pushes, [states["r"]], dofs("r"))
    found, usual = solve_full(full, "force_squared"), solve(reduced(walk, "r"), "force_squared")
    solved = found.solved
    worth = np.einsum("tmq,tq->tm", full.moment_rows, found.equation_multiplier)[solved]
    scale = np.abs(usual.multiplier[solved]).max()
    np.testing.assert_allclose(worth, usual.multiplier[solved], atol=1e-6 * scale)
    spanned = np.einsum("tqm,tm->tq", full.directions[solved], worth)
    np.testing.assert_allclose(found.equation_multiplier[solved], spanned, atol=1e-6 * np.abs(spanned).max())


def test_a_moment_out_of_reach_is_infeasible_in_both(walk):
    model, motion, pushes, states = walk
    full = full_problem(model, motion, pushes, [states["r"]], dofs("r"))
    moment = full.reduced.moment
    harder = full.needed + np.einsum("tmq,tm->tq", full.moment_rows, 20.0 * moment)
    found = solve_full(replace(full, needed=harder), "force_squared")
    assert (found.status == Status.INFEASIBLE).any()
    usual = solve(replace(reduced(walk, "r"), moment=21.0 * moment), "force_squared")
    np.testing.assert_array_equal(found.status, usual.status)


def test_an_unknown_degree_of_freedom_is_refused(walk):
    model, motion, pushes, states = walk
    with pytest.raises(InputError, match="knee_twist_r"):
        full_problem(model, motion, pushes, [states["r"]], ["knee_twist_r"])
