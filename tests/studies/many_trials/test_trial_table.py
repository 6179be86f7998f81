"""The lines on many trials: numbers checked by hand, the width, the exit code."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from synthetic_result import MASS, WEIGHT, result, set_status

from musclesolve import Status
from musclesolve.cli.tables.trial_tables import exit_code_of, trials_remarks, trials_table
from musclesolve.laboratory.results.plausibility import with_verdict
from musclesolve.studies.many_trials.trial_record import Measures, Outcome, TrialRecord, csv_bytes

JUDGED = "walking", "plausible", "right hip 4.3 BW", "usable", []
UNKNOWN = "unknown", "not known", "none", "with_care", ["4 of 100 frames have no valid solution"]
FINE = Measures(1000, 0, 0, 476, 12.34, {"hip": 4.26, "knee": 3.0, "ankle": 6.0}, *JUDGED)
BAD = Measures(90, 6, 4, 0, 123.4, {"hip": np.nan, "knee": np.nan, "ankle": np.nan}, *UNKNOWN)


def record(name: str, outcome: Outcome, measures: Measures | None = None, message: str = "") -> TrialRecord:
    return TrialRecord(name, Path(f"/in/{name}.toml"), Path(f"/out/{name}"), outcome, 12.3, measures, message)


def test_measures_of_a_result():
    data = result()
    set_status(data, Status.SOLVED_WITH_RESERVE, slice(5, 8), 0)
    set_status(data, Status.INFEASIBLE, slice(7, 9), 1)
    found = Measures.from_result(with_verdict(data))
    assert (found.solved, found.with_reserve, found.without_solution, found.not_measured) == (115, 3, 2, 0)
    assert (found.movement, found.plausibility) == ("walking", "plausible")
    assert found.residual_percent == pytest.approx(100.0 * 7.0 * np.sqrt(3.0) / (MASS * 9.80665))
    assert found.contact["knee"] == pytest.approx(3.0 * np.hypot(np.hypot(30.0, 5.0), WEIGHT) / WEIGHT)


@pytest.mark.parametrize("measures", [FINE, BAD])
def test_measures_are_kept_as_text(measures):
    assert str(Measures.from_json(measures.as_json())) == str(measures)  # NaN is not NaN, but looks alike
    assert all(Measures.from_json(text) is None for text in ("", "3", "{}", '{"solved": 1}'))


def test_forces_of_frames_without_a_solution_do_not_count():
    data = result(sides="r")
    set_status(data, Status.INFEASIBLE, 5)
    data["joint_reaction"][5] = 1e9
    assert max(Measures.from_result(with_verdict(data)).contact.values()) < 4.0
    set_status(data, Status.INFEASIBLE, slice(None))
    assert np.isnan(list(Measures.from_result(with_verdict(data)).contact.values())).all()


def test_the_table_fits_on_a_terminal():
    records = [
        record("subject_12-barefoot_walk_03", Outcome.UNCHANGED, FINE),
        record("bad", Outcome.COMPUTED, BAD),
        record("no", Outcome.REFUSED),
        record("again", Outcome.REFUSED_BEFORE),
    ]
    out = Console(width=80, file=io.StringIO(), markup=False)
    out.print(trials_table(records))
    text = out.file.getvalue()
    assert "…" not in text and max(map(len, text.splitlines())) <= 80
    folded = "".join(line.split(" ")[1] for line in text.splitlines() if line.strip())
    assert "subject_12-barefoot_walk_03" in folded.replace("\n", "")
    assert all(
        word in text for word in ("1000", "476", "123.4", "4.3", "unchanged", "REFUSED", "12.3", "before")
    )
    out = Console(width=80, file=io.StringIO(), markup=False)
    out.print(trials_table([record("S02 Gehen 3 (wdh)", Outcome.COMPUTED, FINE)]))
    assert "S02 Gehen 3 (wdh)" in out.file.getvalue()  # in one line: no frame failed or needed a reserve
    assert "meas." in out.file.getvalue() and "failed" not in out.file.getvalue()


def test_the_reason_is_that_of_a_verdict_with_a_doubt():
    assert FINE.why == "" and BAD.why == "4 of 100 frames have no valid solution"
    assert replace(BAD, findings=[]).why == "none"


def test_the_file_has_every_trial_and_its_message():
    records = [record("a", Outcome.COMPUTED, FINE), record("b", Outcome.REFUSED, None, 'line 3: "x", no')]
    rows = list(csv.DictReader(io.StringIO(csv_bytes(records).decode())))
    assert [row["name"] for row in rows] == ["a", "b"]
    assert rows[0]["leg_frames_solved"] == "1000" and rows[0]["peak_hip_contact_force_body_weights"] == "4.26"
    assert rows[1]["leg_frames_solved"] == "" and rows[1]["message"] == 'line 3: "x", no'
    assert (rows[0]["movement"], rows[0]["plausibility"]) == ("walking", "plausible")
    assert rows[0]["plausibility_reason"] == "right hip 4.3 BW"
    assert None not in rows[0] and None not in rows[1].values()


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([record("a", Outcome.COMPUTED, FINE), record("b", Outcome.UNCHANGED, FINE)], 0),
        ([record("a", Outcome.COMPUTED, FINE), record("b", Outcome.UNCHANGED, BAD)], 3),
        ([record("a", Outcome.COMPUTED, FINE), record("b", Outcome.REFUSED)], 3),
        ([record("a", Outcome.REFUSED), record("b", Outcome.FAILED)], 3),
        ([record("a", Outcome.REFUSED), record("b", Outcome.REFUSED)], 2),
        ([record("a", Outcome.REFUSED), record("b", Outcome.REFUSED_BEFORE)], 2),
    ],
)
def test_exit_codes(records, code):
    assert exit_code_of(records) == code
    text = "\n".join(trials_remarks(records, Path("out")))
    assert "trials            2: " in text
    assert ("musclesolve average" in text) == all(each.outcome.has_result for each in records)


def test_results_of_other_trials_in_the_folder_are_named(tmp_path):
    records = [record("a", Outcome.COMPUTED, FINE)]
    for name in ("walk", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.nc").touch()
    (beside,) = [line for line in trials_remarks(records, tmp_path) if line.startswith("beside")]
    assert beside.split()[1] == "walk:"
