"""Cases of chapter 4: printed numbers that the tables must give, balances, symmetry, and what the pages quote."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from here import computed_here
from thorough import THOROUGH

from benchmarks import recorded_figures
from benchmarks.chapter_4 import SUBJECTS, imbalance, momentum_imbalance, subject
from benchmarks.recorded_figures import pattern, recorded, sentences
from benchmarks.sled import SPEED, belted, figures, sled
from benchmarks.tackle import FRONTAL, RUNS, tackle
from benchmarks.tackle import figures as tackle_figures
from benchmarks.timing import side_by_side
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.worker_pool import Lost, Pool
from musclesolve.dynamics import RigidSeat, three_point_belt
from musclesolve.errors import MuscleSolveError


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
    """Check in every run that the balances hold, and that a criterion is at most its window of the peak and at most the
    severity index (Jensen).
    """
    looked = 0
    for case, runs in recorded().items():
        for name, run in runs.items():
            off = [value for key, value in run.items() if key.endswith("_off")]
            assert max(off, default=0.0) < 2e-3, (case, name)
            windows = {"criterion_15": 0.015, "criterion_36": 0.036, "criterion": 0.036}
            for key, window in windows.items():
                if {key, "peak"} <= set(run):
                    assert run[key] <= 1.001 * min(
                        window * run["peak"] ** 2.5, run.get("severity", np.inf)
                    ), (case, name)
                    looked += 1
            if {"criterion_15", "criterion_36"} <= set(run):
                assert run["criterion_15"] <= 1.001 * run["criterion_36"]
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


def asymmetry(run, who, middle=0.0):
    """The largest distance [m] of a point of a person from the mirror image of its counterpart; middle: where the plane
    of symmetry is, to the left [m].
    """
    motion, points = run.motions[who], run.motions[who].model.topology.points
    places = motion.q[:, : len(points)] - (0.0, middle, 0.0)
    names, sides = [point.name for point in points], {"_r": "_l", "_l": "_r"}
    other = [names.index(name[:-2] + sides.get(name[-2:], name[-2:])) for name in names]
    return float(np.abs(places - places[:, other] * (1.0, -1.0, 1.0)).max())


MIDDLE = RigidSeat.printed().attachment[1]


def harness(model):
    """The printed belt and the mirror image of its shoulder strap."""
    seat = bundled_toml("musclesolve.dynamics.model", "definitions", "seat.toml")
    anchors = {name: np.array(place) for name, place in seat["anchors"].items()}
    anchors["shoulder"] = anchors["shoulder"] * (1.0, -1.0, 1.0) + (0.0, 2.0 * MIDDLE, 0.0)
    other = three_point_belt(model, "occupant", anchors=anchors)[1]
    return [*belted(model), replace(other, name="other shoulder")]


def test_a_symmetric_belt_leaves_the_occupant_symmetric_and_another_does_not():
    until = np.linspace(0.0, 0.11, 12)
    assert asymmetry(sled(belt=harness, frames=until), "occupant", MIDDLE) < 1e-9
    assert asymmetry(sled(frames=until), "occupant", MIDDLE) > 0.1


@pytest.mark.thorough
def test_a_frontal_tackle_is_symmetric_and_keeps_energy_and_momentum():
    run = tackle(FRONTAL, frames=np.linspace(0.0, 0.12, 481))
    assert run.force_on("player head").any() or run.force_on("player shoulder_r").any()
    assert asymmetry(run, "man") < 1e-9 and asymmetry(run, "player") < 1e-9
    assert imbalance(run) < 1e-5 and momentum_imbalance(run, ["man", "player"]) < 1e-4


def product(shared, task, _):
    return shared * task


def test_tasks_side_by_side_say_how_long_they_take_and_name_a_process_that_dies(capsys, monkeypatch):
    with computed_here():
        assert dict(side_by_side(product, 2, [3, 4], 1, "products")) == {0: 6, 1: 8}
    assert "2 products, 1 at a time: some 0.0 minutes" in capsys.readouterr().out
    monkeypatch.setattr(Pool, "results", lambda pool: ((0, Lost(f"{task} died")) for task in pool.tasks))
    with pytest.raises(MuscleSolveError, match="3 died"):
        list(side_by_side(product, 2, [3], 1, "products"))
