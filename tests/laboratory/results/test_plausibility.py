"""The second verdict: measured ranges, further criteria, and results that are certified and not plausible."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from recorded_data import recorded
from said import run_document, summary
from seen_motion import WEIGHT, stances
from seen_motion import motion as seen
from stored_results import write_result
from synthetic_result import result, set_status
from thorough import some
from trial_copy import TrialCopy

import muscle_db
import musclesolve as ms
from musclesolve import Status
from musclesolve.data import reference_stride
from musclesolve.laboratory.recording.trial_settings import MOVEMENTS
from musclesolve.laboratory.report.content.methods import works
from musclesolve.laboratory.results.fact_table import chosen
from musclesolve.laboratory.results.facts import CENTER_HEIGHT, Facts
from musclesolve.laboratory.results.finding import FINDINGS, Finding
from musclesolve.laboratory.results.judgement import judge
from musclesolve.laboratory.results.movement import WORDS, Movement
from musclesolve.laboratory.results.plausibility import (
    AT_EDGE,
    DEGREES,
    INDEPENDENT_S,
    NOT_KNOWN,
    NOT_PLAUSIBLE,
    PLAUSIBLE,
    criteria,
    in_vivo,
    least_factor,
    measured,
    peaks_at,
    plausibility,
    with_uncertainty,
    with_verdict,
)
from musclesolve.laboratory.results.result_facts import facts_of


@pytest.fixture(scope="module")
def stride(stride_result) -> xr.Dataset:
    return stride_result.copy(deep=True)


def judged(data):
    return plausibility(Facts(data))


def failed(data):
    return {each.criterion for each in judged(data).comparisons if each.passed is False}


def test_the_bundled_stride_is_certified_and_plausible(stride):
    assert stride["valid"].all()
    assert judged(stride).movement == Movement("walking", speed=pytest.approx(1.27, abs=0.01))
    assert judged(stride).verdict == PLAUSIBLE, judged(stride).against
    assert judge(Facts(stride)).verdict == "usable"
    assert (stride["plausible"] == 1).all()


def test_doubled_forces_are_certified_and_not_plausible(stride):
    doubled = stride.assign(joint_reaction=2.0 * stride["joint_reaction"])
    facts = Facts(doubled)
    assert facts.largest_gap == Facts(stride).largest_gap
    assert facts.counts.valid == facts.counts.analyzed
    assert failed(doubled) == {"contact"}
    page, said = judge(facts), chosen(facts_of(facts), "error", "warning")
    assert page.verdict == "not_usable"
    assert len(said) == 4  # both hips and knees, no ankle
    assert "moments and gait events do not depend" in " ".join(page.why)
    assert (
        "measured in level walking at 1.3 m/s 2.2 to 4.9, because peaks rise with speed" in said[0].sentence
    )
    assert "NOT PLAUSIBLE; level walking" in summary(doubled)
    document = run_document(doubled)["plausibility"]
    assert document["verdict"] == NOT_PLAUSIBLE
    assert document["legs"] == {"right": NOT_PLAUSIBLE, "left": NOT_PLAUSIBLE}
    assert {each["passed"] for each in document["criteria"] if each["criterion"] == "contact"} == {
        False,
        None,
    }


def test_halved_forces_are_below_what_was_measured_where_a_whole_stance_is_valid(stride):
    # of this stride only the right stance lies whole between two swings
    halved = stride.assign(joint_reaction=0.3 * stride["joint_reaction"])  # with their whole bands
    assert [judged(halved).verdict_of(side) for side in "rl"] == [NOT_PLAUSIBLE, NOT_KNOWN]
    longer = result()
    longer["joint_reaction"] *= 0.5
    assert failed(longer) == {"contact"}
    set_status(longer, Status.NOT_MEASURED, slice(3, None, 4))
    assert failed(longer) == set()


def test_the_reason_stands_beside_whatever_the_frames_are(stride):
    doubled = stride.assign(joint_reaction=2.0 * stride["joint_reaction"]).copy(deep=True)
    set_status(doubled, Status.SOLVED_WITH_RESERVE, 5, 0)
    page = judge(Facts(doubled))
    assert page.verdict == "not_usable" and "gait events do not depend" in " ".join(page.why)


def test_the_result_of_a_faulty_recording_is_not_usable(stride):
    fault = Finding("time_offset", "error", "the forces are late", "look at the clock")
    facts = Facts(stride.assign_attrs({FINDINGS: json.dumps([fault.as_dict()])}))
    assert judge(facts).verdict == "not_usable" and judge(facts).findings == (fault,)


@pytest.mark.parametrize("name", ["knee_joint", "walker_knee", "Knee"])
def test_a_knee_of_a_model_is_judged_whatever_its_name(stride, name):
    joints = [str(joint).replace("knee", name) for joint in stride["joint"].values]
    kinds = [each.sentence.split()[1] for each in judged(stride.assign_coords(joint=joints)).comparisons[:6]]
    assert sorted(kinds) == ["ankle", "ankle", "hip", "hip", "knee", "knee"]


def test_an_unknown_movement_is_compared_with_no_range(stride):
    unknown = stride.drop_vars("ground_reaction_force")
    assert judged(unknown).movement.name == "unknown"
    assert judged(unknown).verdict == NOT_KNOWN
    judgement = judge(Facts(unknown))
    assert judgement.verdict == "with_care" and "not recognized" in judgement.sentence
    assert "not compared; a movement of unknown kind" in summary(unknown)
    assert "was not recognized: the movement was not" not in summary(unknown)


def test_a_movement_without_measurement_is_compared_with_no_range(stride):
    other = stride.assign_attrs(movement="other")
    assert judged(other).verdict == NOT_KNOWN
    assert judged(other).why_not_known == "no contact forces were measured in another movement"


@pytest.mark.in_part(2)
@pytest.mark.parametrize("stated", ["squat", "running", "standing_on_one_leg", "jump"])
def test_a_stated_movement_that_is_clearly_another_one_is_never_plausible(stride, stated):
    """Also a statement that makes the ranges wider: of a knee in a squat nothing below 4.3 speaks against it."""
    data = stride.assign_attrs(movement=stated)
    one = judged(data)
    assert (one.movement.name, one.movement.seen) == (stated, "walking")
    assert one.verdict != PLAUSIBLE
    words = f"stated: {WORDS[stated]}; motion and forces show level walking"
    assert {each.passed for each in one.comparisons if each.criterion == "contact"} == {None}
    assert any(each.sentence.endswith(words) for each in one.comparisons if each.criterion == "contact")
    assert words in summary(data)
    assert run_document(data)["plausibility"]["movement_seen"] == "walking"
    assert "show level walking" in judge(Facts(data)).sentence


def test_a_stated_movement_that_is_seen_is_compared(stride):
    data = stride.assign_attrs(movement="walking")
    assert judged(data).verdict == PLAUSIBLE and judged(data).movement_words == "level walking (stated)"
    assert (
        "Peaks of contact forces at hip and knee lie within the widest range" in judge(Facts(data)).sentence
    )


def test_one_criterion_is_enough(stride):
    assert failed(stride.assign_attrs(subject_mass_kg=1.08 * stride.attrs["subject_mass_kg"])) == {"mass"}
    residual = stride["pelvis_residual"].copy()
    residual[:, 0] = 0.16 * Facts(stride).body_weight
    assert failed(stride.assign(pelvis_residual=residual)) == {"residual"}
    activation = stride["activation"].copy()
    activation[:50, 0] = 1.0  # one of 43, most of the time
    assert failed(stride.assign(activation=activation)) == set()
    activation[:, :2] = 1.0
    assert failed(stride.assign(activation=activation)) == {"full"}
    length = stride["fiber_length"].copy()
    length[5, 3], activation = 1.7 * stride["optimal_fiber_length"][3], stride["activation"].copy()
    activation[5, 3] = 0.0
    assert failed(stride.assign(fiber_length=length, activation=activation)) == set()
    activation[5, 3] = 0.3
    assert failed(stride.assign(fiber_length=length, activation=activation)) == {"fibers"}


def test_the_headline_names_the_reason_that_holds(stride):
    """A residual is no contradiction to measurements in other people."""
    residual = stride["pelvis_residual"].copy()
    residual[:, 0] = 0.16 * Facts(stride).body_weight
    heavier = stride.assign_attrs(subject_mass_kg=1.08 * stride.attrs["subject_mass_kg"])
    causes = {
        "residual": stride.assign(pelvis_residual=residual),
        "mass": heavier,
        "contact": with_peak(stride, 6.0),
    }
    said = {}
    for cause, data in causes.items():
        found = judge(Facts(data))
        assert found.verdict == "not_usable" and found.because == (cause,)
        said[cause] = found.use
    assert len(set(said.values())) == len(said)
    assert judge(Facts(stride)).because == ()


def test_a_body_that_weighs_otherwise_has_remedies_of_its_own(stride):
    """A fault that explains the mass comes before the sentence on it; each criterion names its causes."""
    fault = Finding("plate_baseline", "warning", "an unloaded plate shows a force", "set the plate to zero")
    heavier = stride.assign_attrs(subject_mass_kg=1.08 * stride.attrs["subject_mass_kg"])
    judged = judge(Facts(heavier.assign_attrs({FINDINGS: json.dumps([fault.as_dict()])})))
    first, second = judged.findings[:2]
    assert (first.code, second.code) == ("plate_baseline", "implausible") and first.decides
    assert "masses of the segments" in second.remedy and "plates" in second.remedy


def long_fibers(copy: TrialCopy, folder: Path) -> None:
    """The rectus femoris with a tendon that is too short."""
    text = (Path(muscle_db.__file__).parent / f"{muscle_db.DEFAULT}.toml").read_text(encoding="utf-8")
    (folder / "muscles.toml").write_text(text.replace("0.3121", "0.2500"), encoding="utf-8")
    copy.set_key("muscles", "database", f'"{(folder / "muscles.toml").as_posix()}"')


def bounces(copy: TrialCopy, _: Path) -> None:
    """Predicted ground reactions of a body that all markers show 15 mm up and down."""
    copy.set_key("files", "forces", '"predicted"')
    copy.put(copy.walk.position + 0.015 * np.sin(6.0 * np.pi * copy.walk.time)[:, None, None] * [0, 0, 1])


@pytest.mark.parametrize(
    ("cause", "change"),
    [
        ("mass", lambda copy, _: copy.set_key("subject", "mass_kg", "75.9")),
        ("ground", bounces),
        ("full", lambda copy, _: copy.set_key("sharing", "cost", '"muscle_power"')),
        ("fibers", long_fibers),
        ("reserves", lambda copy, _: copy.set_key("muscles", "strength", "0.6")),
    ],
)
def test_a_recording_with_one_cause_has_it_as_its_headline(cause, change, tmp_path):
    copy = TrialCopy()
    change(copy, tmp_path)
    found = judge(Facts(ms.run(copy.write(tmp_path / "spoiled"))))
    # shares by power load the knee beyond its range, too
    also = ("contact",) if cause == "full" else ()
    assert (found.verdict, found.because) == ("not_usable", (*also, cause))


def test_reserves_and_emg():
    data = result()
    set_status(data, Status.SOLVED_WITH_RESERVE, slice(20, 26), 0)
    data["reserve_moment"][20:26, 3] = -5.0
    assert failed(data) == set()
    data["reserve_moment"][20:26, 3] = -7.0
    assert failed(data) == {"reserves"}
    assert "a lower bound" in judged(data).use and "the range" not in judged(data).use
    (lacking,) = judged(
        data
    ).failed  # another cost or muscle set does not make up for moments beyond all strength
    assert "moments are right" in judged(data).remedy(lacking) and "cost" not in judged(data).remedy(lacking)
    # the largest share of a peak moment, not the most newton meters; at most 1 N m speaks against nothing
    data["reserve_moment"][20:26, 3] = -5.0
    data["joint_moment"][:, 1] *= 0.1
    for reserve, found in ((0.9, set()), (1.1, {"reserves"})):
        data["reserve_moment"][22, 1] = reserve
        assert failed(data) == found
    data["joint_moment"][:, 1] *= 0.001
    assert re.search(r" is \d{4,} % of its peak moment; at most 10 %", judged(data).reason)
    data = result().assign_coords(channel=["a", "b", "c"])
    data["emg_correlation"] = ("channel", [0.2, 0.45, 0.9])
    assert failed(data) == {"emg"} and judged(data).verdict == AT_EDGE
    assert judged(data).against[0] == judged(data).failed[0].sentence
    assert judged(data).use and judge(Facts(data)).verdict == "with_care"
    assert failed(data.assign_attrs(cost="emg_tracking")) == set()
    # also where no contact force can be compared, and that is said
    unknown = data.assign_attrs(movement="other")
    assert judged(unknown).verdict == AT_EDGE
    for said in (judged(unknown).reason, summary(unknown), judge(Facts(unknown)).sentence):
        assert judged(unknown).why_not_known in said
    # together with another one it speaks against the result
    tripled = data.assign(joint_reaction=3.0 * data["joint_reaction"])
    assert failed(tripled) == {"emg", "contact"} and judged(tripled).verdict == NOT_PLAUSIBLE
    assert len(judged(tripled).against) > 1


@pytest.mark.parametrize("carried", [55.0, 70.0])
def test_the_mass_is_that_of_the_ground_force_also_while_the_body_rises(carried):
    count = 180
    right, left = stances(count, (0, 70), (110, 180)), stances(count, (50, 130))
    time = np.arange(count) / 100.0
    rise = 0.4  # m/s2, throughout
    force = (carried / 70.0) * (1.0 + rise / 9.80665) / (right + left)
    data = seen(force * right, force * left, ahead=1.2 * time, height=0.9 + 0.5 * rise * time**2)
    assert Facts(data).mass_carried == pytest.approx(carried, rel=2e-3)


def test_a_speed_that_nobody_was_measured_at():
    assert measured("hip", Movement("walking", speed=1.3)).words == "2.2 to 4.9"
    assert measured("hip", Movement("walking", speed=1.9)).words == "2.2 to 5.5"
    unknown = measured("hip", Movement("walking"))
    assert unknown.words == "2.2 to 4.8"
    assert unknown.movement == "level walking (speed not known)"
    assert measured("hip", Movement("chair")).movement == WORDS["chair"]
    assert measured("walker_knee", Movement("walking", speed=1.3)).words == "2.0 to 3.4"
    assert measured("knee", Movement("walking", speed=1.9)) is None
    assert measured("knee", Movement("running", speed=2.0)).words == "3.1 to 5.3"
    assert measured("knee", Movement("running", speed=3.0)) is None
    assert measured("knee", Movement("running")) is None
    assert measured("ankle", Movement("walking", speed=1.3)) is None
    assert measured("subtalar", Movement("walking", speed=1.3)) is None


def test_ranges_by_speed_hold_all_who_were_measured_and_rise_no_faster_than_they_may():
    (entry,) = in_vivo()["walking"]["hip"]
    speeds = np.linspace(0.2, 2.2, 101)
    ranges = [peaks_at(speed, entry["people"], entry["rise"], entry["most"]) for speed in speeds]
    for bound in np.array(ranges).T:
        rise = np.diff(bound) / np.diff(speeds)
        assert rise.min() >= 0.0 and rise.max() <= entry["rise"] + 1e-9
    for person in entry["people"]:
        for speed, peak in zip(person["speed"], person["peak"], strict=True):
            low, high = peaks_at(speed, entry["people"], entry["rise"], entry["most"])
            assert low - 1e-9 <= peak <= high + 1e-9 <= entry["most"] + 1e-9
            if person is entry["people"][0]:  # of one alone it is the line that joins the speeds
                own = peaks_at(speed, [person], entry["rise"], entry["most"])
                assert own == pytest.approx((peak, peak), abs=0.01)
    assert entry["rise"] == pytest.approx((4.8 - 2.8) / (4.0 / 3.6))


def test_the_verdict_depends_on_speed(stride):
    """A hip that is within at 1.6 m/s is not at 0.8, and the sentence says why."""
    fast, slow = (measured("hip", Movement("walking", speed=speed)) for speed in (1.6, 0.8))
    assert fast.verdict(5.2, (4.6, 6.0)) == PLAUSIBLE and slow.verdict(5.2, (4.6, 6.0)) == NOT_PLAUSIBLE
    assert slow.verdict(4.4, (4.0, 5.0)) == AT_EDGE
    assert "0.8 m/s" in slow.movement and "rise with speed" in slow.reason
    assert measured("knee", Movement("walking", speed=1.2)).reason == ""


def test_every_range_has_its_sources():
    names = in_vivo()["sources"]
    assert set(names) <= set(works())
    ranges = [
        entry
        for name, joints in in_vivo().items()
        if name in MOVEMENTS
        for entries in joints.values()
        for entry in entries
    ]
    assert len(ranges) > 10
    assert in_vivo().keys() - {"own_band", "sources", "not_measured"} <= MOVEMENTS.keys()
    for entry in ranges:
        assert entry.get("lowest", 0.0) < entry["highest"] < 6.0
        assert entry["about"] and entry["sources"] and set(entry["sources"]) <= set(names)
    for entry in criteria().values():
        assert {*entry.get("movements", ()), *entry.get("not_of", ())} <= set(WORDS)


def test_the_page_has_the_ranges_that_depend_on_speed():
    page = (Path(__file__).parents[3] / "docs" / "results.md").read_text(encoding="utf-8")
    (hip,) = in_vivo()["walking"]["hip"]
    speeds, ranges = (
        [cell.strip() for cell in line.strip("|").split("|")[1:]]
        for line in page.splitlines()
        if line.startswith(("| speed [m/s] |", "| hip [body weights] |"))
    )
    for speed, words in zip(speeds, ranges, strict=True):
        low, high = peaks_at(float(speed), hip["people"], hip["rise"], hip["most"])
        assert words == f"{low:.1f} to {high:.1f}", speed
    own = {
        joint: " to ".join(f"{factor:g}" for factor in band) for joint, band in in_vivo()["own_band"].items()
    }
    assert f"{own['hip']} times the peak at the hip and {own['knee']} times at" in " ".join(page.split())


def test_the_instrumented_knee_lies_in_its_range(instrumented_knee):
    """Peaks of the person whose knee measured them: ranges are of others, too."""
    for trial in ("ss1", "ss9"):
        table = np.genfromtxt(instrumented_knee / f"measured_contact_{trial}.csv", delimiter=",", names=True)
        peak = table["total_N"].max() / (75.0 * 9.80665)
        range_ = measured("knee", Movement("walking", speed=1.0))
        assert range_.lowest < peak < range_.highest


@pytest.mark.parametrize(
    ("activity", "movement", "alone"),
    [("LW", "walking", False), ("OLS", "standing_on_one_leg", False), ("SU", "chair", True)],
)
def test_the_hips_of_ten_people_lie_in_their_ranges(activity, movement, alone):
    """The published peaks of each person; where they are the only ones of a movement the range is theirs."""
    table = np.genfromtxt(
        recorded("hip_implants/peaks.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    peaks = 0.01 * table["magnitude_percent_bw"][table["activity"] == activity]
    entry = in_vivo()[movement]["hip"][0]
    assert peaks.size >= 9
    assert entry["lowest"] <= round(peaks.min(), 1) and round(peaks.max(), 1) <= entry["highest"]
    if activity == "LW":
        low, high = peaks_at(1.0, entry["people"], entry["rise"], entry["most"])
        assert low == pytest.approx(peaks.min(), abs=0.005) and peaks.max() < high
        listed = [each["peak"][0] for each in entry["people"] if each["speed"] == [1.0]]
        assert listed == pytest.approx([peaks.min(), peaks.max()], abs=0.005)
    if alone:
        assert (entry["lowest"], entry["highest"]) == (round(peaks.min(), 1), round(peaks.max(), 1))
    others = peaks[peaks < peaks.max()] if activity == "SU" else peaks
    assert f"{others.min():.1f} to {others.max():.1f}" in entry["about"]


@pytest.mark.thorough
def test_a_file_without_a_verdict_is_judged_as_it_is_opened(tmp_path):
    data = result().assign_attrs(subject="S01")
    data.to_netcdf(tmp_path / "walk.nc")
    opened = ms.read_result(tmp_path / "walk.nc")
    assert "plausible" not in opened
    assert judged(opened).verdict == PLAUSIBLE
    assert "plausible; level walking" in summary(opened)
    ms.export(opened, tmp_path / "walk.csv", variables=["activation"])
    assert typed("report", tmp_path / "walk.nc", "-o", tmp_path / "walk.html").exit_code == 0
    assert "Usable: certified and plausible" in (tmp_path / "walk.html").read_text(encoding="utf-8")


def test_the_variable_is_in_the_file(stride, tmp_path):
    write_result(stride, tmp_path / "result.nc")
    stored = ms.read_result(tmp_path / "result.nc")["plausible"]
    assert stored.dims == ("side",)
    assert stored.attrs["verdict"] == PLAUSIBLE
    assert "right hip" in stored.attrs["reason"]
    assert stored.attrs["flag_meanings"].split()[int(stored[0])] == "PLAUSIBLE"
    assert "mass body within: the ground bears" in stored.attrs["criteria"]


def test_a_result_is_judged_once(stride):
    facts = Facts(stride)
    assert plausibility(facts) is plausibility(facts)


def test_no_valid_frame_is_no_verdict():
    data = result()
    set_status(data, Status.INFEASIBLE, slice(None))
    assert judged(data).verdict == NOT_KNOWN
    assert (with_verdict(data)["plausible"] == 0).all()
    assert WEIGHT == pytest.approx(Facts(data).body_weight)


def test_a_result_that_is_not_plausible_says_what_it_may_be_used_for(stride):
    assert judged(stride).use == ""
    doubled = stride.assign(joint_reaction=2.0 * stride["joint_reaction"])
    assert "moments and gait events do not depend" in judged(doubled).use
    assert "around the right" in judged(doubled).use and "ankle" not in judged(doubled).use
    assert judged(doubled).use[1:] in summary(doubled)
    heavier = stride.assign_attrs(subject_mass_kg=1.2 * stride.attrs["subject_mass_kg"])
    assert "joint moments and all forces are in doubt" in judged(heavier).use


def test_warnings_stand_before_the_legs(stride):
    warned = stride.assign_attrs(warnings=["sources differ"], findings="")
    said = summary(warned)
    assert said.index("Sources differ.") < said.index("\nright leg")
    found = [each["what"] for each in run_document(warned)["judgement"]["findings"]]
    assert found[:2] == [
        "this result holds no findings: its recording or model was not examined",
        "sources differ",
    ]
    assert "Sources differ" in " ".join(each.sentence for each in chosen(facts_of(warned), "warning"))


def test_weak_muscles_are_advised_to_check_before_strength_is_named():
    trial = ms.read_trial(reference_stride())
    data = ms.run(trial.with_settings(muscles=dict(strength=0.4)), side="r")
    first, *others = data.attrs["reasons_r"]
    assert first.startswith("first: musclesolve check")
    remedies = [each for each in others if "write strength" in each]
    assert remedies and all("only where check finds no fault" in each for each in remedies)


ORDER = list(DEGREES)[:3]
"""Degrees, the best first."""


def with_peak(stride, body_weights, joint="hip_r", own=None):
    """The stride with one peak scaled to so many body weights, with bands as far around all peaks where given."""
    weight, reaction = Facts(stride).body_weight, stride["joint_reaction"].copy(deep=True)
    peak = next(each for each in Facts(stride).contact_peaks if each.joint == joint)
    reaction.loc[{"joint": joint}] *= body_weights / peak.body_weights
    data = stride.assign(joint_reaction=reaction)
    if own is not None:
        found = {each.joint: each.newton for each in Facts(data).contact_peaks}
        peaks = np.array([found.get(str(joint), np.nan) for joint in stride["joint"].values])
        data = data.assign(
            contact_peak_low=("joint", peaks - own * weight),
            contact_peak_high=("joint", peaks + own * weight),
        )
    return data


EACH = [("hip_r", None), ("knee_l", None), ("knee_l", 0.0), ("hip_r", 0.0)]
EACH += [("hip_r", 0.3), ("knee_l", 0.3), ("knee_l", 1.0), ("hip_r", 1.0)]


@pytest.mark.in_part(4)
@pytest.mark.parametrize(("joint", "own"), some(EACH, 2))
def test_a_peak_that_moves_outward_never_gets_a_better_degree(stride, joint, own):
    range_ = measured(joint[:-2], judged(stride).movement)
    middle = 0.5 * (range_.lowest + range_.highest)
    for sign in (
        (1.0, -1.0) if joint == "hip_r" else (1.0,)
    ):  # of this stride only the right stance lies whole
        values = middle + sign * np.linspace(0.0, 2.5, 12)
        found = [
            ORDER.index(judged(with_peak(stride, value, joint, own)).verdict_of(joint[-1]))
            for value in values[values > 0.0]
        ]
        assert found == sorted(found)
        assert found[0] == 0 and found[-1] == 2
        assert (1 in found) == (own != 0.0)


@pytest.mark.parametrize("own", [0.0, 0.1, 0.4, 1.3])
def test_a_peak_is_outside_where_its_whole_band_is(own):
    """As long as the band reaches the range, in the digits that are printed, the peak is at the edge."""
    range_ = measured("hip", Movement("walking", speed=1.3))
    for bound, away in ((range_.highest, 1.0), (range_.lowest, -1.0)):
        printed = round(bound, 1)
        last = printed + away * own
        for value, verdict in (
            (printed, PLAUSIBLE),
            (last, AT_EDGE if own else PLAUSIBLE),
            (last + 0.02 * away, NOT_PLAUSIBLE),
        ):
            # the other end of the band is of no consequence
            band = (value - own, value + 9.0) if away > 0.0 else (value - 9.0, value + own)
            assert range_.verdict(value, band) == verdict


@pytest.mark.parametrize("joint", ["hip", "knee"])
def test_no_peak_is_within_a_range_whose_printed_ends_it_exceeds(joint):
    for speed in np.linspace(0.8, 1.7, 31):
        range_ = measured(joint, Movement("walking", speed=speed))
        low, high = map(float, range_.words.split(" to "))
        for value in np.linspace(low - 0.2, high + 0.2, 201):
            within = low <= float(f"{value:.2f}") <= high
            assert (range_.verdict(value, (value, value)) == PLAUSIBLE) == within


def test_the_own_band_of_the_result_replaces_the_stated_one(stride):
    farthest = round(measured("hip", judged(stride).movement).highest, 1) + 0.005
    beyond = farthest / in_vivo()["own_band"]["hip"][0]
    stated = beyond - farthest
    assert judged(with_peak(stride, beyond - 0.01)).verdict_of("r") == AT_EDGE
    assert judged(with_peak(stride, beyond + 0.01)).verdict_of("r") == NOT_PLAUSIBLE
    assert judged(with_peak(stride, beyond + 0.01, own=stated + 0.2)).verdict_of("r") == AT_EDGE
    assert judged(with_peak(stride, beyond - 0.01, own=0.1)).verdict_of("r") == NOT_PLAUSIBLE
    assert judged(with_peak(stride, beyond - 0.01, own=np.nan)).verdict_of("r") == AT_EDGE
    data = with_verdict(with_peak(stride, beyond - 0.01))
    assert list(data["plausible"].values) == [3, 1]
    assert data["plausible"].attrs["verdict"] == AT_EDGE
    assert judged(data).use and "at the edge; level walking" in summary(data)
    assert run_document(data)["plausibility"]["legs"] == {"right": AT_EDGE, "left": PLAUSIBLE}
    assert judge(Facts(data)).verdict == "with_care"


def test_a_result_with_uncertainty_holds_its_bands(stride):
    peaks = {each.joint: each for each in Facts(stride).contact_peaks}
    newton = np.array([peaks[str(joint)].newton for joint in stride["joint"].values])
    spread = np.array([0.7, 0.9, 1.0, 1.2, 1.5])
    found = stride.drop_dims("quantile", errors="ignore").assign_coords(
        quantile=[0.025, 0.25, 0.5, 0.75, 0.975]
    )
    found["contact_force_peak_quantile"] = (("quantile", "joint"), spread[:, None] * newton)
    for samples, failed_ones in ((10, 0), (60, 20)):
        few = found.assign_attrs(samples=samples, failed_samples=failed_ones)
        assert "contact_peak_low" not in with_uncertainty(stride, few)
    own = with_uncertainty(stride, found.assign_attrs(samples=60, failed_samples=2))
    for joint in ("hip_r", "knee_l"):
        assert float(own["contact_peak_low"].sel(joint=joint)) == pytest.approx(0.7 * peaks[joint].newton)
        assert float(own["contact_peak_high"].sel(joint=joint)) == pytest.approx(1.5 * peaks[joint].newton)
    assert "plausible" in own and own["contact_peak_low"].attrs["units"] == "N"


def test_mirrored_sides_have_mirrored_verdicts(stride):
    data, other = with_peak(stride, 6.0), {"r": "l", "l": "r"}

    def mirrored(name):
        return name[:-1] + other[name[-1]] if name[-2:] in ("_r", "_l") else name

    swapped = data.assign_coords(
        {
            name: [mirrored(str(each)) for each in data[name].values]
            for name in ("joint", "muscle", "dof", "skeleton_point")
            if name in data.coords
        }
    ).assign_coords(side=[other[str(side)] for side in data["side"].values])
    mirror = xr.DataArray([1.0, -1.0, 1.0], {"axis": list("xyz")})
    for name in ("skeleton_position", "ground_reaction_force", "joint_reaction"):
        swapped[name] = (swapped[name] * mirror).transpose(*swapped[name].dims)
    one, two = judged(data), judged(swapped)
    assert {side: one.verdict_of(side) for side in "rl"} == {
        side: two.verdict_of(other[side]) for side in "rl"
    }
    assert one.verdict_of("r") == NOT_PLAUSIBLE and one.verdict_of("l") == PLAUSIBLE


def test_a_residual_has_degrees():
    limits = criteria()["residual"]
    for share, verdict in (
        (0.9 * limits["advised"], PLAUSIBLE),
        (1.1 * limits["advised"], AT_EDGE),
        (0.99 * limits["limit"], AT_EDGE),
        (1.01 * limits["limit"], AT_EDGE),  # its band of 95 % is not beyond
        (1.01 * limits["limit"] / least_factor(2.5 / INDEPENDENT_S), NOT_PLAUSIBLE),
    ):
        data = result()
        data["pelvis_residual"][:] = 0.0
        data["pelvis_residual"][:, 2] = share * WEIGHT
        assert judged(data).verdict == verdict
        assert (judge(Facts(data)).verdict == "usable") == (verdict == PLAUSIBLE)


def test_a_short_residual_is_less_certain():
    """The quantile of chi-square over its degrees of freedom, from tables: 5, 16 and 100 samples."""
    for samples, chi2 in ((5, 11.07), (16, 26.30), (100, 124.34)):
        assert least_factor(samples) == pytest.approx(np.sqrt(samples / chi2), rel=2e-3)


def test_a_residual_moment_is_at_the_edge_alone():
    """Horizontal forces of another scale turn the body, and may leave the forces balanced."""
    data = result().assign_attrs(subject_stature_m=1.8)
    data["pelvis_residual"][:] = 0.0
    height = CENTER_HEIGHT * 1.8
    for share, verdict in ((0.03, PLAUSIBLE), (0.06, AT_EDGE)):
        data["pelvis_residual"][:, 4] = share * WEIGHT * height
        assert judged(data).verdict == verdict
    (said,) = (one.sentence for one in judged(data).comparisons if one.criterion == "residual_moment")
    assert "at the pelvis 6 %" in said and "height of the center of the body" in said
    # the line of the residual names each residual that is beyond its limit
    assert said in summary(data)


@pytest.mark.parametrize("in_use", ["gait2392_hip", "rajagopal_2023", "silva_2003", None])
def test_the_advice_names_nothing_that_is_in_use(stride, in_use):
    data = with_peak(stride, 6.0).assign_attrs(muscle_database=in_use or "model.osim")
    if in_use is None:
        data.attrs["model_file"] = "/somewhere/model.osim"
    for cost in ("knee_sparing_activation", "activation_power", "stress_cubed"):
        found = judged(data.assign_attrs(cost=cost))
        advice = found.remedy(found.failed[0])
        assert cost not in advice and advice.count("_cubed") + advice.count("activation") >= 1
        named = {name for name in ("gait2392_hip", "rajagopal_2023") if name in advice}
        assert named == ({"gait2392_hip", "rajagopal_2023"} - {in_use} if in_use else set())
