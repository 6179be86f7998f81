"""Forces of drivers in small mechanisms, from the multipliers of their rows, against closed forms."""

import numpy as np
import pytest
from small_models import laid_out

from musclesolve.dynamics.assembly import assemble, consistent_rates
from musclesolve.dynamics.constraints import Constraints
from musclesolve.dynamics.elements import Elements
from musclesolve.dynamics.guided import AngleDriver, LengthDriver
from musclesolve.dynamics.inertia import MassProperties, basic_mass_matrix, inertia_force, weight_force
from musclesolve.dynamics.mechanism import Rigid, all_rows, fixed, scalar_products
from musclesolve.dynamics.redundancy import minimum_norm

X, Y, Z = np.eye(3)
GRAVITY = np.array([0.0, 0.0, -9.80665])
TIME = np.linspace(0.0, 1.0, 201)


def multipliers(topology, standing, mass, kinds, start):
    """Assemble, differentiate, and solve Phi_q^T lambda = g - M qdd in the least norm (2.83, 2.88)."""
    q = assemble(kinds, TIME, start, topology.coordinate_names)
    qd, qdd = consistent_rates(kinds, TIME, q)
    elements = Elements.build(topology, standing)
    needed = weight_force(elements, mass, q, GRAVITY)
    needed = needed - inertia_force(elements, basic_mass_matrix(elements, mass), q, qd, qdd)
    rows = all_rows(kinds, TIME, q, qd)
    jacobian = rows.jacobian.reshape(*rows.value.shape, -1)
    return q, rows.names, minimum_norm(jacobian, needed.reshape(len(TIME), -1))


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

    def guide(time):
        return (
            np.pi - turn * np.cos(speed * time),
            turn * speed * np.sin(speed * time),
            turn * speed**2 * np.cos(speed * time),
        )

    lines = (("o", "top"), ("o", "far")) if by == "points" else ((None, "ahead"), (None, "front"))
    driver = AngleDriver.build(topology, standing, (None, "y"), *lines, guide)
    ground = fixed(topology, standing, ["o", "top", "y", "ahead"])
    kinds = [Rigid(Constraints.build(topology, standing).with_linear(*ground)), driver]
    start = np.repeat(standing[None], len(TIME), axis=0)
    q, names, found = multipliers(topology, standing, mass, kinds, start)
    hanging = guide(TIME)[0] - np.pi
    expected = (inertia + m * c**2) * guide(TIME)[2] + m * 9.80665 * c * np.sin(hanging)
    moment = driver.moment(TIME, q, found[:, names.index(driver.name)])
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

    def guide(time):
        return 1.0 - 0.3 * np.sin(2.0 * time), -0.6 * np.cos(2.0 * time), 1.2 * np.sin(2.0 * time)

    rod = LengthDriver("rod", slot["head"], slot["hook"], guide)
    upright = Constraints.build(topology, standing).with_linear(
        *fixed(topology, standing, ["head", "side", "front", "up", "wx", "wy"])
    )
    weights = np.zeros((1, len(standing)))
    weights[0, slot["hook"]], weights[0, slot["low"]] = -1.0, 1.0
    hanging = upright.with_linear(["weight hangs"], weights, -0.3 * Z[None])
    pairs = [(("head", "hook"), (None, "wx")), (("head", "hook"), (None, "wy"))]
    plumb = Rigid(scalar_products(topology, standing, pairs))
    q, names, found = multipliers(
        topology, standing, mass, [Rigid(hanging), plumb, rod], np.repeat(standing[None], len(TIME), axis=0)
    )
    np.testing.assert_allclose(q[:, slot["hook"], 2], -guide(TIME)[0], atol=1e-12)
    tension = rod.tension(TIME, found[:, names.index("rod")])
    np.testing.assert_allclose(tension, m * (9.80665 - guide(TIME)[2]), rtol=1e-10)
