"""The force-sharing problem of joint angles, rates and moments that are at hand, without a recording."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import muscle_db
from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice, check_increasing
from musclesolve._util.messages import check_keywords
from musclesolve._util.sides import SIDES, sides_of
from musclesolve.constants import RIGID, TENDONS
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error
from musclesolve.models.body import Sharing, SharingGroup
from musclesolve.models.body_sharing import sharing_problem
from musclesolve.models.opensim.find_muscle_set import find_muscle_set
from musclesolve.models.settings import SharingSettings
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.pose_geometry import (
    muscle_set,
    numbers_by_name,
    pose_angles,
    pose_model,
    pose_motion,
)
from musclesolve.muscles.scaling.scale_muscles import checked_passive, joined, scale_muscles, served_dofs
from musclesolve.muscles.settings import MuscleSettings
from musclesolve.muscles.strength import checked_strength
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import find_solver
from musclesolve.tables.document import check_value
from musclesolve.tables.settings import settings_of

OF_MUSCLES = ("strength", "passive", "fiber_lengths", "curves")
OF_SHARING = ("least_activation", "reserve_weight")
"""Settings of a trial file that are keywords here, of [muscles] and of [sharing]."""


def pose_problem(
    angles: Mapping[str, ArrayLike],
    rates: Mapping[str, ArrayLike] | None,
    moments: Mapping[str, ArrayLike],
    muscles: muscle_db.MuscleDatabase | str | Path = muscle_db.DEFAULT,
    subject: Model | Mapping[str, Any] | None = None,
    *,
    time: ArrayLike | None = None,
    **settings: Any,
) -> Problem:
    """The whole force-sharing problem of P poses: the muscles of a set on a subject, behind rigid tendons.

        b = M - r F_passive

    for the joint moments M, the moment arms r and the passive tendon forces F_passive. The problem has every array that
    costs use except EMG and joint reactions, equal to the problem of `run` in the same poses.

    Args:
        angles: joint angles [rad] by name ("knee_flexion_r"), scalars or (P,) arrays; every other angle is zero.
        rates: rates [rad/s] of joint angles, likewise; every other rate is zero. None: at rest.
        moments: internal joint moments M [N m] by degree of freedom, likewise, positive in its direction. They define
            the degrees of freedom of the problem and their order. The muscles that act on one of them, of one side or
            both, are the muscles of the problem.
        muscles: a muscle set, its name, or the path of its file.
        subject: a subject's model, or a dict of mass_kg, stature_m and sex; the standard subject (1.70 m, 70.25 kg,
            male) unless given.
        time: (P,) [s] of the poses, increasing, where they follow each other.
        settings: strength, passive, fiber_lengths, curves, least_activation and reserve_weight, with the values and
            defaults of a trial file. passive "none" (the default), "table" or "calibrated": see `[muscles]`.

    Returns:
        The problem of P frames; of a single frame without frame axis if every number is a scalar.

    Raises:
        TypeError: there is no such setting.
        InputError: an unknown name, arrays of different lengths, numbers that are not finite, an angle of
            more than 3.5 rad, a rate of more than 50 rad/s (not of a shoulder), no moments, a faulty muscle set,
            elastic tendons.

    Examples:
        >>> bent = {"hip_flexion_r": 0.6, "knee_flexion_r": 1.0}                               # [rad]
        >>> problem = ms.pose_problem(bent, None, {"hip_flexion_r": 20.0, "knee_flexion_r": -60.0})
        >>> problem.n_muscles, bool(ms.solve(problem).solved)
        (33, True)
    """
    model = pose_model(subject)
    database = muscle_set(find_muscle_set(muscles) if isinstance(muscles, str | Path) else muscles)
    chosen = _chosen(settings, database)
    served = {side: served_dofs(model.topology, database, side) for side in SIDES}
    known = tuple(dict.fromkeys(served["r"] + served["l"]))
    moment = numbers_by_name(moments, "joint moment", "N m", known, f" of the muscles of {database.name}")
    if not moment:
        expected = "a joint moment [N m] of one degree of freedom or more"
        raise input_error(
            "missing_argument", where="moments", problem="there are no moments", expected=expected
        )
    angle, rate = pose_angles(model, angles, rates)
    motion = pose_motion(model, angle=angle, rate=rate, moment=moment)
    count, dofs = len(motion.time), tuple(moment)

    sides = [side for side in SIDES if set(served[side]) & set(dofs)]
    of_muscles = {name: chosen[name] for name in OF_MUSCLES}
    scaled = joined([scale_muscles(model, database, side, **of_muscles) for side in sides])
    rows = np.array([scaled.dof_names.index(dof) for dof in dofs], np.intp)
    acting = np.flatnonzero(scaled.acts[rows].any(axis=0))
    joints = [model.dof(dof) for dof in dofs]
    part = SharingGroup(
        sides=sides_of(dofs),
        dofs=dofs,
        shared=dofs,
        state=muscle_state(model, scaled, motion).part(rows, acting),
        moment=np.stack([np.broadcast_to(values, count) for values in moment.values()], axis=1),
        usable=np.ones(count, bool),
        time=np.full(count, np.nan) if time is None else _times(time, count),
        angle=motion.coordinates[:, joints],
        rate=motion.speeds[:, joints],
    )
    usual = settings_of(SharingSettings)
    cost, solver = find_cost(usual["cost"].default), find_solver(usual["solver"].default)
    sharing = Sharing(cost, solver, RIGID, chosen["reserve_weight"], chosen["least_activation"])
    problem = sharing_problem(part, sharing)
    entered = (angles, moments, {} if rates is None else rates)
    scalar = all(np.ndim(value) == 0 for by_name in entered for value in dict(by_name).values())
    return problem.with_arrays(single_frame=scalar)


def _chosen(settings: Mapping[str, Any], database: muscle_db.MuscleDatabase) -> dict[str, Any]:
    """Every setting of `OF_MUSCLES` and `OF_SHARING`, as given or by default; checked."""
    known = {name: settings_of(MuscleSettings)[name] for name in OF_MUSCLES}
    known |= {name: settings_of(SharingSettings)[name] for name in OF_SHARING}
    check_keywords(settings, (*known, "tendon"), "pose_problem()")
    tendon = settings.get("tendon", RIGID)
    check_choice(tendon, "tendon", TENDONS)
    if tendon != RIGID:
        raise input_error("models.problem_single_frames", where="tendon", tendon=tendon)
    chosen = {name: settings.get(name, setting.default) for name, setting in known.items()}
    checked_strength(chosen["strength"], database)
    checked_passive(chosen["passive"], database)
    for name in ("fiber_lengths", *OF_SHARING):
        if chosen[name] is not None:
            check_value(chosen[name], known[name], name)
    return chosen


def _times(time: ArrayLike, count: int) -> Array:
    """The times (P,) of the poses."""
    times = check_increasing(np.atleast_1d(time), where="time")
    if len(times) != count:
        sizes = f"{len(times)} and {count} (poses)"
        raise input_error("muscles.angles_different_lengths", where="time", sizes=sizes)
    return times
