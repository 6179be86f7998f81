"""Muscle geometry against anatomy: actions, standing fiber lengths, published moment arms."""

import numpy as np
import pytest
from refusals import refused
from whole_legs import WHOLE_LEGS

import muscle_db
import musclesolve as ms

KNEE_DEG = np.arange(0.0, 71.0, 10.0)


@pytest.fixture(scope="module", params=WHOLE_LEGS)
def database(request):
    return muscle_db.load(request.param)


@pytest.fixture(scope="module")
def standing(database):
    return ms.muscle_geometry({}, muscles=database)


def arm(geometry, muscle, dof):
    return geometry.moment_arm.sel(muscle=muscle, dof=dof).values


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize(
    ("muscle", "dof", "sign"),
    [
        ("gluteus_medius_anterior", "hip_adduction", -1),
        ("gluteus_medius_middle", "hip_adduction", -1),
        ("gluteus_medius_posterior", "hip_internal_rotation", -1),
        ("gluteus_maximus_middle", "hip_flexion", -1),
        ("psoas", "hip_flexion", 1),
        ("iliacus", "hip_flexion", 1),
        ("adductor_longus", "hip_adduction", 1),
        ("rectus_femoris", "hip_flexion", 1),
        ("semimembranosus", "hip_flexion", -1),
        ("semimembranosus", "knee_flexion", 1),
        ("biceps_femoris_short_head", "knee_flexion", 1),
        ("soleus", "ankle_dorsiflexion", -1),
        ("gastrocnemius_medial", "ankle_dorsiflexion", -1),
        ("tibialis_anterior", "ankle_dorsiflexion", 1),
        ("tibialis_posterior", "ankle_inversion", 1),
        ("peroneus_longus", "ankle_inversion", -1),
        ("piriformis", "hip_internal_rotation", -1),
    ],
)
def test_classic_actions_in_standing(standing, side, muscle, dof, sign):
    assert sign * arm(standing, f"{muscle}_{side}", f"{dof}_{side}")[0] > 0.002


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "muscle", ["vastus_medialis_r", "vastus_intermedius_r", "vastus_lateralis_r", "rectus_femoris_r"]
)
def test_quadriceps_extend_the_knee_throughout(database, muscle):
    geometry = ms.muscle_geometry(
        {"knee_flexion_r": np.deg2rad(np.arange(0.0, 101.0, 5.0))}, muscles=database
    )
    assert (arm(geometry, muscle, "knee_flexion_r") < -0.01).all()


@pytest.mark.parametrize("muscle", ["gastrocnemius_medial_r", "gastrocnemius_lateral_r"])
def test_gastrocnemius_flexes_the_knee(database, muscle):
    geometry = ms.muscle_geometry({"knee_flexion_r": np.deg2rad(np.arange(0.0, 61.0, 5.0))}, muscles=database)
    assert (arm(geometry, muscle, "knee_flexion_r") > 0.0).all()


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2023"])
def test_gastrocnemius_flexes_the_knee_in_a_squat(name):
    """With the hip and the ankle bent too; the straight paths of the source extend it from 80 degrees on."""
    squat = np.linspace(0.0, 1.0, 25)
    geometry = ms.muscle_geometry(
        {"knee_flexion_r": 2.1 * squat, "hip_flexion_r": 1.6 * squat, "ankle_dorsiflexion_r": 0.5 * squat},
        muscles=muscle_db.load(name),
    )
    for muscle in ("gastrocnemius_medial_r", "gastrocnemius_lateral_r"):
        assert (arm(geometry, muscle, "knee_flexion_r") > 0.005).all()
        assert not geometry.passive_force.sel(muscle=muscle)[-1]


def test_standing_fibers_are_of_a_length_that_works(standing):
    normalized = standing.normalized_fiber_length.values
    assert (normalized > 0.4).all() and (normalized < 1.5).all()


def test_quiet_standing_does_not_stretch_the_quadriceps(standing):
    for muscle in ("rectus_femoris", "vastus_medialis", "vastus_intermedius", "vastus_lateralis"):
        assert (standing.passive_force.sel(muscle=[f"{muscle}_r", f"{muscle}_l"]).values == 0.0).all()


def test_achilles_moment_arm_is_that_of_the_literature(standing):
    """Maganaris et al. (2000, J Anat 197) and the model behind the table: about 4 to 5 cm in neutral."""
    assert -0.055 < arm(standing, "soleus_r", "ankle_dorsiflexion_r")[0] < -0.035


def test_poses_are_along_one_axis_and_other_angles_are_zero(database, standing):
    angles = {"knee_flexion_r": np.deg2rad(KNEE_DEG), "hip_flexion_r": 0.2}
    geometry = ms.muscle_geometry(angles, muscles=database)
    assert geometry.sizes == {"pose": KNEE_DEG.size, "dof": 14, "muscle": 2 * len(database)}
    left = [name for name in geometry.muscle.values if name.endswith("_l")]
    np.testing.assert_allclose(
        geometry.musculotendon_length.sel(muscle=left),
        np.broadcast_to(standing.musculotendon_length.sel(muscle=left), (KNEE_DEG.size, len(database))),
    )
    assert geometry.moment_arm.attrs["units"] == "m"


@pytest.mark.parametrize(
    ("angles", "words"),
    [
        ({"knee": 0.1}, ("unknown_name", "knee_flexion")),
        ({"knee_flexion_r": [0.1, np.nan]}, ("bad_number", "knee_flexion_r")),
        (
            {"knee_flexion_r": [0.1, 0.2], "hip_flexion_r": [0.1, 0.2, 0.3]},
            ("bad_shape", "2 (angle of knee_flexion_r)", "3 (angle of hip_flexion_r)"),
        ),
        ({"pelvis_tilt": 0.1}, ("unknown_name", "pelvis_tilt")),
        ({"knee_flexion_r": "x"}, ("bad_number", "knee_flexion_r")),
        ({"knee_flexion_r": [[0.1]]}, ("bad_number", "knee_flexion_r")),
        ({"knee_flexion_r": []}, ("bad_number", "knee_flexion_r")),
        ({"knee_flexion_r": [0.0, -90.0]}, ("bad_number", "-90")),
        ({"knee_flexion_r": 5.0}, ("bad_number", "286 degrees")),
    ],
)
def test_bad_angles_are_named(angles, words):
    with refused(*words):
        ms.muscle_geometry(angles)


@pytest.mark.parametrize("angles", [{"knee_flexion_r": [-0.8, 1.0]}, {"ankle_dorsiflexion_l": 3.0}])
def test_angles_that_nobody_reaches_are_a_warning(angles):
    with pytest.warns(UserWarning, match=r"rad that people reach: .* numpy.radians\(angle\)") as warned:
        ms.muscle_geometry(angles)
    assert warned[0].filename == __file__


def test_rates_in_degrees_are_named():
    bent, fast = {"knee_flexion_r": 0.5}, {"knee_flexion_r": [4.0, -300.0]}
    for of_rates in (
        lambda: ms.muscle_geometry(bent, fast),
        lambda: ms.pose_problem(bent, fast, {"knee_flexion_r": 20.0}),
    ):
        with refused("bad_number", "knee_flexion_r", "-300 rad/s", "numpy.radians(rate)"):
            of_rates()
    ms.muscle_geometry(bent, {"knee_flexion_r": np.radians([4.0, -300.0])})


def test_a_set_by_its_name_or_file(tmp_path):
    by_name = ms.muscle_geometry({"knee_flexion_r": 1.0}, muscles="rajagopal_2023")
    loaded = muscle_db.load("rajagopal_2023")
    assert by_name.identical(ms.muscle_geometry({"knee_flexion_r": 1.0}, muscles=loaded))
    path = tmp_path / "own.toml"
    path.write_text(muscle_db.to_toml(loaded), encoding="utf-8")
    assert by_name.identical(ms.muscle_geometry({"knee_flexion_r": 1.0}, muscles=path))
    with refused("bad_type", "muscles", "int"):
        ms.muscle_geometry({"knee_flexion_r": 0.0}, muscles=3)
    with refused("bad_type", "subject", "str"):
        ms.muscle_geometry({}, subject="gait2393")
    with refused("bad_muscle_set", "gait2393", "gait2392"):
        ms.muscle_geometry({}, muscles="gait2393")


@pytest.mark.parametrize("name", ["silva_2003", "gait2392"])
def test_rows_of_poses_give_lengths_and_moment_arms(name):
    """A row times the velocities of a unit rate is -r; lengths of two poses beside each other differ by the row."""
    angles, step = {"hip_flexion_r": 0.3, "knee_flexion_r": np.array([0.2, 0.9])}, 1e-5
    geometry = ms.muscle_geometry(angles, muscles=name)
    for dof in ("hip_flexion_r", "knee_flexion_r"):
        found = ms.muscles.pose_rows(angles, {dof: 1.0}, name)
        along = np.einsum("pnix,pix->pn", found.rows, found.motion.qd)
        np.testing.assert_allclose(
            along, -geometry.moment_arm.sel(dof=dof, muscle=list(found.muscle)), atol=1e-12
        )
        before, after = (
            ms.muscles.pose_rows(angles | {dof: angles[dof] + shift}, None, name).length
            for shift in (-step, step)
        )
        np.testing.assert_allclose(along, (after - before) / (2.0 * step), atol=1e-7)
    assert found.rows.shape == (2, len(found.muscle), *found.motion.qd.shape[1:])
