"""Force sharing from external loads: moments, contact forces, refusals."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from measured_model import measured_model
from model_reactions import contact_reactions, path_wrenches
from recorded_data import recorded
from refusals import refused
from small_model_motion import DOFS, TIME, feasible_moments, small_motion

from musclesolve import read_osim
from musclesolve.laboratory.run_trial import share_model
from musclesolve.models.knee import Ligament, quadriceps
from musclesolve.models.opensim import inverse_dynamics, opensim_geometry
from musclesolve.models.opensim.coordinate_motion import CoordinateMotion, coordinate_motion
from musclesolve.models.opensim.external_loads import read_external_loads
from musclesolve.models.opensim.inverse_dynamics import distal_reactions
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.load_dynamics import load_dynamics, whole_motion
from musclesolve.models.opensim.model import TO_GLOBAL, Joint, OpenSimModel
from musclesolve.models.opensim.segments import segments
from musclesolve.tables import Table, write_mot

XML = """<OpenSimDocument Version="40000"><ExternalLoads name="loads"><objects>
<ExternalForce name="push"><applied_to_body>talus_r</applied_to_body><force_identifier>push_v</force_identifier>
<point_identifier>push_p</point_identifier></ExternalForce></objects><datafile>push.mot</datafile>
</ExternalLoads></OpenSimDocument>"""


def save_loads(folder: Path, time: np.ndarray) -> Path:
    """A push on the foot."""
    columns = {
        "push_vx": 5.0,
        "push_vy": 20.0,
        "push_vz": -3.0,
        "push_px": 0.1,
        "push_py": 0.0,
        "push_pz": 0.1,
    }
    values = np.outer(1.0 + 0.1 * time, list(columns.values()))
    data = folder / "push.mot"
    write_mot(data, Table(time, tuple(columns), values, False, data))
    path = folder / "loads.xml"
    path.write_text(XML, encoding="utf-8")
    return path


@pytest.fixture
def loads(tmp_path: Path) -> Path:
    return save_loads(tmp_path, np.linspace(-0.1, 1.1, 25))


def solved(model: OpenSimModel, loads: Path | None, moments: object = None):
    return measured_model(
        model, small_motion(model), moments, dofs=DOFS, loads=loads, cutoff_hz=None, passive="none"
    )  # type: ignore[arg-type]


def test_moments_are_those_of_inverse_dynamics(small: OpenSimModel, loads: Path) -> None:
    found = solved(small, loads)
    motion = whole_motion(small, coordinate_motion(small, small_motion(small), None))
    dynamics = inverse_dynamics(small, motion, read_external_loads(loads, small))
    for k, name in enumerate(DOFS):
        np.testing.assert_allclose(found.moment[:, k], dynamics.column(name), rtol=1e-12)
    assert found.moment_file == loads
    assert any("push on talus_r" in note for note in found.notes)
    assert any("Residual force" in note for note in found.notes)


def test_frames_beyond_the_loads_are_left_out(small: OpenSimModel, tmp_path: Path) -> None:
    found = solved(small, save_loads(tmp_path, np.linspace(0.2, 0.7, 9)))
    assert found.motion.time[0] >= 0.2 - 1e-9 and found.motion.time[-1] <= 0.7 + 1e-9
    assert found.dynamics is not None and len(found.dynamics.motion.time) == len(found.motion.time)
    with refused("no_overlap", "loads.xml"):
        solved(small, save_loads(tmp_path, np.linspace(5.0, 6.0, 9)))


def test_moments_or_loads(small: OpenSimModel, loads: Path) -> None:
    moments = feasible_moments(small)
    assert solved(small, None, moments).dynamics is None
    beside = solved(small, loads, moments)  # the moments are shared, and joint forces follow from the loads
    assert beside.dynamics is not None
    np.testing.assert_allclose(beside.moment, solved(small, None, moments).moment)
    with refused("conflict", "both"):
        solved(small, "predicted", moments)
    with refused("missing_argument", "neither"):
        solved(small, None)


def test_inverse_dynamics_needs_every_coordinate(small: OpenSimModel, loads: Path) -> None:
    motion = {name: column for name, column in small_motion(small).items() if name != "ty"}
    with refused("missing_column", "ty"):
        measured_model(small, motion, dofs=DOFS, loads=loads)


def test_contact_forces_of_the_result(small: OpenSimModel, loads: Path) -> None:
    result = share_model(small, small_motion(small), dofs=DOFS, loads=loads, cutoff_hz=None)
    assert result["joint"].values.tolist() == ["hip_r", "ankle_r"]
    motion = coordinate_motion(small, small_motion(small), None)
    dynamics = load_dynamics(small, motion, read_external_loads(loads, small))
    forces = {"joint_reaction": result["muscle_force"].values, "joint_reaction_net": np.zeros((len(TIME), 3))}
    for name, force in forces.items():
        muscles = ["one_r", "two_r", "three_r"]
        reaction = contact_reactions(small, dynamics.dynamics, dynamics.motion.value, muscles, force)
        at_ankle = reaction.force[:, reaction.joints.index("ankle_r")]
        np.testing.assert_allclose(
            result[name].sel(joint="ankle_r"), at_ankle[:, [0, 2, 1]] * [1.0, -1.0, 1.0], atol=1e-8
        )  # forward, left, up


def test_frames_without_muscle_forces_have_no_contact_force(small: OpenSimModel, loads: Path) -> None:
    body = solved(small, loads)
    force = np.full((len(TIME), 3), 100.0)
    force[7] = np.nan
    assert body.whole.loads is not None
    for contact in body.whole.loads.contact(force).values():
        assert np.isnan(contact[7]).all() and np.isfinite(np.delete(contact, 7, axis=0)).all()


def test_components_of_contact_forces_are_those_in_axes_of_a_segment(
    small: OpenSimModel, loads: Path
) -> None:
    result = share_model(small, small_motion(small), dofs=DOFS, loads=loads, cutoff_hz=None)
    component, reaction = result["contact_force_component"].values, result["joint_reaction"].values
    np.testing.assert_allclose(
        np.linalg.norm(component, axis=2), np.linalg.norm(reaction, axis=2), rtol=1e-12
    )
    assert np.abs(component - reaction).max() > 1.0


def test_the_ground_reaction_of_a_side_is_its_load(small: OpenSimModel, loads: Path) -> None:
    """5 N forward, 20 N up, 3 N to the left at a point 0.1 m forward on the floor, growing with time."""
    result = share_model(small, small_motion(small), dofs=DOFS, loads=loads, cutoff_hz=None)
    force = result["ground_reaction_force"].sel(side="r").values
    np.testing.assert_allclose(force, np.outer(1.0 + 0.1 * TIME, [5.0, 3.0, 20.0]), rtol=1e-9)
    stands = force[:, 2] > 20.0
    point = result["center_of_pressure"].sel(side="r").values
    assert np.isnan(point[~stands]).all() and stands.any()
    np.testing.assert_allclose(point[stands], np.outer(1.0 + 0.1 * TIME, [0.1, -0.1, 0.0])[stands], atol=1e-9)


def test_joint_reactions_are_no_cost_where_no_loads_are_known(small: OpenSimModel) -> None:
    with refused("missing_argument", "joint reactions", "loads"):
        share_model(small, small_motion(small), feasible_moments(small), "joint_reaction_squared", dofs=DOFS)


def test_moments_at_joints_are_those_of_joint_reactions(small: OpenSimModel) -> None:
    """The wrenches on all bodies give the moments, where muscles neither move points nor cross driven joints."""
    motion = whole_motion(small, coordinate_motion(small, small_motion(small), None))
    found, names = load_dynamics(small, coordinate_motion(small, small_motion(small), None), ()), ("three_r",)
    force = np.random.default_rng(5).uniform(10.0, 500.0, (len(TIME), 1))
    expected = contact_reactions(small, found.dynamics, motion.value, names, force)
    ankle = next(joint for joint in small.joints if joint.name == "ankle_r")
    loads, row = found.joint_loads([ankle], names), expected.joints.index("ankle_r")
    moment, contact = loads.carried(force)["contact_moment"]["ankle_r"], loads.contact(force)["ankle_r"]
    np.testing.assert_allclose(moment, expected.moment[:, row] @ TO_GLOBAL.T, atol=1e-9)
    np.testing.assert_allclose(contact, expected.force[:, row] @ TO_GLOBAL.T, atol=1e-9)


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2016"])
def test_the_power_of_a_joint_is_what_muscles_leave(public_model, name: str) -> None:
    """Virtual work along each coordinate of a joint, in models with moving points and with a driven patella."""
    model = public_model(name)
    rng, number = np.random.default_rng(7), model.coordinate_number
    free = {
        each: np.linspace(0.1, 0.5, 4) + 0.05 * rng.normal()
        for each, one in model.coordinates.items()
        if not one.locked and all(each != coupler.dependent for coupler in model.couplers)
    }
    value = np.stack(list(free.values()), axis=1)
    motion = CoordinateMotion(np.arange(4.0), tuple(free), value, 0.3 * value, 0.2 * value, None, None)
    found = load_dynamics(model, motion, ())
    legs = [joint for joint in model.joints if joint.name.endswith("_r") and joint.moved_by & free.keys()]
    joints = [joint for joint in legs if any(part in joint.name for part in ("hip", "knee", "ankle"))]
    muscles = [each for each in model.muscles if each.endswith("_r") and "sp_" not in each]
    force = rng.uniform(10.0, 500.0, (4, len(muscles)))
    loads, value = found.joint_loads(joints, muscles), found.motion.value
    names = sorted(set().union(*(joint.moved_by for joint in joints)))
    given = {each: value[:, number[each]] for each in model.coordinates}
    arms = opensim_geometry(model, given, names, muscles).moment_arm
    twist, net = (body_motion(model, value, names).twist, distal_reactions(model, found.dynamics))
    for joint in joints:
        inner, outer = (model.body_number[frame.body] for frame in (joint.inboard, joint.outboard))
        f, m = (
            each[joint.name] @ TO_GLOBAL
            for each in (loads.contact(force), loads.carried(force)["contact_moment"])
        )
        m = m + np.cross(net.point[:, net.joints.index(joint.name)], f)
        for row, coordinate in enumerate(names):
            if coordinate in joint.moved_by:
                own = twist[:, row, outer] - twist[:, row, inner]
                power = (own * np.concatenate([m, f], axis=1)).sum(axis=1)
                # the moment of the joint itself: what moves the driven patella is carried by its own joint
                own_moment = found.dynamics.joint_force[:, number[coordinate]]
                left = own_moment - (arms[:, row] * force).sum(axis=1)
                np.testing.assert_allclose(power, left, atol=1e-8, err_msg=coordinate)


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2016"])
def test_shank_and_patella_of_a_model_obey_newton(public_model, name: str) -> None:
    """With a patella that is a moving point of the shank, and one that is a body driven by the knee."""
    model = public_model(name)
    motion = bent_knee(model)
    found = load_dynamics(model, motion, ())
    knee = next(joint for joint in model.joints if "knee" in joint.name and joint.name.endswith("_r"))
    muscles = [each for each in model.muscles if each.endswith("_r")]
    heads = quadriceps(muscles)
    assert len(heads) == 4
    force = np.random.default_rng(9).uniform(50.0, 600.0, (len(motion.time), len(muscles)))
    loads, value = found.joint_loads([knee], muscles), found.motion.value
    beyond = [model.body_number[each] for each in model.bodies if each in bodies_beyond(model, knee)]
    patella = [model.body_number[each] for each in model.bodies if each.startswith("patella_r")]

    def on(bodies: list[int], some: list[int]) -> np.ndarray:
        names = [muscles[m] for m in some]
        return path_wrenches(model, value, names, force[:, some])[:, bodies, 3:].sum(axis=1) @ TO_GLOBAL.T

    rest = [m for m in range(len(muscles)) if m not in heads]
    at_patella = on([*patella, *beyond], list(heads))
    femur_on_patella = loads.carried(force)["patellofemoral_force"][knee.name]
    ligament = at_patella + femur_on_patella
    needed = found.dynamics.wrench[:, beyond, 3:].sum(axis=1) @ TO_GLOBAL.T
    total = loads.contact(force)[knee.name] + ligament + on(beyond, rest)
    np.testing.assert_allclose(total, needed, atol=1e-7)
    # tension of the ligament: the moment of the heads over its arm from the helical axis
    coordinate = next(iter(sorted(model.independent(knee.moved_by))))
    given = {each: value[:, model.coordinate_number[each]] for each in model.coordinates}
    arms = opensim_geometry(model, given, [coordinate], [muscles[m] for m in heads]).moment_arm[:, 0]
    twist = body_motion(model, value, [coordinate]).twist[:, 0]
    spin = (twist[:, model.body_number[knee.outboard.body]] - twist[:, model.body_number[knee.inboard.body]])[
        :, :3
    ]
    moment = np.abs((arms * force[:, heads]).sum(axis=1)) / np.linalg.norm(spin, axis=1)
    arm = moment / np.linalg.norm(ligament, axis=1)
    np.testing.assert_allclose(
        arm, Ligament.from_shank_length("r", segments(model).length(knee)).arm, rtol=1e-9
    )
    assert 0.040 < arm[0] < 0.050


def test_a_squat_on_a_model_presses_the_knee_as_measured(public_model) -> None:
    """1.3 N m/kg at 100 degrees by the quadriceps alone, half of the weight on the foot: 2 to 4.5 body weights."""
    for name in ("gait2392", "rajagopal_2016"):
        model = public_model(name)
        motion = bent_knee(model)
        found = load_dynamics(model, motion, ())
        knee = next(joint for joint in model.joints if "knee" in joint.name and joint.name.endswith("_r"))
        muscles = [each for each in model.muscles if each.endswith("_r")]
        heads = [muscles[m] for m in quadriceps(muscles)]
        loads = found.joint_loads([knee], heads)
        given = {each: found.motion.value[:, model.coordinate_number[each]] for each in model.coordinates}
        coordinate = next(iter(model.independent(knee.moved_by)))
        arms = np.abs(opensim_geometry(model, given, [coordinate], heads).moment_arm[:, 0])
        strength = np.array([model.muscles[each].max_isometric_force for each in heads])
        tension = strength * (1.3 * model.mass / (arms @ strength))[:, None]
        deepest = int(np.argmin(np.abs(BENT - np.radians(100.0))))
        # the ground pushes with half of the weight, what the knee carries at rest beside it is the leg below
        contact = loads.contact(tension)[knee.name][deepest] + [0.0, 0.0, -0.5 * found.model.weight]
        assert 2.0 < np.linalg.norm(contact) / found.model.weight < 4.5, name
        pressed = (
            np.linalg.norm(loads.carried(tension)["patellofemoral_force"][knee.name][deepest])
            / found.model.weight
        )
        assert 2.5 < pressed < 8.0, name


BENT = np.radians([5.0, 30.0, 60.0, 100.0])


def bent_knee(model: OpenSimModel) -> CoordinateMotion:
    """At rest, with the knees bent; other free coordinates at their defaults."""
    coupled = {coupler.dependent for coupler in model.couplers}
    names = tuple(each for each, one in model.coordinates.items() if not one.locked and each not in coupled)
    value = np.tile([model.coordinates[each].default for each in names], (len(BENT), 1))
    for column, each in enumerate(names):
        if each.startswith("knee_angle"):
            value[:, column] = BENT if "patella_r" in model.bodies else -BENT  # gait2392 counts extension
    still = np.zeros_like(value)
    return CoordinateMotion(np.arange(len(BENT)) * 1.0, names, value, still, still, None, None)


def bodies_beyond(model: OpenSimModel, knee: Joint) -> set[str]:
    """The bodies that a joint carries."""
    found = {knee.outboard.body}
    for joint in model.joints:
        if joint.inboard.body in found:
            found.add(joint.outboard.body)
    return found


def test_feet_without_a_load_are_counted_in_the_frames_of_the_time_range() -> None:
    """The first contact of the left foot is not measured: 0.02 to 0.42 s and the last frames."""
    folder = recorded("rajagopal_walk")
    model = read_osim(folder / "reference" / "rajagopal_lai_uhlrich_2023_scaled.osim")
    forces = {"loads": folder / "walk_grf.mot", "cutoff_hz": 6.0}
    shared = {"dofs": ["ankle_angle_l"], "muscles": ["soleus_l", "tibant_l"]}
    counted = {}
    for start, end in ((0.0, 2.4), (0.3, 1.4), (0.9, 1.4)):
        body = measured_model(
            model, folder / "reference" / "opensim_ik.mot", **forces, **shared, start_s=start, end_s=end
        )
        (counted[start],) = [note for note in body.notes if "stands without" in note] or [""]
    assert "in 75 of 238 frames" in counted[0.0] and "in 10 of 111 frames" in counted[0.3]
    assert not counted[0.9]


def test_models_of_many_trials_are_let_go(small: OpenSimModel) -> None:
    """A process that computes many trials keeps the last few models, whatever was found of their segments."""
    kept = []
    for _ in range(20):
        model = replace(small)
        for joint in model.joints:
            segments(model).distal_segment(joint)
            segments(model).rigid(joint.outboard.body)
        kept.append(weakref.ref(model))
    del model
    gc.collect()
    assert sum(each() is not None for each in kept) <= 8
