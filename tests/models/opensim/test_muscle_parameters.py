"""Curves of the muscles of a model: each muscle its own family and parameters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from package_tables import package_table
from refusals import refused
from small_model import TEXT, save_model

from musclesolve import read_osim
from musclesolve.models.opensim.read_muscles import curve_notes, muscle_parameters
from musclesolve.muscles.curves.curve_family import DeGroote2016, Thelen2003
from musclesolve.muscles.curves.millard_2013 import Millard2013

MILLARD = """<ActiveForceLengthCurve><min_norm_active_fiber_length>0.25</min_norm_active_fiber_length>
<transition_norm_fiber_length>0.77</transition_norm_fiber_length>
<max_norm_active_fiber_length>1.9</max_norm_active_fiber_length>
<shallow_ascending_slope>0.75</shallow_ascending_slope><minimum_value>0</minimum_value></ActiveForceLengthCurve>
<ForceVelocityCurve><max_eccentric_velocity_force_multiplier>1.6</max_eccentric_velocity_force_multiplier>
</ForceVelocityCurve>"""
DE_GROOTE = "<passive_fiber_strain_at_one_norm_force>0.5</passive_fiber_strain_at_one_norm_force>"


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory):
    """Three muscles of three kinds."""
    parts = TEXT.split("<Thelen2003Muscle name=")
    kinds = {
        "two_r": ("Millard2012EquilibriumMuscle", MILLARD),
        "three_r": ("DeGrooteFregly2016Muscle", DE_GROOTE),
    }
    for k, part in enumerate(parts):
        for name, (kind, curve) in kinds.items():
            if part.startswith(f'"{name}"'):
                own = part.replace("</Thelen2003Muscle>", f"{curve}</{kind}>", 1)
                parts[k - 1] += f"<{kind} name="
                parts[k] = f"\0{own}"
    text = "<Thelen2003Muscle name=".join(parts).replace("<Thelen2003Muscle name=\0", "")
    return read_osim(save_model(tmp_path_factory.mktemp("mixed"), text))


def test_each_muscle_has_its_own_curves(mixed) -> None:
    muscles = muscle_parameters(list(mixed.muscles.values()))
    kinds = {muscles.names[int(own[0])]: family for family, own in muscles.families}
    assert isinstance(kinds["one_r"], Thelen2003) and kinds["one_r"] == Thelen2003()
    assert isinstance(kinds["two_r"], Millard2013) and isinstance(kinds["three_r"], DeGroote2016)
    length = np.linspace(0.3, 1.8, 20)
    np.testing.assert_array_equal(
        kinds["two_r"].active(length), Millard2013("millard_2013_rajagopal").active(length)
    )
    assert kinds["two_r"].velocity(1.0) == pytest.approx(1.6)
    np.testing.assert_allclose(muscles.passive.at_one, [0.5, 0.7, 0.5])


def test_forces_are_those_of_each_muscle_alone(mixed) -> None:
    every = list(mixed.muscles.values())
    together = muscle_parameters(every)
    length, velocity = np.linspace(0.25, 0.36, 30).reshape(10, 3), np.linspace(-0.5, 0.5, 30).reshape(10, 3)
    found = together.forces(together.fibers(length, velocity))
    for k, muscle in enumerate(every):
        one = muscle_parameters([muscle])
        alone = one.forces(one.fibers(length[:, [k]], velocity[:, [k]]))
        np.testing.assert_array_equal(alone.capacity[:, 0], found.capacity[:, k])
        np.testing.assert_array_equal(alone.passive[:, 0], found.passive[:, k])
    assert found.passive.max() > 0.0 and not muscle_parameters(every, with_passive=False).passive.force.any()


def test_a_file_without_curves_has_the_defaults(tmp_path: Path) -> None:
    text = TEXT.replace('<Thelen2003Muscle name="t', '<Millard2012EquilibriumMuscle name="t')
    head, *rest = text.split("<Millard2012EquilibriumMuscle")
    text = head + "".join(
        "<Millard2012EquilibriumMuscle"
        + part.replace("</Thelen2003Muscle>", "</Millard2012EquilibriumMuscle>", 1)
        for part in rest
    )
    model = read_osim(save_model(tmp_path, text))
    muscles = muscle_parameters([model.muscles["two_r"]])
    ((family, _),) = muscles.families
    shape = package_table("muscles/curves/millard_2013.toml")["millard_2013"]
    # as in muscles with damped fibers or rigid tendons
    default = Millard2013("default", {**shape, "active": {**shape["active"], "minimum": 0.0}})
    length, velocity = np.linspace(0.4, 2.0, 40), np.linspace(-1.1, 1.1, 40)
    np.testing.assert_array_equal(family.active(length), default.active(length))
    np.testing.assert_array_equal(family.velocity(velocity), default.velocity(velocity))
    np.testing.assert_array_equal(family.passive(length), default.passive(length))
    assert family.active(0.4) == family.active(2.0) == 0.0


def test_curves_that_are_not_read_are_noted(mixed) -> None:
    one, two, three = mixed.muscles.values()
    assert curve_notes([one, two, three]) == []
    (note,) = curve_notes([one, replace(two, kind="Schutte1993Muscle_Deprecated"), three])
    assert "Schutte1993Muscle_Deprecated" in note and "two_r" in note and "one_r" not in note


def with_strains(muscle: str, parameter: str) -> str:
    """The small model with a parameter of the tendon of one muscle."""
    head, tail = TEXT.split(f'<Thelen2003Muscle name="{muscle}">', 1)
    return f'{head}<Thelen2003Muscle name="{muscle}">{parameter}{tail}'


def test_tendons_have_the_strain_of_their_own_curve(mixed, tmp_path: Path) -> None:
    """The defaults of OpenSim where the file states none."""
    muscles = muscle_parameters(list(mixed.muscles.values()))
    assert muscles.tendon_strain.tolist() == [0.04, 0.049, 0.049]
    stated = read_osim(
        save_model(tmp_path, with_strains("two_r", "<FmaxTendonStrain>0.033</FmaxTendonStrain>"))
    )
    found = muscle_parameters(list(stated.muscles.values()), with_passive=False).tendon_strain
    assert found.tolist() == [0.04, 0.033, 0.04]


def test_strains_of_tendons_by_word(mixed) -> None:
    """Names with their side before those without, and these before "achilles" and "all"."""
    one, two, three = mixed.muscles.values()
    left = [replace(each, name=each.name.replace("_r", "_l")) for each in (one, two)]
    calf = [replace(three, name=name) for name in ("soleus_r", "gasmed_r", "med_gas_l")]
    every = [one, two, *left, *calf]
    stated = {"all": 0.05, "achilles": 0.08, "one": 0.06, "one_l": 0.07, "gasmed_r": 0.1}
    for words in (stated, dict(reversed(stated.items()))):
        found = muscle_parameters(every, tendon_strain=words)
        assert found.tendon_strain.tolist() == [0.06, 0.05, 0.07, 0.05, 0.08, 0.1, 0.08]
    with refused("unknown_name", "'gasmed'", "'gasmed_l'"):
        muscle_parameters(every, tendon_strain={"gasmed_l": 0.08})
    with refused("unknown_name", "achilles", "one_r, two_r"):
        muscle_parameters([one, two], tendon_strain={"achilles": 0.08})


@pytest.mark.parametrize("kind", ["Schutte1993Muscle_Deprecated", "Delp1990Muscle"])
def test_muscles_over_a_time_scale_have_its_velocity(tmp_path: Path, kind: str) -> None:
    """OpenSim's fiber velocity is L0 / time_scale times the normalized one, whatever velocity is stated, even zero."""
    stated = "<max_contraction_velocity>0</max_contraction_velocity>"
    for scale, expected in (("", 10.0), ("<time_scale>0.05</time_scale>", 20.0)):
        text = TEXT.replace('<Thelen2003Muscle name="two_r">', f'<{kind} name="two_r">{stated}{scale}')
        start = text.index(f'<{kind} name="two_r">')
        text = text[:start] + text[start:].replace("</Thelen2003Muscle>", f"</{kind}>", 1)
        model = read_osim(save_model(tmp_path, text))
        assert model.muscles["two_r"].max_contraction_velocity == pytest.approx(expected)
        assert model.muscles["one_r"].max_contraction_velocity == 10.0
    with refused("bad_model", "two_r", "time_scale is 0"):
        read_osim(save_model(tmp_path, text.replace("<time_scale>0.05", "<time_scale>0")))
