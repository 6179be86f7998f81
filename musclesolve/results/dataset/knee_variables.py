"""What a result says of the knees alone: medial, lateral and patellofemoral contact force."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import SIDE_NAMES, side_of
from musclesolve.pipeline.body import Analysis
from musclesolve.pipeline.knee_contact import compartments
from musclesolve.results.dataset.labels import Labels
from musclesolve.results.dataset.picture import Variable

BEARING = 0.25
"""Share of its greatest force beyond which a knee bears much: what lifts off below hardly matters."""


def knee_labels(analysis: Analysis, segment_axes: dict[str, Array]) -> Labels:
    """Variables over time and side, NaN for a side without a knee; how far the contacts are apart, and where they lift.

    Empty where no force at a knee is known.
    """
    variables, notes, sides = dict[str, Variable](), list[str](), analysis.sides
    spacing = {
        joint: apart for joint, apart in analysis.body.contact_spacing.items() if joint in segment_axes
    }

    def store(name: str, joint: str, force: Array) -> None:
        """One column of a variable."""
        none = np.full((len(analysis.body.time), len(sides)), np.nan)
        variables.setdefault(name, (("time", "side"), none))[1][:, sides.index(side_of(joint))] = force

    for part in analysis.parts:
        for joint, force in part.patellofemoral_force.items():
            if side_of(joint) in sides:
                store("patellofemoral_force", joint, np.linalg.norm(force, axis=1))
        for joint in spacing.keys() & part.contact_force.keys():
            if side_of(joint) not in sides:
                continue
            loads = part.contact_force[joint], part.contact_moment[joint], segment_axes[joint]
            medial, lateral, lifted = compartments(*loads, spacing[joint])
            store("knee_contact_medial", joint, medial)
            store("knee_contact_lateral", joint, lateral)
            bearing = part.solution.solved & (
                medial + lateral > BEARING * np.nanmax(medial + lateral, initial=0.0)
            )
            if count := int((lifted & bearing).sum()):
                notes.append(
                    f"The {SIDE_NAMES[side_of(joint)]} knee bears its whole contact force on one side in {count} of "
                    f"the {int(bearing.sum())} frames in which it bears much: the other contact would have to pull, "
                    "ligaments bear what is left of the frontal moment."
                )
    stated = [f"{joint} {apart:.4f} m" for joint, apart in spacing.items()]
    return Labels(variables, {}, {"knee_contact_spacing": stated} if stated else {}, notes)
