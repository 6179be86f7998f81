"""The road run again: without errors it is the road, with errors it obeys the laws of mechanics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from replays import keys_of, replay_of

import muscle_db
import musclesolve as ms
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.trial.dependent_settings import error_keys
from musclesolve.models.body_sharing import share_part
from musclesolve.sharing.cost import ActivationPower


@pytest.fixture(scope="module")
def trial() -> Trial:
    return read_trial(reference_stride())


@pytest.fixture(scope="module")
def replay(trial: Trial):
    return replay_of(prepare(trial, side="r"), stated=trial.settings.uncertainty.stated)


def errors_of(replay, **some: object) -> dict[str, np.ndarray]:
    none = replay.parameters.errors(np.zeros(replay.parameters.count))
    return {name: np.broadcast_to(some.get(name, 0.0), array.shape) + 0.0 for name, array in none.items()}


def test_it_has_the_sources_that_a_trial_file_may_state(replay) -> None:
    """But for the tilt of the pelvis, which the standing trial shows."""
    stated = set(error_keys("recording")) - {"pelvis_tilt_deg"}
    assert keys_of(replay.parameters.shapes) == stated


def test_without_errors_it_is_the_road(trial: Trial, replay) -> None:
    result = ms.run(trial, side="r")
    body, (leg,) = replay.run(replay.parameters.errors(np.zeros(replay.parameters.count)))
    force = leg.tension
    assert np.abs(force - result["muscle_force"].values).max() < 0.01
    dofs = [body.model.dof(dof) for dof in result["dof"].values]
    assert np.abs(body.moments[:, dofs] - result["joint_moment"].values).max() < 1e-4
    assert (replay.time == result["time"].values).all()


def test_a_shift_of_the_center_of_pressure_adds_its_cross_product_with_the_force(replay) -> None:
    before, shift = replay.body(errors_of(replay)), np.array([0.004, -0.003, 0.0])
    after = replay.body(errors_of(replay, center_of_pressure=shift[:2]))
    model, motion = before.model, before.motion
    for side in "rl":
        force = sum(wrench.force for wrench in before.wrenches if wrench.body == f"foot_{side}")
        dof = model.dof(f"ankle_dorsiflexion_{side}")
        axis = model.tree.axes(motion.q)[:, dof]
        expected = -np.einsum("tx,tx->t", axis, np.cross(shift, force))
        changed = after.moments[:, dof] - before.moments[:, dof]
        assert changed == pytest.approx(expected, abs=1e-9)
        assert np.abs(changed).max() > 2.0  # N m: 4 mm under 700 N


def test_segments_share_the_mass_that_was_weighed(replay) -> None:
    nominal = replay.body(errors_of(replay)).model.mass
    numbers = np.random.default_rng(3).normal(size=replay.parameters.shapes["segment_mass"])
    heavier = replay.body(errors_of(replay, segment_mass=0.1 * numbers)).model.mass
    assert heavier.total == pytest.approx(nominal.total, rel=1e-12)
    some = nominal.mass > 0.0
    factor = heavier.mass[some] / nominal.mass[some]
    assert np.ptp(factor) > 0.1
    assert heavier.inertia[some] == pytest.approx(factor[:, None, None] * nominal.inertia[some], abs=1e-12)


def test_strength_alone_does_not_change_who_pulls(trial: Trial, replay) -> None:
    # The cost is homogeneous in forces over strengths; passive forces and bounds, which are not, are left out.
    sharing, shared = replace(replay.options.sharing, cost=ActivationPower(), least_activation=0.0), []
    for strength in (0.0, 0.1):
        errors = errors_of(replay, strength=strength)
        body = replay.body(errors)
        leg = replay.part(body, errors, 0)
        leg = replace(leg, state=replace(leg.state, passive_force=0.0 * leg.state.passive_force))
        shared.append(share_part(leg, sharing).solution)
    weak, strong = shared
    free = (weak.activation < 0.9).all(axis=1) & (weak.status == 0)
    assert free.sum() > 20
    assert np.abs(strong.force - weak.force)[free].max() < 0.1


def test_muscle_errors_are_factors_and_lengths(replay) -> None:
    body = replay.body(errors_of(replay))
    plain = replay.muscles(body, errors_of(replay), 0).parameters
    count = len(plain.names)
    one = np.zeros(count)
    one[4] = 0.1
    given = {"max_isometric_force": one, "optimal_fiber_length": one, "tendon_slack_length": one}
    other = replay.muscles(body, errors_of(replay, **given), 0).parameters
    for name in ("max_isometric_force", "optimal_fiber_length"):
        ratio = getattr(other, name) / getattr(plain, name)
        assert ratio == pytest.approx(np.exp(one), rel=1e-12)
    longer = (other.tendon_slack_length - plain.tendon_slack_length) / plain.optimal_fiber_length
    assert longer == pytest.approx(one, abs=1e-12)


def test_a_path_moved_with_all_its_points_stays_as_long(replay) -> None:
    body = replay.body(errors_of(replay))
    plain = replay.muscles(body, errors_of(replay), 0)
    moved = replay.muscles(body, errors_of(replay, muscle_path=(0.0, 0.002, 0.0)), 0)
    one, other = moved.parameters.optimal_fiber_length, plain.parameters.optimal_fiber_length
    # Wrap objects stay where they are: a path over one becomes a little longer or shorter.
    wrapped = np.isin(moved.parameters.names, [f"{each.name}_r" for each in muscle_db.load() if each.wraps])
    assert one[~wrapped] == pytest.approx(other[~wrapped], rel=1e-12) and wrapped.sum() == 4
    assert one[wrapped] == pytest.approx(other[wrapped], rel=5e-3)
    assert moved.paths.standing - plain.paths.standing == pytest.approx(
        np.broadcast_to([0.0, 0.002, 0.0], plain.paths.standing.shape)
    )


def test_muscles_are_placed_again_only_where_the_legs_have_other_dimensions(replay) -> None:
    """Soft tissue changes the arms, which are measured in motion; a misplaced marker of a knee changes the thigh."""
    (plain,), joints = replay.placed, replay.markers.placed
    arms = replay.body(errors_of(replay, soft_tissue=0.004))
    assert not np.array_equal(arms.model.standing, replay.model.standing)
    (kept,), (again,) = arms.muscles, replay.options.muscles(arms.model)
    assert kept.parameters is plain.parameters
    assert np.array_equal(again.parameters.tendon_slack_length, kept.parameters.tendon_slack_length)
    lengths = [each.paths.lengths(arms.motion.q, arms.motion.coordinates) for each in (kept, again)]
    assert np.array_equal(*lengths)
    shift = np.zeros((len(joints), 3))
    shift[joints.index("knee_medial_r"), 2] = 0.004
    (moved,) = replay.body(errors_of(replay, marker_placement=shift)).muscles
    assert np.abs(moved.parameters.tendon_slack_length - plain.parameters.tendon_slack_length).max() > 1e-4


def test_a_marker_misplaced_moves_its_landmark_with_the_body(replay) -> None:
    markers = replay.markers
    shift = np.zeros((len(markers.placed), 3))
    name = markers.placed[0]
    shift[0] = 0.003, 0.004, 0.0
    none = errors_of(replay)
    walk, standing, hips = markers.moved(shift, none["hip_center"], none["soft_tissue"])
    assert not hips  # the hip centers are mapped in this trial: markers show them
    moved = np.linalg.norm(walk.position - markers.walk.position, axis=2)
    place = walk.names.index(name)
    assert moved[:, place] == pytest.approx(0.005, rel=1e-9)
    assert np.delete(moved, place, axis=1).max() == 0.0
    assert np.linalg.norm(standing[name] - markers.standing[name]) == pytest.approx(0.005)


@pytest.mark.parametrize(
    ("source", "marker", "body"),
    [("hip_center", "hip_center_r", "pelvis"), ("marker_placement", "knee_medial_l", "thigh_l")],
)
def test_a_marker_at_a_joint_moves_with_the_body_before_it(replay, source, marker, body) -> None:
    markers, none, person = replay.markers, errors_of(replay), replay.body(errors_of(replay))
    given = {name: none[name] + 0.0 for name in ("marker_placement", "hip_center", "soft_tissue")}
    given[source][0 if source == "hip_center" else markers.placed.index(marker)] = 0.01, 0.0, 0.0
    walk, _, _ = markers.moved(*given.values())
    off = (walk[marker] - markers.walk[marker])[replay.inside]
    turned = person.model.rigid_bodies.rotation(person.motion.q)[:, person.model.body(body)]
    assert off == pytest.approx(0.01 * turned[:, :, 0], abs=1e-6)


def test_soft_tissue_slides_in_motion_only(replay) -> None:
    rng, none = np.random.default_rng(5), errors_of(replay)
    slide = 0.005 * rng.normal(size=none["soft_tissue"].shape)
    walk, standing, _ = replay.markers.moved(none["marker_placement"], none["hip_center"], slide)
    off = walk.position - replay.markers.walk.position
    assert np.sqrt((off**2).mean()) == pytest.approx(0.005, rel=0.2)
    assert all((standing[name] == where).all() for name, where in replay.markers.standing.items())


def test_a_hip_center_that_is_not_mapped_is_moved_in_the_pelvis(trial: Trial) -> None:
    mapping = {name: weights for name, weights in trial.mapping.items() if not name.startswith("hip_center")}
    unmapped = replace(trial, mapping=mapping)
    replay = replay_of(prepare(unmapped, side="r"), stated=unmapped.settings.uncertainty.stated)
    plain = replay.body(errors_of(replay)).model
    wider = replay.body(errors_of(replay, hip_center=[[0.0, -0.01, 0.0], [0.0, 0.01, 0.0]])).model
    assert wider.standing[wider.slot("hip_l"), 1] - plain.standing[plain.slot("hip_l"), 1] == pytest.approx(
        0.01
    )


def test_small_errors_of_all_sources_add_up(replay) -> None:
    names = list(replay.parameters.shapes)
    numbers = replay.parameters.draw(0, 5)

    def moments(some: list[str]) -> np.ndarray:
        sd = {name: 1e-3 * sd * (name in some) for name, sd in replay.parameters.sd.items()}
        return replay.body(replace(replay.parameters, sd=sd).errors(numbers)).moments

    nominal = moments([])
    of_body = [name for name in names if np.abs(moments([name]) - nominal).max() > 0.0]
    assert of_body == ["marker_placement", "hip_center", "soft_tissue", "center_of_pressure", "segment_mass"]
    together = moments(names) - nominal
    one_by_one = sum(moments([name]) - nominal for name in of_body)
    assert np.abs(together - one_by_one).max() < 1e-3 * np.abs(together).max()
