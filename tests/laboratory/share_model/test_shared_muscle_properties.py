"""Numbers of muscles in model files, in results."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from thorough import THOROUGH

from musclesolve import read_osim
from musclesolve.errors import InputError
from musclesolve.laboratory.results.dataset.frame_validity import solved, valid
from musclesolve.laboratory.run_trial import share_model
from musclesolve.models.opensim.model import OpenSimModel

ABSURD = ("0", "-1", "nan", "inf", "1e300", "1e-300", "25", "many")


KEPT = ("soleus_r", "tib_ant_r", "tibant_r")


FRAMES = 8


STEP = 3 if THOROUGH else len(ABSURD)


BASIC = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length")
"""Numbers that are tried with everything absurd, the others with one of it, in a thorough run with a third."""


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


def changed(text: str, name: str, value: str) -> str:
    """The model with a number of the soleus replaced."""
    start, end = soleus(text)
    curve, _, tag = name.rpartition(".")
    at = text.index(f"<{curve}", start, end) if curve else start
    first = text.index(f"<{tag}>", at, end) + len(tag) + 2
    return text[:first] + value + text[text.index("<", first) :]


def outcome(path: Path) -> OpenSimModel | InputError:
    """Return the outcome of a model: it is refused, or shares the moment of the ankle with finite forces."""
    try:
        model = read_osim(path)
        time = 0.01 * np.arange(FRAMES)
        motion = {name: np.zeros(FRAMES) for name in model.coordinates}
        motion |= {"time": time, "ankle_angle_r": 0.1 + 0.5 * time}
        moment = {"ankle_angle_r": np.linspace(-20.0, 5.0, FRAMES)}
        result = share_model(model, motion, moment, dofs=["ankle_angle_r"], cutoff_hz=None)
    except InputError as error:
        return error
    for name in (
        "activation",
        "muscle_force",
        "passive_force",
        "force_capacity",
        "fiber_length",
        "fiber_velocity",
    ):
        assert np.isfinite(result[name].values[valid(result, "r")]).all(), name
    produced = (result["moment_arm"] * result["muscle_force"]).sum("muscle").values[:, 0]
    met = solved(result, "r")
    assert valid(result, "r").all()
    np.testing.assert_allclose(produced[met], moment["ankle_angle_r"][met], atol=1e-3)
    return model


@pytest.mark.in_part(2)
def test_any_number_gives_a_finite_result_or_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path, refusals = tmp_path / "model.osim", 0
    assert isinstance(save_and_share(path, text), OpenSimModel)
    for place, name in enumerate(numbers(text)):
        for value in ABSURD if name in BASIC else ABSURD[place % STEP :: STEP]:
            own = changed(text, name, value)
            done = save_and_share(path, own)
            if isinstance(done, InputError):
                refusals += 1
                said, tag = str(done), name.rpartition(".")[2]
                assert "soleus_r" in said and tag in said, (name, value, said)
                assert (
                    done.file == path
                    and done.expected
                    and done.remedy
                    and done.code in ("bad_model", "not_numbers")
                )
                line = int(str(done.where).split()[1].rstrip(","))
                assert "soleus_r" in own.splitlines()[line - 1] or tag in own.splitlines()[line - 1], said
    assert refusals > 3 * 6  # the numbers that every muscle has, at the least


def save_and_share(path: Path, text: str) -> OpenSimModel | InputError:
    path.write_text(text, encoding="utf-8")
    return outcome(path)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("value", ABSURD)
def test_any_place_of_a_point_gives_a_finite_result_or_is_refused_by_name(
    text: str, value: str, tmp_path: Path
) -> None:
    start, end = soleus(text)
    own = text[:start] + re.sub(r"<location>\S+", f"<location>{value}", text[start:end], count=1) + text[end:]
    done = save_and_share(tmp_path / "model.osim", own)
    far = value in ("nan", "inf", "1e300", "many")
    assert isinstance(done, InputError) is far
    if isinstance(done, InputError):
        assert "soleus_r" in str(done) and "line" in str(done.where)
