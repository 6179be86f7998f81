"""Markers that are hidden for a moment: put where their body carries them, as long as that is known.

Every marker that is needed belongs to the body of the model against which it moves least in the recording of the trial,
and stands at a place of that body. A hidden marker is put there: on the body as its other markers show it where three
or more of them are seen and span a triangle (least squares, `register`), without a limit in time; else on the body as
the motion goes on, which is known for a moment only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.recording.gaps.rigid_registration import SMALLEST_BREADTH, breadth, register


@dataclass(frozen=True, eq=False)
class MarkerBodies:
    """The body of every one of n markers: number (n,) and place (n, 3) [m] in the standing layout of the model."""

    body: Indices
    place: Array

    @classmethod
    def of(cls, position: Array, rotation: Array, translation: Array) -> MarkerBodies:
        """The bodies against which markers move least.

        Args:
            position: markers (T, n, 3) [m], without gaps.
            rotation, translation: of the bodies from standing, (T, B, 3, 3) and (T, B, 3) [m].
        """
        away = position[:, :, None] - translation[:, None]
        local = np.einsum("tbyx,tnby->tnbx", rotation, away)
        spread = np.linalg.norm(local.std(axis=0), axis=2)
        body = np.argmin(spread, axis=1)
        return cls(body, local.mean(axis=0)[np.arange(len(body)), body])

    def filled(self, position: Array, rotation: Array, translation: Array) -> tuple[Array, Mask]:
        """Markers with the hidden ones put in their places, (n, 3) [m], and which of them the motion alone shows (n,).

        Args:
            position: markers of one frame (n, 3) [m], NaN where hidden.
            rotation, translation: of the bodies as the motion goes on, (B, 3, 3) and (B, 3) [m].
        """
        hidden = ~np.isfinite(position).all(axis=1)
        guessed = np.zeros(len(position), bool)
        whole = position.copy()
        for body in np.unique(self.body[hidden]):
            lost = hidden & (self.body == body)
            others = ~hidden & (self.body == body)
            if breadth(self.place[others]) >= SMALLEST_BREADTH:
                pose = register(self.place[others], position[None, others])
                whole[lost] = self.place[lost] @ pose.rotation[0].T + pose.translation[0]
            else:
                whole[lost] = self.place[lost] @ rotation[body].T + translation[body]
                guessed |= lost
        return whole, guessed
