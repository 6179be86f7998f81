"""Labels of a recording or model beside the labels of every result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from musclesolve._util.arrays import Array
from musclesolve.settings.trial import REDUCED

if TYPE_CHECKING:  # both load the analysis
    from musclesolve.pipeline.mechanics import MotionChange
    from musclesolve.results.dataset.skeleton import Variable

DIRECTIONS = ("axial", "anterior", "medial")
"""Directions of `contact_force_component`: to the distal end of the segment (compression), forward, medial."""
SEGMENT_OF = {"hip": "thigh", "knee": "shank", "ankle": "shank"}
"""Segment whose axes define the components at a joint."""
MEDIAL = {"r": 1.0, "l": -1.0}
"""Sign of the medial direction relative to left: the median plane is on the left of the right leg."""
COMPONENTS = [f"{kind}_{axis}" for kind in ("force", "moment") for axis in "xyz"]
"""Components of the residual at the base."""


@dataclass(frozen=True, eq=False)
class Labels:
    """Variables, coordinates and attributes beside the labels of every result.

    segment_axes: by joint the unit vectors of `DIRECTIONS` in the axes of the
    laboratory, (T, 3, 3). notes: sentences for the reader. translates: whether a degree of freedom is a translation.
    """

    variables: dict[str, Variable]
    coordinates: dict[str, object]
    attributes: dict[str, object]
    notes: list[str]
    segment_axes: dict[str, Array] = field(default_factory=dict)
    translates: bool = False


def change_attributes(change: MotionChange, largest_mm: float) -> dict[str, object]:
    """Attributes of a result whose motion was changed for a smaller residual; largest_mm: the stated bound."""
    return {
        "consistency_residual": REDUCED,
        "largest_motion_change_m": float(change.change.max()),
        "largest_motion_change_allowed_m": 1e-3 * largest_mm,
        "mass_balancing_forces_kg": change.carried,
    }
