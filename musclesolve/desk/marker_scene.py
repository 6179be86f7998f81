"""The markers of a recording in three dimensions, at one instant: a canvas that is turned and zoomed in the browser."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui.element import Element
from nicegui.events import GenericEventArguments

from musclesolve.desk.marker_meaning import laboratory_rotation
from musclesolve.desk.marker_picture import COLORS, Picture


class MarkerScene(Element, component="marker_scene.js"):
    """The picture in the page.

    Args:
        on_pick: called with the markers at a click, the nearest first; with none beside all markers.
    """

    def __init__(self, on_pick: Callable[[list[str]], Any]) -> None:
        super().__init__()
        for name in ("names", "kinds", "lines", "axes", "marked", "offered"):
            self._props[name] = []
        self._props["colors"], self._props["all"] = COLORS, False
        self._props["shifts"], self._props["label"] = False, "The markers, which are being read."

        def pick(event: GenericEventArguments) -> Any:
            return on_pick(list(event.args["names"]))

        self.on("pick", pick)

    def draw(self, picture: Picture, frame: int, ahead: bool) -> None:
        """Draw a recording at one of its frames; ahead: whether the walking direction is known."""
        rotation = laboratory_rotation(picture.meaning, picture.which)
        floor, height = picture.extent
        self._props |= {
            "names": list(picture.markers.names),
            "kinds": picture.kinds,
            "lines": picture.lines,
            "axes": [] if rotation is None else rotation.T.tolist(),
            "ahead": ahead,
            "floor": floor,
            "facing": picture.facing,
            "height": height,
            "moment": picture.moment(frame),
            "label": f"The markers of the {'standing trial' if picture.which == 'standing' else 'motion'}. "
            "Drag or arrow keys turn it, with Shift they move it, plus and minus zoom, Home shows it as at first. "
            "Markers can be chosen from the list beside it, too.",
        }
        self.update()

    def show_frame(self, picture: Picture, frame: int) -> None:
        """Draw another frame of the same recording."""
        self._props["moment"] = picture.moment(frame)
        self.update()

    def point_out(self, selected: str | None, marked: Sequence[str], offered: Sequence[str]) -> None:
        """Point out the marker that is selected, others, and those that are suggested."""
        self._props |= {"selected": selected or "", "marked": list(marked), "offered": list(offered)}
        self.update()

    def visit(self, place: Sequence[float] | None, around: float) -> None:
        """Center a place [m] with some surroundings [m]; the whole body where the place is unknown."""
        self.run_method("visit", None if place is None else list(place), around)

    @property
    def drag_shifts(self) -> bool:
        """Whether dragging moves the picture instead of turning it."""
        return bool(self._props["shifts"])

    def let_drag_shift(self, shifts: bool) -> None:
        """Let dragging move the picture, or turn it."""
        self._props["shifts"] = shifts
        self.update()

    @property
    def names_all(self) -> bool:
        """Whether every name is shown."""
        return bool(self._props["all"])

    def name_all(self, shown: bool) -> None:
        """Show every name, or the requested names."""
        self._props["all"] = shown
        self.update()
