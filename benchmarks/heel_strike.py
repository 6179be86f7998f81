"""How late heel strikes by markers are, by published methods, beside the strikes of the plates and of the files.

python -m benchmarks.heel_strike TRIAL...
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from musclesolve._util.arrays import true_runs
from musclesolve.forces import recording_of
from musclesolve.motion.events.force_events import FootLoads, force_events
from musclesolve.motion.events.marker_events import LANDS, SHORTEST_PERIOD, SHORTEST_SWING, Walk, maxima, walk
from musclesolve.recording.data import SIDES, Side
from musclesolve.recording.plates.foot_contacts import ground_velocity
from musclesolve.signals import low_pass

Array = NDArray[np.float64]

CUTOFFS_OF_EVENTS = (6, 8, 10, 15, 20)
"""Cut-offs of the markers of the feet for the methods that find heel strikes [Hz]."""
GROUND_SPEED, SAME_STRIKE = 0.5, 0.2
"""Speed of a heel on the ground [m/s], and longest time between one strike by two sources [s]."""


def strikes_by_methods(walking: Walk) -> dict[str, list[tuple[Side, float, float]]]:
    """Return by method: the side, the time of the turn of the heel [s], and the heel strike [s] (NaN if not found).

    All search about the turn of the heel (Zeni et al. 2008), from 0.05 s before it to 0.2 s after it: the middle of
    the foot fastest down (O'Connor et al. 2007); the heel slower than 0.5 m/s against the ground (Ghoussayni et al.
    2004, at another speed); the heel with the largest acceleration upward (Hreljac & Marshall 2000).
    """
    found: dict[str, list[tuple[Side, float, float]]] = {}
    rate, frames = walking.rate, np.arange(walking.time.size)
    for side in SIDES:
        heel, toe = walking.feet[f"heel_{side}"], walking.feet[f"toe_{side}"]
        turns = maxima(np.sum((heel - walking.pelvis) * walking.heading, axis=1), rate, SHORTEST_SWING)
        for hz in CUTOFFS_OF_EVENTS:
            middle = np.gradient(_smooth(0.5 * (heel + toe)[:, 2], rate, hz)) * rate
            rates = np.stack([np.gradient(_smooth(column, rate, hz)) * rate for column in heel.T], axis=1)
            belt = ground_velocity(walking.time, walking.pelvis, heel, rates)
            speed, rise = np.linalg.norm(rates - belt, axis=1), np.gradient(rates[:, 2])
            for turn in turns:
                first, stop = max(round(turn + LANDS[0] * rate), 0), round(turn + LANDS[1] * rate) + 1
                around = slice(first, stop)
                slow = np.flatnonzero(speed[around] < GROUND_SPEED)
                places = {
                    "Zeni": turn,
                    f"O'Connor, {hz} Hz": _best(-middle, around),
                    f"Ghoussayni, {hz} Hz": first + slow[0] if slow.size else np.nan,
                    f"Hreljac, {hz} Hz": _best(rise, around),
                }
                at = float(np.interp(turn, frames, walking.time))
                for name, place in places.items():
                    if name != "Zeni" or hz == CUTOFFS_OF_EVENTS[0]:
                        time = float(np.interp(place, frames, walking.time)) if np.isfinite(place) else np.nan
                        found.setdefault(name, []).append((side, at, time))
    return found


def _best(signal: Array, around: slice) -> float:
    """Place of the highest sample in a stretch; NaN beside a gap."""
    part = signal[around]
    return around.start + float(part.argmax()) if part.size and np.isfinite(part).all() else np.nan


def report_events(files: list[Path]) -> None:
    """Print how late heel strikes by markers are, by method and recording [ms]: median and standard deviation."""
    late: dict[str, dict[str, list[float]]] = {}
    for file in files:
        trial = recording_of(file, "this benchmark")
        walking, sure = walk(trial), [*force_events(FootLoads.from_trial(trial)), *trial.events]
        if walking is None:
            continue
        for method, strikes in strikes_by_methods(walking).items():
            for side, turn, strike in strikes:
                times = [e.time for e in sure if (e.kind, e.side) == ("heel_strike", side)]
                near = min(times, key=lambda time: abs(time - turn), default=np.inf)
                if abs(near - turn) < SAME_STRIKE:
                    late.setdefault(method, {}).setdefault(str(file), []).append(1000.0 * (strike - near))
    table = Table(title="heel strikes by markers: ms late, median +- standard deviation")
    names = list(next(iter(late.values()), {}))
    for heading in ("method", *(Path(name).parent.name for name in names), "mean", "sd of medians"):
        table.add_column(heading)
    for method, by_file in late.items():
        medians = np.array([np.nanmedian(by_file[name]) for name in names])
        cells = [
            f"{middle:.0f} +- {np.nanstd(by_file[name]):.0f}"
            for name, middle in zip(names, medians, strict=True)
        ]
        table.add_row(method, *cells, f"{medians.mean():.0f}", f"{medians.std():.0f}")
    console.print(table)


def _smooth(signal: Array, rate: float, hz: float) -> Array:
    smooth = np.full(signal.size, np.nan)
    for first, stop in true_runs(np.isfinite(signal)):
        if stop - first > SHORTEST_PERIOD * rate:
            smooth[first:stop] = low_pass(signal[first:stop], rate, min(hz, 0.4 * rate))
    return smooth


if __name__ == "__main__":
    parser = command_line(__doc__)
    parser.add_argument("trials", nargs="+", type=input_file)
    console.width = 130
    report_events(parser.parse_args().trials)
