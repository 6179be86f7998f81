"""How time and memory of the solvers grow with frames, muscles and moments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve.sharing.solver.solver_registry import REGISTRY
from musclesolve.studies.benchmark.measure import (
    PATIENCE,
    REFERENCE,
    Memory,
    NoResultError,
    Row,
    contest,
    in_fresh_process,
    measure,
    random_problem,
    takes,
)

FRAMES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
MUSCLES = (20, 43, 100, 200)
MOMENTS = (3, 7, 15, 30)
WIDE = 100
"""Muscles where moments vary."""
BLOCK = 50_000
"""Frames that are solved by one call: more of them come in blocks, so that memory stays what a block takes."""

BUDGET = 1.0
"""Seconds for the calls of each solver."""
LIMIT = 20.0
"""Seconds for a number of frames; a solver that would need more is left out from there on."""

Progress = Callable[[str], None]


def with_frames(solvers: tuple[str, ...], cost: str, most: int, progress: Progress) -> list[Row]:
    """A row for each solver and number of frames of 7 moments and 43 muscles."""
    counts, rows = [count for count in FRAMES if count <= most], []
    for solver in solvers:
        progress(f"{solver}, growing frames")
        blank = {"problem": "frames", "moments": 7, "muscles": 43, "cost": cost, "solver": solver}
        if not (REGISTRY[solver].installed and takes(solver, cost)):
            continue
        try:
            found = in_fresh_process(
                growing, solver, cost, counts, limit=2.0 * LIMIT * len(counts) + PATIENCE
            )
        except NoResultError as error:
            found = [{"remark": str(error)}]
        rows += [Row(**(blank | each)) for each in found]
    own = {row.frames: row.us_per_frame for row in rows if row.solver == REFERENCE}
    return [replace(row, ratio=row.us_per_frame / own.get(row.frames, np.nan)) for row in rows]


def growing(solver: str, cost: str, counts: list[int]) -> list[dict[str, Any]]:
    """The figures of a solver for growing numbers of frames, until one would take too long."""
    rows: list[dict[str, Any]] = []
    expected = 0.0
    _blocks(solver, cost, 1)  # whatever is imported and compiled
    for count in counts:
        if expected * count > LIMIT:
            remark = f"more than {LIMIT:.0f} s for {count} frames"
            return [*rows, {"frames": count, "remark": remark}]
        row = _blocks(solver, cost, count)
        expected = row["us_per_frame"] / 1e6
        rows.append(row)
    return rows


def _blocks(solver: str, cost: str, count: int) -> dict[str, Any]:
    from musclesolve.sharing.solving import solve

    seconds, solved, worst, iterations, memory = 0.0, 0, 0.0, 0.0, 0.0
    for seed, begin in enumerate(range(0, count, BLOCK)):
        problem, used = random_problem(min(BLOCK, count - begin), seed=seed), Memory()
        timing = measure(lambda problem=problem: solve(problem, cost, solver), 7, 0.3)  # type: ignore[misc]
        answer = timing.value
        seconds += min(timing.first, timing.best)
        solved += int(answer.solved.sum())
        worst = max(worst, float(np.nanmax(answer.kkt_residual)))
        iterations += float(answer.iterations.sum())
        memory = max(memory, used.grown())
    return {
        "frames": count,
        "us_per_frame": 1e6 * seconds / count,
        "solved": solved,
        "certificate": worst,
        "iterations": iterations / count,
        "memory_mb": memory,
        "remark": "" if solved == count else f"{count - solved} frames without an answer",
    }


def with_sizes(solvers: tuple[str, ...], cost: str, frames: int, progress: Progress) -> list[Row]:
    """A row for each solver and number of muscles, with 7 moments, then of moments, with 100 muscles."""
    sizes = [("muscles", 7, muscles) for muscles in MUSCLES] + [("moments", dofs, WIDE) for dofs in MOMENTS]
    rows = []
    for name, dofs, muscles in sizes:
        progress(f"{dofs} moments, {muscles} muscles")
        rows += contest(name, random_problem(frames, dofs, muscles), (cost,), solvers, BUDGET)
    return rows
