"""What to be careful about in this trial, in plain words, the most serious first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import xarray as xr
from markupsafe import Markup

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.checking.finding import SEVERITIES, Report
from musclesolve.report.content.contact import of_others
from musclesolve.report.content.emg import correlations, why_none
from musclesolve.report.content.fit import residual_peak, root_residual_percent
from musclesolve.report.content.muscles import muscles_at_limit
from musclesolve.report.content.pieces import Number, joined, muscle_names, plain, sentence
from musclesolve.report.damage import DAMAGE
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.dataset.attributes import listed, text
from musclesolve.results.dataset.kinetics.contact_peaks import ContactPeak, peaks_of_joints
from musclesolve.results.tables.leg_outcome import LegOutcome
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


def general(of_model: bool = False, elastic: bool = False) -> list[str]:
    """The limits of the method: with our skeleton or that of an OpenSim model, with rigid or elastic tendons."""
    texts = bundled_toml("musclesolve.report", "texts", "limits.toml")
    tables = ("method", "opensim" if of_model else "skeleton", "use")
    other = "tendons" if elastic else "elastic_tendons"
    return [text for table in tables for name, text in texts[table].items() if name != other]


def limits(result: xr.Dataset, checked: Report | str | None = None) -> list[Limit]:
    """The limits of one trial; a part of the result that is missing or damaged leaves its own out."""
    found: list[Limit] = []
    for of in KINDS:
        try:
            found += of(result)
        except DAMAGE:
            continue
    return [*_of_check(checked), *found]


def _of_check(checked: Report | str | None) -> Iterator[Limit]:
    if isinstance(checked, Report):
        for severity in SEVERITIES[:2]:
            if own := checked.of(severity):
                count = Number(f"check {severity}s", len(own), 0)
                word = severity + ("s" if len(own) > 1 else "")
                yield Limit(
                    sentence("<code>check</code> finds {} {} in the recording (see below).", count, word)
                )


def _frames(result: xr.Dataset) -> Iterator[Limit]:
    for side in frames.sides(result):
        name, leg = frames.SIDE_NAMES.get(side, "all muscles"), f"{side}"
        failed, lost = frames.unsolved(result, side).sum(), frames.not_measured(result, side).sum()
        total = Number(f"frames {leg}", result.sizes["time"], 0)
        if failed:
            count = Number(f"failed {leg}", failed, 0)
            yield Limit(
                sentence(
                    "{} of {} frames have no valid solution ({}); they hold no forces.", count, total, name
                )
            )
        if lost:
            count = Number(f"not_measured {leg}", lost, 0)
            yield Limit(
                sentence(
                    "{} of {} frames were not analysed for lack of measured ground forces ({}).",
                    count,
                    total,
                    name,
                )
            )
    if len(frames.sides(result)) == 1 and frames.OTHER not in frames.sides(result):
        (side,) = frames.sides(result)
        yield Limit(sentence("Only the muscles of the {} leg were analysed.", frames.SIDE_NAMES[side]))


def _reserves(result: xr.Dataset) -> Iterator[Limit]:
    for side, part in frames.part_names(result).items():
        outcome = LegOutcome.of(result, side)
        if (largest := outcome.largest_reserve) is None:
            continue
        yield Limit(
            sentence(
                "{} frames of the {} need a reserve, up to {} N m ({}): muscle forces there are a lower bound.",
                Number(f"with_reserve {side}", outcome.with_reserve, 0),
                part,
                Number(f"largest_reserve {side}", largest.moment, 1),
                plain(largest.dof),
            )
        )


def _at_bounds(result: xr.Dataset) -> Iterator[Limit]:
    if full := muscles_at_limit(result):
        yield Limit(
            sentence(
                "{} {} at full activation in some frames: {}. Others take over what is lacking, and their "
                "forces may change abruptly there.",
                Number("muscles_at_limit", len(full), 0),
                "muscle works" if len(full) == 1 else "muscles work",
                muscle_names([each.muscle for each in full]),
            )
        )


def _contact(result: xr.Dataset) -> Iterator[Limit]:
    by_joint: dict[str, list[ContactPeak]] = {}
    for peak in peaks_of_joints(result):
        by_joint.setdefault(frames.split_side(peak.joint)[0], []).append(peak)
    for joint, peaks in by_joint.items():
        if "measured" not in of_others(joint):
            continue
        most = max(peaks, key=lambda each: each.body_weights)
        low, high = of_others(joint)["measured"]
        if most.body_weights > high:
            yield Limit(
                sentence(
                    "The contact force of the {} peaks at {} body weights; implants measured {} to {} in walking.",
                    plain(joint),
                    Number(f"contact_peak {most.joint}", most.body_weights),
                    f"{low:g}",
                    f"{high:g}",
                )
            )


def _residual(result: xr.Dataset) -> Iterator[Limit]:
    peak = residual_peak(result)
    if peak is not None and peak[0] > USUAL_RESIDUAL:
        yield Limit(
            sentence(
                "Motion and ground forces do not fit fully: the residual at the pelvis peaks at {} % of body weight; "
                "less than {} % of the peak ground force is advised.",
                Number("residual_force_percent", peak[0], 1),
                f"{USUAL_RESIDUAL:g}",
            )
        )


def _root_residual(result: xr.Dataset) -> Iterator[Limit]:
    peak = root_residual_percent(result)
    if peak is not None and peak > USUAL_RESIDUAL:
        yield Limit(
            sentence(
                "Motion and loads do not fit: the residual at the root of the model peaks at {} % of body weight; less "
                "than {} % of the peak load is advised. Where a load was not measured, moments and forces are wrong.",
                Number("root_residual_percent", peak, 0),
                f"{USUAL_RESIDUAL:g}",
            )
        )


def _emg(result: xr.Dataset) -> Iterator[Limit]:
    found = correlations(result)
    if not found:
        yield Limit(Markup(why_none(result)))
        return
    if "emg_tracking" in text(result, "cost"):
        yield Limit(Markup("The cost follows the EMG of this trial: its agreement with EMG is no test."))
    weak = [(name, r) for name, r in found.items() if r < WEAK]
    if weak:
        parts = Markup(", ").join(
            sentence("{} {}", name, Number(f"emg_correlation {name}", r)) for name, r in weak
        )
        yield Limit(sentence("EMG and activation disagree (r below {}) in: {}.", f"{WEAK:g}", parts))
    legs = {
        frames.side_of(name) for names in result["channel_muscles"].values for name in str(names).split(", ")
    }
    for side in frames.sides(result):
        if side not in legs:
            yield Limit(
                sentence("No EMG was measured on the {} leg.", frames.SIDE_NAMES.get(side, "–")), False
            )


def _fibers(result: xr.Dataset) -> Iterator[Limit]:
    low, high = (result[f"{end}_normalized_fiber_length"] for end in ("least", "greatest"))
    beyond = [
        str(name) for name in result["muscle"].values[((low < PLAUSIBLE[0]) | (high > PLAUSIBLE[1])).values]
    ]
    if beyond:
        yield Limit(
            sentence(
                "Fibers work beyond {} to {} optimal lengths, where force curves are uncertain: {}.",
                *(f"{end:g}" for end in PLAUSIBLE),
                muscle_names(beyond),
            )
        )


def _events(result: xr.Dataset) -> Iterator[Limit]:
    if "event_source" in result and "markers" in set(map(str, result["event_source"].values)):
        yield Limit(
            Markup("Some gait events come from markers, not from measured forces (see the notes)."), False
        )


def _choices(result: xr.Dataset) -> Iterator[Limit]:
    if text(result, "passive") == "none":
        yield Limit(
            Markup(
                "No passive muscle forces: near the ends of the range of a joint the muscles bear what tissues would."
            ),
            False,
        )
    if locked := listed(result, "locked_dofs"):
        yield Limit(
            sentence("Joints without markers move with their neighbors: {}.", joined(locked, 12)), False
        )


def _version(result: xr.Dataset) -> Iterator[Limit]:
    version = text(result, "musclesolve_version")
    if version != __version__:
        made = f"version {version}" if version else "a version that it does not name"
        yield Limit(
            sentence("The result was computed by {}; this page is made by version {}.", made, __version__)
        )


KINDS: tuple[Callable[[xr.Dataset], Iterator[Limit]], ...] = (
    *(
        _frames,
        _reserves,
        _version,
        _at_bounds,
        _contact,
        _residual,
        _root_residual,
        _emg,
        _fibers,
        _events,
        _choices,
    ),
)
