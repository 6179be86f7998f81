"""What the moments of a leg's degrees of freedom are called: each bears the name of its positive direction."""

from __future__ import annotations

OPPOSITE = {
    "hip_flexion": "extension",
    "hip_adduction": "abduction",
    "hip_internal_rotation": "external rotation",
    "knee_flexion": "extension",
    "ankle_dorsiflexion": "plantarflexion",
    "ankle_inversion": "eversion",
    "ankle_adduction": "abduction",
}
"""The negative direction of each degree of freedom, without side."""


def directions(dof: str) -> tuple[str, str]:
    """Positive and negative direction of a degree of freedom with its side, hip_flexion_r: flexion, extension."""
    plain = dof.rsplit("_", 1)[0]
    return plain.split("_", 1)[1].replace("_", " "), OPPOSITE[plain]
