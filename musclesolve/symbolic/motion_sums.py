"""Cost, rows and derivatives of a motion program over all frames, for Ipopt; and the certificate of its optimum."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.locks import CASADI
from musclesolve.errors import input_error
from musclesolve.symbolic.motion_frames import (
    ACCELERATION,
    FRAME_WEIGHTS,
    MOMENT,
    RATE,
    FrameFunctions,
    MotionWeights,
)

JERK_SPAN = 0.010
"""Time over which the standard deviation of a jerk is meant [s]: a frame of a recording at 100 Hz."""
FREE = 2e19
"""A bound that Ipopt takes for none."""
INVALID_NUMBER = -13
"""Status of Ipopt that ends at a value or derivative that is not finite."""


@dataclass(frozen=True)
class MotionCertificate:
    """Errors at the end of a program, computed anew from its functions.

    stationarity: largest element of the gradient of the Lagrange function, over the largest multiplier or 1.
    complementarity: largest product of a bound's multiplier and the distance to it. motion_equations: largest error
    of the equations of motion in the frames [N m, N]. joining: largest error of the rows between frames. bounds:
    largest violation of the limits of activations, of their rates and of own constraints. between_frames: largest error
    of the equations of motion in the middle between two frames [N m, N], which no row enforces; `worst` says where.
    """

    stationarity: float
    complementarity: float
    motion_equations: float
    joining: float
    bounds: float
    between_frames: float
    worst: str


class Optimum(NamedTuple):
    """Unknowns (T, k) where Ipopt ended, and how it ended."""

    unknowns: Array
    cost: float
    converged: bool
    iterations: int
    message: str
    certificate: MotionCertificate


class MotionSums:
    """Cost, rows and derivatives of all frames, under the names that cyipopt calls."""

    def __init__(
        self,
        frame: FrameFunctions,
        time: Array,
        numbers: Array,
        at_rest: Mask,
        weights: MotionWeights,
        targets: Array,
        rest: Array,
        activation_times: tuple[float, float] | None,
    ) -> None:
        """Take numbers (T, k), coordinates at rest (n,), markers (T, P, 3) [m], and where coordinates rest (T, n)."""
        self.frame, self.time, self.frames = frame, time, len(time)
        self.activation_times = activation_times
        self.mapped = {
            name: getattr(frame, name).map(self.frames)
            for name in ("cost", "constraints", "gradient", "jacobian", "hessian")
        }
        seen = np.isfinite(targets)
        self.numbers = np.hstack(
            [
                numbers,
                np.where(seen, targets, 0.0).reshape(self.frames, -1),
                seen.reshape(self.frames, -1),
                np.broadcast_to(at_rest, rest.shape),
                rest,
                np.broadcast_to(
                    [getattr(weights, name) for name in FRAME_WEIGHTS], (self.frames, len(FRAME_WEIGHTS))
                ),
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
        if (times := self.activation_times) is not None and len(parts["a"]):
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
        rows = np.array(self.mapped["constraints"](unknowns.T, self.numbers)).T
        return rows[:, : len(self.frame.rows)]

    def objective(self, x: Array) -> float:
        """The cost of unknowns x (T k,)."""
        value = self.mapped["cost"](self._by_frame(x), self.numbers)
        return float(np.array(value).sum() + 0.5 * x @ (self.quadratic @ x))

    def gradient(self, x: Array) -> Array:
        """Its derivatives (T k,)."""
        return (
            np.array(self.mapped["gradient"](self._by_frame(x), self.numbers)).T.ravel() + self.quadratic @ x
        )

    def constraints(self, x: Array) -> Array:
        """Values of the rows of all frames, then of the linear rows."""
        rows = self.mapped["constraints"](self._by_frame(x), self.numbers)
        return np.concatenate([np.array(rows).T.ravel(), self.linear @ x])

    def jacobian(self, x: Array) -> Array:
        """Nonzero derivatives of the rows, at `jacobianstructure`."""
        own = np.array(self.mapped["jacobian"](self._by_frame(x), self.numbers)).T.ravel()
        return np.concatenate([own, self.linear_values])

    def jacobianstructure(self) -> tuple[Indices, Indices]:
        """Rows and columns of the nonzero derivatives."""
        return self.jacobian_places

    def hessian(self, x: Array, multiplier: Array, factor: float) -> Array:
        """Second derivatives of factor cost + multiplier . rows, at `hessianstructure`."""
        rows = len(self.frame.lower)
        own = multiplier[: self.frames * rows].reshape(self.frames, rows).T
        factors = np.full((1, self.frames), factor)
        values = np.array(self.mapped["hessian"](self._by_frame(x), self.numbers, factors, own)).T.ravel()
        return np.concatenate([values, factor * self.below])

    def hessianstructure(self) -> tuple[Indices, Indices]:
        """Rows and columns of the nonzero second derivatives, of the lower triangle."""
        return self.hessian_places

    def intermediate(self, *report: Any) -> bool:
        """Count the iterations; Ipopt goes on."""
        self.iterations = int(report[1])
        return True

    def minimize(
        self, unknowns: Array, iterations: int, tolerance: float, limits: Array | None = None
    ) -> Optimum:
        """Call Ipopt from unknowns (T, k); limits (2, T, k) of them, unless only activations have some."""
        try:
            import cyipopt
        except ImportError as error:
            raise input_error(
                "missing_package",
                problem="a motion program needs the package cyipopt, which is not installed",
                remedy="pip install cyipopt-wheels, or conda install -c conda-forge cyipopt",
            ) from error

        lower, upper = (self.usual_limits() if limits is None else limits).reshape(2, -1)
        with CASADI:
            ipopt = cyipopt.Problem(
                unknowns.size, len(self.lower), self, lower, upper, self.lower, self.upper
            )
            options = {"print_level": 0, "sb": "yes", "mu_strategy": "adaptive"}
            for name, value in {**options, "tol": tolerance, "max_iter": iterations}.items():
                ipopt.add_option(name, value)
            x, report = ipopt.solve(unknowns.ravel())
        if report["status"] == INVALID_NUMBER:
            self._check_expressions(x)
        return Optimum(
            x.reshape(self.frames, -1),
            self.objective(x),
            report["status"] in (0, 1),
            self.iterations,
            bytes(report["status_msg"]).decode(errors="replace").split("(")[0].strip(),
            self._certificate(x, report, lower, upper),
        )

    def _check_expressions(self, x: Array) -> None:
        """Refuse the first own expression whose value, slope or curvature is not finite at unknowns x."""
        y, p = ca.MX.sym("y", self.frame.size), ca.MX.sym("p", len(self.numbers))
        every = ca.DM.ones(self.frame.size)
        value = self.frame.own(y, p)
        slope = ca.jtimes(value, y, every)
        function = ca.Function("own", [y, p], [value, slope, ca.jtimes(slope, y, every)])
        found = function.map(self.frames)(self._by_frame(x), self.numbers)
        for what, numbers in zip(("value", "slope", "curvature"), map(np.array, found), strict=True):
            for k in np.flatnonzero(~np.isfinite(numbers).all(axis=1))[:1]:
                frame = int(np.flatnonzero(~np.isfinite(numbers[k]))[-1])  # the goal counts in the last one
                raise input_error(
                    "not_finite",
                    where=self.frame.own_names[k],
                    problem=f"its {what} is {numbers[k, frame]:g} in frame {frame} ({self.time[frame]:g} s)",
                    expected="a finite number with finite derivatives, also at rest",
                    remedy="look at logarithms, roots and quotients: casadi.sqrt(x + 1e-8), not casadi.sqrt(x)",
                )

    def usual_limits(self) -> Array:
        """Limits (2, T, k) of the unknowns: activations are from their least to 1, the others are free.

        Below the least activation of elastic tendons nothing changes with it: Ipopt would lose its way at the corner.
        """
        limits = np.empty((2, self.frames, self.frame.size))
        limits[0], limits[1] = -FREE, FREE
        limits[0, :, self.frame.parts["a"]] = self.frame.least_activation[:, None]
        limits[1, :, self.frame.parts["a"]] = 1.0
        return limits

    def results(self, unknowns: Array) -> tuple[Array, ...]:
        """Moments, reserves, residuals, forces, and markers (T, 3 P), of unknowns (T, k)."""
        return tuple(
            np.array(value).T for value in self.frame.results.map(self.frames)(unknowns.T, self.numbers)
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
        slope[lower == upper] = 0.0  # what is given has no multiplier
        products = below[bounded] * (x - lower)[bounded], above[bounded] * (upper - x)[bounded]
        beyond = np.maximum(self.lower - rows, rows - self.upper)
        own = len(self.frame.lower)
        by_frame = beyond[: self.frames * own].reshape(self.frames, own)
        linear = beyond[self.frames * own :]
        further = np.concatenate(
            [
                by_frame[:, len(self.frame.rows) :].ravel(),
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
            motion_equations=float(MOMENT * by_frame[:, : len(self.frame.rows)].max()),
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
        rows = np.array(self.frame.constraints.map(len(middle))(middle.T, numbers)).T
        errors = MOMENT * np.abs(rows[:, : len(self.frame.rows)])
        at, row = np.unravel_index(int(errors.argmax()), errors.shape)
        when = 0.5 * (self.time[at] + self.time[at + 1])
        return float(errors[at, row]), f"{self.frame.rows[row]} at {when:.3f} s"
