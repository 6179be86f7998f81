"""The page in a browser: nothing is asked of a network, time runs, a frame is the frame, colors and parts change it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from browser import needs_chromium, opened

pytestmark = needs_chromium
SMALL = (960, 600)
"""Size of the window [px]: without a graphics card the time of a frame goes with its area."""
START = "() => document.querySelector('.ms-picture').picture !== undefined"


@pytest.fixture(scope="module")
def desktop(page_file: Path) -> Iterator[Any]:
    with opened(page_file, SMALL) as found:
        found.page.wait_for_function(START)
        found.page.evaluate("() => document.querySelector('.ms-picture').picture.pause()")
        yield found


def part(name: str) -> str:
    return f'[data-msp="{name}"]'


def pixels(page: Any) -> str:
    """A hash of what the canvas shows, after all that was asked for is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    url = page.evaluate(f"() => document.querySelector('{part('canvas')}').toDataURL()")
    return hashlib.sha256(url.encode()).hexdigest()


def scrub(page: Any, frame: int) -> None:
    page.locator(part("time")).evaluate(
        f"(slider) => {{ slider.value = {frame}; slider.dispatchEvent(new Event('input', {{ bubbles: true }})) }}"
    )


def test_it_starts_without_errors_and_without_a_request(desktop: Any) -> None:
    assert desktop.errors == [] and desktop.requests == []
    assert desktop.page.evaluate("() => typeof window.THREE") == "undefined", "nothing is left outside"


def test_scrubbing_to_a_frame_shows_its_time_place_and_verdict(desktop: Any, troubled: xr.Dataset) -> None:
    page = desktop.page
    for frame in (0, 12, 35, 52, troubled.sizes["time"] - 1):
        scrub(page, frame)
        assert page.locator(part("canvas")).get_attribute("data-frame") == str(frame)
        assert page.locator(part("clock")).inner_text() == f"{float(troubled['time'][frame]):.3f} s"
        assert page.locator(part("alert")).is_visible() == (30 <= frame < 40)
        assert f"frame {frame + 1} of" in page.locator(part("count")).inner_text()
    scrub(page, 35)
    rows = page.locator(".msp-row")
    assert "msp-none" in rows.nth(0).get_attribute("class") and "msp-good" in rows.nth(1).get_attribute(
        "class"
    )


def test_the_page_decodes_the_numbers_of_the_result(desktop: Any, troubled: xr.Dataset) -> None:
    place, value = desktop.page.evaluate(
        """() => { const p = document.querySelector('.ms-picture').picture, d = p.data;
                   const m = d.muscles.findIndex((muscle) => muscle.name === 'soleus_l');
                   return [d.pathPoint(20, d.muscles[m].first, []), d.value(d.quantities[0], 20, m)]; }"""
    )
    first = int(np.flatnonzero(troubled["path_muscle"].values == "soleus_l")[0])
    np.testing.assert_allclose(place, troubled["path_position"].values[20, first], atol=6e-5)
    assert value == pytest.approx(float(troubled["activation"].sel(muscle="soleus_l")[20]), abs=1e-4)


def test_keys_step_and_play_and_time_advances(desktop: Any) -> None:
    page = desktop.page
    scrub(page, 5)
    page.locator(part("canvas")).focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(part("canvas")).get_attribute("data-frame") == "6"
    page.keyboard.press("Shift+ArrowLeft")
    assert page.locator(part("canvas")).get_attribute("data-frame") == "0"
    page.keyboard.press("Space")
    page.wait_for_function(
        f"() => Number(document.querySelector('{part('canvas')}').dataset.frame) > 2", timeout=5000
    )
    page.locator(part("play")).click()
    before = page.locator(part("canvas")).get_attribute("data-frame")
    page.wait_for_timeout(200)
    assert page.locator(part("canvas")).get_attribute("data-frame") == before, "paused"


def test_every_color_part_leg_and_view_changes_the_picture(desktop: Any) -> None:
    page = desktop.page
    scrub(page, 20)
    page.locator(part("reset")).click()
    shown = [pixels(page)]
    for number in ("1", "2", "3", "0"):
        page.locator(part("quantity")).select_option(number)
        shown.append(pixels(page))
    assert len(set(shown)) == 4 and shown[0] == shown[-1], "and back again"
    for leg in ("r", "l", "both"):
        page.locator(part("legs")).select_option(leg)
        shown.append(pixels(page))
    for name in ("ground", "contact", "muscles"):
        page.locator(part(name)).click()
        shown.append(pixels(page))
        page.locator(part(name)).click()
        assert pixels(page) == shown[0]
    for name in ("side", "front", "back"):
        page.locator(part(name)).click()
        shown.append(pixels(page))
    page.locator(part("reset")).click()
    assert pixels(page) == shown[0]
    assert len(set(shown)) == 4 + 2 + 3 + 3
    page.locator(part("names")).click()
    pixels(page)
    assert page.locator(f"{part('labels')} span").count() >= 5
    page.locator(part("names")).click()


@pytest.mark.thorough
def test_a_frame_without_a_solution_has_gray_muscles_alone(desktop: Any) -> None:
    """With the right leg alone: every muscle is gray, whatever colors them."""
    page = desktop.page
    page.locator(part("legs")).select_option("r")
    colors = """() => { const s = document.querySelector('.ms-picture').picture.scene.muscles; const seen = new Set();
                for (let k = 0; k < s.color.length; k += 3) if (s.position[k] || s.position[k + 1])
                  seen.add([s.color[k], s.color[k + 1], s.color[k + 2]].map((c) => c.toFixed(2)).join());
                return [...seen]; }"""
    for number in ("0", "1", "2", "3"):
        page.locator(part("quantity")).select_option(number)
        scrub(page, 35)
        assert page.evaluate(colors) == ["0.60,0.63,0.67"]
        assert "msp-lost" in page.locator(part("stage")).get_attribute("class")
        scrub(page, 20)
        assert len(page.evaluate(colors)) > 3
    page.locator(part("quantity")).select_option("0")
    page.locator(part("legs")).select_option("both")


@pytest.mark.thorough
def test_mouse_and_wheel_move_the_camera(desktop: Any) -> None:
    page = desktop.page
    scrub(page, 20)
    page.locator(part("reset")).click()
    shown = [pixels(page)]
    area = page.locator(part("canvas")).bounding_box()
    x, y = area["x"] + 0.5 * area["width"], area["y"] + 0.5 * area["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 100, y + 20)
    page.mouse.up()
    shown.append(pixels(page))
    page.mouse.wheel(0, -400)
    shown.append(pixels(page))
    page.mouse.down(button="right")
    page.mouse.move(x + 60, y - 100)
    page.mouse.up(button="right")
    shown.append(pixels(page))
    assert len(set(shown)) == 4
    page.locator(part("reset")).click()
    assert pixels(page) == shown[0]


@pytest.mark.thorough
def test_the_wheel_scrolls_past_a_picture_within_a_page_until_it_is_chosen(
    desktop: Any, page_file: Path, tmp_path: Path
) -> None:
    outer = tmp_path / "outer.html"
    outer.write_text(
        f'<body style="margin:0"><iframe src="{page_file.resolve().as_uri()}" '
        'style="width:900px;height:700px"></iframe><div style="height:3000px"></div></body>'
    )
    distance = "() => document.querySelector('.ms-picture').picture.scene.orbit.distance"
    with opened(outer, browser=desktop.page.context.browser) as found:
        page, inner = found.page, found.page.frames[1]
        inner.wait_for_function(START)
        inner.evaluate("() => document.querySelector('.ms-picture').picture.pause()")
        before = inner.evaluate(distance)
        page.mouse.move(600, 300)
        page.mouse.wheel(0, 200)
        page.wait_for_function("() => scrollY > 0")
        assert inner.evaluate(distance) == before
        page.mouse.click(600, 100)
        page.mouse.wheel(0, -200)
        inner.wait_for_function(f"before => ({distance})() < before", arg=before)


def test_the_wheel_zooms_at_the_pointer(desktop: Any) -> None:
    """A point of the plane through the middle of the view, under the pointer, stays there."""
    page = desktop.page
    place = """() => { const p = document.querySelector('.ms-picture').picture, o = p.scene.orbit;
      const [s, c, up] = [Math.sin(o.azimuth), Math.cos(o.azimuth), Math.sin(o.elevation)];
      const away = [-0.4 * s - 0.3 * up * c, 0.4 * c - 0.3 * up * s, 0.3 * Math.cos(o.elevation)];
      if (!window.kept) window.kept = away.map((each, k) => each + o.center[k] + o.shift[k]);
      p.draw(); return [...p.scene.project(window.kept, p.width, p.height), o.distance]; }"""
    x, y, distance = page.evaluate(place)
    area = page.locator(part("canvas")).bounding_box()
    page.mouse.click(area["x"] + x, area["y"] + y)
    page.mouse.wheel(0, -300)
    page.wait_for_function(
        "far => document.querySelector('.ms-picture').picture.scene.orbit.distance < 0.9 * far", arg=distance
    )
    assert page.evaluate(place)[:2] == pytest.approx([x, y], abs=1.0)


def test_a_printed_page_holds_a_still(desktop: Any) -> None:
    page = desktop.page
    scrub(page, 20)
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    assert len(page.locator(part("print")).get_attribute("src")) > 20_000
    page.emulate_media(media="print")
    assert page.locator(part("print")).is_visible() and not page.locator(part("play")).is_visible()
    page.emulate_media(media="screen")
    assert desktop.errors == []
