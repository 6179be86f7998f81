"""Readings of several streams joined into samples: markers, plates and EMG of different rates and clocks.

A sample is made of every reading of markers, at its time t. Plates and EMG are taken from their newest reading at or
before t, by its own time; up to a quarter of its period after t counts as at t. A reading that is older than one and a
half of its periods, or half a period of the markers where that is longer, is not used: what was not measured is NaN,
and `Live` leaves it out.

A sample is released as soon as it is complete: no earlier sample is missing, and no stream can still have a reading for
t. An incomplete sample is held for at most `wait_ms`; so late and reordered readings take their places, and without
late readings nothing is delayed.

Streams without a common clock are set by their arrival: with the shortest way d = min(received - time) of the last ten
seconds, a reading of stream s is at the time t + d_s - d_m of the clock of the markers. The error is the difference of
the two shortest ways, on one network some tenths of a millisecond.
"""

import math
from bisect import bisect
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import perf_counter
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_number
from musclesolve._util.messages import count_of
from musclesolve.apps.live.stream import WAIT, Arrival, Expected, Sample, StreamEnded
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.axes import axis_vector, rotation_of
from musclesolve.laboratory.recording.command_settings import WAIT_MS
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.tables.document import validated

AT = 0.25
"""Share of its period after the time of a sample within which a reading counts as simultaneous."""
AGE = 1.5
"""Periods after which a reading is too old."""
SILENT = 0.1
"""Time of silence after which the program does not wait for a stream [s]."""
READINGS_KEPT_S = 10.0
"""Duration for which readings of plates and EMG are kept [s]."""
DELAY_WINDOW = 5.0
"""The shortest way is that of the present and the last stretch of this length [s]."""
COUNTED = 32
"""The rate is measured of at least so many readings of markers"""
MEASURED = 1.0
"""and of a stretch of at least this length [s],"""
STRETCHES = 5
"""so often when a clock begins: `EvenTimes` of a stream that states another rate show its own after some seconds."""
OTHER_RATE = 0.01
"""Share by which the rate of the markers may differ from that of `Live`."""
OTHER_STEP = 0.1
"""Share by which times are said to be in milliseconds: their rate is near a thousandth of that of `Live`."""
UNEVEN, OFTEN = 0.24, 0.1
"""Distance from even times from which a sample is uneven, in periods (the filter refuses it from a quarter on); share
of uneven samples above which a stream is refused."""
RECORDING = "recording"
"""Clock of a stream that starts with the wait for the first sample; earlier samples of other streams are skipped."""
PASSING = 0.1
"""Duration for which streams are read to skip earlier samples [s]."""
ANEW = 1.0
"""Jump of marker times above which their clock has restarted [s]."""
RETURNED = 1.0
"""Duration of the silence of a stream after which, for as long, late readings are of its return [s]."""


class Reading(NamedTuple):
    """Reading of a stream at a time: its kind is "markers", "plates" or "emg".

    time: when it was measured, by the clock of the stream [s]. values, in the global frame and the order of the `Live`:
    markers (n, 3) [m]; plates (P, 9) force on the foot [N], point [m] and moment about it [N m]; envelopes (k,); NaN
    for what the stream does not carry. received: reading of `perf_counter` when it arrived [s].
    """

    kind: str
    time: float
    values: Array
    received: float


class Stream(Protocol):
    """Stream of readings.

    `read` is called repeatedly in a thread of its own, `close` at the end.
    """

    clock: str  # streams with the same word have a common clock

    def read(self, timeout: float) -> Iterable[Reading]:
        """The readings that arrived; none where none came within `timeout` [s].

        Raises:
            StreamEnded: none will come any more.
        """
        ...

    @property
    def remarks(self) -> Sequence[str]:
        """Sentences on faults, for the summary."""
        ...

    def close(self) -> None:
        """Release the source of the readings."""
        ...


@dataclass(frozen=True, eq=False)
class Wanted:
    """Data that streams must deliver: the names of a `Live`, and the rotation of their axes into the global frame.

    rotation: (3, 3) from the axes of the streams to the global frame. repeats: a recording begins again at its end.
    """

    live: Expected
    rotation: Array
    repeats: bool = False

    @classmethod
    def from_live(
        cls, live: Expected, forward: str | None = None, up: str | None = None, *, repeats: bool = False
    ) -> Self:
        """Return the wanted data with the axes of the files of the trial ([laboratory]), or others such as "+x".

        Raises:
            InputError: axes that are not square to each other.
        """
        document = live.document
        laboratory = validated(document, RecordedSettings).laboratory
        axes = forward or laboratory.forward, up or laboratory.up
        if abs(axis_vector(axes[0]) @ axis_vector(axes[1])) > 0.5 and (forward or up):
            fault = f"forward is {axes[0]} and up is {axes[1]}"
            expected = "two axes of the streams, square to each other"
            remedy = "look up in the capture software which axis points up, and state both"
            raise input_error(
                "bad_axes", where="--forward, --up", problem=fault, expected=expected, remedy=remedy
            )
        return cls(live, rotation_of(document, laboratory.changed(forward=axes[0], up=axes[1])), repeats)

    def markers(self, position: ArrayLike, meters: float = 1.0) -> Array:
        """Positions (n, 3) in the axes of the stream and a unit of so many meters -> global frame [m].

        A marker at (0, 0, 0) is hidden: some programs have no other sign for hidden markers.
        """
        turned = np.asarray(position, float) * meters @ self.rotation.T
        turned[~turned.any(axis=1)] = np.nan
        return np.asarray(turned)

    def plates(self, values: ArrayLike, meters: float = 1.0) -> Array:
        """Plates (P, 9), force [N], point in a unit of so many meters, moment [N m] -> global frame, point in [m]."""
        turned = np.asarray(values, float).reshape(-1, 3, 3) @ self.rotation.T
        turned[:, 1] *= meters
        return np.asarray(turned.reshape(-1, 9))


@dataclass
class _Way:
    """The shortest way of a clock, min(received - time) [s], over the present and the last `DELAY_WINDOW`."""

    since: float = -np.inf
    present: float = np.inf
    last: float = np.inf

    def add(self, received: float, time: float) -> None:
        if received - self.since > DELAY_WINDOW:
            self.since, self.last, self.present = received, self.present, np.inf
        self.present = min(self.present, received - time)

    @property
    def shortest(self) -> float:
        return min(self.present, self.last)


@dataclass
class _Past:
    """The last readings of plates or EMG of one stream, in the order of their times.

    Readings of one time are one, with the numbers of all of them; `parts`: such came.
    """

    readings: deque[Reading] = field(default_factory=deque)
    steps: deque[float] = field(default_factory=lambda: deque(maxlen=16))
    period: float = 0.0
    received: float = -np.inf
    parts: bool = False

    def add(self, reading: Reading) -> None:
        readings, later = self.readings, list[Reading]()
        self.received = reading.received
        if readings and reading.time < readings[-1].time - READINGS_KEPT_S:  # its clock began anew
            readings.clear()
        while readings and readings[-1].time > reading.time:
            later.append(readings.pop())
        if not readings or reading.time > readings[-1].time:
            if readings and not later:
                self.steps.append(reading.time - readings[-1].time)
                self.period = sorted(self.steps)[len(self.steps) // 2]
            readings.append(reading)
        else:
            known, other = np.isfinite(reading.values), readings[-1]
            self.parts = self.parts or bool((known & ~np.isfinite(other.values)).any())
            readings[-1] = reading._replace(values=np.where(known, reading.values, other.values))
        readings.extend(reversed(later))
        while readings[0].time < readings[-1].time - READINGS_KEPT_S:
            readings.popleft()

    def complete(self, time: float, now: float) -> bool:
        """Whether no reading for a time of its clock is still to be expected."""
        # its period is not known, or it is silent
        return not self.steps or now - self.received > SILENT or self.has(time)

    def has(self, time: float) -> bool:
        """Whether its readings reach a time of its clock."""
        newest = self.readings[-1]
        if newest.time < time - (1.0 - AT) * self.period:
            return False
        if not self.parts or len(self.readings) < 2 or newest.time > time + AT * self.period:
            return True
        before = np.isfinite(self.readings[-2].values)
        return not (before & ~np.isfinite(newest.values)).any()  # all parts are there

    def at(self, time: float, least: float) -> Reading | None:
        """The newest reading at or before a time of its clock, None where it is older than `least` and `AGE`.

        Times only increase, so earlier readings are discarded.
        """
        last = time + max(AT * self.period, 1e-6)
        while len(self.readings) > 1 and self.readings[1].time <= last:
            self.readings.popleft()
        newest = self.readings[0]
        return newest if time - max(least, AGE * self.period) <= newest.time <= last else None


class Joined:
    """A source of samples from several streams; see the module.

    Args:
        live: for which the samples are.
        streams: by the names that messages have for them.
        wait_ms: longest time that a sample is held for what is missing [ms].
        plate_offset: what is added to the times of plates to have them on the clock of the markers [s]; None: zero
            with a common clock, else by their arrival.
    """

    def __init__(
        self,
        live: Expected,
        streams: Mapping[str, Stream],
        wait_ms: float = WAIT_MS,
        plate_offset: float | None = None,
    ) -> None:
        self._live, self._streams, self._names = live, list(streams.values()), list(streams)
        self._hold = 1e-3 * check_number(wait_ms, "wait_ms", "milliseconds, zero or more", least=0.0)
        self._offset = plate_offset
        if plate_offset is not None:
            check_number(plate_offset, "plate_offset", "seconds")
        self._ways = {stream.clock: _Way() for stream in self._streams}
        self._held, self._past = list[Reading](), dict[tuple[str, int], _Past]()
        self._carrier: int | None = None  # the stream that has the markers
        self._times, self._stretches = list[float](), 0  # by which the rate of the markers is measured
        self._last, self._late_time, self._late_since = -np.inf, np.inf, 0
        self.late = self.repeated = 0
        self._newest: Reading | None = None  # markers of the newest sample
        # stream -> how many of its readings came after their samples had gone on, and the longest delay [s]
        self._behind = dict[int, tuple[int, float]]()
        self._returned = dict[int, float]()  # when each stream came after a silence [s]
        self._late = dict[str, float]()  # what came so since the newest sample, and the longest delay [s]
        self._queue: SimpleQueue[tuple[int, Reading | BaseException]] = SimpleQueue()
        self._closing = Event()
        self._threads = [
            Thread(target=self._listen, args=(number,), name=name, daemon=True)
            for number, name in enumerate(self._names)
        ]
        self._open = len(self._threads)
        self._start(recordings=False)

    def _start(self, recordings: bool) -> None:
        """Begin to read the streams, first those that measure, then recordings as well."""
        for thread, stream in zip(self._threads, self._streams, strict=True):
            if thread.ident is None and (recordings or stream.clock != RECORDING):
                thread.start()

    def _listen(self, number: int) -> None:
        """Pass on what a stream delivers, and how it ends; in a thread of its own."""
        try:
            while not self._closing.is_set():
                for reading in self._streams[number].read(WAIT):
                    self._queue.put((number, reading))
        except Exception as error:
            self._queue.put((number, error))

    def wait(self, timeout: float) -> Arrival | None:
        """See Source."""
        self._start(recordings=True)
        until = perf_counter() + timeout
        while True:
            while not self._queue.empty():
                self._take(*self._queue.get())
            now = perf_counter()
            if self._held and (not self._open or self._due(self._held[0], now)):
                return self._joined(self._held.pop(0))
            if not self._open:
                raise StreamEnded
            if now >= until:
                return None
            pause = min([until, *(reading.received + self._hold for reading in self._held[:1])]) - now
            try:
                self._take(*self._queue.get(timeout=max(pause, 0.0)))
            except Empty:
                continue

    def skip_waiting_samples(self) -> None:
        """Leave out samples that arrived until now; recordings begin afterward."""
        until = perf_counter() + PASSING
        while (left := until - perf_counter()) > 0.0 and any(thread.is_alive() for thread in self._threads):
            with suppress(Empty):
                self._take(*self._queue.get(timeout=left))
        self._held.clear()

    @property
    def paused(self) -> int:
        """Number of samples that nobody sent between repetitions of a recording."""
        return sum(getattr(stream, "paused", 0) for stream in self._streams)

    @property
    def remarks(self) -> list[str]:
        """Sentences on faults of the streams, and on readings that were left out."""
        counts = (self.late, "that came too late"), (self.repeated, "that came twice")
        said = [f"Left out: {count_of(count, 'reading')} of markers {how}." for count, how in counts if count]
        return [
            *said,
            *(
                f"{self._names[number]}: 1 reading came {1e3 * most:.0f} ms after the next sample."
                if count == 1
                else f"{self._names[number]}: {count} readings came after the next sample, by up to "
                f"{1e3 * most:.0f} ms: --wait-ms {wait_for(most):.0f} waits for them."
                for number, (count, most) in self._behind.items()
            ),
            *(
                f"{name}: {text}"
                for name, stream in zip(self._names, self._streams, strict=True)
                for text in stream.remarks
            ),
        ]

    def close(self) -> None:
        """End the threads and close the streams."""
        self._closing.set()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        for stream in self._streams:
            stream.close()

    def _take(self, number: int, item: Reading | BaseException) -> None:
        """Store a reading, or end in the same way as its stream."""
        if isinstance(item, StreamEnded):
            self._open -= 1
        elif isinstance(item, BaseException):
            raise item
        else:
            self._ways[self._streams[number].clock].add(item.received, item.time)
            if item.kind == "markers":
                self._take_markers(number, item)
            else:
                past = self._past.setdefault((item.kind, number), _Past())
                if RETURNED < item.received - past.received < np.inf:
                    self._returned[number] = item.received
                past.add(item)
                if item.received - self._returned.get(number, -np.inf) > RETURNED:
                    self._count_behind(number, item)

    def _count_behind(self, number: int, reading: Reading) -> None:
        """Count a reading of plates or EMG that came later after its sample than a sample waits."""
        if self._newest is None:
            return
        before = self._on_clock(self._newest, (reading.kind, number)) - reading.time
        delay = reading.received - self._newest.received + before
        if before > 0.0 and self._hold < delay < READINGS_KEPT_S:
            count, most = self._behind.get(number, (0, 0.0))
            self._behind[number] = count + 1, max(most, delay)
            known = np.isfinite(reading.values)
            plates = np.flatnonzero(known.all(axis=1)) if reading.kind == "plates" else ()
            for about in [f"plate {k + 1}" for k in plates] or ["EMG"]:
                self._late[about] = max(self._late.get(about, 0.0), delay)

    def _take_markers(self, number: int, reading: Reading) -> None:
        """Hold a reading of markers in the order of times; leave out what came twice or after its successors."""
        if self._carrier not in (None, number):
            fault = f"both {self._names[self._carrier or 0]} and {self._names[number]} carry markers"
            expected = "the markers of one stream"
            remedy = "leave out one of the two"
            raise input_error("conflict", where="--from", problem=fault, expected=expected, remedy=remedy)
        self._carrier = number
        self._check_rate(reading.time)
        half = 0.5 / self._live.rate
        place = bisect(self._held, reading.time, key=lambda held: held.time)
        near = self._held[max(place - 1, 0) : place + 1]
        if any(abs(time - reading.time) < half for time in (self._last, *(held.time for held in near))):
            self.repeated += 1
        elif reading.time < self._last:
            self.late += 1
            # one after the other in order of time: not late ones, the clock has begun anew
            self._late_since = self._late_since + 1 if reading.time > self._late_time else 1
            self._late_time = reading.time
            if self._late_since > max(self._live.bridge * self._live.rate, 3.0):
                self._last, self._stretches = -np.inf, 0
                self._times.clear()
                self._ways[self._streams[number].clock] = _Way()
        else:
            self._late_since, self._late_time = 0, np.inf
            self._held.insert(place, reading)

    def _check_rate(self, time: float) -> None:
        """Refuse markers that come at another rate than the rate of the filter.

        The first `STRETCHES` stretches of a clock are tested. The rate is the slope of the numbers of the samples over
        their times, which jitter does not change. Where samples may be lost, it is the slope of the periods of the
        `Live` that have passed, counted step by step.
        """
        if len(self._times) > 1 and abs(time - self._times[-1]) > max(ANEW, 2.0 * np.ptp(self._times[-2:])):
            self._times.clear()
            self._stretches = 0
        if not self._times or time != self._times[-1]:
            self._times.append(time)
        if self._stretches == STRETCHES:
            del self._times[:-2]
            return
        if len(self._times) <= COUNTED or abs(time - self._times[0]) < MEASURED:
            return
        times, usual = np.unique(self._times), self._live.rate
        self._times, self._stretches = self._times[-2:], self._stretches + 1
        steps = np.diff(times)
        rate, off = _slope(times, np.arange(len(times), dtype=float))
        if abs(rate / usual - 1.0) > OTHER_RATE:  # samples are lost, or it is another rate
            rate = 1.0 / float(np.median(steps))
            if 0.5 < usual * np.quantile(steps, 0.1) < 1.5:
                rate, off = _slope(times, np.append(0, np.cumsum(np.round(steps * usual))))
        uneven = float(np.mean(off > UNEVEN)) > OFTEN
        if abs(rate / usual - 1.0) <= OTHER_RATE and not uneven:
            return
        problem, remedy = f"has markers {rate:.4g} times a second", f"--rate {rate:.4g}"
        remedy += f", or in Python Live(..., rate_hz={rate:.4g})"
        in_seconds = "send the times in seconds: they are"
        if abs(1000.0 * rate / usual - 1.0) < OTHER_STEP:
            remedy = f"{in_seconds} in milliseconds"
        elif np.median(steps) == 1.0:
            remedy = f"{in_seconds} numbers of frames"
        elif uneven:
            least, most = 1000.0 * np.quantile(steps, (0.1, 0.9))
            problem = f"has markers at uneven times: their steps last {least:.3g} to {most:.3g} ms"
            remedy = "send the times of measurement: these are as uneven as times of arrival"
        raise input_error(
            "bad_stream",
            problem=f"{self._names[self._carrier or 0]} {problem}",
            expected=f"{usual:g} times a second",
            remedy=remedy,
        )

    def _due(self, head: Reading, now: float) -> bool:
        """Return whether the earliest reading of markers is complete, or has been held long enough."""
        if now - head.received >= self._hold:
            return True
        if self._lacks_earlier(head):
            return False
        return all(past.complete(self._on_clock(head, key), now) for key, past in self._past.items())

    def _lacks_earlier(self, head: Reading) -> bool:
        """Return whether a sample is missing before a reading of markers, and may still come."""
        return AGE / self._live.rate < head.time - self._last <= self._live.bridge

    def _on_clock(self, markers: Reading, key: tuple[str, int]) -> float:
        """The time of a reading of markers by the clock of another stream [s]."""
        kind, number = key
        assert self._carrier is not None
        clock, other = self._streams[self._carrier].clock, self._streams[number].clock
        if kind == "plates" and self._offset is not None:
            return markers.time - self._offset
        if clock == other:
            return markers.time
        return markers.time + self._ways[clock].shortest - self._ways[other].shortest

    def _joined(self, markers: Reading) -> Arrival:
        """The sample of a reading of markers, with what the other streams had at its time."""
        live, received = self._live, markers.received
        shapes = {"plates": (len(live.plates), 9), "emg": (len(live.channels),)}
        values = {kind: np.full(shape, np.nan) for kind, shape in shapes.items()}
        measured = False
        for key, past in self._past.items():
            reading = past.at(self._on_clock(markers, key), 0.5 / live.rate)
            if reading is None:
                continue
            np.copyto(values[reading.kind], reading.values, where=np.isfinite(reading.values))
            received, measured = max(received, reading.received), measured or reading.kind == "emg"
        waited = max(min(self._ready(markers), perf_counter()) - received, 0.0)
        self._last, self._newest = markers.time, markers
        assert self._carrier is not None
        sample = Sample(markers.time, markers.values, values["plates"], values["emg"] if measured else None)
        late, self._late = tuple(self._late.items()), {}
        return Arrival(sample, received, self._streams[self._carrier].clock, waited, late)

    def _ready(self, head: Reading) -> float:
        """When a reading of markers may have gone on without what is missing now [s]."""
        longest = head.received + self._hold
        if self._lacks_earlier(head):
            return longest
        begun = [(key, past) for key, past in self._past.items() if past.steps]
        silent = [past.received + SILENT for key, past in begun if not past.has(self._on_clock(head, key))]
        return min(longest, max(silent, default=head.received))


def _slope(times: Array, counts: Array) -> tuple[float, Array]:
    """Counts of periods per second by times [s], and how many periods each is off its even time."""
    slope, start = np.polyfit(times - times[0], counts, 1)
    return float(slope), np.abs(counts - slope * (times - times[0]) - start)


def wait_for(delay: float) -> float:
    """The wait [ms] for readings with a delay [s]: a tenth longer, in full hundredths of a second."""
    return 10.0 * math.ceil(110.0 * delay - 1e-6)
