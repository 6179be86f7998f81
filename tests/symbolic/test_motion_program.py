"""One program from markers to forces: it meets the numeric road, its rows and its bounds, and obeys what is added."""

from __future__ import annotations

import re
from pathlib import Path

import casadi
import numpy as np
import pytest
from loop_models import AT_REST, model_text
from moving_stride import moving_stride
from recorded_data import recorded
from refusals import refused

import musclesolve as ms
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.models.opensim import opensim_geometry
from musclesolve.models.opensim.inverse_dynamics import ModelMotion, inverse_dynamics

LEG = Path(__file__).parents[2] / "examples" / "opensim_model" / "leg.osim"
FRAMES, STEP = 13, 0.02
PLACES = {
    "thigh_high": ("femur_r", (0.05, -0.1, 0.0)),
    "thigh_low": ("femur_r", (0.05, -0.35, 0.02)),
    "shank_high": ("tibia_r", (0.04, -0.1, 0.0)),
    "shank_low": ("tibia_r", (0.04, -0.35, 0.02)),
    "toe": ("foot_r", (0.15, -0.02, 0.0)),
    "heel": ("foot_r", (-0.05, -0.04, 0.0)),
}
SMOOTH = ms.symbolic.MotionWeights(jerk=3000.0)


@pytest.fixture(scope="module")
def leg():
    """Model, skeleton, times and angles of a swing of a leg, and its markers."""
    model = ms.read_osim(LEG)
    body, time = ms.symbolic.skeleton(model), STEP * np.arange(FRAMES)
    phase = 2.0 * np.pi * 1.5 * time
    angles = np.stack(
        [0.3 + 0.3 * np.sin(phase), -0.6 - 0.3 * np.sin(phase + 1.0), 0.1 * np.sin(phase + 2.0)], axis=1
    )
    position = body.markers(PLACES)
    return model, body, time, angles, np.stack([np.array(position(pose)).T for pose in angles])


@pytest.fixture(scope="module")
def chain(leg):
    return ms.symbolic.muscle_chain(leg[0])


@pytest.fixture(scope="module")
def moved(leg, chain):
    """The optimum with muscles, and its program."""
    _, body, time, _, markers = leg
    program = ms.symbolic.motion_program(body, time, PLACES, markers, muscles=chain)
    return program, program.solve(SMOOTH)


def test_torques_follow_the_numeric_road(leg):
    model, body, time, angles, markers = leg
    found = ms.symbolic.motion_program(body, time, PLACES, markers).solve(SMOOTH)
    assert found.converged and np.abs(found.coordinates - angles).max() < 0.02
    every = [list(model.coordinates).index(name) for name in found.dofs]
    arrays = np.zeros((3, FRAMES, len(model.coordinates)))
    arrays[:, :, every] = found.coordinates, found.rates, found.accelerations
    numeric = inverse_dynamics(model, ModelMotion(time, *arrays))
    columns = [numeric.coordinates.index(name) for name in found.dofs]
    np.testing.assert_allclose(found.moment, numeric.force[:, columns], atol=1e-9)
    certificate = found.certificate
    assert max(certificate.stationarity, certificate.motion_equations, certificate.joining) < 1e-6


def test_coordinates_are_the_cubic_splines_of_their_accelerations(moved):
    """Positions and rates integrate accelerations that are linear between frames."""
    _, found = moved
    here, there = found.accelerations[:-1], found.accelerations[1:]
    np.testing.assert_allclose(np.diff(found.rates, axis=0), STEP * (here + there) / 2.0, atol=1e-7)
    step = STEP * found.rates[:-1] + STEP**2 * (2.0 * here + there) / 6.0
    np.testing.assert_allclose(np.diff(found.coordinates, axis=0), step, atol=1e-8)


def test_muscles_and_reserves_supply_the_moments(moved, chain):
    _, found = moved
    assert found.converged and found.certificate.stationarity < 1e-6
    assert found.certificate.complementarity < 1e-5 and found.certificate.bounds < 1e-6
    moment = np.array(chain.moment.map(FRAMES)(found.coordinates.T, found.rates.T, found.activation.T)).T
    np.testing.assert_allclose(moment + found.reserve, found.moment, atol=1e-6)
    force = np.array(chain.force.map(FRAMES)(found.coordinates.T, found.rates.T, found.activation.T)).T
    np.testing.assert_allclose(force, found.force, atol=1e-9)
    assert found.activation.min() > -1e-7 and np.abs(found.reserve).max() < 1.0


def test_no_other_motion_nearby_costs_less(leg, moved):
    """Along feasible directions: other splines of the coordinates, with the same activations."""
    program, found = moved
    assert program.solve(SMOOTH, start=found).cost == pytest.approx(found.cost, rel=1e-6)
    for start in (leg[3], leg[3] + 0.1):
        assert program.solve(SMOOTH, start=start).cost == pytest.approx(found.cost, rel=1e-6)


def test_the_defect_between_frames_falls_with_the_step(leg):
    _, body, time, angles, _ = leg
    position, errors = body.markers(PLACES), []
    for every in (2, 1):
        markers = np.stack([np.array(position(pose)).T for pose in angles[::every]])
        found = ms.symbolic.motion_program(body, time[::every], PLACES, markers).solve(SMOOTH)
        errors.append(found.certificate.between_frames)
        assert found.certificate.worst.partition(" at ")[0] in body.dofs
    assert 0.0 < errors[1] < 0.5 * errors[0]


def test_a_marker_that_is_left_out_is_a_hidden_one(leg):
    _, body, time, _, markers = leg
    spoiled, without = markers.copy(), np.zeros(markers.shape[:2], dtype=bool)
    spoiled[4:7, 2] += 0.5
    without[4:7, 2] = True
    hidden = np.where(without[..., None], np.nan, markers)
    one = ms.symbolic.motion_program(body, time, PLACES, spoiled).solve(SMOOTH, without=without)
    other = ms.symbolic.motion_program(body, time, PLACES, hidden).solve(SMOOTH)
    np.testing.assert_allclose(one.coordinates, other.coordinates, atol=1e-7)


def test_coordinates_whose_markers_are_left_out_are_at_rest(leg):
    """As coordinates without a marker, also where the first frame has no marker at all."""
    _, body, time, _, markers = leg
    without = np.zeros(markers.shape[:2], dtype=bool)
    without[:, 4:], without[0] = True, True
    one = ms.symbolic.motion_program(body, time, PLACES, markers).solve(SMOOTH, without=without)
    hidden = np.where(without[..., None], np.nan, markers)
    program = ms.symbolic.motion_program(body, time, PLACES, hidden)
    assert program.at_rest == ("ankle_angle_r",)
    np.testing.assert_allclose(one.coordinates, program.solve(SMOOTH).coordinates, atol=1e-7)


def test_coordinates_without_markers_stay_at_rest(leg):
    _, body, time, _, markers = leg
    some = {name: place for name, place in PLACES.items() if place[0] != "foot_r"}
    program = ms.symbolic.motion_program(body, time, some, markers[:, : len(some)])
    assert program.at_rest == ("ankle_angle_r",)
    found = program.solve(SMOOTH)
    assert found.converged and np.abs(found.coordinates[:, 2]).max() < 0.2


def test_limits_of_activation_rates_hold_and_bind(leg, chain, moved):
    _, body, time, _, markers = leg
    free, times = moved[1], (0.15, 0.3)
    program = ms.symbolic.motion_program(body, time, PLACES, markers, muscles=chain, activation_times=times)
    found = program.solve(SMOOTH)
    rate = np.diff(found.activation, axis=0) / STEP
    assert rate.max() <= 1.0 / times[0] + 1e-5 and rate.min() >= -1.0 / times[1] - 1e-5
    assert np.diff(free.activation, axis=0).max() / STEP > 1.0 / times[0]
    assert found.converged and found.cost > free.cost


def test_own_costs_constraints_and_data(leg, chain, moved):
    """A bound on a force holds; activations follow the numbers that a cost compares them with."""
    _, body, time, _, markers = leg
    strongest = int(moved[1].force.max(axis=0).argmax())
    limit = 0.9 * moved[1].force[:, strongest].max()
    wanted = np.full((FRAMES, len(chain.muscles)), 0.2)
    program = ms.symbolic.motion_program(
        body,
        time,
        PLACES,
        markers,
        muscles=chain,
        costs=[lambda frame: casadi.sumsqr(frame.activation - frame.data["emg"]) / 0.1**2],
        constraints=[(lambda frame: frame.force[strongest] / 100.0, 0.0, limit / 100.0)],
        data={"emg": wanted},
    )
    found = program.solve(SMOOTH)
    assert found.converged and found.force[:, strongest].max() < limit + 1e-3
    missed = [np.abs(motion.activation - wanted).mean() for motion in (found, moved[1])]
    assert missed[0] < 0.8 * missed[1]


def test_a_subject_has_the_moments_of_the_numeric_road():
    """Three frames of the bundled stride, with its ground forces and the points of its bodies as markers."""
    model, motion, wrenches = moving_stride(66)
    some, topology = slice(6, 9), model.topology
    names = [body.name for body in topology.bodies]
    places = {
        topology.coordinate_names[k]: (names[model.tree.owner[k]], model.standing[k])
        for k in range(topology.point_count)
    }
    acting = [ms.dynamics.Wrench(each.body, each.force[some], each.moment[some]) for each in wrenches]
    loads = {each.body: np.hstack([each.force, each.moment]) for each in acting}
    body, time = ms.symbolic.skeleton(model, tuple(loads)), motion.time[some]
    measured = motion.q[some, : topology.point_count]
    found = ms.symbolic.motion_program(body, time, places, measured, loads).solve()
    moved = motion_from(model, time, found.coordinates, found.rates, found.accelerations)
    np.testing.assert_allclose(found.moment, ms.dynamics.projected_moments(model, moved, acting), atol=1e-8)
    assert found.converged and np.abs(found.residual).max() < 5.0


def test_what_does_not_fit_is_refused(leg, chain, moved):
    _, body, time, _, markers = leg

    def program(**other):
        arguments = {"time": time, "places": PLACES, "measured": markers, **other}
        return ms.symbolic.motion_program(body, **arguments)

    gaps = np.full((FRAMES, 2), 0.3)
    gaps[4, 1] = np.nan
    filled = {"emg": np.nan_to_num(gaps), "measured": np.isfinite(gaps) * 1.0}  # the remedy
    assert program(
        data=filled,
        costs=[lambda frame: casadi.sumsqr(frame.data["measured"] * (frame.q[:2] - frame.data["emg"]))],
    )

    def millimeters(place):
        return tuple(1000.0 * x for x in place)

    cases = (
        ("time_not_increasing", "time", lambda: program(time=time[::-1])),
        ("too_few_frames", "1", lambda: program(time=time[:1], measured=markers[:1])),
        ("bad_shape", "measured", lambda: program(measured=markers[:, 1:])),
        ("no_numbers", "measured", lambda: program(measured="walk.trc")),
        ("bad_value", "infinite", lambda: program(measured=np.full_like(markers, np.inf))),
        ("bad_units", "meters", lambda: program(measured=1000.0 * markers * [[[40.0, 1.0, 1.0]]])),
        (
            "bad_units",
            "places",
            lambda: program(places={name: (of, millimeters(at)) for name, (of, at) in PLACES.items()}),
        ),
        ("bad_value", "foot_r", lambda: program(loads={"foot_r": np.zeros((FRAMES, 6))})),
        ("bad_shape", "emg", lambda: program(data={"emg": np.zeros((FRAMES + 1, 2))})),
        ("not_finite", "in frame 4, column 1", lambda: program(data={"emg": gaps})),
        ("unknown_name", "data={name", lambda: program(cost=lambda frame: casadi.sumsqr(frame.data["emg"]))),
        ("unknown_name", "emg", lambda: program(costs=[lambda frame: frame.data["emg"]])),
        ("bad_type", "data is [1]", lambda: program(data=[1])),
        ("bad_type", "loads is [1]", lambda: program(loads=[1])),
        ("bad_value", "hip_adduction_r", lambda: program(muscles=ms.symbolic.muscle_chain(side="r"))),
        ("bad_type", "muscles", lambda: program(muscles=[leg[0]])),
        ("duplicate_name", "iliopsoas_r", lambda: program(muscles=[chain, chain])),
        ("bad_type", "cost", lambda: program(cost="stress_cubed")),
        ("bad_shape", "13", lambda: program(costs=[lambda frame: casadi.DM(13, 1)])),
        ("bad_cost", "costs[0]: ", lambda: program(costs=[lambda frame: frame.force["soleus_r"]])),
        ("bad_cost", "costs[0]: ", lambda: program(costs=[lambda frame, data: 0.0])),
        ("bad_cost", "constraints[0]: ", lambda: program(constraints=[(lambda frame: frame.q[9], 0.0, 1.0)])),
        ("not_finite", "costs[0]: its value is nan", lambda: program(costs=[lambda frame: np.nan]).solve()),
        (
            "not_finite",
            "constraints[0]: its value is nan",
            lambda: program(constraints=[(lambda frame: casadi.log(frame.q[1]), 0.0, 1.0)]).solve(),
        ),
        (
            "bad_value",
            "constraints[0]: the bounds are 1 and 0",
            lambda: program(constraints=[(lambda frame: frame.q[1], 1.0, 0.0)]),
        ),
        ("bad_value", "nan", lambda: program(constraints=[(lambda frame: frame.q, 0.0, np.nan)])),
        ("bad_type", "constraints", lambda: program(constraints=[(lambda frame: frame.q, 0.0)])),
        ("bad_number", "activation_times", lambda: program(activation_times=(0.0, 0.1))),
        ("bad_number", "jerk", lambda: program().solve(ms.symbolic.MotionWeights(jerk=0.0))),
        ("bad_type", "weights", lambda: program().solve({"jerk": 300.0})),
        ("bad_shape", "start", lambda: program().solve(start=np.zeros((FRAMES, 2)))),
        ("bad_value", "start", lambda: program().solve(start=moved[1])),
        ("bad_value", "without", lambda: program().solve(without=np.zeros(3))),
        ("bad_number", "tolerance", lambda: program().solve(tolerance=-1.0)),
    )
    for code, part, call in cases:
        with refused(code, part):
            call()


def test_a_start_in_degrees_is_a_warning(leg):
    _, body, time, angles, markers = leg
    program = ms.symbolic.motion_program(body, time, PLACES, markers)
    with pytest.warns(UserWarning, match="numpy.radians"):
        program.solve(SMOOTH, start=np.degrees(angles), iterations=1)
    assert program.solve(SMOOTH, start=angles).converged


def follows(model, muscles, place, poses):
    """Programs without and with muscles that follow the marker of a model with one coordinate."""
    body, time = ms.symbolic.skeleton(model), STEP * np.arange(len(poses))
    assert len(body.dofs) == 1
    position = body.markers({"tip": place})
    markers = np.stack([np.array(position([pose])).T for pose in poses])
    for chain in ((), ms.symbolic.muscle_chain(model, muscles)):
        program = ms.symbolic.motion_program(body, time, {"tip": place}, markers, muscles=chain)
        yield program.solve(SMOOTH), chain


def test_a_model_with_one_coordinate(tmp_path):
    """The ankle alone: hip and knee are welded."""
    text = LEG.read_text(encoding="utf-8")
    for name in ("hip_r", "knee_r"):
        before, pin, after = text.partition(f'<PinJoint name="{name}">')
        joint, _, after = after.partition("</PinJoint>")
        joint = re.sub("<coordinates>.*?</coordinates>", "", joint, flags=re.DOTALL)
        text = before + pin.replace("Pin", "Weld") + joint + "</WeldJoint>" + after
    file = tmp_path / "ankle.osim"
    file.write_text(text, encoding="utf-8")
    poses = 0.1 * np.sin(10.0 * STEP * np.arange(7))
    for found, chain in follows(
        ms.read_osim(file), ["soleus_r", "tibialis_anterior_r"], ("foot_r", (0.15, -0.02, 0.0)), poses
    ):
        assert found.converged and np.abs(found.coordinates[:, 0] - poses).max() < 0.01
        if chain:
            moment = np.array(chain.moment.map(7)(found.coordinates.T, found.rates.T, found.activation.T)).T
            np.testing.assert_allclose(moment + found.reserve, found.moment, atol=1e-6)


def test_a_loop_with_one_free_coordinate(tmp_path):
    file = tmp_path / "loop.osim"
    file.write_text(model_text("WeldConstraint"), encoding="utf-8")
    poses = AT_REST["WeldConstraint"]["rock_x"][0] + 0.02 * np.sin(10.0 * STEP * np.arange(5))
    for found, _ in follows(ms.read_osim(file), "pull", ("rocker", (0.2, 0.1, 0.1)), poses):
        assert found.converged and found.certificate.motion_equations < 1e-6


def test_elastic_tendons_bear_the_forces(leg):
    """Ten times as many iterations where activations may go below those that elastic tendons tell apart."""
    model, body, time, _, markers = leg
    chain, some = ms.symbolic.muscle_chain(model, tendon="elastic"), slice(0, 11)
    program = ms.symbolic.motion_program(body, time[some], PLACES, markers[some], muscles=chain)
    found = program.solve(ms.symbolic.MotionWeights(jerk=300.0))
    assert found.converged and found.iterations < 50 and found.certificate.motion_equations < 1e-6
    assert found.activation.min() > chain.least_activation - 1e-6
    arguments = found.coordinates.T, found.rates.T, found.activation.T
    moment = np.array(chain.moment.map(11)(*arguments)).T
    np.testing.assert_allclose(moment + found.reserve, found.moment, atol=1e-6)


def test_curves_that_are_splines_share_the_moments(leg):
    """Functions of Millard's curves take no scalars: the program is then one of matrices."""
    model, body, time, _, markers = leg
    chain, some = ms.symbolic.muscle_chain(model, ["soleus_r", "vasti_r"], curves="millard_2013"), slice(0, 5)
    assert not chain.takes_scalars and ms.symbolic.muscle_chain(model).takes_scalars
    with refused("bad_value", "chain.force", "MX"):
        chain.force(casadi.SX.sym("q", len(chain.dofs)), 0, 0.5)
    found = ms.symbolic.motion_program(body, time[some], PLACES, markers[some], muscles=chain).solve(SMOOTH)
    assert found.converged and found.certificate.motion_equations < 1e-6
    own = [body.dofs.index(name) for name in chain.dofs]
    arguments = found.coordinates.T[own], found.rates.T[own], found.activation.T
    moment = np.array(chain.moment.map(5)(*arguments)).T
    np.testing.assert_allclose(moment + found.reserve, found.moment[:, own], atol=1e-6)


@pytest.mark.thorough
def test_paths_by_iteration_share_the_moments():
    model = ms.read_osim(recorded("opensim_models") / "arm26.osim")
    body, time = ms.symbolic.skeleton(model), 0.04 * np.arange(5)
    chain = ms.symbolic.muscle_chain(model, ["TRIlong", "BIClong", "BRA"])
    assert chain.iterated == ("TRIlong", "BIClong")
    places = {f"tip_{x}": ("r_ulna_radius_hand", (x, -0.2, 0.0)) for x in (0.0, 0.1)}
    poses = np.stack([0.2 + 0.5 * time, 0.9 + time], axis=1)
    position = body.markers(places)
    markers = np.stack([np.array(position(pose)).T for pose in poses])
    found = ms.symbolic.motion_program(body, time, places, markers, muscles=chain).solve(SMOOTH)
    assert found.converged and found.certificate.motion_equations < 1e-6
    np.testing.assert_allclose(found.coordinates, poses, atol=0.03)
    geometry = opensim_geometry(model, dict(zip(body.dofs, found.coordinates.T, strict=True)), body.dofs)
    columns = [geometry.muscles.index(name) for name in chain.muscles]
    moment = np.einsum("tmn,tn->tm", geometry.moment_arm[:, :, columns], found.force)
    np.testing.assert_allclose(moment + found.reserve, found.moment, atol=1e-6)
