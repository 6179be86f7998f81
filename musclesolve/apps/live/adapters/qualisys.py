"""Qualisys Track Manager: labeled markers and force plates by its real-time protocol.

QTM sends, for every frame, its time [us], the positions of the labeled markers in the order of its settings [mm], NaN
where hidden, and the newest force of every plate: force [N], moment about its point [N m], point [mm] (components `3d`
and `forcesingle`, docs.qualisys.com/qtm-rt-protocol). Forces are in the axes of the laboratory, or, with the address
HOST/plate, in the axes of each plate, which its corners give: with C1, C2, C3, C4 the corners in the settings and C
their middle,

    x = (C1 - C2) / |C1 - C2|,   z = x (C1 - C4) / |...|,   y = z x x,   p = C + R p_plate,   R = [x y z].

The stream does not state the axes, nor whether the force acts on the foot or on the plate. Several readings of a loaded
plate show both: the point lies on the plate, and the ground pushes upward. A single reading may be a knock or a spike.
"""

import asyncio
import xml.etree.ElementTree as ET
from time import perf_counter

import numpy as np
import qtm_rt

from musclesolve._util.arrays import Array
from musclesolve._util.messages import few, often
from musclesolve.apps.live.joining import Reading, Wanted
from musclesolve.errors import input_error
from musclesolve.laboratory.markers.marker_names import without_one_person
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.tables.document import validated

CONNECTED_WITHIN = 5.0
"""Time to wait for an answer of QTM [s]."""
SURE = 100.0
"""Vertical force from which the sense of the force and its point are examined [N]."""
READINGS = 3
"""Number of successive readings that have to agree."""
OFF_PLATE = 0.1
"""Largest distance of the point of a force beside its plate [m]."""
MM = 0.001


class QualisysStream:
    """Readings of the frames that QTM measures, or plays with real-time output.

    Args:
        address: HOST, HOST:PORT or HOST/plate; the port is 22223 unless stated.
        wanted: what the readings shall be.
    """

    def __init__(self, address: str, wanted: Wanted) -> None:
        place, _, frame = address.partition("/")
        host, _, port = place.partition(":")
        self.clock, self._wanted, self._local = f"qualisys:{place}", wanted, frame == "plate"
        self._filter = validated(wanted.live.document, RecordedSettings).filter
        self._host, self._port, self._vanished = host, int(port or 22223), 0
        self._loop = asyncio.new_event_loop()
        self._connection: qtm_rt.QRTConnection | None = None
        self._packets: asyncio.Queue[tuple[qtm_rt.QRTPacket | None, float]] = asyncio.Queue()
        try:
            if not self._loop.run_until_complete(self._connect()):
                raise input_error(
                    "no_stream",
                    where="--from",
                    problem=f"there is no QTM at {host}, port {self._port}",
                    expected="QTM with a measurement that is open, or a file played with real-time output",
                    remedy="start it, and look up host and port in its options, Real-Time Output",
                )
        except BaseException:
            self.close()
            raise

    async def _connect(self) -> bool:
        """Connect, read the settings and let QTM send; False where nobody answers."""
        try:
            connecting = qtm_rt.connect(self._host, self._port, on_disconnect=lambda _: self._note(None))
            connection = await asyncio.wait_for(connecting, CONNECTED_WITHIN)
        except TimeoutError:
            return False
        if connection is None:
            return False
        self._connection = connection
        try:
            self._read_settings(ET.fromstring(await connection.get_parameters(["3d", "force"])))
            components = ["3d", "forcesingle"] if len(self._corners) else ["3d"]
            await connection.stream_frames(components=components, on_packet=self._note)
        except (qtm_rt.QRTCommandException, TimeoutError) as error:
            raise input_error(
                "no_stream",
                where="--from",
                problem=f"QTM at {self._host} does not send: {error}",
                remedy="open a measurement in QTM; its real-time actions track markers and calculate forces",
            ) from None
        return True

    def _read_settings(self, settings: ET.Element) -> None:
        """The places of the markers among the labels of QTM, and the corners of its plates (P, 4, 3) [m]."""
        live = self._wanted.live
        labels = [label.findtext("Name") or "" for label in settings.iterfind("./The_3D/Label")]
        labels = without_one_person(labels, live.markers)
        if missing := [name for name in live.markers if name not in {*labels, *live.optional}]:
            raise input_error(
                "missing_marker",
                where=f"qualisys:{self._host}",
                problem=f"QTM has no marker '{missing[0]}'",
                expected=f"the markers of the trial file; QTM has {few(labels, 24)}",
                remedy="apply the AIM model of this marker set in the real-time actions of QTM",
            )
        self._labels = len(labels)
        # -1: the last position, behind those of the labels, is of what no label has
        self._columns = np.array([labels.index(name) if name in labels else -1 for name in live.markers])
        # a session whose ground reactions are predicted reads no plates
        plates = settings.findall("./Force/Plate") if live.plates else []
        if plates and len(plates) != len(live.plates):
            raise input_error(
                "conflict",
                where=f"qualisys:{self._host}",
                problem=f"{len(plates)} plates in QTM, {len(live.plates)} in the trial file",
                expected="as many plates",
                remedy="state the foot on each plate of QTM, in their order: "
                f"{' '.join(map(str, ['--plate auto'] * len(plates)))}",
            )
        self._corners = (
            np.array(
                [
                    [
                        [float(plate.findtext(f"./Location/Corner{k}/{axis}") or "nan") for axis in "XYZ"]
                        for k in range(1, 5)
                    ]
                    for plate in plates
                ]
            ).reshape(-1, 4, 3)
            * MM
        )
        self._sense = np.zeros(len(plates))  # 1: force on the foot, -1: on the plate, 0: not known yet
        # so many readings since the last other one point up, below zero: down
        self._upward = np.zeros(len(plates))
        self._beside = np.zeros(len(plates))  # readings with the point beside the plate, since the last other

    def _note(self, packet: qtm_rt.QRTPacket | None) -> None:
        self._packets.put_nowait((packet, perf_counter()))

    def read(self, timeout: float) -> list[Reading]:
        """See Stream."""
        return self._loop.run_until_complete(self._read(timeout))

    async def _read(self, timeout: float) -> list[Reading]:
        if self._connection is None:
            if not await self._connect():
                await asyncio.sleep(timeout)
            return []
        try:
            packet, received = await asyncio.wait_for(self._packets.get(), timeout)
        except TimeoutError:
            return []
        if packet is None:
            self._connection, self._vanished = None, self._vanished + 1
            return []
        return self._readings(packet, received)

    def _readings(self, packet: qtm_rt.QRTPacket, received: float) -> list[Reading]:
        """The readings of a frame."""
        time, readings = 1e-6 * packet.timestamp, list[Reading]()
        if (part := packet.get_force_single()) is not None and len(part[1]) == len(self._corners):
            numbers = np.array([force for _, force in part[1]], float).reshape(-1, 3, 3)
            readings.append(Reading("plates", time, self._forces(numbers[:, [0, 2, 1]]), received))
        if (part := packet.get_3d_markers()) is not None and self._connection is not None:
            if len(part[1]) != self._labels:  # another marker set: connect again, and read the settings
                self._connection.disconnect()
                return []
            position = np.array([*part[1], (np.nan, np.nan, np.nan)], float)[self._columns]
            readings.append(Reading("markers", time, self._wanted.markers(position, MM), received))
        return readings

    def _forces(self, numbers: Array) -> Array:
        """Plates (P, 9) in the global frame from force [N], point [mm] and moment [N m] (P, 3, 3) as QTM sends them."""
        numbers = numbers * np.array([1.0, MM, 1.0])[:, None]
        middle = self._corners.mean(axis=1)
        if self._local:
            x = self._corners[:, 0] - self._corners[:, 1]
            x /= np.linalg.norm(x, axis=1, keepdims=True)
            z = np.cross(x, self._corners[:, 0] - self._corners[:, 3])
            z /= np.linalg.norm(z, axis=1, keepdims=True)
            numbers = numbers @ np.stack([x, np.cross(z, x), z], axis=1)
            numbers[:, 1] += middle
        plates = self._wanted.plates(numbers)
        self._look(plates, middle)
        # the result of one plate holds for another until that plate shows its own
        shown = np.unique(self._sense[self._sense != 0.0])
        sense = np.where(self._sense == 0.0, shown[0] if len(shown) == 1 else 0.0, self._sense)
        unknown = (sense == 0.0) & (np.abs(plates[:, 2]) > self._filter.unloaded_below_n)
        plates[:, [0, 1, 2, 6, 7, 8]] *= np.where(sense == 0.0, 1.0, sense)[:, None]
        plates[unknown] = np.nan
        return plates

    def _look(self, plates: Array, middle: Array) -> None:
        """Count the directions of forces of unknown sense, and refuse forces that act beside their plates.

        Such forces are in other axes than stated. plates (P, 9) in the global frame, middle (P, 3) of the plates [m].
        """
        loaded = (np.abs(plates[:, 2]) > SURE) & (self._sense == 0.0)
        corners = (self._corners - middle[:, None]) @ self._wanted.rotation.T
        away = plates[:, 3:5] - (middle @ self._wanted.rotation.T)[:, :2]
        beside = (np.abs(away) > (np.abs(corners).max(axis=1)[:, :2] + OFF_PLATE)).any(axis=1)
        self._beside[loaded] = np.where(beside, self._beside + 1.0, 0.0)[loaded]
        if (self._beside >= READINGS).any():
            number = int(np.argmax(self._beside))
            other = f"{self._host}" if self._local else f"{self._host}/plate"
            axes = "each plate" if self._local else "the laboratory"
            raise input_error(
                "bad_plate",
                where=f"qualisys:{self._host}",
                problem=f"the center of pressure is {np.linalg.norm(away[number]):.2f} m from the "
                f"middle of plate {number + 1}",
                expected=f"forces in the axes of {axes}",
                remedy=f"--from qualisys:{other}, or correct the corners of the plate in QTM",
            )
        up, loaded = np.sign(plates[:, 2]), loaded & ~beside
        again = np.sign(self._upward) == up
        self._upward[loaded] = np.where(again, self._upward + up, up)[loaded]
        self._sense = np.where(np.abs(self._upward) >= READINGS, np.sign(self._upward), self._sense)

    @property
    def remarks(self) -> list[str]:
        """See Stream."""
        return [f"QTM vanished {often(self._vanished)}."] if self._vanished else []

    def close(self) -> None:
        """See Stream."""
        if self._connection is not None and self._connection.has_transport():
            self._connection.disconnect()
        self._loop.run_until_complete(asyncio.sleep(0.0))  # the transport closes in the next turn of the loop
        self._loop.close()
