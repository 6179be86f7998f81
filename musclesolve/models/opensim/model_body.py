"""An OpenSim model along its coordinates as a body that shares its moments among its muscles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from musclesolve._util.arrays import Array
from musclesolve._util.messages import WarningNote
from musclesolve.dynamics.inverse.residual_reduction import MotionChange
from musclesolve.errors import input_error
from musclesolve.models.body import Sharing, SharingGroup
from musclesolve.models.knee import ContactSpacing
from musclesolve.models.opensim.coordinate_motion import BeyondRange, CoordinateMotion
from musclesolve.models.opensim.kinematics import BodyMotion, body_poses, coordinate_values
from musclesolve.models.opensim.load_dynamics import LoadDynamics
from musclesolve.models.opensim.model import Joint, OpenSimModel
from musclesolve.models.opensim.reduced_residual import LoadedModel
from musclesolve.models.opensim.segments import segments
from musclesolve.models.opensim.shared_choice import SharedChoice
from musclesolve.models.settings import OpenSimSettings
from musclesolve.muscles.person import PersonMuscles
from musclesolve.tables.sampled import Table


@dataclass(frozen=True, eq=False)
class ModelBody:
    """An OpenSim model along its coordinates, ready to share its moments; see `Body`.

    whole: all m shared coordinates and n muscles as one part; parts: groups of them that are shared separately, since
    no muscle connects them. motion: of all coordinates; speed (T, m) [rad/s; m/s]. The musculotendon lengths of the
    state come from the path, or, over several wrap objects and with rigid tendons, from the rule of OpenSim 4.
    dynamics: with loads, given or found in the moments; warnings: contradictions between the inputs; beyond:
    coordinates of the muscles that leave the range to which the model clamps them; unserved: shared coordinates whose
    moments no muscle can produce, with the share of the peak moment that exceeds the muscles. Frames whose loads do not
    balance the motion are not usable. person: the person whose factors scale
    the muscles, with the names of the model; moment_table: all columns of a file or table of moments. every_motion: the
    measured motion in all frames of the file. change: the change of the motion for a smaller residual.
    """

    model: OpenSimModel
    settings: OpenSimSettings
    sharing: Sharing
    choice: SharedChoice
    motion: CoordinateMotion
    every_motion: CoordinateMotion
    whole: SharingGroup
    parts: Sequence[SharingGroup]
    angle: Array
    speed: Array
    moment_file: Path | None
    dynamics: LoadDynamics | None
    notes: tuple[str, ...]
    warnings: tuple[WarningNote, ...] = ()
    beyond: tuple[BeyondRange, ...] = ()
    unserved: Mapping[str, float] = field(default_factory=dict)
    person: PersonMuscles | None = None
    moment_table: Table | None = None
    change: MotionChange[LoadedModel] | None = None

    @property
    def measured(self) -> Self:
        """The body along its coordinates before any change for a smaller residual; tests of loads use this body."""
        if self.change is None:
            return self
        before = self.change.before
        return replace(self, motion=before.motion, dynamics=before.dynamics, change=None)

    @property
    def time(self) -> Array:
        """Times (T,) of the frames [s]."""
        return self.motion.time

    @cached_property
    def pose(self) -> BodyMotion:
        """Poses of all bodies of the model."""
        if self.dynamics is not None:
            return self.dynamics.dynamics.bodies.pose
        return body_poses(self.model, coordinate_values(self.model, self.motion.by_name(self.motion.value)))

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the m shared coordinates."""
        return self.choice.dofs

    @property
    def moment(self) -> Array:
        """Moments (T, m) of the shared coordinates [N m; N of a translation]."""
        return self.whole.moment

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the muscles that act on the shared coordinates."""
        return self.choice.names

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints with a shared coordinate; empty without loads."""
        under_loads = () if self.dynamics is None else shared_joints(self.model, self.dofs)
        return tuple(joint.name for joint in under_loads)

    @property
    def contact_spacing(self) -> dict[str, ContactSpacing]:
        """Distance between the medial and the lateral contact of each knee: as stated, or from the length of its shank.

        A leg without an ankle has no entry.
        """
        parts, stated = segments(self.model), self.settings.knee.contact_spacing_m
        spacings = {
            joint.name: ContactSpacing.from_size(stated, shank_length=parts.length(joint))
            for joint in parts.knees
            if joint.name in self.joints
        }
        return {name: spacing for name, spacing in spacings.items() if spacing is not None}

    @property
    def kind(self) -> str:
        """The source of the moments, "moments" or "loads"."""
        return "moments" if self.dynamics is None or self.moment_table is not None else "loads"

    @property
    def is_predicted(self) -> bool:
        """Whether the loads are predicted."""
        return self.dynamics is not None and self.dynamics.predicted

    @property
    def mass(self) -> float:
        """Mass of the model [kg]."""
        return self.model.mass

    @property
    def stature(self) -> float | None:
        """Stature of the person [m], where it is stated."""
        return self.settings.subject.stature_m

    def check(self, sharing: Sharing) -> None:
        """Refuse a cost of joint reactions without loads, and a cost of EMG without EMG."""
        lacking = {
            "reaction_matrix": ("joint reactions", "loads instead of moments", self.dynamics is None),
            "emg": ("measured EMG", "EMG", all(part.emg is None for part in self.parts)),
        }
        for name, (what, remedy, is_lacking) in lacking.items():
            if name in sharing.cost.data and is_lacking:
                raise input_error(
                    "missing_argument",
                    where="cost",
                    problem=f"the cost {sharing.cost.label} needs {what}, which are not known here",
                    expected="a cost of what is known of this motion",
                    remedy=f"give {remedy}, or choose another cost",
                )


def shared_joints(model: OpenSimModel, dofs: Sequence[str]) -> tuple[Joint, ...]:
    """The joints of a model with a coordinate among some, whose contact forces are determined.

    Constraints of loops bear a part of them, and muscles without points show no line of action.
    """
    without_line = [name for name, one in model.muscles.items() if one.enabled and not one.points]
    unknown = frozenset(model.in_loops).union(*(model.crossing[name] for name in without_line))
    return tuple(
        joint
        for joint in model.joints
        if joint.moved_by & set(dofs) and not model.independent(joint.moved_by) & unknown
    )
