"""What a result says of the knees alone: medial and lateral contact force."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import SIDE_NAMES, side_of
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.knee_contact import compartments
from musclesolve.results.dataset.labels import Labels

COMPARTMENTS = ("medial", "lateral")


def knee_labels(analysis: Analysis, segment_axes: dict[str, Array]) -> Labels:
    """Variables over time and side, NaN for a side without a knee; how far the contacts are apart, and where they lift.

    Empty where no force at a knee is known.
    """
    spacing = {
        joint: apart
        for joint, apart in analysis.body.contact_spacing.items()
        if joint in segment_axes and side_of(joint) in analysis.sides
    }
    if not spacing:
        return Labels({}, {}, {}, [])
    forces = {name: np.full((len(analysis.body.time), len(analysis.sides)), np.nan) for name in COMPARTMENTS}
    notes = []
    for part in analysis.parts:
        for joint in spacing.keys() & part.contact_force.keys():
            loads = part.contact_force[joint], part.contact_moment[joint], segment_axes[joint]
            medial, lateral, lifted = compartments(*loads, spacing[joint])
            side = side_of(joint)
            for name, force in zip(COMPARTMENTS, (medial, lateral), strict=True):
                forces[name][:, analysis.sides.index(side)] = force
            if count := int((lifted & part.solution.solved).sum()):
                notes.append(
                    f"The {SIDE_NAMES[side]} knee bears its whole contact force on one side in {count} of "
                    f"{int(part.solution.solved.sum())} frames: the other contact would have to pull, ligaments bear "
                    "what is left of the frontal moment."
                )
    return Labels(
        variables={f"knee_contact_{name}": (("time", "side"), force) for name, force in forces.items()},
        coordinates={},
        attributes={"knee_contact_spacing": [f"{joint} {apart:.4f} m" for joint, apart in spacing.items()]},
        notes=notes,
    )
