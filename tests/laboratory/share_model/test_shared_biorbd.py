"""Results of a biorbd model; skipped without the package biorbd."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from command_line import typed
from packages import need
from refusals import refused

import musclesolve as ms

need("biorbd")

SEGMENT = """segment {}
 parent {}
 rt 0 0 0 xyz 0 0 {}
 rotations y
 mass 2
 inertia
 0.02 0 0
 0 0.02 0
 0 0 0.002
 com 0 0 -0.15
endsegment
"""


MUSCLE = """musclegroup {0}s
 originparent trunk
 insertionparent fore
endmusclegroup
muscle {0}
 type hilldegroote
 statetype degroote
 musclegroup {0}s
 originposition {1} 0 0.05
 insertionposition {1} 0 -0.05
 optimallength 0.2
 maximalforce 800
 tendonslacklength 0.2
 pennationangle 0.1
endmuscle
"""


ARM = (
    "version 4\ngravity 0 0 -9.81\nsegment trunk\nendsegment\n"
    + SEGMENT.format("upper", "trunk", 0.0)
    + SEGMENT.format("fore", "upper", -0.3)
    + MUSCLE.format("front", 0.04)
    + MUSCLE.format("back", -0.04)
)


def test_the_problem_is_what_biorbd_computes(tmp_path: Path) -> None:
    path = tmp_path / "arm.bioMod"
    path.write_text(ARM, encoding="utf-8")
    read = ms.models.biorbd.BiorbdModel.read(path)
    time = np.linspace(0.0, 1.0, 201)
    q = np.stack([0.2 * np.sin(3.0 * time), 0.3 + 0.2 * np.sin(2.0 * time)], axis=1)
    problem = read.problem(time, q)
    assert problem.muscle == ("front", "back") and problem.dof == ("upper_RotY", "fore_RotY")
    pose, speed = q[100], np.gradient(q, time, axis=0)[100]
    change = np.gradient(np.gradient(q, time, axis=0), time, axis=0)[100]
    passive = problem.moment_arm[100] @ problem.passive_force[100]
    due = read.model.InverseDynamics(pose, speed, change).to_array()
    np.testing.assert_allclose(problem.moment[100] + passive, due, rtol=1e-12, atol=1e-12)

    def length(q: np.ndarray) -> float:
        read.model.UpdateKinematicsCustom(q)
        return float(read.model.muscle(0).musculoTendonLength(read.model, q, True))

    for k, step in enumerate(1e-6 * np.eye(2)):
        rate = (length(pose + step) - length(pose - step)) / 2e-6
        np.testing.assert_allclose(problem.moment_arm[100, k, 0], -rate, atol=1e-8)
    assert read.positions == read.coordinates
    rows = "".join(f"{t:.9g},{a:.12g},{b:.12g}\n" for t, (a, b) in zip(time[::10], q[::10], strict=True))
    (tmp_path / "q.csv").write_text("time,upper_RotY,fore_RotY\n" + rows, encoding="utf-8")
    result = ms.share_model(path, tmp_path / "q.csv")
    assert result["valid"].all() and result.attrs["simulator"] == "biorbd"
    drawn = result["skeleton_position"].sel(skeleton_point="fore").values
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 0.3, atol=1e-6)
    assert list(np.unique(result["path_muscle"])) == ["back", "front"]
    with refused("bad_number", "fore_RotY in frame 3"):
        read.problem(time, np.where(np.arange(402).reshape(201, 2) == 7, 11.0, q))
    files = ("--model", path, "--coordinates", tmp_path / "q.csv", "-o", tmp_path / "out")
    printed = typed("share", *files)
    assert printed.exit_code == 0, printed.output
    again = ms.read_result(tmp_path / "out" / "result.nc")
    np.testing.assert_array_equal(again["muscle_force"], result["muscle_force"])
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "on the model arm of biorbd" in page and "come from the model in biorbd" in page
    loaded = typed("share", *files[:4], "-o", tmp_path / "no", "--loads", path)
    assert loaded.exit_code == 2 and "external loads of a biorbd model" in loaded.output
    path.write_text(ARM.replace("optimallength 0.2", "optimallength 0"), encoding="utf-8")
    with refused("bad_model", "arm.bioMod", "front, back", "optimal length is 0 m"):
        ms.share_model(path, tmp_path / "q.csv")
    with refused("bad_model", "no muscles"):
        path.write_text(ARM[: ARM.index("musclegroup")], encoding="utf-8")
        ms.models.biorbd.BiorbdModel.read(path)


def test_a_trial_file_of_a_simulator_is_refused_for_its_model(tmp_path: Path) -> None:
    """Not for lacking moments or loads; the remedy is a call that exists."""
    (tmp_path / "arm.bioMod").write_text("version 4\n", encoding="utf-8")
    (tmp_path / "q.csv").write_text("time,elbow\n0,0\n", encoding="utf-8")
    trial = tmp_path / "trial.toml"
    trial.write_text('[files]\nmodel = "arm.bioMod"\ncoordinates = "q.csv"\n', encoding="utf-8")
    with refused("bad_format", "[files] model", 'ms.share_model("arm.bioMod"'):
        ms.run(trial)
