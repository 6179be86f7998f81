"""The force-sharing problem of a whole motion as arrays: its cost, its tendons through time and their balance.

With an elastic tendon the force capacity of a muscle depends on the solution. A cost (`MotionCost`) is a function of

    the active tendon force a * capacity   (force_squared, stress_cubed, soft_saturation, ...), or of
    the activation a itself                (activation_power, activation_volume, emg_tracking, ...),

The kind is detected by doubling the capacity of a problem: the first keeps its value at half the activation, the second
at the same activation. A sum of costs is separated into both kinds. A cost of neither kind (muscle power, which needs
the velocity of fibers; joint reactions) is refused.

The tendon coordinate through time (`TimeBasis`) is a cubic spline with knots at the frames, twice continuously
differentiable.

    z(t) = sum_j c_j B_j(t),     z_t = (Z c)_t,     dz/dt_t = (Y c)_t

with as many coefficients as frames: the third derivative is zero in the first and in the last interval. Each frame
depends on three coefficients. Rates of a smooth motion are exact to the fourth order of the time between frames; a
trapezoid rule would be exact to the second, and would allow rates to alternate from frame to frame. Here, alternating
values have nearly no rate in the frames: only their forces keep them small (docs/elastic_tendons.md).

The balance (`Equilibrium`) has tendon force and fiber force as functions of the tendon coordinate z and its rate y,
with derivatives. Over the maximum isometric force F0, a muscle in one frame has (muscles/elastic/elastic_muscles.py)

    tendon     f(z)
    capacity   g(z, y) = f_l(l / L0) f_v(v / v_max) cos(alpha)
    passive    p(z)    = F_p / F0 f_p(s) cos(alpha),      s = (l / L0 - 1 - e_0) / (e_1 - e_0)

and is in balance where f(z) = a g(z, y) + p(z) at the activation a.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import (
    check_array,
    check_increasing,
    check_real_array,
    check_type,
    one_or_several,
)
from musclesolve.errors import InputError, input_error
from musclesolve.muscles.elastic.elastic_muscles import LEAST_ALONG, Curved, ElasticMuscles
from musclesolve.sharing.arguments import check_smooth_cost
from musclesolve.sharing.cost.cost_base import Cost, WeightedSum, single_costs
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import SourceFrames, chosen_frames
from musclesolve.sharing.rate_limits import ActivationLimits, RateLimits
from musclesolve.trajectory import balance_kernel


class Capacity(NamedTuple):
    """The capacity g and its derivatives by z and y, (T, n) each."""

    value: Array
    z: Array
    y: Array
    zz: Array
    zy: Array
    yy: Array


@dataclass(frozen=True, eq=False)
class FiberBalance:
    """Muscles (T, n) in some states, all forces over F0.

    active: the force that the contractile element must bear along the tendon, f - p.
    """

    tendon: Curved
    passive: Curved
    capacity: Capacity

    @property
    def active(self) -> Curved:
        """The force f - p by z."""
        return Curved(*(whole - part for whole, part in zip(self.tendon, self.passive, strict=True)))

    def imbalance(self, activation: Array) -> Array:
        """The imbalance f(z) - a g(z, y) - p(z) of tendon and fiber at activations (T, n), (T, n)."""
        return self.tendon.value - activation * self.capacity.value - self.passive.value


@dataclass(frozen=True, eq=False)
class Equilibrium(FiberBalance):
    """Muscles in some states with the fibers, (T, n) each.

    fiber_length l [m], fiber_length_z dl/dz [m], fiber_velocity [m/s]; cosine of the pennation by z.
    """

    fiber_length: Array
    fiber_length_z: Array
    fiber_velocity: Array
    cosine: Curved

    @property
    def along_fibers(self) -> Curved:
        """The force (f - p) / cos(alpha) of the contractile element along the fibers, by z."""
        cosine, slope, curvature = self.cosine
        ratio = slope / cosine
        return _product(
            self.active, Curved(1.0 / cosine, -ratio / cosine, (2.0 * ratio**2 - curvature / cosine) / cosine)
        )


def equilibrium(muscles: ElasticMuscles, length: Array, velocity: Array, z: Array, y: Array) -> Equilibrium:
    """The muscles in states z, y [1/s] (T, n), for musculotendon lengths [m] and their rates [m/s], (T, n)."""
    curves = muscles.curves
    order = curves.active, curves.velocity, curves.passive, curves.tendon
    grids = np.array([(curve.grid.first, curve.grid.last, curve.grid.step, 0.0) for curve in order])
    columns = np.stack([curve.column for curve in order])
    states = [np.ascontiguousarray(array, dtype=np.float64) for array in (length, velocity, z, y)]
    out = np.empty((balance_kernel.FIELDS, *states[2].shape))
    cubics = [curve.cubics for curve in order]
    balance_kernel.BALANCE.load()(_quantities(muscles), columns, grids, *cubics, *states, out)
    return Equilibrium(
        tendon=Curved(*out[0:3]),
        passive=Curved(*out[3:6]),
        capacity=Capacity(*out[6:12]),
        fiber_length=out[12],
        fiber_length_z=out[13],
        fiber_velocity=out[14],
        cosine=Curved(*out[15:18]),
    )


def _quantities(muscles: ElasticMuscles) -> Array:
    """The numbers of each muscle that its balance needs, (n, 9), in the order of `balance_kernel.QUANTITIES`."""
    parameters, element = muscles.parameters, muscles.parameters.passive
    optimal = parameters.optimal_fiber_length
    numbers = (
        muscles.rest,
        muscles.stretch,
        LEAST_ALONG * optimal,
        muscles.thickness,
        optimal,
        parameters.max_shortening_velocity * optimal,
        1.0 + element.at_zero,
        element.at_one - element.at_zero,
        element.force / parameters.max_isometric_force,
    )
    return np.stack(np.broadcast_arrays(*numbers), axis=1)


def _product(one: Curved, other: Curved) -> Curved:
    return Curved(
        one.value * other.value,
        one.slope * other.value + one.value * other.slope,
        one.curvature * other.value + 2.0 * one.slope * other.slope + one.value * other.curvature,
    )


ROW = 3
"""Number of coefficients on which a frame depends."""


@dataclass(frozen=True, eq=False)
class TimeBasis:
    """The rows of Z and Y.

    first (T,): the first of the three coefficients of a frame; value, rate (T, 3): their factors in z_t and in dz/dt_t
    [1/s]; knots and ends (2, T): of the spline, whose first and last coefficient the others determine; empty without a
    spline.
    """

    first: Indices
    value: Array
    rate: Array
    knots: Array
    ends: Array

    @classmethod
    def from_times(cls, time: Array) -> Self:
        """The basis of frames at times (T,) [s], four or more."""
        from scipy.interpolate import BSpline

        count = len(time)
        # the frames, with three more knots on either side at the distance of the nearest two
        beyond = np.arange(1, 4)
        before = time[0] - beyond[::-1] * (time[1] - time[0])
        after = time[-1] + beyond * (time[-1] - time[-2])
        knots = np.concatenate([before, time, after])
        # a spline is the sum of four neighboring coefficients at most: every fourth is probed at once
        colors = np.arange(count + 2) % 4
        spline = BSpline(knots, np.eye(4)[colors], 3)
        third = spline.derivative(3)(0.5 * (time[[0, -2]] + time[[1, -1]]))
        before_first, after_last = third[0, colors[:4]], third[1, colors[-4:]]
        ends = np.zeros((2, count))
        ends[0, :ROW], ends[1, -ROW:] = -before_first[1:] / before_first[0], -after_last[:-1] / after_last[-1]
        first = np.clip(np.arange(count) - 1, 0, count - ROW)

        def rows(probed: Array) -> Array:
            """The factors (T, 3) of the three coefficients of each frame."""
            own = np.take_along_axis(probed, (np.arange(count)[:, None] + np.arange(ROW)) % 4, axis=1)
            found = own.copy()
            found[0] = np.append(own[0, 1:], 0.0) + own[0, 0] * ends[0, :ROW]
            found[-1] = np.append(0.0, own[-1, :-1]) + own[-1, -1] * ends[1, -ROW:]
            return found

        value, rate = rows(spline(time)), rows(spline.derivative()(time))
        return cls(first.astype(np.intp), value, rate, knots, ends)

    def values(self, coefficient: Array) -> Array:
        """The values Z c, (T, n), of coefficients (T, n)."""
        return self._times(self.value, coefficient)

    def rates(self, coefficient: Array) -> Array:
        """The rates Y c, (T, n) [1/s], of coefficients (T, n)."""
        return self._times(self.rate, coefficient)

    def gather(self, of_value: Array, of_rate: Array) -> Array:
        """The sum Z^T p + Y^T q, (T, n), of p and q (T, n)."""
        total = np.zeros_like(of_value)
        for k in range(ROW):
            part = self.value[:, k, None] * of_value + self.rate[:, k, None] * of_rate
            # frames but the first and the last begin one after the other
            total[k : k + len(part) - 2] += part[1:-1]
            total[k] += part[0]
            total[len(part) - ROW + k] += part[-1]
        return total

    def coefficients(self, value: Array) -> Array:
        """The coefficients c with Z c = value, both (T, n)."""
        from scipy.linalg import solve_banded

        rows, columns = self._entries
        band = np.zeros((2 * ROW - 1, len(rows)))
        band[ROW - 1 + rows - columns, columns] = self.value
        return np.asarray(solve_banded((ROW - 1, ROW - 1), band, value, check_finite=False))

    def by_values(self, of_value: Array, of_rate: Array) -> Array:
        """The slopes p + Z^-T Y^T q by the values z of slopes p by the values and q by the rates, all (T, n)."""
        from scipy.linalg import solve_banded

        rows, columns = self._entries
        band = np.zeros((2 * ROW - 1, len(rows)))
        band[ROW - 1 + columns - rows, rows] = self.value  # of Z^T
        by_rate = self.gather(np.zeros_like(of_rate), of_rate)
        return of_value + solve_banded((ROW - 1, ROW - 1), band, by_rate, check_finite=False)

    @property
    def _entries(self) -> tuple[Indices, Indices]:
        """The rows (T, 1) and columns (T, 3) of the entries of Z."""
        return np.arange(len(self.first))[:, None], self.first[:, None] + np.arange(ROW)

    def between(self, coefficient: Array, time: Array) -> tuple[Array, Array]:
        """The values z and rates dz/dt [1/s] at other times (k,) [s], (k, n) each."""
        from scipy.interpolate import BSpline

        first, last = self.ends @ coefficient
        spline = BSpline(self.knots, np.vstack([first, coefficient, last]), 3)
        return spline(time), spline.derivative()(time)

    def _times(self, row: Array, coefficient: Array) -> Array:
        total = row[:, :1] * coefficient[self.first]
        for k in range(1, ROW):
            total = total + row[:, k, None] * coefficient[self.first + k]
        return np.asarray(total)


FEWEST_FRAMES = 4  # of which a cubic spline through the frames has velocities
LONGEST_STEP = 0.05  # between frames [s]: in more time than this muscles activate and fall silent unseen
LARGEST_COORDINATE = 2.5
"""Largest tendon strain, as a multiple of the strain at one maximum isometric force, beyond the force of any muscle."""
OPPOSITE = -0.5  # correlation of velocities with changes of length below which their sign is wrong
_USUAL = RateLimits()


@dataclass(frozen=True, eq=False)
class MotionProblem:
    """Activations that produce the joint moments of a motion, with elastic tendons and activation dynamics.

    Minimize the integral of the cost over time subject to

        sum_i r_tki F_ti + s_tk = M_tk                     moments, in every frame
        F_T(z) = (a f_l(l) f_v(v) F0 + F_p f_p(l)) cos(alpha)    balance of tendon and fiber, in every frame
        v = dl/dt                                          (below)
        e_d a(t) <= a(t + h) <= 1 - e_a (1 - a(t))         activation dynamics (sharing/rate_limits.py)
        lower <= a <= upper

    with a reserve s at the cost 1/2 w s^2, only with a reserve weight w. Frames follow each other without gaps: each
    run of valid frames is a separate motion.

    Args:
        time: (T,) [s], increasing.
        moment_arm: (T, m, n) [m], positive when tension increases the coordinate.
        moment: (T, m) [N m], the net joint moments, which the tendon forces with their passive parts produce.
        musculotendon_length: (T, n) [m].
        musculotendon_velocity: (T, n) [m/s], positive where a muscle becomes longer.
        muscles: their parameters.
        dof: m names.
        lower, upper: bounds of the activation, broadcast to (T, n).
        limits: time constants of activation; None: activation may jump.
        reserve_weight: broadcast to (T, m) [cost per (N m)^2]; None: moments are met exactly.
        emg: (T, n) measured activations, NaN where not measured, for the cost of EMG tracking.
        source_frames: see `Problem`.

    Raises:
        InputError: shapes that do not fit, numbers that are not finite, too few frames, frames too far apart, or
            velocities opposite to the changes of length.
    """

    time: Array
    moment_arm: Array
    moment: Array
    musculotendon_length: Array
    musculotendon_velocity: Array
    muscles: ElasticMuscles
    dof: tuple[str, ...]
    lower: Array = 0.0  # type: ignore[assignment]
    upper: Array = 1.0  # type: ignore[assignment]
    limits: RateLimits | None = _USUAL
    reserve_weight: Array | None = None
    emg: Array | None = None
    source_frames: SourceFrames | None = None

    def __post_init__(self) -> None:
        check_type(self.muscles, ElasticMuscles, "muscles", "ElasticMuscles")
        if self.limits is not None:
            check_type(self.limits, RateLimits, "limits", "RateLimits, or None: activation may jump")
        time = check_increasing(self.time, where="time")
        if len(time) < FEWEST_FRAMES:
            count = len(time)
            raise input_error(
                "too_few_frames",
                where="time",
                problem=f"{count} frame{'' if count == 1 else 's'} in a row",
                expected=f"at least {FEWEST_FRAMES} frames without a gap: fiber velocities are made of them",
                remedy='use rigid tendons (tendon = "rigid") for single frames',
            )
        steps = np.diff(time)
        worst = int(steps.argmax())
        if steps[worst] > LONGEST_STEP:
            raise input_error(
                "uneven_sampling",
                where="time",
                problem=f"{1000.0 * steps[worst]:.4g} ms between the frames at {time[worst]:g} and "
                f"{time[worst + 1]:g} s",
                expected=f"at most {1000.0 * LONGEST_STEP:g} ms, in which activation can follow",
                remedy='resample the motion, or use rigid tendons (tendon = "rigid")',
            )
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "dof", tuple(map(str, one_or_several(self.dof))))
        frames, muscles, moments = len(time), len(self.muscles.names), len(self.dof)
        of_muscles, of_moments = (frames, muscles), (frames, moments)
        for name in ("lower", "upper", "emg", "reserve_weight"):
            if (array := getattr(self, name)) is not None:
                size = of_moments if name == "reserve_weight" else of_muscles
                object.__setattr__(self, name, _over_time(array, name, size))
        if self.reserve_weight is not None and (stiff := np.isposinf(self.reserve_weight).any(axis=0)).any():
            fault = f"the weight of {self.dof[int(stiff.argmax())]} is infinite"
            expected = "finite weights for all moments; None: all moments are met exactly"
            raise input_error("bad_number", where="reserve_weight", problem=fault, expected=expected)
        shapes: dict[str, tuple[int, ...]] = {
            "moment_arm": (frames, moments, muscles),
            "moment": of_moments,
            **dict.fromkeys(("musculotendon_length", "musculotendon_velocity", "lower", "upper"), of_muscles),
        }
        for name, shape in shapes.items():
            object.__setattr__(self, name, check_array(getattr(self, name), name, shape, real=True))
        # check that velocities are positive where muscles become longer: their correlation with dl/dt
        change = np.gradient(self.musculotendon_length, self.time, axis=0)
        same = float(np.vdot(change, self.musculotendon_velocity))
        if same < OPPOSITE * float(np.linalg.norm(change) * np.linalg.norm(self.musculotendon_velocity)):
            raise input_error(
                "bad_number",
                where="musculotendon_velocity",
                problem="the velocities have the opposite sign of the changes of musculotendon_length in time",
                expected="dl/dt [m/s], positive where a muscle becomes longer",
                remedy="change the sign of musculotendon_velocity",
            )

    @property
    def n_frames(self) -> int:
        """The number T of frames."""
        return len(self.time)

    @property
    def coordinate_range(self) -> tuple[Array, Array]:
        """Range of tendon coordinates (T, n), from zero force to more than the force of any muscle."""
        shape = self.musculotendon_length.shape
        return np.broadcast_to(self.muscles.start, shape), np.full(shape, LARGEST_COORDINATE)

    @cached_property
    def basis(self) -> TimeBasis:
        """The basis of the tendon coordinates in time."""
        return TimeBasis.from_times(self.time)

    @property
    def mean_step(self) -> float:
        """The mean time between frames [s]."""
        return float(np.diff(self.time).mean())

    @cached_property
    def activation_limits(self) -> ActivationLimits:
        """The limits of activation between neighboring frames."""
        return ActivationLimits.from_rate_limits(self.limits, self.time)

    def state(self, z: Array, y: Array) -> Equilibrium:
        """Muscles where the tendon coordinates are z and their rates y [1/s], (T, n)."""
        return equilibrium(self.muscles, self.musculotendon_length, self.musculotendon_velocity, z, y)

    @cached_property
    def lever(self) -> Array:
        """Moment of each muscle for one maximum isometric force, (T, m, n) [N m]."""
        return self.moment_arm * self.muscles.parameters.max_isometric_force

    @cached_property
    def compliance(self) -> Array:
        """One over the weight of a reserve in the integral, (T, m); zero without a reserve."""
        if self.reserve_weight is None:
            return np.zeros_like(self.moment)
        return 1.0 / (self.weight[:, None] * self.reserve_weight)

    @cached_property
    def weight(self) -> Array:
        """Weights (T,) of the frames in the integral over time by trapezoids, over the mean time between frames."""
        steps = np.diff(self.time)
        total = np.zeros(self.n_frames)
        total[1:] += 0.5 * steps
        total[:-1] += 0.5 * steps
        return total / steps.mean()

    @cached_property
    def isometric(self) -> Problem:
        """The frames as a problem in which every muscle bears its maximum isometric force at activation 1.

        In a cost of forces the activation is then the force over F0, along the fibers or the tendon.
        """
        strongest = self.muscles.parameters.max_isometric_force
        bears = np.broadcast_to(strongest, self.musculotendon_length.shape)
        return Problem(
            moment_arm=self.moment_arm,
            moment=self.moment,
            force_capacity=bears,
            fiber_force_capacity=bears,
            max_isometric_force=strongest,
            lower=self.lower,
            upper=self.upper,
            reserve_weight=self.reserve_weight,
            muscle=self.muscles.names,
            dof=self.dof,
            optimal_fiber_length=self.muscles.parameters.optimal_fiber_length,
            joints_crossed=self.muscles.parameters.joints_crossed,
            emg=self.emg,
            source_frames=self.source_frames,
        )

    def frames(self, which: Indices | slice) -> Self:
        """Some of the frames as a separate motion; they keep their numbers (`Problem.frames`)."""
        per_frame = (
            *("time", "moment_arm", "moment", "musculotendon_length", "musculotendon_velocity"),
            *("lower", "upper", "reserve_weight", "emg"),
        )
        arrays = {name: getattr(self, name) for name in per_frame}
        parts: dict[str, Any] = {name: None if x is None else x[which] for name, x in arrays.items()}
        return replace(self, **parts, source_frames=chosen_frames(self.source_frames, self.n_frames, which))


def _over_time(numbers: object, name: str, shape: tuple[int, int]) -> Array:
    expected = f"numbers that broadcast to {shape}"
    array = check_real_array(numbers, name, expected)
    try:
        return np.broadcast_to(array, shape)
    except ValueError as error:
        raise input_error(
            "bad_shape", where=name, problem=f"{name} has the shape {array.shape}", expected=expected
        ) from error


_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class MotionCost:
    """Costs with their factors: factors of the active force x = F / F0 (T, n), and of the activation a (T, n).

    isometric: the problem with F0 for the capacity. along_fibers: F is along the fibers, not along the tendon.
    """

    cost: Cost
    isometric: Problem
    of_force: tuple[tuple[float, Cost], ...]
    of_activation: tuple[tuple[float, Cost], ...]
    along_fibers: bool

    @classmethod
    def from_cost(cls, problem: MotionProblem, cost: str | Cost) -> Self:
        """Separate a cost into costs of force and of activation."""
        isometric = problem.isometric
        for single in single_costs(find_cost(cost)):
            if single.needs != {"separable"} or "fiber_velocity" in single.data:
                raise input_error(
                    "bad_cost",
                    problem=f"the cost {single.name} cannot be used with elastic tendons",
                    expected="a sum over muscles",
                    remedy='choose a cost of forces or of activations, or use rigid tendons (tendon = "rigid")',
                )
        chosen = check_smooth_cost(cost, isometric, "used with elastic tendons", convex=True)
        parts: dict[str, list[tuple[float, Cost]]] = {"fiber": [], "tendon": [], "activation": []}
        for factor, single in _singles(chosen, isometric):
            parts[_kind(single, isometric)].append((factor, single))
        if parts["fiber"] and parts["tendon"]:
            raise InputError(
                f"the cost {chosen.label} counts forces along fibers and forces along tendons",
                code="bad_cost",
                where="cost",
                expected="one of both with elastic tendons",
                remedy='give all costs the same `force`, "fiber" or "tendon"',
            )
        of_force = tuple(parts["fiber"] + parts["tendon"])
        return cls(chosen, isometric, of_force, tuple(parts["activation"]), bool(parts["fiber"]))

    def load(self, state: Equilibrium) -> Curved:
        """The force over F0 that the cost counts in states of the muscles, with its derivatives by z."""
        return state.along_fibers if self.along_fibers else state.active

    def value(self, force: Array, activation: Array) -> Array:
        """The cost of each frame, (T,), at active forces over F0 and activations (T, n)."""
        total = np.zeros(len(activation))
        for costs, at in ((self.of_force, np.maximum(force, 0.0)), (self.of_activation, activation)):
            for factor, cost in costs:
                total = total + factor * cost.value(self.isometric, at)
        return total

    def slopes(self, force: Array, activation: Array) -> tuple[Array, Array, Array, Array]:
        """First and second derivatives (T, n) by active force over F0, then by activation, (T, n) each."""
        derivatives = []
        for costs, at in ((self.of_force, np.maximum(force, 0.0)), (self.of_activation, activation)):
            slope, bend = np.zeros_like(at), np.zeros_like(at)
            for factor, cost in costs:
                slope = slope + factor * cost.gradient(self.isometric, at)
                bend = bend + factor * cost.hessian_diagonal(self.isometric, at)
            derivatives += [slope, bend]
        of_force, of_force_twice, of_activation, of_activation_twice = derivatives
        return of_force, of_force_twice, of_activation, of_activation_twice

    def largest_force(self) -> Array:
        """The active force over F0 (T, n) where the domain of the cost ends; infinite for most costs."""
        ends = [cost.largest_activation(self.isometric) for _, cost in self.of_force]
        return np.minimum.reduce([np.full_like(self.isometric.force_capacity, np.inf), *ends])


def _singles(cost: Cost, problem: Problem, factor: float = 1.0) -> list[tuple[float, Cost]]:
    """The single costs in a sum of sums, with their factors."""
    whole = cost.apart(problem)
    if not isinstance(whole, WeightedSum):
        return [(factor, whole)]
    return [single for weight, part in whole.summands for single in _singles(part, problem, factor * weight)]


def _kind(cost: Cost, isometric: Problem) -> str:
    """Whether a cost is one of forces along the "fiber" or the "tendon", or of "activation"."""
    few = isometric.frames(np.arange(1))
    at = 0.2 + 0.3 * np.linspace(0.0, 1.0, isometric.n_muscles)[None, :]
    tendon = {"force_capacity": 2.0 * few.force_capacity}
    fiber = {"fiber_force_capacity": 2.0 * few.force_capacity}
    first = cost.value(few, at)
    for kind, doubled, activation in (
        ("fiber", fiber, 0.5 * at),
        ("tendon", tendon, 0.5 * at),
        ("activation", fiber | tendon, at),
    ):
        if np.allclose(cost.value(few.with_arrays(**doubled), activation), first, rtol=_SAME):
            return kind
    raise input_error(
        "bad_cost",
        where="cost",
        problem=f"the cost {cost.name} depends on the force capacity otherwise than through forces",
        expected="a function of forces, or of activations",
        remedy='choose a cost of forces or of activations, or use rigid tendons (tendon = "rigid")',
    )
