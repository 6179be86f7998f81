r"""Arguments and options that commands share, and the many of `share` and `synthesize`.

In a help text "[mm]" is read as markup and vanishes: write "\[mm]".
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from musclesolve._util.message_text import capitalized
from musclesolve.constants import FAST
from musclesolve.errors import input_error
from musclesolve.plotting.page.page_style import A4_PAGE, PageStyle
from musclesolve.settings.live import SessionSettings
from musclesolve.settings.schema import Setting, Settings, tables_of
from musclesolve.settings.trial import QUESTIONS, ModelSettings, RecordedSettings


def _completing(module: str, names: Callable[[Any], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return the completion of an option by the shell: names in a module, which is imported only at completion."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names(import_module(module)) if name.startswith(incomplete)]

    return complete


cost_names = _completing("musclesolve.sharing.cost.cost_registry", lambda costs: costs.costs())
solver_names = _completing(
    "musclesolve.sharing.solver.solver_registry",
    lambda solvers: [name for name, record in solvers.solvers().items() if record.installed],
)
marker_set_names = _completing("musclesolve.recording.markers.marker_set", lambda sets: sets.marker_sets())
muscle_set_names = _completing("muscle_db", lambda sets: sets.available())
muscle_names = _completing("muscle_db", lambda sets: [muscle.name for muscle in sets.load()])
fault_names = _completing("musclesolve.synthetic.faults", lambda faults: faults.faults())
"""Costs; solvers that are installed; bundled marker sets and muscle sets; muscles of the default set; faults."""


class Side(StrEnum):
    """Legs that are analyzed."""

    right = "r"
    left = "l"
    both = "both"


Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of the summary, also for an error.")
]

TrialFile = Annotated[Path, typer.Argument(metavar="TRIAL.toml", help="The trial file.")]
Output = Annotated[Path, typer.Option("-o", "--output", help="Folder for result.nc and the page.")]


def _samples(given: Any) -> int | str:
    """A number of samples, or the word for designed ones."""
    if given == FAST or (str(given).isdecimal() and int(given) >= 2):
        return FAST if given == FAST else int(given)
    raise typer.BadParameter(f"{given!r} is neither {FAST} nor a number of samples from 2 on")


def _questions(text: str) -> list[str]:
    """Questions between commas."""
    named = [group.strip().replace("-", "_") for group in text.split(",") if group.strip()]
    for name in named:
        if name not in QUESTIONS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(QUESTIONS)}")
    return named


Questions = Annotated[
    Any,
    typer.Option(
        "--questions",
        parser=_questions,
        metavar="NAME,...",
        help=f"Questions that are answered beside the result and in its report, besides the trial file's questions: "
        f"{', '.join(QUESTIONS)}.",
    ),
]


Samples = Annotated[
    Any,
    typer.Option(
        parser=_samples,
        metavar=f"{FAST}|NUMBER",
        help="Bands on all forces of a trial, and where they come from: uncertainty.nc. "
        f"{FAST}: by few designed samples; a number: by so many Monte Carlo samples.",
    ),
]
NAMES = {
    "cost": cost_names,
    "solver": solver_names,
    "marker_set": marker_set_names,
    "faults": fault_names,
}
"""Completion of the shell for the option of a setting."""


REPEATABLE = ("name_list", "number_or_weights")
"""Kinds of settings whose option may be repeated."""
TYPES: dict[str, Any] = {
    "text": str | None,
    "number": float | None,
    "whole": int | None,
    "truth": bool | None,
    "name_list": list[str] | None,
    "number_or_weights": list[str] | None,
}
"""Kinds of settings that words of the command line can state, and what typer makes of them."""


def setting_option(file: type[Settings], table: str, key: str, replaces: bool = False) -> Any:
    """The option of a setting, with its sentence, choices and range.

    replaces: whether the option replaces a value of the trial file.
    """
    setting = tables_of(file)[table].settings[key]
    text = capitalized(setting.about)
    text += f", {setting.limits}" if setting.limits else ""
    text += f": {', '.join(setting.choices)}" if setting.choices else ""
    text += "; repeatable" if setting.kind in REPEATABLE else ""
    text += "; default: as in the trial file." if replaces else "."
    metavar = "[WORD=]NUMBER" if setting.kind == "number_or_weights" else None
    return typer.Option(
        setting.option or f"--{key.replace('_', '-')}",
        help=text.replace("[", "\\["),
        metavar="|".join(("NUMBER", *setting.words)) if setting.words else metavar,
        autocompletion=NAMES.get(key),
    )


def with_settings(
    file: type[Settings], arguments: Mapping[str, tuple[str, str]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with an option for each setting that it does not name itself; it gets what is stated by name.

    file: of whose settings. arguments: keyword -> table and key. The options of `run` replace what its trial file
    states. What no file states, as of a session, is checked here.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        named = {
            name: parameter
            for name, parameter in own.parameters.items()
            if parameter.kind != parameter.VAR_KEYWORD
        }
        places = {name: place for name, place in arguments.items() if name not in named}
        settings = {name: tables_of(file)[table].settings[key] for name, (table, key) in places.items()}
        settings = {name: setting for name, setting in settings.items() if setting.kind in TYPES}
        replaces, no_file = file is RecordedSettings, file is SessionSettings
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=None if replaces or setting.kind in REPEATABLE else setting.default,
                annotation=Annotated[
                    str | None if setting.words else TYPES[setting.kind],
                    setting_option(file, *places[name], replaces),
                ],
            )
            for name, setting in settings.items()
        ]

        @functools.wraps(command)
        def run(**given: Any) -> None:
            stated = {name: _stated(setting, given.pop(name)) for name, setting in settings.items()}
            stated = {name: value for name, value in stated.items() if value is not None}
            for name, value in stated.items():
                if no_file and (wrong := settings[name].problem(value)):
                    raise typer.BadParameter(f"--{name.replace('_', '-')}: {wrong[0]}; expected {wrong[1]}")
            command(**given, **stated)

        parameters = [*named.values(), *more]
        run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _stated(setting: Setting, given: Any) -> Any:
    """Return the value of a setting that an option states, as a file would; None where the option is absent."""
    if setting.kind == "number_or_weights":
        return stated_strains(given or ())
    if setting.kind == "name_list":
        return given or None
    if not setting.words or given is None or given in setting.words:
        return given
    try:
        number = float(given)
    except ValueError:
        known = ", ".join(setting.words)
        raise typer.BadParameter(f"{given!r} is neither a number nor one of: {known}") from None
    return "none" if number == 0.0 and "none" in setting.words else number


Cost = Annotated[str | None, setting_option(RecordedSettings, "sharing", "cost", replaces=True)]
Solver = Annotated[str | None, setting_option(RecordedSettings, "sharing", "solver", replaces=True)]
Model = Annotated[Path, setting_option(ModelSettings, "files", "model")]
Coordinates = Annotated[Path, setting_option(ModelSettings, "files", "coordinates")]
Moments = Annotated[Path | None, setting_option(ModelSettings, "files", "moments")]
Loads = Annotated[Path | None, setting_option(ModelSettings, "files", "loads")]
Sides = Annotated[Side, typer.Option(help="Legs to analyze.")]

Jobs = Annotated[int | None, typer.Option(help="Number of trials computed at a time; default: one per core.")]
Scheduler = Annotated[
    str | None, typer.Option(help="Compute on a cluster: address of a dask.distributed scheduler.")
]
Again = Annotated[bool, typer.Option("--again", help="Recompute trials whose result is up to date.")]
Figures = Annotated[
    bool | None,
    typer.Option(
        "--figures/--no-figures",
        help="Also draw the figures as files; or neither these nor the page, but the numbers alone. Default: the page, "
        "report.html.",
        show_default=False,
    ),
]


class Axis(StrEnum):
    """Axis of a laboratory, with its sense."""

    forward_x, back_x = "+x", "-x"
    forward_y, back_y = "+y", "-y"
    forward_z, back_z = "+z", "-z"


class FileFormat(StrEnum):
    """Format of figure files."""

    png = "png"
    pdf = "pdf"
    svg = "svg"


Format = Annotated[FileFormat, typer.Option("--format", help="Format of the figures.")]
Width = Annotated[
    float,
    typer.Option(help="Width of the figures \\[mm]; columns of journals have 80 to 90, pages 170 to 190."),
]
Font = Annotated[float, typer.Option(help="Size of the text in the figures \\[points].")]
Titles = Annotated[
    bool,
    typer.Option(
        "--titles/--no-titles", help="Print title and trial above the figures; papers have captions."
    ),
]
Norms = Annotated[
    bool, typer.Option("--norms/--no-norms", help="Draw published bands of walking behind the curves.")
]
PageMuscle = Annotated[
    list[str] | None,
    typer.Option(
        "--muscle",
        help="A muscle, or a group of them, on the pages of muscles; repeatable; default: all, in a column (up to 140 "
        "mm) the strongest of each group.",
        autocompletion=muscle_names,
    ),
]


def drawn_figures(figures: bool | None, file_format: FileFormat, width: float, font: float) -> bool | None:
    """Return the choice of --figures and --no-figures; without either, options on the form of figures ask for
    figures.
    """
    stated = (file_format.value, width, font) != (A4_PAGE.file_format, A4_PAGE.width_mm, A4_PAGE.font_pt)
    if stated and figures is False:
        raise typer.BadParameter(
            "--format, --width and --font are for figures, which --no-figures leaves out"
        )
    return True if figures is None and stated else figures


def page_style_of(
    file_format: FileFormat,
    width: float,
    font: float,
    titles: bool = True,
    norms: bool = True,
    muscles: Sequence[str] = (),
) -> PageStyle:
    """The page style that the options choose."""
    return PageStyle(width, font, titles, file_format.value, norms, tuple(muscles))


def stated_strains(given: Sequence[str], option: str = "--tendon-strain") -> dict[str, float] | None:
    """Return the strains that --tendon-strain of `share` states, WORD=NUMBER, or a number for all muscles; None without
    any.

    Numbers by word are what `share_model` takes.
    """
    from musclesolve.muscles.tendon_strain import ALL  # loads numpy: only where the command runs

    found: dict[str, float] = {}
    for text in given:
        word, equals, value = text.rpartition("=")
        word = word.strip() if equals else ALL
        if word in found:
            raise input_error("cli.stands_twice", where=option, word=word)
        try:
            found[word] = float(value)
        except ValueError:
            raise input_error("cli.not_end_in_number", where=option, text=text, option=option) from None
    return found or None
