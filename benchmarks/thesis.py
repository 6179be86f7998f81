"""The table of the thesis, with today's methods of the same kinds beside it.

    python -m benchmarks.thesis [TRIAL.toml] [--seconds N] [--which full|reduced|both] [--method SQP ...] [-o FILE.csv]

Silva 2003 shared the forces of the muscles of one leg over the 66 frames of a stride, under the sum of cubed stresses
(eq. 6.21), with all multipliers and all activations unknown and all equations of motion as constraints (6.22). He
reports (section 6.7, which begins on page 257):

    DNCONG of IMSL, sequential quadratic programming (SQP)            45 s for the 66 frames
    DOT 5.0: modified feasible directions, sequential linear and
        quadratic programs, of which the linear ones did best       about 2 hours, similar results
    MMA, the method of moving asymptotes (Svanberg)                   did not produce any result

Gradient projection, genetic algorithms and the feasible directions of an interior point (Herskovits 1998) are named
(6.6.3) and not tried. Here stand, on a stride of 66 frames as well, the same two
formulations: `full`, the formulation of the thesis, and `reduced`, activations alone with a row for each moment. Every
method starts each frame from activations of a half, without knowing the frame before. The activations of every method
alone are judged, by the certificate, by how far they miss the moments and by what they cost beyond the optimum. A
method gets so many seconds; what it could not do in them is extrapolated and marked. The computers of 2003 were not
these.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.table import Table

import muscle_db
import musclesolve as ms
from benchmarks.arguments import command_line, input_file
from benchmarks.thesis_methods import ALONE, BOUNDED, METHODS, Form, Method
from benchmarks.timing import console
from muscle_db.model import LEG_DOFS
from musclesolve._util.arrays import Array
from musclesolve.data import reference_stride
from musclesolve.forces import mechanics
from musclesolve.muscles import scale_muscles
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.pipeline.linked_bodies import full_problem
from musclesolve.sharing import kkt_residual, solve_full
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.full_formulation import FullProblem
from musclesolve.sharing.kernel.constants import TOLERANCE
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.frame_program import FrameProgram, least_squares_multiplier
from musclesolve.studies.benchmark.measure import machine

COST = find_cost("stress_cubed")
SECONDS = 20.0


@dataclass(frozen=True)
class Line:
    """The outcome of a method; shares and medians over the frames that it was given."""

    method: str
    formulation: str
    frames: int
    seconds: float
    claimed: int
    certified: int
    certificate: float
    miss: float
    excess: float
    iterations: float
    stopped: int = 0

    @property
    def stride(self) -> float:
        """Seconds for 66 frames."""
        return 66.0 * self.seconds / self.frames


def leg(file: Path) -> tuple[Problem, FullProblem]:
    """The right leg of a trial in both formulations; frames that can be solved without reserves."""
    trial = ms.read_trial(file)
    recorded = mechanics(trial)
    database = muscle_db.load(trial.settings.muscles.database)
    muscles = scale_muscles(recorded.model, database, "r", trial.settings.muscles.strength, "table")
    state = muscle_state(recorded.model, muscles, recorded.motion)
    dofs = [f"{dof}_r" for dof in LEG_DOFS[:5]]
    full = full_problem(recorded.model, recorded.motion, recorded.wrenches, [state], dofs)
    return full.reduced, full


def reduced_form(problem: Problem, full: FullProblem, t: int) -> Form:
    program = FrameProgram(problem.frames(np.array([t])), COST)
    return Form(program, program.matrix, program.moment)


def full_form(problem: Problem, full: FullProblem, t: int) -> Form:
    """Phi_q^T lambda + R^T C a = g - M qdd over the largest force, lambda by the length of its row."""
    held = full.jacobian[t][~full.redundant[t]]
    held = held / np.linalg.norm(held, axis=1, keepdims=True)
    force = max(1.0, float(np.abs(full.needed[t]).max()))
    muscles = full.muscle_rows[t] * full.force_capacity[t][:, None] / force
    rows = np.concatenate([held, muscles]).T
    return Form(
        FrameProgram(problem.frames(np.array([t])), COST),
        np.ascontiguousarray(rows),
        -full.needed[t] / force,
    )


def tried(
    name: str,
    formulation: str,
    method: Method,
    forms: Callable[[int], Form],
    order: Array,
    seconds: float,
    best: Array,
) -> Line:
    """A method on one frame after the other until its time is over."""
    spent, stopped, answers = 0.0, 0, []
    for t in order:
        form = forms(int(t))
        begin = perf_counter()
        answer = method(form)
        took = perf_counter() - begin
        spent, stopped = spent + took, stopped + (took >= ALONE and not answer.claims)
        answers.append((int(t), form, answer))
        if spent > seconds:
            break
    judged = np.array([judge(form, answer.x[-form.muscles :], best[t]) for t, form, answer in answers])
    return Line(
        name,
        formulation,
        len(answers),
        spent,
        sum(answer.claims for _, _, answer in answers),
        int((judged[:, 0] <= TOLERANCE).sum()),
        *np.median(judged, axis=0).tolist(),
        float(np.mean([answer.iterations for _, _, answer in answers])),
        stopped,
    )


def judge(form: Form, activation: Array, least: float) -> tuple[float, float, float]:
    """Certificate, largest miss of a moment [N m], and cost over the least one less 1, of activations alone."""
    program, problem = form.program, form.program.problem
    a = np.clip(activation, program.lower, program.upper)
    multiplier = least_squares_multiplier(
        program.matrix, program.gradient(a), a, program.lower, program.upper
    )
    multiplier = multiplier * program.scale / program.row
    residual = kkt_residual(problem, COST, a[None], np.zeros_like(problem.moment), multiplier[None])
    miss = float(np.abs(problem.moment_matrix[0] @ a - problem.moment[0]).max())
    return float(residual[0]), miss, float(COST.value(problem, a[None])[0]) / least - 1.0


def own(problem: Problem, full: FullProblem, which: str) -> list[Line]:
    """The solvers of the package on all frames."""
    lines = []
    calls: list[tuple[str, str, Callable[[], ms.Solution]]] = []
    if which != "full":
        ms.solve(problem, COST, "batch")
        calls.append(("ms.solve, batch", "reduced", lambda: ms.solve(problem, COST, "batch")))
        calls.append(("ms.solve, ipopt: interior point", "reduced", lambda: ms.solve(problem, COST, "ipopt")))
        calls.append(("ms.solve, slsqp: SQP and Newton", "reduced", lambda: ms.solve(problem, COST, "slsqp")))
    if which != "reduced":
        calls.append(("solve_full, Ipopt: interior point", "full", lambda: solve_full(full, COST)))  # type: ignore[arg-type,return-value]
    for name, formulation, call in calls:
        begin = perf_counter()
        found = call()
        seconds = perf_counter() - begin
        good = found.solved
        produced = np.einsum("tmn,tn->tm", problem.moment_matrix[good], found.activation[good])
        miss = np.abs(produced - problem.moment[good]).max(axis=1)
        residual = float(np.median(found.kkt_residual[good]))
        iterations = float(np.mean(found.iterations))
        counts = (len(good), seconds, int(good.sum()), int(good.sum()))
        lines.append(Line(name, formulation, *counts, residual, float(np.median(miss)), 0.0, iterations))
    return lines


def report(file: Path, seconds: float, which: str, only: Sequence[str] = ()) -> list[Line]:
    """All methods on both formulations, or those whose names begin with some words."""
    problem, full = leg(file)
    least = ms.solve(problem, COST)
    order = np.flatnonzero(least.status == 0)
    order = np.random.default_rng(0).permutation(order)
    console.print(f"{problem.n_frames} frames, {len(order)} of them feasible without reserves")
    console.print(
        f"reduced: {problem.n_dof} rows, {problem.n_muscles} unknowns; full: {full.needed.shape[1]} rows,"
    )
    console.print(f"{full.jacobian.shape[1] - int(full.redundant[0].sum()) + problem.n_muscles} unknowns")
    lines = own(problem, full, which)
    chosen = []
    for formulation in ("reduced", "full") if which == "both" else (which,):
        for name in METHODS:
            if only and not name.startswith(tuple(only)):
                continue
            if ("NLopt" in name and find_spec("nlopt") is None) or (
                formulation == "full" and name.startswith(BOUNDED)
            ):
                console.print(f"left out: {name}, {formulation}")
                continue
            chosen.append((formulation, name))
    minutes = len(chosen) * seconds / 60.0
    console.print(f"{len(chosen)} methods of {seconds:g} s each: {minutes:.1f} minutes")
    for formulation, name in chosen:
        make = {"reduced": reduced_form, "full": full_form}[formulation]
        forms = lambda t, make=make: make(problem, full, t)  # noqa: E731
        done = tried(name, formulation, METHODS[name], forms, order, seconds, least.cost)
        lines.append(done)
        console.print(f"  {done.method}, {formulation}: {done.frames} frames in {done.seconds:.3g} s")
    return lines


def table(lines: list[Line]) -> Table:
    shown = Table(title="Silva 2003, 6.7: SQP 45 s, DOT about 2 hours, MMA no result, for 66 frames (full)")
    for heading in ("method", "formulation", "frames", "s / 66 frames", "claimed", "certified"):
        shown.add_column(heading, justify="left" if heading in ("method", "formulation") else "right")
    for heading in ("certificate", "miss [N m]", "cost over least", "iterations"):
        shown.add_column(heading, justify="right")
    for line in lines:
        measured = line.frames >= 66
        shown.add_row(
            line.method,
            line.formulation,
            str(line.frames),
            ("> " if line.stopped else "") + f"{line.stride:.3g}" + ("" if measured else " *"),
            str(line.claimed),
            str(line.certified),
            f"{line.certificate:.0e}",
            f"{line.miss:.0e}",
            f"{line.excess:+.1e}",
            f"{line.iterations:.0f}",
        )
    shown.caption = (
        f"* extrapolated from the frames that it was given; > frames were stopped after {ALONE:.0f} s; "
        "certificate, miss and cost are medians"
    )
    return shown


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("trial", nargs="?", type=input_file, default=reference_stride())
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each method")
    parser.add_argument("--which", choices=("both", "full", "reduced"), default="both")
    parser.add_argument(
        "--method", action="extend", nargs="+", default=[], help="beginnings of names; default: all"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE.csv")
    given = parser.parse_args()
    print(", ".join(f"{name} {value}" for name, value in machine().items()))
    lines = report(given.trial, given.seconds, given.which, given.method)
    console.print(table(lines))
    if given.output:
        given.output.parent.mkdir(parents=True, exist_ok=True)
        with given.output.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow([*vars(lines[0]), "seconds_for_66"])
            writer.writerows([*vars(line).values(), line.stride] for line in lines)


if __name__ == "__main__":
    main()
