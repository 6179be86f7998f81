"""Figures of a page in a browser: they fit the window, and the pointer shows the values of their curves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browser import DESKTOP, PHONE, chromium, needs_chromium, opened
from command_line import typed
from report_inputs import compared, small, uncertain, with_emg, written
from synthetic_result import with_cutoffs, with_fascicles, with_tendons, with_troubles

from musclesolve.laboratory.results.cycles.cycle_averages import average_results
from musclesolve.laboratory.results.dataset import frame_validity as frames

pytestmark = needs_chromium
FORCES = "#t1-muscle_forces"


def whole():
    return with_cutoffs(with_emg(with_fascicles(with_tendons(with_troubles(small())))))


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page with every figure that a trial can have."""
    folder = tmp_path_factory.mktemp("charts")
    data = whole()
    kinds = {"result": data, "uncertainty": uncertain(data), "comparison": compared(data)}
    paths = [written(each, folder, f"{name}.nc") for name, each in kinds.items()]
    averaged = written(average_results(paths[:1]), folder, "average.nc")
    assert typed("report", averaged, *paths, "-o", folder / "report.html").exit_code == 0
    return folder / "report.html"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.mark.in_part(2)
@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_figures_fit_the_window_or_are_scrolled_within_it(page, browser, size):
    with opened(page, size, browser) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert found.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        drawn, panels = (
            found.page.evaluate(
                f"[...document.querySelectorAll('{which}')].map(each => each.getBoundingClientRect().width)"
            )
            for which in ("figure.chart .drawing svg", "figure.chart .panel svg")
        )
        assert drawn and min(drawn) > min(size[0], 700)
        assert len(panels) > 60 and min(panels) > 140
        assert found.errors == [] and found.requests == []


def test_the_values_under_the_pointer_are_those_of_the_result(page, browser):
    data = whole()
    with opened(page, DESKTOP, browser) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        panel = found.page.locator(f"{FORCES} [data-box]").first
        panel.scroll_into_view_if_needed()
        stem, height = panel.evaluate(
            "each => [each.getAttribute('aria-label'),"
            " Number(each.dataset.y.split(' ')[1]) - Number(each.dataset.y.split(' ')[0])]"
        )
        place = panel.evaluate(
            "each => { const [left, top, wide, tall] = each.dataset.box.split(' ').map(Number);"
            " const at = new DOMPoint(left + 0.4 * wide, top + 0.5 * tall)"
            ".matrixTransform(each.getScreenCTM()); return [at.x, at.y] }"
        )
        found.page.mouse.move(*place)
        tip = found.page.locator(f"{FORCES} .tip").inner_text()
        percent, left = (float(re.search(rf"{words}\]? ([\d.]+)", tip)[1]) for words in (r"leg \[%", "left:"))
        stem = stem.replace(" ", "_")
        first, last = frames.heel_strikes(data, "l")[:2]
        force = data["muscle_force"].sel(muscle=f"{stem}_l")
        expected = np.interp(first + 0.01 * percent * (last - first), data["time"], force)
        assert left == pytest.approx(float(expected), abs=0.01 * height)
        assert found.page.locator(f"{FORCES} .cursor").count() > 1, "in the other panels, too"
        found.page.mouse.move(1, 1)
        assert found.page.locator(f"{FORCES} .tip").is_hidden()


def test_a_page_without_scripts_has_its_figures(page, browser):
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(page.resolve().as_uri())
    assert still.locator("figure.chart svg").count() > 20
    context.close()
