"""Effort against misfit to EMG: the law of the curve, channels left out, the offset of the clock, the command."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from command_line import typed
from emg_stride import emg_stride
from refusals import refused

import musclesolve as ms
from musclesolve.constants import USUAL_LEAST_ACTIVATION
from musclesolve.files import Table, write_mot
from musclesolve.laboratory.plotting.figure_names import pages_of
from musclesolve.laboratory.plotting.page.page_style import figures_of
from musclesolve.studies import emg_offset, emg_trade_off
from musclesolve.studies.emg_trade_off import knee_weight

WEIGHTS = (0.0, 0.1, 1.0, 10.0, 100.0)


@cache
def found() -> xr.Dataset:
    return emg_trade_off(emg_stride().trial, WEIGHTS, side="r")


def test_the_slope_of_the_curve_is_the_weight() -> None:
    """Between two weights less misfit costs more effort than the smaller and less than the larger one says."""
    effort, misfit = found().effort.values, found().emg_misfit.values
    slope = -np.diff(effort) / np.diff(misfit)
    assert (slope > np.array(WEIGHTS[:-1]) - 1e-6).all() and (slope < np.array(WEIGHTS[1:]) + 1e-6).all()
    assert (np.diff(effort) > 0.0).all() and (np.diff(misfit) < 0.0).all()


def test_numbers_are_those_of_a_run() -> None:
    one = ms.run(emg_stride().trial, side="r", emg_weight=1.0)
    at = found().sel(weight=1.0)
    np.testing.assert_allclose(at.emg_correlation, one.emg_correlation, atol=1e-9)
    np.testing.assert_allclose(at.emg_correlation_followed, one.emg_correlation_followed, atol=1e-9)
    distance = (one.activation - one.measured_activation).values
    known = np.isfinite(distance)
    assert float(at.emg_misfit) == pytest.approx(np.square(distance[known]).sum() / len(distance))
    assert float(at.emg_rms) == pytest.approx(np.sqrt(np.square(distance[known]).mean()))
    total = float(one.cost.mean())
    assert float(at.effort) + 1.0 * float(at.emg_misfit) == pytest.approx(total)
    peak = float((one.joint_reaction.sel(joint="knee_r") ** 2).sum("axis").max() ** 0.5)
    assert float(at.contact_peak.sel(joint="knee_r")) == pytest.approx(peak)


def test_the_knee_is_the_corner() -> None:
    weights, misfit = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 0.2, 0.1, 0.0])
    assert knee_weight(weights, np.array([0.0, 0.05, 0.5, 1.0]), misfit) == 1.0
    assert np.isnan(knee_weight(weights, np.zeros(4), misfit))
    assert np.isnan(knee_weight(weights[:2], np.array([0.0, 1.0]), np.array([1.0, 0.0])))


@pytest.mark.parametrize("shift", [0.1, -0.06])
def test_the_offset_of_a_clock_is_found(shift: float) -> None:
    """EMG of the activations of least effort, on another clock: the offset undoes the shift."""
    clock = emg_offset(emg_stride(floor=USUAL_LEAST_ACTIVATION, shift=shift).trial, 0.2, side="r")
    assert clock.attrs["offset_s"] == pytest.approx(-shift, abs=0.004)
    low, high = clock.attrs["interval_s"]
    assert low - 1e-9 <= -shift <= high + 1e-9 and high - low < 0.05 and not clock.attrs["at_end"]
    assert float(clock.agreement.max()) > 0.95


@pytest.mark.thorough
def test_an_offset_of_the_trial_file_is_added_to_the_times(tmp_path: Path) -> None:
    from musclesolve.data import reference_stride

    emg = emg_stride(floor=0.0, shift=0.1).trial.emg
    assert emg is not None
    path = tmp_path / "emg.sto"
    write_mot(path, Table(emg.time, emg.names, emg.values, False, path))
    text = Path(reference_stride()).read_text(encoding="utf-8")
    folder = Path(reference_stride()).parent.as_posix()
    for line in text.splitlines():
        key, _, value = line.partition(" = ")
        if key in ("markers", "static", "forces"):
            text = text.replace(line, f'{key} = "{folder}/{value.strip(chr(34))}"')
    lines = [f"{name} = {list(own)}" for name, own in zip(emg.names, emg.muscles, strict=True)]
    stated = f'[emg]\nfile = "{path.as_posix()}"\nprocessed = true\noffset_s = -0.1\nweight = 1.0\n[emg.channels]\n'
    trial = tmp_path / "trial.toml"
    trial.write_text(f"{text}\n{stated}" + "\n".join(lines) + "\n", encoding="utf-8")
    read = ms.read_trial(trial)
    assert read.emg is not None and read.emg.options.weight == 1.0
    np.testing.assert_allclose(read.emg.time, emg.time - 0.1, atol=1e-6)
    clock = emg_offset(read, 0.2, side="r")
    assert (
        clock.attrs["offset_s"] == pytest.approx(-0.1, abs=0.004) and clock.attrs["present_offset_s"] == -0.1
    )
    result = ms.run(read, side="r")
    assert result.attrs["emg_offset_s"] == -0.1 and result.attrs["emg_weight"] == 1.0

    given = ["--side", "r", "--weight", "0", "--weight", "1", "--weight", "10", "-o", str(tmp_path / "out")]
    done = typed("emg", trial, *given)
    assert done.exit_code == 0, done.output
    assert "r followed (no test)" in done.output and "nothing was changed" in done.output
    assert {each.name for each in (tmp_path / "out").iterdir()} == {"emg_trade_off.nc", "emg_trade_off.png"}
    done = typed("emg", trial, *given, "--json")
    document = json.loads(done.stdout)
    assert [each["weight"] for each in document["weights"]] == [0.0, 1.0, 10.0]
    assert document["clock"]["offset_s"] == pytest.approx(clock.attrs["offset_s"], abs=0.11)


def test_the_figure_is_drawn() -> None:
    assert list(figures_of(found(), pages_of(found(), "emg"))) == ["emg_trade_off.png"]


def test_what_has_no_trade_off_is_refused() -> None:
    trial = emg_stride().trial
    with refused("missing_argument", "weights", "two"):
        emg_trade_off(trial, [1.0])
    with refused("bad_number", "weights"):
        emg_trade_off(trial, [0.0, -1.0])
    with refused("conflict", "emg_tracking"):
        emg_trade_off(trial, cost="emg_tracking")
    with refused("missing_argument", "EMG"):
        emg_trade_off(trial, side="l")
    with refused("conflict", "cost"):
        emg_offset(trial, cost="emg_tracking")
    with refused("missing_argument", "no EMG"):
        emg_offset(trial.path)
    with refused("too_few_frames", "longest"):
        emg_offset(trial, 5.0, side="r")
