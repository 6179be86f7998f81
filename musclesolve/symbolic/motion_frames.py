"""Cost and rows of one frame of a motion program in symbols, with exact derivatives (motion_program.py)."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.checks import check_real_array, check_type
from musclesolve._util.messages import as_text, few
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.cost.casadi_expression import FAULTS, NUMPY_NOTICE, reason_of
from musclesolve.symbolic.muscle_chain import MuscleChain
from musclesolve.symbolic.skeleton import Skeleton

RATE, ACCELERATION, MOMENT = 10.0, 100.0, 20.0
"""Units of the unknowns: rates [rad/s, m/s], accelerations [rad/s2, m/s2], moments and forces [N m, N]."""
REST = 0.05
"""Standard deviation of a coordinate that no marker moves [rad, m]: some three degrees."""
TRIPLES = "a list of (function of a frame, lower bound, upper bound)"
"""What the constraints of a motion program are."""


@dataclass(frozen=True)
class MotionWeights:
    """Standard deviations of what the motion may miss.

    marker: of a coordinate of a marker [m]. residual_force, residual_moment: of the forces [N] and moments [N m] of the
    root, which nothing supplies. torque: of coordinates without muscles [N m]. reserve: of coordinates with muscles
    [N m]. jerk: of a coordinate over 10 ms [rad/s3, m/s3]. effort: factor of the cost of the activations.

    Examples:
        >>> ms.symbolic.MotionWeights(jerk=1000.0).residual_force
        1.0
    """

    marker: float = 0.003
    residual_force: float = 1.0
    residual_moment: float = 0.3
    torque: float = 20.0
    reserve: float = 1.0
    jerk: float = 300.0
    effort: float = 1.0


@dataclass(frozen=True, eq=False)
class FrameSymbols:
    """Expressions of one frame, of which own costs and constraints consist.

    q, qd, qdd (n,): coordinates, rates, accelerations, in the order of `dofs`. moment (n,): generalized forces
    [N m, N]. activation, force (k,): of `muscles` [1, N]. reserve (m,): of the coordinates that muscles move [N m], as
    `MotionProgram.moved`. residual (r,): of the coordinates of the root [N, N m]. data: numbers
    (k,) of the frame, by name.
    """

    dofs: tuple[str, ...]
    muscles: tuple[str, ...]
    q: Any
    qd: Any
    qdd: Any
    moment: Any
    activation: Any
    force: Any
    reserve: Any
    residual: Any
    data: Mapping[str, Any]


FrameExpression = Callable[[FrameSymbols], Any]
FIELDS = ", ".join(each.name for each in fields(FrameSymbols))
"""What a frame has, in words."""


class FrameData(dict[str, Any]):
    """Numbers of a frame by name; what is not given is refused with a remedy."""

    def __init__(self, given: Mapping[str, Any], remedy: str) -> None:
        super().__init__(given)
        self.remedy = remedy

    def __missing__(self, name: object) -> Any:
        raise input_error(
            "unknown_name",
            where="frame.data",
            problem=f"there are no data {as_text(name)}",
            expected=f"names of given data: {few(self) or 'none'}",
            remedy=self.remedy,
        )


@dataclass(frozen=True, eq=False)
class FrameFunctions:
    """Functions of one frame: of unknowns y and numbers p, with exact derivatives.

    parts: places of the unknowns c, cd, cdd, a, s, r, u in y. rows: coordinates of the equations of motion, which come
    before own constraints. lower, upper: of all R rows. least_activation: lower bounds of a. moved: coordinates with
    muscles.

    cost(y, p): a number. constraints(y, p) (R,). gradient(y, p): of the cost, as y. jacobian(y, p): nonzero derivatives
    of the rows, at jacobian_places. hessian(y, p, factor, dual): of factor cost + dual . rows, at hessian_places, the
    lower triangle. own(y, p): values of the expressions of a user, whose names are own_names. results(y, p): moment,
    reserve, residual, force, markers.
    """

    moved: tuple[str, ...]
    parts: Mapping[str, Indices]
    least_activation: Array
    lower: Array
    upper: Array
    rows: tuple[str, ...]
    cost: Any
    constraints: Any
    gradient: Any
    jacobian: Any
    hessian: Any
    own: Any
    own_names: tuple[str, ...]
    jacobian_places: tuple[Indices, Indices]
    hessian_places: tuple[Indices, Indices]
    results: Any

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return sum(len(part) for part in self.parts.values())


FRAME_WEIGHTS = ("marker", "reserve", "residual_force", "residual_moment", "torque", "effort")
"""MotionWeights that are numbers of a frame, in their order."""


def frame_functions(
    body: Skeleton,
    chains: Sequence[MuscleChain],
    position: Any,
    cost: FrameExpression | None,
    costs: Mapping[str, FrameExpression],
    constraints: Mapping[str, tuple[FrameExpression, float, float]],
    numbers: Mapping[str, Array],
    ground: Any = None,
) -> FrameFunctions:
    """Build cost and rows of one frame in symbols, with exact derivatives.

    costs, constraints: by their names in messages. ground: function of c and cd, of loads (6 L,) that the motion itself
    makes, beside the loads that are numbers.
    """
    dofs, n = body.dofs, len(body.dofs)
    moved = tuple(dict.fromkeys(name for chain in chains for name in chain.dofs))
    root = [dofs.index(name) for name in body.root]
    muscular = [dofs.index(name) for name in moved]
    others = [k for k, name in enumerate(dofs) if name not in moved and k not in root]
    muscles = tuple(name for chain in chains for name in chain.muscles)
    # expressions of scalars where every muscle has one, else of matrices
    scalars = all(chain.takes_scalars for chain in chains)
    kind: Any = ca.SX if scalars and not body.dependent else ca.MX
    sizes = {"c": n, "cd": n, "cdd": n, "a": len(muscles), "s": len(moved), "r": len(root), "u": len(others)}
    edges = np.cumsum([0, *sizes.values()])
    parts = {name: np.arange(a, b) for name, a, b in zip(sizes, edges[:-1], edges[1:], strict=True)}
    y = kind.sym("y", int(edges[-1]))
    c, cd, cdd, a, s, r, u = ca.vertsplit(y, edges.tolist())
    cd, cdd, s, r, u = RATE * cd, ACCELERATION * cdd, MOMENT * s, MOMENT * r, MOMENT * u

    places = position.size_out(0)[1]
    own = {name: kind.sym(name, value.shape[1]) for name, value in numbers.items()}
    loads = kind.sym("loads", 6 * len(body.loads))
    target, seen = kind.sym("target", 3 * places), kind.sym("seen", 3 * places)
    resting, rest = kind.sym("resting", n), kind.sym("rest", n)
    weights = kind.sym("weights", len(FRAME_WEIGHTS))
    weight = dict(zip(FRAME_WEIGHTS, ca.vertsplit(weights), strict=True))
    p = ca.vertcat(loads, *own.values(), target, seen, resting, rest, weights)

    acting = loads if ground is None else loads + ground(c, cd)
    tau, marks = body.inverse_dynamics(c, cd, cdd, acting), ca.vec(position(c))
    moment, forces, first = kind.zeros(len(moved), 1), [], 0
    for chain in chains:
        some = [dofs.index(name) for name in chain.dofs]
        arguments = c[some], cd[some], a[first : first + len(chain.muscles)]
        first += len(chain.muscles)
        forces.append(chain.force(*arguments))
        into = np.zeros((len(moved), len(some)))
        into[[moved.index(name) for name in chain.dofs], np.arange(len(some))] = 1.0
        moment = moment + ca.sparsify(ca.DM(into)) @ chain.moment(*arguments)
    force = ca.vertcat(kind(0, 1), *forces)
    motion_rows = ca.vertcat(moment + s - tau[muscular, 0], r - tau[root, 0], u - tau[others, 0]) / MOMENT
    known = FrameData(own, "give them: data={name: numbers (T,) or (T, k)}")
    symbols = FrameSymbols(dofs, muscles, c, cd, cdd, tau, a, force, s, r, known)
    bounded = {where: _bounded(entry, symbols, where) for where, entry in constraints.items()}
    rows = ca.vertcat(motion_rows, *(value for value, _, _ in bounded.values()))
    met = np.zeros(motion_rows.numel())
    lower, upper = (
        np.concatenate([met, *(np.full(limits[0].numel(), limits[side]) for limits in bounded.values())])
        for side in (1, 2)
    )

    shifts = [k for k, name in enumerate(body.root) if name in body.shifts]
    turns = [k for k in range(len(root)) if k not in shifts]
    misfit = (
        ca.sumsqr(seen * (marks - target)) / weight["marker"] ** 2
        + ca.sumsqr(s) / weight["reserve"] ** 2
        + ca.sumsqr(u) / weight["torque"] ** 2
        + (ca.sumsqr(r[shifts]) / weight["residual_force"] ** 2 if shifts else 0.0)
        + (ca.sumsqr(r[turns]) / weight["residual_moment"] ** 2 if turns else 0.0)
        + ca.sumsqr(resting * (c - rest)) / REST**2
    )
    effort = {} if cost is None else {"cost": frame_expression(cost, symbols, "cost")}
    further = {where: frame_expression(each, symbols, where) for where, each in costs.items()}
    value = 0.5 * misfit + weight["effort"] * effort.get("cost", ca.sumsqr(a)) + sum(further.values())
    own = effort | further | {where: limited for where, (limited, _, _) in bounded.items()}
    for where, expression in own.items():
        _check_symbols(ca.Function("own", [y, p], [expression], {"allow_free": True}), where)

    dual, factor = kind.sym("dual", rows.numel()), kind.sym("factor")
    jacobian = ca.jacobian(rows, y)
    hessian = ca.tril(ca.hessian(factor * value + ca.dot(dual, rows), y)[0])
    results = [tau, s, r, force, marks]
    return FrameFunctions(
        moved=moved,
        parts=parts,
        least_activation=np.repeat(
            [chain.least_activation for chain in chains], [len(chain.muscles) for chain in chains]
        ),
        lower=lower,
        upper=upper,
        rows=(*moved, *body.root, *(dofs[k] for k in others)),
        cost=ca.Function("cost", [y, p], [value]),
        constraints=ca.Function("constraints", [y, p], [rows]),
        gradient=ca.Function("gradient", [y, p], [ca.densify(ca.gradient(value, y))]),
        jacobian=ca.Function("jacobian", [y, p], [_nonzeros(jacobian)]),
        hessian=ca.Function("hessian", [y, p, factor, dual], [_nonzeros(hessian)]),
        own=ca.Function("own", [y, p], [ca.vertcat(kind(0, 1), *own.values())]),
        own_names=tuple(where for where, each in own.items() for _ in range(each.numel())),
        jacobian_places=_places(jacobian),
        hessian_places=_places(hessian),
        results=ca.Function("results", [y, p], list(map(ca.densify, results))),
    )


def _nonzeros(matrix: Any) -> Any:
    return matrix.nz[:] if matrix.nnz() else type(matrix)(0, 1)


def _places(matrix: Any) -> tuple[Indices, Indices]:
    rows, columns = matrix.sparsity().get_triplet()
    return np.array(rows, dtype=int), np.array(columns, dtype=int)


def numbered(entries: object, name: str, expected: str) -> dict[str, Any]:
    """The entries of a list by their names in messages: costs[0], costs[1]."""
    return {f"{name}[{k}]": each for k, each in enumerate(check_type(entries, Sequence, name, expected))}


def _check_symbols(function: Any, where: str) -> None:
    """Refuse an expression of symbols that are not of the frame."""
    if function.has_free():
        raise input_error(
            "bad_cost",
            where=where,
            problem=f"the function uses the symbols {few(function.get_free())}, which are not of the frame",
            expected=f"an expression of the frame: {FIELDS}",
            remedy="write numbers in the place of these symbols, or take them from frame.data",
        )


def frame_expression(function: object, symbols: FrameSymbols, where: str, scalar: bool = True) -> Any:
    """The expression that a function makes of the symbols of a frame: one number, or several."""
    if not callable(function):
        raise input_error(
            "bad_type",
            where=where,
            problem=f"{as_text(function)} is no function",
            expected="a function of a frame, such as lambda frame: casadi.sumsqr(frame.activation)",
        )
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", NUMPY_NOTICE, FutureWarning)
            made = function(symbols)
    except InputError:
        raise
    except FAULTS as error:
        raise input_error(
            "bad_cost",
            where=where,
            problem=f"the function cannot be evaluated: {reason_of(error)}",
            expected=f"a function of one argument, a frame with {FIELDS}",
            remedy="find entries by name: frame.force[frame.muscles.index(NAME)], frame.q[frame.dofs.index(NAME)]",
        ) from error
    if not isinstance(made, ca.SX | ca.MX | ca.DM | int | float):
        raise input_error(
            "bad_type",
            where=where,
            problem=f"the function returns {as_text(made)}",
            expected="an expression of CasADi",
        )
    value = ca.vec(type(symbols.q)(made))
    if scalar and value.numel() != 1:
        raise input_error(
            "bad_shape",
            where=where,
            problem=f"the function returns {value.numel()} numbers",
            expected="one number, such as casadi.sum1(...) of them",
        )
    return value


def _bounded(entry: object, symbols: FrameSymbols, where: str) -> tuple[Any, float, float]:
    """The values of a constraint, and its bounds."""
    if not isinstance(entry, tuple | list) or len(entry) != 3:
        raise input_error("bad_type", where=where, problem=f"it is {as_text(entry)}", expected=TRIPLES)
    low, high = (
        check_real_array(bound, "a bound", "a number", where=where, shapes=((),)) for bound in entry[1:]
    )
    if not low <= high:
        raise input_error(
            "bad_value",
            where=where,
            problem=f"the bounds are {low:g} and {high:g}",
            expected="a lower bound and an upper bound that is not below it",
            remedy="exchange them" if low > high else "-numpy.inf or numpy.inf where there is no bound",
        )
    return frame_expression(entry[0], symbols, where, scalar=False), float(low), float(high)
