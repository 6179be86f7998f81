"""Motion and muscles in one program: markers, ground reactions and muscles determine each other.

Unknown in each frame: coordinates c with rates cd and accelerations cdd (n each), activations a, and the forces that
no muscle supplies: reserves s of coordinates with muscles, torques u of coordinates without muscles, the residual r of
the root. Accelerations are linear between frames, so that coordinates are cubic splines of time, and frames are joined
by linear rows:

    c+ = c + h cd + h^2 (2 cdd + cdd+) / 6,      cd+ = cd + h (cdd + cdd+) / 2.

In each frame the muscles and the other forces are what the motion needs (`Skeleton.inverse_dynamics`):

    m(c, cd, a) + s = tau,      u = tau,      r = tau.

The cost is a sum of squares over standard deviations, as of a most probable motion, and the effort:

    sum |markers - measured|^2 / (2 sigma^2) + |r / sigma_r|^2 / 2 + |u / sigma_u|^2 / 2 + |s / sigma_s|^2 / 2
    + effort sum f(a) + integral of |jerk / sigma_j|^2 dt / (2 x 10 ms) + own costs.

Coordinates that no marker moves have a rest term: they stay within 0.05 rad or m of where they start. The Hessian is
exact: CasADi makes it for one frame, and every frame calls it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline, make_smoothing_spline

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.checks import check_array, check_number, check_type
from musclesolve._util.locks import CASADI
from musclesolve._util.messages import few
from musclesolve.errors import input_error
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.symbolic.muscle_chain import MuscleChain
from musclesolve.symbolic.skeleton import Skeleton

RATE, ACCELERATION, MOMENT = 10.0, 100.0, 20.0
"""Units of the unknowns: rates [rad/s, m/s], accelerations [rad/s2, m/s2], moments and forces [N m, N]."""
JERK_SPAN = 0.010
"""Time over which the standard deviation of a jerk is meant [s]: a frame of a recording at 100 Hz."""
REST = 0.05
"""Standard deviation of a coordinate that no marker moves [rad, m]: some three degrees."""


@dataclass(frozen=True)
class MotionWeights:
    """Standard deviations of what the motion may miss.

    marker: of a coordinate of a marker [m]. residual_force, residual_moment: of the forces [N] and moments [N m] of the
    root, which nothing supplies. torque: of coordinates without muscles [N m]. reserve: of coordinates with muscles
    [N m]. jerk: of a coordinate over 10 ms [rad/s3, m/s3]. effort: factor of the cost of the activations.
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
    [N m, N]. activation, force (k,): of `muscles` [1, N]. reserve: of the coordinates that muscles move [N m].
    residual: of the root [N, N m]. data: numbers of each frame, by name.
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


@dataclass(frozen=True)
class MotionCertificate:
    """Errors at the end of a program, computed anew from its functions.

    stationarity: largest element of the gradient of the Lagrange function, over the largest multiplier or 1.
    complementarity: largest product of a bound's multiplier and the distance to it. motion_equations: largest error
    of the equations of motion in the frames [N m, N]. joining: largest error of the rows between frames. bounds:
    largest violation of 0 <= a <= 1, of limits of rates and of own constraints. between_frames: largest error of the
    equations of motion in the middle between two frames [N m, N], which no row enforces; `worst` says where.
    """

    stationarity: float
    complementarity: float
    motion_equations: float
    joining: float
    bounds: float
    between_frames: float
    worst: str


@dataclass(frozen=True, eq=False)
class ProgramMotion:
    """The optimum of a motion program over T frames.

    coordinates, rates, accelerations (T, n); moment (T, n): generalized forces of the motion [N m, N];
    activation, force (T, k): of `muscles`; reserve (T, m): of the coordinates with muscles [N m]; residual (T, 6 or
    fewer): of the root [N, N m]; markers (T, P, 3) [m].
    converged: whether Ipopt met its tolerances; `message` is its last word.
    """

    time: Array
    dofs: tuple[str, ...]
    muscles: tuple[str, ...]
    coordinates: Array
    rates: Array
    accelerations: Array
    moment: Array
    activation: Array
    force: Array
    reserve: Array
    residual: Array
    markers: Array
    cost: float
    converged: bool
    iterations: int
    message: str
    certificate: MotionCertificate
    _unknowns: Array = field(repr=False)


def motion_program(
    body: Skeleton,
    time: ArrayLike,
    places: Mapping[str, tuple[str, Sequence[float]]],
    measured: ArrayLike,
    loads: Mapping[str, ArrayLike] | None = None,
    muscles: MuscleChain | Sequence[MuscleChain] = (),
    *,
    cost: FrameExpression | None = None,
    costs: Sequence[FrameExpression] = (),
    constraints: Sequence[tuple[FrameExpression, float, float]] = (),
    data: Mapping[str, ArrayLike] | None = None,
    activation_times: tuple[float, float] | None = None,
) -> "MotionProgram":
    """A program of the motion of a body and of its muscles; `MotionProgram.solve` finds the optimum.

    Args:
        body: `ms.symbolic.skeleton(subject, loads=...)`.
        time: (T,) [s].
        places: of P markers, as in `Skeleton.markers`.
        measured: (T, P, 3) their positions [m]; NaN where a marker is hidden.
        loads: name of a body of `body.loads` -> (T, 6) force [N] and moment about the origin of the laboratory [N m].
        muscles: `ms.symbolic.muscle_chain` of the same subject; without it joints have torques.
        cost: effort of the activations; their squares unless given.
        costs, constraints: further expressions of a frame; constraints with their lower and upper bounds.
        data: name -> (T,) or (T, k) numbers that costs and constraints use, such as EMG.
        activation_times: shortest times [s] for an activation to rise from 0 to 1 and to fall from 1 to 0, as rows.

    Raises:
        InputError: arrays that do not fit, unknown bodies, muscles that cross a coordinate that the body lacks.

    Examples:
        >>> subject = ms.dynamics.human_model()
        >>> body = ms.symbolic.skeleton(subject)
        >>> places = {"asis_r": ("pelvis", (0.1, -0.12, 1.0))}
        >>> program = ms.symbolic.motion_program(body, [0.0, 0.01], places, np.zeros((2, 1, 3)))
        >>> len(program.at_rest)
        38
    """
    check_type(body, Skeleton, "body", "ms.symbolic.skeleton(subject)")
    chains = (muscles,) if isinstance(muscles, MuscleChain) else tuple(muscles)
    time = check_array(np.asarray(time, dtype=float), "time", ("T",))
    frames = len(time)
    if frames < 2 or not (np.diff(time) > 0.0).all():
        raise input_error(
            "bad_value",
            where="time",
            problem="the times do not increase",
            expected="two or more rising times",
        )
    targets = np.asarray(measured, dtype=float)
    if targets.shape != (frames, len(places), 3):
        raise input_error(
            "bad_value",
            where="measured",
            problem=f"its shape is {targets.shape}",
            expected=f"({frames}, {len(places)}, 3): frames, markers, x y z",
        )
    wrenches = _wrenches(body, loads or {}, frames)
    numbers = {name: _numbers(name, value, frames) for name, value in (data or {}).items()}
    for chain in chains:
        if unknown := [name for name in chain.dofs if name not in body.dofs]:
            raise input_error(
                "bad_value",
                where="muscles",
                problem=f"the body has no {few(unknown)}",
                expected=f"coordinates of the body: {few(body.dofs)}",
            )
        if chain.factors:
            raise input_error(
                "unsupported",
                where="muscles",
                problem="the chain has factors as further arguments",
                expected="muscle_chain(..., factors=())",
            )
    position = body.markers(places)
    frame = _frame(body, chains, position, cost, costs, constraints, numbers)
    return MotionProgram(
        body=body,
        time=time,
        muscles=tuple(name for chain in chains for name in chain.muscles),
        moved=frame.moved,
        targets=targets,
        _position=position,
        _frame=frame,
        _numbers=np.concatenate([wrenches, *numbers.values()], axis=1),
        _chains=chains,
        _activation_times=activation_times,
    )


def _wrenches(body: Skeleton, loads: Mapping[str, ArrayLike], frames: int) -> Array:
    """The loads in the order of the body, (T, 6 L); zero where none is given."""
    if unknown := [name for name in loads if name not in body.loads]:
        raise input_error(
            "bad_value",
            where="loads",
            problem=f"no load acts on {few(unknown)}",
            expected=f"loads of the skeleton: {few(body.loads) or 'none'}",
            remedy="name these bodies in skeleton(loads=...)",
        )
    parts = [
        check_array(np.asarray(loads.get(name, np.zeros((frames, 6))), dtype=float), name, (frames, 6))
        for name in body.loads
    ]
    return np.concatenate([np.zeros((frames, 0)), *parts], axis=1)


def _numbers(name: str, value: ArrayLike, frames: int) -> Array:
    """Numbers of every frame, (T, k)."""
    array = np.asarray(value, dtype=float)
    array = array[:, None] if array.ndim == 1 else array
    return check_array(array, f"data[{name!r}]", (frames, "k"))


@dataclass(frozen=True, eq=False)
class _Frame:
    """Functions of one frame: of unknowns y and numbers p, with exact derivatives.

    parts: places of the unknowns c, cd, cdd, a, s, r, u. motion_rows: number of the equations of motion, before own
    constraints. lower, upper: of all rows. results(y, p): moment, reserve, residual, force, markers.
    """

    moved: tuple[str, ...]
    parts: Mapping[str, Indices]
    lower: Array
    upper: Array
    motion_rows: int
    value: Any
    gradient: Any
    jacobian: Any
    hessian: Any
    jacobian_places: tuple[Indices, Indices]
    hessian_places: tuple[Indices, Indices]
    results: Any

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return sum(len(part) for part in self.parts.values())


_WEIGHTS = ("marker", "reserve", "residual_force", "residual_moment", "torque", "effort")
"""MotionWeights that are numbers of a frame, in their order."""


def _frame(
    body: Skeleton,
    chains: Sequence[MuscleChain],
    position: Any,
    cost: FrameExpression | None,
    costs: Sequence[FrameExpression],
    constraints: Sequence[tuple[FrameExpression, float, float]],
    numbers: Mapping[str, Array],
) -> _Frame:
    """Build cost and rows of one frame in symbols, with exact derivatives."""
    dofs, n = body.dofs, len(body.dofs)
    moved = tuple(dict.fromkeys(name for chain in chains for name in chain.dofs))
    root = [dofs.index(name) for name in body.root]
    muscular = [dofs.index(name) for name in moved]
    others = [k for k, name in enumerate(dofs) if name not in moved and k not in root]
    muscles = tuple(name for chain in chains for name in chain.muscles)
    # expressions of scalars where every muscle has one, else of matrices
    kind: Any = ca.SX if all(chain.capacity is not None and not chain.iterated for chain in chains) else ca.MX
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
    weights = kind.sym("weights", len(_WEIGHTS))
    weight = dict(zip(_WEIGHTS, ca.vertsplit(weights), strict=True))
    p = ca.vertcat(loads, *own.values(), target, seen, resting, rest, weights)

    tau, marks = body.inverse_dynamics(c, cd, cdd, loads), ca.vec(position(c))
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
    motion_rows = ca.vertcat(moment + s - tau[muscular], r - tau[root], u - tau[others]) / MOMENT
    symbols = FrameSymbols(dofs, muscles, c, cd, cdd, tau, a, force, s, r, own)
    bounded = [(ca.vec(expression(symbols)), low, high) for expression, low, high in constraints]
    rows = ca.vertcat(motion_rows, *(value for value, _, _ in bounded))
    met = np.zeros(motion_rows.numel())
    lower, upper = (
        np.concatenate([met, *(np.full(limits[0].numel(), limits[side]) for limits in bounded)])
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
    effort = ca.sumsqr(a) if cost is None else cost(symbols)
    value = 0.5 * misfit + weight["effort"] * effort + sum(each(symbols) for each in costs)

    dual, factor = kind.sym("dual", rows.numel()), kind.sym("factor")
    jacobian = ca.jacobian(rows, y)
    hessian = ca.tril(ca.hessian(factor * value + ca.dot(dual, rows), y)[0])
    results = [tau, s, r, force, marks]
    return _Frame(
        moved=moved,
        parts=parts,
        lower=lower,
        upper=upper,
        motion_rows=motion_rows.numel(),
        value=ca.Function("value", [y, p], [value, rows]),
        gradient=ca.Function("gradient", [y, p], [ca.densify(ca.gradient(value, y))]),
        jacobian=ca.Function("jacobian", [y, p], [_nonzeros(jacobian)]),
        hessian=ca.Function("hessian", [y, p, factor, dual], [_nonzeros(hessian)]),
        jacobian_places=_places(jacobian),
        hessian_places=_places(hessian),
        results=ca.Function("results", [y, p], list(map(ca.densify, results))),
    )


def _nonzeros(matrix: Any) -> Any:
    return matrix.nz[:] if matrix.nnz() else type(matrix)(0, 1)


def _places(matrix: Any) -> tuple[Indices, Indices]:
    rows, columns = matrix.sparsity().get_triplet()
    return np.array(rows, dtype=int), np.array(columns, dtype=int)


@dataclass(frozen=True, eq=False)
class MotionProgram:
    """A program of T frames, which `motion_program` makes.

    muscles, moved: names of the muscles, and of the coordinates that they move. targets (T, P, 3): measured markers
    [m], NaN where hidden.
    """

    body: Skeleton
    time: Array
    muscles: tuple[str, ...]
    moved: tuple[str, ...]
    targets: Array
    _position: Any = field(repr=False)
    _frame: _Frame = field(repr=False)
    _numbers: Array = field(repr=False)
    _chains: tuple[MuscleChain, ...] = field(repr=False)
    _activation_times: tuple[float, float] | None = field(repr=False)

    @cached_property
    def at_rest(self) -> tuple[str, ...]:
        """Coordinates that no measured marker moves: they stay near where they start."""
        seen = np.isfinite(self.targets).all(axis=2).any(axis=0)
        some = np.random.default_rng(1).uniform(0.1, 0.4, len(self.body.dofs))
        moves = np.array(self._slopes(some)).reshape(-1, 3, len(some))[seen]
        still = np.abs(moves).max(axis=(0, 1), initial=0.0) < STILL
        return tuple(np.array(self.body.dofs)[still].tolist())

    @cached_property
    def _slopes(self) -> Any:
        """Function of c: derivatives of the markers (3 P, n), x y z of one marker after the other."""
        c = ca.MX.sym("c", len(self.body.dofs))
        return ca.Function("slopes", [c], [ca.jacobian(ca.vec(self._position(c)), c)])

    def nearest_poses(self) -> Array:
        """Coordinates (T, n) whose markers are nearest to the measured ones, frame by frame: the start of the program.

        The first frame is sought from several turns of the root, every other one from the frame before.
        """
        dofs = self.body.dofs
        found = np.zeros((len(self.time), len(dofs)))
        shifts = [dofs.index(name) for name in self.body.shifts]
        turns = [dofs.index(name) for name in self.body.root if name not in self.body.shifts]
        starts = [np.zeros(len(dofs))]
        for turn in turns:
            for angle in (0.5 * np.pi, np.pi, -0.5 * np.pi):
                starts.append(np.zeros(len(dofs)))
                starts[-1][turn] = angle
        if len(shifts) == 3:
            center = np.nanmean(self.targets[0], axis=0)
            for start in starts:
                start[shifts] = center - np.array(self._position(start)).mean(axis=1)
        poses = [self._nearest(start, self.targets[0]) for start in starts]
        least = min(miss for _, miss in poses)
        found[0] = next(pose for pose, miss in poses if miss <= 1.01 * least + 1e-12)
        for k in range(1, len(found)):
            found[k] = self._nearest(found[k - 1], self.targets[k])[0]
        return found

    def _nearest(self, start: Array, target: Array) -> tuple[Array, float]:
        """The pose nearest to the markers of a frame, and the sum of squared distances [m2]: damped Gauss-Newton."""
        seen = np.isfinite(target).ravel()
        resting = np.array([name in self.at_rest for name in self.body.dofs]) * 1e-3 + 1e-6

        def missed(pose: Array) -> Array:
            return (np.array(self._position(pose)).T.ravel() - target.ravel())[seen]

        pose, miss, damping = start.copy(), missed(start), 1e-3
        for _ in range(60):
            slope = np.array(self._slopes(pose))[seen]
            normal = slope.T @ slope + np.diag(resting)
            step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), slope.T @ miss)
            tried = missed(pose - step)
            if tried @ tried <= miss @ miss:
                pose, miss, damping = pose - step, tried, 0.2 * damping
                if np.abs(step).max() < 1e-8:
                    break
            else:
                damping *= 8.0
                if damping > 1e8:
                    break
        return pose, float(miss @ miss)

    def solve(
        self,
        weights: MotionWeights = MotionWeights(),
        start: "ProgramMotion | ArrayLike | None" = None,
        *,
        without: ArrayLike | None = None,
        iterations: int = 200,
        tolerance: float = 1e-6,
    ) -> "ProgramMotion":
        """Find the optimum by Ipopt.

        With muscles the program of torques is solved first, and its moments are shared: both are the start.

        Args:
            weights: standard deviations.
            start: coordinates (T, n), or a motion of the same program; the nearest poses unless given.
            without: (T, P) markers that are left out, as if they were hidden.
            iterations: at most.
            tolerance: of Ipopt.

        Raises:
            InputError: weights that are not positive, arrays of another shape.
        """
        check_type(weights, MotionWeights, "weights", "ms.symbolic.MotionWeights(...)")
        for name, value in vars(weights).items():
            if name == "effort":
                check_number(value, "weights.effort", "a number from 0", least=0.0)
            else:
                check_number(value, f"weights.{name}", "a positive number", above=0.0)
        targets = self.targets
        if without is not None:
            left_out = check_array(np.asarray(without, dtype=bool), "without", self.targets.shape[:2])
            targets = np.where(left_out[..., None], np.nan, targets)
        unknowns = (
            start._unknowns if isinstance(start, ProgramMotion) else self._start(start, weights, targets)
        )
        sums = _Sums(self, weights, targets, unknowns[:, self._frame.parts["c"]])
        return sums.minimize(unknowns, iterations, tolerance)

    def _start(self, start: ArrayLike | None, weights: MotionWeights, targets: Array) -> Array:
        """Unknowns (T, k) of poses: their splines, shared moments, and the forces that the motion then needs."""
        frame, shape = self._frame, (len(self.time), len(self.body.dofs))
        unknowns, parts = np.zeros((len(self.time), frame.size)), frame.parts
        if self.muscles:
            torques = self._torques.solve(weights, start)
            motion = torques.coordinates, torques.rates, torques.accelerations
            unknowns[:, parts["a"]] = self._shared(torques)
        else:
            poses = replace(self, targets=targets).nearest_poses() if start is None else np.asarray(start)
            spline = _smooth(self.time, check_array(poses, "start", shape))
            motion = spline(self.time), spline(self.time, 1), spline(self.time, 2)
        for name, values, unit in zip(("c", "cd", "cdd"), motion, (1.0, RATE, ACCELERATION), strict=True):
            unknowns[:, parts[name]] = values / unit
        sums = _Sums(self, weights, targets, unknowns[:, parts["c"]])
        rows = sums.motion_rows(unknowns)  # of s, r and u, which are zero
        edges = np.cumsum([len(parts["s"]), len(parts["r"])])
        for name, values in zip("sru", np.split(rows, edges, axis=1), strict=True):
            unknowns[:, parts[name]] = -values
        return unknowns

    @cached_property
    def _torques(self) -> "MotionProgram":
        """The program without muscles, own costs and own constraints."""
        frame = _frame(self.body, (), self._position, None, (), (), {})
        numbers = self._numbers[:, : 6 * len(self.body.loads)]
        return replace(
            self, muscles=(), moved=(), _frame=frame, _numbers=numbers, _chains=(), _activation_times=None
        )

    def _shared(self, motion: "ProgramMotion") -> Array:
        """Activations (T, k) that share the moments of a motion: the start, with rigid tendons."""
        if any(chain.capacity is None for chain in self._chains):
            return np.full((len(self.time), len(self.muscles)), 0.1)
        dofs, frames = self.body.dofs, len(self.time)
        arm = np.zeros((frames, len(self.moved), len(self.muscles)))
        capacity, passive, first = [], [], 0
        for chain in self._chains:
            some = [dofs.index(name) for name in chain.dofs]
            q, qd = motion.coordinates[:, some].T, motion.rates[:, some].T
            own = slice(first, first + len(chain.muscles))
            arms = np.array(chain.moment_arm.map(frames)(q)).reshape(len(some), frames, -1)
            arm[:, [self.moved.index(name) for name in chain.dofs], own] = arms.transpose(1, 0, 2)
            capacity.append(np.array(chain.capacity.map(frames)(q, qd)).T)
            passive.append(np.array(chain.passive.map(frames)(q, qd)).T)
            first = own.stop
        needed = motion.moment[:, [dofs.index(name) for name in self.moved]]
        strength = np.concatenate([chain.muscle_parameters.max_isometric_force for chain in self._chains])
        problem = Problem(
            arm, needed - np.einsum("tmn,tn->tm", arm, np.hstack(passive)), np.hstack(capacity), strength
        )
        shared = solve(problem, "activation_power", on_infeasible="reserve")
        return np.clip(np.nan_to_num(shared.activation, nan=0.1), 0.01, 0.99)


def _smooth(time: Array, poses: Array) -> BSpline:
    """Splines of poses (T, n), as smooth as generalized cross-validation chooses: noisy ones need huge forces."""
    if len(time) < FEWEST:
        return make_interp_spline(time, poses, k=min(3, len(time) - 1))
    return make_smoothing_spline(time, poses)


FEWEST = 5
"""Frames that a smoothing spline needs."""
FREE = 2e19
"""A bound that Ipopt takes for none."""
STILL = 1e-9
"""Movement of a marker by a coordinate that counts as none [m/rad]."""


class _Sums:
    """Cost, rows and derivatives of all frames, under the names that cyipopt calls."""

    def __init__(self, program: MotionProgram, weights: MotionWeights, targets: Array, rest: Array) -> None:
        frame, time = program._frame, program.time
        self.program, self.frame, self.frames = program, frame, len(time)
        self.mapped = {
            name: getattr(frame, name).map(self.frames)
            for name in ("value", "gradient", "jacobian", "hessian")
        }
        seen = np.isfinite(targets)
        resting = np.array([name in program.at_rest for name in program.body.dofs], dtype=float)
        self.numbers = np.hstack(
            [
                program._numbers,
                np.where(seen, targets, 0.0).reshape(self.frames, -1),
                seen.reshape(self.frames, -1),
                np.broadcast_to(resting, rest.shape),
                rest,
                np.broadcast_to([getattr(weights, name) for name in _WEIGHTS], (self.frames, len(_WEIGHTS))),
            ]
        ).T
        self.step = np.diff(time)
        self.linear, linear_lower, linear_upper, self.joining = self._linear_rows()
        self.lower = np.concatenate([np.tile(frame.lower, self.frames), linear_lower])
        self.upper = np.concatenate([np.tile(frame.upper, self.frames), linear_upper])
        self.quadratic = self._jerk(weights.jerk)
        self.iterations = 0
        below, linear = sp.tril(self.quadratic).tocoo(), self.linear.tocoo()
        self.jacobian_places = self._places(
            frame.jacobian_places, len(frame.lower), (linear.row + self.frames * len(frame.lower), linear.col)
        )
        self.hessian_places = self._places(frame.hessian_places, frame.size, (below.row, below.col))
        self.below, self.linear_values = below.data, linear.data

    def _places(
        self, own: tuple[Indices, Indices], rows: int, further: tuple[Indices, Indices]
    ) -> tuple[Indices, Indices]:
        """Rows and columns of the elements of all frames, then of further ones."""
        frame = np.arange(self.frames)[:, None]
        row, column = own[0] + rows * frame, own[1] + self.frame.size * frame
        return np.concatenate([row.ravel(), further[0]]), np.concatenate([column.ravel(), further[1]])

    def _linear_rows(self) -> tuple[Any, Array, Array, int]:
        """The rows that join frames, then limits of the rates of activations; their bounds; how many join frames."""
        size, parts, h = self.frame.size, self.frame.parts, self.step[:, None]
        n, intervals = len(parts["c"]), len(self.step)
        entries: list[tuple[Indices, Indices, Array]] = []

        def add(row: Indices, part: str, after: int, value: Any) -> None:
            columns = parts[part][None, :] + size * (np.arange(intervals)[:, None] + after)
            entries.append((row, columns, np.broadcast_to(value, columns.shape)))

        position = np.arange(intervals)[:, None] * 2 * n + np.arange(n)
        for part, after, value in (
            ("c", 1, 1.0),
            ("c", 0, -1.0),
            ("cd", 0, -h * RATE),
            ("cdd", 0, -(h**2) / 3.0 * ACCELERATION),
            ("cdd", 1, -(h**2) / 6.0 * ACCELERATION),
        ):
            add(position, part, after, value)
        for part, after, value in (
            ("cd", 1, 1.0),
            ("cd", 0, -1.0),
            ("cdd", 0, -h / 2.0 * ACCELERATION / RATE),
            ("cdd", 1, -h / 2.0 * ACCELERATION / RATE),
        ):
            add(position + n, part, after, value)
        joining, bounds = 2 * n * intervals, np.zeros((2, 2 * n * intervals))
        if (times := self.program._activation_times) is not None and len(parts["a"]):
            k = len(parts["a"])
            row = joining + np.arange(intervals)[:, None] * k + np.arange(k)
            add(row, "a", 1, 1.0)
            add(row, "a", 0, -1.0)
            limits = [np.repeat(-self.step / times[1], k), np.repeat(self.step / times[0], k)]
            bounds = np.hstack([bounds, limits])
        rows, columns, values = (np.concatenate([each[i].ravel() for each in entries]) for i in range(3))
        shape = bounds.shape[1], self.frames * size
        return sp.csr_matrix((values, (rows, columns)), shape), bounds[0], bounds[1], joining

    def _jerk(self, deviation: float) -> Any:
        """The matrix Q of the jerk: x^T Q x / 2 is the integral of its square, over deviation^2 and its span."""
        size, columns, intervals = self.frame.size, self.frame.parts["cdd"], len(self.step)
        weight = ACCELERATION / (deviation * np.sqrt(JERK_SPAN * self.step))
        row = np.arange(intervals * len(columns))
        later = (columns + size * np.arange(1, intervals + 1)[:, None]).ravel()
        value = np.repeat(weight, len(columns))
        difference = sp.csr_matrix(
            (np.concatenate([value, -value]), (np.tile(row, 2), np.concatenate([later, later - size]))),
            (len(row), self.frames * size),
        )
        return (difference.T @ difference).tocsr()

    def _by_frame(self, x: Array) -> Array:
        return x.reshape(self.frames, -1).T

    def motion_rows(self, unknowns: Array) -> Array:
        """Values of the equations of motion (T, m), in their unit."""
        rows = np.array(self.mapped["value"](unknowns.T, self.numbers)[1]).T
        return rows[:, : self.frame.motion_rows]

    def objective(self, x: Array) -> float:
        value = self.mapped["value"](self._by_frame(x), self.numbers)[0]
        return float(np.array(value).sum() + 0.5 * x @ (self.quadratic @ x))

    def gradient(self, x: Array) -> Array:
        return (
            np.array(self.mapped["gradient"](self._by_frame(x), self.numbers)).T.ravel() + self.quadratic @ x
        )

    def constraints(self, x: Array) -> Array:
        rows = self.mapped["value"](self._by_frame(x), self.numbers)[1]
        return np.concatenate([np.array(rows).T.ravel(), self.linear @ x])

    def jacobian(self, x: Array) -> Array:
        own = np.array(self.mapped["jacobian"](self._by_frame(x), self.numbers)).T.ravel()
        return np.concatenate([own, self.linear_values])

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        return self.jacobian_places

    def hessian(self, x: Array, multiplier: Array, factor: float) -> Array:
        rows = len(self.frame.lower)
        own = multiplier[: self.frames * rows].reshape(self.frames, rows).T
        factors = np.full((1, self.frames), factor)
        values = np.array(self.mapped["hessian"](self._by_frame(x), self.numbers, factors, own)).T.ravel()
        return np.concatenate([values, factor * self.below])

    def hessianstructure(self) -> tuple[Indices, Indices]:
        return self.hessian_places

    def intermediate(self, *report: Any) -> bool:
        self.iterations = int(report[1])
        return True

    def minimize(self, unknowns: Array, iterations: int, tolerance: float) -> "ProgramMotion":
        """Call Ipopt, and compute the motion and its certificate from the optimum."""
        try:
            import cyipopt
        except ImportError as error:
            raise input_error(
                "missing_package",
                problem="a motion program needs the package cyipopt, which is not installed",
                remedy="pip install cyipopt-wheels, or conda install -c conda-forge cyipopt",
            ) from error

        bounds = np.empty((2, *unknowns.shape))
        bounds[0], bounds[1] = -FREE, FREE
        bounds[:, :, self.frame.parts["a"]] = np.array([0.0, 1.0])[:, None, None]
        lower, upper = bounds.reshape(2, -1)
        with CASADI:
            ipopt = cyipopt.Problem(
                unknowns.size, len(self.lower), self, lower, upper, self.lower, self.upper
            )
            options = {"print_level": 0, "sb": "yes", "mu_strategy": "adaptive"}
            for name, value in {**options, "tol": tolerance, "max_iter": iterations}.items():
                ipopt.add_option(name, value)
            x, report = ipopt.solve(unknowns.ravel())
            return self._motion(np.asarray(x), report, lower, upper)

    def _motion(self, x: Array, report: Mapping[str, Any], lower: Array, upper: Array) -> "ProgramMotion":
        program, parts = self.program, self.frame.parts
        y = x.reshape(self.frames, -1)
        tau, reserve, residual, force, marks = (
            np.array(value).T for value in self.frame.results.map(self.frames)(y.T, self.numbers)
        )
        markers = marks.reshape(program.targets.shape)
        message = bytes(report["status_msg"]).decode(errors="replace").split("(")[0].strip()
        return ProgramMotion(
            time=program.time,
            dofs=program.body.dofs,
            muscles=program.muscles,
            coordinates=y[:, parts["c"]],
            rates=RATE * y[:, parts["cd"]],
            accelerations=ACCELERATION * y[:, parts["cdd"]],
            moment=tau,
            activation=y[:, parts["a"]],
            force=force,
            reserve=reserve,
            residual=residual,
            markers=markers,
            cost=self.objective(x),
            converged=report["status"] in (0, 1),
            iterations=self.iterations,
            message=message,
            certificate=self._certificate(x, report, lower, upper),
            _unknowns=y,
        )

    def _certificate(
        self, x: Array, report: Mapping[str, Any], lower: Array, upper: Array
    ) -> MotionCertificate:
        """Optimality from the multipliers of Ipopt and the functions of the program, and errors between frames."""
        rows, dual, below, above = (
            self.constraints(x),
            *(report[f"mult_{name}"] for name in ("g", "x_L", "x_U")),
        )
        jacobian = sp.csr_matrix((self.jacobian(x), self.jacobian_places), (len(rows), len(x)))
        slope = self.gradient(x) + jacobian.T @ dual - below + above
        bounded = upper < FREE
        products = below[bounded] * (x - lower)[bounded], above[bounded] * (upper - x)[bounded]
        beyond = np.maximum(self.lower - rows, rows - self.upper)
        own = len(self.frame.lower)
        by_frame = beyond[: self.frames * own].reshape(self.frames, own)
        linear = beyond[self.frames * own :]
        further = np.concatenate(
            [
                by_frame[:, self.frame.motion_rows :].ravel(),
                linear[self.joining :],
                (lower - x)[bounded],
                (x - upper)[bounded],
                [0.0],
            ]
        )
        between, worst = self._between(x.reshape(self.frames, -1))
        return MotionCertificate(
            stationarity=float(np.abs(slope).max() / max(1.0, np.abs(dual).max())),
            complementarity=float(max(np.abs(each).max(initial=0.0) for each in products)),
            motion_equations=float(MOMENT * by_frame[:, : self.frame.motion_rows].max()),
            joining=float(linear[: self.joining].max()),
            bounds=float(further.max()),
            between_frames=between,
            worst=worst,
        )

    def _between(self, y: Array) -> tuple[float, str]:
        """Largest error of the equations of motion in the middle between two frames, and where it is."""
        parts, half = self.frame.parts, 0.5 * self.step[:, None]
        middle = 0.5 * (y[:-1] + y[1:])
        c, cd, cdd = (
            unit * y[:-1, parts[n]] for n, unit in (("c", 1.0), ("cd", RATE), ("cdd", ACCELERATION))
        )
        jerk = (ACCELERATION * y[1:, parts["cdd"]] - cdd) / (2.0 * half)
        middle[:, parts["c"]] = c + half * cd + half**2 / 2.0 * cdd + half**3 / 6.0 * jerk
        middle[:, parts["cd"]] = (cd + half * cdd + half**2 / 2.0 * jerk) / RATE
        numbers = 0.5 * (self.numbers[:, :-1] + self.numbers[:, 1:])
        rows = np.array(self.frame.value.map(len(middle))(middle.T, numbers)[1]).T
        errors = MOMENT * np.abs(rows[:, : self.frame.motion_rows])
        at, row = np.unravel_index(int(errors.argmax()), errors.shape)
        names = (*self.program.moved, *self.program.body.root)
        others = [name for name in self.program.body.dofs if name not in names]
        when = 0.5 * (self.program.time[at] + self.program.time[at + 1])
        return float(errors[at, row]), f"{(*names, *others)[row]} at {when:.3f} s"
