"""Writes the pictures of README and docs that are no figures: still, report and models, for readers without the site.

python tools/site/small_picture.py

docs/opensim_model.png shows a recorded walk, and stays as it is where its files are not at hand. The other pictures are
taken of the bundled stride, which `make demo` computes, some in a Chromium that is installed, with the package
playwright.
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
from musclesolve.laboratory.report.page import write_report

STILL, MODEL, REPORT, PICTURE, LIVE = (
    ROOT / "docs" / f"{name}.png" for name in ("still", "opensim_model", "report", "picture", "live_page")
)
WALK = ROOT.parent / "shared" / "data" / "rajagopal_walk"
POSES = (0.0, 0.17, 0.635, 0.885)
"""Part of a still with the poses: left, top, right and bottom, in shares."""
DOORS = {
    "door_model": (MODEL, (0.21, 0.0, 0.54, 1.0)),
    "door_knee": (ROOT / "docs" / "validation_knee_bands.png", (0.0, 0.0, 0.508, 0.92)),
}
"""Pictures of the ways in of the README, and the parts of pictures that they show: large enough to read in a third."""
NARROW = {"width": 420, "height": 900}
"""Of the window in which the README's picture of a report is taken [px]."""
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WATCHED = 20.0
"""Of the live session before the picture of its page is taken [s]."""
STRIDES = 30
"""Of the recording that the live session plays: longer than the session is watched."""
COLORS = 96
VIEWS = (("s", 0, 0, 300), ("f", 0, 0, 300), ("b", -110, -1000, 460))
"""Key of each view, how far it is then turned by dragging, zoomed by the wheel, and its width in the picture [px]."""
SIZE = {"width": 520, "height": 900}
"""Of the window that shows a view [px]."""
MIDSTANCE = 0.33
"""Of the recording: the frame that is shown."""


def main() -> None:
    """Write every picture."""
    print(write_live_page())
    result = ms.run(reference_stride())
    with tempfile.TemporaryDirectory() as folder:
        ms.laboratory.save_picture(result, page := Path(folder, "stride.html"))
        result.to_netcdf(source := Path(folder, "result.nc"))
        report, _ = write_report([source])
        written = [write_picture(page), write_first_screen(report), write_verdict(report)]
        ms.laboratory.save_picture(result, still := Path(folder, "still.png"))
        with Image.open(still) as whole:
            _save(whole, STILL)
        written.append(STILL)
        if WALK.is_dir():
            written.append(write_model(Path(folder)))
        written += write_doors()
    for target in written:
        print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


def write_model(folder: Path) -> Path:
    """Write the poses of an OpenSim model on the recorded walk."""
    own = WALK / "reference"
    model = own / "rajagopal_lai_uhlrich_2023_scaled.osim"
    ms.laboratory.save_picture(
        ms.share_model(model, own / "opensim_ik.mot", own / "opensim_id.sto"), folder / "opensim_model.png"
    )
    with Image.open(folder / "opensim_model.png") as whole:
        sizes = (whole.width, whole.height) * 2
        _save(whole.crop(tuple(round(share * size) for share, size in zip(POSES, sizes, strict=True))), MODEL)
    return MODEL


def write_first_screen(source: Path) -> Path:
    """Write the first screen of a report."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(source.as_uri())
        page.wait_for_timeout(2000)
        _save(Image.open(BytesIO(page.screenshot())), REPORT)
    return REPORT


def write_verdict(source: Path) -> Path:
    """Write the verdict of a report as a narrow window shows it."""
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=NARROW, device_scale_factor=2)
        page.goto(source.as_uri())
        page.wait_for_timeout(2000)
        top = page.get_by_role("heading", name="In short").first.bounding_box()
        clip = {"x": 0, "y": top["y"] - 20, "width": NARROW["width"], "height": 290}
        _save(Image.open(BytesIO(page.screenshot(clip=clip, full_page=True))), target := _door("door_report"))
    return target


def write_doors() -> list[Path]:
    """Write the parts of other pictures."""
    for name, (source, part) in DOORS.items():
        with Image.open(source) as whole:
            sizes = (whole.width, whole.height) * 2
            _save(
                whole.crop(tuple(round(share * size) for share, size in zip(part, sizes, strict=True))),
                _door(name),
            )
    return [_door(name) for name in DOORS]


def _door(name: str) -> Path:
    return ROOT / "docs" / f"{name}.png"


def _save(picture: Image.Image, path: Path) -> None:
    picture.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(path, optimize=True)


def write_picture(source: Path) -> Path:
    """Write the views of a page with a moving picture beside each other."""
    views = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        page.goto(source.as_uri())
        slider, canvas = page.locator("[data-msp=time]"), page.locator("[data-msp=canvas]")
        canvas.wait_for()
        page.wait_for_timeout(800)
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
    _save(sheet, PICTURE)
    return PICTURE


def write_live_page() -> Path:
    """Write the page of a live session that plays strides of a synthetic recording."""
    folder = tempfile.TemporaryDirectory()
    trial = ms.studies.synthetic_recording(folder.name, strides=STRIDES)
    words = ("live", str(trial), "--from", "replay", "--page", "--no-browser")
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
    _save(shown, LIVE)
    return LIVE


if __name__ == "__main__":
    main()
