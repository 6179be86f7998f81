"""Medial and lateral force of the knee, from the axial force and the frontal moment that its contacts bear.

The tibia is pressed at two contacts, half their spacing d to either side of the knee center. With the axial force F
(compression) and the moment M about the frontal axis m x u, with m to the median plane and u up the shank,

    F_medial + F_lateral = F,    F_medial - F_lateral = -2 M / d,

(Schipplein & Andriacchi 1991, J Orthop Res 9:113-119; Lerner et al. 2015, J Biomech 48:644-650). Contacts press and do
not pull: a contact that would have to pull lifts off and bears nothing, the other bears the whole axial force, and
ligaments bear the remaining moment. Where the joint is pulled apart neither contact bears a force. A knee center that
is e too far lateral moves F e / d from the lateral contact to the medial one: a fifth of body weight for 5 mm and twice
the body weight on the knee.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, dot

OF_WIDTH = 0.52
"""Spacing of the contacts over the breadth of the knee between the epicondyles.

46 mm over the bicondylar width of 88.6 mm of men (Terzidis et al. 2012, Anat Res Int 2012:679658, 192 femora). In the
same femora the middles of the condyles are 0.62 of this width apart; Lerner et al. (2015) take 40 mm, 0.45 of it.
"""
OF_STATURE = 0.046 / 1.80
"""Spacing of the contacts over stature, where the breadth of the knee is not known."""
OF_SHANK = OF_STATURE / 0.246
"""Spacing of the contacts over the length of the shank, which is 0.246 of stature (Drillis & Contini 1966)."""
BONE = (0.8, 1.2)
"""Least and greatest spacing over the spacing from stature: larger differences in breadth are soft tissue, not bone."""


@dataclass(frozen=True)
class ContactSpacing:
    """Distance between the medial and the lateral contact of a knee [m], and its source in words."""

    distance: float
    origin: str

    @classmethod
    def from_size(
        cls,
        stated: float | None = None,
        *,
        width: float | None = None,
        stature: float | None = None,
        shank_length: float | None = None,
    ) -> ContactSpacing | None:
        """Choose the stated spacing [m], else derive it from the breadth of the knee, stature or shank length [m].

        The breadth comes first, within the limits `BONE` about the spacing from stature. None without any of them.
        """
        if stated is not None:
            return cls(stated, "as stated")
        if stature is not None:
            least, most = (share * OF_STATURE * stature for share in BONE)
            if width is not None and least <= OF_WIDTH * width <= most:
                return cls(OF_WIDTH * width, "by the breadth of the knee")
            at_limit = OF_STATURE * stature if width is None else least if OF_WIDTH * width < least else most
            return cls(at_limit, "by stature")
        return None if shank_length is None else cls(OF_SHANK * shank_length, "by the length of the shank")


def compartments(force: Array, moment: Array, axes: Array, spacing: float) -> tuple[Array, Array, Mask]:
    """Compute the medial and the lateral contact force of a knee.

    Args:
        force: (T, 3) [N] on the shank.
        moment: (T, 3) [N m] on the shank about the knee center.
        axes: (T, 3, 3) unit vectors down the shank, forward, and to the median plane, in the axes of force and moment.
        spacing: distance between the contacts [m].

    Returns:
        Medial and lateral force (T,) [N], zero or more; whether one contact has lifted off while the other bears, (T,).
    """
    down, medial = axes[:, 0], axes[:, 2]
    axial = dot(force, down)
    frontal = dot(moment, np.cross(down, medial))  # m x u, for u = -down
    pressed = np.maximum(axial, 0.0)
    medial_force = 0.5 * axial - frontal / spacing
    medially = np.clip(medial_force, 0.0, pressed)
    lifted = np.asarray((medially != medial_force) & (pressed > 0.0))
    return medially, pressed - medially, lifted
