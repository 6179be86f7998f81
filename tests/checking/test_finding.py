"""What a report looks like, and what the command prints."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import musclesolve as ms
import musclesolve.checking
from musclesolve.checking.finding import Finding, Report, Where, codes, sorted_findings
from musclesolve.cli.app import app
from musclesolve.synthetic.faults.faults import plant
from musclesolve.synthetic.faults.trial_copy import open_copy, write_copy

STRIDE = Path(ms.__file__).with_name("data") / "reference_stride" / "trial.toml"
RUNNER = CliRunner()


def test_the_most_serious_come_first_and_causes_before_consequences() -> None:
    given = [
        Finding("caution", "note", "a", "b"),
        Finding("mass", "error", "c", "d"),
        Finding("marker_units", "error", "e", "f"),
        Finding("leap", "warning", "g", "h"),
        Finding("mass", "error", "c", "d"),
    ]
    report = Report(Path("trial.toml"), sorted_findings(given))
    assert [f.code for f in report.findings] == ["marker_units", "mass", "leap", "caution"]
    assert not report.ok
    assert "2 errors, 1 warning, 1 note" in report.verdict


def test_a_place_is_told_in_words() -> None:
    where = Where(Path("a/walk.trc"), 7, None, ("R.Heel",), None, ((0.5, 0.5), (1.0, 1.25)))
    assert str(where) == "walk.trc, line 7, R.Heel, 0.50 s, 1.00 to 1.25 s"
    assert str(Where()) == ""


def test_the_command_says_all_and_ends_with_the_verdict() -> None:
    answer = RUNNER.invoke(app, ["check", str(STRIDE)])
    assert answer.exit_code == 0
    assert answer.stdout.strip().splitlines()[-1] == ms.check(STRIDE).verdict


def test_the_command_ends_with_2_where_there_is_an_error(tmp_path: Path) -> None:
    trial = plant("force_in_kilonewtons", STRIDE, tmp_path)
    answer = RUNNER.invoke(app, ["check", str(trial)])
    assert answer.exit_code == 2
    assert "force_units" in answer.stdout
    told = json.loads(RUNNER.invoke(app, ["check", str(trial), "--json"]).stdout)
    assert told["ok"] is False
    assert told["findings"][0]["code"] == "force_units"
    assert told["findings"][0]["where"]["file"].endswith("forces.mot")


def test_a_warning_alone_does_not_fail(tmp_path: Path) -> None:
    trial = plant("cutoff_too_low", STRIDE, tmp_path)
    assert RUNNER.invoke(app, ["check", str(trial)]).exit_code == 0
    assert ms.check(trial).codes == ("cutoff",)


def test_a_weight_of_what_the_recording_does_not_show_is_told(tmp_path: Path) -> None:
    trial = write_copy(open_copy(STRIDE), tmp_path)
    with trial.open("a", encoding="utf-8") as file:
        file.write("\n[consistency]\nweights = { knee = 2 }\n")
    (told,) = [finding for finding in ms.check(trial).findings if finding.severity == "error"]
    assert told.code == "trial_file" and told.where.field == "[consistency] weights" and "'knee'" in told.what


def test_what_is_no_path_is_refused() -> None:
    with pytest.raises(ms.InputError, match="not a path"):
        ms.check(3)  # type: ignore[arg-type]


def test_every_code_is_explained_and_used() -> None:
    source = "".join(
        file.read_text(encoding="utf-8") for file in Path(ms.checking.__file__).parent.rglob("*.py")
    )
    for code, about in codes().items():
        assert code.isidentifier()
        assert about
        assert f'"{code}"' in source, code
