"""The page: whole for every input, alone in the world, and safe."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import pytest
from report_inputs import Parsed, compared, small, uncertain, with_emg, written
from stored_results import write_result
from synthetic_result import set_status, with_fascicles, with_troubles
from thorough import THOROUGH

import musclesolve as ms
from musclesolve import Status
from musclesolve.laboratory.report import page as making
from musclesolve.laboratory.report import rendering, sections
from musclesolve.laboratory.report.content.verdict_strip import PATTERNS, verdict_strip
from musclesolve.laboratory.report.inputs import read_inputs
from musclesolve.laboratory.report.page import report_page, trial_report
from musclesolve.laboratory.report.rendering import css_string
from musclesolve.laboratory.results.cycles.cycle_averages import average_results
from musclesolve.laboratory.results.dataset.frame_validity import MOTION_FAULTS
from musclesolve.laboratory.results.facts import Facts
from musclesolve.sharing.status import verdict_words
from musclesolve.studies.many_trials.one_trial import analyze

ALWAYS = [
    name for name, spec in sections.specifications().items() if name != "further" and "only_with" not in spec
]


@pytest.fixture
def page(tmp_path, monkeypatch):
    """The page of datasets; without figures unless asked for."""

    def of(*data, figures=False):
        if not figures:
            monkeypatch.setattr("musclesolve.laboratory.report.sections.figures_of", lambda data, kind: {})
            monkeypatch.setattr("musclesolve.laboratory.report.page.figures_of", lambda data, kind: {})
        paths = [written(each, tmp_path, f"{number}.nc") for number, each in enumerate(data)]
        return Parsed(report_page(read_inputs(paths)))

    return of


def test_the_page_made_with_a_result_is_the_page_of_its_file(tmp_path):
    """Made from the numbers in memory, which need not be read again; of a name that no file can hold, too."""
    trial, path = ms.data.reference_stride(), tmp_path / "result.nc"
    result, _ = analyze(trial, tmp_path, {}, figures=False, progress=lambda *_: None)
    if THOROUGH:
        read = report_page(read_inputs([path])).encode("utf-8", "replace")
        assert trial_report(result, path) == read
    named = result.assign_attrs(subject="a\udcffb")
    write_result(named, path)
    read = report_page(read_inputs([path])).encode("utf-8", "replace")
    assert trial_report(named, path) == read and rb"a\xffb" in read


def test_the_code_of_templates_is_kept_where_python_keeps_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    values = dict.fromkeys(("overview", "trials", "averages", "methods"), ())
    pages = []
    for _ in range(2):
        rendering._environment.cache_clear()
        pages.append(rendering.rendered("contents.html", **values))
        monkeypatch.setattr("jinja2.Environment.compile", None)  # not needed the second time
    rendering._environment.cache_clear()
    assert pages[0] == pages[1] and list(tmp_path.rglob("*.pyc"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A page of every kind of file, with its figures."""
    folder, data = tmp_path_factory.mktemp("whole"), with_emg(with_troubles(small()))
    kinds = {"result": data, "uncertainty": uncertain(data), "comparison": compared(data)}
    paths = [written(each, folder, f"{name}.nc") for name, each in kinds.items()]
    averaged = written(average_results(paths[:1]), folder, "average.nc")
    return Parsed(report_page(read_inputs([averaged, *paths])))


def test_every_section_is_there_in_its_order(whole):
    lacking = [name for name in whole.sections if f'<dt id="t1-s-{name}"' in whole.text]
    there = [name for name in whole.sections if name not in lacking]
    for part in (there, lacking):
        assert part == [name for name in sections.specifications() if name in part]
    assert {*there, *lacking} - {"further"} == {*ALWAYS} and len(there) > 10
    assert "averages" in whole.ids and "methods" in whole.ids


def test_nothing_of_a_whole_file_is_at_fault(whole):
    for fault in ("is not here", "cannot be made of this file", "could not be", "cannot be shown"):
        assert fault not in whole.text


def test_a_fault_of_the_program_is_raised_and_no_sentence_of_the_page(page, monkeypatch):
    def wrong(trial):
        return trial.no_such_attribute

    monkeypatch.setattr(sections.content, "joints", wrong)
    with pytest.raises(AttributeError):
        page(small())


def test_the_page_asks_for_nothing(whole):
    assert whole.links
    for attribute, address in whole.links:
        assert address.startswith("#") or address == "data:,", (attribute, address)
    assert not re.findall(r"@import|<iframe|<object|<embed", whole.text)
    assert all(found.startswith("#") for found in re.findall(r"url\(([^)]*)\)", whole.text))


def test_ids_are_unique_and_every_link_leads_somewhere(whole):
    assert len(whole.ids) == len(set(whole.ids))
    used = {address[1:] for _, address in whole.links if address.startswith("#")}
    used |= set(
        re.findall(r"url\(#([^)]*)\)", re.sub(r"<script.*?</script>", "", whole.text, flags=re.DOTALL))
    )
    assert used - set(whole.ids) == set()


def test_headings_are_in_order(whole, page):
    for each in (whole, page(small(), small(trial_file="/other/run.toml", inputs=["markers x sha256:cc"]))):
        assert each.headings[0] == 1 and each.headings.count(1) == 1
        steps = pairwise(each.headings)
        assert all(deeper - before <= 1 for before, deeper in steps)


def test_figures_are_named_for_those_who_do_not_see_them(whole):
    drawn = re.findall(r"<svg [^>]*>", whole.text)
    assert len([each for each in drawn if "data-across" in each]) > 20
    assert all("aria-label=" in each or "aria-hidden=" in each for each in drawn)


def test_the_head_has_each_line_stated_or_not_and_every_printed_page_its_name(page):
    parts = {"recording_date": "2026-05-04", "recording_condition": "barefoot", "subject_age_years": 31.0}
    blank, filled = (page(small(**stated)).text for stated in ({}, parts))
    for name, value in (("recorded on", "2026-05-04"), ("condition", "barefoot"), ("age", "31 years")):
        assert f"<dt>{name}</dt><dd>{value}</dd>" in filled
        assert f"<dt>{name}</dt><dd>not stated</dd>" in blank
    margins = re.findall(r"@page {.*@top-left.*}", filled)
    assert len(margins) == 1 and "counter(page)" in margins[0]
    assert "S01" in margins[0] and "2026" in margins[0]


def test_a_name_in_the_margin_of_a_page_is_a_string_of_css():
    assert css_string('Ann O"1') == '"Ann O\\22 1"'
    assert not set(css_string('a";}</style><b>\n\\')[1:-1]) & set('"<>;}\n')


def test_names_are_text_and_not_markup(page):
    evil = "<script>alert(1)</script>"
    data = with_troubles(
        small(
            subject=evil,
            trial_file=f"/x/{evil}.toml",
            notes=[evil],
            reasons_r=[evil],
            cost=evil,
            hip_method=evil,
        )
    )
    found = page(with_emg(data).assign_coords(channel=[evil, "b"]), figures=True)
    assert "alert(1)" in found.text
    scripts = re.findall(r"<script[^>]*>", found.text)
    assert [each for each in scripts if "application/json" not in each] == ["<script>"]
    assert "<script>alert" not in found.text


def one_frame(data):
    return data.isel(time=[3])


def no_contact(data):
    return data.drop_vars(["joint_reaction", "joint_reaction_net"])


def all_invalid(data):
    data = data.copy(deep=True)
    set_status(data, Status.INVALID_MOTION, slice(None))
    for name in ("activation", "muscle_force", "joint_reaction", "gap"):
        data[name][:] = float("nan")
    return data


def minimal(data):
    return data[["status", "valid", "activation", "muscle_force"]].assign_attrs({})


def right_leg(data):
    return data.isel(muscle=[str(name).endswith("_r") for name in data["muscle"].values])


@pytest.mark.parametrize(
    "change", [one_frame, no_contact, all_invalid, minimal, right_leg, compared, uncertain]
)
def test_whatever_is_missing_the_page_is_whole(page, change):
    found = page(change(small()), figures=change in (one_frame, no_contact))
    assert sorted({*found.sections} - {"further"}) == sorted(ALWAYS)
    assert "Traceback" not in found.text and "cannot be made of this file" not in found.text


def test_an_absent_section_says_why(page):
    text = page(no_contact(small()), figures=True).text
    assert "This file holds no joint contact forces" in text
    assert "figure “contact forces” is not here" not in text  # the section is absent as a whole


def test_a_part_that_is_damaged_is_said_and_the_rest_is_there(page):
    found = page(small().assign(joint_reaction=("time", small()["time"].values)))
    assert "cannot be made of this file" in found.text
    assert sorted({*found.sections} - {"further"}) == sorted(ALWAYS)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", ["joint_reaction", "gap", "reserve_moment"])
def test_damage_of_what_the_headline_states_leaves_the_page_whole(page, name):
    data = with_troubles(small())
    found = page(data.assign({name: data[name].astype(str)}), small(trial_file="/b.toml", inputs=[]))
    assert sorted(each for each in found.sections if each != "further") == sorted(2 * ALWAYS)


def test_results_of_different_subjects_are_pointed_out(page):
    other = small(subject="S02", trial_file="/other/b.toml", inputs=["markers x sha256:cc"])
    text = page(small(), other).text
    assert "different subjects" in text and "S01; S02" in text
    assert "different subjects" not in page(small()).text


def test_trials_that_were_not_computed_alike_are_pointed_out(page):
    other = small(cost="force_squared", trial_file="/other/b.toml", inputs=["markers x sha256:cc"])
    assert "cost: activation_volume or force_squared" in page(small(), other).text


def test_figures_are_left_out_before_the_page_is_too_large(page, monkeypatch):

    monkeypatch.setattr(making, "MOST_BYTES", 60_000)
    found = page(small(), figures=True)
    assert len(found.text) < 210_000
    assert making.LEFT_OUT in found.text


def test_stretches_cover_every_frame_once():
    data = with_troubles(small())
    legs = Facts(data).legs
    for leg in legs.values():
        ends = [(each.first, each.stop) for each in leg.stretches]
        assert ends[0][0] == 0 and ends[-1][1] == data.sizes["time"]
        assert all(before[1] == after[0] for before, after in pairwise(ends))
    verdicts = {each.verdict for each in legs["r"].stretches}
    assert verdicts == {"solved", "solved_with_reserve", "infeasible"}


def test_every_status_and_every_fault_of_a_motion_has_a_meaning():

    known = verdict_words()
    assert {status.name.lower() for status in Status} | set(MOTION_FAULTS.values()) <= set(known)
    assert {each["pattern"] for each in known.values()} <= set(PATTERNS)


def test_the_strip_is_the_same_in_every_process():

    data = with_troubles(small())
    stretches = {side: leg.stretches for side, leg in Facts(data).legs.items()}
    patterns = re.findall(r'<pattern id="key-(\w+)"', verdict_strip(data, stretches, verdict_words(), "key"))
    assert len(patterns) > 2 and patterns == sorted(patterns)


def test_measured_fascicle_lengths_have_a_section_where_there_are_any(page):
    """With a table of the errors in millimeters; pages of other results are without it."""
    (first, second) = (page(data) for data in (with_fascicles(small()), small()))
    assert "fascicles" in first.sections and "fascicles" not in second.sections
    for part in ("US1", "5.0", "US2", "2.0", "standard deviation of 3 mm"):
        assert part in first.text
