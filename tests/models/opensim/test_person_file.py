"""Files of one person's muscles: what is written is read back, and every fault is refused with its line."""

from __future__ import annotations

import hashlib
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from person_file import person_file
from refusals import refused
from small_model import save_model

import musclesolve as ms
from musclesolve.models.opensim.find_muscle_set import find_muscle_set
from musclesolve.models.opensim.geometry import tendon_shifts
from musclesolve.models.opensim.read_muscles import muscle_parameters
from musclesolve.muscles.person import FittedParameter, PersonMuscles

LENGTH, FORCE = "optimal_fiber_length", "max_isometric_force"
TEXT = """[person]
parent = "small.osim"
tendon = "rigid"

[[parameter]]
name = "fibers"
quantity = "optimal_fiber_length"
muscles = ["one_r", "two_r"]
factor = 1.26
sd = 0.03
prior_sd = 0.15
covariance = [0.0009, 0.0003]

[[parameter]]
name = "strength"
quantity = "max_isometric_force"
muscles = ["two_r", "three_r"]
factor = 0.8
sd = 0.1
prior_sd = 0.2
determined = false
covariance = [0.0003, 0.01]
"""


def saved(folder: Path, text: str = TEXT) -> Path:
    save_model(folder)
    path = folder / "person.toml"
    path.write_text(text, encoding="utf-8")
    return path


def changed(old: str, new: str) -> str:
    assert old in TEXT
    return TEXT.replace(old, new, 1)


def test_what_is_written_is_read_back_exactly(tmp_path: Path) -> None:
    model = save_model(tmp_path)
    rng = np.random.default_rng(1)
    spread = 0.1 * rng.standard_normal((3, 3))
    covariance = spread @ spread.T
    covariance = (covariance + covariance.T) / 2.0
    rows = [(LENGTH, ("one_r", "two_r")), (FORCE, ("two_r",)), ("tendon_strain", ("three_r",))]
    person = PersonMuscles(
        name='J. "Müller"',
        parent=str(model),
        parent_sha256=hashlib.sha256(model.read_bytes()).hexdigest(),
        trials=(str(tmp_path / "trial_1.toml"), str(tmp_path / "more" / "trial_3.toml")),
        tendon="elastic",
        parameters=tuple(
            FittedParameter(f"{quantity} {k}", quantity, names, factor, sd, 0.15, k != 1)
            for k, ((quantity, names), factor, sd) in enumerate(
                zip(
                    rows,
                    np.exp(rng.normal(size=3)).tolist(),
                    np.sqrt(np.diag(covariance)).tolist(),
                    strict=True,
                )
            )
        ),
        covariance=covariance,
        created="musclesolve 1.2.3",
        emg={"MG": {"gain": 1.3, "delay_s": 0.04}},
        prediction=({"trial": "trial_3.toml", "r": 0.9}, {"trial": "trial_4.toml", "r": 0.8}),
    ).with_numbers(muscle_parameters(list(ms.read_osim(model).muscles.values())))
    assert set(person.numbers) == {"one_r", "two_r", "three_r"}
    path = tmp_path / "results" / "person.toml"
    for folder in ("results", "more"):
        (tmp_path / folder).mkdir()
    ms.models.write_person(person, path)
    assert 'parent = "../small.osim"' in path.read_text(encoding="utf-8")
    again = ms.models.read_person(path)
    for name in (each.name for each in fields(PersonMuscles)):
        if name not in ("covariance", "path"):
            assert getattr(again, name) == getattr(person, name), name
    np.testing.assert_array_equal(again.covariance, person.covariance)
    assert again.path == path


@pytest.mark.parametrize("parent", ["gait2392", "silva_2003"])
def test_a_bundled_set_is_a_parent_with_its_muscles_of_both_legs(tmp_path: Path, parent: str) -> None:
    names = [leg[0].name for leg in find_muscle_set(parent).sides.values()]
    text = TEXT.replace("small.osim", parent).replace("one_r", names[0]).replace("two_r", names[1])
    person = ms.models.read_person(saved(tmp_path, text.replace("three_r", names[0])))
    assert person.parent == parent and person.parent_file is None and person.muscles == tuple(names)


def test_a_model_as_muscle_set_has_other_names(tmp_path: Path, model_folder: Path) -> None:
    """A calibration with recordings names muscles as sets do, one with trials of the model as the model does."""
    text = TEXT.replace("small.osim", (model_folder / "gait2392.osim").as_posix())
    of_set = text.replace("one_r", "soleus_l").replace("two_r", "gluteus_medius_anterior_l")
    person = ms.models.read_person(saved(tmp_path, of_set.replace("three_r", "soleus_r")))
    assert person.muscles == ("soleus_l", "gluteus_medius_anterior_l", "soleus_r")


def test_a_parent_that_was_changed_is_said(tmp_path: Path) -> None:
    text = changed('"small.osim"', f'"small.osim"\nparent_sha256 = "{"0" * 64}"')
    person = ms.models.read_person(saved(tmp_path, text))
    assert "small.osim" in person.warnings[0] and person.warnings[0] in person.notes(person.muscles, "rigid")
    digest = hashlib.sha256((tmp_path / "small.osim").read_bytes()).hexdigest()
    assert not ms.models.read_person(saved(tmp_path, text.replace("0" * 64, digest))).warnings


@pytest.mark.parametrize(
    ("old", "new", "code", "parts"),
    [
        (
            'quantity = "optimal_fiber_length"',
            'quantity = "fiber_length"',
            "bad_value",
            ("line 7", "fiber_length"),
        ),
        ("factor = 1.26", "factor = 0.0", "bad_value", ("line 9", "above 0")),
        ("factor = 1.26", "factor = nan", "bad_value", ("line 9",)),
        ("sd = 0.03", "sd = 0.05", "conflict", ("line 10", "0.05", "0.03")),
        ('"one_r", ', '"onr_r", ', "unknown_name", ("line 8", "onr_r", "one_r")),
        ('"two_r", "three_r"', '"two_r", "thre_r"', "unknown_name", ("line 17", "thre_r", "three_r")),
        ('"one_r", "two_r"', '"one_r", "one_r"', "duplicate_name", ("line 8", "one_r")),
        ('name = "strength"', 'name = "fibers"', "duplicate_name", ("line 15", "fibers")),
        (
            'quantity = "optimal_fiber_length"',
            'quantity = "max_isometric_force"',
            "duplicate_name",
            ("line 17", "two_r", "fibers"),
        ),
        ("[0.0009, 0.0003]", "[0.0009]", "bad_value", ("line 12", "1", "2")),
        ("[0.0009, 0.0003]", "[0.0009, 0.0004]", "bad_value", ("line 12", "0.0004", "0.0003")),
        ("[0.0009, 0.0003]", "[0.0009, inf]", "bad_value", ("line 12",)),
        ("sd = 0.03\n", "", "missing_key", ("line 5", "sd")),
        ('tendon = "rigid"', 'tendon = "stiff"', "bad_value", ("line 3", "rigid, elastic")),
        ('tendon = "rigid"', 'tendon = "rigid"\ntendons = 1', "unknown_key", ("line 4", "tendons")),
        ('"small.osim"', '"absent.osim"', "missing_file", ("line 2", "absent.osim")),
        ('"small.osim"', '"gait2393"', "unknown_name", ("line 2", "gait2393", "gait2392")),
        ('"small.osim"', '"person.toml"', "conflict", ("line 2", "person.toml")),
    ],
)
def test_faults_are_refused_with_their_line(
    tmp_path: Path, old: str, new: str, code: str, parts: tuple[str, ...]
) -> None:
    path = saved(tmp_path, changed(old, new))
    with refused(code, "person.toml", *parts):
        ms.models.read_person(path)


def test_a_covariance_with_a_negative_variance_is_refused(tmp_path: Path) -> None:
    """Correlation 1 is the limit; beyond it some combination of the parameters has a negative variance."""
    with refused("bad_value", "covariance", "eigenvalue"):
        ms.models.read_person(saved(tmp_path, TEXT.replace("0.0003", "0.0031")))
    assert ms.models.read_person(saved(tmp_path, TEXT.replace("0.0003", "0.003"))).covariance[0, 1] == 0.003


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("optimal_fiber_length = { value = 0.126, parent = 0.1, sd = 0.0038 }", ""),
        ("optimal_fiber_length = { value = 0.12, parent = 0.1, sd = 0.0038 }", "conflict"),
        ("max_isometric_force = { value = 800.0, parent = 900.0, sd = 10.0 }", "conflict"),
        ("optimal_fiber_length = { value = 0.126 }", "bad_value"),
        ("optimal_fiber_length = 0.126", "bad_value"),
    ],
)
def test_a_number_that_is_not_that_of_its_factor_is_refused(tmp_path: Path, line: str, code: str) -> None:
    """A user who changes a number of a muscle by hand learns that it is the factor that counts."""
    path = saved(tmp_path, TEXT + f"\n[muscles.one_r]\n{line}\n")
    if not code:
        assert ms.models.read_person(path).numbers["one_r"][LENGTH]["parent"] == 0.1
        return
    with refused(code, "line 25", line.partition(" ")[0]):
        ms.models.read_person(path)


def test_the_parent_must_be_no_person_and_the_path_a_file(tmp_path: Path) -> None:
    path = saved(tmp_path)
    with refused("missing_file", "other.toml"):
        ms.models.read_person(tmp_path / "other.toml")
    with refused("not_writable"):
        ms.models.write_person(replace(ms.models.read_person(path)), tmp_path / "no" / "person.toml")


@pytest.mark.thorough
def test_numbers_of_a_model_are_written_as_they_are_used(tmp_path: Path, model_folder: Path) -> None:
    """With elastic tendons the slack length is that for the path over several wrap objects; of sets there are none."""
    model = ms.read_osim(model_folder / "rajagopal_2016.osim")
    factors, path = [("tendon_slack_length", ("gasmed_r", "soleus_r"), 1.05)], tmp_path / "person.toml"
    shift = tendon_shifts(model, ["gasmed_r"])[0]
    for tendon, due in {"rigid": 0.0, "elastic": shift}.items():
        person_file(tmp_path, model.file, factors, tendon=tendon)
        number = ms.models.read_person(path).numbers["gasmed_r"]["tendon_slack_length"]
        assert number["parent"] == pytest.approx(
            model.muscles["gasmed_r"].tendon_slack_length + due, rel=1e-12
        )
        assert number["value"] == pytest.approx(1.05 * number["parent"], rel=1e-12)
    assert abs(shift) > 1e-3
    for parent, muscle in (
        ("gait2392", "soleus_l"),
        (model_folder / "gait2392.osim", "gastrocnemius_medial_l"),
    ):
        person_file(tmp_path, parent, [("tendon_slack_length", (muscle,), 1.05)])
        assert not ms.models.read_person(path).numbers
