"""Impossible input is refused at the entry, by name and frame: numbers, names, shapes, settings."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from link_projection import absolute_system
from refusals import refused

from benchmarks.serial_chains import random_chain
from musclesolve._util.checks import check_array
from musclesolve.dynamics import (
    ExternalForces,
    JointMoments,
    JointResistance,
    Sensitivity,
    Targets,
    Wrench,
    coincident,
    differentiate,
    expand,
    fit_pose,
    fixed,
    forward_human_model,
    human_model,
    joint_loads,
    joint_reactions,
    lagrange_multipliers,
    load_topology,
    projected_moments,
    segment_motion,
    simulate,
)
from musclesolve.dynamics.forward.simulate import Integration
from musclesolve.dynamics.inverse.explicit_moment import center_of_pressure_from_motion, intersegmental_moment
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.model.joint_and_body_constraints import scalar_products
from musclesolve.errors import InputError, MuscleSolveError

FRAMES = 8
TIME = np.linspace(0.0, 0.7, FRAMES)
ZERO = np.zeros((FRAMES, 3))


@pytest.fixture(scope="module")
def still(model):
    return differentiate(model, TIME, np.zeros((FRAMES, 44)))


@pytest.fixture(scope="module")
def body(model):
    return forward_human_model(model)


def holed(shape, *at):
    array = np.zeros(shape)
    array[at] = np.nan
    return array


@pytest.mark.parametrize(
    ("time", "coordinates", "words"),
    [
        (TIME, holed((FRAMES, 44), 3, 0), ("not_finite", "hip_flexion_r", "3")),
        (TIME, np.zeros((FRAMES, 40)), ("bad_shape", "(8, 40)")),
        (TIME, np.zeros((FRAMES, 45)), ("bad_shape", "(8, 45)")),
        (TIME[:7], np.zeros((FRAMES, 44)), ("bad_shape", "(8, 44)", "(7, 44)")),
        (TIME[:4], np.zeros((4, 44)), ("too_few_frames", "4", "6")),
        (TIME[::-1], np.zeros((FRAMES, 44)), ("time_not_increasing", "0")),
        (np.r_[TIME[:-1], TIME[-2]], np.zeros((FRAMES, 44)), ("time_not_increasing", "6")),
        (holed(FRAMES, 2), np.zeros((FRAMES, 44)), ("not_finite", "2")),
        (TIME, "text", ("not_numbers", "text")),
        (TIME, [[1.0, 2.0], [1.0]], ("bad_shape",)),
    ],
)
def test_coordinates_that_are_no_motion(model, time, coordinates, words):
    with refused(*words):
        differentiate(model, time, coordinates)


def test_degrees_are_no_angles_of_a_person(model):
    coordinates = np.zeros((FRAMES, 44))
    coordinates[:, model.dof("knee_flexion_r")] = np.linspace(0.0, 60.0, FRAMES)
    with refused("bad_number", "knee_flexion_r", "60 rad", "numpy.radians"):
        differentiate(model, TIME, coordinates)
    coordinates[:, model.dof("knee_flexion_r")] = np.linspace(0.0, 1.0, FRAMES)
    coordinates[:, -1] = np.linspace(0.0, 60.0, FRAMES)  # who turns ten times on the spot
    differentiate(model, TIME, coordinates)


def test_rates_are_checked_like_coordinates(model):
    plain, bad = np.zeros((2, 44)), holed((2, 44), 1, 5)
    with refused("not_finite", model.topology.dof_names[5], "frame 1"):
        motion_from(model, np.arange(2.0), plain, bad, plain)


@pytest.mark.parametrize("part", ["time", "coordinates", "rates", "speeds", "q", "qd", "qdd"])
def test_a_motion_holds_finite_numbers_of_one_length(still, part):
    bad = getattr(still, part).copy()
    bad[2] = np.inf
    with refused("not_finite", part, "frame 2"):
        replace(still, **{part: bad})
    if part != "time":
        with refused("bad_shape", part):
            replace(still, **{part: bad[1:]})


def test_the_origin_of_a_motion_is_the_base_position(model, motion):
    np.testing.assert_array_equal(motion.origin, motion.coordinates[:, 38:41])


@pytest.mark.parametrize(
    ("force", "moment", "words"),
    [
        (holed((FRAMES, 3), 4, 1), ZERO, ("not_finite", "foot_r", "4")),
        (ZERO, holed((FRAMES, 3), 5, 1), ("not_finite", "foot_r", "5")),
        (np.zeros(3), np.zeros(3), ("bad_shape", "foot_r", "(3,)")),
        (ZERO, ZERO[1:], ("bad_shape", "foot_r", "(7, 3)")),
    ],
)
def test_a_wrench_that_is_none(force, moment, words):
    with refused(*words):
        Wrench("foot_r", force, moment)


def test_names_that_the_model_does_not_have(model, still):
    segments, lost = segment_motion(model, still), [Wrench("fot_r", ZERO, ZERO)]
    typos = {
        "degree of freedom 'knee_flexion'": lambda: model.dof("knee_flexion"),
        "body 'fot_r'": lambda: model.body("fot_r"),
        "point or vector 'kne_r'": lambda: model.slot("kne_r"),
        "joint degree of freedom 'knee'": lambda: model.distal_bodies("knee"),
        "joint degree of freedom 'pelvis_tx'": lambda: intersegmental_moment(
            model, still, segments, [], "pelvis_tx"
        ),
        "joint degree of freedom 'nee'": lambda: joint_loads(model, still, segments, [], ["nee"])["nee"],
    }
    for words, call in typos.items():
        with refused("unknown_name", words, "inverse_human"):
            call()
    for call in (
        lambda: projected_moments(model, still, lost),
        lambda: joint_loads(model, still, segments, lost),
        lambda: Sensitivity.by_force(model, still, "fot_r", ZERO),
        lambda: Sensitivity.by_point(model, still, lost[0]),
        lambda: ExternalForces.build(model, TIME, lost),
    ):
        with refused("unknown_name", "fot_r", "foot_r"):
            call()
    with refused("unknown_name", "thigh_r"):
        Sensitivity.by_mass(model, still, segments).of("knee_flexion_r", "thig_r")


def test_names_of_rows_that_the_model_does_not_have(model):
    topology, standing = model.topology, model.standing
    for call in (
        lambda: fixed(topology, standing, ["kne_r"]),
        lambda: coincident(topology, [("knee_r", "kne_r")]),
        lambda: scalar_products(topology, standing, [((None, "kne_r"), (None, "knee_axis_r"))]),
    ):
        with refused("unknown_name", "kne_r", "knee_r"):
            call()


@pytest.mark.parametrize("wrenches", [None, ["foot_r"]])
def test_no_wrenches_at_all(model, still, wrenches):
    for call in (projected_moments, lagrange_multipliers, absolute_system):
        with refused("bad_type", "wrenches"):
            call(model, still, wrenches)


def test_wrenches_in_a_tuple_and_from_a_generator(model, still):
    """A generator is refused: it is empty after the first look, so that no force at all would act."""
    listed, segments = [Wrench("foot_r", ZERO + 300.0, ZERO)], segment_motion(model, still)
    for call in (
        lambda wrenches: projected_moments(model, still, wrenches),
        lambda wrenches: lagrange_multipliers(model, still, wrenches).constraint,
        lambda wrenches: absolute_system(model, still, wrenches).moments,
        lambda wrenches: joint_loads(model, still, segments, wrenches)["knee_flexion_r"].moment,
        lambda wrenches: intersegmental_moment(model, still, segments, wrenches, "knee_flexion_r").total,
        lambda wrenches: joint_reactions(expand(model), still, wrenches).force,
    ):
        np.testing.assert_array_equal(call(tuple(listed)), call(listed))
        with refused("bad_type", "wrenches", "generator"):
            call(each for each in listed)


@pytest.mark.parametrize("height", [None, "0.1", np.nan, np.zeros(3)])
def test_a_height_that_is_no_number(model, still, height):
    segments = segment_motion(model, still)
    with refused("bad_number", "height"):
        intersegmental_moment(model, still, segments, [], "knee_flexion_r", height)
    with refused("bad_number", "height"):
        center_of_pressure_from_motion(model, segments, height)


@pytest.mark.parametrize(("lengths", "code"), [(3, "bad_type"), ({"thigh": "0.4"}, "bad_number")])
def test_lengths_that_are_none(lengths, code):
    with refused(code):
        human_model(lengths=lengths)


@pytest.mark.parametrize("count", [5, 11])
def test_wrenches_and_points_of_another_length(model, still, count):
    other = [Wrench("foot_r", np.zeros((count, 3)), np.zeros((count, 3)))]
    segments = segment_motion(model, still)
    for call in (
        lambda: projected_moments(model, still, other),
        lambda: lagrange_multipliers(model, still, other),
        lambda: joint_loads(model, still, segments, other),
        lambda: intersegmental_moment(model, still, segments, other, "knee_flexion_r"),
        lambda: Sensitivity.by_point(model, still, other[0]),
        lambda: joint_reactions(expand(model), still, other),
    ):
        with refused("bad_shape", "foot_r", str(count), "8"):
            call()
    with refused("bad_shape"):
        Sensitivity.by_force(model, still, "foot_r", ZERO[:4])


def test_the_motion_of_another_model(still, model):
    chain = random_chain(5)
    for call in (
        lambda: projected_moments(chain, still, []),
        lambda: segment_motion(chain, still),
        lambda: Sensitivity.by_force(chain, still, "link2", ZERO),
        lambda: expand(chain).motion(still),
    ):
        with refused("bad_shape", "47"):
            call()


def test_reactions_need_an_expanded_model(model, still):
    with refused("conflict"):
        joint_reactions(model, still, [])
    with refused("unknown_name", "shank_r"):
        joint_reactions(expand(model), still, []).joint("shank")


@pytest.mark.parametrize(
    ("points", "directions", "words"),
    [
        ({}, {}, ("missing_argument",)),
        ({"knee_r": ZERO}, {}, ("conflict", "pelvis")),
        ({"kne_r": ZERO}, {}, ("unknown_name", "kne_r")),
        ({"knee_axis_r": ZERO}, {}, ("conflict", "knee_axis_r")),
        ({"knee_r": holed((FRAMES, 3), 4, 0)}, {}, ("not_finite", "knee_r", "4")),
        ({"knee_r": ZERO, "hip_r": ZERO[:5]}, {}, ("bad_shape", "hip_r", "(5, 3)")),
        ({"knee_r": ZERO[0]}, {}, ("bad_shape", "knee_r", "(3,)")),
    ],
)
def test_targets_that_are_none(model, points, directions, words):
    with refused(*words):
        fit_pose(model, Targets.build(model, points, directions))


def test_settings_of_a_simulation(body):
    q, still = body.standing, np.zeros_like(body.standing)
    for name, value in (
        ("tolerance", 0),
        ("tolerance", -1),
        ("tolerance", np.nan),
        ("largest_step", 0),
        ("largest_step", np.nan),
    ):
        with refused("bad_number", name):
            Integration(**{name: value})
    for forces in (JointResistance.build(body), [3.0]):
        with refused("bad_type", "forces"):
            simulate(body, q, still, 0.01, forces)
    for duration, code in ((-1.0, "bad_number"), (np.nan, "bad_number"), (np.zeros((3, 2)), "bad_shape")):
        with refused(code):
            simulate(body, q, still, duration)


def test_faults_of_forces_say_once_when_and_keep_their_kind(body):
    q, still = body.standing, np.zeros_like(body.standing)

    def narrow(time, q, qd):
        return np.zeros(3)

    def broken(time, q, qd):
        return np.full_like(q, np.nan)

    def refusing(time, q, qd):
        raise InputError("no such force", expected="another")

    with refused("bad_shape", "(3,)"):
        simulate(body, q, still, 0.01, forces=[narrow])
    with refused("bad_input", "no such force"):
        simulate(body, q, still, 0.01, forces=[refusing])
    with pytest.raises(MuscleSolveError) as caught:
        simulate(body, q, still, 0.01, forces=[broken])
    assert str(caught.value).count("the simulation stops at") == 1
    with refused("not_finite", "knee_flexion_r"):
        JointMoments.build(body, {"knee_flexion_r": np.nan})


def test_forces_through_time_that_are_none(body):
    with refused("time_not_increasing"):
        JointMoments.build(body, {"knee_flexion_r": np.zeros(FRAMES)}, TIME[::-1])
    with refused("not_finite", "knee_flexion_r", "frame 1"):
        JointMoments.build(body, {"knee_flexion_r": holed(FRAMES, 1)}, TIME)
    none = ExternalForces.build(body, TIME, [])
    assert not none(TIME, np.repeat(body.standing[None], FRAMES, 0), np.zeros((FRAMES, 33, 3))).any()


def test_a_table_of_resistance_of_another_model():
    with refused("bad_model", "inverse_resistance.toml", "forward_human"):
        JointResistance.build(forward_human_model(), "inverse_resistance")


def test_complex_numbers_pass(model):
    """An imaginary step transports derivatives; it is no fault."""
    array = np.ones((2, 3)) + 1e-30j
    assert check_array(array, "x", ("T", 3)) is array
    assert Wrench("foot_r", array, array).force is array


def test_a_file_that_is_no_text(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_bytes(b"\xff\xfe\x00")
    with warnings.catch_warnings(), refused("unreadable_file", "mine.toml"):
        load_topology(file)


@pytest.mark.parametrize(
    ("what", "value"), [("mass", "70"), ("stature", None), ("shoe_mass", [0.3, 0.3]), ("mass", np.nan)]
)
def test_a_subject_is_made_of_numbers(what, value):
    with refused("bad_number", what):
        human_model(**{what: value})


def test_a_shoe_of_a_tenth_of_the_body_mass_is_refused():
    with refused("bad_number", "shoe_mass"):
        human_model(mass=80.0, shoe_mass=8.0)


def test_an_integration_with_a_tolerance_of_one_is_refused():
    with refused("bad_number", "tolerance"):
        Integration(tolerance=1.0)
