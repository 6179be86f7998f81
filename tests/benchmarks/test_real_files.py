"""Public files: the cases of a folder, what is filled in, the stored table and what changes from one to another."""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import pytest
from recorded_data import recorded

from benchmarks.real_files.cases import RealCase, real_cases
from benchmarks.real_files.stored import (
    JUDGEMENTS,
    changes,
    counted,
    findings_of,
    read_judgements,
    read_outcomes,
    write_outcomes,
)

if sys.platform == "win32":
    pytest.skip("a case is ended by a limit that Windows does not have", allow_module_level=True)

from benchmarks.real_files.outcome import COLUMNS, Outcome, examine, fill_in, outcome_of
from musclesolve.laboratory.draft.draft_folder import TrialDraft
from musclesolve.laboratory.draft.draft_text import DraftTable, Line

TABLE = """| folder | laboratory | source = dest |
| --- | --- | --- |
| first/walk | A | m.trc = a/b:walk.trc; static.trc = a/b:standing.trc |
| first/run | A | m.trc = a/b:run.trc; static.trc = a/b:standing.trc (same file as first/walk/static.trc) |
"""


def outcome(case: str, **known: str) -> Outcome:
    return dict.fromkeys(COLUMNS, "") | {"case": case, **known}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two motions of a laboratory; the second one has its standing trial in the folder of the first one."""
    for name in ("first/walk/m.trc", "first/walk/static.trc", "first/run/m.trc"):
        file = tmp_path / f"{name}.gz"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(gzip.compress(name.encode()))
    (tmp_path / "README.md").write_text(TABLE, encoding="utf-8")
    facts = "file,fact,value\nfirst/run/m.trc,mass_kg_step,61.0 of 1 steps\nfirst/run/m.trc,mass_kg_mean_total,60.5\n"
    (tmp_path / "facts.csv").write_text(facts, encoding="utf-8")
    return tmp_path


def test_a_case_has_the_files_of_its_folder_and_those_it_shares(folder: Path, tmp_path: Path) -> None:
    run, walk = real_cases(folder)
    assert (run.name, walk.name, run.source) == ("first/run", "first/walk", "first")
    place = run.unpack(tmp_path / "unpacked")
    assert {file.name: file.read_text() for file in place.iterdir()} == {
        "m.trc": "first/run/m.trc",
        "static.trc": "first/walk/static.trc",
    }
    assert [case.name for case in real_cases(folder, "*/w*")] == ["first/walk"]


def test_the_mass_of_a_single_step_is_not_taken(folder: Path) -> None:
    run, walk = real_cases(folder)
    assert run.carried_mass() == 60.5 and walk.carried_mass() is None
    steps = RealCase("c", {}, (("m.trc", "mass_kg_step", "61.0 of 2 steps"),))
    assert steps.carried_mass() == 61.0


def test_what_a_file_states_is_kept_and_the_rest_is_filled_in(folder: Path, tmp_path: Path) -> None:
    lines = (
        Line("stature_m", 1.62, "walk.c3d: PROCESSING:Height"),
        Line("mass_kg", 59.0, "", "confirm the body mass"),
        Line("sex", None, "", "enter the sex", open=True),
    )
    table = DraftTable("subject", lines)
    draft = TrialDraft(tmp_path / "trial.toml", "", tables=(table,))
    draft.path.write_text("\n".join(table.texts()), encoding="utf-8")
    assert fill_in(real_cases(folder)[0], draft) == {
        "stature_m": "1.62 (file)",
        "mass_kg": "60.5 (facts)",
        "sex": "male (default)",
    }
    text = [line.split(" #")[0].strip() for line in draft.path.read_text(encoding="utf-8").splitlines()]
    assert {"stature_m = 1.62", "mass_kg = 60.5", 'sex = "male"'} <= {*text}


def test_outcomes_are_read_as_they_were_written(tmp_path: Path) -> None:
    outcomes = [
        outcome("a/b", stage="checked", findings="error leap 'A' jumps, far\nnote remark said"),
        outcome("a/c", stage="found"),
    ]
    assert list(write_outcomes(tmp_path / "out.csv", outcomes)) == outcomes
    assert read_outcomes(tmp_path / "out.csv") == outcomes
    first, _ = findings_of(outcomes[0])
    assert (first.level, first.code, first.sentence) == ("error", "leap", "'A' jumps, far")
    assert {code: dict(levels) for code, levels in counted(outcomes).items()} == {
        "leap": {"error": 1},
        "remark": {"note": 1},
    }


def test_changes_name_stages_verdicts_and_findings_of_cases_in_both_files() -> None:
    before = [
        outcome("a/b", stage="checked", verdict="not_usable", findings="error leap x\nerror leap y"),
        outcome("a/c", stage="forces", verdict="usable"),
        outcome("a/d", stage="forces"),
    ]
    after = [
        outcome("a/b", stage="forces", verdict="with_care", findings="warning leap x"),
        outcome("a/c", stage="drafted", verdict="usable", stopped="longer than 5 s"),
        outcome("a/e", stage="forces"),
    ]
    assert list(changes(before, after)) == [
        "a/b: stage gained: checked -> forces",
        "a/b: verdict not_usable -> with_care",
        "a/b: lost: error leap (2)",
        "a/b: gained: warning leap",
        "a/c: stage lost: forces -> drafted longer than 5 s",
    ]
    assert list(changes(after, after)) == []


def test_judgements_by_hand_have_a_case_and_a_reason() -> None:
    judged = [each for several in read_judgements().values() for each in several]
    assert {each.judgement for each in judged} == {*JUDGEMENTS}
    assert all(each.reason for each in judged)
    names = {case.name for case in real_cases(recorded("real_files"))}
    assert {each.case for each in judged} <= names


def test_a_recording_without_names_of_landmarks_is_drafted_and_checked(tmp_path: Path) -> None:
    (case,) = real_cases(recorded("real_files"), "btk_dance/Dance")
    told = outcome(case.name)
    examine(case, tmp_path, True, told.update)
    assert told["stage"] == "checked" and told["verdict"] == "not_usable"
    assert "mapping" in {each.code for each in findings_of(told) if each.level == "error"}
    assert told["sex"] == "male (default)" and told["mass_kg"] == "70.0 (default)"


@pytest.mark.thorough
def test_a_case_that_takes_too_long_keeps_the_stage_it_reached() -> None:
    (case,) = real_cases(recorded("real_files"), "btk_gait/Gait")
    ended = outcome_of(case, limit=1)
    assert ended["stage"] in ("found", "drafted") and ended["stopped"] == "longer than 1 s"
