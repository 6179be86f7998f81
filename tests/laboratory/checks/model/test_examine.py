"""Faults of loads, coordinates and gravity of public walks are named; the files as they are have true findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from measured_model import measured_model
from recorded_data import recorded

import musclesolve as ms
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.results.finding import Finding
from musclesolve.models.opensim.external_loads import ExternalLoad
from musclesolve.models.opensim.load_dynamics import load_dynamics
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.tables.opensim_text import read_mot, write_mot

WALKS = "overground", "service"
TRUE = {"overground": ["contact_without_force"], "service": ["mass", "unbalanced"]}
"""Walk -> findings on its files: a first step beside the plates; a model of 75.3 kg of a person of 95 kg."""


def files(name: str) -> tuple[Path, Path, Path]:
    walk, service = recorded("rajagopal_walk"), recorded("addbiomechanics/opencap_subject")
    reference = walk / "reference"
    model = reference / "rajagopal_lai_uhlrich_2023_scaled.osim"
    return {
        "overground": (model, reference / "opensim_ik.mot", walk / "walk_grf.mot"),
        "service": (
            service / "Models" / "final.osim",
            service / "IK" / "walking2_ik.mot",
            service / "ID" / "walking2_grf.mot",
        ),
    }[name]


@cache
def walk(name: str) -> ModelBody:
    model, coordinates, loads = files(name)
    return measured_model(model, coordinates, loads=loads)


def with_loads(name: str, change: Callable[[ExternalLoad], ExternalLoad]) -> list[Finding]:
    body = walk(name)
    assert body.dynamics is not None
    loads = [change(load) for load in body.dynamics.loads]
    return findings_of_body(replace(body, dynamics=load_dynamics(body.model, body.motion, loads)))


def other(body: str) -> str:
    return body[:-1] + {"r": "l", "l": "r"}[body[-1]]


def scaled(factor: float, *parts: str) -> Callable[[ExternalLoad], ExternalLoad]:
    return lambda load: replace(load, **{part: factor * getattr(load, part) for part in parts})


def delayed(by: float) -> Callable[[ExternalLoad], ExternalLoad]:
    """The load at later times, with its first and last values before and after it."""

    def change(load: ExternalLoad) -> ExternalLoad:
        longer = {
            part: np.pad(getattr(load, part), ((1, 1), (0, 0)), "edge")
            for part in ("force", "point", "moment")
        }
        return replace(
            load, time=np.concatenate([load.time[:1] - 1.0, load.time + by, load.time[-1:] + 1.0]), **longer
        )

    return change


def turned(axes: np.ndarray) -> Callable[[ExternalLoad], ExternalLoad]:
    return lambda load: replace(
        load, force=load.force @ axes, point=load.point @ axes, moment=load.moment @ axes
    )


Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
FAULTS = {
    "on the tibia": (lambda load: replace(load, body=f"tibia{load.body[-2:]}"), "load_body", "applied_to_body"),
    "on the pelvis": (lambda load: replace(load, body="pelvis"), "load_body", "applied_to_body"),
    "on the other foot": (lambda load: replace(load, body=other(load.body)), "plates_swapped", "nearest"),
    "both on one foot": (lambda load: replace(load, body="calcn_r"), "plates_swapped", "nearest"),
    "in kN": (scaled(0.001, "force"), "force_units", "kilonewtons"),
    "points in mm": (scaled(1000.0, "point"), "point_units", "millimeters"),
    "moments in N mm": (scaled(1000.0, "moment"), "moment_units", "newton millimeters"),
    "50 ms late": (delayed(0.05), "time_offset", "late against the coordinates"),
    "50 ms early": (delayed(-0.05), "time_offset", "early against the coordinates"),
    "with z up": (turned(Z_UP), "plate_axes", "x = +x, y = "),
    "one and a half times": (scaled(1.5, "force", "moment"), "mass", "the mass of the model is"),
    "without force": (scaled(0.0, "force"), "contact_without_force", "no load exceeds 20 N"),
}  # fmt: skip


@pytest.mark.in_part(12)
@pytest.mark.parametrize("name", WALKS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_loads_is_the_only_error_and_states_newton_meters(fault: str, name: str) -> None:
    change, code, part = FAULTS[fault]
    errors = [found for found in with_loads(name, change) if found.severity == "error"]
    assert errors and {found.code for found in errors} == {code}
    assert all(part in f"{found.what} {found.remedy}" for found in errors)
    if code not in ("contact_without_force",):
        assert all(found.cost is not None and found.cost.size > 10.0 for found in errors)


@pytest.mark.parametrize("name", WALKS)
def test_loads_as_they_are_have_true_findings_alone(name: str) -> None:
    found = findings_of_body(walk(name))
    assert sorted({each.code for each in found}) == TRUE[name] and "error" not in {
        each.severity for each in found
    }


def test_a_delay_is_found_to_some_milliseconds() -> None:
    (found,) = [each for each in with_loads("overground", delayed(0.05)) if each.code == "time_offset"]
    shown = float(found.what.split(" ms ")[0].split()[-1])
    assert abs(shown - 50.0) < 10.0


def test_radians_called_degrees_and_millimeters_called_meters_are_errors_and_hide_what_follows() -> None:
    model, coordinates, _ = files("overground")
    table = read_mot(coordinates)
    names = np.array(table.names)
    translations = np.isin(names, ["pelvis_tx", "pelvis_ty", "pelvis_tz"])
    radians = replace(table, values=np.where(translations, table.values, np.radians(table.values)))
    millimeters = replace(table, values=np.where(translations, 1000.0 * table.values, table.values))
    for wrong in (radians, millimeters):
        body = measured_model(model, wrong, recorded("rajagopal_walk") / "reference" / "opensim_id.sto")
        assert [each.code for each in findings_of_body(body) if each.severity == "error"] == ["angle_units"]


def test_another_gravity_is_named() -> None:
    model, coordinates, _ = files("overground")
    moon = replace(ms.read_osim(model), gravity=np.array([0.0, -1.62, 0.0]))
    moments = recorded("rajagopal_walk") / "reference" / "opensim_id.sto"
    found = findings_of_body(measured_model(moon, coordinates, moments))
    assert "gravity of the model is 1.62 m/s2" in next(each.what for each in found if each.code == "gravity")


@pytest.mark.parametrize(("cutoff", "effect"), [(40.0, "leaves noise"), (2.0, "takes away part")])
def test_an_unusual_cut_off_is_noted(cutoff: float, effect: str) -> None:
    model, coordinates, loads = files("service")
    found = findings_of_body(measured_model(model, coordinates, loads=loads, cutoff_hz=cutoff))
    (said,) = [each for each in found if each.code == "cutoff"]
    assert effect in said.what and said.severity == "note"


def test_columns_that_name_the_other_foot_are_a_warning(tmp_path: Path) -> None:
    """Forces act where they act; whether columns or legs are exchanged is for a person to see."""
    model, coordinates, loads = files("overground")
    table = read_mot(loads)
    names = tuple(
        name.replace("_r_", "_?_").replace("_l_", "_r_").replace("_?_", "_l_") for name in table.names
    )
    write_mot(tmp_path / "exchanged.mot", replace(table, names=names))
    right, exchanged = (
        measured_model(model, coordinates, loads=path) for path in (loads, tmp_path / "exchanged.mot")
    )
    assert right.dynamics is not None and exchanged.dynamics is not None
    np.testing.assert_allclose(exchanged.moment, right.moment, atol=1e-4)
    found = [each for each in findings_of_body(exchanged) if each.code == "load_names"]
    assert len(found) == 2 and all(
        each.severity == "warning" and "legs of the coordinates" in each.remedy for each in found
    )
    assert not [each for each in findings_of_body(right) if each.code == "load_names"]
