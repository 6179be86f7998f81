"""Writes docs/stride.gif, docs/picture.png and docs/live_page.png, the bundled stride for readers without the site.

python tools/site/small_picture.py

The pictures are taken in a Chromium that is installed, with the package playwright.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from io import BytesIO
from pathlib import Path

from PIL import Image
from places import ROOT
from playwright.sync_api import sync_playwright

import musclesolve as ms
from musclesolve.data import reference_stride

FILM, PICTURE, LIVE = (ROOT / "docs" / name for name in ("stride.gif", "picture.png", "live_page.png"))
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WATCHED = 20.0
"""Of the live session before the picture of its page is taken [s]."""
STRIDES = 30
"""Of the recording that the live session plays: longer than the session is watched."""
HEIGHT = 420
"""Of the film [px]."""
COLORS = 48
VIEWS = (("s", 0, 0, 300), ("f", 0, 0, 300), ("b", -110, -1000, 460))
"""Key of each view, how far it is then turned by dragging, zoomed by the wheel, and its width in the picture [px]."""
SIZE = {"width": 520, "height": 900}
"""Of the window that shows a view [px]."""
MIDSTANCE = 0.33
"""Of the recording: the frame that is shown."""


def main() -> None:
    """Draw film and picture of the stride."""
    print(write_live_page())
    result = ms.run(reference_stride())
    with tempfile.TemporaryDirectory() as folder:
        for write, name in ((write_film, "stride.gif"), (write_picture, "stride.html")):
            ms.save_picture(result, source := Path(folder, name))
            target = write(source)
            print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


def write_film(source: Path) -> Path:
    """Write every second frame of a film smaller and in few colors."""
    with Image.open(source) as large:
        frames = []
        for number in range(0, large.n_frames, 2):
            large.seek(number)
            pause = 2 * large.info["duration"]
            small = large.convert("RGB").crop((0, 80, large.width, large.height))
            small = small.resize(
                (round(small.width * HEIGHT / small.height), HEIGHT), Image.Resampling.LANCZOS
            )
            frames.append(small.quantize(COLORS, dither=Image.Dither.NONE))
    frames[0].save(FILM, save_all=True, append_images=frames[1:], duration=pause, loop=0, optimize=True)
    return FILM


def write_picture(source: Path) -> Path:
    """Write the views of a page with a moving picture beside each other."""
    views = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        page.goto(source.as_uri())
        slider, canvas = page.locator("[data-msp=time]"), page.locator("[data-msp=canvas]")
        canvas.wait_for()
        last = int(slider.get_attribute("max"))
        slider.fill(str(round(MIDSTANCE * last)))
        box = canvas.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        for key, turn, zoom, width in VIEWS:
            page.locator("section").press(key)
            page.mouse.move(x, y)
            if turn:
                page.mouse.down()
                page.mouse.move(x + turn, y, steps=10)
                page.mouse.up()
            if zoom:
                page.mouse.wheel(0, zoom)
            page.mouse.move(1, 1)
            page.wait_for_timeout(1500)
            view = Image.open(BytesIO(canvas.screenshot())).convert("RGB")
            left = (view.width - width) // 2
            views.append(view.crop((left, 0, left + width, view.height)))
    sheet = Image.new("RGB", (sum(view.width for view in views), views[0].height))
    left = 0
    for view in views:
        sheet.paste(view, (left, 0))
        left += view.width
    sheet.quantize(128, dither=Image.Dither.NONE).save(PICTURE, optimize=True)
    return PICTURE


def write_live_page() -> Path:
    """Write the page of a live session that plays strides of a synthetic recording."""
    folder = tempfile.TemporaryDirectory()
    trial = ms.synthetic_recording(folder.name, strides=STRIDES)
    words = ("live", str(trial), "--from", "replay", "--page", "--no-open")
    command = [sys.executable, "-u", "-m", "musclesolve", *words]
    with (
        folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as session,
    ):
        assert session.stdout is not None
        address = next(found.group() for line in session.stdout if (found := re.search(r"http://\S+", line)))
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(address)
            page.wait_for_timeout(1000 * WATCHED)
            shown = Image.open(BytesIO(page.screenshot())).convert("RGB")
        session.terminate()
    shown.quantize(128, dither=Image.Dither.NONE).save(LIVE, optimize=True)
    return LIVE


if __name__ == "__main__":
    main()
