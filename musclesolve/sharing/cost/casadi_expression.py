"""Costs written by the user as CasADi expressions."""

import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, lru_cache
from itertools import product
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_real_array
from musclesolve._util.locks import CASADI
from musclesolve._util.messages import as_text
from musclesolve.errors import InputError, input_error
from musclesolve.sharing.cost.cost_base import Cost, bends_down, field_of
from musclesolve.sharing.cost.cost_terms import (
    Parameters,
    Shapes,
    columns,
    parameter_symbols,
    shape_of,
    shapes_of,
)
from musclesolve.sharing.kernel.constants import LEAST_NORMAL
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES, OPTIONAL
from musclesolve.sharing.problem_change import ProblemChange

Formula = Callable[..., Any]

FIELDS = tuple(ARRAY_AXES)
"""Fields of a problem that an expression may use, each in its own shape in one frame."""

PROBES = (12, 64, 512, *range(2, 129))
"""Sizes with which an expression is tested: one that picks muscles by number needs enough, one with slices so many."""

FAULTS = (RuntimeError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError)
"""Exceptions that a faulty expression raises; NotImplementedError of CasADi is a RuntimeError."""

NUMPY_NOTICE = r"\s*casadi: a numpy function was called"
"""Begin of a warning of CasADi on np.sum and the like: of symbols they give what they gave in every version."""

PIECES = "FABS SIGN FLOOR CEIL FMOD REMAINDER COPYSIGN FMIN FMAX LT LE EQ NE NOT AND OR IF_ELSE_ZERO".split()
"""Operations of CasADi whose value or slope jumps, which no second derivative shows."""

TENTH, LARGEST_SLOPE = 0.1, 1e200
"""Share of the activations at which a slope must be a normal float, and the slope at which products of it overflow."""

FRAMES_AT_ONCE, MANY = 16, 64
"""Number of frames in one call of a CasADi function, and from which its instructions run compiled (kernel/tape.py)."""


class Data(SimpleNamespace):
    """Arrays that an expression reads beside activations and forces."""

    def __getattr__(self, name: str) -> Any:
        way = (
            f"add it to `uses`: uses=({name!r}, ...)"
            if name in FIELDS
            else f"it has {', '.join(vars(self)) or 'nothing'}"
        )
        raise AttributeError(f"data has no {name!r}: {way}")


def evaluated(function: Formula, activation: Any, force: Any, data: Mapping[str, Any]) -> Any:
    """The value of an expression, without CasADi's notice on functions of numpy."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", NUMPY_NOTICE, FutureWarning)
        return function(*(activation, force, Data(**data))[: _taken(function)])


def refuse_unmeasured(problem: Problem, owner: str, constants: str, emg: str) -> None:
    """Refuse EMG that a cost or constraint uses and that was not measured; constants, emg: words of the remedy."""
    for frame, muscle in np.argwhere(np.isnan(field_of(problem, "emg", owner)))[:1].tolist():
        name, number = (problem.muscle or ())[muscle], problem.frame_number[frame]
        raise input_error(
            "not_finite",
            where="Problem.emg",
            problem=f"emg is nan for {name} in frame {number}, and {owner} uses it",
            expected="a number for every muscle and frame",
            remedy=f'{constants}={{"emg": numpy.nan_to_num({emg}), "measured": numpy.isfinite({emg})}} in the place '
            "of uses, and data.measured as a factor of the terms with data.emg",
        )


def check_fields(name: str, uses: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a cost, by its name, that uses a field that is not known."""
    for used in uses:
        if used not in known:
            fields = ", ".join(known)
            raise input_error("sharing.cost_uses_unknown_field", name=name, used=as_text(used), fields=fields)


def _taken(function: Formula) -> int:
    """How many of activation, force and data a function takes: those without default where it has fewer than three."""
    if hasattr(function, "n_in"):  # a casadi.Function
        return int(function.n_in())
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # a function of C
        return 3
    places = [x for x in arguments if x.kind <= x.POSITIONAL_OR_KEYWORD]
    if len(places) >= 3 or any(x.kind == x.VAR_POSITIONAL for x in arguments):
        return 3
    return sum(x.default is x.empty for x in places)


def reason_of(error: Exception | None) -> str:
    """The message of an exception of CasADi, without places in its source."""
    if "truth value" in str(error):
        return "symbols have no truth value: write casadi.if_else, fmax, fmin instead of if, max, min"
    if re.search("'[SM]X' object has no|not iterable", str(error)):
        return "symbols have no methods of arrays and no loops: write casadi.sum1(x) for x.sum() and sum(x)"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    plain = [re.sub(r"^\S*/casadi/\S+: ?", "", line) for line in lines]
    noise = "Error in", "Error calling", "Use print", "Did you", "Assertion", ">"
    told = [line for line in plain if not line.startswith(noise)]
    return (told or plain or [str(error)])[0][:300]


def expression_cost(
    name: str,
    expression: Formula,
    *,
    uses: tuple[str, ...] = (),
    constants: Mapping[str, ArrayLike] | None = None,
    frame_constants: Mapping[str, ArrayLike] | None = None,
    convex: bool = False,
    formula: str = "",
    source: str = "",
) -> "ExpressionCost":
    """Make a cost of a CasADi expression of activations and forces; its derivatives are exact.

    Args:
        name: in messages and results.
        expression: `expression(activation, force, data)` gives the value of one frame; a function of the activation
            alone, or of activation and force, will do. activation (n, 1) and force (n, 1) [N], the force at the
            tendon, are symbols, and so is every attribute of data.
        uses: fields of Problem that become attributes of data, each in its own shape in one frame: force_capacity
            (n, 1), moment_arm (m, n), moment (m, 1), reaction_matrix (k, n), time (1, 1), and all others.
        constants: further attributes of data by name: a number, (j,) numbers or a matrix (i, j), the same in every
            frame.
        frame_constants: further attributes of data with an axis of frames in front: (T,), (T, j) or (T, i, j), of
            all frames of the problem also where a part of it is solved (`Problem.frames`). A mask has the numbers
            0 and 1.
        convex: whether you declare it convex. Then `batch` and every other solver for convex costs take it. `solve`
            checks a few points between the bounds and every solution: a negative second derivative along any
            direction is an error, and so is a tangent above the cost at the bounds, which shows kinks and jumps that
            bend downward. Elsewhere your declaration alone makes the solution a minimum. Without it the certificate
            shows a stationary point, not a minimum.
        formula: for documentation.
        source: for documentation.

    Raises:
        InputError: the expression cannot be evaluated, or is not a single number; a constant has more axes than two;
            the name is no text, or is the name of a cost of the library.
    """
    from musclesolve.sharing.cost.cost_registry import find_cost

    cost = named_expression(
        name, expression, uses, constants, frame_constants, convex, formula=formula, source=source
    )
    find_cost(cost)
    return cost


def named_expression(
    name: str,
    expression: Formula,
    uses: tuple[str, ...] = (),
    constants: Mapping[str, ArrayLike] | None = None,
    frame_constants: Mapping[str, ArrayLike] | None = None,
    convex: bool = False,
    **described: Any,
) -> "ExpressionCost":
    """An expression by its name; arguments as of `expression_cost`."""
    if not (isinstance(name, str) and name.strip()):
        fault = f"the name of the expression is {as_text(name)}"
        raise input_error("bad_type", problem=fault, expected="a text that is not empty")
    if not isinstance(convex, bool | np.bool_):
        fault = f"convex of the expression {name} is {as_text(convex)}"
        raise input_error("bad_type", problem=fault, expected="True or False")
    if isinstance(uses, str):
        uses = (uses,)
    given = [(str(key), each, 0) for key, each in (constants or {}).items()]
    given += [(str(key), each, 1) for key, each in (frame_constants or {}).items()]
    values = {key: Constant.of(name, key, each, frames) for key, each, frames in given}
    if len(values) < len(given):
        raise input_error("sharing.same_data_twice", name=name)
    return ExpressionCost(name, expression, tuple(uses), tuple(values.items()), convex, **described)


def _fields_alone(self: Any) -> dict[str, Any]:
    """Return the fields for a pickle, without what was computed from them when the object was used."""
    return {item.name: getattr(self, item.name) for item in fields(self)}


@dataclass(frozen=True, eq=False)
class Constant:
    """A constant of a cost: its numbers, and whether their first axis is the axis of frames."""

    numbers: Array
    frames: bool
    __getstate__ = _fields_alone

    @classmethod
    def of(cls, owner: str, name: str, value: ArrayLike, frames: int) -> Self:
        """The constant from what the user gives."""
        what, expected = f"the constant {name!r} of {owner}", "finite numbers"
        mask = np.asarray(value).dtype == np.bool_  # 0 and 1 in an expression
        numbers = np.asarray(value, dtype=float) if mask else value
        array = np.array(check_real_array(numbers, name, expected, where=what))
        for first in map(tuple, np.argwhere(~np.isfinite(array))[:1].tolist()):
            frame, entry = first[:frames], list(first[frames:])
            at = (f" in frame {frame[0]}" if frame else "") + (f" at {entry}" if entry else "")
            raise input_error(
                "not_finite",
                where=what,
                problem=f"{name} is {array[first]:g}{at}",
                expected=expected,
                remedy=f"numpy.nan_to_num({name}), and numpy.isfinite({name}) as a constant that multiplies its terms",
            )
        if not frames <= array.ndim <= frames + 2 or not array.size:
            axes = "(T,), (T, j) or (T, i, j)" if frames else "a number, (j,) or (i, j)"
            raise input_error("bad_shape", where=what, expected=axes, name=name, shape=array.shape)
        array.flags.writeable = False
        return cls(array, bool(frames))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape in one frame."""
        return self.numbers.shape[self.frames :]

    def of_frames(self, problem: Problem, name: str, owner: str) -> Array:
        """The numbers (T, ...) or (1, ...) in the frames of a problem, or of a part of it (`Problem.frames`)."""
        if not self.frames:
            return self.numbers[None]
        count = problem.whole_frames
        if len(self.numbers) not in (1, count):
            part = problem.source_frames is not None
            whole = "as the whole problem of these frames has" if part else "as the problem has"
            own = "replace(part, source_frames=None) is a problem of its own"
            raise InputError(
                f"the frame constant {name!r} of {owner} has {len(self.numbers)} frames",
                code="bad_shape",
                where=f"the cost {owner}",
                expected=f"{count}, {whole}, or one",
                remedy=own if part else None,
            )
        return self.numbers if len(self.numbers) == 1 else self.numbers[problem.frame_number]

    def __repr__(self) -> str:
        return f"<numbers {self.numbers.shape}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and (self.frames, self._bytes) == (other.frames, other._bytes)

    def __hash__(self) -> int:
        return hash(self._bytes)

    @cached_property
    def _bytes(self) -> tuple[tuple[int, ...], bytes]:
        return self.numbers.shape, self.numbers.tobytes()


@dataclass(frozen=True)
class ExpressionCost(Cost):
    """A cost written as a CasADi expression; `expression_cost` makes it."""

    name: str  # type: ignore[misc]
    function: Formula = field(repr=False)
    uses: tuple[str, ...] = ()
    constants: tuple[tuple[str, Constant], ...] = ()
    convex: bool = False
    formula: str = ""  # type: ignore[misc]
    source: str = ""  # type: ignore[misc]
    # of its parameters; () before a problem is known
    shapes: Shapes = field(default=(), repr=False, compare=False)

    __getstate__ = _fields_alone

    def __post_init__(self) -> None:
        check_fields(self.name, self.uses, FIELDS)
        names = ["capacity", *self.uses, *(name for name, _ in self.constants)]
        if len(set(names)) != len(names):
            raise input_error("sharing.same_data_twice", name=self.name)
        self.pattern  # noqa: B018  a faulty expression is refused here, not in the middle of a run

    @property
    def label(self) -> str:
        """The name; the options of an expression do not show."""
        return self.name

    built_in = False  # type: ignore[assignment]  # the expression belongs to the user

    @property
    def data(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the optional fields of Problem that the expression uses."""
        return tuple(name for name in self.uses if name in OPTIONAL)

    @property
    def linear(self) -> bool:
        """Whether the value is linear in the activations: no second derivative exists, and no piece ends."""
        return bool(self.pattern.nnz() == 0 and not self.in_pieces)

    @cached_property
    def in_pieces(self) -> bool:
        """Whether the value is made of pieces in the activations, as fabs, fmax and if_else make it."""
        from musclesolve._util.casadi_module import casadi

        kinds = {getattr(casadi, f"OP_{name}") for name in PIECES}
        # `moving`: places of the memory that depend on activations
        value, moving = self._functions["value"], set[int]()
        for k in range(value.n_instructions()):
            kind, read, written = (getattr(value, f"instruction_{of}")(k) for of in ("id", "input", "output"))
            moves = read[0] == 0 if kind == casadi.OP_INPUT else not moving.isdisjoint(read)
            if moves and kind in kinds:
                return True
            if kind != casadi.OP_OUTPUT:
                moving = moving | set(written) if moves else moving - set(written)
        return False

    def remarks(self, problem: Problem) -> tuple[str, ...]:
        """See Cost; a certificate by slopes ends where the value or its slope jumps, underflows or overflows."""
        if not self.in_pieces:
            few = problem.frames(problem.valid).frames(slice(0, 1))
            width = np.minimum(few.upper - few.lower, 1.0)
            with np.errstate(all="ignore"):
                low, high = (np.abs(self.term_gradient(few, few.lower + x * width)) for x in (TENTH, 0.9))
            if few.n_frames and not (low.any() or high.any()):
                return (
                    f"{self.name} does not depend on the activations: all that carry the moments cost the same.",
                )
            if not (((low < LEAST_NORMAL) & (high >= LEAST_NORMAL)) | ~(high < LARGEST_SLOPE)).any():
                return ()
            return (
                f"Over the activations the slopes of {self.name} span more orders of magnitude than the numbers of the "
                "computer, as with powers above 300: frames may end without a certificate. min_max is exact.",
            )
        made = f"{self.name} is made of pieces (fabs, fmax, if_else or alike)."
        where = "A frame whose optimum lies where value or slope jumps has no certificate."
        return (f"{made} {where} If frames are not solved, round the corner: sqrt(x**2 + 1e-4) for fabs(x).",)

    @property
    def separable(self) -> bool:
        """Return whether no second derivative couples two muscles."""
        return bool(self.pattern.row() == self.pattern.get_col())

    @cached_property
    def pattern(self) -> Any:
        """The pattern of the Hessian (casadi.Sparsity)."""
        return self._functions["hessian"].sparsity_out(0)

    @cached_property
    def _functions(self) -> dict[str, Any]:
        """Value and derivatives with the sizes of a problem (`fitted`), else with the first sizes that fit."""
        failure: Exception | None = None
        for shapes in (self.shapes,) if self.shapes else self._probes():
            try:
                return _functions(self, shapes)
            except InputError:
                raise
            except FAULTS as error:
                failure = failure or error
        fault = f"the expression {self.name} cannot be evaluated ({reason_of(failure)})"
        expected = "a CasADi expression of activation, force and data, with one number as its value"
        remedy = "correct it; vectors with a number for each muscle are constants: constants={'w': weights}, data.w"
        raise input_error("bad_cost", problem=fault, expected=expected, remedy=remedy) from failure

    def _probes(self) -> Iterator[Shapes]:
        """Shapes with which the expression may be tried: the sizes of a problem are not known yet.

        The lengths of constants are tried as numbers of muscles, moments and reactions, too.
        """
        own = dict.fromkeys(length for _, constant in self.constants for length in constant.shape)
        axes = sorted({axis for name in self.uses for axis in ARRAY_AXES[name][1:] if axis not in "Tn"})
        for n in dict.fromkeys((*PROBES[:3], *own, *PROBES)):
            for others in product((*PROBES[:2], *sorted(own)), repeat=len(axes)):
                size = {"n": n, **dict(zip(axes, others, strict=True))}
                yield (
                    shape_of((n,)),
                    *(
                        shape_of(tuple(size[axis] for axis in ARRAY_AXES[name] if axis != "T"))
                        for name in self.uses
                    ),
                    *(shape_of(constant.shape) for _, constant in self.constants),
                )

    @property
    def needs(self) -> frozenset[str]:
        """Separable or coupled, by the pattern of its Hessian; nonconvex unless linear or declared convex."""
        words = {"separable" if self.separable else "coupled"}
        return frozenset(words if self.convex or self.linear else words | {"nonconvex"})

    def term_value(self, problem: Problem, activation: Array) -> Array:
        """The value of the expression, (T,), at activations (T, n)."""
        return self._evaluate("value", problem, activation)[:, 0]

    def term_gradient(self, problem: Problem, activation: Array) -> Array:
        """The slopes, (T, n), at activations (T, n)."""
        return self._evaluate("gradient", problem, activation)

    def term_hessian_diagonal(self, problem: Problem, activation: Array) -> Array:
        """The curvatures, (T, n), at activations (T, n).

        Raises:
            InputError: one is negative, though the cost is declared convex.
        """
        curvature = self._evaluate("diagonal", problem, activation)
        downward = self.convex and bool((curvature < 0.0).any())
        if downward and (bad := bends_down(self.term_gradient(problem, activation), curvature)).any():
            frame, muscle = np.argwhere(bad)[0]
            reason = (
                f"its second derivative by the activation of {(problem.muscle or ())[muscle]} is "
                f"{curvature[frame, muscle]:g} at {activation[frame, muscle]:g}"
            )
            raise input_error("sharing.cost_not_convex", cost=self.name, reason=reason)
        return curvature

    def term_hessian(self, problem: Problem, activation: Array) -> Array:
        """The second derivatives, (T, n, n), at activations (T, n)."""
        frames, muscles = activation.shape
        return self._evaluate("hessian", problem, activation).reshape(frames, muscles, muscles)

    def fitted(self, problem: Problem) -> Self:
        """The expression with the sizes of a problem: slices may couple muscles, or bend, in so many muscles alone.

        Raises:
            InputError: a field is missing, or the expression cannot be evaluated with so many muscles.
        """
        shapes = shapes_of(self._fitting(problem))
        return self if shapes == self.shapes else _of_sizes(self, shapes)  # type: ignore[return-value]

    def _fitting(self, problem: Problem) -> tuple[Array, ...]:
        """The arrays of `_arrays`, with which the expression can be evaluated; see `fitted`."""
        arrays = self._arrays(problem)
        try:
            with CASADI:
                _functions(self, shapes_of(arrays))
        except (InputError, *FAULTS) as error:
            raise self._misfit(problem, error) from error
        return arrays

    def _misfit(self, problem: Problem, error: Exception) -> InputError:
        """The error of an expression that cannot be evaluated with the arrays of a problem: names what may be wrong."""
        frames, muscles = problem.n_frames, problem.n_muscles
        for name, constant in self.constants:
            if frames not in (1, muscles) and not constant.frames and constant.shape[:1] == (frames,):
                return InputError(
                    f"the constant {name!r} of the expression {self.name} has the shape {constant.shape}: a number "
                    "for each frame",
                    code="bad_shape",
                    where=f"the cost {self.name}",
                    expected="numbers that are the same in every frame",
                    remedy=f"give {name!r} in frame_constants",
                )
        vectors = [
            (name, constant.shape)
            for name, constant in self.constants
            if len(constant.shape) == 1 and constant.shape not in ((1,), (muscles,), (problem.n_dof,))
        ]
        if isinstance(error, InputError) and not vectors:
            return error
        if len(vectors) == 1:
            ((name, shape),) = vectors
            return input_error(
                "bad_shape",
                problem=f"the constant {name!r} of the expression {self.name} has {shape[0]} numbers",
                expected=f"one, or one for each of {muscles} muscles",
            )
        return input_error(
            "bad_cost",
            problem=f"the expression {self.name} cannot be evaluated for the {muscles} muscles of the "
            f"problem ({reason_of(error)})",
            expected=f"an expression of {muscles} muscles, with numbers from 0 to {muscles - 1}",
            remedy="find them by name: problem.muscle.index(NAME)",
        )

    def _arrays(self, problem: Problem) -> tuple[Array, ...]:
        """The capacity, the fields used of the problem, and the constants, (T, ...) each."""
        arrays = [problem.force_capacity]
        for name in self.uses:
            array = self.field(problem, name)
            shared = ARRAY_AXES[name][0] != "T"
            arrays.append(np.broadcast_to(array, (problem.n_frames, *array.shape)) if shared else array)
        for name, constant in self.constants:
            numbers = constant.of_frames(problem, name, self.name)
            arrays.append(np.broadcast_to(numbers, (problem.n_frames, *constant.shape)))
        return tuple(arrays)

    def term_parameters(self, problem: Problem) -> Parameters:
        """The capacity, the fields used of the problem, and the constants, (T, ...) each."""
        arrays = self._fitting(problem)
        if "emg" in self.uses:
            refuse_unmeasured(problem, self.name, "frame_constants", "problem.emg")
        return arrays

    def term_expression(self, casadi: Any, activation: Any, parameters: Any) -> Any:
        """See Cost."""
        capacity, *numbers = parameters
        names = (*self.uses, *(name for name, _ in self.constants))
        data = dict(zip(names, numbers, strict=True))
        return evaluated(self.function, activation, capacity * activation, data)

    def gradient_change(self, problem: Problem, activation: Array, change: ProblemChange) -> Array:
        """The derivative of the slopes at activations (T, n) along a change of the parameters, by CasADi, (K, T, n)."""
        frames, muscles = activation.shape
        if 0 in (change.directions, frames, muscles):
            return np.zeros((change.directions, frames, muscles))
        numbers = self.term_parameters(problem)
        names = ("force_capacity", *self.uses, *("" for _ in self.constants))
        moving = [  # zero for a constant
            np.broadcast_to(change.get(name), (change.directions, *array.shape))
            for name, array in zip(names, numbers, strict=True)
        ]
        with CASADI:
            function = _over_frames(self, shapes_of(numbers), "change", FRAMES_AT_ONCE)
            return np.stack(
                [
                    function(activation, *numbers, *(part[k] for part in moving))
                    for k in range(change.directions)
                ]
            )

    def _evaluate(self, what: str, problem: Problem, activation: Array) -> Array:
        frames, muscles = activation.shape
        if frames == 0:
            width = {"value": 1, "gradient": muscles, "diagonal": muscles, "hessian": muscles**2}
            return np.zeros((0, width[what]))
        numbers = self.term_parameters(problem)
        arrays, shapes = (activation, *numbers), shapes_of(numbers)
        with CASADI:
            counts = _depends(self, shapes, what)
            if any(array.strides[0] for array, count in zip(arrays, counts, strict=True) if count):
                tape = _tape(self, shapes, what) if frames >= MANY else None
                return (tape or _over_frames(self, shapes, what, FRAMES_AT_ONCE))(*arrays)
            # the same in every frame, as second derivatives of squares with constant weights
            alike = _over_frames(self, shapes, what, 1)(*(array[:1] for array in arrays))
            return np.broadcast_to(alike, (frames, alike.shape[1]))


@lru_cache(maxsize=64)
def _of_sizes(cost: ExpressionCost, shapes: Shapes) -> ExpressionCost:
    """The cost with the sizes of a problem; the same object again, with what was computed from it."""
    return replace(cost, shapes=shapes)


@lru_cache(maxsize=64)
def _functions(cost: ExpressionCost, shapes: Shapes) -> dict[str, Any]:
    """Value and derivatives for parameters of some shapes, as CasADi functions of (a, parameters ...).

    "change" is the directional derivative of the slopes, a function of (a, parameters ..., directions ...).
    """
    from musclesolve._util.casadi_module import casadi  # slow to import, and needed for expressions only

    numbers = parameter_symbols(casadi.SX.sym, shapes)
    a = casadi.SX.sym("a", numbers[0].numel())
    value = cost.term_expression(casadi, a, numbers)
    if value is None:
        raise TypeError("it returns nothing: end the function with `return`")
    shape = getattr(value, "shape", ())
    if shape not in ((), (1, 1)):
        sizes = ["n" if size == a.numel() else str(size) for size in shape]
        raise input_error("sharing.cost_value_not_scalar", cost=cost.name, shape=f"({', '.join(sizes)})")
    value = casadi.SX(value)
    hessian, slope = casadi.hessian(value, a)
    results = {"value": value, "gradient": slope, "diagonal": casadi.diag(hessian), "hessian": hessian}
    functions = {name: casadi.Function(name, [a, *numbers], [result]) for name, result in results.items()}
    directions = parameter_symbols(casadi.SX.sym, shapes)
    along = casadi.vertcat(*map(casadi.vec, directions))
    moved = casadi.jtimes(slope, casadi.vertcat(*map(casadi.vec, numbers)), along)
    return functions | {"change": casadi.Function("change", [a, *numbers, *directions], [moved])}


class _OverFrames:
    """A CasADi function of one frame, evaluated in many; it reads and writes the memory of arrays of its own."""

    def __init__(self, function: Any, at_once: int) -> None:
        from musclesolve._util.casadi_module import casadi

        symbols = function.sx_in()
        dense = casadi.Function("dense", symbols, [casadi.densify(function(*symbols))])
        self._function = dense.map(at_once)
        self._buffer, self._run = self._function.buffer()  # hold no reference to each other
        self._arguments = [np.zeros((at_once, symbol.numel())) for symbol in symbols]
        self._values = np.zeros((at_once, dense.numel_out(0)))
        for k, argument in enumerate(self._arguments):
            self._buffer.set_arg(k, memoryview(argument.reshape(-1)))  # type: ignore[arg-type, call-arg]
        self._buffer.set_res(0, memoryview(self._values.reshape(-1)))  # type: ignore[arg-type, call-arg]

    def __call__(self, *arrays: Array) -> Array:
        """Values (T, v) at arrays (T, ...), which take the places of the symbols."""
        values = np.empty((len(arrays[0]), self._values.shape[1]))
        for start in range(0, len(values), len(self._values)):
            part = slice(start, start + len(self._values))
            count = len(values[part])
            for argument, array in zip(self._arguments, arrays, strict=True):
                argument[:count] = columns(array[part])
            self._run()
            values[part] = self._values[:count]
        return values


@lru_cache(maxsize=64)
def _depends(cost: ExpressionCost, shapes: Shapes, what: str) -> tuple[bool, ...]:
    """Whether one of `_functions` depends on the activations and on each parameter, by its pattern."""
    function = _functions(cost, shapes)[what]
    return tuple(bool(function.jac_sparsity(0, k).nnz()) for k in range(function.n_in()))


@lru_cache(maxsize=64)
def _over_frames(cost: ExpressionCost, shapes: Shapes, what: str, at_once: int) -> _OverFrames:
    """One of `_functions`, for some frames at once; used within the lock of CasADi alone."""
    return _OverFrames(_functions(cost, shapes)[what], at_once)


@lru_cache(maxsize=64)
def _tape(cost: ExpressionCost, shapes: Shapes, what: str) -> Any:
    """One of `_functions` as compiled code runs it; None without compiled code for its operations."""
    from musclesolve._util.casadi_module import casadi
    from musclesolve.sharing.solver.kernel_problem import compiles

    if not compiles():
        return None
    from musclesolve.sharing.cost.tape import Tape

    return Tape.of(casadi, _functions(cost, shapes)[what])
