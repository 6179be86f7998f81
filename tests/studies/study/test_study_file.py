"""The study file: what it holds, and one message for each fault in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from package_tables import trial_tables

from musclesolve.errors import InputError
from musclesolve.laboratory.recording.trial_document import trial_document
from musclesolve.studies import read_study
from musclesolve.studies.study.run_study import trial_file
from musclesolve.tables.document import is_study, tables_text

STUDY = """title = "Slow and fast"
[design]
conditions = ["slow", "fast"]
[settings.sharing]
cost = "stress_cubed"
[subjects]
S01 = { group = "a", mass_kg = 71.0, age_years = 30, numbers = { pain_score = 3 } }
[trials]
S01_1 = { subject = "S01", condition = "slow", file = "a.toml", start_s = 0.5 }
S01_2 = { subject = "S01", condition = "fast", model = "m.osim", coordinates = "ik.mot", loads = "grf.mot" }
S01_3 = { subject = "S01", condition = "fast", exclude = "a marker fell off" }
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def test_what_a_study_file_says(path: Path) -> None:
    study = read_study(path)
    assert is_study(path)
    assert study.title == "Slow and fast"
    assert study.subjects["S01"] == {"group": "a", "mass_kg": 71.0, "age_years": 30.0, "pain_score": 3}
    assert study.units["moment"] == "N m/kg"
    assert [trial.name for trial in study.included] == ["S01_1", "S01_2"]
    assert study.trials[0].time == {"start_s": 0.5}
    assert study.trials[2].exclude == "a marker fell off"


def test_groups_and_conditions_have_the_order_of_the_design(path: Path) -> None:
    text = STUDY.replace('["slow", "fast"]', '["fast", "slow"]\ngroups = ["b", "a"]')
    text = text.replace("[trials]\n", 'S02 = { group = "b" }\n[trials]\n')
    path.write_text(
        text + 'S02_1 = { subject = "S02", condition = "fast", file = "b.toml" }\n', encoding="utf-8"
    )
    study = read_study(path)
    assert study.conditions == ["fast", "slow"]
    assert list(study.people_of_groups.items()) == [("b", ["S02"]), ("a", ["S01"])]


@pytest.mark.parametrize(
    ("right", "wrong", "code", "line", "named"),
    [
        ("S01_2 =", "S01_1 =", "bad_format", 10, "overwrite"),
        ("S01_2 =", "s01_1 =", "duplicate_name", 10, "same folder"),
        ("S01_2 =", '"S/2" =', "bad_value", 10, "name of a folder"),
        (
            'condition = "fast", model',
            'condition = "fas", model',
            "unknown_name",
            3,
            "'fas' is not among them",
        ),
        ('["slow", "fast"]', '["slow", "fats"]', "unknown_name", 3, "did you mean 'fast'"),
        ('["slow", "fast"]', '["slow"]', "unknown_name", 3, "'fast' is not among them"),
        ("start_s", "strat_s", "unknown_key", 9, "did you mean 'start_s'"),
        ("start_s = 0.5", 'start_s = "soon"', "bad_value", 9, "start_s"),
        (', file = "a.toml"', "", "missing_key", 9, "no file is named"),
        (', file = "a.toml"', ', file = "a.toml", b3d = "b"', "conflict", 9, "file and b3d"),
        (', coordinates = "ik.mot"', "", "missing_key", 10, "'coordinates' is missing"),
        (', loads = "grf.mot"', "", "missing_key", 10, "neither moments nor loads"),
        ("mass_kg", "mas_kg", "unknown_key", 7, "did you mean 'mass_kg'"),
        ("71.0", "7100", "bad_value", 7, "mass_kg"),
        ("cost =", "cots =", "unknown_key", 5, "did you mean 'cost'"),
        ("stress_cubed", "stress_cube", "unknown_name", 5, "did you mean 'stress_cubed'"),
        (
            "[design]",
            '[design]\nquantities = ["joint_angel"]',
            "unknown_name",
            3,
            "did you mean 'joint_angle'",
        ),
        ("start_s = 0.5", 'side = "right"', "bad_value", 9, 'write side = "both" or side = "r"'),
        ("settings.sharing", "settings.shring", "unknown_key", 4, "did you mean 'sharing'"),
        ("settings.sharing", "settings.subject", "bad_value", 4, "say it in [subjects]"),
        ("[trials]", "[trails]", "unknown_key", 8, "did you mean 'trials'"),
        ("[trials]", "[study]", "unknown_key", 8, "one of design, settings, subjects, trials, units"),
        ('"Slow and fast"', "3", "bad_value", None, "title"),
        ('conditions = ["slow", "fast"]', 'covariate = "age"', "unknown_name", 3, "age_years"),
        ('{ subject = "S01", condition = "slow"', '{ condition = "slow"', "missing_key", 9, "'subject'"),
    ],
)
def test_one_message_for_each_fault(
    path: Path, right: str, wrong: str, code: str, line: int | None, named: str
) -> None:
    assert right in STUDY
    path.write_text(STUDY.replace(right, wrong), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_study(path)
    assert raised.value.code == code
    assert named in str(raised.value)
    assert line is None or f"line {line}" in str(raised.value)


def test_what_is_unusual_is_a_note_and_no_error(path: Path) -> None:
    text = STUDY.replace("start_s = 0.5", 'session = "pre"') + (
        'S01_4 = { subject = "S01", condition = "slow", session = "post", file = "d.toml" }\n'
        'S02_1 = { subject = "S02", file = "e.toml" }\n'
    )
    path.write_text(text, encoding="utf-8")
    notes = "\n".join(read_study(path).notes)
    assert "1 subjects have no group, others have a: they are in no mean and no test" in notes
    assert "1 trials have no condition, others have slow, fast" in notes
    assert "sessions of a subject (pre, post) are averaged" in notes


def test_a_condition_of_one_subject_alone_may_be_misspelt(path: Path) -> None:
    lines = [
        f'S0{k}_{n}_{label} = {{ subject = "S0{k}", condition = "{label}", file = "w{k}{n}{label}.toml" }}'
        for k, label in ((2, "fast"), (3, "fast"), (4, "Fsat"))
        for n in (1, 2)
    ]
    text = STUDY.replace('["slow", "fast"]', '["slow", "fast", "Fsat"]') + "\n".join(lines) + "\n"
    path.write_text(text, encoding="utf-8")
    said = "the condition 'Fsat' is of S04 alone; was 'fast' meant?"
    assert said in read_study(path).notes
    path.write_text(text + lines[0].replace("S02", "S04").replace("_1", "_3") + "\n", encoding="utf-8")
    assert said not in read_study(path).notes  # this subject has both


def test_a_design_need_not_name_what_is_excluded(path: Path) -> None:
    text = STUDY.replace('["slow", "fast"]', '["slow"]')
    text = text.replace('condition = "fast", model', 'condition = "fast", exclude = "no forces", model')
    path.write_text(text, encoding="utf-8")
    assert read_study(path).design.conditions == ("slow",)


def test_a_trial_file_is_no_study(tmp_path: Path) -> None:
    path = tmp_path / "trial.toml"
    path.write_text('[files]\nmarkers = "walk.trc"\n', encoding="utf-8")
    assert not is_study(path)
    with pytest.raises(InputError, match="this is a trial file"):
        read_study(path)


def test_the_trial_file_has_what_the_study_says(path: Path) -> None:
    own = path.parent / "a.toml"
    own.write_text(
        '[subject]\nname = "x"\nmass_kg = 70.0\nstature_m = 1.7\nsex = "male"\n[files]\nmarkers = "rec/walk.trc"\n'
        '[muscles]\ndatabase = "own.osim"\n[[force]]\nside = "r"\n',
        encoding="utf-8",
    )
    study, written = read_study(path), path.parent / "out" / "trials" / "S01_1" / "trial.toml"
    made, _, notes = trial_file(study, study.trials[0], study.trials[0].source, written)
    written.parent.mkdir(parents=True)
    written.write_text(made, encoding="utf-8")
    content = trial_document(written).content
    own_and_said = {"name": "S01", "mass_kg": 71.0, "stature_m": 1.7, "sex": "male", "age_years": 30}
    assert content["subject"] == own_and_said
    assert content["files"]["markers"] == "../../../rec/walk.trc"
    assert content["muscles"]["database"] == "../../../own.osim"
    assert content["sharing"] == {"cost": "stress_cubed"}
    assert content["time"] == {"start_s": 0.5}
    assert content["force"] == [{"side": "r"}]
    assert notes == ["subject mass_kg is 71.0 by the study and 70.0 by its own file"]


def test_the_trial_file_of_a_model_lacks_what_no_model_has(path: Path) -> None:
    text = STUDY.replace("[subjects]", '[settings.laboratory]\nforward = "+x"\n[subjects]')
    path.write_text(text, encoding="utf-8")
    for name in ("m.osim", "ik.mot", "grf.mot"):
        (path.parent / name).touch()
    study, written = read_study(path), path.parent / "out" / "trial.toml"
    made = trial_file(study, study.trials[1], study.trials[1].source, written)[0]
    assert "laboratory" not in made
    assert 'model = "../m.osim"' in made
    assert 'cost = "stress_cubed"' in made


def test_toml_is_read_back_as_it_was(tmp_path: Path) -> None:
    content = {
        "subject": {"name": 'a "quoted" \\ name', "mass_kg": 70.5, "segments": {"shank_r": {"mass_kg": 2.0}}},
        "mapping": {"heel r": "R.HEEL", "asis_r": "a"},
        "force": [{"side": "r", "plate": 1}, {"side": "l", "plate": 2}],
    }
    path = tmp_path / "trial.toml"
    path.write_text(tables_text(content), encoding="utf-8")
    assert trial_document(path).content == content


def test_settings_are_those_of_trial_files(path: Path) -> None:
    """Every value that a trial file may state once for all is a setting; a default of each reads back."""
    assert {"sharing", "muscles", "filter", "mapping", "force"} <= set(trial_tables())
    text = STUDY.replace("[settings.sharing]", "[settings.filter]\ncutoff_hz = 8\n[settings.sharing]")
    path.write_text(text, encoding="utf-8")
    assert read_study(path).settings["filter"] == {"cutoff_hz": 8}
