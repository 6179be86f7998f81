"""Back from muscle forces to the motion: exact in every frame, and along a simulation as near as the samples are."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from poses import motion_through
from refusals import refused

import muscle_db
from musclesolve.data import reference_stride as bundled_trial
from musclesolve.dynamics import Wrench
from musclesolve.dynamics.forward.simulate import Integration, System
from musclesolve.dynamics.kinematics.motion_derivatives import motion_with
from musclesolve.laboratory.forces import prepare, share
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.muscles import scale_muscles
from musclesolve.studies import forward_problem
from musclesolve.studies.forward_problem import Tracking, problem_of
from musclesolve.studies.synthetic import reference_stride

QUICK = Integration(tolerance=1e-7)


@pytest.fixture(scope="module")
def analysis():
    return share(prepare(bundled_trial()))


@pytest.fixture(scope="module")
def recorded(default_walk_trial):
    return share(prepare(default_walk_trial))


@pytest.fixture(scope="module")
def stride():
    return reference_stride()


@pytest.fixture(scope="module")
def legs(stride):
    return [scale_muscles(stride.model, muscle_db.load("gait2392"), side, passive="table") for side in "rl"]


def sampled(stride, legs, interval, between="linear", replay="activation"):
    """The bundled stride, exact at its samples, with smooth activations that differ from muscle to muscle."""
    time = 0.2 + np.arange(0.0, 0.16, interval)
    phase = np.arange(sum(len(leg.names) for leg in legs))
    activation = 0.08 + 0.05 * np.sin(12.0 * time[:, None] + phase)
    motion, wrenches = stride.motion(time), stride.wrenches(time)
    return problem_of(stride.model, motion, wrenches, legs, activation, replay, between)


def accelerations(problem, frame):
    motion, model = problem.motion, problem.model
    system = System(model, model.constraints, problem.forces, "direct")
    found = system.accelerations(float(motion.time[frame]), motion.q[frame], motion.qd[frame]).qdd
    return found.reshape(motion.q[frame].shape)


@pytest.mark.parametrize("replay", ["activation", "force"])
def test_in_every_frame_forward_dynamics_gives_back_the_motion(analysis, replay):
    """Without integration: the accelerations of inverse dynamics, to round-off."""
    problem = forward_problem(analysis, replay)
    for frame in range(0, len(problem.motion.time), 12):
        expected = problem.motion.qdd[frame]
        assert np.abs(accelerations(problem, frame) - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.thorough
def test_a_recorded_walk_goes_on_as_recorded(recorded):
    """Finer samples take away what the forces miss between frames."""
    off = []
    for refine in (1, 10):
        problem = forward_problem(recorded, refine=refine, between="spline")
        expected = problem.motion.qdd[60 * refine]
        assert np.abs(accelerations(problem, 60 * refine) - expected).max() < 1e-9 * np.abs(expected).max()
        off.append(problem.drift(problem.starting(0.9).simulate(0.02, integration=QUICK)))
    assert off[0].largest_distance[-1] < 1e-3 and off[1].largest_distance[-1] < 1e-6
    assert np.degrees(off[1].largest_angle[-1]) < 1e-3


def test_a_static_pose_holds(model):
    """Muscles activated in a pose at rest: what they do not balance the other moments do, and nothing accelerates."""
    legs = [scale_muscles(model, muscle_db.load("gait2392"), side, passive="table") for side in "rl"]
    still = np.zeros((8, 44))
    still[:, model.dof("knee_flexion_r")], still[:, model.dof("hip_flexion_r")] = 0.4, 0.3
    motion = motion_through(model, still)
    weight = Wrench("foot_r", np.tile([0.0, 0.0, 700.0], (8, 1)), np.zeros((8, 3)))
    problem = problem_of(model, motion, [weight], legs, np.full((8, 86), 0.2))
    assert np.abs(accelerations(problem, 4)).max() < 1e-8


def test_the_muscles_bear_what_the_sharing_gave_them(analysis):
    """The moments left to the joints are the reserves on shared degrees of freedom."""
    problem = forward_problem(analysis)
    left = problem.loads.joint_moments(problem.motion.time)
    for leg in analysis.parts:
        columns = [problem.model.dof(dof) for dof in leg.part.shared]
        np.testing.assert_allclose(left[:, columns], leg.solution.reserve, atol=1e-4)


@pytest.mark.thorough
def test_drift_falls_with_the_sampling_interval(stride, legs):
    """Between samples forces run straight: halving the interval divides what they miss by four."""
    off = [
        (problem := sampled(stride, legs, interval)).drift(problem.simulate(0.01, integration=QUICK))
        for interval in (0.01, 0.005, 0.0025)
    ]
    last = [each.largest_distance[-1] for each in off]
    assert 3.0 < last[0] / last[1] < 5.0 and 3.0 < last[1] / last[2] < 5.0
    assert last[2] < 1e-5


@pytest.mark.thorough
def test_mirrored_start_and_activations_give_the_mirrored_motion(stride):
    """Left and right exchanged half a stride later: the stride is symmetric, and so is its simulation."""
    legs = [scale_muscles(stride.model, muscle_db.load("gait2392"), side, passive="table") for side in "rl"]
    time = 0.2 + 0.005 * np.arange(7)
    own = 0.05 + 0.1 * np.abs(np.sin(np.arange(43.0) + 8.0 * time[:, None]))
    other = 0.12 - own / 3.0
    found = []
    for shift, activation in ((0.0, (own, other)), (0.5 * stride.period, (other, own))):
        motion, wrenches = stride.motion(time + shift), stride.wrenches(time + shift)
        problem = problem_of(stride.model, motion, wrenches, legs, np.hstack(activation))
        found.append(problem.simulate(0.01, integration=QUICK).motion)
    names, mirror = stride.model.topology.coordinate_names, np.array([1.0, -1.0, 1.0])
    points = names[: stride.model.topology.point_count]
    twins = [
        stride.model.slot(name[:-2] + {"_r": "_l", "_l": "_r"}.get(name[-2:], name[-2:])) for name in points
    ]
    apart = found[0].q[:, : len(points)] - mirror * found[1].q[:, twins]
    np.testing.assert_allclose(apart, np.broadcast_to(apart[0, 0], apart.shape), atol=1e-6)
    assert apart[0, 0, 0] == pytest.approx(-0.5 * stride.length, abs=1e-3)


@pytest.mark.thorough
def test_feedback_is_zero_on_the_motion_and_small_beside_it(analysis):
    problem = forward_problem(analysis)
    tracking = problem.tracking(100.0)
    motion = problem.motion
    inner = motion.frames(slice(5, -5))
    on_it = tracking.moments(inner.time, inner.q, inner.qd)
    assert np.abs(on_it).max() < 0.02 * np.abs(problem.net[:, :38]).max()
    found = problem.simulate(0.02, [tracking], QUICK)
    assert problem.drift(found).largest_distance.max() < 5e-4


def test_feedback_pulls_toward_the_recorded_angle(analysis):
    problem = forward_problem(analysis)
    motion, model = problem.motion, problem.model
    knee = model.dof("knee_flexion_l")
    bent = replace(motion, coordinates=motion.coordinates.copy())
    bent.coordinates[:, knee] += 0.1
    moved = motion_through(model, bent.coordinates, motion.rates, motion.second, time=motion.time)
    tracking = Tracking.build(model, motion, 10.0)
    change = tracking.moments(motion.time, moved.q, moved.qd) - tracking.moments(
        motion.time, motion.q, motion.qd
    )
    np.testing.assert_allclose(change[:, knee], -0.1 * tracking.stiffness[knee], rtol=1e-6)


def growth(problem, forces, frame):
    """The rate [1/s] at which the fastest disturbance grows in a frame, and its size in each coordinate (K+6,).

    The real part of an eigenvalue of the linearized equations, by central differences.
    """
    model, motion, step = problem.model, problem.motion, 1e-6
    system = System(model, model.constraints, forces, "augmented_lagrangian")
    time, count = motion.time[frame : frame + 1], motion.coordinates.shape[1]

    def second(state):
        coordinates, rates = state[None, :count], state[None, count:]
        at = motion_through(model, coordinates, rates, time=time)
        qdd = system.accelerations(float(time[0]), at.q[0], at.qd[0]).qdd.reshape(at.q.shape)
        return motion_with(model, time, coordinates, at.q, at.qd, qdd).second[0]

    here = np.concatenate([motion.coordinates[frame], motion.rates[frame]])
    steps = step * np.eye(2 * count)
    slopes = [(second(here + each) - second(here - each)) / (2.0 * step) for each in steps]
    values, vectors = np.linalg.eig(np.vstack([np.eye(count, 2 * count, count), np.stack(slopes, axis=1)]))
    fastest = np.argmax(values.real)
    return values.real[fastest], np.abs(vectors[:count, fastest])


@pytest.mark.thorough
def test_the_stance_foot_is_what_leaves_the_motion_first(analysis):
    """A ground force that does not answer the foot makes it an inverted pendulum: e-fold within 10 to 30 ms."""
    problem = forward_problem(analysis)
    free, shape = growth(problem, problem.forces, 20)
    leading = [problem.model.topology.dof_names[k] for k in np.argsort(-shape)[:2]]
    assert 0.005 < 1.0 / free < 0.03 and any("ankle" in name for name in leading)
    held, _ = growth(problem, (*problem.forces, problem.tracking(100.0)), 20)
    assert held < 0.2 * free


def test_finer_samples_pass_through_the_recorded_frames(analysis):
    plain, finer = forward_problem(analysis), forward_problem(analysis, refine=4)
    np.testing.assert_allclose(finer.motion.q[::4], plain.motion.q, atol=1e-9)
    at = plain.motion.time[1:-1]
    np.testing.assert_allclose(finer.muscles.course(at), plain.muscles.course(at), atol=1e-6)
    later = finer.starting(float(at[10]) - 1e-4)
    assert later.motion.time[later.first] == pytest.approx(at[10])


def test_what_cannot_be_replayed_is_refused(analysis, tmp_path):
    with refused("unknown_name", "replay"):
        forward_problem(analysis, "excitation")
    with refused("bad_number", "refine"):
        forward_problem(analysis, refine=0)
    with refused("missing_file", "absent.toml"):
        forward_problem(tmp_path / "absent.toml")
    with refused("bad_type", "Dataset"):
        forward_problem(xr.Dataset())
    problem = forward_problem(analysis)
    with refused("bad_number", "duration"):
        problem.simulate(50.0)
    with refused("bad_number", "start"):
        problem.starting(-5.0)
    with refused("bad_number", "frequency"):
        problem.tracking(0.0)


def test_a_result_drives_the_motion_that_it_came_from(analysis):

    result = assemble(analysis)
    own, read = forward_problem(analysis), forward_problem(analysis, result=result)
    at = own.motion.time[3:9]
    np.testing.assert_allclose(read.muscles.course(at), own.muscles.course(at), atol=1e-12)
    with refused("bad_result", "activation"):
        forward_problem(analysis, result=result.drop_vars("activation"))
    with refused("bad_result", "soleus_r"):
        forward_problem(
            analysis, result=result.sel(muscle=[m for m in result.muscle.values if m != "soleus_r"])
        )
    with refused("not_comparable"):
        forward_problem(analysis, result=result.isel(time=slice(0, 20)))
    unsolved = result.copy(deep=True)
    unsolved.activation[::3] = np.nan
    with refused("too_few_frames"):
        forward_problem(analysis, result=unsolved)
