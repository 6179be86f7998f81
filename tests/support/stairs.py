"""Walks up and down stairs with known truth, recorded with a force plate in each of four steps.

The bundled stride is carried along stairs: the pelvis along a slope, each foot from step to step during its swing. The
legs follow by inverse kinematics: six angles of hip, knee and ankle for place and rotation of the foot. The ground
reaction follows from the laws of motion, nothing being left at the pelvis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from musclesolve.dynamics.rotations import from_cardan, to_vector
from musclesolve.studies.synthetic import reference_stride
from musclesolve.studies.synthetic.reference_stride import ReferenceStride
from tests.support.c3d_files import PlateOnPaper, write_c3d

Array = NDArray[np.float64]

RATE, SAMPLES, MARGIN = 100.0, 10, 0.4
"""Frames a second [Hz], samples of the plates in a frame, and time before the first contact with a plate [s]."""
STEPS = 4
"""Steps with a plate."""
TREAD = 0.6
"""Length of a step over the length of a step of the level walk: 0.41 m."""
LOWER = 0.06
"""How much lower the pelvis is than on level ground [m]: the knees bend."""
MIDDLE = 0.05
"""The middle of the foot before the ankle [m]."""
SWING = (0.63, 0.99)
"""Phases between which a foot goes to its next step."""
AXES = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]])
"""Axes of a plate: its z points down."""
LEG = (
    *("hip_flexion", "hip_adduction", "hip_internal_rotation"),
    *("knee_flexion", "ankle_dorsiflexion", "ankle_inversion"),
)
BENT = (0.2, 0.0, 0.0, 0.4, 0.2, 0.0)
"""First guess beside the level walk [rad]: a straight knee could bend in either direction."""
LONGEST, ROUNDS = 0.05, 60
"""Longest step of the inverse kinematics [rad], and most steps."""
INSTANTS = 96
"""Instants of a stride at which the legs are solved for."""


@dataclass(frozen=True)
class Stairs(ReferenceStride):
    """A walk on stairs whose steps rise by `rise` [m], downward if negative. The right foot meets step 0 at time 0."""

    rise: float = 0.0

    def step(self, time: Array, side: str) -> Array:
        """Number (T,) of the step under a foot, between two numbers during its swing."""
        phase = time / self.period - (0.5 if side == "l" else 0.0)
        share = np.clip((np.mod(phase, 1.0) - SWING[0]) / (SWING[1] - SWING[0]), 0.0, 1.0)
        smooth = share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        return np.asarray(2.0 * (np.floor(phase) + smooth) + (side == "l"))

    @cached_property
    def leg_columns(self) -> NDArray[np.intp]:
        """Columns (6, 2) of `LEG` among the coordinates, right and left."""
        return np.array([[self.model.dof(f"{name}_{side}") for side in "rl"] for name in LEG])

    @cached_property
    def legs(self) -> BSpline:
        """Angles (6, 2) of the legs over a stride, a spline through inverse kinematics."""
        time = np.linspace(0.0, self.period, INSTANTS + 1)[:-1]
        tree, model, level = self.model.tree, self.model, super().coordinates(time)
        joints, bodies = tree.joint_count, [self.model.body(f"foot_{side}") for side in "rl"]
        ankles = np.array([model.standing[model.slot(f"ankle_{side}")] for side in "rl"])

        def feet(coordinates: Array) -> tuple[Array, Array]:
            """Places (T, 2, 3) of the ankles, and rotations (T, 2, 3, 3) of the feet."""
            base = coordinates[:, joints:]
            turns, shifts = tree.frames(coordinates[:, :joints], base[:, :3], from_cardan(*base[:, 3:].T))
            return np.einsum("tnxy,ny->tnx", turns[:, bodies], ankles) + shifts[:, bodies], turns[:, bodies]

        place, turn = feet(level)
        steps = np.stack([self.step(time, side) for side in "rl"], axis=1)
        # The middle of the first foot goes nearer to the start, as the body does.
        first = place[INSTANTS // 4, 0, 0] + MIDDLE
        place += steps[..., None] * [(TREAD - 1.0) * 0.5 * self.length, 0.0, self.rise]
        place[..., 0] += (TREAD - 1.0) * first

        def missing(coordinates: Array) -> Array:
            """What is missing (T, 2, 6) to the places [m] and the rotations [rad]."""
            at, turned = feet(coordinates)
            turns = (turn @ turned.swapaxes(-1, -2)).reshape(-1, 3, 3)
            return np.concatenate([place - at, to_vector(turns).reshape(at.shape)], axis=-1)

        found = self.with_pelvis(level, time, 0)
        found[:, self.leg_columns] += np.array(BENT)[:, None]
        for _ in range(ROUNDS):
            now, slopes = missing(found), []
            if np.abs(now).max() < 1e-9:
                break
            for pair in self.leg_columns:
                moved = found.copy()
                moved[:, pair] += 1e-6
                slopes.append((missing(moved) - now) / 1e-6)
            change = np.linalg.solve(-np.stack(slopes, axis=-1), now[..., None])[..., 0]
            longest = np.abs(change).max(axis=-1, keepdims=True)
            change *= np.minimum(1.0, LONGEST / np.maximum(longest, 1e-12))
            found[:, self.leg_columns] += change.swapaxes(1, 2)
        else:
            raise AssertionError("the legs do not reach the steps")
        angles = found[:, self.leg_columns]
        ends = np.append(time, self.period), np.concatenate([angles, angles[:1]])
        return make_interp_spline(*ends, k=5, bc_type="periodic")

    def with_pelvis(self, level: Array, time: Array, order: int) -> Array:
        """Coordinates (T, 44) of the level walk, or their derivatives, with the pelvis on the slope of the stairs."""
        moved, first = level.copy(), self.model.tree.joint_count
        moved[:, first] *= TREAD
        slope = self.rise / (0.5 * self.period)
        moved[:, first + 2] += (slope * time - 0.5 * self.rise - LOWER, slope, 0.0)[order]
        return moved

    def coordinates(self, time: Array, order: int = 0) -> Array:
        """Joint and base coordinates (T, 44), or their derivatives, at times (T,) [s]."""
        time = np.asarray(time, float)
        found = self.with_pelvis(super().coordinates(time, order), time, order)
        found[:, self.leg_columns] = self.legs(np.mod(time, self.period), order)
        return found


@cache
def stairs(rise: float) -> Stairs:
    """The walk on stairs whose steps rise by a height [m]."""
    level = reference_stride()
    return Stairs(level.layout, level.coefficients, rise)


def record(folder: Path, rise: float, stated_rise: float | None = None) -> Path:
    """Write a C3D file of the walk with plates in its steps 0 to 3, of the standing subject, and the trial file.

    stated_rise: of the steps in the corners of the plates [m], if it is another one than the true one.
    """
    walk, person = stairs(rise), reference_stride().person
    names = person.markers[0]
    # A step is contacted for `toe_off` of a stride, and the next one half a stride later.
    last = (0.5 * (STEPS - 1) + person.toe_off) * walk.period
    frames = int((last + 2.0 * MARGIN) * RATE)
    time = np.arange(frames) / RATE - MARGIN
    fine = np.arange(frames * SAMPLES) / (RATE * SAMPLES) - MARGIN
    plates, channels, wrenches = [], [], walk.wrenches(fine)
    feet = walk.markers(fine)
    for step in range(STEPS):
        side, begins = "rl"[step % 2], 0.5 * step * walk.period
        during = (fine >= begins) & (fine < begins + 1.02 * person.toe_off * walk.period)
        wrench = wrenches[step % 2]
        stands = int(np.searchsorted(fine, begins + 0.25 * walk.period))
        middle = 0.5 * sum(feet[stands, names.index(f"{part}_{side}"), :2] for part in ("heel", "toe"))
        center = np.array([middle[0] + 0.02, middle[1], rise * step])
        plate = PlateOnPaper(2, tuple(center), AXES, half=(0.19, 0.25))
        force = np.where(during[:, None], wrench.force, 0.0)
        moment = np.where(during[:, None], wrench.moment, 0.0)
        # About the middle of the surface: a wrench about any point is one wrench.
        about = moment - np.cross(center, force)
        channels.append(plate.channels(force, center, about))
        stated = rise if stated_rise is None else stated_rise
        plates.append(replace(plate, center=(center[0], center[1], stated * step)))
    write_c3d(folder / "stairs.c3d", RATE, list(names), 1e3 * walk.markers(time), plates, channels, SAMPLES)
    still = np.repeat(1e3 * walk.standing[None], 20, axis=0)
    write_c3d(folder / "static.c3d", RATE, list(names), still)
    subject = person.subject
    mapping = "\n".join(f'{name} = "{name}"' for name in names)
    text = f"""[subject]
mass_kg = {subject.mass}
stature_m = {subject.stature}
sex = "{subject.sex}"

[laboratory]
forward = "+x"
up = "+z"

[files]
markers = "stairs.c3d"
static = "static.c3d"

[filter]
cutoff_hz = 15

[mapping]
{mapping}
"""
    path = folder / "trial.toml"
    path.write_text(text, encoding="utf-8")
    return path
