"""Recordings of the legs only, and of joints instead of bony landmarks: what is left out must not change the legs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.dynamics import projected_moments
from musclesolve.laboratory.forces import anatomy, mechanics
from musclesolve.tables import read_trc, write_trc

WEIGHT = 70.25 * 9.81
SAGITTAL = [f"{dof}_{side}" for dof in ("hip_flexion", "knee_flexion", "ankle_dorsiflexion") for side in "rl"]


@pytest.fixture(scope="module")
def whole(stride_result) -> xr.Dataset:
    return stride_result.copy(deep=True)


def changed(folder: Path, mapping: str | None = None, without: tuple[str, ...] = ()) -> Path:
    """The reference stride with other lines under [mapping]."""
    lines = reference_stride().read_text(encoding="utf-8").split("\n")
    kept = "\n".join(line for line in lines if not line.startswith(without)) if without else "\n".join(lines)
    if mapping is not None:
        kept = kept[: kept.index("[mapping]")] + mapping + kept[kept.index("[[force]]") :]
    for name in ("walk.trc", "static.trc", "forces.mot"):
        (folder / name).write_bytes(reference_stride().with_name(name).read_bytes())
    path = folder / "trial.toml"
    path.write_text(kept, encoding="utf-8")
    return path


def difference(one: xr.Dataset, other: xr.Dataset, dof: str) -> float:
    """Root mean square difference of a joint moment as a share of its peak."""
    a, b = (result["joint_moment"].sel(dof=dof).values for result in (one, other))
    return float(np.sqrt(np.mean((a - b) ** 2)) / np.abs(a).max())


ARMS = ("elbow", "wrist", "hand")
UPPER = (*ARMS, "shoulder", "neck", "head")


@pytest.mark.in_part(2)
@pytest.mark.parametrize(("without", "parts"), [(ARMS, 6), (UPPER, 8)])
def test_legs_do_not_need_markers_above_them(tmp_path, whole, without, parts) -> None:
    """Seen from the ground, the moments of the legs do not depend on the mass above the hips (Newton's laws)."""
    result = ms.run(changed(tmp_path, without=without))
    assert len(result.attrs["completed"]) == parts
    for dof in SAGITTAL:
        assert difference(whole, result, dof) < 0.005
    assert bool(result["balanced"].all())


@pytest.mark.parametrize(
    "without",
    [
        ("elbow_lateral_r",),
        ("elbow", "hand"),
        ("elbow", "shoulder"),
        ("shoulder_r", "shoulder_center_r"),
        ("wrist", "hand_ulnar"),
    ],
)
def test_an_arm_shown_in_part_is_not_thrown_about(tmp_path, whole, without) -> None:
    """Markers that do not show a segment of the arm must not pull it: less markers, but no worse a balance."""
    found = mechanics(read_trial(changed(tmp_path, without=without)))
    moments = projected_moments(found.model, found.motion, found.wrenches)
    for dof in SAGITTAL:
        truth = whole["joint_moment"].sel(dof=dof).values
        off = moments[:, found.model.dof(dof)] - truth
        assert np.sqrt(np.mean(off**2)) < 0.005 * np.abs(truth).max()
    # Without any marker on the arms it is 13 N; with a wrist that pulls at a free elbow it was 1000 N.
    assert np.abs(moments[:, 38:41]).max() < 0.03 * WEIGHT


def test_what_is_left_out_of_an_arm_is_said(tmp_path) -> None:
    trial = read_trial(changed(tmp_path, without=("elbow_lateral_r",)))
    sentences = anatomy(trial).completed
    assert any(
        line.startswith("The right forearm: no marker of the elbow") and "upper arm" in line
        for line in sentences
    )
    assert len(sentences) == 3 and all(" right " in line for line in sentences)


JOINTS = {
    "toe": "toe",
    "heel": "heel",
    "hip_center": "hip",
    "shoulder_center": "shoulder",
    "wrist": "wrist",
} | {name: name for name in ("hand_radial", "hand_ulnar")}


def test_the_points_of_the_thesis_give_the_moments_of_the_full_set(tmp_path, whole) -> None:
    path = changed(tmp_path, '[markers]\nset = "silva_2003"\n')
    for name in ("walk.trc", "static.trc"):
        markers = read_trc(tmp_path / name)
        points = {f"{new}_{side}": markers[f"{old}_{side}"] for old, new in JOINTS.items() for side in "rl"}
        for joint in ("knee", "ankle", "elbow"):
            for side in "rl":
                ends = [markers[f"{joint}_{end}_{side}"] for end in ("lateral", "medial")]
                points[f"{joint}_{side}"] = 0.5 * (ends[0] + ends[1])
        points |= {name: markers[name] for name in ("head_base", "head_low", "head_top")}
        assert len(points) == 23
        stacked = np.stack(list(points.values()), axis=1)
        write_trc(tmp_path / name, type(markers)(markers.time, tuple(points), stacked, tmp_path / name))
    result = ms.run(path)
    assert any("silva_2003" in note for note in result.attrs["notes"])
    # The pelvis tilts with the trunk, and a straight knee does not show how the thigh is turned.
    for dof in SAGITTAL:
        assert difference(whole, result, dof) < 0.03, dof
