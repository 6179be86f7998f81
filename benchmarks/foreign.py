"""Folders of other laboratories: what is drafted without a hand, whether forces are reached, and every sentence said.

    python -m benchmarks.foreign FOLDER...

Every folder is copied, drafted as `musclesolve init` does, and examined and shared as `musclesolve check` does. Mass,
stature and sex come from a file `subject.toml` in the folder (`mass_kg`, `stature_m`, `sex`), otherwise from the draft,
otherwise they are guessed (70 kg, 1.70 m, male); the table says which. Other open lines of a draft stay open.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from rich.table import Table

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.timing import console
from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts
from musclesolve.laboratory.draft.subject_size import GivenSubject

GUESS = {"mass_kg": 70.0, "stature_m": 1.7, "sex": "male"}
DRAFTED = re.compile(r"^(?:# )?(mass_kg|stature_m|sex) = *([\w.\"]+)", re.MULTILINE)


@dataclass
class Outcome:
    """The fate of one motion of a folder."""

    motion: str
    subject: str = ""
    verdict: str = ""
    reached: bool = False
    todos: tuple[str, ...] = ()
    sentences: list[str] = field(default_factory=list)


def subject_of(folder: Path, text: str) -> tuple[GivenSubject, str]:
    """Return mass, stature and sex: stated beside the recordings, drafted, or guessed; and which is which."""
    stated = folder / "subject.toml"
    facts = tomllib.loads(stated.read_text(encoding="utf-8")) if stated.exists() else {}
    drafted = {key: value.strip('"') for key, value in DRAFTED.findall(text)}
    values, sources = {}, []
    for key, guess in GUESS.items():
        value = facts.get(key, drafted.get(key, guess))
        values[key] = value if key == "sex" else float(value)
        sources.append("stated" if key in facts else "drafted" if key in drafted else "guessed")
    words = ", ".join(f"{value} {source}" for value, source in zip(values.values(), sources, strict=True))
    return GivenSubject(**values), words


def outcomes(source: Path) -> list[Outcome]:
    """Return what becomes of the motions of one folder."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / source.name
        keep_out = shutil.ignore_patterns("*.toml", ".musclesolve")
        shutil.copytree(source, folder, ignore=keep_out)
        try:
            text = draft_folder(folder).trials[0].text
            subject, words = subject_of(source, text)
            draft = draft_folder(folder, subject=subject)
            write_drafts(draft)
        except ms.MuscleSolveError as error:
            return [Outcome(source.name, verdict="no draft", sentences=[str(error)])]
        examined = [(trial.path.stem, words, trial.todos, trial.path) for trial in draft.trials]
        given = source / "trial.toml"
        if given.exists():  # a trial file that came with the recording
            shutil.copy(given, folder / "given.toml")
            examined.append(("given", "stated in the trial file", (), folder / "given.toml"))
        return [_examined(Outcome(name, who, todos=open_), path) for name, who, open_, path in examined]


def _examined(outcome: Outcome, trial: Path) -> Outcome:
    report = ms.check(trial)
    outcome.verdict, outcome.reached = report.judgement.label, bool(report.judgement.legs)
    outcome.sentences += [str(each) for each in report.all_findings if each.severity != "note"]
    outcome.sentences += [f"verdict: {each}" for each in report.judgement.why]
    return outcome


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument(
        "folders", nargs="+", type=Path, help="folders with recordings, or with an OpenSim model"
    )
    parser.add_argument("--brief", action="store_true", help="the table alone, without the sentences")
    given = parser.parse_args()
    table = Table(
        "folder",
        "motion",
        "mass [kg], stature [m], sex",
        "open lines",
        "verdict",
        "forces",
        "errors",
        "warnings",
    )
    reached = 0
    for folder in given.folders:
        for outcome in outcomes(folder):
            kinds = [sentence.partition(" ")[0] for sentence in outcome.sentences]
            counts = (str(kinds.count(kind)) for kind in ("error", "warning"))
            todos = str(len(outcome.todos))
            table.add_row(
                folder.name,
                outcome.motion,
                outcome.subject,
                todos,
                outcome.verdict,
                "yes" if outcome.reached else "no",
                *counts,
            )
            reached += outcome.reached
            if not given.brief:
                console.rule(f"{folder.name}: {outcome.motion}")
                for sentence in (*(f"open: {todo}" for todo in outcome.todos), *outcome.sentences):
                    console.print(sentence, markup=False, highlight=False)
    console.print(table)
    console.print(f"{reached} of {table.row_count} motions reached forces")


if __name__ == "__main__":
    main()
