"""The moving picture in a cell of a notebook: a frame with a page of its own."""

from __future__ import annotations

import re
from html import unescape

import pytest
import xarray as xr
from browser import DESKTOP, PHONE, chromium, needs_chromium, opened
from refusals import refused

import musclesolve as ms


@pytest.fixture(scope="module")
def stride(stride_result) -> xr.Dataset:
    return stride_result.copy(deep=True)


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


@needs_chromium
def test_a_cell_in_a_browser(stride, tmp_path):
    """No error, no request, nothing to scroll sideways; the whole picture with its controls within its frame."""
    file = tmp_path / "cell.html"
    head = '<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    file.write_text(
        f"{head}<div>{ms.laboratory.moving_picture(stride)._repr_html_()}</div>", encoding="utf-8"
    )
    with chromium() as browser:
        for size in (DESKTOP, PHONE):
            with opened(file, size, browser) as found:
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
