"""A methods paragraph that is ready for a paper, from the attributes of a result, and the works that it cites.

Citations are numbered in the order of their first use, and printed as a list and as BibTeX.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr
from markupsafe import Markup, escape

from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.sides import sided, split_side
from musclesolve.constants import DESIGNED, GIVEN, NO_LOADS, PREDICTED, RIGID
from musclesolve.errors import InputError
from musclesolve.laboratory.recording.trial_settings import PARTLY_PREDICTED
from musclesolve.laboratory.report.inputs import TrialFiles
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.result_quantities import (
    choice_name,
    inputs_of,
    is_elastic,
    listed,
    number,
    text,
)
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.cost.named.muscle_sums import ActivationPower, KneeSparingActivation
from musclesolve.version import __version__

MARKERS = ("filter_method", "cutoff_choice", "hip_method", "knee_method", "ankle_method")
MOTION = ("consistency_method", "consistency_derivatives", "consistency_residual")
MUSCLES = ("muscle_database", "muscle_parameters", "fiber_lengths", "passive", "strength")
"""Attributes in the order of the sentences about them."""
_CITED = re.compile(r" ?\[(@[\w;@]+)\]")
_NAME = re.compile(r"^(?P<family>[^,]+), (?P<given>.+)$")
_KNEE = re.compile(r"knee='([^']*)'")
_PARAMETER = re.compile(r"(\w+)=")
_SYMBOLS = {"exponent": "p", "scale": "F_s"}
"""Parameters of costs whose symbol in the formula is another one."""


def texts() -> dict[str, dict[str, str]]:
    """The sentences."""
    return bundled_toml("musclesolve.laboratory.report", "texts", "methods.toml")


def methods(trial: TrialFiles, citations: "Citations") -> list[Any]:
    """The sentences of the paragraph, with linked citations; data that the result does not state are left out."""
    values, shown = _values(trial), []
    for sentence in _sentences(trial):
        try:
            shown.append(citations.marked(sentence.format(**values)))
        except KeyError:
            continue
    return shown


OF_METHODS = (
    *(*MARKERS, *MOTION, *MUSCLES, "cutoff_hz", "force_cutoff_hz", "filter_order", "tendon", "cost"),
    *("shared_dofs", "musclesolve_version", "ground_reactions", "joint_moments", "inertia_table"),
)
"""Attributes of a result on which its sentences depend: trials with equal values have the same description."""
_OF_TRIAL = re.compile(
    r" ?\([^()]*\{(?:moved|violated|largest|changed)\}[^()]*\)|[:,] \{(?:factors|contacts|plate_corrections)\}"
)
"""Parts of a sentence that are numbers of one trial."""


def study_methods(trials: Sequence[tuple[TrialFiles, int]], citations: "Citations") -> list[Any]:
    """The sentences of a paragraph on many trials, without data of a single trial or subject.

    Args:
        trials: one of each kind, and the number of trials of this kind. A sentence that does not hold for all trials
            gets the number of its trials.
        citations: numbers are given to the works as they are cited.
    """
    total = sum(count for _, count in trials)
    left_out = [texts()[of][key] for of, key in (("always", "subject"), ("always", "certificate"))]
    left_out += [texts()["always"][key] for key in ("reserves", "elastic_reserves", "no_reserves")]
    models = {text(trial.base, "subject") for trial, _ in trials}
    said: dict[str, int] = {}
    for trial, count in trials:
        values = _values(trial) | ({"model": "of each subject"} if len(models) > 1 else {})
        if "marker_cutoff" in trial.base:
            values["cutoff"] = "of each marker and axis"
        for line in _sentences(trial):
            if line in left_out:
                continue
            try:
                line.format(**values)
            except KeyError:
                continue
            sentence = f"{_OF_TRIAL.sub('', line).format(**values).removesuffix('.')}."
            said[sentence] = said.get(sentence, 0) + count
    return [
        citations.marked(sentence if count == total else f"In {count} of {total} trials: {sentence}")
        for sentence, count in said.items()
    ]


def _sentences(trial: TrialFiles) -> list[str]:
    """The sentences on data that the result states, to be filled with `_values`."""
    result = trial.base
    always, model = texts()["always"], texts()["model"]
    if trial.of_model:
        filtered = [model["filter"]] if "cutoff_hz" in result.attrs else []
        roles = {role for role, _, _ in inputs_of(result)}
        ground, moments = text(result, "ground_reactions"), list[str]()
        if "moments" in roles or text(result, "joint_moments") == GIVEN:
            beside = "unloaded" if ground == NO_LOADS else "loads" if "loads" in roles else ""
            moments = [model["moments"], *([model[f"{beside}_beside_moments"]] if beside else [])]
        elif ground == PREDICTED:
            moments = [always["inverse_predicted"]]
        elif ground == NO_LOADS:
            moments = [model["unloaded"]]
        elif "loads" in roles:
            moments = [model["loads"]]
        software = _of_choices(result, ("simulator",)) or [model["software"]]
        sentences = [*software, *filtered, *moments, *_of_choices(result, ("muscle_parameters", "passive"))]
    else:
        sentences = [always["software"], always["subject"], *_of_choices(result, MARKERS)]
        inertia = "inertia_of_child" if "Jensen" in text(result, "inertia_table") else "inertia"
        sentences += [always[inertia], *_of_choices(result, MOTION), always["corrected_plates"]]
        inverse = {PREDICTED: "inverse_predicted", PARTLY_PREDICTED: "inverse_partly_predicted"}
        sentences += [always[inverse.get(text(result, "ground_reactions"), "inverse")]]
        sentences += _of_choices(result, MUSCLES)
    if trial.facts.counts.valid:
        kind = "elastic_sharing" if is_elastic(result) else "sharing"
        reserves = "elastic_reserves" if is_elastic(result) else "reserves"
        if not trial.facts.counts.with_reserve:
            reserves = "no_reserves"
        sentences += [(model if trial.of_model else always)[kind], always["certificate"], always[reserves]]
        contact = "contact_newtons" if trial.facts.force_unit[1] == "N" else "contact"
        sentences += [always[contact]] if "joint_reaction" in result else []
        sentences += [always["patella"]] if "patellofemoral_force" in result else []
        sentences += [always["compartments"]] if "knee_contact_medial" in result else []
    studies = {
        "emg": bool(trial.facts.correlations),
        "fascicles": bool(trial.facts.fascicles),
        "uncertainty": trial.uncertainty is not None,
        "comparison": trial.comparison is not None,
    }
    sentences += [texts()["studies"][name] for name, there in studies.items() if there]
    if trial.facts.predicts_emg:
        sentences += [texts()["studies"]["followed_emg"]]
    return sentences


def _of_choices(result: xr.Dataset, names: tuple[str, ...]) -> list[str]:
    """The sentence on each choice that the result states."""
    said = []
    for name in names:
        value = choice_name(result, name)
        words = texts()[name].get(value.removesuffix(".toml"), texts()[name].get("other")) if value else None
        if words:
            said.append(words.replace("{value}", value.replace("{", "(").replace("}", ")")))
    return said


def _values(trial: TrialFiles) -> dict[str, object]:
    """Return the values for the sentences; an unknown value is left out, and with it its sentence."""
    result, facts = trial.base, trial.facts
    time = np.asarray(result["time"].values, dtype=float)
    mass, stature = number(result, "subject_mass_kg"), number(result, "subject_stature_m")
    size = (f"{mass:.1f} kg" if mass else "", f"{stature:.2f} m" if stature else "")
    described = [text(result, "subject_sex"), *size]
    # the Hill curves that the result states, or those of its muscle set
    curves = texts()["curves"]
    usual = texts()["curves_of_set"].get(choice_name(result, "muscle_database"), "")
    stems = dict.fromkeys(split_side(name)[0].replace("_", " ") for name in listed(result, "shared_dofs"))
    hz, forces = number(result, "cutoff_hz"), number(result, "force_cutoff_hz")
    cutoff = "not stated"
    if hz is not None:
        cutoff = f"{hz:g} Hz" + (f", forces {forces:g} Hz" if forces is not None else "")
    elif "marker_cutoff" in result:
        hertz = result["marker_cutoff"].values
        cutoff = f"{np.nanmin(hertz):.1f} to {np.nanmax(hertz):.1f} Hz"
    values: dict[str, object] = {
        "version": text(result, "musclesolve_version", "of an unknown version"),
        "described": ", ".join(filter(None, described)) or "not described",
        "frames": time.size,
        "start": f"{time[0]:.3f}",
        "end": f"{time[-1]:.3f}",
        "model": text(result, "subject"),
        "tendons": text(result, "tendon", RIGID),
        "curves": curves.get(text(result, "curves", usual), curves["other"]),
        "dofs": ", ".join(stems) or "the joints",
        "cost": cost_words(text(result, "cost"), listed(result, "shared_dofs")),
        "solver": text(result, "solver"),
        "gap": f"{facts.largest_gap:.1e}",
        "optimality": facts.optimality,
        "limb": frames.limb_name(result),
        "units": frames.frames_word(result),
        "valid": facts.counts.valid,
        "analyzed": facts.counts.analyzed,
        "helped": facts.counts.with_reserve,
        "muscles": max(Counter(frames.muscle_sides(result).values()).values(), default=0),
        "order": text(result, "filter_order"),
        "cutoff": cutoff,
    }
    if corrections := listed(result, "plate_corrections"):
        values["plate_corrections"] = " ".join(corrections)
    if factors := listed(result, "muscle_factors"):
        values["factors"] = "; ".join(factors)
    if time.size > 1:
        values["rate"] = f"{1.0 / np.median(np.diff(time)):.0f}"
    if "constraint_violation" in result:
        values["violated"] = f"{float(result['constraint_violation'].max()):.2g}"
    if facts.contact_spacing:
        values["contacts"] = facts.contact_spacing
    if facts.moved is not None:
        values["moved"] = f"{1000.0 * facts.moved.overall:.1f}"
    if (change := facts.motion_change) is not None:
        values["changed"] = (
            f"by {1e3 * change['rms_m']:.1f} mm rms, at most {1e3 * change['largest_m']:.0f} mm; residual force "
            f"{change['rms_force_before_n']:.0f} N rms before and {change['rms_force_n']:.0f} N after"
        )
    if "reserve_moment" in result and np.isfinite(result["reserve_moment"].values).any():
        values["largest"] = f"{float(np.nanmax(np.abs(result['reserve_moment'].values))):.1f}"
    if both := facts.median_and_mean_correlation:
        values |= {"channels": len(facts.correlations), "median": f"{both[0]:.2f}"}
        values["envelope"] = text(result, "emg_envelope", "as recorded")
        if (lag := number(result, "emg_tracking_delay_s")) is not None:
            values["lag"] = f"{1000.0 * lag:.0f}"
        if (delay := number(result, "emg_max_delay_s")) is not None:
            values["delay"] = f"{1000.0 * delay:.0f}"
    values["fascicle_agreement"] = "; ".join(
        f"{sided(fascicle.muscle)} rms {1e3 * fascicle.rms_error_m:.1f} mm, mean {1e3 * fascicle.mean_error_m:.1f} mm, "
        f"r {fascicle.correlation:.2f}"
        for fascicle in facts.fascicles.values()
    )
    if trial.uncertainty is not None:
        drawn = trial.uncertainty.attrs
        how = "designed (orthogonal)" if drawn.get("sampling") == DESIGNED else "Monte Carlo"
        values |= {"samples": f"{drawn.get('samples')} {how}", "seed": drawn.get("seed")}
    if trial.comparison is not None:
        values["costs"] = ", ".join(map(str, trial.comparison["cost"].values))
    return values


def cost_words(name: str, dofs: Sequence[str] = ()) -> str:
    """The name of a cost, or of each of a sum, with its formula and source; the name alone where it is unknown.

    Among degrees of freedom without a knee the cost that spares the knee is the sum of the powers of the activations.
    """
    summands = name.split(" + ")
    if len(summands) > 1:
        return ", plus ".join(cost_words(summand, dofs) for summand in summands)
    try:
        cost = find_cost(name.partition("(")[0].rpartition(" * ")[2])
    except InputError:
        return name or "a cost that the result does not name"
    knee = _KNEE.search(name)
    knees = knee[1] if knee else KneeSparingActivation.knee
    without = (
        cost.name == KneeSparingActivation.name
        and dofs
        and not any(knees.lower() in dof.lower() for dof in dofs)
    )
    if without:
        cost = find_cost(ActivationPower.name)
    formula, source = cost.formula, f"({cost.source})" if cost.source else ""
    if cost.works:
        source = f"[{';'.join(f'@{work}' for work in cost.works)}]"
    for parameter in _PARAMETER.findall(name):
        # the formula has the usual value, but another one is used
        symbol = _SYMBOLS.get(parameter, parameter)
        formula = re.sub(rf", {symbol} (\w )?= [^,]+", "", formula)
    named = f"{name}, without a knee among the shared moments" if without else name
    words = f"{named}: {formula}" if formula else named
    return f"{words} {source}".strip()


def works() -> dict[str, dict[str, Any]]:
    """Every work that may be cited, by its key."""
    return bundled_toml("musclesolve.laboratory.report", "texts", "citations.toml")


@dataclass
class Citations:
    """The works cited so far, in the order of their numbers."""

    version: str = __version__  # of musclesolve, in its own citation
    keys: list[str] = field(default_factory=list)

    def number(self, key: str) -> int:
        """The number of a work; a new one at its first use."""
        if key not in works():
            raise KeyError(key)
        if key not in self.keys:
            self.keys.append(key)
        return self.keys.index(key) + 1

    def cite(self, *keys: str) -> Markup:
        """Numbers in brackets, linked to the list."""
        numbers = sorted(self.number(key) for key in keys)
        links = Markup(", ").join(Markup('<a href="#cite-{0}">{0}</a>').format(number) for number in numbers)
        return Markup(" [") + links + Markup("]")

    def marked(self, text: str) -> Markup:
        """A text with its [@key;@key] as linked numbers."""
        parts, end = [], 0
        for cited in _CITED.finditer(text):
            parts += [escape(text[end : cited.start()]), self.cite(*cited[1].replace("@", "").split(";"))]
            end = cited.end()
        return Markup("").join([*parts, escape(text[end:])])

    def listed(self) -> list[tuple[int, str]]:
        """Number and text of every work cited."""
        return [(number, as_text(key, self.version)) for number, key in enumerate(self.keys, start=1)]

    def bibtex(self) -> str:
        """BibTeX entries of the works cited."""
        return "\n\n".join(as_bibtex(key, self.version) for key in self.keys)


def as_text(key: str, version: str) -> str:
    """One work as an entry of a list."""
    work = works()[key]
    authors = [_short(name) for name in work["author"].strip("{}").split(" and ")]
    title = f"{work['title']}." if work["title"][-1] not in ".?!" else work["title"]
    if work["kind"] == "software":
        return f"{authors[0]}. {title} Version {version}."
    if work["kind"] == "phdthesis":
        return f"{', '.join(authors)}. {title} PhD thesis, {work['school']}, {work['year']}."
    if work["kind"] == "book":
        return (
            f"{', '.join(authors)}. {title} Edition {work['edition']}. {work['publisher']}, {work['year']}."
        )
    pages = work["pages"].replace("--", "–")
    return f"{', '.join(authors)}. {title} {work['journal']} {work['volume']}:{pages}, {work['year']}."


def _short(name: str) -> str:
    """Family name and initials."""
    parts = _NAME.match(name)
    if not parts:
        return name
    initials = "".join(part[0] for part in re.split(r"[ .]+", parts["given"]) if part[:1].isupper())
    small = " ".join(part for part in parts["given"].split() if part.islower())
    return " ".join(filter(None, (small, parts["family"], initials)))


def as_bibtex(key: str, version: str) -> str:
    """One work as BibTeX."""
    work = works()[key]
    fields = {name: str(value) for name, value in work.items() if name != "kind"}
    if work["kind"] == "software":
        fields["version"] = version
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{work['kind']}{{{key},\n{lines}\n}}"
