"""Streams of a session: samples from a source, frames to sinks, and the loop between them.

A source joins whatever measures (markers, plates, EMG, each with its own rate and way of arriving) into samples in the
order of the names of a `Live`. A sink takes each frame on: to a stream, a page, a disk. Neither knows of the other.

The first markers of a session show whether they are in the unit that their stream states. They spread as in the
standing subject, whatever the pose and the axes: compared is the median of their distances from their middle, by the
limits of the check of recordings (`marker_units`).
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple, Protocol

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.apps.live.live import FILLING, Frame, Live
from musclesolve.errors import InputError, input_error
from musclesolve.laboratory.checks.recording.units import LENGTH_BAND, LENGTH_FAULTS, unit_factor
from musclesolve.laboratory.markers.gaps.rigid_registration import Shapes
from musclesolve.laboratory.recording.data import Side
from musclesolve.laboratory.results.finding import Finding
from musclesolve.sharing.status import Status
from musclesolve.tables.document import Document

WAIT = 0.1
"""So often the loop looks whether it shall stop while nothing comes [s]."""
SILENCE = 1.0
"""A longer time without samples is counted [s]."""

NUMBER = re.compile(r"\d+(\.\d+)?")

STATUS_NAMES = {member.value: member.name for member in Status}
"""Names of the numbers in `Frame.status`; files have them in lower case, as an exported result."""


class Sample(NamedTuple):
    """Sample for `Live.step`: time [s], markers (n, 3) [m], plates (P, 9) and envelopes of EMG (k,)."""

    time: float
    markers: Array
    plates: Array
    emg: Array | None = None


class Arrival(NamedTuple):
    """A sample, and the reading of `perf_counter` when the last part of it arrived [s].

    clock: the clock of its time; "lsl" is the clock that LSL streams share.
    waited: time for which the source held the sample for what was missing [s], not the computer. late: what came after
    its samples had gone on since the arrival before, such as "plate 1" or "EMG", and how long after [s].
    """

    sample: Sample
    received: float
    clock: str = ""
    waited: float = 0.0
    late: tuple[tuple[str, float], ...] = ()


class StreamEnded(Exception):
    """A source has no further samples."""


class Expected(Protocol):
    """Receiver of samples: a `Live`, or a standing that is to be measured; names and order of the data.

    Names of markers and channels, the foot of each plate, samples a second, the longest time without them [s], and
    which of the markers a stream need not have.
    """

    markers: tuple[str, ...]
    plates: tuple[Side | None, ...]
    channels: tuple[str, ...]
    rate: float
    bridge: float
    optional: frozenset[str]

    @property
    def document(self) -> Document:
        """The trial file, which says the axes of the laboratory."""
        ...


class Source(Protocol):
    """Source of samples."""

    def wait(self, timeout: float) -> Arrival | None:
        """The next sample; None where none came within `timeout` [s].

        Raises:
            StreamEnded: no sample will come any more.
        """
        ...

    def skip_waiting_samples(self) -> None:
        """Leave out what arrived until now; called for sources whose session is `fresh`."""
        ...

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences on what was amiss, for the summary."""
        ...

    def close(self) -> None:
        """Let go of what delivers the samples."""
        ...


class Sink(Protocol):
    """Sink of frames. A sink keeps up with the stream: slow work is done elsewhere.

    One that has something to say in the summary of the session has `remarks`, sentences that are read in the end.
    One that shows that nothing comes has `idle`, called with the time since the last sample [s], ten times a second.
    One that keeps samples has `discard`, called where the first samples show that all of them are in another unit.
    One that people look at has `refuse`, called with the error that ends the session.
    """

    def begin(self, live: Live) -> None:
        """Learn the names and the order of what follows; called once, before the first frame."""
        ...

    def take(self, arrival: Arrival, frame: Frame) -> None:
        """Take a frame, and the sample after which it came."""
        ...

    def close(self) -> None:
        """No frame follows."""
        ...


@dataclass
class Passed:
    """Counts and findings of a session.

    samples: so many came. valid: so many gave a frame that is valid on all sides; partly: on one side alone. failed: so
    many gave one without a valid solution of a leg whose forces were measured, but for those that filled the filter;
    each gap after which the filter began anew counts as one, but for the seam of a repeated recording. lost: so many
    are missing between the times of those that came; where more than a second is missing, the clock began anew and none
    counts. elapsed: time of the session [s]. silences: lengths of the times above a second in which no sample came
    after the first [s]. statuses: number of frames that have a status on one side or both, by its name. notes: number
    of frames that are not valid by what they note, numbers in it aside, each with the first of them. latency: for each
    sample the time from the arrival of its last part until all sinks had its frame [s]. waited: the part of it for
    which the source held the sample, waiting for what was missing [s]. backward: by how much the clock of the sender
    went back, each time [s]; times of findings go on. remarks: remarks of source and sinks. findings: what was wrong
    with the samples, in the words of `musclesolve check`; times count from the first sample.
    """

    samples: int = 0
    valid: int = 0
    partly: int = 0
    failed: int = 0
    lost: int = 0
    elapsed: float = 0.0
    silences: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    notes: dict[str, tuple[int, str]] = field(default_factory=dict)
    latency: array[float] = field(default_factory=lambda: array("d"), repr=False)
    waited: array[float] = field(default_factory=lambda: array("d"), repr=False)
    backward: list[float] = field(default_factory=list)
    remarks: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()

    def count(self, frame: Frame) -> None:
        """Count a frame by its status and its first note."""
        valid = bool(frame.valid.all())
        self.failed += frame.failed
        self.samples += 1
        self.valid += valid
        self.partly += bool(frame.valid.any()) and not valid
        self.statuses.update({STATUS_NAMES[int(code)] for code in frame.status})
        if not valid and frame.notes:
            kind = NUMBER.sub("#", frame.notes[0])
            count, first = self.notes.get(kind, (0, frame.notes[0]))
            self.notes[kind] = count + 1, first

    @property
    def solved(self) -> bool:
        """Whether muscle forces were found in any frame."""
        return self.valid + self.partly > 0

    @property
    def complete(self) -> bool:
        """Whether muscle forces were found, and in every frame of a leg whose forces were measured."""
        return self.solved and not self.failed

    @property
    def reason(self) -> str:
        """The most frequent note of frames that are not valid, FILLING only if alone; "" without notes."""
        others = [note for kind, note in self.notes.items() if kind != FILLING]
        return max(others or self.notes.values(), default=(0, ""))[1]

    def latency_ms(self, share: float) -> float:
        """The latency that a share of all samples stays within [ms]; NaN without samples."""
        return 1e3 * float(np.quantile(self.latency, share)) if self.latency else math.nan

    def behind_ms(self, share: float) -> float:
        """The latency without waiting for missing parts that a share of all samples stays within [ms]; NaN without."""
        behind = np.subtract(self.latency, self.waited)
        return 1e3 * float(np.quantile(behind, share)) if behind.size else math.nan


def run_session(
    live: Live,
    source: Source,
    sinks: Sequence[Sink],
    stop: Callable[[], bool] = lambda: False,
    seconds: float | None = None,
    fresh: bool = False,
) -> Passed:
    """Every sample of a source through `live` to all sinks, until the source ends or `stop` or `seconds` say so.

    With `fresh` what arrived before all sinks were ready is left out, so that frames are never behind by that time.
    Source and sinks are closed in any case.
    """
    passed, begun, last, paused = Passed(), perf_counter(), math.inf, 0
    start: float | None = None  # time of the first sample [s]
    heard, taken = math.inf, -math.inf  # when the last sample arrived; time of the last accepted one [s]
    first = FirstMarkers(live.marker_bodies.place)
    idle = [sink.idle for sink in sinks if hasattr(sink, "idle")]
    try:
        for sink in sinks:
            sink.begin(live)
        if fresh:
            source.skip_waiting_samples()
        counted = perf_counter()
        while not stop() and (seconds is None or perf_counter() - counted < seconds):
            try:
                arrival = source.wait(WAIT)
            except StreamEnded:
                break
            if arrival is None:
                for show in idle:
                    show(perf_counter() - heard)
                continue
            if arrival.received - heard > SILENCE:
                passed.silences.append(arrival.received - heard)
            heard = arrival.received
            try:
                first.check(arrival.sample.markers)
            except InputError:
                for sink in sinks:
                    if hasattr(sink, "discard"):
                        sink.discard()
                raise
            start = arrival.sample.time if start is None else start
            step = perf_counter()
            frame = live.step(*arrival.sample)
            if last == math.inf:  # what the first frame compiles and loads does not count
                counted += perf_counter() - step
            for sink in sinks:
                sink.take(arrival, frame)
            passed.count(frame)
            if frame.taken.anew:  # a sender that pauses says so before or with the first sample after it
                paused, before = getattr(source, "paused", 0), paused
                passed.failed += paused == before
            if 0.0 < arrival.sample.time - last < 1.0:
                passed.lost += max(round((arrival.sample.time - last) * live.rate) - 1, 0)
            if not frame.taken.refusal:
                if frame.taken.anew and arrival.sample.time < taken:
                    passed.backward.append(taken - arrival.sample.time)
                taken = arrival.sample.time
            last = arrival.sample.time
            passed.latency.append(perf_counter() - arrival.received)
            passed.waited.append(arrival.waited)
    except InputError as error:
        for sink in sinks:
            if hasattr(sink, "refuse"):
                sink.refuse(error)
        raise
    finally:
        passed.elapsed = perf_counter() - begun
        if perf_counter() - heard > SILENCE:
            passed.silences.append(perf_counter() - heard)
        with ExitStack() as closing:  # all of them, whatever happens to one; the source first
            for sink in reversed(sinks):
                closing.callback(sink.close)
            closing.callback(source.close)
        passed.lost = max(passed.lost - getattr(source, "paused", 0), 0)
        said = (remark for sink in sinks for remark in getattr(sink, "remarks", ()))
        passed.remarks, passed.findings = (*source.remarks, *said), live.findings_since(start or 0.0)
    return passed


SAMPLES = 10
"""So many samples are looked at: a single one may be anything."""
LEAST_UP = 0.5
"""Least upward part of the direction from the feet to the head in the first samples: a body that stands or walks has
0.98 and more."""
OPPOSITE_AXES = (("forward", "backward"), ("left", "right"), ("up", "down"))
"""Names of the axes of the global frame, and of their opposites."""


class FirstMarkers:
    """The first samples of a session: their unit and their axes.

    Args:
        standing: places (n, 3) [m] of the markers on the standing subject.
    """

    def __init__(self, standing: Array) -> None:
        # of each sample the seen markers, and their places on the standing subject
        self._standing, self._taken = standing, list[tuple[Array, Array]]()

    def check(self, markers: Array) -> None:
        """Look at a sample, markers (n, 3) [m], of which half or more have to be seen.

        Raises:
            InputError: the samples are in another unit than meters, or the body does not stand in their axes.
        """
        if len(self._taken) == SAMPLES:
            return
        seen = np.isfinite(markers).all(axis=1)
        if seen.mean() < 0.5 or not _size(markers[seen]) > 0.0:
            return
        self._taken.append((markers[seen], self._standing[seen]))
        if len(self._taken) < SAMPLES:
            return
        size, usual = np.median([[_size(taken), _size(standing)] for taken, standing in self._taken], axis=0)
        factor = unit_factor(size / usual, LENGTH_FAULTS, LENGTH_BAND)
        if factor is not None:
            raise input_error(
                "bad_units",
                where="--from",
                problem=f"the markers are {size:.3g} m from their middle (median): the positions are "
                f"{LENGTH_FAULTS[factor]}",
                expected=f"about {usual:.2g} m, as on the subject who stands",
                remedy="state the unit where the samples are sent: as the unit of the channels of an "
                'LSL stream, or as "unit": "mm" in each datagram',
            )
        up = np.median([_up(standing, taken) for taken, standing in self._taken], axis=0)
        if up[2] < LEAST_UP:
            place = int(np.abs(up).argmax())
            axis = OPPOSITE_AXES[place][int(up[place] < 0.0)]
            raise input_error(
                "bad_axes",
                where="--from",
                problem=f"the body does not stand in the axes of the streams as stated: its head points {axis}",
                expected="that it points up within the first samples of a session",
                remedy="state with --up and --forward which axes of the streams point up and forward, unless "
                "[laboratory] states them; where the subject really lies, begin the session while the subject stands",
            )


def _up(standing: Array, markers: Array) -> Array:
    """The direction (3,) in which the head of a body points, of markers (n, 3) [m] that are upright in `standing`."""
    shape = Shapes.from_bodies({"body": (standing, range(len(standing)))})
    return np.asarray(shape.register(markers[None])[0][0, 0, :, 2])


def _size(points: Array) -> float:
    """Median distance [m] of points (n, 3) from their middle."""
    return float(np.median(np.linalg.norm(points - np.median(points, axis=0), axis=1)))
