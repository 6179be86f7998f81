"""The lay summary: at most ten plain sentences at the top, which agree with the result."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from report_inputs import with_emg
from said import plausible
from synthetic_result import result as synthetic_result
from synthetic_result import set_status

import musclesolve as ms
from musclesolve.data import reference_stride
from musclesolve.laboratory.results.fact_table import rows
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.judgement import words
from musclesolve.laboratory.results.plausibility import AT_EDGE
from musclesolve.laboratory.results.result_facts import facts_of, why_no_emg

LONGEST = 40
"""Words of a sentence, its numbers included."""


@pytest.fixture(scope="module")
def result():
    return ms.run(reference_stride(), side="r")


def in_short(result) -> list[str]:
    said = rows(facts_of(result))
    subjects = [subject for subject, _ in said]
    assert [subject for subject in subjects if subject][:2] == ["in short", "good to know"]
    return [sentence for _, sentence in said[: subjects.index("good to know")]]


def test_it_stands_first_and_is_short(result):
    said = in_short(result)
    assert len(said) <= 10 and all(len(sentence.split()) < LONGEST for sentence in said)
    assert said[0] == words("usable")["use"]


def test_its_numbers_are_those_of_the_result(result):
    force = result.muscle_force.max("time")
    text = " ".join(in_short(result))
    assert (
        f"{float(force.max()):.0f} N" in text
        and "right soleus" in text
        and str(force.idxmax().values) == "soleus_r"
    )
    assert f"in {int(result.valid.sum())} of {result.sizes['time']} frames" in text


def test_a_leg_that_was_never_measured_is_named_once_and_only_compared_channels_count():
    data = with_emg(synthetic_result())
    set_status(data, ms.Status.NOT_MEASURED, slice(None), 0)
    data["emg_correlation"][0] = np.nan
    known, total = data.sizes["channel"] - 1, data.sizes["time"]
    said = [sentence for _, sentence in rows(facts_of(data))]
    (left_out,) = [each for each in said if "ground forces or joint moments were not measured" in each]
    assert left_out == f"The right leg was analyzed in none of {total} frames: " + left_out.partition(": ")[2]
    assert any(f"measured EMG of {known} channels" in each for each in said)
    assert any(f"{known} of {known + 1} channels, r of activation" in each for each in said)


def test_a_result_that_fails_says_what_to_do(result):
    failed = result.copy()
    failed["status"] = failed.status.copy(data=failed.status.values + ms.Status.INFEASIBLE)
    failed["valid"] = failed.valid & False
    failed["muscle_force"] = failed.muscle_force.where(False)
    said = in_short(failed)
    assert "no analyzed frame has a valid solution" in said[0] and "0 of 66" in " ".join(said)
    assert said[-1].startswith("What to do first (0.30 to 1.38 s): ") and not any(
        "strongest" in each for each in said
    )


def test_a_leg_whose_forces_were_not_measured_has_no_count(result):
    unmeasured = result.copy()
    unmeasured["status"] = unmeasured.status.copy(data=unmeasured.status.values * 0 + ms.Status.NOT_MEASURED)
    unmeasured["valid"] = unmeasured.valid & False
    unmeasured["muscle_force"] = unmeasured.muscle_force.where(False)
    said = in_short(unmeasured)
    assert "The right leg has no muscle forces: the ground forces were not measured." in said
    assert not any(" of 0 " in each for each in said)


def test_forces_that_come_from_the_motion_are_not_compared_with_it(stride_result):
    assert any("disagree" in sentence for sentence in in_short(stride_result))
    assert not any(
        "disagree" in sentence
        for sentence in in_short(stride_result.assign_attrs(ground_reactions="predicted"))
    )


def test_a_joint_with_one_leg_beyond_implants_is_not_within(stride_result, monkeypatch):
    """The largest force of both legs is named: it may be that of the leg at the edge."""
    named = next(sentence for sentence in in_short(stride_result) if "joint forces" in sentence)
    assert "at the hip and knee this is within" in named
    judged = plausible(stride_result)
    changed = [
        replace(each, verdict=AT_EDGE) if each.place == "right hip" else each for each in judged.comparisons
    ]
    monkeypatch.setattr(
        "musclesolve.laboratory.results.result_facts.plausibility",
        lambda facts: replace(judged, comparisons=changed),
    )
    named = next(sentence for sentence in in_short(stride_result) if "joint forces" in sentence)
    assert "at the knee this is within" in named


def test_a_result_without_a_comparison_with_emg_says_why(stride_result):
    recorded = stride_result.assign_attrs(emg_envelope="high-pass, rectified, low-pass")
    assert why_no_emg(Facts(stride_result)).sentence.startswith("No EMG was given")
    # of the leg that --side left out
    assert "were not analyzed" in why_no_emg(Facts(recorded)).sentence
    kept = why_no_emg(Facts(recorded.assign_attrs(signs="own"))).sentence
    assert "result.nc of the run does" in kept
