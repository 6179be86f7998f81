"""Measured fascicle lengths: at other times, their muscles in a set or model, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from synthetic_trial import write_trial

import muscle_db
import musclesolve as ms
from musclesolve import read_trial
from musclesolve.laboratory import Trial
from musclesolve.laboratory.bodies import trial_body
from musclesolve.laboratory.bodies.measured_activation import MeasuredFascicles, fascicle_muscles
from musclesolve.laboratory.forces import find_options
from musclesolve.laboratory.recording.data import Fascicles

TIME = np.arange(0.0, 2.0, 0.01)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return read_trial(write_trial(tmp_path_factory.mktemp("fascicles")))


def fascicles(*muscles: str, time: np.ndarray = TIME) -> Fascicles:
    """Lengths that change evenly, each muscle 10 mm longer than the one before."""
    length = 0.04 + 0.01 * time[:, None] + 0.01 * np.arange(len(muscles))
    names = tuple(f"US{k}" for k in range(len(muscles)))
    return Fascicles(time, names, length, muscles, 0.003, Path("us.csv"))


def measured(record: Fascicles, sides: str = "rl") -> MeasuredFascicles:
    return MeasuredFascicles.from_fascicles(record, record.muscles, sides)


def test_lengths_between_samples_are_linear_and_unknown_outside() -> None:
    found = measured(fascicles("soleus_r", "soleus_l"))
    time = np.array([-0.01, 0.0, 0.123, 1.99, 2.0])
    expected = np.stack([0.04 + 0.01 * time, 0.05 + 0.01 * time], axis=1)
    expected[[0, -1]] = np.nan
    np.testing.assert_allclose(found.at(time), expected)
    assert "2 of 5 frames" in found.notes(time)[0]
    assert found.notes(time[1:4]) == []


def test_gaps_stay_gaps() -> None:
    record = fascicles("soleus_r", "soleus_l")
    length = record.length.copy()
    length[50:60, 0] = np.nan
    seen = measured(replace(record, length=length)).at(np.array([0.49, 0.495, 0.55, 0.595, 0.6]))
    np.testing.assert_array_equal(np.isnan(seen), [[False] * 2, *[[True, False]] * 3, [False] * 2])
    kept = (TIME < 0.5) | (TIME > 0.7)  # rows that are missing altogether
    seen = measured(fascicles("soleus_r", time=TIME[kept])).at(np.array([0.485, 0.49, 0.6, 0.71, 0.715]))
    np.testing.assert_array_equal(np.isnan(seen[:, 0]), [False, False, True, False, False])


def test_columns_of_the_muscles_of_a_part() -> None:
    found = measured(fascicles("soleus_r", "soleus_l", "tibialis_anterior_r"))
    channels, muscles = found.columns(["gracilis_r", "tibialis_anterior_r", "soleus_r"])
    assert (channels.tolist(), muscles.tolist()) == ([0, 2], [2, 1])
    channels, muscles = found.columns(["gracilis_r"])
    assert channels.size == muscles.size == 0


def test_those_of_some_legs() -> None:
    found = measured(fascicles("soleus_r", "soleus_l"), "l")
    assert (found.channels, found.muscles, found.length.shape) == (("US1",), ("soleus_l",), (TIME.size, 1))


def test_names_and_short_names(plain: Trial) -> None:
    short = muscle_db.load("silva_2003")["soleus"].short_name
    found = find_options(replace(plain, fascicles=fascicles("gastrocnemius_medial_l", f"{short}_r")))
    assert found.fascicles == ("gastrocnemius_medial_l", "soleus_r")
    assert find_options(plain).fascicles == ()


@pytest.mark.parametrize(
    ("muscles", "code", "parts"),
    [
        (("solius_l",), "unknown_name", ("US0", "'solius_l'", "did you mean 'soleus_l'")),
        (("soleus",), "unknown_name", ("'soleus'", "silva_2003")),
        (("gluteus_maximus_r",), "conflict", ("US0", "3 muscles", "gluteus_maximus_middle_r")),
        (("soleus_r", "soleus_r"), "duplicate_name", ("US1", "'US0'", "soleus_r")),
    ],
)
def test_names_that_are_not_one_muscle(
    plain: Trial, muscles: tuple[str, ...], code: str, parts: tuple[str, ...]
) -> None:
    with refused(code, "[fascicle.channels]", *parts):
        find_options(replace(plain, fascicles=fascicles(*muscles)))


def test_muscles_of_a_model(plain: Trial) -> None:
    known = trial_body.channel_names(["glmed1_r", "glmed2_r", "soleus_r"])
    assert fascicle_muscles(fascicles("soleus_r"), plain.document, known, "a model") == ("soleus_r",)
    with refused("conflict", "glmed_r", "2 muscles", "glmed1_r"):
        fascicle_muscles(fascicles("glmed_r"), plain.document, known, "a model")


@pytest.mark.thorough
def test_a_run_compares_fibers_with_what_was_measured(tmp_path: Path) -> None:
    """Measured lengths 2 mm below the fibers of the same trial, as a file in millimeters; a wrong unit is refused."""
    result = ms.run(write_trial(tmp_path))
    time, muscle = result["time"].values, "soleus_l"
    fiber = result["fiber_length"].sel(muscle=muscle).values
    rows = [f"{t:.6f},{1000.0 * each - 2.0:.6f}" for t, each in zip(time, fiber, strict=True)]
    (tmp_path / "us.csv").write_text("\n".join(["time,SOL", *rows]), encoding="utf-8")
    table = f'[fascicle]\nfile = "us.csv"\nunit = "mm"\n[fascicle.channels]\nSOL = "{muscle}"\n'
    found = ms.run(write_trial(tmp_path, ("[muscles]\n", f"{table}[muscles]\n")))
    own = found.sel(fascicle="SOL")
    assert float(own["fascicle_mean_error"]) == pytest.approx(0.002, abs=1e-8)
    assert float(own["fascicle_rms_error"]) == pytest.approx(0.002, abs=1e-8)
    assert float(own["fascicle_correlation"]) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_array_equal(found["activation"], result["activation"])
    assert found.attrs["fascicle_error_m"] == 0.003
    assert "fascicle" not in ms.run(found.attrs["trial_file"], side="r").dims
    wrong = write_trial(tmp_path, ("[muscles]\n", table.replace('"mm"', '"cm"') + "[muscles]\n"))
    with refused("bad_units", "[fascicle] unit", "soleus_l", "'SOL'"):
        ms.run(wrong)
