"""Names of columns in text files: channels of EMG and their muscles, and vectors of force plates."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import SAID_SIDES
from musclesolve.laboratory.checks.case import Case
from musclesolve.laboratory.draft.draft_text import DraftTable, Line
from musclesolve.laboratory.motion.signals.emg_envelope import linear_envelope
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Side
from musclesolve.laboratory.recording.emg_state import is_flat
from musclesolve.laboratory.recording.trial_settings import EmgSettings
from musclesolve.laboratory.trial.muscle_signals import are_envelopes
from musclesolve.laboratory.trial.plates.foot_contacts import vertical_force
from musclesolve.tables.number_rows import by_place
from musclesolve.tables.sampled import ZERO, Table

_MOST_CHANNELS = 32
"""Largest number of recorded muscles: a file with more was computed by a model."""
_SHARE = 0.5
"""Least share of channels with names of muscles for a file of EMG, without numbered copies of one name."""
COPIES = 3
"""Least number of names that are alike but for numbers ("Pin 1", "Pin 2", ...) and mean nothing."""
TELLING = 2
"""Least number of names of muscles that are long, or of muscles on both sides, which no other channels have."""
STANCE_RATIO = 1.3
"""Least ratio of the activity of stance muscles with their own foot loaded to that with the other foot loaded."""
LOADED_N = 50.0
SLOWEST_RAW_HZ = 400.0
"""Least sampling rate of raw EMG [Hz]."""


@dataclass(frozen=True)
class EmgChannels:
    """Channel -> its muscles without side; channel -> the side that its name states; channels whose names mean no
    muscle; whether a model computed them; channels whose muscle follows from the other channels.
    """

    muscles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sides: dict[str, Side] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    computed: bool = False
    by_company: tuple[str, ...] = ()


@cache
def muscles_by_name() -> dict[str, tuple[str, ...]]:
    """Folded name -> muscles."""
    tables = bundled_toml(__package__, "emg_muscles.toml")
    known: dict[str, tuple[str, ...]] = {
        name: (muscle,) for muscle, names in tables["muscles"].items() for name in names
    }
    for group in tables["groups"].values():
        known |= {name: tuple(group["muscles"]) for name in group["names"]}
    return known


def emg_channels(names: Iterable[str], recorded: bool = False) -> EmgChannels:
    """The channels among some columns that name a muscle, and those that name none beside them.

    recorded: they are channels of a converter, so that no model computed them, however many there are.
    """
    names = list(names)
    known = muscles_by_name()
    read = {name: _muscle_and_side(name, names, known) for name in names}
    there = {muscle for meant, _ in read.values() for muscle in meant}
    decided = {
        word: (rule["muscle"],)
        for word, rule in bundled_toml(__package__, "emg_muscles.toml")["by_company"].items()
        if set(rule["beside"]) <= there and not set(rule["without"]) & there
    }
    company = dict[str, tuple[tuple[str, ...], Side | None]]()
    if decided:
        again = {name: _muscle_and_side(name, names, known | decided) for name in names if not read[name][0]}
        company = {name: one for name, one in again.items() if one[0]}
    read |= company
    muscles = {name: meant for name, (meant, _) in read.items() if meant}
    sides = {name: side for name, (meant, side) in read.items() if meant and side is not None}
    if len(names) > _MOST_CHANNELS and not recorded:
        return EmgChannels(muscles, sides, computed=len(muscles) > 0)
    in_name = [name for name in names if "emg" in name.casefold()]
    others = [name for name in names if name not in muscles]
    alike = Counter(re.sub(r"[\W\d_]", "", name.casefold()) for name in others)
    copies = sum(count for count in alike.values() if count >= COPIES)
    # Two letters may mean anything among other channels.
    long = sum(len(re.sub(r"[^a-z]", "", name.casefold())) > 3 for name in muscles)
    of_sides = Counter(meant for meant, _ in {(muscles[name], side) for name, side in sides.items()})
    telling = max(long, sum(count == len(SIDES) for count in of_sides.values())) >= TELLING
    if len(muscles) < _SHARE * (len(names) - copies) and not in_name and not telling:
        return EmgChannels()
    return EmgChannels(muscles, sides, tuple(others if muscles else in_name), by_company=tuple(company))


def _muscle_and_side(
    name: str, names: list[str], known: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[str, ...], Side | None]:
    """The muscles of a channel, none where its name is not known, and its side; `names`: all channels of the file.

    A side that a sign parts from the name comes first ("HamL_r": the lateral hamstrings of the right leg). A letter of
    the name itself is a side where the name means nothing with it, or the file has the same name with the other letter.
    """
    plain, parts, words = _parted_name(name)
    whole = "".join(words)
    # A side at either end, parted by a sign.
    for end, others in ((parts[-1:], parts[:-1]), (parts[:1], parts[1:])):
        rest = "".join(others).casefold()
        if rest in known and end[0].casefold() in SAID_SIDES:
            return known[rest], SAID_SIDES[end[0].casefold()]
    letters = str.maketrans("rlRL", "lrLR")
    twins = {plain[:-1] + plain[-1:].translate(letters), plain[:1].translate(letters) + plain[1:]} - {plain}
    has_twin = any(other.rpartition(":")[2] in twins for other in names)
    if whole in known and not (has_twin and _lettered(whole, known)[0]):
        return known[whole], None
    side, stem = _side_and_stem(words)
    return (known[stem], side) if side and stem in known else _lettered(whole, known)


def _parted_name(name: str) -> tuple[str, list[str], list[str]]:
    """The name of a channel without a person, as in "Ann:SOL", or "SOL: EMG 1"; its parts and words of a meaning."""
    idle = set(bundled_toml(__package__, "emg_muscles.toml")["idle"]["words"])
    before, _, behind = name.rpartition(":")
    parted = {
        text: [part for part in re.findall(r"[A-Za-z]+", text) if part.casefold() not in idle]
        for text in (behind, before)
    }
    plain = next((text for text, parts in parted.items() if parts), behind)
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", " ".join(parted[plain])).casefold()
    return plain, parted[plain], [word for word in split.split() if word not in idle]


def _side_and_stem(words: list[str]) -> tuple[Side | None, str]:
    """The side that some words state, None without one side, and the others together."""
    sides = {SAID_SIDES[word] for word in words if word in SAID_SIDES}
    stem = "".join(word for word in words if word not in SAID_SIDES)
    return (sides.pop() if len(sides) == 1 else None), stem


MOST_OFFERED, SHORTEST_OFFERED = 4, 3
"""Largest number of muscles offered for a channel, and least number of common letters in the names."""


def offered_muscles(name: str) -> tuple[tuple[str, ...], Side | None]:
    """Muscles, without side, that the name of a channel may mean though it is no known name, and the side it states.

    "GM_l" may be the medial gastrocnemius or a gluteus, "L Rect" begins as rectus femoris does. The likeliest is first.
    """
    tables = bundled_toml(__package__, "emg_muscles.toml")
    side, stem = _side_and_stem(_parted_name(name)[2])
    if stem in tables["offered"]:
        return tuple(tables["offered"][stem]), side
    shared = dict[str, int]()
    for known, muscles in muscles_by_name().items():
        common = min(len(known), len(stem))
        begins = known.startswith(stem) or stem.startswith(known)
        if begins and common >= SHORTEST_OFFERED and len(muscles) == 1:
            shared[muscles[0]] = max(common, shared.get(muscles[0], 0))
    return tuple(sorted(shared, key=lambda muscle: -shared[muscle])[:MOST_OFFERED]), side


def _lettered(whole: str, known: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], Side | None]:
    """Muscles and side of a name with one letter of a side before or behind it: "RSOL", "LTA", "SOLR"."""
    for letter in SIDES:
        for rest in (whole.removeprefix(letter), whole.removesuffix(letter)):
            if rest != whole and rest in known:
                return known[rest], SAID_SIDES[letter]
    return (), None


@dataclass(frozen=True)
class EmgFile:
    """A file with channels of EMG."""

    path: Path
    table: Table
    channels: EmgChannels

    @property
    def left_out(self) -> dict[str, list[str]]:
        """Reason -> the channels that are left out for it."""
        table, reasons = self.table, dict[str, list[str]]()
        for channel in table.names:
            if channel in self.channels.unknown:
                reasons.setdefault("of a name that means no muscle", []).append(channel)
            elif channel in self.channels.muscles and channel in table.repeated:
                reasons.setdefault("of a name that occurs twice", []).append(channel)
            elif channel in self.channels.muscles and is_flat(table[channel]):
                reasons.setdefault("without a signal", []).append(channel)
        return reasons


def left_out_text(reasons: Mapping[str, list[str]]) -> str:
    """Return what is left out and why, in words; of names that differ by a number only the first and the last one."""
    return "; ".join(f"{reason}: {', '.join(ranges(names))}" for reason, names in reasons.items())


def ranges(names: list[str]) -> list[str]:
    """Return names, those that are alike but for a number as "Pin 1 to Pin 16"."""
    runs: list[list[str]] = []
    stem = None
    for name in names:
        same, stem = stem, re.sub(r"\d+(?=\D*$)", "", name)
        if runs and stem == same and stem != name:
            runs[-1].append(name)
        else:
            runs.append([name])
    return [text for run in runs for text in (run if len(run) < COPIES else [f"{run[0]} to {run[-1]}"])]


def emg_tables(file: EmgFile, name: str, in_markers: bool, case: Case | None) -> tuple[DraftTable, ...]:
    """The tables [emg] and [emg.channels]; `name`: the file as the trial file names it."""
    table, channels = file.table, file.channels
    reasons = file.left_out
    unknown = [name for several in reasons.values() for name in several]
    kept = [channel for channel in channels.muscles if channel in table.names and channel not in unknown]
    if not kept:
        todo = (
            "enter what each channel of the EMG shows, such as soleus_r, or leave the tables out: every channel is "
            f"{left_out_text(reasons)}"
        )
        line = Line("processed", False, "raw; true: linear envelopes")
        left = tuple(Line(channel, "MUSCLE_r") for channel in unknown)
        return DraftTable("emg", (line,), todo=todo, open=True), DraftTable("emg.channels", left, open=True)
    processed = are_envelopes(np.stack([table[c] for c in kept], axis=-1), table.rate)
    side, todo = None, ""
    if not all(channel in channels.sides for channel in kept):
        side, how = _side_by_signals(file, kept, processed, case)
        do = "check the side" if side else "enter the side of every channel behind its muscle, _r or _l"
        todo = f"{do}: the names of the channels do not state it. {how}"
    lines = []
    if not in_markers:
        lines.append(Line("file", name, f"{len(kept)} channels at {table.rate:g} Hz"))
    raw = "raw: most of the power lies above 20 Hz, or samples are on both sides of zero"
    source = "hardly any power above 20 Hz, hardly negative: envelopes already" if processed else raw
    lines.append(Line("processed", processed, source))
    about = (f"Left out, {left_out_text(reasons)}.",) if reasons else ()
    shown = []
    for channel in kept:
        leg = channels.sides.get(channel) or side
        muscles = [f"{muscle}_{leg or 'r'}" for muscle in channels.muscles[channel]]
        comment = "by the other channels" if channel in channels.by_company else ""
        shown.append(Line(channel, muscles[0] if len(muscles) == 1 else muscles, comment, open=leg is None))
    opened = all(line.open for line in shown)
    table_emg = DraftTable("emg", tuple(lines), about, todo, open=opened)
    return table_emg, DraftTable("emg.channels", tuple(shown), open=opened)


def _side_by_signals(
    file: EmgFile, kept: list[str], processed: bool, case: Case | None
) -> tuple[Side | None, str]:
    """The leg that channels without a side belong to, and how it was found; None where it was not.

    The stance muscles show the leg: their activity is compared while either foot is loaded alone.
    """
    muscles, sides = file.channels.muscles, file.channels.sides
    of_stance = set(bundled_toml(__package__, "emg_muscles.toml")["stance"]["muscles"])
    bearing = [channel for channel in kept if channel not in sides and set(muscles[channel]) <= of_stance]
    rate = file.table.rate
    if case is None or not bearing or (not processed and rate < SLOWEST_RAW_HZ):
        return None, "No channel shows a muscle that works in stance"
    time = case.trial.markers.time
    right, left = (vertical_force(case.trial, side) > LOADED_N for side in SIDES)
    inside = (time >= file.table.time[0]) & (time <= file.table.time[-1])
    alone = {"r": right & ~left & inside, "l": left & ~right & inside}
    if not all(mask.any() for mask in alone.values()):
        return None, "The plates do not show both feet"
    options = EmgSettings(processed=processed, lowpass_hz=min(400.0, 0.45 * rate))
    ratios = []
    for channel in bearing:
        signal = np.nan_to_num(file.table[channel])[:, None]
        whole = signal if processed else linear_envelope(signal, rate, options)
        envelope = np.interp(time, file.table.time, whole[:, 0])
        means = [float(np.nanmean(envelope[alone[side]])) for side in SIDES]
        if min(means) > 0.0:
            ratios.append(means[0] / means[1])
    ratio = float(np.exp(np.mean(np.log(ratios)))) if ratios else 1.0
    if max(ratio, 1.0 / ratio) < STANCE_RATIO:
        return None, "The signals do not show the side"
    side: Side = "r" if ratio > 1.0 else "l"
    return side, (
        f"{', '.join(bearing)} are {max(ratio, 1.0 / ratio):.1f} times as active in {SIDE_NAMES[side]} as in "
        f"{SIDE_NAMES['l' if side == 'r' else 'r']} single support"
    )


_COMPONENT = re.compile(
    r"(?P<stem>.*?)(?P<axis>[xyz])(?P<end>(?:[ _.-]*(?:plate|fp))?[ _.-]*\d*)", re.IGNORECASE
)
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_INSIDE = re.compile(r"_on_.*_in_")
"""Names of joint reactions, which a model computed: "knee_r_on_tibia_r_in_tibia_r_fx"."""
_ROLE_OF = {
    **dict.fromkeys("force forces for f v gr grf kraft fuerza forza força forca".split(), "force"),
    **dict.fromkeys("point p cop cofp cof px position pos c punkt punto ponto".split(), "point"),
    **dict.fromkeys("moment moments mom torque torques m t tz free freemoment momento".split(), "moment"),
}
_FEWEST = {"force": 3, "point": 2, "moment": 1}
"""Fewest components of a vector: a point lies on the floor, and a free moment is about the vertical axis."""
_IDLE = {"ground", "reaction", "plate", "fp", "the", "on"}


@dataclass(frozen=True)
class PlateNames:
    """The columns of one plate by role, three each; words that are left of their names; the side they state."""

    words: tuple[str, ...]
    columns: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    @property
    def side(self) -> Side | None:
        """The side that the names state, None where they state none or both."""
        sides = {SAID_SIDES[word] for word in self.words if word in SAID_SIDES}
        return sides.pop() if len(sides) == 1 else None

    @property
    def label(self) -> str:
        """The plate in a message."""
        names = self.columns.get("force") or next(iter(self.columns.values()))
        return common_beginning(names) or ", ".join(names)


def plates_of(table: Table) -> list[PlateNames]:
    """The plates whose force has three columns, with the columns of point and moment that belong to them."""
    triples: dict[tuple[str, str], dict[str, str]] = {}
    # Columns of equal names, as of plates side by side, are counted: "Fx (column 2)" is Fx of plate 1.
    numbers = {
        place: f" {k}"
        for name, where in table.repeated.items()
        for k, place in enumerate(by_place(name, where), start=1)
    }
    for name in table.names:
        plain = name.rpartition(" (")[0] + numbers[name] if name in numbers else name
        if (match := _COMPONENT.fullmatch(plain)) is not None and name not in table.repeated:
            triples.setdefault((match["stem"], match["end"]), {})[match["axis"].lower()] = name
    plates: dict[tuple[str, ...], PlateNames] = {}
    for (stem, end), components in triples.items():
        role, words = _role_and_words(stem, end)
        if role is None or len(components) < _FEWEST[role] or _INSIDE.search(stem):
            continue
        plate = plates.setdefault(words, PlateNames(words))
        x, y, z = (components.get(axis, ZERO) for axis in "xyz")
        plate.columns.setdefault(role, (x, y, z))
    for plate in plates.values():
        if "point" not in plate.columns and ZERO not in plate.columns.get("moment", ZERO):
            plate.columns["point"] = (ZERO, ZERO, ZERO)  # unless the moments are about another point
    # BTS calls every plate "r gr", of a right foot or not.
    alike = set.intersection(*map(set, plates)) & {*SIDES} if len(plates) > 1 else set()
    return [
        replace(plate, words=tuple(word for word in plate.words if word not in alike))
        for plate in plates.values()
        if "force" in plate.columns
    ]


def common_beginning(names: tuple[str, ...]) -> str | None:
    """Return the common beginning of three names that end in x, y and z; None for other names."""
    stem = names[0][:-1]
    return stem if stem and all(x == stem + axis for x, axis in zip(names, "xyz", strict=True)) else None


def _role_and_words(stem: str, end: str) -> tuple[str | None, tuple[str, ...]]:
    """The role of a vector, by the last word of its name that states one, and the words that name its plate."""
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", stem.replace("CoP", " cop "))
    split = re.sub(r"(?<![^\W\d_])[aA]$", "cop", split)  # "Ax" is a point, "Force A x" the force of plate A
    words = _WORDS.findall(f"{split} {end}".casefold())
    roles = [_ROLE_OF[word] for word in words if word in _ROLE_OF]
    if not roles:
        return None, ()
    # "free moment", "ground_torque_r_p": the last word decides, but a torque is never a force.
    role = "moment" if roles[-1] == "force" and "moment" in roles else roles[-1]
    return role, tuple(sorted(word for word in words if word not in _ROLE_OF and word not in _IDLE))
