"""The form of a report, and the output of the command."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from command_line import typed
from refusals import refused
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve.laboratory.results.finding import Cost, Finding, Where, codes, sorted_findings, texts
from musclesolve.laboratory.results.judgement import Report

STRIDE = Path(ms.__file__).with_name("data") / "reference_stride" / "trial.toml"
SOURCES = list(Path(ms.__file__).parent.rglob("*.py"))
NAMES = {code for code, entry in texts().items() if {"what", "remedy"} <= {*entry}} | {
    f"{code}.{case}" for code, entry in texts().items() for case in entry if isinstance(entry[case], dict)
}


def test_the_most_serious_come_first_and_causes_before_consequences() -> None:
    given = [
        Finding("remark", "note", "a", "b"),
        Finding("mass", "error", "c", "d"),
        Finding("marker_units", "error", "e", "f"),
        Finding("leap", "warning", "g", "h"),
        Finding("mass", "error", "c", "d"),
    ]
    report = Report(Path("trial.toml"), sorted_findings(given))
    assert [f.code for f in report.findings] == ["marker_units", "mass", "leap", "remark"]
    assert not report.ok
    assert "2 errors and 1 warning." in report.verdict


@pytest.mark.parametrize("code", ["trial_file", "up_axis", "sides_swapped", "marker_units"])
def test_an_error_of_whole_files_comes_before_what_may_follow_from_it(code: str) -> None:
    follows = Finding("plate_axes", "error", "a", "b", cost=Cost(1000.0, "N m", "hip_adduction_l", 15.0))
    cause = Finding(code, "error", "there is no table [labratory]", "[laboratory]")
    assert [f.code for f in sorted_findings([follows, cause])] == [code, "plate_axes"]


@pytest.mark.parametrize(
    "newtons, said",
    [(9e-13, "no muscle force changes by 1 N"), (12.0, "this changes results by up to 12 N at soleus_r")],
)
def test_a_change_below_one_newton_is_no_change(newtons: float, said: str) -> None:
    fault = Finding("muscle_property", "warning", "a", "b", cost=Cost(newtons, "N", "soleus_r"))
    assert fault.sentence == f"a; {said}"


def test_a_place_in_words() -> None:
    where = Where(Path("a/walk.trc"), 7, None, ("R.Heel",), None, ((0.5, 0.5), (1.0, 1.25)))
    assert str(where) == "walk.trc, line 7, R.Heel, 0.50 s, 1.00 to 1.25 s"
    assert str(Where()) == ""


def test_a_sentence_that_begins_with_its_file_does_not_name_it_twice() -> None:
    where, what = Where(Path("a/walk.trc")), "walk.trc holds 9 rows of data"
    assert Finding("truncated", "warning", what, "export it", where).placed == f"{what}."
    assert Finding("leap", "warning", "'LASI' jumps", "fill it", where).placed == "walk.trc: 'LASI' jumps."
    assert Finding("leap", "warning", "it jumps", "fill it").placed == "It jumps."


def test_the_command_begins_with_the_verdict() -> None:
    answer = typed("check", STRIDE)
    assert answer.exit_code == 0
    first, judgement = answer.stdout.strip().splitlines()[0], ms.check(STRIDE).judgement
    assert judgement is not None and first == f"{judgement.label}. {judgement.use}"
    assert all(reason in answer.stdout for reason in judgement.why)


def test_the_command_ends_with_2_where_there_is_an_error(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.change_plates(["force", "moment"], lambda newtons: 0.001 * newtons)
    trial = copy.write(tmp_path)
    answer = typed("check", trial)
    assert answer.exit_code == 2
    assert "force_units" in answer.stdout
    printed = json.loads(typed("check", trial, "--json").stdout)
    assert printed["ok"] is False
    assert printed["findings"][0]["code"] == "force_units"
    place = printed["findings"][0]["where"]
    assert place["file"].endswith("trial.toml") and place["field"].startswith("[[force]]")


def test_a_warning_alone_does_not_fail(tmp_path: Path) -> None:
    copy = TrialCopy(STRIDE)
    copy.set_key("filter", "cutoff_hz", "1.5")
    trial = copy.write(tmp_path)
    assert typed("check", trial).exit_code == 0
    assert ms.check(trial).codes == ("cutoff",)


def test_a_weight_of_what_the_recording_does_not_show_is_reported(tmp_path: Path) -> None:
    trial = TrialCopy(STRIDE).write(tmp_path)
    with trial.open("a", encoding="utf-8") as file:
        file.write("\n[consistency]\nweights = { knee = 2 }\n")
    (found,) = [finding for finding in ms.check(trial).findings if finding.severity == "error"]
    assert found.code == "refused" and found.where.field == "[consistency] weights" and "'knee'" in found.what


def test_what_is_no_path_is_refused() -> None:
    with refused("bad_type", "3"):
        ms.check(3)  # type: ignore[arg-type]


def test_every_code_is_explained_and_used() -> None:
    tables = [Path(ms.__file__).parent / "laboratory" / "checks" / "tables.toml"]
    source = "".join(file.read_text(encoding="utf-8") for file in [*SOURCES, *tables])
    for code, about in codes().items():
        assert code.isidentifier()
        assert about
        assert re.search(rf'"{code}["._]', source), code


def test_every_text_gets_the_values_it_names() -> None:
    """A call of ``finding`` gives all values that the text of its name contains, where both are in the code."""
    seen = 0
    for file, source in ((file, file.read_text(encoding="utf-8")) for file in SOURCES):
        for name, given in calls_of_finding(ast.parse(source)) if "finding(" in source else ():
            code, _, case = name.partition(".")
            text = texts()[code] | (texts()[code][case] if case else {})
            needed = {
                field
                for key in ("what", "remedy")
                for _, field, _, _ in Formatter().parse(text[key])
                if field
            }
            assert needed <= given, (file.name, name)
            seen += 1
    assert seen > 40


def calls_of_finding(tree: ast.AST) -> Iterator[tuple[str, set[str]]]:
    """Yield (name of the text, names of its values) of every call whose values are a literal beside it."""
    for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
        literals = [
            (node.lineno, node.value, {getattr(target, "id", "") for target in getattr(node, "targets", [])})
            for node in ast.walk(function)
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict)
        ]
        for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
            if getattr(call.func, "id", "") != "finding":
                continue
            values: ast.expr | None = call.args[2]
            added = list[ast.expr]()
            if isinstance(values, ast.Name):
                own = [
                    each for each in literals if each[0] < call.lineno and {values.id, ""} & (each[2] or {""})
                ]
                begins, values, _ = max(own, key=lambda each: each[0]) if own else (0, None, set())
                added = [
                    node.value
                    for node in ast.walk(function)
                    if isinstance(node, ast.AugAssign) and begins < node.lineno < call.lineno
                ]
            dicts = [
                part for part in (values, *added) if isinstance(part, ast.Dict) and None not in part.keys
            ]
            if len(dicts) < 1 + len(added):
                continue
            keys = {key.value for part in dicts for key in part.keys if isinstance(key, ast.Constant)}
            for part in ast.walk(call.args[0]):
                if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in NAMES:
                    yield part.value, keys
