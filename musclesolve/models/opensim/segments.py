"""Segments of a model as its joints move them, whatever bodies, joint directions and body axes the file has.

A segment is what moves as one: bodies that are welded, held by locked coordinates, or that only slide on each other.
Bodies between joints that count as one, such as a knee of two joints in series, belong to neither neighbor. Distal is
away from the pelvis. The axes of a body are fixed to it: in the posture with all coordinates zero they are the axes of
the ground (x forward, y up, z right). A thigh or shank that does not stand upright in this posture has axes along the
line of its joints and about the axis of the knee.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import OTHER, joint_kind, side_of, split_side
from musclesolve.models.opensim.kinematics import JOINT_SPACING, BodyMotion, body_motion, coordinate_values
from musclesolve.models.opensim.model import GROUND, Frame, Joint, OpenSimModel

_UPRIGHT = 0.85
"""Least cosine between the line of its joints and up for a segment that stands upright."""
_AXIS = np.array([0.0, 0.0, 1.0])
"""Axis of flexion of a knee in the posture with all coordinates zero."""
FLEXION = {"hip_flexion": 1.0, "knee_angle": -1.0, "ankle_angle": 1.0}
"""Turn of the distal segment about the axis to the right by flexion or dorsiflexion."""


@lru_cache(maxsize=8)
def segments(model: OpenSimModel) -> "Segments":
    """The segments of a model."""
    return Segments(model)


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments of a model; by joints, bodies are on its `proximal` or its `distal` side."""

    model: OpenSimModel

    @cached_property
    def upright(self) -> BodyMotion:
        """The pose with all coordinates zero, locked ones at their default, with the twists of all coordinates."""
        known = self.model.coordinates
        held = {name: np.array([one.default if one.locked else 0.0]) for name, one in known.items()}
        return body_motion(self.model, coordinate_values(self.model, held), tuple(known))

    def axes(self, rotation: Array, body: str) -> Array:
        """Axes (T, 3, 3) of a body forward, up and right as columns, from rotations (T, B, 3, 3) of all bodies."""
        number = self.model.body_number[body]
        standing = next((axes for bodies, axes in self.lying.values() if body in bodies), np.eye(3))
        return np.asarray(rotation[:, number] @ self.upright.rotation[0, number].T @ standing)

    @cached_property
    def lying(self) -> dict[str, tuple[frozenset[str], Array]]:
        """Thighs and shanks that do not stand upright in the pose `upright`, by a body of each.

        Body -> bodies of its segment, and axes (3, 3) of the segment in this pose, as columns.
        """
        axes = {}
        for knee in self.knees:
            distal, proximal = self.distal(knee), self.proximal(knee)
            ankle, hip, center = self._end(knee, distal), self._end(knee, proximal), self.center(knee)
            shank = self.distal_segment(knee)
            toward = np.zeros(3) if ankle is None else self._mass_center(self._feet(shank, knee))[1] - ankle
            for body, line in (
                (shank, None if ankle is None else center - ankle),
                (self.proximal_segment(knee), None if hip is None else hip - center),
            ):
                if line is None or line[1] > _UPRIGHT * np.linalg.norm(line):
                    continue
                up = line / np.linalg.norm(line)
                axis = self._axis(knee)
                axis = axis - (axis @ up) * up
                side = 1.0 if axis @ np.cross(toward, up) >= 0.0 else -1.0
                if np.linalg.norm(axis) > 1e-6:
                    right = side * axis / np.linalg.norm(axis)
                    group = self.rigid(body)
                    axes[body] = group, np.stack([np.cross(up, right), up, right], axis=1)
        return axes

    def _feet(self, shank: str, knee: Joint) -> list[str]:
        """The bodies beyond a shank."""
        leaving = self._leaving(shank, knee)
        return [body for joint, far in leaving for body in self._beyond(far.body, joint)]

    def _mass_center(self, bodies: Iterable[str]) -> tuple[float, Array]:
        """Mass of bodies [kg] and its center (3,) in the pose `upright` [m], zeros without a mass."""
        weighted, mass = np.zeros(3), 0.0
        for body in bodies:
            if mass_of_body := self._mass(body):
                number = self.model.body_number[body]
                place = self.upright.rotation[0, number] @ self.model.masses[body].center
                weighted += mass_of_body * (place + self.upright.position[0, number])
                mass += mass_of_body
        return mass, weighted / mass if mass else weighted

    @cached_property
    def _pelvis(self) -> frozenset[str]:
        """Bodies from the ground to the pelvis; empty without a body of this name."""
        inner = {joint.outboard.body: joint.inboard.body for joint in self.model.joints}
        body = next((name for name in self.model.bodies if name.lower().startswith("pelvis")), "")
        chain = set()
        while body in inner:
            chain.add(body)
            body = inner[body]
        return frozenset(chain)

    def is_outward(self, joint: Joint) -> bool:
        """Return whether the outer body of a joint is distal; not on the way from a foot, as root, to the pelvis."""
        return joint.outboard.body not in self._pelvis or joint.inboard.body == GROUND

    def distal(self, joint: Joint) -> Frame:
        """The frame of a joint on its distal body."""
        return joint.outboard if self.is_outward(joint) else joint.inboard

    def proximal(self, joint: Joint) -> Frame:
        """The frame of a joint on its proximal body."""
        return joint.inboard if self.is_outward(joint) else joint.outboard

    def turns(self, joint: Joint) -> bool:
        """Return whether a joint can rotate: by a coordinate that is not locked."""
        return any(not self.model.coordinates[name].locked for name in self._turning(joint))

    def _turning(self, joint: Joint) -> frozenset[str]:
        """The independent coordinates that rotate a joint."""
        return self.model.independent({name for axis in joint.rotations for name in axis.coordinates})

    def center(self, joint: Joint) -> Array:
        """Origin (3,) of the child frame of a joint in the pose `upright` [m]: translations move it in the parent."""
        number = self.model.body_number[joint.child.body]
        pose = self.upright
        return np.asarray(pose.rotation[0, number] @ joint.child.position + pose.position[0, number])

    @cached_property
    def rigid(self) -> Callable[[str], frozenset[str]]:
        """The bodies that turn with a body, each found once."""
        return cache(lambda body: self._reached(body, lambda joint: not self.turns(joint)))

    def _beyond(self, body: str, joint: Joint) -> frozenset[str]:
        """Bodies on the side of a body, beyond a joint."""
        return self._reached(body, lambda other: other is not joint)

    def _reached(self, body: str, passes: Callable[[Joint], bool]) -> frozenset[str]:
        """A body and those that joints of a kind lead to from it, but for the ground."""
        reached, new = {body}, [body]
        while new:
            last = new.pop()
            for joint in filter(passes, self.model.joints):
                ends = joint.inboard.body, joint.outboard.body
                if last in ends and (other := ends[last == ends[0]]) not in {*reached, GROUND}:
                    reached.add(other)
                    new.append(other)
        return frozenset(reached)

    def _mass(self, body: str) -> float:
        mass = self.model.masses.get(body)
        return 0.0 if mass is None else mass.mass

    def _leaving(self, body: str, through: Joint) -> Iterator[tuple[Joint, Frame]]:
        """Yield other rotating joints of the segment of a body, with their frames on the other side."""
        group = self.rigid(body)
        for joint in self.model.joints:
            ends = joint.inboard, joint.outboard
            inside = [end.body in group for end in ends]
            if joint is not through and inside[0] != inside[1] and self.turns(joint):
                yield joint, ends[inside[0]]

    @cached_property
    def segment(self) -> Callable[[Joint, Frame], str]:
        """A body of the segment on the side of a joint that a frame of it is on, each found once."""
        return cache(self._segment)

    def _segment(self, joint: Joint, frame: Frame) -> str:
        """A body of the segment on the side of a joint that a frame of it is on.

        A body is passed whose segment is lighter than what follows it at a joint less than `JOINT_SPACING` away, when
        all its joints are so near.
        """
        body, center, passed = frame.body, self.center(joint), joint
        while True:
            leaving = list(self._leaving(body, passed))
            near = all(np.linalg.norm(self.center(other) - center) < JOINT_SPACING for other, _ in leaving)
            beyond = {
                k: sum(map(self._mass, self._beyond(far.body, other)))
                for k, (other, far) in enumerate(leaving)
            }
            heaviest = max(beyond, key=lambda k: beyond[k], default=None)
            own_mass = sum(self._mass(name) for name in self.rigid(body))
            if heaviest is None or not near or not beyond[heaviest] > own_mass:
                return body
            passed, far = leaving[heaviest]
            body = far.body

    def distal_segment(self, joint: Joint) -> str:
        """A body of the segment distal to a joint."""
        return self.segment(joint, self.distal(joint))

    def proximal_segment(self, joint: Joint) -> str:
        """A body of the segment proximal to a joint."""
        return self.segment(joint, self.proximal(joint))

    @cached_property
    def knees(self) -> tuple[Joint, ...]:
        """The knee of each side: of the rotating joints whose names contain "knee", the one that flexes most."""
        best: dict[str, tuple[tuple[bool, float], Joint]] = {}
        for joint in self.model.joints:
            side = side_of(joint.name)
            if joint_kind(joint.name) != "knee" or side == OTHER or not self._turning(joint):
                continue
            rank = self.turns(joint), round(float(abs(self._axis(joint) @ _AXIS)), 6)
            if side not in best or rank > best[side][0]:
                best[side] = rank, joint
        return tuple(joint for _, joint in best.values())

    def _axis(self, joint: Joint) -> Array:
        """Angular velocity (3,) of a joint in the pose `upright`, by the coordinate that turns it most to the right."""
        columns = [self.model.coordinate_number[name] for name in sorted(self._turning(joint))]
        outer, inner = (self.model.body_number[end.body] for end in (joint.outboard, joint.inboard))
        spin = (self.upright.twist[0, :, outer] - self.upright.twist[0, :, inner])[columns, :3]
        return np.asarray(spin[np.abs(spin @ _AXIS).argmax()])

    def _end(self, joint: Joint, frame: Frame) -> Array | None:
        """Place (3,) of the farthest joint at the other end of a segment that begins at a frame of a joint.

        An ankle counts though it is locked or welded.
        """
        body, center = self.segment(joint, frame), self.center(joint)
        group = self.rigid(body)
        held = [
            self.center(other)
            for other in self.model.joints
            if {other.inboard.body, other.outboard.body} <= group
            and joint_kind(other.name) == "ankle"
            and np.linalg.norm(self.center(other) - center) > JOINT_SPACING
        ]
        ends = held or [self.center(other) for other, _ in self._leaving(body, joint)]
        ends = [end for end in ends if np.linalg.norm(end - center) > 0.0]
        return max(ends, key=lambda end: float(np.linalg.norm(end - center)), default=None)

    def length(self, joint: Joint) -> float | None:
        """Distance from a joint to the farthest joint at the distal end of its distal segment [m]; None without one."""
        end = self._end(joint, self.distal(joint))
        return None if end is None else float(np.linalg.norm(end - self.center(joint)))

    def patella(self, knee: Joint) -> frozenset[str]:
        """Bodies jointed to the thigh that move with the knee, through a coupler or by the knee's own coordinates."""
        moving = self.model.independent(knee.moved_by)
        thigh, beyond = self.rigid(self.proximal_segment(knee)), self.rigid(self.distal(knee).body)
        parts = [
            self.rigid(joint.outboard.body)
            for joint in self.model.joints
            if joint is not knee
            and joint.inboard.body in thigh
            and joint.outboard.body not in thigh | beyond
            and self.model.independent(joint.moved_by) & moving
        ]
        return frozenset().union(*parts)


def flexion_sign(model: OpenSimModel, name: str) -> float:
    """The sign of a coordinate of flexion: 1 where it turns its distal segment as `FLEXION` states, else -1."""
    body, column = segments(model), model.coordinate_number[name]
    for joint in model.joints:
        if name in joint.moved_by:
            ends = body.distal(joint).body, body.proximal(joint).body
            outer, inner = (body.upright.twist[0, column, model.body_number[end], 2] for end in ends)
            if outer != inner:
                return float(np.sign(outer - inner)) * FLEXION[split_side(name)[0]]
    return 1.0
