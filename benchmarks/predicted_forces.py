"""Ground reactions predicted from the motion beside those that plates measured, on trials with plates.

python -m benchmarks.predicted_forces [--one-plate] TRIAL.toml [TRIAL.toml ...]

The plates are hidden: forces of each foot follow from the motion alone, as with `forces = "predicted"`. With
--one-plate the plates of one foot alone are hidden, first right and then left, as steps beside the plates are with
`unmeasured_steps = "predicted"`. Printed are root mean squares of the difference to the plates over the frames in
which the foot was measured, mean of both feet: forces in per cent of body weight with their Pearson correlation r, and
joint moments [N m/kg]; with --one-plate forces while the hidden foot is on the ground. Last the errors of heel strikes
and toe-offs by the predicted forces, and by the markers [ms, root mean square].
"""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter

import numpy as np
from rich.table import Table

from benchmarks.timing import console
from musclesolve._util.arrays import Array, Mask
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.inverse_dynamics import projected_moments
from musclesolve.motion.events.force_events import FootLoads, force_events
from musclesolve.motion.events.gait_events import GaitEvents, gait_events
from musclesolve.motion.ground_reaction import GroundReaction
from musclesolve.pipeline.mechanics import Mechanics, completed_reactions, mechanics
from musclesolve.pipeline.run import recording_of
from musclesolve.recording.data import SIDES, Event, Trial

JOINTS = ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")
GROWN_S = 0.03
"""A step is hidden from so long before its force to so long after it."""
ALWAYS = (-np.inf, np.inf)
Frames = dict[str, Mask]


def spans_of(mask: Mask, time: Array, grown: float) -> tuple[tuple[float, float], ...]:
    """First and last time of the runs of a mask (T,), grown at both ends [s]."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    return tuple((time[a] - grown, time[b - 1] + grown) for a, b in edges.reshape(-1, 2))


def hidden_trials(trial: Trial, recorded: Mechanics, one_plate: bool) -> list[Trial]:
    """The trial with its plates hidden, or with the plates of one foot hidden, right and left."""
    if not one_plate:
        return [replace(trial, forces=(), legs={}, predicted_spans=dict.fromkeys(SIDES, (ALWAYS,)))]
    least, time = trial.settings.filter.unloaded_below_n, recorded.motion.time
    found = []
    for ground in recorded.reactions:
        others = tuple(plate for plate in trial.forces if plate.side != ground.side)
        spans = spans_of(ground.force[:, 2] > least, time, GROWN_S)
        found.append(replace(trial, forces=others, predicted_spans={ground.side: spans}))
    return found


def differences(trial: Trial, recorded: Mechanics, hidden: list[Trial]) -> tuple[Array, Array, Array]:
    """Forces forward, sideways, upward: rms difference [body weights] and r, (3,); rms of the moments (4,) [N m/kg]."""
    model, motion, mass = recorded.model, recorded.motion, recorded.model.mass.total
    plates = {ground.side: ground for ground in recorded.reactions}

    def moments_with(reactions: list[GroundReaction]) -> Array:
        wrenches = [Wrench(f"foot_{each.side}", each.force, each.moment) for each in reactions]
        return projected_moments(model, motion, wrenches)

    measured = moments_with(recorded.reactions)
    forces, correlations, moments = [], [], []
    for other in hidden:
        reactions = completed_reactions(other, model, motion, recorded.measured.filter)
        off = moments_with([each for each in reactions if each.side in plates]) - measured
        for ours in reactions:
            seen = trial.measured(ours.side, motion.time) & other.predicted(ours.side, motion.time)
            if ours.side not in plates or not seen.any():
                continue
            one, truth = ours.force[seen], plates[ours.side].force[seen]
            forces.append(((one - truth) ** 2).mean(axis=0))
            correlations.append([np.corrcoef(one[:, k], truth[:, k])[0, 1] for k in range(3)])
            rows = [model.dof(f"{joint}_{ours.side}") for joint in JOINTS]
            moments.append((off[seen][:, rows] ** 2).mean(axis=0))
    size = np.sqrt(np.mean(forces, axis=0)) / (mass * STANDARD_GRAVITY)
    return size, np.mean(correlations, axis=0), np.sqrt(np.mean(moments, axis=0)) / mass


def event_errors(trial: Trial, recorded: Mechanics, hidden: list[Trial]) -> list[str]:
    """Errors of heel strikes and of toe-offs [ms, rms] by the predicted forces and by the markers, as texts."""
    time = recorded.motion.time
    errors: dict[str, list[tuple[float, float]]] = {"heel_strike": [], "toe_off": []}
    truth = force_events(FootLoads.from_trial(trial))
    for other in hidden:
        reactions = completed_reactions(other, recorded.model, recorded.motion, recorded.measured.filter)
        without = replace(other, legs={})
        found, seen = gait_events(other, time, reactions), gait_events(without)
        for event in truth:
            inside = time[0] + GROWN_S < event.time < time[-1] - GROWN_S
            if inside and other.predicted(event.side, np.array([event.time])).all():
                errors[event.kind].append((late(found, event), late(seen, event)))
    rms = {kind: 1000.0 * np.sqrt(np.mean(np.square(each), axis=0)) for kind, each in errors.items() if each}
    return [f"{rms[kind][0]:.0f}, {rms[kind][1]:.0f}" if kind in rms else "" for kind in errors]


def late(found: GaitEvents, event: Event) -> float:
    """How late the nearest event of the same kind and foot is [s]."""
    return min((each.time - event.time for each in found.of(event.kind, event.side)), key=abs)


def main(*arguments: str) -> None:
    one_plate = "--one-plate" in arguments
    names = ("forward", "sideways", "upward")
    shown = Table(
        "trial",
        *(f"{name} % BW (r)" for name in names),
        *("hip flexion", "adduction", "knee", "ankle", "strikes, by markers", "toe-offs, by markers", "s"),
    )
    for file in (each for each in arguments if not each.startswith("--")):
        trial = recording_of(file, "this comparison")
        recorded = mechanics(trial)
        hidden = hidden_trials(trial, recorded, one_plate)
        begin = perf_counter()
        size, r, moments = differences(trial, recorded, hidden)
        taken = (perf_counter() - begin) / len(hidden)
        cells = [f"{100 * one:.1f} ({two:.2f})" for one, two in zip(size, r, strict=True)]
        shown.add_row(
            f"{trial.path.parent.name}/{trial.path.stem}",
            *cells,
            *(f"{each:.2f}" for each in moments),
            *event_errors(trial, recorded, hidden),
            f"{taken:.2f}",
        )
    console.print(shown)


if __name__ == "__main__":
    main(*sys.argv[1:])
