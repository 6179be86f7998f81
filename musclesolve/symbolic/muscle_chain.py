"""Muscles of a subject or of an OpenSim model as CasADi functions of the pose, and their sharing as one program."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import muscle_db
from muscle_db import MuscleDatabase
from musclesolve._util.arrays import Array, Indices
from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.checks import check_array, check_choice, check_number, check_type, one_or_several
from musclesolve._util.messages import few
from musclesolve._util.sides import SIDES
from musclesolve.constants import ELASTIC, RIGID, USUAL_COST
from musclesolve.dynamics.model.human_model import human_model
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import InputError, input_error
from musclesolve.models.opensim.geometry import opensim_geometry, path_system, tendon_shifts
from musclesolve.models.opensim.model import OpenSimModel, OpenSimMuscle
from musclesolve.models.opensim.read_muscles import muscle_parameters
from musclesolve.muscles.curves.curve_family import curve_family
from musclesolve.muscles.curves.millard_2013 import Millard2013
from musclesolve.muscles.elastic.elastic_muscles import LEAST_ACTIVATION
from musclesolve.muscles.muscle_parameters import MuscleParameters, load_muscle_set
from musclesolve.muscles.paths.engine import PathLayout
from musclesolve.muscles.paths.paths import Paths
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles, joined, scale_muscles
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.cost.cost_terms import arrays_of, flat, parameter_symbols, shapes_of
from musclesolve.sharing.problem import Problem
from musclesolve.symbolic.closed_loops import closed_coordinates
from musclesolve.symbolic.hill import BALANCED, equilibrium_function, rigid_fiber, rigid_forces
from musclesolve.symbolic.named_function import NamedFunction
from musclesolve.symbolic.path_length import (
    Evaluated,
    IteratedPaths,
    Places,
    in_order,
    iterated_muscles,
    of_coordinates,
    path_length,
    places_of_model,
    places_of_set,
)

SIZE = "size"


@dataclass(frozen=True, eq=False)
class MuscleChain:
    """CasADi functions of n muscles and m degrees of freedom, for one pose q (m,) [rad or m] with rates qd (m,).

    dofs, muscles: names, in the order of the arguments and results. muscle_parameters: the numbers of the Hill model.
    factors: names of further arguments, which follow the others in every function. iterated: muscles whose paths the
    path engine finds by iteration, so that functions with them have no C code. dependent: coordinates of an OpenSim
    model that closed loops determine, found by iteration; functions with them take matrices (MX), not scalars (SX).

    length(q) (n,) [m]; moment_arm(q) (m, n) [m], -dL/dq; velocity(q, qd) (n,) [m/s]; force(q, qd, a) (n,) [N]: tendon
    forces at activations a (n,); moment(q, qd, a) (m,) [N m]. Rigid tendons: fiber(q, qd), which returns length [m],
    velocity [m/s] and cosine of the pennation; capacity(q, qd) and passive(q, qd) (n,) [N]. Elastic tendons:
    fiber(q, qd, a), which returns the fiber length [m] and the coordinate of the tendon; capacity and passive are None,
    because the force is not the sum of an active and a passive one. least_activation: no force changes with activation
    below it; 0 but for elastic tendons without damping.

    engine: the functions of the iterated paths, which CasADi does not keep alive. paths: whose lengths these are.
    """

    dofs: tuple[str, ...]
    muscles: tuple[str, ...]
    muscle_parameters: MuscleParameters
    factors: tuple[str, ...]
    iterated: tuple[str, ...]
    length: Any
    moment_arm: Any
    velocity: Any
    fiber: Any
    force: Any
    moment: Any
    capacity: Any = None
    passive: Any = None
    least_activation: float = 0.0
    dependent: tuple[str, ...] = ()
    engine: Any = field(default=None, repr=False)
    paths: "ChainPaths | None" = field(default=None, repr=False)

    def __repr__(self) -> str:
        tendon = "elastic" if self.capacity is None else "rigid"
        more = f", factors {', '.join(self.factors)}" if self.factors else ""
        return (
            f"<MuscleChain: {len(self.muscles)} muscles, {tendon} tendons{more}, q = {', '.join(self.dofs)}>"
        )

    @property
    def takes_scalars(self) -> bool:
        """Whether the functions take SX symbols: no tendon, path or loop is iterated, no curve is a spline."""
        splines = any(isinstance(family, Millard2013) for family, _ in self.muscle_parameters.families)
        return self.capacity is not None and not (self.iterated or self.dependent or splines)

    def sharing_program(self, cost: Cost | str = USUAL_COST) -> "SharingProgram":
        """The static optimization of the muscles with rigid tendons, out of the pose.

            minimize f(a)  subject to  r(q) (a capacity(q, qd) + passive(q, qd)) = M,  0 <= a <= 1.

        Coefficients of the cost that depend on the pose are among the parameters p (`SharingProgram.parameters`).

        Args:
            cost: a cost, or its name.

        Raises:
            InputError: an unknown cost; a chain with elastic tendons or factors.

        Examples:
            >>> chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r")
            >>> program = chain.sharing_program("stress_cubed")
            >>> program.x.shape, program.g.shape
            ((43, 1), (7, 1))
        """
        cost = find_cost(cost)
        if self.capacity is None or self.factors:
            raise InputError(
                "the program needs rigid tendons and no factors",
                code="conflict",
                where="chain",
                expected="the chain of muscle_chain(..., tendon='rigid', factors=())",
                remedy="write the program with chain.moment",
            )
        dofs, count = len(self.dofs), len(self.muscles)
        q, qd, moment = (ca.MX.sym(name, dofs) for name in ("q", "qd", "moment"))
        a, none = ca.MX.sym("a", count), np.zeros(dofs)
        like = SharingProgram(self, cost, a, None, None, None)._problem(none, none, none)
        numbers = parameter_symbols(ca.MX.sym, shapes_of(cost.parameters(like)))
        return SharingProgram(
            chain=self,
            cost=cost,
            x=a,
            f=cost.expression(ca, a, numbers),
            g=self.moment(q, qd, a) - moment,
            p=ca.vertcat(q, qd, moment, *map(ca.vec, arrays_of(numbers))),
        )


@dataclass(frozen=True, eq=False)
class ChainPaths:
    """The paths of a chain: a subject with the paths of a set on it, or an OpenSim model with its muscles."""

    body: Model | OpenSimModel
    source: Paths | tuple[OpenSimMuscle, ...]


@dataclass(frozen=True, eq=False)
class SharingProgram:
    """Minimize f(x, p) subject to g(x, p) = 0 and 0 <= x <= 1, in symbols of CasADi.

    x (n,): activations; g (m,): muscle moments minus joint moments [N m]; p: pose q (m,), rates qd (m,), joint moments
    (m,) [N m], and the numbers of the cost. `nlp` is what `casadi.nlpsol` takes.
    """

    chain: MuscleChain
    cost: Cost
    x: Any
    f: Any
    g: Any
    p: Any

    def __repr__(self) -> str:
        return (
            f"<SharingProgram: {self.cost.label}, {self.x.numel()} activations, {self.p.numel()} numbers p>"
        )

    @property
    def nlp(self) -> dict[str, Any]:
        """The program for `casadi.nlpsol`: x, f, g, p."""
        return {"x": self.x, "f": self.f, "g": self.g, "p": self.p}

    def problem(self, q: ArrayLike, qd: ArrayLike, moment: ArrayLike) -> Problem:
        """The problem of one pose for `ms.solve`; q, qd, moment (m,) [rad, rad/s, N m].

        Raises:
            InputError: numbers of another shape, or not finite; a pose in which a loop of the model stays open.
        """
        given = {"q": q, "qd": qd, "moment": moment}
        problem = self._problem(*(self._checked(name, value) for name, value in given.items()))
        if not np.isfinite(problem.moment_arm).all():
            raise input_error(
                "bad_value",
                where="SharingProgram.problem(q=...)",
                problem="a closed loop of the model stays open in this pose",
                expected="coordinates at which the constraints can be satisfied",
                remedy="give the coordinates of inverse kinematics of this model",
            )
        return problem

    def _problem(self, q: Array, qd: Array, moment: Array) -> Problem:
        chain, parameters = self.chain, self.chain.muscle_parameters
        # by `call`, which leaves the warning of degrees to the problem
        fiber_length, fiber_velocity, cosine = map(_row, chain.fiber.call([q, qd]))
        capacity, passive = (_row(each.call([q, qd])[0]) for each in (chain.capacity, chain.passive))
        arm = np.array(chain.moment_arm.call([q])[0])
        return Problem(
            moment_arm=arm[None],
            moment=(moment - arm @ passive[0])[None],
            force_capacity=capacity,
            max_isometric_force=parameters.max_isometric_force,
            muscle=chain.muscles,
            dof=chain.dofs,
            fiber_velocity=fiber_velocity,
            fiber_length=fiber_length,
            fiber_force_capacity=np.divide(capacity, cosine, out=np.zeros_like(cosine), where=cosine > 0.0),
            joint_angle=_row(q),
            joint_rate=_row(qd),
            optimal_fiber_length=parameters.optimal_fiber_length,
            joints_crossed=parameters.joints_crossed,
            passive_force=passive,
        )

    def _checked(self, name: str, value: ArrayLike) -> Array:
        dofs = self.chain.dofs
        where = f"SharingProgram.problem({name}=...), of {few(dofs, 12)}"
        return check_array(value, name, (len(dofs),), dofs, axis=0, real=True, where=where)

    def parameters(self, q: ArrayLike, qd: ArrayLike, moment: ArrayLike) -> Array:
        """The numbers p of a pose; arguments as for `problem`."""
        numbers = self.cost.parameters(self.problem(q, qd, moment))
        return np.concatenate([*map(np.ravel, (q, qd, moment)), flat(numbers, 1)[0]])


def _row(value: Any) -> Array:
    return np.array(value).reshape(1, -1)


def muscle_chain(
    body: Model | OpenSimModel | None = None,
    muscles: str | Path | MuscleDatabase | ScaledMuscles | Sequence[str] | None = None,
    *,
    side: str = "both",
    curves: str | None = None,
    tendon: str = RIGID,
    factors: Sequence[str] = (),
    damping: float = 0.0,
) -> MuscleChain:
    """Lengths, moment arms, forces and moments of muscles as CasADi functions with exact derivatives.

    Lengths and forces equal `muscle_geometry` and `muscle_state` (passive forces as in "table"). Paths of an OpenSim
    model are the shortest ones, as in `OpenSimGeometry.length`. The tendons of its muscles over several objects are
    longer by the difference from OpenSim's length in the neutral pose. The model may have paths that are functions of
    coordinates, and closed loops. Elastic tendons are in equilibrium at a constant tendon length.

    Args:
        body: a subject (`human_model`), or an OpenSim model (`read_osim`); the standard subject unless given.
        muscles: of a subject a muscle set, its name or file, or muscles from `scale_muscles`; gait2392_hip unless
            given. For an OpenSim model the names of muscles; all unless given.
        side: "both", "r" or "l", of a set.
        curves: name of a family of Hill curves instead of the one of the set or model.
        tendon: "rigid" or "elastic".
        factors: names of factors that become arguments: "size" (one number) multiplies all lengths of the skeleton;
            "max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "max_shortening_velocity" and
            "tendon_strain" (n,) multiply these parameters. The passive elements keep their force.
        damping: of fibers behind elastic tendons, over the maximum isometric force at v_max.

    Raises:
        InputError: an unknown name; a model with spherical joints; muscles that need what is not supported.

    Examples:
        >>> chain = ms.symbolic.muscle_chain(muscles="silva_2003", side="r", factors=("max_isometric_force",))
        >>> chain.dofs[3], len(chain.muscles)
        ('knee_flexion_r', 43)
        >>> bent, still = np.radians([30.0, 0, 0, 40.0, 0, 0, 0]), np.zeros(7)
        >>> moment = chain.moment(bent, still, np.full(43, 0.1), np.ones(43))
        >>> moment.shape
        (7, 1)
    """
    check_choice(tendon, "tendon", (RIGID, ELASTIC))
    factors = tuple(one_or_several(factors))
    for name in factors:
        check_choice(name, "factor", (SIZE, *BALANCED))
    check_number(damping, "damping", "a number from 0, such as 0.1", least=0.0)
    check_choice(side, "side", ("both", *SIDES))
    if isinstance(body, OpenSimModel):
        if side != "both":
            raise input_error(
                "conflict",
                where="muscle_chain",
                problem=f"side is {side!r}, and the muscles of an OpenSim model are chosen by their names",
                expected='side="both"',
                remedy=f"muscles=[name for name in model.muscles if name.endswith('_{side}')]",
            )
        paths = _of_model(body, muscles)
    else:
        paths = _of_subject(body, muscles, side, curves)
    parameters = paths.parameters
    if curves is not None:
        parameters = replace(parameters, families=((curve_family(curves), np.arange(len(parameters.names))),))
    return _chain(replace(paths, parameters=parameters), factors, tendon == ELASTIC, damping)


@dataclass(frozen=True, eq=False)
class _Paths:
    """Muscles with the function of their lengths, the iterated ones, and the coordinates that are angles.

    known: 1 in a pose of numbers in which all loops close, else NaN. Paths and curves have branches, which lose NaN.
    """

    dofs: tuple[str, ...]
    parameters: MuscleParameters
    length: Any
    known: Any
    iterated: tuple[str, ...]
    engine: IteratedPaths | None
    dependent: tuple[str, ...] = ()
    turns: tuple[str, ...] = ()
    source: ChainPaths | None = None


def _of_subject(body: Any, muscles: Any, side: str, curves: str | None) -> _Paths:
    """Muscles of a set on a subject."""
    model = (
        human_model() if body is None else check_type(body, Model, "body", "a subject or an OpenSim model")
    )
    if not isinstance(muscles, ScaledMuscles):
        database = muscle_db.load() if muscles is None else muscles
        if not isinstance(database, MuscleDatabase):
            database = load_muscle_set(database)
        sides = SIDES if side == "both" else (side,)
        muscles = joined(
            [scale_muscles(model, database, one, passive="table", curves=curves) for one in sides]
        )
    paths, names, joints = muscles.paths, muscles.dof_names, [model.dof(name) for name in muscles.dof_names]
    balls = set(model.tree.spherical.ravel().tolist())
    if balls & set(joints):
        raise InputError(
            "muscles cross a spherical joint, whose coordinates are no angles",
            code="unsupported",
            expected="a model with hinges",
            remedy="state three axes for the joint",
        )

    def evaluate(numbers: Indices) -> Evaluated:
        some, tree = paths.subset(numbers), model.tree

        def lengths(q: Array) -> tuple[Array, Array]:
            coordinates = np.zeros((len(q), len(model.topology.dof_names)))
            coordinates[:, joints] = q
            at = np.zeros((len(q), 3)), np.broadcast_to(np.eye(3), (len(q), 3, 3))
            natural = tree.pose(coordinates[:, : tree.joint_count], *at)
            state = some.evaluate(natural, coordinates)
            return state.length, state.moment_arms(np.array(joints), tree, tree.axes(natural))

        return lengths

    q = ca.SX.sym("q", len(joints))
    places = places_of_set(model, paths, dict(zip(joints, ca.vertsplit(q), strict=True)))
    found = _paths(names, muscles.parameters, (paths.layout, places), (q, None), evaluate, {})
    return replace(found, turns=names, source=ChainPaths(model, paths))


def _of_model(model: OpenSimModel, muscles: Any) -> _Paths:
    """Muscles of an OpenSim model, with the coordinates that move them."""
    chosen = model.chosen(None if muscles is None else one_or_several(muscles))
    if not chosen:
        raise input_error("models.opensim.no_muscle_named", file=model.file)
    names = [muscle.name for muscle in chosen]
    crossed = frozenset().union(*(model.crossing[name] for name in names))
    dofs = tuple(
        name for name, coordinate in model.coordinates.items() if name in crossed and not coordinate.locked
    )
    parameters = muscle_parameters(chosen)
    parameters = replace(
        parameters, tendon_slack_length=parameters.tendon_slack_length + tendon_shifts(model, names)
    )

    drawn = tuple(muscle for muscle in chosen if muscle.by_function is None)

    def evaluate(numbers: Indices) -> Evaluated:
        some = [drawn[k].name for k in numbers]

        def lengths(q: Array) -> tuple[Array, Array]:
            values = dict(zip(dofs, q.T, strict=True))
            geometry = opensim_geometry(model, values, dofs, some, reported=False)
            return geometry.length, geometry.moment_arm

        return lengths

    every = closed_coordinates(model, dofs, "q")
    by_function = {
        k: of_coordinates(path.function, [every.values[name] for name in path.coordinates])
        for k, path in enumerate(muscle.by_function for muscle in chosen)
        if path is not None
    }
    system = path_system(model, drawn) if drawn else None
    placed = None if system is None else (system.layout, places_of_model(system, every.values))
    found = _paths(dofs, parameters, placed, (every.symbols, every.closed), evaluate, by_function)
    turns = tuple(name for name in dofs if model.coordinates[name].rotational)
    source = ChainPaths(model, tuple(chosen))
    return replace(found, dependent=every.dependent, turns=turns, source=source)


def _paths(
    dofs: tuple[str, ...],
    parameters: MuscleParameters,
    placed: tuple[PathLayout, Places] | None,
    coordinates: tuple[Any, Any],
    evaluate: Callable[[Indices], Evaluated],
    by_function: Mapping[int, Any],
) -> _Paths:
    """The function of the lengths of all muscles: expressions, and the engine where it iterates.

    placed: the paths with points, and these as expressions. coordinates: the symbols of the expressions, and the
    function of the pose whose value they are, None if they are the pose. by_function: number of a muscle -> its length.
    """
    symbols, closed = coordinates
    drawn = np.array([k for k in range(len(parameters.names)) if k not in by_function], dtype=np.intp)
    lengths, other = dict(by_function), np.zeros(0, np.intp)
    if placed is not None:
        layout, places = placed
        iterated = iterated_muscles(layout)
        lengths |= {int(drawn[k]): path_length(layout, k, places) for k in np.flatnonzero(~iterated).tolist()}
        other = np.flatnonzero(iterated)
    pose, parts = ca.MX.sym("q", len(dofs)), list[tuple[list[int], Any]]()
    if lengths:
        paths = ca.Function("paths", [symbols], [ca.vertcat(*lengths.values())])
        parts.append((list(lengths), paths(pose if closed is None else closed(pose))))
    engine = None
    if other.size:
        engine = IteratedPaths(evaluate(other), (len(other), len(dofs)))
        parts.append((drawn[other].tolist(), engine(pose)))
    length = ca.Function("length", [pose], [in_order(parts)], ["q"], ["length"])
    known = ca.Function("known", [pose], [_finite(ca.sumsqr(pose if closed is None else closed(pose)))])
    by_engine = tuple(parameters.names[drawn[k]] for k in other)
    return _Paths(dofs, parameters, length, known, by_engine, engine)


def _finite(value: Any) -> Any:
    """1 where a value is a finite number, else NaN; without derivatives, which would fill structural zeros."""
    x = ca.MX.sym("x", value.shape)
    finite = ca.if_else(ca.fabs(x) < np.inf, 1.0, np.nan)
    return ca.Function("finite", [x], [finite], {"is_diff_in": [False]})(value)


def _chain(paths: _Paths, factors: tuple[str, ...], elastic: bool, damping: float) -> MuscleChain:
    """All functions of the chain; each input has a name."""
    parameters, count = paths.parameters, len(paths.parameters.names)
    q, qd = (ca.MX.sym(name, len(paths.dofs)) for name in ("q", "qd"))
    activation = ca.MX.sym("a", count)
    numbers = {name: ca.MX.sym(name, 1 if name == SIZE else count) for name in factors}
    values = {name: getattr(parameters, name) * numbers.get(name, 1.0) for name in BALANCED}

    length = numbers.get(SIZE, 1.0) * paths.length(q)
    gradient = ca.jacobian(length, q)
    velocity = gradient @ qd
    known = paths.known(q)
    if SIZE in numbers:
        known = known * _finite(numbers[SIZE])
    # a factor, rate or activation that is no number leaves the other muscles as they are
    given: Any = 1.0
    for name in factors:
        given = given * (1.0 if name == SIZE else _finite(numbers[name]))
    moving_given = given * _finite(velocity)

    muscles = parameters.names
    entries = {"q": paths.dofs, "qd": paths.dofs, "a": muscles} | dict.fromkeys(numbers, muscles)

    def function(name: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> Any:
        inputs = inputs | numbers
        dense = [ca.densify(value) * known for value in outputs.values()]
        made = ca.Function(name, list(inputs.values()), dense, list(inputs), list(outputs))
        return NamedFunction(made, "chain", entries | {SIZE: (SIZE,)}, paths.turns)

    pose, moving = {"q": q}, {"q": q, "qd": qd}
    driven, parts = moving | {"a": activation}, dict[str, Any]()
    if elastic:
        equilibrium = equilibrium_function(parameters, damping)
        columns = ca.horzcat(*(ca.MX(values[name]) for name in BALANCED))
        share, fiber_length, tendon = equilibrium(length, velocity, activation, columns)
        driven_given = moving_given * _finite(activation)
        force = values["max_isometric_force"] * share * driven_given
        fiber = {"length": fiber_length * driven_given, "tendon": tendon * driven_given}
        parts["fiber"] = function("fiber", driven, fiber)
    else:
        fiber = rigid_fiber(values, parameters, length, velocity)
        capacity, passive = rigid_forces(values, parameters, fiber)
        capacity, passive = capacity * moving_given, passive * given
        force = activation * capacity + passive
        fiber = {name: part * (moving_given if name == "velocity" else given) for name, part in fiber.items()}
        parts["fiber"] = function("fiber", moving, fiber)
        parts["capacity"] = function("capacity", moving, {"capacity": capacity})
        parts["passive"] = function("passive", moving, {"passive": passive})
    return MuscleChain(
        dofs=paths.dofs,
        muscles=parameters.names,
        muscle_parameters=parameters,
        factors=factors,
        iterated=paths.iterated,
        length=function("length", pose, {"length": length}),
        moment_arm=function("moment_arm", pose, {"moment_arm": -gradient.T}),
        velocity=function("velocity", moving, {"velocity": velocity}),
        force=function("force", driven, {"force": force}),
        moment=function("moment", driven, {"moment": -gradient.T @ force}),
        least_activation=LEAST_ACTIVATION if elastic and not damping else 0.0,
        dependent=paths.dependent,
        engine=paths.engine,
        paths=paths.source,
        **parts,
    )
