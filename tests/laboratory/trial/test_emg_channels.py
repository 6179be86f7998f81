"""The table [emg] of a trial file: what is read, and what is refused with its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c3d_files import write_c3d
from examined import examined
from refusals import refused
from scipy.signal import butter, sosfiltfilt
from synthetic_trial import FILE_FROM_GLOBAL, RATE, person, write_trial

from musclesolve import read_trial
from musclesolve.tables import Table, write_mot

EMG_RATE, DURATION = 1000.0, 2.4
TABLE = '[emg]\nfile = "emg.sto"\n\n[emg.channels]\nSOL = "soleus_r"\nHAM = ["semitendinosus_r", "semimembranosus_r"]\n'


def signals(rate: float = EMG_RATE, duration: float = DURATION) -> Table:
    """Two channels of noise whose size changes with time [mV]."""
    time = np.arange(round(duration * rate)) / rate
    noise = np.random.default_rng(3).normal(size=(time.size, 2))
    size = np.stack([0.2 + np.sin(2.0 * np.pi * time) ** 2, 0.2 + np.cos(2.0 * np.pi * time) ** 2], axis=1)
    return Table(time, ("SOL", "HAM"), size * noise, False, Path("emg.sto"))


def trial_with(folder: Path, table: Table | None = None, *edits: tuple[str, str], text: str = TABLE) -> Path:
    """Write the synthetic trial with signals and a table [emg], with texts of this table replaced."""
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    write_mot(folder / "emg.sto", signals() if table is None else table)
    return write_trial(folder, ("[muscles]\n", f"{text}\n[muscles]\n"))


def test_emg_that_lasts_as_long_as_the_markers_begins_with_them(tmp_path: Path) -> None:
    """Signals that count from another zero are moved, and a note says so; others keep their times."""
    markers = read_trial(write_trial(tmp_path)).markers.time
    for late, duration, moved in (
        (1.5, np.ptp(markers), -1.5),
        (1.5, 0.7 * np.ptp(markers), 0.0),
        (0.1, np.ptp(markers), 0.0),
    ):
        table = signals(duration=float(duration))
        trial = read_trial(trial_with(tmp_path, replace(table, time=table.time + markers[0] + late)))
        assert trial.emg is not None
        assert trial.emg.time[0] == pytest.approx(markers[0] + late + moved)
        assert any("emg.sto" in note and "-1.500 s" in note for note in trial.notes) == bool(moved)


def with_values(values: np.ndarray) -> Table:
    table = signals()
    return Table(table.time, table.names, values, False, table.path)


def read_emg(path: Path):
    emg = read_trial(path).emg
    assert emg is not None
    return emg


def test_signals_muscles_and_defaults_are_read(tmp_path: Path) -> None:
    trial = read_trial(trial_with(tmp_path))
    assert trial.emg is not None
    assert trial.emg.names == ("SOL", "HAM")
    assert trial.emg.muscles == (("soleus_r",), ("semitendinosus_r", "semimembranosus_r"))
    assert trial.emg.maximum == (None, None)
    assert trial.emg.rate == pytest.approx(EMG_RATE)
    np.testing.assert_allclose(trial.emg.values, signals().values, atol=1e-6)
    assert trial.files["emg"] == tmp_path / "emg.sto"
    options = trial.emg.options
    assert (options.highpass_hz, options.lowpass_hz, options.envelope_hz) == (20.0, 400.0, 6.0)
    assert (options.band_order, options.envelope_order, options.max_delay_s) == (4, 2, 0.08)


def test_a_trial_without_the_table_has_no_emg(tmp_path: Path) -> None:
    trial = read_trial(write_trial(tmp_path))
    assert trial.emg is None
    assert "emg" not in trial.files


def test_a_csv_file_may_state_any_unit(tmp_path: Path) -> None:
    table = signals()
    rows = [f"{t:.4f},{a:.6f},{b:.6f}" for t, (a, b) in zip(table.time, table.values, strict=True)]
    (tmp_path / "emg.csv").write_text("\n".join(["time,SOL [mV],HAM [uV]", *rows]), encoding="utf-8")
    emg = read_emg(trial_with(tmp_path, None, ("emg.sto", "emg.csv")))
    np.testing.assert_allclose(emg.values, table.values, atol=1e-6)


def write_c3d_trial(folder: Path, text: str) -> Path:
    """The markers as a C3D file with the signals as its analog channels, at ten samples a frame."""
    times = np.arange(round(DURATION * RATE)) / RATE
    walk = person(times).markers

    def add_channels(file) -> None:
        file["data"]["analogs"] = signals().values.T[None]
        analog = file["parameters"]["ANALOG"]
        analog["RATE"]["value"], analog["LABELS"]["value"] = [EMG_RATE], ["SOL", "HAM"]
        analog["UNITS"]["value"] = ["V", "V"]

    points = 1000.0 * np.stack(list(walk.values()), axis=1) @ FILE_FROM_GLOBAL.T
    write_c3d(folder / "walk.c3d", RATE, list(walk), points, samples=10, change=add_channels)
    edits = (('markers = "walk.trc"', 'markers = "walk.c3d"'), ("[muscles]\n", f"{text}\n[muscles]\n"))
    return write_trial(folder, *edits)


def test_channels_of_the_c3d_file_of_the_markers(tmp_path: Path) -> None:
    trial = read_trial(write_c3d_trial(tmp_path, TABLE.replace('[emg]\nfile = "emg.sto"\n\n', "")))
    assert trial.emg is not None
    assert trial.emg.path.name == "walk.c3d"
    np.testing.assert_allclose(trial.emg.time, signals().time, atol=1e-9)
    np.testing.assert_allclose(trial.emg.values, signals().values, atol=1e-6)


def test_channels_of_another_c3d_file(tmp_path: Path) -> None:
    write_c3d_trial(tmp_path, TABLE.replace("emg.sto", "walk.c3d"))
    emg = read_emg(trial_with(tmp_path, None, ("emg.sto", "walk.c3d")))
    np.testing.assert_allclose(emg.values, signals().values, atol=1e-6)


def test_maxima_of_some_channels(tmp_path: Path) -> None:
    text = TABLE.replace("\n\n", "\nmaximum = { HAM = 0.8 }\n\n", 1)
    assert read_emg(trial_with(tmp_path, text=text)).maximum == (None, 0.8)


@pytest.mark.parametrize(
    ("old", "new", "code", "parts"),
    [
        ('file = "emg.sto"\n', "", "missing_key", ("[emg]", "file")),
        ("emg.sto", "eng.sto", "missing_file", ("eng.sto", "[emg] file")),
        ("emg.sto", "walk.trc", "bad_format", (".c3d", ".csv", ".mot", ".sto")),
        ("SOL =", "SOLE =", "missing_column", ("[emg.channels] SOLE", "did you mean 'SOL'?")),
        ("SOL =", "HAM =", "bad_format", ("trial.toml", "HAM")),
        ('"semimembranosus_r"]', '"semitendinosus_r"]', "duplicate_name", ("[emg.channels] HAM",)),
        ('SOL = "soleus_r"\n', "SOL = 3\n", "bad_value", ("[emg] channels", "of 'SOL' is 3")),
        ("\n\n", "\nmaximum = { SOLE = 1.0 }\n\n", "unknown_name", ("[emg] maximum", "'SOL'")),
        ("\n\n", "\nmaximum = { SOL = 0.0 }\n\n", "bad_value", ("[emg] maximum", "SOL")),
        ("\n\n", '\nmaximum = "mvc"\n\n', "bad_value", ("[emg] maximum", "trial", "SOL =")),
        ("\n\n", "\nhighpass_hz = 500\n\n", "conflict", ("[emg] lowpass_hz",)),
        ("\n\n", "\nprocessed = 1\n\n", "bad_value", ("[emg] processed", "true or false")),
        ("\n\n", "\nhigh_pass = 20\n\n", "unknown_key", ("[emg] high_pass", "highpass_hz")),
    ],
)
def test_what_cannot_be_right_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, code: str, parts: tuple[str, ...]
) -> None:
    text = TABLE.replace(old, new, 1)
    assert text != TABLE
    with refused(code, *parts):
        read_trial(trial_with(tmp_path, text=text))


def test_no_channel_is_no_emg(tmp_path: Path) -> None:
    with refused("missing_key", "[emg]", "channels"):
        read_trial(trial_with(tmp_path, text=TABLE[: TABLE.index("[emg.channels]")]))
    with refused("missing_key", "[emg.channels]", "SOL"):
        read_trial(trial_with(tmp_path, text=TABLE[: TABLE.index("SOL")]))


def found(path: Path) -> list[tuple[str, str]]:
    """Codes and severities of what `check` finds of the EMG."""
    findings = [f for f in examined(path).findings if f.code.startswith("emg") and f.severity != "note"]
    return [(f.code, f.severity) for f in findings]


def test_a_flat_channel_is_found_and_left_out(tmp_path: Path) -> None:
    path = trial_with(tmp_path, with_values(signals().values * [0.0, 1.0] + 0.3))
    assert list(read_emg(path).unusable) == ["SOL"]
    assert found(path) == [("emg_flat", "warning")]


def spoiled(change: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Table:
    """The signals with the first one changed: change(signal, time)."""
    table = signals()
    return with_values(np.stack([change(table.values[:, 0], table.time), table.values[:, 1]], axis=1))


def with_spikes(count: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    def change(signal: np.ndarray, time: np.ndarray) -> np.ndarray:
        changed = signal.copy()
        changed[50 :: time.size // count] = 20.0 * np.abs(signal).max()
        return changed

    return change


@pytest.mark.parametrize(
    ("change", "codes", "unusable"),
    [
        (lambda signal, time: 0.05 * np.random.default_rng(1).normal(size=time.size), ["emg_dead"], True),
        (lambda signal, time: np.sin(2.0 * np.pi * 75.0 * time), ["emg_dead"], True),
        (with_spikes(1), ["emg_spike"], False),
        (lambda signal, time: np.clip(signal, -0.5, 0.5), ["emg_clipped"], True),
        (lambda signal, time: signal + 3.0 * np.sin(2.0 * np.pi * 50.0 * time), ["emg_hum"], False),
        (lambda signal, time: signal, [], False),
    ],
    ids=["noise", "tone", "spike", "clipped", "hum", "sound"],
)
def test_the_state_of_a_channel_is_found_and_decides_whether_it_counts(
    tmp_path: Path, change: Callable[[np.ndarray, np.ndarray], np.ndarray], codes: list[str], unusable: bool
) -> None:
    path = trial_with(tmp_path, spoiled(change))
    assert found(path) == [(code, "warning") for code in codes]
    assert list(read_emg(path).unusable) == (["SOL"] if unusable else [])


def four_channels(factor: float) -> Table:
    """Four sound channels, the last one with an amplitude of its own."""
    table, size = signals(), np.array([1.0, 0.8, 1.3, factor])
    values = np.random.default_rng(2).permuted(table.values[:, [0, 1, 0, 1]] * size, axis=0)
    values = values * (1.2 + np.sin(2.0 * np.pi * table.time))[:, None] ** 2
    return Table(table.time, ("SOL", "HAM", "TA", "GM"), values, False, table.path)


FOUR = TABLE.replace(
    "[emg.channels]\n", '[emg.channels]\nTA = "tibialis_anterior_r"\nGM = "gluteus_medius_r"\n'
)


@pytest.mark.parametrize(("factor", "codes"), [(1.0 / 40.0, ["emg_dead"]), (1.0 / 8.0, [])])
def test_an_amplitude_far_below_the_others_is_an_electrode_that_was_not_connected(
    tmp_path: Path, factor: float, codes: list[str]
) -> None:
    path = trial_with(tmp_path, four_channels(factor), text=FOUR)
    assert found(path) == [(code, "warning") for code in codes]
    assert list(read_emg(path).unusable) == (["GM"] if codes else [])
    # a channel with a stated maximum may have its own unit
    stated = FOUR.replace("[emg.channels]", "[emg.maximum]\nGM = 0.1\n\n[emg.channels]")
    assert found(trial_with(tmp_path, four_channels(factor), text=stated)) == []


def test_channels_that_the_trial_file_leaves_out_are_noted(tmp_path: Path) -> None:
    path = trial_with(tmp_path, four_channels(1.0))
    (note,) = [entry for entry in examined(path).all_findings if entry.code == "emg_left_out"]
    assert "TA, GM" in note.what


def test_a_spike_is_removed_and_nothing_else_changes(tmp_path: Path) -> None:
    emg = read_emg(trial_with(tmp_path, spoiled(with_spikes(1))))
    sound = signals().values
    changed = np.flatnonzero((np.abs(emg.cleaned - sound) > 1e-5).any(axis=1))
    np.testing.assert_array_equal(changed, [49, 50, 51])
    assert np.abs(emg.cleaned).max() <= np.abs(sound).max() + 1e-5


def test_hum_is_removed(tmp_path: Path) -> None:
    path = trial_with(
        tmp_path, spoiled(lambda signal, time: signal + 3.0 * np.sin(2.0 * np.pi * 50.0 * time))
    )
    sound = signals().values[:, 0]
    left = read_emg(path).cleaned[:, 0] - sound
    assert np.sqrt(np.mean(left**2)) < 0.15 * sound.std()


def envelopes(rate: float = EMG_RATE) -> Table:
    """Envelopes of the signals by a filter that undershoots, at some rate."""
    table = signals()
    smooth = sosfiltfilt(butter(4, 8.0, fs=EMG_RATE, output="sos"), np.abs(table.values), axis=0)
    smooth = smooth - smooth.min() - 0.02 * np.ptp(smooth)
    time = np.arange(0.0, table.time[-1], 1.0 / rate)
    columns = [np.interp(time, table.time, column) for column in smooth.T]
    return Table(time, table.names, np.stack(columns, axis=1), False, table.path)


@pytest.mark.in_part(2)
@pytest.mark.parametrize("rate", [100.0, EMG_RATE])
def test_envelopes_are_known_by_their_signal(tmp_path: Path, rate: float) -> None:
    assert envelopes().values.min() < 0.0
    path = trial_with(tmp_path, envelopes(rate))
    assert read_emg(path).options.processed
    assert any("linear envelopes" in note for note in read_trial(path).notes)
    assert found(path) == []
    assert not read_emg(trial_with(tmp_path, signals())).options.processed


@pytest.mark.thorough
def test_what_is_stated_holds_and_an_envelope_that_is_called_raw_is_found(tmp_path: Path) -> None:
    path = trial_with(tmp_path, envelopes(), ("\n\n", "\nprocessed = false\n\n"))
    assert not read_emg(path).options.processed
    assert found(path) == [("emg_kind", "warning")]
    rectified = with_values(np.abs(signals().values))
    path = trial_with(tmp_path, rectified, ("\n\n", "\nprocessed = true\n\n"))
    assert found(path) == [("emg_kind", "warning")]


def uneven(table: Table) -> Table:
    """Return the signals at times that are up to a step off."""
    rng = np.random.default_rng(5)
    time = np.sort(table.time + rng.uniform(0.0, 1.0, table.time.size) / table.rate)
    columns = [np.interp(time, table.time, column) for column in table.values.T]
    return Table(time, table.names, np.stack(columns, axis=1), False, table.path)


def test_envelopes_at_uneven_times_are_interpolated_and_raw_signals_refused(tmp_path: Path) -> None:
    path = trial_with(tmp_path, uneven(envelopes()))
    emg = read_emg(path)
    np.testing.assert_allclose(np.diff(emg.time), np.diff(emg.time)[0], rtol=1e-6)
    true = [np.interp(emg.time, envelopes().time, column) for column in envelopes().values.T]
    np.testing.assert_allclose(emg.values, np.stack(true, axis=1), atol=0.01)
    assert any("interpolated" in note for note in read_trial(path).notes)
    with refused("uneven_sampling", "emg.sto"):
        read_trial(trial_with(tmp_path, uneven(signals())))


def test_rounded_times_are_even(tmp_path: Path) -> None:
    table = signals(rate=700.0)
    rounded = Table(np.round(table.time, 3), table.names, table.values, False, table.path)
    emg = read_emg(trial_with(tmp_path, rounded))
    np.testing.assert_allclose(emg.time, table.time, atol=5e-4)
    np.testing.assert_allclose(emg.values, table.values, atol=1e-5)


@pytest.mark.thorough
def test_raw_signals_are_no_envelopes(tmp_path: Path) -> None:
    path = trial_with(tmp_path, None, ("\n\n", "\nprocessed = true\n\n"))
    with refused("bad_signal", "[emg.channels] SOL", "processed"):
        read_trial(path)
    assert ("emg", "error") in found(path)


def test_rectified_signals_that_are_taken_for_raw_ones_are_noted(tmp_path: Path) -> None:
    def notes(values: np.ndarray, *edits: tuple[str, str]) -> list[str]:
        trial = read_trial(trial_with(tmp_path, with_values(values), *edits))
        return [note for note in trial.notes if "never negative" in note]

    raw = signals().values
    (note,) = notes(np.stack([np.abs(raw[:, 0]), raw[:, 1]], axis=1))
    assert "SOL:" in note and "processed = true" in note
    assert not notes(raw + 20.0), "an offset of the amplifier is no rectification"
    assert not notes(np.abs(raw), ("\n\n", "\nprocessed = true\n\n"))


def test_envelopes_at_a_low_rate_are_read(tmp_path: Path) -> None:
    table = signals(rate=50.0)
    envelope = Table(table.time, table.names, np.abs(table.values), False, table.path)
    emg = read_emg(trial_with(tmp_path, envelope, ("\n\n", "\nprocessed = true\n\n")))
    assert emg.options.processed


def test_a_rate_too_low_for_the_band(tmp_path: Path) -> None:
    with refused("bad_value", "[emg] highpass_hz", "40", "processed = true"):
        read_trial(trial_with(tmp_path, signals(rate=40.0)))
    with refused("bad_value", "[emg] envelope_hz", "600"):
        read_trial(trial_with(tmp_path, None, ("\n\n", "\nenvelope_hz = 600\n\n")))


def test_the_band_ends_below_half_the_rate(tmp_path: Path) -> None:
    trial = read_trial(trial_with(tmp_path, signals(rate=500.0)))
    assert trial.emg is not None
    assert trial.emg.options.lowpass_hz == pytest.approx(225.0)
    assert any("225 Hz" in note for note in trial.notes)
    assert not any("400 Hz" in note for note in read_trial(trial_with(tmp_path)).notes)


def test_signals_of_another_time(tmp_path: Path) -> None:
    table = signals(duration=2.0)
    late = Table(table.time + 10.0, table.names, table.values, False, table.path)
    with refused("no_overlap", "[emg] file", "10 to 11.999 s", "0.6 to 1.8 s"):
        read_trial(trial_with(tmp_path, late))


def test_a_signal_of_a_few_samples(tmp_path: Path) -> None:
    with refused("too_few_frames", "emg.sto", "0.1"):
        read_trial(trial_with(tmp_path, signals(duration=0.1)))


def test_uneven_times(tmp_path: Path) -> None:
    table = signals()
    kept = np.r_[0:700, 705 : table.time.size]
    with refused("uneven_sampling", "emg.sto"):
        read_trial(
            trial_with(tmp_path, Table(table.time[kept], table.names, table.values[kept], False, table.path))
        )


def test_a_column_of_text(tmp_path: Path) -> None:
    path = trial_with(tmp_path)
    text = (tmp_path / "emg.sto").read_text(encoding="utf-8").splitlines()
    row = 50
    text[row] = "\t".join([text[row].split("\t")[0], "off", "0.1"])
    (tmp_path / "emg.sto").write_text("\n".join(text), encoding="utf-8")
    with refused("not_numbers", "emg.sto", f"line {row + 1}", "off"):
        read_trial(path)
    assert "emg" in examined(path).codes


def test_a_channel_that_stands_twice_in_the_file(tmp_path: Path) -> None:
    path = trial_with(tmp_path)
    text = (tmp_path / "emg.sto").read_text(encoding="utf-8")
    (tmp_path / "emg.sto").write_text(text.replace("\tHAM", "\tSOL"), encoding="utf-8")
    with refused("duplicate_name", "emg.sto", "'SOL'"):
        read_trial(trial_with_text(path, TABLE[TABLE.index("HAM") :]))


def trial_with_text(path: Path, line: str) -> Path:
    """Remove a line of a trial file."""
    path.write_text(path.read_text(encoding="utf-8").replace(line, ""), encoding="utf-8")
    return path


def test_gaps_and_clipped_samples_are_noted(tmp_path: Path) -> None:
    values = signals().values.copy()
    values[1000:1040, 0] = np.nan
    values[:, 1] = np.clip(values[:, 1], -0.8, 0.8)
    notes = read_trial(trial_with(tmp_path, with_values(values))).notes
    assert any("SOL" in note and "40 ms" in note for note in notes)
    assert any("HAM" in note and "clipped" in note for note in notes)
    clean = read_trial(trial_with(tmp_path)).notes
    assert not any("SOL" in note or "HAM" in note for note in clean)
