"""One failing check hides no other: whatever it raises becomes a finding, and the checks that follow go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from musclesolve.checking.case.case import Case, finding_of
from musclesolve.checking.case.pose_finding import pose_finding
from musclesolve.checking.finding import Finding, Severity, finding
from musclesolve.errors import InputError, MuscleSolveError, PoseError


@contextmanager
def contained(
    findings: list[Finding], what: str, case: Case | None = None, code: str = "refused"
) -> Iterator[None]:
    """Turn whatever is raised into a finding, and go on.

    what: the action, as "reading of the files". case: None before it is read. code: that of an input that is refused.
    """
    try:
        yield
    except InputError as error:
        findings.append(finding_of(code, error))
    except PoseError as error:
        findings.append(pose_finding(error, case))
    except MuscleSolveError as error:
        findings.append(Finding("refused", "error", str(error), "look at the markers and forces it names"))
    except Exception as error:
        what = f"the {what} failed by itself ({type(error).__name__}: {error}): what it would have found is not known"
        # Without a case nothing can be examined.
        severity: Severity = "error" if case is None else "warning"
        findings.append(
            finding("check_failed", severity, {"action": what, "error": f"{type(error).__name__}: {error}"})
        )
