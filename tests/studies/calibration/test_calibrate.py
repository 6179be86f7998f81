"""Muscles of a person whose muscles are known, found again; what is refused; the file and the command."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from command_line import typed
from emg_stride import emg_stride
from known_person import GAIN, HEADS, known_trials, write_known_trial
from refusals import refused

import musclesolve as ms
from musclesolve._util.messages import WarningNote
from musclesolve.cli.tables.calibration_tables import calibration_lines
from musclesolve.laboratory.forces import prepare
from musclesolve.studies import calibrate_muscles
from musclesolve.studies.calibration.calibrate import _worse
from musclesolve.studies.calibration.observations import EMG, Observation

QUADRICEPS = ("vastus_medialis_r", "vastus_intermedius_r", "vastus_lateralis_r", "rectus_femoris_r")
RIGID = (
    ("optimal_fiber_length", HEADS, 1.15),
    ("tendon_slack_length", HEADS, 0.97),
    (
        "max_isometric_force",
        ("vastus_medialis_r", "vastus_intermedius_r", "vastus_lateralis_r", "rectus_femoris_r"),
        1.2,
    ),
)
FREE = {
    "optimal_fiber_length": ["gastrocnemius"],
    "tendon_slack_length": ["gastrocnemius"],
    "strength": ["quadriceps_femoris"],
}


@pytest.fixture(scope="module")
def found():
    return calibrate_muscles(known_trials("rigid", RIGID, 0.02), FREE, name="known", side="r")


def factors(done):
    return {each.name.removesuffix("_r"): each for each in done.person.parameters}


def test_muscles_behind_rigid_tendons_are_found_within_their_intervals(found):
    by_name = factors(found)
    for quantity, words, factor in (
        ("optimal_fiber_length", "gastrocnemius", 1.15),
        ("tendon_slack_length", "gastrocnemius", 0.97),
        ("max_isometric_force", "quadriceps_femoris", 1.2),
    ):
        each = by_name[f"{quantity} of {words}"]
        assert abs(np.log(each.factor / factor)) < 2.6 * each.sd
        assert each.sd < each.prior_sd
    assert by_name["tendon_slack_length of gastrocnemius"].determined
    assert by_name["tendon_slack_length of gastrocnemius"].sd < 0.01


@pytest.mark.thorough
def test_muscles_behind_elastic_tendons_are_found():
    person = (("tendon_slack_length", HEADS, 0.985), ("tendon_strain", (*HEADS, "soleus_r"), 1.3))
    free = {"tendon_slack_length": ["gastrocnemius"], "tendon_strain": ["achilles"]}
    done = calibrate_muscles(known_trials("elastic", person, 0.01), free, side="r")
    by_name = factors(done)
    for name, factor in (("tendon_slack_length of gastrocnemius", 0.985), ("tendon_strain of achilles", 1.3)):
        each = by_name[name]
        assert abs(np.log(each.factor / factor)) < 2.6 * each.sd + 0.005
        assert each.determined


def test_fit_predicts_the_trial_that_was_left_out(found):
    curves = found.found
    fascicles = curves.isel(curve=np.flatnonzero(curves["kind"].values == "fascicle length"))
    assert fascicles.sizes["curve"] == 2
    assert (fascicles["rms_predicted"] < 0.3 * fascicles["rms_before"]).all()
    assert (fascicles["rms_fitted"] < 1e-3).all()


def test_gains_of_emg_are_found(found):
    soleus = found.person.emg["channels"]["SOL"]
    assert soleus["gain"] == pytest.approx(GAIN, rel=0.1)
    assert soleus["largest"] == 1.0


def test_delay_and_shape_of_emg_have_their_standard_deviations():
    first, _ = known_trials("rigid", RIGID, 0.02)
    done = calibrate_muscles(
        [first], {"strength": ["quadriceps_femoris"], "emg_delay": [], "emg_shape": []}, side="r"
    )
    for name, value, sd in (("emg_delay", "delay_s", "delay_sd_s"), ("emg_shape", "shape", "shape_sd")):
        at = done.found.sel(parameter=name)
        assert (done.person.emg[value], done.person.emg[sd]) == (float(at["value"]), float(at["sd"]))


def test_numbers_of_emg_are_printed_with_their_standard_deviations(found):
    soleus = found.person.emg["channels"]["SOL"]
    ends = np.minimum(soleus["gain"] * np.exp(1.96 * soleus["sd"] * np.array([-1.0, 1.0])), 1.0)
    emg = found.person.emg | {"delay_s": 0.0123, "delay_sd_s": 0.004, "shape": -1.5, "shape_sd": 0.2}
    text = "\n".join(calibration_lines(replace(found.person, emg=emg), found.found, [], []))
    assert f"activation {soleus['gain']:.2f} at the largest envelope ({ends[0]:.2f} to {ends[1]:.2f})" in text
    assert "delay 0.0123, standard deviation 0.004" in text and "shape -1.5, standard deviation 0.2" in text


def test_envelopes_of_a_run_with_the_person_count_by_the_gains(found, tmp_path):
    path = tmp_path / "person.toml"
    ms.models.write_person(found.person, path)
    first, _ = known_trials("rigid", RIGID, 0.02)
    unstated = replace(first.emg, maximum=(None,) * 3)
    first = first.with_settings(muscles={"database": str(path)})
    stated = prepare(first, side="r").emg
    counted = prepare(replace(first, emg=unstated), side="r").emg
    assert counted.calibrated == counted.channels
    assert stated.calibrated == ()
    with refused("bad_units", "SOL"):
        prepare(replace(first, emg=replace(unstated, values=1e3 * unstated.values)), side="r")
    gains = [found.person.emg["channels"][name]["gain"] for name in counted.channels]
    assert counted.envelope == pytest.approx(stated.envelope * gains)
    assert any("gains" in note for note in counted.notes(counted.time))


def test_covariance_is_that_of_the_factors(found):
    covariance = found.person.covariance
    assert covariance == pytest.approx(covariance.T)
    assert np.sqrt(np.diag(covariance)) == pytest.approx([each.sd for each in found.person.parameters])


def test_file_is_read_back_and_used_as_a_muscle_set(found, tmp_path):
    path = tmp_path / "person.toml"
    ms.models.write_person(found.person, path)
    read = ms.models.read_person(path)
    assert read.parameters == found.person.parameters
    assert read.covariance == pytest.approx(found.person.covariance)


@pytest.mark.thorough
def test_profile_is_least_at_the_best_value(found):
    name = "tendon_slack_length of gastrocnemius_r"
    done = calibrate_muscles(known_trials("rigid", RIGID, 0.02), FREE, profile=name, side="r")
    squares = done.found["profile_squares"].values
    assert squares.argmin() == len(squares) // 2
    # a parabola of the posterior's width, where the problem is nearly linear
    sd = float(done.found["sd"].sel(parameter=name))
    ends = (done.found["profile"].values[[0, -1]] - float(done.found["value"].sel(parameter=name))) / sd
    assert squares[[0, -1]] == pytest.approx(ends**2, rel=0.6)


def test_one_trial_alone_says_that_nothing_was_predicted():
    first, _ = known_trials("rigid", RIGID, 0.02)
    done = calibrate_muscles([first], FREE, side="r")
    assert np.isnan(done.found["rms_predicted"]).all()
    assert any("one trial" in note for note in done.notes)


def test_trials_of_two_persons_are_refused():
    first, second = known_trials("rigid", RIGID, 0.02)
    heavier = replace(second, subject=replace(second.subject, mass=90.0))
    with refused("conflict", "mass", "90"):
        calibrate_muscles([first, heavier], FREE, side="r")
    other = "female" if second.subject.sex == "male" else "male"
    with refused("conflict", "sex", other):
        calibrate_muscles(
            [first, replace(second, subject=replace(second.subject, sex=other))], FREE, side="r"
        )


def test_trials_with_other_tendons_are_refused():
    first, second = known_trials("rigid", RIGID, 0.02)
    elastic = second.with_settings(muscles=dict(tendon="elastic"))
    with refused("conflict", "tendons"):
        calibrate_muscles([first, elastic], FREE, side="r")


def test_nothing_measured_is_refused():
    first, _ = known_trials("rigid", RIGID, 0.02)
    with refused("missing_argument", "EMG"):
        calibrate_muscles([replace(first, emg=None, fascicles=None)], side="r")
    with refused("missing_argument", "EMG"):
        calibrate_muscles([replace(first, emg=None, fascicles=None)], FREE, side="r")


def test_no_trial_and_unknown_names_are_refused():
    with refused("missing_argument", "trial"):
        calibrate_muscles([])
    first, _ = known_trials("rigid", RIGID, 0.02)
    with refused("unknown_name", "profile"):
        calibrate_muscles([first], FREE, profile="strength of nothing", side="r")
    with refused("missing_argument", "emg_delay"):
        calibrate_muscles([replace(first, emg=None)], FREE | {"emg_delay": []}, side="r")


def test_command_writes_the_muscles_and_says_what_it_found(tmp_path, monkeypatch):
    first, _ = known_trials("rigid", RIGID, 0.02)
    trial = write_known_trial(tmp_path, first)
    text = trial.read_text(encoding="utf-8")
    output = tmp_path / "person.toml"
    words = [*("calibrate", str(trial), "-o", str(output), "--side", "r")]
    done = typed(*words, "--json", "--figures", tmp_path / "figures")
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    slack = next(each for each in document["parameters"] if each["quantity"] == "tendon_slack_length")
    assert slack["factor"] == pytest.approx(0.97, abs=0.01)
    assert ms.models.read_person(output).trials
    assert {path.name.split(".")[0] for path in (tmp_path / "figures").iterdir()} == {
        "calibration",
        "calibration_factors",
        "calibration_fascicles",
    }
    monkeypatch.chdir(tmp_path)  # without -o, in the default folder
    text_of = typed("calibrate", str(trial), "--side", "r", "--profile", slack["name"])
    assert text_of.exit_code == 0, text_of.output
    assert (tmp_path / "results" / "person.toml").read_bytes()
    assert "profile" in text_of.output and slack["name"] in text_of.output
    for place, part in (
        (trial, "would be replaced"),
        (tmp_path / "no" / "p.toml", "no such folder"),
        (tmp_path / "p.osim", ".toml"),
    ):
        refusal = typed(*words[:3], place)
        assert refusal.exit_code == 2 and part in " ".join(refusal.output.split())
    refusal = typed(*words, "--osim", tmp_path / "person.xml")
    assert refusal.exit_code == 2 and ".osim" in refusal.output
    refusal = typed(*words, "--figures", trial)
    assert refusal.exit_code == 2
    assert trial.read_text(encoding="utf-8") == text


def test_command_names_a_missing_trial_and_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refusal = typed("calibrate", "missing.toml")
    assert refusal.exit_code == 2
    assert "missing.toml" in refusal.output and "no such folder" not in refusal.output
    assert list(tmp_path.iterdir()) == []


def test_trials_with_other_settings_of_muscles_are_refused():
    first, second = known_trials("rigid", RIGID, 0.02)
    for key, value, part in (
        ("passive", "table", "passive"),
        ("strength", 2.0, "strength"),
        ("curves", "millard_2013", "curves"),
    ):
        other = second.with_settings(muscles=dict(**{key: value}))
        with refused("conflict", part):
            calibrate_muscles([first, other], FREE, side="r")


def test_a_trial_given_twice_is_refused():
    first, _ = known_trials("rigid", RIGID, 0.02)
    with refused("duplicate_name", "twice"):
        calibrate_muscles([first, first], FREE, side="r")


def test_a_channel_of_other_muscles_in_another_trial_is_refused():
    first, second = known_trials("rigid", RIGID, 0.02)
    emg = replace(second.emg, muscles=(second.emg.muscles[1], second.emg.muscles[0], second.emg.muscles[2]))
    with refused("conflict", "SOL", "vastus_lateralis_r"):
        calibrate_muscles([first, replace(second, emg=emg)], FREE, side="r")


def test_a_strength_test_alone_is_fitted_and_a_contradicted_one_is_pointed_out(tmp_path):
    first, _ = known_trials("rigid", RIGID, 0.02)
    bare = replace(first, emg=None, fascicles=None)
    test = '[[test]]\ndof = "knee_flexion_r"\nangles_deg = {{ knee_flexion_r = 60 }}\nmoment_N_m = {}\nerror_N_m = 5\n'
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text(test.format(-250), encoding="utf-8")
    two.write_text(test.format(-250) + test.format(-150), encoding="utf-8")
    done = calibrate_muscles([bare], strength=one, side="r")
    (curve,) = [done.found.isel(curve=k) for k in range(done.found.sizes["curve"])]
    assert float(curve["rms_fitted"]) < 10.0 < float(curve["rms_before"])
    assert not any("contradicts" in note for note in done.notes)
    both = calibrate_muscles([bare], strength=two, side="r")
    assert sum("contradicts" in note for note in both.notes) == 2


def test_trials_that_use_the_muscles_of_a_person_are_refused(found, tmp_path):
    path = tmp_path / "person.toml"
    ms.models.write_person(found.person, path)
    first, _ = known_trials("rigid", RIGID, 0.02)
    with refused("conflict", "gait2392"):
        calibrate_muscles([first.with_settings(muscles=dict(database=str(path)))], FREE, side="r")


def late(trial, shift):
    """The trial with EMG that is some seconds late, and longer than the motion by half a second on either side."""
    emg = trial.emg
    step = float(np.median(np.diff(emg.time)))
    extra = round(0.5 / step)
    # the stride goes on before and after as it was: without repetition no envelope would be known there
    values = np.concatenate([emg.values[-extra - 1 : -1], emg.values, emg.values[1 : extra + 1]])
    time = emg.time[0] + shift + step * (np.arange(len(values)) - extra)
    return replace(trial, emg=replace(emg, time=time, values=values))


STRENGTHS = {"strength": ["quadriceps_femoris", "triceps_surae", "hamstrings"]}


@pytest.mark.parametrize("shift", [0.2, -0.2])
def test_emg_of_another_clock_is_refused_with_its_offset(shift):
    with refused("conflict", "[emg] offset_s") as raised:
        calibrate_muscles([late(emg_stride(0.01).trial, shift)], STRENGTHS, side="r")
    offset = float(str(raised.value).split("write offset_s = ")[1].split()[0])
    assert offset == pytest.approx(-shift, abs=0.03)


def test_emg_of_the_clock_of_the_motion_is_no_warning():
    done = calibrate_muscles([late(emg_stride(0.01).trial, 0.0)], STRENGTHS, side="r")
    assert not any(isinstance(note, WarningNote) for note in done.notes)


def test_an_offset_that_channels_disagree_about_is_a_warning():
    """Muscles that contract against each other: the mean agrees best elsewhere, its interval says nothing."""
    done = calibrate_muscles([late(emg_stride().trial, 0.2)], STRENGTHS, side="r")
    assert any(isinstance(note, WarningNote) and "offset_s = -0.2" in note for note in done.notes)


def test_a_fit_that_is_worse_is_said_by_channel():
    time = np.linspace(0.0, 1.0, 50)
    measured = np.sin(np.pi * time)

    def curve(label, error):
        wave = error * np.cos(6.0 * np.pi * time)
        return Observation(EMG, label, "trial", time, measured + wave, measured, np.zeros((50, 0)))

    before = [curve("SOL", 0.1), curve("TA", 0.1)]
    (said,) = _worse(before, [curve("SOL", 0.3), curve("TA", 0.08)], [])
    assert "SOL" in said and "TA" not in said
    assert not list(_worse(before, [curve("SOL", 0.05), curve("TA", 0.08)], []))
