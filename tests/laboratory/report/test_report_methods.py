"""The methods paragraph, its citations, and the checks that are made again."""

from __future__ import annotations

import re
import shutil
import tomllib

import numpy as np
import pytest
from package_tables import package_table
from report_inputs import IDENTITY, small, with_emg
from synthetic_result import set_status, with_fascicles

import musclesolve as ms
from musclesolve import Status, costs
from musclesolve.data import reference_stride
from musclesolve.laboratory.report.content.methods import (
    Citations,
    as_bibtex,
    as_text,
    cost_words,
    methods,
    study_methods,
    texts,
    works,
)
from musclesolve.laboratory.report.inputs import RESULT, TrialFiles, recording_state
from musclesolve.laboratory.results.dataset.result_quantities import inputs_of
from musclesolve.laboratory.results.plausibility import in_vivo
from musclesolve.laboratory.results.recipe import ATTRIBUTE, settings_hash
from musclesolve.laboratory.trial.trial_file import input_lines
from musclesolve.studies.many_trials.trial_record import recipe
from musclesolve.studies.pages.study_words import measurement_error


def paragraph(data):
    citations = Citations()
    trial = TrialFiles(data, RESULT, None)
    return " ".join(re.sub("<[^>]+>", "", each) for each in methods(trial, citations)), citations


def test_every_citation_is_a_known_work_and_every_work_is_cited():
    sentences = str(texts()) + str(package_table("laboratory/report/texts/study_methods.toml"))
    used = set(re.findall(r"@(\w+)", sentences))
    used |= {work for name in costs() for work in costs()[name]().works}
    used |= set(in_vivo()["sources"]) | {error["work"] for error in measurement_error().values()}
    assert used - set(works()) == set()
    assert set(works()) <= used


@pytest.mark.parametrize("key", sorted(works()))
def test_a_work_has_all_that_its_kind_needs(key):
    assert str(works()[key].get("year", "0.1.0")) in as_text(key, "0.1.0")
    entry = as_bibtex(key, "0.1.0")
    assert entry.count("{") == entry.count("}")
    assert "{version}" not in entry


def test_the_paragraph_states_what_the_result_states():
    data = with_emg(
        small(
            musclesolve_version="0.1.0",
            filter_method="butterworth",
            filter_order=2,
            cutoff_hz=6.0,
            hip_method="hara_2016",
            consistency_method="nearest",
            consistency_derivatives="constraints",
            fiber_lengths="standing",
            shared_dofs=["hip_flexion_r", "knee_flexion_r", "hip_flexion_l"],
            emg_max_delay_s=0.08,
        )
    )
    text, citations = paragraph(data)
    for part in (
        "version 0.1.0",
        "6 Hz",
        "Hara",
        "female, 70.0 kg, 1.75 m",
        "hip flexion, knee flexion",
        "solver batch",
    ):
        assert part in text.replace("musclesolve 0.1.0", "version 0.1.0"), part
    assert costs()["activation_volume"].formula in text
    assert "1.0e-13" in text and "120 valid leg-frames" in text
    assert "80 ms: median r = 0.56" in text
    assert citations.keys[0] == "musclesolve" and {"hara_2016", "winter_2009", "silva_2003"} <= set(
        citations.keys
    )
    assert "{" not in text


def test_muscles_of_arms_are_not_those_of_legs():
    shared = ["elbow_flexion_r", "elbow_flexion_l"]
    data = small(solver="batch", shared_dofs=shared, cost="stress_cubed", muscle_database="arm.toml")
    arms = [name for name in data["joint"].values if "knee" in str(name)]
    data = data.sel(joint=arms).assign_coords(joint=["elbow_r", "elbow_l"])
    text, _ = paragraph(data)
    assert "elbow flexion of each side" in text and "valid frames of both sides" in text
    assert "leg" not in text


def test_the_paragraph_states_measured_fascicles():
    text, _ = paragraph(with_fascicles(small()))
    assert "rms 5.0 mm, mean 5.0 mm, r 1.00; " in text and "rms 2.0 mm" in text
    assert "ultrasound" not in paragraph(small())[0]


def test_numbers_of_citations_are_those_of_the_list():
    text, citations = paragraph(small(hip_method="harrington_2007"))
    numbers = [int(each) for found in re.findall(r"\[([\d, ]+)\]", text) for each in found.split(", ")]
    assert sorted(set(numbers)) == [number for number, _ in citations.listed()]
    assert list(dict.fromkeys(numbers)) == sorted(set(numbers))  # in the order of their first use


def test_the_paragraph_of_a_model_names_it_and_has_no_mechanics_of_ours():
    text, _ = paragraph(small(model_file="/x/m.osim", subject="gait10", cutoff_hz=6.0, filter_order=3))
    assert "OpenSim model gait10" in text and "6 Hz" in text
    assert "natural coordinates" not in text and "Marker" not in text


@pytest.mark.parametrize(
    ("role", "words"), [("loads", "by inverse dynamics of the model from"), ("moments", "were given")]
)
def test_the_paragraph_of_a_model_says_where_its_moments_come_from(role, words):
    text, _ = paragraph(
        small(model_file="/x/m.osim", inputs=["model m.osim sha256:0", f"{role} a.sto sha256:0"])
    )
    assert words in text and text.count("Joint moments") == 1


@pytest.mark.parametrize(
    ("inputs", "stated", "said", "unsaid"),
    [
        (
            ["moments id.sto"],
            {"ground_reactions": "none"},
            "No external load acted",
            "by inverse dynamics of the model from",
        ),
        (
            [],
            {"ground_reactions": "none", "joint_moments": "given"},
            "No external load acted",
            "motion and gravity alone",
        ),
        (
            ["moments id.sto", "loads grf.mot"],
            {"ground_reactions": "measured"},
            "measured external forces",
            "obtained by",
        ),
    ],
)
def test_given_moments_are_not_said_to_be_computed_from_the_loads_beside_them(inputs, stated, said, unsaid):
    lines = ["model m.osim sha256:0", *(f"{line} sha256:0" for line in inputs)]
    text, _ = paragraph(small(model_file="/x/m.osim", inputs=lines, **stated))
    assert "Joint moments were given" in text and said in text and "oint forces followed from" in text
    assert unsaid not in text and text.count("oint moments") == 1


def test_choices_that_a_result_does_not_state_are_left_out():
    data = small()
    data.attrs = {key: value for key, value in IDENTITY.items() if key in ("cost",)}
    text, _ = paragraph(data)
    assert "Hip joint" not in text and "None" not in text and "{" not in text


def test_a_cost_with_other_parameters_is_not_given_the_usual_ones():
    assert "p = 2" in cost_words("activation_power")
    assert "p = 2" not in cost_words("activation_power(p=3)")
    assert cost_words("my own cost") == "my own cost"


def test_the_cost_of_a_model_without_knees_is_the_one_that_is_minimized():
    usual = "knee_sparing_activation"
    arm, leg = cost_words(usual, ["elbow_flexion"]), cost_words(usual, ["hip_flexion_r", "knee_angle_r"])
    assert "sum_knee" in leg and "eight recordings" in leg and cost_words(usual) == leg
    assert "sum_i a_i^p, p = 2" in arm and "sum_knee" not in arm and "recordings" not in arm
    assert arm.removeprefix(f"{usual}, without a knee among the shared moments") == (
        cost_words("activation_power").removeprefix("activation_power")
    )
    assert "sum_knee" in cost_words(f"{usual}(knee='genou')", ["genou_r"])
    assert "sum_knee" not in cost_words(f"{usual}(exponent=3)", ["elbow"])
    assert "p = 2" not in cost_words(f"{usual}(exponent=3)", ["elbow"])


def test_every_named_cost_has_a_source():
    for name, cost in costs().items():
        cited = costs()[name]().works or (cost.source,)
        assert all(each and each in cost_words(name) for each in cited), name


@pytest.fixture(scope="module")
def computed(tmp_path_factory):
    """The bundled stride, computed where its files can be changed."""
    folder = tmp_path_factory.mktemp("stride") / "own"
    shutil.copytree(reference_stride().parent, folder)
    return ms.run(folder / "trial.toml", side="r"), folder / "trial.toml"


def test_nothing_is_said_of_a_recording_that_is_the_same(computed):
    result, _ = computed
    assert recording_state(result) == ""


def test_a_recording_that_changed_is_named(computed, tmp_path):
    result, trial = computed
    folder = tmp_path / "changed"
    shutil.copytree(trial.parent, folder)
    (folder / "forces.mot").write_bytes((folder / "forces.mot").read_bytes() + b"\n")
    found = recording_state(result.assign_attrs(trial_file=str(folder / "trial.toml")))
    assert "forces.mot" in found
    (folder / "trial.toml").write_text((folder / "trial.toml").read_text() + "\n# more\n")
    assert "trial.toml" in recording_state(result.assign_attrs(trial_file=str(folder / "trial.toml")))


def test_a_question_that_is_asked_later_changes_no_recording(computed, tmp_path):
    """Nor does a comment: the result keeps a hash of the settings on which it depends."""
    result, trial = computed
    shutil.copytree(trial.parent, tmp_path / "asked")
    asked = tmp_path / "asked" / "trial.toml"
    text = asked.read_text()
    kept = recipe({}, settings_hash(tomllib.loads(text)), {}, [])
    result = result.assign_attrs({ATTRIBUTE: kept, "trial_file": str(asked)})
    asked.write_text(f'# more\n{text}\n[questions]\nscenarios = ["weak calf: triceps_surae=0.8"]\n')
    assert recording_state(result) == ""
    asked.write_text(text.replace("mass_kg = ", "mass_kg = 1"))
    assert "trial.toml" in recording_state(result)


def test_the_files_of_a_recording_are_found_where_the_trial_file_names_them(computed, tmp_path):
    """In another folder than the trial file; roles such as the parent of a muscle set are one word."""
    result, trial = computed
    raw = tmp_path / "raw"
    raw.mkdir()
    text = trial.read_text()
    for name in ("walk.trc", "forces.mot"):
        shutil.copy(trial.parent / name, raw / name)
        text = text.replace(f'"{name}"', f'"../raw/{name}"')
    moved = tmp_path / "trials" / "trial.toml"
    moved.parent.mkdir()
    for each in trial.parent.iterdir():
        shutil.copy(each, moved.parent)
    moved.write_text(text)
    result = result.assign_attrs(trial_file=str(moved), inputs=input_lines(ms.read_trial(moved)))
    assert ("markers", "../raw/walk.trc") in [(role, name) for role, name, _ in inputs_of(result)]
    assert recording_state(result) == ""
    (raw / "forces.mot").write_text("other")
    assert recording_state(result).count("../raw/forces.mot") == 1
    (raw / "walk.trc").unlink()
    assert "../raw/walk.trc does not exist" in recording_state(result)


def test_a_recording_that_is_elsewhere_is_named():
    assert "not at hand" in recording_state(small())


def test_a_motion_that_was_not_made_consistent_is_described_by_its_violation_and_shares_nothing():
    data = small(consistency_method="none", consistency_derivatives="splines", consistency_weights=[])
    data = data.assign(constraint_violation=("time", np.full(data.sizes["time"], 0.13)))
    set_status(data, Status.INVALID_MOTION, slice(None))
    text, _ = paragraph(data)
    assert "0.13" in text and "mm rms" not in text
    for name in ("sharing", "certificate", "no_reserves", "contact"):
        assert texts()["always"][name][:25] not in text


def test_lever_and_sides_of_the_knee_are_described_where_the_result_has_them():
    spacing = ["knee_r 0.0552 m, by the breadth of the knee", "knee_l 0.0460 m, by stature"]
    data = small(knee_contact_spacing=spacing)
    text, citations = paragraph(data)
    assert "patellar ligament" in text
    assert "55 mm apart, by the breadth of the knee; 46 mm apart, by stature." in text
    assert {"van_eijden_1986", "dandridge_2022", "schipplein_1991", "lerner_2015"} <= set(citations.keys)
    text, citations = paragraph(data.drop_vars(["patellofemoral_force", "knee_contact_medial"]))
    assert "patellar" not in text and "apart" not in text and "lerner_2015" not in citations.keys


def test_many_trials_are_not_said_to_be_corrected_where_none_is():
    plain, corrected = small(), small(plate_corrections=["plate 1 turned by 180 degrees."])
    trials = [(TrialFiles(data, RESULT, None), 1) for data in (plain, corrected)]
    said = [re.sub("<[^>]+>", "", each) for each in study_methods(trials, Citations())]
    about = [sentence for sentence in said if "were corrected by" in sentence]
    assert len(about) == 1 and about[0].startswith("In 1 of 2 trials:") and about[0].endswith("states.")


def test_factors_of_one_person_are_stated():
    factors = [
        "optimal_fiber_length of soleus_r 1.24 (sd 0.12)",
        "tendon_slack_length of soleus_r 0.98 (sd 0.01)",
    ]
    text, _ = paragraph(small(**IDENTITY, muscle_parameters="calibrated", muscle_factors=factors))
    assert "calibrated to the person" in text and "; ".join(factors) in text
    assert "calibrated to the person" not in paragraph(small(**IDENTITY))[0]
