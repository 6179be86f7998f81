"""Muscles for which OpenSim 4 reports a length that is not that of their path, and tendons that make up for it.

Over several wrap objects the lengths that OpenSim reports belong to no path (muscles/paths/kernel/opensim_rounds.py):
for the gastrocnemii of the Rajagopal models they are 2 to 9 mm less with the knee straight and equal beyond 60 degrees
of flexion. Optimal fiber and tendon slack lengths of a model are seen, and chosen, with these lengths, and 8 mm are
0.12 optimal lengths of a gastrocnemius. Where frames stand alone (rigid tendons) the fibers are given OpenSim's
lengths, and velocities are those of the path, as in OpenSim. Where the rate of a length must be its velocity (elastic
tendons), and on another skeleton (a muscle set made of the model), the length is that of the path and the tendon slack
length is greater by the difference in the neutral pose, all coordinates zero: there normalised fiber lengths are
OpenSim's, with the knee flexed they are less by up to the same difference.

A length that is no number or an optimal fiber length away from that of the path, as OpenSim's are where its search for
tangent points fails, is of no use: there the length of the path holds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.opensim.geometry import OpenSimGeometry, opensim_geometry
from musclesolve.opensim.model import OpenSimModel

NEGLIGIBLE = 1e-3
"""Differences of lengths and moment arms up to this are not corrected or reported [m]."""


def tendon_shifts(model: OpenSimModel, muscles: Sequence[str]) -> Array:
    """What to add to tendon slack lengths (n,) [m]: length of the path less OpenSim's, all coordinates zero.

    Zero for muscles without several wrap objects, and where the difference is negligible.

    Raises:
        InputError: a name is unknown, or a muscle needs something that is not supported.
    """
    several = [name for name in muscles if over_several(model, name)]
    shift = np.zeros(len(muscles))
    if several:
        neutral = opensim_geometry(model, {name: np.zeros(1) for name in model.coordinates}, (), several)
        difference = (neutral.length - fiber_path_lengths(model, neutral))[0]
        shift[[muscles.index(name) for name in several]] = np.where(
            np.abs(difference) > NEGLIGIBLE, difference, 0.0
        )
    return shift


def fiber_path_lengths(model: OpenSimModel, found: OpenSimGeometry) -> Array:
    """Lengths (T, n) [m] of the paths, and over several wrap objects those that OpenSim 4 reports."""
    optimal = np.array([model.muscles[name].optimal_fiber_length for name in found.muscles])
    several = np.array([over_several(model, name) for name in found.muscles], dtype=bool)
    usable = np.abs(found.opensim_length - found.length) < optimal
    return np.where(several & usable, found.opensim_length, found.length)


def over_several(model: OpenSimModel, muscle: str) -> bool:
    """Whether a muscle has more than one wrap object that is active."""
    return sum(model.surfaces[wrap.surface].active for wrap in model.muscles[muscle].wraps) > 1


def shift_note(muscles: Sequence[str], shift: Array) -> str:
    """A sentence on the tendons that are longer or shorter than in the file; empty without any."""
    parts = [f"{name} {1e3 * each:+.1f} mm" for name, each in zip(muscles, shift, strict=True) if each]
    if not parts:
        return ""
    return (
        "Tendon slack lengths differ from the model's by the difference between the length of the path and the one "
        f"that OpenSim 4 reports, all coordinates zero: {', '.join(parts)}."
    )


def difference_note(found: OpenSimGeometry) -> str:
    """A sentence on the muscles for which OpenSim reports other lengths or moment arms; empty without any."""
    length = np.nan_to_num(np.abs(found.length - found.opensim_length), nan=np.inf).max(axis=0)
    arm = np.nan_to_num(np.abs(found.moment_arm - found.opensim_arm), nan=np.inf).max(
        axis=(0, 1), initial=0.0
    )
    parts = []
    for name, dl, dr in zip(found.muscles, length, arm, strict=True):
        off = [("length", dl), ("moment arm", dr)]
        if told := [f"{what} {_millimetres(by)}" for what, by in off if by > NEGLIGIBLE]:
            parts.append(f"{name} ({', '.join(told)})")
    if not parts:
        return ""
    return f"For wrapped paths OpenSim 4 reports other numbers than those of the path, by up to: {', '.join(parts)}."


def _millimetres(value: float) -> str:
    return f"{1e3 * value:.1f} mm" if np.isfinite(value) else "not found there"
