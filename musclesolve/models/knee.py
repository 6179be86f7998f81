"""The knee: its patella as a lever, and the forces of its medial and lateral contact.

The ligament, not the quadriceps tendon, pulls at the shank. It carries the moment of the quadriceps about the knee at
its own arm h, so its tension is F_L = sum r_i F_i / h with the moment arms r_i of the muscles: virtual work, whatever
the path of the muscles, and moments and sharing stay as they are. Between the two tensions the patella is a lever:
F_L / F is 1.0 near extension, 0.73 at 70 and 0.56 at 100 degrees of flexion with the moment arms of gait2392
(measured: 1.16 at 10 degrees, 0.65 at 70 degrees, Buff, Jones & Hungerford 1988, J Biomech 21:17-23; van Eijden et al.
1986, J Biomech 19:219-229). A patella without mass is in equilibrium of muscles, ligament and femur:

    sum_i F_i q_i - F_L u + F_patellofemoral = 0

with q_i the direction in which a muscle pulls at it and u the direction of the ligament, up from the shank. Arm and
direction of the ligament come from measured knees (patella.toml), square to the axis of the knee, a little lateral
of its center.

The tibia is pressed at two contacts, half their spacing d to either side of the knee center. With the axial force F
(compression) and the moment M about the frontal axis m x u, with m to the median plane and u up the shank,

    F_medial + F_lateral = F,    F_medial - F_lateral = -2 M / d,

(Schipplein & Andriacchi 1991, J Orthop Res 9:113-119; Lerner et al. 2015, J Biomech 48:644-650). Contacts press and do
not pull: a contact that would have to pull lifts off and bears nothing, the other bears the whole axial force, and
ligaments bear the remaining moment. Where the joint is pulled apart neither contact bears a force. A knee center that
is e too far lateral moves F e / d from the lateral contact to the medial one: a fifth of body weight for 5 mm and twice
the body weight on the knee.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, dot, unit, vector_product
from musclesolve._util.bundled_toml import bundled_toml

QUADRICEPS = re.compile(
    r"((r|l|right|left)[_. -])?(rec(t|tus)?[_. -]?fem|vas|quadriceps|quads)", re.IGNORECASE
)
"""Beginnings of the names of the heads of the quadriceps: recfem_r, vas_med_r, rectus_femoris_l, RectFem_r,
R_VasLat.
"""


def quadriceps(names: Sequence[str]) -> Indices:
    """Numbers of the heads of the quadriceps among names of muscles."""
    return np.array([k for k, name in enumerate(names) if QUADRICEPS.match(name)], np.intp)


class Ligament(NamedTuple):
    """Patellar ligament of a knee: its distance from the helical axis and to the left of the center [m].

    Numbers, or arrays (K, 1) of K knees.
    """

    arm: Array | float
    left: Array | float

    @classmethod
    def from_shank_length(cls, side: str, shank_length: float | None, factor: float = 1.0) -> Self:
        """The ligament of the knee of a side, "r" or "l", scaled by the length of the shank [m] where it is known.

        factor: on the arm.
        """
        table = bundled_toml(__package__, "patella.toml")
        size = 1.0 if shank_length is None else shank_length / table["shank_length"]
        return cls(factor * (table["arm"] * size), table["lateral"] * size * (1.0 if side == "l" else -1.0))


@dataclass(frozen=True, eq=False)
class PatellarLever:
    """Load on the knee through the patellar ligament for one newton meter of the muscles about a coordinate.

    force (..., 3) [1/m], moment about the knee center (..., 3) [1]: of the shank on the ligament.
    Times the moment arm r of a muscle they are its contribution to `JointLoads.all_pulls`.
    """

    force: Array
    moment: Array

    @classmethod
    def from_flexion(
        cls,
        ligament: Ligament,
        flexion: Array,
        up: Array,
        left: Array,
        spin: Array,
        velocity: Array | None = None,
    ) -> Self:
        """The lever of a knee in T frames, axes (T,), or of K knees, (T, K).

        Where the knee glides, the arm of the ligament is its distance from the helical axis, which differs a little
        from the distance to the knee center: the power of its force equals the power of the muscles.

        Args:
            ligament: its distances from the helical axis and the center.
            flexion: (...) [rad].
            up, left: (..., 3) unit vectors along the shank and across it.
            spin: (..., 3) angular velocity of the shank relative to the thigh for a unit rate of the coordinate.
            velocity: (..., 3) velocity of the shank's point at the knee center for a unit rate [m]; None for a hinge.
        """
        table = bundled_toml(__package__, "patella.toml")
        lean = np.interp(flexion, np.radians(table["flexion"]), np.radians(table["angle"]))[..., None]
        speed = np.sqrt(np.vecdot(spin, spin))[..., None]
        speed = np.where(np.vecdot(spin, left)[..., None] < 0.0, -speed, speed)  # of flexion
        axis = spin / speed
        straight = unit(up - np.vecdot(up, axis)[..., None] * axis)
        across, cosine, sine = vector_product(axis, straight), np.cos(lean), np.sin(lean)
        along = cosine * straight + sine * across
        glide = 0.0 if velocity is None else np.vecdot(velocity, along)[..., None] / speed
        moment = ligament.left * (cosine * across - sine * straight) - (ligament.arm + glide) * axis
        size = ligament.arm * speed
        return cls(along / size, moment / size)

    def loads(self, arm: Array, pull: Array) -> tuple[Array, Array, Array]:
        """Force and moment on the knee by one newton in each of h heads of the quadriceps, (..., h, 3) each [1, m].

        The third array is the force of the femur on the patella [1]. arm (..., h) [m]: moment arms; pull (..., h, 3):
        forces of the heads on the patella.
        """
        force, moment = (arm[..., None] * load[..., None, :] for load in (self.force, self.moment))
        return force, moment, pull - force


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
    ) -> "ContactSpacing | None":
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
