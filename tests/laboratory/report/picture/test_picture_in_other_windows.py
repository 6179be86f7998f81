"""The page on a phone, in a page of something else, and without WebGL."""

from __future__ import annotations

from pathlib import Path

import pytest
import xarray as xr
from browser import PHONE, needs_chromium, opened

from musclesolve.laboratory.report.picture.moving_picture import picture_fragment

pytestmark = needs_chromium
START = "() => document.querySelector('.ms-picture').picture !== undefined"

OBSERVED = """() => new Promise(done => new IntersectionObserver(() => requestAnimationFrame(done))
    .observe(document.querySelector('.ms-picture')))"""
"""Ends after the page has been told which of its elements are seen."""


def part(name: str) -> str:
    return f'[data-msp="{name}"]'


@pytest.mark.thorough
def test_a_phone_needs_no_sideways_scrolling(page_file: Path) -> None:
    with opened(page_file, PHONE) as found:
        found.page.wait_for_function(START)
        assert found.page.evaluate("() => document.documentElement.scrollWidth") <= PHONE[0]
        area = found.page.locator(part("canvas")).bounding_box()
        assert area["width"] > 300 and area["height"] > 350
        assert found.page.locator(part("play")).is_visible()
        assert found.errors == [] and found.requests == []


def test_a_fragment_waits_until_it_is_seen_and_leaves_the_rest_of_its_page_alone(
    stride: xr.Dataset, tmp_path: Path
) -> None:
    rest = "<p id='one' class='stage'>before</p><div style='height:3000px'></div>"
    file = tmp_path / "report.html"
    file.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><body>{rest}{picture_fragment(stride)}", encoding="utf-8"
    )
    with opened(file) as found:
        page = found.page
        names = "() => Object.keys(window)"
        before = page.evaluate(names)
        page.evaluate(OBSERVED)
        assert not page.evaluate(START), "not started out of view"
        style = "() => getComputedStyle(document.getElementById('one')).position"
        assert page.evaluate(style) == "static"
        page.locator(part("play")).scroll_into_view_if_needed()
        page.wait_for_function(START)
        assert page.evaluate(names) == before and "__THREE__" not in before and found.errors == []
        frame = page.locator(part("canvas")).get_attribute("data-frame")
        page.keyboard.press("ArrowRight")
        assert page.locator(part("canvas")).get_attribute("data-frame") == frame, "keys belong to the page"


def test_without_webgl_there_is_a_sentence(page_file: Path, tmp_path: Path) -> None:
    text = page_file.read_text(encoding="utf-8")
    without = "<script>HTMLCanvasElement.prototype.getContext = () => null;</script>"
    file = tmp_path / "no_webgl.html"
    file.write_text(text.replace("<head>", f"<head>{without}", 1), encoding="utf-8")
    with opened(file) as found:
        found.page.wait_for_function(f"() => !document.querySelector('{part('failed')}').hidden")
        assert "WebGL" in found.page.locator(part("failed")).inner_text()
        assert found.errors == []
