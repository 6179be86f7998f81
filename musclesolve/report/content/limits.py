"""What to be careful about in this trial, in plain words, the most serious first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.checking.finding import SEVERITIES, Report
from musclesolve.report.content.pieces import DAMAGE, Number, joined, muscle_names, plain
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import listed, text
from musclesolve.results.facts import Facts
from musclesolve.version import __version__

USUAL_RESIDUAL = 5.0
"""Per cent; beyond it the residual is mentioned (Hicks et al. 2015)."""
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
    found: list[Limit] = list(_check(checked))
    for of in (_frames, _reserves, _version, _full, _contact, _residuals, _emg, _fibers, _events, _choices):
        try:
            found += of(facts)
        except DAMAGE:
            continue
    return found


def _limit(name: str, **values: Any) -> Limit:
    """A sentence of the table with its numbers and names."""
    in_headline = name in texts()["trial"]
    return Limit(Markup(texts()["trial" if in_headline else "aside"][name]).format(**values), in_headline)


def _check(checked: Report | str | None) -> Iterator[Limit]:
    if isinstance(checked, Report):
        for severity in SEVERITIES[:2]:
            if count := len(checked.of(severity)):
                words = severity + ("s" if count > 1 else "")
                yield _limit("check", count=Number(f"check {severity}s", count, 0), severity=words)


def _frames(facts: Facts) -> Iterator[Limit]:
    for side, leg in facts.legs.items():
        name = frames.SIDE_NAMES.get(side, "all muscles")
        total = Number(f"frames {side}", facts.result.sizes["time"], 0)
        for what, count in (("failed", leg.without_solution), ("not_measured", leg.not_analysed)):
            if count:
                yield _limit(what, count=Number(f"{what} {side}", count, 0), total=total, leg=name)
    if len(facts.legs) == 1 and frames.OTHER not in facts.legs:
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


def measured_by_others(joint: str) -> dict[str, Any]:
    """What others report of a joint without side; that of an OpenSim model may have a longer name, walker_knee."""
    known = contact_forces_of_others()
    return known.get(joint) or known.get(joint.rpartition("_")[2], {})


def contact_forces_of_others() -> dict[str, Any]:
    """What others report, by joint without side."""
    return bundled_toml("musclesolve.report", "texts", "contact_forces.toml")


def _contact(facts: Facts) -> Iterator[Limit]:
    for joint in dict.fromkeys(peak.stem for peak in facts.contact_peaks):
        most = max(
            (peak for peak in facts.contact_peaks if peak.stem == joint), key=lambda peak: peak.body_weights
        )
        low, high = measured_by_others(joint).get("measured", (0.0, float("inf")))
        if most.body_weights > high:
            peak = Number(f"contact_peak {most.joint}", most.body_weights)
            yield _limit("contact", joint=plain(joint), peak=peak, low=f"{low:g}", high=f"{high:g}")


def _residuals(facts: Facts) -> Iterator[Limit]:
    pelvis, root = facts.pelvis_residual, facts.root_residual_percent
    if pelvis is not None and pelvis.peak_percent > USUAL_RESIDUAL:
        peak = Number("residual_force_percent", pelvis.peak_percent, 1)
        yield _limit("pelvis_residual", peak=peak, usual=f"{USUAL_RESIDUAL:g}")
    if root is not None and root > USUAL_RESIDUAL:
        yield _limit(
            "root_residual", peak=Number("root_residual_percent", root, 0), usual=f"{USUAL_RESIDUAL:g}"
        )


def why_no_emg(facts: Facts) -> str:
    """Why activations are not compared with EMG."""
    if "emg_envelope" in facts.result.attrs:
        return "EMG was recorded with this trial, but this file does not hold it: result.nc of the run does."
    return "No EMG was recorded with this trial: its muscle forces are not compared with any measurement."


def _emg(facts: Facts) -> Iterator[Limit]:
    if not facts.correlations:
        yield _limit("no_emg", why=why_no_emg(facts))
        return
    if facts.follows_emg:
        yield _limit("tracked")
    weak = [(name, r) for name, r in facts.correlations.items() if r < WEAK]
    if weak:
        parts = (Markup("{} {}").format(name, Number(f"emg_correlation {name}", r)) for name, r in weak)
        yield _limit("weak", limit=f"{WEAK:g}", channels=Markup(", ").join(parts))
    muscles = [name for channel in facts.channels if channel.muscles for name in channel.muscles.split(", ")]
    legs = set(map(frames.side_of, muscles)) if muscles else set(facts.legs)
    for side in facts.legs:
        if side not in legs:
            yield _limit("emg_of_leg", leg=frames.SIDE_NAMES.get(side, "–"))


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
