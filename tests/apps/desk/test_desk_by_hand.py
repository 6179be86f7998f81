"""A recording whose marker names no rule knows, by mouse, by keys and by touch; places that a reload and Back keep."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from browser import PHONE, SHARPNESS, chromium, needs_chromium
from desk_steps import to_step
from drafted_folders import recordings
from playwright.sync_api import TimeoutError
from thorough import THOROUGH, some

import musclesolve as ms
from musclesolve.laboratory import landmarks

pytestmark = needs_chromium
SOON = 150_000.0
"""As long as a step may take on a busy machine [ms]."""


PLACES = """wanted => {
    const rows = [...document.querySelectorAll(".ms-landmarks tbody tr")]
        .map(row => [...row.querySelectorAll(".ms-cell")]).filter(row => row.length);
    return [document.activeElement, wanted].map(each => {
        const row = rows.findIndex(cells => cells.includes(each));
        return [row, rows[row].indexOf(each)];
    });
}"""
"""Row and column, in the list of landmarks, of the cell that has the focus and of another one."""

AT_REST = """marker => {
    const canvas = document.querySelector(".ms-scene canvas");
    const scene = getElement(canvas.id.slice(1) || canvas.parentElement.id.slice(1));
    const found = scene.seen.find(([k]) => scene.names[k] === marker);
    if (!found) return null;  // it is not drawn yet
    const [, u, v] = found, box = canvas.getBoundingClientRect(), place = [box.left + u, box.top + v];
    const rest = window.rest?.key === `${marker} ${place}` ? window.rest : { key: `${marker} ${place}`, frames: 0 };
    window.rest = ++rest.frames > 8 ? null : rest;
    return rest.frames > 8 && place;
}"""
"""Place of a marker in the window [px], once it has been the same in some frames of the screen after each other."""


@dataclass
class Hands:
    """A desk on a recording of unknown names, and its pages. names: landmark -> marker."""

    folder: Path
    address: str
    names: dict[str, str]
    page: Any
    phone: Any
    errors: list[str]

    @property
    def trial(self) -> dict[str, Any]:
        return tomllib.loads((self.folder / "trial.toml").read_text(encoding="utf-8"))

    def step(self, title: str, page: Any = None) -> None:
        page = page or self.page
        to_step(page, title)
        page.get_by_role("heading", name=title, exact=True).wait_for()

    def state(self, landmarks: list[str]) -> None:
        """Write a trial file that maps these landmarks alone; no page is open meanwhile."""
        for page in (self.page, self.phone):
            page.goto("about:blank")
        file = self.folder / "trial.toml"
        stated = "".join(f'{name} = "{self.names[name]}"\n' for name in landmarks)
        text = re.sub(r"\[mapping\]\n(\w+ = .*\n)+", f"[mapping]\n{stated}", file.read_text(encoding="utf-8"))
        file.write_text(text, encoding="utf-8")

    def place(self, marker: str, page: Any) -> list[float]:
        """Where the picture shows a marker [px of the window], once camera and page have come to rest."""
        return page.wait_for_function(AT_REST, arg=marker).json_value()

    def cell(self, landmark: str, page: Any) -> Any:
        """The cell of a landmark in the list, once it shows its marker."""
        return page.get_by_role(
            "button", name=re.compile(rf"^{_words(landmark)}: {self.names[landmark]}, stated")
        )

    def click(self, landmark: str, page: Any, click: Any) -> None:
        """Click the marker of a landmark; where several lie over each other, choose it from those that are named."""
        asked = page.get_by_text("Several markers lie here")
        answer = self.cell(landmark, page).or_(asked).first
        for _ in range(10):  # a click that comes while the camera moves beside the marker is made once more
            click(*self.place(self.names[landmark], page))
            with suppress(TimeoutError):
                answer.wait_for(timeout=10_000.0)
                break
        if asked.is_visible():
            page.locator(".ms-chosen").get_by_role("button", name=self.names[landmark], exact=True).click()
        self.mapped(landmark, page)

    def mapped(self, landmark: str, page: Any) -> None:
        """Wait until the trial file has a landmark."""
        self.cell(landmark, page).wait_for()
        assert self.trial["mapping"][landmark] == self.names[landmark]


def _words(landmark: str) -> str:
    words = landmarks()[landmark].description
    return re.escape(words[0].upper() + words[1:]).replace(r"\ ", " ")


def on_one_core() -> None:
    """Leave one core to this process: a study then starts one other process instead of one for each core."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


@pytest.fixture(scope="module")
def hands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hands]:
    folder = tmp_path_factory.mktemp("hands")
    trial = ms.studies.synthetic_recording(folder, truth=False)
    known = tomllib.loads(trial.read_text(encoding="utf-8"))["mapping"]
    names = {landmark: f"Q{number:02d}" for number, landmark in enumerate(known, 10)}
    for path in (folder / "walk.trc", folder / "static.trc"):
        text = path.read_text(encoding="utf-8")
        for landmark, name in names.items():
            text = text.replace(f"\t{known[landmark]}\t", f"\t{name}\t").replace(
                f"\t{known[landmark]}\n", f"\t{name}\n"
            )
        path.write_text(text, encoding="utf-8")
    for condition in ("slow", "fast"):
        recordings(folder / "many" / "S01" / condition)
    command = [sys.executable, "-m", "musclesolve", "desk", str(folder), "--no-browser"]
    start = {"stderr": subprocess.PIPE, "text": True, "preexec_fn": on_one_core}
    with subprocess.Popen(command, **start) as process, chromium() as browser:
        try:
            assert process.stderr is not None
            (address,) = re.findall(r"http://\S+", process.stderr.readline())
            errors = list[str]()
            pages = list[Any]()
            for size, touch in (((1280, 900), False), (PHONE, True)):
                viewport = {"width": size[0], "height": size[1]}
                context = browser.new_context(
                    viewport=viewport, has_touch=touch, reduced_motion="reduce", device_scale_factor=SHARPNESS
                )
                page = context.new_page()
                page.set_default_timeout(SOON)
                page.on("console", lambda line: line.type == "error" and errors.append(line.text))
                page.on("response", lambda got: got.status < 400 or errors.append(f"{got.status} {got.url}"))
                page.on("pageerror", lambda error: errors.append(str(error)))
                pages.append(page)
            pages[0].goto(address)
            yield Hands(folder, address, names, pages[0], pages[1], errors)
        finally:
            process.terminate()


@pytest.fixture
def computed(hands: Hands) -> Hands:
    """A trial with all markers and a result, whether another test made them before or not."""
    is_known = (hands.folder / "results" / "trial" / "result.nc").is_file()
    if not is_known:
        hands.state(list(hands.names))
    hands.page.goto(hands.address)
    if not is_known:
        hands.step("Result")
        hands.page.get_by_role("button", name="Run", exact=True).click()
        hands.page.get_by_role("heading", name="Figures", exact=True).wait_for()
    return hands


@dataclass
class ByMouse:
    """A person with a mouse and nothing else."""

    hands: Hands
    page: Any

    def use(self, control: Any) -> None:
        control.click()

    def point(self, x: float, y: float) -> None:
        self.page.mouse.click(x, y)

    def map(self, landmarks: list[str]) -> None:
        """Give the landmarks their markers in the picture; the next one is chosen by itself."""
        self.use(self.page.get_by_role("button", name=re.compile(rf"^{_words(landmarks[0])}:")))
        for landmark in landmarks:
            self.page.locator(".ms-chosen").get_by_text(landmark, exact=True).wait_for()
            self.page.locator(".ms-scene canvas").scroll_into_view_if_needed()
            self.hands.click(landmark, self.page, self.point)


@dataclass
class ByTouch(ByMouse):
    """A person with a telephone."""

    def use(self, control: Any) -> None:
        control.tap()

    def point(self, x: float, y: float) -> None:
        self.page.touchscreen.tap(x, y)


@dataclass
class ByKeys(ByMouse):
    """A person with a keyboard: the Tab key leads to everything, arrow keys lead within the list."""

    def to(self, control: Any, key: str = "Tab", most: int = 120) -> None:
        control.wait_for()
        for _ in range(most):
            if control.evaluate("each => each.contains(document.activeElement)"):
                return
            self.page.keyboard.press(key)
        raise AssertionError(f"{key} does not lead to {control}")

    def use(self, control: Any) -> None:
        self.to(control)
        self.page.keyboard.press("Enter")

    def map(self, landmarks: list[str]) -> None:
        """Choose each landmark in the list, and type the name of its marker."""
        page = self.page
        self.to(page.locator(".ms-landmarks"))
        for landmark in landmarks:
            cell = page.get_by_role("button", name=re.compile(rf"^{_words(landmark)}:"))
            here, there = page.evaluate(PLACES, cell.element_handle())
            for axis, keys in enumerate((("ArrowUp", "ArrowDown"), ("ArrowLeft", "ArrowRight"))):
                for _ in range(abs(there[axis] - here[axis])):
                    page.keyboard.press(keys[there[axis] > here[axis]])
            assert cell.evaluate("each => each === document.activeElement"), landmark
            page.keyboard.press("Enter")
            page.wait_for_function("document.activeElement.closest('.ms-chosen') !== null")
            option = page.get_by_role("option", name=self.hands.names[landmark], exact=True)
            page.keyboard.press("Control+a")
            page.keyboard.type(self.hands.names[landmark])
            option.wait_for()
            page.keyboard.press("ArrowDown")
            page.keyboard.press("Enter")
            self.hands.mapped(landmark, page)
            page.wait_for_function("document.activeElement.matches('.ms-landmarks .ms-cell')")


@pytest.mark.parametrize("person", [ByMouse, ByTouch, pytest.param(ByKeys, marks=pytest.mark.thorough)])
def test_unknown_markers_become_a_report_by(person: type[ByMouse], hands: Hands) -> None:
    needed = [name for name, each in landmarks().items() if each.required]
    # more by mouse, where places count
    missing = needed[:: (6, 3)[THOROUGH]] if person is ByMouse else needed[:: (8, 5)[THOROUGH]]
    hands.state(
        [name for name in needed if name not in missing]
    )  # no page asks for the report that is taken away
    (hands.folder / "results" / "trial" / "report.html").unlink(missing_ok=True)
    page = hands.phone if person is ByTouch else hands.page
    page.goto(hands.address)
    who = person(hands, page)

    def step(title: str) -> None:
        to_step(page, title, who.use)
        page.get_by_role("heading", name=title, exact=True).wait_for()

    step("Markers")
    page.locator(".ms-scene canvas").wait_for()
    page.get_by_text("Needed and not mapped").wait_for()
    who.map(missing)
    page.get_by_text("Every landmark that is needed has its marker.").wait_for()
    if person is ByTouch:
        assert hands.errors == []
        return
    step("Result")
    if (hands.folder / "results" / "trial" / "result.nc").is_file():
        who.use(page.locator(".q-expansion-item .q-item[aria-expanded=false]").first)
    run = page.get_by_role("button", name=re.compile("^Run( again)?$")).last
    who.use(run)
    picture = page.frame_locator("iframe[title='Moving picture of the result']")
    picture.get_by_label("Color").wait_for()
    assert picture.locator("html").evaluate("page => page.scrollHeight - innerHeight") <= 0
    page.get_by_role("heading", name="Result", exact=True).wait_for()
    step("Export")
    page.get_by_role("link", name="report.html").wait_for()
    assert hands.errors == []


def test_every_step_has_an_address_and_keeps_its_place(computed: Hands) -> None:
    hands, page = computed, computed.page
    steps = ("Subject", "Markers", "Plates", "Events", "EMG", "Check", "Result", "Questions")
    for title in (*some(steps, 4), "Compare", "Export"):
        hands.step(title)
        ending = f"?trial=trial.toml&step={title.lower()}"
        page.wait_for_url(lambda url, ending=ending: url.endswith(ending), wait_until="commit")
        page.reload()
        page.get_by_role("heading", name=title, exact=True).wait_for()
    page.go_back()
    page.get_by_role("heading", name="Compare", exact=True).wait_for()
    page.go_forward()
    page.get_by_role("heading", name="Export", exact=True).wait_for()
    page.goto(page.url.partition("?")[0])  # a finished trial opens at its result
    page.get_by_role("heading", name="Result", exact=True).wait_for()

    # an event that is moved keeps the focus
    hands.step("Events")
    strike = page.locator("g[role=slider][aria-label^='right heel strike']").first

    for key in ("ArrowRight", "ArrowLeft"):
        strike.focus()
        page.keyboard.press(key)
        page.get_by_role("button", name="As found").wait_for()
        page.wait_for_function(
            "document.activeElement.getAttribute('aria-label')?.startsWith('right heel strike')"
        )
    assert hands.errors == []


def test_questions_are_answered_beside_the_result(computed: Hands) -> None:
    hands, page = computed, computed.page
    hands.step("Questions")

    def ask(title: str, why: str) -> None:
        page.get_by_role("button", name=title, exact=True).click()
        page.get_by_text(why).wait_for()
        page.get_by_role("button", name="Answer", exact=True).click()

    ask("What if?", "the same motion, solved again")
    page.get_by_text("no scenario is stated").wait_for()
    page.get_by_label("Scenarios, one a line").fill("weak calf: triceps_surae=0.8")
    page.get_by_label("Scenarios, one a line").press("Tab")
    ask("Which muscle does what?", "How each muscle accelerates")
    answer = page.frame_locator("iframe")
    answer.get_by_role("heading", name="Figures").wait_for()
    assert "most support by triceps surae" in answer.locator(".verdict").inner_text()
    ask("What if?", "the same motion, solved again")
    answer.get_by_text("weak calf").first.wait_for()
    assert hands.trial["questions"]["scenarios"] == ["weak calf: triceps_surae=0.8"]
    assert hands.errors == []


def test_what_mends_a_finding_is_taken_beside_it(computed: Hands) -> None:
    hands, page = computed, computed.page
    hands.step("Subject")
    page.get_by_label("Mass [kg]", exact=True).press("Control+a")
    # a step that is shown late leaves the focus in the field
    page.evaluate("msShowStep(), new Promise(requestAnimationFrame)")
    page.keyboard.type("90")
    page.keyboard.press("Tab")
    hands.step("Check")
    page.get_by_role("button", name=re.compile("^Show in Subject:")).first.click()
    page.locator(".ms-field-here").get_by_label("Mass [kg]").wait_for()
    page.wait_for_function("document.activeElement.closest('.ms-field-here') !== null")
    page.get_by_role("button", name=re.compile(r"^Take .*Mass \[kg\].* as 7[01]")).click()
    page.get_by_text("Checked again: it is mended.").wait_for()
    assert 70.0 < hands.trial["subject"]["mass_kg"] < 72.0
    assert hands.errors == []


@pytest.mark.thorough  # the page of a study has tests of its own
def test_a_study_by_mouse_and_keys_to_its_page(hands: Hands) -> None:
    page, file = hands.page, hands.folder / "many" / "study.toml"

    def study() -> dict[str, Any]:
        return tomllib.loads(file.read_text(encoding="utf-8"))

    hands.step("Study")
    page.locator(".q-tree__node-header").get_by_text("many", exact=True).click()
    page.get_by_text(f"Folder: {hands.folder / 'many'}").wait_for()
    page.get_by_role("button", name="Draft the study").click()
    page.get_by_text("Missing: stature_m of S01; sex of S01.").wait_for()
    assert sorted(study()["trials"]) == ["S01_fast_walk", "S01_slow_walk"]
    cells = page.locator(".ms-study").first.locator("tbody tr").first.locator("td")
    trial = page.get_by_role("button", name="S01_fast_walk", exact=True)
    trial.drag_to(cells.nth(0))
    page.get_by_label("Condition that the others").wait_for(state="detached")  # one condition is left
    assert study()["design"]["conditions"] == ["slow"]
    # back, and by keys to a condition that is new
    words = page.get_by_label("Choose by words")
    words.fill("s01 fast")
    words.press("Enter")
    page.get_by_text("1 chosen").wait_for()
    page.get_by_label("Condition", exact=True).fill("quick")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Move", exact=True).press("Enter")
    page.get_by_label("Condition that the others").wait_for()
    assert study()["design"]["conditions"] == ["slow", "quick"]
    # a faulty text is refused and stays in its field
    page.get_by_text("Text of study.toml").click()
    text = page.locator(".ms-text .cm-content").filter(has_text="study.schema")
    text.wait_for()  # `press` does not wait, and what is hidden gets no key
    text.press("Control+Home")
    page.keyboard.insert_text("[design\n")
    page.locator(".ms-text .cm-line").get_by_text("[design", exact=True).wait_for()
    page.get_by_role("button", name="Apply to the study").click()
    page.get_by_text("no TOML").wait_for()
    assert text.inner_text().startswith("[design") and study()["design"]["conditions"] == ["slow", "quick"]
    # text and message stay when another program changes the file, and the page says so
    file.write_text("# by another program\n" + file.read_text(encoding="utf-8"), encoding="utf-8")
    page.get_by_text("has changed since you began to type").wait_for()
    page.get_by_role("button", name="Close", exact=True).last.click()
    assert text.inner_text().startswith("[design")
    page.get_by_role("button", name="Discard", exact=True).last.click()
    page.locator(".ms-text").get_by_text("# by another program").wait_for()
    page.get_by_label("Stature [m] of S01").fill("1.75")
    page.get_by_label("Stature [m] of S01").press("Tab")
    page.get_by_label("Sex of S01", exact=True).click()
    page.get_by_role("option", name="male", exact=True).click()
    page.get_by_text("Nothing that the recordings need is missing.").wait_for()
    page.get_by_role("button", name="Check the study").click()
    page.get_by_text("both trials can be computed").wait_for()
    if not THOROUGH:  # a study that runs, and its page, are in `studies/study/test_whole_study.py`
        assert page.get_by_role("button", name="Run the study").is_enabled()
        assert hands.errors == []
        return
    page.get_by_role("button", name="Run the study").click()
    page.get_by_text(re.compile(r"Results of trials: 2 \(2 (not )?(usable|plausible)")).wait_for()
    page.reload()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Open the page in a tab of its own").click()
    opened.value.get_by_role("heading", name="In short").wait_for()
    opened.value.close()
    assert hands.errors == []
