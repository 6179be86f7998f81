"""Every kind of constraint of Table 2.1 on small mechanisms: positions, velocities, accelerations, and closure."""

import numpy as np
import pytest
from refusals import refused
from scipy.spatial.transform import Rotation
from small_models import laid_out

from musclesolve.dynamics import AngleDriver, MotionDriver, Rigid, assemble, coincident, fixed
from musclesolve.dynamics.mechanism.assembly import consistent_rates, violation
from musclesolve.dynamics.mechanism.constraint_rows import LengthDriver, all_rows
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints, combination, scalar_products
from musclesolve.errors import MuscleSolveError

X, Y, Z = np.eye(3)
TIME = np.linspace(0.0, 1.0, 6)


def swing(middle, amplitude):
    def course(time):
        return (
            middle + amplitude * np.sin(3.0 * time),
            3.0 * amplitude * np.cos(3.0 * time),
            -9.0 * amplitude * np.sin(3.0 * time),
        )

    return course


def ground(topology, standing, names, *more):
    constraints = Constraints.build(topology, standing).with_linear(*fixed(topology, standing, names))
    for linear in more:
        constraints = constraints.with_linear(*linear)
    return Rigid(constraints)


def arm_by_vector(middle, amplitude):
    """A revolute joint by a shared point and vector, driven by a vector of each body."""
    points = {"o": 0 * X, "e": -0.3 * Z}
    bodies = {"base": (("o", "g"), ("axis", "front")), "arm": (("o", "e"), ("axis", "ahead"))}
    topology, standing = laid_out(
        "arm", points | {"g": -0.2 * Z}, {"axis": Y, "front": X, "ahead": X}, bodies
    )
    driver = AngleDriver.build(
        topology, standing, (None, "axis"), (None, "front"), (None, "ahead"), swing(middle, amplitude)
    )
    return topology, standing, [ground(topology, standing, ["o", "g", "axis", "front"]), driver]


def arm_by_points(middle, amplitude):
    """A revolute joint by two shared points, driven by two points of each body."""
    points = {"o": 0 * X, "p": 0.4 * Y, "g": 0.2 * X, "e": 0.3 * X}
    bodies = {"base": (("o", "p", "g"), ("up",)), "arm": (("o", "p", "e"), ("side",))}
    topology, standing = laid_out("door", points, {"up": Z, "side": Z}, bodies)
    driver = AngleDriver.build(
        topology, standing, ("o", "p"), ("o", "g"), ("o", "e"), swing(middle, amplitude)
    )
    return topology, standing, [ground(topology, standing, ["o", "p", "g", "up"]), driver]


def ball(middle, amplitude):
    """A spherical joint of two points in one place, the body led by two rods of changing length."""
    points = {"o": 0 * X, "c": 0 * X, "e": 0.3 * X, "f": 0.3 * Y, "w": [0.4, 0.1, 0.5], "h": [-0.1, 0.5, 0.4]}
    vectors = {"up": Z, "gx": X}
    bodies = {"base": (("o", "w", "h"), ("gx",)), "limb": (("c", "e", "f"), ("up",))}
    topology, standing = laid_out("ball", points, vectors, bodies)
    slot = topology.slot

    def rod(name, start, end):
        length = np.linalg.norm(standing[slot[end]] - standing[slot[start]])
        return LengthDriver(name, slot[start], slot[end], swing(length + 0.2 * middle, 0.1 * amplitude))

    rigid = ground(topology, standing, ["o", "w", "h", "gx"], coincident(topology, [("c", "o")]))
    return (
        topology,
        standing,
        [rigid, rod("first", "w", "e"), rod("second", "h", "f"), rod("third", "w", "f")],
    )


def cardan(middle, amplitude):
    """A universal joint: shared point, perpendicular vectors, and an extra point by linear combination."""
    points = {"o": 0 * X, "g": -0.3 * Z, "e": 0.3 * Z, "k": [0.1, 0.2, 0.3]}
    vectors = {"u": X, "s": Y, "w": Y, "t": X}
    bodies = {"base": (("o", "g"), ("u", "s")), "limb": (("o", "e"), ("w", "t"))}
    topology, standing = laid_out("cardan", points, vectors, bodies, [("u", "w")])
    extra = combination(topology, standing, ("o", "k"), (("o", "e"), (None, "w"), (None, "t")))
    first = AngleDriver.build(
        topology, standing, (None, "u"), (None, "s"), (None, "w"), swing(middle, amplitude)
    )
    second = LengthDriver("rod", topology.slot["g"], topology.slot["e"], swing(0.5 - 0.05 * middle, 0.02))
    return topology, standing, [ground(topology, standing, ["o", "g", "u", "s"], extra), first, second]


MECHANISMS = {
    "revolute by vector": arm_by_vector,
    "revolute by points": arm_by_points,
    "ball": ball,
    "cardan": cardan,
}


@pytest.fixture(params=[0.3, 1.4, np.pi], ids=["near 0", "near 90", "through 180"])
def middle(request):
    return request.param


@pytest.mark.parametrize("name", MECHANISMS)
def test_velocities_and_accelerations_are_the_derivatives_of_assembled_positions(name, middle):
    if name in ("ball", "cardan") and middle > 1.0:
        middle = 0.5
    topology, standing, kinds = MECHANISMS[name](middle, 0.4)
    start = np.repeat(standing[None], len(TIME), axis=0)
    turned = Rotation.from_rotvec(middle * Y).as_matrix().T if "revolute" in name else np.eye(3)
    moving = [topology.slot[n] for n in ("e", "ahead", "side") if n in topology.slot]
    start[:, moving] = standing[moving] @ turned  # where the driver has a gradient, on the right branch
    q = assemble(kinds, TIME, start, topology.coordinate_names)
    assert np.abs(violation(all_rows(kinds, TIME, q))).max() < 1e-12
    qd, qdd = consistent_rates(kinds, TIME, q)
    step = 1e-4
    ahead, behind = (assemble(kinds, TIME + s * step, q) for s in (1, -1))
    np.testing.assert_allclose((ahead - behind) / (2 * step), qd, atol=1e-6)
    np.testing.assert_allclose((ahead - 2 * q + behind) / step**2, qdd, atol=1e-5)
    assert np.abs(qd).max() > 0.05


@pytest.mark.parametrize("name", MECHANISMS)
def test_rows_nu_and_gamma_are_derivatives_of_the_value(name):
    """Phi_q is dPhi/dq; along any path Phi_q qd - nu = dPhi/dt and Phi_q qdd - gamma = d2Phi/dt2."""
    _, standing, kinds = MECHANISMS[name](0.5, 0.3)
    rng = np.random.default_rng(1)
    path = 0.3 * rng.normal(size=(2, 1, *standing.shape))

    def at(time):
        t = time[:, None, None]
        return standing + path[0] * t + path[1] * t**2, path[0] + 2.0 * t * path[1]

    time, step = np.array([0.2, 0.5]), 1e-4
    q, qd = at(time)
    rows = all_rows(kinds, time, q, qd)
    ahead, behind = (all_rows(kinds, time + s * step, *at(time + s * step)).value for s in (1, -1))
    first = np.einsum("tcnx,tnx->tc", rows.jacobian, qd) - rows.nu
    second = np.einsum("tcnx,tnx->tc", rows.jacobian, np.broadcast_to(2.0 * path[1], q.shape)) - rows.gamma
    np.testing.assert_allclose((ahead - behind) / (2 * step), first, atol=1e-6)
    np.testing.assert_allclose((ahead - 2 * rows.value + behind) / step**2, second, atol=1e-6)


def test_length_driver_has_the_corrected_signs():
    """nu = +2 L Ldot (A13), gamma = 2 (L Lddot + Ldot^2) for a rod that lengthens along itself (A14)."""
    driver = LengthDriver("rod", 0, 1, lambda t: (2.0 + 0 * t, 0.5 + 0 * t, 0.25 + 0 * t))
    q, qd = np.array([[[0.0, 0, 0], [2.0, 0, 0]]]), np.array([[[0.0, 0, 0], [0.5, 0, 0]]])
    rows = driver.rows(np.zeros(1), q, qd)
    assert rows.nu[0, 0] == 2.0 and rows.gamma[0, 0] == 2.0 * 2.0 * 0.25
    assert np.einsum("tcnx,tnx->tc", rows.jacobian, qd)[0, 0] == 2.0


@pytest.mark.parametrize(
    "pair",
    [
        (("o", "p"), ("o", "p")),
        ((None, "a"), (None, "a")),
        ((None, "a"), (None, "b")),
        (("o", "p"), (None, "a")),
        (("o", "p"), ("r", "s")),
    ],
    ids=["distance", "unit vector", "vector and vector", "segment and vector", "segment and segment"],
)
def test_scalar_products_of_table_2_1(pair):
    rng = np.random.default_rng(2)
    points = {name: rng.normal(size=3) for name in "oprs"}
    topology, standing = laid_out(
        "t", points, {"a": rng.normal(size=3), "b": rng.normal(size=3)}, {"body": (("o", "p"), ("a", "b"))}
    )
    kind = Rigid(scalar_products(topology, standing, [pair]))
    rows = all_rows([kind], np.zeros(1), standing[None])
    assert rows.value[0, 0] == 0.0
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    shift = np.where(np.arange(len(standing)) < 4, 1.0, 0.0)[:, None]
    moved = standing @ turn.T + shift
    assert np.abs(all_rows([kind], np.zeros(1), moved[None]).value).max() < 1e-13  # rigid motion keeps it
    assert (
        np.abs(all_rows([kind], np.zeros(1), 1.1 * standing[None]).value).max() > 1e-3
    )  # stretching does not


def test_redundant_rows_do_not_hinder_assembly():
    """A mechanism with every rigid row twice takes the same pose."""
    topology, standing, kinds = arm_by_vector(1.0, 0.3)
    start = standing + 0.02 * np.random.default_rng(3).normal(size=(len(TIME), *standing.shape))
    once = assemble(kinds, TIME, start)
    twice = assemble([*kinds, kinds[0]], TIME, start)
    arm = [topology.slot[name] for name in ("e", "ahead", "axis", "o")]
    np.testing.assert_allclose(twice[:, arm], once[:, arm], atol=1e-9)


def loop(reach):
    """Two rods between two fixed points `reach` apart, driven at neither end."""
    points = {"o": 0 * X, "b": [0.2, 0.0, 0.2], "d": 0.4 * X}
    bodies = {"left": (("o", "b"), ("y", "l")), "right": (("d", "b"), ("y", "r"))}
    topology, standing = laid_out("loop", points, {"y": Y, "l": X, "r": X}, bodies)
    rigid = Constraints.build(topology, standing)
    there = standing.copy()
    there[topology.slot["d"]] = reach * X
    return topology, standing, [Rigid(rigid.with_linear(*fixed(topology, there, ["o", "d", "y"])))]


def test_a_loop_closes_within_reach():
    topology, standing, kinds = loop(0.5)
    q = assemble(kinds, np.zeros(1), standing[None], topology.coordinate_names)
    assert np.linalg.norm(q[0, topology.slot["b"]]) == pytest.approx(np.hypot(0.2, 0.2))
    assert q[0, topology.slot["b"], 0] == pytest.approx(0.25)


def test_a_loop_that_cannot_close_is_named_with_its_gap():
    topology, standing, kinds = loop(0.9)
    with refused(None, "o->b", "0", error=MuscleSolveError):
        assemble(kinds, np.zeros(1), standing[None], topology.coordinate_names)


def test_coordinates_that_are_no_numbers_are_named():
    topology, standing, kinds = loop(0.5)
    start = np.repeat(standing[None], 3, axis=0)
    start[2, topology.slot["b"], 1] = np.nan
    with refused("not_finite", "b", "2"):
        assemble(kinds, np.zeros(3), start, topology.coordinate_names)


def test_drivers_that_contradict_each_other_are_named():
    topology, standing, kinds = arm_by_vector(0.5, 0.3)
    other = AngleDriver.build(
        topology,
        standing,
        (None, "axis"),
        (None, "front"),
        (None, "ahead"),
        lambda t: (0.5 + 0.3 * np.sin(3 * t), 9 + t, t),
    )
    q = assemble(kinds, TIME, np.repeat(standing[None], len(TIME), axis=0))
    with refused(None, "angle front to ahead", error=MuscleSolveError):
        consistent_rates([*kinds, other], TIME, q)


def test_a_driver_along_its_own_axis_is_refused():
    topology, standing, _ = arm_by_vector(0.5, 0.3)
    with refused("bad_model"):
        AngleDriver.build(topology, standing, (None, "axis"), (None, "front"), (None, "axis"), swing(0, 1))


def test_a_flat_base_has_no_combination():
    topology, standing, _ = arm_by_vector(0.5, 0.3)
    with refused("bad_model"):
        combination(topology, standing, ("o", "e"), ((None, "front"), (None, "ahead"), (None, "axis")))


def test_the_human_is_assembled_from_an_inconsistent_pose(model, motion):
    """Positions driven by joint angles (5.7) are those of the forward kinematics."""
    few = motion.frames(slice(0, 3))
    noisy = few.q + 0.01 * np.random.default_rng(4).normal(size=few.q.shape)
    kinds = [Rigid(model.constraints), MotionDriver(model, few)]
    q = assemble(kinds, few.time, noisy, model.topology.coordinate_names)
    np.testing.assert_allclose(q, few.q, atol=1e-10)
    qd, qdd = consistent_rates(kinds, few.time, q)
    np.testing.assert_allclose(qd, few.qd, atol=1e-9)
    np.testing.assert_allclose(qdd, few.qdd, atol=1e-8)
