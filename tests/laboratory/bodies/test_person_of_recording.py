"""One person's muscles in a recording: factors of each leg on the muscles as they are placed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from person_file import person_file
from refusals import refused
from synthetic_trial import write_trial

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.dynamics import Model, human_model
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import find_options
from musclesolve.studies.many_trials.trial_record import input_hashes

FACTORS = [
    ("optimal_fiber_length", ("soleus_r", "gastrocnemius_medial_r"), 1.1),
    ("max_isometric_force", ("soleus_l",), 0.8),
    ("tendon_slack_length", ("soleus_r",), 0.98),
]


@pytest.fixture(scope="module")
def skeleton() -> Model:
    return human_model(70.0, 1.75)


def of_person(folder: Path, parent: str | Path = "silva_2003", *changes: tuple[str, str]) -> Trial:
    person_file(folder, parent, FACTORS)
    trial = ms.read_trial(write_trial(folder, ('"silva_2003"', '"person.toml"'), *changes))
    assert isinstance(trial, Trial)
    return trial


@pytest.mark.parametrize(
    "choice", ["", "strength = 1.5\n", 'fiber_lengths = "standing"\n', 'curves = "thelen_2003"\n']
)
def test_factors_are_on_what_the_trial_makes_of_the_set(tmp_path: Path, skeleton: Model, choice: str) -> None:
    database = 'database = "silva_2003"\n'
    plain = find_options(ms.read_trial(write_trial(tmp_path, (database, database + choice))))
    options = find_options(
        of_person(
            tmp_path, "silva_2003", ('database = "person.toml"\n', f'database = "person.toml"\n{choice}')
        )
    )
    for groups in zip(options.muscles(skeleton), plain.muscles(skeleton), strict=True):
        own, parent = (group.parameters for group in groups)
        for quantity in (
            "max_isometric_force",
            "optimal_fiber_length",
            "tendon_slack_length",
            "tendon_strain",
        ):
            factor = np.ones(len(own.names))
            for on, muscles, value in FACTORS:
                if on == quantity:
                    factor[np.isin(own.names, muscles)] = value
            np.testing.assert_allclose(getattr(own, quantity), factor * getattr(parent, quantity), rtol=1e-15)
        np.testing.assert_array_equal(own.passive, parent.passive)


def test_the_other_leg_is_not_touched_and_the_result_says_whose_muscles(tmp_path: Path) -> None:
    trial = ms.read_trial(reference_stride())
    assert isinstance(trial, Trial)
    path = person_file(tmp_path, trial.settings.muscles.database, FACTORS[::2])
    found = ms.run(trial.with_settings(muscles=dict(database=str(path))))
    plain = ms.run(trial)
    right = np.char.endswith(found["muscle"].values.astype(str), "_r")
    change = np.abs(found["muscle_force"] - plain["muscle_force"]).max("time").values
    assert change[right].max() > 1.0 and change[~right].max() == 0.0
    np.testing.assert_array_equal(found["joint_moment"], plain["joint_moment"])
    assert found.attrs["muscle_database"] == plain.attrs["muscle_database"]  # names for OpenSim, averages
    assert found.attrs["muscle_person"] == "person.toml"
    assert any("3 numbers of 2 muscles differ" in note for note in found.attrs["notes"])
    assert "muscle_person" not in plain.attrs


def test_a_change_of_the_person_or_the_parent_is_another_input(tmp_path: Path) -> None:
    before = input_hashes(of_person(tmp_path))
    assert "person.toml" in before
    (tmp_path / "person.toml").write_text(
        (tmp_path / "person.toml").read_text(encoding="utf-8") + "# seen\n", encoding="utf-8"
    )
    after = input_hashes(ms.read_trial(tmp_path / "trial.toml"))  # type: ignore[arg-type]
    assert {name for name in after if after[name] != before[name]} == {"person.toml"}


def test_a_model_is_a_parent_with_its_own_names_or_those_of_the_set(
    tmp_path: Path, model_folder: Path, skeleton: Model
) -> None:
    """The left leg is the mirror image of the right one; a factor on a muscle of the trunk has no use."""
    parent = model_folder / "gait2392.osim"
    own = [("max_isometric_force", ("glut_med1_r", "soleus_l", "ercspn_r"), 0.8)]
    of_set = [("max_isometric_force", ("gluteus_medius_anterior_r", "soleus_l"), 0.8)]
    found = []
    for factors in (own, of_set):
        person_file(tmp_path, parent, factors)
        trial = ms.read_trial(write_trial(tmp_path, ('"silva_2003"', '"person.toml"')))
        assert isinstance(trial, Trial) and trial.files["muscle_parent"].samefile(parent)
        options = find_options(trial)
        assert options.person is not None
        assert any("ercspn_r" in warning for warning in options.person.warnings) == (factors is own)
        found.append([group.parameters for group in options.muscles(skeleton)])
    plain = find_options(ms.read_trial(write_trial(tmp_path, ('"silva_2003"', f'"{parent.as_posix()}"'))))
    usual = plain.muscles(skeleton)
    for side, group, one, other in zip("rl", usual, *found, strict=True):
        np.testing.assert_array_equal(one.max_isometric_force, other.max_isometric_force)
        ratio = one.max_isometric_force / group.parameters.max_isometric_force
        changed = [name for name, each in zip(one.names, ratio, strict=True) if each != 1.0]
        assert changed == [{"r": "gluteus_medius_anterior_r", "l": "soleus_l"}[side]]
        np.testing.assert_allclose(ratio[ratio != 1.0], 0.8)


def test_faults_of_the_person_are_refused_in_its_file(tmp_path: Path) -> None:
    trial = of_person(tmp_path)
    path = tmp_path / "person.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("soleus_l", "solus_l"), encoding="utf-8")
    with refused("unknown_name", "person.toml", "solus_l", "soleus_l"):
        find_options(trial)
    path.write_text(path.read_text(encoding="utf-8").replace('"silva_2003"', '"own.osim"'), encoding="utf-8")
    with refused("missing_file", "person.toml", "line 5", "own.osim"):
        find_options(ms.read_trial(tmp_path / "trial.toml"))  # type: ignore[arg-type]


def test_averages_do_not_mix_calibrated_muscles_with_those_of_the_set(tmp_path: Path) -> None:
    trial = ms.read_trial(reference_stride())
    cycles = [ms.laboratory.cycles(ms.run(trial, side="r"), "r", partial=True)]
    cycles.append(
        cycles[0].assign_attrs(muscle_parameters="calibrated", inputs=["markers another.trc sha256:0"])
    )
    with refused("not_comparable", "calibrated"):
        ms.laboratory.average_cycles(cycles)
