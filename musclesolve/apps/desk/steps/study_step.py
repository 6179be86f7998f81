"""Study: many subjects and conditions, from folders of recordings to the page that compares them."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nicegui import events, ui

from musclesolve._util.messages import capitalized
from musclesolve.apps.desk.desk import StudyDocument
from musclesolve.apps.desk.fields import OTHERS, heading, number_field, same_command, statements
from musclesolve.apps.desk.result_facts import address, is_older
from musclesolve.apps.desk.steps.check_step import HEADINGS, SIGNS
from musclesolve.apps.desk.steps.work import TrialList, Work
from musclesolve.apps.desk.trial_document import Place, change_title
from musclesolve.apps.desk.view import Step, View, hint, show_fault, small_button
from musclesolve.apps.desk.words import title_of
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.recording.file_settings import SubjectLineSettings
from musclesolve.laboratory.recording.trial_settings import SubjectSettings
from musclesolve.laboratory.results.finding import Finding
from musclesolve.studies.draft.draft_study import NAME
from musclesolve.studies.study.study_file import Study, lacking, lacking_text
from musclesolve.studies.study.study_findings import each_once, of_kind
from musclesolve.studies.study.trials_table import StudyTrial
from musclesolve.tables.settings import settings_of

KEYS = ("group", "sex", "mass_kg", "stature_m", "age_years", "affected_side")
"""Keys of a subject that have a column."""
ALONE = {"conditions": "Condition", "groups": "Group"}


class StudyStep:
    """The step in one window."""

    def __init__(self, view: View) -> None:
        self.view, self.desk, self.study = view, view.desk, view.desk.study
        self._begin = view.doing(self.study.check)
        self._chosen = set[str]()
        self._dragged = ""

    def show(self) -> None:
        """Draw it."""
        self.study.look()
        self._folder()
        document = self.study.document
        if document is None:
            return
        try:
            content = document.study
        except MuscleSolveError as error:
            show_fault(str(error))
            self._text(document, opened=True)
            return
        self._left_open()
        self._trials()
        self._people(document, content)
        heading("Check")
        with ui.row():  # the button stays while fields change: a click right after a change counts
            ui.button("Check the study", on_click=self._begin).props("outline icon=fact_check")
        self._checking = Work(self.view, ("check_study",), self._check)
        self._checking.show()
        heading("Run")
        same_command(self.study.command, in_folder=False)
        Work(
            self.view,
            ("study",),
            self._run,
            "Canceled: what was computed is kept. “Run the study” goes on with the rest.",
        ).show()
        names = [trial.name for trial in content.included]
        TrialList(self.desk, self.study.table, "Results of trials", expected=names).show()
        self._text(document)

    @property
    def _document(self) -> StudyDocument:
        assert self.study.document is not None
        return self.study.document

    def _change(
        self, do: Callable[[StudyDocument], object], anew: Callable[[], object] | None = None
    ) -> None:
        """Change the study file: other windows show the change, and an error is reported; then draw the page anew.

        anew: draws what depends on the change, where that is less than the whole page.
        """
        with self.view.saying():
            do(self._document)
            self.desk.changed("text", by=self.view)
        (anew or self.view.refresh)()

    def _folder(self) -> None:
        root, there = self.desk.folder.path, self.study.document is not None
        with ui.expansion(f"Folder: {self.study.folder}", value=not there).classes("w-full"):
            hint(
                "The folder that has one folder for each subject. A table of trials is drafted: who moves, and how."
            )
            self._tree(root)
        with ui.row().classes("ms-turn-small"):
            draft = ui.button("Draft the study anew" if there else "Draft the study", on_click=self._draft)
            draft.props(f"{'outline' if there else 'unelevated'} icon=auto_fix_high")
            if there:
                undo = ui.button("Undo in the study", on_click=lambda: self._change(StudyDocument.undo))
                edit = self._document.to_undo
                undo.props("flat icon=undo").set_enabled(edit is not None)
                if edit is not None:
                    undo.tooltip(f"Undo in the study: {edit.what}")
        if self.study.draft is not None:
            statements(self.study.draft.recognized)
            for title, names in (
                ("Not read", self.study.draft.unread),
                ("Left out", self.study.draft.left_out),
            ):
                for name in names:
                    ui.label(f"{title}: {name}").classes("ms-suggested")

    def _tree(self, root: Path) -> None:
        """The tree of folders; subfolders are read when a folder is opened."""

        def node(path: Path, depth: int) -> dict[str, Any]:
            inside = [node(folder, depth - 1) for folder in self.study.folders(path)] if depth else []
            return {"id": str(path), "label": path.name or str(path), "children": inside}

        def opened(event: events.ValueChangeEventArguments) -> None:
            def grow(part: dict[str, Any]) -> None:
                if part["id"] in event.value:
                    part["children"] = [
                        branch if branch["children"] else node(Path(branch["id"]), 1)
                        for branch in part["children"]
                    ]
                for branch in part["children"]:
                    grow(branch)

            grow(nodes[0])
            tree.update()

        def chosen(event: events.ValueChangeEventArguments) -> None:
            if event.value is not None:
                with self.view.saying():
                    self.study.choose(Path(event.value))
                self.view.refresh()

        nodes = [node(root, 2)]
        tree = ui.tree(nodes, on_select=chosen, on_expand=opened).classes("ms-tree")
        tree.props("selected-color=ms-chosen")
        tree.props["selected"] = str(self.study.folder)
        tree.expand([str(root), *(str(parent) for parent in self.study.folder.parents)])

    async def _draft(self) -> None:
        with self.view.saying():
            self.view.say("Looking at the recordings; this takes some seconds for each.", goes_on=True)
            draft = await asyncio.to_thread(self.study.drafted)
            there = [path for path in (draft.path, draft.table[0]) if path.exists()]
            if not await self.view.may_replace(there):
                return
            self.study.accept(draft, bool(there))
            self.desk.changed("text", by=self.view)
            self.view.say(f"Written: {NAME}")
        self.view.refresh()

    @ui.refreshable_method
    def _left_open(self) -> None:
        opens = self._document.opens
        if opens:
            heading("Please decide")
        for item in opens:
            with ui.row().classes("ms-finding ms-todo"):
                ui.icon("help").classes("ms-sign").props('aria-hidden="true"')
                with ui.column().classes("ms-words"):
                    ui.label(f"{capitalized(item.why)}.").classes("ms-what")
                if item.names_marker and item.key is not None:
                    place = *item.table.split("."), item.key
                    field = ui.input(f"Marker of {item.key}").props("dense outlined")
                    take = partial(self._take, place, field)
                    field.on("keydown.enter", take)
                    button = small_button("Take", take)
                    button.props["aria-label"] = f"Take the marker of {item.key}"
                    continue
                done = ui.button(
                    "Done", on_click=lambda _, item=item: self._change(lambda of: of.decided(item))
                )
                done.props("outline dense").props["aria-label"] = f"Done: {item.why}"

    def _take(self, place: Place, field: ui.input) -> None:
        """Write the name of a marker that was entered for an open landmark."""
        name = (field.value or "").strip()
        if not name:
            self.view.say(f"Enter the name of the marker of {place[-1]} as it stands in the recordings.")
            return
        self._change(lambda document: document.state(place, name))

    @ui.refreshable_method
    def _trials(self) -> None:
        study, conditions = self._document.study, self._document.named("conditions")
        heading(f"Trials: {len(study.trials)} of {len({trial.subject for trial in study.trials})} subjects")
        hint(
            "Drag a trial to another subject or condition. Or choose trials, one by one or by words in their names "
            "and files, and move them together."
        )
        columns = [*conditions, *([""] if any(not trial.condition for trial in study.trials) else [])]
        with ui.element("div").classes("ms-scroll"), ui.element("table").classes("ms-study"):
            with ui.element("thead"), ui.element("tr"):
                for title in ("Subject", *(name or "no condition" for name in columns)):
                    _cell("th", title).props('scope="col"')
            with ui.element("tbody"):
                for subject in dict.fromkeys(trial.subject for trial in study.trials):
                    with ui.element("tr"):
                        _cell("th", subject).props('scope="row"')
                        for condition in columns:
                            cell = [
                                trial
                                for trial in study.trials
                                if (trial.subject, trial.condition) == (subject, condition)
                            ]
                            self._place(subject, condition, cell)
        self._moving(study, conditions)
        said = lacking_text(lacking(study.subjects, study.trials)) or NAME
        for note in (text for text in study.notes if said not in text):
            ui.label(f"{capitalized(note)}.").classes("ms-suggested")

    def _place(self, subject: str, condition: str, trials: list[StudyTrial]) -> None:
        """A cell of the table, which trials may be dropped into."""
        with ui.element("td") as cell:
            for trial in trials:
                chip = ui.button(trial.name, on_click=partial(self._choose, trial.name))
                chip.props("flat dense draggable=true").classes("ms-chip")
                chip.props["aria-pressed"] = str(trial.name in self._chosen).lower()
                chip.on("dragstart", partial(setattr, self, "_dragged", trial.name))
                if trial.exclude:
                    chip.classes("ms-left-out").tooltip(f"left out: {trial.exclude}")
                    chip.props["aria-label"] = f"{trial.name}, left out: {trial.exclude}"
        cell.on("dragover.prevent", js_handler="() => {}")
        cell.on("drop.prevent", lambda: self._move({self._dragged}, subject, condition))

    def _choose(self, name: str) -> None:
        self._chosen ^= {name}
        self._trials.refresh()

    def _moving(self, study: Study, conditions: list[str]) -> None:
        """Fields and buttons that move the chosen trials, or leave them out."""
        self._chosen &= set(study.trial_of)

        def by_words(event: events.GenericEventArguments) -> None:
            words = str(sought.value or "").casefold().split()
            self._chosen = {
                trial.name for trial in study.trials if words and all(word in _said(trial) for word in words)
            }
            self._trials.refresh()

        with ui.row().classes("ms-turn-small"):
            sought = ui.input("Choose by words").classes("ms-kind")
            sought.on("change", by_words)
            ui.label(f"{len(self._chosen)} chosen").props('role="status"')
            condition = ui.select(conditions, label="Condition", clearable=True, **OTHERS)
            subject = ui.select(list(study.subjects), label="Subject", clearable=True, **OTHERS)
            for select in (condition, subject):
                select.classes("ms-kind")
            move = ui.button(
                "Move", on_click=lambda: self._move(self._chosen, subject.value or "", condition.value)
            )
            why = ui.input("Why left out").classes("ms-kind")
            leave = ui.button("Leave out", on_click=lambda: self._leave_out(self._chosen, why.value))
            take = ui.button("Take in", on_click=lambda: self._leave_out(self._chosen, None))
            for button in (move, leave, take):
                button.props("outline").set_enabled(bool(self._chosen))
        self._first("conditions", conditions)

    def _first(self, key: str, names: list[str]) -> None:
        """The group or condition that the others are compared with, where there are several."""
        if len(names) > 1:
            ui.select(
                names,
                value=names[0],
                label=f"{ALONE[key]} that the others are compared with",
                on_change=lambda event: self._change(
                    lambda document: document.compare_with(key, event.value), self._drawn_anew
                ),
            ).classes("ms-wide")

    def _move(self, names: set[str], subject: str, condition: str | None) -> None:
        self._change(lambda document: document.move(names, subject, condition))

    def _leave_out(self, names: set[str], why: str | None) -> None:
        if why == "":
            self.view.say("State why the trials are left out: the page of the study says it.", bad=True)
            return
        self._exclude(dict.fromkeys(names, why))

    def _exclude(self, reasons: Mapping[str, str | None]) -> None:
        """Leave trials out, each with its reason, or take them in, with None."""
        self._chosen = set()
        changes: dict[Place, Any] = {("trials", name, "exclude"): why for name, why in reasons.items()}
        self._change(lambda document: document.state_all(changes), self._drawn_anew)

    def _drawn_anew(self) -> None:
        """Draw what depends on the study file; the fields of the subjects stay."""
        self._trials.refresh()
        self._left_open.refresh()
        self._lacking.refresh()
        self._checking.draw.refresh()

    def _people(self, document: StudyDocument, study: Study) -> None:
        rules = {**settings_of(SubjectSettings), **settings_of(SubjectLineSettings)}
        heading("Subjects")
        self._lacking()
        absent = self._absent
        with ui.element("div").classes("ms-scroll"), ui.element("table").classes("ms-study"):
            with ui.element("thead"), ui.element("tr"):
                for title in ("Subject", *(title_of(key, rules[key]) for key in KEYS)):
                    _cell("th", title).props('scope="col"')
            with ui.element("tbody"):
                for name in dict.fromkeys([*study.subjects, *(trial.subject for trial in study.trials)]):
                    with ui.element("tr"):
                        _cell("th", name).props('scope="row"')
                        for key in KEYS:
                            with ui.element("td"):
                                value = study.of_subject(name, key)
                                self._field(name, key, rules[key], value, name in absent.get(key, ()))
        self._first("groups", document.named("groups"))

    @property
    def _absent(self) -> Mapping[str, Sequence[str]]:
        """Key -> the subjects that lack a value which their recordings need."""
        study = self._document.study
        return lacking(study.subjects, study.trials)

    def _field(self, name: str, key: str, rule: Any, value: Any, lacks: bool) -> None:
        """The field of a subject in the table; lacks: whether a value is needed."""

        def taken(stated: Any) -> None:
            value = None if stated == "" else stated
            self._change(lambda document: document.state_subject(name, key, value), self._drawn_anew)
            mark(name in self._absent.get(key, ()))

        def mark(lacks: bool) -> None:
            entry.classes(add="ms-lacks" if lacks else "", remove="" if lacks else "ms-lacks")

        entry: ui.input | ui.select
        if rule.kind == "number":
            entry = number_field("", rule, value, taken)
        elif rule.choices:
            choices = {"": "not stated"} | {choice: choice for choice in rule.choices}
            entry = ui.select(choices, value=value or "", on_change=lambda event: taken(event.value))
        else:
            text = entry = ui.input(value=str(value or ""))
            text.on("change", lambda: taken((text.value or "").strip()))
        entry.props("hide-bottom-space").classes("ms-of-subject")
        entry.props["aria-label"] = f"{title_of(key, rule)} of {name}"
        mark(lacks)

    @ui.refreshable_method
    def _lacking(self) -> None:
        """A sentence on the values that recordings need and nothing states."""
        absent = self._absent
        said = (
            f"Missing: {lacking_text(absent)}." if absent else "Nothing that the recordings need is missing."
        )
        ui.label(said).classes("ms-suggested" if absent else "ms-complete").props('role="status"')

    def _check(self) -> None:
        check = self.study.checked
        if isinstance(check, Exception):
            show_fault(str(check))
        if check is None or isinstance(check, Exception):
            return
        css = "good" if check.ok else "error"
        ui.label(check.verdict).classes(f"ms-verdict ms-{css}").props('role="status"')
        for name, why in check.refused.items():
            self._finding("error", f"{name}: {why}", "", [name], {})
        findings = {name: report.all_findings for name, report in check.reports.items()}
        for entry, names in each_once(findings):
            alike = of_kind(findings, entry)
            of_trials = {name: next(other for trial, other in alike if trial == name) for name in names}
            change = self._document.mending(of_trials)
            self._finding(entry.severity, entry.sentence, entry.remedy, list(names), change, alike)

    def _finding(
        self,
        severity: str,
        sentence: str,
        remedy: str,
        names: list[str],
        change: Mapping[Any, Any],
        alike: Sequence[tuple[str, Finding]] = (),
    ) -> None:
        differ = len({item.sentence for _, item in alike}) > 1
        reasons = dict.fromkeys(names, sentence.splitlines()[0])
        reasons |= {name: item.sentence.splitlines()[0] for name, item in reversed(alike)}
        with ui.row().classes(f"ms-finding ms-{severity}"):
            ui.icon(SIGNS[severity]).classes("ms-sign").props["aria-label"] = HEADINGS[severity]
            with ui.column().classes("ms-words"):
                said = capitalized(sentence)
                said = f"{alike[0][0]}: {said}" if differ else said
                ui.label(said).classes("ms-what ms-message")
                if remedy:
                    ui.label(f"Remedy: {remedy}").classes("ms-remedy")
                ui.label(", ".join(names)).classes("ms-place")
                if differ:
                    with ui.expansion(f"All {len(alike)} findings of this kind").classes("w-full"):
                        for name, item in alike:
                            place = f" ({item.where})" if str(item.where) else ""
                            ui.label(f"{name}: {item.sentence}{place}").classes("ms-remedy")
            with ui.column().classes("ms-turn-small"):
                if change:
                    title = (
                        change_title(change.items())
                        if len(change) == 1
                        else f"Take it at {len(change)} places"
                    )
                    ui.button(title, on_click=lambda: self._mend(change)).props("outline dense icon=build")
                if severity == "error":
                    leave = ui.button("Leave out", on_click=lambda: self._exclude(reasons))
                    leave.props("outline dense").props["aria-label"] = f"Leave out {', '.join(names)}"

    def _mend(self, change: Mapping[Any, Any]) -> None:
        self._change(lambda document: document.state_all(change), self._begin)
        self.view.refresh()

    def _run(self) -> None:
        page = self.study.page
        with ui.row().classes("ms-turn-small"):
            ui.button("Run the study", on_click=self.view.doing(self.study.run)).props(
                "unelevated icon=play_arrow"
            )
            if page is not None:
                ui.link(
                    "Open the page in a tab of its own", address(self.desk.folder.path, page), new_tab=True
                )
        if page is not None and is_older(page, self._document.path):
            ui.label("The page is older than the study file.").classes("ms-verdict ms-warning")

    def _text(self, document: StudyDocument, opened: bool = False) -> None:
        editor, path, redraw = self.view.editor, document.path, self.view.refresh

        def apply(text: str) -> None:
            with self.view.saying():
                document.write(text)
                self.desk.changed("text", by=self.view)
                redraw()  # only then: a faulty text stays in the field

        with ui.expansion(
            f"Text of {NAME}",
            value=opened or path in editor.opened,
            on_value_change=lambda event: (editor.opened.add if event.value else editor.opened.discard)(path),
        ).classes("w-full"):
            editor.show(path, document.text, apply, redraw, "Apply to the study")


def _cell(tag: str, text: str) -> ui.element:
    """A cell of a table with a text."""
    with ui.element(tag) as cell:
        ui.label(text)
    return cell


def _said(trial: StudyTrial) -> str:
    """The words by which a trial may be chosen, in small letters."""
    return " ".join([trial.name, *map(str, trial.source.values())]).casefold()


STUDY = Step(
    "study",
    "Study",
    "Many subjects and conditions, compared on one page.",
    lambda view: StudyStep(view).show(),
    of_trial=False,
)
