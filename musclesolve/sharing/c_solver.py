"""C code of a certified solver of one frame, for controllers: one file, C99, no dependencies, no allocation.

The code is frame_solver.c with the sizes and the cost of a problem filled in, and with the constants of the compiled
kernel: Newton's method on the dual (kernel/dual_newton.py) and the duality gap (certificate.py). It has neither the
interior point nor reserves. A frame that Newton's method does not finish within its bounded steps ends as
MAX_ITERATIONS, where `solve` would go on.

Costs are sums over muscles of powers (c_i a_i)^p, p = 2, 3 together or one power up to the fourth, or of the soft
saturation with exponent 2. Linear terms are refused: no muscle acts until its pull exceeds them, and Newton's method
alone does not find the way. A coefficient c_i = u_i + v_i F_i(1) is constant, or in proportion to the force at
activation 1, at the tendon or along the fibers, which the code takes with every frame: u and v are fixed when the code
is made.
"""

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_integer, check_type
from musclesolve.constants import USUAL_COST
from musclesolve.errors import input_error
from musclesolve.sharing.arguments import check_problem
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.cost.cost_terms import Power, Term
from musclesolve.sharing.kernel import compiled_certificate, constants, dual_newton
from musclesolve.sharing.kernel.solve_frame import MOST_OF_DUAL
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.batch import Batch
from musclesolve.tables.text_file import file_path, write_text

TEMPLATE = "frame_solver.c"
_CONSTANTS: dict[str, Any] = {
    "ROUNDING": constants.UNIT_ROUNDING,
    "GAP": constants.GAP,
    "TOLERANCE": constants.TOLERANCE,
    "TIGHT": Batch().tolerance,
    "HUGE": constants.HUGE,
    "IDLE": constants.IDLE,
    "NO_ROOM": constants.NO_ROOM,
    "RIDGE": constants.RIDGE,
    "EMPTY_ROW": constants.EMPTY_ROW,
    "EMPTY_PIVOT": constants.EMPTY_PIVOT,
    "POOR": constants.POOR,
    "DEPENDENT": constants.DEPENDENT,
    "TRIALS": compiled_certificate.TRIALS,
    "FARTHER": compiled_certificate.FARTHER,
    "CLOSE": compiled_certificate.CLOSE,
    "MOST_WARM": int(dual_newton.MOST_WARM),
    "MAX_TRIALS": int(dual_newton.MAX_TRIALS),
    "FIRST_ACTIVATION": dual_newton.FIRST_ACTIVATION,
    "TOO_FAR": dual_newton.TOO_FAR,
    "SHORTEST_STEP": dual_newton.SHORTEST_STEP,
    "HELD": dual_newton.HELD,
    "FLAT": dual_newton.FLAT,
    "SECANT_SHARE": dual_newton.SECANT_SHARE,
    "HELD_POWER": dual_newton.HELD_POWER,
    "FLAT_POWER": dual_newton.FLAT_POWER,
    "SECANT_SHARE_POWER": dual_newton.SECANT_SHARE_POWER,
    "PROOF_FROM": dual_newton.PROOF_FROM,
    "NEAR": dual_newton.NEAR,
    "MOST_RESCALINGS": dual_newton.MOST_RESCALINGS,
    "SHORT": dual_newton.SHORT,
    "LONG_BY": dual_newton.LONG_BY,
    "OF_ROUND_OFF": dual_newton.OF_ROUND_OFF,
    "STIFF": dual_newton.STIFF,
}
"""Constants of the kernel by their names in the code."""
_FUNCTIONS = frozenset(
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma "
    "fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan "
    "nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan tanh tgamma "
    "trunc".split()
)
"""Functions of <math.h>, which exist with the endings f and l, too."""
_TAKEN = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while "
    "alignas alignof asm bool constexpr false nullptr static_assert thread_local true typeof typeof_unqual "
    "fpclassify isfinite isgreater isgreaterequal isinf isless islessequal islessgreater isnan isnormal isunordered "
    "signbit float_t double_t math_errhandling gamma j0 j1 jn y0 y1 yn signgam drem finite significand "
    "HUGE_VAL INFINITY NAN DBL_MIN main "
    "memcpy memmove memset memcmp malloc calloc realloc free abort exit printf puts read write time".split()
)
"""Keywords of C, other names in its headers, and functions of its library that programs call."""
MOST_STEPS = 1_000_000
"""Largest max_steps: numbers of steps are an int in C."""
_WIDE, _OF_MUSCLES, _OF_DOFS = 2, 16, 7
"""Numbers of arrays (m, n), (n,) without the coefficients of the cost, and (m,) of the workspace in C."""


def c_solver(
    problem: Problem, cost: str | Cost = USUAL_COST, name: str = "share_moments", max_steps: int = 100
) -> str:
    """C code of a certified solver for frames of the size, names and muscles of a problem, under one cost.

    Args:
        problem: the code has its numbers of degrees of freedom and muscles, its maximum isometric forces and whatever
            the cost reads. Moments, moment arms, force capacities and bounds are arguments of the code.
        cost: a name or a Cost: a sum over muscles of powers, or soft saturation with exponent 2 (module docstring).
        name: of the function in C. A comment above it describes its arguments.
        max_steps: most steps of Newton's method from a cold start; from the multipliers of another frame 15 more come
            first. Frames of walking need 3 to 10; few need more than 25, near the limits of the muscles.

    Returns:
        The text of one C file.

    Raises:
        InputError: the cost has another form, or numbers that differ from frame to frame; the problem has reserve
            weights; no name of C.

    Examples:
        >>> elbow = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
        >>> code = ms.sharing.c_solver(elbow, "activation_power", name="elbow")
        >>> "int elbow(const double *moment" in code, "malloc" in code
        (True, False)
    """
    names = check_problem(problem, "c_solver").names
    check_type(name, str, "name", "the name of a function in C")
    taken = name in _TAKEN or {name, name[:-1]} & _FUNCTIONS or name.lower().startswith("ms_")
    if not name.isidentifier() or not name.isascii() or name.startswith("_") or taken:
        raise input_error(
            "bad_value",
            where="name",
            problem=f"{name!r} is no name for a function in C",
            expected="letters, digits and underscores, a letter first, not ms_; no keyword of C, no name of <math.h>, "
            "not main or another function of the C library",
        )
    check_integer(max_steps, "max_steps", 1, MOST_STEPS)
    if problem.reserve_weight is not None:
        raise input_error(
            "conflict",
            where="c_solver",
            problem="the problem has reserve weights, and the code has no reserves",
            expected="a problem whose moments are met exactly",
            remedy="leave reserve_weight out",
        )
    chosen = find_cost(cost)
    chosen.check_names(*names)
    terms, fixed, proportional, along_fibers = _coefficients(problem, chosen)
    form = _form(terms, chosen, fixed + proportional)
    exponents = [float(term.form.exponent) for term in terms]
    rows, columns = problem.n_dof, problem.n_muscles
    columns_each, rows_each = len(terms) + _OF_MUSCLES, rows + _OF_DOFS
    stack = 8 * (_WIDE * rows * columns + columns_each * columns + rows_each * rows)
    filled = {
        "ABOUT": f"Cost: {chosen.label}, {chosen.formula}. Made by musclesolve for {rows} x {columns} moment arms.",
        "STACK": f"about {stack}",
        "NAME": name,
        "DOFS": str(rows),
        "MUSCLES": str(columns),
        "TERMS": str(len(terms)),
        "FORM": form,
        "FORCE": "fiber_force_capacity" if along_fibers else "force_capacity",
        "EXPONENTS": _numbers(exponents),
        "FACTORS": _numbers([float(np.ravel(term.factor)[0]) for term in terms]),
        "FIXED": ",\n".join(f"    {{{_numbers(row)}}}" for row in fixed),
        "PROPORTIONAL": ",\n".join(f"    {{{_numbers(row)}}}" for row in proportional),
        "NAMES": _order(problem),
        "CONSTANTS": "\n".join(
            f"#define MS_{key} {value if isinstance(value, int) else repr(float(value))}"
            for key, value in {**_CONSTANTS, "END": _end(terms), "MAX_STEPS": max_steps}.items()
        ),
    }
    text = files(__package__).joinpath(TEMPLATE).read_text(encoding="utf-8")
    for key, value in filled.items():
        text = text.replace(f"@{key}@", value)
    return text


def write_c_solver(
    path: str | Path,
    problem: Problem,
    cost: str | Cost = USUAL_COST,
    name: str = "share_moments",
    max_steps: int = 100,
) -> Path:
    """Write the code of `c_solver` into a file, whose path is returned.

    Raises:
        InputError: see `c_solver`; no file can be written there.
    """
    place = file_path(path, "path")
    write_text(place, c_solver(problem, cost, name, max_steps))
    return place


def _coefficients(problem: Problem, cost: Cost) -> tuple[tuple[Term, ...], Array, Array, bool]:
    """The terms of a cost, their coefficients u + v F (K, n), and whether F is the force along the fibers."""
    first, strength = problem.frames(np.arange(1)), problem.max_isometric_force

    def terms_at(tendon: float, fiber: float) -> tuple[tuple[Term, ...], Array]:
        """The terms and their coefficients (K, n) at shares of the maximum isometric force."""
        forces = {"force_capacity": tendon * strength[None], "fiber_force_capacity": fiber * strength[None]}
        at = first.with_arrays(**forces)
        terms = cost.apart(at).terms(at)
        if terms is None or cost.soft_rows(at) is not None or any(term.target is not None for term in terms):
            raise _unfit(cost, "is no sum over muscles of powers or of soft saturation without targets")
        if any(np.ptp(np.ravel(term.factor)) > 0.0 for term in terms):
            raise _unfit(cost, "changes from frame to frame")
        return terms, np.array([term.coefficient[0] for term in terms])

    terms, once = terms_at(1.0, 1.0)
    by_tendon, by_fiber = (terms_at(*shares)[1] for shares in ((2.0, 1.0), (1.0, 2.0)))
    along_fibers = bool((by_fiber != once).any())
    grows = (by_fiber if along_fibers else by_tendon) > once
    fixed, proportional = np.where(grows, 0.0, once), np.where(grows, once / strength, 0.0)
    force = problem.force_capacity
    if along_fibers and problem.fiber_force_capacity is not None:
        force = problem.fiber_force_capacity
    given = fixed[:, None] + proportional[:, None] * force
    whole = cost.apart(problem).terms(problem) or ()
    same = not (along_fibers and (by_tendon != once).any()) and all(
        np.allclose(term.coefficient[problem.valid], one[problem.valid], rtol=1e-9, atol=0.0)
        for term, one in zip(whole, given, strict=True)
    )
    if not same:
        raise _unfit(cost, "reads more of a frame than the forces of the muscles at activation 1")
    return terms, fixed, proportional, along_fibers


def _form(terms: tuple[Term, ...], cost: Cost, coefficient: Array) -> str:
    """The formula in C that gives activations from multipliers, as `dual_newton.dual_form`."""
    exponents = [term.form.exponent for term in terms]
    if len(terms) == 1 and not isinstance(terms[0].form, Power):
        if exponents[0] == 2.0:
            return "MS_SATURATION"
        raise _unfit(cost, f"saturates with the exponent {exponents[0]:g}; the code takes 2")
    if not all(isinstance(term.form, Power) for term in terms):
        raise _unfit(cost, "adds soft saturation to other terms")
    if all(exponent in (1.0, 2.0, 3.0) for exponent in exponents):
        bent = (np.array(exponents)[:, None] > 1.0) & (coefficient > 0.0)
        if not bent.any(axis=0).all():
            raise _unfit(cost, "is linear in some activations")
        if 1.0 in exponents:
            raise _unfit(cost, "has linear terms, under which Newton's method alone leaves many frames open")
        return "MS_CUBIC" if 3.0 in exponents else "MS_QUADRATIC"
    if len(terms) == 1 and 1.0 < exponents[0] <= MOST_OF_DUAL:
        return "MS_SINGLE_POWER"
    raise _unfit(cost, f"has other powers than the code: {', '.join(f'{one:g}' for one in exponents)}")


def _unfit(cost: Cost, fault: str) -> Exception:
    return input_error(
        "bad_cost",
        where="cost",
        problem=f"the cost {cost.label} {fault}",
        expected="powers 2 and 3, one power in (1, 4], or soft saturation with exponent 2, of activations or forces",
        remedy="choose activation_power, stress_cubed, force_squared, knee_sparing_activation or soft_saturation",
    )


def _end(terms: tuple[Term, ...]) -> float:
    """The largest load of the domain of the cost; a number beyond all where there is none."""
    end = min(term.form.end for term in terms)
    return float(end) if np.isfinite(end) else 1e300


def _numbers(values: Any) -> str:
    return ", ".join(repr(float(value)) for value in values)


def _order(problem: Problem) -> str:
    """Names of degrees of freedom and muscles in the order of the arrays, without an end of the comment."""
    parts = []
    for what, given in (("degrees of freedom", problem.dof), ("muscles", problem.muscle)):
        if given:
            parts.append(f"{what} {', '.join(given)}")
    return (
        ("; ".join(parts) or "as in the problem").replace("*/", "* /").replace("\\", "/").replace("??", "?")
    )
