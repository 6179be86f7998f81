"""Pages opened in headless Chromium, without a network: what they print, ask for and show."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader"),
    "--enable-unsafe-swiftshader",
)
DESKTOP, PHONE = (1280, 900), (390, 844)

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")


@dataclass
class OpenPage:
    """A page, the errors it has printed, and the addresses beyond its own file that it has asked for."""

    page: object
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def chromium() -> Iterator[object]:
    """A browser; starting it takes longer than opening a page."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@contextmanager
def opened(path: Path, size: tuple[int, int] = DESKTOP, browser: object = None) -> Iterator[OpenPage]:
    """Open a file in a window of a size [px], of its own, in a browser or in a new one."""
    with nullcontext(browser) if browser is not None else chromium() as used:
        page = used.new_page(viewport={"width": size[0], "height": size[1]})
        found = OpenPage(page)
        page.on("console", lambda line: line.type == "error" and found.errors.append(line.text))
        page.on("pageerror", lambda error: found.errors.append(str(error)))
        page.on("request", lambda asked: asked.url.startswith("http") and found.requests.append(asked.url))
        page.goto(path.resolve().as_uri())
        yield found
        page.close()
