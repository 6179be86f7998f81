"""The whole way by clicks, from an empty folder with raw files: the same result as on the command line."""

from __future__ import annotations

import http.client
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from browser import SHARPNESS, chromium, needs_chromium
from desk_steps import to_step

import musclesolve as ms

pytestmark = needs_chromium
SOON = 150_000.0
"""As long as a step may take on a busy machine [ms]."""


@dataclass
class OpenDesk:
    """A desk that runs, in a folder that was empty, and its page."""

    folder: Path
    address: str
    page: Any
    errors: list[str]

    def step(self, title: str) -> None:
        """Go to a step."""
        to_step(self.page, title)
        self.page.get_by_role("heading", name=title, exact=True).wait_for(timeout=SOON)

    def button(self, name: str) -> Any:
        return self.page.get_by_role("button", name=name).first


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenDesk]:
    folder = tmp_path_factory.mktemp("desk") / "new"
    command = [sys.executable, "-m", "musclesolve", "desk", str(folder), "--no-browser"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process, chromium() as browser:
        try:
            assert process.stderr is not None
            (address,) = re.findall(r"http://\S+", process.stderr.readline())
            page, errors = (
                browser.new_page(
                    viewport={"width": 1280, "height": 900},
                    reduced_motion="reduce",
                    device_scale_factor=SHARPNESS,
                ),
                list[str](),
            )
            page.set_default_timeout(SOON)
            page.on("console", lambda line: line.type == "error" and errors.append(line.text))
            page.on("response", lambda got: got.status < 400 or errors.append(f"{got.status} {got.url}"))
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on(
                "request",
                lambda asked: (
                    asked.url.startswith(("http", "ws"))
                    and "127.0.0.1" not in asked.url
                    and errors.append(f"asked for {asked.url}")
                ),
            )
            page.goto(address)
            yield OpenDesk(folder, address, page, errors)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Raw files of a walk: no trial file, no mapping."""
    trial = ms.studies.synthetic_recording(tmp_path_factory.mktemp("raw"), truth=False)
    return sorted(path for path in trial.parent.iterdir() if path.suffix in (".trc", ".mot"))


@pytest.mark.thorough  # test_desk_by_hand.py walks the same way
def test_from_raw_files_to_a_result_by_clicks(desk: OpenDesk, raw: list[Path]) -> None:
    page = desk.page
    page.locator("input[type=file]").set_input_files([str(path) for path in raw])
    page.get_by_text("Brought:").wait_for()
    assert {path.name for path in raw} <= {path.name for path in desk.folder.iterdir()}
    desk.button("Draft the trial file").click()
    page.get_by_text("Recognized for trial.toml").wait_for()
    trial = desk.folder / "trial.toml"

    desk.step("Subject")
    guess = desk.button("Take the guess")
    guess.click()
    guess.wait_for(state="detached")  # until the field has the guess, which would replace what is typed
    for label, value in (("Mass [kg]", "72.5"), ("Stature [m]", "1.75")):
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Tab")
    page.get_by_label("Sex").click()
    page.get_by_role("option", name="male", exact=True).click()
    page.get_by_role("button", name=re.compile("Step 2, Subject: done")).wait_for()
    expected = {"mass_kg": 72.5, "stature_m": 1.75, "sex": "male"}
    for _ in range(100):  # the last field may be on its way to the file
        subject = tomllib.loads(trial.read_text(encoding="utf-8"))["subject"]
        if expected.items() <= subject.items():
            break
        page.wait_for_timeout(100)
    assert expected.items() <= subject.items()

    desk.step("Events")
    strike = page.locator("g[role=slider][aria-label^='right heel strike']").first
    before = float(strike.get_attribute("aria-valuenow"))
    strike.focus()
    page.keyboard.press("ArrowRight")
    desk.button("As found").wait_for()
    stated = tomllib.loads(trial.read_text(encoding="utf-8"))["events"]["heel_strike_r"]
    assert np.abs(np.array(stated) - before - 0.01).min() < 2e-3
    desk.button("As found").click()
    desk.button("As found").wait_for(state="detached")
    assert "heel_strike_r" not in trial.read_text(encoding="utf-8")

    desk.step("Check")
    page.locator(".ms-verdict").first.wait_for()
    desk.step("Result")
    page.get_by_role("button", name="Run", exact=True).click()
    canvas = page.frame_locator("iframe[title^=Moving]").locator("canvas").first
    canvas.wait_for()
    figures = page.locator("iframe[title^=Figures]")
    figures.scroll_into_view_if_needed()  # what is out of view may be drawn later
    figures.content_frame.locator("figure.chart").first.scroll_into_view_if_needed()
    figures.content_frame.locator("figure.chart svg").first.wait_for()
    desk.step("Export")
    page.get_by_text("Make the report").click()
    page.get_by_role("link", name="report.html").wait_for()
    assert (desk.folder / "results" / "trial" / "report.html").is_file()
    assert desk.errors == []

    here = ms.read_result(desk.folder / "results" / "trial" / "result.nc")
    there = ms.run(trial)
    # code that a process compiled itself and code from the cache of numba differ by round-off
    for name in ("muscle_force", "activation", "joint_reaction"):
        np.testing.assert_allclose(here[name].values, there[name].values, rtol=1e-7, atol=1e-6)


def answer(address: str, path: str, **headers: str) -> int:
    """The status of the answer to a request."""
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=SOON / 1000.0)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


def test_other_pages_and_other_files_are_refused(desk: OpenDesk) -> None:
    (desk.folder / "shown.csv").write_text("1", encoding="utf-8")
    (desk.folder.parent / "secret.csv").write_text("2", encoding="utf-8")
    (desk.folder / "hidden.py").write_text("3", encoding="utf-8")
    token = urlsplit(desk.address).path
    assert answer(desk.address, token) == 200
    assert answer(desk.address, f"{token}files/shown.csv") == 200
    for path in ("../secret.csv", "..%2fsecret.csv", "hidden.py", "none.csv"):
        assert answer(desk.address, f"{token}files/{path}") == 404
    assert answer(desk.address, f"{token}files/{300 * 'a'}.csv") == 404  # no file has such a name
    assert answer(desk.address, f"{token}files/{5000 * 'a'}.csv") == 414
    for path in ("/", "/files/shown.csv", f"{token[:-2]}/files/shown.csv"):
        assert answer(desk.address, path) == 403
    stream = f"{token}_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert answer(desk.address, stream) == 200
    assert answer(desk.address, stream, Origin="http://evil.example") == 403
    assert answer(desk.address, token, Host="evil.example") == 403
    assert answer(desk.address, token, **{"Content-Length": "5368709120"}) == 413
