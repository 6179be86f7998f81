"""Costs written by the user as CasADi expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_real_array
from musclesolve._util.locks import CASADI
from musclesolve._util.message_text import as_text
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.problem import OPTIONAL, Problem
from musclesolve.sharing.problem_change import ProblemChange

Formula = Callable[[Any, Any, Any], Any]

FIELDS = (
    *("force_capacity", "max_isometric_force", "fiber_velocity", "optimal_fiber_length", "joints_crossed"),
    *("emg", "upper"),
)
"""Fields of a problem that an expression may use: one number for each muscle."""

PROBES = (12, 64, 512)
"""Numbers of muscles with which an expression is tested; one that picks muscles by number needs enough of them."""

FAULTS = (RuntimeError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
"""Exceptions that a faulty expression raises; NotImplementedError of CasADi is a RuntimeError."""

SLACK = 1e-9

FRAMES_AT_ONCE = 64
"""Number of frames in one call of a CasADi function."""


def expression_cost(
    name: str,
    expression: Formula,
    *,
    uses: tuple[str, ...] = (),
    constants: Mapping[str, ArrayLike] | None = None,
    convex: bool = False,
    formula: str = "",
    source: str = "",
) -> ExpressionCost:
    """Make a cost of a CasADi expression of activations and forces; its derivatives are exact.

    Args:
        name: in messages and results.
        expression: `expression(activation, force, data)` gives the value of one frame. activation (n, 1) and
            force (n, 1) [N] are symbols, and so is every attribute of data.
        uses: fields of Problem that become attributes of data, (n, 1): some of force_capacity,
            max_isometric_force, fiber_velocity, optimal_fiber_length, joints_crossed, emg, upper.
        constants: further attributes of data by name, a number each or (n,) numbers.
        convex: whether you declare it convex. Then every solver for convex costs takes it, `batch` too if each
            term is of one muscle alone. `solve` checks a few points between the bounds and every solution: a
            negative second derivative along any direction is an error. Elsewhere your declaration alone makes the
            solution a minimum. Without it the certificate shows a stationary point, not a minimum.
        formula: for documentation.
        source: for documentation.

    Raises:
        InputError: the expression cannot be evaluated, or is not a single number; the name is no text.
    """
    if not (isinstance(name, str) and name.strip()):
        raise input_error("sharing.expression_without_name", name=as_text(name))
    if not isinstance(convex, bool | np.bool_):
        raise input_error("sharing.convex_is_no_truth", name=name, convex=as_text(convex))
    values = tuple((str(key), _constant(name, str(key), value)) for key, value in (constants or {}).items())
    return ExpressionCost(name, expression, tuple(uses), values, convex, formula, source)


@dataclass(frozen=True)
class ExpressionCost(Cost):
    """A cost written as a CasADi expression; `expression_cost` makes it."""

    name: str  # type: ignore[misc]
    function: Formula = field(repr=False)
    uses: tuple[str, ...] = ()
    constants: tuple[tuple[str, tuple[float, ...]], ...] = ()
    convex: bool = False
    formula: str = ""  # type: ignore[misc]
    source: str = ""  # type: ignore[misc]

    def __post_init__(self) -> None:
        for field_name in self.uses:
            if field_name not in FIELDS:
                raise input_error(
                    "sharing.cost_uses_unknown_field", name=self.name, used=as_text(field_name), fields=FIELDS
                )
        names = ["capacity", *self.uses, *(name for name, _ in self.constants)]
        if len(set(names)) != len(names):
            raise input_error("sharing.same_data_twice", name=self.name)
        self.separable  # noqa: B018  a faulty expression is refused here, not in the middle of a run

    @property
    def label(self) -> str:
        """The name; the options of an expression do not show."""
        return self.name

    @property
    def built_in(self) -> bool:
        """False: the expression belongs to the user."""
        return False

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the optional fields of Problem that the expression uses."""
        return tuple(name for name in self.uses if name in OPTIONAL)

    @property
    def parameter_rows(self) -> int:  # type: ignore[override]
        """Number of parameters for each muscle: the capacity, the fields used, and the constants."""
        return 1 + len(self.uses) + len(self.constants)

    @cached_property
    def separable(self) -> bool:
        """Return whether no second derivative couples two muscles."""
        failure: Exception | None = None
        for muscles in PROBES:
            try:
                curvature = _functions(self, muscles)["hessian"].sparsity_out(0)
            except FAULTS as error:
                failure = error
                continue
            return curvature.row() == curvature.get_col()
        raise input_error("sharing.cost_not_evaluated", cost=self.name, failure=failure) from failure

    @property
    def needs(self) -> frozenset[str]:
        """Separable or coupled, by the pattern of its Hessian; nonconvex unless declared convex."""
        words = {"separable" if self.separable else "coupled"}
        return frozenset(words if self.convex else words | {"nonconvex"})

    def value(self, problem: Problem, activation: Array) -> Array:
        """The value of the expression, (T,), at activations (T, n)."""
        return self._evaluate("value", problem, activation)[:, 0]

    def gradient(self, problem: Problem, activation: Array) -> Array:
        """The slopes, (T, n), at activations (T, n)."""
        return self._evaluate("gradient", problem, activation)

    def hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """The curvatures, (T, n), at activations (T, n).

        Raises:
            InputError: one is negative, though the cost is declared convex.
        """
        curvature = self._evaluate("diagonal", problem, activation)
        bad = curvature < -SLACK * np.abs(curvature).max(axis=1, keepdims=True, initial=0.0)
        if self.convex and bad.any():
            frame, muscle = np.argwhere(bad)[0]
            raise self._not_convex(
                f"its second derivative by the activation of {(problem.muscle or ())[muscle]} is "
                f"{curvature[frame, muscle]:g} at {activation[frame, muscle]:g}"
            )
        return curvature

    def term_hessian(self, problem: Problem, activation: Array) -> Array:
        """The second derivatives, (T, n, n), at activations (T, n)."""
        frames, muscles = activation.shape
        return self._evaluate("hessian", problem, activation).reshape(frames, muscles, muscles)

    def check_convexity(self, problem: Problem, activation: Array) -> None:
        """Check that a cost declared convex is convex at some activations (T, n).

        Raises:
            InputError: a second derivative is negative, along the activation of one muscle or of several together.
        """
        if not self.convex:
            return
        self.hessian_diagonal(problem, activation)  # checks the muscles one by one
        if self.separable:
            return
        hessian = self.term_hessian(problem, activation)
        hessian = hessian[np.isfinite(hessian).all(axis=(1, 2))]
        values = np.linalg.eigvalsh(hessian)
        if (values < -SLACK * np.abs(values).max(axis=1, keepdims=True, initial=0.0)).any():
            raise self._not_convex(f"its second derivative along some activations is {values.min():g}")

    def _not_convex(self, reason: str) -> InputError:
        return input_error("sharing.cost_not_convex", cost=self.name, reason=reason)

    def require(self, problem: Problem) -> None:
        """Check that the problem has the fields used and the muscles that the expression picks by number.

        Raises:
            InputError: a field is missing, or the expression cannot be evaluated with so many muscles.
        """
        super().require(problem)
        try:
            with CASADI:
                _functions(self, problem.n_muscles)
        except InputError:
            raise
        except FAULTS as error:
            raise input_error(
                "sharing.cost_not_evaluated_here", cost=self.name, failure=error, count=problem.n_muscles
            ) from error

    def parameters(self, problem: Problem) -> Array:
        """The capacity, the fields used of the problem, and the constants, (T, p, n)."""
        self.require(problem)
        shape = problem.force_capacity.shape
        rows = [problem.force_capacity]
        for field_name in self.uses:
            array = np.broadcast_to(
                problem.crossed if field_name == "joints_crossed" else getattr(problem, field_name), shape
            )
            if field_name == "emg" and np.isnan(array).any():
                raise input_error("sharing.emg_not_measured", where="Problem.emg", name=self.name)
            rows.append(array)
        for name, constant in self.constants:
            if len(constant) not in (1, shape[1]):
                raise input_error(
                    "sharing.bad_cost_constant",
                    name=name,
                    label=self.name,
                    count=len(constant),
                    shape=shape[1],
                )
            rows.append(np.broadcast_to(constant, shape))
        return np.stack(rows, axis=1)

    def expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        rows = {name: parameters[row, :].T for row, name in enumerate(self.uses, start=1)}
        for row, (name, constant) in enumerate(self.constants, start=1 + len(self.uses)):
            rows[name] = parameters[row, 0] if len(constant) == 1 else parameters[row, :].T
        return self.function(activation, parameters[0, :].T * activation, SimpleNamespace(**rows))

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """The derivative of the slopes at activations (T, n) along a change of the parameters, by CasADi, (K, T, n)."""
        shape = (change.directions, *activation.shape)
        if 0 in shape:
            return np.zeros(shape)
        moving = [np.broadcast_to(change.get(name), shape) for name in ("force_capacity", *self.uses)]
        moving += [np.zeros(shape)] * len(self.constants)
        numbers = self.parameters(problem)
        with CASADI:
            function = _over_frames(self, shape[2], "change")
            return np.stack([function(activation, numbers, along) for along in np.stack(moving, axis=2)])

    def _evaluate(self, what: str, problem: Problem, activation: Array) -> Array:
        frames, muscles = activation.shape
        if frames == 0:
            width = {"value": 1, "gradient": muscles, "diagonal": muscles, "hessian": muscles**2}
            return np.zeros((0, width[what]))
        numbers = self.parameters(problem)
        with CASADI:
            return _over_frames(self, muscles, what)(activation, numbers)


@lru_cache(maxsize=64)
def _functions(cost: ExpressionCost, muscles: int) -> dict[str, Any]:
    """Value and derivatives for a number of muscles, as CasADi functions of (a, parameters).

    "change" is the directional derivative of the slopes, a function of (a, parameters, direction).
    """
    import casadi  # slow to import, and needed for expressions only

    a = casadi.SX.sym("a", muscles)
    numbers = casadi.SX.sym("p", cost.parameter_rows, muscles)
    value = cost.expression(casadi, a, numbers)
    shape = getattr(value, "shape", ())
    if shape not in ((), (1, 1)):
        raise input_error("sharing.cost_value_not_scalar", cost=cost.name, shape=shape)
    value = casadi.SX(value)
    hessian, slope = casadi.hessian(value, a)
    results = {"value": value, "gradient": slope, "diagonal": casadi.diag(hessian), "hessian": hessian}
    functions = {name: casadi.Function(name, [a, numbers], [result]) for name, result in results.items()}
    direction = casadi.SX.sym("d", cost.parameter_rows, muscles)
    moved = casadi.jtimes(slope, numbers, direction)
    return functions | {"change": casadi.Function("change", [a, numbers, direction], [moved])}


class _OverFrames:
    """A CasADi function of one frame, evaluated in many; it reads and writes the memory of arrays of its own."""

    def __init__(self, function: Any) -> None:
        import casadi

        symbols = function.sx_in()
        dense = casadi.Function("dense", symbols, [casadi.densify(function(*symbols))])
        self._function = dense.map(FRAMES_AT_ONCE)
        self._buffer, self._run = self._function.buffer()  # hold no reference to each other
        self._arguments = [np.zeros((FRAMES_AT_ONCE, *symbol.shape[::-1])) for symbol in symbols]
        self._values = np.zeros((FRAMES_AT_ONCE, dense.numel_out(0)))
        for k, argument in enumerate(self._arguments):
            self._buffer.set_arg(k, memoryview(argument.reshape(-1)))  # type: ignore[arg-type, call-arg]
        self._buffer.set_res(0, memoryview(self._values.reshape(-1)))  # type: ignore[arg-type, call-arg]

    def __call__(self, activation: Array, *rows: Array) -> Array:
        """Values (T, v) at activations (T, n), and rows (T, p, n) of parameters or of their changes."""
        arrays = [activation[:, None, :], *rows]
        values = np.empty((len(activation), self._values.shape[1]))
        for start in range(0, len(activation), FRAMES_AT_ONCE):
            part = slice(start, start + FRAMES_AT_ONCE)
            count = len(values[part])
            for argument, array in zip(self._arguments, arrays, strict=True):
                argument[:count] = array[part].transpose(0, 2, 1).reshape(count, *argument.shape[1:])
            self._run()
            values[part] = self._values[:count]
        return values


@lru_cache(maxsize=64)
def _over_frames(cost: ExpressionCost, muscles: int, what: str) -> _OverFrames:
    """One of `_functions` for many frames; used within the lock of CasADi alone."""
    return _OverFrames(_functions(cost, muscles)[what])


def _constant(cost: str, name: str, value: ArrayLike) -> tuple[float, ...]:
    what, expected = f"the constant {name!r} of the cost {cost}", "a finite number, or one for each muscle"
    array = check_real_array(value, what, expected)
    if array.ndim > 1 or not np.isfinite(array).all():
        raise input_error("sharing.bad_cost_number", expected=expected, what=what, value=as_text(value))
    return tuple(array.reshape(-1).tolist())
