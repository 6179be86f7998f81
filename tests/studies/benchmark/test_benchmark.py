"""The benchmark runs, prints and writes; its figures are about the right things. No time is looked at."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest
from command_line import typed
from many_trials import write_stride
from refusals import refused
from rich.console import Console

from musclesolve.sharing.solver import solver_registry as registry
from musclesolve.sharing.solver.scipy_solvers import Slsqp
from musclesolve.studies.benchmark import benchmark as study
from musclesolve.studies.benchmark import measure as measuring
from musclesolve.studies.benchmark.measure import (
    Latency,
    Memory,
    NoResultError,
    Row,
    SingleFrame,
    affordable,
    contest,
    in_fresh_process,
    measure,
    measured,
    random_problem,
    single_frames,
    with_ratios,
)


def test_the_command_prints_and_writes(tmp_path):
    out = tmp_path / "out"
    trial = str(write_stride(tmp_path))
    arguments = [
        "benchmark",
        trial,
        "--frames",
        "2",
        "--solver",
        "batch",
        "--cost",
        "force_squared",
        "-o",
        str(out),
    ]
    done = typed(*arguments)
    assert done.exit_code == 0, done.output
    for title in ("force_squared: recorded leg", "random leg, 7 moments, 43", "one frame by itself"):
        assert title in done.output
    rows = list(csv.DictReader(io.StringIO((out / "solvers.csv").read_text())))
    assert [(row["solver"], row["solved"], row["ratio"]) for row in rows] == [("batch", "2", "1.0")] * 2
    assert all(float(row["gap"]) <= 1e-9 and float(row["us_per_frame"]) > 0 for row in rows)
    assert "numpy" in json.loads((out / "machine.json").read_text())


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--solver", "ipot"], "'ipopt'"),
        (["--cost", "force"], "'force'"),
        (["--frames", "0"], "frames"),
        (["nowhere.toml"], "nowhere.toml"),
    ],
)
def test_what_is_not_there_is_refused(arguments, part):
    done = typed("benchmark", *arguments)
    assert done.exit_code == 2 and part in done.stderr


def test_combinations_without_a_measurement_are_refused():
    with refused("duplicate_name", "solver"):
        study.benchmark(solvers=("batch", "batch"))
    with refused("duplicate_name", "cost"):
        study.benchmark(costs=("min_max", "min_max"))
    with refused("bad_type", "Slsqp", "musclesolve.solvers"):
        study.benchmark(solvers=(Slsqp(),))
    with refused("unfit_solver", "linprog, stress_cubed"):
        study.benchmark(solvers=("linprog",), costs=("stress_cubed",))


@pytest.mark.parametrize("cost", ["muscle_power", "emg_tracking", "stress_cubed"])
def test_a_single_frame_has_the_data_that_its_cost_needs(cost):
    found = single_frames(random_problem(3, 3, 9), cost, "batch")
    assert found.solving.calls == found.with_problem.calls == 3


@pytest.mark.thorough
@pytest.mark.parametrize(("solver", "cost"), [("slsqp", "force_squared"), ("linprog", "min_max")])
def test_every_kind_of_solver_is_measured(solver, cost):
    found = measured(random_problem(3, 3, 9), cost, solver, 0.01)
    assert found["solved"] == found["frames"] >= 1 and found["gap"] <= 1e-9 and not found["remark"]


@pytest.mark.thorough
def test_failures_stay_in_the_table(monkeypatch):
    problem = random_problem(2, 3, 9)
    absent = registry.SolverRecord(**(vars(registry.REGISTRY["slsqp"]) | {"packages": ("no_such_package",)}))
    monkeypatch.setitem(registry.REGISTRY, "slsqp", absent)

    def too_slow(function, *arguments, limit):
        raise NoResultError("no result within 3 s")

    monkeypatch.setattr(measuring, "in_fresh_process", too_slow)
    rows = contest("leg", problem, ("force_squared",), ("batch", "slsqp", "linprog"), 0.1)
    assert [(row.solver, row.remark) for row in rows] == [
        ("batch", "no result within 3 s"),
        ("slsqp", "not installed (no_such_package)"),
    ]
    lacking = measured(problem, "joint_reaction_squared", "batch", 0.01)
    assert "reaction_matrix" in lacking["remark"]


def test_a_process_that_fails_says_how():
    assert in_fresh_process(with_ratios, [], limit=60.0) == []
    with pytest.raises(NoResultError, match="no attribute"):
        in_fresh_process(with_ratios, ["no row"], limit=60.0)
    with pytest.raises(NoResultError):
        in_fresh_process(with_ratios, [], limit=0.001)


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
    found = Latency.from_seconds(np.arange(1001.0))
    assert (found.median, found.slow, found.worst, found.calls) == (500.0, 990.0, 1000.0, 1001)


def test_a_measurement_calls_once_and_then_as_often_as_the_budget_allows():
    calls = []
    fastest, value = measure(lambda: calls.append(len(calls)) or len(calls), repeats=4)
    assert len(calls) == 5 and value == 5 and 0.0 < fastest < np.inf
    measure(lambda: calls.clear(), repeats=100, budget=0.0)
    assert not calls


def test_affordable_grows_to_all_frames_or_stops():
    asked = []
    assert affordable(asked.append, 1000, 1e9) == 1000
    assert asked == [1, 10, 100]
    assert affordable(asked.append, 1000, 0.0) == 1


@pytest.mark.thorough
def test_memory_counts_what_is_taken_after_it():
    """A system short of memory may take pages of the process away meanwhile: one of three attempts is enough."""
    found = []
    for _ in range(3):
        memory = Memory()
        taken = np.ones(10_000_000)
        found.append(memory.grown())
        assert taken.nbytes == 80_000_000
        del taken
        if 75.0 < found[-1] < 200.0:
            break
    if sys.platform == "linux":
        assert any(75.0 < grown < 200.0 for grown in found), found
    else:
        assert all(np.isnan(grown) or grown >= 0.0 for grown in found)


def test_numbers_are_short():
    found = [study.number(value) for value in (12345.6, 99.94, 0.01234, np.nan)]
    assert found == ["12346", "99.9", "0.0123", "-"]


def test_tables_show_failures_within_80_columns():
    rows = [Row("recorded leg", 5, 43, "a", "batch", 10, 9.0, 0.1, 10, 1e-9, 8.0, 1.0, 1.0)]
    rows += [Row("recorded leg", 5, 43, "a", "daqp", remark="not installed (daqp)")]
    single = [SingleFrame("a", Latency.from_seconds([1e-4] * 3), Latency.from_seconds([2e-4] * 3))]
    found = study.BenchmarkReport({"processor": "P"}, rows, single)
    out = io.StringIO()
    for table in [*study.tables(found), study.side_by_side(rows, sizes=True)]:
        Console(file=out, width=80).print(table)
    assert "daqp: not installed (daqp)" in out.getvalue()
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert set(study.files(found)) == {"solvers.csv", "solvers.png", "single.csv", "machine.json"}
