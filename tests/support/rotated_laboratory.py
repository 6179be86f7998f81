"""A whole laboratory rotated about the vertical: markers, standing trial and forces alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve.laboratory import Trial


def rotated(trial: Trial, angle_deg: float) -> Trial:
    """The trial as a laboratory would record it whose axes lie the other way."""
    cosine, sine = np.cos(np.deg2rad(angle_deg)), np.sin(np.deg2rad(angle_deg))
    rotation = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    plates = tuple(
        replace(
            plate,
            force=plate.force @ rotation.T,
            point=plate.point @ rotation.T,
            moment=plate.moment @ rotation.T,
        )
        for plate in trial.forces
    )
    static = None if trial.static is None else trial.static.rotated(rotation)
    return replace(trial, markers=trial.markers.rotated(rotation), static=static, forces=plates)
