"""One rule makes the verdict of a trial and of each leg from findings, certificates and plausibility."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from report_inputs import with_emg
from synthetic_result import WEIGHT, result, set_status

from musclesolve import Status
from musclesolve.laboratory.results.fact_table import rows
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.finding import (
    FINDINGS,
    Cost,
    Finding,
    Where,
    codes,
    sorted_findings,
    stored_findings,
    texts,
)
from musclesolve.laboratory.results.judgement import (
    NOT_USABLE,
    ORDER,
    USABLE,
    WITH_CARE,
    Report,
    judge,
    judge_findings,
)
from musclesolve.laboratory.results.plausibility import criteria, with_verdict
from musclesolve.laboratory.results.result_facts import facts_of
from musclesolve.studies.study.study_findings import each_once

ERROR = Finding(
    "time_offset", "error", "the forces are late", "shift them", cost=Cost(83.0, "N m", "knee_flexion_r")
)
WARNING = Finding("mass", "warning", "the plates carry 83 kg", "weigh the subject")
NOTE = Finding("remark", "note", "all is well", "keep it in mind")


def test_a_moment_that_no_person_has_is_no_size():
    assert ERROR.sentence.endswith("changes results by up to 83 N m at knee_flexion_r")
    beyond = replace(ERROR, cost=Cost(22_265.0, "N m", "hip_adduction_r"))
    assert beyond.sentence.endswith("changes results by more than 1000 N m at hip_adduction_r")
    assert Finding.from_dict(beyond.as_dict()).cost == beyond.cost


@pytest.mark.parametrize(
    "reason",
    [
        "walk.trc broke off within a row, line 65, which is left out: "
        "59 of the 238 rows that its header states are there (25 %)",
        "walk.trc holds 59 rows of data, its header states 238 (25 % are there)",
    ],
)
def test_the_reason_beside_the_verdict_says_how_much_of_a_file_is_there(reason):
    ends = "" if "broke" in reason else ": it may be cut short, or edited"
    cut = Finding("truncated", "warning", reason + ends, "export again")
    assert judge_findings([cut]).use == f"You can use the muscle forces with care: {reason}."


def of(data, *findings):
    return judge(Facts(data.assign_attrs({FINDINGS: json.dumps([each.as_dict() for each in findings])})))


def on(side: str, found: Finding) -> Finding:
    return Finding.from_dict(found.as_dict() | {"side": side})


def test_a_sound_result_is_usable():
    judged = of(result(), NOTE)
    assert judged.verdict == USABLE and judged.legs == {"r": USABLE, "l": USABLE}
    assert judged.complete and judged.ok


def test_an_error_makes_a_trial_not_usable_whatever_its_frames_are():
    judged = of(result(), ERROR, WARNING)
    assert judged.verdict == NOT_USABLE and not judged.complete
    assert [each.code for each in judged.findings] == ["time_offset", "mass"]


def test_an_error_of_one_leg_leaves_the_other():
    judged = of(result(), on("r", ERROR))
    assert judged.legs == {"r": NOT_USABLE, "l": USABLE}
    assert judged.verdict == WITH_CARE and "the right side is not usable" in judged.use


def test_what_follows_from_an_error_is_no_finding_of_its_own():
    doubled = result()
    doubled["joint_reaction"] *= 3.0
    assert "implausible" in {each.code for each in of(doubled).findings}
    assert {each.code for each in of(doubled, ERROR).findings} == {"time_offset"}
    assert {each.side for each in of(doubled, on("r", ERROR)).findings if each.code == "implausible"} == {"l"}


def test_warnings_and_reserves_ask_for_care():
    assert of(result(), WARNING).verdict == WITH_CARE
    helped = result()
    set_status(helped, Status.SOLVED_WITH_RESERVE, 3, 0)
    assert of(helped).legs == {"r": WITH_CARE, "l": USABLE}
    assert of(helped).verdict == WITH_CARE


def test_frames_without_a_solution_are_a_finding_and_count():
    failed = result()
    set_status(failed, Status.INFEASIBLE, slice(3, 5), 1)
    judged = of(failed)
    assert judged.legs == {"r": USABLE, "l": WITH_CARE} and judged.verdict == WITH_CARE
    (found,) = [each for each in judged.findings if each.code == "no_solution"]
    assert found.side == "l" and found.what.startswith("2 of 60")
    assert found.remedy.casefold().startswith(Status.INFEASIBLE.remedy.rstrip(".").casefold())
    assert not judged.complete


def test_the_order_of_findings_does_not_matter():
    for some in itertools.permutations([ERROR, WARNING, NOTE]):
        assert of(result(), *some).findings == sorted_findings([ERROR, WARNING, NOTE])


@pytest.mark.parametrize("more", [ERROR, WARNING, NOTE, on("l", ERROR), on("r", WARNING)])
@pytest.mark.parametrize("status", [Status.SOLVED, Status.SOLVED_WITH_RESERVE, Status.INFEASIBLE])
def test_another_finding_never_makes_a_verdict_better(more, status):
    data = result()
    set_status(data, status, 3, 0)
    before, after = of(data), of(data, more)
    for side in "rl":
        assert ORDER.index(after.legs[side]) <= ORDER.index(before.legs[side])


def test_a_result_that_is_not_plausible_is_not_usable():
    data = result()
    data["joint_reaction"] *= 3.0
    set_status(data, Status.INFEASIBLE, 3, 0)
    assert of(data).verdict == NOT_USABLE


def changed(name: str, factor: float = 1.0, status: Status | None = None, **attributes: float):
    data = result().assign_attrs(attributes)
    data[name] = data[name] * factor
    if status is not None:
        set_status(data, status, slice(0, 3), 0)
    return data


@pytest.mark.parametrize(
    ("data", "found", "headline"),
    [
        (result, [], "You can use the muscle forces of this trial."),
        (result, [ERROR], "Do not use the muscle forces: forces and markers are shifted in time."),
        (result, [WARNING], "with care: the stated mass does not fit the forces"),
        (partial(changed, "joint_reaction", 3.0), [], "joint contact forces lie outside the range"),
        (partial(changed, "pelvis_residual", 40.0), [], "ground forces and motion disagree"),
        (partial(changed, "gap", np.nan), [], "the file does not hold their certificates"),
        (partial(changed, "gap", status=Status.INFEASIBLE), [], "with care: analyzed frames have no valid solution"),
        (partial(changed, "gap", status=Status.SOLVED_WITH_RESERVE), [], "are solved with a reserve"),
        (lambda: result().assign_attrs(movement="jump"), [], "there are no measurements to compare them with"),
    ],
)  # fmt: skip
def test_the_headline_names_the_cause_that_is_there_alone(data, found, headline):
    judged = of(data(), *found)
    assert headline in judged.use and "see the verdict" not in judged.use


def test_the_verdict_says_what_certificates_prove():
    convex, motion = (" ".join(of(changed("gap", stationary_only=n)).why) for n in (0.0, 1.0))
    assert "has the least possible cost, within a gap of 1.0e-13" in convex
    assert "meets the necessary conditions of least cost, within a gap of 1.0e-13" in motion


def test_one_reason_stands_beside_a_verdict_the_most_urgent():
    cautions = [replace(WARNING, code=code) for code in list(codes())[10:16]]
    judged = of(result(), *cautions)
    assert judged.use == f"You can use the muscle forces with care: {codes()[judged.findings[0].code]}."


def test_a_result_without_a_solution_says_so():
    data = result()
    set_status(data, Status.INFEASIBLE, slice(None), 0)
    set_status(data, Status.INFEASIBLE, slice(None), 1)
    assert of(data).use == "Do not use the muscle forces: no analyzed frame has a valid solution."


def test_a_sentence_on_the_whole_body_stands_once_though_one_leg_alone_is_implausible():
    data = with_emg(result())
    data["emg_correlation"] = 0.0 * data["emg_correlation"] + 0.1
    data["joint_reaction"].loc[{"joint": "hip_r"}] *= 4.0
    found = of(with_verdict(data)).findings
    sentences = [entry.what for entry in found]
    assert len(sentences) == len(set(sentences)) and any("EMG 0.10" in each for each in sentences)
    assert "implausible" in {entry.code for entry in found}
    assert {entry.code for entry in found if "median r" in entry.what} == {"at_edge"}
    # the contact force, on which the verdict rests, stands before the EMG, on which none rests
    assert "hip" in sentences[0]


def test_a_plausibility_that_is_not_judged_is_said_in_words():
    wrong = result().assign_attrs({FINDINGS: json.dumps([ERROR.as_dict()])})
    (line,) = [text for subject, text in rows(facts_of(wrong)) if subject == "plausibility"]
    assert line.startswith("not judged beside errors")


def test_what_makes_a_result_implausible_is_the_first_thing_to_do():
    data = result()
    data["pelvis_residual"][:, 0] = 0.2 * WEIGHT
    jump = Finding("leap", "warning", "a jump", "fill it", cost=Cost(3.0, "N m", "hip_flexion_r", 15.0))
    small = Finding(
        "plate_baseline", "warning", "a drift", "zero it", cost=Cost(2.0, "N m", "hip_flexion_r", 15.0)
    )
    stored = with_verdict(
        data.assign_attrs({FINDINGS: json.dumps([each.as_dict() for each in (jump, small, WARNING)])})
    )
    for judged in (judge(Facts(stored)), of(data, jump, small, WARNING)):
        assert judged.verdict == NOT_USABLE
        assert [each.code for each in judged.findings] == ["mass", "implausible", "leap", "plate_baseline"]
    report = Report(Path("t.toml"), (jump, small, WARNING), judge(Facts(stored)))
    assert [each.code for each in report.all_findings] == ["mass", "implausible", "leap", "plate_baseline"]
    first = each_once({"calm": [jump, WARNING], "wild": stored_findings(stored.attrs[FINDINGS])})[0]
    assert first[0].code == "mass" and first[1] == ("calm", "wild")
    said = [text for _, text in rows(facts_of(stored))]
    assert "What to do first: weigh the subject; it may explain the verdict." in said


def test_a_fault_that_explains_the_failure_is_mended_first_though_its_cost_is_small():
    data = result()
    data["pelvis_residual"][:, 0] = 0.2 * WEIGHT
    light = Finding("mass", "warning", "20 kg more", "weigh", cost=Cost(12.0, "N m", "hip_flexion_r", 15.0))
    stored = with_verdict(data.assign_attrs({FINDINGS: json.dumps([light.as_dict()])}))
    assert judge(Facts(stored)).findings[0].code == "implausible"
    assert "What to do first: weigh." in [text for _, text in rows(facts_of(stored))]


def test_a_trial_without_a_result_is_judged_by_its_findings():
    assert judge_findings([ERROR]).verdict == NOT_USABLE
    assert judge_findings([WARNING]).verdict == WITH_CARE
    assert judge_findings([NOTE]).verdict == USABLE


def test_findings_survive_their_documents():
    where = Where(markers=("R.Knee",), times=((0.1, 0.2),))
    found = Finding("gap", "warning", "a gap", "fill it", where, cost=Cost(120.0, "N", "soleus_r"), side="r")
    assert Finding.from_dict(json.loads(json.dumps(found.as_dict()))) == found


def test_the_warnings_of_an_older_result_are_findings():
    old = result().assign_attrs(warnings=["the loads do not balance the motion"], findings="")
    found = judge(Facts(old))
    assert {each.code for each in found.findings} == {"remark", "not_examined"} and found.verdict == WITH_CARE


@pytest.mark.parametrize("text", ["{not json", '{"a": 1}', "7"])
def test_findings_that_cannot_be_read_are_an_error(text):
    judged = judge(Facts(result().assign_attrs({FINDINGS: text})))
    assert judged.verdict == NOT_USABLE and [each.code for each in judged.findings] == ["findings_unread"]


def test_a_code_of_a_later_version_is_kept():
    later = ERROR.as_dict() | {"code": "from_the_future"}
    judged = judge(Facts(result().assign_attrs({FINDINGS: json.dumps([later])})))
    assert judged.verdict == NOT_USABLE and judged.findings[0].code == "from_the_future"


def test_every_code_of_the_judgement_has_its_texts():
    causes = {code for entry in criteria().values() for code in entry.get("causes", ())}
    assert {"no_solution", "reserves", "implausible"} | causes <= set(texts())


def test_remedies_come_by_severity_then_by_cost_over_its_limit_then_causes_first():
    def found(code, severity, size=None, limit=None, times=()):
        cost = None if size is None else Cost(size, "N m", "knee_flexion_r", limit)
        what = f"{severity} {size}"  # findings in the same words are one
        return Finding(code, severity, what, "mend it", Where(times=times), cost=cost)

    known = list(codes())
    first, later = known[3], known[30]
    ordered = [
        found(later, "error", 90.0, 15.0),
        found(first, "error", 60.0, 15.0),
        found(first, "error"),
        found(later, "error"),
        found(later, "warning", 0.04, 0.05),  # a smaller number, nearer to its limit
        found(first, "warning", 3.0, 15.0),
        found(first, "warning", times=((0.0, 0.2), (1.0, 1.5))),
        found(first, "warning", times=((0.0, 0.3),)),
        found(later, "warning", 5.0),  # without a limit nothing is known
        found(first, "note"),
    ]
    for turned in (ordered, ordered[::-1], ordered[5:] + ordered[:5]):
        assert list(sorted_findings(turned)) == ordered
    assert Finding.from_dict(ordered[0].as_dict()) == ordered[0]
