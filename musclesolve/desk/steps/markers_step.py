"""Markers: which marker shows which landmark, in a picture and as a list; what the names suggest is marked as such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from nicegui import ui

from musclesolve.desk.desk import Desk
from musclesolve.desk.fields import field
from musclesolve.desk.in_thread import in_thread
from musclesolve.desk.marker_meaning import Mapped, Meaning, Proposal, Recording, parts, way_text
from musclesolve.desk.marker_picture import COLORS, Picture
from musclesolve.desk.marker_scene import MarkerScene
from musclesolve.desk.trial_document import Place
from musclesolve.desk.view import State, Step, View
from musclesolve.recording.data import SIDES
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.marker_set import marker_sets, markers_of

NO_SET = ""
LONGEST_TEXT, LONGEST_TITLE = 260, 40
"""Characters of a sentence that is shown, and of the name of a row."""
VIEWS = (
    ("Front", 0.0, 0.05),
    ("Right", -np.pi / 2, 0.05),
    ("Back", np.pi, 0.05),
    ("Above", -np.pi / 2, 1.57),
)
"""Title, azimuth and height of the camera [rad]."""
AXES = ("forward", "up", "static_forward", "static_up")
LEGEND = (("r", "right"), ("l", "left"), ("m", "middle"), ("", "not mapped"))


def in_words(name: str) -> str:
    """A landmark in words: "asis_r" is "Right anterior superior iliac spine"."""
    words = landmarks()[name].description
    return words[0].upper() + words[1:]


class MarkersStep:
    """The step in one window."""

    def __init__(self, view: View) -> None:
        self.view, self.desk = view, view.desk
        self.meaning: Meaning | None = None
        self.picture: Picture | None = None
        self.which: Recording = "standing"
        self.frame = 0
        self.landmark: str | None = None
        self.marker: str | None = None

    def show(self) -> None:
        """Draw it."""
        if self.desk.is_model:
            ui.label("The markers of an OpenSim model are part of the model: there is nothing to map.")
            return
        assert self.desk.trial is not None
        self._what_is_wrong()
        with ui.element("div").classes("ms-markers"):
            with ui.element("div").classes("ms-markers-picture"):
                self._picture()
                self._chosen()
            with ui.element("div").classes("ms-markers-list"):
                self._list()
        self._tables()
        known = self.desk.meanings.known(self.desk.trial.path, self.desk.trial.text)
        if known is not None:
            self._take(known)
        else:
            ui.timer(0.0, self._look, once=True)

    # ---- what is known

    async def _look(self) -> None:
        """Find what the markers mean by the text as it is now, and show it."""
        trial = self.desk.trial
        if trial is None:
            return
        self._take(await in_thread(self.desk.meanings.of, trial.path, trial.text))
        self.view.refresh_steps()

    def _take(self, meaning: Meaning) -> None:
        first, self.meaning = self.meaning is None, meaning
        if first:
            focus = self.view.focus
            known = [marker for marker in focus.markers if marker in meaning.marker_names]
            self.marker = known[0] if known else None
            self.which = "motion" if focus.time is not None else "standing"
        if meaning.recording(self.which) is None:
            self.which = "motion"
        before = self.picture
        self.picture = None if meaning.case is None else Picture(meaning, self.which)
        if self.picture is not None and (
            before is None or before.markers.time.size != self.picture.markers.time.size
        ):
            time = self.view.focus.time
            self.frame = (
                self.picture.best_frame
                if time is None or self.which == "standing"
                else self.picture.frame_at(time)
            )
        self._what_is_wrong.refresh()
        self._controls.refresh()
        self._chosen.refresh()
        self._list.refresh()
        self._tables.refresh()
        self._draw()

    def _draw(self) -> None:
        """Draw the recording at its frame, with what is chosen."""
        assert self.meaning is not None
        if self.picture is None:
            return
        trial = self.desk.trial
        ahead = trial is not None and all(trial.value("laboratory", key) for key in ("forward", "up"))
        self.scene.draw(self.picture, self.frame, ahead)
        self._point_out()

    def _point_out(self) -> None:
        if self.meaning is None:
            return
        mapped = None if self.landmark is None else self.meaning.mapped[self.landmark]
        marked = [*self.view.focus.markers, *(mapped.markers if mapped else ())]
        self.scene.point_out(self.marker, marked, markers_of(mapped.suggestion) if mapped else ())

    # ---- changes

    async def _state(self, changes: dict[Place, Any]) -> bool:
        """State values of the trial file, and find what the markers mean by them."""
        taken = self.view.state_all(changes)
        await self._look()
        return taken

    async def _map(self, name: str, way: Any) -> None:
        """Map a landmark; a set or a cluster that carries its marker is stated with it."""
        assert self.meaning is not None
        if not await self._state(self.meaning.changes_of({name: way})):
            return
        if self.meaning.mapped[name].problem:
            self.landmark = name
            self._chosen.refresh()
            self._list.refresh()
            self._point_out()
        else:
            self.view.say(f"{in_words(name)}: {way_text(way)}")

    async def _picked(self, marker: str | None) -> None:
        """A marker was clicked, None beside all of them."""
        if self.landmark is None or marker is None:
            self.marker = marker
            self._chosen.refresh()
            self._point_out()
            return
        name, self.marker = self.landmark, None
        assert self.meaning is not None
        self.landmark = self._next(name)
        await self._map(name, self.meaning.written(marker))

    def _next(self, name: str) -> str | None:
        """The landmark that is needed next and not mapped, after one that is mapped now."""
        assert self.meaning is not None
        order = [of for part in parts() for stem in part.landmarks for of in names_of(stem)]
        missing = [of for of in order if of in self.meaning.missing and of != name]
        after = [of for of in missing if order.index(of) > order.index(name)]
        return next(iter([*after, *missing]), None)

    def _choose(self, name: str | None) -> None:
        """Choose a landmark, or none."""
        self.landmark = None if name == self.landmark else name
        self.marker = None
        self._chosen.refresh()
        self._list.refresh()
        self._point_out()

    # ---- the picture

    def _picture(self) -> None:
        with ui.element("div").classes("ms-scene"):
            self.scene = MarkerScene(self._picked)
        self._controls()

    @ui.refreshable_method
    def _controls(self) -> None:
        if self.meaning is None or self.picture is None:
            return
        time = self.picture.markers.time
        with ui.row().classes("ms-scene-row"):
            if self.meaning.recording("standing") is not None:
                ui.toggle(
                    {"standing": "Standing trial", "motion": "Motion"},
                    value=self.which,
                    on_change=self._show_other,
                ).props(
                    'dense no-caps unelevated toggle-color=primary color=white text-color=black aria-label="Recording"'
                ).classes("ms-which")
            for title, turn, tilt in VIEWS:
                ui.button(
                    title, on_click=lambda _, at=(turn, tilt): self.scene.run_method("look", *at)
                ).props(f'flat dense no-caps aria-label="Seen from: {title.lower()}"')
            for icon, factor, title in (("add", 1.25, "Zoom in"), ("remove", 0.8, "Zoom out")):
                ui.button(icon=icon, on_click=lambda _, by=factor: self.scene.run_method("zoom", by)).props(
                    f'flat dense round size=sm aria-label="{title}"'
                )
            ui.checkbox("All names", on_change=lambda event: self.scene.name_all(event.value)).props("dense")
        with ui.row().classes("ms-scene-row"):
            instant = ui.label(f"{time[self.frame]:.2f} s").classes("ms-instant-text")

            def moved(event: Any) -> None:
                self.frame = round(event.value)
                instant.set_text(f"{time[self.frame]:.2f} s")
                if self.picture is not None:
                    self.scene.show_frame(self.picture, self.frame)

            slider = ui.slider(min=0, max=time.size - 1, step=1, value=self.frame, on_change=moved)
            slider.props('aria-label="Instant"').classes("ms-instant")
            for kind, text in LEGEND:
                with ui.element("span").classes("ms-legend"):
                    ui.element("span").classes("ms-dot").style(f"background: {COLORS[kind]}")
                    ui.label(text)

    def _show_other(self, event: Any) -> None:
        self.which = event.value
        if self.meaning is not None:
            self.picture = None
            self._take(self.meaning)

    # ---- what is chosen

    @ui.refreshable_method
    def _chosen(self) -> None:
        meaning = self.meaning
        if meaning is None:
            ui.spinner()
            return
        with ui.element("div").classes("ms-chosen").props('aria-live="polite"'):
            if self.landmark is not None:
                self._of_landmark(meaning, meaning.mapped[self.landmark])
            elif self.marker is not None:
                self._of_marker(meaning, self.marker)
            else:
                ui.label(
                    "Choose a landmark in the list, then click its marker. Or click a marker to see what it shows."
                ).classes("ms-why")

    def _of_landmark(self, meaning: Meaning, mapped: Mapped) -> None:
        known = landmarks()[mapped.name]
        with ui.row().classes("ms-scene-row"):
            ui.label(in_words(mapped.name)).classes("ms-part")
            ui.label(mapped.name).classes("ms-key")
        if mapped.way is None:
            ui.label("Click its marker, or choose it here.").classes("ms-why")
        if known.required:
            other = (
                f", or instead of it: {', '.join(map(plain_words, known.instead))}" if known.instead else ""
            )
            ui.label(f"Needed{other}.").classes("ms-why")
        elif known.without:
            ui.label(f"Without it: {known.without}.").classes("ms-why")
        if mapped.problem:
            ui.label(clipped(mapped.problem)).classes("ms-bad")
        options = {marker: self._option(meaning, marker, mapped.name) for marker in meaning.marker_names}
        weighted = isinstance(mapped.way, dict) and "weights" in mapped.way
        first, second = ([] if weighted else [*mapped.markers, None, None])[:2] or (None, None)
        with ui.row().classes("ms-scene-row"):
            one = self._marker_select("Marker", options, first)
            two = self._marker_select("midway to (optional)", options, second)

            async def stated(_: Any) -> None:
                if one.value is None:
                    return
                markers = [meaning.written(marker) for marker in (one.value, two.value) if marker is not None]
                await self._map(mapped.name, markers[0] if len(markers) == 1 else {"midpoint": markers})

            one.on_value_change(stated)
            two.on_value_change(stated)
        if weighted:
            ui.label(f"{way_text(mapped.way)}: to be changed in the trial file.").classes("ms-why")
        with ui.row().classes("ms-scene-row"):
            if mapped.suggestion is not None:
                ui.button(
                    f"Take the suggestion: {way_text(mapped.suggestion)}",
                    on_click=lambda: self._map(mapped.name, mapped.suggestion),
                ).props("outline dense no-caps")
            place: Place = ("mapping", mapped.name)
            for source, text, value in (
                ("file", "Remove the line of the trial file", None),
                ("set", "Leave it out", False),
                ("left out", "Use it again", None),
            ):
                if mapped.source == source:
                    ui.button(text, on_click=lambda _, v=value: self._state({place: v})).props(
                        "flat dense no-caps"
                    )
            ui.button("Done", on_click=lambda: self._choose(None)).props("flat dense no-caps")
        if mapped.source:
            ui.label(source_text(mapped, meaning)).classes("ms-why")

    def _of_marker(self, meaning: Meaning, marker: str) -> None:
        ui.label(f"Marker {marker}").classes("ms-part")
        ui.label(". ".join(seen_text(meaning, marker)) + ".").classes("ms-why")
        shown = [in_words(name) for name, each in meaning.mapped.items() if marker in each.markers]
        ui.label("Shows: " + "; ".join(shown) if shown else "Shows no landmark.").classes("ms-why")

        async def stated(event: Any) -> None:
            if event.value is not None:
                await self._map(event.value, meaning.written(marker))

        options = {
            name: f"{in_words(name)} ({name})"
            for part in parts()
            for stem in part.landmarks
            for name in names_of(stem)
        }
        ui.select(options, label="It is the", with_input=True, on_change=stated).props(
            "outlined dense options-dense"
        ).classes("ms-wide")

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
        select.props("outlined dense options-dense").classes("ms-marker-select")
        return select

    @staticmethod
    def _option(meaning: Meaning, marker: str, landmark: str) -> str:
        """A marker in a list: its name, where it is seen, and what it shows already."""
        moving, shows = meaning.recording("motion"), meaning.landmark_of.get(marker)
        notes = [] if moving is None or marker in moving else ["standing trial only"]
        notes += [f"is {shows}"] if shows not in (None, landmark) else []
        return f"{marker} ({', '.join(notes)})" if notes else marker

    # ---- the list

    @ui.refreshable_method
    def _list(self) -> None:
        meaning = self.meaning
        if meaning is None:
            return
        self._suggested(meaning)
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
                        self._row(meaning, stem)

    def _suggested(self, meaning: Meaning) -> None:
        proposal, suggestions = meaning.proposed, meaning.suggestions
        if proposal is None:
            return
        if not suggestions:
            return
        by_set = proposal.set if meaning.chosen_set is None else None
        with ui.element("div").classes("ms-offer"):
            text = f"The names of the markers mean {len(suggestions)} more landmarks: those with a question mark."
            if by_set is not None:
                shown = sum(name in proposal.mapping for name in by_set.mapping)
                text = (
                    f"The names of the markers are those of the marker set {by_set.name}: {by_set.description}; "
                    f"{shown} of its {len(by_set.mapping)} landmarks are there. "
                    "Suggestions have a question mark in the list."
                )
            ui.label(text).classes("ms-suggested")
            if by_set is not None:
                ui.button(
                    "Use this set", on_click=lambda: self._state({("markers", "set"): by_set.name})
                ).props("outline dense no-caps")
            ui.button(
                f"Accept all {len(suggestions)} suggestions",
                on_click=lambda: self._state(meaning.changes_of(suggestions)),
            ).props("outline dense no-caps")

    def _row(self, meaning: Meaning, stem: str) -> None:
        names = names_of(stem)
        with ui.element("tr"):
            with ui.element("th").props('scope="row"'):
                ui.label(row_title(names[0]))
                with ui.element("div").classes("ms-row-notes"):
                    ui.label(stem).classes("ms-key")
                    if landmarks()[names[0]].required:
                        ui.label("needed").classes("ms-needed")
            for name in names:
                with ui.element("td").props("" if len(names) > 1 else 'colspan="2"'):
                    self._cell(meaning.mapped[name])

    def _cell(self, mapped: Mapped) -> None:
        """A landmark of one side: its marker, what is suggested, or that it is missing."""
        text, kind, said = cell_text(mapped)
        button = ui.button(text, on_click=lambda: self._choose(mapped.name)).props(
            "flat dense no-caps align=left"
        )
        button.props["aria-label"] = f"{in_words(mapped.name)}: {said}"
        button.props["aria-pressed"] = "true" if mapped.name == self.landmark else "false"
        button.classes(f"ms-cell ms-cell-{kind}" + (" ms-cell-here" if mapped.name == self.landmark else ""))

    # ---- what is wrong

    @ui.refreshable_method
    def _what_is_wrong(self) -> None:
        meaning = self.meaning
        if meaning is None:
            return
        with ui.element("div").classes("ms-wrong").props('aria-live="polite"'):
            if meaning.missing:
                ui.label(f"Needed and not mapped: {missing_text(meaning.missing)}.").classes("ms-suggested")
            elif not meaning.faults:
                ui.label("Every landmark that is needed has its marker.").classes("ms-complete")
            for finding in meaning.faults:
                with ui.element("div").classes("ms-problem"):
                    ui.label(clipped(finding.what)).classes(
                        "ms-bad" if finding.severity == "error" else "ms-suggested"
                    )
                    ui.label(clipped(finding.remedy)).classes("ms-why")

    # ---- set, axes, clusters

    @ui.refreshable_method
    def _tables(self) -> None:
        meaning, trial = self.meaning, self.desk.trial
        if meaning is None or trial is None:
            return
        with ui.expansion("Marker set", value=False).classes("w-full"):
            self._set(meaning)
        stated = all(trial.value("laboratory", key) for key in AXES[:2])
        with ui.expansion("Laboratory axes", value=not stated).classes("w-full"):
            self._axes(meaning)
        with ui.expansion("Clusters and carried markers", value=False).classes("w-full"):
            self._clusters(meaning)

    def _set(self, meaning: Meaning) -> None:
        ui.label(
            "A marker set maps the markers of a common laboratory protocol by their names. Landmarks that are mapped "
            "one by one override it."
        ).classes("ms-why")
        options = {NO_SET: "none: landmarks are mapped one by one"}
        options |= {name: f"{name}: {known.description}" for name, known in marker_sets().items()}
        if meaning.chosen_set:
            options.setdefault(meaning.chosen_set, f"{meaning.chosen_set}, a file of your own")

        async def chosen(event: Any) -> None:
            await self._state({("markers", "set"): event.value or None})

        ui.select(options, value=meaning.chosen_set or NO_SET, label="Marker set", on_change=chosen).props(
            "outlined dense options-dense"
        ).classes("w-full")

    def _axes(self, meaning: Meaning) -> None:
        trial = self.desk.trial
        assert trial is not None
        ui.label(
            "How the axes of the files lie: the picture shows them at its lower left, and the walking direction on "
            "the floor."
        ).classes("ms-why")
        proposal = meaning.proposed
        if proposal is not None and (shown := axes_of(proposal)):
            stated = {key: trial.value("laboratory", key) for key in AXES}
            if any(stated[key] != axis for key, axis in shown.items()):
                words = ", ".join(
                    f"{key.replace('static_', 'standing trial ')} {axis}" for key, axis in shown.items()
                )
                with ui.element("div").classes("ms-offer"):
                    ui.label(f"By the markers: {words}.").classes("ms-suggested")
                    ui.button(
                        "Use these axes",
                        on_click=lambda: self._state(
                            {("laboratory", key): axis for key, axis in shown.items()}
                        ),
                    ).props("outline dense no-caps")
        for key in AXES:
            field(self.view, "laboratory", key, redraw=True)

    def _clusters(self, meaning: Meaning) -> None:
        ui.label(
            "A cluster is three or more markers that move as one body. It carries markers that only the standing trial "
            "shows, such as those of the medial epicondyles, into the motion."
        ).classes("ms-why")
        own = self.desk.trial.value("clusters") or {} if self.desk.trial is not None else {}
        for name, markers in meaning.clusters.items():
            carries = [marker for marker, cluster in meaning.carried.items() if cluster == name]
            with ui.row().classes("ms-field"):
                select = ui.select(
                    list(dict.fromkeys([*meaning.marker_names, *markers])),
                    value=markers,
                    label=f"Cluster {name}",
                    multiple=True,
                    with_input=True,
                    on_change=lambda event, name=name: self._restate(("clusters", name), event.value, 3),
                )
                select.props("outlined dense options-dense use-chips").classes("ms-wide")
                with ui.column().classes("ms-beside"):
                    ui.label(f"Carries {', '.join(carries)}." if carries else "Carries no marker.").classes(
                        "ms-why"
                    )
                    ui.label(
                        "From the trial file."
                        if name in own
                        else f"From the marker set {meaning.chosen_set}."
                    ).classes("ms-why")
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
                ui.select(
                    clusters,
                    value=meaning.carried.get(marker, ""),
                    label=f"{marker} is carried by",
                    on_change=lambda event, marker=marker: self._restate(("carried", marker), event.value, 0),
                ).props("outlined dense options-dense").classes("ms-input")
                ui.label(f"{in_words(shows)}." if shows else "Shows no landmark.").classes("ms-why")

    async def _restate(self, place: Place, value: Any, least: int) -> None:
        """State a cluster or what it carries; a cluster of too few markers is no cluster yet."""
        if len(value) < least:
            self.view.say(f"A cluster has {least} markers or more.", bad=True)
            return
        await self._state({place: value or None})

    def _new_cluster(self, meaning: Meaning) -> None:
        with ui.row().classes("ms-field"):
            name = (
                ui.input("Name of a new cluster", placeholder="thigh_r")
                .props("outlined dense")
                .classes("ms-input")
            )
            markers = ui.select(meaning.marker_names, label="Its markers", multiple=True, with_input=True)
            markers.props("outlined dense options-dense use-chips").classes("ms-wide")

            async def add() -> None:
                if not name.value or len(markers.value or ()) < 3:
                    self.view.say("A cluster has a name, and three markers or more.", bad=True)
                    return
                await self._state(
                    {("clusters", name.value.strip()): [meaning.written(m) for m in markers.value]}
                )

            ui.button("Add", on_click=add).props("outline dense no-caps")


def names_of(stem: str) -> list[str]:
    """The landmarks of a row: right and left, or the one in the middle."""
    return [stem] if stem in landmarks() else [f"{stem}_{side}" for side in SIDES]


def plain_words(name: str) -> str:
    """A landmark in words, without its side."""
    return landmarks()[name].description.removeprefix("right ").removeprefix("left ")


def row_title(name: str) -> str:
    """A landmark in few words, without its side."""
    words = plain_words(name).partition(" (")[0]
    words = words if len(words) <= LONGEST_TITLE else words.partition(",")[0]
    return words[0].upper() + words[1:]


def missing_text(names: Sequence[str]) -> str:
    """Landmarks in words, both sides of one together."""
    sides = dict[str, list[str]]()
    for name in names:
        side = {"_r": "right", "_l": "left"}.get(name[-2:])
        sides.setdefault(plain_words(name), []).extend([side] if side else [])
    return "; ".join(f"{words} ({' and '.join(of)})" if of else words for words, of in sides.items())


def cell_text(mapped: Mapped) -> tuple[str, str, str]:
    """What a cell shows, its kind, and what it says to those who hear the page."""
    if mapped.problem:
        return way_text(mapped.way), "bad", f"{way_text(mapped.way)}, cannot be used"
    if mapped.way is not None:
        by = "from the marker set" if mapped.source == "set" else "from the trial file"
        return way_text(mapped.way), mapped.source, f"{way_text(mapped.way)}, {by}"
    if mapped.suggestion is not None:
        return f"{way_text(mapped.suggestion)} ?", "suggested", f"suggested: {way_text(mapped.suggestion)}"
    if mapped.source == "left out":
        return "left out", "none", "left out"
    return (
        ("missing", "missing", "needed and not mapped")
        if mapped.missing
        else ("choose", "none", "not mapped")
    )


def source_text(mapped: Mapped, meaning: Meaning) -> str:
    """Where it is known from what a landmark is mapped to."""
    return {
        "file": "A line of [mapping] in the trial file maps it.",
        "set": f"The marker set {meaning.chosen_set} maps it; another marker here overrides the set.",
        "left out": "A line of [mapping] leaves it out.",
    }.get(mapped.source, "")


def seen_text(meaning: Meaning, marker: str) -> list[str]:
    """How much of each recording shows a marker."""
    said = []
    for which, title in (("motion", "motion"), ("standing", "standing trial")):
        markers = meaning.recording(which)  # type: ignore[arg-type]
        if markers is None:
            continue
        if marker not in markers:
            said.append(f"Not in the {title}")
            continue
        share = float(np.isfinite(markers[marker]).all(axis=1).mean())
        said.append(f"Seen in {100.0 * share:.0f} % of the {title}")
    return said


def axes_of(proposal: Proposal) -> dict[str, str]:
    """The axes that the markers show, by the keys of [laboratory]; empty where they do not."""
    axes = proposal.axes
    if axes.forward is None or axes.up is None:
        return {}
    return {"forward": axes.forward, "up": axes.up, **{line.key: line.value for line in axes.standing}}


def clipped(text: str) -> str:
    """A sentence without the long list of names behind it."""
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT].rsplit(" ", 1)[0] + " ..."


def state(desk: Desk) -> State:
    """Whether every landmark that is needed is mapped; by the text alone before the recordings were read."""
    if desk.trial is None:
        return ""
    if desk.is_model:
        return "done"
    meaning = desk.meanings.known(desk.trial.path, desk.trial.text)
    if meaning is not None:
        if any(finding.severity == "error" for finding in meaning.faults):
            return "fault"
        return "open" if meaning.missing else "done"
    chosen = marker_sets().get(desk.trial.value("markers", "set") or "")
    mapped = {*(desk.trial.value("mapping") or ()), *(chosen.mapping if chosen else ())}
    needed = [each for each in landmarks().values() if each.required and each.name not in mapped]
    return "open" if any(mapped.isdisjoint(each.instead) for each in needed) else "done"


MARKERS = Step(
    "markers",
    "Markers",
    "Which marker shows which landmark of the body.",
    lambda view: MarkersStep(view).show(),
    state,
)
