"""Laws of planar bodies: reactions by three routes, flight and support, agreement with the model in space."""

from dataclasses import replace

import numpy as np
import pytest
from planar_bodies import angles_between, planar_motion, random_motion, sagittal_tree
from planar_closed_forms import constraint_jacobian, joint_reactions_classical, lower_limb_reactions
from refusals import refused

from benchmarks.planar import Load, PlanarMotion, inverse_dynamics, joint_reactions, planar_body
from benchmarks.planar.planar_dynamics import (
    accelerate,
    base_load,
    load_force,
    mass_diagonal,
    torque_matrix,
    weight_force,
)
from benchmarks.planar.planar_tree import MODELS, place
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.dynamics import (
    Targets,
    Wrench,
    differentiate,
    fit_pose,
    human_model,
    joint_loads,
    projected_moments,
    segment_motion,
)
from musclesolve.dynamics.kinematics.motion_derivatives import motion_from
from musclesolve.laboratory.forces import anatomy, ground_reactions
from musclesolve.laboratory.motion.signals.filter_choice import filter_choice


def random_load(tree, segment, frames=12):
    rng = np.random.default_rng(11)
    return Load(segment, 600.0 * rng.normal(size=(frames, 2)), 80.0 * rng.normal(size=frames))


def driven(tree, motion, loads):
    """Forces (T, 3B) that make the motion: outside loads, joint torques, and what the base needs."""
    moments = inverse_dynamics(tree, motion, loads)
    every = [*loads, base_load(tree, motion, moments.residual)]
    return load_force(tree, place(tree, motion.q), every) + moments.torque @ torque_matrix(tree).T


@pytest.mark.parametrize("sex", ["female", "male"])
def test_closed_forms_of_the_lower_limb_agree_with_the_general_route(sex):
    tree = planar_body("seven_segment", 61.0, 1.68, sex)
    motion, load = random_motion(tree, 50), random_load(tree, "foot", 50)
    general = joint_reactions(tree, motion, load_force(tree, place(tree, motion.q), [load]))[:, :6]
    written = lower_limb_reactions(tree, motion, load.force)
    assert np.abs(general - written).max() < 1e-9 * np.abs(general).max()


def test_closed_forms_as_printed():
    """(3.3) letter by letter, for segments with their mass centers on the line."""
    tree = planar_body("seven_segment")
    center = tree.center.copy()
    center[3] = [0.08, 0.0]
    tree = replace(tree, center=center)
    motion, load = random_motion(tree), random_load(tree, "foot")
    f, fd, fdd = (x[:, 3:6].T for x in (motion.q, motion.qd, motion.qdd))
    c, m, (l2, l3) = tree.center[1:4, 0], tree.mass[1:4], tree.mount[2:4, 0]
    x_h, y_h = motion.qdd[:, :2].T

    def ax(r, i):
        return r * fdd[i] * np.cos(f[i]) - r * fd[i] ** 2 * np.sin(f[i])

    def ay(r, i):
        return r * fdd[i] * np.sin(f[i]) + r * fd[i] ** 2 * np.cos(f[i])

    x = [x_h + ax(c[0], 0), x_h + ax(l2, 0) + ax(c[1], 1), x_h + ax(l2, 0) + ax(l3, 1) + ax(c[2], 2)]
    y = [y_h + ay(c[0], 0), y_h + ay(l2, 0) + ay(c[1], 1), y_h + ay(l2, 0) + ay(l3, 1) + ay(c[2], 2)]
    expected = []
    for first in range(3):
        expected.append(load.force[:, 0] - sum(m[i] * x[i] for i in range(first, 3)))
        inertia = sum(m[i] * (tree.gravity + y[i]) for i in range(first, 3))
        expected.append(load.force[:, 1] - inertia)
    written = lower_limb_reactions(tree, motion, load.force)
    np.testing.assert_allclose(written, np.column_stack(expected), rtol=1e-9, atol=1e-9)


def test_closed_forms_are_for_a_leg_of_three_segments():
    tree = planar_body("nine_segment")
    motion = random_motion(tree)
    with refused("conflict", "thigh, shank, foot"):
        lower_limb_reactions(tree, motion, np.zeros((12, 2)))


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (Load("tail", np.zeros((12, 2)), np.zeros(12)), ("unknown_name", "tail")),
        (Load("foot", np.zeros((1, 2)), np.zeros(1)), ("bad_shape", "(1, 2)")),
        (Load("foot", np.full((12, 2), np.nan), np.zeros(12)), ("not_finite",)),
    ],
)
def test_loads_that_cannot_be_are_refused(load, words):
    tree = planar_body("seven_segment")
    with refused(*words):
        inverse_dynamics(tree, random_motion(tree), [load])


@pytest.mark.parametrize("name", MODELS)
def test_reactions_without_inversion_agree_with_the_classical_formula(name):
    """(2.10) and (2.11), the latter from forces alone."""
    tree = planar_body(name)
    motion = random_motion(tree)
    force = driven(tree, motion, [random_load(tree, tree.names[3])])
    direct = joint_reactions(tree, motion, force)
    classical = joint_reactions_classical(tree, motion.q, motion.qd, force)
    assert np.abs(direct - classical).max() < 1e-9 * np.abs(direct).max()


@pytest.mark.parametrize("name", MODELS)
def test_reactions_hold_every_segment(name):
    """M pdd = h - C^T lambda, segment by segment (2.2)."""
    tree = planar_body(name)
    motion = random_motion(tree)
    force = driven(tree, motion, [random_load(tree, tree.names[3])])
    reaction = joint_reactions(tree, motion, force)
    p, _, pdd = motion.absolute(tree)
    held = np.einsum("tci,tc->ti", constraint_jacobian(tree, p), reaction)
    balance = mass_diagonal(tree) * pdd - force - weight_force(tree) + held
    assert np.abs(balance).max() < 1e-9 * np.abs(force).max()


def test_the_hip_of_a_standing_body_bears_the_trunk():
    """Force of the distal on the proximal segment: the thighs push the trunk up, the ground pushes the feet."""
    tree = planar_body("seven_segment", 73.0)
    q = np.concatenate([np.zeros(2), tree.rest])[None]
    still = PlanarMotion(q, 0.0 * q, 0.0 * q)
    weight = tree.mass.sum() * tree.gravity
    ground = Load("foot", np.array([[0.0, weight]]), np.zeros(1))
    reaction = joint_reactions(tree, still, load_force(tree, place(tree, q), [ground]))[0].reshape(-1, 2)
    trunk = weight - tree.mass[1:4].sum() * tree.gravity
    np.testing.assert_allclose(reaction[0], [0.0, trunk], atol=1e-10)
    np.testing.assert_allclose(reaction[3], [0.0, -tree.mass[4:6].sum() * tree.gravity], atol=1e-10)


@pytest.mark.parametrize("name", MODELS)
def test_forward_dynamics_gives_back_the_motion(name):
    tree = planar_body(name)
    motion = random_motion(tree)
    found = accelerate(tree, motion.q, motion.qd, driven(tree, motion, [random_load(tree, tree.names[2])]))
    np.testing.assert_allclose(found, motion.qdd, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_power_balances(name):
    tree = planar_body(name)
    motion = random_motion(tree)
    force = driven(tree, motion, [random_load(tree, tree.names[3])]) + weight_force(tree)
    _, pd, pdd = motion.absolute(tree)
    np.testing.assert_allclose(
        (force * pd).sum(axis=1), (mass_diagonal(tree) * pdd * pd).sum(axis=1), rtol=1e-9
    )


TRUNK = ["pelvis", "hip_line", "hand", "forearm", "upper_arm", "shoulder", "girdle", "thorax", "neck", "head"]


def walker(model):
    """The model in space seen from the side, both hips in one point."""
    groups = {"trunk": ("", "", TRUNK)}
    for side in "rl":
        parents = ("trunk", f"thigh_{side}", f"shank_{side}")
        for parent, part, joint in zip(
            parents, ("thigh", "shank", "foot"), ("hip", "knee", "ankle"), strict=True
        ):
            own = [body.name for body in model.topology.bodies]
            own = [name for name in own if name.startswith(part) and name.endswith(f"_{side}")]
            groups[f"{part}_{side}"] = (parent, f"{joint}_{side}", own)
    return sagittal_tree(model, groups)


def test_motion_in_the_plane_has_the_moments_and_reactions_of_the_model_in_space(model):
    """Pelvis, hips, knees and ankles turning in the sagittal plane: planar and spatial dynamics are the same."""
    tree = walker(model)
    assert tree.mass.sum() == pytest.approx(model.mass.total)
    rng, frames = np.random.default_rng(15), 20
    turns = {f"{dof}_{side}": (f"{part}_{side}", sign)
             for side in "rl"
             for dof, part, sign in (("hip_flexion", "thigh", 1), ("knee_flexion", "shank", -1),
                                     ("ankle_dorsiflexion", "foot", 1))}  # fmt: skip
    space, plane = (np.zeros((3, frames, n)) for n in (len(model.topology.dof_names), 9))
    plane[0, :, 2:] = tree.rest
    base = rng.normal(size=(3, frames, 3))
    for name, values in zip(("pelvis_tx", "pelvis_tz"), (base[..., 0], base[..., 1]), strict=True):
        space[..., model.dof(name)] = values
    space[..., model.dof("pelvis_tilt")] = base[..., 2]
    plane[..., :2] = base[..., :2]
    plane[..., 2:] -= base[..., 2:]
    for name, (segment, sign) in turns.items():
        value = rng.normal(size=(3, frames))
        space[..., model.dof(name)] = value
        plane[..., 2:] += sign * value[..., None] * tree.distal_segments[:, tree.segment(segment)]
    motion = motion_from(model, np.arange(frames, dtype=float), *space)
    wrenches, loads = [], []
    for side in "rl":
        force, moment = 500.0 * rng.normal(size=(frames, 3)), 50.0 * rng.normal(size=(frames, 3))
        wrenches.append(Wrench(f"foot_{side}", force, moment))
        loads.append(Load(f"foot_{side}", force[:, [0, 2]], -moment[:, 1]))
    flat = PlanarMotion(*plane)
    planar = inverse_dynamics(tree, flat, loads)
    moments = projected_moments(model, motion, wrenches)
    scale = np.abs(moments).max()
    for name, (segment, sign) in turns.items():
        found = sign * planar.torque[:, tree.joint(segment)]
        assert np.abs(found - moments[:, model.dof(name)]).max() < 1e-11 * scale, name
    reaction = joint_reactions(tree, flat, load_force(tree, place(tree, flat.q), loads))
    segments = segment_motion(model, motion)
    for name, (segment, _) in turns.items():
        near = joint_loads(model, motion, segments, wrenches, [name])[name].force[:, [0, 2]]
        joint = tree.joint(segment)
        # Spatial: near on far; planar: far on near.
        assert np.abs(near + reaction[:, 2 * joint : 2 * joint + 2]).max() < 1e-11 * scale, name


@pytest.fixture(scope="module")
def stride():
    """The bundled stride on the model in space: model, motion, wrenches."""
    trial = read_trial(reference_stride())
    measured = anatomy(trial, 0.1)
    person = trial.subject
    model = human_model(person.mass, person.stature, person.sex, measured.offsets, person.shoe_mass)
    fit = fit_pose(model, Targets.build(model, measured.points, measured.directions))
    motion = differentiate(model, measured.time, fit.coordinates)
    ground = ground_reactions(trial.forces, motion.time, filter_choice(trial, trial.settings.filter))
    start, end = trial.time_range
    keep = (motion.time > start - 1e-6) & (motion.time < end + 1e-6)
    return model, motion, [Wrench(f"foot_{g.side}", g.force, g.moment) for g in ground], keep


def planar_leg(model, motion, wrenches, keep, side):
    """Moments (T, 3) of hip, knee, ankle of one leg, seen from the side; the thigh is the base, H its own hip."""
    tree = sagittal_tree(
        model,
        {
            part: (parent, f"{joint}_{side}", [b.name for b in model.topology.bodies
                                              if b.name.startswith(part) and b.name.endswith(f"_{side}")])
            for part, parent, joint in (("thigh", "", "hip"), ("shank", "thigh", "knee"), ("foot", "shank", "ankle"))
        },
    )  # fmt: skip
    at = {
        name: motion.q[:, model.slot(f"{name}_{side}")][:, [0, 2]]
        for name in ("hip", "knee", "ankle", "heel", "toe")
    }
    angles = [angles_between(at[a], at[b]) for a, b in (("hip", "knee"), ("knee", "ankle"), ("heel", "toe"))]
    flat = planar_motion(tree, motion.time, np.column_stack([at["hip"], *angles]))
    load = next(w for w in wrenches if w.body == f"foot_{side}")
    found = inverse_dynamics(tree, flat, [Load("foot", load.force[:, [0, 2]], -load.moment[:, 1])])
    return np.column_stack([found.residual[:, 2], -found.torque[:, 0], found.torque[:, 1]])[keep]


@pytest.mark.parametrize("side", ["r", "l"])
def test_a_stride_seen_from_the_side(stride, side):
    """Walking is nearly planar: a leg in the plane has the sagittal moments of the leg in space within some N m."""
    model, motion, wrenches, keep = stride
    planar = planar_leg(model, motion, wrenches, keep, side)
    names = [f"{dof}_{side}" for dof in ("hip_flexion", "knee_flexion", "ankle_dorsiflexion")]
    space = projected_moments(model, motion, wrenches)[keep][:, [model.dof(name) for name in names]]
    difference = planar - space
    # Measured here: rms 1.8, 0.9, 0.8 N m, largest 3.5, 2.2, 2.8, of ranges of 84, 62 and 129 N m.
    assert (np.sqrt((difference**2).mean(axis=0)) < [3.0, 1.5, 1.5]).all()
    assert (np.abs(difference).max(axis=0) < [8.0, 3.5, 4.0]).all()
