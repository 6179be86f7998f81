"""Results of a MuJoCo model; skipped without the package mujoco."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import typed
from packages import imported
from refusals import refused

import musclesolve as ms

engine = imported("mujoco")


MUSCLES = {
    "flexor": ("trunk_front", "shin_front", "0.45 0.68"),
    "extensor": ("trunk_back", "shin_back", "0.45 0.68"),
    "hip_flexor": ("trunk_front", "thigh_front", "0.15 0.35"),
    "hip_extensor": ("trunk_back", "thigh_back", "0.15 0.35"),
    "knee_extensor": ("thigh_front", "shin_front", "0.15 0.38"),
    "knee_flexor": ("thigh_back", "shin_back", "0.15 0.38"),
}


LEG = f"""<mujoco><option timestep="0.001" integrator="Euler"/><default><joint damping="0.3"/></default>
<worldbody><site name="trunk_front" pos="0.07 0 1.05"/><site name="trunk_back" pos="-0.07 0 1.05"/>
<geom name="floor" type="plane" size="2 2 1" pos="0 0 FLOOR"/>
<body pos="0 0 1"><joint name="hip" axis="0 -1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.04" mass="5"/>
<site name="thigh_front" pos="0.05 0 -0.2"/><site name="thigh_back" pos="-0.05 0 -0.2"/>
<body pos="0 0 -0.4"><joint name="knee" axis="0 1 0" stiffness="2"/>
<geom name="shin" type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03" mass="3"/>
<site name="shin_front" pos="0.05 0 -0.05"/><site name="shin_back" pos="-0.05 0 -0.05"/></body>
<body pos="0.06 0 -0.35"><joint name="cap" axis="0 1 0"/><geom type="sphere" size="0.02" mass="0.1"/></body>
</body></worldbody>
<equality><joint joint1="cap" joint2="knee" polycoef="0.05 0.5 0.1 0 0"/></equality><tendon>{
    "".join(
        f'<spatial name="{name}"><site site="{start}"/><site site="{end}"/></spatial>'
        for name, (start, end, _) in MUSCLES.items()
    )
}</tendon><actuator>{
    "".join(
        f'<muscle name="{name}" tendon="{name}" lengthrange="{lengths}" force="800"/>'
        for name, (_, _, lengths) in MUSCLES.items()
    )
}<motor name="idle" joint="hip"/></actuator></mujoco>"""
"""A leg with a knee cap that an equality constraint couples with the knee."""


def leg(folder: Path, floor: float = 0.0) -> Path:
    path = folder / "leg.xml"
    path.write_text(LEG.replace("FLOOR", str(floor)), encoding="utf-8")
    return path


def simulated(model: Any, frames: int = 300, external: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """A simulation with slow controls: states, accelerations and activations before every step."""
    data, rows = engine.MjData(model), []
    for frame in range(frames):
        data.ctrl[:6] = 0.3 + 0.2 * np.sin(0.01 * frame + np.arange(6))
        if external is not None:
            data.xfrc_applied[:] = external
        engine.mj_forward(model, data)
        rows.append((data.time, *(part.copy() for part in (data.qpos, data.qvel, data.qacc, data.act))))
        engine.mj_step(model, data)
    names = ("time", "qpos", "qvel", "qacc", "act")
    return {name: np.array(part) for name, part in zip(names, zip(*rows, strict=True), strict=True)}


def test_share_takes_the_file_of_a_model(tmp_path: Path) -> None:
    model = leg(tmp_path)
    ran = simulated(ms.models.mujoco.MujocoModel.read(model).model, 60)
    text = "\n".join(",".join(map(str, row)) for row in np.c_[ran["time"], ran["qpos"]])
    (tmp_path / "qpos.csv").write_text("time,hip,knee,cap\n" + text, encoding="utf-8")

    def share(motion: str, folder: str, *options: str) -> int:
        words = ["--model", str(model), "--coordinates", str(tmp_path / motion), "-o", str(tmp_path / folder)]
        return typed("share", *words, *options).exit_code

    assert share("qpos.csv", "out") == 0
    result = ms.read_result(tmp_path / "out" / "result.nc")
    assert result["valid"].all() and float(result["gap"].max()) <= 1e-9
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"result.nc", "activations.csv", "report.html"}
    columns = [text.split(",") for text in text.split("\n")]
    for motion, heading, order in (("turned", "cap,knee,hip", (0, 3, 2, 1)), ("plain", "q0,q1,q2", range(4))):
        rows = "\n".join(",".join(row[k] for k in order) for row in columns)
        (tmp_path / f"{motion}.csv").write_text(f"time,{heading}\n{rows}", encoding="utf-8")
        assert share(f"{motion}.csv", motion) == 0
        same = ms.read_result(tmp_path / motion / "result.nc")
        np.testing.assert_array_equal(same["activation"], result["activation"])
    (tmp_path / "short.csv").write_text("time,hip\n0,0\n0.1,0\n0.2,0\n", encoding="utf-8")
    assert share("short.csv", "no") == 2 and share("qpos.csv", "no", "--side", "r") == 2
    assert not (tmp_path / "no").exists()


def shared(model: Path, motion: Path, folder: Path) -> Any:
    words = ["share", "--model", model, "--coordinates", motion, "-o", folder]
    return typed(*words, env={"COLUMNS": "500"})


PLAIN = "hip,knee,cap"


def motion(folder: Path, heading: str, scale: tuple[float, float, float], name: str = "motion.csv") -> Path:
    rows = "".join(
        ",".join([f"{0.05 * k:.2f}", *(f"{s * (0.2 + 0.01 * k):.12g}" for s in scale)]) + "\n"
        for k in range(8)
    )
    (folder / name).write_text(f"time,{heading}\n{rows}", encoding="utf-8")
    return folder / name


DEGREE = 180.0 / np.pi


@pytest.mark.parametrize(
    ("heading", "scale"),
    [
        ("hip (deg),knee [deg],cap (degrees)", (DEGREE,) * 3),
        ("hip_deg,knee_deg,cap_rad", (DEGREE, DEGREE, 1.0)),
        ("cap [rad],knee [°],hip [rad]", (1.0, DEGREE, 1.0)),
        ("a [deg],b [rad],c [deg]", (DEGREE, 1.0, DEGREE)),
    ],
)
def test_columns_are_read_in_their_units(
    tmp_path: Path, heading: str, scale: tuple[float, float, float]
) -> None:
    model = leg(tmp_path)
    plain = ms.share_model(model, motion(tmp_path, PLAIN, (1.0, 1.0, 1.0)))
    assert "are read as radians" in " ".join(plain.attrs["notes"])
    same = ms.share_model(model, motion(tmp_path, heading, scale, "other.csv"))
    np.testing.assert_allclose(same["joint_moment"], plain["joint_moment"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(same["joint_angle"], plain["joint_angle"], rtol=1e-9)
    assert "are read as radians" not in " ".join(same.attrs["notes"])


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("hip [mm],knee [mm],cap [mm]", "the column of hip is in the unit of a length"),
        ("hip [deg],knee,cap", "some angles have a unit, knee, cap none"),
        ("hip [N],knee [N],cap [N]", "the column of hip is in the unit of a force"),
    ],
)
def test_units_that_contradict_the_model_are_refused(tmp_path: Path, heading: str, words: str) -> None:
    with refused("bad_format", words):
        ms.share_model(leg(tmp_path), motion(tmp_path, heading, (1.0, 1.0, 1.0)))


def test_a_result_has_page_picture_and_tables(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert shared(leg(tmp_path), motion(tmp_path, PLAIN, (1.0, 1.0, 1.0)), folder).exit_code == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "on the model leg of MuJoCo" in page and "OpenSim model leg" not in page
    result = ms.read_result(folder / "result.nc")
    assert "metabolic_power" not in result and set(result["path_muscle"].values) == set(MUSCLES)
    np.testing.assert_allclose(result["skeleton_position"].values[:, 0, 2], 1.0)  # the thigh hangs at 1 m
    ms.laboratory.save_picture(result, folder / "picture.html")
    ms.export(result, folder / "leg.csv")


LOADS = """<OpenSimDocument><ExternalLoads><objects><ExternalForce name="push"><applied_to_body>shin</applied_to_body>
<force_expressed_in_body>ground</force_expressed_in_body><point_expressed_in_body>ground</point_expressed_in_body>
<force_identifier>f</force_identifier><point_identifier>p</point_identifier></ExternalForce></objects>
<datafile>push.mot</datafile></ExternalLoads></OpenSimDocument>"""


def test_external_loads_act_at_their_point(tmp_path: Path) -> None:
    """A force through the hip axis at the knee's height gives the moments of its lever arms."""
    path = leg(tmp_path)
    path.write_text(
        path.read_text(encoding="utf-8").replace(
            '<body pos="0 0 -0.4">', '<body name="shin" pos="0 0 -0.4">'
        ),
        encoding="utf-8",
    )
    header = "push\nnRows=2\nnColumns=7\ninDegrees=no\nendheader\ntime\tfx\tfy\tfz\tpx\tpy\tpz\n"
    (tmp_path / "push.mot").write_text(
        header + "".join(f"{t}\t100\t0\t0\t0.1\t0\t0.3\n" for t in (0, 1)), encoding="utf-8"
    )
    (tmp_path / "loads.xml").write_text(LOADS, encoding="utf-8")
    moved = motion(tmp_path, PLAIN, (0.0, 0.0, 0.0))
    without = ms.share_model(path, moved)["joint_moment"]
    under = ms.share_model(path, moved, loads=tmp_path / "loads.xml")["joint_moment"]
    change = (under - without).sel(dof=["hip", "knee"]).values
    # about -y and +y through (0, 0, 1) and (0, 0, 0.6): the moment of 100 N along x at a height of 0.3 m
    np.testing.assert_allclose(change, np.tile([-70.0, 30.0], (8, 1)), atol=1e-6)


def test_contacts_and_followers_of_the_command(tmp_path: Path) -> None:
    """Contacts act when they are asked for, and the column of a joint that follows another one may be absent."""
    path = leg(tmp_path, 0.25)
    moved = motion(tmp_path, PLAIN, (1.0, 0.0, 0.0))
    (tmp_path / "short.csv").write_text(
        "\n".join(line.rpartition(",")[0] for line in moved.read_text(encoding="utf-8").split()),
        encoding="utf-8",
    )
    plain, lacking = ms.share_model(path, moved), ms.share_model(path, tmp_path / "short.csv")
    np.testing.assert_array_equal(lacking["joint_moment"], plain["joint_moment"])
    pressed = ms.share_model(path, tmp_path / "short.csv", contacts=["floor"])
    assert np.abs(pressed["joint_moment"] - plain["joint_moment"]).max() > 0.1
    said = typed(
        *("share", "--model", path, "--coordinates", moved, "-o", tmp_path / "out", "--contacts", "all"),
        *("--loads", "none"),
        env={"COLUMNS": "500"},
    )
    assert said.exit_code in (0, 3) and "Contacts of the simulator act" in " ".join(said.output.split())
    idle = next(note for note in plain.attrs["notes"] if "exert no force" in note)
    assert "floor and shin" in idle and "as --contacts does not request it" in idle
    assert not any("Contacts of the simulator exert no force" in note for note in pressed.attrs["notes"])


def test_limits_are_named_in_the_result(tmp_path: Path) -> None:
    path = leg(tmp_path)
    text = path.read_text(encoding="utf-8").replace('<joint name="knee"', '<joint name="knee" range="-90 10"')
    path.write_text(text, encoding="utf-8")
    result = ms.share_model(path, motion(tmp_path, PLAIN, (1.0, 1.0, 1.0)))
    most = np.degrees(0.27) - 10.0
    assert any(f"knee by {most:.1f} degrees in 8 of 8 frames" in note for note in result.attrs["notes"])
