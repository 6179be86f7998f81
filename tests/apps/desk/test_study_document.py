"""The study on the desk: what a click changes in study.toml, and which folders it shows."""

from dataclasses import replace
from pathlib import Path

import pytest

from musclesolve._util.sides import LEG_JOINTS
from musclesolve.apps.desk.desk import Desk, StudyDocument
from musclesolve.apps.desk.steps.work import Row, counted_by_verdict, listed
from musclesolve.laboratory.results.finding import Finding
from musclesolve.laboratory.results.judgement import LABELS, NOT_USABLE, USABLE, WITH_CARE
from musclesolve.studies.many_trials.trial_record import Measures, Outcome, TrialRecord, csv_bytes

STUDY = """\
# Drafted.
trials = "trials.csv"

# A comment that stays.
[design]
# TODO: check the order: the first of the conditions is what the others are compared with
conditions = ["slow", "fast"]           # by the names of folders and files

[settings.filter]
cutoff_hz = 6.0
"""
TABLE = """\
name,subject,group,condition,mass_kg,markers,settings.filter.cutoff_hz,exclude
a_slow,S01,old,slow,70,a.trc,5.0,
a_fast,S01,,fast,,b.trc,,
b_fast,S02,young,fast,80,c.trc,,it fell
"""


@pytest.fixture
def document(tmp_path: Path) -> StudyDocument:
    (tmp_path / "trials.csv").write_text(TABLE, encoding="utf-8")
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return StudyDocument(path)


def test_moved_trials_make_and_end_conditions_in_one_step_back(document: StudyDocument) -> None:
    document.move(["a_fast", "b_fast"], condition="quick")
    study = document.study  # read again by the rules of every study
    assert [each.condition for each in study.trials] == ["slow", "quick", "quick"]
    assert list(study.design.conditions or ()) == ["slow", "quick"]
    document.compare_with("conditions", "quick")
    assert document.named("conditions") == ["quick", "slow"]
    assert "# A comment that stays." in document.text
    document.undo()
    document.undo()
    assert document.text == STUDY and document.table.read_text(encoding="utf-8") == TABLE


def test_a_trial_of_another_subject_and_of_no_condition(document: StudyDocument) -> None:
    document.move({"a_slow"}, "S03", "")
    study = document.study
    assert (study.trial_of["a_slow"].subject, study.trial_of["a_slow"].condition) == ("S03", "")
    assert "S03" in study.subjects and document.named("conditions") == ["fast"]


def test_subjects_are_stated_in_each_of_their_lines(document: StudyDocument) -> None:
    assert document.study.of_subject("S01", "mass_kg") == 70.0 and document.named("groups") == [
        "old",
        "young",
    ]
    document.state_subject("S01", "mass_kg", 71.5)
    document.state_subject("S02", "sex", "female")  # a column that was not there
    study = document.study
    assert (study.of_subject("S01", "mass_kg"), study.of_subject("S02", "sex")) == (71.5, "female")
    document.state_subject("S01", "mass_kg", None)
    assert document.study.of_subject("S01", "mass_kg") is None
    document.compare_with("groups", "young")
    document.state_subject("S01", "group", "other")
    assert document.named("groups") == ["young", "other"]  # no subject is old any more


def test_what_mends_a_trial_is_written_as_the_study_says_it(document: StudyDocument) -> None:
    def found(*change: tuple[tuple[str | int, ...], object]) -> Finding:
        return Finding("code", "error", "wrong", "mend it", change=change)

    mass, cutoff = (("subject", "mass_kg"), 57.6), (("filter", "cutoff_hz"), 8.0)
    values = document.mending({"a_slow": found(mass, cutoff), "a_fast": found((mass[0], 58.1), cutoff)})
    document.state_all(values)
    study = document.study
    assert study.of_subject("S01", "mass_kg") == 57.6
    assert [dict(study.trial_of[name].settings["filter"]) for name in ("a_slow", "a_fast")] == [
        {"cutoff_hz": 8.0}
    ] * 2
    # what has no place in a line of a study has no button
    assert document.mending({"a_slow": found((("force", 0, "side"), "l"))}) == {}
    assert document.mending({"a_slow": found((("files", "static"), "s.trc"))}) == {}


def test_folders_of_results_are_not_offered(tmp_path: Path) -> None:
    for place in ("S01/slow", "S02", ".hidden", "results"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "trials.csv").write_text("name,status\n", encoding="utf-8")
    (tmp_path / "link").symlink_to(tmp_path / "S01")
    study = Desk(tmp_path).study
    assert [path.name for path in study.folders(tmp_path)] == ["S01", "S02"]
    study.choose(tmp_path / "S01")
    assert study.folder == tmp_path.resolve() / "S01" and study.document is None


def test_what_another_program_writes_is_seen(document: StudyDocument) -> None:
    desk, heard = Desk(document.path.parent), list[str]()
    desk.listen("window", heard.append)
    desk.look_at_file()
    assert heard == []
    document.move({"a_slow"}, condition="fast")
    desk.look_at_file()
    assert heard == ["text"] and desk.study.document is not None
    assert desk.study.document.text == document.text
    assert desk.study.command == "musclesolve study study.toml -o results/study"


def test_the_list_of_trials_keeps_the_order_of_its_table(tmp_path: Path) -> None:
    of_moments = Measures(
        9,
        0,
        0,
        0,
        0.0,
        dict.fromkeys(LEG_JOINTS, float("nan")),
        "unknown",
        "not known",
        "no contact forces",
        WITH_CARE,
        [],
    )
    high = "right knee 3.7 BW; measured 2.0 to 3.4"
    records = [
        TrialRecord(name, tmp_path / "trial.toml", tmp_path, outcome, measures=measures, message=message)
        for name, outcome, measures, message in (
            ("one", Outcome.STOPPED, None, ""),
            ("two", Outcome.REFUSED, None, f"{tmp_path / 'trial.toml'}: no such file"),
            ("three", Outcome.EXCLUDED, None, ""),
            ("four", Outcome.COMPUTED, replace(of_moments, findings=[high, "another one"]), ""),
            ("five", Outcome.COMPUTED, of_moments, ""),
        )
    ]
    (tmp_path / "trials.csv").write_bytes(csv_bytes(records))
    assert [(row.name, row.css, row.words) for row in listed(tmp_path / "trials.csv")] == [
        ("one", "waits", ""),
        ("two", "error", "trial.toml: no such file"),
        ("three", "waits", ""),
        ("four", "warning", "Right knee 3.7 BW; measured 2.0 to 3.4"),
        ("five", "warning", "No contact forces"),
    ]


def test_the_list_of_trials_is_counted_by_verdict() -> None:
    """A result that is not plausible does not count as usable."""
    titles = ("Refused", LABELS[NOT_USABLE], LABELS[USABLE], "Waiting", LABELS[USABLE])
    rows = [Row(str(k), title, "", "", None) for k, title in enumerate(titles)]
    assert counted_by_verdict(rows) == (
        f"2 {LABELS[USABLE].lower()}, 1 {LABELS[NOT_USABLE].lower()}, 1 refused, 1 waiting"
    )


def test_the_marker_of_an_open_landmark_is_entered_in_its_line(document: StudyDocument) -> None:
    todo = '\n[settings.mapping]\n# TODO: enter the marker of heel_r\n# heel_r = "MARKER"\nheel_l = "LHEE"\n'
    document.write(document.text + todo)
    (heel,) = (each for each in document.opens if each.names_marker)
    document.state((*heel.table.split("."), heel.key or ""), "RHEE")
    assert '[settings.mapping]\nheel_r = "RHEE"\nheel_l = "LHEE"\n' in document.text
    assert not any(each.names_marker for each in document.opens)
