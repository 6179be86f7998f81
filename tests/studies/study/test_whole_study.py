"""A synthetic study from its files to its page: what is computed, kept, put together, described and said."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import re
import shutil
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from b3d_files import write_b3d
from browser import DESKTOP, PHONE, chromium, needs_chromium, opened
from command_line import typed
from refusals import refused
from rich.console import Console
from scipy import stats
from stored_results import write_result

import musclesolve as ms
from musclesolve.cli.result_documents import study_document
from musclesolve.cli.tables.trial_tables import study_check_tables as tables
from musclesolve.errors import InputError
from musclesolve.laboratory.recording.file_settings import DesignSettings
from musclesolve.laboratory.results.files.result_netcdf import netcdf_bytes
from musclesolve.laboratory.results.finding import Finding, finding
from musclesolve.laboratory.results.judgement import Report
from musclesolve.laboratory.results.plausibility import FLAGS
from musclesolve.laboratory.results.tables.study_tables import comparisons_csv
from musclesolve.studies.draft.draft_study import draft_study, write_study
from musclesolve.studies.pages import study_page
from musclesolve.studies.study.analysis import StudyResult, analyze_study
from musclesolve.studies.study.check_study import StudyCheck
from musclesolve.studies.study.run_study import compute_trials, prepared
from musclesolve.studies.study.study_data import write_study_data

ROOT = Path(__file__).parents[3]
BROKEN, SWAPPED, EFFECT = "S03_free_2", "S04_loaded_1", 1.5


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Five subjects, two conditions, two trials each; knee moments are half as great again in one condition."""
    file = ROOT / "examples" / "study" / "make_study.py"
    spec = importlib.util.spec_from_file_location("make_study", file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    made.BROKEN, made.SWAPPED = (BROKEN,), (SWAPPED,)
    place = tmp_path_factory.mktemp("study")
    masses = made.write_trials(place, 5, 2, effect=EFFECT)
    write_study(draft_study(place, place / "draft.toml"))
    made.write_study(place, masses)
    return place


@pytest.fixture(scope="module")
def whole(folder) -> StudyResult:
    return ms.studies.run_study(folder / "study.toml", folder / "results", jobs=2)


FEW = ("S01_free_1", "S01_loaded_1", "S02_free_1", BROKEN)


@pytest.fixture
def few(folder) -> Path:
    """The study file of four of the trials, beside that of all; one is broken."""
    path = copied(folder / "study.toml", "few")
    without(path, set(ms.studies.read_study(path).trial_of) - {*FEW})
    return path


def table_of(study: Path) -> Path:
    return study.with_suffix(".csv")


def copied(study: Path, name: str) -> Path:
    """A copy of a study file and its table beside them."""
    path = study.with_name(f"{name}.toml")
    path.write_text(study.read_text(encoding="utf-8").replace("trials.csv", f"{name}.csv"), encoding="utf-8")
    shutil.copy(study.with_name("trials.csv"), table_of(path))
    return path


def without(study: Path, names) -> None:
    """Take trials out of the table of a study."""
    lines = table_of(study).read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.split(",")[0] not in names]
    table_of(study).write_text("\n".join([*kept, ""]), encoding="utf-8")


def with_column(study: Path, column: str, cells: dict[str, str]) -> None:
    """State cells of trials in the table of a study."""
    table = pd.read_csv(table_of(study), dtype=str, keep_default_na=False).set_index("name")
    if column not in table:
        table[column] = ""
    for name, cell in cells.items():
        table.loc[name, column] = cell
    table.to_csv(table_of(study))


def change(path: Path, before: str, after: str, count: int = -1) -> Path:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, count), encoding="utf-8")
    return path


def page_without_figures(result: StudyResult) -> str:
    """The page of a study; its figures, which take most of the time, are drawn in `page` and tested elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study_page, "group_drawings", lambda *_: {})
        return study_page.study_page(result)


def outcomes(computed) -> dict[str, str]:
    return {name: record.outcome for name, record in computed.records.items()}


def test_one_broken_trial_does_not_stop_the_others(whole):
    ended = outcomes(whole.computed)
    assert Counter(ended.values()) == {"computed": 19, "refused": 1}
    assert ended[BROKEN] == "refused"
    place = whole.computed.folder / "trials"
    message = (place / BROKEN / "error.txt").read_text(encoding="utf-8")
    assert "S03/free/trial_2_id.sto, line" in message and ".." not in message
    assert {file.name for file in (place / "S01_free_1").iterdir()} >= {
        "trial.toml",
        "result.nc",
        "cycles.nc",
    }
    assert [path.name for path in whole.files] == [
        *("study.nc", "values.csv", "curves.csv", "subject_values.csv", "comparisons.csv")
    ]


def test_what_the_file_of_a_trial_lacks_belongs_in_the_study(few, tmp_path):
    """The trial file of the study is written anew: a change there is lost."""
    with_column(few, "settings.muscles.names", {"S01_free_1": '["none_r"]'})
    record = compute_trials(few, tmp_path / "out", jobs=1).records["S01_free_1"]
    assert record.outcome == "refused" and "column 'settings.muscles.names'" in record.message
    assert str(table_of(few)) in record.message and "trial.toml" not in record.message


def test_cycles_of_the_study_are_those_of_single_results(whole):
    """Second route: read a result, cut and normalize it by the public functions."""
    study = ms.studies.open_study(whole.computed.folder)
    for name in ("S01_free_1", "S05_loaded_2"):
        result = ms.read_result(whole.computed.folder / "trials" / name / "result.nc")
        own = ms.laboratory.cycles(result, "r", without_side=True)
        own.attrs["subject_mass_kg"] = whole.computed.study.of_subject(name[:3], "mass_kg")
        own = ms.laboratory.normalized(own, whole.computed.study.units)
        there = study.isel(cycle=np.flatnonzero(study["cycle_trial"].values == name))
        assert there.sizes["cycle"] == own.sizes["cycle"] == 1
        for variable in ("joint_angle", "joint_moment", "joint_power", "muscle_force", "activation"):
            label = "muscle" if "muscle" in own[variable].dims else "dof"
            ours = there[variable].sel({label: own[label].values}).transpose(*own[variable].dims).values
            scale = np.nanmax(np.abs(own[variable].values))
            assert np.allclose(ours, own[variable].values, rtol=0, atol=1e-6 * scale, equal_nan=True)
            assert there[variable].attrs["units"] == own[variable].attrs["units"]


def test_units_by_hand(whole):
    """Over body mass, over maximum isometric force; the first frame is the beginning of the cycle."""
    name, study = "S02_free_1", ms.studies.open_study(whole.computed.folder)
    result = ms.read_result(whole.computed.folder / "trials" / name / "result.nc")
    cycle = study.isel(cycle=int(np.flatnonzero(study["cycle_trial"].values == name)[0]), percent=0)
    first = result.sel(time=float(cycle["cycle_start"]), method="nearest")
    dof = str(result["dof"].values[1])
    muscle = str(result["muscle"].values[int(first["muscle_force"].argmax("muscle"))])
    mass = whole.computed.study.of_subject("S02", "mass_kg")
    assert cycle["joint_moment"].attrs["units"] == "N m/kg"
    moment = float(first["joint_moment"].sel(dof=dof))
    assert float(cycle["joint_moment"].sel(dof=dof[:-2])) == pytest.approx(moment / mass, rel=1e-4)
    share = float(first["muscle_force"].sel(muscle=muscle) / result["max_isometric_force"].sel(muscle=muscle))
    assert share > 0.01
    assert float(cycle["muscle_force"].sel(muscle=muscle[:-2])) == pytest.approx(100.0 * share, rel=1e-4)


def test_means_by_hand(whole):
    """Mean over the trials of a subject, then over the subjects."""
    study, groups = ms.studies.open_study(whole.computed.folder), whole.groups
    for condition in ("free", "loaded"):
        of = study["joint_moment"].values[study["condition"].values == condition]
        subject = study["subject"].values[study["condition"].values == condition]
        means = np.stack([of[subject == name].astype(float).mean(axis=0) for name in np.unique(subject)])
        own = groups.isel(group=0).sel(condition=condition)
        assert own["joint_moment"].transpose("percent", "dof").values == pytest.approx(means.mean(axis=0))
        spread = own["joint_moment_std"].transpose("percent", "dof").values
        assert spread == pytest.approx(means.std(axis=0, ddof=1))
        assert int(own["subjects"]) == 5


def test_the_planted_difference_and_the_planted_fault_are_found(whole):
    found = whole.comparisons.isel(test=np.unique(whole.comparisons["cluster_test"].values))
    moments = found.isel(test=np.flatnonzero(found["variable"].values == "joint_moment"))
    assert moments["name"].values.tolist() == ["knee_angle"]
    cycles = whole.cycles
    assert cycles["cycle_trial"].values[cycles["outlier"].values.astype(bool)].tolist() == [SWAPPED]


def test_values_are_those_of_the_curves(whole):
    table = pd.read_csv(whole.computed.folder / "values.csv", keep_default_na=False)
    row = table.query(
        "variable == 'joint_moment' and name == 'knee_angle' and phase == 'cycle' and measure == 'max'"
    ).iloc[0]
    cycle = ms.studies.open_study(whole.computed.folder).isel(cycle=int(row["cycle"]))
    assert row["cycle_trial"] == str(cycle["trial"].values)
    curve = cycle["joint_moment"].sel(dof="knee_angle").values
    assert float(row["value"]) == pytest.approx(float(curve.max()), rel=1e-6)
    assert float(row["percent"]) == float(np.argmax(curve))


def test_what_is_up_to_date_is_kept_and_what_changed_alone_is_computed(folder, few, tmp_path):
    without(few, FEW[1::2])
    first = compute_trials(few, tmp_path, jobs=2)
    assert list(outcomes(first).values()) == ["computed"] * 2
    assert write_study_data(first).not_averaged == {}
    with ms.studies.open_study(tmp_path) as study:
        moments = study["joint_moment"].load()
    # the contents of one file
    file = folder / "S02" / "free" / "trial_1_id.sto"
    text = file.read_text(encoding="utf-8")
    file.write_text(text + "\n", encoding="utf-8")
    result = compute_trials(few, tmp_path, jobs=1)
    assert outcomes(result) == {"S01_free_1": "unchanged", "S02_free_1": "computed"}
    # the mass divides, and is the mass of the person in the trial file of a model
    mass = re.search(r"S01,free,([\d.]+)", table_of(few).read_text(encoding="utf-8"))[1]
    change(table_of(few), f"S01,free,{mass}", f"S01,free,{2 * float(mass)}")
    result = compute_trials(few, tmp_path, jobs=1)
    assert outcomes(result) == {"S01_free_1": "computed", "S02_free_1": "unchanged"}
    stated = ms.read_result(tmp_path / "trials" / "S01_free_1" / "result.nc").attrs["subject_mass_kg"]
    assert stated == pytest.approx(2 * float(mass))
    write_study_data(result)
    with ms.studies.open_study(tmp_path) as study:
        ratio = (study["joint_moment"] / moments).load()
    for trial, expected in (("S01_free_1", 0.5), ("S02_free_1", 1.0)):
        own = ratio.values[study["trial"].values == trial]
        assert own == pytest.approx(np.full(own.shape, expected), rel=1e-5)
    # a setting of all trials
    change(few, "stress_cubed", "force_squared")
    assert list(outcomes(compute_trials(few, tmp_path, jobs=2)).values()) == ["computed"] * 2


@pytest.fixture(scope="module")
def page(folder, whole) -> Path:
    """The page of a walk, of what is stated to be a jump, and of a trial that is broken; with reports."""
    path = copied(folder / "study.toml", "page")
    without(path, {each.name for each in whole.computed.study.trials} - {*FEW} | {"S02_free_1"})
    text = re.sub(r"(?m)(^S01_loaded_1.*),walking,", r"\1,jump,", table_of(path).read_text(encoding="utf-8"))
    table_of(path).write_text(text, encoding="utf-8")
    answer = typed("study", folder / "page.toml", "-o", folder / "page", "--json", "--quiet")
    assert answer.exit_code == 3, answer.output
    assert answer.stderr.startswith(f"musclesolve: {BROKEN}: ")
    (folder / "page" / "document.json").write_text(answer.stdout, encoding="utf-8")
    return folder / "page" / "study.html"


def test_other_movements_are_not_averaged(page):
    """A jump among walks stops nothing; it is listed, with the reason."""
    document = json.loads((page.parent / "document.json").read_text(encoding="utf-8"))
    assert list(document["not_averaged"]) == ["S01_loaded_1"]
    assert "a jump cycle, where most trials have a gait cycle" in document["not_averaged"]["S01_loaded_1"]
    study = ms.studies.open_study(page.parent)
    assert set(study["cycle_movement"].values.tolist()) == {"walking"}
    assert study["trial"].values.tolist() == ["S01_free_1"]
    assert "another movement: a jump cycle" in page.read_text(encoding="utf-8")


def test_the_document_says_what_became_of_each_trial(page):
    document = json.loads((page.parent / "document.json").read_text(encoding="utf-8"))
    assert (document["command"], document["exit_code"], document["cycles"]) == ("study", 3, 1)
    assert {each["name"]: each["status"] for each in document["trials"]}[BROKEN] == "refused"
    assert all(Path(file).is_file() for file in document["files"])


def test_links_of_the_page_lead_to_files(page):
    text = page.read_text(encoding="utf-8")
    assert 'href="trials.csv"' in text
    links = [link for link in re.findall(r'href="([^"]+)"', text) if not link.startswith(("#", "data:"))]
    beside = [link for link in links if not link.startswith("https://")]  # sources that are cited
    assert sum(link.endswith("report.html") for link in beside) == 2
    assert all((page.parent / link.partition("#")[0]).exists() for link in beside), beside
    anchors = set(re.findall(r'id="([^"]+)"', text))
    assert {link[1:] for link in re.findall(r'href="(#[^"]+)"', text)} <= anchors


@needs_chromium
def test_the_page_in_a_browser(page):
    with chromium() as browser:
        for size in (DESKTOP, PHONE):
            with opened(page, size, browser) as shown:
                assert (shown.errors, shown.requests) == ([], [])
                width = shown.page.evaluate("document.documentElement.scrollWidth")
                assert width <= size[0], size
                sentences = "cells => cells.map(cell => cell.clientWidth)"
                widths = shown.page.eval_on_selector_all("table.prose td:last-child", sentences)
                assert widths and min(widths) >= 160, size


def test_the_page_of_one_subject_says_why_nothing_is_compared(page):
    text = page.read_text(encoding="utf-8")
    assert (
        "Nothing was compared:" in text and "Nothing is compared" not in text and "No difference" not in text
    )
    assert "Angles are in" not in text  # one unit everywhere
    assert text.count('class="badge with-care"') >= 1 and text.count("no contact forces are known") == 1
    assert "The plausibility of " in text


def test_the_page_says_which_files_have_another_unit_of_angles(whole):
    study = whole.computed.study
    radians = replace(study, units={**study.units, "angle": "rad"})
    text = page_without_figures(replace(whole, computed=replace(whole.computed, study=radians)))
    said = "Angles are in deg on this page and in comparisons.csv, and in rad in study.nc and values.csv."
    assert said in text


def test_sentences_of_the_page_have_names_units_and_groups(whole):
    text = page_without_figures(whole)
    (found,) = re.findall(r"<li>(Joint moment knee angle: condition.*?)</li>", text)
    tests = whole.comparisons
    test = int(np.flatnonzero((tests["variable"] == "joint_moment") & (tests["name"] == "knee_angle"))[0])
    own = np.abs(tests["mean_difference"].values[tests["cluster_test"].values == test])
    amount, share = re.search(
        r"loaded - free: ([+-][\d.]+) N m/kg, ([+-]\d+) % of the reference", found
    ).groups()
    assert abs(float(amount)) == pytest.approx(own.max(), rel=5e-3) and abs(int(share)) > 5
    stretches = [each for each in study_document(whole)["clusters"] if each["name"] == "knee_angle"]
    assert {each["units"] for each in stretches if each["variable"] == "joint_moment"} == {"N m/kg"}
    assert any(f"{each['mean_difference']:+.2f}" in found for each in stretches)
    angles = replace(
        whole, comparisons=tests.assign(units=tests["units"].copy(data=["rad"] * tests.sizes["test"]))
    )
    (degrees,) = {each["units"] for each in study_document(angles)["clusters"]}
    assert degrees == "deg"
    single = tests.assign(start=tests["start"] * 0 + 92.8, end=tests["end"] * 0 + 93.2)
    text = page_without_figures(replace(whole, comparisons=single))
    assert "at 93 % of the cycle" in text and "93 to 93" not in text and "93-93" not in text
    named = tests.assign(name=tests["name"].copy(data=["BICshort"] * tests.sizes["test"]))
    assert "<li>Joint moment BICshort" in page_without_figures(replace(whole, comparisons=named))
    tiny = tests.assign(mean_difference=0.0 * tests["mean_difference"] + 0.01)
    text = page_without_figures(replace(whole, comparisons=tiny))
    assert "<li>Joint moment knee angle" not in text and "smaller than sessions of one person differ" in text
    text = page_without_figures(
        replace(
            whole,
            comparisons=tiny.assign(family=tests["family"].copy(data=["primary"] * len(tests["family"]))),
        )
    )
    assert re.search(
        r"<li>Joint moment knee angle: [^<]*[+]0.01 N m/kg[^<]*, smaller than the measurement", text
    )
    none = whole.comparisons.isel(cluster=[])
    partly = none["tested_percent"].copy()
    partly[:5] = 90
    text = page_without_figures(replace(whole, comparisons=none.assign(tested_percent=partly)))
    assert "No difference that these tests could find with 5 subjects" in text
    count = int(((partly > 0) & (partly < 101)).sum())
    said = re.search(rf"Partly tested: {count} of \d+ tests: [^<]*\(([^<]*)\)", text)[1]
    assert said.startswith(str(none["name"].values[0]).replace("_", " "))


def test_subjects_without_a_group_are_called_so(whole):
    study = whole.computed.study
    subjects = {name: {**of, "group": "a"} if name < "S03" else of for name, of in study.subjects.items()}
    text = page_without_figures(
        replace(whole, computed=replace(whole.computed, study=replace(study, subjects=subjects)))
    )
    assert '<th scope="row">no group</th><td>3</td>' in text and '<th scope="row">a</th><td>2</td>' in text
    assert '<th scope="row">all</th><td>5</td>' in page_without_figures(whole)


@pytest.mark.thorough
def test_numbers_of_the_page_are_of_what_counts(whole):
    """A refused trial is in no mean, nor is a subject that is left out; each mean has its number of subjects."""

    def averaged(result) -> list[str]:
        table = (
            page_without_figures(result).partition("that are averaged</caption>")[2].partition("</table>")[0]
        )
        return [
            re.sub("<[^>]+>", " ", row).split()[:4] for row in re.findall("<tr>.*?</tr>", table, re.DOTALL)
        ]

    cycles = whole.cycles.load()
    free = cycles["condition"].values == "free"
    assert averaged(whole)[1:] == [
        ["free", "5", "9", f"{free.sum()}"],
        ["loaded", "5", "10", f"{(~free).sum()}"],
    ]
    counts = (cycles["subject"].values != "S01") | ~free
    left_out = replace(whole, cycles=cycles.assign_coords(counts=("cycle", counts)))
    assert averaged(left_out)[1] == ["free", "4", "7", f"{(free & counts).sum()}"]
    fully = cycles["subject"].values != "S01"
    page = page_without_figures(replace(whole, cycles=cycles.assign_coords(counts=("cycle", fully))))
    trials = "19 of 20 trials with a result, 1 without one, 15 averaged"
    assert page.count(f"4 of 5 subjects, 2 conditions; {trials}; {fully.sum()} cycles") == 2
    knee = (whole.values["variable"] == "joint_moment") & (whole.values["name"] == "knee_angle")
    assert "free (n = 5)" in page_without_figures(whole) and "(n = 4)" not in page_without_figures(whole)
    fewer = whole.values.assign(
        count=whole.values["count"].mask(knee & (whole.values["measure"] == "max"), 4)
    )
    assert "(n = 4)</td>" in page_without_figures(replace(whole, values=fewer))


def test_values_of_arms_are_on_the_page_as_outcomes_alone(whole):
    moments = whole.values[whole.values["variable"] == "joint_moment"].assign(name="elbow_flexion")
    arms = replace(whole, values=moments)
    assert "elbow flexion" not in page_without_figures(arms)
    design = DesignSettings(outcomes=("joint_moment elbow_flexion max",))
    study = replace(whole.computed.study, design=design)
    assert "elbow flexion" in page_without_figures(
        replace(arms, computed=replace(whole.computed, study=study))
    )


def test_numbers_without_a_unit_are_written_without_one(whole):
    units = whole.comparisons["units"].copy(data=["1"] * whole.comparisons.sizes["test"])
    assert re.search(
        r"loaded - free: [+-][\d.]+,",
        page_without_figures(replace(whole, comparisons=whole.comparisons.assign(units=units))),
    )


@pytest.mark.thorough
def test_figures_of_an_earlier_run_are_removed(few, tmp_path):
    without(few, FEW[1:])
    out = tmp_path / "out"

    def figures() -> set[str]:
        return {path.name for path in out.glob("group_*")}

    answer = typed("study", few, "-o", out, "--no-reports", "--format", "pdf", "--json", "--quiet")
    assert any(file.endswith("trials.csv") for file in json.loads(answer.stdout)["files"])
    (out / "group_photo.png").touch()
    first = figures() - {"group_photo.png"}
    assert first and all(name.endswith(".pdf") for name in first)
    typed("study", few, "-o", out, "--no-reports", "--figures")
    assert figures() == {name.replace(".pdf", ".png") for name in first} | {"group_photo.png"}
    table = table_of(few).read_text(encoding="utf-8")
    table_of(few).write_text(re.sub(r'"\[\[.*?\]\]"', "", table), encoding="utf-8")
    answer = typed("study", few, "-o", out, "--no-reports")
    assert figures() == {"group_photo.png"}, answer.output


def test_check_looks_at_every_trial(few):
    answer = typed("check", few, "--json")
    assert answer.exit_code == 2
    document = json.loads(answer.stdout)
    assert not document["ok"] and list(document["trials"]) == sorted(FEW)
    assert document["verdict"].startswith("1 of 4 trials has an error")
    assert document["trials"][BROKEN]["findings"][0]["severity"] == "error"


def test_tables_of_a_check_say_a_finding_once_with_its_trials(few, tmp_path):
    report = Report(tmp_path / "trial.toml", (Finding("mass", "warning", "83 kg", "weigh the subject"),))
    assert StudyCheck(few, {"a": Report(few, ())}, {}, ()).verdict.startswith("the trial can be computed: 1 ")
    assert StudyCheck(few, {"a": report, "b": report}, {}, ()).verdict.startswith(
        "both trials can be computed"
    )
    found = StudyCheck(few, {"a": report, "b": report, "c": Report(few, ())}, {"d": "no such file"}, ())
    counts, errors, warnings = tables(found)
    assert [list(column.cells) for column in counts.columns] == [
        ["d", "a", "b"],
        ["1", "0", "0"],
        ["", "1", "1"],
        ["Not usable", "Usable with care", "Usable with care"],
    ]
    assert list(errors.columns[1].cells) == ["d"] and list(warnings.columns[1].cells) == ["a, b"]
    other = Report(tmp_path / "trial.toml", (Finding("mass", "warning", "85 kg", "weigh the subject"),))
    *_, warnings = tables(replace(found, reports={"a": report, "b": other}))
    assert [list(column.cells) for column in warnings.columns] == [
        ["mass"],
        ["a, b"],
        [""],
        ["a: 83 kg (one of 2)"],
        ["weigh the subject"],
    ]
    assert found.verdict.startswith("1 of 4 trials has an error")


@pytest.mark.thorough
def test_what_prevents_tests_or_means_is_said(whole):
    """On trials that are computed: too few subjects, a unit without its size, damaged cycles."""
    computed = whole.computed
    two = {name: computed.records[name] for name in ("S01_free_1", "S02_free_1")}
    computed = replace(computed, records=two)
    found = analyze_study(computed)
    assert found.comparisons is None and found.groups is not None
    assert "no two groups, conditions or legs" in found.not_compared
    assert not (computed.folder / "comparisons.csv").exists()
    units = {**computed.study.units, "moment": "N m/(kg m)"}
    collected = write_study_data(replace(computed, study=replace(computed.study, units=units)))
    assert collected.path is None
    assert all("stature of S" in reason for reason in collected.not_averaged.values())
    file = computed.folder / "trials" / "S01_free_1" / "cycles.nc"
    content = file.read_bytes()
    file.write_bytes(content[:1000])
    with refused("bad_result", "delete this file"):
        write_study_data(computed)
    file.write_bytes(content)
    assert write_study_data(whole.computed).not_averaged == {}


def test_a_study_of_which_every_trial_is_excluded(few, tmp_path):
    with_column(few, "exclude", dict.fromkeys(FEW, "no reason"))
    for what in (ms.studies.check_study, lambda path: compute_trials(path, tmp_path)):
        with refused("missing_key", "every trial is excluded"):
            what(few)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("S01/free/trial_1_ik.mot", "S01/free/trial_7_ik.mot", "few.csv, line 2, column 'coordinates'"),
        ("S01/free/trial_1_ik.mot", "S01/free/trial_7_ik.mot", "did you mean 'trial_"),
        ("model", {"model": "", "file": "study.toml"}, "this is a study file"),
        ("model", {"model": "", "file": "walk.toml"}, "mass_kg of S01 is not known"),
        ("model", {"model": "", "b3d": "old.b3d", "trial": "w"}, "of version 9"),
    ],
)
def test_one_message_for_a_trial_that_cannot_be_read(folder, few, tmp_path, before, after, said):
    (folder / "walk.toml").write_text(
        '[subject]\nsex = "male"\nstature_m = 1.8\n[files]\nmarkers = "w.trc"\n', encoding="utf-8"
    )
    write_b3d(folder / "old.b3d", [], ["<OpenSimDocument/>"], 1, version=9)
    if isinstance(after, str):
        change(table_of(few), before, after, 1)
    else:
        for column, cell in (after | {"coordinates": "", "moments": ""}).items():
            with_column(few, column, {"S01_free_1": cell})
        with_column(few, "mass_kg", dict.fromkeys(FEW, ""))
    jobs, refusals, _ = prepared(ms.studies.read_study(few), tmp_path)
    assert [record.name for record in refusals] == ["S01_free_1"]
    assert said in refusals[0].message
    assert {job.name for job in jobs} == set(FEW) - {"S01_free_1"}


def test_slips_of_the_study_file_are_said(folder):
    study = copied(folder / "study.toml", "slips")
    change(table_of(study), "S02_loaded_1,S02,loaded", "S02_loaded_1,S02,laoded")
    assert "the condition 'laoded' is named once; was 'loaded' meant?" in ms.studies.read_study(study).notes
    assert ms.studies.read_study(folder / "study.toml").notes == ()


def test_trials_of_copied_files_are_said(folder, tmp_path):
    place = tmp_path / "study"
    shutil.copytree(folder, place)
    for file in (place / "S02" / "loaded").glob("trial_1*"):
        shutil.copy(file, file.with_name(file.name.replace("trial_1", "trial_2")))
    notes = prepared(ms.studies.read_study(place / "study.toml"), tmp_path / "out")[2]
    assert [note.partition(" have ")[0] for note in notes] == ["the files of S02_loaded_1, S02_loaded_2"]
    for file in (place / "S01" / "free").glob("trial_1*"):
        shutil.copy(file, file.with_name(file.name.replace("trial_1", "trial_2")))
    notes = prepared(ms.studies.read_study(place / "study.toml"), tmp_path / "out")[2]
    assert [note.partition(" have ")[0] for note in notes] == [
        "the files of S01_free_1, S01_free_2",
        "the files of S02_loaded_1, S02_loaded_2",
    ]


def test_names_with_letters_of_any_language(few, tmp_path):
    without(few, FEW[1:])
    change(table_of(few), "S01_free_1,S01,", "Zoë_1,Zoë Müller,")
    result = compute_trials(few, tmp_path, jobs=1)
    assert outcomes(result) == {"Zoë_1": "computed"}
    write_study_data(result)
    with ms.studies.open_study(tmp_path) as study:
        assert study["subject"].values.tolist() == ["Zoë Müller"]
        assert study["cycle_trial"].values.tolist() == ["Zoë_1"]


def test_init_drafts_what_study_computes(folder):
    """Subjects, conditions and trials by the names of folders and files."""
    study = ms.studies.read_study(folder / "draft.toml")
    assert len(study.trials) == 20 and set(study.subjects) == {f"S0{k}" for k in range(1, 6)}
    assert {trial.condition for trial in study.trials} == {"free", "loaded"}
    stated = {
        str(sorted(trial.source.items())): trial
        for trial in ms.studies.read_study(folder / "study.toml").trials
    }
    for trial in study.trials:  # by their files: names are those of files in one, numbers in the other
        own = stated[str(sorted(trial.source.items()))]
        assert (trial.subject, trial.condition) == (own.subject, own.condition)


@pytest.mark.thorough
def test_a_subject_in_another_unit_and_a_trial_with_an_error_do_not_count(whole, tmp_path):
    """Moments of S02 in N m/kg are divided by the mass once more; S01_free_1 has an error, S01_free_2 a warning."""
    place = shutil.copytree(whole.computed.folder, tmp_path / "results")
    records = {
        name: replace(each, folder=place / each.folder.relative_to(whole.computed.folder))
        for name, each in whole.computed.records.items()
    }
    for name, record in records.items():
        if name.startswith("S02"):
            file = record.folder / "cycles.nc"
            with xr.open_dataset(file, engine="netcdf4") as cycles:
                scaled = cycles.load().assign(joint_moment=cycles["joint_moment"] / 75.0)
            scaled["joint_moment"].attrs = cycles["joint_moment"].attrs
            write_result(scaled, file)
    values = {"recording": "markers", "rate": 30.0, "needed": 100.0}
    for name, severity in (("S01_free_1", "error"), ("S01_free_2", "warning")):
        file = records[name].folder / "result.nc"
        stored = json.dumps([finding("low_rate", severity, values).as_dict()])
        write_result(ms.read_result(file).assign_attrs(findings=stored), file)
    result = analyze_study(replace(whole.computed, folder=place, records=records))
    assert set(result.left_out) == {name for name in records if name.startswith("S02")}
    assert list(result.not_averaged) == ["S01_free_1"]
    codes = {(found.code, found.severity): trials for found, trials in result.findings}
    assert set(codes["subject_scale", "error"]) == set(result.left_out)
    assert codes["low_rate", "error"] == ("S01_free_1",) and codes["low_rate", "warning"] == ("S01_free_2",)
    # means are those of the four others
    study = ms.studies.open_study(place)
    used = (study["subject"].values != "S02") & (study["condition"].values == "loaded")
    of, subject = study["joint_moment"].values[used].astype(float), study["subject"].values[used]
    means = np.stack([of[subject == name].mean(axis=0) for name in np.unique(subject)])
    own = result.groups.isel(group=0).sel(condition="loaded")
    assert own["joint_moment"].transpose("percent", "dof").values == pytest.approx(means.mean(axis=0))
    assert result.groups["subjects"].values.tolist() == [[4, 4]]
    assert int(result.values["count"].max()) == 4
    assert (study["counts"].values == (study["subject"].values != "S02")).all()
    # tables, page and document
    values = pd.read_csv(place / "values.csv", keep_default_na=False)
    assert set(values["subject"][~values["counts"]]) == {"S02"}
    trials = pd.read_csv(place / "trials.csv", keep_default_na=False).set_index("name")["not_counted"]
    assert set(trials.index[trials != ""]) == {*result.left_out, "S01_free_1"}
    text = page_without_figures(result)
    assert "In no mean and no test: S02" in text and "subject_scale" in text and "left out" in text
    document = study_document(result)
    assert set(document["left_out"]) == set(result.left_out)
    assert {each["code"]: each["where"]["subject"] for each in document["findings"]}["subject_scale"] == "S02"
    json.dumps(document["findings"])
    # kept by the study file: both count
    study_file = replace(
        result.computed.study,
        subjects={**result.computed.study.subjects, "S02": {"mass_kg": 70.0, "keep_subject": "a phantom"}},
        trials=tuple(
            replace(each, keep="seen on video") if each.name == "S01_free_1" else each
            for each in result.computed.study.trials
        ),
    )
    kept = analyze_study(replace(result.computed, study=study_file))
    assert not kept.left_out and not kept.not_averaged
    assert kept.groups["subjects"].values.tolist() == [[5, 5]]
    assert ("subject_scale", "error") in {(found.code, found.severity) for found, _ in kept.findings}
    assert any("S02 counts" in note for note in kept.computed.notes)


@cache
def with_verdict(file, wrong):
    """The content of a result of verdicts alone, whose legs are plausible, or not."""
    with xr.open_dataset(file, engine="netcdf4") as whole:
        stored = whole[["plausible"]].load()
    verdict = FLAGS["not plausible" if wrong else "plausible"]
    flags = stored["plausible"].copy(data=np.full(stored.sizes["side"], verdict, np.int8))
    flags.attrs["criteria"] = (
        "residual body within: 2 %\ncontact r outside: right knee 6.3 BW; measured 2.0 to 3.4"
        if wrong
        else ""
    )
    return netcdf_bytes(stored.assign(plausible=flags))


def with_verdicts(result, place, wrong):
    """The computed trials of a study in another folder, some of whose legs are not plausible."""
    shutil.copytree(result.computed.folder, place)
    records = {
        name: replace(each, folder=place / each.folder.relative_to(result.computed.folder))
        for name, each in result.computed.records.items()
    }
    for name, record in records.items():
        if record.outcome.has_result:
            content = with_verdict(result.computed.records[name].folder / "result.nc", name in wrong)
            (record.folder / "result.nc").write_bytes(content)
    return replace(result.computed, folder=place, records=records)


@pytest.mark.thorough
def test_differences_are_tested_again_without_what_is_not_plausible(whole, tmp_path):
    wrong = ("S01_free_1", "S02_loaded_2")
    result = analyze_study(with_verdicts(whole, tmp_path / "some", wrong))
    assert {leg.trial for leg in result.verdicts if leg.verdict == "not plausible"} == set(wrong)
    assert result.sensitivity.startswith("2 of 19 legs of trials are not plausible.")
    values = pd.read_csv(tmp_path / "some" / "values.csv", keep_default_na=False)
    assert set(values["cycle_trial"][values["plausibility"] == "not plausible"]) == set(wrong)
    # second route: a study in which these trials are excluded
    study = whole.computed.study
    trials = tuple(replace(t, exclude="no" * (t.name in wrong)) for t in study.trials)
    left = {name: each for name, each in result.computed.records.items() if name not in wrong}
    alone = analyze_study(replace(result.computed, study=replace(study, trials=trials), records=left))
    for name in ("statistic", "threshold", "p"):
        np.testing.assert_allclose(result.plausible[name], alone.comparisons[name], rtol=1e-5)
    assert result.comparisons["statistic"].values[0] != pytest.approx(
        alone.comparisons["statistic"].values[0]
    )
    text = page_without_figures(result)
    assert result.sensitivity in text and "contact, knee" in text and "right knee 6.3 BW" in text
    document = study_document(result)
    assert document["sensitivity"] == result.sensitivity
    assert {leg["trial"] for leg in document["legs"] if leg["plausibility"] == "not plausible"} == set(wrong)
    none = analyze_study(with_verdicts(whole, tmp_path / "all", tuple(whole.computed.records)))
    assert none.plausible is None and none.sensitivity.endswith("nothing can be tested: no leg is left.")
    assert analyze_study(with_verdicts(whole, tmp_path / "none", ())).sensitivity == ""


@pytest.mark.thorough
def test_primary_outcomes_may_be_curves_and_values(whole, folder, tmp_path):
    """The planted difference: knee moments are half as great again."""
    head = (
        '[design]\noutcomes = ["joint_moment knee_angle", "joint_moment knee_angle range", "stride_time"]\n'
    )
    text = (folder / "study.toml").read_text(encoding="utf-8")
    path = folder / "outcomes.toml"
    path.write_text(
        text.replace("[settings.sharing]", head + "drawn = ['free']\n[settings.sharing]"), encoding="utf-8"
    )
    shutil.copytree(whole.computed.folder, tmp_path / "results")
    records = {
        name: replace(each, folder=tmp_path / "results" / "trials" / name)
        for name, each in whole.computed.records.items()
    }
    result = analyze_study(
        replace(
            whole.computed, study=ms.studies.read_study(path), folder=tmp_path / "results", records=records
        )
    )
    tests = result.comparisons
    assert (
        tests["family"].values[:3].tolist() == ["primary"] * 3 and tests["family"].values[3] == "exploratory"
    )
    assert tests["level_of_test"].values[:2] == pytest.approx(0.05 / 2)  # stride times do not vary
    found = {str(tests["name"].values[k]) for k in tests["cluster_test"].values}
    assert {"knee_angle", "joint_moment knee_angle range"} <= found
    # the value, from the cycles by hand
    cycles = result.cycles
    peaks = cycles["joint_moment"].sel(dof="knee_angle")
    ranges = (peaks.max("percent") - peaks.min("percent")).values.astype(float)
    means = pd.DataFrame({key: cycles[key].values for key in ("subject", "condition")} | {"value": ranges})
    means = means.groupby(["subject", "condition"])["value"].mean().unstack()
    expected = stats.ttest_rel(means["loaded"], means["free"])
    assert float(tests["largest"].values[1]) == pytest.approx(expected.statistic, rel=1e-4)
    assert float(tests["p_largest"].values[1]) == pytest.approx(expected.pvalue, rel=1e-3)
    text = page_without_figures(result)
    assert "Primary outcomes" in text and "Exploratory" in text
    assert re.search(r"Joint moment knee angle range: condition \(p (=|&lt;).*95 % CI", text)
    row = next(row for row in csv.DictReader(io.StringIO(comparisons_csv(tests))) if " range" in row["name"])
    ends = expected.confidence_interval(0.95)
    assert float(row["difference_low"]) == pytest.approx(ends.low, rel=1e-4)
    assert float(row["difference_high"]) == pytest.approx(ends.high, rel=1e-4)
    rows = pd.read_csv(tmp_path / "results" / "comparisons.csv", keep_default_na=False)
    assert set(rows["family"]) == {"primary", "exploratory"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('outcomes = ["joint_momnt knee_angle"]', "joint_moment"),
        ('drawn = ["slow"]', "free"),
        ('legs = "affected"', "affected_side"),
        ('legs = "left"', "right_left"),
    ],
)
def test_what_is_no_outcome_condition_or_leg_is_refused(few, wrong, said):
    change(few, "[settings.sharing]", f"[design]\n{wrong}\n[settings.sharing]")
    with pytest.raises(InputError, match=said):
        ms.studies.read_study(few)


@pytest.mark.thorough
def test_legs_and_odd_cycles(whole, tmp_path):
    """Affected legs by the study file; a cycle three times as long as the others is named."""
    place = shutil.copytree(whole.computed.folder, tmp_path / "results")
    records = {
        name: replace(each, folder=place / "trials" / name) for name, each in whole.computed.records.items()
    }
    for record in records.values():
        if not record.outcome.has_result:
            continue
        file = record.folder / "cycles.nc"
        with xr.open_dataset(file, engine="netcdf4") as cycles:
            one = cycles.load()
        left = one.assign_coords(cycle_side=("cycle", ["l"]))
        if record.name == "S01_free_1":
            left = left.assign_coords(
                cycle_end=left["cycle_end"] + 2.0 * (left["cycle_end"] - left["cycle_start"])
            )
        both = xr.concat([one, left.assign(joint_moment=1.3 * one["joint_moment"])], "cycle")
        both["joint_moment"].attrs = one["joint_moment"].attrs
        write_result(both, file)
    study = whole.computed.study
    path = copied(study.path, "legs")
    with_column(path, "affected_side", dict.fromkeys(study.trial_of, "l"))
    text = path.read_text(encoding="utf-8")
    path.write_text(f'{text}\n[design]\nlegs = "affected"\ncorrection = "none"\n', encoding="utf-8")
    read = ms.studies.read_study(path)
    assert {each["affected_side"] for each in read.subjects.values()} == {"l"}
    result = analyze_study(replace(whole.computed, study=read, folder=place, records=records))
    assert result.groups["leg"].values.tolist() == ["sound", "affected"]
    tests = result.comparisons
    assert {"condition", "leg", "condition x leg"} <= set(tests["effect"].values.tolist())
    knee = (tests["name"].values == "knee_angle") & (tests["variable"].values == "joint_moment")
    (leg,) = np.flatnonzero(knee & (tests["effect"].values == "leg"))
    assert leg in tests["cluster_test"].values
    (note,) = (note for note in result.computed.notes if "unusual length" in note)
    assert "S01_free_1" in note and "S02" not in note
    assert "affected" in page_without_figures(result)


def test_long_names_of_trials_are_broken_and_not_cut():
    names = [f"subject_01_walking_with_backpack_slow_speed_trial_01_{when}" for when in ("before", "after")]
    checked = StudyCheck(Path("study.toml"), {}, dict.fromkeys(names, "no such file"), ())
    printed = Console(width=80, file=io.StringIO())
    for table in tables(checked):
        printed.print(table)
    assert "…" not in printed.file.getvalue()
