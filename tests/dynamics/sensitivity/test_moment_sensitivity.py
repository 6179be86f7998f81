"""Derivatives of joint moments: exact, equal to central differences, and zero across branches of the body."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import (
    Model,
    Sensitivity,
    Targets,
    Wrench,
    differentiate,
    fit_pose,
    projected_moments,
    segment_motion,
)
from musclesolve.dynamics.sensitivity.moment_sensitivity import body_directions

POINTS = (
    "toe_r heel_r ankle_r knee_r hip_r hip_l knee_l ankle_l heel_l toe_l wrist_r elbow_r shoulder_r shoulder_l elbow_l "
    "wrist_l neck_base back head_base head_low head_top hand_radial_r hand_ulnar_r hand_radial_l hand_ulnar_l"
).split()
AXES = "ankle_axis_r ankle_axis_l knee_axis_r knee_axis_l elbow_axis_r elbow_axis_l pelvis_forward".split()
LEG = ("hip", "knee", "ankle")


def close(exact, differenced, tolerance=1e-6):
    return np.abs(exact - differenced).max() < tolerance * np.abs(exact).max()


@pytest.fixture(scope="module")
def segments(model, motion):
    return segment_motion(model, motion)


def heavier(model, segment, by, with_inertia):
    """Return the subject with one segment heavier, its bodies in proportion."""
    mass = model.mass
    inside = np.array([body.segment == segment for body in model.topology.bodies])
    factor = np.where(inside, 1.0 + by / mass.mass[inside].sum(), 1.0)
    inertia = factor[:, None, None] * mass.inertia if with_inertia else mass.inertia
    return Model(model.topology, model.standing, replace(mass, mass=factor * mass.mass, inertia=inertia))


@pytest.mark.parametrize("with_inertia", [False, True])
@pytest.mark.parametrize("segment", ["head", "hand_r", "lower_torso", "upper_torso", "thigh_r", "shank_l"])
def test_masses_against_central_differences(model, motion, segments, wrenches, segment, with_inertia):
    found = Sensitivity.by_mass(model, motion, segments, with_inertia)
    exact = found.values[:, :, found.sources.index(segment)]
    low, high = (
        projected_moments(heavier(model, segment, by, with_inertia), motion, wrenches) for by in (-0.05, 0.05)
    )
    assert close(exact, (high - low) / 0.1, 1e-9)


def test_the_masses_together_make_the_moments_without_ground_force(model, motion, segments):
    """tau is linear in masses that carry their inertia along: the sum of m d tau / d m is tau."""
    found = Sensitivity.by_mass(model, motion, segments, inertia_follows=True)
    totals = [
        sum(m for body, m in zip(model.topology.bodies, model.mass.mass, strict=True) if body.segment == name)
        for name in found.sources
    ]
    assert close(found.values @ np.array(totals), projected_moments(model, motion, []), 1e-11)


@pytest.fixture(scope="module")
def ground(motion):
    """Force, point of application and free moment under the right foot."""
    rng = np.random.default_rng(31)
    frames = len(motion.time)
    return (
        200.0 * rng.normal(size=(frames, 3)) + [0.0, 0.0, 700.0],
        motion.q[:, 0] + 0.1 * rng.normal(size=(frames, 3)),
        5.0 * rng.normal(size=(frames, 3)),
    )


def foot(force, point, twist):
    return Wrench("foot_r", force, np.cross(point, force) + twist)


@pytest.mark.parametrize("which", ["force", "point"])
def test_ground_force_against_central_differences(model, motion, ground, which):
    place = ("force", "point").index(which)
    found = (
        Sensitivity.by_force(model, motion, "foot_r", ground[1]),
        Sensitivity.by_point(model, motion, foot(*ground)),
    )[place]
    step = (1.0, 1e-3)[place]
    for axis in range(3):
        ends = []
        for sign in (-1.0, 1.0):
            moved = list(ground)
            moved[place] = moved[place] + sign * step * np.eye(3)[axis]
            ends.append(projected_moments(model, motion, [foot(*moved)]))
        assert close(found.values[:, :, axis], (ends[1] - ends[0]) / (2.0 * step), 1e-9)


def test_errors_stay_in_their_branch(model, motion, segments, ground):
    """Exactly zero, not only small: head and hand masses in the legs, ground force in the other leg and the trunk."""
    masses = Sensitivity.by_mass(model, motion, segments)
    for source in ("head", "hand_r", "hand_l", "upper_arm_r", "upper_torso", "lower_torso"):
        for dof in masses.dofs:
            if dof.startswith(LEG):
                assert not masses.of(dof, source).any(), (dof, source)
    found = Sensitivity.by_point(model, motion, foot(*ground))
    chain = {dof for dof in found.dofs[:38] if dof.startswith(LEG) and dof.endswith("_r")}
    felt = {dof for dof, row in zip(found.dofs, found.largest(), strict=True) if row.any()}
    assert felt - set(found.dofs[38:]) == chain


def test_a_point_that_is_not_known_spoils_only_what_it_reaches(model, motion, ground):
    point = ground[1].copy()
    point[3] = np.nan
    found = Sensitivity.by_force(model, motion, "foot_r", point)
    assert np.isnan(found.of("knee_flexion_r", "foot_r force x")[3])
    assert np.isfinite(found.of("knee_flexion_l", "foot_r force x")).all()
    assert np.isfinite(found.largest()).all()


def test_directions_of_a_point_are_those_of_the_tree(model, motion):
    origin = motion.coordinates[:, 38:41]
    for body, name in (("foot_r", "toe_r"), ("head", "head_top"), ("forearm_l", "wrist_l")):
        slot = model.slot(name)
        _, reach = body_directions(model, motion, model.body(body), motion.q[:, slot])
        tree = model.tree.allowed(motion.q, origin, np.array([slot]))[:, 0]
        np.testing.assert_allclose(np.swapaxes(tree, 1, 2), reach, atol=1e-14)


@pytest.fixture(scope="module")
def measured(model, motion):
    """Points and axes that no pose fits exactly: errors of some centimeters, smooth in time."""
    rng = np.random.default_rng(32)
    slots = [model.slot(name) for name in POINTS + AXES]
    wave = np.sin(6.0 * motion.time[:, None, None] + 6.0 * rng.random((len(slots), 3)))
    values = motion.q[:, slots] + 0.01 * rng.normal(size=(len(slots), 3)) * (1.0 + wave)
    targets = Targets(np.array(slots), values, np.where(np.array(slots) < 25, 1.0, 0.01))
    return targets


def tight(model, targets):
    return fit_pose(model, targets, tolerance=1e-12, max_iterations=300)


def slope(model, targets, place, axis, what, step=1e-3):
    """Derivative by one coordinate of one target, by central differences of fourth order."""
    ends = []
    for times in (-2.0, -1.0, 1.0, 2.0):
        values = targets.values.copy()
        values[:, place, axis] += times * step
        ends.append(what(model, tight(model, replace(targets, values=values))))
    return (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * step)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("name", "axis"), [("head_top", 0), ("knee_r", 1), ("back", 2), ("toe_l", 0)])
def test_measured_points_against_central_differences(model, motion, wrenches, measured, name, axis):
    targets = measured

    def moments(model, fit):
        return projected_moments(model, differentiate(model, motion.time, fit.coordinates), wrenches)

    found = Sensitivity.by_landmark(model, motion.time, targets, wrenches, [name])
    place = list(targets.slots).index(model.slot(name))
    assert found.sources == tuple(f"{name} {x}" for x in "xyz")
    assert close(found.values[:, :, axis], slope(model, targets, place, axis, moments), 1e-6)


def test_some_frames_are_the_same_as_all(model, motion, wrenches, measured):
    targets = measured
    inside = slice(5, 20)
    few = [Wrench(w.body, w.force[inside], w.moment[inside]) for w in wrenches]
    whole = Sensitivity.by_landmark(model, motion.time, targets, wrenches, ["ankle_r"])
    part = Sensitivity.by_landmark(model, motion.time, targets, few, ["ankle_r"], inside)
    np.testing.assert_allclose(part.values, whole.values[inside], rtol=1e-9, atol=1e-9)


@pytest.mark.thorough
def test_moving_everything_alike_moves_no_moment(model, motion, measured):
    """The sum over all points is a shift of the whole subject: joint moments without ground force do not know of it."""
    targets = measured
    found = Sensitivity.by_landmark(model, motion.time, targets, [])
    for axis in range(3):
        shift = found.values[:, :38, axis::3].sum(axis=2)
        assert np.abs(shift).max() < 1e-5 * np.abs(found.values).max()


def test_unknown_names_are_refused(model, motion, segments, wrenches, measured):
    targets = measured
    with refused("unknown_name", "tail"):
        Sensitivity.by_landmark(model, motion.time, targets, wrenches, ["tail"])
    with refused("unknown_name"):
        Sensitivity.by_mass(model, motion, segments).of("wing", "head")
