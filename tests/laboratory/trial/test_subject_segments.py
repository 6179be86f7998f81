"""[subject.segments.NAME]: read with its place, refused where no segment is so, and noted in the result."""

import re

import numpy as np
import pytest
from examined import examined
from refusals import refused

import musclesolve as ms
from musclesolve.dynamics import load_topology, projected_moments
from musclesolve.laboratory.forces import mechanics
from musclesolve.laboratory.recording.trial_settings import SEGMENTS
from musclesolve.laboratory.results.result_facts import facts_of

PROSTHESIS = (
    "[subject.segments.shank_r]\nmass_kg = 1.4\ncenter = 0.35\ninertia_kg_m2 = [0.012, 0.013, 0.002]\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("walk")
    ms.studies.synthetic_recording(path, truth=False)
    return path


@pytest.fixture
def with_text(folder):
    """Read the synthetic trial with more at its end, or with keys of [subject] before [laboratory]."""

    def read(more="", subject="", stature=None):
        text = (folder / "trial.toml").read_text(encoding="utf-8")
        if stature is not None:
            text = re.sub(r"stature_m = [\d.]+", f"stature_m = {stature}", text)
        text = text.replace("[laboratory]", f"{subject}\n[laboratory]", 1)
        (folder / "other.toml").write_text(f"{text}\n{more}", encoding="utf-8")
        return ms.read_trial(folder / "other.toml")

    return read


def test_the_names_are_those_of_the_model():
    known = SEGMENTS
    assert set(known) == set(load_topology().segments)


def test_a_prosthesis_is_read_and_noted(with_text):
    trial = with_text(PROSTHESIS)
    stated = trial.subject.segments["shank_r"]
    assert (stated.mass, stated.center, stated.inertia) == (1.4, 0.35, (0.012, 0.013, 0.002))
    assert any("shank_r 1.4 kg" in note for note in trial.notes)
    model = mechanics(trial).model
    assert model.mass.total == pytest.approx(trial.subject.mass)
    own = [body.segment == "shank_r" for body in model.topology.bodies]
    assert model.mass.mass[own].sum() == pytest.approx(1.4)


def test_an_adult_of_the_table_has_no_such_note(with_text):
    trial = with_text()
    assert trial.subject.segments == {} and not any("inertia table" in note for note in trial.notes)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[subject.segments.tail]\nmass_kg = 1.0", "unknown_name"),
        ("[subject.segments.shank_r]\nweight = 1.0", "unknown_key"),
        ("[subject.segments.shank_r]\nmass_kg = -1.0", "bad_value"),
        ("[subject.segments.shank_r]\nmass_kg = nan", "bad_value"),
        ("[subject.segments.shank_r]\ncenter = 35.0", "bad_value"),
        ("[subject.segments.shank_r]\ninertia_kg_m2 = [0.01, 0.01]", "bad_value"),
        ("[subject.segments.shank_r]\ninertia_kg_m2 = [0.001, 0.001, 0.01]", "bad_value"),
        ("[subject.segments.shank_r]\ninertia_kg_m2 = [0.01, -0.01, 0.002]", "bad_value"),
        ("[subject.segments.shank_r]\nmass_kg = 0.0\ninertia_kg_m2 = [0.01, 0.01, 0.002]", "bad_value"),
        ("[subject.segments.shank_r]\nmass_kg = 1.0\nmass_factor = 0.5", "conflict"),
        ("[subject.segments.shank_r]", "conflict"),
        ("[subject.segments.thigh_r]\nmass_kg = 80.0", "conflict"),
    ],
)
def test_what_no_segment_has_is_refused_with_its_place(with_text, text, code):
    with refused(code) as caught:
        with_text(text)
    assert caught.value.file is not None and "line" in (caught.value.where or "")


def test_what_is_no_table_is_refused(with_text):
    with refused("bad_value"):
        with_text("[subject.segments]\nshank_r = 1.4")


def test_masses_that_leave_the_rest_too_little_are_refused_at_the_subject(with_text):
    trial = with_text("[subject.segments.upper_torso]\nmass_kg = 55.0")
    with refused("conflict") as caught:
        mechanics(trial)
    assert "segments" in caught.value.where and caught.value.file == trial.document.path


@pytest.mark.thorough
def test_a_child_has_the_masses_of_its_age_and_the_result_says_so(with_text):
    child, adult = with_text(subject="age_years = 9"), with_text(subject="age_years = 40")
    notes = [note for note in child.notes if "Jensen" in note]
    assert len(notes) == 1 and "[subject.segments.NAME]" in notes[0] and "9 years" in notes[0]
    assert not any("Jensen" in note for note in adult.notes)
    one, other = (ms.run(trial, side="r") for trial in (child, adult))
    assert one.attrs["subject_age_years"] == 9.0
    assert "9 years" in one.attrs["inertia_table"] and "Jensen" not in other.attrs["inertia_table"]
    said = [next(each for each in facts_of(r) if each.name == ("choices",)).sentence for r in (one, other)]
    assert "inertia of de Leva (1996), men, with masses of 9 years" in said[0] and said[1].endswith("men")
    # the leg is lighter, so the hip accelerates less in swing
    change = one["joint_moment"] - other["joint_moment"]
    assert 0.02 < float(abs(change.sel(dof="hip_flexion_r")).max()) / child.subject.mass < 0.2
    assert float(abs(change.sel(dof="ankle_dorsiflexion_r")).max()) / child.subject.mass < 0.01


def test_a_small_subject_of_unknown_age_is_asked_for_it(with_text):
    small = with_text(subject="", stature=1.2)
    assert any("age_years" in note and "1.2 m" in note for note in small.notes)


def test_the_result_says_what_was_stated(with_text):
    result = ms.run(with_text(PROSTHESIS), side="r")
    assert "shank_r 1.4 kg, center at 35 %, inertia 0.012, 0.013, 0.002 kg m2" in str(
        result.attrs["subject_segments"]
    )
    assert any("Segments as stated" in note for note in result.attrs["notes"])


def test_a_lighter_shank_swings_with_smaller_moments(with_text):
    """Between toe-off and heel strike hip and knee accelerate less mass."""
    light, plain = (mechanics(with_text(text)) for text in (PROSTHESIS, ""))
    one, other = (projected_moments(m.model, m.motion, m.wrenches) for m in (light, plain))
    reaction = next(ground for ground in plain.reactions if ground.side == "r")
    swing = reaction.force[:, 2] < 1.0
    for dof in ("hip_flexion_r", "knee_flexion_r"):
        k = plain.model.dof(dof)
        sizes = [float(np.sqrt((moments[swing, k] ** 2).mean())) for moments in (one, other)]
        assert swing.sum() > 20 and sizes[0] < 0.9 * sizes[1], dof


def test_check_reports_a_segment_that_cannot_be(folder, with_text):
    with refused("bad_value"):
        with_text("[subject.segments.shank_r]\nmass_kg = -1.0")
    report = examined(folder / "other.toml")
    assert not report.ok and any("shank_r" in str(found) for found in report.of("error"))
