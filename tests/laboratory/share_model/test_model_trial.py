"""Trial files of OpenSim models: what works on a recording works on them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from small_model import TEXT
from small_model_motion import DOFS, TIME, save_inputs

import musclesolve as ms
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.trial.trial_file import ModelTrial
from musclesolve.studies.calibration.cost_from_emg import emg_parts
from musclesolve.studies.many_trials.one_trial import Job, attempt
from musclesolve.tables import Table, write_mot

SHARED = f"[sharing]\ndofs = {list(DOFS)}\n"
CHANNELS = '[emg]\nfile = "emg.sto"\nprocessed = true\n[emg.channels]\nONE = "one_r"\n'


@pytest.fixture
def folder(small, tmp_path: Path) -> Path:
    """Model, coordinates and moments side by side."""
    (tmp_path / "leg.osim").write_text(TEXT, encoding="utf-8")
    save_inputs(tmp_path, small)
    return tmp_path


def trial(folder: Path, further: str = SHARED, files: str = "") -> Path:
    """A trial file in the folder."""
    named = files or 'model = "leg.osim"\ncoordinates = "ik.mot"\nmoments = "id.sto"\n'
    path = folder / "trial.toml"
    path.write_text(f"[files]\n{named}{further}", encoding="utf-8")
    return path


def test_a_trial_file_gives_what_its_files_give(folder: Path) -> None:
    loaded = ms.read_trial(trial(folder))
    assert isinstance(loaded, ModelTrial) and "leg.osim" in repr(loaded)
    result = ms.run(loaded, cost="activation_power")
    expected = ms.share_model(
        folder / "leg.osim", folder / "ik.mot", folder / "id.sto", "activation_power", dofs=DOFS
    )
    for name in ("activation", "muscle_force", "joint_moment", "moment_arm", "status"):
        np.testing.assert_array_equal(result[name], expected[name])
    assert Path(result.attrs["trial_file"]).name == "trial.toml"
    assert [line.split()[0] for line in result.attrs["inputs"]] == [
        "trial",
        "model",
        "coordinates",
        "moments",
    ]


def test_costs_are_compared(folder: Path) -> None:
    found = ms.compare(trial(folder), ["activation_power", "force_squared"])
    assert found["activation"].dims == ("cost", "time", "muscle")
    assert found.attrs["cost"] == "activation_power, force_squared"
    each = ms.run(trial(folder), cost="force_squared")
    np.testing.assert_array_equal(found["activation"].sel(cost="force_squared"), each["activation"])


def test_many_trials_of_models_and_kept_results(folder: Path) -> None:
    job = Job("walk", trial(folder), folder / "out", {}, figures=False)
    assert [attempt(job).outcome.value for _ in range(2)] == ["computed", "unchanged"]
    (folder / "id.sto").write_text((folder / "id.sto").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    assert attempt(job).outcome.value == "computed"


def save_emg(folder: Path, shift: float = 0.0) -> None:
    envelope = 0.2 + 0.1 * np.sin(2.0 * np.pi * TIME)
    path = folder / "emg.sto"
    write_mot(path, Table(TIME + shift, ("ONE",), envelope[:, None], False, path))


def test_emg_is_followed_and_compared(folder: Path) -> None:
    save_emg(folder)
    body = prepare(trial(folder, SHARED + CHANNELS), cost="emg_tracking")
    assert body.emg is not None and [part.emg is not None for part in body.parts] == [True, True]
    result = ms.run(trial(folder, SHARED + CHANNELS), cost="emg_tracking")
    assert result["emg"].dims == ("time", "channel") and result["channel"].values.tolist() == ["ONE"]
    assert np.isfinite(result["measured_activation"].sel(muscle="one_r")).any()
    assert np.isnan(result["measured_activation"].sel(muscle="two_r")).all()
    with refused("missing_argument", "emg_tracking", "EMG"):
        ms.run(trial(folder), cost="emg_tracking")


def test_a_cost_is_fitted_to_the_emg_of_a_model(folder: Path) -> None:
    """A model has no gait: no stride is left out."""
    save_emg(folder)
    path = trial(folder, SHARED + CHANNELS)
    (part,) = emg_parts([path])
    assert part.side == "r" and list(part.channels.items()) == [("ONE", ("one_r",))]
    assert np.isfinite(part.emg).any() and np.isnan(part.stride).all()
    (same,) = emg_parts(ms.read_trial(path))  # one trial stands for itself
    np.testing.assert_array_equal(same.emg, part.emg)


def test_emg_informs_the_sharing_of_a_model(folder: Path) -> None:
    save_emg(folder)
    weighted = SHARED + CHANNELS.replace("processed = true\n", "processed = true\nweight = 5.0\n")
    plain, informed = ms.run(trial(folder, SHARED + CHANNELS)), ms.run(trial(folder, weighted))
    assert informed.attrs["emg_weight"] == 5.0 and "emg_predicted" in informed
    distance = [
        float(np.square(each.activation - each.measured_activation).sum()) for each in (plain, informed)
    ]
    assert distance[1] < distance[0]
    produced = (informed.moment_arm * informed.muscle_force).sum("muscle") + informed.reserve_moment
    shared = list(np.atleast_1d(informed.attrs["shared_dofs"]))
    np.testing.assert_allclose(produced.sel(dof=shared), informed.joint_moment.sel(dof=shared), atol=1e-6)
    np.testing.assert_allclose(informed.emg_predicted[:, 0], plain.activation.sel(muscle="one_r"), atol=1e-6)
    unweighted = ms.run(trial(folder, weighted), emg_weight=0.0)
    np.testing.assert_array_equal(unweighted.activation, plain.activation)
    with refused("conflict", "[emg] weight", "emg_tracking"):
        ms.run(trial(folder, weighted), cost="emg_tracking")
    with refused("missing_key", "[emg]"):
        ms.run(trial(folder), emg_weight=1.0)


@pytest.mark.parametrize(
    ("further", "files", "code", "parts"),
    [
        ("[muscles]\npassive = 'calibrated'\n", "", "bad_value", ["line 6", "[muscles] passive"]),
        ("[sharing]\ncost = 'forc_squared'\n", "", "unknown_name", ["[sharing] cost", "force_squared"]),
        (SHARED + "[plates]\nfeet = 'nearest'\n", "", "conflict", ["[plates] feet", "loads"]),
        ("[plates]\nfeet = 'left'\n", "", "bad_value", ["[plates] feet", "nearest"]),
        ("[sharing]\nwithout = ['ankel_a_r']\n", "", "unknown_name", ["[sharing] without", "ankle_a_r"]),
        (SHARED + "without = ['ankle_a_r']\n", "", "conflict", ["[sharing] without", "ankle_a_r"]),
        ("[markers]\nset = 'x'\n", "", "unknown_key", ["markers"]),
        ("[muscles]\ntendon_strain = 0.05\n", "", "conflict", ["tendon_strain", "rigid"]),
        (SHARED, 'model = "leg.osim"\ncoordinates = "ik.mot"\n', "missing_key", ["neither", "loads"]),
        (
            SHARED,
            'model = "leg.osim"\ncoordinates = "ik.mot"\nmoments = "id.sto"\nloads = "predicted"\n',
            "conflict",
            ["both"],
        ),
        (
            SHARED,
            'model = "no.osim"\ncoordinates = "ik.mot"\nmoments = "id.sto"\n',
            "missing_file",
            ["no.osim"],
        ),
        ("[time]\nstart_s = 0.6\nend_s = 0.5\n", "", "bad_range", ["[time] end_s", "0.6"]),
        ("[sharing]\ndofs = ['hip_z_r']\n", "", "unknown_name", ["[sharing] dofs", "hip_z_r"]),
        ("[muscles]\nnames = ['nine_r']\n", "", "unknown_name", ["[muscles] names", "nine_r"]),
        (SHARED + "cost = 'joint_reaction_squared'\n", "", "missing_argument", ["[sharing] cost", "loads"]),
        ("[subject]\n", 'markers = "a.trc"\nmodel = "leg.osim"\n', "conflict", ["markers", "model"]),
        ("", 'coordinates = "ik.mot"\nmoments = "id.sto"\n', "missing_key", ["'model'"]),
        (SHARED + CHANNELS.replace("one_r", "nine_r"), "", "unknown_name", ["nine_r", "[emg.channels] ONE"]),
    ],
)
def test_what_is_wrong_is_refused_at_its_place(
    folder: Path, further: str, files: str, code: str, parts: list[str]
) -> None:
    save_emg(folder)
    with refused(code, "trial.toml", *parts):
        ms.run(trial(folder, further, files))


def test_studies_of_recordings_say_what_they_need(folder: Path) -> None:
    with refused("unsupported", "trial.toml", "[files] model", "markers"):
        ms.studies.force_sensitivity(trial(folder))


def test_check_says_whether_a_trial_of_a_model_can_be_analyzed(folder: Path) -> None:
    findings = ms.check(trial(folder)).findings
    # the jump of a path changes forces by less than a tenth of a maximum isometric force: a note
    assert {each.code for each in findings if each.severity != "note"} == set()
    notes = [finding.what for finding in findings if finding.severity == "note"]
    assert sorted(notes) == sorted(ms.run(trial(folder)).attrs["notes"])
    (finding,) = ms.check(trial(folder, "[sharing]\ncost = 'x'\n")).findings
    assert finding.severity == "error"


def test_its_uncertainty_has_the_deviations_of_the_trial_file(folder: Path) -> None:
    stated = trial(folder, SHARED + "[uncertainty]\njoint_angle_deg = 0\njoint_moment = 0.05\n")
    found = ms.studies.uncertainty(stated, 2, jobs=1, contributions=False)
    assert (found["joint_angle_sd"] == 0.0).all()
    assert float(found["standard_deviation"].sel(source="joint_moment")) == 0.05
    assert "contact_force" not in found
    with refused("conflict", "line 8", "[uncertainty] hip_center_mm", "joint_moment"):
        ms.read_trial(trial(folder, SHARED + "[uncertainty]\nhip_center_mm = 3\n"))


LENGTHS = '[fascicle]\nfile = "us.csv"\nunit = "mm"\n[fascicle.channels]\nONE = "one_r"\n'


def save_lengths(folder: Path, shift: float = 0.0) -> np.ndarray:
    length = 60.0 + 10.0 * np.sin(2.0 * np.pi * TIME)
    rows = [f"{t + shift:.6f},{each:.6f}" for t, each in zip(TIME, length, strict=True)]
    (folder / "us.csv").write_text("\n".join(["time,ONE", *rows]), encoding="utf-8")
    return 0.001 * length


def test_measured_fascicle_lengths_of_a_model(folder: Path) -> None:
    length = save_lengths(folder)
    body = prepare(trial(folder, SHARED + LENGTHS))
    assert body.fascicles is not None and body.fascicles.muscles == ("one_r",)
    np.testing.assert_allclose(body.fascicles.at(TIME)[:, 0], length, atol=1e-8)
    assert prepare(trial(folder)).fascicles is None
    save_lengths(folder, shift=60.0)
    with refused("no_overlap", "[fascicle] file", "offset_s"):
        prepare(trial(folder, SHARED + LENGTHS))
    with refused("unknown_name", "[fascicle.channels] ONE", "leg.osim"):
        prepare(trial(folder, SHARED + LENGTHS.replace("one_r", "none_r")))


def test_a_residual_without_loads_is_not_reduced(folder: Path) -> None:
    with refused("dynamics.residual_of_predicted_forces", "residual"):
        ms.run(trial(folder), residual="reduced")
    with refused("dynamics.residual_of_predicted_forces", "[consistency] residual"):
        ms.run(trial(folder, SHARED + '\n[consistency]\nresidual = "reduced"\n'))
