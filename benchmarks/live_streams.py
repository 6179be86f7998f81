"""Live streams: latency through LSL on the loopback, and what lost and reordered datagrams do.

    python -m benchmarks.live_streams [TRIAL.toml] [--minutes 1] [--rate 200]

Another process sends the recording over and over by LSL, markers and plates as two streams, at an even rate, and
receives the forces by LSL. Latency is from the time that a sample was sent, by the clock of that process, to the time
at which its forces were received there. Then the recording is sent in real time by UDP, with 5 % of all datagrams
dropped and 10 % exchanged with the next one, five times with other random numbers; frames are compared with the frames
of the recording without loss.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import socket
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep

import numpy as np
from rich.table import Table

from benchmarks.arguments import command_line, input_file
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.data.bundled import reference_stride
from musclesolve.live.adapters.udp import VECTORS
from musclesolve.live.channels import frame_channels
from musclesolve.live.joining import Wanted
from musclesolve.live.live import Frame, Live
from musclesolve.live.replay import samples
from musclesolve.live.session import stream_session
from musclesolve.live.stream import Arrival, Passed, Sample
from musclesolve.studies.benchmark.measure import machine

DROPPED, EXCHANGED, ROUNDS = 0.05, 0.1, 5


class Frames:
    """A sink that keeps frames and when they came."""

    def __init__(self) -> None:
        self.frames, self.newest = list[Frame](), perf_counter()

    def begin(self, live: Live) -> None:
        """See Sink."""

    def take(self, arrival: Arrival, frame: Frame) -> None:
        """See Sink."""
        self.frames.append(frame)
        self.newest = perf_counter()

    def close(self) -> None:
        """See Sink."""


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("trial", nargs="?", type=input_file, default=reference_stride())
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--rate", type=float, default=200.0)
    stated = parser.parse_args()
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()))
    live = Live(stated.trial, rate_hz=stated.rate)
    live.warm_up()
    every = list(samples(live, live.trial, live.rate))
    console.print(latency_table(live, every, int(60.0 * stated.minutes * live.rate)))
    live.clear()
    console.print(loss_table(live, every))


def exchange(
    names: tuple[str, str, str],
    labels: tuple[list[str], list[str], int],
    rows: Array,
    rate: float,
    count: int,
    found: str,
) -> None:
    """Send rows of markers and plates by LSL, and write when samples were sent and forces received; in its own process.

    names: of the three streams. labels: of markers and of plates, and where a frame has the time of its sample. rows:
    (T, c), of a recording. found: file for the times.
    """
    import pylsl

    outlets = []
    for name, of_stream in zip(names[:2], labels[:2], strict=True):
        info = pylsl.StreamInfo(
            name, "MoCap", len(of_stream), rate, pylsl.cf_double64, f"{name} {os.getpid()}"
        )
        info.set_channel_labels(of_stream)
        outlets.append(pylsl.StreamOutlet(info))
    received, done = list[tuple[float, float]](), Event()
    ready = Event()

    def listen() -> None:
        (info,) = pylsl.resolve_byprop("name", names[2], 1, 60.0)
        inlet = pylsl.StreamInlet(info, max_buflen=60)
        inlet.open_stream(10.0)
        ready.set()
        while not done.is_set() or inlet.samples_available():
            row, _ = inlet.pull_sample(0.2)
            if row is not None:
                received.append((row[labels[2]], pylsl.local_clock()))

    listener = Thread(target=listen)
    listener.start()
    if not (ready.wait(60.0) and all(outlet.wait_for_consumers(60.0) for outlet in outlets)):
        raise RuntimeError("the session did not connect")
    sleep(1.0)
    sent, begun, markers = np.empty(count), pylsl.local_clock(), len(labels[0])
    measured = begun + np.arange(count) / rate
    for number, row in enumerate(islice(cycle(rows.tolist()), count)):
        sleep(max(0.0, measured[number] - pylsl.local_clock()))
        sent[number] = pylsl.local_clock()
        outlets[1].push_sample(row[markers:], measured[number])
        outlets[0].push_sample(row[:markers], measured[number])
    until = pylsl.local_clock() + 30.0
    while len(received) < count and pylsl.local_clock() < until:
        sleep(0.5)
    done.set()
    listener.join()
    np.savez(found, sent=sent, measured=measured, received=np.array(received))


def latency_table(live: Live, every: list[Sample], count: int) -> Table:
    """Latency of `count` samples through LSL and back."""
    wanted, word = Wanted.from_live(live), f"{os.getpid()}"
    names = f"markers {word}", f"plates {word}", f"forces {word}"
    axes = "xyz"
    plates = [
        f"plate{k + 1}_{role}_{axis}" for k in range(len(live.plates)) for role in VECTORS for axis in axes
    ]
    channels = [channel.label for channel in frame_channels(live)]
    labels = (
        [f"{name}_{axis}" for name in live.markers for axis in axes],
        plates,
        channels.index("sample_time"),
    )
    rows = np.array(
        [
            np.concatenate(
                [(s.markers @ wanted.rotation).ravel(), (s.plates.reshape(-1, 3) @ wanted.rotation).ravel()]
            )
            for s in every
        ]
    )
    with TemporaryDirectory() as folder:
        found = Path(folder) / "times.npz"
        process = multiprocessing.get_context("spawn").Process(
            target=exchange, args=(names, labels, rows, live.rate, count, str(found))
        )
        process.start()
        passed = stream_session(
            wanted,
            [f"lsl:{names[0]}", f"lsl:{names[1]}"],
            [f"lsl:{names[2]}"],
            stop=lambda: not process.is_alive(),
        )
        process.join()
        with np.load(found) as times:
            sent, measured, received = times["sent"], times["measured"], times["received"]
    nearest = np.clip(np.searchsorted(measured, received[:, 0] - 0.5 / live.rate), 0, count - 1)
    latency = 1e3 * (received[:, 1] - sent[nearest])
    table = Table(
        "",
        title=f"latency through LSL, {count} samples {live.rate:g} times a second, {len(live.muscles)} muscles",
    )
    for column in ("median [ms]", "99 % [ms]", "99.9 % [ms]", "largest [ms]", "lost"):
        table.add_column(column)
    lost = str(count - len(np.unique(nearest)))
    table.add_row("sent to forces received", *_quantiles(latency), lost)
    within = 1e3 * np.array(passed.latency)
    table.add_row(
        "arrival to all sinks done", *_quantiles(within), f"{passed.valid} of {passed.samples} valid"
    )
    for remark in passed.remarks:
        console.print(remark)
    return table


def _quantiles(values: Array) -> list[str]:
    return [f"{value:.2f}" for value in np.quantile(values, [0.5, 0.99, 0.999, 1.0])]


def datagrams(live: Live, wanted: Wanted, every: list[Sample]) -> list[bytes]:
    """Samples as the UDP stream takes them."""

    def plain(values: Array) -> list[float] | None:
        return values.tolist() if np.isfinite(values).all() else None

    found = []
    for sample in every:
        position = sample.markers @ wanted.rotation
        plates = (sample.plates.reshape(-1, 3, 3) @ wanted.rotation).tolist()
        content = {
            "musclesolve": 1,
            "time": sample.time,
            "markers": {name: plain(row) for name, row in zip(live.markers, position, strict=True)},
            "plates": [
                dict(zip(VECTORS, plate, strict=True)) if np.isfinite(plate).all() else None
                for plate in plates
            ],
        }
        found.append(json.dumps(content).encode())
    return found


def loss_table(live: Live, every: list[Sample]) -> Table:
    """Valid frames, their error, and the longest interruption, with and without loss."""
    wanted, truth = (
        Wanted.from_live(live),
        {round(f.time, 5): f for f in (live.step(*sample) for sample in every)},
    )
    usable = {time for time, frame in truth.items() if frame.valid.all()}
    data = datagrams(live, wanted, every)
    table = Table(
        "wait [ms]", title=f"{DROPPED:.0%} dropped, {EXCHANGED:.0%} exchanged, {ROUNDS} rounds by UDP"
    )
    columns = (
        "sent",
        "taken",
        "late",
        "valid of those valid without loss",
        "largest error [N m]",
        "longest without [s]",
    )
    for column in columns:
        table.add_column(column)
    for wait_ms in (0.0, 10.0):
        sums, error, longest = np.zeros(5, int), 0.0, 0.0
        for seed in range(ROUNDS):
            live.clear()
            sink = Frames()
            sent, passed = _send_with_loss(wanted, data, seed, wait_ms, sink)
            late = sum(int(text.split()[0]) for text in passed.remarks if "late" in text)
            solved = {round(frame.time, 5): frame for frame in sink.frames if frame.valid.all()}
            sums += (sent, passed.samples, late, len(solved.keys() & usable), len(usable))
            for time, frame in solved.items():
                error = (
                    max(error, float(np.abs(frame.moment - truth[time].moment).max()))
                    if time in truth
                    else np.inf
                )
            # from the first valid frame on: stretches of times that are valid without loss and not here
            last = min(solved, default=np.nan)
            for time in sorted(usable):
                if time in solved:
                    last = time
                elif time > last:
                    longest = max(longest, time - last)
        valid = f"{sums[3]} of {sums[4]}"
        table.add_row(f"{wait_ms:g}", *map(str, sums[:3]), valid, f"{error:.2f}", f"{longest:.3f}")
    return table


def _send_with_loss(
    wanted: Wanted, data: list[bytes], seed: int, wait_ms: float, sink: Frames
) -> tuple[int, Passed]:
    """Send datagrams in real time, some dropped and exchanged; returns how many were sent, and what went through."""
    random = np.random.default_rng(seed)
    order = [k for k in range(len(data)) if random.random() > DROPPED]
    for k in range(len(order) - 1):
        if random.random() < EXCHANGED:
            order[k], order[k + 1] = order[k + 1], order[k]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def send() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sleep(0.2)
            begun = perf_counter()
            for number, k in enumerate(order):
                sleep(max(0.0, begun + number / wanted.live.rate - perf_counter()))
                sender.sendto(data[k], ("127.0.0.1", port))

    thread = Thread(target=send)
    thread.start()
    passed = stream_session(
        wanted,
        [f"udp:{port}"],
        [sink],
        stop=lambda: not thread.is_alive() and perf_counter() - sink.newest > 0.3,
        wait_ms=wait_ms,
    )
    thread.join()
    return len(order), passed


if __name__ == "__main__":
    main()
