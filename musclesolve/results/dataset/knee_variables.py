"""What a result says of the knees alone: medial, lateral and patellofemoral contact force."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.message_text import few
from musclesolve._util.sides import SIDE_NAMES, side_of
from musclesolve.pipeline.body import Analysis, SharedPart, by_name
from musclesolve.pipeline.knee_contact import compartments
from musclesolve.pipeline.patella import quadriceps
from musclesolve.results.dataset.labels import Labels
from musclesolve.results.dataset.picture import Variable

BEARING = 0.25
"""Share of its greatest force beyond which a knee bears much: what lifts off below hardly matters."""
EXTENDS = 0.02
"""Mean moment arm beyond which a muscle is one of those that extend the knee [m]: heads of the quadriceps have 0.03 to
0.05, tensor fasciae latae, which has some in models, less than 0.01."""


def knee_labels(analysis: Analysis, segment_axes: dict[str, Array]) -> Labels:
    """Variables over time and side, NaN for a side without a knee; how far the contacts are apart, and where they lift.

    Empty where no force at a knee is known.
    """
    variables, notes, sides = dict[str, Variable](), list[str](), analysis.sides
    spacing = {
        joint: apart for joint, apart in analysis.body.contact_spacing.items() if joint in segment_axes
    }
    notes += [note for part in analysis.parts for note in unrecognised(part, segment_axes, spacing)]

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
            medial, lateral, lifted = compartments(*loads, spacing[joint].distance)
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
    stated = [f"{joint} {apart.distance:.4f} m, {apart.origin}" for joint, apart in spacing.items()]
    return Labels(variables, {}, {"knee_contact_spacing": stated} if stated else {}, notes)


def unrecognised(part: SharedPart, segment_axes: dict[str, Array], knees: Collection[str]) -> Iterator[str]:
    """What is to be said of muscles that extend a knee and whose names are not those of heads of the quadriceps."""
    names, loads = part.state.parameters.names, part.part.loads
    others = np.delete(np.arange(len(names)), quadriceps(names))
    across = {} if loads is None else by_name(loads.joints, loads.moment_across)
    for joint in [knee for knee in knees if knee in across]:
        left = segment_axes[joint][:, 2] * (1.0 if side_of(joint) == "r" else -1.0)
        arm = np.einsum("tnx,tx->tn", across[joint][:, others], left).mean(axis=0)
        if found := [names[m] for m in others[arm > EXTENDS]]:
            yield (
                f"Muscles that extend {joint} and are not known by name as heads of the quadriceps: {few(found, 4)}. "
                "Their whole tension pulls at the shank, not that of the patellar ligament, and they press no patella. "
                "Names such as vas_med_r or R_RectFem are known."
            )
