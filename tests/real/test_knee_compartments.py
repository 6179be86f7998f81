"""Medial and lateral force of the knee beside OpenSim's joint reactions and what an implant measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import musclesolve as ms
from musclesolve import read_osim
from musclesolve.laboratory.run_trial import share_model
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.kinematics import body_motion, coordinate_values
from musclesolve.models.opensim.model import TO_GLOBAL
from musclesolve.tables import read_mot

WEIGHT = 75.0 * 9.80665
SPACING = 0.046
KNEE = "walker_knee_l"
WALKS = (1, 9)


def measured(folder: Path, walk: int, time: np.ndarray) -> dict[str, np.ndarray]:
    """Total, medial and lateral force [body weights] of the implant at some times; NaN beyond what it measured."""
    table = np.genfromtxt(folder / f"measured_contact_ss{walk}.csv", delimiter=",", names=True)
    parts = ("total", "medial", "lateral")
    return {
        part: np.interp(time, table["time_s"], table[f"{part}_N"] / WEIGHT, right=np.nan) for part in parts
    }


def rms(difference: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean(difference**2)))


@pytest.fixture(scope="module", params=WALKS)
def shared(request: pytest.FixtureRequest, instrumented_knee: Path) -> tuple[int, xr.Dataset]:
    """The model that its authors weakened to fit the measured force, with the cost and the bounds that they took."""
    walk, folder = request.param, instrumented_knee
    found = share_model(
        folder / "GC5.osim",
        folder / f"PS_ngait_og_ss{walk}_kinematics.mot",
        loads=folder / f"loads_ss{walk}.xml",
        cost="activation_power",
        least_activation=0.0,
        passive="none",
        side="l",
        contact_spacing_m=SPACING,
    )
    return walk, found


@pytest.mark.in_part(2)
def test_moments_and_forces_are_near_opensims_joint_reactions(instrumented_knee: Path, shared) -> None:
    """In axes of the tibia, x forward, y up, z to the right; OpenSim's muscle forces differ a little."""
    walk, found = shared
    table = read_mot(instrumented_knee / f"opensim_joint_reactions_ss{walk}.sto")
    name = f"{KNEE}_on_tibia_l_in_tibia_l_"
    start = table.time[0] - found["time"].values[0]
    at = np.searchsorted(table.time - start, found["time"].values - 1e-4).clip(max=len(table.time) - 1)
    force = np.stack([table[f"{name}f{axis}"][at] for axis in "xyz"], axis=1)
    frontal = table[f"{name}mx"][at]
    axes = force_axes(found)
    ours = np.einsum("tdx,tx->td", axes, found["joint_reaction_moment"].sel(joint=KNEE).values)
    assert rms(ours[:, 1] - frontal) < 1.0 and rms(frontal) > 10.0  # [N m]
    component = found["contact_force_component"].sel(joint=KNEE)
    for direction, theirs in (("axial", -force[:, 1]), ("anterior", force[:, 0]), ("medial", force[:, 2])):
        assert rms((component.sel(direction=direction).values - theirs) / WEIGHT) < 0.1, direction


def force_axes(found: xr.Dataset) -> np.ndarray:
    """The axes of the left tibia, (T, 3, 3): down, forward, to the median plane."""

    model = read_osim(found.attrs["model_file"])
    source = next(line.split()[1] for line in np.atleast_1d(found.attrs["inputs"]) if "coordinates" in line)
    motion = coordinate_motion(model, Path(found.attrs["model_file"]).parent / source, 6.0)
    motion = motion.frames(np.isin(motion.time, found["time"].values))
    bodies = body_motion(model, coordinate_values(model, motion.by_name(motion.value)))
    forward, up, right = np.moveaxis(TO_GLOBAL @ bodies.rotation[:, model.body_number["tibia_l"]], 2, 0)
    return np.stack([-up, forward, right], axis=1)


def test_medial_and_lateral_force_are_near_the_measured_ones(instrumented_knee: Path, shared) -> None:
    """OpenSim's published reactions give 0.26 and 0.30 (first walk), 0.29 and 0.23 (second) with this spacing."""
    walk, found = shared
    truth = measured(instrumented_knee, walk, found["time"].values)
    for part, limit in (("medial", 0.33), ("lateral", 0.31)):
        force = found[f"knee_contact_{part}"].sel(side="l").values / WEIGHT
        assert rms(force - truth[part]) < limit, part


def test_the_parts_are_the_axial_force(shared) -> None:
    _, found = shared
    axial = found["contact_force_component"].sel(joint=KNEE, direction="axial").values
    parts = found["knee_contact_medial"] + found["knee_contact_lateral"]
    np.testing.assert_allclose(parts.sel(side="l").values, np.maximum(axial, 0.0), atol=1e-9 * WEIGHT)


def test_the_spacing_of_a_trial_file_counts_and_lifts_no_less(
    instrumented_knee: Path, tmp_path: Path
) -> None:
    """`run` on the recording: nearer contacts need a greater difference for the same moment."""
    text = (instrumented_knee / "walk_ss1.toml").read_text(encoding="utf-8")
    for file in ("PS_ngait", "Static"):
        text = text.replace(f'"{file}', f'"{instrumented_knee.as_posix()}/{file}')
    difference = []
    for spacing in ("", "[knee]\ncontact_spacing_m = 0.04\n"):
        file = tmp_path / "walk.toml"
        file.write_text(text + spacing, encoding="utf-8")
        found = ms.run(file, side="l")
        parts = [found[f"knee_contact_{part}"].sel(side="l").values for part in ("medial", "lateral")]
        difference.append(np.nanmean(parts[0] - parts[1]))
        stated = float(str(np.atleast_1d(found.attrs["knee_contact_spacing"])[0]).split()[1])
        assert stated == pytest.approx(0.04 if spacing else 1.2 * 0.046, abs=1e-4)
    assert difference[1] > 1.1 * difference[0] > 0.0
