"""The live page: contacts and steps, settings, who is let in, and that browsers see the numbers of the frames."""

from __future__ import annotations

import base64
import http.client
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import monotonic, perf_counter
from types import SimpleNamespace
from urllib.parse import urlsplit

import numpy as np
import pytest
from browser import chromium, needs_chromium
from refusals import refused
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from musclesolve import Status
from musclesolve.apps.live import Live, samples
from musclesolve.apps.live.page import page_sink, server
from musclesolve.apps.live.page.page_settings import PageSettings
from musclesolve.apps.live.page.page_sink import LivePage
from musclesolve.apps.live.page.page_state import (
    BYTES,
    FootContacts,
    FrameRing,
    Order,
    PageSetup,
    PageState,
    row_type,
)
from musclesolve.apps.live.session import SessionWatch
from musclesolve.apps.live.stream import Arrival, run_session
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.data import reference_stride
from musclesolve.laboratory.motion.events.foot_events import contacts
from musclesolve.laboratory.report.picture.encoded import NO_PLACE, NO_VALUE


@pytest.fixture(scope="module")
def live() -> Live:
    made = Live(reference_stride())
    made.warm_up()
    return made


@pytest.fixture(scope="module")
def frames(live: Live):
    """The frames of the recording."""
    taken = [(sample, live.step(*sample)) for sample in samples(live, live.trial)]
    assert sum(bool(frame.valid.all()) for _, frame in taken) > 60
    return taken


def without(frame, note: str):
    """The frame as if its samples had been missing."""
    values = {name: value for name, value in vars(frame).items() if isinstance(value, np.ndarray)}
    unknown = {name: np.full_like(value, np.nan) for name, value in values.items() if name != "status"}
    return replace(frame, **unknown, status=np.full_like(frame.status, Status.INTERRUPTED), notes=(note,))


def state_of(live: Live) -> tuple[PageState, FrameRing]:
    setup = PageSetup.from_live(live)
    return PageState(setup, PageSettings.usual(setup.keys)), FrameRing(bytearray(BYTES), row_type(live))


# ---- contacts and steps


def test_contacts_found_sample_by_sample_are_those_of_the_whole_recording():
    """Steps with dropouts, knocks against the plate and noise; the causal ones are those that have ended."""
    random = np.random.default_rng(3)
    time = np.arange(0.0, 30.0, 0.01)
    for _ in range(5):
        vertical = 15.0 * random.standard_normal(time.size)
        begin = 0.3
        while begin < 29.0:
            lasts = random.choice([0.05, 0.3, 0.6, 0.7])
            inside = (time >= begin) & (time <= begin + lasts)
            vertical[inside] += 700.0 * np.abs(np.sin(np.pi * (time[inside] - begin) / lasts)) ** 0.3
            if random.random() < 0.3:
                vertical[np.abs(time - begin - 0.5 * lasts) < random.choice([0.01, 0.04])] = 0.0
            begin += lasts + random.choice([0.03, 0.2, 0.4])
        foot, stances, cycles = FootContacts(20.0, 80.0), [], []
        for at, force in zip(time, vertical, strict=True):
            ended, between = foot.push(float(at), float(force))
            stances += ended
            cycles += between
        expected = contacts(time, vertical, 20.0, 80.0)
        expected = expected[np.isfinite(expected).all(axis=1) & (expected[:, 1] < time[-1] - 0.06)]
        assert len(expected) > 20
        np.testing.assert_allclose(np.array(stances)[: len(expected)], expected)
        strikes = [cycles[0][0], *(end for _, end in cycles)]
        np.testing.assert_allclose(strikes[: len(expected)], expected[:, 0])
        assert all(begin == before for (begin, _), before in zip(cycles, strikes, strict=False))


@pytest.mark.parametrize(
    ("unknown", "stances", "cycles"),
    [
        ((1.4, 1.45), [0.2, 2.2], [0.2]),  # while the foot is loaded: no step, and no cycle goes over it
        ((1.805, 1.83), [0.2, 1.2, 2.2], [0.2, 1.2]),  # as it leaves the ground: its force has fallen before
        ((1.85, 1.95), [0.2, 1.2, 2.2], [0.2]),  # for long in the air: who knows what was there
        ((1.15, 1.25), [0.2, 2.2], []),  # as it comes down
    ],
)
def test_a_contact_of_which_a_part_is_not_known_is_no_step(unknown, stances, cycles):
    """A foot that is loaded from 0.2 to 0.8 s of each second, its force unknown between two times."""
    foot, found = FootContacts(20.0, 80.0), []
    for k in range(300):
        at, phase = 0.01 * k, 0.01 * (k % 100)
        force = float(np.interp(phase, [0.195, 0.2, 0.79, 0.81], [0.0, 700.0, 700.0, 0.0]))
        force = 40.0 if k % 100 == 80 else force
        found.append(foot.push(at, np.nan if unknown[0] < at < unknown[1] else force))
    assert [round(begin, 1) for ended, _ in found for begin, _ in ended] == stances
    assert [round(begin, 1) for _, ended in found for begin, _ in ended] == cycles


def planted(live: Live, template, at: float, force: float, knee: float):
    """A frame with a vertical force on the right foot, and a knee contact force, both in body weights."""
    weight = live.model.mass.total * STANDARD_GRAVITY
    wrench, reaction = np.zeros((2, 6)), np.zeros_like(template.joint_reaction)
    wrench[0, 2], reaction[live.joints.index("knee_r"), 2] = weight * force, weight * knee
    return replace(template, time=at, wrench=wrench, joint_reaction=reaction)


@pytest.mark.thorough
def test_the_peak_of_each_step_is_that_of_its_frames_and_has_none_where_one_is_not_valid(live, frames):
    state, ring = state_of(live)
    good = next(frame for _, frame in frames if frame.valid.all())
    bad = np.full_like(good.status, Status.INFEASIBLE)
    state.settings = replace(state.settings, quantity="joint_reaction:knee_r", low=2.5)
    for k in range(420):
        at = 0.01 * k
        step, phase = divmod(at, 1.0)
        stance = 0.2 < phase < 0.8
        frame = planted(live, good, at, float(stance), (2.0 + 0.25 * step) * stance + 5.0 * (phase < 0.1))
        lost = abs(at - 1.5) < 1e-9
        ring.write(perf_counter(), replace(frame, status=bad) if lost else frame)
    state.take(*ring.read())
    feedback = state.feedback()
    values = [step["value"] for step in feedback["steps"]["r"]]
    assert values == [pytest.approx(2.0), None, pytest.approx(2.5), pytest.approx(2.75)]
    places = [step["place"] for step in feedback["steps"]["r"]]
    assert places == ["below", "unknown", "in", "in"] and feedback["steps"]["l"] == []
    assert feedback["place"] == "in" and feedback["done"] == 4
    state.settings = replace(state.settings, during="cycle")
    values = [step["value"] for step in state.feedback()["steps"]["r"]]
    assert values == [pytest.approx(5.0), None, pytest.approx(5.0)], "with what comes in swing"


def test_where_the_clock_begins_anew_there_is_no_step_yet(live, frames):
    state, ring = state_of(live)
    good = next(frame for _, frame in frames if frame.valid.all())
    for at in np.arange(0.0, 3.0, 0.01):
        ring.write(perf_counter(), planted(live, good, at, float(0.2 < at % 1.0 < 0.8), 1.0))
    state.take(*ring.read())
    assert state.feedback()["done"] == 3
    ring.write(perf_counter(), planted(live, good, 0.0, 0.0, 1.0))
    state.take(*ring.read())
    feedback = state.feedback()
    assert feedback["done"] == 0 and feedback["value"] is None and feedback["steps"] == {"r": [], "l": []}


@pytest.mark.thorough
def test_of_one_leg_there_are_its_quantities_and_its_steps():
    live = Live(reference_stride(), side="r")
    state, ring = state_of(live)
    assert {key for key in state.every if key.startswith("joint_r")} == {
        f"joint_reaction:{joint}_r" for joint in ("hip", "knee", "ankle")
    }
    for sample in samples(live, live.trial):
        ring.write(perf_counter(), live.step(*sample))
    state.take(*ring.read())
    assert state._spans["l", "stance"], "the left foot is on the ground, too"
    assert state.feedback()["steps"]["l"] == [] and [leg.side for leg in state.base.legs] == ["r"]
    assert len(state.picture()["legs"]) == 1


def test_curves_are_the_values_of_the_frames_and_late_ones_are_left_out(live, frames):
    state, ring = state_of(live)
    taken = [frame for _, frame in frames]
    for frame in [*taken[:50], without(taken[40], "late"), *taken[50:]]:
        ring.write(perf_counter(), frame)
    state.take(*ring.read())
    weight = live.model.mass.total * STANDARD_GRAVITY
    state.settings = replace(state.settings, curves=("joint_reaction:knee_l", "muscle_force:soleus_r"))
    time, values = state.curves(-1)
    assert (np.diff(time) > 0.0).all()
    by_time = {frame.time: frame for frame in taken}
    for at, (knee, soleus) in zip(time.tolist(), values, strict=True):
        frame = by_time[at]
        right, left = frame.valid[live.sides.index("r")], frame.valid[live.sides.index("l")]
        force = frame.force[live.muscles.index("soleus_r")] if right else np.nan
        contact = np.linalg.norm(frame.joint_reaction[live.joints.index("knee_l")]) if left else np.nan
        np.testing.assert_allclose([knee * weight, soleus], [contact, force], rtol=1e-6)


def test_a_ring_that_is_read_too_late_says_what_is_lost(live, frames):
    ring = FrameRing(bytearray(BYTES), row_type(live))
    count = len(ring.rows) + 10
    for _ in range(count):
        ring.write(0.0, frames[0][1])
    rows, lost = ring.read()
    assert lost >= 10 and lost + len(rows) == count
    assert rows["number"].tolist() == list(range(lost, count))


# ---- settings


def test_settings_are_kept_in_a_file_and_what_cannot_be_is_refused(live, tmp_path):
    keys, file = PageSetup.from_live(live).keys, tmp_path / "page.json"
    chosen = replace(PageSettings.usual(keys), curves=("activation:soleus_l",), low=0.1, value="now")
    chosen.write(file)
    assert PageSettings.read(file, keys) == chosen
    assert PageSettings.read(tmp_path / "none.json", keys) == PageSettings.usual(keys)
    for stated, where, code in (
        ({"curve": []}, "curve", "unknown_name"),
        ({"curves": ["activation:ear_r"]}, "curves", "unknown_name"),
        ({"curves": keys[:7]}, "curves", "bad_value"),
        ({"span": 7}, "span", "bad_value"),
        ({"low": "2"}, "low", "not_numbers"),
        ({"low": float("inf")}, "low", "not_numbers"),
        ({"high": 10**400}, "high", "not_numbers"),
        ({"low": 2, "high": 1}, "low", "bad_value"),
        ([], "settings", "bad_value"),
    ):
        with refused(code, where):
            PageSettings.from_document(stated, keys)
    file.write_text("{", encoding="utf-8")
    with refused("bad_format"):
        PageSettings.read(file, keys)
    with refused("not_writable", file.name):
        chosen.write(file / "page.json")


def test_choices_that_cannot_be_kept_hold_for_the_session_and_the_page_says_so(live, tmp_path):
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    setup, file = PageSetup.from_live(live), tmp_path / "taken" / "page.json"
    usual = PageSettings.usual(setup.keys)
    order = Order(setup, usual, file, row_type(live), 0, "token", False)
    serving = server.PageServer(order, FrameRing(bytearray(BYTES), order.kind), 0)
    serving._choose({"value": "now"})
    assert serving.state.settings == replace(usual, value="now") and str(file) in serving.trouble
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "a file"


# ---- the server


@pytest.fixture(scope="module")
def page(live: Live, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePage]:
    folder = tmp_path_factory.mktemp("page")
    made = LivePage(folder / "page.json", opens=False)
    try:
        made.begin(live)
        yield made
    finally:
        made.close()


def send(page: LivePage, taken) -> None:
    for sample, frame in taken:
        page.take(Arrival(sample, perf_counter()), frame)


def asked(page: LivePage, path: str, **headers: str) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers of a request."""
    there = urlsplit(page.address)
    connection = http.client.HTTPConnection(there.hostname, there.port, timeout=10)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())
    finally:
        connection.close()


def stream(page: LivePage, view: str = "operator", token: str | None = None, origin: str | None = None):
    there = urlsplit(page.address)
    query = there.query if token is None else f"token={token}"
    return connect(f"ws://{there.netloc}/stream?view={view}&{query}", origin=origin, open_timeout=10)


def newest(client: ClientConnection, number: int) -> list[dict]:
    """Messages until that of a frame, each confirmed as a browser does."""
    messages, until = [], monotonic() + 20.0
    while monotonic() < until:
        messages.append(json.loads(client.recv(timeout=10)))
        client.send(json.dumps({"drawn": messages[-1]["number"]}))
        if messages[-1]["number"] >= number:
            return messages
    raise AssertionError("the frame did not come")


def test_without_the_token_or_from_another_site_nothing_is_shown(page):
    there = urlsplit(page.address)
    right = f"/?{there.query}"
    assert there.hostname == "127.0.0.1" and len(there.query) > 30
    status, text, headers = asked(page, right)
    assert status == 200 and "ms-picture" in text
    assert (
        "default-src 'none'" in headers["content-security-policy"] and headers["cache-control"] == "no-store"
    )
    outside = re.sub(r"<(script|style).*?</\1>", "", text, flags=re.DOTALL)
    assert re.findall(r'(?:src|href)="(?!data:)[^"]*"', outside) == [], "all that it needs lies in it"
    for path, more in (
        ("/", {}),
        ("/?token=", {}),
        ("/?token=wrong", {}),
        ("/subject", {}),
        (right, {"Origin": "http://evil.example"}),
        (right, {"Host": "evil.example"}),
    ):
        status, text, _ = asked(page, path, **more)
        assert status == 403 and "ms-picture" not in text and there.query not in text, path
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/web/operator.js", "//etc/passwd"):
        assert asked(page, f"{path}?{there.query}")[0] == 404
    for wrong in ({"token": ""}, {"token": "wrong"}, {"origin": "http://evil.example"}, {"origin": "null"}):
        with pytest.raises(InvalidStatus) as error:
            stream(page, **wrong)
        assert error.value.response.status_code == 403
    with stream(page, origin=f"http://{there.netloc}") as client:
        assert json.loads(client.recv(timeout=10))["number"] == -1


def test_two_browsers_see_the_numbers_of_the_frames_and_share_their_settings(page, live, frames):
    taken = frames[20:60]
    with stream(page) as one, stream(page, view="subject") as two:
        first = json.loads(one.recv(timeout=10))
        assert first["settings"]["curves"][0] == "joint_reaction:knee_r" and "picture" not in first
        chosen = first["settings"] | {
            "curves": ["muscle_force:soleus_l"],
            "quantity": "joint_angle:knee_flexion_r",
        }
        one.send(json.dumps({"drawn": -1, "settings": chosen | {"value": "now", "low": -200, "high": 200}}))
        for wrong in ("no JSON", "[" * 30_000, "9" * 5000, '{"settings": {"low": 1' + 400 * "0" + "}}"):
            one.send(wrong)
        one.send(json.dumps({"settings": {"curves": "all"}}))
        send(page, taken)
        number = len(taken) - 1
        messages = newest(one, number)
        time, force = (
            np.concatenate([np.frombuffer(base64.b64decode(m["curves"][name]), kind) for m in messages])
            for name, kind in (("time", "<f8"), ("values", "<f4"))
        )
        frame, last = taken[-1][1], messages[-1]
        assert frame.valid.all()
        np.testing.assert_array_equal(time[-len(taken) :], [frame.time for _, frame in taken])
        own = live.muscles.index("soleus_l")
        left = live.sides.index("l")
        expected = [frame.force[own] if frame.valid[left] else np.nan for _, frame in taken]
        np.testing.assert_allclose(force[-len(taken) :], expected, rtol=1e-6)
        assert last["status"]["frames"] == len(taken) and 0.0 <= last["status"]["age"] < 10.0
        json.loads(two.recv(timeout=10))
        two.send(json.dumps({"drawn": -1}))
        seen = newest(two, number)[-1]
        knee = np.degrees(frame.angle[live.dofs.index("knee_flexion_r")])
        for message in (last, seen):
            assert message["feedback"]["value"] == pytest.approx(knee, rel=1e-6)
            assert message["feedback"]["place"] == "in"
        assert "picture" not in seen and "curves" not in seen
    kept = json.loads(Path(page.settings).read_text(encoding="utf-8"))
    assert kept["curves"] == ["muscle_force:soleus_l"] and kept["high"] == 200


def test_a_frame_that_is_not_valid_is_drawn_without_subject_and_values(page, live, frames):
    lost = without(frames[-1][1], "hidden: R.ASIS")
    with stream(page) as client:
        before = json.loads(client.recv(timeout=10))["number"]
        client.send(json.dumps({"drawn": before}))
        send(page, [(frames[0][0], lost)])
        message = newest(client, before + 1)[-1]
    picture = message["picture"]
    assert message["notes"] == "hidden: R.ASIS" and message["status"]["invalid"] == 1
    assert {each["kind"] for each in picture["verdicts"]} == {"none"}
    for name in ("skeleton", "path"):
        assert set(np.frombuffer(base64.b64decode(picture[name]), "<i2")) == {NO_PLACE}
    for each in picture["quantities"]:
        assert set(np.frombuffer(base64.b64decode(each["data"]), "<u2")) == {NO_VALUE}
    assert np.isnan(np.frombuffer(base64.b64decode(picture["ground"]["force"]), "<f4")).all()


def test_a_recording_waits_for_the_first_browser(live, served_here, monkeypatch):
    """The wait ends when a browser has drawn a message; without a browser it ends in time, or when it shall stop."""
    monkeypatch.setattr(page_sink, "FIRST_BROWSER", 0.2)
    page = LivePage(opens=False)
    try:
        page.begin(live)
        assert not page.wait_for_browser()
        monkeypatch.setattr(page_sink, "FIRST_BROWSER", 60.0)
        asked_to_stop = iter([False, True])
        assert not page.wait_for_browser(lambda: next(asked_to_stop))
        with stream(page) as client:
            client.send(json.dumps({"drawn": json.loads(client.recv(timeout=10))["number"]}))
            assert page.wait_for_browser()
    finally:
        page.close()


@pytest.mark.parametrize("ends", ["before its order", "before the address"])
def test_a_session_that_is_killed_leaves_no_trouble(live, monkeypatch, ends):
    setup, orders = PageSetup.from_live(live), []
    if ends == "before the address":
        orders.append(Order(setup, PageSettings.usual(setup.keys), None, row_type(live), 0, "token", False))

    class Broken:
        def recv(self):
            if not orders:
                raise ConnectionResetError
            return orders.pop()

        def send(self, said):
            assert said[0] == "ready"
            raise BrokenPipeError

    monkeypatch.setattr(server.signal, "signal", lambda *_: None)  # this is no process of its own
    monkeypatch.setattr(server.os, "nice", lambda _: None, raising=False)
    server.serve(Broken(), bytearray(BYTES))
    assert not orders


def test_a_port_that_is_taken_is_refused(live, page, served_here):
    other = LivePage(port=urlsplit(page.address).port, opens=False)
    try:
        with refused("bad_environment"):
            other.begin(live)
    finally:
        other.close()


# ---- in a browser

LIGHT = """() => {
  const light = (r, g, b) => r + g + b > 384, canvas = document.querySelector(".lp-curve canvas");
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, 0, 0);
  const dots = copy.getImageData(0, 0, canvas.width, canvas.height).data, drawn = [];
  for (let k = 0; k < dots.length; k += 4) if (dots[k + 3] > 100) drawn.push(light(...dots.slice(k, k + 3)));
  const { backgroundColor, color } = getComputedStyle(document.body);
  const colors = [backgroundColor, color].map((each) => light(...each.match(/\\d+/g).map(Number)));
  return [...colors, drawn.filter(Boolean).length > drawn.length / 2];
}"""
"""Whether these are light: the ground, the text, and most of what is drawn of a curve, that is its grid."""

SCALES = """() => {
  const scale = (value) => {
    const curves = new document.body.page.curves.constructor(), range = {};
    for (let k = 0; k < 500; k++) { curves.time.push(k / 100); curves.values.push([value(k)]); }
    curves.draw(document.querySelector(".lp-curve canvas"), 0, 10, {}, false, range);
    return [range.low, range.high];
  };
  return [scale((k) => k === 250 ? 10 : 2 + 2 * Math.sin(k / 20)), scale((k) => k === 250 ? 1 : 0)];
}"""
"""Ends of the scale of a wave from 0 to 4 with an outlier, and of a single peak."""


@needs_chromium
def test_in_a_browser(live, frames, served_here):
    """Values, keys, the subject's screen, and the end; no error, and nothing asked of another place."""
    page, size = LivePage(opens=False), {"width": 900, "height": 600}
    try:
        page.begin(live)
        with chromium() as browser:
            context = browser.new_context(viewport=size)
            errors, asked_for = [], []

            def heard(line):
                if line.type in ("error", "warning") and "GL Driver Message" not in line.text:
                    errors.append(line.text)

            def opened(address):
                tab = context.new_page()
                tab.on("console", heard)
                tab.on("pageerror", lambda error: errors.append(str(error)))
                tab.on("request", lambda request: asked_for.append(request.url))
                tab.goto(address)
                return tab

            shows = "(number) => document.body.page && document.body.dataset.number >= number"
            tab = opened(page.address)
            tab.wait_for_function("() => document.body.page && document.body.page.message")
            assert "Waiting for the first frame" in tab.locator('[data-msp="count"]').inner_text()
            assert not tab.locator('[data-msp="alert"]').is_visible()
            assert "solution" not in tab.locator('[data-msp="verdict"]').inner_text()
            taken = frames[20:60]
            send(page, taken)
            tab.wait_for_function(shows, arg=len(taken) - 1)
            frame = taken[-1][1]
            muscle = live.muscles.index("soleus_r")
            drawn = """(name) => { const d = document.querySelector('.ms-picture').picture.data;
                return [d.time[0], d.value(d.quantities[1], 0, d.muscles.findIndex((m) => m.name === name)),
                        ...d.joint(0, d.points.indexOf('knee_r'), [])]; }"""
            time, force, *knee = tab.evaluate(drawn, "soleus_r")
            assert (
                time == frame.time - taken[0][1].time
            )  # from the first frame, whatever the clock of the sender
            assert force == pytest.approx(frame.force[muscle], abs=0.5)
            lost = tab.locator('[data-msp="alert"]')
            assert not lost.is_visible() and np.isfinite(knee).all()
            weight = live.model.mass.total * STANDARD_GRAVITY
            contact = np.linalg.norm(frame.joint_reaction[live.joints.index("knee_r")]) / weight
            assert tab.locator(".lp-curve output").first.inner_text() == f"{contact:.2f} BW"
            tab.wait_for_function("() => /No samples for/.test(document.body.innerText)")
            # by keys alone: the value of now, and a band
            tab.locator('[data-live="value"]').focus()
            tab.keyboard.press("Home")
            tab.wait_for_function("() => document.body.page.settings.value === 'now'")
            tab.keyboard.press("Tab")
            assert tab.evaluate("document.activeElement.dataset.live") == "low", "the step is of no matter"
            tab.keyboard.type("0.01")
            tab.keyboard.press("Tab")
            tab.wait_for_function("() => document.body.page.settings.low === 0.01")
            tab.keyboard.type("7")
            tab.evaluate("document.body.page.adopt(document.body.page.settings)")
            assert tab.evaluate("document.activeElement.value") == "7", "what is being typed stays"
            tab.keyboard.press("Backspace")
            assert tab.evaluate(SCALES) == [[0, 4], [0, 1]], (
                "an outlier does not stretch it, the ends are shown"
            )
            assert tab.evaluate(LIGHT) == [True, False, True]
            tab.emulate_media(color_scheme="dark")
            tab.evaluate("document.body.page.draw()")
            assert tab.evaluate(LIGHT) == [False, True, False]
            subject = opened(page.address.replace("/?", "/subject?"))
            subject.wait_for_function(shows, arg=len(taken) - 1)
            zeros = "() => [-0.004, 0.004, -0.006].map((each) => numberText(each, { decimals: 2 }))"
            assert subject.evaluate(zeros) == ["0.00", "0.00", "-0.01"]
            assert subject.locator('[data-live="now"]').inner_text() == f"{contact:.2f}"
            assert subject.locator('[data-live="place"]').inner_text() == "in the band"
            assert tab.locator('[data-live="place"]').inner_text() == "in the band"
            send(page, [(taken[-1][0], without(frames[60][1], "hidden: R.ASIS"))])
            tab.bring_to_front()
            tab.wait_for_function(shows, arg=len(taken))
            assert lost.is_visible() and "hidden: R.ASIS" in tab.locator('[data-msp="count"]').inner_text()
            assert tab.locator('[data-live="now"]').inner_text() == "–"
            assert tab.locator('[data-live="place"]').inner_text() == "no valid value"
            assert tab.evaluate("document.body.page.tones.last") == "", "what is not valid makes no sound"
            page.say("plate 2 has sent no numbers for 1 s")
            send(page, taken[-1:])
            tab.wait_for_function(shows, arg=len(taken) + 1)
            tab.get_by_role("alert").filter(has_text="plate 2 has sent no numbers").wait_for()
            tab.locator('[data-live="sound"]').click()
            tab.wait_for_function("() => document.body.page.tones.on")
            subject.reload()
            subject.wait_for_function(shows, arg=len(taken) + 1)
            assert subject.locator('[data-live="band"]').inner_text() == "Target: at least 0.01 BW"
            page.close()
            tab.wait_for_function("() => /The session has ended/.test(document.body.innerText)")
            assert errors == []
            here = urlsplit(page.address).netloc
            assert {urlsplit(each).netloc for each in asked_for if not each.startswith("data:")} == {here}
            context.close()
    finally:
        page.close()


def test_a_session_that_is_refused_tells_the_browsers_why(live, frames, served_here):
    page = LivePage(opens=False)
    page.begin(live)
    scaled = (sample._replace(markers=1000.0 * sample.markers) for sample, _ in frames)
    arrivals = (Arrival(sample, perf_counter()) for sample in scaled)
    source = SimpleNamespace(wait=lambda timeout: next(arrivals), close=lambda: None, remarks=())
    said = list[str]()
    with stream(page) as browser:
        first = json.loads(browser.recv(timeout=10))
        browser.send(json.dumps({"drawn": first["number"]}))
        with refused("bad_units"):
            run_session(live, source, [SessionWatch(said.append), page])
        last = [json.loads(text) for text in browser][-1]
    assert last["ended"] and "thousand times too large" in last["reason"] and "unit" in last["reason"]
    assert said == []


def test_closing_tells_the_browsers_and_ends_the_process(page, frames, monkeypatch):
    monkeypatch.setattr(page_sink, "GRACE", 60.0)  # however busy the machine is
    with stream(page) as quick, stream(page) as vanished:
        before = json.loads(quick.recv(timeout=10))["number"]
        quick.send(json.dumps({"drawn": before}))
        json.loads(vanished.recv(timeout=10))  # which it never confirms
        send(page, frames[:5])
        page.close()
        for client in (quick, vanished):
            last = [json.loads(text) for text in client][-1]
            assert last["ended"] is True and last["number"] == before + 5
    with pytest.raises(OSError):
        asked(page, "/")
    page.close()
