"""The units of the channels of a force plate, as ANALOG:UNITS states them for each."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.recording.c3d.c3d_file import C3D, length_in
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.units import newton_metres_in, newtons_in, plain_unit

# An avoirdupois pound is 0.45359237 kg, times standard gravity.
_POUND = 0.45359237 * STANDARD_GRAVITY
_POUNDS = {pound: _POUND for pound in ("lbf", "lb", "lbs")}
_POUND_LENGTHS = {
    first + second: _POUND * metres
    for pound in _POUNDS
    for length, metres in (("in", 0.0254), ("ft", 0.3048))
    for first, second in ((pound, length), (length, pound))
}
# Units that do not state the quantity of the channel: none, or that of the amplifier.
_NO_QUANTITY = {"", "v", "mv", "uv", "μv", "volt", "volts", "bit", "bits", "count", "counts"}
_FORCE, _LENGTH, _MOMENT = (["force"] * 3, ["length"] * 2, ["moment"] * 3)
_CHANNELS = {1: _FORCE + _LENGTH + _MOMENT[:1], 2: _FORCE + _MOMENT, 3: ["force"] * 8, 4: _FORCE + _MOMENT}


def si_factors(file: C3D, number: int, kind: int, channels: list[int]) -> Array:
    """Return the factors (k,) that turn the channels of a plate (types 1 to 4) into N, m and N m.

    For type 4 they apply behind CAL_MATRIX. A channel without a unit of its own quantity is in newtons, in the unit of
    length of the file, or in newtons times that.
    """
    default = {"force": 1.0, "length": file.metres, "moment": file.metres}
    stated, factors = file.analog_units(), []
    for channel, quantity in zip(channels, _CHANNELS[kind], strict=True):
        unit = stated[channel]
        sizes = {"force": _force_in(unit), "length": length_in(unit), "moment": _moment_in(unit)}
        if plain_unit(unit) not in _NO_QUANTITY and not any(sizes.values()):
            problem = f"channel {channel + 1}, of plate {number}, is in '{stated[channel]}'"
            expected = {"force": "N or kN", "length": "mm or m", "moment": "Nmm or Nm"}[quantity]
            remedy = "state the unit in the capture software, or export the forces as MOT or STO"
            raise error_at(file.path, "ANALOG:UNITS", problem, expected, remedy, code="unknown_unit")
        factors.append(sizes[quantity] or default[quantity])
    return np.array(factors)


def _force_in(unit: str) -> float | None:
    size = newtons_in(unit)
    return _POUNDS.get(plain_unit(unit)) if size is None else size


def _moment_in(unit: str) -> float | None:
    size = newton_metres_in(unit)
    return _POUND_LENGTHS.get(plain_unit(unit)) if size is None else size
