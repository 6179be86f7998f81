"""Findings stored with results: each once with its trials, and what they mean for what counts."""

from __future__ import annotations

import json

import netCDF4

from musclesolve.results.finding import Cost, finding
from musclesolve.studies.study.study_findings import each_once, findings_of_result, unusable_legs


def rate(hertz: float, severity="warning", cost: float | None = None, side: str = ""):
    values = {"recording": "markers", "rate": hertz, "needed": 100.0}
    size = None if cost is None else Cost(cost, "N m", "knee_flexion_r")
    return finding("low_rate", severity, values, cost=size, side=side)


def test_findings_of_a_result_are_read_and_absent_ones_are_none(tmp_path):
    path = tmp_path / "result.nc"
    assert findings_of_result(path) == ()
    for text, count in ((None, 0), ("nonsense", 1), ('{"a": 1}', 1), (json.dumps([rate(50.0).as_dict()]), 1)):
        with netCDF4.Dataset(path, "w") as file:
            if text is not None:
                file.setncattr("findings", text)
        assert len(findings_of_result(path)) == count
    assert findings_of_result(path) == (rate(50.0),)


def test_each_fault_is_shown_once_with_its_trials():
    found = {"a": [rate(50.0, cost=2.0)], "b": [rate(40.0, cost=7.0), rate(45.0)], "c": [rate(30.0, "error")]}
    (first, of_first), (second, of_second) = each_once(found)
    assert (first.severity, of_first) == ("error", ("c",))
    assert (second.severity, of_second) == ("warning", ("a", "b"))
    assert second.cost is not None and second.cost.size == 7.0


def test_an_error_makes_its_leg_unusable():
    assert unusable_legs([rate(50.0)]) == {}
    assert set(unusable_legs([rate(50.0, "error", side="l")])) == {"l"}
    assert set(unusable_legs([rate(50.0, "error")])) == {"r", "l"}
