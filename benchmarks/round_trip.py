"""The round trip: muscle forces shared from a recording drive the same body from the same start. How far does it go?

    python -m benchmarks.round_trip [TRIAL.toml] [--start SECONDS] [--duration SECONDS] [--picture drift.png]

Tables: how far the simulated motion is from the recorded one (largest distance of a point, largest error of a joint
angle), with so many samples of the forces for each frame (x1: straight lines between the frames), and with a little
feedback on the joint angles; the joints at the end; how fast disturbances grow; and the bundled stride, which is in
balance at any time, by its sampling interval.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import muscle_db
from benchmarks.arguments import command_line, input_file
from musclesolve import forward_problem
from musclesolve._util.arrays import Array
from musclesolve.data import reference_stride as bundled_trial
from musclesolve.dynamics import simulate
from musclesolve.errors import MuscleSolveError
from musclesolve.forces import prepare
from musclesolve.muscles import scale_muscles
from musclesolve.muscles.muscle_state import muscle_state
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.share import share
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solving import solve
from musclesolve.studies.forward_problem import (
    INTEGRATION,
    Drift,
    ForwardProblem,
    Tracking,
    growth,
    problem_of,
)
from musclesolve.synthetic.reference_stride import ReferenceStride, reference_stride

console = Console(width=150, markup=False)

REPLAYS, REFINED = ("activation", "force"), (1, 5, 20, 50)
BETWEEN, INTERVALS = ("linear", "spline"), (0.010, 0.005, 0.0025, 0.00125)
"""Ways to replay, samples of the forces for a frame; lines between the samples of the stride, and their spacing [s]."""
USUAL, SECONDS = 0.3, 90.0
"""Duration of the simulations unless another is asked for, and about how long all of them then take [s]."""
SHOWN = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30)
FREQUENCY = 100.0
"""Of the feedback [rad/s]."""

LOST, PIECE = np.radians(20.0), 3
"""A simulation whose worst angle is off by so much [rad] is not continued; pieces of so many frames."""


@dataclass(frozen=True)
class Trip:
    """One simulation: its drift, the largest moment of the feedback [N m], and the time that it took [s]."""

    label: str
    drift: Drift | None
    feedback: float
    seconds: float
    evaluations: int


def trip(label: str, problem: ForwardProblem, duration: float, tracking: Tracking | None = None) -> Trip:
    """Simulate one problem piece by piece, until it is lost; None for the drift if it breaks down at once."""
    forces = [*problem.forces, *([] if tracking is None else [tracking])]
    time_left = problem.motion.time[problem.first :: problem.every]
    time_left = time_left[time_left <= time_left[0] + duration + 1e-9]
    q, qd, began = problem.q0, problem.qd0, time.perf_counter()
    parts, added, evaluations = [], 0.0, 0
    while len(time_left) > 1 and (not parts or parts[-1].largest_angle[-1] < LOST):
        try:
            found = simulate(problem.model, q, qd, time_left[: PIECE + 1], forces, integration=INTEGRATION)
        except MuscleSolveError:
            break
        parts.append(problem.drift(found))
        q, qd, time_left = found.q[-1], found.qd[-1], time_left[PIECE:]
        evaluations += found.evaluations
        if tracking is not None:
            added = max(added, float(np.abs(tracking.moments(found.time, found.q, found.qd)).max()))
    return Trip(label, joined(parts), added, time.perf_counter() - began, evaluations)


def joined(parts: list[Drift]) -> Drift | None:
    """The drift of simulations of which each goes on where the one before ended."""
    if not parts:
        return None
    later = [slice(k > 0, None) for k in range(len(parts))]
    names = ("time", "angle", "tilt", "distance")
    whole = {
        name: np.concatenate([getattr(part, name)[keep] for part, keep in zip(parts, later, strict=True)])
        for name in names
    }
    return replace(parts[0], **whole)


def trips(analysis: Analysis, start: float | None, duration: float) -> Iterator[Trip]:
    """The ways to replay a recording, `len(REPLAYS) * (len(REFINED) + 1)` of them."""
    for replay in REPLAYS:
        for refine in REFINED:
            between = "linear" if refine == 1 else "spline"
            problem = started(forward_problem(analysis, replay, between=between, refine=refine), start)
            yield trip(f"{replay} x{refine}", problem, duration)
        problem = started(forward_problem(analysis, replay), start)
        yield trip(f"{replay} x1, feedback", problem, duration, problem.tracking(FREQUENCY))


def started(problem: ForwardProblem, start: float | None) -> ForwardProblem:
    """The problem from some time on; from its first frame if that is None."""
    return problem if start is None else problem.starting(start)


def drift_table(found: list[Trip], duration: float) -> Table:
    """Largest distance of a point and largest error of a joint angle after some times."""
    times = [at for at in SHOWN if at <= duration + 1e-9]
    table = Table(
        "replayed", *(f"{at:.2f} s\n[mm, deg]" for at in times), "feedback\n[N m]", "evaluations", "[s]"
    )
    for each in found:
        cells = ["" if each.drift is None else cell(each.drift, at) for at in times]
        table.add_row(
            each.label, *cells, f"{each.feedback:.2f}", str(each.evaluations), f"{each.seconds:.1f}"
        )
    return table


def cell(drift: Drift, after: float) -> str:
    """Millimeters and degrees in the frame nearest to a time after the start."""
    since = drift.time - drift.time[0]
    if since[-1] < after - 1e-6:
        return "lost"
    k = int(np.argmin(np.abs(since - after)))
    return f"{1e3 * drift.largest_distance[k]:.2g}, {np.degrees(drift.largest_angle[k]):.2g}"


def joint_table(found: list[Trip]) -> Table:
    """Error of the joint angles of the legs at the end of the simulations."""
    shown = [each for each in found if each.drift is not None and each.drift.largest_angle[-1] < LOST]
    table = Table("joint [deg]", *(each.label.replace(", ", "\n") for each in shown))
    if not shown:
        return table
    assert shown[0].drift is not None
    for k, dof in enumerate(shown[0].drift.dofs):
        if dof.startswith(("hip", "knee", "ankle")):
            table.add_row(
                dof, *(f"{np.degrees(each.drift.angle[-1, k]):+.2g}" for each in shown if each.drift)
            )
    return table


def growth_table(analysis: Analysis) -> Table:
    """e-folding times of the fastest disturbance, with muscles and with prescribed forces, and with feedback."""
    live, still = forward_problem(analysis), forward_problem(analysis, "force")
    held = live.tracking(FREQUENCY)
    table = Table("time [s]", "activations\n[ms]", "forces\n[ms]", "with feedback\n[ms]", "what moves")
    for frame in np.linspace(3, len(live.motion.time) - 4, 7).astype(int):
        forces = (live.forces, still.forces, (*live.forces, held))
        rates = [growth(live.model, each, live.motion, frame) for each in forces]
        e_folding = [f"{1e3 * each.e_folding:.3g}" for each in rates]
        table.add_row(f"{live.motion.time[frame]:.2f}", *e_folding, ", ".join(rates[0].leading(3)))
    return table


def stride_problem(interval: float, duration: float, between: str) -> ForwardProblem:
    """The bundled stride sampled every so many seconds, its moments shared among 43 muscles of each leg.

    The activations come from frames 10 ms apart, with the same smooth curves between them for every interval.
    """
    from scipy.interpolate import PchipInterpolator

    stride = reference_stride()
    every = round(0.01 / interval)
    at = 0.15 + interval * np.arange(round((duration + 0.1) / interval) + 1)
    motion, wrenches = stride.motion(at), stride.wrenches(at)
    legs = [scale_muscles(stride.model, muscle_db.load("gait2392"), side, passive="none") for side in "rl"]
    shared = stride_activations(stride, legs, at[::every])
    activation = np.clip(PchipInterpolator(at[::every], shared)(at), 0.0, 1.0)
    problem = problem_of(stride.model, motion, wrenches, legs, activation, "activation", between)
    return replace(problem, every=every)


def stride_activations(stride: ReferenceStride, legs: list[ScaledMuscles], at: Array) -> Array:
    """Activations (T, n) of both legs that produce the moments of hip, knee and dorsiflexion."""
    motion, net = stride.motion(at), stride.joint_moments(at)
    found: list[Array] = []
    for leg in legs:
        state = muscle_state(stride.model, leg, motion)
        rows = [stride.model.dof(dof) for dof in leg.dof_names[:5]]
        capacity, strength = state.force_capacity, leg.parameters.max_isometric_force
        shared = Problem(state.moment_arm[:, :5], net[:, rows], capacity, strength, reserve_weight=0.01)
        found.append(solve(shared, "stress_cubed").activation)
    return np.hstack(found)


def stride_trips(duration: float) -> Iterator[Trip]:
    """The bundled stride by its sampling interval, `len(INTERVALS)` of them each way."""
    for between, interval in product(BETWEEN, INTERVALS):
        yield trip(f"{1e3 * interval:g} ms, {between}", stride_problem(interval, duration, between), duration)


def picture(found: list[Trip], path: str) -> None:
    """The drift through time, logarithmic, with the limits of 20 mm and 3 degrees."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10.0, 4.2), layout="constrained")
    distance, angle = figure.subplots(1, 2)
    for each in found:
        if each.drift is not None:
            since, line = each.drift.time - each.drift.time[0], "--" if "force" in each.label else "-"
            distance.semilogy(since[1:], 1e3 * each.drift.largest_distance[1:], line, label=each.label)
            angle.semilogy(since[1:], np.degrees(each.drift.largest_angle[1:]), line)
    for axes, limit, what in (
        (distance, 20.0, "largest distance of a point [mm]"),
        (angle, 3.0, "largest angle [deg]"),
    ):
        axes.axhline(limit, color="0.6", linewidth=0.8)
        axes.set(xlabel="time after the start [s]", ylabel=what, ylim=(1e-6, 1e3))
    figure.legend(loc="outside right upper", fontsize=7)
    figure.savefig(path, dpi=130)


def main() -> None:
    """Print the tables."""
    parser = command_line(__doc__)
    parser.add_argument("trial", nargs="?", type=input_file, default=bundled_trial())
    parser.add_argument("--start", type=float)
    parser.add_argument("--duration", type=float, default=USUAL)
    parser.add_argument("--picture")
    given = parser.parse_args()
    replays, strides = len(REPLAYS) * (len(REFINED) + 1), len(BETWEEN) * len(INTERVALS)
    console.print(
        f"{replays + strides} simulations of {given.duration:g} s: about "
        f"{SECONDS * given.duration / USUAL:.2g} s on one core"
    )
    analysis = share(prepare(given.trial))
    with Progress(console=console, transient=True) as bar:
        found = list(
            bar.track(trips(analysis, given.start, given.duration), replays, description="recording")
        )
        stride = list(bar.track(stride_trips(given.duration), strides, description="bundled stride"))
    console.print(drift_table(found, given.duration), joint_table(found), growth_table(analysis))
    console.print(drift_table(stride, given.duration))
    if given.picture:
        picture(found, given.picture)


if __name__ == "__main__":
    main()
