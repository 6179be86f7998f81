"""The steps Check and Run: where a finding leads, what is computed, and what an end leaves."""

from __future__ import annotations

import contextlib
import shlex
import shutil
from pathlib import Path
from threading import Event
from typing import Any

import pytest
import xarray as xr
from command_line import typed
from package_tables import trial_tables
from refusals import refused

from musclesolve import costs, read_result, read_trial
from musclesolve._util.worker_pool import DONE
from musclesolve.apps.desk import runner as running
from musclesolve.apps.desk import tasks
from musclesolve.apps.desk.desk import Desk, RunOptions
from musclesolve.apps.desk.result_facts import result_facts
from musclesolve.apps.desk.steps import check_step, result_step, run_step
from musclesolve.apps.desk.view import what_of
from musclesolve.apps.desk.words import by_click
from musclesolve.constants import USUAL_COST
from musclesolve.data import reference_stride
from musclesolve.errors import BusyError, InputError
from musclesolve.laboratory.results.finding import Finding, Where
from musclesolve.laboratory.results.judgement import Report

STEPS = ("files", "subject", "markers", "plates", "events", "emg", "check", "result")


def test_what_is_missing_is_entered_at_its_field():
    fault = 'trial.toml, line 5: \'sex\' is missing\n  remedy: add a line sex = "female" or "male"\n  more'
    assert by_click(fault) == "trial.toml, line 5: 'sex' is missing\n  remedy: enter it at its field\n  more"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("strength in [muscles], else 30 N m [N m]", "“Muscles: Strength”, else 30 N m [N m]"),
        ("[time] start_s: 5 s is late", "“Time: Start [s]”: 5 s is late"),
        ("remove it from [emg.channels]", "remove it from “EMG”"),
        ("state it as point_unit in [[force]]", "state it as “Force: Point unit”"),
        ("leave [time] out", "leave “Time” out"),
        ("the line of the channel in [emg]", "the line of the channel in “EMG”"),
    ],
)
def test_keys_of_the_trial_file_are_shown_in_words(said, shown):
    assert by_click(said) == shown


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk on a copy of the bundled stride."""
    shutil.copytree(reference_stride().parent, tmp_path / "walk")
    return Desk(tmp_path / "walk")


def test_the_trials_of_a_folder_are_files_with_the_table_files(desk: Desk) -> None:
    folder = desk.folder.path
    (folder / "study.toml").write_text('trials = "trials.csv"\n', encoding="utf-8")
    (folder / "broken.toml").write_text("[files\n", encoding="utf-8")
    assert [path.name for path in desk.trials] == ["trial.toml"]


def test_a_choice_that_is_missing_is_named_with_its_choices(desk: Desk) -> None:
    text = (desk.folder.path / "trial.toml").read_text(encoding="utf-8").replace('sex = "male"\n', "")
    (desk.folder.path / "trial.toml").write_text(text, encoding="utf-8")
    with refused("missing_key", "segment masses") as error:
        read_trial(desk.folder.path / "trial.toml")
    assert "female" in error.value.expected and "male" in error.value.expected


class Given:
    """A process that keeps what it is given, and sends what it is said to."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.tasks: list[Any] = []
        self.sent: list[tuple[str, Any]] = []
        self.may_end = Event()

    def give(self, task: Any) -> bool:
        self.tasks.append(task)
        return True

    def news(self) -> list[tuple[str, Any]]:
        sent, self.sent = self.sent, []
        return sent

    def end(self) -> None:
        assert self.may_end.wait(10.0)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[Given]:
    """The processes that runners have started."""
    made: list[Given] = []
    monkeypatch.setattr(running, "Helper", lambda *a, **k: made.append(Given()) or made[-1])
    return made


# ---- Check


@pytest.mark.parametrize(
    ("where", "step", "looks_at"),
    [
        (Where(markers=("RASI",), times=((0.5, 0.6),)), "markers", (("RASI",), 0.5, None)),
        (Where(plate="left", times=((1.0, 1.2),)), "plates", ((), 1.0, "l")),
        (Where(field="[[force]] side", plate="right"), "plates", ((), None, "r")),
        (Where(times=((0.25, 0.3),)), "events", ((), 0.25, None)),
        (Where(field="[subject] mass_kg", line=4), "subject", ((), None, None)),
        (Where(field="[sharing] cost"), "result", ((), None, None)),
    ],
)
def test_a_finding_leads_to_the_step_that_shows_its_place(where, step, looks_at):
    name, focus = check_step.target(where, STEPS)
    assert (name, (focus.markers, focus.time, focus.side)) == (step, looks_at)


def test_where_no_step_shows_the_place_it_is_the_text_of_the_trial_file():
    assert check_step.target(Where(file=Path("trial.toml"), line=3), STEPS) is None
    assert check_step.target(Where(field="[fascicle] file"), STEPS) is None
    assert check_step.target(Where(markers=("RASI",)), ("files", "result")) is None


def test_steps_are_named_for_tables_that_exist():
    assert set(check_step.STEP_OF) <= set(trial_tables())
    assert set(check_step.STEP_OF.values()) <= set(STEPS)


def test_what_check_says_holds_for_the_text_that_it_looked_at(desk, processes):
    assert check_step.state(desk) == "open"
    desk.check()
    (process,) = processes
    name, arguments = process.tasks[0]
    process.sent = [(DONE, tasks.TASKS[name](lambda *_: None, **arguments))]
    assert desk.runner.poll()
    assert isinstance(desk.checked, Report) and check_step.state(desk) == "done"
    desk.state_all({("subject", "mass_kg"): 3000.0})
    assert desk.checked is None and check_step.state(desk) == "open"


def test_a_decision_leaves_what_check_said(desk):
    with desk.changing() as trial:
        trial.write("# TODO: look at the name\n" + trial.text)
    desk._checked = desk.trial.settings, Report(desk.trial.path, ())
    assert check_step.state(desk) == "warning"  # no green for what is left to decide
    with desk.changing() as trial:
        trial.decided(trial.opens[0])
    assert not desk.trial.opens and desk.checked is not None and check_step.state(desk) == "done"


def test_a_check_that_fails_says_why_and_is_a_fault(desk, processes):
    desk.check()
    error = InputError("a fault", code="bad_value")
    processes[0].sent = [(DONE, error)]
    desk.runner.poll()
    assert desk.checked is error and check_step.state(desk) == "fault"


# ---- Run


def test_every_cost_is_offered_with_its_use_the_usual_one_first():
    assert next(iter(run_step.cost_names())) == USUAL_COST
    assert set(run_step.cost_names()) == set(costs())
    assert all(record.use[1:] in run_step.about_cost(name) for name, record in costs().items())
    assert all(record.formula in run_step.about_cost(name) for name, record in costs().items())
    assert "exponent=3" in run_step.about_cost("activation_power(exponent=3)")
    assert "exponnt" in run_step.about_cost("activation_power(exponnt=3)")


def test_the_command_line_that_is_shown_gives_the_same_numbers(desk, processes):
    desk.options = RunOptions(side="r", figures=False)
    desk.run()
    name, arguments = processes[0].tasks[0]
    (path,) = tasks.TASKS[name](lambda *_: None, **arguments)
    ours = read_result(path)
    path.unlink()
    with contextlib.chdir(desk.folder.path):
        done = typed(*shlex.split(desk.command)[1:])
    assert done.exit_code == 0, done.output
    xr.testing.assert_identical(read_result(path), ours)
    said = result_facts(path)
    printed = [" ".join(line.split()) for line in done.output.splitlines()]
    assert all(" ".join(f"{subject} {words}".split()) in printed for subject, words in said.summary)
    assert result_step.state(desk) in ("done", "warning", "fault")
    desk.state_all({("sharing", "cost"): "stress_cubed"})
    assert desk.changed_inputs == ["trial.toml"] and result_step.state(desk) == "open"


def test_every_option_is_in_the_command_line_and_in_the_task(desk, processes):
    desk.options = RunOptions("l", figures=False, samples=200)
    desk.run()
    _, arguments = processes[0].tasks[0]
    assert (arguments["options"], arguments["figures"], arguments["samples"]) == ({"side": "l"}, False, 200)
    assert desk.command == "musclesolve run trial.toml -o results/trial --side l --uncertainty 200"


def test_an_error_is_a_fault_of_the_text_that_it_is_of(desk, processes):
    desk.run()
    processes[0].sent = [(DONE, InputError("a fault", code="bad_value"))]
    desk.runner.poll()
    assert desk.run_failure is not None and result_step.state(desk) == "fault"
    desk.state_all({("sharing", "cost"): "stress_cubed"})
    assert desk.run_failure is None and result_step.state(desk) == "open"


def test_a_run_waits_for_the_check_that_is_on_its_way(desk, processes):
    check, run = desk.check(), desk.run()
    assert desk.runner.task is check and len(processes[0].tasks) == 1
    processes[0].sent = [(DONE, {"findings": []})]
    desk.runner.poll()
    assert check.succeeded and desk.runner.task is run and processes[0].tasks[1][0] == "run"


def test_a_canceled_run_ends_at_once_and_the_next_waits_for_its_files(desk, processes):
    seen: list[str] = []
    desk.listen("window", seen.append)
    task = desk.run()
    desk.check()  # waits
    with pytest.raises(BusyError):
        desk.check()
    desk.cancel()
    assert task.canceled and not desk.runner.busy and set(seen) == {"task"}
    desk.run()
    first, second = processes
    desk.runner.poll()
    assert not second.tasks, "the process that was canceled still has the folder"
    first.may_end.set()
    desk.runner._ending.join(10.0)
    desk.runner.poll()
    assert [name for name, _ in second.tasks] == ["run"]


def test_a_finding_on_other_markers_is_not_the_one_that_was_mended() -> None:
    one, other, later = (
        Finding("labels_exchanged", "error", "", "", Where(markers=names, times=((0.1, end),)))
        for names, end in ((("A", "B"), 0.2), (("C", "D"), 0.2), (("B", "A"), 0.3))
    )
    assert what_of(one) == what_of(later) != what_of(other)
