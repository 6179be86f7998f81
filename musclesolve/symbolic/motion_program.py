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

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline, make_smoothing_spline

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.checks import (
    check_array,
    check_increasing,
    check_integer,
    check_number,
    check_real_array,
    check_type,
)
from musclesolve._util.messages import as_text, few, with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.symbolic.motion_frames import (
    ACCELERATION,
    RATE,
    TRIPLES,
    FrameExpression,
    FrameFunctions,
    MotionWeights,
    frame_functions,
    numbered,
)
from musclesolve.symbolic.motion_sums import MotionCertificate, MotionSums, Optimum
from musclesolve.symbolic.muscle_chain import MuscleChain
from musclesolve.symbolic.skeleton import Skeleton

FEWEST = 5
"""Frames that a smoothing spline needs."""
STILL = 1e-9
"""Movement of a marker by a coordinate that counts as none [m/rad]."""
LONGEST_BODY = 10.0
"""Distance of two markers of a frame along an axis that no body has [m]: millimeters have thousands."""


@dataclass(frozen=True, eq=False)
class ProgramMotion:
    """The optimum of a motion program over T frames.

    coordinates, rates, accelerations (T, n); moment (T, n): generalized forces of the motion [N m, N];
    activation, force (T, k): of `muscles` [1, N]; reserve (T, m): of the coordinates with muscles [N m], as
    `MotionProgram.moved`; residual (T, r): of the coordinates of the root [N, N m]; markers (T, P, 3) [m].
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

    __repr__ = with_sizes


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
    chains = checked_chains(body, muscles)
    time = check_increasing(time, 2, where="time")
    # the search for nearest poses tries odd ones: without warnings of degrees
    frames, position = len(time), ca.Function(body.markers(places))
    shape = frames, len(places), 3
    targets = check_real_array(
        measured, "measured", f"positions {shape} [m]: frames, markers, x y z", shapes=(shape,)
    )
    _check_targets(targets)
    _check_meters(np.array(position(np.zeros(len(body.dofs)))).T[None], "places")
    wrenches = _wrenches(body, _named(loads, "loads", "(T, 6)"), frames)
    given = _named(data, "data", "(T,) or (T, k)")
    numbers = {name: _numbers(name, value, frames) for name, value in given.items()}
    if activation_times is not None:
        activation_times = checked_activation_times(activation_times)
    frame = frame_functions(
        body,
        chains,
        position,
        cost,
        numbered(costs, "costs", "a list of functions of a frame"),
        numbered(constraints, "constraints", TRIPLES),
        numbers,
    )
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


def checked_chains(body: Skeleton, muscles: MuscleChain | Sequence[MuscleChain]) -> tuple[MuscleChain, ...]:
    """The muscles of a body; refuse other bodies' muscles, factors, and muscles that pull twice."""
    expected = "muscles, from ms.symbolic.muscle_chain(...)"
    chains = (
        (muscles,)
        if isinstance(muscles, MuscleChain)
        else tuple(check_type(muscles, Sequence, "muscles", expected))
    )
    for chain in chains:
        check_type(chain, MuscleChain, "muscles", expected)
        if unknown := [name for name in chain.dofs if name not in body.dofs]:
            raise input_error(
                "bad_value",
                where="muscles",
                problem=f"the body has no {few(unknown)}",
                expected=f"coordinates of the body: {few(body.dofs)}",
                remedy="make skeleton and muscle_chain of the same subject or model",
            )
        if chain.factors:
            raise input_error(
                "unsupported",
                where="muscles",
                problem="the chain has factors as further arguments",
                expected="muscle_chain(..., factors=())",
                remedy="leave out factors=...",
            )
    names = [name for chain in chains for name in chain.muscles]
    if repeated := [name for name, count in Counter(names).items() if count > 1]:
        raise input_error(
            "duplicate_name",
            where="muscles",
            problem=f"{few(repeated)} would pull twice",
            expected="every muscle in one chain",
        )
    return chains


def checked_activation_times(value: object) -> tuple[float, float]:
    """The shortest times [s] for an activation to rise and to fall; refuse what is not two positive numbers."""
    name, expected = "activation_times", "two positive times [s]: of rise and of fall"
    rise, fall = check_real_array(value, name, expected, shapes=((2,),)).tolist()
    if not (0.0 < rise < np.inf and 0.0 < fall < np.inf):
        raise input_error(
            "bad_number",
            where=name,
            name=name,
            given=as_text(value),
            expected=expected,
            remedy=f"{name}=(0.03, 0.06), or the times of these muscles",
        )
    return rise, fall


def _named(value: object, name: str, numbers: str) -> Mapping[str, Any]:
    """A dictionary of numbers, empty unless given."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise input_error(
            "bad_type",
            where=name,
            problem=f"{name} is {as_text(value)}",
            expected=f"a dictionary: name -> numbers {numbers}",
            remedy=f"write {name}={{name: numbers}}",
        )
    return value


def _check_targets(targets: Array) -> None:
    """Refuse infinite positions (T, P, 3) of markers, and positions that are not in meters."""
    if np.isinf(targets).any():
        raise input_error(
            "bad_value",
            where="measured",
            problem="a position is infinite",
            expected="positions [m]; NaN where a marker is hidden",
        )
    _check_meters(targets, "measured")


def _check_meters(targets: Array, where: str) -> None:
    """Refuse markers (T, P, 3) of a frame that are farther apart than a body is long."""
    with np.errstate(invalid="ignore"):
        apart = (
            np.ptp(np.where(np.isnan(targets), targets[:, :1], targets), axis=1) if targets.size else targets
        )
    if (apart > LONGEST_BODY).any():
        raise input_error(
            "bad_units",
            where=where,
            problem=f"markers of one frame are {np.nanmax(apart):.4g} m apart",
            expected=f"positions in meters, at most {LONGEST_BODY:g} m apart",
            remedy="divide millimeters by 1000",
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
        check_array(loads.get(name, np.zeros((frames, 6))), f"loads[{name!r}]", (frames, 6), real=True)
        for name in body.loads
    ]
    return np.concatenate([np.zeros((frames, 0)), *parts], axis=1)


def _numbers(name: str, value: ArrayLike, frames: int) -> Array:
    """Numbers of every frame, (T, k)."""
    array = check_real_array(value, f"data[{name!r}]", f"numbers ({frames},) or ({frames}, k)")
    columns = array[:, None] if array.ndim == 1 else array
    columns = check_array(columns, f"data[{name!r}]", (frames, "k"), finite=False)
    for frame, entry in np.argwhere(~np.isfinite(columns))[:1].tolist():
        raise input_error(
            "not_finite",
            where=f"data[{name!r}]",
            problem=f"it is {columns[frame, entry]:g} in frame {frame}, column {entry}",
            expected="a finite number in every frame",
            remedy=f"numpy.nan_to_num({name}), and numpy.isfinite({name}) * 1.0 as further data, a factor of its terms",
        )
    return columns


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
    _frame: FrameFunctions = field(repr=False)
    _numbers: Array = field(repr=False)
    _chains: tuple[MuscleChain, ...] = field(repr=False)
    _activation_times: tuple[float, float] | None = field(repr=False)

    __repr__ = with_sizes

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

        The first frame with a marker is sought from several turns of the root, every later one from the frame before.
        Frames before the first marker have its pose; without any marker all coordinates are zero.
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
        seen: Mask = np.asarray(np.isfinite(self.targets).all(axis=2))
        if not seen.any():
            return found
        first = int(seen.any(axis=1).argmax())
        if len(shifts) == 3:
            center = self.targets[first, seen[first]].mean(axis=0)
            for start in starts:
                start[shifts] = center - np.array(self._position(start)).T[seen[first]].mean(axis=0)
        poses = [self._nearest(start, self.targets[first]) for start in starts]
        least = min(miss for _, miss in poses)
        found[: first + 1] = next(pose for pose, miss in poses if miss <= 1.01 * least + 1e-12)
        for k in range(first + 1, len(found)):
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
        weights: MotionWeights | None = None,
        start: "ProgramMotion | ArrayLike | None" = None,
        *,
        without: ArrayLike | None = None,
        iterations: int = 200,
        tolerance: float = 1e-6,
    ) -> "ProgramMotion":
        """Find the optimum by Ipopt.

        With muscles the program of torques is solved first, and its moments are shared: both are the start.

        Args:
            weights: standard deviations; `MotionWeights()` unless given.
            start: coordinates (T, n), or a motion of the same program; the nearest poses unless given.
            without: (T, P) markers that are left out, as if they were hidden.
            iterations: at most.
            tolerance: of Ipopt.

        Raises:
            InputError: weights that are not positive, arrays of another shape.
        """
        weights = MotionWeights() if weights is None else weights
        check_type(weights, MotionWeights, "weights", "ms.symbolic.MotionWeights(...)")
        for name, value in vars(weights).items():
            if name == "effort":
                check_number(value, "weights.effort", "a number from 0", least=0.0)
            else:
                check_number(value, f"weights.{name}", "a positive number", above=0.0)
        check_integer(iterations, "iterations", 0)
        check_number(tolerance, "tolerance", "a positive number", above=0.0)
        program = self if without is None else self._without(without)
        if isinstance(start, ProgramMotion):
            unknowns = start._unknowns
            if unknowns.shape != (len(self.time), self._frame.size):
                raise input_error(
                    "bad_value",
                    where="start",
                    problem="the motion is of a program with other frames or unknowns",
                    expected="a motion of this program, or coordinates (T, n)",
                    remedy="give its coordinates: start=motion.coordinates",
                )
        else:
            unknowns = program._start(start, weights)
        sums = program._sums(weights, unknowns[:, self._frame.parts["c"]])
        return program._motion(sums, sums.minimize(unknowns, iterations, tolerance))

    def _without(self, without: ArrayLike) -> "MotionProgram":
        """The program without some of the markers (T, P), whose functions are the same."""
        left_out = np.asarray(without)
        shape = self.targets.shape[:2]
        if left_out.dtype != bool or left_out.shape != shape:
            raise input_error(
                "bad_value",
                where="without",
                problem=f"its shape is {left_out.shape}, its type {left_out.dtype}",
                expected=f"true and false {shape}: frames, markers",
            )
        targets = np.where(left_out[..., None], np.nan, self.targets)
        program = replace(self, targets=targets)
        if self.muscles:  # not built again
            vars(program)["_torques"] = replace(self._torques, targets=targets)
        return program

    def _sums(self, weights: MotionWeights, rest: Array) -> MotionSums:
        at_rest = np.array([name in self.at_rest for name in self.body.dofs])
        times = self._activation_times
        return MotionSums(self._frame, self.time, self._numbers, at_rest, weights, self.targets, rest, times)

    def _motion(self, sums: MotionSums, optimum: Optimum) -> "ProgramMotion":
        moment, reserve, residual, force, markers = sums.results(optimum.unknowns)
        parts = self._frame.parts
        return ProgramMotion(
            time=self.time,
            dofs=self.body.dofs,
            muscles=self.muscles,
            coordinates=optimum.unknowns[:, parts["c"]],
            rates=RATE * optimum.unknowns[:, parts["cd"]],
            accelerations=ACCELERATION * optimum.unknowns[:, parts["cdd"]],
            moment=moment,
            activation=optimum.unknowns[:, parts["a"]],
            force=force,
            reserve=reserve,
            residual=residual,
            markers=markers.reshape(self.targets.shape),
            cost=optimum.cost,
            converged=optimum.converged,
            iterations=optimum.iterations,
            message=optimum.message,
            certificate=optimum.certificate,
            _unknowns=optimum.unknowns,
        )

    def _start(self, start: ArrayLike | None, weights: MotionWeights) -> Array:
        """Unknowns (T, k) of poses: their splines, shared moments, and the forces that the motion then needs."""
        frame, shape = self._frame, (len(self.time), len(self.body.dofs))
        unknowns, parts = np.zeros((len(self.time), frame.size)), frame.parts
        if self.muscles:
            torques = self._torques.solve(weights, start)
            motion = torques.coordinates, torques.rates, torques.accelerations
            unknowns[:, parts["a"]] = self._shared(torques)
        else:
            poses = self.nearest_poses() if start is None else check_array(start, "start", shape, real=True)
            if start is not None:
                self.body.pose(poses.T)  # warns of degrees
            spline = _smooth(self.time, poses)
            motion = spline(self.time), spline(self.time, 1), spline(self.time, 2)
        for name, values, unit in zip(("c", "cd", "cdd"), motion, (1.0, RATE, ACCELERATION), strict=True):
            unknowns[:, parts[name]] = values / unit
        sums = self._sums(weights, unknowns[:, parts["c"]])
        rows = sums.motion_rows(unknowns)  # of s, r and u, which are zero
        edges = np.cumsum([len(parts["s"]), len(parts["r"])])
        for name, values in zip("sru", np.split(rows, edges, axis=1), strict=True):
            unknowns[:, parts[name]] = -values
        return unknowns

    @cached_property
    def _torques(self) -> "MotionProgram":
        """The program without muscles, own costs and own constraints."""
        frame = frame_functions(self.body, (), self._position, None, {}, {}, {})
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
