"""Arms in studies and averages: models without legs have cycles that are stated, and no hip, knee or ankle."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from command_line import typed
from forearm_model import MODEL, MUSCLE

import musclesolve as ms
from musclesolve.studies.benchmark import benchmark
from musclesolve.studies.compare_results import compare_results_into, peak_rows
from musclesolve.tables import Table

TIME = np.linspace(0.0, 1.0, 51)


def flexion(amplitude: float) -> np.ndarray:
    return 0.6 + amplitude * np.sin(4.0 * np.pi * TIME)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arms")
    muscles = MUSCLE.format(name="biceps", x=0.04) + MUSCLE.format(name="triceps", x=-0.02)
    for subject, amplitude in (("A", 0.1), ("B", 0.12)):
        home = folder / subject
        home.mkdir()
        (home / "arm.osim").write_text(MODEL.format(muscles=muscles), encoding="utf-8")
        table = Table(TIME, ("flexion",), np.degrees(flexion(amplitude))[:, None], True, Path())
        ms.tables.write_mot(home / "ik.mot", table)
        (home / "curl.toml").write_text(
            '[files]\nmodel = "arm.osim"\ncoordinates = "ik.mot"\nloads = "none"\n'
            '[time]\ncycles_s = [[0.0, 0.5], [0.5, 1.0]]\n[filter]\ncutoff_hz = "none"\n',
            encoding="utf-8",
        )
    return folder


def test_a_study_of_arms_has_their_curves(folder: Path) -> None:
    drafted = typed("init", "--study", folder)
    assert drafted.exit_code == 0, drafted.output
    table = (folder / "trials.csv").read_text(encoding="utf-8")
    assert "mass_kg" not in table and "sex" not in table  # the mass of an arm is not the mass of a person
    wants = typed("study", folder / "study.toml", "-o", folder / "out")
    assert '[units] moment = "N m"' in " ".join(wants.output.split())
    study = folder / "study.toml"
    units = '\n[units]\nmoment = "N m"\npower = "W"\nforce = "N"\n'
    study.write_text(study.read_text(encoding="utf-8") + units, encoding="utf-8")
    done = typed("study", study, "-o", folder / "out")
    assert done.exit_code == 0, done.output
    cycles = ms.studies.open_study(folder / "out")
    assert cycles.sizes["cycle"] == 4 and set(cycles["cycle_side"].values.tolist()) == {"other"}
    at = cycles["percent"].values / 200.0
    for subject, amplitude in (("A", 0.1), ("B", 0.12)):
        angle = cycles["joint_angle"].values[cycles["subject"].values == subject][:, :, 0]
        expected = np.degrees(0.6 + amplitude * np.sin(4.0 * np.pi * at))
        np.testing.assert_allclose(angle, np.tile(expected, (2, 1)), atol=0.05)
    page = (folder / "out" / "study.html").read_text(encoding="utf-8")
    assert (
        "Frames by verdict" in page and "hip" not in page.partition("Every trial")[2].partition("</table>")[0]
    )


def test_an_average_of_arms_has_no_strides(folder: Path, tmp_path: Path) -> None:
    trials = [folder / subject / "curl.toml" for subject in "AB"]
    done = typed("run", *trials, "-o", tmp_path)
    assert done.exit_code in (0, 3) and "hip" not in done.output, done.output
    results = sorted(tmp_path.glob("*/result.nc"))
    averaged = typed(
        "average",
        *results,
        "--unit",
        "moment=N m",
        "--unit",
        "force=N",
        "--unit",
        "power=W",
        "-o",
        tmp_path / "mean",
    )
    assert averaged.exit_code == 0, averaged.output
    assert "strides" not in averaged.output and "cadence" not in averaged.output
    assert re.search(r"cycle time \[s\].* 0\.500 \(0\.000\)", averaged.output), averaged.output
    mean = ms.read_result(tmp_path / "mean" / "average.nc")
    np.testing.assert_allclose(mean["cycles"].values, 4)
    measures = ms.laboratory.cycles(ms.read_result(results[0]), "other")
    np.testing.assert_allclose(measures["cycle_time"], 0.5)
    assert "cadence" not in measures


def test_an_arm_without_stated_cycles_has_none(folder: Path, tmp_path: Path) -> None:
    trial = folder / "A" / "curl.toml"
    free = trial.with_name("free.toml")
    free.write_text(re.sub(r"\[time\]\n.*\n", "", trial.read_text(encoding="utf-8")), encoding="utf-8")
    assert typed("run", free, "-o", tmp_path).exit_code == 0
    refused = typed("average", tmp_path / "result.nc", "-o", tmp_path / "mean")
    assert refused.exit_code == 2 and "cycles_s" in refused.output and "gait" not in refused.output
    assert "partial" not in refused.output and "heel" not in refused.output  # they give an arm no cycles
    free.unlink()


def test_uncertainty_of_an_arm_is_computed_side_by_side(folder: Path, tmp_path: Path) -> None:
    done = typed("run", folder / "A" / "curl.toml", "--uncertainty", 20, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    spread = ms.read_result(tmp_path / "out" / "uncertainty.nc")["muscle_force_sd"]
    assert 0.0 < float(spread.sel(muscle="biceps").max()) < 50.0


def test_solvers_are_measured_on_an_arm(folder: Path) -> None:
    report = benchmark.benchmark(folder / "A" / "curl.toml", 4, ("activation_power",), ("batch",))
    assert report.rows[0].solved == report.rows[0].frames == 4


def study_of(place: Path, columns: str, *lines: str) -> Path:
    """The file of a study, with a line for each trial in its table."""
    (place / "trials.csv").write_text("\n".join([f"name,subject,{columns}", *lines]), encoding="utf-8")
    units = '[units]\nmoment = "N m"\npower = "W"\nforce = "N"\n'
    study = place / "study.toml"
    study.write_text(f'trials = "trials.csv"\n{units}', encoding="utf-8")
    return study


def test_a_trial_with_a_wrong_cell_is_refused_and_not_excluded(folder: Path, tmp_path: Path) -> None:
    lines = [
        f"{name},{name},{folder / name / 'curl.toml'},{side}" for name, side in (("A", "left"), ("B", ""))
    ]
    done = typed("study", study_of(tmp_path, "file,side", *lines), "-o", tmp_path / "out")
    assert done.exit_code == 3 and re.search(r"trials +2: 1 computed, 1 refused\n", done.output), done.output
    page = (tmp_path / "out" / "study.html").read_text(encoding="utf-8")
    assert "1 of 2 trials with a result, 1 without one" in page
    study = study_of(tmp_path, "file,side,exclude", *lines, "C,C,c.toml,,the arm was tired")
    counts = json.loads(typed("study", study, "-o", tmp_path / "out", "--json").stdout)["counts"]
    assert {name for name, count in counts.items() if count} == {"refused", "unchanged", "excluded"}


def test_cycles_that_overlap_are_refused(folder: Path, tmp_path: Path) -> None:
    """Frames in two cycles would count twice."""
    lines = [
        f'{name},{name},{folder / name / "curl.toml"},"[[0.0, 0.5], [{start}, 1.0]]"'
        for name, start in (("A", 0.25), ("B", 0.5))
    ]
    done = typed("study", study_of(tmp_path, "file,cycles_s", *lines), "-o", tmp_path / "out")
    said = " ".join(done.output.split())
    assert "line 2, column 'cycles_s': the cell has ranges that overlap: [0.0, 0.5] and [0.25, 1.0]" in said
    assert "such as [[0.4, 1.5], [1.5, 2.6]]" in said and "line 3" not in said
    inputs = folder / "A" / "arm.osim", folder / "A" / "ik.mot"
    with pytest.raises(ms.InputError, match="ranges that overlap"):
        ms.share_model(*inputs, loads="none", cycles_s=[[0.5, 1.0], [0.0, 0.6]])


def test_the_remedy_for_a_trial_without_cycles_works(folder: Path, tmp_path: Path) -> None:
    """A wider range gives an arm no cycles; a stated cycle that is not used is named."""
    files = ",".join(str(folder / "A" / name) for name in ("arm.osim", "ik.mot"))
    columns = "model,coordinates,loads,cycles_s"
    lines = [
        f"{name},S,{files},none,{cycles}" for name, cycles in (("a", ""), ("b", '"[[0, 0.5], [0.6, 9]]"'))
    ]
    done = typed("study", study_of(tmp_path, columns, *lines), "-o", tmp_path / "out")
    said = re.sub(r"\s+", " ", done.output)
    why = "a: without legs only cycles that are stated are known; state cycles within its frames in the column cycles_s"
    assert why in said and "widen" not in said
    assert "stated cycles that are left out: b: 0.600 to 9.000 s: the frames cover" in said
    stated = [line.replace("none,", 'none,"[[0, 0.5]]"') if line.endswith(",") else line for line in lines]
    done = typed("study", study_of(tmp_path, columns, *stated), "-o", tmp_path / "out")
    assert "not averaged" not in done.output and "cycles 2 of 1 subject" in re.sub(r"\s+", " ", done.output)


def test_a_fault_is_named_where_the_user_states_it(folder: Path, tmp_path: Path) -> None:
    """In the table, the study file or the trial's own file, never in the trial file that the study writes."""
    own = tmp_path / "own.toml"
    files = f'[files]\nmodel = "{folder}/A/arm.osim"\ncoordinates = "{folder}/A/ik.mot"\nloads = "none"\n'
    own.write_text(f"{files}[time]\ncycles_s = [[0.5, 0.4]]\n", encoding="utf-8")
    lines = (
        'a,S,own.toml,0.8,0.2,"[[0, 1]]",',
        "b,S,own.toml,,,,",
        'c,S,own.toml,,,"[[0, 1]]",',
        """d,S,own.toml,,,"[[0, 1]]","['nobody']\"""",
    )
    study = study_of(tmp_path, "file,start_s,end_s,cycles_s,settings.muscles.names", *lines)
    with study.open("a", encoding="utf-8") as file:
        file.write("[settings.muscles]\nnames = ['no one']\n")
    done = typed("study", study, "-o", tmp_path / "out")
    said = re.sub(r"\s+", " ", done.output)
    assert done.exit_code == 2 and "settings.mapping" not in said
    for name, place in {
        "a": "trials.csv, line 2, column 'end_s': the time range ends",
        "b": "own.toml, line 6, [time] cycles_s: the value is [[0.5, 0.4]]",
        "c": "study.toml, line 7, [settings.muscles] names: there is no muscle 'no one'",
        "d": "trials.csv, line 5, column 'settings.muscles.names': there is no muscle 'nobody'",
    }.items():
        assert f"{name}: {tmp_path / place}" in said, (name, said)
    assert "trial.toml," not in said


def test_an_arm_whose_names_have_a_side_has_no_strides(folder: Path, tmp_path: Path) -> None:
    model = (folder / "A" / "arm.osim").read_text(encoding="utf-8")
    for name in ("biceps", "triceps", "elbow", "flexion"):
        model = model.replace(f'name="{name}"', f'name="{name}_r"')
    (tmp_path / "arm.osim").write_text(model, encoding="utf-8")
    motion = (folder / "A" / "ik.mot").read_text(encoding="utf-8").replace("flexion", "flexion_r")
    (tmp_path / "ik.mot").write_text(motion, encoding="utf-8")
    study = study_of(tmp_path, "model,coordinates,loads", "a,S,arm.osim,ik.mot,none")
    said = re.sub(r"\s+", " ", typed("study", study, "-o", tmp_path / "out").output)
    assert (
        "not averaged a: right side: without legs only cycles that are stated are known; state cycles" in said
    )


def test_trials_of_arms_that_are_not_plausible_are_named(folder: Path, tmp_path: Path) -> None:
    """They count as legs do: tests are repeated without them."""
    lines = list[str]()
    for number, condition, amplitude in (
        *((k, "slow", 0.1 + 0.01 * k) for k in range(3)),
        *((k, "fast", 0.15 + 0.01 * k) for k in range(3)),
    ):
        name = f"S{number}_{condition}"
        table = Table(TIME, ("flexion",), np.degrees(flexion(amplitude))[:, None], True, Path())
        ms.tables.write_mot(tmp_path / f"{name}.mot", table)
        cells = f'{folder}/A/arm.osim,{name}.mot,none,none,"[[0.0, 0.5], [0.5, 1.0]]"'
        lines.append(f"{name},S{number},{condition},{cells}")
    columns = "condition,model,coordinates,loads,settings.filter.cutoff_hz,cycles_s"
    done = typed("study", study_of(tmp_path, columns, *lines), "-o", tmp_path / "out")
    said = re.sub(r"\s+", " ", done.output)
    assert "3 of 6 trials are not plausible. They count in the results above. Without such trials" in said
    assert "not usable S0_fast, S1_fast, S2_fast" in said and "not solved" not in said
    page = re.sub(r"\s+", " ", (tmp_path / "out" / "study.html").read_text(encoding="utf-8"))
    assert "Trials that count, by their verdict" in page and "were repeated without" not in page
    assert "306 of 306 frames have a valid solution" in page and "energy J/kg" not in page
    assert "legs at the edge" not in page and "leg-frames" not in page


def test_results_of_arms_are_compared(folder: Path, tmp_path: Path) -> None:
    trials = [folder / subject / "curl.toml" for subject in "AB"]
    assert typed("run", *trials, "-o", tmp_path).exit_code in (0, 3)
    results = dict(zip("AB", sorted(tmp_path.glob("*/result.nc")), strict=True))
    compared, files = compare_results_into(tmp_path / "compared", results)
    highest = [
        float(
            ms.laboratory.cycles(ms.read_result(path), "other")["muscle_force"]
            .mean("cycle")
            .sum("muscle")
            .max()
        )
        for path in results.values()
    ]
    (row,) = (row for row in peak_rows(compared) if row["quantity"] == "group_force")
    np.testing.assert_allclose(row["peaks"], highest)
    assert row["leg"] == "" and any(path.name.startswith("compared_contact_forces") for path in files)


def test_a_design_that_arms_cannot_follow_is_said(folder: Path, tmp_path: Path) -> None:
    lines = [f"{name},{name},{folder / name / 'curl.toml'}" for name in "AB"]
    study = study_of(tmp_path, "file", *lines)
    text = study.read_text(encoding="utf-8")
    study.write_text(f'{text}[design]\nlegs = "right_left"\n', encoding="utf-8")
    said = re.sub(r"\s+", " ", typed("study", study, "-o", tmp_path / "out").output)
    assert (
        'legs = "right_left" is not followed: there are no cycles of right and left legs to compare' in said
    )
    study.write_text(f'{text}[design]\noutcomes = ["joint_moment flexion stance max"]\n', encoding="utf-8")
    refused = typed("study", study, "-o", tmp_path / "out")
    said = re.sub(r"\s+", " ", refused.output)
    assert refused.exit_code == 2 and f"{study}, line 7, [design] outcomes: there is no curve" in said
    assert "did you mean 'joint_moment flexion' or" in said and "_std" not in said
