"""Findings do not depend on the last digits of what was measured, in which two processors differ."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from measured_model import measured_model
from recorded_data import REPOSITORY, recorded

import musclesolve as ms
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.results.finding import Finding
from musclesolve.tables import read_mot

NOISE = 1e-9
"""Standard deviation of the factors of measured numbers about 1."""
MEASURED = ".trc", ".mot", ".sto"
"""Endings of files with measured numbers."""
TRIALS = {
    "stride": "",
    "belts": "treadmill_walk/p1/walk.toml",
    "belts with EMG": "treadmill_emg/s18/trial.toml",
    "implant": "instrumented_knee/walk_ss1.toml",
    "overground": "rajagopal_walk",
    "run on one belt": "cases_6/run_one_belt_noise/trial.toml",
}
"""Trial file of a recording among the recorded data; of the walk over ground its folder."""
OPENCAP, KNEE, BELT = "addbiomechanics/opencap_subject", "instrumented_knee", "fascicle_walk"
SCALED = "rajagopal_walk/reference"
MODELS = {
    "moments": (
        f"{SCALED}/rajagopal_lai_uhlrich_2023_scaled.osim",
        f"{SCALED}/opensim_ik.mot",
        f"{SCALED}/opensim_id.sto",
    ),
    "moments on a belt": (f"{BELT}/model.osim", f"{BELT}/trial_1_IK.mot", f"{BELT}/trial_1_ID.mot"),
    "loads of three plates": (
        f"{KNEE}/GC5.osim",
        f"{KNEE}/PS_ngait_og_ss1_kinematics.mot",
        f"{KNEE}/loads_ss1.xml",
        f"{KNEE}/PS_ngait_og_ss1_kinetics.mot",
    ),
    "drop jump": (f"{OPENCAP}/Models/final.osim", f"{OPENCAP}/IK/DJ1_ik.mot", f"{OPENCAP}/ID/DJ1_grf.mot"),
}
"""A model, its coordinates, and its moments or loads; of loads in several files the one that names the others first."""


def unchanged(text: str) -> str:
    return text


def with_noise(seed: int) -> Callable[[str], str]:
    """The change of the text of a table that multiplies its numbers by 1 + NOISE times a normal number.

    Numbers of frames and times stay. Equal numbers stay equal: values that are held and rows that are written twice.
    """
    draw = np.random.default_rng(seed)

    @cache
    def noisy(number: str) -> str:
        value = float(number) * (1.0 + NOISE * draw.standard_normal())
        return repr(value) if np.isfinite(value) else number

    def change(text: str) -> str:
        first = 2 if text.startswith("PathFileType") else 1  # column
        lines = text.splitlines()
        for k, line in enumerate(lines):
            cells = re.split(r"(\s+)", line)
            at = [place for place, cell in enumerate(cells) if cell and not cell.isspace()]
            if len(at) > first and all(map(is_number, (cells[place] for place in at))):
                for place in at[first:]:
                    cells[place] = noisy(cells[place])
                lines[k] = "".join(cells)
        return "\n".join(lines) + "\n"

    return change


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def copied(files: list[Path], folder: Path, change: Callable[[str], str]) -> list[Path]:
    """Copy files into a folder, those with measured numbers after a change of their text."""
    folder.mkdir()
    copies = [folder / file.name for file in files]
    for file, copy in zip(files, copies, strict=True):
        text = file.read_text(encoding="utf-8")
        copy.write_text(change(text) if file.suffix in MEASURED else text, encoding="utf-8")
    return copies


def found_in(name: str, folder: Path, change: Callable[[str], str]) -> list[Finding]:
    """The findings on a recording or model whose measured numbers are changed, in a folder."""
    if name in MODELS:
        model, coordinates, third, *_ = copied(list(map(recorded, MODELS[name])), folder, change)
        table = read_mot(coordinates)
        if name.startswith("moments"):
            return findings_of_body(measured_model(ms.read_osim(model), table, read_mot(third)))
        return findings_of_body(measured_model(ms.read_osim(model), table, loads=third))
    place = recorded(TRIALS[name]) if TRIALS[name] else ms.data.reference_stride()
    trial = REPOSITORY / "tests/real/rajagopal_walk.toml" if place.is_dir() else place
    source = place if place.is_dir() else place.parent
    text = trial.read_text(encoding="utf-8").replace("../../../shared/data/rajagopal_walk/", "")
    copied([file for file in source.iterdir() if f'"{file.name}"' in text], folder, change)
    (folder / "trial.toml").write_text(text, encoding="utf-8")
    return list(examined(folder / "trial.toml").findings)


def extent(finding: Finding) -> tuple[object, ...]:
    """What a finding concerns, and how much of it: times in milliseconds, the cost in three digits."""
    where, cost = finding.where, finding.cost
    place = where.file and where.file.name, where.field, where.markers, where.plate, finding.side
    times = np.round(where.times, 3).tolist()
    return finding.code, finding.severity, place, times, cost and (cost.of, f"{cost.size:.3g}")


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", [*TRIALS, *MODELS])
def test_findings_do_not_depend_on_the_last_digits(name: str, tmp_path: Path) -> None:
    exact = found_in(name, tmp_path / "exact", unchanged)
    noisy = found_in(name, tmp_path / "noisy", with_noise(len(name)))
    assert list(map(extent, noisy)) == list(map(extent, exact))
