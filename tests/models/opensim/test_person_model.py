"""The model of one person: read back by this package and by OpenSim it has the numbers of the person."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from packages import need
from person_file import person, person_file
from refusals import refused
from small_model import TEXT, save_model

import musclesolve as ms
from musclesolve.models.opensim.geometry import tendon_shifts
from musclesolve.models.opensim.person_file import write_person_model
from musclesolve.models.opensim.read_muscles import muscle_parameters
from musclesolve.muscles.person import QUANTITIES, PersonMuscles

ASK = """
import json, sys
import opensim
opensim.Logger.setLevelString("off")
found = {}
model = opensim.Model(sys.argv[1])
state = model.initSystem()
names = [model.getMuscles().get(k).getName() for k in range(model.getMuscles().getSize())]
for name in names:
    muscle = model.getMuscles().get(name)
    kind = muscle.getConcreteClassName()
    strain = None
    if kind == "Thelen2003Muscle":
        strain = opensim.Thelen2003Muscle.safeDownCast(muscle).get_FmaxTendonStrain()
    elif kind == "Millard2012EquilibriumMuscle":
        curve = opensim.Millard2012EquilibriumMuscle.safeDownCast(muscle).getTendonForceLengthCurve()
        strain = curve.getStrainAtOneNormForce()
    elif kind == "DeGrooteFregly2016Muscle":
        strain = opensim.DeGrooteFregly2016Muscle.safeDownCast(muscle).get_tendon_strain_at_one_norm_force()
    found[name] = [muscle.getMaxIsometricForce(), muscle.getOptimalFiberLength(), muscle.getTendonSlackLength(), strain]
print("ANSWER" + json.dumps(found))
"""
"""OpenSim's wheel and casadi cannot share a process."""


def of_opensim(path: Path) -> dict[str, list[float]]:
    """Muscle -> F0, L0, tendon slack length and tendon strain of the model after its initialization."""
    need("opensim")
    done = subprocess.run(
        [sys.executable, "-c", ASK, str(path)], check=True, cwd=path.parent, capture_output=True, text=True
    )
    answer: dict[str, list[float]] = json.loads(done.stdout.rpartition("ANSWER")[2])
    return answer


def every_factor(model, strain: bool = True, tendon: str = "rigid") -> PersonMuscles:
    """Another factor on every quantity of every muscle but the last one."""
    rng = np.random.default_rng(4)
    names = list(model.muscles)[:-1]
    factors = [
        (quantity, (name,), float(np.exp(rng.normal(0.0, 0.2))))
        for quantity in (QUANTITIES if strain else QUANTITIES[:3])
        for name in names
    ]
    return person(model.file, factors, tendon=tendon)


def numbers(model) -> np.ndarray:
    parameters = muscle_parameters(list(model.muscles.values()))
    return np.stack([getattr(parameters, quantity) for quantity in QUANTITIES], axis=1)


@pytest.mark.in_part(4)
@pytest.mark.parametrize(
    "name", ["gait2392", "rajagopal_2016", "rajagopal_lai_uhlrich_2023", "hamner_2010", "arm26"]
)
def test_public_models_have_the_numbers_and_nothing_else_is_changed(
    tmp_path: Path, model_folder: Path, name: str
) -> None:
    parent = ms.read_osim(model_folder / f"{name}.osim")
    made, path = every_factor(parent), tmp_path / "person.osim"
    write_person_model(made, path)
    found = ms.read_osim(path)
    expected = made.applied(muscle_parameters(list(parent.muscles.values())))
    due = np.stack([getattr(expected, quantity) for quantity in QUANTITIES], axis=1)
    np.testing.assert_allclose(numbers(found), due, rtol=1e-12)
    assert np.abs(numbers(found)[:-1] / numbers(parent)[:-1] - 1.0).min() > 0.0
    np.testing.assert_array_equal(numbers(found)[-1], numbers(parent)[-1])
    for own, other in zip(parent.muscles.values(), found.muscles.values(), strict=True):
        curve = {key: value for key, value in other.curve.items() if "endon" not in key}
        assert curve == {key: value for key, value in own.curve.items() if "endon" not in key}
        assert (own.pennation_angle, own.max_contraction_velocity) == (
            other.pennation_angle,
            other.max_contraction_velocity,
        )
    # comments, order and white space stay: changed lines are those of numbers
    before, after = (file.read_text(encoding="utf-8").splitlines() for file in (parent.file, path))
    kept = set(after)
    lost = [line for line in before if line not in kept]
    tags = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "endon", "Muscle name")
    assert all(any(tag in line for tag in tags) for line in lost)
    answer = of_opensim(path)
    for muscle, row in zip(found.muscles, due, strict=True):
        np.testing.assert_allclose(answer[muscle], row, rtol=1e-9)


@pytest.mark.thorough
def test_elastic_slack_lengths_are_used_with_the_shift_of_the_model(
    tmp_path: Path, model_folder: Path
) -> None:
    """Read back, the written length and the shift are the length that was calibrated."""
    parent = ms.read_osim(model_folder / "rajagopal_2016.osim")
    factors = [("tendon_slack_length", ("gasmed_r", "soleus_r"), 1.05)]
    path, names = tmp_path / "person.osim", ["gasmed_r", "soleus_r"]
    shift = tendon_shifts(parent, names)
    assert abs(shift[0]) > 1e-3 and shift[1] == 0.0
    slack = np.array([parent.muscles[name].tendon_slack_length for name in names])
    for tendon, due in {"elastic": 1.05 * (slack + shift), "rigid": 1.05 * slack + shift}.items():
        write_person_model(person(parent.file, factors, tendon=tendon), path)
        found = ms.read_osim(path)
        written = np.array([found.muscles[name].tendon_slack_length for name in names])
        np.testing.assert_allclose(written + tendon_shifts(found, names), due, rtol=1e-12)


CURVE = """<TendonForceLengthCurve name="t">{}</TendonForceLengthCurve>"""
WHOLE = "<strain_at_one_norm_force>0.04</strain_at_one_norm_force><curviness>0.5</curviness>" + (
    "<stiffness_at_one_norm_force>35</stiffness_at_one_norm_force><norm_force_at_toe_end>0.6</norm_force_at_toe_end>"
)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("holder", ["muscle", "default", "class", "empty", "none"])
def test_the_strain_of_a_curve_is_found_where_the_file_has_it(tmp_path: Path, holder: str) -> None:
    """In the curve of the muscle, in that of the default muscle, in the default curve, or nowhere."""
    text = TEXT.replace("Thelen2003Muscle", "Millard2012EquilibriumMuscle").replace(
        "<FmaxMuscleStrain>0.5</FmaxMuscleStrain>", ""
    )
    mark, first = (
        "<max_isometric_force>900</max_isometric_force>",
        "<optimal_fiber_length>0.1</optimal_fiber_length>",
    )
    match holder:
        case "muscle":
            text = text.replace(first, first + CURVE.format(WHOLE))
        case "default":
            text = text.replace(mark, mark + CURVE.format(WHOLE))
        case "class":
            text = text.replace("<defaults>", "<defaults>" + CURVE.format(WHOLE).replace('"t"', '"default"'))
            text = text.replace(first, first + CURVE.format(""))
        case "empty":
            text = text.replace(first, first + '<TendonForceLengthCurve name="a>b" />')
    model = ms.read_osim(save_model(tmp_path, text))
    before, path = model.muscles["two_r"].tendon_strain, tmp_path / "person.osim"
    assert before == (0.049 if holder in ("empty", "none") else 0.04)
    write_person_model(person(model.file, [("tendon_strain", ("two_r",), 0.5)]), path)
    found, text = ms.read_osim(path).muscles, path.read_text(encoding="utf-8")
    assert found["two_r"].tendon_strain == 0.5 * before
    assert found["one_r"].tendon_strain == before
    stated = holder in ("muscle", "default", "class")
    assert ("<stiffness_at_one_norm_force>70.0<" in text) == stated  # slope times strain stays: 35 x 0.04
    assert text.count("<norm_force_at_toe_end>") == {"muscle": 3, "default": 2, "class": 1}.get(holder, 0)
    answer = of_opensim(path)
    assert answer["two_r"][3] == pytest.approx(0.5 * before, rel=1e-12)


@pytest.mark.parametrize(
    "kind", ["DeGrooteFregly2016Muscle", "RigidTendonMuscle", "Schutte1993Muscle_Deprecated"]
)
def test_muscles_of_other_classes(tmp_path: Path, kind: str) -> None:
    text = TEXT.replace("Thelen2003Muscle", kind).replace("<FmaxMuscleStrain>0.5</FmaxMuscleStrain>", "")
    model = ms.read_osim(save_model(tmp_path, text))
    path = tmp_path / "person.osim"
    strain = kind.startswith("DeGroote")
    made = every_factor(model, strain)
    write_person_model(made, path)
    expected = made.applied(muscle_parameters(list(model.muscles.values())))
    due = np.stack([getattr(expected, quantity) for quantity in QUANTITIES], axis=1)
    np.testing.assert_allclose(numbers(ms.read_osim(path)), due, rtol=1e-12)
    if not strain:
        with refused("unsupported", kind, "two_r", "small.osim"):
            write_person_model(person(model.file, [("tendon_strain", ("two_r",), 0.5)]), path)


@pytest.mark.parametrize("encoding", ["UTF-8", "ISO-8859-1", "UTF-16"])
def test_other_encodings_and_line_ends(tmp_path: Path, encoding: str) -> None:
    text = (
        TEXT.replace("nobody", "Müller <!-- größer > kleiner -->")
        .replace("UTF-8", encoding, 1)
        .replace("\n", "\r\n")
    )
    path = tmp_path / "small.osim"
    path.write_bytes(text.encode(encoding))
    model = ms.read_osim(path)
    write_person_model(every_factor(model), tmp_path / "person.osim")
    found = ms.read_osim(tmp_path / "person.osim")
    assert found.credits == "Müller"
    due = every_factor(model).applied(muscle_parameters(list(model.muscles.values())))
    np.testing.assert_allclose(numbers(found)[:, 1], due.optimal_fiber_length)
    assert (
        "größer > kleiner -->\r\n" not in text
        and "größer > kleiner" in (tmp_path / "person.osim").read_bytes().decode()
    )


def test_sets_and_the_parent_itself_are_refused(tmp_path: Path) -> None:
    with refused("conflict", "gait2392"):
        write_person_model(person("gait2392", [("tendon_strain", ("soleus_l",), 0.5)]), tmp_path / "p.osim")
    model = ms.read_osim(save_model(tmp_path))
    with refused("conflict", "small.osim"):
        write_person_model(every_factor(model), model.file)
    assert ms.read_osim(model.file).muscles["one_r"].optimal_fiber_length == 0.1


def test_what_opensim_makes_of_it_otherwise_is_said(tmp_path: Path) -> None:
    model = ms.read_osim(save_model(tmp_path))
    path = tmp_path / "person.osim"
    (note,) = write_person_model(person(model.file, [("max_isometric_force", ("two_r",), 0.5)]), path)
    assert "two_r" in note and "passive" in note
    assert write_person_model(person(model.file, [("tendon_strain", ("two_r",), 0.5)]), path) == ()
    person_file(tmp_path, model.file, [("tendon_strain", ("two_r",), 0.5)])
    assert write_person_model(ms.models.read_person(tmp_path / "person.toml"), path) == ()
