"""Commands that answer questions about one trial: `contributions`, `margins` and `what-if`."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from musclesolve._util.sides import BOTH
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.options import Cost, Side, TrialFile, output_option, with_settings
from musclesolve.cli.printing import finish, progress
from musclesolve.laboratory.recording.command_settings import (
    CommandSettings,
    MarginSettings,
    command_arguments,
)

if TYPE_CHECKING:
    import xarray as xr
    from rich.console import RenderableType

ANSWERS = ("contributions", "margins", "what_if")
"""Names of the answers."""


def answered(
    trial: Path,
    output: Path,
    name: str,
    ask: "Callable[[Any, Any], xr.Dataset]",
    **tables: "Callable[[xr.Dataset], bytes]",
) -> "tuple[xr.Dataset, list[Path]]":
    """Answer a question about a trial as NAME.nc; tables: make the CSV files by their names."""
    from musclesolve.studies.written_answer import answer_about

    files = {f"{table}.csv": make for table, make in tables.items()}
    beside = [f"{other}.nc" for other in ANSWERS]  # answers on two trials could not be distinguished
    with progress() as report:
        return answer_about(trial, output, f"{name}.nc", name, ask, files, report, beside)


def finish_answer(name: str, answer: "xr.Dataset", paths: list[Path], code: int = 0) -> None:
    """Print the tables and facts of an answer, or its document."""
    from musclesolve.laboratory.results.fact_table import document, summary
    from musclesolve.laboratory.results.tables.question_tables import answer_facts, answer_tables

    facts = answer_facts(answer, name)
    text: list[RenderableType] = [*answer_tables(answer, name), summary(facts)]
    finish(name.replace("_", "-"), text, lambda: document(facts), paths, code)


def contributions(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for contributions.nc and the figures.")],
    cost: Cost = None,
) -> None:
    """Compute the contributions of each muscle: support, braking, propulsion, contact forces of the joints, work."""
    from musclesolve.laboratory.results.tables.question_tables import stance_csv
    from musclesolve.studies.questions.contributions import contributions

    answer, paths = answered(
        trial,
        output,
        "contributions",
        lambda loaded, report: contributions(loaded, cost, report),
        contributions_stance=stance_csv,
    )
    finish_answer("contributions", answer, paths)


@with_settings(CommandSettings, command_arguments("margins"))
def margins(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for margins.nc, margins.csv and the figure.")],
    cost: Cost = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Find the least strength of each muscle and group for the motion, and the muscles that take over."""
    from musclesolve.laboratory.results.tables.question_tables import margins_csv
    from musclesolve.studies.questions.margins import margins
    from musclesolve.studies.questions.what_if import strengths_from_texts

    stated = MarginSettings(**settings)
    weak = strengths_from_texts(stated.strength)
    answer, paths = answered(
        trial,
        output,
        "margins",
        lambda loaded, report: margins(loaded, weak, stated.path, cost, side, report, pairs=stated.pairs),
        margins=margins_csv,
    )
    failed = stated.strength and answer.attrs["frames_impossible"]
    finish_answer("margins", answer, paths, SOME_FRAMES_FAILED if failed else 0)


@with_settings(CommandSettings, command_arguments("what_if"))
def what_if(
    trial: TrialFile,
    output: Annotated[Path, output_option("Folder for what_if.nc and the figures.")],
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Share one motion with weak or missing muscles, a device, or other settings, compared with now."""
    from musclesolve.laboratory.results.tables.question_tables import scenario_records
    from musclesolve.studies.questions.what_if import what_if

    def ask(loaded: Any, report: Any) -> "xr.Dataset":
        return what_if(loaded, settings["scenarios"], side, report)

    answer, paths = answered(trial, output, "what_if", ask)
    failed = any(fact["without_solution"] for fact in scenario_records(answer))
    finish_answer("what_if", answer, paths, SOME_FRAMES_FAILED if failed else 0)
