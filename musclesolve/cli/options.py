r"""Arguments and options that commands share, and the many of `share` and `synthesize`.

In a help text "[mm]" is read as markup and vanishes: write "\[mm]".
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from musclesolve._util.messages import capitalized
from musclesolve.errors import input_error
from musclesolve.laboratory.plotting.page.page_style import A4_PAGE, PageStyle
from musclesolve.laboratory.recording.command_settings import CommandSettings
from musclesolve.laboratory.recording.trial_settings import QUESTIONS, ModelSettings, RecordedSettings
from musclesolve.tables.settings import KINDS, REPEATABLE, Setting, Settings, tables_of


def _completing(module: str, names: Callable[[Any], Iterable[str]]) -> Callable[[str], list[str]]:
    """Return the completion of an option by the shell: names in a module, which is imported only at completion."""
    return lambda incomplete: [name for name in names(import_module(module)) if name.startswith(incomplete)]


cost_names = _completing("musclesolve.sharing.cost.cost_registry", lambda costs: costs.costs())
solver_names = _completing(
    "musclesolve.sharing.solver.solver_registry",
    lambda solvers: [name for name, record in solvers.solvers().items() if record.installed],
)
marker_set_names = _completing("musclesolve.laboratory.markers.marker_names", lambda sets: sets.marker_sets())
muscle_set_names = _completing("muscle_db", lambda sets: sets.available())
muscle_names = _completing("muscle_db", lambda sets: [muscle.name for muscle in sets.load()])
listed_names = _completing(
    "musclesolve.cli.options", lambda names: [*muscle_names(""), *marker_set_names("")]
)
"""Costs; solvers that are installed; bundled marker and muscle sets; muscles of the default set."""


Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing but errors.")]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document instead of the summary, also for an error.")
]


RESULTS = Path("results")
"""Folder of what commands write without -o."""


def output_option(text: str, default: str = "") -> Any:
    """The option -o with its help; default: where a command writes without it."""
    return typer.Option(
        "-o", "--output", help=f"{text.rstrip('.')}; default: {default}." if default else text
    )


def results_of(output: Path | None, source: Path) -> Path:
    """The folder of -o; without it results/NAME, by the name of the file that the command reads."""
    return RESULTS / (source.stem or source.resolve().name) if output is None else output


TrialFile = Annotated[Path, typer.Argument(metavar="TRIAL.toml", help="The trial file.")]
BY_NAME = f"{RESULTS}/NAME, by the name of the file"
Output = Annotated[Path | None, output_option("Folder for result.nc and the page.", BY_NAME)]


def _questions(text: str) -> list[str]:
    """Questions between commas."""
    named = [group.strip().replace("-", "_") for group in text.split(",") if group.strip()]
    for name in named:
        if name not in QUESTIONS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(QUESTIONS)}")
    return named


Questions = Annotated[
    list[Any] | None,
    typer.Option(
        "--questions",
        parser=_questions,
        callback=lambda groups: [name for group in groups or () for name in group],
        metavar="NAME,...",
        help=f"Questions that are answered beside the result and in its report, besides the trial file's questions: "
        f"{', '.join(QUESTIONS)}.",
    ),
]
NAMES = {
    "cost": cost_names,
    "costs": cost_names,
    "solver": solver_names,
    "solvers": solver_names,
    "database": muscle_set_names,
    "muscles": muscle_names,
    "marker_set": marker_set_names,
}
"""Completion of the shell for the option of a setting."""


TYPES: dict[str, Any] = {
    "text": str | None,
    "number": float | None,
    "whole": int | None,
    "truth": bool | None,
    "name_list": list[str] | None,
    "numbers": list[float] | None,
    "number_or_weights": list[str] | None,
}
"""Kinds of settings that words of the command line can state, and what typer makes of them."""


def setting_option(file: type[Settings], table: str, key: str, replaces: bool = False) -> Any:
    """The option of a setting, with its sentence, choices and range.

    replaces: whether the option replaces a value of the trial file. The values of `CommandSettings`, which no reader of
    a file checks, are checked here.
    """
    setting = tables_of(file)[table].settings[key]
    text = capitalized(setting.about)
    text += f", {setting.limits}" if setting.limits else ""
    text += f": {', '.join(setting.choices)}" if setting.choices else ""
    text += "; repeatable" if setting.kind in REPEATABLE else ""
    default = "as in the trial file" if replaces else setting.default if file is ModelSettings else None
    text += "." if default is None else f"; default: {default}."
    of_one = {"number_or_weights": "[WORD=]NUMBER", "name_list": "<str>", "numbers": "<float>"}
    metavar = of_one.get(setting.kind)  # of one option: those of a list are given again, not between commas

    def chosen(incomplete: str) -> list[str]:
        return [choice for choice in setting.choices if choice.startswith(incomplete)]

    return typer.Option(
        setting.option_of(key),
        help=text.replace("[", "\\["),
        metavar="|".join((*setting.words, "NUMBER")) if setting.words else setting.metavar or metavar,
        autocompletion=chosen if setting.choices else NAMES.get(key),
        callback=_checked(setting) if file is CommandSettings else None,
    )


def _checked(setting: Setting) -> Callable[[Any], Any]:
    """Return the callback of an option that refuses what is no value of its setting."""

    def check(typed: Any) -> Any:
        value = _stated(setting, typed)
        if value is not None and (wrong := setting.problem(value)):
            sentences = [wrong[0], f"expected {wrong[1]}"]
            if setting.mistaken_units:
                sentences.append(setting.in_another_unit(value) or "check the value and its unit")
            raise typer.BadParameter("; ".join(sentences))
        return typed

    return check


def with_settings(
    file: type[Settings], arguments: Mapping[str, tuple[str, str]]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command with an option for each setting that it does not name itself; it gets what is stated by name.

    file: of whose settings. arguments: keyword -> table and key. The options of `run` replace what its trial file
    states.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        form = inspect.signature(command, eval_str=True)
        named = {
            name: parameter
            for name, parameter in form.parameters.items()
            if parameter.kind != parameter.VAR_KEYWORD
        }
        places = {name: place for name, place in arguments.items() if name not in named}
        settings = {name: tables_of(file)[table].settings[key] for name, (table, key) in places.items()}
        settings = {name: setting for name, setting in settings.items() if setting.kind in TYPES}
        replaces = file is RecordedSettings
        more = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(setting, file),
                annotation=Annotated[
                    str | None if setting.words else TYPES[setting.kind],
                    setting_option(file, *places[name], replaces),
                ],
            )
            for name, setting in settings.items()
        ]

        @functools.wraps(command)
        def run(**arguments: Any) -> None:
            stated = {name: _stated(setting, arguments.pop(name)) for name, setting in settings.items()}
            command(**arguments, **{name: value for name, value in stated.items() if value is not None})

        parameters = [*named.values(), *more]
        run.__signature__ = form.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _default(setting: Setting, file: type[Settings]) -> Any:
    """Return the default of the option of a setting: of a trial file None, so that what is typed can be told apart."""
    if setting.required:
        return inspect.Parameter.empty
    return setting.default if file is CommandSettings and setting.kind not in REPEATABLE else None


def _stated(setting: Setting, typed: Any) -> Any:
    """Return the value of a setting that an option states, as a file would; None where the option is absent."""
    if setting.kind == "number_or_weights":
        return stated_strains(typed or ())
    if setting.kind in REPEATABLE:
        return typed or None
    if not setting.words or typed is None or typed in setting.words:
        return typed
    try:
        number = int(typed) if setting.kind == "whole" else float(typed)
    except ValueError:
        known = ", ".join(setting.words)
        raise typer.BadParameter(
            f"{typed!r} is neither {KINDS[setting.kind].called} nor one of: {known}"
        ) from None
    if not setting.contains(number):
        raise typer.BadParameter(f"{typed} is not {setting.range} or one of: {', '.join(setting.words)}")
    return number


Cost = Annotated[str | None, setting_option(RecordedSettings, "sharing", "cost", replaces=True)]
Solver = Annotated[str | None, setting_option(RecordedSettings, "sharing", "solver", replaces=True)]
Model = Annotated[Path, setting_option(ModelSettings, "files", "model")]
Coordinates = Annotated[Path, setting_option(ModelSettings, "files", "coordinates")]
Moments = Annotated[Path | None, setting_option(ModelSettings, "files", "moments")]
Loads = Annotated[Path | None, setting_option(ModelSettings, "files", "loads")]
Side = Annotated[str, setting_option(CommandSettings, "legs", "side")]

Figures = Annotated[
    bool | None,
    typer.Option(
        "--figures/--no-figures",
        help="Also draw the figures as files; or neither these nor the page, but the numbers alone. Default: the page, "
        "report.html.",
        show_default=False,
    ),
]


def drawn_figures(figures: bool | None, style: PageStyle) -> bool | None:
    """The choice of --figures and --no-figures; without either, options on the form of figures ask for them."""
    stated = style != A4_PAGE
    if stated and figures is False:
        raise typer.BadParameter(
            "--format, --width and --font are for figures, which --no-figures leaves out"
        )
    return True if figures is None and stated else figures


def stated_strains(texts: Sequence[str], option: str = "--tendon-strain") -> dict[str, float] | None:
    """Return the strains that --tendon-strain of `share` states, WORD=NUMBER, or a number for all muscles; None without
    any.

    Numbers by word are what `share_model` takes.
    """
    from musclesolve.muscles.strength import ALL  # loads numpy: only where the command runs

    strains: dict[str, float] = {}
    for text in texts:
        word, equals, value = text.rpartition("=")
        word = word.strip() if equals else ALL
        if word in strains:
            fault = f"{word!r} occurs twice"
            expected = "every word once"
            remedy = "remove one of them"
            raise input_error("duplicate_name", where=option, problem=fault, expected=expected, remedy=remedy)
        try:
            strains[word] = float(value)
        except ValueError:
            raise input_error(
                "bad_number",
                where=option,
                problem=f"{text!r} does not end in a number",
                expected="a strain such as 0.06, or WORD=0.06",
                remedy=f"{option} achilles=0.08",
            ) from None
    return strains or None
