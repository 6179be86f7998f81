"""The benchmark runs, prints and writes; its figures are about the right things. No time is looked at."""

from __future__ import annotations

import csv
import io
import json
import os
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from musclesolve.cli import app as cli
from musclesolve.sharing.solver import solver_registry as registry
from musclesolve.studies.benchmark import contest as contest_module
from musclesolve.studies.benchmark import figures, fresh, report, scaling, stages, tables
from musclesolve.studies.benchmark.bare import BARE
from musclesolve.studies.benchmark.contest import Row, contest, measured, with_ratios
from musclesolve.studies.benchmark.problems import random_problem
from musclesolve.studies.benchmark.single import Single
from musclesolve.studies.benchmark.stages import Stages
from musclesolve.studies.benchmark.timing import Memory, affordable, latency, measure, peak_memory


def test_the_command_prints_and_writes(tmp_path):
    out = tmp_path / "out"
    arguments = ["benchmark", "--frames", "2", "--solver", "batch", "--cost", "force_squared", "-o", str(out)]
    done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 0, done.output
    for said in (
        "force_squared: recorded leg",
        "random leg, 7 moments, 43",
        "one frame by itself",
        "warm: sharing",
    ):
        assert said in done.output
    rows = list(csv.DictReader(io.StringIO((out / "solvers.csv").read_text())))
    assert [(row["solver"], row["solved"], row["ratio"]) for row in rows] == [("batch", "2", "1.0")] * 2
    assert all(float(row["certificate"]) <= 1e-6 and float(row["us_per_frame"]) > 0 for row in rows)
    assert "numpy" in json.loads((out / "machine.json").read_text())
    assert (out / "solvers.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--solver", "ipot"], "did you mean 'ipopt'"),
        (["--cost", "force"], "there is no cost 'force'"),
        (["--frames", "0"], "whole number"),
        (["--solver", "batch", "--solver", "batch"], "named twice"),
        (["--solver", "daqp", "--cost", "stress_cubed"], "nothing to measure for daqp, stress_cubed"),
        (["nowhere.toml"], "nowhere.toml"),
    ],
)
def test_what_is_not_there_is_said_in_a_message(arguments, said):
    done = CliRunner().invoke(cli.app, ["benchmark", *arguments])
    assert done.exit_code == 2 and said in done.stderr


@pytest.mark.parametrize("solver", ["slsqp", "linprog", *BARE])
def test_every_kind_of_solver_is_measured(solver):
    if solver in BARE and not BARE[solver].installed:
        pytest.skip(f"needs {BARE[solver].package}")
    found = measured(
        random_problem(3, 3, 9), "min_max" if solver == "linprog" else "force_squared", solver, 0.01
    )
    assert (
        found["solved"] == found["frames"] >= 1 and found["certificate"] <= 1e-6 and not found.get("remark")
    )


def test_failures_stay_in_the_table(monkeypatch):
    problem = random_problem(2, 3, 9)
    absent = registry.SolverRecord(**(vars(registry.REGISTRY["slsqp"]) | {"packages": ("no_such_package",)}))
    monkeypatch.setitem(registry.REGISTRY, "slsqp", absent)

    def too_slow(function, *arguments, limit):
        raise fresh.NoAnswerError("no answer within 3 s")

    monkeypatch.setattr(contest_module, "in_fresh_process", too_slow)
    rows = contest("leg", problem, ("force_squared",), ("batch", "slsqp", "linprog"), 0.1)
    assert [(row.solver, row.remark) for row in rows] == [
        ("batch", "no answer within 3 s"),
        ("slsqp", "not installed (no_such_package)"),
    ]
    lacking = measured(problem, "joint_reaction_squared", "batch", 0.01)
    assert "reaction_matrix" in lacking["remark"]


def test_a_process_that_fails_says_how():
    assert fresh.in_fresh_process(latency, [1.0, 2.0], limit=60.0).calls == 2
    with pytest.raises(fresh.NoAnswerError, match="could not convert string"):
        fresh.in_fresh_process(latency, ["no time"], limit=60.0)
    with pytest.raises(fresh.NoAnswerError, match="within"):
        fresh.in_fresh_process(latency, [1.0], limit=0.001)
    with pytest.raises(fresh.NoAnswerError, match="ended with code 3"):
        stages._seconds("import os; os._exit(3)", os.environ)


def test_ratios_are_those_of_the_same_problem_and_cost():
    rows = [Row(problem, 1, 1, cost, solver, us_per_frame=time) for problem, cost, solver, time in CASES]
    found = [row.ratio for row in with_ratios(rows)]
    np.testing.assert_array_equal(found, [1.0, 4.0, 1.0, 0.5, np.nan])


CASES = [
    ("leg", "a", "batch", 10.0),
    ("leg", "a", "daqp", 40.0),
    ("leg", "b", "batch", 20.0),
    ("leg", "b", "daqp", 10.0),
    ("arm", "a", "daqp", 10.0),
]


def test_percentiles():
    found = latency(np.arange(1001.0))
    assert (found.median, found.slow, found.worst, found.calls) == (500.0, 990.0, 1000.0, 1001)


def test_a_measurement_calls_once_and_then_as_often_as_the_budget_allows():
    calls = []
    timing = measure(lambda: calls.append(len(calls)) or len(calls), repeats=4)
    assert len(calls) == 5 and timing.value == 5 and timing.best <= max(timing.first, timing.best)
    measure(lambda: calls.clear(), repeats=100, budget=0.0)
    assert not calls


def test_affordable_grows_to_all_frames_or_stops():
    asked = []
    assert affordable(asked.append, 1000, 1e9) == 1000
    assert asked == [1, 10, 100]
    assert affordable(asked.append, 1000, 0.0) == 1


def test_memory_counts_what_is_taken_after_it():
    before, memory = peak_memory(), Memory()
    taken = np.ones(10_000_000)
    grown = memory.grown()
    if sys.platform == "linux":
        assert 75.0 < grown < 200.0 and peak_memory() > 80.0
    else:
        assert np.isnan(grown) or 0.0 <= grown <= peak_memory() - before + 1.0
    assert taken.nbytes == 80_000_000


def test_growing_rows_stop_where_time_runs_out(monkeypatch):
    rows = scaling.growing("batch", "force_squared", [1, 3])
    assert [(row["frames"], row["solved"]) for row in rows] == [(1, 1), (3, 3)]
    monkeypatch.setattr(scaling, "LIMIT", 0.0)
    rows = scaling.growing("batch", "force_squared", [1, 3, 10])
    assert [row["frames"] for row in rows] == [1, 3] and "more than" in rows[-1]["remark"]
    monkeypatch.setattr(scaling, "BLOCK", 2)
    assert scaling._blocks("batch", "force_squared", 5)["solved"] == 5


def test_numbers_are_short():
    found = [tables.number(value) for value in (12345.6, 99.94, 0.01234, np.nan)]
    assert found == ["12346", "99.9", "0.0123", "-"]


def made_up():
    some = [Row("recorded leg", 5, 43, "a", "batch", 10, 9.0, 0.1, 10, 1e-9, 8.0, 1.0, 1.0)]
    some += [Row("recorded leg", 5, 43, "a", "daqp", remark="not installed (daqp)")]
    grown = [
        Row(kind, 7, size, "a", "batch", size, 9.0 + size, memory_mb=2.0 * size)
        for kind in ("frames", "muscles", "moments")
        for size in (20, 40)
    ]
    alone = [Single("a", latency([1e-4] * 3), latency([2e-4] * 3))]
    run = Stages(9, {"x": 0.2}, 90.0)
    return report.Report({"processor": "P"}, "walk.toml", some, alone, {"import": 0.1}, run, grown)


def test_tables_and_figures_show_failures_and_growth():
    found = made_up()
    out = io.StringIO()
    from rich.console import Console

    for table in tables.tables(found):
        Console(file=out, width=80).print(table)
    assert "daqp: not installed (daqp)" in out.getvalue() and "growing muscles" in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert set(tables.files(found)) == {
        "solvers.csv",
        "stages.csv",
        "growth.csv",
        "single.csv",
        "machine.json",
    }
    panels = figures.bars(found).axes
    assert any("not installed" in text.get_text() for text in panels[0].texts)
    assert len(figures.lines(found).axes[0].lines) == 1
    assert set(figures.figure_files(found)) == {"solvers.png", "growth.png"}
