"""Markers: the landmark of each marker, in a picture and as a list; suggestions from names are marked."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from nicegui import ui

from musclesolve._util.sides import SIDE_NAMES
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.fields import field
from musclesolve.apps.desk.marker_meaning import (
    Mapped,
    Meaning,
    Recording,
    cell_text,
    clipped,
    in_words,
    missing_text,
    names_of,
    parts,
    plain_words,
    row_title,
    seen_text,
    source_text,
    way_text,
)
from musclesolve.apps.desk.marker_picture import COLORS, MarkerScene, Picture
from musclesolve.apps.desk.trial_document import Place, change_title
from musclesolve.apps.desk.view import Focus, State, Step, View, hint, show_fault, small_button
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.markers.landmarks import landmarks
from musclesolve.laboratory.markers.marker_names import marker_sets, markers_of

NO_SET, FEWEST_MARKERS = "", 3
"""Choice of no set; markers of a cluster."""
VIEWS = (
    ("Front", 0.0, 0.05),
    ("Right", -np.pi / 2, 0.05),
    ("Back", np.pi, 0.05),
    ("Above", -np.pi / 2, 1.57),
)
"""Title, azimuth and height of the camera [rad]."""
AXES = {
    "forward": "Walking direction",
    "up": "Upwards",
    "static_forward": "Standing trial: direction faced",
    "static_up": "Standing trial: upward",
}
"""Key of [laboratory] -> its title."""
JOINTS_AND_GAPS = {
    ("joint_centers", "hip"): "Hip joint centers",
    ("joint_centers", "knee"): "Knees",
    ("joint_centers", "ankle"): "Ankles",
    ("gaps", "spline_s"): "Gaps filled by a spline, up to [s]",
    ("gaps", "rigid_s"): "Gaps filled by its body, up to [s]",
}
"""Table and key of the trial file -> its title."""
AROUND = 0.6
"""Size of the surroundings of a chosen landmark in the picture [m]."""
MOST_FAULTS = 4
"""Largest number of faults in this step; step Check shows all."""
LEGEND = (*SIDE_NAMES.items(), ("m", "middle"), ("", "not mapped"))


@dataclass
class Shown:
    """Marker view of a window, kept while the page is drawn anew.

    focus: of the window, at that time. frame: None before the recording was read. landmark, marker: that are chosen.
    near: markers of which a click has meant one.
    """

    focus: Focus
    which: Recording
    frame: int | None = None
    landmark: str | None = None
    marker: str | None = None
    near: tuple[str, ...] = ()


_SHOWN = WeakKeyDictionary[View, Shown]()


class MarkersStep:
    """The step in one window."""

    def __init__(self, view: View) -> None:
        self.view, self.desk = view, view.desk
        self.meaning: Meaning | None = None
        self.fault = ""  # why the markers cannot be read now
        self.picture: Picture | None = None
        self.cells = dict[str, Cell]()
        self.needed = dict[str, ui.label]()  # by row of the list
        self.inputs = dict[Place, ui.select]()
        if view not in _SHOWN or _SHOWN[view].focus is not view.focus:
            marker = next(iter(view.focus.markers), None)
            _SHOWN[view] = Shown(
                view.focus, "standing" if view.focus.time is None else "motion", marker=marker
            )
        self.shown = _SHOWN[view]

    def show(self) -> None:
        """Draw it."""
        with ui.element("div").classes("ms-step-content") as self.root:
            self.wrong = Drawn(self._what_is_wrong)
            with ui.element("div").classes("ms-markers"):
                with ui.element("div").classes("ms-markers-picture") as self.beside:
                    with ui.element("div").classes("ms-scene"):
                        self.scene = MarkerScene(self._clicked)
                    controls = Drawn(self._controls)
                    self.chosen = Drawn(self._chosen)
                with ui.element("div").classes("ms-markers-list"):
                    offers = Drawn(self._known(self._offers))
                    self._list()
            tables = [
                Drawn(draw, title)
                for title, draw in (
                    ("Marker set", self._known(self._set)),
                    ("Laboratory axes", self._known(self._axes)),
                    ("Clusters and carried markers", self._known(self._clusters)),
                    ("Joint centers and gaps", self._joints_and_gaps),
                )
            ]
        self.drawn = (self.wrong, controls, self.chosen, offers, *tables)
        self.chosen.draw()
        self._look_soon()

    def _known(self, draw: Callable[[Meaning], None]) -> Callable[[], None]:
        """Return what draws a part once it is known what the markers mean."""
        return lambda: None if self.meaning is None else draw(self.meaning)

    def _look_soon(self) -> None:
        with self.root:
            ui.timer(0.0, self._look, once=True)

    async def _look(self) -> None:
        """Find what the markers mean by the text as it is now, and show it."""
        trial = self.desk.trial
        if trial is None:
            return
        path, text, which = trial.path, trial.text, self.shown.which
        try:
            meaning, picture = await asyncio.to_thread(self._found, path, text, which)
        except MuscleSolveError as error:
            if not self.root.is_deleted:
                self.fault = str(error)
                self.wrong.draw()
            return
        if (
            self.root.is_deleted
            or self.desk.trial is not trial
            or (trial.text, self.shown.which) != (text, which)
        ):
            return  # the step is not shown any more, or another search has started
        with self.root:
            self._take(meaning, picture)
            self.view.refresh_steps()

    def _found(self, path: Path, text: str, which: Recording) -> tuple[Meaning, Picture | None]:
        """Return the meaning of the markers, and the drawn recording: the motion where there is no standing trial."""
        meaning = self.desk.meanings.read(path, text)
        for recording in (which, "motion"):
            if meaning.recording(recording) is not None:
                return meaning, Picture(meaning, recording)
        return meaning, None

    def _take(self, meaning: Meaning, picture: Picture | None) -> None:
        self.meaning, self.picture, self.fault = meaning, picture, ""
        shown = self.shown
        if picture is not None:
            if (
                shown.frame is None
                or shown.which != picture.which
                or shown.frame >= picture.markers.time.size
            ):
                time = self.view.focus.time if picture.which == "motion" else None
                shown.frame = picture.best_frame if time is None else picture.frame_at(time)
            shown.which = picture.which
        for part in self.drawn:
            part.draw()
        self._update_cells()
        self.scene.set_visibility(picture is not None)
        if picture is not None and shown.frame is not None:
            self.scene.draw(picture, shown.frame, self._knows_axes())
            self._point_out()

    def _knows_axes(self) -> bool:
        return all(self.desk.opened.value("laboratory", key) for key in ("forward", "up"))

    def _point_out(self) -> None:
        if self.meaning is None:
            return
        mapped = None if self.shown.landmark is None else self.meaning.mapped[self.shown.landmark]
        self.scene.change(
            selected=self.shown.marker or "",
            marked=[*self.view.focus.markers, *(mapped.markers if mapped else ())],
            offered=list(markers_of(mapped.suggestion) if mapped else ()),
        )

    async def _state(self, changes: Mapping[Place, Any], focus: Place | None = None) -> bool:
        """State values of the trial file, and find what the markers mean by them; focus: the input that has it then."""
        with self.root:
            taken = self.view.state_all(changes)
            await self._look()
        if focus in self.inputs:
            self.inputs[focus].run_method("focus")
        return taken

    async def _map(self, name: str, way: Any, focus: bool = True) -> None:
        """Map a landmark; a cluster that carries its marker is stated with it. focus: whether its cell has it then."""
        assert self.meaning is not None
        if not await self._state(self.meaning.changes_of({name: way})):
            return
        if self.meaning.mapped[name].problem:
            self._choose(name)
        else:
            with self.root:
                self.view.say(f"{in_words(name)}: {way_text(way)}")
        if focus:
            self._focus(name)

    async def _clicked(self, markers: list[str]) -> None:
        """Select the clicked marker; of several, let the user choose one."""
        if len(markers) > 1:
            self.shown.near = tuple(markers)
            self.chosen.draw()
            self.scene.change(selected="", marked=[], offered=markers)
        else:
            await self._picked(markers[0] if markers else None)

    async def _picked(self, marker: str | None) -> None:
        """A marker was chosen in the picture, None beside all of them."""
        self.shown.near = ()
        name = self.shown.landmark
        if name is None or marker is None or self.meaning is None:
            self.shown.marker = marker
            self.chosen.draw()
            self._point_out()
            return
        self.shown.landmark = self._next(name)
        await self._map(name, self.meaning.written(marker), focus=False)
        if self.shown.landmark is not None:
            self._visit(self.shown.landmark)

    def _next(self, name: str) -> str | None:
        """The landmark that is needed next and not mapped, after one that is mapped now."""
        assert self.meaning is not None
        order = list(self.cells)
        missing = [of for of in order if of in self.meaning.missing and of != name]
        after = [of for of in missing if order.index(of) > order.index(name)]
        return next(iter([*after, *missing]), None)

    def _choose(self, name: str | None, by_key: bool = False) -> None:
        """Choose a landmark, or none; by_key: the list of its markers has the focus then."""
        self.shown.landmark, self.shown.marker, self.shown.near = name, None, ()
        self.chosen.draw()
        self._update_cells()
        self._point_out()
        if name is None:
            return
        self._visit(name)
        if by_key:
            self.inputs["mapping", name].run_method("focus")
        else:
            with self.root:
                ui.run_javascript(f"getHtmlElement({self.beside.id})?.scrollIntoView({{block: 'nearest'}})")

    def _visit(self, name: str) -> None:
        """Bring a landmark, or where it would be looked for, into the middle of the picture."""
        if self.picture is not None and self.shown.frame is not None:
            self.scene.visit(self.picture.place_of(name, self.shown.frame), AROUND)

    def _focus(self, name: str) -> None:
        with self.root:
            ui.run_javascript(f"getHtmlElement({self.cells[name].button.id})?.focus({{preventScroll: true}})")

    def _controls(self) -> None:
        picture, frame = self.picture, self.shown.frame
        if self.meaning is None or picture is None or frame is None:
            return
        time = picture.markers.time
        with ui.row().classes("ms-scene-row"):
            if self.meaning.recording("standing") is not None:
                ui.toggle(
                    {"standing": "Standing trial", "motion": "Motion"},
                    value=picture.which,
                    on_change=self._show_other,
                ).props("dense no-caps unelevated toggle-color=primary").classes("ms-which")
            for title, turn, tilt in VIEWS:
                ui.button(
                    title, on_click=lambda _, at=(turn, tilt): self.scene.run_method("look", *at)
                ).props(f'flat dense aria-label="Seen from: {title.lower()}"')
            for icon, factor, title in (("add", 1.25, "Zoom in"), ("remove", 0.8, "Zoom out")):
                ui.button(icon=icon, on_click=lambda _, by=factor: self.scene.run_method("zoom", by)).props(
                    f'flat dense round size=sm aria-label="{title}"'
                )
            shifts = ui.checkbox(
                "Drag moves",
                value=self.scene.props["shifts"],
                on_change=lambda event: self.scene.change(shifts=event.value),
            ).props("dense")
            shifts.tooltip("dragging moves the picture instead of turning it; so do Shift and two fingers")
            ui.checkbox(
                "All names",
                value=self.scene.props["all"],
                on_change=lambda event: self.scene.change(all=event.value),
            ).props("dense")
        with ui.row().classes("ms-scene-row"):
            instant = ui.label(f"{time[frame]:.2f} s").classes("ms-instant-text")

            def moved(event: Any) -> None:
                self.shown.frame = round(event.value)
                instant.set_text(f"{time[self.shown.frame]:.2f} s")
                self.scene.change(moment=picture.moment(self.shown.frame))

            slider = ui.slider(min=0, max=time.size - 1, step=1, value=frame, on_change=moved)
            slider.props('aria-label="Instant"').classes("ms-instant")
            for kind, text in LEGEND:
                with ui.element("span").classes("ms-legend"):
                    ui.element("span").classes("ms-dot").style(f"background: {COLORS[kind]}")
                    ui.label(text)

    async def _show_other(self, event: Any) -> None:
        self.shown.which, self.shown.frame = event.value, None
        await self._look()

    def _chosen(self) -> None:
        meaning, shown = self.meaning, self.shown
        if meaning is None:
            ui.spinner()
            return
        with ui.element("div").classes("ms-chosen").props('aria-live="polite"'):
            if shown.near:
                self._of_several(meaning, shown.near)
            if shown.landmark is not None:
                self._of_landmark(meaning, meaning.mapped[shown.landmark])
            elif shown.marker is not None:
                self._of_marker(meaning, shown.marker)
            else:
                hint(
                    "Choose a landmark in the list, then click its marker. Or click a marker to see what it shows."
                )

    def _of_several(self, meaning: Meaning, markers: Sequence[str]) -> None:
        """Markers that lie over each other in the picture: which one was meant."""
        hint("Several markers lie here. Which one?")
        with ui.row().classes("ms-scene-row"):
            for marker in markers:
                shows = meaning.landmark_of.get(marker)
                button = ui.button(marker, on_click=lambda _, m=marker: self._picked(m))
                button.props("outline dense").tooltip(in_words(shows) if shows else "shows no landmark")
                point_out = partial(self.scene.change, selected=marker, marked=[], offered=list(markers))
                for event in ("mouseenter", "focus"):
                    button.on(event, lambda _, point_out=point_out: point_out())

    def _of_landmark(self, meaning: Meaning, mapped: Mapped) -> None:
        known = landmarks()[mapped.name]
        with ui.row().classes("ms-scene-row"):
            ui.label(in_words(mapped.name)).classes("ms-part")
            ui.label(mapped.name).classes("ms-key")
        if mapped.way is None:
            hint("Click its marker, or choose it here.")
        if mapped.needed:
            other = (
                f", or instead of it: {', '.join(map(plain_words, known.instead))}" if known.instead else ""
            )
            hint(f"Needed{other}.")
        elif known.required:
            there = [plain_words(name) for name in known.instead if meaning.mapped[name].way is not None]
            why = f": {there[0]} is mapped instead of it" if there else ": its joint is found by its motion"
            hint(f"Not needed{why}.")
        elif known.without:
            hint(f"Without it: {known.without}.")
        if mapped.problem:
            ui.label(clipped(mapped.problem)).classes("ms-bad")
        options = {marker: self._option(meaning, marker, mapped.name) for marker in meaning.marker_names}
        weighted = isinstance(mapped.way, dict) and "weights" in mapped.way
        first, second = ([] if weighted else [*mapped.markers, None, None])[:2] or (None, None)
        with ui.row().classes("ms-scene-row"):
            one = self.inputs["mapping", mapped.name] = self._marker_select("Marker", options, first)
            two = self._marker_select("midway to (optional)", options, second)

            async def stated(_: Any) -> None:
                if one.value is None:
                    return
                markers = [meaning.written(marker) for marker in (one.value, two.value) if marker is not None]
                await self._map(mapped.name, markers[0] if len(markers) == 1 else {"midpoint": markers})

            one.on_value_change(stated)
            two.on_value_change(stated)
        if weighted:
            hint(f"{way_text(mapped.way)}: to be changed in the trial file.")
        with ui.row().classes("ms-scene-row"):
            if mapped.suggestion is not None:
                small_button(
                    f"Take the suggestion: {way_text(mapped.suggestion)}",
                    lambda: self._map(mapped.name, mapped.suggestion),
                )
            for source, text, value in (
                ("file", "Remove", None),
                ("set", "Leave it out", False),
                ("left out", "Use it again", None),
            ):
                if mapped.source == source:
                    ui.button(text, on_click=lambda _, v=value: self._restate_landmark(mapped.name, v)).props(
                        "flat dense"
                    )
            ui.button("Done", on_click=lambda: self._choose(None)).props("flat dense")
        if mapped.source:
            hint(source_text(mapped, meaning))

    async def _restate_landmark(self, name: str, value: Any) -> None:
        await self._state({("mapping", name): value})
        self._focus(name)

    def _of_marker(self, meaning: Meaning, marker: str) -> None:
        ui.label(f"Marker {marker}").classes("ms-part")
        hint(". ".join(seen_text(meaning, marker)) + ".")
        shown = [in_words(name) for name, way in meaning.mapped.items() if marker in way.markers]
        hint("Shows: " + "; ".join(shown) if shown else "Shows no landmark.")
        if clusters := [name for name, markers in meaning.clusters.items() if marker in markers]:
            hint(f"Belongs to the cluster {' and '.join(clusters)}.")
        if marker in meaning.carried:
            hint(f"Carried into the motion by the cluster {meaning.carried[marker]}.")

        async def stated(event: Any) -> None:
            if event.value is not None:
                await self._map(event.value, meaning.written(marker))

        options = {
            name: f"{in_words(name)} ({name})"
            for part in parts()
            for stem in part.landmarks
            for name in names_of(stem)
        }
        ui.select(options, label="It is the", with_input=True, on_change=stated).classes("ms-wide")

    @staticmethod
    def _marker_select(title: str, options: dict[str, str], value: str | None) -> ui.select:
        select = ui.select(
            options
            if value is None or value in options
            else {**options, value: f"{value} (not in the files)"},
            label=title,
            value=value,
            with_input=True,
            clearable=True,
        )
        select.classes("ms-marker-select")
        return select

    @staticmethod
    def _option(meaning: Meaning, marker: str, landmark: str) -> str:
        """A marker in a list: its name, where it is seen, and its landmark, or its place on the body."""
        moving, shows = meaning.recording("motion"), meaning.landmark_of.get(marker)
        notes = [] if moving is None or marker in moving else ["standing trial only"]
        notes += [f"is {shows}"] if shows not in (None, landmark) else []
        notes += [place] if shows is None and (place := meaning.place_of(marker)) else []
        return f"{marker} ({', '.join(notes)})" if notes else marker

    def _list(self) -> None:
        hint("Green: by the trial file; blue: by the marker set; dashed: suggested; red: missing or wrong.")
        with ui.element("table").classes("ms-landmarks"):
            with ui.element("thead"), ui.element("tr"):
                for title in ("Landmark", "Right", "Left"):
                    with ui.element("th").props('scope="col"'):
                        ui.label(title)
            with ui.element("tbody"):
                for part in parts():
                    with (
                        ui.element("tr"),
                        ui.element("th").props('colspan="3" scope="colgroup"').classes("ms-group"),
                    ):
                        ui.label(part.title)
                    for stem in part.landmarks:
                        self._row(stem)

    def _row(self, stem: str) -> None:
        names = names_of(stem)
        with ui.element("tr"):
            with ui.element("th").props('scope="row"'):
                ui.label(row_title(names[0]))
                with ui.element("div").classes("ms-row-notes"):
                    ui.label(stem).classes("ms-key")
                    needed = ui.label("needed").classes("ms-needed")
                    needed.set_visibility(False)
            for name in names:
                with ui.element("td").props("" if len(names) > 1 else 'colspan="2"'):
                    self.cells[name] = Cell(name, self._choose_or_not)
            self.needed[stem] = needed

    def _choose_or_not(self, name: str, by_key: bool) -> None:
        self._choose(None if name == self.shown.landmark else name, by_key)

    def _update_cells(self) -> None:
        if self.meaning is not None:
            for name, cell in self.cells.items():
                cell.show(self.meaning.mapped[name], name == self.shown.landmark)
            for stem, label in self.needed.items():
                label.set_visibility(any(self.meaning.mapped[name].needed for name in names_of(stem)))

    def _offers(self, meaning: Meaning) -> None:
        if meaning.proposed is None or not meaning.suggestions:
            return
        proposal, suggestions = meaning.proposed, meaning.suggestions
        by_set = proposal.set if meaning.chosen_set is None else None
        with ui.element("div").classes("ms-offer"):
            count = "one more landmark" if len(suggestions) == 1 else f"{len(suggestions)} more landmarks"
            text = f"The names of the markers suggest {count}, with a question mark in the list."
            if by_set is not None:
                shown = sum(name in proposal.mapping for name in by_set.mapping)
                text = (
                    f"The markers have the names of the marker set {by_set.name}: {by_set.description}; "
                    f"{shown} of its {len(by_set.mapping)} landmarks are there. "
                    "Suggestions have a question mark in the list."
                )
            ui.label(text).classes("ms-suggested")
            if by_set is not None:
                small_button("Use this set", lambda: self._state({("markers", "set"): by_set.name}))
            small_button(
                "Accept the suggestion"
                if len(suggestions) == 1
                else f"Accept all {len(suggestions)} suggestions",
                lambda: self._state(meaning.changes_of(suggestions)),
            )

    def _what_is_wrong(self) -> None:
        if self.fault:
            show_fault(self.fault)
            return
        meaning = self.meaning
        if meaning is None:
            return
        with ui.element("div").classes("ms-wrong").props('aria-live="polite"'):
            if meaning.missing:
                ui.label(f"Needed and not mapped: {missing_text(meaning.missing)}.").classes("ms-suggested")
            elif not meaning.faults and not meaning.axes_to_state:
                ui.label("Every landmark that is needed has its marker.").classes("ms-complete")
            self._wrong_axes(meaning)
            for finding in meaning.faults[:MOST_FAULTS]:
                with ui.element("div").classes("ms-problem"):
                    ui.label(clipped(finding.what)).classes(
                        "ms-bad" if finding.severity == "error" else "ms-suggested"
                    )
                    hint(clipped(finding.remedy))
                    if finding.change:
                        small_button(
                            change_title(finding.change),
                            lambda _, changes=dict(finding.change): self._state(changes),
                        )
            if (more := len(meaning.faults) - MOST_FAULTS) > 0:
                hint(f"And {more} more: the step Check shows all.")

    def _wrong_axes(self, meaning: Meaning) -> None:
        axes = meaning.axes_to_state
        if not axes:
            return
        words = "; ".join(f"{AXES[key].lower()} {axis}" for key, axis in axes.items() if axis)
        how = "are not stated" if not self._knows_axes() else "are other ones by the markers"
        with ui.element("div").classes("ms-offer"):
            ui.label(f"The axes of the files {how}: {words}.").classes("ms-suggested")
            small_button(
                "Use these axes",
                lambda: self._state({("laboratory", key): axis for key, axis in axes.items()}),
            )

    def _set(self, meaning: Meaning) -> None:
        hint(
            "A marker set maps the markers of a common laboratory protocol by their names. Landmarks that are mapped "
            "one by one override it."
        )
        options = {NO_SET: "none: landmarks are mapped one by one"}
        options |= {name: f"{name}: {known.description}" for name, known in marker_sets().items()}
        if meaning.chosen_set:
            options.setdefault(meaning.chosen_set, f"{meaning.chosen_set}, a file of your own")

        async def chosen(event: Any) -> None:
            await self._state({("markers", "set"): event.value or None}, ("markers", "set"))

        self.inputs["markers", "set"] = ui.select(
            options, value=meaning.chosen_set or NO_SET, label="Marker set", on_change=chosen
        ).classes("w-full")
        field(self.view, "markers", "person", "Whose markers", then=self._look_soon)

    def _axes(self, _: Meaning) -> None:
        hint(
            "How the axes of the files lie: the picture shows them at its lower left, and the walking direction on "
            "the floor."
        )
        for key, title in AXES.items():
            field(self.view, "laboratory", key, title, then=self._look_soon)

    def _joints_and_gaps(self) -> None:
        for (table, key), title in JOINTS_AND_GAPS.items():
            field(self.view, table, key, title, then=self._look_soon)

    def _clusters(self, meaning: Meaning) -> None:
        hint(
            "A cluster is three or more markers that move as one body. It carries markers that only the standing trial "
            "shows, such as markers of the medial epicondyles, into the motion."
        )
        stated = self.desk.opened.value("clusters") or {}
        for name, markers in meaning.clusters.items():
            carries = [marker for marker, cluster in meaning.carried.items() if cluster == name]
            with ui.row().classes("ms-field"):
                self._several_markers(f"Cluster {name}", meaning, markers, ("clusters", name))
                with ui.column().classes("ms-beside"):
                    hint(f"Carries {', '.join(carries)}." if carries else "Carries no marker.")
                    hint(
                        "From the trial file."
                        if name in stated
                        else f"From the marker set {meaning.chosen_set}."
                    )
        self._carried(meaning)
        self._new_cluster(meaning)

    def _carried(self, meaning: Meaning) -> None:
        standing, moving = meaning.recording("standing"), meaning.recording("motion")
        if standing is None or moving is None:
            return
        alone = [
            marker for marker in standing.names if marker not in moving and marker in meaning.landmark_of
        ]
        for marker in dict.fromkeys([*meaning.carried, *alone]):
            shows = meaning.landmark_of.get(marker)
            clusters = {"": "none", **{name: name for name in meaning.clusters}}
            with ui.row().classes("ms-field"):
                self.inputs["carried", marker] = ui.select(
                    clusters,
                    value=meaning.carried.get(marker, ""),
                    label=f"{marker} is carried by",
                    on_change=lambda event, marker=marker: self._restate(
                        ("carried", marker), event.value or None
                    ),
                ).classes("ms-input")
                hint(f"{in_words(shows)}." if shows else "Shows no landmark.")

    def _several_markers(self, title: str, meaning: Meaning, chosen: list[str], place: Place) -> None:
        """A list of markers; it is stated when the choice is closed, or when one is taken out beside it."""
        options = list(dict.fromkeys([*meaning.marker_names, *chosen]))
        select = ui.select(options, value=chosen, label=title, multiple=True, with_input=True)
        select.props("use-chips").classes("ms-wide")
        self.inputs[place] = select
        is_open = [False]

        async def closed() -> None:
            is_open[0] = False
            if select.value != chosen:
                await self._restate(place, [meaning.written(marker) for marker in select.value])

        async def changed() -> None:
            if not is_open[0]:
                await closed()

        select.on("popup-show", lambda: is_open.__setitem__(0, True))
        select.on("popup-hide", closed)
        select.on_value_change(changed)

    async def _restate(self, place: Place, value: Any) -> None:
        """State a cluster or the points that it carries; a cluster of too few markers is no cluster."""
        if isinstance(value, list) and 0 < len(value) < FEWEST_MARKERS:
            self.view.say(
                f"A cluster has {FEWEST_MARKERS} markers or more; none removes it from the trial file.",
                bad=True,
            )
            return
        await self._state({place: value or None}, place)

    def _new_cluster(self, meaning: Meaning) -> None:
        with ui.row().classes("ms-field"):
            name = ui.input("Name of a new cluster", placeholder="thigh_r").classes("ms-input")
            markers = ui.select(meaning.marker_names, label="Its markers", multiple=True, with_input=True)
            markers.props("use-chips").classes("ms-wide")

            async def add() -> None:
                if not name.value.strip() or len(markers.value or ()) < FEWEST_MARKERS:
                    self.view.say(f"A cluster has a name, and {FEWEST_MARKERS} markers or more.", bad=True)
                    return
                await self._state(
                    {("clusters", name.value.strip()): [meaning.written(m) for m in markers.value]}
                )

            small_button("Add", add)


class Drawn:
    """A part of the page that is drawn again as a whole.

    Args:
        content: draws it.
        title: of a part that can be opened and closed; one that is closed is not drawn, because lists are long.
    """

    def __init__(self, content: Callable[[], None], title: str = "") -> None:
        self._content = content
        self._expansion = ui.expansion(title, on_value_change=self.draw).classes("w-full") if title else None
        with self._expansion or nullcontext():
            self._box = ui.element("div").classes("ms-drawn")

    def draw(self) -> None:
        """Draw the part with the present data."""
        self._box.clear()
        if self._expansion is None or self._expansion.value:
            with self._box:
                self._content()


class Cell:
    """A landmark of one side in the list: its marker, what is suggested, or that it is missing.

    Args:
        name: of the landmark.
        choose: called with the name, and whether a key chose it.
    """

    def __init__(self, name: str, choose: Callable[[str, bool], None]) -> None:
        self.name, self._kind = name, ""
        self.button = ui.button().props("flat dense align=left").classes("ms-cell")
        self.button.props["aria-label"] = in_words(name)
        # A click by a key has no count of clicks.
        self.button.on("click", lambda event: choose(name, event.args["detail"] == 0), ["detail"])

    def show(self, mapped: Mapped, chosen: bool) -> None:
        """Show what is known of it."""
        text, kind, said = cell_text(mapped)
        kind = f"ms-cell-{kind}" + (" ms-cell-here" if chosen else "")
        self.button.set_text(text)
        self.button.props["aria-label"] = f"{in_words(self.name)}: {said}"
        self.button.props["aria-pressed"] = "true" if chosen else "false"
        self.button.classes(remove=self._kind, add=kind)
        self._kind = kind


def state(desk: Desk) -> State:
    """Return the state of the step: whether every required landmark is mapped, in known axes; by the text alone before
    files were read.
    """
    if desk.is_model:
        return "done"
    trial = desk.opened
    meaning = desk.meanings.known(trial.path, trial.text)
    if meaning is not None:
        if any(finding.severity == "error" for finding in meaning.faults):
            return "fault"
        return "open" if meaning.missing or meaning.axes_to_state else "done"
    chosen = marker_sets().get(trial.value("markers", "set") or "")
    mapped = {*(trial.value("mapping") or ()), *(chosen.mapping if chosen else ())}
    needed = [
        landmark for landmark in landmarks().values() if landmark.required and landmark.name not in mapped
    ]
    return "open" if any(mapped.isdisjoint(part.instead) for part in needed) else "done"


MARKERS = Step(
    "markers",
    "Markers",
    "Which marker shows which landmark of the body.",
    lambda view: MarkersStep(view).show(),
    state,
    of_model="The markers of an OpenSim model are part of the model: there is nothing to map.",
)
