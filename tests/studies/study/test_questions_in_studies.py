"""Questions in a study: its values are those of the commands on each trial, and what is misspelt is found at once."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from small_model import TEXT
from small_model_motion import DOFS, save_inputs
from thorough import THOROUGH, some

import musclesolve as ms
from musclesolve import read_result
from musclesolve.data import reference_stride
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.files.result_netcdf import read_answers
from musclesolve.laboratory.results.tables.question_tables import NO_ANSWER, contact_shares, grouped
from musclesolve.studies import check_study
from musclesolve.studies.questions.answers import AnswerFile, answer, asked_of, check_with_questions
from musclesolve.studies.study.cycles_file import cycles_of_trial
from musclesolve.studies.study.run_study import prepared

ASK = '[settings.questions]\nask = ["contributions", "margins"]\n'


def study_in(folder: Path, design: str = "", questions: str = ASK) -> Path:
    """A study of the bundled stride; in a thorough run of two subjects, the second with weaker muscles."""
    for file in reference_stride().parent.iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    path = folder / "study.toml"
    weak = "weak,S2,trial.toml,0.9\n" if THOROUGH else ""
    table = f"name,subject,file,settings.muscles.strength\nstrong,S1,trial.toml,\n{weak}"
    (folder / "trials.csv").write_text(table, encoding="utf-8")
    path.write_text(f'trials = "trials.csv"\n[design]\n{design}\n{questions}', encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    outcomes = ["margin triceps_surae", "metabolic_rate"]
    outcomes += [
        "contact_contribution hip_abductors knee_medial max",
        "contact_contribution triceps_surae ankle",
    ]
    return ms.studies.run_study(study_in(folder, f"outcomes = {outcomes}"), folder / "results", jobs=1)


def test_numbers_of_a_study_are_those_of_the_commands(whole):
    for name, strength in some([("strong", None), ("weak", 0.9)], 2):
        trial = ms.read_trial(reference_stride())
        if strength is not None:
            trial = trial.with_settings(muscles={"strength": strength})
        own = whole.cycles.isel(cycle=np.flatnonzero(whole.cycles["trial"].values == name)).isel(cycle=0)
        margin, result = ms.studies.margins(trial), ms.run(trial)
        for group in ("triceps_surae", "hip_abductors", "quadriceps_femoris"):
            command = float(margin["margin"].sel(of=f"{group}_r"))
            assert float(own["margin"].sel(part=group)) == pytest.approx(command, rel=1e-5)
        energy = Facts(result).metabolic_rate
        assert float(own["metabolic_rate"]) == pytest.approx(energy.rate, rel=1e-6)
        assert float(own["cost_of_transport"]) == pytest.approx(energy.cost_of_transport, rel=1e-6)
    stored = whole.values.set_index(["variable", "name"])["mean"]
    assert stored["margin", "triceps_surae"] == pytest.approx(
        float(whole.cycles["margin"].sel(part="triceps_surae").mean())
    )


def test_curves_of_a_study_go_through_those_of_the_commands(whole):
    """The stride begins at a frame: every second percentage lies on none, so curves are compared at the frames."""
    found, result = ms.studies.contributions(reference_stride()), ms.run(reference_stride())
    own = whole.cycles.isel(cycle=np.flatnonzero(whole.cycles["trial"].values == "strong")).isel(cycle=0)
    start, end = float(own["cycle_start"]), float(own["cycle_end"])
    inside = (found["time"].values > start) & (found["time"].values < end)
    at = 100.0 * (found["time"].values[inside] - start) / (end - start)
    together = grouped(found).isel(contact=0).sel(group="triceps_surae_r")
    assert np.allclose(np.cos(result["heading"]), 1.0, atol=1e-4)
    for axis in "xz":
        command = together["center_acceleration"].sel(axis=axis).values[inside]
        curve = own["center_acceleration"].sel(part="triceps_surae", axis=axis)
        np.testing.assert_allclose(curve.interp(percent=at), command, atol=0.06 * np.abs(command).max())
    # along the contact force: what all parts do adds up to it
    shares = contact_shares(grouped(found), "r")
    for place, name in {"ankle_r": "ankle", "knee_r_medial": "knee_medial"}.items():
        way, through = (each.sel(group="triceps_surae_r") for each in shares[place])
        for curve, command in (
            ("contact_contribution", way + through.isel(contact=0)),
            ("contact_contribution_own", way),
        ):
            curve = own[curve].sel(part="triceps_surae", place=name).interp(percent=at)
            expected = command.values[inside] / found.attrs["body_weight_n"]
            np.testing.assert_allclose(curve, expected, atol=0.06 * np.abs(expected).max())
    command = together["joint_acceleration"].sel(dof="knee_flexion_r").values[inside]
    curve = own["joint_acceleration"].sel(part="triceps_surae", dof="knee_flexion")
    np.testing.assert_allclose(curve.interp(percent=at), command, atol=0.06 * np.abs(command).max())


def test_what_is_asked_is_in_tables_and_figures(whole):
    folder = whole.computed.folder
    names = {path.name for path in (folder / "trials" / "strong").iterdir()}
    assert names >= {"contributions.nc", "margins.nc", "cycles.nc"}
    header = (folder / "subject_values.csv").read_text(encoding="utf-8").partition("\n")[0].split(",")
    assert {"margin_triceps_surae", "metabolic_rate_W_per_kg"} <= set(header)
    curves = (folder / "curves.csv").read_text(encoding="utf-8").partition("\n")[0].split(",")
    assert "center_acceleration_triceps_surae_z_m_per_s2" in curves
    assert "center_acceleration" in whole.groups


@pytest.mark.thorough
def test_the_same_command_again_keeps_all(whole):
    again = ms.studies.run_study(whole.computed.study, whole.computed.folder, jobs=1)
    assert {each.outcome.value for each in again.computed.records.values()} == {"unchanged"}


WRONG = {
    'outcomes = ["joint_moment knee_flexionn"]': ("unknown_name", "knee_flexion"),
    'outcomes = ["joint_moment knee_flexionn max"]': ("unknown_name", "joint_moment knee_flexion max"),
    'outcomes = ["joint_reaction knee max"]': ("unknown_name", "joint_reaction knee resultant max"),
    'outcomes = ["muscle_force soleuss"]': ("unknown_name", "soleus"),
    'outcomes = ["margin triceps_sural"]': ("unknown_name", "triceps_surae"),
    'outcomes = ["margin"]': ("unknown_name", "margin"),
    'outcomes = ["center_acceleration triceps_surae w"]': ("unknown_name", "triceps_surae"),
    'outcomes = ["contact_contribution triceps_surae knee_media"]': ("unknown_name", "knee_medial"),
    'outcomes = ["contact_contribution hip_abductors elbow max"]': ("unknown_name", "knee"),
    'outcomes = ["stride_tim"]': ("unknown_name", "stride_time"),
    'quantities = ["margin"]': ("unknown_name", "margin"),
}


@pytest.mark.parametrize("design", WRONG)
def test_a_misspelt_outcome_is_found_before_anything_is_computed(tmp_path, design):
    code, remedy = WRONG[design]
    with refused(code, remedy):
        prepared(ms.studies.read_study(study_in(tmp_path, design)), tmp_path / "results")
    assert not list((tmp_path / "results").glob("*/*/result.nc"))


def test_questions_are_checked_before_anything_is_computed(tmp_path):
    design = 'outcomes = ["margin triceps_surae"]'
    with refused("missing_key", "margins"):
        prepared(ms.studies.read_study(study_in(tmp_path, design, "")), tmp_path / "results")
    with refused("bad_value", "margin"):
        ms.studies.read_study(study_in(tmp_path, "", ASK.replace("margins", "margin")))
    with refused("unknown_name", "triceps_surae", "[settings.questions] strength"):
        check_study(study_in(tmp_path, "", f"{ASK}strength = {{ triceps_sura = 0.8 }}\n"))
    with refused("bad_value", "soleus"):
        ms.studies.read_study(study_in(tmp_path, "", f'{ASK}scenarios = ["soleus"]\n'))
    with refused("unknown_key", "write [settings.questions]"):
        ms.studies.read_study(study_in(tmp_path, "", ASK.replace("settings.questions", "questions")))


def test_a_misspelt_name_in_a_trial_is_a_finding_among_the_others(tmp_path):
    study_in(tmp_path)
    file = tmp_path / "trial.toml"
    file.write_text(
        file.read_text(encoding="utf-8").replace("mass_kg = 70.25", "mass_kg = 95.0")
        + '[questions]\nask = ["margins"]\nstrength = { triceps_sura = 0.8 }\n',
        encoding="utf-8",
    )
    report = check_with_questions(file)
    assert not report.ok and {"trial_file", "mass"} <= set(report.codes)
    assert any("triceps_surae" in found.remedy for found in report.of("error"))


RIGHT = (
    *("joint_moment knee_flexion", "joint_moment knee_flexion stance max", "ground_reaction_force z max"),
    *(
        "ground_reaction_force resultant max",
        "muscle_force soleus",
        "contact_force knee max",
        "trunk_angle tilt",
    ),
    *("joint_reaction knee resultant mean", "contact_force_component hip axial", "stride_time", "cadence"),
    *(
        "knee_adduction_moment",
        "knee_adduction_moment max",
        "center_acceleration triceps_surae resultant max",
    ),
)


def test_every_outcome_that_there_is_is_accepted(tmp_path):
    study = ms.studies.read_study(study_in(tmp_path, f"outcomes = {list(RIGHT)}"))
    jobs, refused_trials, _ = prepared(study, tmp_path / "results")
    assert len(jobs) == len(study.trials) and not refused_trials


def test_what_cannot_be_answered_is_said_and_costs_no_result(tmp_path):
    (tmp_path / "leg.osim").write_text(TEXT, encoding="utf-8")
    save_inputs(tmp_path, ms.read_osim(tmp_path / "leg.osim"))
    file = tmp_path / "trial.toml"
    file.write_text(
        '[files]\nmodel = "leg.osim"\ncoordinates = "ik.mot"\nmoments = "id.sto"\n'
        f'[sharing]\ndofs = {list(DOFS)}\n[questions]\nask = ["contributions"]\n',
        encoding="utf-8",
    )
    assert asked_of(file) == ("contributions",)
    trial, result = ms.read_trial(file), ms.run(file)
    found = answer("contributions", trial)
    assert "ground reactions" in found.attrs[NO_ANSWER]
    (told,) = cycles_of_trial(result, {"contributions": found}).attrs["no_answer"]
    assert told.startswith("contributions: ")


def test_an_answer_beside_a_result_has_the_options_of_the_result(tmp_path):
    trial = reference_stride()
    asked = {"cost": "stress_cubed", "questions": ["margins"], "jobs": 1, "figures": False}
    (record,) = ms.run_many([trial], tmp_path, **asked)
    beside = read_answers(record.folder)["margins"]
    assert beside.attrs["cost"] == "stress_cubed"
    command = ms.studies.margins(trial, cost="stress_cubed")
    xr.testing.assert_allclose(beside["margin"], command["margin"])
    assert AnswerFile("margins").made(record.folder / "margins.nc")
    result = read_result(record.folder / "result.nc")
    assert list(np.atleast_1d(beside.attrs["inputs"])) == list(np.atleast_1d(result.attrs["inputs"]))
