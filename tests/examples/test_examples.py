"""The examples run as they stand, print what they say, and the complete recording runs from a plain copy."""

from __future__ import annotations

import re
import runpy
import shutil
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from packages import need

import musclesolve as ms
from musclesolve.apps.live import Live, stream_session

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))
OWN = EXAMPLES / "own_recording"

# What a run must print or write: patterns of the output, and names of files.
EXPECTED = {
    "share_frames": ([r"865 of 1000 frames solved", r"elbow_flexion lacks 0\.031 N m"], []),
    "full_trial": ([r"66 of 66 frames", r"soleus_r: at most \d{4} N"], ["walk.nc", "walk.csv", "walk.html"]),
    "compare_costs": ([r"force_squared: 66 frames", r"differ most in soleus_r"], []),
    "benchmark_solvers": ([r"batch .*5 solved", r"slsqp .*5 solved", r"linprog .*unfit_solver"], []),
    "own_costs": ([rf"{name} +12 frames" for name in ("knee contact", "metabolic rate", "synergies")], []),
    "own_solver": ([r"least squares: 5 solved", r"batch: 5 solved", r"stress_cubed: unfit_solver"], []),
    "c_solver": ([r"66 of 66 frames solved", r"activation: \de-1[0-9]", r"C +\d+\.\d us"], ["leg.c"]),
    "plot_activations": ([], ["contact_forces.png", "five_muscles.png"]),
    "squat_jump": (
        [r"no result: .*missed by up to [\d.e+]+4", r"61 frames: apex 1\.1[78]", r"0\.11\d m of flight"],
        ["jumper.osim"],
    ),
    "four_bar": ([r"True False  True  True"], []),
    "fall": (
        [r"knee_r +meets the floor after 0\.[3-8]", r"0\.00\d\d J unacc", r"carries (1\.0|0\.9)"],
        ["fall.html"],
    ),
    "emg_overlay": ([r"SOL +r = 0\.9\d at \d+ ms"], ["emg.png"]),
    "opensim_model": ([r"soleus_r +peak +\d{4} N", r"66 of 66 frames solved"], ["ik.mot", "walk_force.sto"]),
    "arm_and_spine": (
        [
            r"shoulder: 201 of 201",
            r"x of scapula \d{3} N",
            r"lumbar: 201 of 201",
            r"compression \(\+\) 2\d{3} N",
        ],
        ["shoulder.mot", "lumbar.mot"],
    ),
    "uncertainty": ([r"all sources, soleus", r"samples \d{4} ± \d{2,3} N"], []),
    "learn_strengths": ([r"soleus +planted 1\.15, learned 1\.1[3-8] ± 0\.0[12]"], []),
    "learn_forces": ([r"528 frames of 4 subjects", r"(9\d|100) % explained"], ["forces/DATA_CARD.md"]),
    "many_trials": (
        [r"walk2-trial +computed", r"wrong +refused", r"mean of 3 cycles"],
        ["results/trials.csv"],
    ),
}

LONG = ("fall",)
"""Scripts that run with the pages alone (`make docs`): `report/picture/test_simulated.py` lets a person fall, too."""

RECEIVES = "receive_forces"
"""The script that waits for another program, in a test of its own."""

NEEDS = {"learn_strengths": ("torch", "jax")}
"""Script -> packages of which it needs one."""


def in_time(script):
    return pytest.param(script, marks=pytest.mark.thorough) if script.stem in LONG else script


def test_every_script_is_in_the_table_and_in_this_test():
    text = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(\w+)\.py\]", text, flags=re.M)
    assert sorted(listed) == [script.stem for script in SCRIPTS] == sorted([*EXPECTED, RECEIVES])
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (EXAMPLES / link).exists()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_the_script_is_short_and_says_what_one_learns(script):
    text = script.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= {"own_costs": 110, "squat_jump": 90}.get(script.stem, 60)
    assert text.startswith('"""') and "One learns" in text.split('"""')[1]


@pytest.mark.in_part(7)
@pytest.mark.parametrize(
    "script",
    [in_time(script) for script in SCRIPTS if script.stem != RECEIVES],
    ids=lambda script: script.stem,
)
def test_the_script_runs(script, tmp_path, monkeypatch, capsys):
    packages = NEEDS.get(script.stem, ())
    if script.stem == "c_solver" and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    if not any(map(find_spec, packages)):
        need(*packages)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    printed = capsys.readouterr().out
    patterns, files = EXPECTED[script.stem]
    assert all(re.search(pattern, printed) for pattern in patterns), printed
    assert all((tmp_path / name).is_file() for name in files)
    assert "nan" not in printed


def test_a_program_without_packages_receives_live_forces():
    """The receiver runs beside a session that sends its frames to it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    live = Live(ms.data.reference_stride())
    live.warm_up()
    command = [sys.executable, "-I", str(EXAMPLES / f"{RECEIVES}.py"), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiver:
        passed = stream_session(live, ["replay"], [f"udp:{port}"])
        receiver.terminate()
        lines = receiver.communicate()[0].splitlines()
    forces = [re.fullmatch(r"(\d\.\d+) s  soleus_r (\d+) N", line) for line in lines]
    assert passed.valid and forces and all(forces)
    assert max(int(force[2]) for force in forces) > 500


def test_the_complete_recording_runs_from_a_copy_of_its_folder(tmp_path):
    copy = Path(shutil.copytree(OWN, tmp_path / "mine"))
    report = ms.check(copy / "trial.toml")
    assert report.ok and not report.of("warning") and "gap_filled" in {each.code for each in report.findings}
    result = ms.run(copy / "trial.toml")
    assert result["valid"].all() and float(result["gap"].max()) <= 1e-9
    assert result.attrs["hip_method"] == "harrington_2007" and result["emg_correlation"].min() > 0.8


def test_the_recording_is_what_its_script_makes(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["make_recording.py", str(tmp_path)])
    runpy.run_path(str(OWN / "make_recording.py"), run_name="__main__")
    for name in ("walk.trc", "standing.trc"):
        made, kept = ms.tables.read_trc(tmp_path / name), ms.tables.read_trc(OWN / name)
        assert made.names == kept.names
        np.testing.assert_allclose(made.position, kept.position, atol=2e-5)
    for name, tolerance in (("forces.mot", 1e-3), ("emg.sto", 1e-5)):
        made, kept = ms.tables.read_mot(tmp_path / name), ms.tables.read_mot(OWN / name)
        assert made.names == kept.names
        np.testing.assert_allclose(made.values, kept.values, atol=tolerance)


def test_the_model_has_the_moment_arms_that_its_points_give():
    """Soleus about the ankle, standing: its two points and the hinge make a triangle."""
    model = ms.read_osim(EXAMPLES / "opensim_model" / "leg.osim")
    time = np.arange(50) * 0.01
    names = ("hip_flexion_r", "knee_angle_r", "ankle_angle_r")
    zero = ms.tables.Table(time, names, np.zeros((50, 3)), False, Path("ik.mot"))
    moments = ms.tables.Table(
        time, tuple(f"{name}_moment" for name in names), np.zeros((50, 3)), False, Path("id.sto")
    )
    problem = ms.opensim_problem(model, zero, moments)
    origin, insertion = np.array([-0.01, 0.30]), np.array([-0.05, -0.03])  # from the ankle [m]
    along = (origin - insertion) / np.linalg.norm(origin - insertion)
    expected = insertion[0] * along[1] - insertion[1] * along[0]
    arm = problem.moment_arm[
        2, list(problem.dof).index("ankle_angle_r"), list(problem.muscle).index("soleus_r")
    ]
    assert arm == pytest.approx(expected, abs=1e-6) and -0.05 < expected < -0.04
