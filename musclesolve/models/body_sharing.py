"""Sharing the moments of a body among its muscles: rigid tendons frame by frame, elastic ones motion by motion.

With elastic tendons every unbroken run of usable frames is a motion that is solved by itself. The result describes
the solved state: fiber lengths and velocities, force capacities and passive forces follow from the tendons, so
that tendon force = activation force_capacity + passive_force as with rigid tendons, and the problem of the result is
the static problem in this state.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from musclesolve._util.arrays import Indices, largest_size, slices, true_runs
from musclesolve._util.messages import Progress, few, no_progress
from musclesolve.constants import RIGID, USUAL_LEAST_ACTIVATION
from musclesolve.errors import input_error
from musclesolve.models.body import (
    BLOCK,
    EVERY,
    LONG,
    Analysis,
    Body,
    Sharing,
    SharingGroup,
    SolvedGroup,
    TendonStates,
)
from musclesolve.sharing.cost.cost_base import Cost, single_costs
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import chosen_frames
from musclesolve.sharing.solution import Solution, SolutionArrays
from musclesolve.sharing.solver.solver_registry import Solver, able_solver, find_solver
from musclesolve.sharing.solving import solve_part
from musclesolve.sharing.status import Status

if TYPE_CHECKING:
    from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
    from musclesolve.trajectory.motion_problem import MotionProblem
    from musclesolve.trajectory.solve_motion import MotionSolution

BodyKind = TypeVar("BodyKind", bound=Body)
METHODS = {"batch": "structured", "ipopt": "collocation"}
"""Solver of whole motions, by the name of the requested solver of single frames."""
_OF_RIGID = {
    "fiber_velocity": "fiber velocities, which are a part of the solution",
    "reaction_matrix": "joint reactions",
}


def share(
    body: BodyKind, sharing: Sharing | None = None, progress: Progress | None = None
) -> Analysis[BodyKind]:
    """Share the moments of each part of a body among its muscles; `sharing` overrides the settings of the body."""
    report, chosen = progress or no_progress, sharing or body.sharing
    body.check(chosen)
    muscles = [name for part in body.parts for name in part.state.parameters.names]
    dofs = [dof for part in body.parts for dof in part.shared]
    reactions = [name for part in body.parts if part.loads is not None for name in part.loads.components]
    chosen.cost.check_names(dofs, muscles, reactions)
    most = LONG if body.kind == "recording" else 2 * BLOCK
    if chosen.tendon == RIGID and len(body.time) > most:
        return Analysis(body, chosen, share_by_windows(body.parts, chosen, report))

    def of_part(number: int, stage: str, share: float) -> None:
        report(stage, 0.7 + 0.25 * (number + share) / len(body.parts))

    solved = []
    for number, part in enumerate(body.parts):
        of_part(number, "sharing", 0.0)
        solved.append(share_part(part, chosen, progress=partial(of_part, number)))
    return Analysis(body, chosen, tuple(solved))


def share_part(
    part: SharingGroup, sharing: Sharing, like: Problem | None = None, progress: Progress | None = None
) -> SolvedGroup:
    """Share the moments of one part among its muscles; frames that are not feasible as `sharing.on_infeasible` states.

    The status of a frame that is not usable is INVALID_MOTION, NOT_MEASURED where its moments are not known, and
    TOO_FEW_FRAMES in runs that are too short for elastic tendons. like: see `sharing_problem`; progress: of the motions
    with elastic tendons, 0 to 1. Joint reactions cost time: the problem has them for a cost that may read them.
    """
    tendons, notes = None, tuple[str, ...]()
    if sharing.elastic:
        refuse_actuators([part], "elastic tendons")
        from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles

        muscles = ElasticMuscles.from_parameters(part.state.parameters)
        solution, tendons, notes = share_motion(part, sharing, muscles, progress)
        solved = ("fiber_length", "fiber_velocity", "force_capacity", "passive_force")
        state = {name: getattr(tendons, name) for name in solved}
        slack = np.asarray(solution.force + tendons.passive_force <= 0.0)
        part = replace(part, state=replace(part.state, **state, slack=slack))
    without, actuator_force = part.loads is not None and not sharing.reads_reactions, None
    problem = sharing_problem(replace(part, loads=None) if without else part, sharing, like)
    if tendons is None:
        solution = solve_part(problem, sharing.cost, sharing.solver, sharing.on_infeasible)
    if part.actuators is not None:
        solution, actuator_force = part.actuators.split(solution)
    if not (part.usable.all() and part.measured.all()):
        status = np.where(part.usable, solution.status, Status.INVALID_MOTION)
        status = np.where(part.measured, status, Status.NOT_MEASURED).astype(np.int8)
        solution = replace(solution, status=status)
    problem_at = partial(_known_problem, part, sharing, problem) if without else problem.frames
    return SolvedGroup(part, problem_at, solution, tendons, notes, actuator_force=actuator_force)


def share_by_windows(
    parts: Sequence[SharingGroup], sharing: Sharing, progress: Progress
) -> tuple[SolvedGroup, ...]:
    """Share the moments of the parts of a long motion window by window, so that memory stays small.

    With rigid tendons frames do not depend on each other.
    """
    frames, carried = len(parts[0].time), [dict[str, Any]() for _ in parts]
    sizes = ((len(part.shared), len(part.state.parameters.names)) for part in parts)
    arrays = [SolutionArrays.unfilled(frames, *size) for size in sizes]
    of_actuators = [
        None if part.actuators is None else np.empty((frames, len(part.actuators.names))) for part in parts
    ]
    with_arms = [_with_largest_arm(part, sharing.cost) for part in parts]
    for block in slices(frames, BLOCK):
        progress("sharing", 0.7 + 0.25 * block.start / frames)
        solved = [share_part(part.frames(block, loaded=True), sharing) for part in with_arms]
        for some, of_part, force, at_joints in zip(solved, arrays, of_actuators, carried, strict=True):
            of_part.store(block, SolutionArrays.from_solution(some.solution))
            if force is not None:
                force[block] = some.actuator_force
            for kind, by_joint in some.carried.items():
                stored = at_joints.setdefault(kind, {joint: np.empty((frames, 3)) for joint in by_joint})
                for joint, values in by_joint.items():
                    stored[joint][block] = values
    return tuple(
        SolvedGroup(
            part,
            partial(_problem_in, with_arm, sharing),
            replace(some.solution, **vars(of_part), time=part.time),
            stored=at_joints,
            actuator_force=force,
        )
        for part, with_arm, some, of_part, force, at_joints in zip(
            *(parts, with_arms, solved, arrays, of_actuators, carried), strict=True
        )
    )


def reads_all_frames(cost: Cost) -> bool:
    """Whether a cost may read what the problem of some frames has of all frames, `Problem.largest_arm`."""
    return any(one.of_all_frames or not one.built_in for one in single_costs(cost))


def _with_largest_arm(part: SharingGroup, cost: Cost) -> SharingGroup:
    """A part of a long motion whose frames have, some at a time, the largest moment arms if the cost may need them."""
    if not reads_all_frames(cost):
        return part
    arms = part.state.moment_arm
    sizes = [largest_size(arms[block][:, part.rows]) for block in slices(len(arms), BLOCK)]
    largest = np.max(sizes, axis=0)
    if part.actuators is not None:
        largest = np.concatenate([largest, largest_size(part.actuators.arms(part.rows))], axis=1)
    return replace(part, of_all_frames={"largest_arm": largest})


def _known_problem(part: SharingGroup, sharing: Sharing, known: Problem, frames: slice | Indices) -> Problem:
    """The problem of some frames; the problem of all frames has joint reactions, which the known one lacks."""
    return sharing_problem(part, sharing) if frames is EVERY else known.frames(frames)


def _problem_in(part: SharingGroup, sharing: Sharing, frames: slice | Indices) -> Problem:
    """The problem of some frames of a long motion, with joint reactions if the cost may read them."""
    return sharing_problem(part.frames(frames, sharing.reads_reactions), sharing)


def sharing_problem(part: SharingGroup, sharing: Sharing, like: Problem | None = None) -> Problem:
    """Make the problem of one part: moments b = M - r F_passive of the contractile elements, NaN in unusable frames.

    like: a problem of equally many frames of the same part, in other frames or with other numbers, whose checks are
    not repeated.
    """
    state, loads = part.state, part.loads
    arm = state.moment_arm[:, part.rows]
    required = part.shared_moment - (arm @ state.passive_force[:, :, None])[:, :, 0]
    arrays: dict[str, Any] = {
        "moment_arm": arm,
        "moment": np.where(part.usable[:, None], required, np.nan),
        "force_capacity": state.force_capacity,
        "fiber_force_capacity": state.fiber_force_capacity,
        "fiber_length": state.fiber_length,
        "fiber_velocity": state.fiber_velocity,
        "joint_rate": None if part.rate is None else part.rate[:, part.rows],
        "reaction_matrix": None if loads is None else loads.matrix,
        "reaction_offset": None if loads is None else loads.offset(state.passive_force),
        "passive_force": state.passive_force,
        "emg": part.emg,
        "max_isometric_force": state.parameters.max_isometric_force,
        "optimal_fiber_length": state.parameters.optimal_fiber_length,
    }
    # the body has compared the angles with its ranges, which may be wider than a turn
    unchecked = {
        "joint_angle": None if part.angle is None else part.angle[:, part.rows],
        **part.of_all_frames,
    }
    muscles, crossed = state.parameters.names, state.parameters.joints_crossed
    if part.largest_activation is not None:
        arrays["upper"] = np.maximum(part.largest_activation, sharing.least_activation)
    if part.actuators is not None:
        arrays = part.actuators.joined(arrays, sharing.least_activation, part.rows)
        muscles = (*muscles, *part.actuators.columns)
        crossed = None if crossed is None else np.concatenate([crossed, np.ones(len(part.actuators.senses))])
    if like is not None:
        lower = arrays.pop("lower", np.full(like.lower.shape, sharing.least_activation))
        return like.with_arrays(**arrays, lower=lower, source_frames=part.source_frames, **unchecked)
    problem = Problem(
        **{"lower": np.array(sharing.least_activation), **arrays},
        reserve_weight=None if sharing.reserve_weight is None else np.array(sharing.reserve_weight),
        muscle=muscles,
        dof=part.shared,
        time=None if np.isnan(part.time).all() else part.time,
        joints_crossed=crossed,
        reaction=None if loads is None else loads.components,
        source_frames=part.source_frames,
    )
    return problem.with_arrays(**unchecked)


def refuse_actuators(parts: Sequence[SharingGroup], purpose: str) -> None:
    """Refuse actuators beside the muscles for a purpose that knows muscles alone."""
    if names := [name for part in parts if part.actuators is not None for name in part.actuators.names]:
        raise input_error(
            "unsupported",
            where="actuators",
            problem=f"actuators of the model bear moments beside the muscles: {few(names)}",
            expected=f"muscles alone, for {purpose}",
            remedy="leave the actuators out",
        )


def motion_cost(cost: str | Cost) -> Cost:
    """Find a cost by name and check that elastic tendons support it."""
    chosen = find_cost(cost)
    problem = next((f"is one of {what}" for name, what in _OF_RIGID.items() if name in chosen.data), None)
    if problem is None and any(single.needs != {"separable"} for single in single_costs(chosen)):
        problem = "is not smooth, convex and a sum over muscles"
    if problem is None:
        return chosen
    fault = f"the cost {chosen.label} {problem}: it cannot be used with elastic tendons"
    expected = "a smooth convex cost of forces or of activations"
    remedy = 'choose another cost, or rigid tendons (tendon = "rigid")'
    raise input_error("bad_cost", where="cost", problem=fault, expected=expected, remedy=remedy)


def solver_search(cost: Cost, elastic: bool, stated: str | Solver | None) -> Callable[[str | Solver], Solver]:
    """The function that finds the solver of a cost: of whole motions, as stated, or in place of an unfit usual one."""
    return motion_solver if elastic else find_solver if stated is not None else partial(able_solver, cost)


def motion_solver(solver: str | Solver) -> Solver:
    """Find a solver by name and check that it has a method for whole motions."""
    chosen = find_solver(solver)
    if chosen.name in METHODS:
        return chosen
    names = " or ".join(METHODS)
    fault = f"the solver {chosen.name} solves frames one by one, elastic tendons need whole motions"
    remedy = f'choose {names}, or rigid tendons (tendon = "rigid")'
    raise input_error("unfit_solver", where="solver", problem=fault, expected=names, remedy=remedy)


def share_motion(
    part: SharingGroup, sharing: Sharing, muscles: "ElasticMuscles", progress: Progress | None = None
) -> tuple[Solution, TendonStates, tuple[str, ...]]:
    """Solve every run of usable frames; a run that is infeasible as `sharing.on_infeasible` states.

    Returns:
        The solution of all frames, the states of fibers and tendons, and sentences for the user on the solution.
    """
    from musclesolve.trajectory.banded_interior_point import BandedInteriorPoint
    from musclesolve.trajectory.motion_problem import FEWEST_FRAMES
    from musclesolve.trajectory.solve_motion import find_method, solve_motion  # not for rigid tendons

    method = find_method(METHODS[motion_solver(sharing.solver).name])
    cost = motion_cost(sharing.cost)
    frames, count = part.state.musculotendon_length.shape
    arrays = SolutionArrays.blank(frames, len(part.shared), count, sharing.reserve_weight)
    tendons = TendonStates.empty(frames, count)
    solved: list[MotionSolution] = []
    usable = np.asarray(part.usable & part.measured)
    furthest = 0.0
    for first, stop in true_runs(usable):

        def report(share: float, first: int = first, stop: int = stop) -> None:
            """Report the largest share of frames so far: a motion solved again with reserves does not reduce it."""
            nonlocal furthest
            solved_frames = usable[:first].sum() + share * (stop - first)
            furthest = max(furthest, float(solved_frames / usable.sum()))
            if progress is not None:
                progress("elastic tendons", furthest)

        if stop - first < FEWEST_FRAMES:
            arrays.status[first:stop] = Status.TOO_FEW_FRAMES
            continue
        run = slice(first, stop)
        problem = motion_problem(part, run, muscles, sharing.least_activation, sharing.reserve_weight)
        if isinstance(method, BandedInteriorPoint):
            method = replace(method, progress=report)
        motion = solve_motion(problem, cost, method, on_infeasible=sharing.on_infeasible)
        # status and certificate of all frames, numbers of the solved ones
        for name in ("status", "gap", "moment_error", "iterations"):
            getattr(arrays, name)[run] = getattr(motion, name)
        rows = first + np.flatnonzero(motion.solved)
        for name in ("activation", "reserve", "multiplier", "cost"):
            getattr(arrays, name)[rows] = getattr(motion, name)[motion.solved]
        # without a weight of the user, the weight follows where a reserve was needed: s = lambda / w
        needed = (motion.status == Status.SOLVED_WITH_RESERVE)[:, None] & (motion.reserve != 0.0)
        weight = arrays.reserve_weight[run]
        np.divide(motion.multiplier, motion.reserve, out=weight, where=needed & np.isinf(weight))
        tendons.store(first, motion)
        solved.append(motion)
    arrays.force = arrays.activation * tendons.force_capacity
    solver = ", ".join(dict.fromkeys(motion.solver for motion in solved if motion.solver))
    named: dict[str, Any] = {"muscle": part.state.parameters.names, "dof": part.shared, "time": part.time}
    # the balance of tendon and fiber is no convex constraint
    solution = Solution(**vars(arrays), solver=solver, cost_name=cost.label, stationary_only=True, **named)
    return solution, tendons, tuple(dict.fromkeys(note for motion in solved for note in motion.notes))


def motion_problem(
    part: SharingGroup,
    run: slice,
    muscles: "ElasticMuscles",
    least_activation: float = USUAL_LEAST_ACTIVATION,
    reserve_weight: float | None = None,
) -> "MotionProblem":
    """Make the problem of consecutive frames, for muscles with elastic tendons."""
    from musclesolve.trajectory.motion_problem import MotionProblem

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
        source_frames=chosen_frames(part.source_frames, len(part.time), run),
    )
