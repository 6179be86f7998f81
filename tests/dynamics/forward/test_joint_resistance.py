"""Joint resistance: damping takes power, limits turn joints back, and neither acts where it should not."""

import numpy as np
import pytest
from poses import motion_through
from refusals import refused
from scipy.integrate import quad

from musclesolve.dynamics import JointResistance, forward_human_model, simulate
from musclesolve.dynamics.forward.simulate import Integration, potential_energy
from musclesolve.dynamics.kernel import contact

rise = contact.rise.py_func


def assert_couple(resist, motion, dof, moment):
    """The couple of one joint alone acts: a moment about its axis on the child, and back on the parent."""
    couples, k = resist.loads(motion.q, motion.qd)[1][0, :, :3], resist.couples.model.dof(dof)
    child, parent = resist.couples.distal[k], resist.couples.proximal[k]
    np.testing.assert_allclose(couples[child], moment * resist.couples.axes(motion.q)[0, k], atol=1e-6)
    np.testing.assert_allclose(couples[parent], -couples[child], atol=1e-12)
    assert np.count_nonzero(np.abs(couples).max(axis=1) > 1e-6) == 2


@pytest.fixture(scope="module")
def body(model):
    return forward_human_model(model)


@pytest.fixture(scope="module")
def limits(body):
    return JointResistance.build(body, damping=False)


def pose(body, **angles):
    """One frame at rest, joint coordinates by name."""
    coordinates = np.zeros((1, 29))
    for name, angle in angles.items():
        coordinates[0, body.dof(name)] = angle
    return motion_through(body, coordinates)


def test_the_rise_is_clamped():
    """The print's polynomial is 0.78 at 1.25 and -4 at 2 (correction C11)."""
    np.testing.assert_allclose(list(map(rise, [-1.0, 0.0, 0.5, 1.0, 1.25, 2.0])), [0, 0, 0.5, 1, 1, 1])


def test_nothing_resists_inside_the_range(body, limits):
    inside = pose(
        body,
        hip_flexion_r=1.0,
        shoulder_flexion_l=2.0,
        knee_flexion_r=1.2,
        elbow_flexion_l=2.0,
        trunk_flexion=0.5,
    )
    assert not limits.loads(inside.q, inside.qd)[1].any()
    standing = pose(body)
    assert np.abs(limits(standing.time, standing.q, standing.qd)).max() < 1e-12


@pytest.mark.parametrize(
    ("dof", "angle", "size"),
    [
        ("knee_flexion_r", np.deg2rad(125.0 + 5.75), -0.5 * 226.0),
        ("knee_flexion_r", np.deg2rad(-5.75), 0.5 * 226.0),
        ("elbow_flexion_l", np.deg2rad(160.0), -226.0),
        ("head_flexion", np.deg2rad(-2.0 - 15.0), 452.0),
    ],
)
def test_stops_push_back(body, limits, dof, angle, size):
    beyond = pose(body, **{dof: angle})
    assert_couple(limits, beyond, dof, size)


@pytest.mark.parametrize(
    ("dof", "angle", "size"),
    [
        ("hip_flexion_r", 102.0 + 5.75, -226.0),
        ("hip_flexion_l", -45.0 - 5.75, 226.0),
        ("hip_adduction_r", -53.0 - 20.0, 452.0),
        ("hip_adduction_l", 31.0 + 5.75, -226.0),
        ("shoulder_adduction_r", -130.0 - 5.75, 113.0),
        ("trunk_flexion", 70.0 + 5.75, -113.0),
        ("trunk_bending_right", 35.0 + 5.75, -113.0),
    ],
)
def test_cones_push_back_along_their_main_directions(body, limits, dof, angle, size):
    """Leaning straight to the front, back or side, the couple is about that one axis, on the child and back (3.8)."""
    beyond = pose(body, **{dof: np.deg2rad(angle)})
    assert_couple(limits, beyond, dof, size)


def excess(limits, q, c):
    """The excess beta - beta_max of one cone, written out a second time."""
    cones = limits.cones
    parent = limits.couples.model.rigid_bodies.rotation(q)[0, cones.bodies[c, 0]]
    line = q[0, cones.line[c, 1]] - q[0, cones.line[c, 0]]
    front, side, axis = cones.frame[c] @ (parent.T @ line) / np.linalg.norm(line)
    share = np.array([max(front, 0.0), max(side, 0.0), max(-front, 0.0), max(-side, 0.0)]) ** 2
    return np.arccos(axis) - share @ cones.limits[c, :4] / share.sum()


def test_cones_rotate_back_the_shortest_way(body, limits):
    """Between the main directions the couple is of full size and against the steepest growth of the excess."""
    rng = np.random.default_rng(61)
    checked, hip = 0, 4
    for _ in range(60):
        turn = rng.normal(size=3)
        turn[2] = 0.0
        turn *= rng.uniform(1.0, 2.2) / np.linalg.norm(turn)
        names = ("hip_adduction_r", "hip_flexion_r", "hip_internal_rotation_r")
        beyond = pose(body, **dict(zip(names, turn, strict=True)))
        over = excess(limits, beyond.q, hip)
        couple = limits.loads(beyond.q, beyond.qd)[1][0, body.body("thigh_r"), :3]
        expected = 452.0 * rise(over / np.deg2rad(11.5))
        assert np.linalg.norm(couple) == pytest.approx(expected, abs=1e-6)
        if over < 0.02:
            continue
        checked += 1
        slope = np.empty(3)
        thigh = [body.slot("knee_r")]
        pivot, step = beyond.q[0, body.slot("hip_r")], 1e-6
        for x in range(3):
            near = []
            for sign in (1, -1):
                q = beyond.q.copy()
                q[0, thigh] += np.cross(sign * step * np.eye(3)[x], q[0, thigh] - pivot)
                near.append(excess(limits, q, hip))
            slope[x] = (near[0] - near[1]) / (2 * step)
        np.testing.assert_allclose(couple / expected, -slope / np.linalg.norm(slope), atol=1e-6)
    assert checked > 10


def test_damping_takes_the_power_of_relative_rotation(body):
    rng = np.random.default_rng(62)
    moving = motion_through(body, 0.2 * rng.normal(size=(1, 29)), rng.normal(size=(1, 29)))
    damping = JointResistance.build(body, limits=False)
    power = np.sum(damping(moving.time, moving.q, moving.qd) * moving.qd)
    spin = body.rigid_bodies.twists(moving.q, moving.qd)[0, :, :3]
    expected = -5.65 * np.sum((spin[body.body("thigh_r")] - spin[body.body("pelvis")]) ** 2)
    hip = slice(body.dof("hip_flexion_r"), body.dof("hip_flexion_r") + 3)
    assert -5.65 * np.sum(moving.speeds[0, hip] ** 2) == pytest.approx(expected)
    assert power == pytest.approx(-np.sum(damping.damping * moving.speeds[0, :23] ** 2))
    assert power < 0.0


def test_a_limit_stop_reverses_a_knee(body, limits):
    """A knee flexed at 8 rad/s stops within the margin and comes back as fast as it went (no damping)."""
    k = body.dof("knee_flexion_r")
    coordinates, rates = np.zeros((2, 1, 29))
    coordinates[0, k], rates[0, k] = 1.9, 8.0
    start = motion_through(body, coordinates, rates)
    still = [n for n in body.topology.coordinate_names if n not in ("shank_forward_r", "foot_r")]
    sim = simulate(body, start.q[0], start.qd[0], np.linspace(0.0, 0.15, 101), [limits], held=still)
    angle, rate = sim.motion.coordinates[:, k], sim.motion.rates[:, k]
    limit, margin = np.deg2rad(125.0), np.deg2rad(11.5)
    assert limit < angle.max() < limit + margin
    assert rate[-1] < 0.0 and angle[-1] < 1.9
    turned = 226.0 * margin * np.array([quad(rise, 0.0, max(0.0, (a - limit) / margin))[0] for a in angle])
    total = sim.energy + turned
    np.testing.assert_allclose(total, total[0], atol=1e-5)
    back = int(np.argmax(angle))
    assert np.interp(-1.9, -angle[back:], rate[back:]) == pytest.approx(-8.0, rel=1e-3)


def test_a_damped_swing_comes_to_rest(body):
    k = body.dof("knee_flexion_l")
    coordinates = np.zeros((1, 29))
    coordinates[0, k] = 1.0
    start = motion_through(body, coordinates)
    still = [n for n in body.topology.coordinate_names if n not in ("shank_forward_l", "foot_l")]
    resist = JointResistance.build(body)
    sim = simulate(body, start.q[0], start.qd[0], np.linspace(0.0, 2.0, 21), [resist], held=still)
    lost = np.diff(sim.energy)
    assert (lost < 1e-9).all()
    assert abs(sim.motion.rates[-1, k]) < 0.1
    assert potential_energy(body, sim.q)[-1] < potential_energy(body, sim.q)[0]


STOP = "[[stop]]\ndof = 'knee_flexion_r'\nlower_deg = {}\nupper_deg = 1\nmargin_deg = {}\nmoment = 1\ndamping = {}\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[stop]]\ndof = 'tail'\n", ("bad_model",)),
        (STOP.replace("knee_flexion_r", "hip_flexion_r").format(0, 1, 0), ("bad_model",)),
        (STOP.format(5, 1, 0), ("bad_model", "empty")),
        (STOP.format(0, 0, 0), ("bad_model", "margins")),
        (STOP.format(0, 1, -2), ("bad_model", "negative")),
        ("[[", ("unreadable_file", "mine.toml")),
    ],
)
def test_a_table_that_cannot_be_is_refused(body, tmp_path, text, words):
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with refused(*words):
        JointResistance.build(body, file)


class TestInverseModel:
    """The 33-body model has the resistance of the forward model, and that of the joints which only it has."""

    def test_every_joint_is_damped(self, model):
        assert (JointResistance.build(model).damping > 0.0).all()

    def test_nothing_resists_a_standing_person(self, model):
        q = model.standing[None]
        assert not JointResistance.build(model)(np.zeros(1), q, 0.0 * q).any()

    @pytest.mark.parametrize(
        ("dof", "degrees"),
        [
            *(("hip_flexion_r", 108.0), ("hip_flexion_l", -50.0), ("hip_adduction_l", 37.0)),
            *(("knee_flexion_r", 130.0), ("elbow_flexion_l", 150.0), ("head_flexion", -12.0)),
            *(("shoulder_adduction_r", -135.0), ("trunk_flexion", 75.0), ("neck_bending_right", 45.0)),
        ],
    )
    def test_both_models_resist_alike(self, model, body, limits, dof, degrees):
        """The power on a rotation of that joint, in the same pose."""
        powers = []
        for one, resist in ((model, JointResistance.build(model, damping=False)), (body, limits)):
            coordinates, rates = np.zeros((2, 1, len(one.topology.dof_names)))
            coordinates[0, one.dof(dof)], rates[0, one.dof(dof)] = np.deg2rad(degrees), 1.0
            now = motion_through(one, coordinates, rates)
            powers.append(np.sum(resist(now.time, now.q, now.qd) * now.qd))
        assert abs(powers[1]) > 20.0
        assert powers[0] == pytest.approx(powers[1], rel=1e-6)

    @pytest.mark.parametrize(
        ("dof", "degrees", "moment"),
        [
            ("ankle_dorsiflexion_r", 20.0 + 5.75, -113.0),
            ("ankle_dorsiflexion_l", -35.0 - 20.0, 226.0),
            ("ankle_inversion_l", 35.0 + 5.75, -113.0),
            ("wrist_flexion_r", -65.0 - 5.75, 11.3),
            ("girdle_elevation_l", -10.0 - 5.75, 113.0),
        ],
    )
    def test_universal_joints_stop_too(self, model, dof, degrees, moment):
        coordinates = np.zeros((1, 44))
        coordinates[0, model.dof(dof)] = np.deg2rad(degrees)
        beyond = motion_through(model, coordinates)
        assert_couple(JointResistance.build(model, damping=False), beyond, dof, moment)

    @pytest.mark.thorough
    def test_a_limp_arm_hangs_from_its_girdle(self, model):
        """Held by the pelvis, the person sinks by less than the margins and loses energy all the time."""
        held, fine = ["hip_r", "hip_l", "back", "pelvis_forward"], Integration(tolerance=1e-6, stepper="rk45")
        resist = JointResistance.build(model)
        sim = simulate(
            model, model.standing, 0.0 * model.standing, 0.15, [resist], held=held, integration=fine
        )
        assert (np.diff(sim.energy) < 1e-9).all() and sim.energy[-1] < sim.energy[0] - 0.1
        assert sim.violation.max() < 1e-9
        assert -13.0 < np.degrees(sim.motion.coordinates[-1, model.dof("girdle_elevation_r")]) < -1.0
