"""Muscles as constraints: rows and right-hand sides are derivatives, the multiplier is the tendon force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from poses import motion_through
from refusals import refused
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation
from small_models import laid_out
from wrapped_leg import MUSCLES, wrapped_leg

import muscle_db
from musclesolve.dynamics import (
    MassProperties,
    MotionDriver,
    Rigid,
    assemble,
    fixed,
    mechanism_forces,
    projected_moments,
)
from musclesolve.dynamics.mechanism.assembly import Mechanism, consistent_rates
from musclesolve.dynamics.mechanism.constraint_rows import LengthDriver
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.errors import MuscleSolveError
from musclesolve.muscles import MuscleActuator, muscle_rows, muscle_state, scale_muscles
from musclesolve.muscles.paths.engine import KINDS
from musclesolve.muscles.paths.paths import WrapObjects

X, Y, Z = np.eye(3)
POSES = 30


def constant(length):
    return lambda time: (length + 0.0 * time, 0.0, 0.0)


# the derivatives


def swing(time):
    return 0.3 + 0.1 * np.sin(2.0 * time), 0.2 * np.cos(2.0 * time), -0.4 * np.sin(2.0 * time)


@pytest.fixture(scope="module")
def moving(model):
    """Thirty poses, each on a path of its own with constant second derivatives: the poses after a short time."""
    rng = np.random.default_rng(40)
    coordinates = rng.uniform(-0.3, 0.3, size=(POSES, 44))
    coordinates[:, model.dof("hip_flexion_r")] = rng.uniform(0.0, 0.9, POSES)
    coordinates[:, model.dof("knee_flexion_r")] = rng.uniform(0.1, 2.0, POSES)
    rates, second = rng.normal(size=(2, POSES, 44))

    def after(t):
        moved = coordinates + t * rates + 0.5 * t**2 * second
        return motion_through(model, moved, rates + t * second, second, time=np.arange(POSES) + t)

    return after


def muscles_of(model, name):
    return wrapped_leg(model) if name == "wrapped_leg" else scale_muscles(model, muscle_db.load(name), "r")


@pytest.fixture(params=[("wrapped_leg", f"{name}_r") for name in MUSCLES]
                + [("gait2392", "vastus_lateralis_r"), ("silva_2003", "tensor_fasciae_latae_r"),
                   ("rajagopal_2023", "gastrocnemius_medial_r"), ("rajagopal_2023", "rectus_femoris_r")],
                ids=lambda pair: " ".join(pair))  # fmt: skip
def muscle(model, request):
    """Straight paths, wraps over every kind of object and over two, moving frames, conditional points."""
    source, name = request.param
    muscles = muscles_of(model, source)
    return muscles, name, MuscleActuator.from_muscles(model, muscles, name, swing)


@pytest.mark.in_part(2)
def test_the_row_and_both_right_hand_sides_are_derivatives_of_the_value(muscle, moving):
    """Along a motion Phi_q qd - nu = dPhi/dt and Phi_q qdd - gamma = d/dt (Phi_q qd - nu)."""
    _, _, actuator = muscle
    step = 1e-3
    now = moving(0.0)
    rows = actuator.rows(now.time, now.q, now.qd)

    def rate(motion):
        each = actuator.rows(motion.time, motion.q, motion.qd)
        return each.value[:, 0], np.einsum("tnx,tnx->t", each.jacobian[:, 0], motion.qd) - each.nu[:, 0]

    value, first = zip(*(rate(moving(k * step)) for k in (-2, -1, 1, 2)), strict=True)
    first_now = rate(now)[1]
    second_now = np.einsum("tnx,tnx->t", rows.jacobian[:, 0], now.qdd) - rows.gamma[:, 0]
    slope, bend = ((8.0 * (x[2] - x[1]) - (x[3] - x[0])) / (12.0 * step) for x in (value, first))
    # a contact or a point that begins or ends, or a knot of a moving frame, within these 4 ms is an exception
    smooth = np.abs(bend - second_now) < 1e-7
    assert smooth.sum() >= POSES - 3
    np.testing.assert_allclose(slope[smooth], first_now[smooth], atol=1e-9)
    np.testing.assert_allclose(bend[smooth], second_now[smooth], atol=1e-7)
    assert np.abs(actuator.rows(now.time, now.q, now.qd).gamma - swing(now.time)[2][:, None]).max() > 0.02


def test_the_row_is_the_muscle_row_of_the_motion(model, muscle, moving):
    """The angles that move points are functions of q here, and of the motion in `muscle_rows`."""
    muscles, name, actuator = muscle
    now = moving(0.0)
    state = muscle_state(model, muscles, now)
    of_motion = muscle_rows(model, now, state.path)[:, muscles.names.index(name)]
    row = actuator.rows(now.time, now.q, now.qd)
    allowed = model.tree.allowed(now.q, now.origin)
    ours, theirs = (np.einsum("tnx,tnxd->td", each, allowed) for each in (row.jacobian[:, 0], of_motion))
    np.testing.assert_allclose(ours, theirs, atol=1e-12)
    length = state.musculotendon_length[:, muscles.names.index(name)]
    np.testing.assert_allclose(row.value[:, 0], length - swing(now.time)[0], atol=1e-13)


def test_the_row_of_a_straight_path_is_the_derivative_in_any_direction(model, moving):
    hip, knee = (model.standing[model.slot(name)] for name in ("hip_r", "knee_r"))
    points = [("pelvis", hip + 0.07 * X), ("thigh_r", hip + 0.05 * X - 0.2 * Z), ("shank_r", knee + 0.04 * X)]
    actuator = MuscleActuator.through_points(model, points, swing)
    now, rng, step = moving(0.0), np.random.default_rng(3), 1e-4
    line = rng.normal(size=now.q.shape)
    rows = actuator.rows(now.time, now.q, line)
    ahead, behind = (actuator.rows(now.time, now.q + h * line, line) for h in (step, -step))
    slope = np.einsum("tnx,tnx->t", rows.jacobian[:, 0], line)
    np.testing.assert_allclose(((ahead.value - behind.value) / (2 * step))[:, 0], slope, atol=1e-5)
    bend = (np.einsum("tnx,tnx->t", (ahead.jacobian - behind.jacobian)[:, 0], line)) / (2 * step)
    np.testing.assert_allclose(swing(now.time)[2] - rows.gamma[:, 0], bend, rtol=1e-5, atol=1e-4)


def test_two_points_are_the_corrected_row_of_the_source():
    """The square of the length has 2 L times the row, nu and the multiplier, and its gamma by A13 and A14."""
    topology, standing, _ = arm()
    origin, end = topology.slot["g"], topology.slot["e"]
    points = [("base", standing[origin]), ("arm", standing[end])]
    actuator = MuscleActuator.through_points(mechanism(topology, standing), points, swing)
    printed = LengthDriver("square", origin, end, swing)
    rng, time = np.random.default_rng(5), np.array([0.4, 0.9])
    q, qd = standing + 0.1 * rng.normal(size=(2, *standing.shape)), rng.normal(size=(2, *standing.shape))
    # poses whose length is the prescribed one, so that both hold
    q[:, end] = q[:, origin] + (swing(time)[0] / np.linalg.norm(q[:, end] - q[:, origin], axis=1))[
        :, None
    ] * (q[:, end] - q[:, origin])
    length, rate, _ = (x[:, None] for x in swing(time))
    ours, square = actuator.rows(time, q, qd), printed.rows(time, q, qd)
    np.testing.assert_allclose(2.0 * length[..., None, None] * ours.jacobian, square.jacobian, atol=1e-12)
    np.testing.assert_allclose(2.0 * length * ours.nu, square.nu, atol=1e-12)
    # d2(L^2) = 2 L d2L + 2 dL^2, here with the dL of the velocities that were given
    dl = np.einsum("tcnx,tnx->tc", ours.jacobian, qd)
    np.testing.assert_allclose(2.0 * length * ours.gamma + 2.0 * (rate**2 - dl**2), square.gamma, rtol=1e-11)


# a pendulum held by one muscle

PULLEY = 0.1
MASS, REACH = 2.0, 0.3


def arm():
    """A rod that hangs from a base and turns about y."""
    points = {"o": 0 * X, "g": 0.2 * X + 0.1 * Z, "e": -REACH * Z}
    bodies = {"base": (("o", "g"), ("axis", "front")), "arm": (("o", "e"), ("axis", "ahead"))}
    topology, standing = laid_out("arm", points, {"axis": Y, "front": X, "ahead": X}, bodies)
    ground = fixed(topology, standing, ["o", "g", "axis", "front"])
    return topology, standing, Rigid(Constraints.build(topology, standing).with_linear(*ground))


def mechanism(topology, standing):
    center = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -REACH]])
    return Mechanism(topology, standing, MassProperties(np.array([1.0, MASS]), center, np.zeros((2, 3, 3))))


def turned(topology, standing, angle):
    """The arm raised forward by an angle."""
    pose = standing.copy()
    slots = [topology.slot[name] for name in ("e", "ahead")]
    pose[slots] = standing[slots] @ Rotation.from_rotvec(-angle * Y).as_matrix().T
    return pose


def over_a_pulley(actuator, kind="cylinder", center=(0.0, 0.0, 0.0)):
    """A copy of the muscle over an object at a place on the base."""
    paths = actuator.paths
    layout = replace(
        paths.layout,
        kind=np.array([KINDS.index(kind)]),
        radii=np.full((1, 3), PULLEY),
        half_length=np.ones(1),
        side_axis=np.zeros(1, int),
        side_sign=np.zeros(1),
        wrap_muscle=np.zeros(1, int),
        wrap_object=np.zeros(1, int),
        wrap_first=np.zeros(1, int),
        wrap_last=np.ones(1, int),
    )
    axes = np.stack([X, -Z, Y], axis=1)[None]  # own z along the axis of the arm
    objects = WrapObjects(np.zeros(1, int), np.array([center]), axes, np.full(1, -1))
    return replace(actuator, paths=replace(paths, layout=layout, objects=objects))


def pulley(model, course, kind="cylinder"):
    """A muscle from above the base over a pulley at the joint to the front of the arm, which flexes the arm."""
    points = [("base", 0.25 * (np.sin(3.23) * X - np.cos(3.23) * Z)), ("arm", -0.25 * Z)]
    return over_a_pulley(MuscleActuator.through_points(model, points, course), kind)


def straight(model, course):
    return MuscleActuator.through_points(model, [("base", 0.2 * X + 0.1 * Z), ("arm", -0.2 * Z)], course)


def by_a_via_point(model, course):
    points = [("base", 0.1 * X + 0.3 * Z), ("base", 0.06 * X), ("arm", 0.03 * X - 0.1 * Z), ("arm", -0.2 * Z)]
    return MuscleActuator.through_points(model, points, course)


def over_a_sphere(model, course):
    return pulley(model, course, "sphere")


def over_an_ellipsoid(model, course):
    return pulley(model, course, "ellipsoid")


def length_of(actuator, q):
    time = np.zeros(len(q))
    return actuator.rows(time, q, 0.0 * q).value[:, 0] + actuator.course(time)[0]


@pytest.mark.parametrize("build", [straight, by_a_via_point, pulley, over_a_sphere, over_an_ellipsoid])
def test_the_multiplier_of_a_held_pendulum_is_moment_over_moment_arm(build):
    """Equilibrium: F r = m g reach sin(angle), where r = -dL/dangle; in tension positive."""
    topology, standing, rigid = arm()
    model, step = mechanism(topology, standing), 1e-5
    for angle in (0.3, 0.7):
        at, ahead, behind = (turned(topology, standing, angle + h) for h in (0.0, step, -step))
        lengths = length_of(build(model, constant(1.0)), np.stack([at, ahead, behind]))
        moment_arm = -(lengths[1] - lengths[2]) / (2.0 * step)
        actuator = build(model, constant(lengths[0]))
        q = assemble([rigid, actuator], np.zeros(1), turned(topology, standing, angle + 0.1), driven=True)
        np.testing.assert_allclose(q[0], at, atol=1e-9)
        forces = mechanism_forces(model, [rigid, actuator], np.zeros(1), q)
        moment = MASS * 9.80665 * REACH * np.sin(angle)
        np.testing.assert_allclose(forces.of(actuator), moment / moment_arm, rtol=1e-6)
        assert np.abs(moment_arm) > 0.02


def test_the_arm_of_a_pulley_is_its_radius_and_the_length_turns_the_arm():
    """Over a cylinder at the joint L = L0 -+ R angle: the arm follows the prescribed length, to its acceleration."""
    topology, standing, rigid = arm()
    model, time = mechanism(topology, standing), np.linspace(0.0, 1.0, 21)
    start = turned(topology, standing, 0.5)
    longest = length_of(pulley(model, constant(1.0)), start[None])[0]
    lower, raised = length_of(
        pulley(model, constant(1.0)), np.stack([turned(topology, standing, 0.5 + h) for h in (-0.1, 0.1)])
    )
    sign = np.sign(raised - lower)
    np.testing.assert_allclose(raised - lower, 0.2 * sign * PULLEY, rtol=1e-12)

    def course(t):
        turn = 0.3 * np.sin(3.0 * t), 0.9 * np.cos(3.0 * t), -2.7 * np.sin(3.0 * t)
        return longest + sign * PULLEY * turn[0], sign * PULLEY * turn[1], sign * PULLEY * turn[2]

    actuator = pulley(model, course)
    q = assemble([rigid, actuator], time, start, topology.coordinate_names, driven=True)
    angle = 0.5 + 0.3 * np.sin(3.0 * time)
    np.testing.assert_allclose(
        q[:, topology.slot["e"]], REACH * (np.sin(angle)[:, None] * X - np.cos(angle)[:, None] * Z), atol=1e-9
    )
    qd, qdd = consistent_rates([rigid, actuator], time, q)
    rate, second = 0.9 * np.cos(3.0 * time), -2.7 * np.sin(3.0 * time)
    along = np.cos(angle)[:, None] * X + np.sin(angle)[:, None] * Z
    out = np.sin(angle)[:, None] * X - np.cos(angle)[:, None] * Z
    np.testing.assert_allclose(qd[:, topology.slot["e"]], REACH * rate[:, None] * along, atol=1e-9)
    np.testing.assert_allclose(
        qdd[:, topology.slot["e"]], REACH * (second[:, None] * along - rate[:, None] ** 2 * out), atol=1e-8
    )
    forces = mechanism_forces(model, [rigid, actuator], time, q)
    moment = MASS * REACH**2 * second + MASS * 9.80665 * REACH * np.sin(angle)
    np.testing.assert_allclose(forces.of(actuator), -sign * moment / PULLEY, rtol=1e-8)


@pytest.mark.parametrize("kind", ["cylinder", "sphere"])
def test_where_a_path_begins_to_touch_each_side_has_its_own_second_derivative(kind):
    """Straight: w^2 / l of the whole line; touching: of the part beyond the tangent point, which then rolls."""
    topology, standing, _ = arm()
    model = mechanism(topology, standing)
    end = topology.slot["e"]
    q = standing[None].copy()
    qd = np.zeros_like(q)
    qd[0, end] = 0.7 * X
    # a vertical line from (0, 0, 0.3) to the end, beside an object on its left
    for gap, free in ((1e-7, 0.3 + REACH), (-1e-7, REACH + 0.1)):
        points = [("base", 0.3 * Z), ("arm", standing[end])]
        actuator = MuscleActuator.through_points(model, points, constant(0.6))
        actuator = over_a_pulley(actuator, kind, (-PULLEY - gap, 0.0, 0.1))
        gamma = actuator.rows(np.zeros(1), q, qd).gamma[0, 0]
        np.testing.assert_allclose(-gamma, 0.49 / free, rtol=1e-3)


# a leg held by one muscle


@pytest.fixture(scope="module")
def steps(model, motion):
    """A motion with bent knees and hips."""
    coordinates = motion.coordinates.copy()
    for name in ("knee_flexion_r", "hip_flexion_r"):
        coordinates[:, model.dof(name)] += 0.9
    return motion_through(model, coordinates, motion.rates, motion.second, time=motion.time).frames(
        slice(0, 6)
    )


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("source", "name", "dof"),
    [
        ("silva_2003", "vastus_intermedius_r", "knee_flexion_r"),
        ("rajagopal_2023", "vastus_lateralis_r", "knee_flexion_r"),
        ("rajagopal_2023", "gastrocnemius_medial_r", "knee_flexion_r"),
        ("wrapped_leg", "over_the_patella_r", "knee_flexion_r"),
        ("wrapped_leg", "behind_the_hip_r", "hip_flexion_r"),
        ("wrapped_leg", "over_the_belly_r", "knee_flexion_r"),
    ],
)
def test_a_muscle_in_place_of_a_joint_driver_gives_the_motion_and_carries_the_moment(
    model, steps, source, name, dof
):
    """The length of a known motion drives the joint through the same motion; the tendon force is moment over arm."""
    muscles = muscles_of(model, source)
    known = MuscleActuator.from_muscles(model, muscles, name, constant(0.0)).rows(
        steps.time, steps.q, steps.qd
    )
    length = known.value[:, 0]
    rate = np.einsum("tnx,tnx->t", known.jacobian[:, 0], steps.qd)
    second = np.einsum("tnx,tnx->t", known.jacobian[:, 0], steps.qdd) - known.gamma[:, 0]

    def course(t):
        return tuple(np.interp(t, steps.time, each) for each in (length, rate, second))

    muscle = MuscleActuator.from_muscles(model, muscles, name, course)
    kinds = [Rigid(model.constraints), MotionDriver(model, steps, (dof,)), muscle]
    bent = steps.coordinates.copy()
    bent[:, model.dof(dof)] += 0.05
    start = motion_through(model, bent, steps.rates, steps.second, time=steps.time).q
    q = assemble(kinds, steps.time, start, model.topology.coordinate_names, driven=True)
    np.testing.assert_allclose(q, steps.q, atol=1e-8)
    qd, qdd = consistent_rates(kinds, steps.time, q)
    np.testing.assert_allclose(qd, steps.qd, atol=1e-6)
    np.testing.assert_allclose(qdd, steps.qdd, atol=1e-5)
    forces = mechanism_forces(model, kinds, steps.time, q).of(muscle)
    moment = projected_moments(model, steps, [])[:, model.dof(dof)]
    state = muscle_state(model, muscles, steps)
    arm_ = state.moment_arm[:, muscles.dof_names.index(dof), muscles.names.index(name)]
    np.testing.assert_allclose(forces, moment / arm_, rtol=1e-6, atol=1e-4)


def test_a_shortening_muscle_bends_the_knee_until_its_path_has_that_length(model):
    """Against the angle at which the length of the set, along knee angles alone, is the prescribed one."""
    muscles = muscles_of(model, "rajagopal_2023")
    name, knee = "biceps_femoris_short_head_r", model.dof("knee_flexion_r")
    number = muscles.names.index(name)

    def posed(angle):
        coordinates = np.zeros((1, 44))
        coordinates[:, knee] = angle
        return motion_through(model, coordinates)

    def length(angle):
        motion = posed(angle)
        return muscles.paths.lengths(motion.q, motion.coordinates)[0, number]

    time, begin = np.linspace(0.0, 1.0, 9), length(0.5)
    muscle = MuscleActuator.from_muscles(
        model, muscles, name, lambda t: (begin - 0.03 * t, -0.03 + 0.0 * t, 0.0 * t)
    )
    still = motion_through(model, np.zeros((len(time), 44)), time=time)
    kinds = [Rigid(model.constraints), MotionDriver(model, still, ("knee_flexion_r",)), muscle]
    q = assemble(kinds, time, posed(0.5).q[0], model.topology.coordinate_names, driven=True)
    for t, pose in zip(time, q, strict=True):
        angle = brentq(lambda x, t=t: length(x) - (begin - 0.03 * t), 0.3, 1.8, xtol=1e-13)
        np.testing.assert_allclose(pose, posed(angle).q[0], atol=1e-8)


# refusals


def test_a_length_beyond_reach_is_refused():
    topology, standing, rigid = arm()
    actuator = straight(mechanism(topology, standing), constant(0.9))
    with refused(None, "frame 0", error=MuscleSolveError):
        assemble([rigid, actuator], np.zeros(1), turned(topology, standing, 0.5))


def test_an_unknown_muscle_and_a_single_point_are_refused(model):
    with refused("unknown_name", "soleos_r", "soleus_r"):
        MuscleActuator.from_muscles(model, muscles_of(model, "silva_2003"), "soleos_r", constant(0.3))
    with refused("missing_argument", "points"):
        MuscleActuator.through_points(model, [("pelvis", np.zeros(3))], constant(0.3))
    with refused("unknown_name", "hip"):
        MuscleActuator.through_points(model, [("hip", np.zeros(3))] * 2, constant(0.3))


def test_a_path_held_on_one_half_of_an_ellipsoid_has_no_second_derivative(model, moving):
    muscles = wrapped_leg(model)
    layout = muscles.paths.layout
    sided = replace(
        layout, side_sign=np.where(layout.kind == KINDS.index("ellipsoid"), 1.0, layout.side_sign)
    )
    held = replace(muscles, paths=replace(muscles.paths, layout=sided))
    actuator = MuscleActuator.from_muscles(model, held, "over_the_belly_r", swing)
    now = moving(0.0)
    actuator.rows(now.time, now.q, 0.0 * now.qd)
    with refused(None, "ellipsoid", error=MuscleSolveError):
        actuator.rows(now.time, now.q, now.qd)
