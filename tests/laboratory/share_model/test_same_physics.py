"""A leg written in other ways has the same forces, arms and moments."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from plain_leg import save_leg
from recorded_data import recorded

import musclesolve as ms
from benchmarks.model_variants import (
    EQUAL,
    EXACT,
    FullTurns,
    Variant,
    compare_variants,
    differences,
    hanging,
    in_series,
    other_zero,
    plateau,
    reversed_joint,
    split,
    turned,
    varied,
)
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.tables import Table

VARIANTS: dict[str, tuple[Variant, ...]] = {
    "welded": (plateau("knee_r", (0.0, -0.006, 0.0)),),
    "welded without offset": (plateau("knee_r", (0.0, 0.0, 0.0)), plateau("hip_r", (0.0, -0.1, 0.0))),
    "welded twice": (plateau("knee_r", (0.0, -0.006, 0.0)), plateau("knee_r", (0.01, 0.0, 0.0))),
    "reversed": tuple(reversed_joint(name) for name in ("hip_r", "knee_r", "ankle_r")),
    "reversed over a weld": (plateau("knee_r", (0.0, -0.02, 0.0)), reversed_joint("knee_r")),
    "welded under another joint's name": (
        reversed_joint("ankle_r"),
        plateau("ankle_r", (0.01, -0.01, 0.005)),
    ),
    "in series": (in_series("hip_r"), in_series("knee_r")),
    "massless bodies": (hanging("pelvis"), hanging("tibia_r"), hanging("calcn_r")),
    "split": (split("pelvis", 0.3), split("tibia_r", 0.6), split("calcn_r", 0.5)),
    "turned": (
        turned("femur_r", (0.5, 1.0, -2.0)),
        turned("tibia_r", (-1.5, 0.4, 0.2)),
        turned("calcn_r", (0, 2, 1)),
    ),
    "all": (
        in_series("hip_r"),
        plateau("knee_r", (0, 0, 0)),
        reversed_joint("knee_r"),
        turned("tibia_r", (1, 2, 3)),
    ),
}


@pytest.fixture(scope="module")
def leg(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, np.ndarray], Path]:
    return save_leg(tmp_path_factory.mktemp("leg"))


@pytest.fixture(scope="module")
def plain(leg: tuple[Path, dict[str, np.ndarray], Path]) -> xr.Dataset:
    model, motion, loads = leg
    return ms.share_model(model, motion, loads=loads, solver=EXACT)


def test_the_plain_leg_bears_load(plain: xr.Dataset) -> None:
    assert {"knee_contact_medial", "patellofemoral_force", "knee_adduction_moment"} <= set(plain.data_vars)
    down = plain["contact_force_component"].sel(joint="knee_r").isel(direction=0)
    assert (down > 100.0).all()
    assert float(plain["knee_contact_medial"].max()) > 100.0


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_changes_no_number(leg, plain: xr.Dataset, tmp_path: Path, name: str) -> None:
    model, motion, loads = leg
    shared = ms.share_model(varied(model, tmp_path, *VARIANTS[name]), motion, loads=loads, solver=EXACT)
    assert shared.attrs["knee_contact_spacing"] == plain.attrs["knee_contact_spacing"]
    off = differences(plain, shared)
    assert {"muscle_force", "joint_reaction", "knee_contact_medial", "patellofemoral_force"} <= set(off)
    assert max(off.values()) < 1e-9, off


@pytest.mark.parametrize(
    ("name", "turns", "since"),
    [("hip_flexion_r", 1, 0.4), ("knee_angle_r", -2, 0.0), ("ankle_angle_r", 3, 0.4)],
)
def test_full_turns_change_no_number(leg, plain: xr.Dataset, name: str, turns: int, since: float) -> None:
    model, motion, loads = leg
    off = differences(
        plain, ms.share_model(model, FullTurns(name, turns, since).moved(motion), loads=loads, solver=EXACT)
    )
    assert max(off.values()) < 1e-9, off


@pytest.mark.thorough
def test_variants_of_a_published_model_change_no_number() -> None:
    """A few of those that `python -m benchmarks.model_variants` draws."""
    worst = compare_variants(recorded("opensim_models") / "gait2392.osim", count=2, seed=3)
    assert worst and max(worst) < EQUAL


@pytest.mark.parametrize(("joint", "coordinate"), [("knee_r", "knee_angle_r"), ("hip_r", "hip_flexion_r")])
def test_angles_may_be_counted_from_a_bent_leg(
    leg, plain: xr.Dataset, tmp_path: Path, joint: str, coordinate: str
) -> None:
    model, motion, loads = leg
    moved = motion | {coordinate: motion[coordinate] + 1.3}
    shared = ms.share_model(varied(model, tmp_path, other_zero(joint, 1.3)), moved, loads=loads, solver=EXACT)
    assert any("line of their joints" in note for note in shared.attrs["notes"])
    assert not any("line of their joints" in note for note in plain.attrs["notes"])
    off = differences(plain, shared)
    assert max(off.values()) < 1e-9, off


SPLINE = "<SimmSpline><x>-2 -1 0 0.2</x><y>-2 -1 0 0.2</y></SimmSpline>"


def test_an_angle_of_splines_is_read_in_the_unit_that_lies_between_their_knots(leg, tmp_path: Path) -> None:
    path, motion, _ = leg
    text = path.read_text(encoding="utf-8")
    start = text.index("<coordinates>knee_angle_r</coordinates>")
    own = text[start:].replace("<LinearFunction><coefficients>1 0</coefficients></LinearFunction>", SPLINE, 1)
    (tmp_path / "leg.osim").write_text(text[:start] + own, encoding="utf-8")
    model = ms.read_osim(tmp_path / "leg.osim")
    assert not model.coordinates["knee_angle_r"].rotational
    names = tuple(name for name in motion if name != "time")
    values = np.stack([motion[name] for name in names], axis=1)
    knee = names.index("knee_angle_r")
    mixed = np.degrees(values)
    mixed[:, knee] = values[:, knee]  # as OpenSim writes it
    for shown, converted in ((np.degrees(values), True), (mixed, False)):
        found = coordinate_motion(model, Table(motion["time"], names, shown, True, path), None)
        np.testing.assert_allclose(found.value, values, atol=1e-12)
        assert any("knee_angle_r is read in degrees" in note for note in found.notes) is converted
    beyond = coordinate_motion(model, motion | {"knee_angle_r": motion["knee_angle_r"] + 0.6}, None)
    assert any("0.2 rad beyond the knots" in note for note in beyond.notes)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "name",
    ["r14_plateau_6mm", "r14_plateau_0mm", "r14_split_shank", "r11_reversed_knee_ankle", "r26_tibia_turned"],
)
def test_unusual_models_equal_the_plain_one(name: str) -> None:
    folder = recorded("unusual_models")
    plain, shared = (
        ms.share_model(
            folder / f"{each}.osim",
            folder / "r5_ik.mot",
            loads=folder / "r5_loads.xml",
            end_s=0.4,
            solver=EXACT,
        )
        for each in ("r14_whole_shank", name)
    )
    off = differences(plain, shared)
    assert max(off.values()) < 1e-9, off


@pytest.mark.parametrize(("bulge", "is_warning"), [(0.055, False), (0.09, True)])
def test_a_path_that_jumps_is_named(
    leg, plain: xr.Dataset, tmp_path: Path, bulge: float, is_warning: bool
) -> None:
    path, motion, loads = leg
    text = path.read_text(encoding="utf-8")
    fixed = '<PathPoint name="p"><socket_parent_frame>/bodyset/femur_r</socket_parent_frame>\n<location>0.05 -0.37 0'
    assert text.count(fixed) == 1
    switched = fixed.replace("PathPoint", "ConditionalPathPoint").replace("0.05", str(bulge))
    start = text.index(fixed)
    end = text.index("</PathPoint>", start)
    condition = "<socket_coordinate>/jointset/knee_r/knee_angle_r</socket_coordinate><range>-0.4 2</range>"
    rest = text[end:].replace("</PathPoint>", f"{condition}</ConditionalPathPoint>", 1)
    jumping = text[:start] + switched + text[start + len(fixed) : end] + rest
    (tmp_path / "leg.osim").write_text(jumping, encoding="utf-8")
    shared = ms.share_model(tmp_path / "leg.osim", motion, loads=loads, solver=EXACT)
    said = [note for note in shared.attrs["notes"] if "jump from" in note]
    assert len(said) == 1 and re.search(r"vas_int_r \d+ mm at 0.(2|7)", said[0])
    warned = [each for each in shared.attrs.get("warnings", ()) if "right vas int jumps at 0." in each]
    assert bool(warned) is is_warning and all(re.search(r" up to [0-9.]+ N at ", each) for each in warned)
    assert not any("jump from" in note for note in plain.attrs["notes"])
