"""Folders as laboratories have them become a page: init --study, check, study; nothing is typed that a file states."""

from __future__ import annotations

import csv
import runpy
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from packages import need
from refusals import refused
from thorough import THOROUGH

from musclesolve import check
from musclesolve.studies import read_study
from musclesolve.studies.draft.draft_study import draft_study, write_study
from musclesolve.studies.many_trials.one_trial import attempt
from musclesolve.studies.pages.study_page import study_page
from musclesolve.studies.study.analysis import analyze_study
from musclesolve.studies.study.cycles_file import CYCLES, cycles_file
from musclesolve.studies.study.run_study import ComputedStudy, prepared

ROOT = Path(__file__).parents[3]
MADE = runpy.run_path(str(ROOT / "examples" / "study" / "make_trees.py"))
SUBJECTS, TRIALS = 2, 1


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trees of all layouts."""
    need("ezc3d", "openpyxl")
    root = tmp_path_factory.mktemp("trees")
    for name, write in MADE["LAYOUTS"].items():
        write(root / name, SUBJECTS, TRIALS)
    return root


def entered(table: Path) -> None:
    """Fill in the drafted table of subjects, as the laboratory does."""
    known = {person[0]: {"stature_m": str(0.01 * person[2]), "sex": person[3]} for person in MADE["PERSONS"]}
    with table.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream))
    filled = [
        [name, *(known[name][key] if not cell else cell for key, cell in zip(header[1:], cells, strict=True))]
        for name, *cells in rows
    ]
    table.write_text("\n".join(",".join(row) for row in (header, *filled)) + "\n", encoding="utf-8")


COMPUTED = ("days_of_subjects",)
"""Layouts whose page is made by default: recordings of unknown marker names."""


def computed(study, folder: Path) -> ComputedStudy:
    """A study computed in this process."""
    jobs, refused, notes = prepared(study, folder)
    assert not refused
    records = {job.name: attempt(replace(job, figures=False, further={CYCLES: cycles_file})) for job in jobs}
    assert {record.outcome for record in records.values()} == {"computed"}
    return ComputedStudy(study, folder, records, (*study.notes, *notes))


# Layout -> names of the trials of S01, what is open in the draft, and the blank cells of the drafted table.
EXPECTED = {
    "conditions_below_subjects": (["S01_turn_01", "S01_walk_01"], ["fill in", "conditions"], ["sex"]),
    "one_folder": (["S01_fast_01", "S01_walk_01"], ["groups", "conditions"], []),
    "subjects_below_conditions": (
        ["S01_fast_trial1", "S01_normal_trial1"],
        ["confirm mass_kg", "fill in", "conditions"],
        ["stature_m", "sex"],
    ),
    "motion_service": (["S01_squats_Asym1", "S01_STSAsym1", "S01_walking4"], ["conditions"], []),
    "days_of_subjects": (["S01_gait1"], ["groups", "check the markers of knee_lateral_r"], []),
}


@pytest.mark.parametrize("layout", EXPECTED)
def test_a_tree_becomes_a_page(layout: str, trees: Path, tmp_path: Path) -> None:
    names, left_open, blank = EXPECTED[layout]
    folder = trees / layout
    draft = draft_study(folder)
    assert [todo for todo in draft.todos if not any(part in todo for part in left_open)] == []
    assert len(draft.todos) == len(left_open) and not draft.unread
    write_study(draft)
    if blank:
        assert (folder / "subjects.csv").read_text().splitlines()[0] == ",".join(["subject", *blank])
        entered(folder / "subjects.csv")
    study = read_study(folder / "study.toml")
    assert [trial.name for trial in study.trials if trial.subject == "S01"] == names
    for name, mass, stature, sex, *_ in MADE["PERSONS"][:SUBJECTS]:
        assert study.of_subject(name, "mass_kg") == pytest.approx(mass, abs=0.3)
        assert study.of_subject(name, "stature_m") == pytest.approx(0.01 * stature)
        assert study.of_subject(name, "sex") == {"f": "female", "m": "male"}[sex]

    # One of one subject in two layouts, or all of the subject in a thorough run, for the time that it takes.
    if not THOROUGH and layout not in COMPUTED:
        return
    trials = tuple(trial for trial in study.trials if trial.subject == "S01")[: None if THOROUGH else 1]
    done = computed(replace(study, trials=trials), tmp_path)
    first = next(iter(done.records.values()))
    report = check(first.trial)
    assert report.ok, report
    guessed = [finding for finding in report.findings if finding.code == "landmark_guessed"]
    assert bool(guessed) == (layout == "days_of_subjects")
    result = analyze_study(done)
    assert not result.not_averaged
    assert set(result.cycles["subject"].values) == {"S01"}
    if layout == "days_of_subjects":
        assert "S01_gait1" in study_page(result)


def test_what_is_guessed_is_what_was_recorded(trees: Path) -> None:
    """RX1 and LX1 are the lateral epicondyles of the generator; no name says it."""
    text = draft_study(trees / "days_of_subjects").text
    assert 'guessed = ["knee_lateral_r", "knee_lateral_l"]' in text
    assert 'knee_lateral_r = "RX1"' in text and 'knee_lateral_l = "LX1"' in text


def test_conditions_that_look_alike_are_split_alike_and_shown(trees: Path) -> None:
    draft = draft_study(trees / "motion_service")
    assert "# squats_Asym: S01_squats_Asym1, S02_squats_Asym1" in draft.text
    assert "# STS_Asym: S01_STSAsym1, S02_STSAsym1" in draft.text


def test_values_of_single_trials_stand_in_their_lines(trees: Path, tmp_path: Path) -> None:
    """One subject walks the other way: what differs is in the lines of that subject, the rest is common."""
    words = MADE["WORDS"]["plug_in_gait"]
    for number, sign in enumerate((1.0, 1.0, -1.0)):
        walk, standing, forces = MADE["recording"](0.0, 1)
        turn = [sign, sign, 1.0]
        for name, markers, plates in (("walk", walk, forces), ("static", standing, None)):
            turned = replace(markers, position=markers.position * turn)
            values = None
            if plates is not None:
                values = replace(
                    plates, values=plates.values * [turn["xyz".index(n[-1])] for n in plates.names]
                )
            MADE["write_c3d"](tmp_path / f"S0{number + 1}_{name}.c3d", MADE["renamed"](turned, words), values)
    write_study(draft_study(tmp_path))
    study = read_study(tmp_path / "study.toml")
    assert study.settings["laboratory"] == {"forward": "+x", "up": "+z"}
    assert [dict(trial.settings) for trial in study.trials] == [{}, {}, {"laboratory": {"forward": "-x"}}]


def test_mass_stature_and_sex_that_lack_are_one_refusal(trees: Path, tmp_path: Path) -> None:
    shutil.copytree(trees / "days_of_subjects", tmp_path / "tree")
    (tmp_path / "tree" / "Subjects.xlsx").unlink()
    before = draft_study(tmp_path / "tree")
    (tmp_path / "tree" / "subjects.csv").write_text("subject,sex\nX9,f\n", encoding="utf-8")
    with refused("occupied_folder", "subjects.csv"):
        write_study(replace(before, path=tmp_path / "tree" / "other.toml"))
    write_study(before, force=True)
    # the table that was filled in is read and never written again
    assert draft_study(tmp_path / "tree").table == ""
    with refused("missing_key", "stature_m of S01, S02", "sex of S01, S02", "subjects.csv"):
        prepared(read_study(tmp_path / "tree" / "study.toml"), tmp_path / "results")
