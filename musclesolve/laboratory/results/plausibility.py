"""Plausibility, the second verdict on a result: whether its values are near measured values.

The first verdict is `valid`: each frame is solved, and its optimality certified. A certified result may still be wrong,
because the optimum belongs to a model. Plausibility compares the result with measurements and with the limits of
muscles, ground forces and bodies. plausibility.toml has limits and reasons, in_vivo.toml the contact forces measured
inside the body, movement.py the rule for the movement.

A contact force lies within the measured range, at its edge (beyond the range, but not with its whole band of 95 %), or
outside; the residual has the same degrees. A result is not plausible where a criterion fails that is decisive alone. It
is at the edge where a quantity is at the edge or another criterion fails. Otherwise it is plausible if contact forces
could be compared, and not known if not. A stated movement that the motion contradicts is compared with no range.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import grouped, true_runs
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.processes import return_memory
from musclesolve._util.sides import LEG_JOINTS, SIDE_NAMES, joint_kind, sided, split_side
from musclesolve.constants import BAND_95, KEY_POINT_CUTOFF_HZ
from musclesolve.laboratory.recording.trial_settings import PLATES
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES
from musclesolve.laboratory.results.dataset.result_quantities import choice_name, leg_joint, number, text
from musclesolve.laboratory.results.facts import ContactPeak, Facts, once
from musclesolve.laboratory.results.finding import FINDINGS, Cost, Finding
from musclesolve.laboratory.results.movement import CHAIR, ONE_LEG, SQUAT, STANDING, UNKNOWN, WORDS, Movement

PLAUSIBLE, AT_EDGE, NOT_PLAUSIBLE, NOT_KNOWN = "plausible", "at the edge", "not plausible", "not known"
NOT_RECOGNIZED = "the movement was not recognized: "
"""Begin of the reason why no contact forces are compared, where the movement is not known."""
NO_WEIGHT = "the mass of the person is not known, in whose weight contact forces are compared (--mass-kg)"
"""Reason why no contact forces of a part of a person, such as one leg, are compared."""
NO_FORCES = "no contact forces are known (see the notes)"
NOT_OF_LEGS = "no measured forces of these joints are known to compare them with"
"""Reason why no contact forces of an arm or a spine are compared."""
FLAGS = {NOT_KNOWN: 0, PLAUSIBLE: 1, NOT_PLAUSIBLE: 2, AT_EDGE: 3}
"""Values of the variable `plausible`."""
DEGREES = {PLAUSIBLE: "within", AT_EDGE: "at the edge", NOT_PLAUSIBLE: "outside", NOT_KNOWN: "not known"}
"""Verdicts on a single quantity in words, the best first."""
OWN_PEAKS = dict(zip(("contact_peak_low", "contact_peak_high"), BAND_95, strict=True))
"""Variables (joint) of a result whose uncertainty is known: quantiles of the samples of its peak contact forces [N]."""
FEWEST_SAMPLES = 50
"""Least number of samples, so that at least one lies beyond either end of the band of 95 %."""
INDEPENDENT_S = 0.15
"""Time after which residuals are independent [s]: about the period of the usual cut-off."""
OF_RECORDING = ("residual", "residual_moment", "mass")
"""Criteria of masses, motion and ground forces, on which angles or moments depend."""
UNFILTERED_HZ = 9.0
"""Value for an unknown cut-off [Hz]."""
ON_THE_SPOT = (CHAIR, SQUAT, STANDING, ONE_LEG)


def in_vivo() -> dict[str, Any]:
    """Peaks of contact forces that implants measured, by movement and joint; see in_vivo.toml."""
    return bundled_toml(__package__, "in_vivo.toml")


def criteria() -> dict[str, Any]:
    """Limits of plausibility with their sentences and reasons."""
    return bundled_toml(__package__, "plausibility.toml")["criteria"]


RANGE_DIGITS, PEAK_DIGITS = 1, 2
"""Decimals of measured ranges, which the sources print, and of computed peaks [body weights]: both are compared as they
are printed, so that no peak lies within a range whose printed end it exceeds.
"""
FAR_ABOVE = "▲"
"""Mark of a peak above mean + 2 SD of what implants measured."""


@dataclass(frozen=True)
class Measured:
    """Peaks of the contact force of a joint that implants measured in a movement [body weights]."""

    lowest: float  # minus infinity where unknown
    highest: float
    movement: str  # in words: level walking; "speed not known" where ranges depend on it
    about: str  # the measurement and its subjects
    reason: str  # reason of the range at this speed; "" where it does not depend on speed
    sources: tuple[str, ...]  # keys of citations.toml
    # highest peak, mean and standard deviation of the largest group, as far as known, and the group in words
    usual: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """The range in words, such as: 2.2 to 4.8."""
        highest = f"{self.highest:.{RANGE_DIGITS}f}"
        return (
            f"{self.lowest:.{RANGE_DIGITS}f} to {highest}" if np.isfinite(self.lowest) else f"up to {highest}"
        )

    @property
    def mean_words(self) -> str:
        """The range with the mean of the largest group, such as: 2.2 to 4.8, mean 2.5."""
        return f"{self.words}, mean {self.usual['mean']:.1f}" if "mean" in self.usual else self.words

    @property
    def far_above(self) -> float:
        """Mean + 2 SD of the largest group [body weights]; infinity where they are not known."""
        known = "sd" in self.usual
        return float(self.usual["mean"] + 2.0 * self.usual["sd"]) if known else float("inf")

    @property
    def far_words(self) -> str:
        """The meaning of the mark `FAR_ABOVE`; empty where `far_above` is not known."""
        return f"{FAR_ABOVE} above mean + 2 SD of {self.usual['people']}" if "sd" in self.usual else ""

    @property
    def authors(self) -> str:
        """Authors and years, such as: Bergmann et al. 1993, 2001; Kotzar et al. 1991."""
        named = (in_vivo()["sources"][key].rpartition(" ") for key in self.sources)
        years = grouped((who, year) for who, _, year in named)
        return "; ".join(f"{who} {', '.join(of)}" for who, of in years.items())

    def verdict(self, value: float, band: tuple[float, float]) -> str:
        """Return the degree of plausibility of a peak with its band, all [body weights].

        Plausible within the range; at the edge if the peak is beyond the range, but not the whole band; else outside.
        All are compared as they are printed.
        """
        lowest, highest = round(self.lowest, RANGE_DIGITS), round(self.highest, RANGE_DIGITS)
        for verdict, (low, high) in ((PLAUSIBLE, (value, value)), (AT_EDGE, band)):
            if round(low, PEAK_DIGITS) <= highest and round(high, PEAK_DIGITS) >= lowest:
                return verdict
        return NOT_PLAUSIBLE


def never_measured(joint: str) -> str:
    """The knowledge of a joint in which no implant measured a force, in words; empty for other joints."""
    return str(in_vivo()["not_measured"].get(joint_kind(joint), {}).get("words", ""))


def measured(joint: str, movement: Movement) -> Measured | None:
    """Return the range that implants measured at a joint without side.

    Where the speed is unknown, the entry of the slowest movement holds, as `Measured.movement` notes; for running none
    holds. None where nothing was measured, or not at this speed, or where the motion contradicts the stated movement.
    """
    if movement.seen:
        return None
    entries: Sequence[Mapping[str, Any]] = in_vivo().get(movement.name, {}).get(joint_kind(joint), ())
    speed = movement.speed if np.isfinite(movement.speed) else -np.inf
    for entry in entries:
        fastest = entry.get("up_to_m_s", np.inf)
        if speed <= fastest and (np.isfinite(speed) or not entry.get("needs_speed", False)):
            words, reason = movement.words, ""
            lowest, highest = entry.get("lowest", -np.inf), entry["highest"]
            if "people" in entry and np.isfinite(speed):
                lowest, highest = peaks_at(speed, entry["people"], entry["rise"], entry["most"])
                words += f" at {speed:.1f} m/s"
                reason = f"peaks rise with speed, by up to {entry['rise']:g} BW per m/s"
            elif "people" in entry:
                words += " (speed not known)"
            elif not np.isfinite(speed) and np.isfinite(fastest):
                words += f" (speed not known: at up to {fastest:g} m/s)"
            return Measured(
                lowest,
                highest,
                words,
                entry["about"],
                reason,
                tuple(entry["sources"]),
                entry.get("usual", {}),
            )
    return None


def peaks_at(
    speed: float, people: Sequence[Mapping[str, Sequence[float]]], rise: float, most: float
) -> tuple[float, float]:
    """Return the lowest and the highest peak [body weights] that any of some people may have at a speed [m/s].

    A peak rises with speed by at most `rise` [body weights per m/s]. For a person with the peaks P_i at the speeds u_i
    the peak at the speed v lies

        between  max_i (P_i - rise max(u_i - v, 0))  and  min_i (P_i + rise max(v - u_i, 0), most).

    The range covers all people; between two speeds of a person with the steepest rise it is the line between the peaks.
    """
    low, high = [], []
    for person in people:
        peak, faster = np.array(person["peak"]), speed - np.array(person["speed"])
        low.append(float(np.max(peak - rise * np.maximum(-faster, 0.0))))
        high.append(float(np.min(peak + rise * np.maximum(faster, 0.0))))
    return min(low), min(max(high), most)


@dataclass(frozen=True)
class Comparison:
    """Comparison of a result with a criterion."""

    criterion: str  # a key of plausibility.toml
    side: str  # of the leg; "" of the whole body
    verdict: str  # one of DEGREES
    value: float
    sentence: str
    place: str = ""  # the joint of a contact force, in words: right hip

    @property
    def is_decisive(self) -> bool:
        """Whether a result is not plausible where this criterion alone fails."""
        return bool(criteria()[self.criterion].get("alone", True))

    @property
    def passed(self) -> bool | None:
        """Return whether the quantity is not outside; None where unknown."""
        return None if self.verdict == NOT_KNOWN else self.verdict != NOT_PLAUSIBLE


@dataclass(frozen=True)
class Plausibility:
    """The comparisons of a result, and the verdict that follows for each side and for all of them."""

    movement: Movement
    sides: tuple[str, ...]
    comparisons: tuple[Comparison, ...]
    in_use: tuple[str, str] = ("", "")  # muscle set, "" of an OpenSim model, and cost
    cutoff_hz: float = UNFILTERED_HZ  # of the motion
    weight: float = np.nan  # of the body [N]
    shows_legs: bool = True  # whether the result is of a hip, knee or ankle
    forces_known: bool = True  # whether it holds contact forces

    def verdict_of(self, side: str) -> str:
        """The verdict on a leg: by its own comparisons and by the comparisons of the whole body."""
        # the verdict of the worst quantity; at the edge where no failed criterion is decisive alone
        of_leg = [one for one in self.comparisons if one.side in (side, "")]
        failed = [one for one in of_leg if one.verdict == NOT_PLAUSIBLE]
        if failed:
            return NOT_PLAUSIBLE if any(one.is_decisive for one in failed) else AT_EDGE
        return _worst(one.verdict for one in of_leg if one.criterion == "contact" or one.verdict == AT_EDGE)

    @property
    def verdict(self) -> str:
        """The verdict on the result: the verdict on its worst leg among the legs that could be compared."""
        return _worst(self.verdict_of(side) for side in self.sides)

    @property
    def label(self) -> str:
        """The verdict in words."""
        return str(bundled_toml(__package__, "plausibility.toml")["labels"][self.verdict])

    @property
    def movement_words(self) -> str:
        """The movement in words, such as: level walking (stated); "" of a result without legs."""
        if not self.shows_legs and not self.movement.stated:
            return ""
        if self.movement.seen:
            return f"stated: {self.movement.words}; {_seen(self.movement)}"
        return self.movement.words + (" (stated)" if self.movement.stated else "")

    @property
    def joints_within(self) -> list[str]:
        """Joints whose contact forces are within the widest range on every leg that was compared."""
        verdicts: dict[str, set[str]] = {}
        for one in self.comparisons:
            if one.place:
                verdicts.setdefault(one.place.split()[-1], set()).add(one.verdict)
        return [joint for joint, of_legs in verdicts.items() if of_legs - {NOT_KNOWN} == {PLAUSIBLE}]

    @cached_property
    def failed(self) -> list[Comparison]:
        """The comparisons of quantities that are outside."""
        return [comparison for comparison in self.comparisons if comparison.verdict == NOT_PLAUSIBLE]

    @property
    def decisive(self) -> tuple[str, ...]:
        """Criteria that fail and make a result not plausible alone, each once."""
        return tuple(dict.fromkeys(one.criterion for one in self.failed if one.is_decisive))

    @cached_property
    def at_edge(self) -> list[Comparison]:
        """The quantities that are at the edge."""
        return [comparison for comparison in self.comparisons if comparison.verdict == AT_EDGE]

    @cached_property
    def against(self) -> list[str]:
        """Sentences against the result, then sentences on quantities at the edge."""
        return [comparison.sentence for comparison in (*self.failed, *self.at_edge)]

    @property
    def use(self) -> str:
        """Advice on use of a result that is not plausible, or at the edge; "" for any other. Remedies: `remedy`.

        Residual force and body mass belong to the recording: moments are wrong where these criteria fail. The other
        criteria concern the muscles, on which angles, moments and events do not depend.
        """
        sentences = bundled_toml(__package__, "plausibility.toml")["use"]
        if self.verdict == AT_EDGE:
            return str(sentences["edge"])
        if any(comparison.criterion in OF_RECORDING for comparison in self.failed):
            return str(sentences["recording"])
        if any(comparison.criterion == "ground" for comparison in self.failed):
            return str(sentences["motion"])
        if not self.failed:
            return ""
        if all(comparison.criterion == "reserves" for comparison in self.failed):
            return str(sentences["reserves"])
        places = [comparison.place for comparison in self.failed if comparison.place]
        where = f"around the {' and '.join(dict.fromkeys(places))}" if places else "named here"
        return str(sentences["forces"].format(where=where))

    @property
    def causes(self) -> set[str]:
        """Codes of the faults of the recording that explain why the result is not plausible."""
        names, failed = criteria(), self.failed if self.verdict == NOT_PLAUSIBLE else ()
        return {code for comparison in failed for code in names[comparison.criterion].get("causes", ())}

    def with_deciding(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return findings on the recording, those marked that explain why the result is not plausible.

        Criteria name the faults that explain their failure (`causes`); a fault of small cost does not.
        """
        causes = self.causes

        def explains(code: str, cost: Cost | None) -> bool:
            return code in causes and (cost is None or cost.ratio is None or cost.ratio >= 1.0)

        return [replace(entry, decides=explains(entry.code, entry.cost)) for entry in findings]

    def remedy(self, comparison: Comparison) -> str:
        """Return the remedy for a quantity that is outside, or at the edge."""
        sentences = bundled_toml(__package__, "plausibility.toml")["remedy"]
        if comparison.criterion in OF_RECORDING:
            return str(sentences[comparison.criterion])
        if comparison.criterion == "ground":
            return self._lower_cutoff
        if comparison.criterion == "emg":
            return str(sentences["emg"])
        if comparison.verdict == AT_EDGE:
            return str(sentences["edge"])
        return str(sentences.get(comparison.criterion, sentences["forces"]).format(remedy=self._remedy))

    @property
    def _lower_cutoff(self) -> str:
        """Remedy for an unsteady motion: a cut-off lower than the one in use, if it is useful."""
        sentences = bundled_toml(__package__, "plausibility.toml")["remedy"]
        lower = max(KEY_POINT_CUTOFF_HZ, np.floor(2.0 * self.cutoff_hz / 3.0))
        if not lower < self.cutoff_hz:
            return str(sentences["ground_filtered"])
        line = f"cutoff_hz = {lower:g} in [filter]"
        return str(
            sentences["ground"].format(cutoff=line if self.in_use[0] else f"--cutoff-hz {lower:g}, or {line}")
        )

    @property
    def _remedy(self) -> str:
        """Remedy by comparison: muscle sets and costs that are not in use."""
        own_set, own_cost = self.in_use
        sentences, others = (bundled_toml(__package__, "plausibility.toml")[key] for key in ("use", "others"))
        sets = ", ".join(other for other in others["sets"] if other != own_set)
        costs = ", ".join(other for other in others["costs"] if other != own_cost)
        return str(sentences["sets" if own_set else "model"].format(sets=sets, costs=costs))

    @property
    def why_not_known(self) -> str:
        """Reason why no contact force could be compared; "" where one was."""
        contact = [comparison for comparison in self.comparisons if comparison.criterion == "contact"]
        if any(comparison.verdict != NOT_KNOWN for comparison in contact):
            return ""
        if not self.shows_legs:
            return NOT_OF_LEGS if self.forces_known else NO_FORCES
        if not contact:
            unknown = not np.isfinite(self.weight) and self.forces_known
            return NO_WEIGHT if unknown else NO_FORCES
        if self.movement.seen:
            return f"{_seen(self.movement)}, not the stated movement: no contact forces to compare with"
        if self.movement.name == UNKNOWN:
            return f"{NOT_RECOGNIZED}no contact forces to compare with"
        return f"no contact forces were measured in {_words_with_speed(self.movement)}"

    @property
    def reason(self) -> str:
        """Reason of the verdict, in a line."""
        if self.verdict == NOT_PLAUSIBLE:
            return "; ".join(self.against)
        if self.verdict == AT_EDGE:
            return "; ".join(filter(None, (*self.against, self.why_not_known)))
        if self.verdict == NOT_KNOWN:
            return self.why_not_known
        return "; ".join(
            comparison.sentence
            for comparison in self.comparisons
            if comparison.criterion == "contact" and comparison.verdict == PLAUSIBLE
        )


def _worst(verdicts: Iterable[str]) -> str:
    """The worst of the known verdicts."""
    known = set(verdicts)
    return next((verdict for verdict in (NOT_PLAUSIBLE, AT_EDGE, PLAUSIBLE) if verdict in known), NOT_KNOWN)


@once
def plausibility(facts: Facts) -> Plausibility:
    """Judge the plausibility of a result; a criterion whose quantity the result lacks is left out."""
    entries = criteria()
    made = [
        one
        for part in (_contact, _residual, _mass, _ground, _emg, _full, _fibers, _reserves)
        for one in part(facts)
        if facts.movement.name in entries[one.criterion].get("movements", WORDS)
        and facts.movement.name not in entries[one.criterion].get("not_of", ())
    ]
    muscle_set = (
        ""
        if "model_file" in facts.result.attrs
        else choice_name(facts.result, "muscle_database").removesuffix(".toml")
    )
    in_use = (muscle_set, text(facts.result, "cost"))
    cutoff = number(facts.result, "cutoff_hz") or UNFILTERED_HZ
    sides, weight = tuple(facts.legs), facts.body_weight
    return Plausibility(
        facts.movement,
        sides,
        tuple(made),
        in_use,
        cutoff,
        weight,
        facts.shows_legs,
        bool(facts.contact_peaks),
    )


def with_uncertainty(result: xr.Dataset, answer: xr.Dataset) -> xr.Dataset:
    """Add the bands of the peak contact forces from `uncertainty` to a result, and judge it by them.

    With fewer samples than FEWEST_SAMPLES the result is unchanged, because the spread is not determined.
    """
    if answer.attrs["samples"] - answer.attrs["failed_samples"] < FEWEST_SAMPLES:
        return result
    peaks = answer["contact_force_peak_quantile"].reindex(joint=result["joint"].values)
    bands = {
        name: ("joint", peaks.sel(quantile=share).values, QUANTITIES[name].attrs)
        for name, share in OWN_PEAKS.items()
    }
    return with_verdict(result.assign(bands))


def with_verdict(result: xr.Dataset) -> xr.Dataset:
    """Add `plausible` (side) to a result; its attributes are the movement and the outcome of every criterion.

    The stored findings on which the verdict rests are marked.
    """
    return judged_facts(result).result


def judged_facts(result: xr.Dataset) -> Facts:
    """Return the facts of a result after `with_verdict`; what the verdict needed of them is known."""
    return_memory(result.sizes["time"])
    facts, sides = Facts(result), [str(side) for side in result["side"].values]
    judged = plausibility(facts)
    flags = np.array([FLAGS[judged.verdict_of(side)] for side in sides], dtype=np.int8)
    attributes = {
        **QUANTITIES["plausible"].attrs,
        "flag_values": np.array(list(FLAGS.values()), dtype=np.int8),
        "flag_meanings": " ".join(name.replace(" ", "_").upper() for name in FLAGS),
        "movement": judged.movement.name,
        "verdict": judged.verdict,
        "reason": judged.reason,
        "criteria": "\n".join(
            f"{comparison.criterion} {comparison.side or 'body'} {DEGREES[comparison.verdict]}: {comparison.sentence}"
            for comparison in judged.comparisons
        ),
    }
    result = result.assign(plausible=("side", flags, attributes))
    if text(result, FINDINGS):
        findings = judged.with_deciding(facts.findings)
        result.attrs[FINDINGS] = json.dumps([entry.as_dict() for entry in findings])
        del facts.findings
    facts.result = result
    return facts


def _contact(facts: Facts) -> Iterator[Comparison]:
    """Compare each peak with the range measured in the movement; below the range only if the leg bears the body."""
    if not np.isfinite(facts.body_weight):
        return
    for peak in facts.contact_peaks:
        kind = joint_kind(peak.stem)
        if kind not in LEG_JOINTS or peak.joint != leg_joint(facts.result, kind, peak.side):
            continue
        range_, value = measured(peak.stem, facts.movement), peak.body_weights
        place = f"{SIDE_NAMES.get(peak.side, '')} {joint_kind(peak.stem)}".strip()
        what = f"{place} {value:.{PEAK_DIGITS}f} BW"
        if range_ is None:
            said = f"{what}; {_not_measured(peak, facts.movement)}"
            yield Comparison("contact", peak.side, NOT_KNOWN, value, said)
            continue
        low, high = own_band(facts, peak)
        verdict = range_.verdict(value, (low, high))
        if verdict != PLAUSIBLE and value < range_.lowest and not bears_the_body(facts, peak.side):
            verdict = NOT_KNOWN
        because = f", because {range_.reason}" if range_.reason else ""
        said = f"{what}; measured in {range_.movement} {range_.words}{because} ({range_.authors})"
        if verdict == PLAUSIBLE and round(value, PEAK_DIGITS) > range_.usual.get("highest", np.inf):
            said += f"; above all {range_.usual['people']}, within the widest range reported"
        if verdict == AT_EDGE:
            said += (
                f"; at the edge: its own band of 95 % is {low:.{PEAK_DIGITS}f} to {high:.{PEAK_DIGITS}f} BW"
            )
        yield Comparison("contact", peak.side, verdict, value, said, place)


def own_band(facts: Facts, peak: ContactPeak) -> tuple[float, float]:
    """Band of 95 % of a peak contact force [body weights]: of this result where known, else with the stated width.

    The band contains the peak without errors.
    """
    result, value = facts.result, peak.body_weights
    least, most = in_vivo()["own_band"].get(joint_kind(peak.stem), (1.0, 1.0))
    band = value * float(least), value * float(most)
    if all(name in result for name in OWN_PEAKS):
        known = [float(result[name].sel(joint=peak.joint)) / facts.body_weight for name in OWN_PEAKS]
        if np.isfinite(known).all():
            band = min(known[0], value), max(known[1], value)
    return band


def _seen(movement: Movement) -> str:
    """Return a sentence on the movement that motion and forces show where another movement is stated."""
    return f"motion and forces show {WORDS[movement.seen]}"


def _not_measured(peak: ContactPeak, movement: Movement) -> str:
    never = in_vivo()["not_measured"].get(joint_kind(peak.stem))
    if never is not None:
        return str(never["words"])
    if movement.seen:
        return f"stated: {movement.words}; {_seen(movement)}"
    if movement.name == UNKNOWN:
        return "the movement was not recognized"
    return f"no peaks were measured in {_words_with_speed(movement)}"


def _words_with_speed(movement: Movement) -> str:
    """The movement in words, such as: running at 3.0 m/s; with the speed only where measurements depend on it."""
    entries = in_vivo().get(movement.name, {})
    if not any("up_to_m_s" in entry for rows in entries.values() for entry in rows):
        return movement.words
    speed = f"{movement.speed:.1f} m/s" if np.isfinite(movement.speed) else "a speed that is not known"
    return f"{movement.words} at {speed}"


def bears_the_body(facts: Facts, side: str) -> bool:
    """Return whether valid frames cover a whole stance of a leg, or nearly all frames of a movement on the spot."""
    result = facts.result
    if "ground_reaction_force" not in result or side not in result["side"].values:
        return False
    valid, on = facts.valid[side], frames.stance(result, side)
    if facts.movement.name in ON_THE_SPOT:
        return bool(valid.mean() >= 0.95)
    return any(0 < first and stop < on.size and valid[first:stop].all() for first, stop in true_runs(on))


def _of(criterion: str, side: str, passed: bool | str, value: float, **words: object) -> Comparison:
    """A comparison with the sentence of the table; `passed` may be a verdict."""
    entry = criteria()[criterion]
    verdict = passed if isinstance(passed, str) else PLAUSIBLE if passed else NOT_PLAUSIBLE

    def shown(number: float) -> str:
        if not entry.get("percent"):
            return f"{number:.2f}"
        return f"{100.0 * number:{'.0f' if number >= 1.0 else '.3g'}} %"

    limits = {key: shown(entry[key]) for key in ("advised", "limit", "lowest", "highest") if key in entry}
    return Comparison(
        criterion, side, verdict, value, entry["sentence"].format(value=shown(value), **limits, **words)
    )


def least_factor(samples: float) -> float:
    """The least true rms of a measured one of 1 with a probability of 95 %: sqrt(n / chi2_0.95(n)) of n samples.

    The quantile of chi-square follows Wilson and Hilferty (1931), Proc Natl Acad Sci 17:684-8.
    """
    count = max(samples, 1.0)
    part = 2.0 / (9.0 * count)
    return float((1.0 - part + 1.645 * np.sqrt(part)) ** -1.5)


def _residual(facts: Facts) -> Iterator[Comparison]:
    """Compare the residual force with the advised limit and with the limit of use."""
    share, entry = facts.residual_share, criteria()["residual"]
    recorded = "pelvis_residual" in facts.result
    root, center = ("pelvis", "center of the body") if recorded else ("root of the model", "root")
    root += " (of the motion before it was changed)" if facts.motion_change else ""
    root += "" if facts.counted.all() else " in the frames that the ground forces balance"
    if share is not None:
        least = share * least_factor(facts.duration * facts.counted.mean() / INDEPENDENT_S)
        verdict = (
            PLAUSIBLE if share <= entry["advised"] else AT_EDGE if least <= entry["limit"] else NOT_PLAUSIBLE
        )
        made = _of("residual", "", verdict, share, root=root)
        if verdict == AT_EDGE and share > entry["limit"]:
            said = f"; at the edge: the lower end of its band of 95 % is {100.0 * least:.3g} %"
            made = replace(made, sentence=made.sentence + said)
        yield made
    if (turning := facts.residual_moment_share) is not None:
        verdict = PLAUSIBLE if turning <= criteria()["residual_moment"]["limit"] else AT_EDGE
        yield _of("residual_moment", "", verdict, turning, root=root, center=center)


def _mass(facts: Facts) -> Iterator[Comparison]:
    """Compare the mass that the ground bears with the weighed mass; one from the plates is no comparison."""
    carried, stated = facts.mass_carried, facts.result.attrs.get("subject_mass_kg")
    if carried is not None and stated and text(facts.result, "subject_mass_from") != PLATES:
        off = abs(carried / float(stated) - 1.0)
        yield _of("mass", "", off <= criteria()["mass"]["limit"], off, carried=carried, mass=float(stated))


def _ground(facts: Facts) -> Iterator[Comparison]:
    """Compare the largest predicted vertical force under each foot with the force expected at the speed.

    The force is the maximum over the valid frames [body weights].
    """
    entry, speed = criteria()["ground"], facts.movement.speed
    if not facts.predicted or not np.isfinite(facts.body_weight):
        return
    most = entry["at_1_5"] + entry["rise"] * ((speed if np.isfinite(speed) else entry["fastest"]) - 1.5)
    most = max(most, entry["least"])
    for side in facts.predicted:
        upward = facts.result["ground_reaction_force"].sel(side=side).transpose("time", "axis").values[:, 2]
        used = facts.valid[side] & frames.predicted(facts.result, side) & np.isfinite(upward)
        if used.any():
            peak, words = float(upward[used].max()) / facts.body_weight, _words_with_speed(facts.movement)
            yield _of("ground", side, peak <= most, peak, leg=SIDE_NAMES[side], most=most, movement=words)


def _emg(facts: Facts) -> Iterator[Comparison]:
    both = facts.median_and_mean_correlation
    if both is not None and (facts.predicts_emg or not facts.follows_emg):
        yield _of("emg", "", both[0] >= criteria()["emg"]["limit"], both[0])


def _full(facts: Facts) -> Iterator[Comparison]:
    """Judge the share of the muscles of each leg that work at their limit, as a mean over valid frames."""
    sides = frames.muscle_sides(facts.result)
    for side, leg in facts.legs.items():
        if full := [
            muscle_limit for muscle_limit in facts.muscles_at_limit if sides[muscle_limit.muscle] == side
        ]:
            share = sum(muscle_limit.share for muscle_limit in full) / list(sides.values()).count(side)
            longest = split_side(full[0].muscle)[0].replace("_", " ")
            passed = share <= criteria()["full"]["limit"]
            yield _of("full", side, passed, share, muscle=longest, leg=leg.name)


def _fibers(facts: Facts) -> Iterator[Comparison]:
    """Judge the muscle of each leg whose active fibers are farthest beyond the range, or nearest to its end."""
    entry, sides = criteria()["fibers"], frames.muscle_sides(facts.result)
    lowest, highest = entry["lowest"], entry["highest"]
    every = facts.active_fibers(entry["active"])
    for side in facts.legs:
        if ends := [end for end in every if sides[end[1]] == side]:
            length, muscle = max(ends, key=lambda end: max(lowest / end[0], end[0] / highest))
            passed = lowest <= round(length, 2) <= highest  # as it is printed
            yield _of("fibers", side, passed, length, muscle=sided(muscle))


def _reserves(facts: Facts) -> Iterator[Comparison]:
    for side, leg in facts.legs.items():
        if leg.reserve_share is not None:
            share, dof = leg.reserve_share
            entry, name = criteria()["reserves"], sided(dof)
            made = _of("reserves", side, share <= entry["limit"], share, dof=name)
            yield made if np.isfinite(share) else replace(made, sentence=entry["alone"].format(dof=name))
