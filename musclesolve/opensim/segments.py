"""Segments of a model as its joints move them, whatever bodies, joint directions and body axes the file has.

A segment is what moves as one: bodies that are welded, held by locked coordinates, or that only slide on each other.
Bodies between joints that count as one, such as a knee of two joints in series, belong to neither neighbor. Distal is
away from the pelvis. The axes of a body are those of the ground (x forward, y up, z right) in the posture with all
coordinates zero, fixed to the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.sides import OTHER, joint_kind, side_of
from musclesolve.opensim.kinematics import JOINT_SPACING, BodyMotion, body_motion, coordinate_values
from musclesolve.opensim.model import GROUND, Frame, Joint, OpenSimModel

_AXIS = np.array([0.0, 0.0, 1.0])
"""Axis of flexion of a knee in the posture with all coordinates zero."""


@lru_cache(maxsize=8)
def segments(model: OpenSimModel) -> Segments:
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
        held = {name: np.array([each.default if each.locked else 0.0]) for name, each in known.items()}
        return body_motion(self.model, coordinate_values(self.model, held), tuple(known))

    def axes(self, rotation: Array, body: str) -> Array:
        """Axes (T, 3, 3) of a body forward, up and right as columns, from rotations (T, B, 3, 3) of all bodies."""
        number = self.model.body_number[body]
        return np.asarray(rotation[:, number] @ self.upright.rotation[0, number].T)

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
        names = {name for axis in joint.rotations for name in axis.coordinates}
        return any(not self.model.coordinates[name].locked for name in self.model.independent(names))

    def place(self, frame: Frame) -> Array:
        """Origin (3,) of a frame of a joint in the pose `upright` [m]."""
        number = self.model.body_number[frame.body]
        pose = self.upright
        return np.asarray(pose.rotation[0, number] @ frame.position + pose.position[0, number])

    def rigid(self, body: str) -> frozenset[str]:
        """The bodies that turn with a body."""
        group, new = {body}, [body]
        while new:
            own = new.pop()
            for joint in self.model.joints:
                ends = joint.inboard.body, joint.outboard.body
                if own in ends and not self.turns(joint):
                    other = ends[own == ends[0]]
                    if other not in group and other != GROUND:
                        group.add(other)
                        new.append(other)
        return frozenset(group)

    def _mass_beyond(self, body: str, joint: Joint) -> float:
        """Mass on the side of a body, beyond a joint [kg]."""
        beyond, new = {body}, [body]
        while new:
            own = new.pop()
            for other in self.model.joints:
                ends = other.inboard.body, other.outboard.body
                if other is not joint and own in ends:
                    next_body = ends[own == ends[0]]
                    if next_body not in beyond and next_body != GROUND:
                        beyond.add(next_body)
                        new.append(next_body)
        return sum(self._mass(name) for name in beyond)

    def _mass(self, body: str) -> float:
        found = self.model.masses.get(body)
        return 0.0 if found is None else found.mass

    def _leaving(self, body: str, through: Joint) -> Iterator[tuple[Joint, Frame, Frame]]:
        """Yield other rotating joints of the segment of a body, with their frames on this side and on the other."""
        group = self.rigid(body)
        for joint in self.model.joints:
            ends = joint.inboard, joint.outboard
            inside = [end.body in group for end in ends]
            if joint is not through and inside[0] != inside[1] and self.turns(joint):
                yield joint, ends[inside[1]], ends[inside[0]]

    def segment(self, joint: Joint, frame: Frame) -> str:
        """A body of the segment on the side of a joint that a frame of it is on.

        A body is passed whose segment is lighter than what follows it at a joint less than `JOINT_SPACING` away, when
        all its joints are so near.
        """
        body, center, passed = frame.body, self.place(frame), joint
        while True:
            leaving = list(self._leaving(body, passed))
            near = all(np.linalg.norm(self.place(own) - center) < JOINT_SPACING for _, own, _ in leaving)
            beyond = {k: self._mass_beyond(far.body, other) for k, (other, _, far) in enumerate(leaving)}
            heaviest = max(beyond, key=lambda k: beyond[k], default=None)
            own_mass = sum(self._mass(name) for name in self.rigid(body))
            if heaviest is None or not near or not beyond[heaviest] > own_mass:
                return body
            passed, _, far = leaving[heaviest]
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
            names = self.model.independent({name for axis in joint.rotations for name in axis.coordinates})
            if joint_kind(joint.name) != "knee" or side == OTHER or not names:
                continue
            columns = [self.model.coordinate_number[name] for name in sorted(names)]
            outer, inner = (self.model.body_number[end.body] for end in (joint.outboard, joint.inboard))
            twist = self.upright.twist[0, columns, :]
            spin = (twist[:, outer, :3] - twist[:, inner, :3]) @ _AXIS
            rank = self.turns(joint), round(float(np.abs(spin).max()), 6)
            if side not in best or rank > best[side][0]:
                best[side] = rank, joint
        return tuple(joint for _, joint in best.values())

    def length(self, joint: Joint) -> float | None:
        """Distance from a joint to the farthest joint at the distal end of its distal segment [m]; None without one.

        An ankle counts though it is locked or welded.
        """
        body, center = self.distal_segment(joint), self.place(self.distal(joint))
        group = self.rigid(body)
        held = [
            self.place(other.inboard)
            for other in self.model.joints
            if {other.inboard.body, other.outboard.body} <= group and joint_kind(other.name) == "ankle"
        ]
        ends = held or [self.place(own) for other, own, _ in self._leaving(body, joint) if other is not joint]
        far = [distance for end in ends if (distance := float(np.linalg.norm(end - center))) > 0.0]
        return max(far, default=None)

    def patella(self, knee: Joint) -> frozenset[str]:
        """Bodies jointed to the thigh that move with the knee, through a coupler or by the knee's own coordinates."""
        moving = self.model.independent(knee.moved_by)
        thigh, beyond = self.rigid(self.proximal_segment(knee)), self.rigid(self.distal(knee).body)
        found = [
            self.rigid(joint.outboard.body)
            for joint in self.model.joints
            if joint is not knee
            and joint.inboard.body in thigh
            and joint.outboard.body not in thigh | beyond
            and self.model.independent(joint.moved_by) & moving
        ]
        return frozenset().union(*found)
