"""Laws of performance profiles, and the command on a small bank with a class of one's own."""

from __future__ import annotations

import csv
import json
import multiprocessing
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import profiles
from benchmarks.bank.__main__ import BUNDLED
from benchmarks.profiles import Row, profile, ratios, rows_of, tasks

COLUMN = {"study": "bank", "problem": "p", "cost": "force_squared", "solver": "s"}
TIMES = np.array(
    [[1.0, 4.0, np.inf, 2.0, np.inf], [2.0, 1.0, 5.0, np.inf, np.inf], [np.inf, 2.0, 5.0, 2.0, np.inf]]
)


def test_profiles_grow_and_end_at_the_share_that_is_solved() -> None:
    ratio, tau = ratios(TIMES), np.geomspace(1.0, 1e6, 50)
    curves = np.array([profile(own, tau) for own in ratio])
    assert (np.diff(curves, axis=1) >= 0.0).all()
    np.testing.assert_array_equal(curves[:, -1], np.isfinite(TIMES).mean(axis=1))
    np.testing.assert_array_equal(np.isinf(ratio), np.isinf(TIMES))


def test_at_one_the_shares_add_up_to_the_tasks_that_somebody_solves() -> None:
    ratio = ratios(TIMES)
    shares = np.array([profile(own, np.array([1.0]))[0] for own in ratio])
    anybody = np.isfinite(TIMES).any(axis=0).mean()
    assert shares.sum() >= anybody  # more where solvers are equally fast
    assert shares.sum() == pytest.approx(6 / 5)  # two tasks have two winners each
    solved_by_somebody = ratios(TIMES[:, :4])
    assert sum(profile(own, np.array([1.0]))[0] for own in solved_by_somebody) >= 1.0


def test_ratios_do_not_depend_on_the_unit_of_time() -> None:
    np.testing.assert_allclose(ratios(1e6 * TIMES), ratios(TIMES))


def test_tasks_without_a_row_or_unsolved_count_as_failures() -> None:
    size = {"frames": 2, "moments": 3, "muscles": 4, "tolerance": 1e-12}
    quick = Row(**COLUMN, **size, solved=True, us_per_frame=1.0)
    slow = Row(**COLUMN | {"solver": "slow"}, **size, solved=True, us_per_frame=3.0)
    alone = Row(**COLUMN | {"solver": "slow", "problem": "q"}, **size, solved=True, us_per_frame=3.0)
    wrong = Row(**COLUMN | {"problem": "q"}, **size, us_per_frame=0.1, remark="no certificate")
    kind, names, ratio = next(profiles.profiles([quick, slow, alone, wrong]))
    assert kind == profiles.QUADRATIC and names == ["s", "slow"]
    np.testing.assert_array_equal(ratio, [[1.0, np.inf], [3.0, 1.0]])


class Here:
    """This process in place of a fresh one; a call of a name in `hangs` does not return."""

    def __init__(self, hangs: str = "") -> None:
        self.hangs = hangs

    def apply_async(self, function, arguments):
        def get(patience: float) -> Row:
            if arguments[1].problem == self.hangs:
                raise multiprocessing.TimeoutError
            return function(*arguments)

        return SimpleNamespace(get=get)

    def terminate(self) -> None:
        pass


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> list[profiles.Task]:
    """Tasks of two problems, one partly out of reach, solved in this process with its output open."""
    monkeypatch.setattr(profiles, "fresh_process", Here)
    every = [task for task in tasks(BUNDLED) if task.study == "bank"]
    return [task for task in every if task.problem in ("opensim leg", "partly out of reach")]


def test_solvers_are_measured_by_their_certificates(few: list[profiles.Task]) -> None:
    found = rows_of("batch", few, 30.0)
    assert all(row.solved and row.gap <= 1e-9 and row.us_per_frame > 0.0 for row in found)
    quadratic = [task for task in few if task.cost == "force_squared"]
    rival = {row.problem: row for row in rows_of("daqp, bare", quadratic, 30.0)}
    assert all(row.solved for row in rival.values())  # it reports what is out of reach
    loose = [row for row in rows_of("ipopt, bare", [profiles.replace(quadratic[0], tolerance=1e-1)], 30.0)]
    assert not loose[0].solved and loose[0].gap > 1e-9 and "without certificate" in loose[0].remark


class Idle:
    """A solver that never answers right: activations of zero."""

    name = "idle"

    def solve(self, problem, cost, warm_start=None):
        from musclesolve.sharing.solver.solver_registry import Attempt

        attempt = Attempt.blank(problem)
        attempt.activation[:], attempt.multiplier[:] = 0.0, 0.0
        return attempt


class Broken(Idle):
    """A solver that raises."""

    name = "broken"

    def solve(self, problem, cost, warm_start=None):
        raise RuntimeError("no license")


def test_wrong_slow_and_broken_solvers_stay_in_the_table(few: list[profiles.Task]) -> None:
    reachable = [task for task in few if task.problem == "opensim leg"]
    wrong = rows_of(f"{__name__}:Idle", reachable, 30.0)
    assert {row.solver for row in wrong} == {"idle"} and not any(row.solved for row in wrong)
    broken = rows_of(f"{__name__}:Broken", reachable, 30.0)
    assert len(broken) == len(reachable) and all("no license" in row.remark for row in broken)
    slow = rows_of("slsqp", reachable[:1], 1e-6)
    assert not slow[0].solved and slow[0].remark == "more than 1e-06 s"


def test_a_solver_that_hangs_loses_that_task_alone(few: list[profiles.Task], monkeypatch) -> None:
    monkeypatch.setattr(profiles, "fresh_process", lambda: Here("opensim leg"))
    rows = rows_of("batch", few, 30.0)
    lost = [row for row in rows if row.problem == "opensim leg"]
    assert (
        len(rows) == len(few) and lost and all(not row.solved and "no result" in row.remark for row in lost)
    )
    assert all(row.solved for row in rows if row.problem != "opensim leg")


@pytest.mark.thorough
def test_the_command_writes_data_and_pictures(tmp_path, few, monkeypatch, capsys) -> None:
    every = [task for task in tasks(BUNDLED) if len(task.out_of_reach) <= 10]
    some = [task for task in every if task.study != "bank" and task.arrays["moment_arm"].shape[2] <= 43]
    some = [task for task in some if task.tolerance == profiles.TIGHT]
    monkeypatch.setattr(profiles, "tasks", lambda bank: [*few, *some])
    own = f"{__name__}:Idle"
    monkeypatch.setattr(
        sys, "argv", ["profiles", "-o", str(tmp_path), "--solver", own, "--solver", "daqp, bare, warm"]
    )
    monkeypatch.setattr(profiles, "console", profiles.console.__class__(width=200))
    profiles.main()
    assert "idle" in capsys.readouterr().out
    rows = list(csv.DictReader((tmp_path / "tasks.csv").read_text().splitlines()))
    assert {row["solver"] for row in rows} == {"batch", "idle", "daqp, bare, warm"}
    curves = list(csv.DictReader((tmp_path / "profiles.csv").read_text().splitlines()))
    ends = {(row["costs"], row["solver"]): float(row["share"]) for row in curves}
    assert ends[profiles.OTHER, "batch"] == 1.0 and ends[profiles.OTHER, "idle"] == 0.0
    assert "numpy" in json.loads((tmp_path / "machine.json").read_text())
    for name in ("profiles", "accuracy", "growth"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
