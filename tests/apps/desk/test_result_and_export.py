"""The steps Result, Compare and Export: what is said of a result, and which files there are."""

from __future__ import annotations

import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xarray as xr
from refusals import refused
from stored_results import write_result

import musclesolve as ms
from musclesolve import Status
from musclesolve._util.locks import Lock
from musclesolve.apps.desk import result_facts as facts_of
from musclesolve.apps.desk import tasks
from musclesolve.apps.desk.desk import Desk
from musclesolve.apps.desk.result_facts import compared_costs, compared_results, css_of, result_facts
from musclesolve.apps.desk.steps import compare_step, export_step, result_step
from musclesolve.data import reference_stride
from musclesolve.laboratory.plotting import figure_names
from musclesolve.laboratory.plotting.page import page_style
from musclesolve.laboratory.plotting.study import comparison_figures
from musclesolve.laboratory.recording.command_settings import EXPORT_FORMATS
from musclesolve.laboratory.results.export.export import FORMATS
from musclesolve.laboratory.results.files import atomic_writing
from musclesolve.laboratory.results.finding import FINDINGS, Finding
from musclesolve.laboratory.results.judgement import LABELS
from musclesolve.studies import compare_results


def unseen(what: str, share: float) -> None:
    """The progress of a task that nobody looks at."""


@pytest.fixture(scope="module")
def computed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the bundled stride and its result."""
    folder = tmp_path_factory.mktemp("desk") / "walk"
    shutil.copytree(reference_stride().parent, folder)
    tasks.run(unseen, folder / "trial.toml", folder / "results" / "trial", {"side": "r"}, False, None)
    return folder


@pytest.fixture
def desk(computed: Path, tmp_path: Path) -> Iterator[Desk]:
    """A desk on a copy of it."""
    shutil.copytree(computed, tmp_path / "walk")
    yield Desk(tmp_path / "walk")


# ---- Result


def test_a_result_is_said_in_words_and_rows(desk):
    facts, result = result_facts(desk.result), ms.read_result(desk.result)
    assert facts.judgement.label == LABELS[facts.judgement.verdict]
    assert {row["name"] for row in facts.contact} >= {"hip", "knee", "ankle"}
    first, force = facts.muscles[0], result["muscle_force"].max("time")
    strongest = force.isel(muscle=int(force.values.argmax()))
    assert first["newton"] == round(float(strongest))
    assert first["name"] == str(strongest["muscle"].values)[:-2].replace("_", " ")
    strength = float(result["max_isometric_force"].sel(muscle=strongest["muscle"]))
    assert first["percent"] == round(100.0 * float(strongest) / strength)


def test_green_is_for_a_usable_result_alone(desk):
    shown = {}
    result = ms.read_result(desk.result)
    for name, changed in {
        "as it is": {},
        "too strong": {"joint_reaction": 5.0 * result["joint_reaction"]},
        "not solved": {
            "status": xr.full_like(result["status"], Status.INFEASIBLE),
            "valid": xr.zeros_like(result["valid"]),
        },
    }.items():
        path = desk.output / f"{name}.nc"
        write_result(result.assign(changed), path)
        facts = result_facts(path)
        verdict = facts.judgement.verdict
        shown[name] = verdict, css_of(verdict)
        assert (css_of(verdict) == "good") == (verdict == "usable")
    assert shown["too strong"] == ("not_usable", "error")
    assert shown["not solved"] == ("not_usable", "error")


def test_the_result_of_a_recording_with_an_error_is_not_usable(desk):
    found = [Finding("noise", "error", "w", "r").as_dict()]
    path = desk.output / "faulty.nc"
    write_result(ms.read_result(desk.result).assign_attrs({FINDINGS: json.dumps(found)}), path)
    facts = result_facts(path)
    assert css_of(facts.judgement.verdict) == "error" and facts.remarks[0].startswith("W.")


def test_the_state_of_the_step_follows_result_and_trial(desk):
    usable = desk.measures.plausibility != "not plausible" and not desk.measures.without_solution
    assert result_step.state(desk) == ("done" if usable else "fault")
    desk.state_all({("sharing", "cost"): "stress_cubed"})
    assert result_step.state(desk) == "open"
    desk.result.unlink()
    assert result_step.state(desk) == "open"


def test_a_question_or_a_comment_makes_no_result_old(desk):
    desk.state_all({("questions", "scenarios"): ["weak calf: triceps_surae=0.8"]})
    with desk.changing() as trial:
        trial.write("# a comment\n" + trial.text)
    assert "scenarios" in desk.trial.path.read_text(encoding="utf-8") and desk.changed_inputs == []
    desk.state_all({("subject", "mass_kg"): desk.trial.value("subject", "mass_kg") + 1.0})
    assert desk.changed_inputs == [desk.trial.path.name]


def test_recordings_that_have_changed_are_named(desk):
    assert desk.changed_inputs == []
    name = desk.trial.value("files", "markers")
    path = desk.folder.path / name
    path.write_bytes(path.read_bytes() + b"\n")
    assert desk.changed_inputs == [name]


def test_the_moving_picture_is_of_the_result_that_is_there(desk):
    path = result_step.moving_picture(desk.result)
    made = path.stat().st_mtime_ns
    assert result_step.moving_picture(desk.result).stat().st_mtime_ns == made
    os.utime(desk.result, ns=(made + 10**9, made + 10**9))
    assert result_step.moving_picture(desk.result).stat().st_mtime_ns != made


@pytest.mark.parametrize(
    "make",
    [
        result_step.moving_picture,
        result_step.figures,
        lambda result: tasks.compute(None, ("report", {"files": [result]}), unseen)[0],
    ],
    ids=["picture", "figures", "report"],
)
def test_what_is_made_of_a_result_waits_for_what_is_being_written_beside_it(desk, monkeypatch, make):
    """Such as the picture for the report: both are made as soon as there is a result."""
    lock = Lock.acquire(desk.result.parent / atomic_writing.LOCK)
    waited = []

    def release(seconds):
        waited.append(seconds)
        lock.release()

    monkeypatch.setattr(atomic_writing, "sleep", release)
    assert make(desk.result).is_file() and len(waited) == 1


def test_figures_are_shown_by_kind(desk, tmp_path):
    """As a page that draws itself, made again when the result is another one."""
    page = result_step.figures(desk.result)
    text = page.read_text(encoding="utf-8")
    kinds = re.findall(r"<h2>([^<]*)</h2>", text)
    assert kinds[:2] == ["Joint angles and moments", "Muscle forces"] and "Contact forces" in kinds
    assert 'id="t1-muscle_forces"' in text.partition("<h2>Muscle forces</h2>")[2].partition("</section>")[0]
    made = page.stat().st_mtime_ns
    assert result_step.figures(desk.result).stat().st_mtime_ns == made
    os.utime(desk.result, ns=(made + 10**9, made + 10**9))
    assert result_step.figures(desk.result).stat().st_mtime_ns != made


# ---- Compare


def test_what_the_page_knows_without_loading_much_is_what_the_package_does():
    assert compare_step.MOST == len(comparison_figures.COST_COLORS) == compare_results.MOST


def test_costs_are_compared_with_the_first(desk, monkeypatch):
    figures = {f"{name}_r.png": b"" for name in figure_names.drawings("comparison")}
    monkeypatch.setattr(page_style, "figures_of", lambda *_: figures)
    costs = ["joint_weighted_activation", "stress_cubed"]
    (path,) = (
        path
        for path in tasks.compare(unseen, desk.trial.path, desk.comparison, costs, "r")
        if path.name == compare_step.COMPARISON
    )
    facts = compared_costs(path)
    assert facts.columns == costs
    knee = next(row for row in facts.rows if row["name"] == "contact force, knee")
    assert knee["unit"] == "body weights" and knee["leg"] == "right"
    ratio = knee["peak_1"] / knee["peak_0"]
    assert knee["change_1"] == pytest.approx(100.0 * (ratio - 1.0), abs=1.0)
    columns = [each["name"] for each in compare_step.columns_of(facts)]
    assert columns == ["name", "leg", "unit", "peak_0", "peak_1", "change_1"]
    assert all(set(columns) >= set(row) - {"key"} for row in facts.rows)
    drawn = result_step.figures(path, of_comparison=True).read_text(encoding="utf-8")
    assert set(re.findall(r"<h2>([^<]*)</h2>", drawn)) >= {"Function groups", "Contact forces", "Activations"}
    assert 'id="compare_contact_forces_r"' in drawn and "cannot be drawn" not in drawn
    # the report of the result takes it, as long as both are of the same input
    assert export_step.report_inputs(desk.result, [path, desk.output / "none.nc"]) == [desk.result, path]
    other = ms.read_result(desk.result).assign_attrs(inputs=["trial another.toml sha256:0"])
    write_result(other, desk.result)
    assert export_step.report_inputs(desk.result, [path]) == [desk.result]


def test_results_are_kept_under_a_name_and_compared(desk, monkeypatch):
    monkeypatch.setattr(page_style, "figures_of", lambda *_: {})
    step = compare_step.Compare.__new__(compare_step.Compare)
    step.desk = desk
    step._keep("before")
    with refused("duplicate_name", "before"):
        step._keep("before")
    for name in ("../outside", "", "a/b", ".hidden"):
        with refused("bad_name"):
            step._keep(name)
    assert list(desk.results) == ["before", "trial"]
    folder = desk.folder.path / "results" / "compared"
    tasks.compare_results(unseen, desk.results, folder)
    facts = compared_results(folder / compare_step.COMPARED)
    assert facts.columns == ["before", "trial"] and facts.unlike == []
    assert {row["change_1"] for row in facts.rows} <= {0.0, None}


# ---- Export


def test_every_format_is_offered_with_its_use():
    assert list(EXPORT_FORMATS) == list(FORMATS)


@pytest.mark.parametrize(
    ("task", "arguments", "written"),
    [
        ("export", {"file_format": "csv"}, "result.csv"),
        ("export", {"file_format": "sto"}, "result_activation.sto"),
        ("picture", {"path": "picture.png"}, "picture.png"),
    ],
)
def test_what_is_made_is_a_file_of_the_result(desk, task, arguments, written):
    given: dict[str, Any] = {"result": desk.result, **arguments}
    if "path" in given:
        given["path"] = desk.output / given["path"]
    paths = tasks.TASKS[task](unseen, **given)
    assert desk.output / written in paths
    assert set(paths) <= set(facts_of.files_in(desk.output))


def test_the_archive_holds_every_file_but_hidden_ones(desk):
    (desk.output / "figures").mkdir()
    (desk.output / "figures" / "a.svg").write_text("<svg/>")
    (desk.output / ".musclesolve-lock").touch()
    (desk.output / "link.toml").symlink_to(desk.trial.path)
    path = facts_of.zipped(desk.output)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["trial/result.nc", "trial/figures/a.svg"]
        assert archive.read("trial/result.nc") == desk.result.read_bytes()
    path.unlink()


def test_addresses_are_safe_and_change_with_the_file(desk):
    path = desk.output / 'a "b" #1.png'
    path.touch()
    before = facts_of.address(desk.folder.path, path)
    assert before.startswith("files/results/trial/a%20%22b%22%20%231.png?")
    os.utime(path, ns=(1, 1))
    assert facts_of.address(desk.folder.path, path) != before


def test_sizes_in_words():
    assert [facts_of.size_words(size) for size in (3, 20_000, 2_000_000)] == ["0.1 kB", "20.0 kB", "2.0 MB"]
