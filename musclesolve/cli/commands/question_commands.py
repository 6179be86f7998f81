"""The command that answers questions about one trial: `ask`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from musclesolve._util.sides import BOTH
from musclesolve.cli.errors import SOME_FRAMES_FAILED
from musclesolve.cli.options import BY_NAME, Cost, Side, TrialFile, output_option, results_of, with_settings
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
KINDS: dict[str, set[str]] = {
    "contributions": {"cost"},
    "margins": {"cost", "side", "strength", "path", "pairs"},
    "what-if": {"side", "scenarios"},
}
"""Question -> names of its options."""


def answered(
    trial: Path,
    output: Path | None,
    name: str,
    ask: "Callable[[Any, Any], xr.Dataset]",
    **tables: "Callable[[xr.Dataset], bytes]",
) -> "tuple[xr.Dataset, list[Path]]":
    """Answer a question about a trial as NAME.nc; tables: make the CSV files by their names."""
    from musclesolve.studies.written_answer import answer_about

    files = {f"{table}.csv": make for table, make in tables.items()}
    beside = [f"{other}.nc" for other in ANSWERS]  # answers on two trials could not be distinguished
    with progress() as report:
        return answer_about(trial, results_of(output, trial), f"{name}.nc", name, ask, files, report, beside)


def finish_answer(name: str, answer: "xr.Dataset", paths: list[Path], code: int = 0) -> None:
    """Print the tables and facts of an answer, or its document."""
    from musclesolve.laboratory.results.fact_table import document, summary
    from musclesolve.laboratory.results.tables.question_tables import answer_facts, answer_tables

    facts = answer_facts(answer, name)
    text: list[RenderableType] = [*answer_tables(answer, name), summary(facts)]
    finish("ask", text, lambda: {"question": name.replace("_", "-"), **document(facts)}, paths, code)


@with_settings(CommandSettings, command_arguments("margins", "what_if"))
def ask(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="contributions, margins or what-if.",
            autocompletion=lambda incomplete: [name for name in KINDS if name.startswith(incomplete)],
        ),
    ],
    trial: TrialFile,
    output: Annotated[Path | None, output_option("Folder for the answer and its figures.", BY_NAME)] = None,
    cost: Cost = None,
    side: Side = BOTH,
    **settings: Any,
) -> None:
    """Answer a question about a trial: which muscle does what, how weak may a muscle be, what if.

    contributions: of each muscle to support, braking, propulsion, contact forces of the joints and work.
    margins: the least strength of each muscle and group for the motion, and the muscles that take over.
    what-if: one motion with weak or missing muscles, a device, or other settings, compared with now.
    """
    if kind not in KINDS:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(KINDS)}")
    stated = {name for name, value in settings.items() if value}
    stated |= {name for name, value in (("cost", cost), ("side", side != BOTH)) if value}
    for name in sorted(stated - KINDS[kind]):
        kinds = [other for other, options in KINDS.items() if name in options]
        option = "--set" if name == "scenarios" else f"--{name}"
        raise typer.BadParameter(f"{option} is for {' and '.join(kinds)}")
    if kind == "contributions":
        _contributions(trial, output, cost)
    elif kind == "margins":
        _margins(trial, output, cost, side, settings)
    else:
        if not settings.get("scenarios"):
            raise typer.BadParameter("what-if needs a scenario: --set 'weak calf: triceps_surae=0.6'")
        _what_if(trial, output, side, settings["scenarios"])


def _contributions(trial: Path, output: Path | None, cost: str | None) -> None:
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


def _margins(
    trial: Path, output: Path | None, cost: str | None, side: str, settings: Mapping[str, Any]
) -> None:
    from musclesolve.laboratory.results.tables.question_tables import margins_csv
    from musclesolve.studies.questions.margins import margins
    from musclesolve.studies.questions.what_if import strengths_from_texts

    stated = MarginSettings(**{key: settings[key] for key in KINDS["margins"] & settings.keys()})
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


def _what_if(trial: Path, output: Path | None, side: str, scenarios: Sequence[str]) -> None:
    from musclesolve.laboratory.results.tables.question_tables import scenario_records
    from musclesolve.studies.questions.what_if import what_if

    answer, paths = answered(
        trial, output, "what_if", lambda loaded, report: what_if(loaded, scenarios, side, report)
    )
    failed = any(fact["without_solution"] for fact in scenario_records(answer))
    finish_answer("what_if", answer, paths, SOME_FRAMES_FAILED if failed else 0)
