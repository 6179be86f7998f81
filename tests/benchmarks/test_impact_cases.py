"""Cases of chapter 4: printed numbers that the tables must give, balances, symmetry, and what the pages quote."""

from __future__ import annotations

import re
from dataclasses import asdict

import numpy as np
import pytest
from here import computed_here
from thorough import THOROUGH

from benchmarks import recorded_figures, tackle_map
from benchmarks.chapter_4 import SUBJECTS, asymmetry, imbalance, momentum_imbalance, subject
from benchmarks.pedestrian import GROUND
from benchmarks.recorded_figures import pattern, recorded, sentences
from benchmarks.sled import SPEED, belted, figures, sled
from benchmarks.sled_belts import MIDDLE, harness, way
from benchmarks.tackle import FRONTAL, RUNS, tackle
from benchmarks.tackle import figures as tackle_figures
from benchmarks.tackle_map import (
    FOUND,
    RANGES,
    HalfSine,
    design,
    head_alone,
    head_alone_as_printed,
    powers,
    said,
)
from benchmarks.timing import side_by_side
from musclesolve._util.worker_pool import Lost, Pool
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.errors import MuscleSolveError
from musclesolve.signals import head_injury_criterion, severity_index


def test_the_subjects_have_their_mass_and_the_lengths_of_the_print():
    """Table 3.2: 81.52 kg, head 4.241 kg, a thigh of 0.434 m; a player of another mass has the same lengths."""
    for name, (_, mass, _) in SUBJECTS.items():
        assert subject(name).mass.total == pytest.approx(mass, abs=1e-6)
    man, player = subject(), subject(mass=75.0)
    assert man.mass.mass[man.body("head")] == pytest.approx(4.241, rel=1e-3)
    assert np.linalg.norm(
        man.standing[man.slot("knee_r")] - man.standing[man.slot("hip_r")]
    ) == pytest.approx(0.434)
    assert player.mass.total == pytest.approx(75.0)
    np.testing.assert_allclose(player.standing, man.standing, atol=1e-12)


@pytest.fixture(scope="module")
def belted_run():
    return sled()


def test_a_belted_occupant_stays_in_the_seat(belted_run):
    run = belted_run
    found = figures(run, belted(run.motions["occupant"].model))
    assert found["peak"] < 80.0 and found["criterion_36"] < 1000.0 and found["neck_limit"] > 100.0
    assert found["criterion_15"] < found["criterion_36"] and found["hips"] < 0.3
    assert found["energy_off"] < 1e-4 and found["momentum_off"] < 1e-4
    assert run.motions["sled"].qd[-1, 0, 0] == pytest.approx(0.0, abs=1e-5 * SPEED)
    assert (run.tension >= 0.0).all() and not run.tension[0].any()


def test_momentum_without_the_straps_does_not_balance(belted_run):
    assert momentum_imbalance(belted_run, ["occupant"]) > 0.1


def test_the_pages_quote_the_recorded_numbers():
    for page, says in sentences(recorded()):
        assert re.search(pattern(says), page.read_text(encoding="utf-8")), f"{page.name}: {says}"


def test_a_run_gives_the_recorded_numbers(belted_run):
    found = figures(belted_run, belted(belted_run.motions["occupant"].model))
    for name, value in recorded()["sled"]["belted"].items():
        if not name.endswith("_off"):
            assert found[name] == pytest.approx(value, rel=1e-2), name


def test_recorded_numbers_keep_the_laws_of_their_definitions():
    """Check in every run that the balances hold, that a criterion is at most its window of the peak and at most the
    severity index (Jensen), and that both bounds of a throw are one formula (Searle). The printed force on the torso
    alone is exempt from the balances (C16).
    """
    looked = 0
    for case, runs in recorded().items():
        for name, run in runs.items():
            off = [value for key, value in run.items() if key.endswith("_off")]
            assert max(off, default=0.0) < 2e-3 or name == "one force on the torso, as printed", (case, name)
            windows = {"criterion_15": 0.015, "criterion_36": 0.036, "criterion": 0.036}
            for key, window in windows.items():
                if {key, "peak"} <= set(run):
                    assert run[key] <= 1.001 * min(
                        window * run["peak"] ** 2.5, run.get("severity", np.inf)
                    ), (case, name)
                    looked += 1
            if {"criterion_15", "criterion_36"} <= set(run):
                assert run["criterion_15"] <= 1.001 * run["criterion_36"]
            if {"least", "most", "searle"} <= set(run):
                assert run["least"] == pytest.approx(run["most"] / np.hypot(1.0, GROUND), rel=2e-3)
                assert run["searle"] == pytest.approx(run["most"] + GROUND * run["down"], rel=2e-3)
    assert looked > 60


@pytest.mark.skipif(not THOROUGH, reason="half a minute")
@pytest.mark.parametrize("name", RUNS)
def test_tackles_give_the_recorded_numbers(name):
    found, wanted = tackle_figures(tackle(RUNS[name])), recorded()["tackle"][name]
    assert max(found["energy_off"], found["momentum_off"]) < 2e-3
    for quantity in ("touch", "speed", "peak", "severity", "criterion_15"):
        assert found[quantity] == pytest.approx(wanted.get(quantity, np.nan), rel=2e-2, nan_ok=True), quantity


def test_recording_puts_new_numbers_into_the_pages(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("head {sled[belted][peak]:.0f} g", encoding="utf-8")
    quoted = f'[[sentence]]\npage = "{page}"\nof = "sled"\nsays = "head {{sled[belted][peak]:.0f}} g"\n'
    for name, text in (("FIGURES", ""), ("SENTENCES", quoted)):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        monkeypatch.setattr(recorded_figures, name, file)
    for value in (18.549, 21.0):
        recorded_figures.record({"sled": {"belted": {"peak": value, "touch": float("nan")}}})
        assert page.read_text(encoding="utf-8") == f"head {value:.0f} g"
    assert recorded() == {"sled": {"belted": {"peak": 21.0}}}
    page.write_text("head 20 g", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.md does not say: head 21 g"):
        recorded_figures.record({"sled": {"belted": {"peak": 22.0}}})


def test_recording_that_fails_leaves_all_pages_as_they_were(tmp_path, monkeypatch):
    first, second = tmp_path / "first.md", tmp_path / "second.md"
    quoted = "".join(
        f'[[sentence]]\npage = "{page}"\nof = "sled"\nsays = "{{sled[belted][{name}]:.0f}}"\n'
        for page, name in ((first, "peak"), (second, "lap"))
    )
    for name, text in (("FIGURES", '[sled."belted"]\npeak = 1.0\nlap = 2.0\n'), ("SENTENCES", quoted)):
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        monkeypatch.setattr(recorded_figures, name, file)
    first.write_text("1", encoding="utf-8")
    second.write_text("3", encoding="utf-8")
    with pytest.raises(ValueError, match=r"second\.md does not say: 2"):
        recorded_figures.record({"sled": {"belted": {"peak": 5.0, "lap": 6.0}}})
    with pytest.raises(ValueError, match=r"no run gives 'lap', quoted by .*second\.md"):
        recorded_figures.record({"sled": {"belted": {"peak": 5.0, "lap": float("nan")}}})
    assert first.read_text(encoding="utf-8") == "1"
    assert recorded()["sled"]["belted"]["peak"] == 1.0


def test_a_symmetric_belt_leaves_the_occupant_symmetric_and_another_does_not():
    until = np.linspace(0.0, 0.11, 12)
    assert asymmetry(sled(belt=harness, frames=until), "occupant", MIDDLE) < 1e-9
    assert asymmetry(sled(frames=until), "occupant", MIDDLE) > 0.1


def test_the_sled_of_the_printed_strap_is_where_the_driven_one_is(belted_run):
    there = belted_run.motions["sled"].q[:, 0, 0]
    np.testing.assert_allclose([way(time) for time in belted_run.time], there, atol=1e-5)


def test_a_frontal_tackle_is_symmetric_and_keeps_energy_and_momentum():
    run = tackle(FRONTAL, frames=np.linspace(0.0, 0.12, 481))
    assert run.force_on("player head").any() or run.force_on("player shoulder_r").any()
    assert asymmetry(run, "man") < 1e-9 and asymmetry(run, "player") < 1e-9
    assert imbalance(run) < 1e-5 and momentum_imbalance(run, ["man", "player"]) < 1e-4


@pytest.mark.parametrize("duration", [0.009, 0.0204, 0.08])
def test_indices_of_half_sines_are_those_of_their_samples(duration):
    pulse, time = HalfSine(140.0, duration), np.linspace(0.0, duration, 2_001)
    felt = STANDARD_GRAVITY * 140.0 * np.sin(np.pi * time / duration)
    assert pulse.severity == pytest.approx(severity_index(time, felt), rel=1e-5)
    assert pulse.speed == pytest.approx(np.trapezoid(felt, time), rel=1e-5)
    for window in (0.015, 0.036):
        expected = head_injury_criterion(time, felt, window).value
        assert pulse.criterion(window) == pytest.approx(expected, rel=1e-4)


def test_a_head_alone_takes_the_momentum_of_the_blow():
    """It leaves at 0.725 of its speed for e = 0.5 (C13), so the acceleration adds up to 1.725 of it."""
    time, felt = head_alone(5.0, 2e6, 0.5)
    assert np.trapezoid(-felt, time) == pytest.approx(1.725 * 5.0, rel=1e-3)


def test_the_powers_of_the_map_are_those_of_its_rows():
    """A head alone has a peak of v^1.2 K^0.4 (4.1)."""
    rows = [
        {"speed": v, "head": k, "peak": 30.0 * v**1.2 * k**0.4} for v in (1.0, 2.0, 3.0) for k in (0.5, 8.0)
    ]
    assert powers([*rows, {"speed": np.nan, "head": 1.0, "peak": 9.0}]) == pytest.approx((1.2, 0.4))
    peaks = [np.abs(head_alone(v, k)[1]).max() for v, k in ((2.0, 1e6), (4.0, 1e6), (2.0, 3e6))]
    assert peaks[1] / peaks[0] == pytest.approx(2.0**1.2, rel=1e-3)
    assert peaks[2] / peaks[0] == pytest.approx(3.0**0.4, rel=1e-3)


def test_the_design_of_the_map_lies_within_its_ranges():
    tackles = design(16, 4.0)
    for name, (least, most) in RANGES.items():
        values = [getattr(how, name) for how in tackles]
        assert least <= min(values) < max(values) <= most
    assert {how.player_speed for how in tackles} == {4.0}


def test_a_head_alone_is_as_recorded():
    wanted = recorded()["map"]["a head alone"]
    assert head_alone_as_printed() == pytest.approx(wanted, rel=1e-3)


@pytest.mark.skipif(not THOROUGH, reason="half a minute")
@pytest.mark.parametrize(("run", "quantity"), [("slowest_run", "speed"), ("hardest_run", "criterion_15")])
def test_runs_of_the_map_are_as_recorded(run, quantity):
    wanted = recorded()["map"]["3 mps"]
    found = tackle_figures(tackle(design(64, 3.0)[int(wanted[run])]))
    assert found[quantity] == pytest.approx(wanted["slowest" if quantity == "speed" else quantity], rel=2e-2)


def row(number, **others):
    """A row of the map, made up."""
    made = {name: 1.0 + number for name in FOUND} | {"fault": "", "subject": "printed", "run": number}
    return asdict(design(4, 3.0)[number]) | made | others


def test_what_is_said_of_a_map_is_that_of_its_rows():
    rows = [row(0, speed=np.nan), row(1, peak=150.0, head=9.0), row(2, speed=0.5), row(3, severity=2200.0)]
    numbers = said(rows)
    assert (numbers["runs"], numbers["hit"], numbers["as_hard"], numbers["least_head"]) == (4, 3, 1, 9.0)
    assert (numbers["slowest"], numbers["slowest_run"], numbers["fastest"]) == (0.5, 2, 4.0)
    assert (numbers["severity_reached"], numbers["criterion_reached"], numbers["hardest_run"]) == (1, 0, 3)


def test_a_map_that_is_stopped_goes_on(tmp_path, monkeypatch, capsys):
    table, asked = tmp_path / "new" / "map.csv", []

    def rows(function, who, numbered, *_):
        asked.append([number for number, _ in numbered])
        yield from ((k, row(number)) for k, number in enumerate(asked[-1]))

    def stopped(function, who, numbered, *_):
        yield next(rows(function, who, numbered[2:]))
        raise KeyboardInterrupt

    monkeypatch.setattr(tackle_map, "implied", lambda: "")
    monkeypatch.setattr(tackle_map, "side_by_side", stopped)
    with pytest.raises(SystemExit) as ended:
        tackle_map.main([str(table), "--runs", "4"])
    assert ended.value.code == 130 and "1 of 4 runs" in capsys.readouterr().out
    monkeypatch.setattr(tackle_map, "side_by_side", rows)
    tackle_map.main([str(table), "--runs", "4", "--resume"])
    assert asked == [[2, 3], [0, 1, 3]]
    assert "4 runs" in capsys.readouterr().out
    assert len(table.read_text(encoding="utf-8").splitlines()) == 5
    with pytest.raises(SystemExit):
        tackle_map.main([str(table), "--runs", "4", "--speed", "4", "--resume"])
    assert "runs of another map" in capsys.readouterr().err


def product(shared, task, _):
    return shared * task


def test_tasks_side_by_side_say_how_long_they_take_and_name_a_process_that_dies(capsys, monkeypatch):
    with computed_here():
        assert dict(side_by_side(product, 2, [3, 4], 1, "products")) == {0: 6, 1: 8}
    assert "2 products, 1 at a time: some 0.0 minutes" in capsys.readouterr().out
    monkeypatch.setattr(Pool, "results", lambda pool: ((0, Lost(f"{task} died")) for task in pool.tasks))
    with pytest.raises(MuscleSolveError, match="3 died"):
        list(side_by_side(product, 2, [3], 1, "products"))


@pytest.mark.parametrize(
    "arguments",
    [["."], ["--runs", "0"], ["--runs", "x"], ["--processes", "0"], ["--speed", "-3"], ["--speed", "nan"]],
)
def test_what_a_map_cannot_be_made_of_is_said(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        tackle_map.main(arguments)
    assert ended.value.code == 2 and "error:" in capsys.readouterr().err
