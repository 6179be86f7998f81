"""Positions from drivers: any angle from any start, whole turns, loops that stay on their branch; what is refused."""

import numpy as np
import pytest
from refusals import refused
from scipy.spatial.transform import Rotation
from small_models import four_bar, laid_out

from benchmarks.serial_chains import random_chain
from musclesolve.dynamics import AngleDriver, MotionDriver, Rigid, assemble, fixed
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.mechanism.assembly import consistent_rates
from musclesolve.dynamics.mechanism.constraint_rows import LengthDriver, all_closure_errors
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.errors import MuscleSolveError

X, Y, Z = np.eye(3)


def held_at(angle):
    return lambda time: (angle + 0.0 * time, 0.0, 0.0)


def rod(course):
    points = {"o": 0 * X, "g": -0.2 * Z, "e": 0.3 * X}
    vectors = {"axis": Y, "front": X, "side": Z}
    bodies = {"base": (("o", "g"), ("axis", "front")), "rod": (("o", "e"), ("axis", "side"))}
    topology, standing = laid_out("rod", points, vectors, bodies)
    ground = fixed(topology, standing, ["o", "g", "axis", "front"])
    rigid = Rigid(Constraints.build(topology, standing).with_linear(*ground))
    driver = AngleDriver.build(topology, standing, (None, "axis"), (None, "front"), ("o", "e"), course)
    return topology, standing, [rigid, driver]


def rotated(topology, standing, angle):
    """The rod of `rod` turned about the axis."""
    pose = standing.copy()
    moving = [topology.slot[name] for name in ("e", "side")]
    pose[moving] = standing[moving] @ Rotation.from_rotvec(angle * Y).as_matrix().T
    return pose


def apart(one, other):
    return np.abs(np.remainder(one - other + np.pi, 2.0 * np.pi) - np.pi).max()


def direction(q, topology, start, end):
    line = q[:, topology.slot[end]] - q[:, topology.slot[start]]
    return np.arctan2(-line[:, 2], line[:, 0])


@pytest.mark.parametrize("start", np.radians([0.0, 30.0, 60.0, 135.0, -100.0]))
@pytest.mark.parametrize("target", np.radians(np.arange(-170.0, 181.0, 35.0)))
def test_a_rod_is_driven_to_any_angle_from_any_start(start, target):
    topology, standing, kinds = rod(held_at(target))
    q = assemble(kinds, np.zeros(1), rotated(topology, standing, start), topology.coordinate_names)
    assert apart(direction(q, topology, "o", "e"), target) < 1e-9


def test_different_starts_in_every_frame_reach_the_same_angle():
    topology, standing, kinds = rod(held_at(-2.5))
    start = np.array([rotated(topology, standing, angle) for angle in np.linspace(-3.0, 3.0, 13)])
    q = assemble(kinds, np.zeros(13), start, topology.coordinate_names)
    assert apart(direction(q, topology, "o", "e"), -2.5) < 1e-9


def test_a_rod_goes_through_two_full_rotations():
    topology, standing, kinds = rod(lambda time: (time, 1.0, 0.0))
    time = np.linspace(0.0, 4.0 * np.pi, 76)
    q = assemble(kinds, time, standing, topology.coordinate_names)
    assert apart(direction(q, topology, "o", "e"), time) < 1e-9
    qd, qdd = consistent_rates(kinds, time, q)
    arm = q[:, topology.slot["e"]]
    np.testing.assert_allclose(qd[:, topology.slot["e"]], np.cross(Y, arm), atol=1e-12)
    np.testing.assert_allclose(qdd[:, topology.slot["e"]], -arm, atol=1e-12)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("alike", [False, True], ids=["one start", "the same start for every frame"])
def test_a_crank_drives_a_four_bar_through_360_degrees_on_one_branch(alike):
    model, kinds, _ = four_bar(lambda time: (5.0 * time - np.pi / 2.0, 5.0, 0.0))
    time = np.linspace(0.0, 2.0 * np.pi / 5.0, 61)
    start = np.repeat(model.standing[None], len(time), axis=0) if alike else model.standing
    q = assemble(kinds, time, start, model.topology.coordinate_names, driven=True)
    assert apart(direction(q, model.topology, "a", "b"), 5.0 * time - np.pi / 2.0) < 1e-9
    b, c, d = (q[:, model.slot(name)] for name in "bcd")
    side = np.cross(c - b, d - b)[:, 1]
    assert (np.sign(side) == np.sign(side[0])).all()
    np.testing.assert_allclose(q[-1], q[0], atol=1e-9)


def test_a_rocker_cannot_be_driven_beyond_its_reach():
    model, _, rigid = four_bar(held_at(0.0))
    axis, line = (None, "axis"), ("a", "d")
    driver = AngleDriver.build(model.topology, model.standing, axis, line, ("d", "e"), held_at(0.3))
    with refused(None, "0", "a->d", "d->e", error=MuscleSolveError):
        assemble([rigid, driver], np.zeros(3), model.standing, model.topology.coordinate_names)


def test_a_human_far_from_its_motion_is_assembled_on_it(model, motion):
    """Knee and elbow on the wrong side of straight, the whole body turned by 150 degrees."""
    few = motion.frames(slice(0, 2))
    wrong = few.coordinates.copy()
    for name in ("knee_flexion_r", "elbow_flexion_l"):
        wrong[:, model.dof(name)] -= 2.0
    wrong[:, -1] += np.radians(150.0)
    start = motion_from(model, few.time, wrong, few.rates, few.second).q
    kinds = [Rigid(model.constraints), MotionDriver(model, few)]
    q = assemble(kinds, few.time, start, model.topology.coordinate_names)
    np.testing.assert_allclose(q, few.q, atol=1e-9)


def test_one_start_for_all_frames_of_a_motion():
    chain = random_chain(3)
    time = np.linspace(0.0, 1.0, 11)
    rates = np.random.default_rng(1).normal(size=(11, 8))
    coordinates = 3.0 * np.sin(3.0 * time[:, None] + np.arange(8))
    moving = motion_from(chain, time, coordinates, rates, rates)
    kinds = [Rigid(chain.constraints), MotionDriver(chain, moving)]
    q = assemble(kinds, time, chain.standing, chain.topology.coordinate_names, driven=True)
    np.testing.assert_allclose(q, moving.q, atol=1e-9)
    with refused("bad_range"):
        assemble(kinds, time + 0.01, chain.standing)


@pytest.mark.parametrize("what", ["angle", "motion"])
def test_jacobians_of_the_gaps_are_derivatives(what, model, motion):
    if what == "angle":
        _, standing, kinds = rod(held_at(2.0))
        pose, time = standing[None] + 0.1 * np.random.default_rng(2).normal(size=standing.shape), np.zeros(1)
    else:
        few = motion.frames(slice(3, 4))
        kinds, time = [MotionDriver(model, few)], few.time
        pose = few.q + 0.02 * np.random.default_rng(3).normal(size=few.q.shape)
    step, along = 1e-6, np.random.default_rng(4).normal(size=pose.shape)
    ahead, behind = (all_closure_errors(kinds, time, pose + s * step * along).value for s in (1, -1))
    slope = np.einsum("tcnx,tnx->tc", all_closure_errors(kinds, time, pose).jacobian, along)
    np.testing.assert_allclose((ahead - behind) / (2.0 * step), slope, atol=1e-6)


def test_what_nothing_drives_is_named():
    model, _, rigid = four_bar(held_at(0.0))
    names = model.topology.coordinate_names
    q = assemble([rigid], np.zeros(2), model.standing, names)  # allowed: it stays where it is
    np.testing.assert_allclose(q[1], model.standing, atol=1e-12)
    with refused(None, "b, c, e", error=MuscleSolveError):
        assemble([rigid], np.zeros(2), model.standing, names, driven=True)
    with refused(None, "b, c, e", error=MuscleSolveError):
        consistent_rates([rigid], np.zeros(2), q, names)
    still = consistent_rates([rigid], np.zeros(2), q, names, driven=False)
    assert not np.any(still)


@pytest.mark.parametrize(
    ("course", "words"),
    [
        (lambda time: (time * np.nan, time, time), ("not_finite", "0")),
        (lambda time: (time, time), ("bad_type",)),
        (lambda time: (time, time[:1], "x"), ("bad_type",)),
    ],
)
def test_guides_that_give_no_numbers_are_named(course, words):
    topology, standing, kinds = rod(course)
    with refused(*words):
        assemble(kinds, np.linspace(0.0, 1.0, 3), standing, topology.coordinate_names)


@pytest.mark.parametrize("shape", [(6,), (2, 6, 3), (3, 6, 2), (3, 5, 3)])
def test_starts_of_the_wrong_shape_are_refused(shape):
    topology, _, kinds = rod(held_at(0.0))
    with refused("bad_shape"):
        assemble(kinds, np.zeros(3), np.zeros(shape), topology.coordinate_names)


def test_an_open_pose_has_no_rates():
    model, kinds, _ = four_bar(held_at(0.5))
    with refused(None, "0", error=MuscleSolveError):
        consistent_rates(kinds, np.zeros(1), model.standing[None], model.topology.coordinate_names)


def test_an_empty_mechanism_is_refused():
    with refused("missing_argument", "empty mechanism"):
        assemble([], np.zeros(1), np.zeros((4, 3)))


def test_a_length_is_followed_from_a_distant_start():
    topology, standing, kinds = rod(held_at(0.0))
    rope = LengthDriver("rope", topology.slot["g"], topology.slot["e"], held_at(0.45))
    q = assemble([kinds[0], rope], np.zeros(2), standing, topology.coordinate_names, driven=True)
    length = np.linalg.norm(q[:, topology.slot["g"]] - q[:, topology.slot["e"]], axis=1)
    np.testing.assert_allclose(length, 0.45, atol=1e-12)


def test_a_body_that_closes_inside_out_is_refused():
    topology, standing, kinds = rod(held_at(0.5))
    start = standing.copy()
    start[topology.slot["side"]] *= -1.0
    with refused(None, "rod", "0", error=MuscleSolveError):
        assemble(kinds, np.zeros(2), start, topology.coordinate_names)


def test_a_chain_of_one_link_is_refused():
    with refused("bad_number", "1"):
        random_chain(1)
