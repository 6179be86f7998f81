"""Folders of AddBiomechanics and OpenCap: which trials they hold, of whom, and which cannot be shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from musclesolve.constants import PREDICTED
from musclesolve.laboratory.files.service_folders import NO_MODEL, WITHOUT_PLATES, service_of, service_trials

LOADS = "<OpenSimDocument><ExternalLoads><datafile>{}</datafile></ExternalLoads></OpenSimDocument>"
METADATA = """calibrationSettings:
  mass_kg: 1.0
gender_mf: f
height_m: 1.65
iphoneModel:
  Cam0: iPhone13,3
mass_kg: 58.5   # weighed
openSimModel: LaiArnoldModified2017_poly_withArms_weldHand
subjectID: 'runner 7'
"""


def files(folder: Path, *names: str, **contents: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(contents.get(Path(name).stem, "x"), encoding="utf-8")
    return folder


def test_results_of_addbiomechanics(tmp_path: Path) -> None:
    external = LOADS.format("fast_segment_0_grf.mot")
    folder = files(
        tmp_path / "S01",
        *("Models/optimized_scale_and_markers.osim", "Models/final.osim", "Models/unscaled_generic.osim"),
        *(
            "IK/slow_ik.mot",
            "IK/fast_segment_0_ik.mot",
            "IK/still_ik.mot",
            "IK/stair_ik.mot",
            "IK/fast_marker_errors.csv",
        ),
        *("ID/slow_grf.mot", "ID/slow_grf_raw.mot", "ID/slow_id.sto", "ID/stair_id.sto"),
        *("ID/fast_segment_0_external_forces.xml", "ID/fast_segment_0_grf.mot", "_subject.json"),
        fast_segment_0_external_forces=external,
        _subject='{"massKg": "70.5", "heightM": 0, "sex": "unknown", "ageYears": 41}',
    )
    assert service_of(folder) == "AddBiomechanics"
    trials = {trial.name: trial for trial in service_trials(folder)}
    assert list(trials) == ["fast_segment_0", "slow", "stair", "still"]
    assert {trial.model.name for trial in trials.values()} == {"final.osim"}
    assert trials["slow"].source["loads"].name == "slow_grf.mot" and "moments" not in trials["slow"].source
    assert trials["fast_segment_0"].loads.suffix == ".xml"
    assert trials["stair"].source["moments"].name == "stair_id.sto"
    assert trials["still"].source["loads"] == PREDICTED and trials["still"].notes == (WITHOUT_PLATES,)
    assert trials["slow"].subject == {"mass_kg": 70.5, "age_years": 41.0}


def test_a_description_without_its_data_gives_way_to_the_plates(tmp_path: Path) -> None:
    folder = files(
        tmp_path,
        *("Models/match_markers_and_physics.osim", "IK/w_ik.mot", "ID/w_external_forces.xml", "ID/w_grf.mot"),
        w_external_forces=LOADS.format("elsewhere.mot"),
    )
    assert service_trials(folder)[0].loads == folder / "ID" / "w_grf.mot"


def test_a_session_of_opencap(tmp_path: Path) -> None:
    folder = files(
        tmp_path,
        *("sessionMetadata.yaml", "MarkerData/walk.trc", "OpenSimData/Model/generic.osim"),
        "OpenSimData/Model/LaiUhlrich2022_scaled.osim",
        *(f"OpenSimData/Kinematics/{name}.mot" for name in ("neutral", "walk", "walk2", "jump2", "squat")),
        *("ForceData/walk.mot", "ForceData/walk2_forces.mot", "OpenSimData/InverseDynamics/squat/squat.sto"),
        *("MeasuredForces/jump2/jump2_forces_filt30Hz.mot", "MeasuredForces/jump2/jump2_syncd_forces.mot"),
        sessionMetadata=METADATA,
    )
    assert service_of(folder) == "OpenCap"
    trials = {trial.name: trial for trial in service_trials(folder)}
    assert list(trials) == ["jump2", "squat", "walk", "walk2"]
    assert {trial.model.name for trial in trials.values()} == {"LaiUhlrich2022_scaled.osim"}
    assert trials["jump2"].loads.name == "jump2_syncd_forces.mot"
    assert (trials["walk"].loads.name, trials["walk2"].loads.name) == ("walk.mot", "walk2_forces.mot")
    assert trials["squat"].moments.name == "squat.sto" and trials["squat"].loads is None
    assert trials["walk"].subject == {"name": "runner 7", "mass_kg": 58.5, "stature_m": 1.65, "sex": "female"}


def test_the_validation_of_opencap_has_markers_and_cameras(tmp_path: Path) -> None:
    homes = ("OpenSimData/Mocap", "OpenSimData/Video/HRNet/2-cameras")
    folder = files(
        tmp_path,
        *("sessionMetadata.yaml", "ForceData/walking1_forces.mot", "MarkerData/Mocap/walking1.trc"),
        *(
            f"{home}/{name}"
            for home in homes
            for name in ("Model/m_scaled.osim", "IK/walking1.mot", "IK/squats1.mot")
        ),
        *("OpenSimData/Mocap/ID/squats1.sto", "OpenSimData/Mocap/JointReaction/squats1.sto"),
        sessionMetadata=METADATA,
    )
    trials = {trial.name: trial for trial in service_trials(folder)}
    assert set(trials) == {
        f"{name}_{home}" for name in ("walking1", "squats1") for home in ("Mocap", "Video_HRNet_2-cameras")
    }
    assert trials["walking1_Mocap"].loads.name == "walking1_forces.mot" and not trials["walking1_Mocap"].notes
    assert trials["squats1_Mocap"].moments == folder / "OpenSimData" / "Mocap" / "ID" / "squats1.sto"
    assert trials["squats1_Video_HRNet_2-cameras"].source["loads"] == PREDICTED
    assert "clock" in trials["walking1_Video_HRNet_2-cameras"].notes[0]
    assert trials["walking1_Video_HRNet_2-cameras"].model.is_relative_to(folder / homes[1])


@pytest.mark.parametrize("model", [True, False])
def test_what_cameras_see_is_no_force(model: bool, tmp_path: Path) -> None:
    models = ["OpenSimData/Model/a.osim"] * model
    folder = files(tmp_path, "OpenSimData/Kinematics/walk.mot", *models)
    (trial,) = service_trials(folder)
    assert (trial.reason, trial.loads) == (("", PREDICTED) if model else (NO_MODEL, None))


def test_other_folders(tmp_path: Path) -> None:
    assert service_of(files(tmp_path, "IK/walk_ik.mot", "walk.trc")) == "" and service_trials(tmp_path) == []
