"""The result in plain words: the two verdicts, contact forces, agreement with EMG, what to be careful about.

It is usable, in green, where every frame is certified and what it says is plausible; a result that is at the edge, not
plausible, or not compared with anything is amber, with the reason beside it; one of a faulty recording is not usable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import OTHER, SIDE_NAMES, side_of
from musclesolve.report.content.pieces import DAMAGE, Changed, Number, joined, muscle_names, plain, sentence
from musclesolve.results.dataset.result_quantities import listed, text
from musclesolve.results.facts import Facts
from musclesolve.results.finding import SEVERITIES, Report
from musclesolve.results.plausibility import AT_EDGE, NOT_KNOWN, NOT_PLAUSIBLE, plausibility
from musclesolve.results.plausibility import PLAUSIBLE as WITHIN
from musclesolve.version import __version__

USABLE, WITH_CARE, IN_PART, NOT = "usable", "with care", "in part", "not usable"
DOUBTFUL = "doubtful"
LABELS = {
    USABLE: "Usable: certified and plausible",
    DOUBTFUL: "Certified, not plausible",
    NOT_PLAUSIBLE: "Not plausible",
    WITH_CARE: "Usable with care",
    IN_PART: "Usable in part",
    NOT: "Not usable",
}
MARKS = {USABLE: "✓", DOUBTFUL: "!", NOT_PLAUSIBLE: "!", WITH_CARE: "!", IN_PART: "◐", NOT: "✕"}
MOST = 0.5
"""Where more than this share of the valid frames needs a reserve, muscle forces are mostly lower bounds."""


@dataclass(frozen=True)
class Headline:
    """What stands at the top."""

    verdict: str  # a key of LABELS
    why: Markup
    movement: str  # in words
    against: list[str]  # what speaks against the result, or lies at the edge: why it is not plainly plausible
    contact: list[dict[str, object]]  # joint, and a Number for each leg
    emg: Markup
    careful: list[Markup]

    @property
    def label(self) -> str:
        """The verdict in words."""
        return LABELS[self.verdict]

    @property
    def mark(self) -> str:
        """The verdict as a sign."""
        return MARKS[self.verdict]

    @property
    def css(self) -> str:
        """The verdict as the name of a class."""
        return self.verdict.replace(" ", "-")


def headline(facts: Facts, checked: Report | str | None = None) -> Headline:
    """The headline of one trial."""
    judged = plausibility(facts)
    verdict, why = usability(facts, checked)
    known = bool(np.isfinite(facts.body_weight))
    rows: dict[str, list[tuple[str, Number]]] = {}  # by joint, with the peaks of both legs
    for peak in facts.contact_peaks:
        value = peak.body_weights if known else peak.newton
        number = Number(f"contact_peak {peak.joint}", value, 2 if known else 0)
        rows.setdefault(peak.stem, []).append((SIDE_NAMES.get(peak.side, ""), number))
    unit = "body weights" if known else "N"
    contact: list[dict[str, object]] = [
        {"joint": plain(stem), "unit": unit, "legs": legs} for stem, legs in rows.items()
    ]
    emg, r, both = Markup("not measured"), facts.correlations, facts.median_and_mean_correlation
    if both is not None:
        best, worst = max(r, key=lambda name: r[name]), min(r, key=lambda name: r[name])
        emg = sentence(
            "median r {} (mean {}) over {} channels; best {} {}, weakest {} {}",
            Number("emg_median", both[0]),
            Number("emg_mean", both[1]),
            Number("emg_channels", len(r), 0),
            *(best, Number(f"emg_correlation {best}", r[best])),
            *(worst, Number(f"emg_correlation {worst}", r[worst])),
        )
    against = [*judged.against, judged.use] if judged.against else []
    careful = [limit.sentence for limit in limits(facts, checked) if limit.in_headline]
    return Headline(verdict, why, judged.movement_words, against, contact, emg, careful)


def no_headline(why: str) -> Headline:
    """That of a file which is damaged."""
    return Headline(NOT, sentence("This file is damaged: {}.", why), "", [], [], Markup("not known"), [])


def usability(facts: Facts, checked: Report | str | None = None) -> tuple[str, Markup]:
    """Whether the result may be used, and why: the verdict on its frames, then whether it is plausible.

    A recording that `check` finds an error in is not usable, whatever came of it; of any other result that is not
    plausible this is the verdict.
    """
    judged = plausibility(facts)
    verdict, text = certified(facts)
    if isinstance(checked, Report) and not checked.ok:
        verdict, text = NOT, text + Markup(" <code>check</code> calls the recording faulty.")
    if judged.verdict == NOT_PLAUSIBLE:
        text += Markup(" It is not plausible:")
        return {USABLE: DOUBTFUL, NOT: NOT}.get(verdict, NOT_PLAUSIBLE), text
    if verdict != USABLE:
        return verdict, text
    if judged.verdict == AT_EDGE:
        unknown = (
            sentence(" Peaks are not compared: {}.", judged.why_not_known) if judged.why_not_known else ""
        )
        return WITH_CARE, text + unknown + Markup(" It lies at the edge of what is plausible:")
    if judged.verdict == NOT_KNOWN:
        return WITH_CARE, text + sentence(" Whether it is plausible is not known: {}.", judged.why_not_known)
    return USABLE, text + sentence(
        " Peaks of contact forces lie where implants measured them in {}.", judged.movement_words
    )


def certified(facts: Facts) -> tuple[str, Markup]:
    """The verdict on the frames: solved and certified; and why."""
    counts, residual = facts.counts, facts.largest_kkt_residual
    valid, analysed, helped = (
        Number(name, getattr(counts, name), 0) for name in ("valid", "analysed", "with_reserve")
    )
    legs = "leg-frames" if len(facts.legs) > 1 else "frames"
    if not counts.analysed:
        return NOT, Markup("No frame was analysed: ground forces were not measured.")
    if not counts.valid:
        return NOT, sentence("None of the {} analysed {} has a valid solution.", analysed, legs)
    proof = bool(np.isfinite(residual))
    proved = Markup(" The file does not hold their certificates.")
    if proof:
        certificate = Number("largest_kkt_residual", residual, -2)
        proved = sentence(
            " The optimality of every one of them is certified (largest residual {}).", certificate
        )
    if counts.valid < counts.analysed:
        reserves = sentence(", {} of them with a reserve", helped) if counts.with_reserve else ""
        text = sentence("{} of {} analysed {} have a valid solution{}.", valid, analysed, legs, reserves)
        return IN_PART, text + proved
    if counts.with_reserve:
        text = sentence(
            "All {} analysed {} have a solution, {} of them with a reserve.", analysed, legs, helped
        )
        return IN_PART if counts.with_reserve > MOST * counts.valid else WITH_CARE, text + proved
    text = sentence("All {} analysed {} are solved without a reserve.", analysed, legs) + proved
    if not proof:
        return WITH_CARE, text
    return USABLE, text


WEAK = 0.5
"""Channels of a lower correlation are named."""
PLAUSIBLE = (0.4, 1.6)
"""Normalised fiber lengths within which muscles are expected to work."""


@dataclass(frozen=True)
class Limit:
    """One thing to know before a number is used."""

    sentence: Markup
    in_headline: bool = True


def texts() -> dict[str, dict[str, str]]:
    """The sentences."""
    return bundled_toml("musclesolve.report", "texts", "limits.toml")


def general(of_model: bool = False, elastic: bool = False) -> list[str]:
    """The limits of the method: with our skeleton or that of an OpenSim model, with rigid or elastic tendons."""
    tables = ("method", "opensim" if of_model else "skeleton", "use")
    other = "tendons" if elastic else "elastic_tendons"
    return [sentence for table in tables for name, sentence in texts()[table].items() if name != other]


def limits(facts: Facts, checked: Report | str | None = None) -> list[Limit]:
    """The limits of one trial; a part of the result that is missing or damaged leaves its own out."""
    known = []
    if isinstance(checked, Changed):
        known.append(_limit("changed", sentence=checked))
    if isinstance(checked, Report):
        for severity in SEVERITIES[:2]:
            if count := len(checked.of(severity)):
                words = severity + ("s" if count > 1 else "")
                known.append(_limit("check", count=Number(f"check {severity}s", count, 0), severity=words))
    for part in PARTS:
        try:
            known += part(facts)
        except DAMAGE:
            continue
    return known


def _limit(name: str, **values: Any) -> Limit:
    """A sentence of the table with its numbers and names."""
    in_headline = name in texts()["trial"]
    return Limit(Markup(texts()["trial" if in_headline else "aside"][name]).format(**values), in_headline)


def _warnings(facts: Facts) -> Iterator[Limit]:
    yield from (Limit(sentence("{}", warning)) for warning in listed(facts.result, "warnings"))


def _frames(facts: Facts) -> Iterator[Limit]:
    for side, leg in facts.legs.items():
        name = SIDE_NAMES.get(side, "all muscles")
        total = Number(f"frames {side}", facts.result.sizes["time"], 0)
        for what, count in (("failed", leg.without_solution), ("not_measured", leg.not_analysed)):
            if count:
                yield _limit(what, count=Number(f"{what} {side}", count, 0), total=total, leg=name)
    if len(facts.legs) == 1 and OTHER not in facts.legs:
        yield _limit("one_leg", leg=next(iter(facts.legs.values())).name)


def _reserves(facts: Facts) -> Iterator[Limit]:
    for side, leg in facts.legs.items():
        if (largest := leg.largest_reserve) is not None:
            yield _limit(
                "reserves",
                count=Number(f"with_reserve {side}", leg.with_reserve, 0),
                part=leg.part,
                largest=Number(f"largest_reserve {side}", largest.moment, 1),
                dof=plain(largest.dof),
            )


def _version(facts: Facts) -> Iterator[Limit]:
    version = text(facts.result, "musclesolve_version")
    if version != __version__:
        made = f"version {version}" if version else "a version that it does not name"
        yield _limit("version", made=made, this=__version__)


def _full(facts: Facts) -> Iterator[Limit]:
    if full := facts.muscles_at_limit:
        yield _limit(
            "full",
            count=Number("muscles_at_limit", len(full), 0),
            work="muscle works" if len(full) == 1 else "muscles work",
            muscles=muscle_names([each.muscle for each in full]),
        )


def _residuals(facts: Facts) -> Iterator[Limit]:
    """The sentence of its verdict, which the headline holds already."""
    for each in plausibility(facts).comparisons:
        if each.criterion == "residual" and each.verdict != WITHIN:
            yield _limit("residual", sentence=each.sentence)


def why_no_emg(facts: Facts) -> str:
    """Why activations are not compared with EMG."""
    if "emg_envelope" in facts.result.attrs:
        return "EMG was recorded with this trial, but this file does not hold it: result.nc of the run does."
    return "No EMG was recorded with this trial: its muscle forces are not compared with any measurement."


def _emg_limits(facts: Facts) -> Iterator[Limit]:
    if not facts.correlations:
        yield _limit("no_emg", why=why_no_emg(facts))
        return
    if facts.follows_emg:
        yield _limit("predicted" if facts.predicts_emg else "tracked")
    weak = [(name, r) for name, r in facts.correlations.items() if r < WEAK]
    if weak:
        parts = (Markup("{} {}").format(name, Number(f"emg_correlation {name}", r)) for name, r in weak)
        yield _limit("weak", limit=f"{WEAK:g}", channels=Markup(", ").join(parts))
    muscles = [name for channel in facts.channels if channel.muscles for name in channel.muscles.split(", ")]
    legs = set(map(side_of, muscles)) if muscles else set(facts.legs)
    for side in facts.legs:
        if side not in legs:
            yield _limit("emg_of_leg", leg=SIDE_NAMES.get(side, "–"))


def _fibers(facts: Facts) -> Iterator[Limit]:
    low, high = (facts.result[f"{end}_normalized_fiber_length"].values for end in ("least", "greatest"))
    beyond = facts.result["muscle"].values[(low < PLAUSIBLE[0]) | (high > PLAUSIBLE[1])]
    if beyond.size:
        ends = {name: f"{end:g}" for name, end in zip(("low", "high"), PLAUSIBLE, strict=True)}
        yield _limit("fibers", **ends, muscles=muscle_names([str(name) for name in beyond]))


def _events(facts: Facts) -> Iterator[Limit]:
    if "event_source" in facts.result and "markers" in set(map(str, facts.result["event_source"].values)):
        yield _limit("events")


def _choices(facts: Facts) -> Iterator[Limit]:
    if text(facts.result, "passive") == "none":
        yield _limit("passive")
    if locked := listed(facts.result, "locked_dofs"):
        yield _limit("locked", dofs=joined(locked, 12))


PARTS = (
    *(_warnings, _frames, _reserves, _version, _full, _residuals, _emg_limits, _fibers),
    *(_events, _choices),
)
"""What may be worth a limit, the most serious first."""
