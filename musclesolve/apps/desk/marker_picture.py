"""The picture of one recording in three dimensions: its markers, lines and floor in each frame, and its canvas."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from nicegui.element import Element

from musclesolve._util.arrays import Array, mean_of_known
from musclesolve._util.sides import has_side
from musclesolve.apps.desk.marker_meaning import (
    Meaning,
    Recording,
    laboratory_rotation,
    landmark_paths,
    parts,
)
from musclesolve.apps.desk.view import SIDE_COLOR
from musclesolve.laboratory.checks.observed_body import ahead
from musclesolve.laboratory.markers.marker_names import markers_of

COLORS = {**SIDE_COLOR, "m": "var(--ink)", "": "var(--faint)"}
"""By side: right, left, mapped without side, not mapped."""
USUAL_HEIGHT = 1.8
"""Height of a picture without landmarks that show it [m]."""


class Picture:
    """The picture of one recording.

    Args:
        meaning: of its markers.
        which: the standing trial or the motion.
    """

    def __init__(self, meaning: Meaning, which: Recording) -> None:
        case, markers = meaning.case, meaning.recording(which)
        assert case is not None
        assert markers is not None
        self.meaning, self.which, self.markers, self.trial = meaning, which, markers, case.trial
        self.paths = landmark_paths(case.trial, markers)
        self.names = list(self.paths)

    @property
    def kinds(self) -> list[str]:
        """The side of each marker: "r", "l", "m" of the middle, "" where it shows no landmark."""
        sides = {
            marker: name[-1] if has_side(name) else "m" for marker, name in self.meaning.landmark_of.items()
        }
        return [sides.get(name, "") for name in self.markers.names]

    @property
    def lines(self) -> list[tuple[int, int, str]]:
        """Pairs of landmarks (their numbers) between which a line is drawn, with the side."""
        return [
            (
                self.names.index(one),
                self.names.index(other),
                one[-1] if one[-2:] == other[-2:] in ("_r", "_l") else "m",
            )
            for part in parts()
            for one, other in part.lines
            if one in self.paths and other in self.paths
        ]

    @cached_property
    def extent(self) -> tuple[float, float]:
        """Height of the floor, and of the body above it [m]: by landmarks, or all markers where one is missing."""
        whole = self.paths and not self.meaning.missing
        paths = list(self.paths.values()) if whole else [self.markers.position.reshape(-1, 3)]
        heights = np.concatenate([path[:, 2] for path in paths])
        heights = heights[np.isfinite(heights)]
        if not heights.size:
            return 0.0, USUAL_HEIGHT
        low, high = np.percentile(heights, [1.0, 99.0])
        # The lowest markers are on shoes, some centimeters above the floor.
        floor = 0.0 if -0.05 < low < 0.25 else float(low)
        return floor, max(float(high) - floor, 0.3)

    @cached_property
    def facing(self) -> float:
        """Facing direction of the subject, as an angle from the x axis about the z axis [rad]; 0 where unknown."""
        forward = ahead(self.trial, self.markers)
        mean = np.zeros(3) if forward is None else mean_of_known(forward)
        return float(np.arctan2(mean[1], mean[0])) if np.isfinite(mean).all() else 0.0

    @cached_property
    def best_frame(self) -> int:
        """The frame in which most markers are seen, of several the one in the middle."""
        count = np.isfinite(self.markers.position).all(axis=2).sum(axis=1)
        best = np.flatnonzero(count == count.max())
        return int(best[len(best) // 2])

    def frame_at(self, time: float) -> int:
        """The frame nearest to a time [s]."""
        return int(np.argmin(np.abs(self.markers.time - time)))

    def place_of(self, name: str, frame: int) -> list[float] | None:
        """Place of a landmark in a frame, or a place near it [m]; None where nothing near it is mapped.

        The order is: its own place, the place of its suggestion, of its part of the body on this side, on the other.
        """
        side = name[-2:] if has_side(name) else ""
        part = next(one for one in parts() if name.removesuffix(side) in one.landmarks)
        this = [f"{stem}{side}" for stem in part.landmarks]
        other = [f"{stem}{'_l' if side == '_r' else '_r'}" for stem in part.landmarks]
        suggested = markers_of(self.meaning.mapped[name].suggestion)
        for points in (
            [self.paths[one][frame] for one in (name,) if one in self.paths],
            [self.markers[one][frame] for one in suggested if one in self.markers],
            [self.paths[one][frame] for one in this if one in self.paths],
            [self.paths[one][frame] for one in other if one in self.paths],
        ):
            seen = [point for point in points if np.isfinite(point).all()]
            if seen:
                return [round(float(x), 4) for x in np.mean(seen, axis=0)]
        return None

    def moment(self, frame: int) -> dict[str, Any]:
        """Return the places of markers and landmarks in a frame, and the point in the middle of the picture [m]."""
        markers = self.markers.position[frame]
        landmarks = np.array([path[frame] for path in self.paths.values()]).reshape(-1, 3)
        whole = np.isfinite(landmarks).all(axis=1).any() and not self.meaning.missing
        points = landmarks if whole else markers
        points = points[np.isfinite(points).all(axis=1)]
        floor, height = self.extent
        middle = np.median(points, axis=0) if len(points) else np.zeros(3)
        return {
            "markers": _rounded(markers),
            "landmarks": _rounded(landmarks),
            "center": _rounded([[float(middle[0]), float(middle[1]), floor + 0.47 * height]])[0],
        }


def _rounded(points: Array | Sequence[Sequence[float]]) -> list[list[float] | None]:
    """Round points (k, 3) to the millimeter; None for points that are not seen."""
    return [[round(float(x), 3) for x in point] if np.isfinite(point).all() else None for point in points]


class MarkerScene(Element, component="marker_scene.js"):
    """The picture in the page: a canvas that is turned and zoomed in the browser.

    Args:
        on_pick: called with the markers at a click, the nearest first; with none beside all markers.
    """

    def __init__(self, on_pick: Callable[[list[str]], Any]) -> None:
        super().__init__()
        self._props |= {name: [] for name in ("names", "kinds", "lines", "axes", "marked", "offered")}
        self._props |= {"colors": COLORS, "all": False, "shifts": False}
        self._props["label"] = "The markers, which are being read."
        self.on("pick", lambda event: on_pick(list(event.args["names"])))

    def change(self, **shown: Any) -> None:
        """Change what is shown.

        moment: of another frame. selected, marked, offered: the marker that is selected, others that are pointed out,
        and those that are suggested. shifts: whether dragging moves the picture instead of turning it. all: whether
        every name is shown, or the requested names alone.
        """
        self._props |= shown
        self.update()

    def draw(self, picture: Picture, frame: int, ahead: bool) -> None:
        """Draw a recording at one of its frames; ahead: whether the walking direction is known."""
        rotation = laboratory_rotation(picture.meaning, picture.which)
        floor, height = picture.extent
        self.change(
            names=list(picture.markers.names),
            kinds=picture.kinds,
            lines=picture.lines,
            axes=[] if rotation is None else rotation.T.tolist(),
            ahead=ahead,
            floor=floor,
            facing=picture.facing,
            height=height,
            moment=picture.moment(frame),
            label=f"The markers of the {'standing trial' if picture.which == 'standing' else 'motion'}. "
            "Drag or arrow keys turn it, with Shift they move it, plus and minus zoom, Home shows it as at first. "
            "Markers can be chosen from the list beside it, too.",
        )

    def visit(self, place: Sequence[float] | None, around: float) -> None:
        """Center a place [m] with some surroundings [m]; the whole body where the place is unknown."""
        self.run_method("visit", None if place is None else list(place), around)
