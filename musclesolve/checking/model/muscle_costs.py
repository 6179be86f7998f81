"""Cost of a faulty muscle in newtons: the forces of some frames are shared again with the muscle mended.

A muscle gets the path of its twin, in the pose in which the legs are exchanged, or a parameter of its twin or of the
nearest public model; or it is left out. Tendons are rigid. A muscle without a twin whose path is wrong stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.sides import sided, twin
from musclesolve.constants import RIGID, USUAL_COST
from musclesolve.muscles.muscle_state import MuscleState
from musclesolve.opensim.geometry import fiber_path_lengths
from musclesolve.pipeline.opensim.model_body import ModelBody
from musclesolve.pipeline.opensim.muscles_along import geometry_along
from musclesolve.pipeline.share import share_part
from musclesolve.results.finding import Cost, Finding
from musclesolve.sharing.cost.cost_registry import find_cost

MOST_FRAMES = 20
"""Frames that are shared again."""
UNKNOWN = "; what this costs in newtons is not known"
FIELDS = {
    "muscle_strength": "max_isometric_force",
    "muscle_fiber": "optimal_fiber_length",
    "muscle_pennation": "pennation_angle",
    "muscle_tendon": "tendon_slack_length",
}
"""Code of a finding -> the parameter of the muscle."""


@dataclass(frozen=True)
class Mended:
    """How muscles are mended.

    changes: code of a finding -> name -> change of the parameter: of the logarithm of force and fiber, of the pennation
    [degrees], of the normalized fiber length by the tendon. paths: muscles that get the path of their twins, mirrored.
    exchanged: muscles that get the path of their twins as it is. left_out: muscles.
    """

    changes: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    paths: tuple[str, ...] = ()
    exchanged: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def with_cost(fault: Finding, body: ModelBody, mended: Mended | None) -> Finding:
    """The finding with the largest change of a muscle force, or with the sentence that it is not known."""
    known = np.flatnonzero(body.whole.usable & body.whole.measured)
    if mended is not None and known.size:
        frames = known[np.unique(np.linspace(0, known.size - 1, MOST_FRAMES).round().astype(int))]
        as_is = body.whole.state.frames(frames)
        if (state := _mended_state(body, frames, as_is, mended)) is not None:
            now, then = _forces(body, frames, as_is), _forces(body, frames, state, mended.left_out)
            change = {name: float(np.nanmax(np.abs(now[name] - then[name]), initial=0.0)) for name in then}
            worst = max(change, key=lambda name: change[name])
            return replace(fault, cost=Cost(change[worst], "N", sided(worst)))
    return replace(fault, what=f"{fault.what}{UNKNOWN}")


def _mended_state(body: ModelBody, frames: Indices, state: MuscleState, mended: Mended) -> MuscleState | None:
    """The state of all muscles in some frames with the mended ones; None where a path has no twin to be taken from."""
    number, model = {name: k for k, name in enumerate(state.parameters.names)}, body.model
    if not {*mended.exchanged, *map(twin, mended.exchanged)} <= set(number):
        return None
    length, velocity = state.musculotendon_length.copy(), state.musculotendon_velocity.copy()
    arm, parameters = np.array(state.moment_arm), state.parameters
    if mended.paths:
        twins = [twin(name) for name in mended.paths]
        crossed = set().union(*(body.choice.crossing.get(name, ()) for name in twins))
        if not {*mended.paths, *twins} <= set(number) or any(twin(name) == name for name in crossed):
            return None
        motion = body.motion.frames(np.isin(np.arange(len(body.time)), frames))
        sides = [motion.names.index(other) if (other := twin(name)) in motion.names else k
                 for k, name in enumerate(motion.names)]  # fmt: skip
        exchanged = {key: getattr(motion, key)[:, sides] for key in ("value", "speed", "acceleration")}
        muscles = tuple(model.muscles[name] for name in twins)
        geometry, rates = geometry_along(
            model, replace(body.choice, muscles=muscles), replace(motion, **exchanged)
        )
        columns = [number[name] for name in mended.paths]
        rows = [body.dofs.index(other) if (other := twin(name)) in body.dofs else k
                for k, name in enumerate(body.dofs)]  # fmt: skip
        length[:, columns], velocity[:, columns] = fiber_path_lengths(model, geometry), rates
        arm[:, :, columns] = geometry.moment_arm[:, rows]
    if mended.exchanged:
        from_twin = {number[name]: number[twin(name)] for name in mended.exchanged}
        for values in (length, velocity, arm):
            values[..., [*from_twin]] = values[..., [*from_twin.values()]]
    changed = {key: getattr(parameters, key).copy() for key in FIELDS.values()}
    for code, by_name in mended.changes.items():
        for name, by in by_name.items():
            if (k := number.get(name)) is None:  # a twin that takes no part
                continue
            if code == "muscle_pennation":
                changed["pennation_angle"][k] = max(0.0, changed["pennation_angle"][k] + np.radians(by))
            elif code == "muscle_tendon":
                slack = changed["tendon_slack_length"][k] - by * changed["optimal_fiber_length"][k]
                changed["tendon_slack_length"][k] = max(slack, 1e-3)
            else:
                changed[FIELDS[code]][k] *= np.exp(by)
    return MuscleState.from_lengths(replace(parameters, **changed), length, velocity, arm)


def _forces(
    body: ModelBody, frames: Indices, state: MuscleState, without: Sequence[str] = ()
) -> dict[str, Array]:
    """Forces (F,) of the muscles by name, shared by the cost of the body, or the usual one where it may need more.

    A cost of a user may hold numbers of all frames and muscles.
    """
    sharing, names = replace(body.sharing, tendon=RIGID), state.parameters.names
    if sharing.reads_reactions or "emg" in sharing.cost.data:
        sharing = replace(sharing, cost=find_cost(USUAL_COST))
    forces = dict[str, Array]()
    for part in body.parts:
        rows = np.array([body.dofs.index(name) for name in part.dofs])
        muscles = [name for name in part.state.parameters.names if name not in without]
        columns = np.array([names.index(name) for name in muscles])
        solved = share_part(replace(part.frames(frames), state=state.part(rows, columns)), sharing)
        total = solved.solution.force + solved.part.state.passive_force
        forces |= dict(zip(muscles, total.T, strict=True))
    return forces
