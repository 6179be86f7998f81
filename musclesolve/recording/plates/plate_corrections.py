"""Corrections of measured ground forces by [plates] of a trial file: clock, point, vertical force, free moment.

    t' = t + offset        p' = p + shift        Fz' = gain (Fz - zero) while the plate is loaded

The results state each change in a sentence, so that a measured force never changes without notice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.data import PlateForce
from musclesolve.recording.plates.foot_forces import later
from musclesolve.recording.schema import Document
from musclesolve.settings.trial import RecordedSettings


def plate_numbers(forces: tuple[PlateForce, ...]) -> list[int]:
    """Return the number of each plate for [plates]: its number in the C3D file, else the place of its [[force]]."""
    return [place if plate.number is None else plate.number for place, plate in enumerate(forces, start=1)]


def corrected_plates(
    document: Document, settings: RecordedSettings, forces: tuple[PlateForce, ...], rotation: Array
) -> tuple[tuple[PlateForce, ...], tuple[str, ...]]:
    """Return the plates with the corrections of [plates], and a sentence on every correction.

    Args:
        document: the trial file.
        settings: its tables, with defaults.
        forces: the recorded plates, global frame.
        rotation: (3, 3) from the axes of the files to the global frame.
    """
    table, numbers = settings.plates, plate_numbers(forces)
    by_plate = {key: table[key] or {} for key in ("shift_mm", "vertical_gain", "vertical_zero_n")}
    texts = [str(number) for number in dict.fromkeys(numbers)]
    for key, values in by_plate.items():
        document.check_known(values, "there is no plate", texts, "plates", key)
    shift, gain, zero = by_plate.values()
    corrected = []
    for number, plate in zip(map(str, numbers), forces, strict=True):
        point = plate.point + 0.001 * rotation @ np.array(shift.get(number, (0.0, 0.0, 0.0)))
        loaded = np.abs(plate.force[:, 2]) >= settings.filter.unloaded_below_n
        force = plate.force.copy()
        force[loaded, 2] = gain.get(number, 1.0) * (force[loaded, 2] - zero.get(number, 0.0))
        moment, shown = plate.moment, plate.force if plate.unloaded is None else plate.unloaded
        if number in zero:
            plate = replace(plate, unloaded=shown - np.array([0.0, 0.0, zero[number]]))
        if table.free_moment == "zero" or plate.moment_fault:
            # The horizontal part belongs to the point.
            fault = "" if table.free_moment == "zero" else plate.moment_fault
            plate, moment = replace(plate, moment_fault=fault), moment * [1.0, 1.0, 0.0]
        corrected.append(later(replace(plate, force=force, point=point, moment=moment), table.offset_s))
    unmeasured: tuple[str, ...] = ("The free moment of all plates is set to zero.",)
    if table.free_moment != "zero":
        unmeasured = unmeasured_free_moments(forces)
    return tuple(corrected), (*unmeasured, *_sentences(table.offset_s, shift, gain, zero))


def unmeasured_free_moments(forces: tuple[PlateForce, ...]) -> tuple[str, ...]:
    """Return a sentence on every plate whose free moment is set to zero, because its channel is wrong."""
    faults = dict.fromkeys((plate.number, plate.moment_fault) for plate in forces if plate.moment_fault)
    return tuple(f"The free moment of plate {number} is set to zero: {fault}." for number, fault in faults)


def _sentences(
    offset: float, shift: Mapping[str, list[float]], gain: Mapping[str, float], zero: Mapping[str, float]
) -> Iterator[str]:
    if offset:
        yield f"The clock of the plates was corrected: {1000.0 * offset:+.1f} ms were added to their times."
    for number, (x, y, z) in shift.items():
        yield (
            f"The center of pressure of plate {number} was shifted by {np.linalg.norm([x, y, z]):.1f} mm: "
            f"{x:+.1f}, {y:+.1f}, {z:+.1f} mm along x, y, z of the files."
        )
    for number, factor in gain.items():
        yield f"The vertical force of plate {number} was multiplied by {factor:g}."
    for number, force in zero.items():
        yield f"{force:g} N were taken off the vertical force of plate {number} while it is loaded."
