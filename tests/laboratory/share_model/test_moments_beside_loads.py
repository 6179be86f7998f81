"""Moments given beside loads: the muscles share the moments, and joint forces follow from the loads."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from forearm_model import GRAVITY, LENGTH, MASS, save_forearm
from measured_model import measured_model
from said import plausible

import musclesolve as ms
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.results.finding import Finding
from musclesolve.tables import Table, write_mot

ANGLE, WEIGHT_IN_HAND = 0.5, 20.0
TIME = np.linspace(0.0, 1.0, 101)
LOADS = """<?xml version="1.0"?><OpenSimDocument Version="40000"><ExternalLoads name="loads"><objects>
<ExternalForce name="hand"><applied_to_body>forearm</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body><point_expressed_in_body>forearm</point_expressed_in_body>
<force_identifier>hand_v</force_identifier><point_identifier>hand_p</point_identifier></ExternalForce></objects>
<datafile>hand.mot</datafile></ExternalLoads></OpenSimDocument>"""


def save_loads(folder: Path) -> Path:
    """A weight at the center of mass of the forearm, of more than 20 N with its own."""
    names = ("hand_vx", "hand_vy", "hand_vz", "hand_px", "hand_py", "hand_pz")
    values = np.tile([0.0, -WEIGHT_IN_HAND, 0.0, 0.0, -LENGTH, 0.0], (len(TIME), 1))
    write_mot(folder / "hand.mot", Table(TIME, names, values, False, Path()))
    path = folder / "hand.xml"
    path.write_text(LOADS, encoding="utf-8")
    return path


def shared(folder: Path, loads: str, beyond: float = 0.0) -> xr.Dataset:
    """Share the moment of a forearm at rest under a weight in the hand unless loads are "none".

    beyond: misfit of the given moment [N m].
    """
    weight = MASS * GRAVITY + (0.0 if loads == "none" else WEIGHT_IN_HAND)
    moment = weight * LENGTH * np.sin(ANGLE) + beyond
    motion = {"time": TIME, "flexion": np.full(len(TIME), ANGLE)}
    return ms.share_model(
        save_forearm(folder), motion, {"flexion": np.full(len(TIME), moment)}, loads=loads, cutoff_hz="none"
    )


@pytest.mark.parametrize("kind", ["none", "file"])
def test_the_result_says_that_moments_were_given_and_loads_stated(tmp_path: Path, kind: str) -> None:
    result = shared(tmp_path, "none" if kind == "none" else str(save_loads(tmp_path)))
    notes = " ".join(map(str, result.attrs["notes"]))
    acting = "none" if kind == "none" else "hand on forearm"
    assert "The given moments are shared" in notes and f"external loads: {acting}." in notes
    assert "inverse dynamics" not in notes
    assert result.attrs["joint_moments"] == "given"
    assert result.attrs["ground_reactions"] == ("none" if kind == "none" else "measured")


def test_computed_moments_are_not_called_given(tmp_path: Path) -> None:
    motion = {"time": TIME, "flexion": np.full(len(TIME), ANGLE)}
    result = ms.share_model(save_forearm(tmp_path), motion, loads="none", cutoff_hz="none")
    assert "joint_moments" not in result.attrs
    assert any("Moments by inverse dynamics" in note for note in result.attrs["notes"])


def test_the_moment_at_the_joint_contains_the_misfit_of_given_moments(tmp_path: Path) -> None:
    right, wrong = (shared(tmp_path, "none", beyond)["joint_reaction_moment"].values for beyond in (0.0, 3.0))
    assert np.linalg.norm(wrong - right, axis=-1) == pytest.approx(3.0, abs=1e-6)


def wavy(folder: Path, loads: str) -> list[Finding]:
    """Findings on moments of a moving forearm that differ by 3 N m from inverse dynamics, by no factor or delay."""
    angle = 0.6 + 0.3 * np.sin(2.0 * np.pi * TIME)
    moment = 2.0 + 3.0 * np.cos(14.0 * TIME)
    table = Table(TIME, ("flexion_moment",), moment[:, None], False, Path())
    body = measured_model(save_forearm(folder), {"time": TIME, "flexion": angle}, table, loads=loads or None)
    return [each for each in findings_of_body(body) if each.code == "moments_differ"]


def test_moments_that_disagree_with_stated_loads_are_a_warning(tmp_path: Path) -> None:
    (unstated,), (stated,) = (wavy(tmp_path, loads) for loads in ("", "none"))
    assert unstated.severity == "note" and 'loads = "none"' in unstated.remedy
    assert stated.severity == "warning" and "without loads" in stated.what
    assert 'loads = "none"' not in stated.remedy and "they are computed" in stated.remedy


@pytest.mark.parametrize("arrays", [True, False])
def test_without_feet_the_note_names_the_option_that_states_the_loads(tmp_path: Path, arrays: bool) -> None:
    moment = np.full(len(TIME), 2.0)
    table = Table(TIME, ("flexion_moment",), moment[:, None], False, Path())
    motion = {"time": TIME, "flexion": np.full(len(TIME), ANGLE)}
    given = {"flexion": moment} if arrays else table
    result = ms.share_model(save_forearm(tmp_path), motion, given, cutoff_hz="none")
    (note,) = [note for note in result.attrs["notes"] if "No contact forces" in note]
    assert "--loads none" in note and "feet" not in note
    assert plausible(result).why_not_known == "no contact forces are known (see the notes)"
