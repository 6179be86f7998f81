"""The figures of the source: the page states every one, what they measure is right, bad input leaves nothing."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.thesis_figures.__main__ import main
from benchmarks.thesis_figures.carpet_plots import LENGTH, VELOCITY, surface
from benchmarks.thesis_figures.consistency import support
from benchmarks.thesis_figures.digitization import analysis, points
from benchmarks.thesis_figures.figure_registry import FIGURES
from benchmarks.thesis_figures.hof_1992 import terms_of
from benchmarks.thesis_figures.knee_acceleration import SPARSE, motions
from benchmarks.thesis_figures.muscle_names import bursts_of, groups_of_source, over_cycle, within
from benchmarks.thesis_figures.optimizers import answers
from benchmarks.thesis_figures.perturbation import mass_of, mechanics_by, on_branch, sensitivity
from benchmarks.thesis_figures.routes_overlaid import by_route
from benchmarks.thesis_figures.sensitivities import SOURCES
from benchmarks.thesis_figures.stick_figure import paths_in_space
from benchmarks.thesis_figures.study import SAGITTAL, Study
from benchmarks.thesis_figures.twitches import PEAK, RATES, summed, sustained, twitch
from musclesolve.data import reference_stride
from musclesolve.dynamics import Sensitivity, Targets, segment_motion
from musclesolve.laboratory.motion.signals.filter_choice import CutoffVerdict

PAGE = (Path(__file__).parents[2] / "docs" / "thesis_figures.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def study() -> Study:
    return Study(reference_stride())


def test_every_figure_is_stated() -> None:
    """The page has a row for each figure that can be drawn."""
    rows = re.findall(r"^\| ([\d., ]+)", PAGE, flags=re.MULTILINE)
    assert set(FIGURES) <= {number for row in rows for number in re.findall(r"\d+\.\d+", row)}


def test_the_command_writes_pictures_and_index(tmp_path) -> None:
    assert main(["-o", str(tmp_path / "new"), "--figure", "6.13", "6.12"]) == 0
    written = sorted(path.name for path in (tmp_path / "new").iterdir() if not path.name.startswith("."))
    assert written == ["figure_6_12.png", "figure_6_13.png", "thesis_figures.md"]
    assert (tmp_path / "new" / "figure_6_12.png").read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "new" / "thesis_figures.md").read_text(encoding="utf-8").splitlines()
    assert [row.split()[1] for row in rows if row.startswith("| 6")] == ["6.12", "6.13"]


@pytest.mark.parametrize(
    "given, named",
    [(["--figure", "6.11"], "6.11"), (["--trial", "nowhere.toml", "--figure", "6.15"], "nowhere")],
)
def test_bad_input_is_one_message_and_no_file(tmp_path, capsys, given, named) -> None:
    assert main(["-o", str(tmp_path / "out"), *given]) == 2
    assert named in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_carpet_is_a_product_over_a_curve_of_length() -> None:
    contractile, total = surface(1.0, passive=False), surface(1.0, passive=True)
    assert np.linalg.matrix_rank(contractile, 1e-12) == 1
    assert np.ptp(total - contractile, axis=1).max() < 1e-12
    np.testing.assert_allclose(surface(0.5, passive=False), 0.5 * contractile, atol=1e-15)
    assert not contractile[:, VELOCITY <= -1.0].any()
    still, rest = int(np.abs(VELOCITY).argmin()), int(np.abs(LENGTH - 0.94).argmin())
    assert contractile[rest, still] == pytest.approx(1.0, abs=1e-3)


def test_a_burst_may_run_through_heel_strike() -> None:
    percent = np.array([50.0, 60.0, 95.0, 5.0, 20.0])
    assert within(percent, [(56.0, 13.0)]).tolist() == [False, True, True, True, False]
    assert within(percent, [(56.0, 13.0)], 10.0).tolist() == [True] * 5
    assert bursts_of("soleus") == [(7.0, 51.0)] and not bursts_of("quadratus_femoris")


def test_names_of_the_source_are_muscles_of_the_set(study) -> None:
    known, tables = list(over_cycle(study, "activation")), groups_of_source()
    for entry in (*tables["group"].values(), *tables["claim"]):
        assert all(any(name.startswith(each) for name in known) for each in entry["muscles"])
    assert len(tables["group"]) == 8


def test_extensors_support() -> None:
    moments = {"hip": np.array([-10.0]), "knee": np.array([-20.0]), "ankle": np.array([-5.0])}
    assert support(moments) == pytest.approx([35.0])


def test_differences_are_the_derivatives(study) -> None:
    """Masses and points of application enter linearly, measured points to first order."""
    recorded = mechanics_by(study, "nearest")
    model, motion, joints = recorded.model, recorded.motion, recorded.model.tree.joint_count
    by_mass = Sensitivity.by_mass(model, motion, segment_motion(model, motion))
    exact = {
        "5.46": by_mass.values[:, :joints, by_mass.sources.index("shank_r")],
        "5.39": Sensitivity.by_point(model, motion, recorded.wrenches[0]).values[:, :joints, 0],
    }
    for number, values in exact.items():
        found = sensitivity(study, SOURCES[number][0], "nearest", 0.1)
        np.testing.assert_allclose(found, study.of_cycle(values), atol=1e-9)
    targets = Targets.build(model, recorded.measured.points, recorded.measured.directions)
    keep = study.trial.inside(recorded.measured.time, *study.trial.time_range)
    points = Sensitivity.by_landmark(
        model, recorded.measured.time, targets, recorded.wrenches, ["knee_r"], keep
    )
    found = sensitivity(study, SOURCES["5.42"][0], "nearest", 1e-5)
    np.testing.assert_allclose(found, study.of_cycle(points.values[:, :joints, 0]), atol=0.1)


def test_a_knee_beside_its_place_moves_the_ankle_twice_as_far(study) -> None:
    """Driven by joint angles, a hinge cannot bend sideways: twice the vertical force (5.43 beside 5.39)."""
    inversion = mechanics_by(study, "nearest").model.dof("ankle_inversion_r")
    force = np.abs(sensitivity(study, SOURCES["5.39"][0], "nearest", 0.01)).max()
    driven, nearest = (
        np.abs(sensitivity(study, SOURCES["5.43"][0], method, 0.001)[:, inversion]).max()
        for method in ("joint_angles", "nearest")
    )
    assert driven / force == pytest.approx(2.0, abs=0.1)
    assert nearest < 0.2 * driven


def test_joint_angles_keep_errors_in_their_branch(study) -> None:
    source = SOURCES["5.33"][0]
    others = ~on_branch(study, source)
    driven, nearest = (
        np.abs(sensitivity(study, source, method, 0.01)) for method in ("joint_angles", "nearest")
    )
    assert driven[:, others].max() < 1e-6 * driven.max()
    assert nearest[:, others].max() > 0.5 * nearest.max()


def test_terms_of_hof_add_up_to_the_moment(study) -> None:
    """The four terms about the axis of each joint are the joint moment by another route."""
    found = study.moments(study.recorded)
    for joint in SAGITTAL:
        whole = np.sum(list(terms_of(study, joint).values()), axis=0)
        np.testing.assert_allclose(whole, found[joint], atol=1e-9)


def test_splines_through_consistent_points_miss_the_acceleration_equations(study) -> None:
    """Consistent derivatives meet them to round-off; splines do not, the less so with fewer frames (1998, 8 and 9)."""
    rows = study.by_method["nearest"].model.constraints
    missed = {
        (every, name): float(np.abs(rows.rate_violation(motion.q, motion.qd, motion.qdd)[1]).max())
        for every in (1, SPARSE)
        for name, motion in motions(study, every).items()
    }
    assert max(missed[every, "consistent"] for every in (1, SPARSE)) < 1e-9
    assert 0.1 < missed[1, "splines"] < 0.3 * missed[SPARSE, "splines"]


def test_optimizers_of_the_source_meet_the_moments_and_the_optimum(study) -> None:
    """SQP to its end gives the optimum; stopped early it meets the moments at other forces and a higher cost."""
    _, optimum, found = answers(study, "SQP", "SQP, stopped early")
    ended, early = found["SQP"], found["SQP, stopped early"]
    assert 50 < np.isfinite(optimum[:, 0]).sum() < 66
    assert ended.off < 0.01 < 1.0 < early.off
    assert max(ended.miss, early.miss) < 1e-3
    assert -1e-9 < ended.excess < 1e-6 < 1e-3 < early.excess


def test_noise_that_residual_analysis_finds_is_the_planted_one(study) -> None:
    """The median noise of all points agrees to a tenth; two markers of a joint have less by the square root of two."""
    found, by = points(study), analysis(study)
    seen = by.verdict == CutoffVerdict.FOUND
    assert seen.mean() > 0.8
    np.testing.assert_allclose(np.median((by.noise / found.planted)[seen]), 1.0, atol=0.1)
    ankle, heel = (found.planted[found.names.index(name)] for name in ("ankle_r", "heel_r"))
    np.testing.assert_allclose(heel, [0.007, 0.003, 0.0033], rtol=0.2)
    np.testing.assert_allclose(ankle, heel / np.sqrt(2.0), rtol=0.3)
    # the line meets the axis at the noise
    slope = (by.line[-1] - by.line[0]) / (by.frequency_hz[-1] - by.frequency_hz[0])
    np.testing.assert_allclose((by.line[0] - slope * by.frequency_hz[0])[seen], by.noise[seen], atol=1e-12)


def test_multibody_and_classical_moments_lie_on_each_other(study) -> None:
    one, other = by_route(study).values()
    assert np.abs(one - other).max() < 1e-12 * np.abs(one).max() and np.abs(one).max() > 100.0


def test_the_mass_of_the_lower_torso_changes_no_joint_moment(study) -> None:
    """5.5.2: it hangs on the base alone; the mass of a thigh does change some."""
    torso, thigh = (mass_of(segment, segment) for segment in ("lower_torso", "thigh_r"))
    assert np.abs(sensitivity(study, torso, "nearest", 1.0)).max() < 1e-9
    assert np.abs(sensitivity(study, thigh, "nearest", 1.0)).max() > 1.0


@pytest.mark.parametrize("rate", RATES)
def test_twitches_add_up_to_the_closed_form(rate) -> None:
    """After many stimuli the sum is F(s), whose mean is e f T; one twitch has its peak 1 at T."""
    since = np.linspace(1e-9, 0.999 / rate, 50)
    np.testing.assert_allclose(
        summed(40.0 / rate + since, rate), sustained(since, rate), rtol=1e-5, atol=1e-9
    )
    whole = np.linspace(0.0, 1.0 / rate, 20_001)
    mean = np.trapezoid(sustained(whole, rate), whole) * rate
    assert mean == pytest.approx(np.e * rate * PEAK, rel=1e-6)
    assert twitch(PEAK) == pytest.approx(1.0) and twitch(np.linspace(0.0, 1.0, 1001)).max() <= 1.0


def test_the_stick_figure_has_every_muscle_as_long_as_the_result(study) -> None:
    bones, paths = paths_in_space(study, frame := int(study.cycle.index[0]))
    lengths = [np.linalg.norm(np.diff(points, axis=0), axis=1).sum() for points in paths.values()]
    np.testing.assert_allclose(lengths, study.result["musculotendon_length"].values[frame], atol=1e-9)
    assert len(paths) == 43 and len(bones) > 33
