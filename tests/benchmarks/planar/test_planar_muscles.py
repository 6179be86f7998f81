"""Muscles of planar bodies: B is virtual work, and the sagittal projection is that of the muscles of the leg."""

from dataclasses import replace

import numpy as np
import pytest
from planar_bodies import complex_step, random_motion
from refusals import refused

import muscle_db
from benchmarks.planar import PlanarMuscles, Switches, planar_body
from benchmarks.planar.planar_tree import allowed, place, rotated
from benchmarks.sagittal_muscles import sagittal_groups, sagittal_muscles
from musclesolve import muscle_geometry

LEG = ("thigh", "shank", "foot")


@pytest.fixture(scope="module")
def tree():
    return planar_body("nine_segment")


@pytest.fixture(scope="module", params=[False, True])
def muscles(tree, request):
    return sagittal_muscles(tree, keep_lateral=request.param)


def poses(tree, count=40):
    """Anatomical poses: hip -20 to 100 degrees, knee 0 to 120, ankle -30 to 20."""
    draw = np.random.default_rng(4).uniform(size=(count, 5))
    q = np.tile(np.concatenate([np.zeros(2), tree.rest]), (count, 1))
    pelvis, hip, knee, ankle = (draw[:, :4] * [0.6, 2.1, 2.1, 0.9] - [0.3, 0.35, 0.0, 0.5]).T
    q[:, 2:] += pelvis[:, None]
    q[:, 2:6] += hip[:, None] - knee[:, None] * [0, 1, 1, 1] + ankle[:, None] * [0, 0, 1, 1]
    q[:, :2] = draw[:, 3:]
    return q


def test_fifteen_muscles_of_which_the_seventh_runs_from_pelvis_to_shank(tree, muscles):
    assert len(muscles.names) == 15
    lines = np.flatnonzero(muscles.share[6])
    assert set(muscles.segment[np.isin(muscles.line, lines)]) == {
        tree.segment("pelvis"),
        tree.segment("shank"),
    }


def test_strengths_are_summed_over_members_and_legs(tree, muscles):
    database = muscle_db.load("silva_2003")
    for name, force in zip(muscles.names, muscles.max_force, strict=True):
        expected = 2.0 * sum(database[m].max_isometric_force for m in sagittal_groups()[name])
        assert force == pytest.approx(expected)
    np.testing.assert_allclose(muscles.share.sum(axis=1), 1.0)
    members = [m for names in sagittal_groups().values() for m in names]
    assert len(members) == len(set(members)) == 28


def test_b_is_minus_the_derivative_of_length_in_closed_and_in_open_joints(tree, muscles):
    rng = np.random.default_rng(6)
    for p in (place(tree, poses(tree)), place(tree, poses(tree)) + 0.1 * rng.normal(size=(40, 27))):
        expected = -complex_step(lambda x: muscles.length(tree, x), p)
        actual = np.swapaxes(muscles.force_matrix(tree, p), 1, 2)
        np.testing.assert_allclose(actual, expected, atol=1e-12)


def test_virtual_work_in_independent_coordinates(tree, muscles):
    q = poses(tree)
    bar = np.swapaxes(allowed(tree, q), 1, 2) @ muscles.force_matrix(tree, place(tree, q))
    expected = -complex_step(lambda x: muscles.length(tree, place(tree, x)), q)
    np.testing.assert_allclose(np.swapaxes(bar, 1, 2), expected, atol=1e-12)
    # Muscles are inside the body: they move neither its center nor turn it as a whole.
    np.testing.assert_allclose(bar[:, :2], 0.0, atol=1e-12)
    np.testing.assert_allclose(bar[:, 2:].sum(axis=1), 0.0, atol=1e-12)


def test_moment_arms_are_torques_of_the_joints(tree, muscles):
    """Turning all that hangs behind a joint shortens the muscle by its moment arm."""
    q = poses(tree)
    arms = muscles.moment_arms(tree, q, place(tree, q))
    by_angle = -complex_step(lambda x: muscles.length(tree, place(tree, x)), q)[..., 2:]
    expected = np.swapaxes(by_angle @ tree.distal_segments, 1, 2)[:, tree.joints]
    np.testing.assert_allclose(arms, expected, atol=1e-12)
    assert np.abs(arms[:, 3:]).max() < 1e-12  # only hip, knee and ankle have muscles


def test_the_printed_column_of_the_seventh_muscle(tree):
    """(2)-(4), the pelvic frame of (2) turned counter-clockwise (correction E3), sixth entries of (3) as printed."""
    rng = np.random.default_rng(7)
    (xi_a, eta_a), b = rng.normal(size=(2, 2))
    shank, pelvis = tree.segment("shank"), tree.segment("pelvis")
    # The pelvic frame of the paper has its xi where minus eta is here, its eta where xi is.
    muscle = PlanarMuscles(
        ("seventh",), np.ones(1), np.ones((1, 1)), np.zeros(2, dtype=int), np.array([pelvis, shank]),
        np.array([[eta_a, -xi_a], b]), np.zeros(2),
    )  # fmt: skip
    q = random_motion(tree).q
    p = place(tree, q)
    (x_h, y_h), l1, t1, t2, t5 = q[:, :2].T, tree.mount[shank, 0], q[:, 2], q[:, 3], q[:, 6]
    x_a = x_h - xi_a * np.cos(t5) + eta_a * np.sin(t5)
    y_a = y_h - xi_a * np.sin(t5) - eta_a * np.cos(t5)
    x_b = x_h + l1 * np.sin(t1) + b[0] * np.sin(t2) + b[1] * np.cos(t2)
    y_b = y_h - l1 * np.cos(t1) - b[0] * np.cos(t2) + b[1] * np.sin(t2)
    length = np.hypot(x_b - x_a, y_a - y_b)
    sine, cosine = (x_b - x_a) / length, (y_a - y_b) / length
    (x_c2, y_c2), (x_c5, y_c5) = p[:, 3:5].T, p[:, 12:14].T
    expected = np.zeros((len(q), 27))
    expected[:, 3], expected[:, 4] = -sine, cosine
    expected[:, 5] = (y_b - y_c2) * sine - (x_c2 - x_b) * cosine
    expected[:, 12], expected[:, 13] = sine, -cosine
    expected[:, 14] = (y_c5 - y_a) * sine + (x_c5 - x_a) * cosine
    np.testing.assert_allclose(muscle.force_matrix(tree, p)[..., 0], expected, atol=1e-12)


def test_controls_are_numbered_as_in_the_paper(tree, muscles):
    """Twenty controls; the column of tau_7 is the 19th, with +1 in row 24 and -1 in row 18."""
    control = muscles.control_matrix(tree, place(tree, poses(tree)), LEG)
    assert control.shape[1:] == (27, 20)
    expected = np.zeros(27)
    expected[23], expected[17] = 1.0, -1.0
    np.testing.assert_array_equal(control[:, :, 18], np.broadcast_to(expected, (40, 27)))


def scaled_to(model):
    """The nine-segment body with the thigh and shank of the 3D model."""
    tree = planar_body("nine_segment")
    mount = tree.mount.copy()
    for name, far, near in (("shank", "knee_r", "hip_r"), ("foot", "ankle_r", "knee_r")):
        length = np.linalg.norm(model.standing[model.slot(far)] - model.standing[model.slot(near)])
        mount[tree.segment(name)] = [length, 0.0]
    width = np.linalg.norm(model.standing[model.slot("hip_r")] - model.standing[model.slot("hip_l")])
    return replace(tree, mount=mount, stature=model.stature), width


def test_with_lateral_distances_lengths_and_arms_are_those_of_the_leg_in_space(model):
    tree, width = scaled_to(model)
    every = {name: (name,) for names in sagittal_groups().values() for name in names}
    muscles = sagittal_muscles(tree, groups=every, legs=1, hip_width=width, keep_lateral=True)
    draw = np.random.default_rng(8).uniform([-0.3, 0.0, -0.4], [1.8, 1.9, 0.4], (60, 3))
    hip, knee, ankle = draw.T
    database = muscle_db.load("silva_2003")
    angles = {"hip_flexion_r": hip, "knee_flexion_r": knee, "ankle_dorsiflexion_r": ankle}
    space = muscle_geometry(angles, None, database, model)
    space = space.sel(muscle=[f"{database[name].name}_r" for name in every])
    q = np.tile(np.concatenate([np.zeros(2), tree.rest]), (60, 1))
    q[:, 2:6] += hip[:, None] - knee[:, None] * [0, 1, 1, 1] + ankle[:, None] * [0, 0, 1, 1]
    p = place(tree, q)
    np.testing.assert_allclose(muscles.length(tree, p), space["musculotendon_length"], atol=1e-12)
    arms = muscles.moment_arms(tree, q, p)
    for joint, (dof, sense) in enumerate(
        [("hip_flexion", 1), ("knee_flexion", -1), ("ankle_dorsiflexion", 1)]
    ):
        expected = space["moment_arm"].sel(dof=f"{dof}_r")
        np.testing.assert_allclose(sense * arms[:, joint], expected, atol=1e-12, err_msg=dof)


def test_projection_takes_little_from_muscles_of_the_sagittal_plane(tree):
    """Standing, the projected lines are at most as long as the muscles, and at least nine tenths."""
    flat, whole = (sagittal_muscles(tree, keep_lateral=keep) for keep in (False, True))
    p = place(tree, np.concatenate([np.zeros(2), tree.rest])[None])
    ratio = (flat.length(tree, p) / whole.length(tree, p))[0]
    assert ratio.min() > 0.9 and ratio.max() <= 1.0


@pytest.mark.parametrize(
    ("name", "joint", "sign"),
    [
        ("iliacus", 0, 1), ("psoas", 0, 1), ("gluteus_maximus", 0, -1), ("rectus_femoris", 0, 1),
        ("medial_hamstrings", 0, -1), ("biceps_femoris_long_head", 0, -1),
        ("rectus_femoris", 1, 1), ("vasti", 1, 1), ("medial_hamstrings", 1, -1),
        ("biceps_femoris_short_head", 1, -1), ("gastrocnemius", 1, -1),
        ("gastrocnemius", 2, -1), ("soleus", 2, -1), ("tibialis_anterior", 2, 1), ("toe_extensors", 2, 1),
    ],
)  # fmt: skip
def test_anatomical_actions_from_standing_to_a_slight_squat(tree, muscles, name, joint, sign):
    """Counter-clockwise: hip flexion, knee extension, dorsiflexion."""
    bend = np.linspace(0.0, 0.9, 10)[:, None]
    q = np.concatenate([np.zeros(2), tree.rest]) + np.zeros((10, 11))
    q[:, 2:4] += bend * [1.0, -0.5]
    q[:, 6:] -= 0.4 * bend
    arm = muscles.moment_arms(tree, q, place(tree, q))[:, joint, muscles.names.index(name)]
    assert (sign * arm > 0.002).all()


def test_muscles_on_the_seven_segment_body(muscles):
    seven = planar_body("seven_segment")
    segments = {"pelvis": "trunk", "femur": "thigh", "tibia": "shank", "foot": "foot"}
    on_trunk = sagittal_muscles(seven, segments=segments, keep_lateral=bool(muscles.lateral.any()))
    np.testing.assert_allclose(on_trunk.local, muscles.local, atol=1e-15)
    with refused("unknown_name", "pelvis"):
        sagittal_muscles(seven)
    with refused("missing_argument", "stature"):
        sagittal_muscles(replace(seven, stature=None), segments=segments)


def test_points_lie_where_the_standing_body_has_them(tree):
    """into_plane and the frames are inverse to each other, for the foot too, whose frame is turned."""
    muscles = sagittal_muscles(tree)
    soleus = muscles.line == np.flatnonzero(muscles.share[muscles.names.index("soleus")])[0]
    heel = muscles.local[soleus][-1]
    position = rotated(heel, np.array(0.5 * np.pi))
    reference = muscle_db.load("silva_2003").reference
    scale = tree.stature / reference.stature / reference["foot"].position_scale
    expected = scale * np.array(muscle_db.load("silva_2003")["soleus"].path[-1].position)[[0, 2]]
    np.testing.assert_allclose(position, expected, atol=1e-15)


def test_lines_of_one_point_are_refused():
    with refused("bad_muscle_set"):
        PlanarMuscles(
            ("x",), np.ones(1), np.ones((1, 1)), np.zeros(1, dtype=int), np.zeros(1, dtype=int),
            np.zeros((1, 2)), np.zeros(1),
        )  # fmt: skip


def test_a_hip_off_the_origin_of_the_pelvis_takes_its_muscles_along(tree):
    mount = tree.mount.copy()
    mount[tree.segment("thigh")] = [0.04, -0.03]
    moved = replace(tree, mount=mount)
    q = poses(tree)
    expected = sagittal_muscles(tree).length(tree, place(tree, q))
    np.testing.assert_allclose(sagittal_muscles(moved).length(moved, place(moved, q)), expected, atol=1e-14)


def test_ranges_of_conditional_points_count_from_standing(tree):
    """A point on the foot that is on the line only beyond 10 degrees of dorsiflexion; the foot's own angle is 90."""
    shank, foot = tree.segment("shank"), tree.segment("foot")
    local = np.array([[0.2, 0.03], [0.05, 0.05], [0.12, -0.02]])
    with_point, without = (
        PlanarMuscles(
            ("x",), np.ones(1), np.ones((1, 1)), np.zeros(len(kept), dtype=int), np.array([shank, foot, foot])[kept],
            local[kept], np.zeros(len(kept)),
        )
        for kept in ([0, 1, 2], [0, 2])
    )  # fmt: skip
    one = np.ones(1, dtype=int)
    muscle = replace(with_point, switches=Switches(one, foot * one, np.radians([10.0]), np.radians([60.0])))
    q = np.tile(np.concatenate([np.zeros(2), tree.rest]), (2, 1))
    q[:, 4] += np.radians([9.0, 11.0])
    p = place(tree, q)
    expected = [without.length(tree, p)[0, 0], with_point.length(tree, p)[1, 0]]
    np.testing.assert_allclose(muscle.length(tree, p)[:, 0], expected, atol=1e-15)
