"""Forces in driven mechanisms, from the multipliers of their rows, against closed forms and other routes."""

import numpy as np
import pytest
from refusals import refused
from scipy.interpolate import make_interp_spline
from small_models import four_bar, laid_out

from musclesolve.dynamics import (
    AngleDriver,
    MassProperties,
    Rigid,
    Wrench,
    assemble,
    coincident,
    fixed,
    mechanism_forces,
    projected_moments,
)
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.dynamics.mechanism.assembly import Mechanism
from musclesolve.dynamics.mechanism.constraint_rows import LengthDriver
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, scalar_products
from musclesolve.errors import MuscleSolveError

X, Y, Z = np.eye(3)
TIME = np.linspace(0.0, 1.0, 101)


def forces(topology, standing, mass, kinds):
    """Assemble from the standing layout, and the forces of what was assembled."""
    q = assemble(kinds, TIME, standing, topology.coordinate_names)
    return mechanism_forces(Mechanism(topology, standing, mass), kinds, TIME, q)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("by", ["points", "vectors"])
def test_a_rod_driven_through_straight_takes_the_moment_of_a_pendulum(by):
    """Inner angle from 170 to 190 degrees; Newton: I a'' + m g c sin(a), a from hanging (correction B3)."""
    points = {"o": 0 * X, "top": 0.3 * Z, "far": -0.5 * Z}
    bodies = {"wall": (("o", "top"), ("y", "ahead")), "rod": (("o", "far"), ("y", "front"))}
    topology, standing = laid_out("rod", points, {"y": Y, "ahead": -X, "front": X}, bodies)
    m, c, inertia = 4.0, 0.2, 0.06
    mass = MassProperties(
        np.array([1.0, m]),
        np.array([0.1 * Z, -c * Z]),
        np.array([np.eye(3), np.diag([inertia, inertia, 0.01])]),
    )
    turn, speed = np.radians(10.0), 2.0 * np.pi

    def course(time):
        return (
            np.pi - turn * np.cos(speed * time),
            turn * speed * np.sin(speed * time),
            turn * speed**2 * np.cos(speed * time),
        )

    lines = (("o", "top"), ("o", "far")) if by == "points" else ((None, "ahead"), (None, "front"))
    driver = AngleDriver.build(topology, standing, (None, "y"), *lines, course)
    ground = fixed(topology, standing, ["o", "top", "y", "ahead"])
    kinds = [Rigid(Constraints.build(topology, standing).with_linear(*ground)), driver]
    moment = forces(topology, standing, mass, kinds).of(driver)
    hanging = course(TIME)[0] - np.pi
    expected = (inertia + m * c**2) * course(TIME)[2] + m * 9.80665 * c * np.sin(hanging)
    np.testing.assert_allclose(moment, expected, atol=1e-9 * np.abs(expected).max())
    assert np.degrees(hanging.min()) == pytest.approx(-10.0) and np.degrees(hanging.max()) == pytest.approx(
        10.0
    )


def test_a_weight_drawn_up_a_mast_loads_the_rod_with_its_own_inertia():
    """A rod of changing length between the mast's head and a hanging weight: tension m (g - Lddot)."""
    points = {"head": 0 * X, "side": 0.2 * X, "front": 0.2 * Y, "hook": -1.0 * Z, "low": -1.3 * Z}
    vectors = {"up": Z, "wx": X, "wy": Y}
    bodies = {"mast": (("head", "side", "front"), ("up",)), "weight": (("hook", "low"), ("wx", "wy"))}
    topology, standing = laid_out("mast", points, vectors, bodies)
    m = 12.0
    mass = MassProperties(
        np.array([1.0, m]), np.array([0.05 * Z, -1.1 * Z]), np.array([np.eye(3), np.eye(3)])
    )
    slot = topology.slot

    def course(time):
        return 1.0 - 0.3 * np.sin(2.0 * time), -0.6 * np.cos(2.0 * time), 1.2 * np.sin(2.0 * time)

    rod = LengthDriver("rod", slot["head"], slot["hook"], course)
    upright = Constraints.build(topology, standing).with_linear(
        *fixed(topology, standing, ["head", "side", "front", "up", "wx", "wy"])
    )
    weights = np.zeros((1, len(standing)))
    weights[0, slot["hook"]], weights[0, slot["low"]] = -1.0, 1.0
    hanging = upright.with_linear(["weight hangs"], weights, -0.3 * Z[None])
    pairs = [(("head", "hook"), (None, "wx")), (("head", "hook"), (None, "wy"))]
    plumb = Rigid(scalar_products(topology, standing, pairs))
    found = forces(topology, standing, mass, [Rigid(hanging), plumb, rod])
    np.testing.assert_allclose(found.q[:, slot["hook"], 2], -course(TIME)[0], atol=1e-12)
    np.testing.assert_allclose(found.of(rod), m * (9.80665 - course(TIME)[2]), rtol=1e-10)


def crank(time):
    """A crank that turns once in a second, faster and slower."""
    w = 2.0 * np.pi
    return (
        1.0 - w * time - 0.4 * np.sin(w * time),
        -w - 0.4 * w * np.cos(w * time),
        0.4 * w**2 * np.sin(w * time),
    )


@pytest.fixture(scope="module")
def loop():
    """A four-bar over a full turn: model, driver, forces."""
    model, kinds, _ = four_bar(crank)
    q = assemble(kinds, TIME, model.standing, model.topology.coordinate_names)
    return model, kinds[1], mechanism_forces(model, kinds, TIME, q)


def tree_motion(model, found):
    """The motion of the bars as a tree, from the lines of the loop: angle = atan2(-z, x) about +y."""
    angles = []
    for start, end in ("ab", "bc", "de"):
        line, rate, second = (
            (x[:, model.slot(end)] - x[:, model.slot(start)])[:, ::2] for x in (found.q, found.qd, found.qdd)
        )
        square = (line**2).sum(axis=1)
        turn = (line[:, 1] * rate[:, 0] - line[:, 0] * rate[:, 1]) / square
        twist = (line[:, 1] * second[:, 0] - line[:, 0] * second[:, 1]) / square
        standing = model.standing[model.slot(end)] - model.standing[model.slot(start)]
        angles.append(
            (np.arctan2(-line[:, 1], line[:, 0]) + np.arctan2(standing[2], standing[0]), turn, twist)
        )
    one, two, three = np.array(angles)
    still = np.zeros((len(found.time), 6))
    return motion_from(
        model, found.time, *(np.column_stack([one[k], two[k] - one[k], three[k], still]) for k in range(3))
    )


@pytest.mark.thorough
def test_a_loop_opened_by_its_reaction_moves_as_before(loop):
    """Cut where coupler and rocker meet, the reaction put on both: the tree needs the crank's moment and no other."""
    model, driver, found = loop
    motion = tree_motion(model, found)
    np.testing.assert_allclose(motion.q, found.q, atol=1e-9)
    np.testing.assert_allclose(motion.qdd, found.qdd, atol=1e-7)
    force = found.reaction(["c = e"], "rocker", "e").force
    moment = np.cross(found.q[:, model.slot("e")], force)
    pushes = [Wrench("rocker", force, moment), Wrench("coupler", -force, -moment)]
    moments = projected_moments(model, motion, pushes)[:, :3]
    expected = found.of(driver)
    np.testing.assert_allclose(moments[:, 0], expected, atol=1e-9 * np.abs(expected).max())
    assert np.abs(moments[:, 1:]).max() < 1e-9 * np.abs(expected).max()


def test_the_crank_supplies_the_energy_of_the_loop(loop):
    """Moment times speed is the rate of kinetic and potential energy, by their differences over time."""
    model, driver, found = loop
    rigid_bodies = model.rigid_bodies
    places = rigid_bodies.coordinates(model.mass.center)
    moving, basic = rigid_bodies.basic(found.q, found.qd), rigid_bodies.basic(found.q)
    energy = 0.5 * np.einsum("tbex,bef,tbfx->t", moving, model.basic_mass, moving)
    energy += 9.80665 * np.einsum("be,tbe->tb", places, basic[..., 2]) @ model.mass.mass
    power = make_interp_spline(TIME, energy, k=7)(TIME, 1)
    supplied = found.of(driver) * crank(TIME)[1]
    np.testing.assert_allclose(supplied[10:-10], power[10:-10], atol=1e-5 * np.abs(power).max())


def test_what_a_planar_loop_does_not_determine_is_marked(loop):
    """Across its plane the bars can pull at each other at will; in it they cannot."""
    _, _, found = loop
    reaction = found.reaction(["c = e"], "rocker", "e")
    assert reaction.unique.tolist() == [True, False, True, True, True, True]
    assert np.abs(reaction.moment).max() < 1e-12  # three forces in one point
    other = found.reaction(["c = e"], "coupler", "c")
    np.testing.assert_allclose(other.force, -reaction.force, atol=1e-12)


@pytest.mark.thorough
def test_the_pin_of_a_driven_pendulum_takes_weight_and_inertia():
    """A rod on its own point and axis: force m (a - g), moment about the axis from the driver alone."""
    points = {"o": 0 * X, "top": 0.3 * Z, "pin": 0 * X, "far": -0.5 * Z}
    bodies = {"wall": (("o", "top"), ("y", "ahead")), "rod": (("pin", "far"), ("turn", "front"))}
    topology, standing = laid_out("pendulum", points, {"y": Y, "ahead": -X, "turn": Y, "front": X}, bodies)
    m, c = 4.0, 0.2
    mass = MassProperties(
        np.array([1.0, m]), np.array([0.1 * Z, -c * Z]), np.array([np.eye(3), np.diag([0.06, 0.06, 0.01])])
    )
    driver = AngleDriver.build(topology, standing, (None, "y"), ("o", "top"), ("pin", "far"), crank)
    rows = Constraints.build(topology, standing).with_linear(
        *fixed(topology, standing, ["o", "top", "y", "ahead"])
    )
    joint = coincident(topology, [("pin", "o"), ("turn", "y")])
    kinds = [Rigid(rows.with_linear(*joint)), driver]
    found = forces(topology, standing, mass, kinds)
    reaction = found.reaction(joint[0], "rod", "pin")
    assert reaction.unique.all()
    angle, rate, second = crank(TIME)
    down = (
        np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1) * c
    )  # from the pin to the mass center
    across = np.cross(Y, down)
    acceleration = across * second[:, None] - down * (rate**2)[:, None]
    expected = m * (acceleration + 9.80665 * Z)
    np.testing.assert_allclose(reaction.force, expected, atol=1e-10 * np.abs(expected).max())
    assert np.abs(reaction.moment).max() < 1e-10 * np.abs(expected).max()
    wind = Wrench("rod", np.tile(7.0 * Y, (len(TIME), 1)), np.zeros((len(TIME), 3)))
    q = found.q
    pushed = mechanism_forces(found.model, kinds, TIME, q, [wind]).reaction(joint[0], "rod", "pin")
    np.testing.assert_allclose(pushed.force - reaction.force, np.tile(-7.0 * Y, (len(TIME), 1)), atol=1e-9)


def test_wrong_names_and_missing_drivers_are_named(loop):
    model, driver, found = loop
    with refused("unknown_name", "c = d"):
        found.reaction(["c = d"], "rocker", "e")
    with refused("unknown_name"):
        found.of(LengthDriver("rope", 0, 1, crank))
    rigid = four_bar(crank)[2]
    with refused(None, "b, c, e", error=MuscleSolveError):
        mechanism_forces(model, [rigid], TIME[:2], found.q[:2])
    with refused(None, "angle (a->d) to (a->b)", error=MuscleSolveError):
        other = AngleDriver(driver.name, driver.angle, lambda t: (crank(t)[0], t, t))
        mechanism_forces(model, [rigid, driver, other], TIME[:2], found.q[:2])
    with refused("bad_shape"):
        Mechanism(model.topology, model.standing[:-1], model.mass)
