"""Findings stored with results: each once with its trials, and what they mean for what counts."""

from __future__ import annotations

import json

import netCDF4
import numpy as np

from musclesolve.laboratory.results.finding import Cost, Where, finding
from musclesolve.studies.study.study_findings import each_once, findings_of_result, of_kind, unusable


def rate(hertz: float, severity="warning", cost: float | None = None, side: str = ""):
    values = {"recording": "markers", "rate": hertz, "needed": 100.0}
    size = None if cost is None else Cost(cost, "N m", "knee_flexion_r")
    return finding("low_rate", severity, values, cost=size, side=side)


def test_findings_of_a_result_are_read(tmp_path):
    path = tmp_path / "result.nc"
    for text, count in ((None, 0), ("nonsense", 1), ('{"a": 1}', 1), (json.dumps([rate(50.0).as_dict()]), 1)):
        with netCDF4.Dataset(path, "w") as file:
            if text is not None:
                file.setncattr("findings", text)
            found = findings_of_result(file)
        assert len(found) == count
    assert found == (rate(50.0),)


def test_each_fault_is_shown_once_with_its_trials():
    found = {"a": [rate(50.0, cost=2.0)], "b": [rate(40.0, cost=7.0), rate(45.0)], "c": [rate(30.0, "error")]}
    (first, of_first), (second, of_second) = each_once(found)
    assert (first.severity, of_first) == ("error", ("c",))
    assert (second.severity, of_second) == ("warning", ("a", "b"))
    assert second.cost is not None and second.cost.size == 7.0


def test_findings_of_a_kind_keep_their_trials():
    worst, other, third = rate(40.0, cost=7.0), rate(45.0), rate(50.0, cost=2.0)
    found = {"a": [third], "b": [other, worst], "c": [rate(30.0, "error")]}
    assert of_kind(found, worst) == [("b", worst), ("a", third), ("b", other)]


def test_an_error_makes_its_leg_unusable():
    assert unusable([rate(50.0)]) == []
    assert [each.side for each in unusable([rate(50.0, "error", side="l")])] == ["l"]
    assert [each.side for each in unusable([rate(50.0, "error")])] == ["r", "l", "other"]


def test_an_error_at_an_instant_costs_the_cycles_with_this_instant():
    values = {"name": "RKNE", "size": 0.05, "limit": 0.02}
    leap = finding("leap", "error", values, Where(times=((3.9, 3.92),)), side="r")
    side, start, end = np.array(["r", "r", "l"]), np.array([2.0, 3.1, 3.0]), np.array([3.1, 4.2, 4.1])
    assert unusable([leap])[0].spoils(side, start, end).tolist() == [False, True, False]
    throughout = finding("low_rate", "error", {"recording": "markers", "rate": 9.0, "needed": 100.0},
                         Where(times=((3.9, 3.92),)), side="r")  # fmt: skip
    assert unusable([throughout])[0].spoils(side, start, end).tolist() == [True, True, False]
