"""The sections of a trial: tables, sentences and numbers for their templates, of the facts and series of its files.

Each takes the files of a trial and returns the content of its template, or raises `Absent` with the reason why there is
nothing to show.
"""

from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import PurePath

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.messages import count_of
from musclesolve._util.sides import (
    ALL_SIDES,
    SIDE_NAMES,
    SIDES,
    joint_kind,
    joint_titles,
    sided,
    split_side,
    with_side,
)
from musclesolve.constants import DESIGNED
from musclesolve.laboratory.plotting.page.curves import NormBands, abscissa
from musclesolve.laboratory.plotting.page.page_style import current_style
from musclesolve.laboratory.recording.trial_settings import PLATES
from musclesolve.laboratory.report.content.pieces import (
    DASH,
    Absent,
    PageTable,
    cell,
    digest,
    from_rich,
    plain,
)
from musclesolve.laboratory.report.content.verdict_strip import verdict_strip
from musclesolve.laboratory.report.inputs import KIND_NAMES, RESULT, TrialFiles
from musclesolve.laboratory.results.cycles.gait_scores import Curve, gait_scores, leg_curves, norms, panels
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.quantities import KINDS, QUANTITIES, in_set, shown
from musclesolve.laboratory.results.dataset.result_quantities import (
    OPPOSITE,
    along_heading,
    force_unit,
    group_muscles,
    inputs_of,
    number,
    text,
    without_turns,
)
from musclesolve.laboratory.results.fact_table import ROW, SHORT, Fact, chosen
from musclesolve.laboratory.results.facts import FULL, STRIDE_MEASURES, Facts, UncertainPeak, UncertaintyFacts
from musclesolve.laboratory.results.plausibility import DEGREES, criteria, in_vivo, measured, plausibility
from musclesolve.laboratory.results.result_facts import first_order, why_no_emg
from musclesolve.laboratory.results.tables.comparison_tables import comparison_facts, comparison_tables
from musclesolve.laboratory.results.tables.question_tables import (
    NO_ANSWER,
    answer_facts,
    answer_tables,
    in_short,
)
from musclesolve.sharing.status import verdict_words

NO_BREAK = "\N{NO-BREAK SPACE}"
MAIN_MUSCLES = 2
"""Number of muscles of a group that are named."""
LEAST_CERTAIN = 12
"""Number of muscles whose uncertainty is shown."""
AXIS_WORDS = {"z": "vertical", "x": "fore-aft (+ forward)", "y": "medio-lateral (+ to the left)"}
APART = frozenset(
    "inputs findings warnings notes completed recipe measures reasons_r reasons_l reasons_other "
    "trial_file_from_result".split()
)
"""Attributes that are elsewhere in the page, or serve only the program."""


def verdicts(trial: TrialFiles, key: str) -> dict[str, object]:
    """The strip of verdicts, its key, a table of the strip, and the reasons of frames that are not simply solved."""
    known, legs = verdict_words(), trial.facts.legs
    stretches = {
        side: [
            stretch if stretch.verdict in known else replace(stretch, verdict="other")
            for stretch in leg.stretches
        ]
        for side, leg in legs.items()
    }
    every = [part for of in stretches.values() for part in of]
    counts = {name: sum(part.count for part in every if part.verdict == name) for name in known}
    rows = [
        (
            legs[part.side].part,
            NO_BREAK.join((f"{part.start:.3f}", "to", f"{part.end:.3f}", "s")),
            part.count,
            known[part.verdict]["label"],
        )
        for part in every
    ]
    return {
        "strip": verdict_strip(trial.base, stretches, known, key),
        "used": [known[name] | {"count": count, "name": name} for name, count in counts.items() if count],
        "total": sum(counts.values()),
        "table": PageTable(
            "Every frame as text", ("side", "from first to last frame", "frames", "verdict"), rows
        ),
        "plausible": _criteria(trial.facts),
        "events": "event_time" in trial.base.variables,
    }


def _criteria(facts: Facts) -> PageTable:
    """Return a table of the outcome of every criterion of plausibility, with the reason of the criterion."""
    entries, judged = criteria(), plausibility(facts)
    rows = [
        (
            entries[comparison.criterion]["label"],
            SIDE_NAMES.get(comparison.side, DASH),
            DEGREES[comparison.verdict],
            comparison.sentence,
            entries[comparison.criterion]["reason"],
        )
        for comparison in judged.comparisons
    ]
    movement = f" ({judged.movement_words})" if judged.movement_words else ""
    title = f"Whether the result is plausible: {judged.label}{movement}"
    return PageTable(title, ("criterion", "side", "", "what was found", "why it matters"), rows, compact=True)


NOT_STATED = "not stated"


def person(trial: TrialFiles) -> list[tuple[str, str]]:
    """The head of a trial: name, recording and person, with what the file states; of a model only that."""
    mass, stature, age = (
        number(trial.base, f"subject_{name}") for name in ("mass_kg", "stature_m", "age_years")
    )
    stated = {
        "name": text(trial.base, "subject"),
        "recorded on": text(trial.base, "recording_date"),
        "condition": text(trial.base, "recording_condition"),
        "sex": text(trial.base, "subject_sex"),
        "age": f"{age:g} years" if age is not None else "",
        "mass": f"{mass:.1f} kg{_not_weighed(trial)}" if mass else "",
        "stature": f"{stature:.2f} m" if stature else "",
    }
    return [(name, value or NOT_STATED) for name, value in stated.items() if value or not trial.of_model]


def _not_weighed(trial: TrialFiles) -> str:
    """Words beside a body mass that no scale measured; "" for a weighed one."""
    return " (from the plates, not weighed)" if text(trial.base, "subject_mass_from") == PLATES else ""


def recording(trial: TrialFiles) -> dict[str, object]:
    """Return the subject, the recording and the frames as pairs of name and value."""
    result, time = trial.base, np.asarray(trial.base["time"].values, dtype=float)
    mass, stature, shoes = (
        number(result, f"subject_{name}") for name in ("mass_kg", "stature_m", "shoe_mass_kg")
    )
    of_model = number(result, "model_mass_kg")
    rate = f", {1.0 / np.median(np.diff(time)):.0f} Hz" if time.size > 1 else ""
    channels = result.sizes.get("channel", 0)
    pairs = {
        "model" if trial.of_model else "subject": text(result, "subject"),
        "body mass": f"{mass:.2f} kg{_not_weighed(trial)}" if mass else "",
        "mass of the model": f"{of_model:.2f} kg" if of_model and of_model != mass else "",
        "stature": f"{stature:.2f} m" if stature else "",
        "sex": text(result, "subject_sex"),
        "each shoe": f"{shoes:.2f} kg, part of the body mass" if shoes else "",
        "trial": PurePath(text(result, "trial_file").replace("\\", "/")).name,
        "files": ", ".join(
            f"{name} ({role.replace('_', ' ')})" for role, name, _ in inputs_of(result) if role != "trial"
        ),
        "frames": f"{time.size}, {time[0]:.3f} to {time[-1]:.3f} s{rate}",
        "muscles analyzed": " and ".join(
            leg.part for leg in trial.facts.legs.values() if leg.valid + leg.without_solution
        )
        if SIDE_NAMES.keys() & trial.facts.legs.keys()
        else f"{result.sizes['muscle']}",
        "EMG": f"{channels} channels" if channels else "none in this file",
    }
    remarks = []
    if trial.origin != RESULT:
        which = "under its first cost" if trial.comparison is not None else "without errors"
        remarks = [
            f"No result.nc of this trial was given: what is shown comes from the {KIND_NAMES[trial.origin]}, "
            f"{trial.path.name}, {which}."
        ]
    return {"pairs": [(name, value) for name, value in pairs.items() if value], "remarks": remarks}


def strides(trial: TrialFiles) -> dict[str, object]:
    """The measures of the strides of each leg beside a norm, and of each stride."""
    if not (steps := trial.facts.strides):
        raise Absent("No stride from heel strike to heel strike of one foot was recorded.")
    known = [one for one in STRIDE_MEASURES if any(one.variable in stride.measures for stride in steps)]
    legs = {side: [stride for stride in steps if stride.side == side] for side in SIDE_NAMES}
    legs = {side: leg for side, leg in legs.items() if leg or side in trial.facts.legs}
    norm = next((norm for norm in norms(current_style().norm_file) if norm.values), None)
    rows = []
    for measure in known:
        every = [[stride.measures.get(measure.variable, np.nan) for stride in leg] for leg in legs.values()]
        cells = [_mean_and_sd(np.asarray(values), measure.decimals) for values in every]
        if norm is not None:
            cells.append(_with_sd(*norm.values.get(measure.variable, (np.nan, np.nan)), measure.decimals))
        rows.append((measure.heading, *cells))
    counts = [f"{SIDE_NAMES[side]} ({count_of(len(leg), 'stride')})" for side, leg in legs.items()]
    why = (
        f"Norm: {norm.source}."
        if norm is not None
        else "A norm of these numbers comes from a norm file of the laboratory: musclesolve report --norm-file."
    )
    for name in (SIDE_NAMES[side] for side, leg in legs.items() if not leg):
        why = f"The {name} leg has no stride from heel strike to heel strike in the recording. {why}"
    columns = ("", *counts, *(["norm"] if norm is not None else []))
    stride_rows = [
        (
            f"{SIDE_NAMES[stride.side]}, {stride.start:.3f} to {stride.end:.3f} s",
            *(cell(stride.measures.get(one.variable, np.nan), one.decimals) for one in known),
        )
        for stride in steps
    ]
    single = PageTable("Every stride", ("stride", *(one.heading for one in known)), stride_rows)
    caption = (
        "Mean and standard deviation of the strides" if len(steps) > len(legs) else "Measures of the strides"
    )
    return {
        "tables": [PageTable(caption, columns, rows, note=why), *([single] if len(steps) > len(legs) else [])]
    }


def _mean_and_sd(values: Array, digits: int) -> str:
    known = values[np.isfinite(values)]
    if not known.size:
        return DASH
    return _with_sd(float(known.mean()), float(known.std(ddof=1)) if known.size > 1 else np.nan, digits)


def _with_sd(mean: float, sd: float, digits: int) -> str:
    return cell(mean, digits) + (f" ± {sd:.{digits}f}" if np.isfinite(sd) else "")


def sheet(trial: TrialFiles) -> dict[str, object]:
    """The scores of the clinical sheet: Gait Profile Score, movement analysis profile, index of deviation."""
    if not any(leg_curves(trial.base, side) for side in trial.facts.legs if side in SIDES):
        raise Absent("This file holds neither angles nor moments of a leg.")
    scores = gait_scores(trial.base, current_style().norm_file)
    caution = _about_norm(trial, {key for side in trial.facts.legs for key in leg_curves(trial.base, side)})
    if not (legs := scores.profile):
        return {
            "tables": [],
            "score": "",
            "why": scores.why_not,
            "norm": "",
            "lacking": "",
            "caution": caution,
        }
    titles = {panel.curve: panel.title for row in panels() for panel in row}
    rows = [
        (titles[key], *(cell(scores.variable[side][key], 1) for side in legs))
        for key in next(iter(scores.variable.values()))
    ]
    rows.append(("Gait Profile Score", *(cell(score, 1) for score in legs.values())))
    if scores.index:
        rows.append(("index GDI*", *(cell(value, 0) for value in scores.index.values())))
    words = [f"{SIDE_NAMES[side]} {score:.1f}" for side, score in legs.items()]
    if np.isfinite(scores.of_person):
        words.append(f"both legs {scores.of_person:.1f}")
    if scores.index:
        words.append(
            "GDI* " + ", ".join(f"{SIDE_NAMES[side]} {index:.0f}" for side, index in scores.index.items())
        )
    title = "Movement analysis profile: root mean square difference from the norm [deg]"
    source = scores.norm.source if scores.norm is not None else ""
    lacking = " ".join(
        f"The {SIDE_NAMES[side]} leg has no score: no whole stride of it has all nine angles."
        for side in trial.facts.legs
        if side in SIDES and side not in legs
    )
    tables = [PageTable(title, ("angle", *(SIDE_NAMES[side] for side in legs)), rows)]
    return {
        "tables": tables,
        "score": ", ".join(words),
        "why": "",
        "norm": source,
        "lacking": lacking,
        "caution": caution,
    }


def _about_norm(trial: TrialFiles, drawn: Set[Curve]) -> str:
    """Sentences on the first norm of the sheet, and on the curves without any; empty where no norm is drawn."""
    if trial.base.sizes["time"] < 2:
        return ""
    bands = NormBands.from_result(trial.base, abscissa(trial.base, of_motion=True))
    if not (fitting := [norm for norm in bands.fitting if drawn & norm.curves.keys()]):
        return ""
    known = {key for norm in fitting for key in norm.curves}
    without = [panel.title for row in panels() for panel in row if panel.curve in drawn - known]
    no_norm = f"No norm is at hand of {', '.join(without)}." if without else ""
    return " ".join(filter(None, (fitting[0].caution(number(trial.base, "subject_age_years")), no_norm)))


def joints(trial: TrialFiles) -> dict[str, object]:
    """Extremes of the joint angles, moments and powers."""
    if not (tables := _extremes_over(trial, "dof", "degree of freedom (+)")):
        raise Absent("This file holds neither joint angles nor joint moments.")
    return {"tables": tables}


def _extremes_over(trial: TrialFiles, dim: str, first: str) -> list[PageTable]:
    """A table for each quantity of the set "report" over time and degrees of freedom, muscles or joints.

    A row for each name, two columns for each leg; in the unit of a study that the body mass gives, where it is known.
    """
    stated = number(trial.base, "subject_mass_kg")
    tables = []
    for name in in_set("report"):
        quantity = QUANTITIES[name]
        if name not in trial.base or quantity.dims != ("time", dim):
            continue
        scale, unit = shown(str(trial.base[name].attrs.get("units", quantity.units)))
        kind = KINDS.get(quantity.kind)
        over = {unit: rule.by for unit, rule in (kind.units if kind else {}).items()}
        # for a model only powers are per mass, as in their figure
        mass = None if trial.of_model and quantity.kind != "power" else stated
        if mass and (of_body := [key for key, by in over.items() if by in (("mass",), ("weight",))]):
            unit = of_body[0]
            scale = scale / (trial.facts.body_weight if over[unit] == ("weight",) else mass)
        values = trial.base[name].transpose("time", dim)
        if quantity.kind == "angle":
            ends = [_ends(without_turns(scale * angle)) for angle in values.values.T]
        else:
            ends = list(scale * _ends(values.values).T)
        series = dict(zip(map(str, values[dim].values), ends, strict=True))
        stems = list(dict.fromkeys(split_side(label)[0] for label in series))
        # A model's own coordinates are few, and only some of them have these names.
        stems = [stem for stem in stems if dim != "dof" or trial.of_model or stem in OPPOSITE] or stems
        sides = [side for side in ALL_SIDES if any(with_side(stem, side) in series for stem in stems)]
        titles = joint_titles(stems) if dim == "joint" else {stem: plain(stem) for stem in stems}
        rows = [
            (
                titles[stem] + (f" (–: {OPPOSITE[stem]})" if stem in OPPOSITE else ""),
                [series.get(with_side(stem, side), np.full(2, np.nan)) for side in sides],
            )
            for stem in stems
        ]
        legs = [SIDE_NAMES.get(side, "") for side in sides]
        heading = quantity.heading[0].lower() + quantity.heading[1:]
        digits = 0 if unit in ("deg", "N") else 2
        tables.append(_extremes(f"Extremes of {heading} [{unit}]", first, legs, rows, digits))
    return tables


def _ends(values: Array) -> Array:
    """Least and greatest (2, ...) of the finite values (T, ...); NaN without any."""
    known = np.where(np.isfinite(values), values, np.nan)
    return np.stack([extreme.reduce(known, initial=np.nan) for extreme in (np.fmin, np.fmax)])


def ground(trial: TrialFiles) -> dict[str, object]:
    """Extremes of the reaction of the ground in body weights."""
    result = trial.base
    if "ground_reaction_force" not in result:
        raise Absent("This file holds no ground reactions.")
    if not number(result, "subject_mass_kg"):
        raise Absent("This file does not state the body mass, in whose weight ground reactions are given.")
    force = along_heading(result, result["ground_reaction_force"]) / trial.facts.body_weight
    sides = [str(side) for side in result["side"].values]
    rows = [
        (name, [_ends(force.sel(side=side, axis=axis).values) for side in sides])
        for axis, name in AXIS_WORDS.items()
    ]
    legs = [SIDE_NAMES.get(side, side) for side in sides]
    return {"tables": [_extremes("Ground reaction [body weights]", "component", legs, rows, 2)]}


def _extremes(
    title: str, first: str, legs: Sequence[str], rows: Sequence[tuple[str, Sequence[Array]]], digits: int
) -> PageTable:
    """A table of least and greatest (2,) of each row and leg."""
    columns = [f"{leg} {end}".strip() for leg in legs for end in ("least", "greatest")]
    cells = [
        (name, *(cell(float(end), digits) for ends in of_legs for end in ends)) for name, of_legs in rows
    ]
    return PageTable(title, (first, *columns), cells)


def muscles(trial: TrialFiles) -> dict[str, object]:
    """A table of the function groups of each leg, and one of the muscles at full activation."""
    facts = trial.facts
    if "muscle_force" not in facts.result:
        raise Absent("This file holds no muscle forces.")
    if not facts.counts.valid:
        raise Absent("No frame has a valid solution, so there are no muscle forces to show.")
    tables = [_groups(facts)] if "group" in facts.result.variables else []
    tables += _extremes_over(trial, "muscle", "muscle")
    if full := facts.muscles_at_limit:
        rows = [
            (sided(muscle_limit.muscle), muscle_limit.count, cell(100.0 * muscle_limit.share, 0))
            for muscle_limit in full
        ]
        columns = ("muscle", "frames", "share of the valid frames [%]")
        title = f"Muscles at full activation (at least {FULL:g})"
        tables.append(PageTable(title, columns, rows, compact=len(rows) > 8))
    return {"tables": tables}


def _groups(facts: Facts) -> PageTable:
    """Peak of the sum of the forces of each group, its time, and the largest parts in it."""
    result, rows, (weight, unit) = facts.result, [], facts.force_unit
    every, times = result["muscle_force"].transpose("time", "muscle").values, result["time"].values
    for group in dict.fromkeys(map(str, result["group"].values)):
        for side in facts.legs:
            if not (names := group_muscles(result, group, side)):
                continue
            force = every[:, np.isin(result["muscle"].values, names)]
            total = np.where(frames.valid(result, side), force.sum(axis=1), np.nan)
            if not np.isfinite(total).any():
                continue
            at = int(np.nanargmax(total))
            called = [plain(split_side(name)[0]) if side in SIDE_NAMES else sided(name) for name in names]
            parts = [
                f"{called[k]} {100.0 * force[at, k] / total[at]:.0f} %"
                for k in np.argsort(-force[at])[:MAIN_MUSCLES]
                if force[at, k] > 0.0
            ]
            share = [] if unit == "N" else [cell(total[at] / weight, 2)]
            numbers = (cell(total[at], 0), *share, cell(float(times[at]), 2))
            rows.append((plain(group), SIDE_NAMES.get(side, DASH), *numbers, ", ".join(parts)))
    shares = [] if unit == "N" else [f"peak [{unit}]"]
    columns = ("function group", "side", "peak [N]", *shares, "at [s]", "largest parts then")
    return PageTable("Peak of the sum of the muscle forces of each function group", columns, rows)


def contact(trial: TrialFiles) -> dict[str, object]:
    """Peak contact forces, a row for each joint and leg, with values from the literature."""
    if not {"joint_reaction", "contact_force"} & set(map(str, trial.base.data_vars)):
        raise Absent("This file holds no joint contact forces.")
    if not trial.facts.contact_peaks:  # which raises the fault of a damaged file, whose table has no rows
        raise Absent("No frame has a valid solution, so no contact force is known.")
    peaks = chosen(trial.table, ROW, section="contact")
    (_, unit), compared = trial.facts.force_unit, trial.facts.shows_legs
    weighed = unit != "N"
    implants = {peak.subject: peak.value["implants"] for peak in peaks}
    order = list(implants)
    note = "; ".join(f"{joint} {about['about']}" for joint, about in implants.items() if about["about"])
    rows = [
        (*_peak_cells(peak), *([implants[peak.subject]["mean_words"] or DASH] if compared else []))
        for peak in sorted(peaks, key=lambda top: order.index(top.subject))
    ]
    of_peak = ("side", *([f"peak [{unit}]"] if weighed else []), "peak [N]", "at [s]")
    columns = ("joint", *of_peak, *([f"measured in implants [{unit}]"] if compared else []))
    movement = plausibility(trial.facts).movement_words
    title = f"Peak contact forces, {movement}" if movement else "Peak contact forces"
    tables = [PageTable(title, columns, rows, note and f"Measured in implants: {note}.")]
    if parts := chosen(trial.table, ROW, section="knee"):
        of_knee = list(map(_peak_cells, parts))
        tables.append(PageTable("Peak forces of the parts of the knee", ("part", *of_peak), of_knee))
    tables += _along_axes(trial)
    tables += _extremes_over(trial, "joint", "joint")
    return {"tables": tables, "sources": contact_sources(trial.facts)}


def _along_axes(trial: TrialFiles) -> list[PageTable]:
    """A table of the force at each joint along its axes, at the peak of its size; none where no joint has axes."""
    result, rows = trial.base, list[tuple[str, ...]]()
    if "joint_axis_force" not in result:
        return []
    for peak in trial.facts.contact_peaks:
        here = result.sel(joint=peak.joint)
        force = here["joint_axis_force"].sel(time=peak.time, method="nearest").values
        for words, along in zip(here["joint_axis_words"].values, force, strict=True):
            if np.isfinite(along):
                shares = cell(100.0 * along / peak.newton, 0)
                rows.append((sided(peak.joint), str(words), cell(along, 0), shares, cell(peak.time, 2)))
    columns = ("joint", "axis", "force [N]", "of the peak [%]", "at [s]")
    note = (
        "Force on the distal segment along the axes of the joint's frame on the proximal body, as the model has them; "
        "the force on the proximal body, such as a socket, is opposite."
    )
    return [PageTable("Direction of the contact force at its peak", columns, rows, note)] if rows else []


def contact_sources(facts: Facts) -> list[str]:
    """The sources of implant measurements in the movement of a result, and of the text where none exists."""
    joints = dict.fromkeys(peak.stem for peak in facts.contact_peaks)
    ranges = [band for joint in joints if (band := measured(joint, facts.movement)) is not None]
    never = [
        entry for joint in joints if (entry := in_vivo()["not_measured"].get(joint_kind(joint))) is not None
    ]
    keys = [key for band in ranges for key in band.sources]
    return list(dict.fromkeys([*keys, *(key for entry in never for key in entry["sources"])]))


def _peak_cells(peak: Fact) -> tuple[str, ...]:
    """The cells of a row of contact forces: name, side, body weights where they are known, newtons, time."""
    value = peak.value
    numbers = ((value["body_weights"], 2), (value["newton"], 0), (value["time_s"], 2))
    cells = (cell(size, digits) for size, digits in numbers if size is not None)
    return peak.subject, SIDE_NAMES.get(value["side"], DASH), *cells


def emg(trial: TrialFiles) -> dict[str, object]:
    """Compare EMG with activation: agreement of every channel."""
    facts = trial.facts
    if not facts.channels:
        raise Absent(why_no_emg(facts).sentence)
    rows = [
        (channel.name, plain(channel.muscles), cell(channel.correlation, 2), cell(1000.0 * channel.delay, 0))
        for channel in facts.channels
    ]
    title = "Correlation r of activation with the EMG envelope, valid frames"
    return {
        "tables": [PageTable(title, ("channel", "muscles", "r", "delay of activation [ms]"), rows)],
        "envelope": text(facts.result, "emg_envelope"),
        "tracked": facts.follows_emg,
        "predicted": facts.predicts_emg,
    }


def fascicles(trial: TrialFiles) -> dict[str, object]:
    """Compare fiber lengths with measured fascicle lengths: their differences."""
    rows = [
        (
            name,
            plain(fascicle.muscle),
            *(cell(1000.0 * error, 1) for error in (fascicle.rms_error_m, fascicle.mean_error_m)),
            cell(fascicle.correlation, 2),
        )
        for name, fascicle in trial.facts.fascicles.items()
    ]
    columns = ("column", "muscle", "rms error [mm]", "mean error [mm]", "r")
    error = number(trial.base, "fascicle_error_m")
    return {
        "tables": [PageTable("Fiber length less measured fascicle length, valid frames", columns, rows)],
        "error": "" if error is None else f"{1000.0 * error:.3g}",
    }


def fit(trial: TrialFiles) -> dict[str, object]:
    """Return the fit of model, motion and forces, in sentences and figures."""
    if not chosen(trial.table, "", section="fit") and "reserve_moment" not in trial.base:
        raise Absent("This file holds no residuals.")
    return {}


def uncertainty(trial: TrialFiles) -> dict[str, object]:
    """Peaks with their standard deviations, of the joints and of the least certain muscles; the sources of error."""
    if trial.uncertainty is None:
        raise Absent(
            "No uncertainty.nc was given. It is computed by: musclesolve run TRIAL.toml -o FOLDER --uncertainty fast"
        )
    data, facts = trial.uncertainty, UncertaintyFacts(trial.uncertainty)
    weight, unit = force_unit(data)
    known = {name: at for name, at in facts.muscles.items() if at is not None}
    least = sorted(known, key=lambda name: -float(np.nan_to_num(known[name].sd)))[:LEAST_CERTAIN]
    columns = ("", "peak in stance", "standard deviation", "mean of the samples", "at [s]", "mostly from")
    rows = [_uncertain(name, at, weight, 0 if unit == "N" else 2) for name, at in facts.contact.items()]
    muscle_rows = [_uncertain(name, known[name], 1.0, 0) for name in least]
    failed = int(data.attrs.get("failed_samples", 0))
    designed = "designed " if data.attrs.get("sampling") == DESIGNED else ""
    return {
        "tables": [
            *([PageTable(f"Contact forces [{unit}]", columns, rows)] if rows else []),
            PageTable(f"The {LEAST_CERTAIN} least certain muscles [N]", columns, muscle_rows),
            _sources(data),
        ],
        "samples": f"{data.attrs['samples']} {designed}samples"
        + (f", {failed} of which failed" if failed else ""),
        "first_order": "".join(each.sentence for each in first_order(facts)),
        "why_not": data.attrs.get("without_contributions", ""),
    }


def _uncertain(name: str, at: UncertainPeak | None, unit: float, digits: int) -> list[str]:
    if at is None:
        return [sided(name), *[DASH] * 5]
    values = [cell(value / unit, digits) for value in (at.value, at.sd, at.mean)]
    return [sided(name), *values, cell(at.time, 2), at.main_sources() or DASH]


def _sources(data: xr.Dataset) -> PageTable:
    """The sources of error and their assumed sizes."""
    columns = (data[name].values for name in ("source_label", "standard_deviation", "source_unit"))
    shown = {"m": (1000.0, "mm"), "mm": (1000.0, "mm"), "rad": (np.degrees(1.0), "degrees")}
    shown["body weights"] = (1.0, "body weights")
    rows = []
    for label, sd, unit in zip(*columns, strict=True):
        factor, name = shown.get(str(unit), (100.0, "%"))
        rows.append((str(label), f"{factor * sd:.3g} {name}"))
    return PageTable("Sources of error", ("source", "standard deviation assumed"), rows, compact=True)


def costs(trial: TrialFiles) -> dict[str, object]:
    """The tables that `compare` prints."""
    if trial.comparison is None:
        raise Absent(
            "No comparison.nc was given. It is computed by: musclesolve compare TRIAL.toml --cost A --cost B -o FOLDER"
        )
    tables = comparison_tables(trial.comparison)
    return {
        "tables": [from_rich(table, heading) for heading, table in tables.items()],
        "notes": chosen(comparison_facts(trial.comparison), ""),
        "costs": [str(name) for name in trial.comparison["cost"].values],
    }


def answer(data: xr.Dataset, question: str) -> dict[str, object]:
    """The answer to a question about the trial: in short, then tables and facts as the command prints them."""
    if why := text(data, NO_ANSWER):
        raise Absent(f"There is no answer: {why}")
    facts = chosen(answer_facts(data, question), "")
    return {
        "answer": in_short(facts),
        "tables": [from_rich(table) for table in answer_tables(data, question)],
        "notes": [each for each in facts if each.subject not in (SHORT, "verdict")],
    }


def provenance(trial: TrialFiles) -> dict[str, object]:
    """Input files and options of the result."""
    options = [(name, _shown(value)) for name, value in sorted(trial.base.attrs.items()) if name not in APART]
    stored = PageTable(
        "Options and subject, as stored in the result", ("attribute", "value"), options, compact=True
    )
    files = [(role.replace("_", " "), name, digest(sha)) for role, name, sha in inputs_of(trial.base)]
    named = PageTable("Files that the result was computed from", ("role", "file", "SHA-256"), files)
    return {"tables": [*[named] * bool(files), stored], "without_files": not files}


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value or DASH
    parts = np.atleast_1d(np.asarray(value, dtype=object)).tolist()
    return ", ".join(f"{part:.6g}" if isinstance(part, float) else str(part) for part in parts) or DASH
