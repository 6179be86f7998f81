"""The result of a body: its moments are shared, labeled with the findings on its trial, and judged."""

from collections.abc import Iterable, Sequence

import xarray as xr

from musclesolve._util.message_text import REMARK
from musclesolve._util.progress import Progress, no_progress
from musclesolve.pipeline.body import Body
from musclesolve.pipeline.share import share
from musclesolve.results.dataset.assemble import assemble
from musclesolve.results.finding import Finding
from musclesolve.results.plausibility import with_verdict


def judged_result(body: Body, findings: Sequence[Finding], progress: Progress | None = None) -> xr.Dataset:
    """Share the moments of a body, label the result with the findings on the trial, and judge it."""
    return with_verdict(shared_result(body, findings, progress))


def shared_result(
    body: Body, findings: Sequence[Finding], progress: Progress | None = None, paths: bool = True
) -> xr.Dataset:
    """Share the moments of a body, and label the result with the findings on the trial; paths: as of `assemble`."""
    report = progress or no_progress
    analysis = share(body, progress=report)
    report("result", 1.0)
    return assemble(analysis, without_remarks(findings), paths)


def without_remarks(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings without the notes of the analysis, which a result states in its `notes`.

    The examination analyzes the repaired recording, whose notes have other numbers than the notes of the result.
    """
    return [entry for entry in findings if (entry.code, entry.severity) != (REMARK, "note")]
