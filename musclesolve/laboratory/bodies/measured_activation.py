"""Measured activations and fascicle lengths, and the muscles of the set that each channel or image measures.

Activations are the envelopes of EMG. The fibers of muscles are compared with fascicle lengths.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

import muscle_db
from musclesolve._util.arrays import Array, Indices, grouped, mean_of_known
from musclesolve._util.sides import side_of
from musclesolve._util.splines import HoleLimits
from musclesolve.constants import WALKING_CUTOFF_HZ
from musclesolve.errors import file_error
from musclesolve.laboratory.motion.signals.emg_envelope import (
    at_times_inside,
    best_delays,
    delayed_correlations,
    linear_envelopes,
    shaped,
)
from musclesolve.laboratory.recording.data import Emg, Fascicles, Trial
from musclesolve.laboratory.trial.muscle_signals import CHANNELS, FASCICLE_CHANNELS
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.tables.document import Document

Channels = tuple[tuple[str, ...], ...]
"""Muscles of every channel, by their names in the set with side."""

OTHER_UNIT = 30.0
"""Factor between the envelopes of a trial and of a calibration beyond which their units differ."""
FAINT = 0.01
"""Share of its maximum below which an envelope must have another unit than the maximum."""


@dataclass(frozen=True)
class MeasuredActivation:
    """Envelopes of the k channels of EMG whose muscles are analyzed, as shares of their maximum."""

    channels: tuple[str, ...]
    muscles: Channels  # the muscles of each channel, whose mean activation is compared with the envelope
    time: Array  # (S,) [s]
    envelope: Array  # (S, k), NaN where not known
    max_delay: float  # the longest delay of activation behind the envelope [s]
    delay: float  # the delay of `expected` [s]
    # channels whose largest envelope of the recording counts as activation 1
    largest_counts: tuple[str, ...] = ()
    calibrated: tuple[str, ...] = ()  # channels with a gain from a calibration of the person

    @classmethod
    def from_emg(
        cls, emg: Emg, muscles: Channels, sides: Sequence[str], fitted: Mapping[str, Any] | None = None
    ) -> Self:
        """Make the envelopes of the sound channels that belong to some legs; others are left out (`Emg.unusable`).

        fitted: EMG parameters from a calibration of the person: "channels" by name with their "largest" envelope in the
        unit of the file and its "gain", the activation there, for channels whose maximum the trial file does not state;
        "delay_s" and "shape", where they were free.
        """
        fit = fitted or {}
        gains = {
            name: channel
            for name, channel in fit.get("channels", {}).items()
            if name in emg.names and emg.maximum[emg.names.index(name)] is None
        }
        chosen = [
            k for k, names in enumerate(muscles) if names[0][-1] in sides and emg.names[k] not in emg.unusable
        ]
        largest = [
            gains[name]["largest"] if name in gains else size
            for name, size in zip(emg.names, emg.maximum, strict=True)
        ]
        envelope = linear_envelopes(replace(emg, maximum=tuple(largest)) if gains else emg)
        for name, size in zip(emg.names, np.nanmax(envelope, axis=0, initial=0.0), strict=True):
            if name in gains and name not in emg.unusable and not 1.0 / OTHER_UNIT <= size <= OTHER_UNIT:
                raise file_error(
                    "bad_units",
                    (emg.path, "[emg]"),
                    f"the envelope of EMG channel {name} reaches {size:.3g} times the largest of the calibration",
                    "EMG in the unit, and by the amplifier, of the trials of the calibration",
                    "export it in that unit, or state [emg] maximum of the channel",
                )
        gain = np.array([gains[name]["gain"] if name in gains else 1.0 for name in emg.names])
        return cls(
            tuple(emg.names[k] for k in chosen),
            tuple(muscles[k] for k in chosen),
            emg.time,
            (gain * shaped(envelope, fit.get("shape", 0.0)))[:, chosen],
            emg.options.max_delay_s,
            fit.get("delay_s", emg.options.delay_s),
            tuple(emg.names[k] for k in chosen if largest[k] is None),
            tuple(emg.names[k] for k in chosen if emg.names[k] in gains),
        )

    def without(self, channel: int) -> Self:
        """Leave out one channel, by its number."""
        remaining = [k for k in range(len(self.channels)) if k != channel]
        return replace(
            self,
            channels=tuple(self.channels[k] for k in remaining),
            muscles=tuple(self.muscles[k] for k in remaining),
            envelope=self.envelope[:, remaining],
        )

    def at(self, time: Array, delay: float = 0.0) -> Array:
        """The envelopes (T, k) at times (T,) less a delay [s]; NaN where they were not recorded."""
        return at_times_inside(self.time, self.envelope, time - delay)

    def delayed(self, time: Array, delays: Array) -> Array:
        """The envelopes (T, k) at times (T,) less a delay (k,) of each channel [s]; NaN means no delay."""
        columns = [self.at(time, delay)[:, k] for k, delay in enumerate(np.nan_to_num(delays))]
        return np.stack(columns, axis=-1) if columns else self.at(time)

    def expected(self, time: Array, muscles: Sequence[str]) -> Array:
        """Return the activation that a cost of EMG tracks, (T, n): the envelope a delay earlier; NaN for unmeasured
        muscles.

        Every muscle of a channel gets its envelope; a muscle of several channels gets their mean.
        """
        return self.of_muscles(self.at(time, self.delay), muscles)

    def of_muscles(self, envelope: Array, muscles: Sequence[str]) -> Array:
        """Assign envelopes (T, k) of the channels to n muscles, (T, n), see `expected`."""
        shown = np.array([[name in names for name in muscles] for names in self.muscles], float)
        count = shown.reshape(-1, len(muscles)).sum(axis=0)
        total = np.einsum("tk,kn->tn", np.nan_to_num(envelope), shown.reshape(-1, len(muscles)))
        lost = np.isnan(envelope).astype(float) @ shown.reshape(-1, len(muscles)) > 0.0
        measured = (count > 0) & ~lost
        return np.where(measured, total / np.maximum(count, 1), np.nan)

    def agreement(self, time: Array, activation: Array, muscles: Sequence[str]) -> tuple[Array, Array]:
        """Pearson r (k,) between the mean activation of each channel and its envelope, at the best delay (k,) [s].

        activation (T, n) of n muscles, NaN in frames that do not count; see `best_delays`.
        """
        return self.agreement_of_channels(time, self.mean_activation(activation, muscles))

    def agreement_of_channels(self, time: Array, curves: Array) -> tuple[Array, Array]:
        """Agreement and delay (see `agreement`) of curves (T, k), one for each channel."""
        return best_delays(time, curves, self.time, self.envelope, self.max_delay)

    def mean_activation(self, activation: Array, muscles: Sequence[str]) -> Array:
        """Mean activation (T, k) over the muscles of each channel, from activations (T, n) of n muscles."""
        names = list(muscles)
        means = [
            activation[:, [names.index(name) for name in channel]].mean(axis=1) for channel in self.muscles
        ]
        return np.stack(means, axis=-1) if means else np.empty((len(activation), 0))

    def notes(self, time: Array) -> list[str]:
        """Sentences on envelopes beyond their maximum or far below it, and on frames at `time` (T,) [s] without EMG."""
        recorded = np.isfinite(self.envelope)
        largest = np.max(self.envelope, axis=0, where=recorded, initial=0.0)
        sentences = []
        for name, size, samples in zip(self.channels, largest, recorded.sum(axis=0), strict=True):
            if samples == 0:
                sentences.append(
                    f"The envelope of EMG channel {name} is known nowhere: it has too many gaps."
                )
            elif name not in self.calibrated and not FAINT <= size <= 1.0 + 1e-9:
                ends = ", and no activation follows it above 1" if size > 1.0 else ""
                sentences.append(
                    f"The envelope of EMG channel {name} reaches {size:.3g} times the maximum that the trial file "
                    f"gives{ends}: check the unit of [emg] maximum."
                )
        if self.calibrated:
            sentences.append(
                f"Envelopes of {len(self.calibrated)} channels of EMG count by the gains of the calibration, which "
                "hold where electrodes were not placed anew."
            )
        lost = int(np.isnan(self.at(time)).all(axis=1).sum()) if self.channels else 0
        if lost:
            sentences.append(
                f"EMG was recorded from {self.time[0]:.3f} to {self.time[-1]:.3f} s: {lost} of {time.size} frames "
                "are without."
            )
        return sentences


def channel_muscles(trial: Trial, database: muscle_db.MuscleDatabase) -> Channels:
    """Look up the muscles that the trial file gives to the channels of its EMG."""
    assert trial.emg is not None
    muscles_of = channel_names(database)
    channels = []
    for channel, names in zip(trial.emg.names, trial.emg.muscles, strict=True):
        for name in names:
            if name not in muscles_of:
                likely = [candidate for candidate in muscles_of if candidate[-2:] == name[-2:]] or list(
                    muscles_of
                )
                raise trial.document.unknown(
                    "laboratory.bodies.no_muscle_group",
                    name,
                    likely,
                    CHANNELS,
                    channel,
                    name=name,
                    database=database.name,
                    expected=None,  # the message does not list the hundred names of a set
                )
        muscles = tuple(dict.fromkeys(muscle for name in names for muscle in muscles_of[name]))
        if len({muscle[-1] for muscle in muscles}) > 1:
            raise trial.document.fault(
                "conflict",
                (CHANNELS, channel),
                f"the channel '{channel}' has muscles of both legs",
                "the muscles under one electrode",
                "name the muscles of one leg",
            )
        channels.append(muscles)
    return tuple(channels)


def channel_names(database: muscle_db.MuscleDatabase) -> dict[str, tuple[str, ...]]:
    """Names with side that a channel of a measurement may have -> the long names of its muscles.

    A common beginning of the names of several muscles of one group means all of them: gluteus_maximus_r is a name of
    its parts, but tibialis_r is none, because it would mean a dorsiflexor and a plantarflexor.
    """
    muscles_of: dict[str, tuple[str, ...]] = {}
    for side, leg in database.sides.items():
        words_of = [(muscle, muscle.name.split("_")[:-1]) for muscle in leg]
        counted = ((muscle, words, count) for muscle, words in words_of for count in range(1, len(words)))
        beginnings = grouped(("_".join([*words[:k], side]), muscle) for muscle, words, k in counted)
        for beginning, named in beginnings.items():
            if len({muscle.group for muscle in named}) == 1:
                muscles_of[beginning] = tuple(muscle.name for muscle in named)
        for group in database.groups:
            muscles_of[f"{group}_{side}"] = tuple(muscle.name for muscle in leg if muscle.group == group)
        muscles_of |= {muscle.short_name: (muscle.name,) for muscle in leg}
        muscles_of |= {muscle.name: (muscle.name,) for muscle in leg}
    return muscles_of


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
    def from_fascicles(cls, fascicles: Fascicles, muscles: Sequence[str], sides: Sequence[str]) -> Self:
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
                raise document.fault(
                    "bad_units",
                    ("fascicle", "unit"),
                    f"the fascicles of {name} would have a median length of {1000.0 * median:.4g} mm",
                    f"about its optimal fiber length, {1000.0 * optimal:.4g} mm",
                    f"check the unit, and whether '{self.channels[channel]}' shows {name}",
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
            raise document.fault(
                "conflict",
                (FASCICLE_CHANNELS, channel),
                f"'{name}' of the column '{channel}' stands for {len(known[name])} muscles",
                "the one muscle whose fascicle was seen",
                f"name one of {', '.join(map(str, known[name]))}",
            )
        (muscle,) = known[name]
        if muscle in measured:
            raise document.fault(
                "duplicate_name",
                (FASCICLE_CHANNELS, channel),
                f"the columns '{measured[muscle]}' and '{channel}' both measure {muscle}",
                "one column for a muscle",
                "keep one of them, or write their mean into the file",
            )
        measured[muscle] = channel
    return tuple(measured)
