"""Answers to questions in a report: asked by a command or the trial file, of the trial that the result is of."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import xarray as xr
from command_line import typed
from refusals import refused
from stored_results import write_result

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory.report.inputs import question_of, read_inputs
from musclesolve.laboratory.report.page import write_report
from musclesolve.laboratory.results.tables.question_tables import answer_facts, in_short
from musclesolve.studies.questions.answers import AnswerFile, answer_results, asked_of

SCENARIO = "weak calf: triceps_surae=0.6"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The bundled stride with questions in its trial file, and its result beside it."""
    place = tmp_path_factory.mktemp("asked")
    for file in reference_stride().parent.iterdir():
        if file.is_file():
            shutil.copy(file, place / file.name)
    with (place / "trial.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[questions]\nask = ["margins"]\nscenarios = ["{SCENARIO}"]\n')
    done = typed("run", place / "trial.toml", "-o", place / "out")
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "The motion needs at least" in said and "margins.nc" in said
    return place / "out"


def section(page: Path, name: str) -> str:
    """The text of a section of the page; empty where there is none."""
    text = page.read_text(encoding="utf-8")
    own = text.partition(f'<details class="part" id="t1-s-{name}"')[2].partition('<details class="part"')[0]
    own = re.sub(r"<script.*?</script>", "", own, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", own).split())


def test_run_writes_what_the_trial_file_asks_and_its_report_shows_it(folder):
    assert {path.name for path in folder.iterdir()} == {"result.nc", "margins.nc", "report.html"}
    said = section(folder / "report.html", "margins")
    found = xr.open_dataset(folder / "margins.nc").load()
    answer = " ".join(in_short(answer_facts(found, "margins")).split())
    assert said.index(answer) < said.index(
        "Least strength with which the motion is possible: groups of muscles"
    )
    command = ms.studies.margins(folder.parent / "trial.toml")
    calf = 100.0 * float(command["margin"].sel(of="triceps_surae_r"))
    assert f"{calf:.0f} % of the right triceps surae" in said
    assert not section(folder / "report.html", "contributions")
    assert "different subjects" not in (folder / "report.html").read_text(encoding="utf-8")


@pytest.mark.thorough
def test_report_answers_besides(folder, tmp_path):
    answer_results([folder / "result.nc"], ["what_if"])
    page, inputs = write_report([folder / "result.nc"], tmp_path)
    (trial,) = inputs.trials
    assert set(trial.answers) == {"margins", "what_if"}
    assert "weak calf: effort" in section(page, "what_if")
    assert 'id="t1-scenarios"' in page.read_text(encoding="utf-8")
    assert 'id="t1-strength_margins"' in page.read_text(encoding="utf-8")


@pytest.mark.thorough
def test_a_later_report_keeps_the_answers_beside_the_result(folder, tmp_path):
    page, inputs = write_report([folder / "result.nc"], tmp_path)
    assert "margins" in inputs.trials[0].answers and section(page, "margins")
    _, again = write_report([folder / "margins.nc", folder / "result.nc"], tmp_path)
    assert [each.path.name for each in again.sources].count("margins.nc") == 1


@pytest.mark.thorough
def test_an_answer_about_another_trial_is_left_out(folder, tmp_path):
    other = tmp_path / "margins.nc"
    write_result(ms.studies.margins(reference_stride(), side="r"), other)
    inputs = read_inputs([folder / "result.nc", other])
    assert not inputs.trials[0].answers and list(inputs.unreadable) == [other]
    dearer = tmp_path / "contributions.nc"
    write_result(ms.studies.contributions(folder.parent / "trial.toml", "stress_cubed"), dearer)
    inputs = read_inputs([folder / "result.nc", dearer])
    assert "another cost" in inputs.unreadable[dearer]
    with refused("missing_file", "result.nc"):
        read_inputs([other])


def test_an_answer_that_there_is_not_says_why(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("musclesolve.laboratory.report.sections.figures_of", lambda data, kind: {})
    shutil.copy(folder / "result.nc", tmp_path)
    found = xr.Dataset(attrs={"question": "contributions", "no_answer": "ground reactions are not known"})
    stored = ms.read_result(folder / "result.nc")
    found.attrs |= {key: stored.attrs[key] for key in ("inputs", "trial_file")}
    write_result(found, tmp_path / "contributions.nc")
    page, _ = write_report([tmp_path / "result.nc", tmp_path / "contributions.nc"])
    assert "There is no answer: ground reactions are not known" in page.read_text(encoding="utf-8")


MISSPELT = {
    "strength = { soleuss_r = 0.5 }": "'soleus'",
    'scenarios = ["a: triceps_sura=0.5"]': "triceps_surae",
    'scenarios = ["a: torque.ankle_dorsiflexionn=-30:0"]': "ankle_dorsiflexion",
    'scenarios = ["a: torque.ankle_dorsiflexion_r=-30:0, minimize=knee_media"]': "knee_medial",
}


def test_a_misspelt_name_is_found_before_the_run(tmp_path):
    text = reference_stride().read_text(encoding="utf-8")
    for line, remedy in MISSPELT.items():
        (tmp_path / "trial.toml").write_text(
            f'{text}\n[questions]\nask = ["margins"]\n{line}\n', encoding="utf-8"
        )
        with refused("unknown_name", remedy):
            asked_of(tmp_path / "trial.toml")
    done = typed("check", tmp_path / "trial.toml")
    assert done.exit_code == 2 and "[questions] scenarios" in done.output
    every = "strength = { soleus_r = 0.5, triceps_surae = 0.9 }"
    (tmp_path / "trial.toml").write_text(
        f'{text}\n[questions]\nask = ["margins"]\n{every}\n', encoding="utf-8"
    )
    assert asked_of(tmp_path / "trial.toml") == ("margins",)


def test_scenarios_that_cannot_be_are_found_before_the_run(tmp_path):
    text = reference_stride().read_text(encoding="utf-8")
    file = tmp_path / "trial.toml"
    for scenarios, said in (
        ('["a: soleus=0.5", "a: soleus=0.4"]', "two scenarios are called 'a'"),
        ('["soleus=-1"]', "soleus is -1.0"),
    ):
        file.write_text(
            f'{text}\n[questions]\nask = ["what_if"]\nscenarios = {scenarios}\n', encoding="utf-8"
        )
        with refused("duplicate_name" if "called" in said else "bad_number", said):
            asked_of(file)
    # a value of another type is no missing scenario: reading the file says what it is
    file.write_text(f'{text}\n[questions]\nask = ["what_if"]\nscenarios = "soleus=0.5"\n', encoding="utf-8")
    assert asked_of(file) == ()
    with refused("bad_value", "the value is 'soleus=0.5'"):
        ms.read_trial(file)


def test_what_cannot_be_asked_of_a_report(folder, tmp_path):
    with refused("unknown_name", "margins"):
        answer_results([folder / "result.nc"], ["margin"])
    call = typed("report", folder / "result.nc", "--questions", "margin")
    assert call.exit_code == 2 and "contributions" in call.output
    stored = ms.read_result(folder / "result.nc")
    for key in ("trial_file", "trial_file_from_result"):
        stored.attrs.pop(key)
    write_result(stored, tmp_path / "result.nc")
    with refused("missing_file", "trial file"):
        answer_results([tmp_path / "result.nc"], ["margins"])


@pytest.mark.thorough
def test_an_answer_is_recognized_by_its_content(folder):
    made = AnswerFile("margins")(ms.read_result(folder / "result.nc"), folder / "margins.nc")
    assert b"margins" in made
    assert question_of(xr.open_dataset(folder / "margins.nc")) == "margins"
    assert question_of(ms.read_result(folder / "result.nc")) == ""
