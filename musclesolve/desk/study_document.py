"""The study file as edited by the desk: its subjects and trials, and the changes by clicks."""

from collections.abc import Iterable, Mapping
from typing import Any

from musclesolve.desk.trial_document import Place, TrialDocument
from musclesolve.drafting.study.study_trials import in_order
from musclesolve.results.finding import Finding
from musclesolve.studies.study.study_file import GROUP, SUBJECT, TIME, Study, StudyTrial, read_study

Changes = dict[Place, Any]


class StudyDocument(TrialDocument):
    """A study file that is open on the desk."""

    @property
    def study(self) -> Study:
        """Contents of the file."""
        return read_study(self.path)

    def state_subject(self, name: str, key: str, value: Any) -> None:
        """State a value of a subject; None removes it, so that the table of subjects of the study counts, if any."""
        changes = self._of_subject(name, {key: value})
        if key == GROUP:
            study = self.study
            of = {subject: study.of_subject(subject, GROUP, "") for subject in study.subjects} | {
                name: value or ""
            }
            changes |= self._listed("groups", of.values())
        self.state_all(changes)

    def move(self, names: Iterable[str], subject: str = "", condition: str | None = None) -> None:
        """Give trials to a subject, unless "", and to a condition, "" for none, unless None."""
        study, changes, moved = self.study, Changes(), set(names)
        if subject and subject not in study.subjects:
            changes |= self._of_subject(subject, {})
        for name in moved:
            if subject:
                changes["trials", name, "subject"] = subject
            if condition is not None:
                changes["trials", name, "condition"] = condition or None
        if condition is not None:
            used = [condition if trial.name in moved else trial.condition for trial in study.trials]
            changes |= self._listed("conditions", used)
        self.state_all(changes)

    def compare_with(self, key: str, first: str) -> None:
        """Make a group or condition the first, the reference of the others. key: "groups" or "conditions"."""
        self.state(("design", key), [first, *(name for name in self.named(key) if name != first)])

    def named(self, key: str) -> list[str]:
        """Groups or conditions in their order. key: "groups" or "conditions"."""
        study = self.study
        if stated := study.design[key]:
            return list(stated)
        if key == "groups":
            return in_order(
                {str(subject[GROUP]) for subject in study.subjects.values() if subject.get(GROUP)}
            )
        return in_order({trial.condition for trial in study.trials} - {""})

    def mending(self, found: Mapping[str, Finding]) -> Changes:
        """Changes of the study file that mend a finding of several trials; none where settings alone do not.

        A subject has one value in all trials, the first of those found.
        """
        study, changes = self.study, Changes()
        for name, each in found.items():
            trial, own = study.trial_of[name], dict[str, Any]()
            for place, value in each.change:
                table, *rest = place
                if len(rest) != 1 or not isinstance(rest[0], str):
                    return {}
                if table == SUBJECT:
                    for at, stated in self._of_subject(trial.subject, {rest[0]: value}).items():
                        changes.setdefault(at, stated)
                elif table == TIME:
                    changes["trials", name, rest[0]] = value
                elif table == "files":
                    return {}
                else:
                    own.setdefault(str(table), {})[rest[0]] = value
            if own:
                changes["trials", name, "settings"] = _merged(trial, own)
        return changes

    def _of_subject(self, name: str, values: Mapping[str, Any]) -> Changes:
        """Changes that state values of a subject, in a new line where there is none."""
        if isinstance(self.value("subjects", name), Mapping):
            return {("subjects", name, key): value for key, value in values.items()}
        return {("subjects", name): {key: value for key, value in values.items() if value is not None}}

    def _listed(self, key: str, used: Iterable[str]) -> Changes:
        """The change of a list in [design] that keeps its order: names no longer used leave it, new ones end it."""
        stated = self.study.design[key]
        if not stated:
            return {}
        there = {name for name in used if name}
        listed = [name for name in stated if name in there]
        return {("design", key): [*listed, *in_order(there - set(listed))] or None}


def _merged(trial: StudyTrial, own: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The settings of a trial with further ones."""
    before = dict(trial.settings)
    return before | {table: {**before.get(table, {}), **values} for table, values in own.items()}
