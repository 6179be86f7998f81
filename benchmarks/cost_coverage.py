"""Whether the intervals of `ms.sharing.fit_cost` hold the truth as often as they promise, on EMG of a known cost.

    python -m benchmarks.cost_coverage [--repetitions N]

Five moments of 25 muscles over 30 frames, shared by a known cost. Some muscles have a channel of EMG: activation with
white noise, times an unknown gain from 0.5 to 2. For each parameter the mean and the standard deviation of the
estimates over the repetitions, the median standard error that the fits claim, how many of the 95 % intervals hold the
truth, and how many end on both sides. An interval without end on one side states that the EMG does not bound the
parameter there. Weights of a sum of costs are decimal logarithms, as in `fit_cost`.

Where the noise is cut, numbers below zero are zero, as of a rectified signal: this lifts quiet muscles alone, which no
gain and offset of a channel undoes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.timing import console
from musclesolve._util.arrays import Array

FRAMES, DOFS, MUSCLES = 30, 5, 25
POWERS = {"exponent": (1.15, 8.0), "relative": (-3.0, 6.0), "strength": (-3.0, 3.0)}
CASES = (
    ("general_power", POWERS, (3.0, 1.0, 0.5)),
    (["activation_power", "stress_cubed", "force_squared"], None, (-0.3, 0.0)),
)
"""Family, its free options, and the true parameters."""
RECORDINGS = (0.01, 25, False), (0.01, 25, True), (0.05, 10, False), (0.05, 10, True), (0.10, 10, False)
"""Noise of the activation, number of channels, and whether numbers below zero are cut."""


class Coverage(NamedTuple):
    """Estimates of K parameters in R repetitions, and what their intervals hold."""

    parameters: tuple[str, ...]
    truth: Array
    estimates: Array  # (R, K)
    standard_errors: Array  # (R, K)
    intervals: Array  # (R, K, 2)

    @property
    def holds(self) -> Array:
        """Number of intervals that hold the truth, (K,)."""
        low, high = np.moveaxis(self.intervals, 2, 0)
        return ((low <= self.truth) & (self.truth <= high)).sum(axis=0)

    @property
    def ends(self) -> Array:
        """Number of intervals that end on both sides, (K,)."""
        return np.isfinite(self.intervals).all(axis=2).sum(axis=0)


def random_problem(seed: int = 9) -> ms.Problem:
    """A problem whose moments the muscles produce with activations up to 0.3."""
    draw = np.random.default_rng(seed)
    arm = draw.uniform(-0.06, 0.06, (FRAMES, DOFS, MUSCLES))
    capacity = draw.uniform(200.0, 1500.0, (FRAMES, MUSCLES))
    moment = np.einsum("tmn,tn->tm", arm, capacity * draw.uniform(0.0, 0.3, (FRAMES, MUSCLES)))
    return ms.Problem(arm, moment, capacity, 1.1 * capacity.max(axis=0))


def coverage(
    problem: ms.Problem,
    family: str | Sequence[str],
    free: dict[str, tuple[float, float]] | None,
    truth: Sequence[float],
    noise: float,
    channels: int,
    repetitions: int,
    cut: bool = False,
) -> Coverage:
    """Fit the family to EMG of its member with the true parameters, with new noise in each repetition."""
    some = np.eye(MUSCLES)[:channels]
    true = np.array(truth)
    estimates, errors, intervals = list[Array](), list[Array](), list[Array]()
    made = ms.sharing.fit_cost(
        problem, ms.solve(problem, "activation_power").activation, None, family, free
    ).family
    mean = ms.solve(problem, made.make(true)).activation @ some.T
    for repetition in range(repetitions):
        draw = np.random.default_rng(repetition)
        gain = draw.uniform(0.5, 2.0, channels)
        noisy = mean + noise * draw.normal(size=mean.shape)
        emg = gain * (np.maximum(noisy, 0.0) if cut else noisy)
        fit = ms.sharing.fit_cost(problem, emg, some, family, free)
        estimates.append(fit.theta)
        errors.append(fit.standard_error)
        intervals.append(np.array([fit.interval(name) for name in made.parameters]))
    return Coverage(made.parameters, true, np.array(estimates), np.array(errors), np.array(intervals))


def main() -> None:
    """Print a line for each parameter of each recording."""
    parser = command_line(__doc__)
    parser.add_argument("--repetitions", type=int, default=16)
    repetitions = parser.parse_args().repetitions
    columns = "parameter", "truth", "noise", "channels", "cut", "mean (sd)", "claimed", "hold", "end"
    table = Table(
        *columns, title=f"{repetitions} repetitions; 95 % intervals that hold the truth, and that end"
    )
    problem, held, made = random_problem(), {False: 0, True: 0}, {False: 0, True: 0}
    for family, free, truth in CASES:
        for noise, channels, cut in RECORDINGS:
            found = coverage(problem, family, free, truth, noise, channels, repetitions, cut)
            held[cut] += int(found.holds.sum())
            made[cut] += found.estimates.size
            for k, name in enumerate(found.parameters):
                values = found.estimates[:, k]
                table.add_row(
                    name,
                    f"{truth[k]:g}",
                    f"{noise:g}",
                    f"{channels}",
                    "yes" if cut else "",
                    f"{values.mean():.2f} ({values.std():.2f})",
                    f"{np.median(found.standard_errors[:, k]):.2g}",
                    f"{found.holds[k]}",
                    f"{found.ends[k]}",
                )
    console.print(table)
    for cut, noise in ((False, "white noise"), (True, "noise cut at zero")):
        console.print(f"{noise}: {held[cut]} of {made[cut]} intervals hold the truth")


if __name__ == "__main__":
    main()
