"""Lab streaming layer: streams of markers, plates and EMG by their names, and a stream of frames.

Times are corrected to the clock of this machine by LSL itself (`time_correction`, twice a second), which all its
streams then share. Stamps of markers are made even (`EvenTimes`): each belongs to the slot nearest to it, so samples
that were lost leave a gap, and jitter up to a third of a period does no harm. LSL's own dejittering counts samples
instead, and would shift all times after a gap.
"""

import math
import os
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from time import perf_counter, sleep
from typing import TypeVar

import pylsl

from musclesolve._util.messages import few, often
from musclesolve.apps.live.channels import Channel, Layout, frame_channels, frame_values
from musclesolve.apps.live.joining import Reading, Wanted
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.stream import Arrival
from musclesolve.errors import input_error

CLOCK = "lsl"
OWN_SETTINGS = ("lsl_api.cfg", "~/lsl_api/lsl_api.cfg", "/etc/lsl_api/lsl_api.cfg")
"""Places of the user's own settings of LSL, besides the environment variable LSLAPICFG."""


# Without settings of the user, which would be replaced, the log lines of LSL are kept off the terminal.
if not os.environ.get("LSLAPICFG") and not any(Path(file).expanduser().is_file() for file in OWN_SETTINGS):
    if hasattr(pylsl, "set_config_content"):  # from liblsl 1.17 on
        pylsl.set_config_content("[log]\nlevel = -3\n")
GONE = (pylsl.util.LostError, pylsl.util.TimeoutError)
RESOLVED_WITHIN = 5.0
"""Time of the search for a stream [s]."""
POLL_INTERVAL = 0.1
"""Interval of polling LSL [s], because Ctrl-C does not interrupt the waiting of LSL."""
BUFFER = 10
"""Duration of samples that are buffered while nobody reads [s]."""
REOPENED = 5.0
"""Silence of a stream after which it is opened anew [s]: a connection may deliver nothing and never break."""
SMOOTHED = 2.0
"""Length of the stretch whose stamps are smoothed [s]."""


class EvenTimes:
    """Even times of samples from stamps with jitter.

    The stamp t_k, n slots after the last one, is expected at p = x + n T, and is given the time x = p + a (t_k - p);
    the period T changes by b (t_k - p) / n. The gains a = 2 (2 K - 1) / (K (K + 1)) and b = 6 / (K (K + 1)) belong to a
    line of least squares through K samples (growing-memory filter of the first degree, Brookner 1998, Tracking
    and Kalman Filtering Made Easy), here of the last `SMOOTHED` seconds. At first a = 1 / k: a mean with the stated
    period.

    Args:
        rate: samples a second that the stream states.
    """

    def __init__(self, rate: float) -> None:
        self._stated, self._most = 1.0 / rate, max(int(SMOOTHED * rate), 2)
        self._begin(math.nan)

    def _begin(self, stamp: float) -> float:
        self._time, self._period, self._count, self._early = stamp, self._stated, 1, 0
        return stamp

    def __call__(self, stamp: float) -> float:
        """The even time of the next stamp [s]; the last time again where the slot of both is the same."""
        if not 0.0 < stamp - self._time + self._period < 1.0:
            return self._begin(stamp)
        slots = round((stamp - self._time) / self._period)
        if slots < 1:  # sent late and in a burst, so no even time is known; or the first slots were wrong
            self._early += 1
            return self._time if self._early < 4 else self._begin(stamp)
        self._count, self._early, most = self._count + 1, 0, self._most
        expected = self._time + slots * self._period
        off = stamp - expected
        self._time = expected + max(1.0 / self._count, 2.0 * (2 * most - 1) / (most * (most + 1))) * off
        self._period += 6.0 / (most * (most + 1)) * off / slots
        return self._time


class LslStream:
    """Readings of an LSL stream.

    A stream that vanishes is searched by its name until it appears again; one that is silent is opened anew.

    Args:
        address: name of the stream.
        wanted: what the readings shall be.
    """

    clock = CLOCK

    def __init__(self, address: str, wanted: Wanted) -> None:
        self._name, self._wanted, self._vanished = address, wanted, 0
        stream = self._look_for()
        self._inlet: pylsl.StreamInlet | None = None
        try:
            self._open(stream)
        except GONE as error:
            raise input_error(
                "no_stream",
                where="--from",
                problem=f"the LSL stream '{address}' does not answer: {error}",
                remedy="look at the program that sends it",
            ) from None

    def _look_for(self) -> pylsl.StreamInfo:
        """Wait for the stream of this name."""
        resolver, until = pylsl.ContinuousResolver(), perf_counter() + RESOLVED_WITHIN
        while True:
            streams = {info.name(): info for info in resolver.results()}
            if self._name in streams:
                return streams[self._name]
            if perf_counter() > until:
                break
            sleep(POLL_INTERVAL)
        fault = f"there is no LSL stream '{self._name}' (looked for {RESOLVED_WITHIN:g} s)"
        expected = f"one of {few(sorted(streams), 12)}" if streams else "a stream; there are none at all"
        remedy = "start the program that sends it, in the same network"
        raise input_error("no_stream", where="--from", problem=fault, expected=expected, remedy=remedy)

    def _open(self, info: pylsl.StreamInfo) -> None:
        """Connect to a stream, and read the descriptions of its channels."""
        inlet = pylsl.StreamInlet(
            info, BUFFER, recover=False, processing_flags=pylsl.proc_clocksync, as_numpy=True
        )
        whole = _answered(inlet.info)
        if whole.channel_format() == pylsl.cf_string:
            problem = f"the LSL stream '{self._name}' has texts"
            raise input_error("bad_stream", where="--from", problem=problem, expected="numbers")
        described = ET.fromstring(whole.as_xml()).findall("./desc/channels/channel")
        names = ("label", "unit", "type", "marker")
        channels = [Channel(*(entry.findtext(name) or "" for name in names)) for entry in described]
        channels += [Channel("")] * (whole.channel_count() - len(channels))
        self._layout = Layout.from_channels(
            channels[: whole.channel_count()], self._wanted, f"lsl:{self._name}"
        )
        rate = whole.nominal_srate()
        self._even = EvenTimes(rate) if rate > 0.0 and self._layout.markers is not None else None
        _answered(inlet.open_stream)
        _answered(inlet.time_correction)
        self._inlet, self._heard = inlet, perf_counter()

    def read(self, timeout: float) -> list[Reading]:
        """See Stream."""
        try:
            if self._inlet is None:
                streams = pylsl.resolve_byprop("name", self._name, 1, timeout)
                if not streams:
                    return []
                self._open(streams[0])
            assert self._inlet is not None
            samples, stamps = self._inlet.pull_chunk(timeout, min_samples=1)
        except GONE:
            self._vanished += self._inlet is not None
            self._inlet = None
            return []
        received, readings = perf_counter(), list[Reading]()
        if len(samples):
            self._heard = received
        elif received - self._heard > REOPENED:
            self._inlet = None
        for sample, stamp in zip(samples, stamps.tolist(), strict=True):
            time = stamp if self._even is None else self._even(stamp)
            readings += self._layout.readings(sample, time, received)
        return readings

    @property
    def remarks(self) -> list[str]:
        """See Stream."""
        return [f"The stream vanished {often(self._vanished)}."] if self._vanished else []

    def close(self) -> None:
        """See Stream."""
        self._inlet = None


Answer = TypeVar("Answer")


def _answered(ask: Callable[[float], Answer]) -> Answer:
    """Wait for the answer of a sender; `ask` is called with the time to wait [s].

    Raises:
        pylsl.util.TimeoutError: none came within `RESOLVED_WITHIN`.
    """
    until = perf_counter() + RESOLVED_WITHIN
    while True:
        try:
            return ask(POLL_INTERVAL)
        except pylsl.util.TimeoutError:
            if perf_counter() > until:
                raise


class LslSink:
    """A stream of frames, of the type MuscleForces; its channels are `frame_channels`.

    A frame has the time stamp of its own time, a lag before its sample, where samples come by LSL; else the time at
    which the sample arrived, less the lag.

    Args:
        address: name of the stream.
    """

    def __init__(self, address: str) -> None:
        self._name, self._lag, self._outlet = address, 0.0, None

    def begin(self, live: Live) -> None:
        """See Sink."""
        channels, source = frame_channels(live), f"musclesolve {self._name} {os.getpid()}"
        info = pylsl.StreamInfo(
            self._name, "MuscleForces", len(channels), live.rate, pylsl.cf_double64, source
        )
        info.set_channel_labels([channel.label for channel in channels])
        info.set_channel_units([channel.unit for channel in channels])
        info.set_channel_types([channel.type for channel in channels])
        info.desc().append_child_value("lag", f"{live.lag:g}")
        self._outlet, self._lag = pylsl.StreamOutlet(info), live.lag

    def take(self, arrival: Arrival, frame: Frame) -> None:
        """See Sink."""
        assert self._outlet is not None
        stamp = frame.time
        if arrival.clock != CLOCK:
            stamp = pylsl.local_clock() - (perf_counter() - arrival.received) - self._lag
        self._outlet.push_sample(frame_values(frame, arrival.sample.time), stamp)

    def close(self) -> None:
        """See Sink."""
        self._outlet = None
