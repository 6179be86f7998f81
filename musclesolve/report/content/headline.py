"""The result in plain words: judgement and findings, contact forces, agreement with EMG, what to be careful about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import OTHER, SIDE_NAMES, side_of
from musclesolve.report.content.pieces import DAMAGE, Number, joined, muscle_names, plain, sentence
from musclesolve.results.dataset.result_quantities import listed, text
from musclesolve.results.facts import Facts
from musclesolve.results.finding import Finding
from musclesolve.results.judgement import judge, judge_findings
from musclesolve.results.plausibility import PLAUSIBLE as WITHIN
from musclesolve.results.plausibility import plausibility
from musclesolve.version import __version__


@dataclass(frozen=True)
class Headline:
    """What stands at the top."""

    verdict: str  # of `results.judgement`
    label: str  # the verdict in words
    mark: str  # the verdict as a sign
    css: str  # the verdict as the name of a class
    why: Markup
    movement: str  # in words
    findings: list[str]  # errors and warnings with their remedies
    contact: list[dict[str, object]]  # joint, and a Number for each leg
    emg: Markup
    careful: list[Markup]


def headline(facts: Facts, changed: str = "") -> Headline:
    """The headline of one trial; changed: a sentence, where its recording is another one by now."""
    judged = judge(facts)
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
    careful = [limit.sentence for limit in limits(facts, changed) if limit.in_headline]
    return Headline(
        judged.verdict,
        judged.label,
        judged.mark,
        judged.css,
        Markup.escape(" ".join(judged.why)),
        plausibility(facts).movement_words,
        [each.line for each in judged.of("error", "warning")],
        contact,
        emg,
        careful,
    )


def no_headline(why: str) -> Headline:
    """That of a file which is damaged."""
    words = judge_findings([Finding("unreadable", "error", why, "compute it again")])
    why_not = sentence("This file is damaged: {}.", why)
    return Headline(
        words.verdict, words.label, words.mark, words.css, why_not, "", [], [], Markup("not known"), []
    )


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


def limits(facts: Facts, changed: str = "") -> list[Limit]:
    """The limits of one trial; a part of the result that is missing or damaged leaves its own out."""
    known = [_limit("changed", sentence=changed)] if changed else []
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


def _frames(facts: Facts) -> Iterator[Limit]:
    for side, leg in facts.legs.items():
        name = SIDE_NAMES.get(side, "all muscles")
        total = Number(f"frames {side}", facts.result.sizes["time"], 0)
        if count := leg.not_analysed:
            yield _limit(
                "not_measured", count=Number(f"not_measured {side}", count, 0), total=total, leg=name
            )
    if len(facts.legs) == 1 and OTHER not in facts.legs:
        yield _limit("one_leg", leg=next(iter(facts.legs.values())).name)


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
    *(_frames, _version, _full, _residuals, _emg_limits, _fibers),
    *(_events, _choices),
)
"""What may be worth a limit, the most serious first."""
