"""Measured fascicle lengths, and the muscles of the set whose fibers are compared with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, mean_of_known
from musclesolve._util.sides import side_of
from musclesolve._util.time_holes import HoleLimits
from musclesolve.constants import WALKING_CUTOFF_HZ
from musclesolve.motion.signals.emg_envelope import at_times_inside, delayed_correlations
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.recording.data import Fascicles
from musclesolve.recording.schema import Document
from musclesolve.recording.trial.muscle_signals import FASCICLE_CHANNELS

UNLIKE = 4.0
"""Largest factor between median fascicle length and optimal fiber length of a muscle: fascicles work at 0.4 to 1.6
optimal lengths, and a wrong unit changes the factor by ten."""


@dataclass(frozen=True)
class MeasuredFascicles:
    """Fascicle lengths of k muscles at the times of the measurement, and their standard deviation."""

    channels: tuple[str, ...]
    muscles: tuple[str, ...]  # one muscle for each channel, none twice
    time: Array  # (S,) increasing [s], on the clock of the motion
    length: Array  # (S, k) [m], NaN where no fascicle was seen
    error: float  # standard deviation of a length [m]

    @classmethod
    def from_fascicles(
        cls, fascicles: Fascicles, muscles: Sequence[str], sides: Sequence[str]
    ) -> MeasuredFascicles:
        """Select the measured fascicles of some sides; muscles: one for every channel, from `fascicle_muscles`."""
        chosen = [k for k, name in enumerate(muscles) if side_of(name) in sides]
        return cls(
            tuple(fascicles.names[k] for k in chosen),
            tuple(muscles[k] for k in chosen),
            fascicles.time,
            fascicles.length[:, chosen],
            fascicles.error,
        )

    def at(self, time: Array) -> Array:
        """The lengths (T, k) [m] at times (T,) [s] by linear interpolation; NaN in gaps and where none was measured."""
        length = at_times_inside(self.time, self.length, time)
        for first, last in HoleLimits.from_times(self.time, WALKING_CUTOFF_HZ).long_holes(self.time):
            length[(time > first) & (time < last)] = np.nan
        return length

    def columns(self, muscles: Sequence[str]) -> tuple[Indices, Indices]:
        """Numbers (j,) of the channels that measure one of n muscles, and numbers (j,) of these muscles."""
        number = {name: k for k, name in enumerate(muscles)}
        pairs = [(k, number[name]) for k, name in enumerate(self.muscles) if name in number]
        channels, numbers = np.array(pairs, np.intp).reshape(-1, 2).T
        return channels, numbers

    def agreement(
        self, time: Array, fiber_length: Array, muscles: Sequence[str]
    ) -> tuple[Array, Array, Array]:
        """Root mean square and mean of fiber length minus measured length (k,) [m], and their Pearson r (k,).

        fiber_length (T, n) [m] of n muscles, NaN in frames that do not count. Results are NaN without any frame, r also
        with fewer than ten frames.
        """
        names, measured = list(muscles), self.at(time)
        fiber = fiber_length[:, [names.index(name) for name in self.muscles]]
        r = delayed_correlations(time, fiber, time, measured, np.zeros(1))[0]
        return np.sqrt(mean_of_known((fiber - measured) ** 2)), mean_of_known(fiber - measured), r

    def check_unit(self, document: Document, parameters: MuscleParameters) -> None:
        """Refuse measured lengths whose unit cannot be right for the muscles of `parameters`."""
        for channel, muscle in zip(*self.columns(parameters.names), strict=True):
            median = float(np.nanmedian(self.length[:, channel]))
            optimal = float(parameters.optimal_fiber_length[muscle])
            if not optimal / UNLIKE < median < optimal * UNLIKE:
                name = parameters.names[muscle]
                raise document.error(
                    "bad_units",
                    "fascicle",
                    "unit",
                    problem=f"the fascicles of {name} would have a median length of {1000.0 * median:.4g} mm",
                    expected=f"about its optimal fiber length, {1000.0 * optimal:.4g} mm",
                    remedy=f"check the unit, and whether '{self.channels[channel]}' shows {name}",
                )

    def notes(self, time: Array) -> list[str]:
        """A sentence on the frames at `time` (T,) [s] without a measured fascicle; empty where all frames have one."""
        lost = int(np.isnan(self.at(time)).all(axis=1).sum()) if self.channels else 0
        if not lost:
            return []
        return [
            f"Fascicle lengths were measured from {self.time[0]:.3f} to {self.time[-1]:.3f} s: {lost} of {time.size} "
            "frames are without."
        ]


def fascicle_muscles(
    fascicles: Fascicles, document: Document, known: Mapping[str, Sequence[str]], whose: str
) -> tuple[str, ...]:
    """Look up the muscle that the trial file gives to each measured fascicle length.

    known: every name that a channel may have -> muscles; whose: the muscle set or model, for messages.
    """
    measured: dict[str, str] = {}  # muscle -> its column
    for channel, name in zip(fascicles.names, fascicles.muscles, strict=True):
        if name not in known:
            likely = [
                candidate
                for candidate in known
                if side_of(candidate) == side_of(name) and len(known[candidate]) == 1
            ]
            raise document.unknown(
                "unknown_name",
                name,
                likely or list(known),
                FASCICLE_CHANNELS,
                channel,
                problem=f"there is no muscle '{name}' in {whose}",
                expected="a muscle, with side",
            )
        if len(known[name]) > 1:
            raise document.error(
                "conflict",
                FASCICLE_CHANNELS,
                channel,
                problem=f"'{name}' of the column '{channel}' stands for {len(known[name])} muscles",
                expected="the one muscle whose fascicle was seen",
                remedy=f"name one of {', '.join(map(str, known[name]))}",
            )
        (muscle,) = known[name]
        if muscle in measured:
            raise document.error(
                "duplicate_name",
                FASCICLE_CHANNELS,
                channel,
                problem=f"the columns '{measured[muscle]}' and '{channel}' both measure {muscle}",
                expected="one column for a muscle",
                remedy="keep one of them, or write their mean into the file",
            )
        measured[muscle] = channel
    return tuple(measured)
