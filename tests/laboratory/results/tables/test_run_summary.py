"""The summary says what was solved, what was not, when and why."""

from __future__ import annotations

import re

import numpy as np
import pytest
from said import judgement, plausible, summary
from synthetic_result import WEIGHT, result, set_status, with_cutoffs, with_troubles

from musclesolve import Status


def line(text: str, subject: str) -> str:
    return next(line for line in text.splitlines() if line.startswith(subject))


def test_all_solved():
    text = summary(result())
    assert judgement(result()).complete
    assert line(text, "right leg").split()[2:] == ["60", "solved"]
    assert "WITHOUT" not in text
    assert "1.0e-13" in line(text, "optimality")


def test_troubles_are_counted_named_and_dated():
    data = with_troubles(result())
    assert not judgement(data).complete
    text = summary(data)
    right, left = line(text, "right leg"), line(text, "left leg")
    time = data["time"].values
    assert "51 solved, 6 with reserve (largest 12.5 N m, knee_flexion_r" in right
    assert f"at {time[20]:.3f} s" in right
    assert "3 WITHOUT VALID SOLUTION" in right
    assert "59 solved, 1 WITHOUT VALID SOLUTION" in left
    assert f"infeasible: 3 at {time[40]:.3f} to {time[42]:.3f} s" in text
    assert f"invalid input: 1 at {time[50]:.3f} s" in text


def test_counts_add_up_to_the_frames():
    for data in (result(), with_troubles(result())):
        for subject in ("right leg", "left leg"):
            counts = re.findall(r"(\d+) (?:solved|with|WITHOUT)", line(summary(data), subject))
            assert sum(map(int, counts)) == data.sizes["time"]


def test_a_leg_that_was_not_analyzed_is_not_reported():
    assert "left leg" not in summary(result(sides="r"))


def test_failures_of_the_other_leg_do_not_count():
    data = with_troubles(result(sides="l"))
    set_status(data, Status.SOLVED, 50, 1)
    assert judgement(data).complete


def test_pelvis_residual_in_per_cent_of_body_weight():
    data = result()
    data["pelvis_residual"][:] = 0.0
    data["pelvis_residual"][7, 2] = 0.05 * WEIGHT
    data["pelvis_residual"][9, 4] = -8.0
    text = line(summary(data), "pelvis residual")
    assert "force: peak 5 %" in text
    assert f"rms {5 / np.sqrt(60):.2g} %" in text
    assert "moment: peak 8 N m," in text
    assert "limit" not in text
    data.attrs["balance_limit"] = 0.25
    assert "% of body weight (limit 25 %);" in summary(data)


@pytest.mark.parametrize(
    ("share", "limit", "said"),
    [(0.04, 0.25, False), (0.07, 0.25, True), (0.09, 0.25, True), (0.12, 0.65, False), (0.19, 0.65, True)],
)
def test_a_residual_beyond_what_is_advised_of_the_peak_force_is_said(share, limit, said):
    data = result()
    data["pelvis_residual"][:] = 0.0
    data["pelvis_residual"][:, 2] = share * WEIGHT
    data.attrs["balance_limit"] = limit
    (judged,) = [each for each in plausible(data).comparisons if each.criterion == "residual"]
    assert (judged.sentence in line(summary(data), "pelvis residual")) == said


def test_large_numbers_are_plain():
    data = result()
    data["pelvis_residual"][7, 2] = 11.0 * WEIGHT
    data["pelvis_residual"][9, 4] = 12345.0
    text = line(summary(data), "pelvis residual")
    assert "force: peak 1100 %" in text
    assert "moment: peak 12345 N m," in text


def test_frames_out_of_balance_are_explained():
    data = result()
    data["balanced"] = ("time", np.arange(60) != 30)
    set_status(data, Status.INVALID_MOTION, 30)
    text = summary(data)
    assert "59 solved, 1 WITHOUT VALID SOLUTION" in line(text, "right leg")
    assert f"the ground forces do not balance the motion: 1 at {data['time'].values[30]:.3f} s" in text


def test_the_choices_that_the_numbers_depend_on_are_printed():
    data = result()
    data.attrs |= {"subject": "S01", "trial_file": "/a/walk.toml", "cost": "stress_cubed", "solver": "batch"}
    data.attrs |= {"strength": 1.5, "cutoff_hz": 6.0, "hip_method": "hara_2016"}
    text = summary(data)
    assert (
        line(text, "trial").split(maxsplit=1)[1]
        == "S01,  trial walk.toml,  cost stress_cubed,  solver batch,  strength 1.5"
    )
    assert line(text, "methods").split(maxsplit=1)[1] == "low-pass filter 6 Hz,  hip centers hara_2016"


def test_cutoffs_from_the_data_are_printed_with_their_noise():
    data = with_cutoffs(result())
    text = line(summary(data), "methods")
    assert "low-pass filter, cut-off 4.1 to 7.9 Hz from the data (forces 7.2 Hz), noise 0.4 mm" in text
    data.attrs |= {"filter_method": "spline", "filter_order": 3}
    assert "quintic smoothing spline, cut-off 4.1" in line(summary(data), "methods")


def test_many_stretches_are_cut_short():
    data = result()
    set_status(data, Status.INFEASIBLE, slice(1, 40, 2), 0)
    assert "infeasible: 20 at" in summary(data)
    assert "and 15 more" in summary(data)


def test_no_solution_at_all():
    data = result()
    set_status(data, Status.INFEASIBLE, slice(None))
    data["gap"][:] = np.nan
    assert "no frame has a valid solution" in summary(data)


def test_completed_parts_as_list_or_text():
    data = result()
    data.attrs["completed"] = ["the head follows the trunk", "the hands follow the forearms"]
    listed = summary(data)
    data.attrs["completed"] = "the head follows the trunk\nthe hands follow the forearms"
    assert summary(data) == listed
    assert listed.count("completed ") == 1
    assert ["the", "hands", "follow", "the", "forearms"] in [text.split() for text in listed.splitlines()]


def test_reasons_stand_below_the_leg_they_are_of():
    data = with_troubles(result())
    data.attrs["reasons_r"] = ["the knee lacks 3 N m", "the reserve is large"]
    lines = summary(data).splitlines()
    first = next(k for k, text in enumerate(lines) if text.startswith("left leg"))
    assert [text.strip() for text in lines[first - 2 : first]] == data.attrs["reasons_r"]
    data.attrs["reasons_r"] = "\n".join(data.attrs["reasons_r"])
    assert summary(data).splitlines() == lines


def test_strides_are_described_in_a_line_each():
    data = result()
    data["stride_side"] = ("stride", ["r", "l"])
    for name, values in {
        "stride_start": [0.2, 0.7],
        "stride_end": [1.2, 1.7],
        "cadence": [120.0, 120.0],
        "stance_percent": [60.0, 61.0],
        "double_support_percent": [21.0, np.nan],
        "stride_length": [1.4, np.nan],
        "walking_speed": [1.4, np.nan],
    }.items():
        data[name] = ("stride", values)
    text = summary(data)
    assert (
        "right leg 0.200 to 1.200 s: 120.0 steps a minute, stance 60 %, double support 21 %, 1.40 m" in text
    )
    assert "left leg 0.700 to 1.700 s: 120.0 steps a minute, stance 61 %\n" in text + "\n"


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        (["knee_r 0.0552 m, as stated", "knee_l 0.0552 m, as stated"], " (contacts 55 mm apart, as stated)"),
        (["knee_r 0.0552 m, by stature", "knee_l 0.0461 m, by stature"], "55 and 46 mm apart, by stature)"),
        (["knee_r 0.0552 m"], "body weights (contacts 55 mm apart)"),
        ([], "body weights"),
    ],
)
def test_the_spacing_of_the_contacts_stands_behind_the_peaks(stated, said):
    """Of models it is without its origin, or absent."""
    text = summary(result().assign_attrs(knee_contact_spacing=stated))
    (shown,) = [each for each in text.splitlines() if "of the knee: medial" in each]
    assert shown.endswith(said)
