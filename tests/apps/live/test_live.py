"""Frame by frame as offline; what is missing, late or of unknown origin is bridged for a moment, then said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from recorded_data import recorded
from refusals import refused
from thorough import some

from musclesolve import Problem, Status, read_trial
from musclesolve.apps.live import Live, replay, samples
from musclesolve.apps.live.causal_filter import window_length
from musclesolve.apps.live.group_frames import group_frames
from musclesolve.apps.live.session import SessionWatch
from musclesolve.apps.live.stream import Arrival
from musclesolve.data import reference_stride
from musclesolve.laboratory.bodies.mechanics import TIME_MARGIN
from musclesolve.laboratory.forces import share
from musclesolve.laboratory.motion.anatomy.landmark_positions import filtered_markers
from musclesolve.models.body_sharing import share_part

SOLVED = (Status.SOLVED, Status.SOLVED_WITH_RESERVE)


@pytest.fixture(scope="module")
def stride():
    return read_trial(reference_stride())


def check_alike(live: Live, every: int = 1) -> None:
    """The frames of the offline run's own filtered signals are its result."""
    body = live.body
    offline, motion = share(body), body.mechanics.motion
    forces = {ground.side: np.hstack([ground.force, ground.moment]) for ground in body.mechanics.reactions}
    reactions = {name: force for part in offline.parts for name, force in part.contact_force.items()}
    tension = offline.over_muscles([part.tension for part in offline.parts])
    status = np.stack([part.solution.status for part in offline.parts], axis=1)
    for k in range(0, len(motion.time), every):
        state = motion.coordinates[k], motion.rates[k], motion.second[k]
        frame = live.evaluate(motion.time[k], *state, np.stack([forces["r"][k], forces["l"][k]]))
        assert np.array_equal(frame.status, status[k])
        assert np.allclose(frame.angle, body.angle[k], atol=1e-12)
        assert np.allclose(frame.moment, body.moment[k], atol=1e-8)
        assert np.allclose(frame.activation, offline.activation[k], atol=1e-6)
        assert np.allclose(frame.force, tension[k], atol=2e-3)
        for joint, force in zip(live.joints, frame.joint_reaction, strict=True):
            assert np.allclose(force, reactions[joint][k], atol=1e-2)
        assert (frame.gap <= 1e-9).all()


def check_poses(live: Live) -> None:
    """The poses of the offline run's filtered markers are its poses, each from the one before."""
    mechanics, near = live.body.mechanics, None
    walk = filtered_markers(live.trial, mechanics.measured.filter, TIME_MARGIN)
    for k, position in enumerate(walk.position):
        near, residual = live.pose(position, near)
        assert np.allclose(near, mechanics.fit.coordinates[k], atol=1e-7)
        assert np.allclose(residual, mechanics.fit.residual[k], atol=1e-7)


def test_frames_of_the_filtered_signals_are_the_result_of_run(live):
    check_alike(live)


def test_the_checks_of_the_problem_are_not_repeated(live, monkeypatch):
    monkeypatch.setattr(Problem, "__post_init__", None)
    motion = live.body.mechanics.motion
    state = motion.coordinates[3], motion.rates[3], motion.second[3]
    assert len(live.evaluate(motion.time[3], *state, np.zeros((2, 6))).status) == 2


def test_muscles_without_arm_in_one_frame_still_cross_the_knee(live, monkeypatch):
    """The cost of a muscle does not jump where its arm passes through zero."""
    motion = live.body.mechanics.motion
    state = motion.coordinates[3], motion.rates[3], motion.second[3]
    (groups,) = group_frames(live.body.parts, live.body.sharing)
    monkeypatch.setattr(live, "_together", [groups])
    coefficients = []
    for share_of_arm in (1.0, 0.0):

        def with_less(part, sharing, like, share_of_arm=share_of_arm):
            arm = share_of_arm * part.state.moment_arm
            return share_part(replace(part, state=replace(part.state, moment_arm=arm)), sharing, like)

        monkeypatch.setattr("musclesolve.apps.live.group_frames.share_part", with_less)
        live.evaluate(motion.time[3], *state, np.zeros((2, 6)))
        coefficients.append(live.body.sharing.cost.coefficient(groups.problem))
    assert (coefficients[0] > 1.0).any()
    np.testing.assert_array_equal(*coefficients)


def test_poses_of_the_filtered_markers_are_those_of_run(live):
    check_poses(live)


@pytest.mark.thorough
def test_the_recorded_walk_too(default_walk_trial):
    live = Live(default_walk_trial)
    check_alike(live)
    check_poses(live)


@pytest.mark.parametrize("cost", ["activation_volume", "joint_reaction_squared"])
def test_other_costs_too(default_walk_trial, cost):
    """One of the fiber lengths, which are not those of the other leg, and one of joint reactions."""
    check_alike(Live(default_walk_trial, cost=cost), every=9)


@pytest.mark.thorough
def test_a_quarter_of_a_tenth_of_a_second_behind_the_walk_is_near_the_zero_lag_result(default_walk_trial):
    """Moments within 6 N m, muscle forces within 60 N (root mean square), which a controller asked for."""
    live = Live(default_walk_trial, lag_ms=25)
    result = replay(default_walk_trial, live).result
    body, offline = live.body, share(live.body)
    valid = result["valid"].all("side").values
    time = result["time"].values[valid]
    rows = [body.dofs.index(f"{dof}_{side}") for side in "rl" for dof in live.shared]
    tension = offline.over_muscles([part.tension for part in offline.parts])

    def off(values, name):
        truth = np.stack([np.interp(time, body.time, column) for column in values.T], axis=1)
        return np.sqrt(np.mean((result[name].values[valid][:, : truth.shape[1]] - truth) ** 2))

    result["joint_moment"] = result["joint_moment"].isel(dof=rows).rename(dof="shared")
    assert valid.sum() > 120
    assert off(body.moment[:, rows], "joint_moment") < 6.0
    assert off(tension, "muscle_force") < 60.0
    assert result["gap"].max() <= 1e-9


@pytest.mark.thorough
def test_measured_activations_are_followed_as_offline(default_walk_trial):
    """With a weight of EMG: the envelopes of the channels a delay before the frame."""
    trial = default_walk_trial.with_settings(emg={"weight": 0.5})
    live = Live(trial)
    body = live.body
    assert live.channels == body.emg.channels
    offline, motion = share(body), body.mechanics.motion
    forces = {ground.side: np.hstack([ground.force, ground.moment]) for ground in body.mechanics.reactions}
    expected = body.emg.expected(motion.time, live.muscles)
    for k in range(0, len(motion.time), 9):
        state = motion.coordinates[k], motion.rates[k], motion.second[k]
        wrench = np.stack([forces["r"][k], forces["l"][k]])
        frame = live.evaluate(motion.time[k], *state, wrench, expected[k])
        assert np.allclose(frame.activation, offline.activation[k], atol=1e-6)
        assert not np.allclose(
            live.evaluate(motion.time[k], *state, wrench).activation, frame.activation, atol=1e-3
        )
    done = replay(trial, live)
    valid = [
        frame for frame in done.frames if frame.valid.all() and body.time[0] <= frame.time <= body.time[-1]
    ]
    truth = [np.interp([frame.time for frame in valid], body.time, column) for column in offline.activation.T]
    assert len(valid) > 120
    off = np.array([frame.activation for frame in valid]) - np.array(truth).T
    assert np.sqrt(np.mean(off**2)) < 0.05


@pytest.mark.thorough
def test_emg_that_is_silent_for_a_while_is_said_and_no_line_is_drawn_across(default_walk_trial):
    """As if EMG had never been there: not by a straight line to what comes after the silence."""
    live = Live(default_walk_trial.with_settings(emg={"weight": 0.5}))
    whole = list(samples(live, live.trial))[:150]
    silent = range(45, 45 + round(0.2 * live.rate))
    live.clear()
    frames = [
        live.step(*each._replace(emg=None if k in silent else each.emg)) for k, each in enumerate(whole)
    ]
    live.clear()
    without = [live.step(*each._replace(emg=None)) for each in whole]
    delayed = round((live.lag + live.body.emg.delay) * live.rate) + 1
    valid = [k for k in range(silent.start + delayed, silent.stop + delayed - 1) if frames[k].valid.all()]
    assert len(valid) > 10
    for k in valid:
        assert "no EMG came in time: forces follow the cost alone" in frames[k].notes
        assert np.allclose(frames[k].force, without[k].force, atol=1e-6)
    after = frames[silent.stop + delayed + 1]
    assert not after.notes and np.abs(after.force - without[silent.stop + delayed + 1].force).max() > 1.0
    live.clear()
    some = [
        live.step(*each._replace(emg=np.where(np.arange(len(each.emg)) == 1, np.nan, each.emg)))
        for each in whole
    ]
    assert f"no EMG of {live.channels[1]} came in time" in some[60].notes


def test_a_caller_may_use_its_arrays_for_the_next_sample(default_walk_trial):
    live = Live(default_walk_trial.with_settings(emg={"weight": 0.5}))
    whole = list(samples(live, live.trial))[:90]
    fresh = [live.step(*each) for each in whole]
    live.clear()
    used = [np.empty_like(array) for array in whole[0][1:]]
    for each, frame in zip(whole, fresh, strict=True):
        for array, new in zip(used, each[1:], strict=True):
            array[...] = new
        np.testing.assert_array_equal(live.step(each.time, *used).force, frame.force)
    assert fresh[-1].valid.all()


def test_emg_in_percent_is_said_and_not_followed(default_walk_trial):
    live = Live(default_walk_trial.with_settings(emg={"weight": 0.5}))
    whole = list(samples(live, live.trial))[:90]
    channel = np.arange(len(live.channels)) == 0
    percent = [live.step(*each._replace(emg=np.where(channel, 1e3 + each.emg, each.emg))) for each in whole]
    live.clear()
    without = [live.step(*each._replace(emg=np.where(channel, np.nan, each.emg))) for each in whole]
    assert any(f"EMG of {live.channels[0]} is no share of the maximum" in note for note in percent[-1].notes)
    assert percent[-1].valid.all()
    np.testing.assert_array_equal(percent[-1].force, without[-1].force)


def run_through(live, changed=lambda k, sample: [sample]):
    """The frames of all samples of the stride, each replaced by those that `changed` makes of it."""
    frames = []
    for k, sample in enumerate(samples(live, live.trial)):
        frames += [live.step(*each) for each in changed(k, sample)]
    return frames


@pytest.fixture(scope="module")
def plain(prepared_stride):
    """The frames of the stride as it is."""
    prepared_stride.clear()
    return run_through(prepared_stride)


def first_valid(frames):
    return next(k for k, frame in enumerate(frames) if frame.valid.all())


def test_nothing_is_said_before_the_filter_has_its_samples(live, plain):
    first = first_valid(plain)
    assert all((frame.status == Status.INTERRUPTED).all() for frame in plain[:first])
    assert all(np.isnan(frame.force).all() and frame.notes for frame in plain[:first])
    assert all(frame.valid.all() for frame in plain[first:])
    assert plain[-1].time == pytest.approx(live.trial.markers.time[-1] - live.lag)


def test_late_doubled_and_timeless_samples_are_refused_and_change_nothing(live, plain):
    kept: dict[int, list] = {}

    def disturbed(k, sample):
        kept[k] = sample
        more = [sample._replace(time=np.nan)] if k == 40 else [sample] if k == 50 else []
        late = [kept[k - 2]] if k == 60 else []
        off_grid = [sample._replace(time=sample.time + 0.5 / live.rate)] if k == 70 else []
        return [sample, *more, *late, *off_grid]

    frames = run_through(live, disturbed)
    odd = [frame for frame in frames if any("refused" in note for note in frame.notes)]
    assert len(odd) == 4
    assert all(
        (frame.status == Status.INTERRUPTED).all() and np.isnan(frame.activation).all() for frame in odd
    )
    rest = [frame for frame in frames if frame not in odd]
    assert all(np.array_equal(a.force, b.force, equal_nan=True) for a, b in zip(rest, plain, strict=True))


def test_a_clock_that_has_changed_begins_anew(live):
    """Wrong times do not end the stream: one is left out, after two the others are refused for a moment only."""
    frames = run_through(live, lambda k, sample: [sample._replace(time=1e3)] if k == 40 else [sample])
    assert not frames[40].valid.any() and all(frame.valid.all() for frame in frames[41:])
    live.clear()
    wrong = (40, 41)
    frames = run_through(live, lambda k, sample: [sample._replace(time=sample.time + 1e3 * (k in wrong))])
    assert not any(frame.valid.any() for frame in frames[40:44])
    again = [frame for frame in frames[44:] if frame.valid.all()]
    assert again and all(frame.time < 100.0 for frame in again)


def test_a_lost_sample_is_bridged_and_a_long_gap_begins_anew(live, plain):
    frames = run_through(live, lambda k, sample: [] if k in (40, 60, 61) else [sample])
    times = {round(frame.time, 6): frame for frame in plain}
    first = first_valid(frames)
    assert all(frame.valid.all() for frame in frames[first:])
    scale = max(frame.force.max() for frame in plain if frame.valid.all())
    for frame in frames[first:]:
        assert np.abs(frame.force - times[round(frame.time, 6)].force).max() < 0.2 * scale

    live.clear()
    frames = run_through(live, lambda k, sample: [] if 50 <= k < 60 else [sample])
    after = frames[50]
    assert (after.status == Status.INTERRUPTED).all() and np.isnan(after.moment).all()
    again = [k for k in range(50, len(frames)) if frames[k].valid.all()]
    assert again and again[0] - 50 >= window_length(live.rate, live.cutoff) - 1


def hide(names, first, last):
    def changed(k, sample, live):
        markers = sample.markers.copy()
        if first <= k < last:
            markers[[live.markers.index(name) for name in names]] = np.nan
        return [sample._replace(markers=markers)]

    return changed


def test_a_hidden_marker_is_carried_for_a_moment_then_nothing_is_said(live, plain):
    """Where too few others of its body are seen the motion carries it, no longer than it may."""
    longest = int(live.bridge * live.rate + 1e-9)
    body = live.marker_bodies.body
    name = next(n for n, own in zip(live.markers, body, strict=True) if (body == own).sum() <= 3)
    for count, lost in ((longest, False), (longest + 6, True)):
        live.clear()
        changed = hide([name], 40, 40 + count)
        frames = run_through(live, lambda k, sample, changed=changed: changed(k, sample, live))
        interrupted = [k for k in range(40, len(frames)) if (frames[k].status == Status.INTERRUPTED).any()]
        assert bool(interrupted) == lost
        for k in interrupted:
            assert np.isnan(frames[k].force).all()
            assert any(name in note for note in frames[k].notes) or "too few" in frames[k].notes[-1]
        good = [k for k in range(first_valid(frames), len(frames)) if frames[k].valid.all()]
        off = [np.abs(frames[k].angle - plain[k].angle).max() for k in good]
        assert max(off) < np.radians(6.0)


def test_a_marker_that_stays_wrong_is_never_solved(live):
    """A foot that jumps away from the leg cannot be the subject's."""
    column = [live.markers.index(m) for part in ("heel", "toe") for m in live.trial.mapping[f"{part}_r"]]

    def changed(k, sample):
        markers = sample.markers.copy()
        if k >= 60:
            markers[column] += [0.0, 0.0, 0.4]
        return [sample._replace(markers=markers)]

    frames = run_through(live, changed)
    assert not any(frame.valid[live.sides.index("r")] for frame in frames[61:])
    live.clear()
    assert first_valid(run_through(live)) > 0


def test_a_plate_without_numbers_is_not_measured_for_its_leg_alone(live):
    def changed(k, sample):
        plates = sample.plates.copy()
        if k == 60:
            plates[live.plates.index("l")] = np.nan
        return [sample._replace(plates=plates)]

    frame = run_through(live, changed)[60]
    right, left = live.sides.index("r"), live.sides.index("l")
    assert frame.status[left] == Status.NOT_MEASURED and frame.status[right] in SOLVED
    assert np.isnan(frame.pelvis_residual).all() and np.isfinite(frame.force).any()


@pytest.mark.in_part(2)
@pytest.mark.parametrize("missing", [2, 5, 10, 20])
def test_plates_that_were_silent_for_a_moment_give_no_wrong_forces(live, plain, missing):
    """Wherever in the stride: across a heel strike the forces are a guess, and their frames are not valid."""
    scale = max(frame.force.max() for frame in plain if frame.valid.all())
    compared = 0
    for first in some(range(55, len(plain) - missing - 12, 9), 2):
        live.clear()

        def changed(k, sample, silent=range(first, first + missing)):
            return [sample._replace(plates=np.full_like(sample.plates, np.nan)) if k in silent else sample]

        frames = run_through(live, changed)
        for k in range(first, len(frames)):
            both = frames[k].valid & plain[k].valid
            own = [name[-1] in np.array(live.sides)[both] for name in live.muscles]
            if both.any():
                off = np.abs(frames[k].force - plain[k].force)[own].max()
                assert off < 0.1 * scale, (first, k)
                compared += 1
        said = {note for frame in frames[first : first + missing] for note in frame.notes}
        assert "no numbers of plate 1 and plate 2 came in time" in said
        assert not any("no plate carries" in note for frame in frames for note in frame.notes)
    assert compared > 10


def test_a_foot_on_the_floor_that_no_plate_carries_is_not_measured(live, plain):
    """The force of the left plate is taken away: while that foot is down its leg has no valid frame."""

    def changed(k, sample):
        plates = sample.plates.copy()
        plates[live.plates.index("l")] = 0.0
        return [sample._replace(plates=plates)]

    frames, left = run_through(live, changed), live.sides.index("l")
    loaded = [
        k for k, frame in enumerate(plain) if frame.wrench[1, 2] > 0.25 * live.trial.subject.mass * 9.81
    ]
    assert len(loaded) > 20
    assert not any(frames[k].valid[left] for k in loaded)


def test_a_plate_that_falls_to_zero_on_a_treadmill_is_said_and_spoils_no_other_leg():
    """The foot on the belt is fast; readings of the other plate are lost now and then, so there is no balance."""
    live, said = Live(recorded("treadmill_walk/p1/walk.toml")), list[str]()
    taken, watch, start = list(samples(live, live.trial))[140:], SessionWatch(said.append), 100
    dropped, left, right = live.plates.index("l"), live.sides.index("l"), live.sides.index("r")
    plain, frames = [live.step(*sample) for sample in taken], []
    live.clear()
    watch.begin(live)
    for k, sample in enumerate(taken):
        if k >= start:
            sample.plates[dropped] = 0.0
            sample.plates[1 - dropped, :] += np.nan if k % 40 == 0 else 0.0
        frames.append(live.step(*sample))
        watch.take(Arrival(sample, 0.0), frames[-1])
    own = np.array([name.endswith("_l") for name in live.muscles])
    later = [k for k in range(start + 6, len(frames)) if plain[k].valid.all()]
    off = [np.abs(frames[k].force - plain[k].force)[own].max() for k in later if frames[k].valid[left]]
    assert len(off) > 40 and max(off) < 400.0  # of soleus 2700 N
    assert np.mean([frames[k].valid[right] for k in later]) > 0.8
    assert all(frame.notes for frame in frames[start:] if (frame.status == Status.INVALID_MOTION).any())
    (sentence,) = [each for each in said if "plate" in each]
    assert "plate 1 has shown no load under a foot" in sentence
    (counted,) = [each for each in watch.remarks if "plate" in each]
    assert counted.startswith("plate 1 was missing in ")


def test_arrays_of_another_shape_are_refused(live):
    sample = next(iter(samples(live, live.trial)))
    with refused("bad_shape", "markers"):
        live.step(0.0, sample.markers[1:], sample.plates)
    with refused("bad_shape", "plates"):
        live.step(0.0, sample.markers, sample.plates[:1])
    for time in (None, "1.0", np.datetime64("2020-01-01")):
        with refused("not_numbers", "time"):
            live.step(time, sample.markers, sample.plates)
    with refused("not_numbers", "markers"):
        live.step(0.0, {"asis_r": [0.0, 0.0, 1.0]}, sample.plates)


def test_hidden_markers_are_named_and_all_of_them_in_two_words(live):
    sample = next(iter(samples(live, live.trial)))
    live.clear()
    some = np.where(np.arange(len(sample.markers))[:, None] < 2, np.nan, sample.markers)
    assert f"hidden: {', '.join(live.markers[:2])}" in live.step(0.0, some, sample.plates).notes
    live.clear()
    assert "hidden: all markers" in live.step(0.0, np.full_like(some, np.nan), sample.plates).notes


def test_feet_of_plates_are_right_left_or_open(stride):
    with refused("unknown_name", "plates[1]", "'right'"):
        Live(stride, plates=("l", "right"))


def test_masked_markers_are_hidden(live):
    """Not where the mask lets them be: at a place that the measuring program makes no claim on."""
    live.clear()
    sample = next(iter(samples(live, live.trial)))
    hidden = np.ma.array(sample.markers, mask=np.arange(len(live.markers))[:, None] == np.full(3, 4))
    assert any(live.markers[4] in note for note in live.step(0.0, hidden, sample.plates).notes)


def test_what_needs_a_whole_motion_is_refused(stride):
    with refused("conflict", "tendon"):
        Live(stride.with_settings(muscles=dict(tendon="elastic")))
    with refused("conflict", "method"):
        Live(stride.with_settings(consistency=dict(method="joint_angles")))
    with refused("bad_number", "lag_ms"):
        Live(stride, lag_ms=-1.0)
    with refused("bad_number", "rate"):
        replay(stride, rate=-100.0)


def test_one_leg_and_its_names(stride):
    live = Live(stride, side="l")
    assert live.sides == ("l",) and all(name.endswith("_l") for name in (*live.muscles, *live.joints))
    frames = run_through(live)
    frame = frames[-1]
    assert frame.force.shape == (len(live.muscles),) and frame.joint_reaction.shape == (3, 3)
    assert frame.valid.all()


def test_a_replay_is_a_result_as_run_writes_it(stride):
    from musclesolve.laboratory.run_trial import run

    done, offline = replay(stride), run(stride)
    result = done.result
    assert set(offline.data_vars) - set(result.data_vars) <= {"emg", "emg_agreement", "emg_delay"}
    assert (
        result.attrs["live_lag_s"] == pytest.approx(0.025) and "frames a second" in result.attrs["notes"][0]
    )
    live_frames = {round(frame.time, 9): frame for frame in done.frames}
    for k, time in enumerate(result["time"].values):
        frame = live_frames[round(float(time), 9)]
        assert np.array_equal(result["muscle_force"].values[k], frame.force, equal_nan=True)
        assert np.array_equal(result["status"].values[k], frame.status)
        assert np.allclose(
            result["joint_reaction"].values[k], frame.joint_reaction, atol=1e-6, equal_nan=True
        )


def test_a_spike_of_a_plate_is_left_out(live, plain):
    """The leg has no forces while the spike is the newest sample; no later frame knows of it."""
    spoiled = first_valid(plain) + 20

    def spike(k, sample):
        plates = sample.plates.copy()
        if k == spoiled:
            plates[:, 2] = 30_000.0
        return [sample._replace(plates=plates)]

    frames = run_through(live, spike)
    assert not frames[spoiled].valid.any() and "is 3e+04 N" in " ".join(frames[spoiled].notes)
    for ours, theirs in zip(frames[spoiled + 1 :], plain[spoiled + 1 :], strict=True):
        if ours.valid.all():
            assert np.abs(ours.moment - theirs.moment).max() < 15.0
