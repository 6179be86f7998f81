"""Readings of several streams become samples: late, lost, repeated and reordered ones, clocks, axes, bad datagrams."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import re
import signal
import socket
import sys
import threading
from array import array
from collections.abc import Iterable
from dataclasses import replace
from queue import Empty, SimpleQueue
from time import perf_counter, sleep

import numpy as np
import pytest
from command_line import typed
from refusals import refused

from musclesolve import Status
from musclesolve.apps.live import Live, joining, samples, stream_session
from musclesolve.apps.live import stream as stream_module
from musclesolve.apps.live.adapters import udp
from musclesolve.apps.live.adapters.udp import UdpStream
from musclesolve.apps.live.joining import Joined, Reading, Wanted
from musclesolve.apps.live.live import FILLING
from musclesolve.apps.live.session import ADAPTERS, check_streams, open_sink, open_stream
from musclesolve.apps.live.stream import STATUS_NAMES, Arrival, Passed, Sample, StreamEnded, run_session
from musclesolve.cli import live_progress
from musclesolve.cli.live_progress import StatusLine, session_lines
from musclesolve.cli.printing import announce
from musclesolve.data import reference_stride


class Given:
    """A stream that delivers readings as they are put in; None ends it."""

    remarks = ()

    def __init__(self, readings: Iterable[Reading | None] = (), clock: str = "one") -> None:
        self.clock, self.closed, self._queue = clock, False, SimpleQueue()
        for reading in readings:
            self.put(reading)

    def put(self, reading: Reading | None) -> None:
        self._queue.put(reading)

    def read(self, timeout: float) -> list[Reading]:
        try:
            reading = self._queue.get(timeout=timeout)
        except Empty:
            return []
        if reading is None:
            raise StreamEnded
        return [reading if reading.received else reading._replace(received=perf_counter())]

    def close(self) -> None:
        self.closed = True


class Kept:
    """A sink that keeps what it gets."""

    def __init__(self) -> None:
        self.arrivals, self.frames, self.closed = list[Arrival](), [], False

    def begin(self, live: Live) -> None:
        self.live = live

    def take(self, arrival, frame) -> None:
        self.arrivals.append(arrival)
        self.frames.append(frame)

    def close(self) -> None:
        self.closed = True


def markers(live: Live, time: float, value: float = 0.0) -> Reading:
    return Reading("markers", time, np.full((len(live.markers), 3), value), 0.0)


def plates(live: Live, time: float, value: float) -> Reading:
    return Reading("plates", time, np.full((len(live.plates), 9), value), 0.0)


def drained(source: Joined) -> list[Sample]:
    """All samples of a source whose streams end."""
    found = []
    try:
        while True:
            arrival = source.wait(60.0)
            assert arrival is not None
            found.append(arrival.sample)
    except StreamEnded:
        return found
    finally:
        source.close()


def joined(live: Live, *readings: Reading, wait_ms: float = 200.0, **settings) -> tuple[list[Sample], Joined]:
    source = Joined(live, {"given": Given([*readings, None])}, wait_ms, **settings)
    return drained(source), source


@pytest.mark.thorough
def test_a_replay_through_a_session_gives_the_frames_of_its_samples(live):
    """The real-time source adds nothing and loses nothing; the summary counts what went through."""
    direct = [live.step(*sample) for sample in samples(live, live.trial)]
    live.clear()
    sink = Kept()
    passed = stream_session(live, ["replay"], [sink])
    assert passed.samples == len(direct) and passed.lost == 0 and not passed.remarks and sink.closed
    assert passed.valid == sum(frame.valid.all() for frame in direct) > 50
    for frame, other in zip(sink.frames, direct, strict=True):
        assert np.array_equal(frame.force, other.force, equal_nan=True)
    assert passed.elapsed > (len(direct) - 1) / live.rate  # in real time
    assert 0.0 < passed.latency_ms(0.5) <= passed.latency_ms(0.99)


@pytest.mark.thorough
def test_a_repeated_recording_begins_anew_and_no_frame_lies_across_the_seam(live):
    """Its clock goes on, for longer than is bridged nothing comes, and each repetition gives the same frames."""
    wanted, sink = Wanted.from_live(live, repeats=True), Kept()
    length = live.trial.markers.time[-1] - live.trial.markers.time[0]
    live.clear()
    passed = stream_session(wanted, ["replay"], [sink], seconds=2.0 * length)
    assert passed.lost == 0 and passed.failed == 0
    time = np.array([arrival.sample.time for arrival in sink.arrivals])
    count = len(live.trial.markers.time)
    pause = time[count] - time[count - 1]
    assert (np.diff(np.delete(time, count)) > 0.0).all() and live.bridge + 2.0 / live.rate < pause < 0.3
    valid = np.array([frame.valid.all() for frame in sink.frames])
    again = len(time) - count
    assert valid[:count].sum() > 50 and valid[count:].sum() > 20
    assert (valid[count:] == valid[:again]).all() and not valid[count]
    for frame, other in zip(sink.frames[count:], sink.frames, strict=False):
        np.testing.assert_allclose(frame.force, other.force, rtol=1e-6, atol=1e-6)


def test_a_recording_at_another_rate_is_interpolated(live):
    own, finer = list(samples(live, live.trial)), list(samples(live, live.trial, 2.0 * live.rate))
    assert len(finer) == 2 * len(own) - 1
    for sample, other in zip(own, finer[::2], strict=True):
        assert abs(sample.time - other.time) < 1e-6 and np.allclose(sample.markers, other.markers, atol=1e-6)
    between = 0.5 * (own[10].markers + own[11].markers)
    assert np.abs(finer[21].markers - between).max() < 1e-3


def test_reordered_readings_take_their_places_and_repeated_ones_are_left_out(live):
    order = [0, 1, 3, 2, 4, 4, 6, 5, 7]
    found, source = joined(live, *(markers(live, 0.01 * k) for k in order))
    assert [round(100 * sample.time) for sample in found] == list(range(8))
    assert source.repeated == 1 and source.late == 0
    assert any("1 reading of" in text and "twice" in text for text in source.remarks)


def test_a_time_that_never_changes_is_one_sample(live):
    found, source = joined(live, *(markers(live, 1.0) for _ in range(80)))
    assert len(found) == 1 and source.repeated == 79


class Failing(Kept):
    """A sink that fails when it is closed."""

    def close(self) -> None:
        raise RuntimeError("the disk is full")


def test_every_sink_is_closed_even_where_another_fails(live):
    stream, sink = Given([None]), Kept()
    with pytest.raises(RuntimeError, match="disk"):
        run_session(live, Joined(live, {"given": stream}), [Failing(), sink])
    assert sink.closed and stream.closed


def answer(source: Joined) -> Arrival | None:
    """Return the result of a reading that was put in, however long that takes; None if it was left out as late."""
    late, until = source.late, perf_counter() + 60.0
    while perf_counter() < until:
        if (arrival := source.wait(0.01)) or source.late > late:
            return arrival
    raise AssertionError("nothing came")


def test_emg_that_comes_late_is_used_where_the_wait_is_long_enough(live, monkeypatch):
    """The remedy that a session proposes: --wait-ms as long as the delay of the EMG."""
    monkeypatch.setattr(live, "channels", ("soleus",))
    monkeypatch.setattr(joining, "SILENT", 60.0)  # however long the machine does something else
    times, late = 0.01 * np.arange(-2, 30), 7  # samples
    of_emg = [Reading("emg", time, np.array([time]), 0.0) for time in times]
    in_order = of_emg[:2]
    for k, time in enumerate(times[2:]):
        in_order.append(markers(live, time))
        in_order += of_emg[2:][k - late : k - late + 1] if k >= late else []
    found, _ = joined(live, *in_order, *of_emg[-late:], wait_ms=60e3)
    assert np.allclose([each.emg[0] for each in found], times[2:])


def test_the_wait_that_late_emg_needs_is_in_the_summary(live, monkeypatch):
    monkeypatch.setattr(live, "channels", ("soleus",))
    stream = Given()
    source = Joined(live, {"given": stream}, wait_ms=10.0)
    of_markers = markers(live, 1.4)._replace(received=5.0)
    stream.put(of_markers)
    answer(source)
    for time in (1.0, 1.01, 1.395):  # the last one is in time for its sample
        stream.put(Reading("emg", time, np.array([0.1]), of_markers.received))
    assert source.wait(0.05) is None
    source.close()
    (remark,) = source.remarks
    assert "2 readings" in remark and "400 ms" in remark and "--wait-ms 440" in remark


def test_what_came_too_late_is_said_with_the_next_sample(live):
    """And again with none after it; what a stream sends as it comes back from a silence is not late."""
    stream = Given()
    source = Joined(live, {"given": stream}, wait_ms=0.0)
    of_plates = Reading("plates", 1.36, np.zeros((2, 9)), 5.0)
    for received, expected in ((5.0, (("plate 1", 0.04), ("plate 2", 0.04))), (5.1, ()), (9.0, ())):
        stream.put(markers(live, received - 3.6)._replace(received=received))
        answer(source)
        if received != 5.1:
            stream.put(of_plates._replace(time=received - 3.64, received=received))
        assert source.wait(0.05) is None
        stream.put(markers(live, received - 3.59)._replace(received=received + 0.01))
        late = answer(source).late
        assert [about for about, _ in late] == [about for about, _ in expected]
        assert [delay for _, delay in late] == pytest.approx([delay for _, delay in expected])
    source.close()


def test_one_late_reading_is_named_and_proposes_no_longer_wait(live, monkeypatch):
    monkeypatch.setattr(live, "channels", ("soleus",))
    stream = Given()
    source = Joined(live, {"given": stream}, wait_ms=10.0)
    of_markers = markers(live, 1.4)._replace(received=5.0)
    stream.put(of_markers)
    answer(source)
    for time in (1.0, 1.395):
        stream.put(Reading("emg", time, np.array([0.1]), of_markers.received))
    assert source.wait(0.05) is None
    source.close()
    (remark,) = source.remarks
    assert "1 reading came 400 ms" in remark and "--wait-ms" not in remark


def test_waiting_for_a_stream_that_has_ended_is_no_delay_by_the_computer(live, monkeypatch):
    """The sample waits as long as --wait-ms says: it is released late, and the computer was not behind."""
    monkeypatch.setattr(live, "channels", ("soleus",))
    monkeypatch.setattr(joining, "SILENT", 60.0)
    stream = Given([Reading("emg", time, np.array([0.1]), 0.0) for time in (1.0, 1.01, 1.02)])
    source = Joined(live, {"given": stream}, wait_ms=150.0)
    stream.put(markers(live, 1.02))
    first = answer(source)
    stream.put(markers(live, 1.03))
    last = answer(source)
    source.close()
    assert first.waited == pytest.approx(0.0) and last.waited == pytest.approx(0.15)
    passed = Passed(2, 2, latency=array("d", [0.001, 0.151]), waited=array("d", [0.0, last.waited]))
    said = "\n".join(map(str, session_lines(passed)))
    assert "computer" not in said and "--wait-ms" in said
    assert passed.behind_ms(1.0) == pytest.approx(1.0)


def test_a_clock_that_goes_back_is_counted_and_gives_no_negative_times(live):
    every = list(samples(live, live.trial))
    one, other = (list(live.markers).index(name) for name in ("knee_lateral_r", "knee_medial_r"))
    exchanged = list(range(len(live.markers)))
    exchanged[one], exchanged[other] = other, one
    again = [sample._replace(time=sample.time - 500.0) for sample in every]
    again[40:] = [sample._replace(markers=sample.markers[exchanged]) for sample in again[40:]]
    readings = iter([*every, *again])

    class Source:
        remarks = ()

        def wait(self, timeout):
            sample = next(readings, None)
            if sample is None:
                raise StreamEnded
            return Arrival(sample, perf_counter())

        def close(self):
            pass

    passed = run_session(live, Source(), [])
    assert passed.backward == [pytest.approx(500.0, abs=5.0)]
    (found,) = (found for found in passed.findings if "exchanged" in found.code)
    lasting = every[-1].time - every[0].time
    assert all(lasting < first <= last < 2.0 * lasting + 1.0 for first, last in found.where.times)
    assert "went back, once" in "\n".join(map(str, session_lines(passed)))


def test_without_waiting_a_late_reading_is_left_out(live):
    stream = Given()
    source, found = Joined(live, {"given": stream}, wait_ms=0.0), []
    for k in (0, 1, 3, 2, 4):
        stream.put(markers(live, 0.01 * k))
        found.append(answer(source))
    source.close()
    assert [k and round(100 * k.sample.time) for k in found] == [0, 1, 3, None, 4] and source.late == 1


def test_a_clock_that_begins_anew_is_followed(live):
    first, second = [0.01 * k + 7.0 for k in range(5)], [0.01 * k for k in range(20)]
    stream = Given()
    source, found = Joined(live, {"given": stream}, wait_ms=0.0), []
    for time in first + second:
        stream.put(markers(live, time))
        found.append(answer(source))
    source.close()
    assert found[-1].sample.time == second[-1] and found.count(None) == source.late <= 6


def test_each_sample_has_the_newest_plates_at_or_before_it(live):
    """Plates at 1000 Hz, whose value is their time; one at 0.0502 s counts as at 0.05 s."""
    times = [*np.arange(0.0, 0.05, 0.001), 0.0502]
    of_plates = [plates(live, time, time) for time in times]
    of_markers = [markers(live, 0.01 * k) for k in range(8)]
    found, _ = joined(live, *of_plates, *of_markers, wait_ms=20.0)
    assert np.allclose([sample.plates[0, 0] for sample in found[:6]], [0, 0.01, 0.02, 0.03, 0.04, 0.0502])
    assert np.isnan(found[6].plates).all()  # 9.8 ms old, more than half a period of the markers


def test_a_sample_waits_for_plates_that_come_later(live, monkeypatch):
    """A sample has the plates of its own time, though the markers came first; nothing waits longer than `wait_ms`."""
    monkeypatch.setattr(joining, "SILENT", 60.0)
    stream = Given([plates(live, -0.01, 1.0), plates(live, 0.0, 2.0), markers(live, 0.0)])
    source = Joined(live, {"given": stream}, wait_ms=400.0)
    assert source.wait(1.0).sample.plates[0, 0] == 2.0
    stream.put(markers(live, 0.01))
    assert source.wait(0.01) is None
    stream.put(plates(live, 0.01, 3.0))
    assert source.wait(1.0).sample.plates[0, 0] == 3.0
    stream.put(markers(live, 0.02))
    begun = perf_counter()
    assert np.isfinite(source.wait(30.0).sample.plates).all() and perf_counter() - begun > 0.3
    source.close()
    assert stream.closed and not [thread for thread in threading.enumerate() if thread.name == "given"]


def test_plates_in_readings_of_their_own_of_one_time_are_all_used(live, monkeypatch):
    """The order does not matter; a plate that is not measured any more is not waited for longer than `wait_ms`."""
    monkeypatch.setattr(joining, "SILENT", 60.0)

    def part(time: float, number: int) -> Reading:
        values = np.full((len(live.plates), 9), np.nan)
        values[number] = 100.0 * time + number
        return Reading("plates", time, values, 0.0)

    stream = Given()
    source = Joined(live, {"given": stream}, wait_ms=60e3)
    for k in range(3):
        for reading in (part(0.01 * k, 0), part(0.01 * k, 1), markers(live, 0.01 * k)):
            stream.put(reading)
        assert np.allclose(source.wait(30.0).sample.plates[:, 0], [k, k + 1])
    for reading in (markers(live, 0.03), part(0.03, 1)):
        stream.put(reading)
    assert source.wait(0.1) is None  # the other plate is still to come
    stream.put(part(0.03, 0))
    assert np.allclose(source.wait(30.0).sample.plates[:, 0], [3.0, 4.0])
    source.close()


def test_what_arrived_before_the_sinks_are_ready_is_left_out(live):
    stream, kept = Given(markers(live, 0.01 * k, np.nan) for k in range(20)), Kept()

    def begin(_: Live) -> None:
        while not stream._queue.empty():
            sleep(0.01)

    kept.begin = begin

    def stop() -> bool:
        """Asked when the session is ready."""
        if not kept.arrivals:
            stream.put(markers(live, 0.3, np.nan))
            stream.put(None)
        return False

    run_session(live, Joined(live, {"given": stream}), [kept], stop, fresh=True)
    assert [arrival.sample.time for arrival in kept.arrivals] == [0.3]


@pytest.mark.parametrize("offset", [np.nan, np.inf])
def test_an_offset_that_is_no_number_is_refused(live, offset):
    with refused("bad_number", "plate_offset"):
        Joined(live, {}, plate_offset=offset)


@pytest.mark.parametrize("offset", [None, 3.0])
def test_plates_with_a_clock_of_their_own_are_set_by_arrival_or_as_stated(live, offset):
    """Their clock is 3 s behind that of the markers, whatever `perf_counter` says."""
    walk, floor, base = (
        Given(clock="walk"),
        Given(clock="floor"),
        perf_counter() + 100.0,  # nothing is held too long
    )
    source = Joined(live, {"walk": walk, "floor": floor}, 50.0, plate_offset=offset)
    way = np.random.default_rng(1).uniform(0.002, 0.006, (12, 2)) * [1.0, 1.5]
    for k in (-2, -1):
        floor.put(plates(live, 0.02 * k - 3.0, float(k))._replace(received=base + 0.02 * k + 0.004))
    while not any(past.steps for past in source._past.values()):  # until its period is known
        source.wait(0.01)
    for k in range(12):
        floor.put(plates(live, 0.02 * k - 3.0, float(k))._replace(received=base + 0.02 * k + way[k, 0]))
        walk.put(markers(live, 0.02 * k)._replace(received=base + 0.02 * k + way[k, 1]))
        arrival = source.wait(30.0)
    source.close()
    assert arrival.sample.plates[0, 0] == 11.0


def test_markers_of_two_streams_are_refused(live):
    both = Joined(live, {"one": Given([markers(live, 0.0)]), "two": Given([markers(live, 0.0)])})
    with refused("conflict", "one", "two"):
        while True:
            both.wait(0.2)
    both.close()


@pytest.mark.parametrize("rate", [250.0, 102.0, 98.0, 50.0])
def test_markers_at_another_rate_are_refused(live, rate):
    with refused("bad_stream", "given", f"--rate {rate:.3g}"):
        joined(live, *(markers(live, k / rate) for k in range(300)))


@pytest.mark.parametrize(
    ("time", "what"),
    [
        (lambda k, period: 1000.0 * k * period, "milliseconds"),
        (lambda k, period: float(k), "numbers of frames"),
        (lambda k, period: (4 * (k // 4) + 0.1 * (k % 4)) * period, "times of arrival"),
    ],
)
def test_times_of_another_kind_are_refused_as_such(live, time, what):
    with refused("bad_stream", "given", what):
        joined(live, *(markers(live, time(k, 1.0 / live.rate)) for k in range(300)))


def test_the_rate_is_looked_at_again_when_the_clock_begins_anew(live):
    first = [markers(live, 50.0 + k / live.rate) for k in range(900)]
    for start in (0.0, 90.0):
        with refused("bad_stream", "given", "--rate 97"):
            joined(live, *first, *(markers(live, start + k / 97.0) for k in range(200)))


def test_jitter_losses_and_rounded_times_do_not_change_the_rate(live):
    """Jitter of a fifth of a period, every tenth sample lost, a clock 500 ppm fast, times in steps of 3 ms."""
    random = np.random.default_rng(3)
    times = (np.arange(700) + random.uniform(-0.2, 0.2, 700)) / live.rate * 1.0005
    kept = times[random.random(700) > 0.1]
    assert len(joined(live, *(markers(live, time) for time in kept))[0]) == len(kept)
    joined(live, *(markers(live, round(time / 0.003) * 0.003) for time in times))
    for seed in range(8):
        even = np.arange(300) + np.random.default_rng(seed).normal(0.0, 0.1, 300)
        joined(live, *(markers(live, time / live.rate) for time in np.sort(even)))


def test_uneven_times_are_no_other_rate(live):
    uneven = np.sort(np.arange(300) + np.random.default_rng(1).exponential(0.4, 300)) / live.rate
    with refused("bad_stream", "given", "at uneven times: their steps last", "times of arrival"):
        joined(live, *(markers(live, time) for time in uneven))


def test_lost_and_reordered_datagrams_give_no_wrong_frame(live):
    """5 % dropped and 10 % exchanged with the next: what is solved is what the whole recording gives."""
    random, every = np.random.default_rng(5), list(samples(live, live.trial))
    truth = {round(f.time, 6): f for f in (live.step(*sample) for sample in every)}
    live.clear()
    numbers = [k for k in range(len(every)) if random.random() > 0.05]
    for k in range(len(numbers) - 1):
        if random.random() < 0.1:
            numbers[k], numbers[k + 1] = numbers[k + 1], numbers[k]
    readings = []
    for k in numbers:
        time, position, of_plates, _ = every[k]
        readings += [Reading("plates", time, of_plates, 0.0), Reading("markers", time, position, 0.0)]
    source = Joined(live, {"given": Given([*readings, None])}, wait_ms=500.0)
    sink = Kept()
    passed = run_session(live, source, [sink])
    assert passed.samples == len(numbers) and source.late == 0 and passed.lost > 0
    solved = [frame for frame in sink.frames if frame.valid.all()]
    assert len(solved) > 0.6 * sum(frame.valid.all() for frame in truth.values())
    for frame in solved:
        assert np.abs(frame.moment - truth[round(frame.time, 6)].moment).max() < 15.0


# --- UDP --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def datagram(**content) -> bytes:
    return json.dumps({"musclesolve": 1, **content}).encode()


def test_datagrams_become_readings_in_the_global_frame(live, port):
    """Millimeters and the axes that are stated; hidden markers and plates are null; names once or with each."""
    wanted = Wanted.from_live(live, "+y", "+z")  # forward is y of the stream, left is its -x
    names = list(live.markers)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        stream = UdpStream(str(port), wanted)

        def read(**content):
            sender.sendto(datagram(**content), ("127.0.0.1", port))
            return {reading.kind: reading for reading in stream.read(1.0)}

        by_name = {name: [1000.0 * k, 2000.0, 3000.0] for k, name in enumerate(names)} | {names[1]: None}
        plate = {"force": [1.0, 2.0, 700.0], "point": [100.0, 200.0, 0.0], "moment": [0.0, 0.0, 5.0]}
        others = [None] * (len(live.plates) - 1)
        found = read(time=1.5, unit="mm", markers=by_name, plates=[plate, *others])
        assert found["markers"].time == 1.5
        assert np.allclose(found["markers"].values[3], [2.0, -3.0, 3.0])
        assert np.isnan(found["markers"].values[1]).all()
        assert np.allclose(found["plates"].values[0], [2.0, -1.0, 700.0, 0.2, -0.1, 0.0, 0.0, 0.0, 5.0])
        assert np.isnan(found["plates"].values[1:]).all()
        assert read(names=names[::-1]) == {}
        found = read(time=2, markers=[[float(k), 0.0, 0.0] for k in range(len(names))])
        assert found["markers"].values[0, 1] == -(len(names) - 1)
        of_ann = read(time=3.0, unit="mm", markers={f"Ann:{name}": place for name, place in by_name.items()})
        assert np.allclose(of_ann["markers"].values[3], [2.0, -3.0, 3.0])
        assert not stream.remarks
        stream.close()


def test_axes_that_are_not_square_are_refused_by_their_options(live):
    with refused("bad_axes", "--up", "-z"):
        Wanted.from_live(live, "+z", "-z")


BAD = {
    b"\xff\xfe{": "no JSON",
    b"[" * 100_00: "no JSON",
    b"[1, 2]": "musclesolve",
    datagram(time=1.0, musclesolve=2): "musclesolve",
    datagram(markers={}): "time",
    datagram(time="now"): "time",
    datagram(time=float("nan")): "time",
    datagram(time=10**400): "too large",
    datagram(time=1.0, unit="furlong"): "furlong",
    datagram(time=1.0, markers={"A": [1, 2, 3]}): "the markers are 'A', not asis_r, asis_l",
    datagram(time=2.0, markers={}): "the markers are none, not",
    datagram(time=1.0, markers=[[1, 2, 3]]): "without names",
    datagram(time=1.0, markers=7): "neither",
    datagram(time=1.0, plates=[]): "plates",
    datagram(time=1.0, plates=[{"force": [1, 2, 3]}] * 2): "plate 1",
    datagram(time=1.0, plates=[{"force": [1, 2], "point": [1, 2, 3]}] * 2): "force of plate 1",
    datagram(time=1.0, emg=[1.0]): "emg",
    datagram(names=[1, 2]): "names",
}


def test_a_datagram_that_is_no_sample_is_counted_by_its_fault(live, port):
    stream = UdpStream(str(port), Wanted.from_live(live))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for data, what in BAD.items():
            sender.sendto(data, ("127.0.0.1", port))
            before = dict(stream.malformed)
            assert stream.read(1.0) == []
            (named,) = [text for text, count in stream.malformed.items() if count > before.get(text, 0)]
            assert what in named
    assert stream.malformed.total() == len(BAD) and stream.remarks
    stream.close()


def test_any_bytes_are_survived_and_reported_once_while_they_come(live, port, caplog):
    stream, random = UdpStream(str(port), Wanted.from_live(live)), np.random.default_rng(0)
    whole = datagram(time=1.0, markers={name: [0.1, 0.2, 0.3] for name in live.markers})
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(300):
            data = bytearray(whole[: random.integers(1, len(whole))])
            data[random.integers(len(data))] = random.integers(256)
            sender.sendto(bytes(data), ("127.0.0.1", port))
            stream.read(1.0)
    assert stream.malformed.total() == 300
    (said,) = caplog.messages
    assert said.startswith(f"udp:{port}: ") and "datagrams were left out: no JSON." in said
    stream.close()


def test_frames_go_out_as_json_that_names_its_numbers(live, port, monkeypatch):
    monkeypatch.setattr(udp, "NAMES_EVERY", 60.0)  # however busy the machine is
    every = list(samples(live, live.trial))[:60]
    arrivals = [(Arrival(sample, perf_counter()), live.step(*sample)) for sample in every]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", port))
        listener.settimeout(2.0)
        sink = open_sink(f"udp:{port}")
        sink.begin(live)
        for arrival, frame in (arrivals[0], arrivals[-1]):
            sink.take(arrival, frame)
        sink.close()
        names, *frames = [json.loads(listener.recv(65536)) for _ in range(3)]
    assert names["musclesolve"] == 1 and names["kind"] == "names" and names["muscles"] == list(live.muscles)
    assert {frame["kind"] for frame in frames} == {"frame"}
    assert frames[0]["status"] == ["INTERRUPTED"] * 2 and frames[0]["force"] == [None] * len(live.muscles)
    last = frames[-1]
    assert (
        last["status"] == ["SOLVED"] * 2
        and all(last["valid"])
        and len(last["force"]) == len(names["muscles"])
    )
    assert np.shape(last["joint_reaction"]) == (len(names["joints"]), 3)
    assert abs(last["sample_time"] - last["time"] - names["lag"]) < 1e-9 and 0.0 < last["latency"] < 60.0


def test_a_sink_that_cannot_send_does_not_end_the_session(live, caplog):
    """The system refuses a broadcast that nobody allowed; one remark states it."""
    sample = next(samples(live, live.trial))
    sink = open_sink("udp:255.255.255.255:5006")
    sink.begin(live)
    for _ in range(3):
        sink.take(Arrival(sample, perf_counter()), live.step(*sample))
    sink.close()
    (remark,) = sink.remarks
    assert "255.255.255.255" in remark and int(remark.split()[0]) >= 4  # with the names
    assert len([text for text in caplog.messages if "could not be sent" in text]) == 1


def test_addresses_that_are_none_are_refused(live, port):
    wanted = Wanted.from_live(live)
    with refused("unknown_name", "upd", "udp:"):
        open_stream("upd:5005", wanted)
    with refused("unknown_name", "replay"):
        open_sink("replay")
    for kinds, option in ((("radio:1", ""), "--from"), (("", "radio:1"), "--to")):
        with refused("unknown_name", f"{option} udp:127.0.0.1:5005") as unknown:
            check_streams(*([text] * bool(text) for text in kinds))
        assert ("--record" in str(unknown.value)) == (option == "--to")  # files are no source
    check_streams(["replay", "replay:"], [])
    for text in ("udp", "udp:host", "udp:0", "udp:99999"):
        with refused("bad_value", "udp:127.0.0.1:5005"):
            open_stream(text, wanted)
    with refused("no_stream", "nowhere.invalid"):
        open_sink("udp:nowhere.invalid:5005")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", port))
        with refused("no_stream", str(port)):
            stream_session(wanted, ["replay", f"udp:{port}"])
    with refused("missing_file"):
        open_stream("replay:no.toml", wanted)


def test_what_fails_to_open_leaves_nothing_open(live, port):
    with refused("bad_value"):
        stream_session(Wanted.from_live(live), [f"udp:{port}"], ["udp:host"])
    UdpStream(str(port), Wanted.from_live(live)).close()  # the port is free again


def test_every_kind_of_stream_has_its_classes(live):
    for word, adapter in ADAPTERS.items():
        assert {"source", "sink"} & set(adapter)
        for role in {"source", "sink"} & set(adapter):
            module, name = adapter[role].split(":")
            kind = getattr(importlib.import_module(f"musclesolve.apps.live.adapters.{module}"), name)
            needed = ("begin", "take", "close") if role == "sink" else ("read", "close", "remarks")
            assert all(hasattr(kind, method) for method in needed)
        assert adapter["address"].startswith(word) and ("packages" in adapter) == ("extra" in adapter)


# --- the command ------------------------------------------------------------------------------------------------------


def call(*words: str):
    return typed("live", reference_stride(), *words)


def test_the_command_says_what_went_through(port):
    done = call("--from", "replay", "--to", f"udp:{port}", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["command"] == "live" and found["samples"] >= found["valid"] > 0 == found["lost"]
    assert 0.0 < found["latency_median_ms"] <= found["latency_99_percent_ms"]


def test_a_stream_that_falls_silent_shows_and_is_counted(live, monkeypatch, capsys):
    """The line says so while nothing comes, the summary and its document afterward; so do the reasons of frames."""
    monkeypatch.setattr(stream_module, "SILENCE", 0.3)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    source = Given(markers(live, 0.01 * k, np.nan) for k in range(5))
    silent, line = list[float](), StatusLine()
    shown = line.idle
    line.idle = lambda seconds: (silent.append(seconds), shown(seconds))
    passed = run_session(
        live, Joined(live, {"given": source}), [line], lambda: max(silent, default=0.0) > 0.6
    )
    assert "no samples for " in capsys.readouterr().err
    assert passed.silences and passed.silences[-1] > 0.6
    assert passed.samples == 5 and passed.valid == 0 and passed.statuses["INTERRUPTED"] == 5 and passed.reason
    text = " ".join(map(str, session_lines(passed)))
    assert "5 interrupted" in text and "no sample came" in text and passed.reason in text


def test_a_computer_that_is_behind_is_reported_while_it_runs(live, caplog):
    """Once, and not for one slow frame."""
    sample = next(samples(live, live.trial))
    line, frame = StatusLine(), live.step(*sample)
    line.begin(live)
    for moment, ago in ((0.0, 5.0), (0.0, 0.0), (0.0, 5.0), (1.1, 5.0), (1.1, 5.0)):
        with pytest.MonkeyPatch.context() as patched:
            now = 1000.0 + moment
            patched.setattr(live_progress, "perf_counter", lambda now=now: now)
            line.take(Arrival(sample, now - ago), frame)
        assert len(caplog.messages) == (moment > 0.0)
    assert "--side" in caplog.messages[0]


def test_a_busy_computer_is_named_at_the_beginning(monkeypatch):
    monkeypatch.undo()  # the computer of the tests counts as idle in this folder
    monkeypatch.setattr(live_progress, "cores", lambda: 2)
    for load, said in ((0.5, False), (2.9, False), (10.0, True)):
        monkeypatch.setattr("os.getloadavg", lambda load=load: (load, 0.0, 0.0), raising=False)
        sentence = live_progress.busy_sentence()
        assert (sentence is not None) is said
    assert "load 10 on 2 cores" in sentence and "--side" in sentence


def test_hidden_markers_are_named_and_the_time_begins_with_the_session(live, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(live_progress, "RENEWED", 0.0)
    line = StatusLine()
    line.begin(live)
    for sample in list(samples(live, live.trial))[:3]:
        markers = sample.markers.copy()
        markers[list(live.markers).index("heel_r")] = float("nan")
        later = sample._replace(time=sample.time + 823_000.0, markers=markers)
        line.take(Arrival(later, live_progress.perf_counter()), live.step(*later))
    shown = capsys.readouterr().err
    assert "hidden: heel_r" in shown and "823" not in shown


def test_a_message_erases_the_line_that_is_renewed_and_the_line_fits_the_terminal(live, monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr(live_progress, "RENEWED", 0.0)
    monkeypatch.setenv("COLUMNS", "60")
    log = logging.getLogger("musclesolve")
    before = list(log.handlers)
    announce()
    line, sample = StatusLine(), next(samples(live, live.trial))
    try:
        line.begin(live)
        frame = replace(live.step(*sample), faults=("a marker is off its place " * 5,))
        line.take(Arrival(sample, live_progress.perf_counter()), frame)
        log.warning("plate 1 is silent")
        log.warning("and again")
    finally:
        line.close()
        log.handlers[:] = before
    shown = capsys.readouterr().err
    assert "\x1b[2Kmusclesolve: plate 1 is silent\nmusclesolve: and again\n" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(len(part) for part in re.split(r"\r\x1b\[2K|\n", plain)) < 60


def test_ctrl_c_ends_a_session_with_its_summary(port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", port))
        listener.settimeout(30.0)

        def press() -> None:
            listener.recv(65536)
            os.kill(os.getpid(), signal.SIGINT)

        presser, handler = threading.Thread(target=press), signal.getsignal(signal.SIGINT)
        presser.start()
        done = call("--from", "replay", "--to", f"udp:{port}")
        presser.join()
    assert done.exit_code == 3 and "0 with a valid frame" in done.output  # in the first window
    assert signal.getsignal(signal.SIGINT) == handler


def test_ctrl_c_while_a_stream_is_looked_for_ends_the_command(monkeypatch):
    """At once and as before any session: with the code of every command that is stopped, and a sentence."""
    lsl = importlib.import_module("musclesolve.apps.live.adapters.lsl")

    class Nobody:
        def results(self):
            signal.raise_signal(signal.SIGINT)
            return []

    monkeypatch.setattr(lsl.pylsl, "ContinuousResolver", Nobody)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell ignores it in the background
    try:
        done, handler = call("--from", "lsl:Nobody", "--to", "udp:5006"), signal.getsignal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.exit_code == 130, done.output
    assert "stopped by Ctrl-C" in done.output and "samples" not in done.output
    assert handler == signal.default_int_handler


def test_frames_without_a_valid_solution_are_counted_but_not_those_that_fill_the_filter(live):
    """A leg that no plate measured is not analyzed, as in a result."""
    walk = list(samples(live, live.trial))
    good = [live.step(*sample) for sample in walk]
    live.clear()
    first = next(k for k, frame in enumerate(good) if frame.valid.all())
    assert {note for frame in good[:first] for note in frame.notes} == {FILLING}

    def passed(frames):
        counted = Passed()
        for frame in frames:
            counted.count(frame)
        return counted

    valid = [frame for frame in good if frame.valid.all()]
    assert passed(good[:first] + valid).complete and not passed(good[:first]).complete
    unmeasured = replace(valid[0], status=np.array([Status.SOLVED, Status.NOT_MEASURED], np.int8))
    one_leg = passed([unmeasured])
    assert one_leg.complete and one_leg.valid == 0 and one_leg.partly == 1
    assert "1 with a valid frame of one leg" in next(iter(session_lines(one_leg)))
    assert passed([*valid, *good[:first]]).partly == 0
    assert (
        passed([*valid, good[0]]).failed == 0
    )  # a gap counts once, and not for each frame that fills the filter
    bad = replace(valid[0], status=np.array([Status.SOLVED, Status.INVALID_MOTION], np.int8))
    assert passed([*valid, bad]).failed == 1 and not passed([*valid, bad]).complete
    assert not Passed().complete


@pytest.mark.parametrize(("planned", "failed"), [(0, 1), (40, 0)])
def test_a_gap_counts_once_and_the_seam_of_a_repeated_recording_does_not(live, planned, failed):
    live.clear()
    walk = list(samples(live, live.trial))[:60]
    gap = [sample._replace(time=sample.time + 0.4) for sample in walk[30:]]

    class Repeated:
        remarks, paused, waiting = (), 0, walk[:30] + gap

        def wait(self, timeout):
            if not self.waiting:
                raise StreamEnded
            sample, self.waiting = self.waiting[0], self.waiting[1:]
            self.paused = planned if sample.time > walk[29].time else 0
            return Arrival(sample, perf_counter())

        def close(self):
            pass

    passed = run_session(live, Repeated(), [Kept()])
    assert passed.samples == 60 and passed.failed == failed and passed.statuses["INTERRUPTED"] > 20


def test_samples_that_cannot_be_read_are_not_called_missing():
    text = " ".join(map(str, session_lines(Passed(remarks=("7 datagrams were left out: no JSON.",)))))
    assert "see the remark" in text and "does the sender run" not in text


def test_the_reason_of_frames_without_solution_is_not_the_filling_of_the_filter(live):
    frames = [live.step(*sample) for sample in list(samples(live, live.trial))[:60]]
    filled = [frame for frame in frames if frame.notes != (FILLING,)]
    bad = replace(
        filled[0], status=np.full_like(filled[0].status, Status.INVALID_MOTION), notes=("a pose leaps",)
    )
    passed = Passed()
    for frame in (*frames[:20], bad):
        passed.count(frame)
    assert passed.failed == 1 and passed.reason == "a pose leaps"


def test_the_command_without_samples_says_so(port):
    done = call("--from", f"udp:{port}", "--seconds", "0.2")
    assert done.exit_code == 3 and "none that can be read came" in done.output
    assert "does the sender run" in done.output
    assert "no muscle forces were found" in done.output and "Usable" not in done.output


@pytest.mark.parametrize(
    "words",
    [
        *(["--from", "replay", "-o", "out"], ["--replay"], [], ["--from", "replay", "--replay", "-o", "out"]),
        ["--from", "udp:5005", "--repeat"],
    ],
)
def test_sources_that_contradict_each_other_are_refused(words):
    assert call(*words).exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["--rate", "200"],
        ["--to", "udp:5006"],
        ["--plate", "auto"],
        ["--seconds", "0"],
        ["--forward", "+x"],
        ["--up", "+z"],
        ["--wait-ms", "5"],
        ["--plate-offset", "0"],
        ["--record", "folder"],
    ],
)
def test_options_of_streams_are_refused_where_nothing_streams(words, tmp_path):
    done = call("--replay", "-o", str(tmp_path / "out"), *words)
    assert done.exit_code == 2 and words[0] in done.output and "real time" in done.output
    assert not (tmp_path / "out").exists()


def test_numbers_that_cannot_be_are_refused_before_the_trial_is_read(tmp_path):
    for words in (["--rate", "0"], ["--rate", "nan"], ["--plate-offset", "nan"], ["--seconds", "nan"]):
        done = typed("live", tmp_path / "no.toml", "--from", "replay", *words)
        assert done.exit_code == 2 and words[0] in done.output


def test_kinds_of_streams_are_checked_before_the_trial_is_read(tmp_path):
    for words in (["--from", "upd:5005"], ["--from", "replay", "--to", "replay"]):
        done = typed("live", tmp_path / "no.toml", *words)
        assert done.exit_code == 2 and words[-1].partition(":")[0] in done.output


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with refused("missing_package", "--from", "pylsl", 'pip install ".[live]"'):
        check_streams(["lsl:Markers"], [])


def test_status_names_are_those_of_the_enum():

    assert STATUS_NAMES[9] == Status.INTERRUPTED.name
