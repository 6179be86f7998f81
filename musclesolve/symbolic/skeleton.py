"""The mechanics of a subject or of an OpenSim model as CasADi functions.

Every body moves its points by x = t + R s. In the coordinates c of the joints, R and t are expressions, and all of
inverse dynamics follows from virtual power: with z = (mass center, R) of every body and the forces f that z needs,

    f = (m (p'' - g), R'' E) - loads,      E = tr(J) / 2 - J,      tau = (dz/dc)^T f

with the inertia J about the mass center. A load of force F, and moment M about the origin of the laboratory, on a body
with mass center p is F on p and the couple M - p x F, which turns the columns of R (a couple k on a column r is
k x r / 2). Rates and accelerations are directional derivatives of z.

A subject has functions of its natural coordinates q, too (points, vectors; Silva 2003, chapter 2):
constraints phi(q), their Jacobian and gamma = -(phi_q qd)_q qd, the mass matrix, the forces M qdd - g - ... that joints
must supply, and the allowed directions D, phi_q D = 0. The mass matrix is not constant: the second vector of most
bodies is the cross product of two lines.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.checks import check_array, check_choice, check_real_array, check_type, one_or_several
from musclesolve._util.messages import as_text
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import file_error, input_error
from musclesolve.models.opensim.load_dynamics import FREE
from musclesolve.models.opensim.model import BodyMass, OpenSimModel
from musclesolve.symbolic.closed_loops import closed_coordinates, links_of
from musclesolve.symbolic.device_forces import device_forces
from musclesolve.symbolic.named_function import NamedFunction
from musclesolve.symbolic.path_length import Pose, model_poses, rotation_about, tree_poses

ROOT = ("origin_x", "origin_y", "origin_z", "turn_y", "turn_x", "turn_z")
"""Coordinates of the base of a subject: position of the origin of its standing layout [m], and angles [rad] of the
turns about the axes y, then x, then z of the laboratory."""


@dataclass(frozen=True, eq=False)
class NaturalSkeleton:
    """Functions of the natural coordinates q (3 N,) of a subject [m; vectors 1], of N points and vectors.

    phi(q) (c,): constraints. phi_q(q) (c, 3 N). gamma(q, qd) (c,): phi_q qdd = gamma. mass(q) (3 N, 3 N) [kg].
    needed(q, qd, qdd, w) (3 N,): what joints and actuators must supply, M qdd less weight, loads and terms of rates.
    directions(q) (3 N, K + 6): the allowed directions D. angles(q) (K,): of the joints [rad].
    """

    phi: Any
    phi_q: Any
    gamma: Any
    mass: Any
    needed: Any
    directions: Any
    angles: Any


@dataclass(frozen=True, eq=False)
class Skeleton:
    """CasADi functions of the coordinates c (n,) of a body, with rates cd and accelerations cdd (n,).

    Loads w (6 L,) are the force [N] and the moment about the origin of the laboratory [N m] on each body of `loads`.

    Attributes:
        dofs: names of the coordinates [rad or m]. The last six of a subject are `ROOT`.
        bodies: names.
        loads: L bodies on which loads act.
        pose: pose(c): natural coordinates (3, N) of a subject; position (3, B) of the origins of the bodies of a model.
        inverse_dynamics: inverse_dynamics(c, cd, cdd, w) (n,): generalized forces [N m or N] that loads and devices
            leave to muscles and actuators. For a subject the last six are the force and the moment about its origin
            that nothing supplies, in axes of the laboratory.
        reactions: reactions(c, cd, cdd, w) (6, J): force [N] and moment [N m] that the proximal body and all muscles
            together exert on the distal body of each joint, about `joints`' centers. Without the pull of the muscles:
            `ms.symbolic.joint_reactions`.
        joints: names of the bodies beyond the joints. Joints within closed loops, whose constraints bear a part of the
            force, are not among them.
        left_out: springs and ligaments of an OpenSim model that these functions lack, because the path engine finds
            their paths by iteration. All other springs, ligaments, bushings and limits are in them.
        natural: functions of natural coordinates; None for an OpenSim model.
        root: the six coordinates of a base that nothing holds; none for a body that is fixed to the ground.
        shifts: the coordinates of the root that are lengths [m].
        dependent: the coordinates that closed loops determine, found by iteration. Functions with them take matrices
            (MX), not scalars (SX).
    """

    dofs: tuple[str, ...]
    bodies: tuple[str, ...]
    loads: tuple[str, ...]
    joints: tuple[str, ...]
    left_out: tuple[str, ...]
    pose: Any
    inverse_dynamics: Any
    reactions: Any
    natural: NaturalSkeleton | None
    root: tuple[str, ...]
    shifts: tuple[str, ...]
    dependent: tuple[str, ...] = field(default=(), kw_only=True)
    _c: Any = field(repr=False)
    _generalized: Any = field(
        repr=False
    )  # forces that do work on the rates of the coordinates, all n of them
    _masses: Mapping[str, BodyMass] = field(repr=False)
    _poses: Mapping[str, Pose] = field(repr=False)  # expressions of _symbols
    _symbols: Any = field(repr=False)
    _mechanics: "Mechanics" = field(repr=False)
    _closed: Any = field(default=None, repr=False)  # function of c, with the values of _symbols
    _turns: tuple[str, ...] = field(default=(), repr=False)  # coordinates of joints that are angles

    def __post_init__(self) -> None:
        """Let the functions refuse inputs by name."""
        for name in ("pose", "inverse_dynamics", "reactions"):
            object.__setattr__(self, name, self.named(getattr(self, name)))

    def markers(self, places: Mapping[str, tuple[str, Sequence[float]]]) -> Any:
        """Function of c: positions (3, P) [m] of P points that are fixed on bodies.

        places: name of the point -> body, and place (3,) [m] in the axes of the body: of the standing layout for a
        subject, of the body itself for an OpenSim model.

        Raises:
            InputError: an unknown body, or no three numbers.
        """
        columns, expected = [], "name -> (body, place), {'heel': ('foot_r', (0.1, 0.0, 0.0))}"
        for name, entry in check_type(places, Mapping, "places", expected).items():
            pair = entry if isinstance(entry, tuple | list) and len(entry) == 2 else None
            if pair is None:
                fault = f"the place of {name!r} is {as_text(entry)}"
                raise input_error("bad_value", where="places", problem=fault, expected=expected)
            body, place = pair
            check_choice(body, f"the body of {name!r}", self.bodies, where="places")
            at = check_real_array(place, f"the place of {name!r}", "three numbers [m]", shapes=((3,),))
            check_array(at, f"the place of {name!r}", (3,), ("x", "y", "z"), axis=0, where="places")
            rotation, shift = self._poses[body]
            columns.append(shift + rotation @ at)
        if not columns:
            raise input_error(
                "missing_argument", where="places", problem="there is no point", expected=expected
            )
        position = self._of_pose(ca.horzcat(*columns))
        return self.named(ca.Function("markers", [self._c], [position], ["c"], ["position"]))

    def named(
        self, function: Any, owner: str = "skeleton", further: Mapping[str, Sequence[str]] | None = None
    ) -> NamedFunction:
        """A function of c, cd, cdd and w that refuses what does not fit by the names of the coordinates.

        owner: what has the function. further: names of the entries of further inputs.
        """
        entries = dict.fromkeys(("c", "cd", "cdd"), self.dofs) | {"w": _load_names(self.loads)}
        return NamedFunction(function, owner, entries | dict(further or {}), self._turns, finite=True)

    def _of_pose(self, expression: Any) -> Any:
        """An expression of all coordinates as an expression of the independent ones, c."""
        if self._closed is None:
            return expression
        return ca.Function("placed", [self._symbols], [expression])(self._closed(self._c))

    @property
    def gravity(self) -> Array:
        """Gravity (3,) [m/s2] in the axes of the laboratory, or of the ground of a model."""
        return np.asarray(self._mechanics.body.gravity)

    @cached_property
    def mass_center(self) -> Any:
        """Function of c and cd: position and velocity of the mass center of the body, (3,) each [m, m/s].

        Raises:
            InputError: no body has a mass.
        """
        total = sum(of.mass for of in self._masses.values())
        if not total > 0.0:
            raise input_error(
                "bad_value",
                where="Skeleton.mass_center",
                problem="no body of the model has a mass",
                expected="a body with a mass above zero",
                remedy="state the masses in the model",
            )
        at = sum(
            (
                of.mass / total * (shift + rotation @ of.center)
                for name, of in self._masses.items()
                for rotation, shift in [self._poses[name]]
            ),
            start=ca.SX.zeros(3),
        )
        c, at = self._c, self._of_pose(at)
        cd = type(c).sym("cd", len(self.dofs))
        moving = [at, ca.jtimes(at, c, cd)]
        return self.named(ca.Function("mass_center", [c, cd], moving, ["c", "cd"], ["position", "velocity"]))

    @cached_property
    def mass(self) -> Any:
        """Function of c: the mass matrix M of the coordinates (n, n); the kinetic energy is cd^T M cd / 2."""
        kind = type(self._c)
        c, rest = self._c, kind.zeros(len(self.dofs))
        cdd, none = kind.sym("cdd", len(self.dofs)), kind.zeros(6 * len(self.loads))
        force = self._generalized(c, rest, cdd, none)
        slope = ca.Function("slope", [c, cdd], [ca.jacobian(force, cdd)])
        return self.named(ca.Function("mass", [c], [slope(c, rest)], ["c"], ["mass"]))


@dataclass(frozen=True, eq=False)
class Mechanics:
    """The expressions of a skeleton: a body, all coordinates z with rates and accelerations, and loads as SX symbols.

    values: of every coordinate of an OpenSim model by name, or of the joints of a subject by number. poses: of the
    bodies. parts: what every body needs. closed: function of the coordinates of the skeleton with the value z, None
    where they are z.
    """

    body: Model | OpenSimModel
    z: Any
    zd: Any
    zdd: Any
    w: Any
    values: Mapping[Any, Any]
    poses: Mapping[str, Pose]
    parts: Mapping[str, "Needed"]
    closed: Any = None

    def inputs(self, kind: Any, count: int) -> tuple[dict[str, Any], list[Any]]:
        """Symbols c, cd, cdd and w of a kind by name, and z, zd, zdd and w as expressions of them."""
        given = {name: kind.sym(name, count) for name in ("c", "cd", "cdd")}
        given["w"] = kind.sym("w", self.w.numel())
        c, cd, cdd, w = given.values()
        if self.closed is None:
            return given, [c, cd, cdd, w]
        z = self.closed(c)
        zd = ca.jtimes(z, c, cd)
        return given, [z, zd, ca.jtimes(zd, c, cd) + ca.jtimes(z, c, cdd), w]


def skeleton(body: Model | OpenSimModel | None = None, loads: str | Sequence[str] = ()) -> Skeleton:
    """The mechanics of a body as CasADi functions with exact derivatives.

    Args:
        body: a subject (`human_model`) with hinges, or an OpenSim model (`read_osim`); the standard subject unless
            given.
        loads: names of bodies on which external loads act, such as ("foot_r", "foot_l").

    Raises:
        InputError: an unknown body, a subject with ball joints, a model whose masses or joints cannot be used.

    Examples:
        >>> walker = ms.symbolic.skeleton(loads=("foot_r", "foot_l"))
        >>> len(walker.dofs), walker.inverse_dynamics.size_out(0)
        (44, (44, 1))
    """
    if isinstance(body, OpenSimModel):
        return _of_model(body, tuple(one_or_several(loads)))
    model = (
        human_model() if body is None else check_type(body, Model, "body", "a subject or an OpenSim model")
    )
    return _of_subject(model, tuple(one_or_several(loads)))


def _load_names(loads: Sequence[str]) -> list[str]:
    return [f"{part}_{axis} on {body}" for body in loads for part in ("force", "moment") for axis in "xyz"]


def _symbols(
    count: int, loads: tuple[str, ...], bodies: Sequence[str]
) -> tuple[Any, Any, Any, dict[str, Any]]:
    for name in loads:
        check_choice(name, "the body of a load", tuple(bodies), where="skeleton(loads=...)")
    if len(set(loads)) < len(loads):
        raise input_error(
            "duplicate_name",
            where="skeleton(loads=...)",
            problem="a body is named twice",
            expected="the sum of all loads on a body as one load",
        )
    c, cd, cdd = (ca.SX.sym(name, count) for name in ("c", "cd", "cdd"))
    return c, cd, cdd, {name: ca.SX.sym(f"w_{name}", 6) for name in loads}


@dataclass(frozen=True)
class Needed:
    """The forces that a body needs: on its mass center p, and on the columns of R as a matrix."""

    center: Any
    rotation: Any
    force: Any
    columns: Any

    def moment(self, about: Any) -> Any:
        """The moment of these forces about a point."""
        turns = sum(
            (ca.cross(self.rotation[:, k], self.columns[:, k]) for k in range(3)), start=ca.SX.zeros(3)
        )
        return turns + ca.cross(self.center - about, self.force)


def _needed(
    poses: Mapping[str, Pose],
    masses: Mapping[str, BodyMass],
    gravity: Array,
    loads: Mapping[str, Any],
    rates: tuple[Any, Any, Any],
) -> tuple[dict[str, Needed], Any]:
    """The forces that every body with mass or load needs, and the generalized forces by virtual power."""
    c, cd, cdd = rates
    names = [name for name in poses if name in masses or name in loads]
    centers = {
        name: poses[name][1] + poses[name][0] @ (masses[name].center if name in masses else np.zeros(3))
        for name in names
    }
    z = ca.vec(ca.horzcat(*(ca.horzcat(centers[name], poses[name][0]) for name in names)))
    zd = ca.jtimes(z, c, cd)
    zdd = ca.reshape(ca.jtimes(zd, c, cd) + ca.jtimes(z, c, cdd), 3, -1)
    parts = {}
    for k, name in enumerate(names):
        force, columns = ca.SX.zeros(3), ca.SX.zeros(3, 3)
        if name in masses:
            of = masses[name]
            force = of.mass * (zdd[:, 4 * k] - gravity)
            columns = zdd[:, 4 * k + 1 : 4 * k + 4] @ (0.5 * np.trace(of.inertia) * np.eye(3) - of.inertia)
        if name in loads:
            load, rotation = loads[name], poses[name][0]
            force = force - load[:3]
            columns = columns - _couple(load, centers[name], rotation)
        parts[name] = Needed(centers[name], poses[name][0], force, columns)
    f = ca.vec(ca.horzcat(*(ca.horzcat(part.force, part.columns) for part in parts.values())))
    return parts, ca.jtimes(z, c, f, True)


def _couple(load: Any, point: Any, rotation: Any) -> Any:
    """The forces on the columns of R that the couple of a load about a point makes: a couple k gives k x r / 2."""
    couple = load[3:] - ca.cross(point, load[:3])
    return 0.5 * ca.horzcat(*(ca.cross(couple, rotation[:, axis]) for axis in range(3)))


def net_reactions(parts: Mapping[str, Needed], joints: Mapping[str, tuple[Collection[str], Any]]) -> Any:
    """Force and moment (6, J) on the bodies beyond each joint: the joint's name -> these bodies, and its center."""
    columns = []
    for bodies, center in joints.values():
        force, moment = ca.SX.zeros(3), ca.SX.zeros(3)
        for name in bodies:
            if name in parts:
                force = force + parts[name].force
                moment = moment + parts[name].moment(center)
        columns.append(ca.vertcat(force, moment))
    return ca.horzcat(*columns) if columns else ca.SX(6, 0)


def _of_subject(model: Model, loads: tuple[str, ...]) -> Skeleton:
    """The functions of a subject: its frames from the tree of its joints."""
    tree, standing, topology = model.tree, model.standing, model.topology
    if tree.spherical.size:
        raise input_error(
            "unsupported",
            where="skeleton",
            problem="the subject has ball joints, whose coordinates are no angles",
            expected="a subject with hinges",
            remedy="state three axes for the joint",
        )
    count = tree.joint_count
    names = tuple(body.name for body in topology.bodies)
    c, cd, cdd, wrenches = _symbols(count + 6, loads, names)
    unit = np.eye(3)
    base = rotation_about(unit[2], c[count + 5]) @ rotation_about(unit[0], c[count + 4])
    root = base @ rotation_about(unit[1], c[count + 3]), c[count : count + 3]
    frames = tree_poses(model, {k: c[k] for k in range(count)}, root)
    poses = {name: frames[number] for number, name in enumerate(names)}
    masses = {
        name: BodyMass(float(model.mass.mass[k]), model.mass.center[k], model.mass.inertia[k])
        for k, name in enumerate(names)
    }
    parts, tau = _needed(poses, masses, model.gravity, wrenches, (c, cd, cdd))

    w, moving = ca.vertcat(*wrenches.values()), {"c": c, "cd": cd, "cdd": cdd}
    generalized = _function("generalized", moving | {"w": w}, tau)
    # the base: force, and moment about the origin in axes of the laboratory, in the place of Cardan forces
    origin, force, moment = c[count : count + 3], ca.SX.zeros(3), ca.SX.zeros(3)
    for part in parts.values():
        force, moment = force + part.force, moment + part.moment(origin)
    tau = ca.vertcat(tau[:count], force, moment)

    # the joint before a body: the last degree of freedom that turns it
    joints: dict[str, tuple[list[str], Any]] = {}
    for k, child in enumerate(tree.child.tolist()):
        if child < len(names):
            beyond = [name for number, name in enumerate(names) if tree.distal_frames[number, k] > 0.0]
            rotation, shift = frames[child]
            joints[names[child]] = beyond, shift + rotation @ standing[tree.pivot[k]]
    slots = (
        frames[owner][0] @ standing[n] + (frames[owner][1] if n < topology.point_count else 0.0)
        for n, owner in enumerate(tree.owner.tolist())
    )
    return Skeleton(
        dofs=(*topology.dof_names[:count], *ROOT),
        bodies=names,
        loads=loads,
        joints=tuple(joints),
        left_out=(),
        pose=_function("pose", {"c": c}, ca.horzcat(*slots)),
        inverse_dynamics=_function("inverse_dynamics", {"c": c, "cd": cd, "cdd": cdd, "w": w}, tau),
        reactions=_function(
            "reactions", {"c": c, "cd": cd, "cdd": cdd, "w": w}, net_reactions(parts, joints)
        ),
        natural=_natural(model, loads),
        root=ROOT,
        shifts=ROOT[:3],
        _turns=topology.dof_names[:count],
        _c=c,
        _generalized=generalized,
        _poses=poses,
        _masses=masses,
        _symbols=c,
        _mechanics=Mechanics(model, c, cd, cdd, w, {k: c[k] for k in range(count)}, poses, parts),
    )


def _of_model(model: OpenSimModel, loads: tuple[str, ...]) -> Skeleton:
    """The functions of an OpenSim model: its coordinates but those that couplers drive."""
    driven = {coupler.dependent for coupler in model.couplers}
    dofs = tuple(name for name in model.coordinates if name not in driven)
    if model.mass_faults:
        body, fault = next(iter(model.mass_faults.items()))
        raise file_error(
            "bad_value",
            (model.file, body),
            f"the mass properties of {body} cannot be used: {fault}",
            "mass, mass center and inertia of every body",
            "mend them in the model",
        )
    every = closed_coordinates(model, dofs, "c")
    c = every.symbols
    _, cd, cdd, wrenches = _symbols(c.numel(), loads, model.bodies)
    moving = c, cd, cdd, ca.vertcat(*wrenches.values())
    poses = model_poses(model, every.values)
    masses = {name: of for name, of in model.masses.items() if of.mass > 0.0}
    of_devices = device_forces(model, every.values, poses, c, cd)
    acting = {
        name: wrenches.get(name, 0.0) + of_devices.on_bodies.get(name, 0.0)
        for name in model.bodies
        if name in wrenches or name in of_devices.on_bodies
    }
    parts, tau = _needed(poses, masses, np.asarray(model.gravity), acting, (c, cd, cdd))
    tau = tau - of_devices.generalized
    linked = [{frame.body for frame in link.frames} for link in links_of(model)]
    joints: dict[str, tuple[list[str], Any]] = {}
    for joint in model.joints:
        beyond = [joint.outboard.body]
        for other in model.joints:  # ordered from the base
            if other.inboard.body in beyond:
                beyond.append(other.outboard.body)
        if any(len(ends.intersection(beyond)) == 1 for ends in linked):
            continue  # a constraint bears a part of the force
        rotation, shift = poses[joint.outboard.body]
        joints[joint.outboard.body] = beyond, shift + rotation @ joint.outboard.position
    free = {name for joint in model.roots if len(joint.coordinates) == FREE for name in joint.coordinates}
    shifts = {name for joint in model.roots for axis in joint.translations for name in axis.coordinates}
    mechanics = Mechanics(model, *moving, every.values, poses, parts, every.closed)
    origins = (poses[name][1] for name in model.bodies)
    given = dict(zip(("c", "cd", "cdd", "w"), moving, strict=True))
    pose = _function("pose", {"c": c}, ca.horzcat(*origins))
    generalized = _function("inverse_dynamics", given, tau)
    reactions = _function("reactions", given, net_reactions(parts, joints))
    if every.closed is not None:
        c, generalized, reactions = _along_loops(mechanics, generalized, reactions, len(dofs))
        pose = _function("pose", {"c": c}, pose(every.closed(c)))
    return Skeleton(
        dofs=dofs,
        bodies=tuple(model.bodies),
        loads=loads,
        joints=tuple(joints),
        left_out=of_devices.left_out,
        pose=pose,
        inverse_dynamics=generalized,
        reactions=reactions,
        natural=None,
        root=tuple(name for name in dofs if name in free),
        shifts=tuple(name for name in dofs if name in free and name in shifts),
        _turns=tuple(name for name in dofs if model.coordinates[name].rotational and name not in free),
        dependent=every.dependent,
        _c=c,
        _generalized=generalized,
        _poses=poses,
        _masses=masses,
        _symbols=every.symbols,
        _closed=every.closed,
        _mechanics=mechanics,
    )


def _along_loops(mechanics: Mechanics, generalized: Any, reactions: Any, count: int) -> tuple[Any, Any, Any]:
    """Independent coordinates c, MX, and the functions of them: generalized forces and reactions.

    The constraints of loops do no work: tau = (dz/dc)^T tau_z with all coordinates z.
    """
    given, (z, zd, zdd, w) = mechanics.inputs(ca.MX, count)
    tau = ca.jtimes(z, given["c"], generalized(z, zd, zdd, w), True)
    return (
        given["c"],
        _function("inverse_dynamics", given, tau),
        _function("reactions", given, reactions(z, zd, zdd, w)),
    )


def _function(name: str, inputs: Mapping[str, Any], value: Any) -> Any:
    return ca.Function(name, list(inputs.values()), [ca.densify(value)], list(inputs), [name])


def _natural(model: Model, loads: tuple[str, ...]) -> NaturalSkeleton:
    """The functions of the natural coordinates, as columns of (3, N)."""
    bodies, tree, topology = model.rigid_bodies, model.tree, model.topology
    count, points = len(model.standing), topology.point_count
    q, qd, qdd = (ca.SX.sym(name, 3 * count) for name in ("q", "qd", "qdd"))
    w, at = ca.SX.sym("w", 6 * len(loads)), ca.reshape(q, 3, count)

    def line(columns: Any, ends: Sequence[int]) -> Any:
        """The line from one slot to another; the number beyond the last slot is the origin."""
        start, end = (int(slot) for slot in ends)
        return (columns[:, end] if end < count else 0.0) - (columns[:, start] if start < count else 0.0)

    rows = model.constraints
    pairs = zip(rows.first, rows.second, rows.constant, strict=True)
    phi = ca.vertcat(
        *(ca.dot(line(at, first), line(at, second)) - constant for first, second, constant in pairs)
    )
    if len(rows.weights):
        phi = ca.vertcat(phi, ca.vec(at @ ca.DM(rows.weights.T) - rows.target.T))

    # the basic coordinates r_i, r_j, u, v of every body, and what they need
    basic = []
    for b, (i, j, *lines) in enumerate(bodies.slots.tolist()):
        u = line(at, lines[:2]) / bodies.length_u[b]
        v = ca.cross(u, at[:, j] - at[:, i]) if bodies.crossed[b] else line(at, lines[2:])
        basic.append(ca.horzcat(at[:, i], at[:, j], u, v / bodies.length_v[b]))
    x = ca.vec(ca.horzcat(*basic))
    xd = ca.jtimes(x, q, qd)
    xdd = ca.reshape(ca.jtimes(xd, q, qd) + ca.jtimes(x, q, qdd), 3, -1)
    weight = bodies.coordinates(model.mass.center) * model.mass.mass[:, None]
    forces = []
    for b, columns in enumerate(basic):
        force = xdd[:, 4 * b : 4 * b + 4] @ model.basic_mass[b] - np.outer(model.gravity, weight[b])
        name = topology.bodies[b].name
        if name in loads:
            load = w[6 * loads.index(name) : 6 * loads.index(name) + 6]
            rotation = ca.horzcat(columns[:, 1] - columns[:, 0], columns[:, 2:]) @ bodies.inverse[b]
            moved = _couple(load, columns[:, 0], rotation) @ bodies.inverse[b].T
            force = force - ca.horzcat(load[:3] - moved[:, 0], moved)
        forces.append(force)
    needed = ca.jtimes(x, q, ca.vec(ca.horzcat(*forces)), True)

    # allowed directions: a turn about each axis, three shifts, three turns about the origin
    axes = at @ ca.DM((tree.axis_weights * (tree.sign / tree.axis_length)[:, None]).T)
    root = basic[tree.root]
    rotation = ca.horzcat(root[:, 1] - root[:, 0], root[:, 2:]) @ bodies.inverse[tree.root]
    origin, still = root[:, 0] - rotation @ bodies.origin[tree.root], ca.SX(3, 1)
    directions = []
    for k in range(tree.joint_count):
        pivot = at[:, int(tree.pivot[k])]
        beyond = (
            ca.cross(axes[:, k], at[:, n] - (pivot if n < points else 0.0))
            if tree.distal_slots[n, k]
            else still
            for n in range(count)
        )
        directions.append(ca.vertcat(*beyond))
    for axis in np.eye(3):
        directions.append(ca.vertcat(*(ca.SX(axis) if n < points else still for n in range(count))))
    for axis in np.eye(3):
        around = (ca.cross(ca.SX(axis), at[:, n] - (origin if n < points else 0.0)) for n in range(count))
        directions.append(ca.vertcat(*around))

    names = [f"{name} {axis}" for name in topology.coordinate_names for axis in "xyz"]
    entries = dict.fromkeys(("q", "qd", "qdd"), names) | {"w": _load_names(loads)}

    def named(function: Any) -> NamedFunction:
        return NamedFunction(function, "skeleton.natural", entries, finite=True)

    moving = {"q": q, "qd": qd}
    return NaturalSkeleton(
        phi=named(_function("phi", {"q": q}, phi)),
        phi_q=named(ca.Function("phi_q", [q], [ca.jacobian(phi, q)], ["q"], ["phi_q"])),
        gamma=named(_function("gamma", moving, -ca.jtimes(ca.jtimes(phi, q, qd), q, qd))),
        mass=named(ca.Function("mass", [q], [ca.jacobian(needed, qdd)], ["q"], ["mass"])),
        needed=named(_function("needed", moving | {"qdd": qdd, "w": w}, needed)),
        directions=named(ca.Function("directions", [q], [ca.horzcat(*directions)], ["q"], ["directions"])),
        angles=named(_function("angles", {"q": q}, _angles(model, at, line))),
    )


def _angles(model: Model, at: Any, line: Any) -> Any:
    """The angles of the joints: of a follower against a reference about the axis, less the angle while standing."""
    angles = []
    for dof, sign in zip(model.topology.dofs, model.tree.sign, strict=True):
        ends = [model.topology.slots_of(way) for way in (dof.axis, dof.reference, dof.follower)]

        def turn(columns: Any, ends: Any = ends) -> tuple[Any, Any]:
            axis, reference, follower = (line(columns, pair) for pair in ends)
            return ca.dot(axis, ca.cross(reference, follower)) / ca.norm_2(axis), ca.dot(reference, follower)

        (sine, cosine), (sine_0, cosine_0) = turn(at), (float(part) for part in turn(ca.DM(model.standing.T)))
        angles.append(sign * ca.atan2(sine * cosine_0 - cosine * sine_0, cosine * cosine_0 + sine * sine_0))
    return ca.vertcat(*angles)
