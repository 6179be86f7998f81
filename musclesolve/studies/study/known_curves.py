"""Check of quantities and outcomes of a study against the names of its trials, before any computation.

Trials are searched until all names are found. Where a trial cannot be read, or its names are known only from its
result, such as groups of a model's muscles without a known function, the outcome is looked up again in the means.
"""

from collections.abc import Iterable

from musclesolve.errors import InputError
from musclesolve.results.cycles.outcomes import value_of
from musclesolve.results.dataset.quantities import QUANTITIES
from musclesolve.studies.known_names import known_names
from musclesolve.studies.many_trials.one_trial import Job
from musclesolve.studies.study.study_file import Study

RESULTANT = "resultant"


def check_curves(study: Study, trials: Iterable[Job]) -> None:
    """Refuse quantities and outcomes of [design] that no trial of a study has.

    Args:
        study: the study file.
        trials: its trials.
    """
    design = study.design
    stated = [("quantities", name, name, "") for name in design.quantities or ()]
    for text in design.outcomes or ():
        variable, _, name = text.partition(" ")
        if (value := value_of(text)) is not None:
            variable, name = value[0], value[1]
        stated.append(("outcomes", text, variable, name or variable))
    open_ones = [each for each in stated if each[2] in QUANTITIES]
    there: dict[str, None] = {}
    unknown, unasked = dict[str, str](), dict[str, str]()
    for trial in trials:
        if not open_ones:
            return
        try:
            known = known_names(trial.ready())
        except InputError:
            return  # the trial itself is refused, with the reason
        left = []
        for key, text, variable, name in open_ones:
            answer = QUANTITIES[variable].answer
            curves = known.curves(variable)
            if answer and answer not in known.asked:
                unasked[text] = answer
            elif name and curves is not None and name not in {*curves, *_resultants(variable, curves)}:
                there |= dict.fromkeys(f"{variable} {curve}" for curve in curves)
                unknown[text] = variable
            else:
                continue
            left.append((key, text, variable, name))
        open_ones = left
    for key, text, variable, _ in open_ones:
        if text in unknown:
            known_ones = [curve for curve in there if curve.startswith(f"{variable} ")]
            raise study.document.unknown(
                "unknown_name",
                text,
                known_ones,
                "design",
                key,
                problem=f"no trial has {text!r}",
            )
        raise study.document.error(
            "missing_key",
            "design",
            key,
            problem=f"{text!r} needs the question {unasked[text]}, which no trial has",
            expected="the question in [questions] of a trial",
            remedy=f'state [settings.questions] with ask = ["{unasked[text]}"]',
        )


def _resultants(variable: str, curves: Iterable[str]) -> set[str]:
    """The names of magnitudes, which values of vectors have."""
    if QUANTITIES[variable].dims[-1:] != ("axis",):
        return set()
    return {f"{curve.rpartition(' ')[0]} {RESULTANT}".strip() for curve in curves}
