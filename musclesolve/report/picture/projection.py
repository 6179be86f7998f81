"""A picture as flat lines: one view of one frame, for GIF and MP4."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from musclesolve._util.arrays import AnyArray, Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.report.picture.encoded import colors, heads_of, shape_colors
from musclesolve.report.picture.forces import Arrows
from musclesolve.report.picture.picture_data import PictureData

TURN, TILT = np.radians(24.0), np.radians(6.0)
"""The side view is turned by so much about the vertical, and seen from so much above."""
BONE, GRAY, GROUND = "#c3c8ce", "#9aa1aa", "#0072b2"
RIM = 36
"""Lines of the outline of a surface."""
GROUND_SCALE = 0.5
"""Length of the ground force of one body weight, or of one kilonewton [m]."""


@dataclass(frozen=True, eq=False)
class Lines:
    """Segments (k, 2, 2) [m on the page], widths (k,) [points] and colors (k, 4) of one frame, the farthest first."""

    segments: Array
    widths: Array
    colors: AnyArray


@dataclass(frozen=True, eq=False)
class View:
    """The side view of a picture, which moves along with the subject; the first quantity colors the muscles."""

    data: PictureData

    @cached_property
    def axes(self) -> Array:
        """(3, 3) right, up and away on the page, in the axes of the laboratory."""
        azimuth = self.data.heading + TURN
        right = np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
        away = np.array([-np.sin(azimuth) * np.cos(TILT), np.cos(azimuth) * np.cos(TILT), -np.sin(TILT)])
        return np.stack([right, np.cross(away, right) * -1.0, away])

    @cached_property
    def height(self) -> float:
        """From the floor to the top of the head [m]."""
        every = np.concatenate([self.data.position, self.data.path], axis=1)
        top = float(np.nanmax(every[..., 2], initial=self.floor + 1.0))
        return top - self.floor + 0.08

    @property
    def floor(self) -> float:
        """Height of the ground [m]."""
        return self.data.floor

    @cached_property
    def reach(self) -> float:
        """How far to the side of the middle anything gets [m]."""
        if not self.data.simulated:
            return 0.0
        away = (self.data.position - self.centers[:, None]) @ self.axes[0]
        return float(np.nanmax(np.abs(away), initial=0.0)) + 0.1

    @cached_property
    def centers(self) -> Array:
        """(T, 3) what the view moves along with: a straight line through the places of the body."""
        every = np.concatenate([self.data.position, self.data.path], axis=1)
        known = np.isfinite(every).all(axis=2)
        middle = (
            np.where(known[..., None], every, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)[:, None]
        )
        time = self.data.time - self.data.time[0]
        order = 1 if len(time) > 1 else 0
        fitted = np.stack([np.polyval(np.polyfit(time, column, order), time) for column in middle.T], axis=1)
        fitted[:, 2] = self.floor
        return fitted

    def flat(self, points: Array, frame: int) -> Array:
        """Right, up and away (k, 3) [m] of points (k, 3) in space."""
        return (points - self.centers[frame]) @ self.axes.T

    def lines(self, frame: int) -> Lines:
        """Everything that is drawn in a frame."""
        data = self.data
        found = [
            self._bones(frame),
            self._muscles(frame),
            self._arrows(data.ground, frame),
            self._rims(frame),
        ]
        ends = np.concatenate([part[0] for part in found])
        placed = self.flat(ends.reshape(-1, 3), frame).reshape(-1, 2, 3)
        (known,) = np.nonzero(np.isfinite(placed).all(axis=(1, 2)))
        order = known[np.argsort(-placed[known, :, 2].mean(axis=1), kind="stable")]
        widths, hues = (np.concatenate([part[k] for part in found])[order] for k in (1, 2))
        return Lines(placed[order, :, :2], widths, hues)

    def grid(self, frame: int) -> Array:
        """Lines of the floor (k, 2, 2), half a metre apart, which stay where they are while the view moves."""
        if not self.data.level:
            return np.zeros((0, 2, 2))
        x, y = np.round(2.0 * self.centers[frame, :2]) / 2.0
        steps = np.arange(-2.0, 2.01, 0.5)
        low, high = np.full(steps.shape, -2.0), np.full(steps.shape, 2.0)
        across = np.stack([np.stack([steps, low], 1), np.stack([steps, high], 1)], 1)
        flat = np.concatenate([across, across[..., ::-1]]) + np.array([x, y])
        ends = np.concatenate([flat, np.full((*flat.shape[:2], 1), self.floor)], axis=2)
        return self.flat(ends.reshape(-1, 3), frame).reshape(-1, 2, 3)[..., :2]

    def _bones(self, frame: int) -> tuple[Array, Array, AnyArray]:
        """Those of a head of more than a line are drawn as its outline."""
        bones, outlines = self.data.bones, [np.zeros((0, 2, 3))]
        for head in self._heads:
            points: list[int] = head["points"]
            if len(points) > 2:
                kept = [bone for bone in bones.tolist() if not set(bone) <= set(points)]
                bones = np.array(kept, np.intp).reshape(-1, 2)
            outlines.append(self._outline(frame, head))
        ends = np.concatenate([self.data.position[frame][bones], *outlines])
        return ends, np.full(len(ends), 3.4), _painted(BONE, len(ends))

    @cached_property
    def _heads(self) -> list[dict[str, Any]]:
        """None where surfaces are drawn."""
        table = bundled_toml(__package__, "picture.toml")["head"]
        return [] if self.data.shapes is not None else heads_of(self.data, table)

    def _rims(self, frame: int) -> tuple[Array, Array, AnyArray]:
        """The outlines of surfaces, as seen from the viewer."""
        from matplotlib.colors import to_rgba_array

        shapes = self.data.shapes
        if shapes is None or not shapes.names:
            return np.zeros((0, 2, 3)), np.zeros(0), np.zeros((0, 4))
        angle = np.linspace(0.0, 2.0 * np.pi, RIM + 1)[:, None]
        rims = shapes.rims(frame, np.cos(angle) * self.axes[0] + np.sin(angle) * self.axes[1])
        ends = np.stack([rims[:, :-1], rims[:, 1:]], axis=2).reshape(-1, 2, 3)
        hues = to_rgba_array(shape_colors(shapes, bundled_toml(__package__, "picture.toml")["shape"]))
        return ends, np.full(len(ends), 0.9), np.repeat(hues, RIM, axis=0)

    def _outline(self, frame: int, head: dict[str, Any]) -> Array:
        """An ellipse that faces the viewer, as segments (k, 2, 3)."""
        position = self.data.position[frame]
        center = np.array(head["weights"]) @ position[head["points"]]
        up = position[head["up"][1]] - position[head["up"][0]]
        across = np.cross(up, self.axes[2])
        angle = np.linspace(0.0, 2.0 * np.pi, 25)[:, None]
        wide, high = (
            radius * each / max(float(np.linalg.norm(each)), 1e-9)
            for radius, each in zip(head["radii"], (across, up), strict=True)
        )
        rim = center + np.cos(angle) * wide + np.sin(angle) * high
        return np.stack([rim[:-1], rim[1:]], axis=1)

    def _muscles(self, frame: int) -> tuple[Array, Array, AnyArray]:
        """Segments between neighboring points of one muscle."""
        data = self.data
        owner = np.repeat(np.arange(len(data.muscles)), np.diff(data.first))
        (start,) = np.nonzero(owner[1:] == owner[:-1])
        path = data.path[frame]
        ends = np.stack([path[start], path[start + 1]], axis=1)
        of = owner[start]
        if not data.quantities or not len(of):
            return ends, np.full(len(ends), 1.5), _painted(GRAY, len(ends))
        share = self._share[frame][of]
        known = np.isfinite(share)
        width = np.where(known, 1.0 + 5.0 * (0.3 + 0.7 * data.size[of]) * np.nan_to_num(share), 0.8)
        hue = self._palette[np.rint(np.nan_to_num(share) * (len(self._palette) - 1)).astype(int)]
        return ends, width, np.where(known[:, None], hue, _painted(GRAY, len(ends)))

    def _arrows(self, arrows: Arrows, frame: int) -> tuple[Array, Array, AnyArray]:
        """Shafts, and two strokes for each tip."""
        assert arrows.place is not None
        start = arrows.place[frame]
        force = arrows.force[frame] * GROUND_SCALE / (self.data.weight or 1000.0)
        tip, away = start + force, self.axes[2]
        across = np.cross(force, away)
        size = np.linalg.norm(across, axis=1, keepdims=True)
        length = np.linalg.norm(force, axis=1, keepdims=True)
        head = np.minimum(0.06, 0.6 * length)
        across = 0.42 * head * across / np.where(size > 1e-9, size, 1.0)
        back = tip - head * force / np.where(length > 1e-9, length, 1.0)
        ends = np.concatenate(
            [np.stack(pair, 1) for pair in ((start, tip), (tip, back + across), (tip, back - across))]
        )
        return ends, np.full(len(ends), 3.0), _painted(GROUND, len(ends))

    @cached_property
    def _share(self) -> Array:
        """(T, n) of the range of the quantity."""
        quantity = self.data.quantities[0]
        low = quantity.about["low"]
        return np.clip((quantity.values - low) / (quantity.high - low), 0.0, 1.0)

    @cached_property
    def _palette(self) -> AnyArray:
        from matplotlib.colors import to_rgba_array

        return np.asarray(to_rgba_array(colors(self.data.quantities[0].about)))


def _painted(color: str, count: int) -> AnyArray:
    from matplotlib.colors import to_rgba

    return np.tile(to_rgba(color), (count, 1))
