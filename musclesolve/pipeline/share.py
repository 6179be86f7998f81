"""Sharing the moments of a body among its muscles: rigid tendons frame by frame, elastic ones motion by motion.

Behind elastic tendons every unbroken run of usable frames is a motion that is solved by itself. The result describes
the solved state: fiber lengths and velocities, force capacities and passive forces follow from the tendons, so
that force = activation force_capacity + passive_force as behind rigid tendons, and the problem of the result is the
static one in this state.
"""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Indices, true_runs
from musclesolve._util.progress import Progress, no_progress
from musclesolve.constants import USUAL_LEAST_ACTIVATION
from musclesolve.errors import input_error
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.muscle_state import MUSCLE_ARRAYS, MuscleState
from musclesolve.pipeline.body import (
    Analysis,
    Body,
    JoinedGroup,
    KeptArms,
    LaterLoads,
    LaterParts,
    Sharing,
    SharingGroup,
    SolvedGroup,
    TendonStates,
)
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.solver.solver_registry import Solver, find_solver
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status
from musclesolve.trajectory.motion_problem import FEWEST_FRAMES, MotionProblem
from musclesolve.trajectory.motion_solution import MotionSolution

METHODS = {"batch": "structured", "ipopt": "collocation"}
"""What solves whole motions, by the solver of single frames that is asked for."""
_OF_RIGID = {
    "fiber_velocity": "fiber velocities, which are a part of the solution",
    "reaction_matrix": "joint reactions",
}


def share(body: Body, sharing: Sharing | None = None, progress: Progress | None = None) -> Analysis:
    """Share the moments of each part of a body among its muscles, otherwise than the body says where that is given."""
    report, chosen = progress or no_progress, sharing or body.sharing
    body.check(chosen)
    if isinstance(body.parts, LaterParts) and chosen.tendon == "rigid":
        return Analysis(body, chosen, share_in_blocks(body.parts, len(body.muscles), chosen, report))
    parts = []
    for number, part in enumerate(body.parts):
        first, count = number, len(body.parts)

        def of_part(stage: str, share: float, first: int = first, count: int = count) -> None:
            report(stage, 0.7 + 0.25 * (first + share) / count)

        of_part("sharing", 0.0)
        parts.append(share_part(part, chosen, progress=of_part))
    return Analysis(body, chosen, tuple(parts))


def share_part(
    part: SharingGroup, sharing: Sharing, like: Problem | None = None, progress: Progress | None = None
) -> SolvedGroup:
    """Share the moments of one part among its muscles; frames that are not feasible are solved with reserves.

    The status of a frame that is not usable is INVALID_MOTION, NOT_MEASURED where its moments are not known, and
    TOO_FEW_FRAMES in runs that are too short for elastic tendons. like: see `sharing_problem`; progress: of the motions
    with elastic tendons, 0 to 1.
    """
    tendons, notes = None, tuple[str, ...]()
    if sharing.elastic:
        muscles = ElasticMuscles.from_parameters(part.state.parameters)
        solution, tendons, notes = share_motion(part, sharing, muscles, progress)
        solved = ("fiber_length", "fiber_velocity", "force_capacity", "passive_force")
        state = {name: getattr(tendons, name) for name in solved}
        slack = np.asarray(solution.force + tendons.passive_force <= 0.0)
        part = replace(part, state=replace(part.state, **state, slack=slack))
    problem = sharing_problem(part, sharing, like)
    if tendons is None:
        solution = solve(problem, sharing.cost, sharing.solver, on_infeasible="reserve")
    if not (part.usable.all() and part.measured.all()):
        status = np.where(part.usable, solution.status, Status.INVALID_MOTION)
        status = np.where(part.measured, status, Status.NOT_MEASURED).astype(np.int8)
        solution = replace(solution, status=status)
    return SolvedGroup(part, problem, solution, tendons, notes)


def share_in_blocks(
    parts: LaterParts, muscles: int, sharing: Sharing, progress: Progress
) -> tuple[JoinedGroup, ...]:
    """Share the moments of parts with so many muscles together; their rows are made and dropped block by block.

    Frames do not depend on each other behind rigid tendons. Numbers over frames and muscles lie in one array of all
    muscles, of which each part has its columns.
    """
    whole: dict[str, Array] = {}
    kept: list[dict[tuple[str, str], Any]] = [{} for _ in range(len(parts))]
    arrays, last = list[SolutionArrays](), list[SolvedGroup]()
    for block, made in parts.blocks():
        progress("sharing", 0.7 + 0.25 * block.start / parts.frames)
        last, first = [share_part(part, sharing) for part in made], 0
        for number, each in enumerate(last):
            count = len(each.state.parameters.names)

            def over_muscles(name: str, kind: Any = float, own: slice = slice(first, first + count)) -> Array:
                """The columns of a part in an array of all muscles."""
                return whole.setdefault(name, np.empty((parts.frames, muscles), kind))[:, own]

            if number == len(arrays):
                new = SolutionArrays.unfilled(parts.frames, len(each.part.shared), count)
                new.activation, new.force = over_muscles("activation"), over_muscles("force")
                arrays.append(new)
            arrays[number].store(block, SolutionArrays.from_solution(each.solution))
            for (kind, name), values in _kept(each).items():
                if (kind, name) not in kept[number]:
                    shape = parts.frames, *values.shape[1:]
                    if kind == "state" and values.ndim == 2:
                        kept[number][kind, name] = over_muscles(name, values.dtype)
                    elif name == "moment_arm":
                        kept[number][kind, name] = KeptArms(*shape)
                    else:
                        kept[number][kind, name] = np.empty(shape, values.dtype)
                kept[number][kind, name][block] = values
            first += count
    return tuple(
        _joined(parts, number, sharing, *each)
        for number, each in enumerate(zip(last, arrays, kept, strict=True))
    )


_AT_JOINTS = ("contact_force", "contact_moment", "patellofemoral_force")


def _kept(solved: SolvedGroup) -> dict[tuple[str, str], Array]:
    """Values over the frames of a block that are kept beside its solution, by place and name."""
    part, loads = solved.part, solved.part.loads
    found = {("state", name): getattr(part.state, name) for name in MUSCLE_ARRAYS}
    found |= {("part", name): getattr(part, name) for name in ("moment", "usable", "time")}
    found["problem", "known"] = solved.known
    if part.emg is not None:
        found["part", "emg"] = part.emg
    if loads is not None:
        found |= {("loads", name): getattr(loads, name) for name in ("net", "net_moment")}
    for kind in _AT_JOINTS:
        found |= {(kind, joint): force for joint, force in getattr(solved, kind).items()}
    return found


def _joined(
    parts: LaterParts,
    number: int,
    sharing: Sharing,
    last: SolvedGroup,
    arrays: SolutionArrays,
    kept: dict[tuple[str, str], Any],
) -> JoinedGroup:
    """A part in all frames; last: the part in the last block."""

    def of(kind: str) -> dict[str, Any]:
        return {name: values for (own, name), values in kept.items() if own == kind}

    loads = last.part.loads
    if loads is not None:
        without = kept["loads", "net"], kept["loads", "net_moment"]
        loads = LaterLoads.of(
            loads.joints, *without, loads.knees, lambda which: parts.make(which)[number].loads
        )
    state = MuscleState(parameters=last.state.parameters, **of("state"))
    part = replace(last.part, state=state, loads=loads, **of("part"))
    solution = replace(last.solution, **vars(arrays))

    def problem_in(frames: slice | Indices) -> Problem:
        """The problem in some frames; with joint reactions where the cost is made of them."""
        if "reaction_matrix" in sharing.cost.data:
            return sharing_problem(parts.make(frames)[number], sharing)
        return sharing_problem(part.frames(frames), sharing)

    stored = {"known": kept["problem", "known"], **{kind: of(kind) for kind in _AT_JOINTS}}
    return JoinedGroup.of(part, solution, stored, problem_in)


def sharing_problem(part: SharingGroup, sharing: Sharing, like: Problem | None = None) -> Problem:
    """The problem of one part: the moments left to the contractile elements, NaN in frames that are not usable.

    b = M - r F_passive

    like: the problem of as many other frames of the same part, whose checks are not repeated.
    """
    state, loads = part.state, part.loads
    arm = state.moment_arm[:, part.rows]
    needed = part.shared_moment - (arm @ state.passive_force[:, :, None])[:, :, 0]
    arrays: dict[str, Any] = {
        "moment_arm": arm,
        "moment": np.where(part.usable[:, None], needed, np.nan),
        "force_capacity": state.force_capacity,
        "fiber_velocity": state.fiber_velocity,
        "reaction_matrix": None if loads is None else loads.matrix,
        "reaction_offset": None if loads is None else loads.offset(state.passive_force),
        "passive_force": state.passive_force,
        "emg": part.emg,
    }
    if like is not None:
        return like.with_arrays(**arrays)
    return Problem(
        **arrays,
        max_isometric_force=state.parameters.max_isometric_force,
        lower=np.array(sharing.least_activation),
        reserve_weight=None if sharing.reserve_weight is None else np.array(sharing.reserve_weight),
        muscle=state.parameters.names,
        dof=part.shared,
        optimal_fiber_length=state.parameters.optimal_fiber_length,
        joints_crossed=state.parameters.joints_crossed,
        reaction=None if loads is None else loads.components,
    )


def motion_cost(cost: str | Cost) -> Cost:
    """The cost of that name, if elastic tendons can have it."""
    chosen = find_cost(cost)
    problem = next((f"is one of {what}" for name, what in _OF_RIGID.items() if name in chosen.data), None)
    if problem is None and any(single.needs != {"separable"} for single in single_costs(chosen)):
        problem = "is not smooth, convex and a sum over muscles"
    if problem is None:
        return chosen
    raise input_error("pipeline.bad_cost", where="cost", label=chosen.label, fault=problem)


def motion_solver(solver: str | Solver) -> Solver:
    """The solver of that name, if it has a method for whole motions."""
    chosen = find_solver(solver)
    if chosen.name in METHODS:
        return chosen
    known = " or ".join(METHODS)
    raise input_error(
        "pipeline.solver_solves_frames_one", where="solver", expected=known, chosen=chosen.name, known=known
    )


def share_motion(
    part: SharingGroup, sharing: Sharing, muscles: ElasticMuscles, progress: Progress | None = None
) -> tuple[Solution, TendonStates, tuple[str, ...]]:
    """Solve every run of usable frames, with reserves where it is not feasible without.

    Returns:
        The solution of all frames, the states that it belongs to, and what a user should know of how it was found.
    """
    from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
    from musclesolve.trajectory.solve_motion import find_method, solve_motion  # not for rigid tendons

    method = find_method(METHODS[motion_solver(sharing.solver).name])
    cost = motion_cost(sharing.cost)
    frames, count = part.state.musculotendon_length.shape
    arrays = SolutionArrays.unfilled(frames, len(part.shared), count)
    for field in fields(arrays)[:-1]:
        getattr(arrays, field.name).fill(np.nan if field.type == "Array" else 0)
    arrays.status.fill(Status.INVALID_INPUT)
    arrays.reserve_weight.fill(np.inf if sharing.reserve_weight is None else sharing.reserve_weight)
    tendons, solved = TendonStates.empty(frames, count), list[MotionSolution]()
    wanted = np.asarray(part.usable & part.measured)
    furthest = 0.0
    for first, stop in true_runs(wanted):

        def report(share: float, first: int = first, stop: int = stop) -> None:
            """The share of the frames that is done; a motion that begins again, with reserves, does not set it back."""
            nonlocal furthest
            done = wanted[:first].sum() + share * (stop - first)
            furthest = max(furthest, float(done / wanted.sum()))
            if progress is not None:
                progress("elastic tendons", furthest)

        if stop - first < FEWEST_FRAMES:
            arrays.status[first:stop] = Status.TOO_FEW_FRAMES
            continue
        run = slice(first, stop)
        problem = motion_problem(part, run, muscles, sharing.least_activation, sharing.reserve_weight)
        if isinstance(method, BandedInteriorPoint):
            method = replace(method, progress=report)
        motion = solve_motion(problem, cost, method, on_infeasible="reserve")
        # status and certificate of all frames, numbers of those that are solved
        arrays.status[run], arrays.kkt_residual[run] = motion.status, motion.kkt_residual
        arrays.iterations[run] = motion.iterations
        rows = first + np.flatnonzero(motion.solved)
        for name in ("activation", "reserve", "multiplier", "cost"):
            getattr(arrays, name)[rows] = getattr(motion, name)[motion.solved]
        # without a weight of the user's, that of a reserve is known where it was needed: s = lambda / w
        known = (motion.status == Status.SOLVED_WITH_RESERVE)[:, None] & (motion.reserve != 0.0)
        weight = arrays.reserve_weight[run]
        np.divide(motion.multiplier, motion.reserve, out=weight, where=known & np.isinf(weight))
        tendons.store(first, motion)
        solved.append(motion)
    arrays.force = arrays.activation * tendons.force_capacity
    solver = ", ".join(dict.fromkeys(motion.solver for motion in solved if motion.solver))
    solution = Solution(**vars(arrays), solver=solver, cost_name=cost.label)
    return solution, tendons, tuple(dict.fromkeys(note for motion in solved for note in motion.notes))


def motion_problem(
    part: SharingGroup,
    run: slice,
    muscles: ElasticMuscles,
    least_activation: float = USUAL_LEAST_ACTIVATION,
    reserve_weight: float | None = None,
) -> MotionProblem:
    """The problem of frames that follow each other, for muscles with elastic tendons."""
    return MotionProblem(
        time=part.time[run],
        moment_arm=part.state.moment_arm[run, part.rows],
        moment=part.shared_moment[run],
        musculotendon_length=part.state.musculotendon_length[run],
        musculotendon_velocity=part.state.musculotendon_velocity[run],
        muscles=muscles,
        dof=part.shared,
        lower=np.array(least_activation),
        reserve_weight=None if reserve_weight is None else np.array(reserve_weight),
        emg=None if part.emg is None else part.emg[run],
    )
