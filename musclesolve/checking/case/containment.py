"""One failing check hides no other: whatever it raises becomes a finding, and the checks that follow go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from musclesolve.checking.case.case import Case, finding_of
from musclesolve.checking.case.pose_finding import pose_finding
from musclesolve.checking.finding import Finding
from musclesolve.errors import InputError, MuscleSolveError, PoseError

Check = Callable[[Case], None]


@contextmanager
def contained(
    findings: list[Finding], what: str, case: Case | None = None, code: str = "refused"
) -> Iterator[None]:
    """Turn whatever is raised into a finding, and go on.

    Args:
        findings: the finding is added to it.
        what: what is done meanwhile, "reading of the files" and the like.
        case: the recording under examination, None before it is read.
        code: of the finding where the input is refused.
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
        findings.append(_failure(what, error, case))


def attempt(case: Case, *checks: Check) -> None:
    """Run checks one after the other; one that fails is reported as having failed."""
    for check in checks:
        with contained(case.findings, f"check '{check.__name__.strip('_')}'", case):
            check(case)


def _failure(what: str, error: Exception, case: Case | None) -> Finding:
    """Return the finding of an exception that nobody foresaw; without a case nothing can be examined."""
    return Finding(
        "check_failed",
        "error" if case is None else "warning",
        f"the {what} failed by itself ({type(error).__name__}: {error}): what it would have found is not known",
        "report this with the recording; the other findings hold",
    )
