"""Rows of frames as data of the moving picture: the same drawing as of a result, one pose at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.sides import SIDE_NAMES, side_of, split_side
from musclesolve.constants import LOADED_FROM_N
from musclesolve.dynamics.kinematics.motion_derivatives import moving_bodies
from musclesolve.dynamics.model.model import Model
from musclesolve.live.live import Live
from musclesolve.live.stream import STATUS_NAMES
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles, joined
from musclesolve.recording.data import SIDES
from musclesolve.report import picture
from musclesolve.report.picture.bones import bones_of
from musclesolve.report.picture.picture_data import (
    Arrows,
    Bellies,
    DrawnLeg,
    PictureData,
    Quantity,
    ends_of,
    lines_beside,
    round_above,
)
from musclesolve.results.dataset.frame_validity import VALID
from musclesolve.results.dataset.labels import Skeleton, subject_skeleton
from musclesolve.results.dataset.quantities import QUANTITIES
from musclesolve.sharing.status import Status

COLORED_BY = {name: QUANTITIES[name].frame for name in ("activation", "muscle_force")}
"""Variables of picture.toml that a frame has -> attribute of the frame."""
LEAST_HIGH = 1000.0
"""Least end of the scale of a force without a fixed end [N]; the scale grows with the values."""


@dataclass(eq=False)
class LiveDrawing:
    """Drawing of the rows of a `Live`; the object can be sent to another process.

    weight: of the body [N]. heights: of the ground under the right and the left foot (2,) [m]. heading [rad] from x to
    the left. pose: coordinates (K+6,) of a pose of the recording, by which bones get their thickness. joints, sides:
    names in the order of a row. high: end of the scale of each quantity without a fixed one, so far. knee_widths: over
    the epicondyles [m], by side, as far as they are known.
    """

    model: Model
    muscles: ScaledMuscles
    joints: tuple[str, ...]
    sides: tuple[str, ...]
    weight: float
    heights: Array
    heading: float
    pose: Array
    high: dict[str, float]
    knee_widths: dict[str, float]

    @classmethod
    def from_live(cls, live: Live, weight: float) -> LiveDrawing:
        """The drawing of a session."""
        mechanics = live.body.mechanics
        middle = len(mechanics.motion.time) // 2
        return cls(
            model=live.model,
            muscles=joined(live.body.placed),
            joints=live.joints,
            sides=live.sides,
            weight=weight,
            heights=live.ground_heights,
            heading=float(live.body.gait.heading_at(mechanics.motion.time[middle : middle + 1])[0]),
            pose=mechanics.motion.coordinates[middle],
            high={},
            knee_widths={str(side): width for side, width in mechanics.measured.knee_width.items()},
        )

    def base(self) -> PictureData:
        """Return the picture of the parts that do not move, with the pose of the recording and no other data."""
        skeleton, path, owner = self._placed(self.pose)
        points, names = skeleton.points, self.muscles.names
        first = np.searchsorted(owner, np.arange(len(names) + 1)).astype(np.intp)
        bones = bones_of(skeleton, ("",), self.knee_widths).reaching(ends_of(path, first))
        short = self.muscles.short_names
        parameters = self.muscles.parameters
        number = {name: k for k, name in enumerate(points)}
        kept = [k for k, joint in enumerate(self.joints) if joint in number]
        acting = tuple(self.joints[k] for k in kept)
        at = np.array([number[name] for name in acting], np.intp)
        none = np.full((1, len(SIDES), 3), np.nan)
        lost = np.array([Status.INTERRUPTED.name.lower()])
        return PictureData(
            time=np.zeros(1),
            every=1,
            simulated=False,
            subjects=("",),
            points=points,
            position=skeleton.position,
            lines=lines_beside(skeleton, bones),
            muscles=names,
            short_names=tuple(split_side(name)[0].replace("_", " ") for name in short),
            bellies=Bellies.sized(
                parameters.max_isometric_force, parameters.optimal_fiber_length, path, first
            ),
            path=path,
            first=first,
            legs=tuple(
                DrawnLeg(side, f"{SIDE_NAMES[side]} leg", lost, np.full(1, np.nan)) for side in self.sides
            ),
            quantities=tuple(
                Quantity(about, np.full((1, len(names)), np.nan), float(about.get("high", LEAST_HIGH)))
                for about in bundled_toml(picture.__name__, "picture.toml")["quantity"]
                if about["variable"] in COLORED_BY
            ),
            ground=Arrows(SIDES, SIDES, none, place=none),
            contact=Arrows(acting, tuple(map(side_of, acting)), np.full((1, len(acting), 3), np.nan), at=at),
            weight=self.weight,
            heading=self.heading,
            missing=(),
            bones=bones,
            shapes=None,
            events=(),
        )

    def drawn(self, base: PictureData, row: AnyArray, values: dict[str, Array]) -> PictureData:
        """A row () of a frame as a picture; values (n,) by attribute of the frame, NaN where they are not valid."""
        skeleton, path, _ = self._placed(row["coordinates"])
        force, moment = row["wrench"][:, :3], row["wrench"][:, 3:]
        plates = zip(force[:, None], moment[:, None], self.heights, strict=True)
        place = np.concatenate([center_of_pressure(of, about, float(height)) for of, about, height in plates])
        stands = np.isfinite(place).all(axis=1) & (np.nan_to_num(force[:, 2]) > LOADED_FROM_N)
        force, place = (np.where(stands[:, None], each, np.nan)[None] for each in (force, place))
        kept = [self.joints.index(name) for name in base.contact.names]
        status = [STATUS_NAMES[code].lower() for code in row["status"].tolist()]
        known = {side: name for side, name in zip(self.sides, status, strict=True)}
        lost = [k for k, name in enumerate(base.contact.names) if known.get(side_of(name)) not in VALID]
        contact = row["joint_reaction"][None, kept].copy()
        contact[:, lost] = np.nan
        return replace(
            base,
            time=row["time"][None],
            position=skeleton.position,
            path=path,
            bones=base.bones.moved(skeleton),
            legs=tuple(replace(leg, verdict=np.array([known[leg.side]])) for leg in base.legs),
            quantities=tuple(self._colored(quantity, values) for quantity in base.quantities),
            ground=replace(base.ground, force=force, place=place),
            contact=replace(base.contact, force=contact),
        )

    def _colored(self, base: Quantity, values: dict[str, Array]) -> Quantity:
        about = base.about
        own = values[COLORED_BY[about["variable"]]][None].astype(float)
        if "of" in about:
            own = own / getattr(self.muscles.parameters, about["of"])
        if "high" in about:
            return Quantity(about, own, base.high)
        high = max(self.high.get(about["key"], base.high), round_above(own))
        self.high[about["key"]] = high
        return Quantity(about, own, high)

    def _placed(self, coordinates: Array) -> tuple[Skeleton, Array, AnyArray]:
        """Skeleton and paths (1, P, 3) [m] in a pose, NaN where it is not known; the muscle (P,) of each point."""
        known = np.isfinite(coordinates).all()
        pose = np.where(known, coordinates, self.pose)[None]
        still = np.zeros_like(pose)
        motion, _ = moving_bodies(self.model, np.zeros(1), pose, still, still)
        skeleton = subject_skeleton(self.model, motion)
        lines = self.muscles.paths.lines(motion.q, motion.coordinates, trimmed=False)
        position, place, rotation, path = (
            np.where(known, each.astype(float), np.nan)
            for each in (skeleton.position, skeleton.place, skeleton.rotation, lines.position)
        )
        return replace(skeleton, position=position, place=place, rotation=rotation), path, lines.muscle
