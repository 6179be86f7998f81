"""Ground reactions without plates: beside the truth of synthetic walks and runs, and what a result says of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
import xarray as xr
from examined import examined
from poses import motion_through
from refusals import refused
from said import run_document

import musclesolve as ms
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.inverse.predicted_reactions import predicted_reactions
from musclesolve.laboratory import gait_events
from musclesolve.laboratory.bodies.adjusted_mechanics import reactions_of_motion
from musclesolve.laboratory.forces import mechanics, recording_of
from musclesolve.laboratory.recording.axes import rotation_of
from musclesolve.laboratory.trial.time_range import with_predicted_spans
from musclesolve.studies import synthetic_recording
from musclesolve.studies.synthetic import running_stride
from musclesolve.tables import read_trc, write_trc

# Largest differences to the plates, rms of a foot: forward, sideways, upward [body weights].
LIMITS = {"walk": (0.02, 0.01, 0.04), "run": (0.03, 0.01, 0.03)}


@cache
def recorded(kind: str):
    stride = running_stride() if kind == "run" else None
    return mechanics(recording_of(synthetic_recording(Path(mkdtemp()), stride), "this test"))


@cache
def without_plates() -> Path:
    """A synthetic walk whose trial file asks for predicted forces."""
    path = ms.studies.synthetic_recording(mkdtemp())
    text = path.read_text()
    assert 'forces = "forces.mot"' in text
    path.write_text(text.replace('forces = "forces.mot"', 'forces = "predicted"'))
    (path.parent / "forces.mot").unlink()
    return path


@pytest.mark.in_part(2)
@pytest.mark.parametrize("kind", LIMITS)
def test_plates_and_prediction_agree(kind: str) -> None:
    found = recorded(kind)
    weight = found.model.mass.total * STANDARD_GRAVITY
    for plates, ours in zip(found.reactions, reactions_of_motion(found.model, found.motion), strict=True):
        off = np.sqrt(np.mean((ours.force - plates.force) ** 2, axis=0)) / weight
        assert (off < LIMITS[kind]).all(), (plates.side, off)
        unloaded = plates.force[:, 2] < 1.0
        assert unloaded.any() and ours.force[unloaded, 2].max() < 0.06 * weight
        stands = plates.force[:, 2] > 0.5 * weight
        apart = (ours.center_of_pressure - plates.center_of_pressure)[stands, :2]
        assert np.sqrt(np.mean(apart**2)) < 0.03


@pytest.mark.in_part(2)
@pytest.mark.parametrize("kind", LIMITS)
def test_the_feet_push_within_friction_and_carry_the_body(kind: str) -> None:
    found = recorded(kind)
    weight = found.model.mass.total * STANDARD_GRAVITY
    predicted = predicted_reactions(found.model, found.motion)
    assert predicted.residual < 1e-6
    for wrench in predicted.wrenches:
        upward = wrench.force[:, 2]
        assert upward.min() > -1e-6 * weight
        assert (np.abs(wrench.force[:, :2]) <= 0.5 * upward[:, None] + 1e-5 * weight).all()
    lacking = predicted.required[:, :3] - sum(wrench.force for wrench in predicted.wrenches)
    assert np.sqrt(np.mean(lacking**2)) < 0.03 * weight


def test_the_origin_of_the_laboratory_does_not_matter() -> None:
    found, shift = recorded("walk"), (3.0, -2.0, 0.4)
    coordinates, q = found.motion.coordinates.copy(), found.motion.q.copy()
    coordinates[:, -6:-3] += shift
    q[:, [found.model.slot(point.name) for point in found.model.topology.points]] += shift
    elsewhere = predicted_reactions(found.model, replace(found.motion, coordinates=coordinates, q=q))
    here = predicted_reactions(found.model, found.motion)
    for one, other in zip(here.wrenches, elsewhere.wrenches, strict=True):
        np.testing.assert_allclose(one.force, other.force, atol=0.05)


def test_a_result_says_that_forces_are_predicted() -> None:
    result = ms.run(without_plates())
    assert result.attrs["ground_reactions"] == "predicted"
    assert any("predicted" in note for note in result.attrs["notes"])
    assert "predicted_forces" in {finding.code for finding in examined(without_plates()).findings}
    measured = ms.run(ms.studies.synthetic_recording(mkdtemp()))
    assert measured.attrs["ground_reactions"] == "measured"
    off = (result.joint_moment - measured.joint_moment.sel(time=result.time, method="nearest").values).sel(
        dof=["hip_flexion_r", "knee_flexion_r", "ankle_dorsiflexion_r"]
    )
    assert float(np.sqrt((off**2).mean("time")).max()) < 0.15 * result.attrs["subject_mass_kg"]


@pytest.mark.parametrize(("hip", "ankle", "carried"), [(60.0, 25.0, True), (90.0, 0.0, False)])
def test_a_squat_is_carried_by_the_feet_and_a_sitting_body_is_not(
    hip: float, ankle: float, carried: bool
) -> None:
    """At rest each foot of a squat carries half of the weight; the weight of a sitting body lies behind its soles."""
    found = recorded("walk")
    model, time = found.model, np.arange(20) / 100.0
    pose = np.zeros((len(time), len(model.topology.dof_names)))
    for side in "rl":
        for name, degrees in (("hip_flexion", hip), ("knee_flexion", 85.0), ("ankle_dorsiflexion", ankle)):
            pose[:, model.dof(f"{name}_{side}")] = np.radians(degrees)
    still = motion_through(model, pose, time=time)
    reactions = reactions_of_motion(model, still)
    held = replace(found, motion=still, reactions=reactions, predicted=True)
    assert held.support.carries.all() == carried
    if carried:
        for each in reactions:
            np.testing.assert_allclose(
                each.force[:, 2] / (model.mass.total * STANDARD_GRAVITY), 0.5, atol=0.02
            )


def test_a_tilted_laboratory_is_named() -> None:
    """The axes are turned about the line across the path: the floor rises by as many degrees along the walk."""
    trial, angle = ms.read_trial(without_plates()), np.radians(3.0)
    level = mechanics(trial)
    turn = np.array([[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]])
    tilted = mechanics(
        replace(trial, markers=replace(trial.markers, position=trial.markers.position @ turn.T))
    )
    found = [each.warnings(trial) for each in (level, tilted)]
    assert [each.code for each in found[0]] == []
    (of_floor,) = [each for each in found[1] if each.code == "floor_tilted"]
    assert "2.9 degrees" in of_floor.what and "tilt_deg = 2.9 in [laboratory]" in of_floor.remedy


def test_a_tilted_laboratory_is_turned_back(tmp_path: Path) -> None:
    """The remedy of `floor_tilted`: markers of motion and standing trial are written tilted, and read with tilt_deg."""
    path, angle = without_plates(), np.radians(3.0)
    turn = np.array([[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]])
    level = recording_of(path, "this test")
    axes = rotation_of(level.document, level.settings.laboratory)
    for name in ("walk.trc", "static.trc"):
        markers = read_trc(path.parent / name)
        tilted = markers.position @ (axes.T @ turn @ axes).T
        write_trc(tmp_path / name, replace(markers, position=tilted, path=tmp_path / name))
    text = path.read_text(encoding="utf-8").replace("[laboratory]", "[laboratory]\ntilt_deg = 3.0")
    (tmp_path / "trial.toml").write_text(text, encoding="utf-8")
    turned = recording_of(tmp_path / "trial.toml", "this test")
    assert turned.static is not None and level.static is not None
    np.testing.assert_allclose(turned.markers.position, level.markers.position, atol=2e-5)
    np.testing.assert_allclose(turned.static.position, level.static.position, atol=2e-5)


def test_a_program_that_is_not_solved_gives_no_forces(monkeypatch: pytest.MonkeyPatch) -> None:
    found = recorded("walk")
    monkeypatch.setattr("musclesolve.dynamics.inverse.predicted_reactions.MOST_ITERATIONS", 2)
    with refused("bad_forces", "predicted"):
        predicted_reactions(found.model, found.motion)


def hidden(found, side: str) -> np.ndarray:
    """Forces and moments (T, 2, 6) of the plates, without those under one foot where it is on the ground."""
    plates = {each.side: np.concatenate([each.force, each.moment], axis=1) for each in found.reactions}
    measured = np.stack([plates["r"], plates["l"]], axis=1)
    measured[plates[side][:, 2] > 1.0, "rl".index(side)] = np.nan
    return measured


@pytest.mark.in_part(2)
@pytest.mark.parametrize("kind", LIMITS)
def test_measured_feet_stay_as_measured(kind: str) -> None:
    found = recorded(kind)
    every = np.stack([np.concatenate([each.force, each.moment], axis=1) for each in found.reactions], axis=1)
    for plates in (every, hidden(found, "r")):
        feet = predicted_reactions(found.model, found.motion, plates).wrenches
        for number, foot in enumerate(feet):
            seen = np.isfinite(plates[:, number, 0])
            np.testing.assert_array_equal(foot.force[seen], plates[seen, number, :3])
            np.testing.assert_array_equal(foot.moment[seen], plates[seen, number, 3:])


@pytest.mark.parametrize("side", "rl")
@pytest.mark.parametrize("kind", LIMITS)
def test_a_hidden_foot_carries_what_the_other_leaves(kind: str, side: str) -> None:
    found = recorded(kind)
    weight = found.model.mass.total * STANDARD_GRAVITY
    predicted = predicted_reactions(found.model, found.motion, hidden(found, side))
    lacking = predicted.required[:, :3] - sum(wrench.force for wrench in predicted.wrenches)
    assert np.sqrt(np.mean(lacking**2)) < 0.03 * weight
    plates = next(each for each in found.reactions if each.side == side)
    ours = predicted.wrenches["rl".index(side)].force
    off = np.sqrt(np.mean((ours - plates.force) ** 2, axis=0)) / weight
    assert (off < LIMITS[kind]).all(), off
    # no step at the seams, where the foot lands and leaves
    change, seam = np.abs(np.diff(ours[:, 2])), np.diff(plates.force[:, 2] > 1.0)
    assert seam.any() and change[seam].max() < 0.6 * change[~seam].max()


def one_plate(side: str, missing: str = "predicted") -> Path:
    """A synthetic walk without the plate of a foot, whose steps are predicted or left out."""
    path = ms.studies.synthetic_recording(mkdtemp())
    head, *tables = path.read_text().split("[[force]]")
    kept = [table for table in tables if f'side = "{side}"' not in table]
    assert len(kept) == 1 < len(tables)
    path.write_text("[[force]]".join([head, *kept]) + f'\n[plates]\nunmeasured_steps = "{missing}"\n')
    return path


@pytest.mark.thorough
def test_steps_without_a_plate_come_back() -> None:
    path = one_plate("l")
    result, whole = ms.run(path), ms.run(ms.studies.synthetic_recording(mkdtemp()))
    assert result.attrs["ground_reactions"] == "partly predicted"
    predicted = result.ground_predicted.sel(side="l").values.astype(bool)
    assert predicted.any() and not predicted.all() and not result.ground_predicted.sel(side="r").any()
    assert not np.isnan(result.joint_moment.sel(dof="hip_flexion_l")).any()
    codes, left_out = (
        {each.code for each in examined(each).findings} for each in (path, one_plate("l", "left_out"))
    )
    assert "predicted_forces" in codes - left_out and "contact_without_force" in left_out - codes
    assert "ground_reactions" in run_document(result)
    sources = set(result.event_source.values[result.event_side.values == "l"])
    assert "predicted" in sources
    weight = whole.attrs["subject_mass_kg"] * STANDARD_GRAVITY
    common = np.intersect1d(result.time.values.round(6), whole.time.values.round(6))
    one, other = (
        each.assign_coords(time=each.time.values.round(6)).sel(time=common) for each in (result, whole)
    )
    off = (one.ground_reaction_force - other.ground_reaction_force) / weight
    assert float(abs(off.sel(side="r")).max()) < 1e-9
    assert float(np.sqrt((off.sel(side="l") ** 2).mean("time")).max()) < 0.04


def test_steps_are_predicted_only_of_feet_that_are_seen() -> None:
    trial = recording_of(one_plate("l"), "this test")
    carried = replace(trial, carried={"toe_l": "shank_l"})
    with refused("missing_key", "left foot", "unmeasured_steps"):
        with_predicted_spans(carried, carried.settings)


@pytest.mark.parametrize("kind", LIMITS)
def test_predicted_events_are_those_of_the_plates(kind: str) -> None:
    trial = recording_of(
        synthetic_recording(Path(mkdtemp()), running_stride() if kind == "run" else None), "this"
    )
    found = recorded(kind)
    without = replace(trial, forces=(), legs={}, predicted_spans=dict.fromkeys("rl", ((-np.inf, np.inf),)))
    time = found.motion.time
    events = gait_events(without, time, reactions_of_motion(found.model, found.motion))
    truth = [each for each in gait_events(trial) if each.source == "forces"]
    inside = [each for each in truth if time[0] + 0.05 < each.time < time[-1] - 0.05]
    assert inside
    for each in inside:
        near = min(events.of(each.kind, each.side), key=lambda event, at=each.time: abs(event.time - at))
        assert near.source == "predicted" and abs(near.time - each.time) < 0.03


@pytest.mark.in_part(3)
@pytest.mark.parametrize("marker_set", ["halpe_26", "blazepose", "opencap"])
def test_key_points_of_video_without_plates_or_standing_trial(marker_set: str) -> None:
    """Noise of 10 mm at 60 Hz, filtered at 4 Hz. Key points hardly show how a thigh rotates."""
    path = ms.studies.synthetic_recording(
        mkdtemp(), marker_set=marker_set, marker_rate_hz=60, strides=3, noise_mm=10.0
    )
    text = path.read_text().replace('forces = "forces.mot"', 'forces = "predicted"')
    text = text.replace('static = "static.trc"\n', "").replace("cutoff_hz = 6", "cutoff_hz = 4")
    path.write_text(text)
    result, truth = ms.run(path), xr.open_dataset(path.parent / "truth.nc")
    limits = {"hip_flexion": 4.0, "hip_adduction": 2.0, "hip_internal_rotation": 9.0, "knee_flexion": 3.0}
    for stem, limit in limits.items():
        dof = f"{stem}_r"
        angle, moment = (
            result[name].sel(dof=dof) - truth[name].sel(dof=dof).interp(time=result.time)
            for name in ("joint_angle", "joint_moment")
        )
        assert np.degrees(np.sqrt((angle**2).mean())) < limit, dof
        assert np.sqrt((moment**2).mean()) < 0.25 * result.attrs["subject_mass_kg"], dof
    assert result["valid"].values.mean() > 0.95


@pytest.mark.thorough
def test_a_marker_that_jumps_costs_its_frames_alone() -> None:
    """Without a standing trial the heel goes 0.4 m astray for 0.1 s: the size of the foot and other frames stay."""
    path, folder = without_plates(), Path(mkdtemp())
    (folder / "trial.toml").write_text(path.read_text().replace('static = "static.trc"\n', ""))
    markers = replace(read_trc(path.parent / "walk.trc"), path=folder / "walk.trc")
    write_trc(folder / "walk.trc", markers)
    before = ms.run(folder / "trial.toml")
    (name,) = recording_of(folder / "trial.toml", "this test").mapping["heel_r"]
    at, position = markers.time[len(markers.time) // 2], markers.position.copy()
    astray = 0.4 * np.exp(-(((markers.time - at) / 0.04) ** 2))
    position[:, markers.names.index(name)] -= astray[:, None] * np.array([0.7, 0.0, 0.7])
    write_trc(folder / "walk.trc", replace(markers, position=position))
    after = ms.run(folder / "trial.toml")
    assert "not_carried" in after.attrs["findings"]
    apart, valid = np.abs(after.time.values - at), after["valid"].sel(side="r").values
    assert not valid[apart < 0.05].any() and valid[apart > 0.3].all()
    off = np.abs(after.joint_moment - before.joint_moment).values[apart > 0.3]
    assert len(off) > 30 and np.sqrt(np.mean(off**2)) < 0.05 * after.attrs["subject_mass_kg"]


@pytest.mark.thorough
def test_a_restless_body_is_not_plausible() -> None:
    """A body that moves up and down by 15 mm at 4 Hz more needs forces that nobody has at this speed."""
    path = without_plates()
    calm = ms.run(path).plausible.attrs
    assert calm["verdict"] == "plausible" and "ground" in calm["criteria"]
    folder = Path(mkdtemp())
    for name in ("trial.toml", "static.trc"):
        (folder / name).write_bytes((path.parent / name).read_bytes())
    markers = read_trc(path.parent / "walk.trc")
    position = markers.position.copy()
    height = position[..., 2]
    above = height.mean(axis=0) > 0.3
    position[:, above, 2] += 0.015 * np.sin(2.0 * np.pi * 4.0 * markers.time)[:, None]
    write_trc(folder / "walk.trc", replace(markers, position=position, path=folder / "walk.trc"))
    restless = ms.run(folder / "trial.toml").plausible.attrs
    assert restless["verdict"] == "not plausible" and "the motion requires" in restless["reason"]
