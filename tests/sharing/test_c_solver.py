"""The C code of `c_solver`: the numbers of `batch`, certificates that hold, and no false optimum."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from musclesolve.sharing import c_solver, certify, write_c_solver
from musclesolve.sharing.cost import ActivationPower, EmgTracking

COSTS = (
    "activation_power",
    "activation_power(exponent=1.5)",
    "activation_power(exponent=4)",
    "force_squared",
    "stress_cubed",
    "soft_saturation",
    "knee_sparing_activation",
)
FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fPIC", "-shared")
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@dataclass
class Frames:
    """Results of the code for the frames of a problem."""

    activation: list[np.ndarray] = field(default_factory=list)
    force: list[np.ndarray] = field(default_factory=list)
    multiplier: list[np.ndarray] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    cost: list[float] = field(default_factory=list)
    cost_bound: list[float] = field(default_factory=list)
    moment_error: list[float] = field(default_factory=list)
    proof: list[np.ndarray] = field(default_factory=list)


Solve = Callable[..., Frames]


def compiled(folder: Path, problem: ms.Problem, cost: str = "activation_power", **options: object) -> Solve:
    """The code of a problem as a function of problems; `warm`: from the multipliers of the frame before."""
    source = write_c_solver(folder / "frame.c", problem, cost, **options)  # type: ignore[arg-type]
    library = folder / f"frame{len(list(folder.iterdir()))}.so"
    subprocess.run(["cc", *FLAGS, str(source), "-o", str(library), "-lm"], check=True)
    function = ctypes.CDLL(str(library))["share_moments"]

    class Result(ctypes.Structure):
        _fields_ = (
            *(("status", ctypes.c_int), ("iterations", ctypes.c_int)),
            *((name, ctypes.c_double) for name in ("gap", "cost", "cost_bound", "moment_error")),
            ("proof", ctypes.c_double * problem.n_dof),
        )

    def solve(given: ms.Problem, warm: bool = True) -> Frames:
        found, multiplier = Frames(), np.zeros(given.n_dof)
        fiber = given.force_capacity if given.fiber_force_capacity is None else given.fiber_force_capacity
        arrays = (given.moment, given.moment_arm, given.force_capacity, fiber, given.lower, given.upper)
        for t in range(given.n_frames):
            if not warm:
                multiplier[:] = np.nan
            result, activation, force = Result(), np.empty(given.n_muscles), np.empty(given.n_muscles)
            inputs = [np.ascontiguousarray(array[t]) for array in arrays]
            pointers = [
                array.ctypes.data_as(ctypes.c_void_p) for array in (*inputs, multiplier, activation, force)
            ]
            status = function(*pointers, ctypes.byref(result))
            assert status == result.status
            found.activation.append(activation)
            found.force.append(force)
            found.multiplier.append(multiplier.copy())
            found.proof.append(np.array(result.proof))
            for name in ("status", "iterations", "gap", "cost", "cost_bound", "moment_error"):
                getattr(found, name).append(getattr(result, name))
        return found

    return solve


def random_problem(
    seed: int, frames: int = 60, dofs: int = 5, muscles: int = 25, load: float = 1.0
) -> ms.Problem:
    """Moments of random activations, times `load`; some muscles have narrow bounds."""
    rng = np.random.default_rng(seed)
    arm = rng.normal(0.0, 0.04, (frames, dofs, muscles)) * (rng.random((1, dofs, muscles)) < 0.6)
    strength = 10.0 ** rng.uniform(2.0, 3.6, muscles)
    fiber = strength * rng.uniform(0.3, 1.2, (frames, muscles))
    capacity = fiber * rng.uniform(0.8, 1.0, (frames, muscles))
    lower, upper = (
        np.where(rng.random(muscles) < 0.3, 0.02, 0.0),
        np.where(rng.random(muscles) < 0.3, 0.6, 1.0),
    )
    activation = lower + (upper - lower) * rng.random((frames, muscles)) ** 2
    return ms.Problem(
        arm,
        load * np.einsum("tmn,tn,tn->tm", arm, capacity, activation),
        capacity,
        strength,
        lower=lower,
        upper=upper,
        fiber_force_capacity=fiber,
        optimal_fiber_length=np.full(muscles, 0.1),
        dof=tuple(f"knee_{k}" if k == 0 else f"dof_{k}" for k in range(dofs)),
    )


@needs_compiler
@pytest.mark.in_part(3)
@pytest.mark.parametrize("cost", COSTS)
def test_the_numbers_are_those_of_batch(cost, tmp_path):
    problem = random_problem(1)
    solution, found = ms.solve(problem, cost), compiled(tmp_path, problem, cost)(problem)
    assert solution.solved.all() and set(found.status) == {ms.Status.SOLVED}
    np.testing.assert_allclose(found.activation, solution.activation, atol=1e-9)
    np.testing.assert_allclose(found.force, solution.force, atol=1e-9 * problem.max_isometric_force.max())
    np.testing.assert_allclose(found.multiplier, solution.multiplier, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(found.cost, solution.cost, rtol=1e-9)
    assert max(found.gap) <= 1e-9 and max(found.moment_error) <= 1e-6
    np.testing.assert_allclose(found.cost_bound, solution.cost_bound, rtol=1e-9)


@needs_compiler
def test_the_certificate_of_the_package_holds_for_the_numbers_of_the_code(tmp_path):
    problem = random_problem(2)
    found = compiled(tmp_path, problem, "stress_cubed")(problem)
    reserve = np.zeros(problem.moment.shape)
    judged = certify(problem, "stress_cubed", np.array(found.activation), reserve, np.array(found.multiplier))
    assert judged.gap.max() <= 1e-9 and judged.moment_error.max() <= 1e-6
    np.testing.assert_allclose(judged.cost_bound, found.cost_bound, rtol=1e-9)


@needs_compiler
def test_the_frame_before_changes_nothing_but_the_steps(tmp_path):
    problem = random_problem(3)
    solve = compiled(tmp_path, problem)
    warm, cold = solve(problem), solve(problem, warm=False)
    np.testing.assert_allclose(warm.activation, cold.activation, atol=1e-9)
    same = problem.frames(np.zeros(20, int))
    assert np.mean(solve(same).iterations[1:]) < np.mean(solve(same, warm=False).iterations)


@needs_compiler
@pytest.mark.in_part(1)
@pytest.mark.parametrize("cost", ("activation_power", "stress_cubed", "soft_saturation"))
@pytest.mark.parametrize("seed", range(3))
def test_moments_out_of_reach_are_never_a_false_optimum(cost, seed, tmp_path):
    """Some of the moments are within reach, as `solve` proves; the code says the same, or that it is not finished."""
    problem = random_problem(10 + seed, frames=100, load=1.8)
    solution, found = ms.solve(problem, cost), compiled(tmp_path, problem, cost)(problem)
    status, known = np.array(found.status), np.asarray(solution.status)
    assert {ms.Status.SOLVED, ms.Status.INFEASIBLE} <= set(known.tolist())
    finished = status != ms.Status.MAX_ITERATIONS
    np.testing.assert_array_equal(status[finished], known[finished])
    assert finished.mean() > 0.95
    matrix, proof = problem.moment_matrix, np.array(found.proof)
    pull = np.einsum("tm,tmn->tn", proof, matrix)
    fiber = problem.fiber_force_capacity
    assert fiber is not None
    end = (
        problem.max_isometric_force / fiber if cost == "soft_saturation" else np.inf
    )  # of the domain of the cost
    reach = np.maximum(problem.lower * pull, np.minimum(problem.upper, end) * pull).sum(axis=1)
    infeasible = status == ms.Status.INFEASIBLE
    assert ((proof * problem.moment).sum(axis=1)[infeasible] > reach[infeasible]).all()
    open_frames = status != ms.Status.SOLVED
    assert (
        np.isnan(np.array(found.gap)[open_frames]).all() and np.isnan(np.array(found.cost)[open_frames]).all()
    )
    inside = (np.array(found.activation) >= problem.lower) & (np.array(found.activation) <= problem.upper)
    assert inside.all()
    missed = np.abs(problem.produced(np.array(found.activation)) - problem.moment)
    error = (missed / np.maximum(1.0, np.abs(problem.moment))).max(axis=1)
    np.testing.assert_allclose(np.array(found.moment_error)[open_frames], error[open_frames], rtol=1e-9)


@needs_compiler
def test_steps_are_bounded(tmp_path):
    problem = random_problem(4)
    found = compiled(tmp_path, problem, "stress_cubed", max_steps=2)(problem, warm=False)
    assert max(found.iterations) == 2 and ms.Status.MAX_ITERATIONS in found.status
    assert all(np.isnan(gap) for gap, status in zip(found.gap, found.status, strict=True) if status)


@needs_compiler
def test_invalid_numbers_are_named_so(tmp_path):
    problem = random_problem(5, frames=1)
    solve = compiled(tmp_path, problem)
    for name in ("moment", "moment_arm", "force_capacity", "lower", "upper"):
        array = np.array(getattr(problem, name))
        array[(0,) * array.ndim] = np.nan
        found = solve(problem.with_arrays(**{name: array}))
        assert found.status == [ms.Status.INVALID_INPUT], name
        assert not np.any(found.activation) and not np.any(found.multiplier)
    negative = np.array(problem.lower)
    negative[0, 0] = -0.1
    assert solve(problem.with_arrays(lower=negative)).status == [ms.Status.INVALID_INPUT]
    crossed = np.array(problem.upper)
    crossed[0, 0] = problem.lower[0, 0] - 0.01
    assert solve(problem.with_arrays(upper=crossed)).status == [ms.Status.INFEASIBLE]


@needs_compiler
def test_one_moment_of_one_muscle_and_muscles_that_move_nothing(tmp_path):
    one = ms.Problem([[[0.05]]] * 2, [[20.0], [60.0]], [[1000.0]] * 2, [1000.0])
    found = compiled(tmp_path, one)(one)
    assert found.status == [ms.Status.SOLVED, ms.Status.INFEASIBLE]
    np.testing.assert_allclose(found.activation[0], [0.4])
    idle = ms.Problem([[0.05, 0.0, 0.03]], [20.0], [1000.0, 500.0, 0.0], [1000.0, 500.0, 400.0], lower=0.01)
    (folder := tmp_path / "idle").mkdir()
    found = compiled(folder, idle)(idle)
    assert found.status == [ms.Status.SOLVED]
    np.testing.assert_allclose(found.activation[0], [0.4, 0.01, 0.01], atol=1e-12)


@needs_compiler
def test_two_legs_are_two_files_and_fast_arithmetic_is_refused(tmp_path):
    """Sizes and cost of a file are macros, which a second one in the same file would redefine."""
    for side, seed in (("r", 8), ("l", 9)):
        write_c_solver(tmp_path / f"leg_{side}.c", random_problem(seed, frames=1), name=f"leg_{side}")
    (tmp_path / "both.c").write_text('#include "leg_r.c"\n#include "leg_l.c"\n')
    (tmp_path / "call.c").write_text(
        "int leg_r(void); int leg_l(void); int both(void) { return leg_r == leg_l; }\n"
    )

    def make(*arguments: str) -> str:
        command = ["cc", *FLAGS, *arguments, "-o", "made.so", "-lm"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stderr

    assert "two solvers in one file: compile each by itself" in make("both.c")
    assert make("call.c", "leg_r.c", "leg_l.c") == ""
    for flag in ("-ffast-math", "-ffinite-math-only"):
        assert "needs IEEE arithmetic" in make(flag, "leg_r.c")


def test_the_code_stands_alone_and_names_its_arrays():
    problem = random_problem(6, frames=1)
    code = c_solver(problem, "stress_cubed", name="leg")
    assert [line for line in code.splitlines() if line.startswith("#include")] == [
        "#include <float.h>",
        "#include <math.h>",
    ]
    assert "malloc" not in code and "@" not in code
    assert "int leg(" in code and "knee_0, dof_1" in code and "stress_cubed" in code


def test_costs_and_problems_that_do_not_fit_are_refused():
    problem = random_problem(7, frames=2)
    for cost in ("min_max", "activation_power(exponent=6)", "activation_power(exponent=1)"):
        with refused("bad_cost"):
            c_solver(problem, cost)
    with refused("bad_cost", "soft_saturation"):
        c_solver(problem, "soft_saturation(exponent=3)")
    with refused("bad_cost", "2, 4"):
        c_solver(problem, ActivationPower(2) + ActivationPower(4))
    tracked = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0], emg=[0.1, 0.2])
    with refused("bad_cost", "emg_tracking"):
        c_solver(tracked, EmgTracking())
    weighted = ms.Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0], reserve_weight=1.0)
    with refused("conflict"):
        c_solver(weighted)
    with refused("bad_value", "two words"):
        c_solver(problem, name="two words")
    for name in ("double", "main", "pow", "powf", "MS_SOLVED", "ms_dot", "_Bool", "memset"):
        with refused("bad_value", name):
            c_solver(problem, name=name)
    for name in (3, None):
        with refused("wrong_type", "name of a function"):
            c_solver(problem, name=name)
    with refused("bad_number", "1000000"):
        c_solver(problem, max_steps=10**12)
    for powers in (ActivationPower(1) + ActivationPower(2), ActivationPower(1) + ActivationPower(3)):
        with refused("bad_cost", "linear terms"):
            c_solver(problem, powers)


def test_places_where_no_file_can_be_are_refused(tmp_path):
    problem = random_problem(7, frames=1)
    for place in (tmp_path, tmp_path / "missing" / "frame.c"):
        with refused("not_writable"):
            write_c_solver(place, problem)
