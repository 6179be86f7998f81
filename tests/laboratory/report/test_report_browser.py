"""The page in a browser: no error, no request, readable on a phone, whole on paper."""

from __future__ import annotations

import pytest
from browser import DESKTOP, PHONE, chromium, needs_chromium, opened
from command_line import typed
from report_inputs import small, with_emg, written
from synthetic_result import with_troubles

from musclesolve.laboratory.plotting.page.dark_colors import DARK, LIGHT, contrast, dark_color
from musclesolve.laboratory.plotting.page.page_style import GRID_COLOR, NOTE_COLOR, SIDE_COLOR, STANCE_COLOR
from musclesolve.laboratory.plotting.study.comparison_figures import COST_COLORS

pytestmark = needs_chromium


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page of two trials."""
    folder = tmp_path_factory.mktemp("browser")
    other = small(trial_file="/other/second.toml", inputs=["markers x sha256:cc"], subject="S02")
    paths = [written(with_emg(with_troubles(small())), folder, "a.nc"), written(other, folder, "b.nc")]
    assert typed("report", *paths, "-o", folder / "report.html").exit_code == 0
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def shown(page, browser):
    """The page in one window; each test brings it to the state from which it begins."""
    with opened(page, browser=browser) as found:
        yield found


def fits(shown, width):
    shown.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.errors == [] and shown.requests == []


def test_no_error_no_request_no_sideways_scrolling(shown):
    fits(shown, DESKTOP[0])


def test_nor_on_a_phone(page, browser):
    with opened(page, PHONE, browser) as shown:
        fits(shown, PHONE[0])


def test_a_link_opens_the_trial_that_it_leads_into(shown):
    shown.page.evaluate("document.getElementById('t2').open = false")
    shown.page.evaluate("location.hash = '#t2-s-limits'")
    shown.page.wait_for_function("document.getElementById('t2').open")


@pytest.mark.thorough
def test_on_paper_every_trial_is_open_and_no_figure_is_taller_than_a_page(shown):
    shown.page.evaluate("document.getElementById('t2').open = false")
    shown.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    shown.page.emulate_media(media="print")
    assert shown.page.evaluate("document.getElementById('t2').open")
    heights = shown.page.evaluate(
        "[...document.querySelectorAll('.drawing svg, .panel svg')].map(each => each.getBoundingClientRect().height)"
    )
    assert len(heights) > 8 and max(heights) < 267.0 / 25.4 * 96.0
    assert shown.page.pdf().startswith(b"%PDF")
    shown.page.emulate_media(media="screen")
    shown.page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_paper_has_every_warning_the_limits_and_the_recording_and_names_what_it_lacks(shown):
    shown.page.evaluate("document.querySelectorAll('main details').forEach(each => each.open = false)")
    shown.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    shown.page.emulate_media(media="print")
    printed = shown.page.evaluate("document.body.innerText")
    warnings = shown.page.evaluate(
        "[...document.querySelectorAll('#t1 .against li')].map(each => each.textContent)"
    )
    assert len(warnings) > 3 and all(text.strip() in printed for text in warnings)
    for section in ("limits", "recording"):
        assert shown.page.evaluate(f"document.querySelector('#t1-s-{section}').innerText") in printed
    methods = shown.page.evaluate("document.querySelector('#methods-text').textContent.slice(0, 60)")
    (lacking,) = (line for line in printed.splitlines() if line.startswith("In the page itself"))
    assert methods not in printed and "Methods, for a paper, with the references" in lacking
    assert "Limits" not in lacking
    shown.page.emulate_media(media="screen")
    shown.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not shown.page.evaluate("document.querySelector('#t1-s-limits').open")
    shown.page.evaluate("document.querySelectorAll('main details').forEach(each => each.open = true)")


def test_copied_methods_are_text(shown):
    shown.page.click("button[data-copy='methods-text']")
    shown.page.wait_for_function("document.querySelector('button[data-copy]').textContent != 'Copy'")


def test_the_page_is_dark_where_the_system_is_and_light_on_paper(shown):
    def colors():
        return shown.page.evaluate(
            """() => [getComputedStyle(document.body).backgroundColor,
            ...["r", "l"].map((side) => getComputedStyle(side === "r"
              ? document.querySelector('.chart [stroke="#0072B2" i]')
              : document.querySelector('.chart [stroke="#E69F00" i]')).stroke)]"""
        )

    shown.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    shown.page.wait_for_selector('.chart [stroke="#E69F00" i]', state="attached")
    light = colors()
    assert light[0] == "rgb(255, 255, 255)" and light[1] == "rgb(0, 114, 178)"
    shown.page.emulate_media(color_scheme="dark")
    dark = colors()
    assert dark == [in_words(color) for color in (DARK, *(dark_color(SIDE_COLOR[side]) for side in "rl"))]
    shown.page.emulate_media(color_scheme="dark", media="print")
    assert colors() == light
    shown.page.emulate_media(color_scheme="light", media="screen")


def in_words(color):
    return f"rgb({', '.join(str(int(color[place : place + 2], 16)) for place in (1, 3, 5))})"


def test_dark_colors_keep_their_contrast():
    for color in (*SIDE_COLOR.values(), *COST_COLORS):
        assert contrast(dark_color(color), DARK) >= 4.5
    for color in (*STANCE_COLOR.values(), GRID_COLOR, NOTE_COLOR):
        assert contrast(dark_color(color), DARK) == pytest.approx(contrast(color, LIGHT), rel=0.05)
    assert dark_color("#fff") == DARK
    assert contrast("#000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#767676", "#fff") == pytest.approx(4.54, abs=0.01)  # the known gray of 4.5
