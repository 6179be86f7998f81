"""Measured fascicle lengths in the summary and the JSON document."""

from __future__ import annotations

import json

from report_inputs import small
from said import run_document, summary
from synthetic_result import with_fascicles

from musclesolve.cli.printing import json_text
from musclesolve.laboratory.results.facts import Facts


def test_each_muscle_has_a_line():
    data = with_fascicles(small())
    lines = summary(data).splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("fascicles"))
    for line, fact, shown in zip(
        lines[first:], Facts(data).fascicles.values(), ("5.0 mm", "2.0 mm"), strict=False
    ):
        assert fact.muscle in line and f"rms {shown}" in line and "r 1.00" in line and "to 3 mm" in line
    assert not any(line.startswith("fascicles") for line in summary(small()).splitlines())


def test_the_document_has_a_key_in_any_case():
    found = json.loads(json_text(run_document(with_fascicles(small()))))["fascicles"]
    assert list(found) == ["US1", "US2"]
    assert found["US1"]["rms_error_m"] == 0.005 and found["US1"]["correlation"] == 1.0
    assert json.loads(json_text(run_document(small())))["fascicles"] is None
