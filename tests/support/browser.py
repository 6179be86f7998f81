"""Pages opened in headless Chromium, without a network: what they print, ask for and show."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    "--enable-unsafe-swiftshader",  # for WebGL alone: pages drawn by it, too, take twice the processor time
)
DESKTOP, PHONE = (1280, 900), (390, 844)
SHARPNESS = 0.5
"""Pixels of a screen per pixel of a page: without a graphics card drawing takes most of the processor time."""

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@dataclass
class OpenPage:
    """A page, the errors it has printed, and the addresses beyond its own file that it has asked for."""

    page: object
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@cache
def _server() -> tuple[subprocess.Popen[str], str]:
    """The process of the browser that all tests of a process share, and its address."""
    from playwright._impl._driver import compute_driver_executable

    with tempfile.TemporaryDirectory() as folder:
        options = Path(folder, "options.json")
        options.write_text(json.dumps({"executablePath": CHROMIUM, "args": FLAGS}), encoding="utf-8")
        command = [*compute_driver_executable(), "launch-server", "--browser", "chromium"]
        process = subprocess.Popen([*command, "--config", options], stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("ws://"), address
        return process, address


def end_browser() -> None:
    """End the browser, if there is one."""
    if _server.cache_info().currsize:
        process, _ = _server()
        process.terminate()
        process.communicate()
        _server.cache_clear()


def shown(page: object) -> str:
    """What a page shows, with its frames: its address and its text."""
    lines = [page.url]
    for frame in page.frames:
        with suppress(Exception):  # a page that has failed may not answer
            lines.append(frame.url)
            lines.append(frame.locator("body").inner_text(timeout=5000.0))
    return "\n".join(lines)


@contextmanager
def chromium() -> Iterator[object]:
    """The browser that all tests of a process share, as a start takes seconds; pages opened in it close at the end."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.connect(_server()[1])
        yield browser
        browser.close()


@contextmanager
def opened(path: Path, size: tuple[int, int] = DESKTOP, browser: object = None) -> Iterator[OpenPage]:
    """Open a file in a window of a size [px], of its own, in a browser or in a new one."""
    with nullcontext(browser) if browser is not None else chromium() as used:
        viewport = {"width": size[0], "height": size[1]}
        # pictures that play take processor time beside all else that is tested
        page = used.new_page(viewport=viewport, device_scale_factor=SHARPNESS, reduced_motion="reduce")
        found = OpenPage(page)
        page.on("console", lambda line: line.type == "error" and found.errors.append(line.text))
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith("http") and found.requests.append(asked.url))
        page.goto(path.resolve().as_uri())
        yield found
        page.close()
