"""Commands that answer questions about one trial: `contributions`, `margins` and `what-if`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve._util.sides import BOTH
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.options import Cost, Side, TrialFile, output_option, with_settings
from musclesolve.cli.printing import finish, progress
from musclesolve.settings.commands import CommandSettings, MarginSettings, command_arguments

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType

ANSWERS = ("contributions", "margins", "what_if")
"""Names of the answers."""


def answered(
    trial: Path,
    output: Path,
    name: str,
    ask: Callable[[Any, Any], xr.Dataset],
    files_of: Callable[[xr.Dataset], Mapping[str, bytes]],
) -> tuple[xr.Dataset, list[Path]]:
    """Answer a question about a trial and write NAME.nc with the other files of the answer, all of them or none.

    Args:
        trial: its file.
        output: folder of the files.
        name: of the answer.
        ask: gives the answer for the trial that was read and a callback of the progress.
        files_of: the other files by name.
    """
    from musclesolve.recording.trial.trial_file import read_trial
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import check_folder, check_inputs, netcdf_bytes, trial_from

    with progress() as report, reserved(output):
        for other in ANSWERS:  # answers on two trials in one folder could not be distinguished
            check_folder(output, f"{other}.nc", trial)
        loaded = read_trial(trial)
        check_inputs(loaded.files.values(), output, [f"{name}.csv"])
        found = ask(loaded, report)
        found.attrs |= trial_from(trial, output)
        report("writing", 1.0)
        return found, write_files(output, {f"{name}.nc": netcdf_bytes(found), **files_of(found)})


def contributions(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for contributions.nc and the figures.")],
    cost: Cost = None,
) -> None:
    """Compute the contributions of each muscle: support, braking, propulsion, contact forces of the joints, work."""
    from musclesolve.plotting.study.question_figures import answer_files
    from musclesolve.results.tables.question_tables import (
        contact_facts,
        contribution_facts,
        contribution_lines,
        contribution_tables,
        judgement_document,
        stance_csv,
        work_facts,
    )
    from musclesolve.studies.questions.contributions import contributions

    found, paths = answered(
        trial,
        output,
        "contributions",
        lambda loaded, report: contributions(loaded, cost, report),
        lambda found: {"contributions_stance.csv": stance_csv(found), **answer_files(found, "contributions")},
    )
    text: list[RenderableType] = [*contribution_tables(found), "\n".join(contribution_lines(found))]
    document = {
        "frames": int(found.attrs["frames"]),
        "frames_solved": int(found.attrs["frames_solved"]),
        "contacts": [str(name) for name in found["contact"].values],
        **judgement_document(found),
        "contributions": contribution_facts(found),
        "contact_forces": contact_facts(found),
        "work": work_facts(found),
    }
    finish("contributions", text, lambda: document, paths)


@with_settings(CommandSettings, command_arguments("margins"))
def margins(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for margins.nc, margins.csv and the figure.")],
    cost: Cost = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Find the least strength of each muscle and group for the motion, and the muscles that take over."""
    from musclesolve.plotting.study.question_figures import answer_files
    from musclesolve.results.tables.question_tables import (
        margin_document,
        margin_lines,
        margin_tables,
        margins_csv,
    )
    from musclesolve.studies.questions.margins import margins
    from musclesolve.studies.questions.what_if import contact_from_texts, strengths_from_texts

    given = MarginSettings(**settings)
    weak = strengths_from_texts(given.strength)
    bounds = contact_from_texts(given.contact) if given.contact else None
    found, paths = answered(
        trial,
        output,
        "margins",
        lambda loaded, report: margins(
            loaded,
            weak,
            given.path,
            cost,
            side,
            report,
            contact=bounds,
            pairs=given.pairs,
            lengths=given.lengths,
        ),
        lambda found: {"margins.csv": margins_csv(found), **answer_files(found, "margins")},
    )
    text: list[RenderableType] = [*margin_tables(found), "\n".join(margin_lines(found))]
    finish("margins", text, lambda: margin_document(found), paths)


@with_settings(CommandSettings, command_arguments("what_if"))
def what_if(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for what_if.nc and the figures.")],
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Share one motion with weak or missing muscles, a device, or other settings, compared with now."""
    from musclesolve.plotting.study.question_figures import answer_files
    from musclesolve.results.tables.question_tables import (
        judgement_document,
        scenario_facts,
        scenario_lines,
        scenario_tables,
    )
    from musclesolve.studies.questions.what_if import what_if

    found, paths = answered(
        trial,
        output,
        "what_if",
        lambda loaded, report: what_if(loaded, settings["scenarios"], side, report),
        lambda found: answer_files(found, "what_if"),
    )
    facts = scenario_facts(found)
    failed = any(fact["without_solution"] for fact in facts)
    text: list[RenderableType] = [*scenario_tables(found), "\n".join(scenario_lines(found))]
    finish(
        "what-if",
        text,
        lambda: {**judgement_document(found), "scenarios": facts},
        paths,
        SOME_FRAMES_FAILED if failed else 0,
    )


def coordination(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT.nc", help="A result of `musclesolve run` or `share`.")
    ],
    output: Annotated[Path, output_option("Folder for coordination.nc and the figures.")],
) -> None:
    """Measure how muscles work together: synergies, co-contraction, stiffness of the joints by their muscles."""
    from musclesolve.plotting.study.question_figures import answer_files
    from musclesolve.results.files.atomic_writing import reserved, write_files
    from musclesolve.results.files.result_netcdf import netcdf_bytes, read_result
    from musclesolve.results.tables.question_tables import (
        coordination_document,
        coordination_lines,
        coordination_table,
    )
    from musclesolve.studies.questions.coordination import coordination

    with progress() as report, reserved(output):
        report("synergies", 0.3)
        found = coordination(read_result(result))
        report("writing", 0.8)
        paths = write_files(
            output, {"coordination.nc": netcdf_bytes(found), **answer_files(found, "coordination")}
        )
    text: list[RenderableType] = [coordination_table(found), "\n".join(coordination_lines(found))]
    finish("coordination", text, lambda: coordination_document(found), paths)
