from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from examined import examined
from package_tables import trial_tables
from synthetic_trial import person, write_trial

from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.errors import InputError
from musclesolve.laboratory import Subject, landmarks
from musclesolve.laboratory.recording.trial_settings import ExchangedSettings, FilterSettings
from musclesolve.models.settings import SharingSettings
from musclesolve.muscles.settings import MuscleSettings
from musclesolve.tables import read_mot, write_mot
from musclesolve.tables.settings import KINDS
from tests.support.refusals import refused


def test_a_trial_is_read_into_the_global_frame(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path))
    truth = person(trial.markers.time).markers
    for name in trial.markers.names:
        np.testing.assert_allclose(trial.markers[name], truth[name], atol=1e-7, err_msg=name)
    assert trial.subject == Subject("synthetic", 70.0, 1.75, "female")
    assert trial.time_range == (0.6, 1.8)
    assert trial.mapping["elbow_medial_r"] == {"RELM": 0.5, "RELM2": 0.5}
    assert trial.settings.muscles == MuscleSettings(database="silva_2003", passive="table")
    assert trial.settings.sharing == SharingSettings(cost="stress_cubed")
    assert {role: path.name for role, path in trial.files.items()} == {
        "trial": "trial.toml",
        "markers": "walk.trc",
        "static": "static.trc",
        "forces": "forces.mot",
    }


def test_forces_are_those_of_the_columns_whichever_way_they_are_named(tmp_path: Path) -> None:
    right, left = read_trial(write_trial(tmp_path)).forces
    assert (right.side, left.side) == ("r", "l")
    np.testing.assert_allclose(right.force[0], [0.0, 5.0, 0.5 * 70.0 * 9.81], atol=1e-5)
    np.testing.assert_allclose(right.moment[0], [0.0, 0.0, 1.0], atol=1e-6)
    assert (right.point[:, 1] < 0).all() and (left.point[:, 1] > 0).all()


@pytest.mark.parametrize("value", ['"me"', "[1, 2]", "[{}]"])
def test_a_subject_that_is_no_table_is_named(tmp_path: Path, value: str) -> None:
    path = write_trial(tmp_path)
    before, _, after = path.read_text().partition("[subject]\n")
    path.write_text(f"subject = {value}\n" + before + "[" + after.partition("\n[")[2])
    report = examined(path)
    assert "check_failed" not in report.codes
    assert any(e.where.field == "[subject]" and "not a table" in e.what for e in report.of("error"))


def test_a_remedy_offers_no_name_where_there_is_none(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    text = path.read_text()
    path.write_text(text[: text.index("[clusters]")] + text[text.index("[carried]") :])
    error = next(error for error in examined(path).of("error") if "there is no cluster" in error.what)
    assert "a known name; there is none" in error.what and error.remedy == "remove it"


def test_options_of_muscles_and_sharing_are_kept(tmp_path: Path) -> None:
    edits = (
        (
            'database = "silva_2003"\npassive = "table"',
            'database = "own.toml"\npassive = "none"\nstrength = 1.2',
        ),
        ('solver = "batch"', 'solver = "ipopt"\nreserve_weight = 10\ndofs = ["knee_flexion_r"]'),
    )
    trial = read_trial(write_trial(tmp_path, *edits))
    assert trial.settings.muscles == MuscleSettings(database=str(tmp_path / "own.toml"), strength=1.2)
    assert trial.settings.sharing == SharingSettings(
        cost="stress_cubed", solver="ipopt", reserve_weight=10.0, dofs=("knee_flexion_r",)
    )


def test_tables_that_may_be_absent_have_their_defaults(tmp_path: Path) -> None:
    edits = (
        ("[time]\nstart_s = 0.6\nend_s = 1.8\n", ""),
        ("[filter]\ncutoff_hz = 6.0\n", ""),
        ('[muscles]\ndatabase = "silva_2003"\npassive = "table"\n', ""),
        ('[sharing]\ncost = "stress_cubed"\nsolver = "batch"\n', ""),
        ('[joint_centers]\nhip = "harrington_2007"\n', ""),
    )
    trial = read_trial(write_trial(tmp_path, *edits))
    # Found: all of it but its ends.
    assert trial.time_range == pytest.approx((0.1, 2.29))
    assert trial.settings.filter == FilterSettings() and trial.hip_regression == "harrington_2007"
    assert trial.settings.muscles == MuscleSettings() and trial.settings.sharing == SharingSettings()


def test_only_the_markers_that_are_needed_are_used(tmp_path: Path) -> None:
    edits = (('elbow_medial_r = { midpoint = ["RELM", "RELM2"] }\n', ""),)
    used = read_trial(write_trial(tmp_path, *edits)).used_markers
    assert "RELM" not in used and "RKNM" not in used
    assert {"RTH1", "RSH2", "LELM2", "RTOE"} <= set(used)


# (old, new) of the trial file -> what the refusal must say.
REFUSALS = {
    "not TOML": (("[subject]", "[subject"), ["bad_format", "line 2"]),
    "decimal comma": (("mass_kg = 70.0", "mass_kg = 70,5"), ["bad_format", "line 4", "70.5"]),
    "no forces": (('forces = "forces.mot"\n', ""), ["missing_key", "[files]", "'forces'"]),
    "a folder": (('"walk.trc"', '"."'), ["missing_file", "line 13", "[files] markers"]),
    "no such folder": (('"walk.trc"', '"data/walk.trc"'), ["missing_file", "[files] markers"]),
    "unknown table": (("[filter]", "[filtr]"), ["unknown_key", "[filtr]", "'filter'"]),
    "missing table": (('[laboratory]\nforward = "+x"\nup = "+y"\n', ""), ["missing_key", "[laboratory]"]),
    "not a table": (("[filter]\ncutoff_hz = 6.0", "[[filter]]\ncutoff_hz = 6.0"), ["bad_value", "[filter]"]),
    "unknown key": (("mass_kg", "mass"), ["unknown_key", "line 4", "[subject] mass", "'mass_kg'"]),
    "missing key": (("stature_m = 1.75\n", ""), ["missing_key", "[subject]", "'stature_m'"]),
    "number as text": (("mass_kg = 70.0", 'mass_kg = "70"'), ["bad_value", "line 4", "'70'"]),
    "truth as number": (("mass_kg = 70.0", "mass_kg = true"), ["bad_value"]),
    "mass in grams": (("mass_kg = 70.0", "mass_kg = 70000"), ["bad_value", "70000", "400"]),
    "stature in cm": (("stature_m = 1.75", "stature_m = 175"), ["bad_value", "175", "2.6"]),
    "stature not a number": (("stature_m = 1.75", "stature_m = nan"), ["bad_value", "line 5"]),
    "sex": (('"female"', '"f"'), ["bad_value", "[subject] sex"]),
    "axis name": (('forward = "+x"', 'forward = "x"'), ["bad_value", "[laboratory] forward"]),
    "one axis twice": (('up = "+y"', 'up = "-x"'), ["bad_axes", "line 10", "[laboratory] up"]),
    "no such file": (
        ('"walk.trc"', '"wlak.trc"'),
        ["missing_file", "line 13", "[files] markers", "'wlak.trc'", "'walk.trc'"],
    ),
    "cutoff zero": (("cutoff_hz = 6.0", "cutoff_hz = 0"), ["bad_value", "[filter] cutoff_hz", "0"]),
    "cutoff above half the rate": (("cutoff_hz = 6.0", "cutoff_hz = 55"), ["bad_value", "55 Hz", "50 Hz"]),
    "unknown landmark": (("heel_r =", "hel_r ="), ["unknown_name", "[mapping] hel_r", "'heel_r'"]),
    "missing landmark": (('heel_l = "LHEE"\n', ""), ["missing_key", "'heel_l'"]),
    "half a pelvis": (('psis_l = "LPSI"\n', ""), ["missing_key", "'psis_l'", "'sacrum'"]),
    "unknown marker": (
        ('"RHEE"', '"RHE"'),
        ["missing_marker", "[mapping] heel_r", "'RHE'", "walk.trc", "'RHEE'"],
    ),
    "empty mapping": (('heel_r = "RHEE"', 'heel_r = ""'), ["bad_value", "[mapping] heel_r"]),
    "mapping form": (
        ('heel_r = "RHEE"', 'heel_r = { mean = ["RHEE", "RTOE"] }'),
        ["bad_value", "[mapping] heel_r"],
    ),
    "two landmarks at one marker": (
        ('heel_l = "LHEE"', 'heel_l = "RHEE"'),
        ["bad_mapping", "[mapping] heel_l", "'heel_r'"],
    ),
    "no file name": (('"walk.trc"', '"a\\u0000b"'), ["missing_file", "[files] markers"]),
    "midpoint of one": (('["RELM", "RELM2"]', '["RELM"]'), ["bad_value", "[mapping] elbow_medial_r"]),
    "weights": (("LELM2 = 0.75", "LELM2 = 0.5"), ["bad_value", "[mapping] elbow_medial_l", "0.75"]),
    "not carried": (('RANM = "shank_r"\n', ""), ["missing_marker", "'RANM'", "[carried]"]),
    "unknown cluster": (
        ('RANM = "shank_r"', 'RANM = "shnk_r"'),
        ["unknown_name", "[carried] RANM", "'shank_r'"],
    ),
    "small cluster": (('"RSH2", "RANL"]', '"RANL"]'), ["bad_value", "[clusters] shank_r"]),
    "cluster marker": (('"RSH2"', '"RSH9"'), ["missing_marker", "[clusters] shank_r", "'RSH9'", "'RSH2'"]),
    "carried marker": (
        ('RANM = "shank_r"', 'RAMN = "shank_r"'),
        ["missing_marker", "[carried] RAMN", "static.trc"],
    ),
    "clusters without standing": (('static = "static.trc"\n', ""), ["missing_key", "[clusters]"]),
    "regression": (('"harrington_2007"', '"harrington"'), ["bad_value", "[joint_centers] hip", "2007"]),
    "time outside": (("end_s = 1.8", "end_s = 18"), ["bad_range", "[time] end_s", "18 s", "0", "2.39 s"]),
    "time reversed": (("end_s = 1.8", "end_s = 0.5"), ["bad_range", "[time] start_s", "0.6 s", "0.5 s"]),
    "time too short": (("end_s = 1.8", "end_s = 0.65"), ["bad_range", "[time] end_s", "10", "0.7 s"]),
    "side": (('side = "l"', 'side = "left"'), ["bad_value", "[[force]] side"]),
    "column": (
        ('"r_my"', '"r_ny"'),
        ["missing_column", "[[force]] moment", "'r_ny'", "forces.mot", "'r_my'"],
    ),
    "columns": (('["r_mx", "r_my", "r_mz"]', '["r_mx"]'), ["bad_value", "[[force]] moment"]),
    "strength": (("[muscles]\n", "[muscles]\nstrength = -1\n"), ["bad_value", "[muscles] strength", "0"]),
    "strength by another name": (
        ("[muscles]\n", '[muscles]\nstrength = "handsfield"\n'),
        ["bad_value", "[muscles] strength", "handsfield_2014", "table"],
    ),
    "the old word for strength": (
        ("[muscles]\n", "[muscles]\nstrength_factor = 1.5\n"),
        ["unknown_key", "[muscles] strength_factor", "did you mean 'strength'"],
    ),
    "passive": (
        ('passive = "table"', "passive = true"),
        ["bad_value", "[muscles] passive", "calibrated", "none"],
    ),
    "dofs": (("[sharing]\n", "[sharing]\ndofs = 7\n"), ["bad_value", "[sharing] dofs"]),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_wrong_trial_file_is_refused_with_the_place_and_the_way_out(tmp_path: Path, name: str) -> None:
    edit, parts = REFUSALS[name]
    path = write_trial(tmp_path, edit)
    with refused(*parts, str(path), "\n  expected: ", "\n  remedy: "):
        read_trial(path)


def test_a_trial_file_that_is_missing_is_reported_with_its_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError) as refused:
        read_trial(tmp_path / "nix.toml")
    assert f"a file in {tmp_path}" in str(refused.value) and "relative" not in str(refused.value)


@pytest.mark.parametrize("name", ["result.nc", "LEG.OSIM"])
def test_a_result_and_a_model_are_no_trial_files(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x89HDF")
    with refused("bad_format", name):
        read_trial(tmp_path / name)


def test_a_trial_file_without_plates_names_the_table(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    text = path.read_text()
    path.write_text(text[: text.index("[[force]]")] + text[text.index("[muscles]") :])
    with refused("missing_key", "[[force]]"):
        read_trial(path)


def test_recordings_that_do_not_overlap_are_refused(tmp_path: Path) -> None:
    path = write_trial(tmp_path, ("[time]\nstart_s = 0.6\nend_s = 1.8\n", ""))
    table = read_mot(tmp_path / "forces.mot")
    half = table.time.size // 2  # of the same length they would begin together
    write_mot(
        tmp_path / "forces.mot", replace(table, time=table.time[:half] + 10.0, values=table.values[:half])
    )
    with refused("no_overlap", "[files] forces"):
        read_trial(path)


@pytest.mark.parametrize(
    ("lines", "method"),
    [
        ("", "harrington_2007"),
        ('hip_center_r = "RTH1"\n', "harrington_2007, mapped on the right"),
        ('hip_center_r = "RTH1"\nhip_center_l = "LTH1"\n', "mapped"),
    ],
)
def test_the_hip_method_says_what_counts(tmp_path: Path, lines: str, method: str) -> None:
    assert read_trial(write_trial(tmp_path, ("[mapping]\n", "[mapping]\n" + lines))).hip_method == method


def test_the_line_of_the_second_plate_is_found(tmp_path: Path) -> None:
    path = write_trial(tmp_path, ('force = "l_v"', 'force = "left_v"'))
    line = next(k for k, text in enumerate(path.read_text().split("\n"), start=1) if "left_v" in text)
    with refused("missing_column", f"line {line}, "):
        read_trial(path)


def test_a_plate_that_is_not_given_is_noted(tmp_path: Path) -> None:
    path = write_trial(tmp_path, ('moment = "l_m"\n', ""))
    assert any("left foot" in note and "zero" in note for note in read_trial(path).notes)
    text = path.read_text()
    start, end = text.index('[[force]]\nside = "l"'), text.index("[muscles]")
    path.write_text(text[:start] + text[end:])
    assert any("left foot" in note and "unloaded" in note for note in read_trial(path).notes)


def test_every_landmark_and_key_is_described() -> None:
    for landmark in landmarks().values():
        assert landmark.description
        assert landmark.required or landmark.without or landmark.name == "sacrum", landmark.name
        assert set(landmark.instead) <= set(landmarks())
    for table in trial_tables().values():
        for setting in table.settings.values():
            assert setting.about and setting.kind in KINDS


def test_a_trial_introduces_itself_in_a_line(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path))
    assert str(trial.path) in repr(trial)
    assert len(repr(trial)) < 150 + len(str(trial.path))


def test_what_is_no_path_is_refused() -> None:
    with refused("bad_type", "read_trial"):
        read_trial(None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "table",
    [
        {"time": {"start_s": 0.5}},
        {"subject": {"mass_kg": 100.0}},
        {"laboratory": {"forward": "-x"}},
        {"files": {"forces": "predicted"}},
        {"emg": {"lowpass_hz": 20.0}},
        {"exchanged": (ExchangedSettings(markers={"heel_r": "toe_r"}),)},
    ],
)
def test_a_setting_that_reading_has_used_up_cannot_change_any_more(table):
    with refused("conflict", next(iter(table))):
        read_trial(reference_stride()).with_settings(**table)


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ({"knee": {"contact_spacing_m": -1.0}}, "bad_number"),
        ({"filter": {"cutoff_hz": np.nan}}, "bad_number"),
        ({"consistency": {"residual": "x"}}, "bad_number"),
        ({"muscles": {"strength": np.zeros(3)}}, "bad_number"),
        ({"filter": 3}, "bad_type"),
    ],
)
def test_settings_given_in_python_are_checked_as_settings_of_a_file(table, code):
    with refused(code, f"[{next(iter(table))}]"):
        read_trial(reference_stride()).with_settings(**table)


def test_settings_that_stay_as_they_are_may_be_given_again():
    trial = read_trial(reference_stride())
    same = trial.with_settings(time=trial.settings.time, subject=trial.settings.subject, emg={"weight": 2.0})
    assert same.settings == trial.settings.changed(emg={"weight": 2.0})
