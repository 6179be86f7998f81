"""Lab streaming layer over the loopback: channels by their labels, units, uneven stamps, streams that vanish."""

from __future__ import annotations

import gc
import uuid
from threading import Event, Thread
from time import perf_counter, sleep

import numpy as np
import pylsl
import pytest
from refusals import refused

from musclesolve import Status
from musclesolve.apps.live import Live, joining, samples, stream_session
from musclesolve.apps.live.adapters import lsl
from musclesolve.apps.live.adapters.lsl import EvenTimes, LslStream
from musclesolve.apps.live.channels import Channel, Layout, frame_channels, frame_values
from musclesolve.apps.live.joining import Wanted


def outlet(name: str, channels: list[tuple[str, str]], rate: float, source: str = "") -> pylsl.StreamOutlet:
    info = pylsl.StreamInfo(name, "MoCap", len(channels), rate, pylsl.cf_double64, source or name)
    info.set_channel_labels([label for label, _ in channels])
    info.set_channel_units([unit for _, unit in channels])
    return pylsl.StreamOutlet(info)


def marker_channels(live: Live, unit: str = "mm") -> list[tuple[str, str]]:
    return [(f"{name}_{axis}", unit) for name in live.markers for axis in "xyz"]


def plate_channels(live: Live) -> list[tuple[str, str]]:
    units = {"force": "N", "point": "mm", "moment": "Nmm"}
    return [
        (f"plate{k + 1}_{role}_{axis}", unit)
        for k in range(len(live.plates))
        for role, unit in units.items()
        for axis in "xyz"
    ]


def laboratory(wanted: Wanted, vectors: np.ndarray) -> np.ndarray:
    """Vectors of the global frame in the axes of the stream."""
    return vectors @ wanted.rotation


def test_a_session_over_the_loopback_gives_the_forces_of_the_recording(live, monkeypatch):
    """Markers and plates by LSL in millimeters and the axes of the files; the forces come back by LSL, in time.

    However long the machine does something else: every sample waits for its plates.
    """
    monkeypatch.setattr(joining, "SILENT", 60.0)
    word, wanted = uuid.uuid4().hex, Wanted.from_live(live)
    every = [sample for sample in samples(live, live.trial)][:70]
    truth = [live.step(*sample) for sample in every]
    live.clear()
    of_markers = outlet(f"markers {word}", marker_channels(live), live.rate)
    of_plates = outlet(f"plates {word}", plate_channels(live), live.rate)
    ready, running, ended, received = Event(), Event(), Event(), list[tuple[np.ndarray, float, float]]()

    def send() -> None:
        of_markers.wait_for_consumers(10.0)
        of_plates.wait_for_consumers(10.0)
        ready.wait(10.0)
        running.wait(30.0)
        begun = pylsl.local_clock()
        for number, (_, position, plates, _) in enumerate(every):
            now = begun + number / live.rate
            sleep(max(0.0, now - pylsl.local_clock()))
            vectors = laboratory(wanted, plates.reshape(-1, 3, 3)) * np.array([1.0, 1e3, 1e3])[:, None]
            of_markers.push_sample(1e3 * laboratory(wanted, position).ravel(), now)
            of_plates.push_sample(vectors.ravel(), now)

    def listen() -> None:
        (info,) = pylsl.resolve_byprop("name", f"forces {word}", 1, 20.0)
        inlet = pylsl.StreamInlet(info, as_numpy=True)
        inlet.open_stream(5.0)
        ready.set()
        while not ended.is_set() or inlet.samples_available():
            row, stamp = inlet.pull_sample(0.2)
            if row is not None:
                received.append((row, stamp, pylsl.local_clock()))

    threads = [Thread(target=send), Thread(target=listen)]
    for thread in threads:
        thread.start()
    names = [f"lsl:markers {word}", f"lsl:plates {word}"]
    begun = perf_counter()

    def stop() -> bool:
        running.set()  # what is sent before is left out
        return len(received) >= len(every) or perf_counter() - begun > 60.0

    passed = stream_session(wanted, names, [f"lsl:forces {word}"], stop=stop, wait_ms=60e3)
    ended.set()
    for thread in threads:
        thread.join()
    labels = [channel.label for channel in frame_channels(live)]
    row = {label: k for k, label in enumerate(labels)}
    assert passed.lost == 0 and len(received) == passed.samples == len(every) and not passed.remarks
    compared = 0
    for values, frame in zip([each[0] for each in received], truth, strict=False):
        if values[row["status r"]] == Status.SOLVED:
            assert values[row["valid r"]] == 1.0
            assert np.allclose(
                values[row[f"force {live.muscles[0]}"] :][: len(live.muscles)], frame.force, atol=1.0
            )
            compared += 1
    assert compared > 30
    stamps, times = np.array([each[1] for each in received]), np.array([each[2] for each in received])
    assert np.allclose(stamps, [each[0][row["time"]] for each in received], atol=1e-3)
    assert 0.0 < np.median(times - stamps - live.lag) < 30.0


@pytest.mark.thorough
def test_a_stream_that_vanishes_and_comes_back_goes_on(live):
    name, channels = uuid.uuid4().hex, marker_channels(live, "m")
    stream, count = None, 0
    for start in (1.0, 2.0):
        sender = outlet(name, channels, live.rate, source=f"{name} {start}")
        stream = stream or LslStream(name, Wanted.from_live(live))
        until = perf_counter() + 10.0
        found = []
        while not found and perf_counter() < until:
            sender.push_sample(np.full(len(channels), start))
            found = stream.read(0.1)
        assert found[0].values[0, 2] in (start, -start)
        count += 1
        del sender
        gc.collect()
        stream.read(0.1)
    assert count == 2 and "vanished" in stream.remarks[0]
    stream.close()


@pytest.mark.thorough
def test_a_connection_that_delivers_nothing_is_opened_anew(live, monkeypatch):
    name, channels, inlets = uuid.uuid4().hex, marker_channels(live, "m"), list[pylsl.StreamInlet]()

    class Deaf(pylsl.StreamInlet):
        def pull_chunk(self, *args, **settings):
            inlets[:] = [*inlets, self] if self not in inlets else inlets
            samples, stamps = super().pull_chunk(*args, **settings)
            return (samples[:0], stamps[:0]) if self is inlets[0] else (samples, stamps)

    monkeypatch.setattr(pylsl, "StreamInlet", Deaf)
    monkeypatch.setattr(lsl, "REOPENED", 0.5)
    sender = outlet(name, channels, live.rate)
    stream, found, until = LslStream(name, Wanted.from_live(live)), [], perf_counter() + 30.0
    while not found and perf_counter() < until:
        sender.push_sample(np.ones(len(channels)))
        found = stream.read(0.1)
    stream.close()
    assert found and len(inlets) > 1 and stream.remarks == []
    del sender


def test_a_stream_that_is_not_there_is_named_with_those_that_are(live, monkeypatch):
    monkeypatch.setattr(lsl, "RESOLVED_WITHIN", 0.3)
    name = uuid.uuid4().hex
    sender = outlet(name, marker_channels(live), live.rate)
    with refused("no_stream", "Nobody", name):
        LslStream("Nobody", Wanted.from_live(live))
    del sender


def test_stamps_with_jitter_become_even_and_gaps_stay():
    """Jitter of 0.8 ms on 200 Hz, a clock 200 ppm fast, 2 % lost: within 0.4 ms of the truth after a second."""
    random, even = np.random.default_rng(2), EvenTimes(200.0)
    times = 100.0 + np.arange(4000) / 200.0 * 1.0002
    kept = random.random(4000) > 0.02
    found = np.array(
        [even(time + np.clip(random.normal(0.0, 0.0008), -0.0016, 0.0016)) for time in times[kept]]
    )
    off = found - times[kept]
    assert np.abs(off[200:]).max() < 4e-4 and np.std(off[400:]) < 1.5e-4
    assert abs(even(1.0) - 1.0) < 1e-12  # another clock


LABELS = {
    "with the number before": ["1_fx", "1_fy", "1_fz", "1_px", "1_py", "1_pz", "1_mx", "1_my", "1_mz"],
    "with the number behind": ["Fx1", "Fy1", "Fz1", "COPx1", "COPy1", "COPz1", "Mx1", "My1", "Mz1"],
    "in words": [f"plate1_{role}_{axis}" for role in ("force", "point", "moment") for axis in "xyz"],
    "without a number": [f"{role} {axis}" for role in ("force", "point", "moment") for axis in "xyz"],
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_channels_of_plates_are_known_by_their_labels(live, labels):
    layout = Layout.from_channels(
        [Channel(label) for label in labels], Wanted.from_live(live, "+x", "+z"), "lsl:A"
    )
    (reading,) = layout.readings(np.arange(9.0), 1.0, 2.0)
    assert reading.kind == "plates" and np.allclose(reading.values[0], np.arange(9.0))
    assert np.isnan(reading.values[1:]).all()


def test_a_plate_without_moment_has_none_and_units_are_read(live):
    units = {"f": "kN", "p": "cm"}
    channels = [Channel(f"{role}{axis}1", units[role]) for role in "fp" for axis in "xyz"]
    (reading,) = Layout.from_channels(channels, Wanted.from_live(live, "+x", "+z"), "lsl:A").readings(
        np.ones(6), 0.0, 0.0
    )
    assert np.allclose(reading.values[0], [1e3, 1e3, 1e3, 0.01, 0.01, 0.01, 0.0, 0.0, 0.0])


def test_channels_of_the_mocap_form_and_the_columns_of_the_trial_file(live):
    mocap = [Channel("", "millimeters", f"Position{axis}", name) for name in live.markers for axis in "XYZ"]
    (reading,) = Layout.from_channels(mocap, Wanted.from_live(live, "+x", "+z"), "lsl:A").readings(
        np.arange(3.0 * len(live.markers)), 0.0, 0.0
    )
    assert np.allclose(reading.values[1], [0.003, 0.004, 0.005]) and np.isfinite(reading.values[1:]).all()
    of_ann = [Channel(f"Ann:{label}", unit) for label, unit in marker_channels(live)]
    assert Layout.from_channels(of_ann, Wanted.from_live(live, "+x", "+z"), "lsl:A").markers.min() == 0


def test_the_columns_that_the_trial_file_names(default_walk_trial):
    live = Live(default_walk_trial)
    columns = [
        f"ground_{kind}" for kind in ("force_l_vx", "force_l_vy", "force_l_vz", "force_l_px", "force_l_py")
    ]
    columns += ["ground_force_l_pz", "ground_torque_l_x", "ground_torque_l_y", "ground_torque_l_z"]
    wanted = Wanted.from_live(live)
    (reading,) = Layout.from_channels([Channel(name) for name in columns], wanted, "lsl:A").readings(
        np.arange(9.0), 0.0, 0.0
    )
    assert np.allclose(reading.values[1].reshape(3, 3), np.arange(9.0).reshape(3, 3) @ wanted.rotation.T)
    assert np.isnan(reading.values[0]).all()


def test_channels_that_cannot_be_are_refused(live):
    wanted = Wanted.from_live(live)
    whole = [Channel(label, unit) for label, unit in marker_channels(live)]
    for channels, words in (
        (whole[:-1], (live.markers[-1],)),
        ([*whole, whole[0]], (live.markers[0],)),
        ([Channel("EEG1")], ("EEG1", live.markers[0])),
        ([Channel(whole[0].label, "furlong"), *whole[1:]], ("furlong",)),
        ([Channel(f"f{axis}") for axis in "xyz"], ("plate 1", "point x")),
        ([Channel(f"{role}{axis}9") for role in "fp" for axis in "xyz"], ("force 9",)),
    ):
        with refused("bad_stream", "lsl:A", *words):
            Layout.from_channels(channels, wanted, "lsl:A")


def test_a_frame_as_a_row_has_the_numbers_of_its_channels(live):
    frame = [live.step(*sample) for sample in list(samples(live, live.trial))[:60]][-1]
    row = dict(zip([each.label for each in frame_channels(live)], frame_values(frame, 3.0), strict=True))
    assert row["sample_time"] == 3.0 and row["time"] == frame.time and row["status l"] == frame.status[1]
    assert row[f"force {live.muscles[7]}"] == frame.force[7]
    assert row[f"joint_reaction {live.joints[1]}_z"] == frame.joint_reaction[1, 2]
