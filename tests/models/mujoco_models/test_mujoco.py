"""Muscles of a MuJoCo model share what the simulator's inverse dynamics needs; skipped without the package mujoco."""

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


@pytest.mark.parametrize(("floor", "tolerance"), [(0.0, 1e-5), (0.2, 1e-3)])
def test_the_simulator_satisfies_the_problem(tmp_path: Path, floor: float, tolerance: float) -> None:
    """Its activations produce the moments, beside a coupled coordinate, and with the shin on the floor."""
    model = ms.models.mujoco.MujocoModel.read(leg(tmp_path, floor))
    force = np.zeros((model.model.nbody, 6))
    force[2] = (20.0, 0.0, 30.0, 0.0, 5.0, 0.0)
    ran = simulated(model.model, external=force)
    if floor:
        data = engine.MjData(model.model)
        data.qpos[:] = ran["qpos"][0]
        engine.mj_forward(model.model, data)
        assert data.ncon > 0
    states = [ran[name] for name in ("time", "qpos", "qvel", "qacc")]
    problem = model.problem(*states, external=np.broadcast_to(force, (300, *force.shape)), contacts="all")
    assert problem.dof == ("hip", "knee") or len(problem.dof or ()) == 2
    produced = np.einsum("tjn,tn->tj", problem.moment_arm, problem.force_capacity * ran["act"])
    scale = np.abs(problem.moment).max()
    np.testing.assert_allclose(produced, problem.moment, atol=tolerance * scale)
    lacking = model.problem(*states, contacts="all")
    assert np.abs(lacking.moment - problem.moment).max() > 0.1 * scale


def test_certified_activations_move_the_model_likewise(tmp_path: Path) -> None:
    model = ms.models.mujoco.MujocoModel.read(leg(tmp_path))
    ran = simulated(model.model)
    problem = model.problem(*(ran[name] for name in ("time", "qpos", "qvel", "qacc")))
    solution = ms.solve(problem)
    assert (solution.status == ms.Status.SOLVED).all()
    assert np.abs(solution.activation - ran["act"]).max() > 0.05  # another sharing of the same moments
    for frame in range(0, 300, 50):
        data = engine.MjData(model.model)
        data.qpos[:], data.qvel[:] = ran["qpos"][frame], ran["qvel"][frame]
        data.act[:] = solution.activation[frame]
        engine.mj_forward(model.model, data)
        np.testing.assert_allclose(data.qacc, ran["qacc"][frame], atol=1e-4 * np.abs(ran["qacc"]).max())


def test_controls_produce_the_activations(tmp_path: Path) -> None:
    model = ms.models.mujoco.MujocoModel.read(leg(tmp_path))
    time = np.arange(0.0, 1.0, 0.001)
    wanted = 0.4 + 0.2 * np.sin(4.0 * time)[:, None] * np.linspace(-1.0, 1.0, 6)
    controls = model.controls(time, wanted)
    data, reached = engine.MjData(model.model), []
    data.act[:] = wanted[0]
    for control in controls:
        reached.append(data.act.copy())
        data.ctrl[:] = control
        engine.mj_step(model.model, data)
    np.testing.assert_allclose(reached, wanted, atol=2e-3)
    assert (controls[:, 6] == 0.0).all()
    gap = np.where(np.arange(1000)[:, None] == 5, np.nan, wanted)
    assert np.isfinite(model.controls(time, gap)).all()


def test_velocities_follow_from_positions(tmp_path: Path) -> None:
    path = leg(tmp_path)
    text = path.read_text(encoding="utf-8")
    equality = text[
        text.index("<equality>") : text.index("<tendon>")
    ]  # which holds but softly in a simulation
    path.write_text(text.replace(equality, ""), encoding="utf-8")
    model = ms.models.mujoco.MujocoModel.read(path)
    ran = simulated(model.model)
    exact = model.problem(*(ran[name] for name in ("time", "qpos", "qvel", "qacc")))
    found = model.problem(ran["time"], ran["qpos"])
    inner = slice(5, -5)
    scale = np.abs(exact.moment).max()
    np.testing.assert_allclose(found.moment[inner], exact.moment[inner], atol=0.03 * scale)


def swing(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, velocities and accelerations (T, 3) of a swing of the leg, whose knee cap follows the knee."""
    wave, slope = np.sin(5.0 * time), 5.0 * np.cos(5.0 * time)
    bend, bent, bending = 0.5 - 0.08 * slope, 2.0 * wave, 2.0 * slope
    cap = 0.05 + 0.5 * bend + 0.1 * bend**2
    caps = (0.5 + 0.2 * bend) * bent
    capping = (0.5 + 0.2 * bend) * bending + 0.2 * bent**2
    columns = (0.4 * wave, bend, cap), (0.4 * slope, bent, caps), (-10.0 * wave, bending, capping)
    return tuple(np.stack(part, axis=1) for part in columns)  # type: ignore[return-value]


def test_moments_hold_at_the_ends_and_beside_missing_rows(tmp_path: Path) -> None:
    """Differences over one step at an end would halve the accelerations there, whatever the rate."""
    model, errors = ms.models.mujoco.MujocoModel.read(leg(tmp_path)), []
    for step in (0.01, 0.005):
        time = np.delete(np.arange(0.0, 1.0, step), [30, 31, 50])
        exact, found = model.problem(time, *swing(time)), model.problem(time, swing(time)[0])
        error = np.abs(found.moment - exact.moment).max(axis=1) / np.abs(exact.moment).max()
        errors.append((error[[0, 1, -2, -1]].max(), error[2:-2].max()))
    (coarse, rough), (fine, smooth) = errors
    assert coarse < 0.1 and fine < 0.6 * coarse
    assert rough < 0.02 and smooth < rough
    with refused("too_few_frames", "2 frames"):
        model.problem(time[:2], swing(time[:2])[0])
    assert model.problem(time[:1], *swing(time[:1])).n_frames == 1


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("<mujoco>", "<mujoco", "unreadable_file", "leg.xml"),
        ('force="800"/>', 'force="800" lengthrange="0 0"/>', "unreadable_file", "leg.xml"),
        (
            LEG[LEG.index("<muscle") : LEG.index("<motor")],
            "",
            "bad_model",
            "leg.xml: the model has no muscle",
        ),
    ],
)
def test_other_models_are_refused(tmp_path: Path, old: str, new: str, code: str, words: str) -> None:
    path = leg(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with refused(code, words):
        ms.models.mujoco.MujocoModel.read(path)


EQUALITY = LEG[LEG.index("<equality>") : LEG.index("<tendon>")]


def edited(folder: Path, *changes: tuple[str, str], floor: float = 0.0) -> ms.models.mujoco.MujocoModel:
    path = leg(folder, floor)
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")
    return ms.models.mujoco.MujocoModel.read(path)


def test_forward_dynamics_and_the_problem_balance_to_round_off(tmp_path: Path) -> None:
    model = edited(tmp_path, (EQUALITY, ""))
    ran = simulated(model.model)
    problem = model.problem(*(ran[name] for name in ("time", "qpos", "qvel", "qacc")))
    produced = np.einsum("tjn,tn->tj", problem.moment_arm, problem.force_capacity * ran["act"])
    np.testing.assert_allclose(produced, problem.moment, rtol=0.0, atol=1e-9)


def test_limits_exert_no_force_and_are_named_by_degrees(tmp_path: Path) -> None:
    """Half a degree beyond a limit is half a degree beyond it, and no moment; in a simulation the limit acts."""
    free = edited(tmp_path)
    time = np.arange(0.0, 1.0, 0.01)
    qpos = swing(time)[0]
    most = np.degrees(qpos[:, 1].max())
    limited = edited(
        tmp_path, ('name="knee" axis="0 1 0"', f'name="knee" axis="0 1 0" range="-90 {most - 0.5:.9f}"')
    )
    whole, within = (model.along(time, qpos) for model in (free, limited))
    np.testing.assert_array_equal(within.group.moment, whole.group.moment)
    notes = " ".join(within.notes)
    assert "Limits of the simulator exert no force here. Beyond them are knee by 0.5 degrees in " in notes
    assert "Limits" not in " ".join(whole.notes)
    pushed = limited.problem(time, *swing(time), limits=True)
    assert np.abs(pushed.moment - limited.problem(time, *swing(time)).moment).max() > 5.0


def test_limits_of_tendons_and_balls_are_named(tmp_path: Path) -> None:
    ball = '<body name="b" pos="1 0 1"><joint name="ball" type="ball" range="0 20"/><geom size="0.1"/></body>'
    model = edited(
        tmp_path,
        ("</worldbody>", ball + "</worldbody>"),
        ('<spatial name="flexor">', '<spatial name="flexor" range="0.1 0.3">'),
    )
    half = np.radians(12.0)
    pose = np.tile([0.0, 0.0, 0.05, np.cos(half), np.sin(half), 0.0, 0.0], (5, 1))
    assert model.positions[:3] == ("hip", "knee", "cap")
    notes = " ".join(model.along(np.arange(5.0), pose).notes)
    assert "ball by 4.0 degrees in 5 of 5 frames" in notes and "tendon flexor by " in notes


def test_joints_that_follow_others_are_computed(tmp_path: Path) -> None:
    """Zeros in their column are the same motion; also a follower of a follower, and a joint with one place."""
    chain = (
        '<joint joint1="cap" joint2="hip" active="false" polycoef="0 1 0 0 0"/>'
        '<joint joint1="tip" joint2="cap" polycoef="0.1 2 0 0 0"/><joint joint1="pin" polycoef="0.3 0 0 0 0"/>'
    )
    more = "".join(
        f'<body pos="0 {k} 1"><joint name="{name}" axis="0 1 0"/><geom size="0.05"/></body>'
        for k, name in enumerate(("tip", "pin"), start=1)
    )
    model = edited(tmp_path, ("<equality>", f"<equality>{chain}"), ("</worldbody>", f"{more}</worldbody>"))
    time = np.arange(0.0, 1.0, 0.01)
    qpos = swing(time)[0]
    full = np.column_stack([qpos, 0.1 + 2.0 * qpos[:, 2], np.full(100, 0.3)])
    lacking = full.copy()
    lacking[:, 2:] = 0.0
    sound, computed = model.along(time, full), model.along(time, lacking)
    assert sorted(model.followers) == ["cap", "pin", "tip"]
    assert computed.positions is not None
    np.testing.assert_allclose(computed.positions, full, atol=1e-12)
    np.testing.assert_allclose(computed.group.moment, sound.group.moment, atol=1e-9)
    said = " ".join(computed.notes)
    assert "Equalities of the model determine 3 positions" in said and "pin by 17.2 degrees" in said
    assert "differs" not in " ".join(sound.notes)
    np.testing.assert_allclose(
        model.problem(time, lacking).moment, model.problem(time, full).moment, atol=1e-9
    )


WALL = (
    '<geom name="wall" type="box" size="0.02 0.5 0.5" pos="0.06 0 0.5"/><body pos="0 0 1"><joint name="hip"'
)


def test_contacts_act_where_they_are_asked_for(tmp_path: Path) -> None:
    """The forces of floor and wall add to each other, as each contact depends on its own depth alone."""
    model = edited(tmp_path, ('<body pos="0 0 1"><joint name="hip"', WALL), floor=0.2)
    time = np.arange(0.0, 1.0, 0.01)
    qpos = 0.1 * swing(time)[0]

    def moment(*contacts: str) -> np.ndarray:
        return np.asarray(model.along(time, qpos, None, contacts).group.moment)

    none, floor, wall, every = moment(), moment("floor"), moment("wall"), moment("all")
    np.testing.assert_array_equal(moment("none"), none)
    assert np.abs(floor - none).max() > 1.0 and np.abs(wall - none).max() > 1.0
    np.testing.assert_allclose(every - none, floor - none + wall - none, atol=1e-6 * np.abs(every).max())
    free = edited(tmp_path)
    np.testing.assert_allclose(none, free.along(time, qpos).group.moment, atol=1e-9)
    notes = model.along(time, qpos, None, ("floor",)).notes
    acting = next(note for note in notes if note.startswith("Contacts of the simulator act"))
    idle = next(note for note in notes if "exert no force" in note)
    assert "floor and shin " in acting and " N at " in acting and "wall" not in acting
    assert "wall" in idle and " mm deep in " in idle and "floor" not in idle
    with refused("unknown_name", "flor"):
        model.along(time, qpos, None, ("flor",))


def test_the_named_force_of_a_contact_is_that_of_the_simulator(tmp_path: Path) -> None:
    model = edited(tmp_path, floor=0.21)
    data = engine.MjData(model.model)
    data.qpos[:] = swing(np.zeros(1))[0][0]
    data.qpos[1] = 0.0
    data.qpos[2] = 0.05
    engine.mj_inverse(model.model, data)
    total = np.zeros(3)
    for number, contact in enumerate(data.contact):
        force = np.zeros(6)
        engine.mj_contactForce(model.model, data, number, force)
        total += contact.frame.reshape(3, 3).T @ force[:3]
    notes = model.along(np.arange(3.0), np.tile(data.qpos, (3, 1)), None, ("all",)).notes
    assert f"floor and shin {np.linalg.norm(total):.0f} N" in " ".join(notes)


def test_a_muscle_that_crosses_no_free_joint_is_left_out(tmp_path: Path) -> None:
    still = (
        '<actuator><muscle name="still" tendon="still" lengthrange="0.1 0.3" force="100"/>',
        '<tendon><spatial name="still"><site site="trunk_front"/><site site="trunk_back"/></spatial>',
    )
    model = edited(tmp_path, ("<actuator>", still[0]), ("<tendon>", still[1]))
    time = np.arange(0.0, 1.0, 0.01)
    motion, whole = model.along(time, swing(time)[0]), edited(tmp_path).along(time, swing(time)[0])
    assert model.muscles[0] == "still" and motion.group.state.parameters.names == tuple(MUSCLES)
    assert "Muscles left out, which act on no free coordinate: still." in motion.notes
    np.testing.assert_array_equal(motion.group.moment, whole.group.moment)
    problem = model.problem(time, swing(time)[0])
    assert problem.muscle == tuple(MUSCLES)
    controls = model.controls(time, np.full((100, 6), 0.3), problem.muscle)
    np.testing.assert_allclose(controls[:, :7], np.tile([0.0, *[0.3] * 6], (100, 1)))
    with refused("unknown_name", "nix"):
        model.controls(time, np.full((100, 1), 0.3), ("nix",))
    others = LEG[LEG.index('<muscle name="flexor"') : LEG.index("<motor")]
    with refused("bad_model", "no muscle of the model acts on a coordinate"):
        edited(tmp_path, (others, still[0].removeprefix("<actuator>")), ("<tendon>", still[1])).along(
            time, swing(time)[0]
        )


def test_ranges_of_control_and_force_bound_the_activation(tmp_path: Path) -> None:
    bounded = (
        ('<muscle name="hip_flexor"', '<muscle ctrllimited="true" ctrlrange="0 0.3" name="hip_flexor"'),
        ('<muscle name="knee_flexor"', '<muscle forcelimited="true" forcerange="-40 0" name="knee_flexor"'),
    )
    model = edited(tmp_path, *bounded)
    time = np.arange(0.0, 1.0, 0.01)
    motion = model.along(time, swing(time)[0])
    problem = model.problem(time, swing(time)[0])
    upper = dict(zip(MUSCLES, problem.upper.T, strict=True))
    assert (upper["hip_flexor"] == 0.3).all() and (upper["flexor"] == 1.0).all()
    knee = list(MUSCLES).index("knee_flexor")
    most = upper["knee_flexor"] * problem.force_capacity[:, knee] + problem.passive_force[:, knee]
    assert (most <= 40.0 + 1e-9).all() and upper["knee_flexor"].min() < 0.2
    assert "limit activations: hip_flexor 0.30, knee_flexor 0.0" in " ".join(motion.notes)
    solution = ms.solve(model.problem(time, swing(time)[0], reserve_weight=1.0))
    assert (solution.force[:, knee] + problem.passive_force[:, knee] <= 40.0 + 1e-6).all()
    assert "Actuators that are no muscles exert no force: idle." in motion.notes


def test_gears_of_muscles_are_named(tmp_path: Path) -> None:
    """A gear of two doubles the arm of the actuator and the range of its lengths."""
    old, new = (
        '<muscle name="flexor" tendon="flexor" lengthrange="0.45 0.68"',
        ' gear="2" lengthrange="0.9 1.36"',
    )
    time = np.arange(0.0, 1.0, 0.01)
    plain = edited(tmp_path).along(time, swing(time)[0])
    geared = edited(tmp_path, (old, old.replace(' lengthrange="0.45 0.68"', new))).along(time, swing(time)[0])
    arms = [motion.group.state.moment_arm[..., 0] for motion in (plain, geared)]
    np.testing.assert_allclose(arms[1], 2.0 * arms[0], atol=1e-12)
    assert any(note.endswith("in them: flexor 2.") for note in geared.notes)
    assert not any("gear" in note for note in plain.notes)


def test_a_connection_that_the_motion_parts_is_named(tmp_path: Path) -> None:
    rod = '<body name="rod" pos="0 2 1"><joint name="rod" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.4"'
    model = edited(
        tmp_path,
        ("</worldbody>", f'{rod} size="0.02"/></body></worldbody>'),
        ("<equality>", '<equality><connect name="tie" body1="rod" anchor="0 0 -0.4"/>'),
    )
    pose = np.tile([0.1, 0.2, 0.154, 0.2], (4, 1))
    notes = " ".join(model.along(np.arange(4.0), pose).notes)
    assert f"does not satisfy equalities of the model: tie by {800.0 * np.sin(0.1):.0f} mm" in notes
    pose[:, 3] = 0.0
    assert "does not satisfy" not in " ".join(model.along(np.arange(4.0), pose).notes)


def test_other_arrays_are_refused(tmp_path: Path) -> None:
    model = ms.models.mujoco.MujocoModel.read(leg(tmp_path))
    with refused("bad_shape", "qpos"):
        model.problem(np.arange(4.0), np.zeros((4, 2)))
    with refused("bad_shape", "external"):
        model.problem(np.arange(4.0), np.zeros((4, 3)), external=np.zeros((4, 2, 6)))


def still(hip: str = "0.1", heading: str = "hip,knee,cap") -> str:
    return f"time,{heading}\n" + "".join(
        f"{0.1 * k:.1f},{hip if k == 2 else 0.1},0.1,0.05\n" for k in range(5)
    )


@pytest.mark.parametrize(
    ("motion", "words"),
    [
        (still(heading="ankle,knee,hip"), ["motion.csv", "ankle, knee, hip", "hip, knee, cap"]),
        (still(heading="Knee,Hip,Cap"), ["motion.csv", "Knee, Hip, Cap", "hip, knee, cap"]),
        (still(heading="knee/value,hip/value,cap/value"), ["knee/value, hip", "hip, knee, cap"]),
        (still("nan"), ["motion.csv, line 4, column 'hip'", "fill the gap or leave out the rows"]),
        (still("11"), ["motion.csv, hip in frame 2", "11 rad", "if these are degrees"]),
    ],
)
def test_a_motion_that_does_not_fit_is_refused(tmp_path: Path, motion: str, words: list[str]) -> None:
    (tmp_path / "motion.csv").write_text(motion, encoding="utf-8")
    found = shared(leg(tmp_path), tmp_path / "motion.csv", tmp_path / "out")
    assert found.exit_code == 2 and all(word in " ".join(found.stderr.split()) for word in words), (
        found.stderr
    )


def shared(model: Path, motion: Path, folder: Path) -> Any:
    words = ["share", "--model", model, "--coordinates", motion, "-o", folder]
    return typed(*words, env={"COLUMNS": "500"})


def test_a_wider_range_of_a_hinge_allows_more_than_a_turn(tmp_path: Path) -> None:
    path = leg(tmp_path)
    wide = path.read_text(encoding="utf-8").replace('<joint name="hip"', '<joint name="hip" range="-720 720"')
    path.write_text(wide, encoding="utf-8")
    model = ms.models.mujoco.MujocoModel.read(path)
    model.problem(np.arange(4.0), np.tile([11.0, 0.1, 0.1], (4, 1)))
    with refused("bad_number", "knee in frame 0"):
        model.problem(np.arange(4.0), np.tile([0.1, 11.0, 0.1], (4, 1)))


def test_positions_of_free_and_ball_joints_have_numbers() -> None:
    model = engine.MjModel.from_xml_string(
        LEG.replace("FLOOR", "0").replace(
            "</worldbody>",
            '<body><freejoint name="root"/><geom size="0.1"/><body><joint name="ball" type="ball"/><geom size="0.1"/>'
            "</body></body></worldbody>",
        )
    )
    names = ms.models.mujoco.MujocoModel(model).positions
    assert names[:4] == ("hip", "knee", "cap", "root:0") and names[-2:] == ("ball:2", "ball:3")
    assert len(names) == model.nq and len(ms.models.mujoco.MujocoModel(model).coordinates) == model.nv


def test_infeasible_frames_are_explained(tmp_path: Path) -> None:
    path = leg(tmp_path)
    weak = path.read_text(encoding="utf-8").replace('force="800"', 'force="1"')
    path.write_text(weak, encoding="utf-8")
    (tmp_path / "motion.csv").write_text(still("0.12"), encoding="utf-8")
    found = shared(path, tmp_path / "motion.csv", tmp_path / "out")
    said = " ".join(found.stdout.split())
    assert "5 of 5 analyzed frames" in said and "need a reserve" in said and " lacks " in said, said


def test_a_model_that_is_missing_is_said_with_all_endings(tmp_path: Path) -> None:
    for name in ("nix.xml", "nix.bioMod", "nix.osim"):
        found = shared(tmp_path / name, tmp_path / "motion.csv", tmp_path / "out")
        assert found.exit_code == 2 and ".osim), MuJoCo (.xml, .mjb) or biorbd (.bioMod)" in found.stderr


def motion(folder: Path, heading: str, scale: tuple[float, float, float], name: str = "motion.csv") -> Path:
    rows = "".join(
        ",".join([f"{0.05 * k:.2f}", *(f"{s * (0.2 + 0.01 * k):.12g}" for s in scale)]) + "\n"
        for k in range(8)
    )
    (folder / name).write_text(f"time,{heading}\n{rows}", encoding="utf-8")
    return folder / name
