"""Ground reactions predicted from the motion beside those that plates measured, on trials with plates.

python -m benchmarks.predicted_forces [--one-plate | --live | --transition] TRIAL.toml [TRIAL.toml ...]

The plates are hidden: forces of each foot follow from the motion alone, as with `forces = "predicted"`. With
--one-plate the plates of one foot alone are hidden, first right and then left, as steps beside the plates are with
`unmeasured_steps = "predicted"`. With --live the motion comes frame by frame, as in a live session. With --transition
the smooth transition of Ren et al. (2008) divides the loads, with the gait events of the plates. It prints root mean
squares of the difference to the plates over the frames in which the foot was measured, mean of both feet: forces in per
cent of body weight with their Pearson correlation r, and joint moments [N m/kg]; with --one-plate forces while the
hidden foot is on the ground. Last the errors of heel strikes and toe-offs by the predicted forces, and by the markers
[ms, root mean square].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from time import perf_counter

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from musclesolve._util.arrays import Array, Mask
from musclesolve.apps.live import replay
from musclesolve.constants import PREDICTED, STANDARD_GRAVITY
from musclesolve.dynamics import Wrench, projected_moments
from musclesolve.dynamics.inverse.predicted_reactions import about_center, predicted_reactions
from musclesolve.dynamics.model.model import mass_center
from musclesolve.laboratory import Event, Trial, gait_events
from musclesolve.laboratory.bodies.adjusted_mechanics import completed_reactions
from musclesolve.laboratory.bodies.mechanics import Mechanics
from musclesolve.laboratory.forces import mechanics, recording_of
from musclesolve.laboratory.motion.events.foot_events import FootLoads, force_events
from musclesolve.laboratory.motion.events.gait import GaitEvents
from musclesolve.laboratory.motion.ground_reaction import GroundReaction
from musclesolve.laboratory.recording.data import SIDES

JOINTS = ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion")
GROWN_S = 0.03
"""A step is hidden from so long before its force to so long after it."""
ALWAYS = (-np.inf, np.inf)
Way = Callable[[Trial, Mechanics], tuple[list[GroundReaction], Array]]


def spans_of(mask: Mask, time: Array, grown: float) -> tuple[tuple[float, float], ...]:
    """First and last time of the runs of a mask (T,), grown at both ends [s]."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    return tuple((time[a] - grown, time[b - 1] + grown) for a, b in edges.reshape(-1, 2))


def hidden_trials(trial: Trial, recorded: Mechanics, one_plate: bool) -> list[Trial]:
    """The trial with its plates hidden, or with the plates of one foot hidden, right and left."""
    if not one_plate:
        hidden = dict.fromkeys(SIDES, (ALWAYS,))
        settings = trial.settings.changed(files={"forces": PREDICTED})
        return [replace(trial, forces=(), legs={}, predicted_spans=hidden, settings=settings)]
    least, time = trial.settings.filter.unloaded_below_n, recorded.motion.time
    found = []
    for ground in recorded.reactions:
        others = tuple(plate for plate in trial.forces if plate.side != ground.side)
        spans = spans_of(ground.force[:, 2] > least, time, GROWN_S)
        found.append(replace(trial, forces=others, predicted_spans={ground.side: spans}))
    return found


def moments_with(recorded: Mechanics, reactions: list[GroundReaction]) -> Array:
    """Generalized forces (T, K+6) of the recorded motion with ground reactions [N m, N]."""
    wrenches = [Wrench(f"foot_{each.side}", each.force, each.moment) for each in reactions]
    return projected_moments(recorded.model, recorded.motion, wrenches)


def from_motion(trial: Trial, recorded: Mechanics) -> tuple[list[GroundReaction], Array]:
    """Ground reactions of a trial without some plates, and generalized forces (T, K+6), by the whole motion."""
    reactions = completed_reactions(trial, recorded.model, recorded.motion, recorded.measured.filter)
    sides = {ground.side for ground in recorded.reactions}
    return reactions, moments_with(recorded, [each for each in reactions if each.side in sides])


def from_live(trial: Trial, recorded: Mechanics) -> tuple[list[GroundReaction], Array]:
    """Ground reactions of a trial without plates, and generalized forces (T, K+6), frame by frame as live."""
    played = replay(trial)
    frames = [frame for frame in played.frames if np.isfinite(frame.wrench).all()]
    time, wanted = np.array([frame.time for frame in frames]), recorded.motion.time

    def at_times(values: Array) -> Array:
        flat = values.reshape(len(values), -1).T
        columns = [np.interp(wanted, time, each, np.nan, np.nan) for each in flat]
        return np.stack(columns, axis=-1).reshape(len(wanted), *values.shape[1:])

    wrench = at_times(np.array([frame.wrench for frame in frames]))
    moments = np.full((len(wanted), len(recorded.model.topology.dof_names)), np.nan)
    rows = [recorded.model.dof(dof) for dof in played.live.dofs]
    moments[:, rows] = at_times(np.array([frame.moment for frame in frames]))
    point = np.full((len(wanted), 3), np.nan)
    reactions = [
        GroundReaction(side, wrench[:, k, :3], wrench[:, k, 3:], point) for k, side in enumerate(SIDES)
    ]
    return reactions, moments


def from_transition(trial: Trial, hidden: Trial, recorded: Mechanics) -> tuple[list[GroundReaction], Array]:
    """Ground reactions of a trial without plates, and generalized forces (T, K+6), by a transition with known events.

    In double support, 2 T long, the rear foot has a falling share of the load that the motion required at the heel
    strike of the other foot, t = 0: exp(-(t/T)^3), and k1 exp(-(t/T - 2/3)^2) - k2 t/T of the forward force, with k1 =
    exp(4/9) and k2 = k1 exp(-16/9) / 2 (Ren, Jones & Howard 2008, J Biomech 41:2750-9). The other foot has the rest.
    """
    model, motion = recorded.model, recorded.motion
    time, center = motion.time, mass_center(model, motion.q)
    required = about_center(predicted_reactions(model, motion).required, center)
    found, down = gait_events(trial).events, dict[str, Mask]()
    for side in SIDES:
        own = sorted((each for each in found if each.side == side), key=lambda each: each.time)
        strikes = np.array([each.kind == "heel_strike" for each in own])
        passed = np.searchsorted([each.time for each in own], time, "right")
        down[side] = np.r_[~strikes[:1], strikes][passed]
    shares = np.zeros((len(time), 2, 6))
    for k, side in enumerate(SIDES):
        shares[down[side] & ~down[SIDES[1 - k]], k] = 1.0
    k1, both = np.exp(4.0 / 9.0), down["r"] & down["l"]
    k2 = 0.5 * k1 * np.exp(-16.0 / 9.0)
    loads = shares * required[:, None]
    for first, last in spans_of(both, time, 0.0):
        inside = (time >= first) & (time <= last)
        rear = int(np.argmax([loads[max(np.flatnonzero(inside)[0] - 1, 0), k, 2] for k in range(2)]))
        t = (time[inside] - first) / max(0.5 * (last - first), 1e-9)
        falling = np.repeat(np.exp(-(t**3))[:, None], 6, axis=1)
        falling[:, 0] = k1 * np.exp(-((t - 2.0 / 3.0) ** 2)) - k2 * t
        loads[inside, rear] = falling * required[inside][0]
        loads[inside, 1 - rear] = required[inside] - loads[inside, rear]
    point = np.full((len(time), 3), np.nan)
    reactions = []
    for k, side in enumerate(SIDES):
        force = loads[:, k, :3]
        reactions.append(GroundReaction(side, force, loads[:, k, 3:] + np.cross(center, force), point))
    return reactions, moments_with(recorded, reactions)


def differences(
    trial: Trial, recorded: Mechanics, hidden: list[Trial], way: Way = from_motion
) -> tuple[Array, Array, Array]:
    """Forces forward, sideways, upward: rms difference [body weights] and r, (3,); rms of the moments (4,) [N m/kg]."""
    model, motion, mass = recorded.model, recorded.motion, recorded.model.mass.total
    plates = {ground.side: ground for ground in recorded.reactions}
    measured = moments_with(recorded, recorded.reactions)
    forces, correlations, moments = [], [], []
    for other in hidden:
        reactions, of_all = way(other, recorded)
        off = of_all - measured
        for ours in reactions:
            seen = trial.measured(ours.side, motion.time) & other.predicted(ours.side, motion.time)
            seen &= np.isfinite(ours.force).all(axis=1)
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


def main() -> None:
    parser = command_line(__doc__)
    ways = parser.add_mutually_exclusive_group()
    for name in ("--one-plate", "--live", "--transition"):
        ways.add_argument(name, action="store_true")
    parser.add_argument("trials", nargs="+", type=input_file, metavar="TRIAL.toml")
    given = parser.parse_args()
    way = from_live if given.live else from_motion
    names = ("forward", "sideways", "upward")
    shown = Table(
        "trial",
        *(f"{name} % BW (r)" for name in names),
        *("hip flexion", "adduction", "knee", "ankle", "strikes, by markers", "toe-offs, by markers", "s"),
    )
    for file in given.trials:
        trial = recording_of(file, "this comparison")
        recorded = mechanics(trial)
        hidden = hidden_trials(trial, recorded, given.one_plate)
        if given.transition:
            way = partial(from_transition, trial)
        begin = perf_counter()
        size, r, moments = differences(trial, recorded, hidden, way)
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
    main()
