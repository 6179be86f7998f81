"""Channels of EMG: muscles and sides by their names, the side by the signals, envelopes, channels in C3D files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from drafted_folders import as_c3d, drafted, recordings, table
from package_tables import package_table

import muscle_db
from musclesolve import read_trial
from musclesolve.dynamics import low_pass
from musclesolve.laboratory.draft.column_names import emg_channels, muscles_by_name
from musclesolve.laboratory.draft.draft_folder import draft_folder
from musclesolve.tables import Table, read_mot, write_mot


@pytest.mark.parametrize(
    ("name", "muscles", "side"),
    [
        ("R_SOL", ("soleus",), "r"), ("soleus_l", ("soleus",), "l"), ("RTA", ("tibialis_anterior",), "r"),
        ("EMG VL right", ("vastus_lateralis",), "r"), ("LRF", ("rectus_femoris",), "l"),
        ("RF", ("rectus_femoris",), None),
        ("Voltage.L_GMED", ("gluteus_medius",), "l"), ("gasmed_r", ("gastrocnemius_medial",), "r"),
        ("HamL_r", ("biceps_femoris_long_head",), "r"), ("GL", ("gastrocnemius_lateral",), None),
        ("L_GluMed", ("gluteus_medius",), "l"), ("GluMax_R", ("gluteus_maximus",), "r"),
        ("PerB", ("peroneus_brevis",), None), ("PerL_l", ("peroneus_longus",), "l"),
        ("bifeml", ("biceps_femoris_long_head",), None), ("peronl", ("peroneus_longus",), None),
        ("addmag", ("adductor_magnus",), None), ("GL_l", ("gastrocnemius_lateral",), "l"),
        ("left medHams", ("semitendinosus", "semimembranosus"), "l"), ("Ann:RVM", ("vastus_medialis",), "r"),
    ],
)  # fmt: skip
def test_muscle_and_side_of_a_channel(name: str, muscles: tuple[str, ...], side: str | None) -> None:
    found = emg_channels([name])
    assert found.muscles == {name: muscles}
    assert found.sides.get(name) == side


def test_a_letter_is_a_side_where_the_file_has_the_other_side_too() -> None:
    twins = emg_channels(["HAML", "HAMR"])
    assert twins.sides == {"HAML": "l", "HAMR": "r"} and len(twins.muscles["HAML"]) == 3
    lateral = emg_channels(["HamL", "HamM"])
    assert lateral.sides == {}
    assert lateral.muscles["HamL"] == ("biceps_femoris_long_head",)
    assert lateral.muscles["HamM"] == ("semitendinosus", "semimembranosus")


def test_other_columns_are_no_emg() -> None:
    for names in (
        ["pelvis_tx", "hip_flexion_r", "knee_angle_r"],
        ["Fx1", "Fy1", "Trigger"],
        ["a", "b", "ta", "c"],
    ):
        assert emg_channels(names).muscles == {}


def test_every_muscle_that_a_name_means_is_one_of_the_default_set() -> None:
    names = {muscle.name for muscle in muscle_db.load("gait2392")}
    meant = {muscle for muscles in muscles_by_name().values() for muscle in muscles}
    meant |= set(package_table("laboratory/draft/emg_muscles.toml")["stance"]["muscles"])
    assert [muscle for muscle in meant if not any(name.startswith(muscle) for name in names)] == []


def signals(folder: Path, names: list[str], loaded: str, processed: bool = False) -> None:
    """Write signals that are strong while a foot is loaded."""
    forces = read_mot(folder / "forces.mot")
    amplitude = np.where(forces[f"{loaded}_force_z"] > 50.0, 1.0, 0.2)[:, None]
    values = amplitude * np.random.default_rng(3).normal(size=(forces.time.size, len(names)))
    values = low_pass(np.abs(values), forces.rate, 6.0) if processed else values
    write_mot(folder / "walk_emg.sto", Table(forces.time, tuple(names), values, False, folder))


def test_channels_of_no_known_name_are_listed_in_the_draft_and_on_the_screen(tmp_path: Path) -> None:
    signals(recordings(tmp_path), ["R_SOL", "R_TA", "goniometer", "R_GM"], "right")
    trial = draft_folder(tmp_path).trials[0]
    assert "means no muscle: goniometer, R_GM" in " ".join(trial.text.replace("#", "").split())
    assert any("goniometer, R_GM" in statement for _, statement in trial.recognized)
    assert table(draft_folder(tmp_path), "emg.channels") == {
        "R_SOL": "soleus_r",
        "R_TA": "tibialis_anterior_r",
    }


def test_emg_whose_channels_name_no_muscle_is_left_open(tmp_path: Path) -> None:
    signals(recordings(tmp_path), ["EMG1", "EMG2"], "right")
    draft = draft_folder(tmp_path)
    assert table(draft, "emg") == table(draft, "emg.channels") == {}
    assert any("EMG1, EMG2" in todo for todo in draft.trials[0].todos)
    assert read_trial(drafted(tmp_path)).emg is None


@pytest.mark.parametrize(("foot", "side"), [("right", "r"), ("left", "l")])
def test_the_signals_show_a_side_that_the_names_do_not_state(foot: str, side: str, tmp_path: Path) -> None:
    signals(recordings(tmp_path), ["SOL", "VL", "TA"], foot)
    draft = draft_folder(tmp_path)
    expected = {"SOL": f"soleus_{side}", "VL": f"vastus_lateralis_{side}", "TA": f"tibialis_anterior_{side}"}
    assert table(draft, "emg.channels") == expected
    assert any("check the side" in todo for todo in draft.trials[0].todos)
    assert read_trial(drafted(tmp_path)).emg is not None


def test_a_side_that_nothing_shows_leaves_the_table_open(tmp_path: Path) -> None:
    signals(recordings(tmp_path), ["TA", "RF"], "right")
    draft = draft_folder(tmp_path)
    assert table(draft, "emg") == table(draft, "emg.channels") == {}
    assert any("side of every channel" in todo for todo in draft.trials[0].todos)
    assert read_trial(drafted(tmp_path)).emg is None


def test_envelopes_are_known_by_their_signal(tmp_path: Path) -> None:
    signals(recordings(tmp_path), ["R_SOL", "R_TA"], "right", processed=True)
    assert table(draft_folder(tmp_path), "emg")["processed"] is True
    assert read_trial(drafted(tmp_path)).emg.options.processed


def with_emg(file) -> None:
    analogs = file["data"]["analogs"]
    noise = np.random.default_rng(4).normal(size=(1, 2, analogs.shape[2]))
    file["data"]["analogs"] = np.concatenate([analogs, noise], axis=1)
    labels = file["parameters"]["ANALOG"]["LABELS"]
    labels["value"] = [*labels["value"], "R_SOL", "EMG L_TA"]


def test_channels_of_a_c3d_file_need_no_file(tmp_path: Path) -> None:
    folder = recordings(tmp_path / "text", marker_set="plug_in_gait")
    own = as_c3d(folder, tmp_path / "c3d", with_emg)
    draft = draft_folder(own)
    assert "file" not in table(draft, "emg")
    assert table(draft, "emg.channels") == {"R_SOL": "soleus_r", "EMG L_TA": "tibialis_anterior_l"}
    assert read_trial(drafted(own)).emg.names == ("R_SOL", "EMG L_TA")


def test_named_channels_beside_unnamed_copies() -> None:
    """Copies of one name with numbers say nothing of the others; muscles on both sides are muscles."""
    pairs = [f"{side}_{muscle}" for side in "RL" for muscle in ("RF", "ST", "TA", "GL", "PE")]
    pins = [f"Pin {k}" for k in range(1, 17)]
    found = emg_channels([*pins, *pairs], recorded=True)
    assert list(found.muscles) == pairs and found.unknown == tuple(pins)
    assert found.muscles["R_PE"] == ("peroneus_longus",)
    many = [f"ACC {k}" for k in range(40)]
    assert list(emg_channels([*many, *pairs], recorded=True).muscles) == pairs
    assert emg_channels([*many, *pairs]).computed


def test_french_names_of_channels() -> None:
    found = emg_channels(["L Vaste Ext", "R Jum Int", "L Ischio", "R Rectus"])
    assert found.muscles["L Vaste Ext"] == ("vastus_lateralis",) and len(found.muscles["L Ischio"]) == 3
    assert found.muscles["R Jum Int"] == ("gastrocnemius_medial",) and found.sides["R Rectus"] == "r"
    cut = emg_channels(["LREC", "RTIB", "LISC", "RBIC", "LSOL", "RVAS"])
    assert cut.unknown == ("RVAS",) and cut.sides["LISC"] == "l"


def test_what_is_left_out_is_said_with_its_reason(tmp_path: Path) -> None:
    def with_pins(file) -> None:
        analogs = file["data"]["analogs"]
        signal = np.random.default_rng(4).normal(size=(1, 7, analogs.shape[2]))
        signal[0, 6] = 0.0
        file["data"]["analogs"] = np.concatenate([analogs, signal], axis=1)
        labels = file["parameters"]["ANALOG"]["LABELS"]
        labels["value"] = [*labels["value"], "Pin 1", "Pin 2", "Pin 3", "R_TA", "L_TA", "R_RF", "L_RF"]

    folder = recordings(tmp_path / "text", marker_set="plug_in_gait")
    said = dict(draft_folder(as_c3d(folder, tmp_path / "c3d", with_pins)).trials[0].recognized)
    assert "R_TA, L_TA, R_RF" in said["EMG"] and "L_RF" not in said["EMG"]
    assert said["EMG left out"].endswith("means no muscle: Pin 1 to Pin 3; without a signal: L_RF")


def test_channels_that_mean_nothing_are_said(tmp_path: Path) -> None:
    def with_channels(file) -> None:
        analogs = file["data"]["analogs"]
        noise = np.random.default_rng(4).normal(size=(1, 4, analogs.shape[2]))
        file["data"]["analogs"] = np.concatenate([analogs, noise], axis=1)
        labels = file["parameters"]["ANALOG"]["LABELS"]
        labels["value"] = [*labels["value"], "V 1", "V 2", "V 3", "switch"]

    folder = recordings(tmp_path / "text", marker_set="plug_in_gait")
    others = draft_folder(as_c3d(folder, tmp_path / "c3d", with_channels)).others
    assert others == ("walk.c3d (channels whose names mean no muscle: V 1 to V 3, switch)",)
