"""Stages of checks: the state of the recording that a check sees, with faults of earlier stages repaired in memory."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, auto
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from musclesolve.checking.case import Case, Fact, collect_errors
from musclesolve.results.finding import Finding


class Stage(IntEnum):
    """The faults that are looked for together: none of them can be the consequence of another one of its stage.

    A check sees the recording with the faults of all earlier stages repaired, and what was found in them.
    """

    SAMPLE_TIMES = auto()
    COPIED_FRAMES = auto()
    LOST_FRAMES = auto()
    UNITS = auto()
    UNITS_OF_POINTS = auto()
    # The axes are read from the pelvis.
    PELVIS_LABELS = auto()
    VERTICAL_AXIS = auto()
    FORWARD_AXIS = auto()
    OTHER_VERTICAL_AXES = auto()
    SIDES = auto()
    SIZE_WHEN_STANDING = auto()
    LABELS_THROUGHOUT = auto()
    LABELS_AT_CROSSINGS = auto()
    LABELS_BETWEEN_GAPS = auto()
    # All other pairs are measured from the front spines.
    FRONT_SPINES = auto()
    PAIRS_OF_LANDMARKS = auto()
    LANDMARK_ORDER = auto()
    HELD_SAMPLES = auto()
    GAPS = auto()
    MERGED_MARKERS = auto()
    JUMPS = auto()
    SLIPS = auto()
    STANDING_PLACES = auto()
    PLATES = auto()
    # The zero of the plates is looked for while a foot swings.
    SYNCHRONY = auto()
    PLATE_ZERO = auto()
    PLATE_AXES = auto()
    PRESSURE_DIRECTION = auto()
    SYNCHRONY_IN_RIGHT_AXES = auto()
    # A shift of the forces makes them begin and end at other times: that is no fault of its own.
    PLATE_POSITION = auto()
    SUPPORT = auto()
    ANALYSIS = auto()
    ANATOMY = auto()


Detect = Callable[[Case], Iterable[Finding]]


@dataclass(frozen=True)
class Check:
    """A check of a recording."""

    detect: Detect  # returns what is wrong; changes nothing
    stage: Stage  # when it is asked
    needs: frozenset[Fact] = frozenset()  # it is not asked where one of them is not known


_CHECKS: dict[str, list[Check]] = {}


def check_at(*stages: Stage, needs: Iterable[Fact] = ()) -> Callable[[Detect], Detect]:
    """Make a function a check that runs at one stage or at several.

    needs: what its findings would be due to where the trial file leaves it open; that is a finding already.
    """

    def register(detect: Detect) -> Detect:
        checks = (Check(detect, stage, frozenset(needs)) for stage in stages)
        _CHECKS.setdefault(detect.__module__, []).extend(checks)
        return detect

    return register


def checks_of(module: str, *folders: ModuleType) -> tuple[Check, ...]:
    """Return the checks of a module, by its name, and of all modules in some folders."""
    names = [
        module,
        *(f"{folder.__name__}.{info.name}" for folder in folders for info in iter_modules(folder.__path__)),
    ]
    for name in names:
        import_module(name)
    return tuple(check for name in names for check in _CHECKS.get(name, ()))


def examine(case: Case, checks: Iterable[Check], prepare: Mapping[Stage, Callable[[Case], Case]]) -> Case:
    """Run all checks stage by stage; after each stage repair what was found.

    Within a stage every check looks at the same recording, and findings are put in the order of the names of the
    checks: the order of `checks` does not matter. prepare: what is done with the case before a stage.
    """
    ordered = sorted(checks, key=lambda check: check.detect.__name__)
    for stage in Stage:
        findings: list[Finding] = []
        if stage in prepare:
            with collect_errors(findings, f"preparation of {stage.name.lower()}", case):
                case = prepare[stage](case)
        for check in ordered:
            if check.stage == stage and not check.needs & case.unknown:
                with collect_errors(findings, f"check '{check.detect.__name__}'", case):
                    # One by one: what was found before a failure is kept.
                    for finding in check.detect(case):
                        findings.append(case.at_exchange(finding))
        case = case.with_findings(findings)
        for finding in findings:
            failed: list[Finding] = []
            with collect_errors(failed, f"repair of '{finding.code}'", case):
                case = case.repaired(finding)
            case = case.with_findings(failed)
    return case
