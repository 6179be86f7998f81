"""`musclesolve run` with several trials: what makes it many, what it prints, how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import typed
from many_trials import write_stride

from musclesolve.studies.many_trials.trial_record import Measures, Outcome, TrialRecord

PEAKS = {"hip": 3.0, "knee": 3.0, "ankle": 3.0}
FINE = Measures(13, 0, 0, 0, 0.1, PEAKS, "walking", "plausible", "", "usable", [])


@pytest.fixture
def call():
    return lambda *arguments: typed("run", *arguments)


@pytest.fixture
def many(monkeypatch):
    """In place of the computation: returns records and stores the arguments."""

    def replace(outcome):
        seen = {}

        def run_many(trials, output, **options):
            seen.update(options, trials=[str(each) for each in trials])
            if isinstance(outcome, BaseException):
                raise outcome
            return outcome

        monkeypatch.setattr("musclesolve.studies.many_trials.run_many.run_many", run_many)
        return seen

    return replace


def record(name: str, outcome: Outcome, message: str = "") -> TrialRecord:
    measures = FINE if outcome.has_result else None
    return TrialRecord(name, Path(name), Path("out", name), outcome, 1.0, measures, message)


@pytest.mark.parametrize(
    "arguments", [["a.toml", "b.toml"], ["a.toml", "--jobs", "1"], ["a.toml", "--again"], ["."]]
)
def test_what_makes_it_many(call, many, arguments):
    seen = many([record("a", Outcome.COMPUTED), record("b", Outcome.UNCHANGED)])
    done = call(*arguments, "-o", "out", "--cost", "force_squared", "--no-figures")
    assert done.exit_code == 0, done.output
    assert seen["trials"] == [each for each in arguments if each[0] != "-" and each != "1"]
    assert (seen["cost"], seen["side"], seen["figures"]) == ("force_squared", "both", False)
    assert all(word in done.output for word in ("computed", "unchanged", "trials.csv", "musclesolve average"))


def test_messages_stand_below_the_table_and_the_exit_code_tells(call, many):
    many([record("a", Outcome.COMPUTED), record("b", Outcome.REFUSED, "b.toml, line 3: no marker")])
    done = call("a.toml", "b.toml", "-o", "out")
    assert done.exit_code == 3
    assert "musclesolve: b: b.toml, line 3: no marker" in done.stderr
    many([record("b", Outcome.REFUSED, "no")])
    assert call("a.toml", "b.toml", "-o", "out").exit_code == 2


def test_ctrl_c_says_how_much_is_done(call, many):
    many(KeyboardInterrupt("stopped by Ctrl-C: 3 of 7 trials are done"))
    done = call("a.toml", "b.toml", "-o", "out")
    assert (done.exit_code, done.stderr) == (130, "musclesolve: stopped by Ctrl-C: 3 of 7 trials are done\n")


def test_one_trial_alone_without_figures(call, tmp_path):
    done = call(write_stride(tmp_path / "in"), "-o", tmp_path / "out", "--no-figures")
    assert done.exit_code == 0, done.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["result.nc"]
