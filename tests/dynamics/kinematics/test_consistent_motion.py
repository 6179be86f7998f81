"""Kinematic consistency: the nearest pose and the pose driven by measured angles, derivatives by two routes."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from benchmarks.serial_chains import random_chain
from musclesolve._util.arrays import slices
from musclesolve.dynamics import Model, Targets, consistent_motion, differentiate, fit_pose, projected_moments
from musclesolve.dynamics.kinematics.consistent_motion import (
    DERIVATIVES,
    METHODS,
    differentiate_points,
    drive_pose,
)
from musclesolve.dynamics.kinematics.joint_drivers import driver_rows
from musclesolve.dynamics.model.rigid_body import lines_of
from musclesolve.dynamics.rotations import from_cardan

METHOD = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)


def measured(model: Model, q: np.ndarray, weights: dict[str, float] | None = None, only=None) -> Targets:
    """Targets at all points and vectors, or at some."""
    names, count = model.topology.coordinate_names, model.topology.point_count
    chosen = {name: q[:, k] for k, name in enumerate(names) if only is None or name in only}
    points = {name: at for name, at in chosen.items() if model.slot(name) < count}
    return Targets.build(model, points, {k: v for k, v in chosen.items() if k not in points}, weights)


def noisy(q: np.ndarray, size: float, seed: int) -> np.ndarray:
    return q + size * np.random.default_rng(seed).normal(size=q.shape)


def misfit(fit, targets: Targets) -> np.ndarray:
    """Weighted sum of squares of every frame, (T,)."""
    off = (fit.q[:, targets.slots] - targets.values) ** 2
    return np.einsum("tnx,n->t", off, targets.weights)


def swinging(model: Model, frames: int = 41):
    """Smooth waves of every coordinate of a chain."""
    rng = np.random.default_rng(8)
    time = np.linspace(0.0, 1.0, frames)
    size, phase = rng.uniform(0.1, 0.4, len(model.topology.dof_names)), rng.uniform(0.0, 6.0, (2, 1))
    waves = np.sin(4.0 * time[:, None] + phase[0] + np.arange(size.size))
    return differentiate(model, time, size * waves)


@METHOD
def test_consistent_data_are_left_as_they_are(method, model, motion):
    fit = method(model, measured(model, motion.q), motion.time)
    np.testing.assert_allclose(fit.q, motion.q, atol=1e-9)
    np.testing.assert_allclose(fit.coordinates, motion.coordinates, atol=1e-9)
    assert fit.locked == fit.borrowed == ()
    assert fit.points == model.topology.coordinate_names[: model.topology.point_count]
    assert fit.residual.max() < 1e-9


@METHOD
def test_links_keep_their_lengths(method, model, motion):
    fit = method(model, measured(model, noisy(motion.q, 0.005, 1)), motion.time)
    assert np.abs(model.constraints.violation(fit.q)).max() < 1e-14


def test_the_nearest_pose_is_nearer_in_every_frame(model, motion):
    targets = measured(model, noisy(motion.q, 0.005, 2))
    nearest, driven = (method(model, targets, motion.time) for method in (fit_pose, drive_pose))
    assert (misfit(nearest, targets) < misfit(driven, targets)).all()


def test_the_nearest_pose_is_nearer_to_the_truth_as_well(model, motion):
    """Noise of single points: every point that the model ties to others helps to find them."""
    targets = measured(model, noisy(motion.q, 0.003, 17))
    points = slice(0, model.topology.point_count)
    off = {
        name: np.sqrt(np.mean((method(model, targets, motion.time).q - motion.q)[:, points] ** 2))
        for name, method in METHODS.items()
    }
    assert off["nearest"] < 0.7 * off["joint_angles"]


def test_what_joints_cannot_follow_adds_up_along_a_chain():
    chain = random_chain(16, seed=3)
    motion = swinging(chain)
    targets = measured(chain, noisy(motion.q, 0.003, 4))
    shift = {
        name: np.sqrt(np.mean(method(chain, targets, motion.time).residual ** 2, axis=0))
        for name, method in METHODS.items()
    }
    quarters = {name: each[1:].reshape(4, 4).mean(axis=1) for name, each in shift.items()}
    assert (np.diff(quarters["joint_angles"]) > 0.0).all()
    assert quarters["joint_angles"][-1] > 3.0 * quarters["joint_angles"][0]
    assert quarters["nearest"][-1] < 1.5 * quarters["nearest"][0]


def test_errors_of_length_do_not_move_measured_angles():
    """Links that are seen too long or too short, another amount in every frame, but in their true directions."""
    chain = random_chain(5, seed=5)
    motion = swinging(chain)
    points = chain.topology.point_count
    links = np.diff(motion.q[:, :points], axis=1)
    longer = np.random.default_rng(6).uniform(0.9, 1.1, links.shape[:2])[..., None]
    q = motion.q.copy()
    q[:, 1:points] = q[:, :1] + np.cumsum(longer * links, axis=1)
    targets = measured(chain, q)
    angles = slice(0, chain.tree.joint_count)
    true = motion.coordinates[:, angles]
    driven, nearest = (method(chain, targets, motion.time) for method in (drive_pose, fit_pose))
    np.testing.assert_allclose(driven.coordinates[:, angles], true, atol=1e-9)
    assert np.abs(nearest.coordinates[:, angles] - true).max() > 0.01


def test_newton_raphson_on_the_driven_constraints_finds_the_same_pose(model, motion):
    """(5.7) from the inconsistent positions: "a convergent solution is obtained after 3 or 4 iterations"."""
    start = noisy(motion.q, 0.005, 7)
    fit, driven = consistent_motion(model, measured(model, start), motion.time, "joint_angles")
    few = driven.frames(slice(0, 40, 8))
    q = start[0:40:8]
    apart = []
    for _ in range(4):
        rows = driver_rows(model, few, q=q)
        value = np.concatenate([model.constraints.value(q), rows.value], axis=1)
        jacobian = np.concatenate([model.constraints.jacobian(q), rows.jacobian], axis=1)
        jacobian = jacobian.reshape(*value.shape, -1)
        transposed = np.swapaxes(jacobian, 1, 2)
        step = np.linalg.solve(transposed @ jacobian, -transposed @ value[..., None])
        q = q + step.reshape(q.shape)
        apart.append(np.abs(q - fit.q[0:40:8]).max())
    assert apart[-1] < 1e-9
    assert apart[1] < 0.1 * apart[0] and apart[2] < 0.01 * apart[1]  # quadratic


def test_an_angle_that_no_body_shows_is_that_of_the_nearest_pose(model, motion):
    """One point of a hand does not determine the three angles between forearm and hand."""
    only = set(model.topology.coordinate_names) - {"hand_ulnar_r", "hand_axis_r", "forearm_forward_r"}
    targets = measured(model, noisy(motion.q, 0.003, 8), only=only)
    driven, nearest = (method(model, targets, motion.time) for method in (drive_pose, fit_pose))
    wrist = ("forearm_pronation_r", "wrist_flexion_r", "wrist_radial_deviation_r")
    assert set(driven.borrowed) == set(wrist) and driven.locked == ()
    for dof in model.topology.dof_names[:38]:
        k = model.dof(dof)
        same = np.allclose(driven.coordinates[:, k], nearest.coordinates[:, k], atol=1e-9)
        assert same == (dof in wrist), dof


def test_angles_beyond_a_stretch_without_markers_are_still_measured():
    """Four angles lie between two seen links, more than the rotation of the second shows; those beyond are its own."""
    chain = random_chain(8, seed=16)
    motion = swinging(chain)
    targets = measured(chain, motion.q, only=set(chain.topology.coordinate_names) - {"p3", "p4", "a3", "a4"})
    fit = drive_pose(chain, targets, motion.time)
    np.testing.assert_allclose(fit.q, motion.q, atol=1e-8)
    assert fit.borrowed == ("turn2", "turn3", "turn4", "turn5")


@METHOD
def test_frames_are_found_together_or_in_windows_alike(method):
    """Started near the solution, every stretch of frames has the poses that it has among all of them."""
    chain = random_chain(5, seed=9)
    motion = swinging(chain)
    targets = measured(chain, noisy(motion.q, 0.003, 10))
    together = method(chain, targets, motion.time)
    for block in slices(len(motion.time), 7):
        start = together.coordinates[block]
        alone = method(chain, targets.frames(block), motion.time[block], start=start)
        np.testing.assert_allclose(alone.q, together.q[block], atol=1e-10)


def test_a_weight_counts_as_so_many_measurements():
    chain = random_chain(5, seed=11)
    motion = swinging(chain)
    q = noisy(motion.q, 0.005, 12)
    plain, heavy = measured(chain, q), measured(chain, q, {"p5": 3.0})
    again = np.r_[np.arange(len(plain.slots)), [chain.slot("p5")] * 2]
    thrice = Targets(plain.slots[again], plain.values[:, again], plain.weights[again])
    fits = [fit_pose(chain, targets, motion.time) for targets in (plain, heavy, thrice)]
    np.testing.assert_allclose(fits[1].q, fits[2].q, atol=1e-9)
    rms = [np.sqrt(np.mean(fit.residual[:, fit.points.index("p5")] ** 2)) for fit in fits]
    assert rms[1] < 0.8 * rms[0]


@pytest.mark.parametrize(
    ("weights", "parts"),
    [
        ({"hel_r": 2.0}, ("unknown_name", "heel_r")),
        ({"toe_r": 0.0}, ("bad_number", "toe_r")),
        ({"toe_r": float("nan")}, ("bad_number", "toe_r")),
    ],
)
def test_weights_that_cannot_be_are_refused(weights, parts, model, motion):
    with refused(*parts):
        measured(model, motion.q, weights)


@pytest.mark.parametrize("names", [("nearst", "constraints"), ("nearest", "spline")])
def test_unknown_methods_are_refused_with_the_known_ones(names, model, motion):
    with refused("unknown_name"):
        consistent_motion(model, measured(model, motion.q), motion.time, *names)


@METHOD
def test_velocities_and_accelerations_solve_the_whole_system(method, model, motion):
    """(5.8) Phi_q qd = nu and (5.9) Phi_q qdd = gamma, constraints and drivers together, in every frame."""
    fit = method(model, measured(model, noisy(motion.q, 0.002, 13)), motion.time)
    found = differentiate(model, motion.time, fit.coordinates).frames(slice(0, 40, 8))
    rows, fixed = driver_rows(model, found), model.constraints
    jacobian = np.concatenate([fixed.jacobian(found.q), rows.jacobian], axis=1).reshape(
        5, -1, found.q[0].size
    )
    nu = np.concatenate([np.zeros_like(fixed.value(found.q)), rows.nu], axis=1)
    gamma = np.concatenate([fixed.gamma(found.qd), rows.gamma], axis=1)
    for right, rates in ((nu, found.qd), (gamma, found.qdd)):
        solved = np.linalg.solve(jacobian, right[..., None]).reshape(rates.shape)
        np.testing.assert_allclose(solved, rates, rtol=0.0, atol=1e-11 * np.abs(rates).max())


def test_violation_of_the_rates_is_that_of_the_equations(model, motion):
    rng = np.random.default_rng(14)
    qd, qdd = rng.normal(size=(2, *motion.q.shape))
    rows, jacobian, length = model.constraints, model.constraints.jacobian(motion.q), 0.37
    a, b = (np.linalg.norm(lines_of(motion.q, slots), axis=2) for slots in (rows.first, rows.second))
    scale = np.where((rows.first == rows.second).all(axis=1), 2.0 * a, a * b)
    once = np.einsum("tcnx,tnx->tc", jacobian, qd) / scale
    twice = (np.einsum("tcnx,tnx->tc", jacobian, qdd) - model.constraints.gamma(qd)) / scale
    first, second = model.constraints.rate_violation(motion.q, qd, qdd)
    np.testing.assert_allclose(first, once, atol=1e-12)
    np.testing.assert_allclose(second, twice, atol=1e-12)
    # A body that grows by some part of itself each second: every length by that part of it.
    grown = model.constraints.rate_violation(motion.q, length * motion.q, 0.0 * motion.q)[0]
    row = model.constraints.names.index("(hip_r->knee_r) . (hip_r->knee_r)")
    thigh = np.linalg.norm(motion.q[:, model.slot("hip_r")] - motion.q[:, model.slot("knee_r")], axis=1)
    np.testing.assert_allclose(grown[:, row], length * thigh, rtol=1e-12)


def test_splines_of_points_break_the_constraints_less_the_more_frames_there_are():
    chain = random_chain(5, seed=15)
    broken, moments = [], []
    for frames in (21, 41, 81):
        motion = swinging(chain, frames)
        by_points = differentiate_points(chain, motion.time, motion.coordinates, motion.q)
        inner = slice(frames // 4, -frames // 4)
        broken.append([np.abs(r).max() for r in violated(chain, by_points.frames(inner))])
        apart = projected_moments(chain, by_points, []) - projected_moments(chain, motion, [])
        moments.append(np.abs(apart[inner]).max())
        assert max(np.abs(r).max() for r in violated(chain, motion)) < 1e-11
        np.testing.assert_allclose(by_points.speeds[inner], motion.speeds[inner], atol=5.0 * broken[-1][0])
    # Halving the step: the error of the first derivative falls by 2^5 or more, that of the second by 2^4.
    assert (np.diff(np.log2(broken), axis=0) < [-4.5, -3.5]).all()
    assert (np.diff(np.log2(moments)) < -3.0).all()


def violated(model: Model, motion) -> tuple[np.ndarray, np.ndarray]:
    return model.constraints.rate_violation(motion.q, motion.qd, motion.qdd)


def test_splines_of_points_keep_the_positions(model, motion):
    targets = measured(model, motion.q)
    found = {name: consistent_motion(model, targets, motion.time, "nearest", name)[1] for name in DERIVATIVES}
    np.testing.assert_allclose(found["splines"].q, found["constraints"].q, atol=1e-13)
    np.testing.assert_array_equal(found["splines"].coordinates, found["constraints"].coordinates)


@METHOD
def test_a_start_does_not_show_in_the_answer(method, model, motion):
    """A guess near the solution, one that leads nowhere, and none."""
    targets = measured(model, noisy(motion.q, 0.005, 30))
    plain = method(model, targets, motion.time)
    rng = np.random.default_rng(31)
    for size in (0.05, 50.0):
        start = plain.coordinates + size * rng.normal(size=plain.coordinates.shape[1])
        again = method(model, targets, motion.time, start=start)
        np.testing.assert_allclose(again.q, plain.q, atol=1e-9)
        np.testing.assert_allclose(again.coordinates, plain.coordinates, atol=1e-8)
    with refused("bad_shape"):
        method(model, targets, motion.time, start=start[1:])


@METHOD
@pytest.mark.parametrize("error", [0.003, 0.02])
def test_a_fit_of_nearly_the_same_targets_is_a_start(method, model, motion, error):
    """Errors that are alike in all frames, on top of noise; what no target shows is as in the start."""
    offset = error * np.random.default_rng(34).normal(size=motion.q.shape[1:])
    noise = noisy(motion.q, 0.002, 35)
    near = method(model, measured(model, noise), motion.time)
    targets = measured(model, noise + offset)
    found = method(model, targets, motion.time, start=near)
    plain = method(model, targets, motion.time, start=near.coordinates, rest=near.rest)
    np.testing.assert_allclose(found.q, plain.q, atol=1e-9)
    np.testing.assert_allclose(found.coordinates, plain.coordinates, atol=1e-8)
    assert found.locked == plain.locked


@METHOD
def test_a_spinning_subject_is_followed(method, model, motion):
    """A pirouette: more than half a rotation from each frame that is searched for to the next."""
    targets = measured(model, noisy(motion.q, 0.002, 33))
    plain = method(model, targets, motion.time)
    angle = 0.6 * np.arange(len(motion.time))
    spun = from_cardan(0.7 * angle, np.zeros_like(angle), angle)
    values = np.einsum("txy,tny->tnx", spun, targets.values)
    found = method(model, Targets(targets.slots, values, targets.weights), motion.time)
    np.testing.assert_allclose(found.q, np.einsum("txy,tny->tnx", spun, plain.q), atol=1e-7)


@METHOD
def test_a_fit_does_not_mind_where_in_the_laboratory_it_is(method, model, motion):
    """A treadmill, or a lap of a stadium: round-off of places must not keep the last steps from being seen."""
    targets = measured(model, noisy(motion.q, 1e-5, 32))
    away = np.array([4000.0, -3000.0, 500.0])
    point = targets.slots < model.topology.point_count
    moved = Targets(targets.slots, targets.values + point[:, None] * away, targets.weights)
    here, there = (method(model, given, motion.time, max_iterations=12) for given in (targets, moved))
    np.testing.assert_allclose(there.coordinates[:, :-6], here.coordinates[:, :-6], atol=1e-8)
    np.testing.assert_allclose(there.coordinates[:, -6:-3], here.coordinates[:, -6:-3] + away, atol=1e-8)
