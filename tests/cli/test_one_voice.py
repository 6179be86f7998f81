"""`check`, `run`, studies, report, desk and replay give the same trial one verdict, with the same findings."""

from __future__ import annotations

import html
import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import synthetic_result
from command_line import typed
from recorded_data import recorded
from said import judgement, summary
from synthetic_result import set_status
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve import check, read_result
from musclesolve._util.messages import capitalized
from musclesolve.apps.desk.result_facts import result_facts
from musclesolve.apps.desk.tasks import check as desk_check
from musclesolve.apps.live import replay
from musclesolve.data import reference_stride
from musclesolve.laboratory.results.dataset.result_quantities import listed
from musclesolve.laboratory.results.finding import FINDINGS, Finding, Where
from musclesolve.studies.many_trials.one_trial import Job, attempt


def mass_of_another(copy: TrialCopy) -> None:
    copy.set_key("subject", "mass_kg", f"{1.15 * copy.settings.subject.mass_kg:.2f}")


def ankle_jumps(copy: TrialCopy) -> None:
    first = copy.frame(0.5)
    copy.move(copy.marker("ankle_lateral_r"), slice(first, first + 2), copy.in_file((0.1, 0.0, 0.0)))


CHANGES = {"sound": None, "mass": mass_of_another, "leap": ankle_jumps}
VERDICTS = {"sound": "usable"}
"""A change of the bundled stride, or none -> the verdict, where one is due."""


@pytest.fixture(scope="module", params=list(CHANGES))
def trial(request, tmp_path_factory) -> tuple[str, Path]:
    name, copy = request.param, TrialCopy()
    if (change := CHANGES[name]) is None:
        return name, reference_stride()
    change(copy)
    return name, copy.write(tmp_path_factory.mktemp(name))


@pytest.fixture(scope="module")
def report(trial):
    """Return the output of `check`."""
    return check(trial[1])


@pytest.fixture(scope="module")
def said(trial, report):
    """Return the judgement of `check`."""
    judgement = report.judgement
    assert judgement is not None
    assert VERDICTS.get(trial[0]) in (None, judgement.verdict), judgement.sentence
    return judgement


@pytest.fixture(scope="module")
def computed(trial, tmp_path_factory) -> Path:
    """The result that `run` writes beside others."""
    folder = tmp_path_factory.mktemp("out")
    record = attempt(Job("trial", trial[1].resolve(), folder, {}, figures=False))
    assert record.measures is not None, record.message
    return folder / "result.nc"


def page_of(file: Path, folder: Path) -> str:
    """The text of the report of a result."""
    assert typed("report", file, "-o", folder / "report.html").exit_code == 0
    return html.unescape((folder / "report.html").read_text(encoding="utf-8"))


def lines(judgement) -> list[str]:
    return [each.line for each in judgement.of("error", "warning")]


def says(text: str, judgement) -> bool:
    """Whether a text has all errors and warnings; findings that share a remedy have it once."""
    found = judgement.of("error", "warning")
    return all(each.line.partition(" Remedy")[0] in text and each.remedy in text for each in found)


def test_run_says_what_check_says(trial, said, computed):
    found = judgement(read_result(computed))
    assert (found.verdict, found.legs, lines(found)) == (said.verdict, said.legs, lines(said))
    assert found.why == said.why
    text = summary(read_result(computed))
    assert said.label in text and says(text, said)


def test_check_has_the_notes_of_the_run(report, computed):
    """`check` examines the repaired recording, in which markers fit their segments better than in the run."""
    result = read_result(computed)
    notes = [each.what for each in report.findings if each.code == "remark" and each.severity == "note"]
    assert sorted(notes) == sorted(listed(result, "notes"))
    assert not [each for each in judgement(result).findings if each.code == "remark"]


def test_the_table_of_many_trials_says_what_check_says(said, computed):
    measures = json.loads(read_result(computed).attrs["measures"])
    assert measures["verdict"] == said.verdict
    assert measures["findings"] == [each.sentence for each in said.of("error", "warning")]


@pytest.mark.in_part(2)
def test_the_report_says_what_check_says(said, computed, monkeypatch, tmp_path):
    monkeypatch.setattr("musclesolve.laboratory.report.sections.figures_of", lambda data, kind: {})
    text = page_of(computed, tmp_path)
    assert said.label in text and says(text, said)


@pytest.mark.in_part(2)
def test_the_desk_says_what_check_says(trial, said, computed):
    facts = result_facts(computed)
    assert (facts.judgement.verdict, facts.judgement.label) == (said.verdict, said.label)
    assert says("\n".join(facts.remarks[: len(lines(said))]), said)

    assert desk_check(lambda stage, share: None, trial[1]).judgement.as_dict() == said.as_dict()


def full(data):
    data["activation"][:, 0] = 1.0
    data["muscle_force"][:, 0] = data["max_isometric_force"][0]
    return data


def beside_plates(data):
    set_status(data, ms.Status.NOT_MEASURED, slice(0, 20), 0)
    return data


def unlike_emg(data):
    found = {
        "code": "emg_disagrees",
        "severity": "warning",
        "what": "r of BF 0.3",
        "remedy": "look at the channels",
    }
    empty = Finding.from_dict(found | {"side": "", "where": Where().as_dict()})
    return data.assign_attrs({FINDINGS: json.dumps([empty.as_dict()])})


@pytest.mark.parametrize("cause", [lambda data: data, beside_plates, full, unlike_emg])
def test_terminal_report_and_desk_begin_with_the_same_cautions(cause, monkeypatch, tmp_path):
    path, data = tmp_path / "result.nc", cause(synthetic_result.result())
    data.to_netcdf(path)
    use = judgement(data).use
    assert ("full activation" in use, "EMG" in use) == (cause is full, cause is unlike_emg)
    assert use in "\n".join(summary(data).splitlines()[:5])
    monkeypatch.setattr("musclesolve.laboratory.report.sections.figures_of", lambda data, kind: {})
    page = page_of(path, tmp_path)
    cautions = [capitalized(each.what) for each in judgement(data).of("error", "warning")]
    assert all(sentence in page.partition("peak contact force")[0] for sentence in (use, *cautions))
    assert use in result_facts(path).why


@pytest.mark.in_part(2)
def test_a_replay_has_the_findings_of_the_recording(trial, said):
    result = replay(trial[1]).result
    of_result = (
        "implausible",
        "reserves",
        "no_solution",
    )  # a stream has other filters and no frame is left out
    found = [each for each in judgement(result).findings if each.code not in of_result]
    due = [each for each in said.findings if each.code not in of_result]
    assert [each.line for each in found if each.severity != "note"] == [
        each.line for each in due if each.severity != "note"
    ]


def test_a_trial_that_was_changed_in_memory_is_examined_as_it_is():
    trial = ms.read_trial(reference_stride())
    assert trial.as_read
    heavier = tuple(replace(plate, force=1.3 * plate.force) for plate in trial.forces)
    found = judgement(ms.run(replace(trial, forces=heavier)))
    assert found.verdict == "not_usable" and found.findings[0].code == "mass"


@pytest.fixture(scope="module", params=["calcn", "tibia"])
def model_trial(request, tmp_path_factory) -> tuple[str, Path]:
    """The trial file of a model whose loads act on the feet, or on the shanks."""
    data, folder = recorded("instrumented_knee"), tmp_path_factory.mktemp(request.param)
    force = """<ExternalForce name="GRF{plate}"><applied_to_body>{body}_{side}</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body><point_expressed_in_body>ground</point_expressed_in_body>
<force_identifier>{plate}_ground_force_v</force_identifier><point_identifier>{plate}_ground_force_p</point_identifier>
<torque_identifier>{plate}_ground_torque_</torque_identifier></ExternalForce>"""
    forces = "".join(
        force.format(plate=plate, body=request.param, side=side)
        for plate, side in ((1, "l"), (2, "r"), (3, "r"))
    )
    name = "PS_ngait_og_ss1"
    (folder / "loads.xml").write_text(
        f"<OpenSimDocument><ExternalLoads><objects>{forces}</objects>"
        f"<datafile>{(data / f'{name}_kinetics.mot').resolve()}</datafile></ExternalLoads></OpenSimDocument>"
    )
    path = folder / "trial.toml"
    path.write_text(
        f'[files]\nmodel = "{(data / "Rajagopal2015-scaled.osim").resolve()}"\n'
        f'coordinates = "{(data / f"{name}_kinematics.mot").resolve()}"\nloads = "loads.xml"\n'
    )
    return request.param, path


def test_check_run_and_share_say_the_same_of_a_model(model_trial):
    on, path = model_trial
    said = check(path).judgement
    assert said is not None
    files = tomllib.loads(path.read_text())["files"]
    shared = ms.share_model(files["model"], files["coordinates"], loads=path.parent / "loads.xml")
    for result in (ms.run(path), shared):
        found = judgement(result)
        assert (found.verdict, found.legs, lines(found), found.why) == (
            said.verdict,
            said.legs,
            lines(said),
            said.why,
        )
    codes = {each.code for each in said.of("error")}
    assert (codes, said.verdict) == (
        (set(), "not_usable") if on == "calcn" else ({"load_body"}, "not_usable")
    )
    if on == "tibia":
        assert all(each.cost.size > 100.0 and "ankle" in each.cost.of for each in said.of("error"))
