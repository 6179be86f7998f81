"""The judgement of a result in Python: the verdict and the findings that the commands print."""

import xarray as xr

from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.judgement import Judgement, judge


def judge_result(result: xr.Dataset) -> Judgement:
    """Judge a result: may its forces be used, and why not?

    Args:
        result: of `run`, `share_model` or `read_result`.

    Returns:
        `verdict` is "usable", "with_care" or "not_usable", by the rule of docs/results.md; `use` says it in a sentence
        with the reason that matters most. `findings` has each error, warning and note on the recording or the model and
        on the result, with `what`, `remedy`, `severity` and `cost` (its effect). `legs` has the verdict on each leg.
        `print` shows the findings and the verdict.

    Raises:
        InputError: the argument is no result of a single run.

    Examples:
        >>> result = ms.run(ms.data.reference_stride())
        >>> judgement = ms.laboratory.judge_result(result)
        >>> judgement.verdict, [finding.what for finding in judgement.of("error", "warning")]
        ('usable', [])
    """
    return judge(Facts(checked_result(result, ["plausible"], least=1)))
