"""Channels of EMG and the muscles of a set: names, what the cost follows, agreement, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from refusals import refused
from synthetic_trial import write_trial

import muscle_db
from musclesolve import costs, read_trial
from musclesolve.laboratory import Trial
from musclesolve.laboratory.bodies.measured_activation import MeasuredActivation, channel_muscles
from musclesolve.laboratory.bodies.run_options import check_emg
from musclesolve.laboratory.forces import find_options
from musclesolve.laboratory.recording.data import Emg
from musclesolve.laboratory.recording.trial_settings import EmgSettings

TIME = np.arange(0.0, 3.0, 0.002)
FRAMES = np.arange(0.5, 2.5, 0.01)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    return read_trial(write_trial(tmp_path_factory.mktemp("emg")))


def emg(**muscles: tuple[str, ...]) -> Emg:
    """Envelopes that each have one bump, the second 0.3 s after the first, and so on."""
    values = [np.exp(-(((TIME - 1.0 - 0.3 * k) / 0.15) ** 2)) for k in range(len(muscles))]
    return Emg(
        time=TIME,
        names=tuple(muscles),
        values=np.stack(values, axis=1),
        muscles=tuple(muscles.values()),
        maximum=(None,) * len(muscles),
        path=Path("emg.sto"),
        options=EmgSettings(processed=True),
    )


def measured(record: Emg, sides: str = "rl") -> MeasuredActivation:
    return MeasuredActivation.from_emg(record, record.muscles, list(sides))


def test_names_short_names_and_groups(plain: Trial) -> None:
    database = muscle_db.load("silva_2003")
    short = database["soleus"].short_name
    given = emg(A=("soleus_l",), B=(f"{short}_r",), C=("hamstrings_r",), D=("triceps_surae_l", "soleus_l"))
    found = channel_muscles(replace(plain, emg=given), database)
    assert found[:2] == (("soleus_l",), ("soleus_r",))
    assert "semimembranosus_r" in found[2] and all(name.endswith("_r") for name in found[2])
    own = {muscle.name for muscle in database if muscle.group == "triceps_surae"}
    assert {name[:-2] for name in found[3]} == own
    assert len(found[3]) == len(own)


def test_the_beginning_of_names_stands_for_all_parts(plain: Trial) -> None:
    given = emg(GMAX=("gluteus_maximus_l",), BF=("biceps_femoris_long_head_l",))
    first, second = channel_muscles(replace(plain, emg=given), muscle_db.load("silva_2003"))
    assert first == tuple(f"gluteus_maximus_{part}_l" for part in ("anterior", "middle", "posterior"))
    assert second == ("biceps_femoris_long_head_l",)


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("soleus", ("'soleus'", "soleus_r")),
        ("solius_l", ("'solius_l'", "did you mean 'soleus_l'")),
        ("calf_r", ("'calf_r'", "silva_2003")),
        ("tibialis_r", ("'tibialis_anterior_r'",)),
    ],
)
def test_a_muscle_that_the_set_does_not_have(plain: Trial, name: str, parts: tuple[str, ...]) -> None:
    with refused("unknown_name", "[emg.channels]", *parts):
        find_options(replace(plain, emg=emg(SOL=(name,))))


def test_a_channel_of_both_legs(plain: Trial) -> None:
    with refused("conflict", "[emg.channels]", "'SOL'"):
        find_options(replace(plain, emg=emg(SOL=("soleus_r", "soleus_l"))))


def test_tracking_needs_emg(plain: Trial) -> None:
    for cost in ("emg_tracking", costs()["emg_tracking"]() + costs()["stress_cubed"]()):
        with refused("missing_key", str(plain.path), "emg_tracking", "[emg.channels]"):
            find_options(plain, cost=cost)
    check_emg(replace(plain, emg=emg(SOL=("soleus_r",))), costs()["emg_tracking"]())


def test_every_muscle_of_a_channel_has_its_envelope_and_others_none() -> None:
    own = measured(emg(A=("a_r", "b_r"), B=("c_l",)))
    target = own.expected(FRAMES, ("a_r", "b_r", "d_r"))
    np.testing.assert_array_equal(target[:, 0], target[:, 1])
    assert np.isnan(target[:, 2]).all()
    assert FRAMES[target[:, 0].argmax()] == pytest.approx(1.0 + own.delay)


def test_a_muscle_of_two_channels_has_their_mean() -> None:
    own = measured(emg(A=("a_r", "b_r"), B=("b_r",)))
    both = own.expected(FRAMES, ("b_r",))[:, 0]
    np.testing.assert_allclose(both, own.at(FRAMES, own.delay).mean(axis=1))


def test_frames_before_the_emg_have_none() -> None:
    record = emg(A=("a_r",))
    own = measured(replace(record, time=TIME + 1.0))
    target = own.expected(FRAMES, ("a_r",))[:, 0]
    np.testing.assert_array_equal(np.isnan(target), FRAMES < 1.0 + own.delay - 1e-9)
    assert any("50 of 200 frames" in note for note in own.notes(FRAMES))
    assert measured(record).notes(FRAMES) == []


def test_channels_of_a_leg_that_is_not_analyzed_are_left_out() -> None:
    own = measured(emg(A=("a_r",), B=("b_l",)), sides="l")
    assert own.channels == ("B",)
    none = measured(emg(A=("a_r",)), sides="l")
    assert none.at(FRAMES).shape == (FRAMES.size, 0)
    assert np.isnan(none.expected(FRAMES, ("b_l",))).all()
    r, delay = none.agreement(FRAMES, np.ones((FRAMES.size, 1)), ("b_l",))
    assert r.shape == delay.shape == (0,)


def test_agreement_is_that_of_the_mean_of_the_muscles() -> None:
    """Two muscles of which neither follows the envelope, but their mean does, 30 ms later."""
    own = measured(emg(A=("a_r", "b_r")))
    other = np.sin(7.0 * FRAMES)
    mean = own.at(FRAMES, 0.03)[:, 0]
    r, delay = own.agreement(FRAMES, np.stack([mean + other, mean - other], axis=1), ("a_r", "b_r"))
    assert (r[0], delay[0]) == (pytest.approx(1.0), pytest.approx(0.03))


@pytest.mark.parametrize(("maximum", "noted"), [(0.5, "2 times"), (1.5, None), (500.0, "0.002 times")])
def test_a_maximum_that_does_not_fit_its_envelope_is_noted(maximum: float, noted: str | None) -> None:
    notes = measured(replace(emg(A=("a_r",)), maximum=(maximum,))).notes(FRAMES)
    assert [("channel A" in note, str(noted) in note) for note in notes] == [(True, True)] * bool(noted)


def test_a_channel_that_is_known_nowhere_is_noted_and_has_no_correlation() -> None:
    own = measured(emg(A=("a_r",), B=("b_r",)))
    own.envelope[:, 0] = np.nan
    assert ["channel A" in note for note in own.notes(FRAMES)] == [True]
    r, _ = own.agreement(FRAMES, own.at(FRAMES)[:, [1, 1]], ("a_r", "b_r"))
    assert np.isnan(r[0]) and r[1] == pytest.approx(1.0)
