"""Figures that a page draws itself, in a browser: values under the pointer, zoom, switches, tables and copies."""

from __future__ import annotations

import re
from xml.etree import ElementTree

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


@pytest.fixture(scope="module")
def shown(page, browser):
    """The page in one window; a test leaves it such that the others can go on."""
    with opened(page, DESKTOP, browser) as found:
        every_figure(found)
        yield found.page
        assert found.errors == [] and found.requests == []


def every_figure(found):
    """Unfold and draw all figures now, as before printing, and go back to the screen."""
    found.page.evaluate(
        "document.querySelectorAll('details.part, details.fold').forEach(each => each.open = true)"
    )
    found.page.evaluate("dispatchEvent(new Event('beforeprint')); dispatchEvent(new Event('afterprint'))")


def chart(page, name, expression):
    """The value of an expression of a figure `c`."""
    return page.evaluate(f"(c => {expression})(document.querySelector('{name}').chart)")


def over(page, name, panel=0, share=0.5):
    """The middle of a panel, with the pointer on it."""
    svg = page.locator(f"{name} .chart-panel > svg").nth(panel)
    svg.scroll_into_view_if_needed()
    box = svg.bounding_box()
    place = box["x"] + share * box["width"], box["y"] + 0.5 * box["height"]
    page.mouse.move(*place)
    return place


def test_every_figure_is_drawn(shown):
    drawn = shown.evaluate(
        "[...document.querySelectorAll('figure.chart')]"
        ".map(each => [each.id, each.querySelectorAll('.chart-panel path').length])"
    )
    assert len(drawn) > 20
    assert not [name for name, paths in drawn if paths < 2 and "co_contraction" not in name]


@pytest.mark.in_part(2)
@pytest.mark.parametrize("size", [PHONE, DESKTOP])
def test_figures_fit_the_window(page, browser, size):
    with opened(page, size, browser) as found:
        found.page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
        every_figure(found)
        found.page.evaluate(
            "document.querySelectorAll('figure.chart details').forEach(each => each.open = true)"
        )
        assert found.page.evaluate("document.documentElement.scrollWidth") <= size[0]
        texts = found.page.evaluate(
            """[...document.querySelectorAll('figure.chart .chart-panel text')].filter(each => {
                 const own = each.getBoundingClientRect(), panel = each.closest('svg').getBoundingClientRect();
                 return own.left < panel.left - 12 || own.right > panel.right + 12; }).map(each => each.textContent)"""
        )
        assert texts == []


def test_the_values_under_the_pointer_are_those_of_the_result(shown):
    data = whole()
    over(shown, FORCES)
    place = chart(shown, FORCES, "c.place")
    tip = shown.locator(f"{FORCES} .chart-tip").inner_text()
    stem = shown.locator(f"{FORCES} .chart-name").first.inner_text().strip().replace(" ", "_")
    (given,) = re.findall(r"left: ([\d.]+)", tip)
    first, last = frames.heel_strikes(data, "l")[:2]
    force = data["muscle_force"].sel(muscle=f"{stem}_l")
    expected = float(np.interp(first + 0.01 * place * (last - first), data["time"], force))
    assert float(given) == pytest.approx(expected, rel=0.006)  # three digits
    assert shown.locator(f"{FORCES} .chart-panel > svg > g circle").count() >= 2  # in the other panel, too
    shown.mouse.move(1, 1)
    assert shown.locator(f"{FORCES} .chart-tip").is_hidden()


def test_a_drag_zooms_all_panels_of_the_axis_and_a_double_click_shows_all(shown):
    before = chart(shown, FORCES, "c.cells.map(v => v.x.domain())")
    x, y = over(shown, FORCES, share=0.4)
    shown.mouse.down()
    shown.mouse.move(x + 40, y, steps=4)
    shown.mouse.up()
    shown.wait_for_function(f"!document.querySelector('{FORCES} .chart-whole').hidden")
    after = chart(shown, FORCES, "c.cells.map(v => v.x.domain())")
    assert all(low > first and high < last for (low, high), (first, last) in zip(after, before, strict=True))
    assert len({tuple(each) for each in after}) == 1
    assert chart(shown, "#t1-activations", "c.cells[0].x.domain()") == after[0]
    over(shown, FORCES)
    shown.mouse.dblclick(x, y)
    shown.wait_for_function(f"document.querySelector('{FORCES} .chart-whole').hidden")
    assert chart(shown, FORCES, "c.cells.map(v => v.x.domain())") == before


def test_legs_and_muscles_are_switched_on_and_off(shown):
    right = f"{FORCES} .chart-panel path[stroke='#0072B2']"
    count = shown.locator(right).count()
    button = shown.locator(f"{FORCES} .chart-legend button", has_text="right").first
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert count > 0 and shown.locator(right).count() == 0
    button.click()
    assert shown.locator(right).count() == count
    panels = shown.locator("#t1-joint_angles_and_moments .chart-panel")
    assert panels.count() == 14
    shown.evaluate("document.querySelector('#t1-joint_angles_and_moments .chart-tools').open = true")
    shown.locator("#t1-joint_angles_and_moments .chart-panels input").nth(3).uncheck()
    assert panels.count() == 13


def test_the_table_says_what_the_curves_show(shown):
    data = whole()
    table = shown.locator(f"{FORCES} .chart-table")
    table.locator("summary").click()
    rows = [row.split("\t") for row in table.locator("table").inner_text().splitlines()]
    own = [row for row in rows if row[0].strip() == "soleus" and row[1].strip() == "left"]
    assert len(own) == 1
    known = data["muscle_force"].sel(muscle="soleus_l").where(data["valid"].sel(side="l"))
    assert float(own[0][3]) == pytest.approx(float(known.max()), rel=0.01)


def test_a_figure_is_copied_as_svg_png_and_numbers(shown):
    text = chart(shown, FORCES, "c.svg().text")
    root = ElementTree.fromstring(text)
    assert "Muscle force" in [each.text for each in root.iter() if each.tag.endswith("text")]
    assert (
        shown.evaluate(
            f"document.querySelector('{FORCES}').chart.content('image/png').then(found => found.size)"
        )
        > 10_000
    )
    lines = chart(shown, FORCES, "c.csv()").splitlines()
    assert lines[0].startswith('"panel","unit","curve"') and len(lines) > 100
    shown.evaluate(f"document.querySelector('{FORCES} .chart-tools').open = true")
    button = shown.get_by_role("button", name="Copy SVG").and_(shown.locator(f"{FORCES} button"))
    button.click()
    shown.wait_for_function(
        f"/Copied|Saved/.test(document.querySelector('{FORCES} .chart-copy').textContent)"
    )


def test_panels_are_named_for_those_who_do_not_see_them(shown):
    panels = "[...document.querySelectorAll('.chart-panel > svg')]"
    labels = shown.evaluate(f"{panels}.map(each => each.getAttribute('aria-label'))")
    assert all(labels) and any("right" in each and " to " in each for each in labels)


def test_a_page_without_scripts_says_where_figures_are(page, browser):
    context = browser.new_context(java_script_enabled=False)
    still = context.new_page()
    still.goto(page.resolve().as_uri())
    assert "musclesolve plot" in still.locator(f"{FORCES} .chart-body").text_content()
    context.close()


@pytest.mark.thorough
def test_a_frame_of_no_size_at_first_draws_its_figures_once_they_are_in_view(page, browser):
    around = page.with_name("around.html")
    hidden = f'<div style="height: 9000px"></div><iframe sandbox="allow-scripts" hidden src="{page.name}"></iframe>'
    around.write_text(hidden, encoding="utf-8")
    with opened(around, DESKTOP, browser) as found:
        frame = found.page.frames[1]
        frame.wait_for_load_state()
        frame.evaluate("new Promise(done => requestIdleCallback(done))")
        drawn = frame.locator(".chart-panel > svg")
        assert drawn.count() == 0
        found.page.evaluate("document.querySelector('iframe').hidden = false")
        found.page.locator("iframe").scroll_into_view_if_needed()
        frame.locator("figure.chart").first.scroll_into_view_if_needed()
        drawn.first.wait_for()
        assert drawn.count() >= 1 and found.errors == [] and found.requests == []
