"""The view of a result in a notebook, whatever was done to the Dataset before; the moving picture in a cell."""

from __future__ import annotations

import base64
import copy
import pickle
import re
from html import unescape

import pytest
import xarray as xr
from browser import DESKTOP, PHONE, chromium, needs_chromium, opened
from refusals import refused
from report_inputs import Parsed, compared, small, uncertain
from stored_results import write_result
from synthetic_result import with_troubles

import musclesolve as ms
from musclesolve.laboratory.report import notebook
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.tables.question_tables import answer_sentences

RANDOM = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@pytest.fixture(scope="module")
def stride(stride_result) -> xr.Dataset:
    return stride_result.copy(deep=True)


@pytest.fixture(scope="module")
def stride_html(stride) -> str:
    return shown(stride)


@pytest.fixture
def undrawn(monkeypatch) -> None:
    """A frame in the place of each figure: drawing is most of the time of a view."""
    monkeypatch.setattr(notebook, "drawn", lambda draw, label, style: "")


def shown(data: xr.Dataset) -> str:
    """The HTML of a cell; marimo takes plain texts alone."""
    html = data.musclesolve._repr_html_()
    assert type(html) is str
    return html


def plain(data: xr.Dataset) -> str:
    """Return the view of xarray, without its random ids."""
    return RANDOM.sub("", data._repr_html_())


def figures(html: str) -> str:
    """The figures of a view as SVG."""
    images = re.findall(r"data:image/svg\+xml;base64,([^\"]+)", html)
    return "".join(base64.b64decode(image).decode() for image in images)


def test_a_result_shows_verdict_curves_contact_forces_and_the_table_of_xarray(stride, stride_html):
    page, facts = Parsed(stride_html), Facts(stride)
    text = re.sub(r"<[^>]+>", "", page.text)
    for words in (
        "Usable: certified and plausible",
        "All 132 analyzed leg-frames",
        "knee_sparing_activation",
    ):
        assert words in text
    assert stride.attrs["subject"] in text
    for name in ("triceps surae", "knee flexion", "gait cycle of each leg"):
        assert name in figures(stride_html)
    assert len(facts.contact_peaks) == 6
    for peak in facts.contact_peaks:
        assert f"{peak.body_weights:.2f}{peak.newton:.0f}{peak.time:.2f}" in text
    assert page.tags.count("script") == 0 and page.tags.count("figure") == 2
    assert plain(stride) in RANDOM.sub("", page.text)
    assert page.text.index("<details><summary>All") < page.text.index("xr-wrap")


KEEP = {
    "copy": lambda data: data.copy(deep=True),
    "copy.copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda data: pickle.loads(pickle.dumps(data)),
    "assign": lambda data: data.assign(twice=2.0 * data["muscle_force"]),
    "assign_attrs": lambda data: data.assign_attrs(note="mine"),
    "drop_vars": lambda data: data.drop_vars("joint_angle"),
    "sel": lambda data: data.sel(time=slice(0.5, 1.0)),
    "isel": lambda data: data.isel(muscle=slice(0, 43)),
    "concat": lambda data: xr.concat(
        [data.isel(time=slice(0, 40)), data.isel(time=slice(40, None))], "time", data_vars="minimal"
    ),
}
"""What returns a result again."""


@pytest.mark.in_part(3)
@pytest.mark.parametrize("name", KEEP)
def test_what_is_done_to_a_result_keeps_its_view(stride, stride_html, name, request):
    """Other times or parts are drawn; what is the same result again, or has the same curves, is not."""
    if name not in ("sel", "concat"):
        request.getfixturevalue("undrawn")
    given = KEEP[name](stride)
    html = shown(given)
    assert "ms-result" in html
    assert html.count("<figure") == stride_html.count("<figure") == 2
    if "copy" in name or name == "pickle":
        assert given.identical(stride)


LOSE = {
    "variables": lambda data: data[["muscle_force"]],
    "status": lambda data: data.drop_vars("status"),
    "time": lambda data: data.isel(time=3),
    "mean": lambda data: data.mean("time"),
    "side": lambda data: data.sel(side="r"),
    "nothing left": lambda data: data.isel(time=slice(0, 0)),
    "names twice": lambda data: xr.concat([data, data], "time", data_vars="minimal"),
    "not a status": lambda data: data.assign(status=data["status"] + 100),
}


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", LOSE)
def test_what_is_no_result_any_more_is_shown_by_xarray(stride, name):
    given = LOSE[name](stride)
    assert RANDOM.sub("", shown(given)) == plain(given)


def test_a_damaged_part_is_named_in_its_place(stride):
    given = stride.drop_vars("joint_moment")
    text = shown(given)
    assert "ms-absent" in text and "joint_moment" in text.split("ms-absent")[-1].split("</p>")[0]
    assert "triceps surae" in figures(text)


def test_showing_a_result_never_fails(stride, monkeypatch):
    def broken(*_: object) -> str:
        raise RuntimeError("<b>a fault</b>\nof the program")

    monkeypatch.setattr(notebook, "result_view", broken)
    assert RANDOM.sub("", shown(stride)) == (
        "<p>The view of this result is missing: RuntimeError: &lt;b&gt;a fault&lt;/b&gt;</p>" + plain(stride)
    )


def test_a_display_style_of_text_is_respected(stride):
    with xr.set_options(display_style="text"):
        assert shown(stride).startswith("<pre>")


@pytest.mark.thorough
def test_a_file_keeps_what_is_shown(stride, stride_html, tmp_path):
    write_result(stride, tmp_path / "result.nc")
    again = ms.read_result(tmp_path / "result.nc")
    assert again.equals(stride)
    again.close()
    assert again.encoding["source"] == str(tmp_path / "result.nc")
    kept, made = Parsed(shown(again)).numbers, Parsed(stride_html).numbers
    assert list(kept) == list(made)
    for name, numbers in made.items():  # a mean over an array depends on the order of the array in memory
        assert kept[name] == pytest.approx(numbers, rel=1e-12), name
    stride.to_netcdf(tmp_path / "plain.nc")
    assert ms.read_result(tmp_path / "plain.nc").equals(stride)


@pytest.mark.thorough
def test_studies_are_shown_as_what_they_are(stride):
    data = small()
    comparison, found = compared(data), uncertain(data)
    assert "<b>Comparison of costs</b>" in shown(comparison) and "force_squared" in shown(comparison)
    assert "<b>Uncertainty of a trial</b>" in shown(found) and "Sources of error" in shown(found)
    for without_side in (False, True):
        cycles = ms.laboratory.cycles(stride, "r", partial=True, without_side=without_side, strides=True)
        text = shown(ms.laboratory.average_cycles(cycles))
        assert (
            "<b>Average of gait cycles</b>" in text
            and "cadence [steps/min]" in text
            and "data:image/svg+xml" in text
        )


@pytest.mark.usefixtures("undrawn")
def test_frames_without_a_solution_are_in_the_headline():
    text = shown(with_troubles(small()))
    assert "Usable in part" in text or "Not plausible" in text


@pytest.mark.thorough
@pytest.mark.usefixtures("undrawn")
def test_an_answer_shows_its_sentences_the_verdict_and_the_tables_of_its_command(stride):
    found = ms.studies.coordination(stride)
    page = Parsed(shown(found))
    text = unescape(re.sub(r"<[^>]+>", "", page.text))
    assert all(said in text for said in answer_sentences(found, "coordination"))
    assert "Verdict on the trial: Usable" in text and "co-contraction, mean [1]" in text
    assert page.tags.count("figure") == 3 and plain(found) in RANDOM.sub("", page.text)
    part = found[["joint_stiffness"]]
    assert RANDOM.sub("", shown(part)) == plain(part)
    none = xr.Dataset(attrs={"question": "contributions", "no_answer": "ground reactions are not known"})
    assert "There is no answer: ground reactions are not known" in shown(none)


@pytest.mark.usefixtures("undrawn")
def test_texts_of_a_file_are_escaped(stride):
    text = shown(stride.assign_attrs(subject="<script>alert(1)</script>"))
    assert "<script" not in text


def test_a_result_is_a_plain_dataset_with_an_accessor(stride):
    assert type(stride) is xr.Dataset
    assert repr(stride.musclesolve) == repr(stride)


def test_the_moving_picture_is_a_frame_with_a_page_of_its_own(stride):
    picture = ms.laboratory.moving_picture(stride, 500)
    html = picture._repr_html_()
    assert (
        type(html) is str and html.startswith("<iframe ") and "max(500px" in html and len(repr(picture)) < 80
    )
    inside = unescape(re.search(r'srcdoc="([^"]*)"', html)[1])
    assert inside == picture.page and "<!DOCTYPE html>" in inside
    with refused("bad_number", "height"):
        ms.laboratory.moving_picture(stride, 100)
    with refused("bad_result"):
        ms.laboratory.moving_picture(stride[["muscle_force"]])


@pytest.fixture(scope="module")
def cells(stride, stride_html, tmp_path_factory):
    """A page with the cells of a notebook."""
    file = tmp_path_factory.mktemp("cells") / "cells.html"
    parts = (stride_html, ms.laboratory.moving_picture(stride)._repr_html_())
    head = '<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    file.write_text(head + "".join(f"<div>{part}</div>" for part in parts), encoding="utf-8")
    return file


@needs_chromium
def test_cells_in_a_browser(cells):
    """No error, no request, nothing to scroll sideways; the whole picture with its controls within its frame."""
    with chromium() as browser:
        for size in (DESKTOP, PHONE):
            with opened(cells, size, browser) as found:
                page = found.page
                page.evaluate("document.querySelector('iframe').scrollIntoView()")
                frame = page.frames[1]
                frame.wait_for_function("() => document.querySelector('.ms-picture')?.picture !== undefined")
                assert found.errors == [] and found.requests == []
                assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
                across, down = frame.evaluate(
                    "() => { const of = document.documentElement;"
                    " return [of.scrollWidth - of.clientWidth, of.scrollHeight - of.clientHeight] }"
                )
                assert across <= 0 and down <= 0
                widths = page.evaluate(
                    "[...document.querySelectorAll('figure img')].map(each => each.clientWidth)"
                )
                assert len(widths) == 2 and min(widths) > 0.75 * min(size[0], 550)
