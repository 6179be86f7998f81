"""Live muscle forces: frames a second, memory, ratio to the offline analysis, error by delay.

    python -m benchmarks.live [TRIAL.toml] [--frames 600000]

A trial is replayed sample by sample (both legs, contact forces included; the bundled stride unless given). The offline
analysis is `prepare` and `share` of the same trial in the same run, per frame of its result. Then the trial is
replayed over and over: time of every step, whether its frame is valid or not, and the largest resident set after
1 000 frames and at the end. The delay table compares with the zero-lag result: hip, knee and dorsiflexion moments, and
all muscle forces, in valid frames.
"""

from __future__ import annotations

import resource
from itertools import cycle, islice
from time import perf_counter

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from musclesolve import read_trial
from musclesolve.apps.live import Live, replay, samples
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare_recording
from musclesolve.models.body_sharing import share
from musclesolve.studies.benchmark.measure import machine

DELAYS_MS = (0.0, 10.0, 25.0, 50.0, 100.0)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("trial", nargs="?", type=input_file, default=reference_stride())
    parser.add_argument("--frames", type=int, default=10_000, help="of the long replay")
    stated = parser.parse_args()
    trial = read_trial(stated.trial)
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()))
    live = Live(trial)
    console.print(f"warm up: {live.warm_up():.2f} s; {len(live.muscles)} muscles, {len(live.joints)} joints")
    console.print(speed_table(trial, live))
    console.print(delay_table(trial))
    console.print(long_replay(live, stated.frames))


def speed_table(trial: Trial, live: Live, rounds: int = 5) -> Table:
    """Time of a live frame and of a frame of the offline analysis, rounds of both in turn."""
    steps, offline = list[np.ndarray](), list[float]()
    for _ in range(rounds):
        live.clear()
        done = replay(trial, live)
        steps.append(np.array([frame.seconds for frame in done.frames if frame.valid.all()]))
        begun = perf_counter()
        body = prepare_recording(trial)
        share(body)
        offline.append((perf_counter() - begun) / len(body.time))
    seconds = np.concatenate(steps)
    ratio = np.median([np.median(own) / other for own, other in zip(steps, offline, strict=True)])
    table = Table("", "median [ms]", "99.9 % [ms]", "frames a second", title="time of a frame")
    median, slowest = 1e3 * np.quantile(seconds, [0.5, 0.999])
    table.add_row("live", f"{median:.3f}", f"{slowest:.3f}", f"{1.0 / seconds.mean():.0f}")
    usual = float(np.median(offline))
    table.add_row("offline", f"{1e3 * usual:.3f}", "", f"{1.0 / usual:.0f}")
    table.add_row("ratio", f"{ratio:.2f}", "", "")
    return table


def delay_table(trial: Trial) -> Table:
    """Error against the zero-lag result by delay, and what noise becomes."""
    body = prepare_recording(trial)
    offline = share(body)
    tension = offline.over_muscles([part.tension for part in offline.parts])
    table = Table(
        "lag [ms]", "moments [N m]", "muscle forces [N]", "noise: q", "qd [1/s]", "qdd [1/s2]", title="error"
    )
    for lag in DELAYS_MS:
        live = Live(trial, lag_ms=lag)
        frames = [frame for frame in replay(trial, live).frames if frame.valid.all()]
        frames = [frame for frame in frames if body.time[0] <= frame.time <= body.time[-1]]
        time = np.array([frame.time for frame in frames])
        rows = [live.dofs.index(f"{dof}_{side}") for side in live.sides for dof in live.shared]
        errors = []
        for truth, found in (
            (body.moment[:, rows], np.array([frame.moment[rows] for frame in frames])),
            (tension, np.array([frame.force for frame in frames])),
        ):
            known = np.isfinite(truth).all(axis=1)
            at = np.stack([np.interp(time, body.time[known], column) for column in truth[known].T], axis=1)
            errors.append(float(np.sqrt(np.mean((found - at) ** 2))))
        gains = live.noise_gain
        table.add_row(f"{lag:g}", *(f"{error:.1f}" for error in errors), *(f"{gain:.2g}" for gain in gains))
    return table


def long_replay(live: Live, frames: int) -> str:
    """Time and memory of many frames: the trial over and over, its clock going on."""
    live.clear()
    every = list(samples(live, live.trial))
    seconds, valid, sizes = np.empty(frames), 0, {}
    begun = perf_counter()
    for number, sample in enumerate(islice(cycle(every), frames), 1):
        frame = live.step(number / live.rate, *sample[1:])
        seconds[number - 1] = frame.seconds
        valid += frame.valid.all()
        if number in (1000, frames):
            sizes[number] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    elapsed = perf_counter() - begun
    median, slow, slowest = 1e3 * np.quantile(seconds, [0.5, 0.999, 1.0])
    return (
        f"{frames} frames in {elapsed / 60.0:.1f} min, {frames / elapsed:.0f} a second; median {median:.3f} ms, "
        f"99.9 % {slow:.3f} ms, slowest {slowest:.1f} ms; {100.0 * valid / frames:.0f} % of them valid for both legs; "
        + ", ".join(f"{size:.1f} MB after {number} frames" for number, size in sizes.items())
    )


if __name__ == "__main__":
    main()
