"""C3D files written with ezc3d, and force plates inverted on paper: what their channels would have measured.

Nothing here uses the package's own conversion: a plate is given by its own axes, and its channels follow from force,
center of pressure and free moment by moving the moment to the transducers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import ezc3d
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# A matrix that mixes all channels, with entries that 32 bits hold exactly.
MATRIX = np.diag([2.0, 2.0, 4.0, 500.0, 400.0, 250.0]) + np.outer(np.arange(6), np.ones(6)) / 64.0


@dataclass(frozen=True)
class PlateOnPaper:
    """A plate: type, middle of its surface [m], axes as columns (3, 3), half edges along x and y [m], ORIGIN [mm]."""

    kind: int
    center: tuple[float, float, float]
    axes: Array
    half: tuple[float, float] = (0.25, 0.3)
    origin: tuple[float, float, float] = (2.0, -1.0, -40.0)
    matrix: Array = field(default_factory=lambda: MATRIX)

    @property
    def corners(self) -> Array:
        """(4, 3) [m], in the quadrants ++, -+, --, +- of its axes."""
        signs = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
        return np.array(self.center) + (signs * self.half) @ self.axes[:, :2].T

    def channels(self, force: Array, point: Array, free: Array) -> Array:
        """Return the channels of the plate, in N and N mm, under a force (S, 3) [N] at a point [m] and a free moment [N
        m].
        """
        f = force @ self.axes
        from_middle = 1000.0 * (point - np.array(self.center)) @ self.axes
        torque = 1000.0 * free @ self.axes
        if self.kind == 1:
            return np.column_stack([f, from_middle[:, :2], torque[:, 2]])
        if self.kind == 3:
            return self._corners_of_force(f, from_middle, torque)
        # ORIGIN leads from the transducers to the middle of the surface.
        moment = np.cross(from_middle + np.array(self.origin), f) + torque
        loads = np.column_stack([f, moment])
        return loads if self.kind == 2 else np.linalg.solve(self.matrix, loads.T).T

    def _corners_of_force(self, f: Array, from_middle: Array, torque: Array) -> Array:
        a, b, depth = self.origin
        moment = np.cross(from_middle + np.array([0.0, 0.0, depth]), f) + torque
        quarter, roll, pitch = f[:, 2] / 4.0, moment[:, 0] / (4.0 * b), moment[:, 1] / (4.0 * a)
        # The yaw moment is shared by the two pairs, half each.
        x = moment[:, 2] / (4.0 * b)
        y = moment[:, 2] / (4.0 * a)
        return np.column_stack(
            [
                f[:, 0] / 2.0 - x,
                f[:, 0] / 2.0 + x,
                f[:, 1] / 2.0 + y,
                f[:, 1] / 2.0 - y,
                quarter + roll - pitch,
                quarter + roll + pitch,
                quarter - roll + pitch,
                quarter - roll - pitch,
            ]
        )


def write_c3d(
    path: Path,
    rate: float,
    names: list[str],
    points: Array,
    plates: list[PlateOnPaper] | None = None,
    channels: list[Array] | None = None,
    samples: int = 1,
    *,
    unit: str = "mm",
    change=None,
) -> Path:
    """Write a C3D file with ezc3d.

    Args:
        path: the file.
        rate: frames per second [Hz].
        names: n marker names.
        points: (T, n, 3) in the unit, NaN where lost.
        plates: its plates.
        channels: what each of them measures, (T x samples, 6 or 8).
        samples: samples in a frame.
        unit: POINT:UNITS.
        change: called with the ezc3d object before it is written.
    """
    file = ezc3d.c3d()
    frames = len(points)
    homogeneous = np.ones((4, len(names), frames))
    homogeneous[:3] = np.moveaxis(points, 0, -1).transpose(1, 0, 2)
    file["data"]["points"] = homogeneous
    point = file["parameters"]["POINT"]
    point["LABELS"]["value"], point["RATE"]["value"], point["UNITS"]["value"] = names, [rate], [unit]
    if plates:
        assert channels is not None
        own = [np.arange(c.shape[1]) for c in channels]
        first = np.cumsum([0, *(len(c) for c in own)])
        table = np.zeros((max(len(c) for c in own), len(plates)), int)
        for k, places in enumerate(own):
            table[: len(places), k] = first[k] + places + 1
        file["data"]["analogs"] = np.concatenate(channels, axis=1).T[None]
        analog = file["parameters"]["ANALOG"]
        analog["RATE"]["value"] = [rate * samples]
        analog["LABELS"]["value"] = [f"channel {k + 1}" for k in range(first[-1])]
        group = file["parameters"]["FORCE_PLATFORM"]
        group["USED"]["value"] = [len(plates)]
        group["TYPE"]["value"] = [plate.kind for plate in plates]
        group["CHANNEL"]["value"] = table
        group["CORNERS"]["value"] = np.stack([1000.0 * plate.corners.T for plate in plates], axis=2)
        group["ORIGIN"]["value"] = np.array([plate.origin for plate in plates]).T
        group["CAL_MATRIX"]["value"] = np.stack([plate.matrix for plate in plates], axis=2)
    if change:
        change(file)
    file.write(str(path))
    return path


def vax(number: float) -> bytes:
    """A number as DEC wrote it: sign, 8 bits of exponent in excess of 128, mantissa 0.1..., halves exchanged."""
    if number == 0.0:
        return bytes(4)
    mantissa, exponent = np.frexp(abs(number))
    bits = (int(number < 0.0) << 31) | (int(exponent) + 128 << 23) | (round(float(mantissa) * 2**24) - 2**23)
    high, low = bits >> 16, bits & 0xFFFF
    return high.to_bytes(2, "little") + low.to_bytes(2, "little")


@dataclass(frozen=True)
class Machine:
    """Notation of numbers of a processor: Intel (84), DEC (85), MIPS (86)."""

    processor: int

    def integer(self, number: int) -> bytes:
        return (number % 0x10000).to_bytes(2, "big" if self.processor == 86 else "little")

    def real(self, number: float) -> bytes:
        if self.processor == 85:
            return vax(number)
        return np.array(number, (">" if self.processor == 86 else "<") + "f4").tobytes()


def handmade(
    processor: int, points: Array, rate: float, scale: float, analog: Array, *, first: int = 1
) -> bytes:
    """A C3D file byte by byte, after the description of the format.

    Args:
        processor: 84, 85 or 86.
        points: (T, n, 4) as they are stored.
        rate: frames per second [Hz].
        scale: negative where numbers are stored as reals.
        analog: (T, s, k) as they are stored.
        first: number of the first frame.
    """
    machine = Machine(processor)
    frames, count = points.shape[:2]
    samples, channels = analog.shape[1:]

    def record(group: int, name: str, body: bytes) -> bytes:
        return bytes([len(name), group % 256]) + name.encode() + machine.integer(len(body) + 2) + body

    def integers(*numbers: int) -> bytes:
        return bytes([2, 1, len(numbers)]) + b"".join(machine.integer(n) for n in numbers) + b"\0"

    def reals(*numbers: float) -> bytes:
        return bytes([4, 1, len(numbers)]) + b"".join(machine.real(n) for n in numbers) + b"\0"

    def texts(*words: str) -> bytes:
        return bytes([255, 2, 8, len(words)]) + b"".join(w.ljust(8).encode() for w in words) + b"\0"

    records = [
        record(-1, "POINT", b"\0"),
        record(1, "USED", integers(count)),
        record(1, "SCALE", reals(scale)),
        record(1, "RATE", reals(rate)),
        record(1, "DATA_START", integers(4)),
        record(1, "FRAMES", integers(frames)),
        record(1, "LABELS", texts(*(f"M{k}" for k in range(count)))),
        record(1, "UNITS", texts("mm")),
        record(-2, "ANALOG", b"\0"),
        record(2, "USED", integers(channels)),
        record(2, "RATE", reals(rate * samples)),
        record(2, "GEN_SCALE", reals(1.0)),
        record(2, "SCALE", reals(*[0.5] * channels)),
        record(2, "OFFSET", integers(*[7] * channels)),
        record(2, "LABELS", texts(*(f"A{k}" for k in range(channels)))),
    ]
    parameters = (bytes([1, 0x50, 2, processor]) + b"".join(records)).ljust(1024, b"\0")
    words = [count, channels * samples, first, first + frames - 1, 0]
    header = b"\x02\x50" + b"".join(machine.integer(w) for w in words) + machine.real(scale)
    header += machine.integer(4) + machine.integer(samples) + machine.real(rate)
    write = machine.real if scale < 0.0 else lambda number: machine.integer(int(number))
    stored = np.concatenate([points.reshape(frames, -1), analog.reshape(frames, -1)], axis=1)
    data = b"".join(write(float(number)) for number in stored.ravel())
    return header.ljust(512, b"\0") + parameters + data.ljust(-(-len(data) // 512) * 512, b"\0")
