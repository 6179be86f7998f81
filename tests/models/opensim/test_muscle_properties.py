"""Numbers of muscles in model files: a finite right result, or a refusal that names muscle, parameter and line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from small_model import TEXT, save_model

from musclesolve import read_osim
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.read_muscles import curve_family, passive_strains
from musclesolve.muscles.curves.curve_family import CURVES, DeGroote2016, curve_fault

KEPT = ("soleus_r", "tib_ant_r", "tibant_r")


@pytest.fixture(scope="module", params=["gait2392", "rajagopal_2016"])
def text(request: pytest.FixtureRequest, model_folder: Path) -> str:
    """A public model with two muscles of the ankle alone."""
    whole = (model_folder / f"{request.param}.osim").read_text(encoding="utf-8")
    kind = "Thelen2003Muscle" if request.param == "gait2392" else "Millard2012EquilibriumMuscle"
    muscle = re.compile(rf'<{kind} name="(\w+)">.*?</{kind}>', re.DOTALL)
    return re.sub(
        r"<!--.*?-->", "", muscle.sub(lambda found: found[0] if found[1] in KEPT else "", whole), flags=re.S
    )


def soleus(text: str) -> tuple[int, int]:
    """Where the soleus stands in the text."""
    found = re.search(r'<(\w+) name="soleus_r">.*?</\1>', text, re.DOTALL)
    assert found
    return found.span()


def numbers(text: str) -> list[str]:
    """The elements of the soleus with one number, without those of its path; a curve's as CURVE.NUMBER."""
    start, end = soleus(text)
    own = re.sub(r"<GeometryPath.*?</GeometryPath>", "", text[start:end], flags=re.DOTALL)
    found, curve = [], ""
    for line in own.splitlines():
        if opened := re.match(r"\s*<(\w+Curve)\b", line):
            curve = f"{opened[1]}."
        if re.match(r"\s*</\w+Curve>", line):
            curve = ""
        if leaf := re.match(r"\s*<(\w+)>[-+\d.e]+</\1>", line):
            found.append(curve + leaf[1])
    return found


def test_what_the_numbers_are(text: str) -> None:
    """The test looks at all that can be wrong."""
    found = numbers(text)
    assert {"max_isometric_force", "optimal_fiber_length", "tendon_slack_length"} < set(found)
    assert {"FmaxMuscleStrain", "Af", "Flen"} < set(found) or "ForceVelocityCurve.isometric_slope" in found


@pytest.mark.parametrize(
    ("name", "value", "part"),
    [
        ("Flen", "1", "above 1"),
        ("Af", "0", "at least 0.0001"),
        ("KshapePassive", "0", "at least 0.0001"),
        ("pennation_angle_at_optimal", "25", "0.436332"),
        ("max_isometric_force", "1e300", "at most 1e+07"),
        ("optimal_fiber_length", "", "empty"),
        ("optimal_fiber_length", "51.3", "0.0513"),
    ],
)
def test_a_number_that_no_muscle_can_have_is_refused(
    name: str, value: str, part: str, tmp_path: Path
) -> None:
    text = TEXT.replace("<FmaxMuscleStrain>", f"<{name}>{value}</{name}><FmaxMuscleStrain>", 1)
    if name in ("max_isometric_force", "optimal_fiber_length"):
        text = re.sub(rf"<{name}>[\d.]+<", f"<{name}>{value}<", TEXT, count=1)
    with refused("bad_model" if value else "bad_format", name, "one_r", "line", part):
        read_osim(save_model(tmp_path, text))


@pytest.mark.parametrize("family", CURVES.values(), ids=CURVES)
def test_the_curves_of_every_family_are_sound(family: object) -> None:
    assert curve_fault(family, family.passive_strain) is None  # type: ignore[attr-defined, arg-type]


def test_all_muscles_of_public_models_have_sound_curves(public_model: Callable[[str], OpenSimModel]) -> None:
    for name in ("gait2392", "rajagopal_2016", "hamner_2010", "arm26"):
        for muscle in public_model(name).muscles.values():
            assert curve_fault(curve_family(muscle), passive_strains(muscle)) is None


def test_the_width_of_the_active_curve_of_de_groote_is_read(tmp_path: Path) -> None:
    """OpenSim's DeGrooteFregly2016Muscle: at x = (l - 1) / s + 1 of the curve of width 1."""
    text = TEXT.replace("Thelen2003Muscle", "DeGrooteFregly2016Muscle").replace("FmaxMuscleStrain", "x")
    wide = text.replace(
        "<optimal_fiber_length>",
        "<active_force_width_scale>1.5</active_force_width_scale><optimal_fiber_length>",
    )
    length = np.linspace(0.5, 1.6, 12)
    one, other = (
        curve_family(read_osim(save_model(tmp_path, each)).muscles["one_r"]) for each in (text, wide)
    )
    np.testing.assert_allclose(other.active(length), one.active(1.0 + (length - 1.0) / 1.5))
    step = 1e-6
    slope = (other.active(length + step) - other.active(length - step)) / (2.0 * step)
    np.testing.assert_allclose(other.active_slope(length), slope, atol=1e-8)
    assert isinstance(one, DeGroote2016)
    with refused("bad_model", "active_force_width_scale", "one_r"):
        read_osim(save_model(tmp_path, wide.replace(">1.5<", ">0.5<", 1)))
