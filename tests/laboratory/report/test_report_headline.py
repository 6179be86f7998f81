"""The values at the top of a report are those of the dataset."""

from __future__ import annotations

import re
from functools import reduce
from operator import getitem

import numpy as np
import pytest
import xarray as xr
from package_tables import package_table
from report_inputs import Parsed, small, with_emg, written
from said import judgement, remarks, run_document
from synthetic_result import WEIGHT, set_status, with_troubles

from musclesolve import Status
from musclesolve.laboratory.report.inputs import read_inputs
from musclesolve.laboratory.report.page import report_page
from musclesolve.laboratory.report.picture.still import VERDICTS
from musclesolve.laboratory.report.rendering import template, unbroken
from musclesolve.laboratory.report.sections import EXACT, headline
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.plausibility import plausibility
from musclesolve.laboratory.results.result_facts import facts_of


def limits(data) -> str:
    """Return the cautions of a report, and the limits of the trial."""
    return " ".join(remarks(data, "remark", "limit"))


@pytest.fixture
def without_figures(monkeypatch):
    """Figures have tests of their own."""
    monkeypatch.setattr("musclesolve.laboratory.report.sections.figures_of", lambda data, kind: {})


@pytest.fixture
def numbers(tmp_path, without_figures):
    def of(data):
        page = Parsed(report_page(read_inputs([written(data, tmp_path, "result.nc")])))
        return page

    return of


def recomputed(data):
    """The numbers of a headline, straight from the arrays."""
    found = {}
    size = np.linalg.norm(data["joint_reaction"].values, axis=2)
    for column, joint in enumerate(map(str, data["joint"].values)):
        valid = data["valid"].sel(side=joint[-1]).values
        found[f"contact_peak {joint}"] = size[valid, column].max() / WEIGHT
    r = data["emg_correlation"].values
    found |= {"emg.median_correlation": np.median(r), "emg.mean_correlation": r.mean()}
    found |= {"emg.best[r]": r.max(), "emg.weakest[r]": r.min()}
    for part in ("peak", "rms"):
        found[f"pelvis_residual.{part}_force_percent_body_weight"] = 100.0 * np.sqrt(3.0) * 7.0 / WEIGHT
        found[f"pelvis_residual.{part}_moment_nm"] = np.sqrt(3.0) * 7.0
    shift = data["consistency_shift"].values
    found |= {"consistency.rms_m": 1e3 * np.sqrt(np.mean(shift**2)), "consistency.worst_m": 1e3 * shift.max()}
    found["full.count"] = 1
    return found


def test_every_number_of_the_headline_is_that_of_the_dataset(numbers):
    data = with_emg(with_troubles(small()))
    data["joint_reaction"][30, 0] = [0.0, 0.0, 5.2 * WEIGHT]
    data["activation"][10, 0] = 1.0
    page, expected = numbers(data), recomputed(data)
    assert expected.keys() <= page.numbers.keys()
    for name, values in page.numbers.items():
        number = expected[name] if name in expected else stated(data, name)
        assert values == pytest.approx([number] * len(values), rel=1e-12), name


def test_a_mass_from_the_plates_is_no_weighed_one(numbers):
    said = "(from the plates, not weighed)"
    weighed, carried = (small().assign_attrs(subject_mass_from=name) for name in ("scale", "plates"))
    assert said not in numbers(weighed).text and numbers(carried).text.count(said) >= 2
    compared = [
        {one.criterion for one in plausibility(Facts(data)).comparisons} for data in (weighed, carried)
    ]
    assert compared[0] - compared[1] <= {"mass"} and "mass" not in compared[1]


def stated(data, name):
    """The number of a statement that was added, in the document of `--json`."""
    return reduce(getitem, name.split("."), run_document(data))


def test_printed_numbers_are_the_rounded_ones(numbers):
    page = numbers(with_emg(with_troubles(small())))
    for name, values in page.numbers.items():
        for value, text in zip(values, page.printed[name], strict=True):
            assert float(text) == pytest.approx(value, rel=0.06, abs=0.051), name


def test_peaks_leave_out_frames_without_valid_solution():
    data = small()
    set_status(data, Status.INVALID_MOTION, 30, 0)
    data["joint_reaction"][30, 0] = 1e6
    peak = next(each for each in Facts(data).contact_peaks if each.joint == "hip_r")
    assert peak.body_weights < 10.0


@pytest.mark.parametrize(
    ("status", "where", "verdict"),
    [
        (Status.SOLVED, slice(None), "usable"),
        (Status.SOLVED_WITH_RESERVE, 3, "with_care"),
        (Status.SOLVED_WITH_RESERVE, slice(None), "with_care"),
        (Status.INFEASIBLE, 3, "with_care"),
        (Status.INVALID_MOTION, slice(None), "not_usable"),
        (Status.NOT_MEASURED, slice(None), "not_usable"),
        (Status.NOT_MEASURED, 3, "usable"),
    ],
)
def test_the_verdict_follows_from_the_frames(status, where, verdict):
    data = small()
    set_status(data, status, where)
    assert judgement(data).verdict == verdict


def test_limits_name_what_is_missing_or_at_its_bounds():
    data = with_emg(small(musclesolve_version="0.0.1"))
    data["activation"][5, 1] = 1.0
    text = limits(data.sel(side=["r"]).isel(muscle=[0, 1]))
    for word in ("Only the muscles of the right leg", "full activation", "0.0.1"):
        assert word in text, word
    assert "No EMG was given" in limits(small())


def test_a_result_with_a_caution_is_not_green():
    sound, disagreeing, full = small(), with_emg(small()), small()
    full["activation"][:30, 0] = 1.0
    found = {each.code for each in judgement(sound).findings}
    for data, code in ((disagreeing, "emg_disagrees"), (full, "full_activation")):
        judged = judgement(data)
        assert code in {each.code for each in judged.of("warning")} - found
        assert (
            judged.verdict not in ("usable", "with_care")
            or package_table("laboratory/results/findings.toml")[code]["about"] in judged.use
        )
        assert judged.verdict != "usable"


def test_a_damaged_part_leaves_the_other_limits():
    data = small().drop_vars(["pelvis_residual", "joint_reaction", "reserve_moment"])
    assert "EMG" in limits(data)
    assert frames.sides(data) == ["r", "l"]


@pytest.mark.parametrize(("percent", "verdict"), [(2.0, "usable"), (7.0, "with_care"), (20.0, "not_usable")])
def test_loads_that_do_not_carry_the_motion_of_a_model_are_in_the_headline(percent, verdict):
    data = small(root_residual_rms_n=percent / 100.0 * WEIGHT).drop_vars("pelvis_residual")
    found = headline(Facts(data), facts_of(data))
    assert found.judgement.verdict == verdict
    assert any("at the root of the model" in each.sentence for each in found.findings) == (percent > 5.0)


def test_one_muscle_is_not_several():
    data = small()
    data["activation"][5, 1] = 1.0
    text = limits(data)
    assert "muscle works at full activation" in text
    assert "muscles work " not in text


@pytest.mark.parametrize(
    ("speed", "share", "stated"), [(2.0, 0.5, True), (-2.0, 0.5, False), (2.0, 1.2, False)]
)
def test_shortening_is_the_reason_of_full_activation_where_it_is(speed, share, stated):
    data = small().assign_coords(optimal_fiber_length=("muscle", np.full(small().sizes["muscle"], 0.05)))
    data["activation"][5, 1] = 1.0
    data["fiber_velocity"] = xr.full_like(data["activation"], -0.05 * speed)
    data["force_capacity"] = share * data["max_isometric_force"] * xr.ones_like(data["activation"])
    text = limits(data)
    assert ("50 to 50 % of its maximum isometric force" in text) == stated
    assert ("shorten by up to 2.0 optimal lengths" in text) == stated


def test_a_remedy_of_several_findings_is_said_once():
    data = small()
    data["joint_reaction"][30] = 20.0 * WEIGHT
    top = headline(Facts(data), facts_of(data))
    found = top.findings
    remedies = [each.value["remedy"] for each in found]
    assert len(remedies) > len(set(remedies))
    text = " ".join(each.sentence for each in found)
    for remedy in set(remedies):
        assert text.count(remedy) == 1
        tail = remedy.rpartition("; ")[2]
        assert tail not in top.detail and tail not in top.why
        count = remedies.count(remedy)
        assert count == 1 or f"Remedy of these {count}: {remedy}" in text


def test_the_verdict_stands_beside_what_it_does_not_say(numbers):
    for peak, marked in ((2.5, False), (4.2, True)):
        data = small()
        data["joint_reaction"][:] = 0.0
        data["joint_reaction"].loc[{"joint": "hip_r"}][30] = [0.0, 0.0, peak * WEIGHT]
        text = numbers(data).text
        assert text.count("They are no diagnosis, and no basis for treatment") == 2  # and under the limits
        assert ("do not use its size in newtons" in text) == marked


def test_the_calculation_is_called_exact_where_every_frame_has_its_certificate():
    sound, unknown, failed = small(), small().drop_vars("gap"), small()
    set_status(failed, Status.INFEASIBLE, 3)
    exact = [headline(Facts(data), facts_of(data)).exact == EXACT for data in (sound, unknown, failed)]
    assert exact == [True, False, False]


def test_verdicts_have_one_color_in_page_and_still():
    style = template("style.css")
    variables = dict(re.findall(r"--(\w+): (#\w+);", style.partition("}")[0]))
    for name, color in VERDICTS.items():
        rules = re.findall(r"(?m)^([^{\n]*\.badge[^{\n]*)\{[^}]*background: var\(--(\w+)\)", style)
        own = [variable for rule, variable in rules if f".badge.{name}" in rule.replace(" ", ",").split(",")]
        assert variables[own[0] if own else "good"] == color, name


def test_frames_without_certificate_are_to_be_used_with_care():
    assert judgement(small().drop_vars("gap")).verdict == "with_care"


def test_a_small_number_does_not_break_at_its_hyphen():
    assert unbroken("a gap of 3.9e-29 <b>") == 'a gap of <span class="number">3.9e-29</span> &lt;b&gt;'
