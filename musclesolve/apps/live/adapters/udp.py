"""Samples and frames as JSON, one in a datagram; docs/live.md shows both by example.

A sample has `time` [s] and any of `markers`, `plates` and `emg`. Everything is checked: a datagram that is no sample is
counted by its fault, and nothing of it is used.
"""

import json
import logging
import socket
from collections import Counter
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.messages import as_text, few
from musclesolve.apps.live.joining import Reading, Wanted
from musclesolve.apps.live.live import Frame, Live
from musclesolve.apps.live.stream import STATUS_NAMES, Arrival
from musclesolve.errors import input_error
from musclesolve.laboratory.markers.marker_names import without_one_person
from musclesolve.tables.units import meters_in

LOG = logging.getLogger("musclesolve")
VERSION = 1
"""Version of the datagrams, under the key "musclesolve"."""
LOCAL = "127.0.0.1"
LARGEST_DATAGRAM = 65536
"""Bytes of the largest datagram."""
BUFFER = 1 << 22
"""Size of the buffer of the system while nobody reads [bytes]."""
NAMES_EVERY = 1.0
"""Interval at which the names are sent again, for programs that start to listen later [s]."""
FAULTS = 100
"""Largest number of distinguished kinds of faults."""
REPORTED = 100
"""Number of datagrams that are no samples, at which they are reported while the session goes on: a second of most."""
VECTORS = ("force", "point", "moment")


class Malformed(ValueError):
    """A datagram is no sample; the message names the fault."""


def address_of(text: str) -> tuple[str, int]:
    """Host and port of "5005", "192.168.0.7:5005" or "[::1]:5005"; the host is this machine unless stated."""
    host, _, port = text.rpartition(":")
    return host.strip("[]") or LOCAL, int(port)


def socket_of(host: str, port: int, option: str) -> tuple[socket.socket, Any]:
    """A datagram socket for an address, and the address as the system writes it."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    except OSError as error:
        problem, remedy = f"the host '{host}' is not known: {error}", "state its number, such as 192.168.0.7"
        raise input_error("no_stream", where=option, problem=problem, remedy=remedy) from None
    return socket.socket(family, kind, protocol), place


class UdpStream:
    """Readings from the datagrams that arrive at a port.

    Args:
        address: port, or host and port of the network card to listen to; 0.0.0.0 is all of them.
        wanted: what the readings shall be.

    Attributes:
        port: where it listens.
        malformed: number of datagrams that were no samples, by fault.
    """

    def __init__(self, address: str, wanted: Wanted) -> None:
        host, self.port = address_of(address)
        self.clock = f"udp:{self.port}"
        self._wanted, self._names = wanted, tuple[str, ...]()
        self.malformed: Counter[str] = Counter()
        self._socket, place = socket_of(host, self.port, "--from")
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
            self._socket.bind(place)
        except OSError as error:
            self._socket.close()
            raise input_error(
                "no_stream",
                where="--from",
                problem=f"nothing can be received at {host}, port {self.port}: {error.strerror}",
                expected="an address of this machine and a port that no other program has",
                remedy="state another port, or end the program that has it",
            ) from None

    def read(self, timeout: float) -> list[Reading]:
        """See Stream."""
        self._socket.settimeout(timeout)
        try:
            data = self._socket.recv(LARGEST_DATAGRAM)
        except TimeoutError:
            return []
        try:
            return self._readings(data, perf_counter())
        except Malformed as error:
            known = str(error) in self.malformed or len(self.malformed) < FAULTS
            self.malformed[str(error) if known else "other faults"] += 1
            if self.malformed.total() == REPORTED:
                LOG.warning("%s: %s", self.clock, " ".join(self.remarks))
            return []

    @property
    def remarks(self) -> list[str]:
        """See Stream."""
        return [f"{count} datagrams were left out: {what}." for what, count in self.malformed.most_common(5)]

    def close(self) -> None:
        """See Stream."""
        self._socket.close()

    def _readings(self, data: bytes, received: float) -> list[Reading]:
        """The readings of a datagram, after a check of its content.

        Raises:
            Malformed: it is no sample.
        """
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            raise Malformed("no JSON") from None
        if not isinstance(content, dict) or content.get("musclesolve") != VERSION:
            raise Malformed(f'no "musclesolve": {VERSION}')
        if "names" in content:
            names = content["names"]
            if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
                raise Malformed("names that are no list of texts")
            self._names = tuple(names)
            if "time" not in content:
                return []
        (time,) = _numbers([content.get("time")], 1, "time")
        if not np.isfinite(time):
            raise Malformed("no time")
        meters = meters_in(str(content.get("unit", "m")))
        if meters is None:
            raise Malformed(f"the unit {as_text(content['unit'])}")
        made = {
            kind: make(content[kind], meters)
            for kind, make in (("plates", self._plates), ("emg", self._emg), ("markers", self._markers))
            # a session whose ground reactions are predicted reads no plates
            if content.get(kind) is not None and (kind != "plates" or self._wanted.live.plates)
        }
        return [Reading(kind, time, values, received) for kind, values in made.items()]

    def _markers(self, content: object, meters: float) -> Array:
        """Markers (n, 3) [m], by name, or in the order of the names that were sent; NaN of those that are hidden."""
        if isinstance(content, list):
            if len(content) != len(self._names):
                raise Malformed(f"{len(content)} markers without names, {len(self._names)} names before")
            content = dict(zip(self._names, content, strict=True))
        if not isinstance(content, dict):
            raise Malformed("markers that are neither an object nor a list")
        wanted = self._wanted.live.markers
        if not any(name in content for name in wanted):
            content = dict(zip(without_one_person(content, wanted), content.values(), strict=True))
        if not any(name in content for name in wanted):
            raise Malformed(f"the markers are {few(map(as_text, content)) or 'none'}, not {few(wanted)}")
        rows = [_numbers(content.get(name), 3, f"the marker {name}") for name in wanted]
        return self._wanted.markers(rows, meters)

    def _plates(self, content: object, meters: float) -> Array:
        """Plates (P, 9), in their order; NaN of those that are null."""
        count = len(self._wanted.live.plates)
        if not isinstance(content, list) or len(content) != count:
            raise Malformed(f"plates that are no list of {count}")
        rows = []
        for number, plate in enumerate(content, start=1):
            plate = dict.fromkeys(VECTORS) if plate is None else plate
            if not isinstance(plate, Mapping) or "force" not in plate or "point" not in plate:
                raise Malformed(f"plate {number} without force and point")
            plate = {"moment": [0.0, 0.0, 0.0], **plate}
            rows.append(
                [x for name in VECTORS for x in _numbers(plate[name], 3, f"{name} of plate {number}")]
            )
        return self._wanted.plates(rows, meters)

    def _emg(self, content: object, meters: float) -> Array:
        """Envelopes (k,) by the names of the channels; NaN of those that are missing."""
        if not isinstance(content, Mapping):
            raise Malformed("emg that is no object")
        channels = self._wanted.live.channels
        return np.array([_numbers([content.get(name)], 1, f"the channel {name}")[0] for name in channels])


def _numbers(values: object, count: int, name: str) -> Sequence[float]:
    """A list of `count` numbers, with NaN for null.

    Raises:
        Malformed: something else.
    """
    if values is None:
        return [np.nan] * count
    kinds = (int, float, type(None))  # a boolean is no number
    if not isinstance(values, list) or len(values) != count or any(type(x) not in kinds for x in values):
        raise Malformed(f"{name} is no list of {count} numbers")
    try:
        return [np.nan if value is None else float(value) for value in values]
    except OverflowError:
        raise Malformed(f"{name} is too large") from None


class UdpSink:
    """Frames as datagrams to an address, the names of their numbers before them.

    Args:
        address: port of this machine, or host and port.
    """

    def __init__(self, address: str) -> None:
        self._socket, self._place = socket_of(*address_of(address), "--to")
        self._names, self._sent = b"", -np.inf
        self._failed: Counter[str] = Counter()

    def begin(self, live: Live) -> None:
        """See Sink."""
        names = {name: list(getattr(live, name)) for name in ("muscles", "dofs", "joints", "sides")}
        self._names = _datagram({"kind": "names", **names, "lag": live.lag, "rate": live.rate})

    def take(self, arrival: Arrival, frame: Frame) -> None:
        """See Sink."""
        if arrival.received - self._sent > NAMES_EVERY:
            self._sent = arrival.received
            self._send(self._names)
        content = {
            "kind": "frame",
            "time": round(frame.time, 6),
            "sample_time": round(arrival.sample.time, 6),
            "valid": frame.valid.tolist(),
            "status": [STATUS_NAMES[int(status)] for status in frame.status],
            "gap": _plain(frame.gap),
            "force": _plain(frame.force),
            "activation": _plain(frame.activation),
            "joint_reaction": [_plain(force) for force in frame.joint_reaction],
            "moment": _plain(frame.moment),
            "angle": _plain(frame.angle),
            "notes": list(frame.notes),
            "latency": round(perf_counter() - arrival.received, 6),
        }
        self._send(_datagram(content))

    def close(self) -> None:
        """See Sink."""
        self._socket.close()

    @property
    def remarks(self) -> list[str]:
        """Datagrams that the system did not send, by its reason."""
        return [
            f"{count} datagrams to {self._place[0]}, port {self._place[1]} could not be sent: {reason}"
            for reason, count in self._failed.items()
        ]

    def _send(self, data: bytes) -> None:
        """Send a datagram; without a listener, or if the system fails, it is lost and the session continues."""
        try:
            self._socket.sendto(data, self._place)
        except ConnectionRefusedError:  # the answer to an earlier one
            pass
        except OSError as error:
            reason = error.strerror or str(error)
            if not self._failed[reason]:
                LOG.warning("a frame could not be sent to udp:%s:%s: %s", *self._place[:2], reason)
            self._failed[reason] += 1


def _datagram(content: Mapping[str, Any]) -> bytes:
    return json.dumps({"musclesolve": VERSION, **content}, allow_nan=False, separators=(",", ":")).encode()


def _plain(values: Array) -> list[float | None]:
    """Numbers of six digits, None in the place of NaN."""
    return [float(f"{value:.6g}") if value == value else None for value in values.tolist()]
