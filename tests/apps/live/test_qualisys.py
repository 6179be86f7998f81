"""Qualisys: a server that speaks the real-time protocol, in the packets that the library of Qualisys defines."""

from __future__ import annotations

import socket
import struct
from threading import Event, Thread

import numpy as np
import pytest
from qtm_rt.packet import (
    QRTComponentType,
    QRTPacketType,
    RT3DComponent,
    RT3DMarkerPosition,
    RTComponentData,
    RTDataQRTPacket,
    RTForce,
    RTForceComponent,
    RTForcePlateSingle,
    RTheader,
)
from refusals import refused

from musclesolve.apps.live import Live, samples
from musclesolve.apps.live.adapters.qualisys import QualisysStream
from musclesolve.apps.live.joining import Joined, Wanted
from musclesolve.apps.live.session import open_stream
from musclesolve.apps.live.stream import run_session


def packet(kind: QRTPacketType, content: bytes) -> bytes:
    return RTheader.pack(RTheader.size + len(content), kind.value) + content


def component(kind: QRTComponentType, content: bytes) -> bytes:
    return RTComponentData.pack(RTComponentData.size + len(content), kind.value) + content


def data(number: int, time: float, markers: np.ndarray, plates: np.ndarray) -> bytes:
    """A frame: markers (n, 3) [mm], plates (P, 9) force, moment, point [N, N m, mm]."""
    points = RT3DComponent.format.pack(len(markers), 0, 0)
    points += b"".join(RT3DMarkerPosition.format.pack(*row) for row in markers)
    forces = RTForceComponent.format.pack(len(plates))
    forces += b"".join(
        RTForcePlateSingle.format.pack(k) + RTForce.format.pack(*row) for k, row in enumerate(plates, 1)
    )
    parts = component(QRTComponentType.Component3d, points)
    parts += component(QRTComponentType.ComponentForceSingle, forces)
    return packet(QRTPacketType.PacketData, RTDataQRTPacket.pack(round(1e6 * time), number, 2) + parts)


CORNERS = np.array([[1.0, 1.0, 0.0], [-1.0, 1.0, 0.0], [-1.0, -1.0, 0.0], [1.0, -1.0, 0.0]]) * 9.0
"""Of all plates, in the global frame [m]: 18 m wide, so that the whole walk is on them."""


def settings(names: list[str], plates: int, corners: np.ndarray = CORNERS) -> bytes:
    """The answer to getparameters 3d force; corners (4, 3) in the axes of the laboratory [m]."""
    labels = "".join(f"<Label><Name>{name}</Name></Label>" for name in names)
    places = "".join(
        f"<Corner{k}>"
        + "".join(f"<{a}>{1e3 * x}</{a}>" for a, x in zip("XYZ", row, strict=True))
        + f"</Corner{k}>"
        for k, row in enumerate(corners, 1)
    )
    found = f"<Plate><Location>{places}</Location></Plate>" * plates
    return f"<QTM><The_3D>{labels}</The_3D><Force>{found}</Force></QTM>".encode()


class Qtm:
    """The server: answers commands, and sends frames when asked to."""

    def __init__(self, xml: bytes, frames: list[bytes], again: bool = False) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(10.0)
        self.port, self._xml, self._frames = self._listener.getsockname()[1], xml, frames
        self.asked, self.sent, self._rounds = list[str](), Event(), 2 if again else 1
        self._thread = Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        for _ in range(self._rounds):
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(10.0)
                connection.sendall(packet(QRTPacketType.PacketCommand, b"QTM RT Interface connected\0"))
                while (command := self._command(connection)) is not None:
                    self.asked.append(command)
                    if command.startswith("version"):
                        answer = command.replace("version", "Version set to") + "\0"
                        connection.sendall(packet(QRTPacketType.PacketCommand, answer.encode()))
                    elif command.startswith("getparameters"):
                        connection.sendall(packet(QRTPacketType.PacketXML, self._xml + b"\0"))
                    elif command.startswith("streamframes"):
                        whole = b"".join(self._frames)
                        for first in range(0, len(whole), 1000):  # pieces that end within packets
                            connection.sendall(whole[first : first + 1000])
                        self.sent.set()
                        if self._rounds > 1:
                            break

    @staticmethod
    def _command(connection: socket.socket) -> str | None:
        try:
            head = connection.recv(RTheader.size)
            size, _ = RTheader.unpack(head)
            return connection.recv(size - RTheader.size).rstrip(b"\0").decode()
        except (OSError, struct.error):
            return None

    def close(self) -> None:
        self._listener.close()
        self._thread.join()


def recording(wanted: Wanted) -> tuple[list[bytes], list[str]]:
    """Frames of the bundled stride as QTM sends them, with a marker more, and the labels."""
    live = wanted.live
    frames = []
    for number, sample in enumerate(samples(live, live.trial)):
        position = np.vstack([np.full(3, 7.0), sample.markers @ wanted.rotation * 1e3])
        vectors = sample.plates.reshape(-1, 3, 3) @ wanted.rotation * np.array([1.0, 1e3, 1.0])[:, None]
        frames.append(data(number, sample.time, position, vectors[:, [0, 2, 1]].reshape(-1, 9)))
    return frames, ["extra", *live.markers]


def test_markers_and_plates_of_qtm_give_the_forces_of_the_recording(live):
    wanted = Wanted.from_live(live)
    frames, labels = recording(wanted)
    truth = [live.step(*sample) for sample in samples(live, live.trial)]
    live.clear()
    server = Qtm(settings(labels, len(live.plates), CORNERS @ wanted.rotation), frames)
    stream, found = QualisysStream(f"127.0.0.1:{server.port}", wanted), []

    class Kept:
        def begin(self, live): ...

        def take(self, arrival, frame):
            found.append(frame)

        def close(self): ...

    source = Joined(live, {"qualisys": stream})
    run_session(live, source, [Kept()], stop=lambda: len(found) == len(frames), seconds=20.0)
    server.close()
    assert "streamframes allframes 3d forcesingle" in server.asked and len(found) == len(frames)
    both = [(a, b) for a, b in zip(found, truth, strict=True) if a.valid.all() and b.valid.all()]
    assert len(both) > 0.8 * sum(
        frame.valid.all() for frame in truth
    )  # until three readings of 100 N the sense is not known
    assert max(np.abs(a.moment - b.moment).max() for a, b in both[20:]) < 0.1  # single precision


def read_all(stream: QualisysStream, count: int) -> list:
    found = []
    for _ in range(200):
        found += stream.read(0.05)
        if len(found) >= count:
            break
    return found


def standing(live: Live, number: int, plates: list[list[float]]) -> bytes:
    """A frame of somebody who stands, by its number, 100 a second."""
    return data(number, 0.01 * number, np.full((len(live.markers), 3), 5.0), np.array(plates))


def test_forces_on_the_plate_and_in_its_axes_become_those_on_the_foot(live):
    """A plate whose z axis points down, 2 m ahead: what a foot pushes with 700 N is + 700 N along its z."""
    wanted = Wanted.from_live(live, "+x", "+z")
    corners = np.array([[2.3, 0.2, 0.0], [1.7, 0.2, 0.0], [1.7, -0.2, 0.0], [2.3, -0.2, 0.0]])[[1, 0, 3, 2]]
    rows = [[10.0, 20.0, 700.0, 0.0, 0.0, 5.0, 100.0, 50.0, 0.0]] * len(live.plates)
    frames = [standing(live, k, rows) for k in range(3)]
    server = Qtm(settings(list(live.markers), len(live.plates), corners), frames)
    stream = QualisysStream(f"127.0.0.1:{server.port}/plate", wanted)
    *before, plates, markers = read_all(stream, 6)
    assert all(np.isnan(reading.values).all() for reading in before if reading.kind == "plates")
    stream.close()
    server.close()
    # x of the plate is -x of the laboratory, z is -z, so y is y
    assert np.allclose(plates.values[0], [10.0, -20.0, 700.0, 1.9, 0.05, 0.0, 0.0, 0.0, 5.0], atol=1e-5)
    assert markers.time == 0.02 and np.allclose(markers.values, 0.005)


def test_forces_beside_their_plates_are_refused(live):
    wanted = Wanted.from_live(live, "+x", "+z")
    rows = [[0.0, 0.0, 700.0, 0.0, 0.0, 0.0, 100.0, 50.0, 0.0]] * len(live.plates)
    frames = [standing(live, k, rows) for k in range(3)]
    server = Qtm(settings(list(live.markers), len(live.plates), CORNERS / 30.0 + [2.0, 0.0, 0.0]), frames)
    stream = QualisysStream(f"127.0.0.1:{server.port}", wanted)
    with refused("bad_plate", "plate 1", "/plate"):
        read_all(stream, 6)
    stream.close()
    server.close()


def test_a_single_reading_turns_no_force_and_refuses_no_plate(live):
    """A knock against the plate, and a point of force that is a spike, before a foot stands on it."""
    wanted = Wanted.from_live(live, "+x", "+z")
    foot, knock, spike = (
        [0.0, 0.0, up, 0.0, 0.0, 0.0, at, 0.0, 0.0]
        for up, at in ((700.0, 100.0), (-300.0, 0.0), (400.0, 9e5))
    )
    rows = [knock, spike, foot, knock, foot, foot, spike, foot]
    frames = [standing(live, k, [row] * len(live.plates)) for k, row in enumerate(rows)]
    server = Qtm(settings(list(live.markers), len(live.plates)), frames)
    stream = QualisysStream(f"127.0.0.1:{server.port}", wanted)
    vertical = [each.values[0, 2] for each in read_all(stream, 2 * len(rows)) if each.kind == "plates"]
    stream.close()
    server.close()
    assert np.isnan(vertical[:-1]).all() and vertical[-1] == 700.0


def test_a_qtm_that_vanishes_is_looked_for_until_it_is_back(live):
    rows = np.zeros((len(live.plates), 9))
    frames = [data(1, 1.0, np.full((len(live.markers), 3), 5.0), rows)]
    server = Qtm(settings(list(live.markers), len(live.plates)), frames, again=True)
    stream = QualisysStream(f"127.0.0.1:{server.port}", Wanted.from_live(live))
    found = read_all(stream, 4)
    assert [reading.kind for reading in found] == [
        "plates",
        "markers",
    ] * 2 and "vanished once" in stream.remarks[0]
    stream.close()
    server.close()


@pytest.mark.parametrize(
    ("names", "plates", "code"), [(slice(1, None), 0, "missing_marker"), (slice(None), 1, "conflict")]
)
def test_another_marker_set_or_other_plates_are_refused(live, names, plates, code):
    server = Qtm(settings(list(live.markers)[names], len(live.plates) + plates), [])
    with refused(code):
        QualisysStream(f"127.0.0.1:{server.port}", Wanted.from_live(live))
    server.close()


def test_where_no_qtm_is_nothing_begins(live):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with refused("no_stream", str(port)):
        QualisysStream(f"127.0.0.1:{port}", Wanted.from_live(live))
    for address in ("", "host:port", "host/world", "127.0.0.1:99999", "127.0.0.1:0"):
        with refused("bad_value"):
            open_stream(f"qualisys:{address}", Wanted.from_live(live))
