"""Problems of a part under further bounds: contact forces of joints, other lengths of fibers and tendons."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_number, check_type
from musclesolve._util.messages import unknown_name
from musclesolve.models.body import Sharing, SharingGroup, SolvedGroup
from musclesolve.models.share import sharing_problem
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.problem_arrays import ARRAY_AXES, OPTIONAL
from musclesolve.sharing.solving import solve
from musclesolve.sharing.status import Status
from musclesolve.studies.known_names import of_sides

NOW = "now"
"""Word for a bound of contact forces: the largest present ones of the trial."""
LEVER = 0.05
"""Arm that converts forces of a bound to moments [m], so that rows of a problem have similar size."""
PADDING = {"optimal_fiber_length": 1.0, "joints_crossed": 1.0, "emg": np.nan}
"""Values of optional arrays of a problem for a column that is no muscle; zero where absent."""
CHANGED_LENGTHS = {name: name.replace("_", " ") for name in ("tendon_slack_length", "optimal_fiber_length")}
"""Parameters whose factors are changed, and their words."""
FURTHEST, COARSE, FINE = 0.3, 0.05, 0.001
"""Largest change of a length, step of the search, and its final accuracy, as shares of the length."""


def padded(problem: Problem, columns: Array, capacity: Array, **bounds: Array) -> dict[str, Any]:
    """The arrays of a problem with k further columns that are no muscles.

    Args:
        problem: of n muscles and m moments.
        columns: (T, m, k) moment arms.
        capacity: (k,) or (T, k) force of a column at activation 1.
        bounds: lower and upper (k,), 0 and 1 unless given.
    """
    frames, count = len(problem.moment), columns.shape[2]

    def wider(name: str, filled: Array | float) -> Array | None:
        array = getattr(problem, name)
        if array is None:
            return None
        return np.concatenate([array, np.broadcast_to(filled, (*array.shape[:-1], count))], axis=-1)

    filled = PADDING | {"fiber_force_capacity": np.broadcast_to(capacity, (frames, count))}
    optional = {
        name: wider(name, filled.get(name, 0.0)) if ARRAY_AXES[name][-1] == "n" else getattr(problem, name)
        for name in OPTIONAL
    }
    return {
        "moment_arm": np.concatenate([problem.moment_arm, columns], axis=2),
        "moment": problem.moment,
        "force_capacity": wider("force_capacity", np.broadcast_to(capacity, (frames, count))),
        "max_isometric_force": wider("max_isometric_force", np.max(np.atleast_2d(capacity), axis=0)),
        "lower": wider("lower", bounds.get("lower", np.zeros(count))),
        "upper": wider("upper", bounds.get("upper", np.ones(count))),
        "reserve_weight": problem.reserve_weight,
        "dof": problem.dof,
        "source_frames": problem.source_frames,
        **optional,
    }


def contact_limits(
    stated: Mapping[str, float] | str, parts: Sequence[SolvedGroup], weight: float
) -> dict[str, float]:
    """Joint -> largest contact force [N].

    Args:
        stated: joint, of a side or of both -> [body weights]; or "now", the largest force of each joint of the trial
            and 0.1 % more.
        parts: shared.
        weight: of the body [N].
    """
    forces = [pair for part in parts for pair in part.contact_force.items()]
    now = {joint: float(np.nanmax(np.linalg.norm(force, axis=1), initial=0.0)) for joint, force in forces}
    if isinstance(stated, str):
        if stated != NOW:
            raise unknown_name(stated, "bound of contact forces", [NOW])
        return {joint: 1.001 * force for joint, force in now.items()}
    bounds = check_type(stated, Mapping, "contact", 'a dict: joint -> bound [body weights], or "now"')
    expected = "a number of body weights above 0, such as 2.5"
    limits = {
        name: weight
        * check_number(
            value, f"the bound of the contact force of {name}", expected, above=0.0, where="contact"
        )
        for name, value in bounds.items()
    }
    return of_sides(limits, list(now), "joint", " whose contact force is known")


def contact_along(part: SharingGroup, reaction: Mapping[str, Array], joint: str) -> tuple[Array, Array]:
    """The contact force of a joint along its present direction, row . F + offset.

    Args:
        part: with its loads.
        reaction: joint -> contact force now (T, 3) [N].
        joint: its name.

    Returns:
        row (T, n) over the forces F of the contractile elements [1], and offset (T,) [N], the force without them.
    """
    loads, force = part.loads, reaction[joint]
    assert loads is not None
    k = loads.joints.index(joint)
    direction = np.nan_to_num(force / np.linalg.norm(force, axis=1, keepdims=True))
    row = np.einsum("tnx,tx->tn", loads.all_pulls.force[:, k], direction)
    offset = (loads.net[:, k] * direction).sum(axis=1) + (row * part.state.passive_force).sum(axis=1)
    return row, offset


def limited(
    problem: Problem, part: SharingGroup, reaction: Mapping[str, Array], limits: Mapping[str, float]
) -> Problem:
    """Limit the contact forces of a problem along their present directions.

    With the unit vector d of the present contact force R = net + sum_i F_i c_i of a joint, and the limit L, a row and a
    column (the slack l of the limit) are added for each joint:

        sum_i (d . c_i) F_i + l = L - d . net,        l >= 0

    in newtons at an arm of LEVER. The force across the direction is not bounded, so that |R| may exceed L a little
    where R turns. The reserves of the problem are left out.

    Args:
        problem: of the part.
        part: with its muscles, as strong as in the problem.
        reaction: joint -> contact force now (T, 3) [N].
        limits: joint -> largest contact force [N].
    """
    loads = part.loads
    joints = [] if loads is None else [joint for joint in loads.joints if joint in limits]
    if loads is None or not joints:
        return problem.with_arrays(reserve_weight=None)
    rows, needed, slack = [], [], []
    for joint in joints:
        along, resting = contact_along(part, reaction, joint)
        left = limits[joint] - resting
        rows.append(LEVER * along)
        needed.append(LEVER * left)
        most = np.abs(left) + (np.abs(along) * problem.force_capacity).sum(axis=1)
        slack.append(most + 1.0)
    count, frames = len(joints), len(problem.moment)
    columns = np.zeros((frames, problem.n_dof, count))
    arrays = padded(problem, columns, np.nan_to_num(np.stack(slack, axis=1), nan=1.0))
    spare = np.broadcast_to(LEVER * np.eye(count), (frames, count, count))
    further = np.concatenate([np.stack(rows, axis=1), spare], axis=2)
    arrays |= {
        "moment_arm": np.concatenate([arrays["moment_arm"], further], axis=1),
        "moment": np.concatenate([problem.moment, np.stack(needed, axis=1)], axis=1),
        "reserve_weight": None,
        "joint_angle": None,
        "joint_rate": None,
    }
    names = tuple(f"contact_{joint}" for joint in joints)
    arrays["dof"] = (*(problem.dof or ()), *names)
    return Problem(**arrays, muscle=(*(problem.muscle or ()), *names), reaction=problem.reaction)


def possible_frames(problem: Problem) -> Mask:
    """Mask (T,) of the frames that are possible without reserves."""
    exact = problem.with_arrays(reserve_weight=None)
    return np.asarray(solve(exact, "force_squared").status == Status.SOLVED)


def length_range(
    part: SharingGroup, sharing: Sharing, parameter: str, muscles: Sequence[str], counted: Mask
) -> tuple[float, float]:
    """Find the least and greatest factor on a length of some muscles with which all counted frames stay possible.

    The search goes outward from 1 in steps of COARSE, and bisects the first step in which a frame becomes impossible to
    FINE. It ends at FURTHEST: the factor is then 1 - FURTHEST or 1 + FURTHEST.
    """
    state, parameters = part.state, part.state.parameters
    lengths = state.musculotendon_length, state.musculotendon_velocity
    chosen = np.isin(parameters.names, list(muscles))

    def possible(change: float) -> bool:
        """Whether they stay possible with a factor 1 + change, with rigid tendons."""
        factor = np.where(chosen, 1.0 + change, 1.0)
        moved = replace(parameters, **{parameter: factor * getattr(parameters, parameter)})
        changed = replace(part, state=MuscleState.from_lengths(moved, *lengths, state.moment_arm))
        problem = sharing_problem(changed, sharing).frames(np.flatnonzero(counted))
        return bool(possible_frames(problem).all())

    ends = []
    for sign in (-1.0, 1.0):
        good, bad = 0.0, np.inf
        while np.isinf(bad) and good < FURTHEST - 1e-9:
            if possible(sign * (good + COARSE)):
                good += COARSE
            else:
                bad = good + COARSE
        while np.isfinite(bad) and bad - good > FINE:
            middle = 0.5 * (good + bad)
            good, bad = (middle, bad) if possible(sign * middle) else (good, middle)
        ends.append(1.0 + sign * good)
    return ends[0], ends[1]
