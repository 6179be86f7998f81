"""A predicted jump obeys mechanics, its meshes converge, and a coarse or unlimited one is no result; smooth contact."""

from __future__ import annotations

from pathlib import Path

import casadi
import numpy as np
import pytest
from refusals import refused

import musclesolve as ms

G = 9.80665
LEG = Path(__file__).parents[2] / "examples" / "opensim_model" / "leg.osim"
HEEL = ms.symbolic.SmoothContact("foot_r", (0.0, 0.0, 0.0), up="y")
LOWER, UPPER = [-1.2, -0.3, -0.6, -0.5, -2.1, -0.7], [0.4, 0.3, 0.6, 2.0, -0.02, 0.6]
LIMITS = {"q": (LOWER, UPPER), "qd": (-15.0, 15.0), "qdd": (-400.0, 400.0)}
CROUCH = [-0.5, 0.0, -0.185, 1.2, -1.3, 0.6]


@pytest.fixture(scope="module")
def jumper(tmp_path_factory):
    """Model, skeleton, muscles and contacts: the leg of the examples under half a trunk that is free in the plane."""
    joint = "".join(f'<Coordinate name="{name}"/>' for name in ("tilt", "forward", "height"))
    text = LEG.read_text(encoding="utf-8").replace("</WeldJoint>", "</PlanarJoint>")
    text = text.replace(
        '<WeldJoint name="ground_pelvis">',
        f'<PlanarJoint name="ground_pelvis"><coordinates>{joint}</coordinates>',
    ).replace("<mass>11</mass>", "<mass>24</mass>")
    file = tmp_path_factory.mktemp("jumper") / "jumper.osim"
    file.write_text(text, encoding="utf-8")
    model = ms.read_osim(file)
    contacts = [ms.symbolic.SmoothContact("foot_r", (x, -0.07, 0.0), up="y") for x in (-0.05, 0.16)]
    return model, ms.symbolic.skeleton(model, loads="foot_r"), ms.symbolic.muscle_chain(model), contacts


@pytest.fixture(scope="module")
def jump(jumper):
    _, body, muscles, contacts = jumper

    def minus_height(frame):
        place, velocity = body.mass_center(frame.q, frame.qd)
        return -100.0 * (place[1] + casadi.fmax(velocity[1], 0.0) * velocity[1] / (2.0 * G))

    def predicted(limits=LIMITS, pulling=muscles, **options):
        effort = [lambda frame: 0.1 * casadi.sumsqr(frame.activation)]
        return ms.symbolic.predicted_motion(
            body, 0.4, pulling, contacts, minus_height, CROUCH, limits, costs=effort, **options
        )

    return predicted


@pytest.fixture(scope="module")
def found(jump):
    return jump(meshes=[13, 25], largest_error=100.0)


def test_the_ground_carries_pushes_and_takes_energy():
    """Its stiffness times the depth at rest, no pull however fast a point leaves, friction within its cone."""
    still = np.zeros(3)
    assert float(HEEL.force([0.0, -0.02, 0.0], still)[1]) == pytest.approx(1200.0, rel=2e-3)
    assert float(HEEL.force([0.0, 0.05, 0.0], still)[1]) < 1e-6
    assert 0.0 <= float(HEEL.force([0.0, -0.02, 0.0], [0.0, 50.0, 0.0])[1]) < 1e-3
    for velocity in np.random.default_rng(0).normal(size=(20, 3)):
        force = np.array(HEEL.force([0.0, -0.01, 0.0], velocity)).ravel()
        along = force * [1, 0, 1]
        assert np.linalg.norm(along) <= 0.8 * force[1] and along @ velocity <= 0.0
        elastic = float(HEEL.force([0.0, -0.01, 0.0], still)[1])
        assert (force[1] - elastic) * velocity[1] <= 0.0  # the damping
    slow = np.array(HEEL.force([0.0, -0.01, 0.0], [0.1, 0.0, 0.0])).ravel()
    assert -slow[0] / slow[1] == pytest.approx(0.8 * np.sqrt(0.5))


def test_derivatives_of_the_contact_are_those_of_differences():
    x = casadi.SX.sym("x", 6)
    slope = casadi.Function("slope", [x], [casadi.jacobian(HEEL.force(x[:3], x[3:]), x)])
    for height in (-0.01, 0.0, 0.001):
        at, way = np.array([0.0, height, 0.0, 0.2, -0.1, 0.05]), np.array([0.1, 1.0, 0.2, 1.0, 1.0, -1.0])
        after, before = (HEEL.force(*np.split(at + step * way, 2)) for step in (1e-6, -1e-6))
        np.testing.assert_allclose(slope(at) @ way, (after - before) / 2e-6, rtol=1e-4, atol=1e-3)


def test_the_mass_center_is_the_weighted_mean_and_moves_at_its_rate(jumper):
    model, body, *_ = jumper
    pose, rate = np.array([0.1, 0.2, 0.3, 0.4, -0.5, 0.1]), np.array([1.0, -0.5, 0.3, 2.0, -3.0, 0.4])
    places = {name: (name, of.center) for name, of in model.masses.items() if of.mass}
    masses = np.array([model.masses[name].mass for name in places])
    at, velocity = body.mass_center(pose, rate)
    np.testing.assert_allclose(at, body.markers(places)(pose) @ masses / masses.sum(), atol=1e-14)
    ahead, behind = (body.mass_center(pose + step * rate, rate)[0] for step in (1e-6, -1e-6))
    np.testing.assert_allclose(velocity, (ahead - behind) / 2e-6, atol=1e-8)


def test_momentum_and_energy_close(jumper, found):
    model, body, *_ = jumper
    motion, mass = found.motion, sum(of.mass for of in model.masses.values())
    c, cd, count = motion.coordinates, motion.rates, len(motion.time)
    place, speed = (np.array(x)[1] for x in body.mass_center.map(count)(c.T, cd.T))
    impulse = np.trapezoid(found.contact_force[:, :, 1].sum(axis=1) / mass - G, motion.time)
    assert speed[-1] > 0.5 and impulse == pytest.approx(speed[-1], rel=0.01)
    kinetic = [0.5 * rate @ np.array(body.mass(pose)) @ rate for pose, rate in zip(c, cd, strict=True)]
    gained = kinetic[-1] - kinetic[0] + mass * G * (place[-1] - place[0])
    work = (motion.moment * cd)[:, 3:].sum(axis=1)
    work += (found.contact_force * found.contact_velocity).sum(axis=(1, 2))
    assert gained > 30.0 and np.trapezoid(work, motion.time) == pytest.approx(gained, rel=0.01)


def test_nothing_but_muscles_and_ground_moves_the_body(jumper, found):
    muscles, motion = jumper[2], found.motion
    moment = np.array(
        muscles.moment.map(25)(motion.coordinates[:, 3:].T, motion.rates[:, 3:].T, motion.activation.T)
    )
    np.testing.assert_allclose(moment.T, motion.moment[:, 3:], atol=1e-4)
    np.testing.assert_allclose(motion.moment[:, :3], 0.0, atol=1e-4)
    np.testing.assert_allclose(np.vstack([motion.rates[0], motion.accelerations[0]]), 0.0, atol=1e-9)
    assert np.abs(motion.rates).max() <= 15.0 + 1e-6
    steps = np.diff(motion.activation, axis=0) / np.diff(motion.time)[:, None]
    assert -1.0 / 0.06 - 1e-4 <= steps.min() and steps.max() <= 1.0 / 0.03 + 1e-4


def test_elastic_tendons_jump_from_a_balance_of_their_own(jumper, jump):
    """Below the least activation nothing changes with it: with a bound of zero no balance was found."""
    model, _, rigid, _ = jumper
    chain = ms.symbolic.muscle_chain(model, tendon="elastic")
    found = jump(pulling=chain, meshes=[13], largest_error=400.0)
    motion, (mesh,) = found.motion, found.meshes
    assert mesh.converged and mesh.in_frames < 1e-3
    assert motion.activation.min() == pytest.approx(0.01, abs=1e-6)
    pose, rate = motion.coordinates[:, 3:].T, motion.rates[:, 3:].T
    force = np.array(chain.force.map(13)(pose, rate, motion.activation.T)).T
    np.testing.assert_allclose(motion.force, force, atol=1e-6)
    moment = np.einsum("tn,tmn->tm", force, np.array([chain.moment_arm(q) for q in pose.T]))
    np.testing.assert_allclose(moment, motion.moment[:, 3:], atol=1e-4)
    np.testing.assert_allclose(motion.moment[:, :3], 0.0, atol=1e-4)
    # another pose and other forces than with rigid tendons
    stiff = np.array(rigid.force(pose[:, 0], rate[:, 0], motion.activation[0])).ravel()
    assert np.abs(stiff - force[0]).max() > 100.0
    mass = sum(each.mass for each in model.masses.values())
    push = np.trapezoid(found.contact_force[:, :, 1].sum(axis=1) / mass - G, motion.time)
    speed = float(jumper[1].mass_center(motion.coordinates[-1], motion.rates[-1])[1][1])
    assert speed > 0.5 and push == pytest.approx(speed, rel=0.1)


def test_a_finer_mesh_misses_less_and_a_coarse_one_is_no_result(found, jump):
    coarse, fine = found.meshes
    assert coarse.converged and fine.converged and coarse.in_frames < 1e-3 > fine.in_frames
    assert fine.between_frames < 0.6 * coarse.between_frames
    strict = jump(meshes=[13], largest_error=1.0)
    with refused("not_solved", "between 13 frames", " at 0.3"):
        _ = strict.motion


def test_without_limits_the_equations_hold_in_the_frames_alone(jump, found):
    """The optimum gains height from what no row sees."""
    wide = {"q": LIMITS["q"], "qd": (-1500.0, 1500.0), "qdd": (-4e4, 4e4)}
    wide["q"] = (LOWER, [*UPPER[:2], 60.0, *UPPER[3:]])
    free = jump(wide, meshes=[9], jerk=1e6, iterations=300)
    assert free.meshes[0].in_frames < 1.0 and free.meshes[0].between_frames > 1000.0
    assert free.meshes[0].goal < found.meshes[-1].goal - 5.0  # 50 mm higher
    with refused("not_solved"):
        _ = free.motion


def test_arguments_are_refused_before_any_computation(jumper):
    """By code and by what the message names; each has an expectation and a remedy where one is possible."""
    _, body, muscles, contacts = jumper
    elsewhere = ms.symbolic.muscle_chain(muscles="silva_2003", side="r")
    turned = [*LOWER[:4], UPPER[4], LOWER[5]], [*UPPER[:4], LOWER[4], UPPER[5]]
    strong = ms.symbolic.muscle_chain(jumper[0], factors=("max_isometric_force",))
    hand = [ms.symbolic.SmoothContact("hand_r", (0.0, 0.0, 0.0), up="y")]
    degrees = np.degrees(CROUCH) * [1.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    cases = (
        ("bad_value", "meshes", {"meshes": []}),
        ("bad_type", "meshes=[5]", {"meshes": 5}),
        ("bad_value", "[6, 5]", {"meshes": [6, 5]}),
        ("bad_number", "meshes is 2", {"meshes": [2, 5]}),
        ("bad_number", "activation_times is (-0.03, 0.06)", {"activation_times": (-0.03, 0.06)}),
        ("bad_number", "activation_times is (0, -1)", {"activation_times": (0, -1)}),
        ("bad_shape", "activation_times", {"activation_times": 0.03}),
        ("bad_number", "iterations is -1", {"iterations": -1}),
        ("bad_value", "same subject or model", {"muscles": elsewhere}),
        ("unsupported", "factors=()", {"muscles": strong}),
        ("bad_type", "goal: 3 is no function", {"goal": 3}),
        ("bad_type", "goal: the function returns None", {"goal": lambda frame: None}),
        ("bad_shape", "goal: the function returns 6", {"goal": lambda frame: frame.q}),
        ("bad_type", "costs", {"costs": lambda frame: 0.0}),
        ("bad_shape", "costs[0]: the function returns 6", {"costs": [lambda frame: frame.q]}),
        ("bad_cost", "goal: ", {"goal": lambda frame: frame.q[20]}),
        ("bad_cost", "goal: ", {"goal": lambda frame: frame.activation["soleus_r"]}),
        ("bad_cost", "symbols free", {"goal": lambda frame: casadi.SX.sym("free") * frame.q[0]}),
        ("bad_cost", "costs[0]: ", {"costs": [lambda frame: frame.pose]}),
        ("unknown_name", "takes no data", {"goal": lambda frame: frame.data["emg"]}),
        ("unknown_name", "takes no data", {"costs": [lambda frame: frame.data["last"]]}),
        ("missing_argument", "SmoothContact(", {"contacts": []}),
        ("unknown_name", "hand_r", {"contacts": hand}),
        ("bad_value", "hip_flexion_r is 3, outside", {"start": [*CROUCH[:3], 3.0, *CROUCH[4:]]}),
        ("bad_value", "knee_angle_r is 1.3, outside its limits", {"start": [*CROUCH[:4], 1.3, CROUCH[5]]}),
        ("bad_value", "numpy.radians", {"start": degrees}),
        ("bad_shape", "in this order: tilt, forward", {"start": [0.0]}),
        ("not_numbers", "pose[name] for name in body.dofs", {"start": {"tilt": -0.5}}),
        ("not_finite", "hip_flexion_r is nan", {"start": [*CROUCH[:3], np.nan, *CROUCH[4:]]}),
        ("bad_axes", "up='y'", {"contacts": [ms.symbolic.SmoothContact("foot_r", (0.0, 0.0, 0.0))]}),
        ("bad_type", "limits['qd']: it is 15.0, no pair", {"limits": LIMITS | {"qd": 15.0}}),
        ("bad_shape", "6 numbers each", {"limits": LIMITS | {"q": ([0.0, 0.0], [1.0, 1.0])}}),
        ("bad_value", "knee_angle_r is from -0.02 to -2.1", {"limits": LIMITS | {"q": turned}}),
        ("bad_value", "tilt is from -inf to 15", {"limits": LIMITS | {"qd": (-np.inf, 15.0)}}),
        ("unknown_name", "did you mean 'qdd'", {"limits": LIMITS | {"qddd": (-1.0, 1.0)}}),
    )
    usual = {"muscles": muscles, "contacts": contacts, "goal": lambda frame: 0.0, "start": CROUCH}
    usual["limits"] = LIMITS
    for code, part, other in cases:
        with refused(code, part):
            ms.symbolic.predicted_motion(body, 0.4, **(usual | other))


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_goal_that_is_not_finite_is_named(jumper, number):
    """The start is sound: neither the balance nor the posture is at fault."""
    _, body, muscles, contacts = jumper

    def missed(goal, costs=()):
        ms.symbolic.predicted_motion(
            body, 0.4, muscles, contacts, goal, CROUCH, LIMITS, costs=costs, meshes=[5]
        )

    with refused("not_finite", "goal: its value is", "in frame 4 (0.4 s)", "casadi.sqrt"):
        missed(lambda frame: frame.q[2] * number)
    with refused("not_finite", f"goal: its value is {number}"):
        missed(lambda frame: number)
    with refused("not_finite", "costs[0]: its value is"):
        missed(lambda frame: frame.q[2], [lambda frame: number * frame.activation[0]])
    with refused("not_finite", "goal: its slope is nan"):  # a root of zero, at rest
        missed(lambda frame: -casadi.norm_2(frame.qd[:2]))
    missed(lambda frame: -casadi.sqrt(casadi.sumsqr(frame.qd[:2]) + 1e-8))  # the remedy


def test_limits_are_pairs_of_any_kind(jumper):
    _, body, muscles, contacts = jumper
    for limits in (LIMITS | {"q": np.array([LOWER, UPPER])}, LIMITS | {"qd": [[-15.0] * 6, 15.0]}):
        found = ms.symbolic.predicted_motion(
            body, 0.4, muscles, contacts, lambda frame: frame.q[2], CROUCH, limits, meshes=[5], iterations=2
        )
        assert np.abs(found.contact_place).max() < 2.0


def test_what_does_not_fit_is_refused(jumper, jump):
    _, body, muscles, contacts = jumper
    with refused("missing_argument", "qdd", "kilometers"):
        jump({name: LIMITS[name] for name in ("q", "qd")})
    with refused("bad_value", "limits['qd']"):
        jump(LIMITS | {"qd": (1.0, -1.0)})
    with refused("bad_shape", "start"):
        ms.symbolic.predicted_motion(body, 0.4, muscles, contacts, lambda f: 0.0, [0.0], LIMITS)
    with refused("not_solved", "start"):
        ms.symbolic.predicted_motion(
            body, 0.4, muscles, contacts, lambda f: 0.0, [0.0, 0.0, 0.6, 0.0, -0.1, 0.0], LIMITS
        )
    with refused("unknown_name", "tibia_r", "loads=["):
        elsewhere = [ms.symbolic.SmoothContact("tibia_r", (0.0, 0.0, 0.0), up="y")]
        ms.symbolic.predicted_motion(body, 0.4, muscles, elsewhere, lambda f: 0.0, CROUCH, LIMITS)
    with refused("bad_number", "stiffness"):
        ms.symbolic.SmoothContact("foot_r", (0.0, 0.0, 0.0), stiffness=-1.0)
    for position in ([0.0, 0.0], "heel", casadi.SX.sym("p", 2)):
        with refused(
            "not_numbers" if isinstance(position, str) else "bad_shape", "SmoothContact.force: position"
        ):
            HEEL.force(position, [0.0, 0.0, 0.0])
    with refused("not_finite", "place of x is nan"):
        ms.symbolic.SmoothContact("foot_r", (np.nan, 0.0, 0.0))
    with refused("bad_type", "the name of a body"):
        ms.symbolic.SmoothContact(3, (0.0, 0.0, 0.0))
