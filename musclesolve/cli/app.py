"""The command line: all commands, and its entry point `main`.

Exit codes: 0 done; 2 the input is at fault, or the system refuses something (one message); 3 done, but some frames
have no valid solution; 130 stopped by Ctrl-C.
"""

import functools
import inspect
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from itertools import pairwise
from typing import Annotated, Any

try:
    import typer
    from typer.core import TyperCommand, TyperGroup
except KeyboardInterrupt:  # most of the time before `main` passes here
    print("musclesolve: stopped by Ctrl-C; nothing was written", file=sys.stderr)
    raise SystemExit(130) from None

from musclesolve.cli import environment
from musclesolve.cli.commands import (
    comparison_commands,
    desk_commands,
    force_commands,
    list_commands,
    live_command,
    question_commands,
    recording_commands,
    result_commands,
    study_commands,
)
from musclesolve.cli.errors import INTERRUPTED, interrupt_message, report_errors
from musclesolve.cli.options import Json, Quiet
from musclesolve.cli.printing import announce, complain, console, mode, print_plain

IN_SHORT = "Exit codes: 0 done, 2 input at fault, 3 frames without valid solution, 130 stopped"
EXIT_CODES = {
    0: "done",
    2: "the input is at fault, or the system refuses something: one message",
    3: "done, but some frames have no valid solution, or a trial of many has no result",
    130: "stopped by Ctrl-C",
}
UsageError: type[Exception] = typer.BadParameter.__bases__[0]
"""A wrong command line; its class is in another package in some versions of typer."""
OPTIONS = {"quiet": Quiet, "json": Json}
FEW = 3
"""Most examples that a help shows; so many options beside those of the examples are named alone."""
EVERY = "--help-all"
"""Option that prints the help with every option, example and command."""


class Brief:
    """A help shorter than a screen: the purpose, some examples and their options; `EVERY` shows all."""

    whole, shown, codes = False, FEW, IN_SHORT

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options."""
        count = len(args) if ctx.allow_interspersed_args else 1  # a command reads what stands behind its name
        self.whole = EVERY in args[:count]
        words = ["--help" if word == EVERY else word for word in args[:count]]
        _refuse_repeats(self, ctx, words + args[count:])
        return super().parse_args(ctx, words + args[count:])  # type: ignore[misc, no-any-return]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, then the examples."""
        name = ctx.command.name if ctx.parent else "musclesolve"
        printed, below = (self, []) if self.whole else self._short(ctx, name)
        super(Brief, printed).format_help(ctx, formatter)  # type: ignore[misc]
        most, codes = (None, self.codes) if self.whole else (self.shown, IN_SHORT)
        text = "\n\n".join(filter(None, [*below, example_text(name, most), codes]))
        if formatter.getvalue():
            formatter.write(f"\n{text}\n")
        else:  # typer with rich has printed the help already
            print_plain(text)

    def _short(self, ctx: Any, name: str) -> tuple[Any, list[str]]:
        """Return a copy with the first paragraph and the options that are explained, and the names of the others."""
        used = re.findall(r"(?<![\w-])--?[a-z][\w-]*", example_text(name, self.shown))
        params = list(self.params)  # type: ignore[attr-defined]
        rest = [
            param
            for param in params
            if not param.required and {"-o", *used}.isdisjoint([*param.opts, *param.secondary_opts])
        ]
        rest = [option for option in rest if option.param_type_name == "option" and not option.hidden]
        if len(rest) < FEW:
            rest = []
        short = copy(self)
        short.help = (self.help or "").split("\n\n")[0]  # type: ignore[attr-defined]
        short.params = [_first_clause(param) for param in params if param not in rest]  # type: ignore[attr-defined]
        return short, [named(f"More options, {EVERY} explains them", [option.opts[0] for option in rest])]


def _refuse_repeats(command: Any, ctx: Any, words: list[str]) -> None:
    """Refuse an option with a value that is given twice, of which the last value would replace the others silently."""
    single = [
        option
        for option in command.params
        if option.param_type_name == "option" and not (option.multiple or option.is_flag or option.count)
    ]
    given = command.make_parser(ctx).parse_args(list(words))[2] if single else []
    for option in single:
        if (count := sum(each is option for each in given)) > 1:
            raise UsageError(f"{option.opts[0]} is given {count} times, and takes one value", ctx)


def _first_clause(parameter: Any) -> Any:
    """A copy of an option or argument whose help ends at its first semicolon."""
    short = copy(parameter)
    if short.help and ";" in short.help:
        short.help = short.help.partition(";")[0] + "."
    return short


def named(title: str, names: list[str]) -> str:
    """A title and the names below it, or nothing without names."""
    text = f"{title}: {', '.join(names)}"
    width = min(shutil.get_terminal_size().columns, 100)
    return textwrap.fill(text, width, subsequent_indent="    ", break_on_hyphens=False) if names else ""


class Command(Brief, TyperCommand):
    """A command with a brief help."""


class Commands(Brief, TyperGroup):
    """All commands; an error that ends one is reported in one message."""

    shown = 7
    codes = "\n".join(["Exit codes:", *(f"  {code:<5} {meaning}" for code, meaning in EXIT_CODES.items())])

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run the command that the arguments name."""
        mode.choose()
        with report_errors():
            return super().main(*arguments, **options)

    def make_context(self, info_name: str | None, args: list[str], *more: Any, **extra: Any) -> Any:
        """Store the words of the command line, which usage errors depend on."""
        self.words = list(args)
        with _usage_errors(self.words):
            if {("-o", ""), ("--output", "")} & set(pairwise(args)):
                # a variable of the shell that is not set
                raise typer.BadParameter("the name after -o is empty")
            return super().make_context(info_name, args, *more, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Read the options of the command, and run it."""
        with _usage_errors(self.words):
            return super().invoke(ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; a word that is none, but an option of commands, is refused with their names."""
        option = f"--{args[0]}"
        owners = [
            name for name, command in self.commands.items() if any(option in x.opts for x in command.params)
        ]
        if args[0] not in self.commands and owners:
            said = f"there is no command {args[0]!r}; {option} is an option of {', '.join(owners)}"
            raise UsageError(said, ctx)
        return super().resolve_command(ctx, args)

    def _short(self, ctx: Any, name: str) -> tuple[Any, list[str]]:
        """Add the names of all commands by purpose, in place of their descriptions."""
        short, below = super()._short(ctx, name)
        short.commands = {}
        panels: dict[str, list[str]] = {}
        for command, about in self.commands.items():
            if about.rich_help_panel == OF_DEVELOPERS:  # type: ignore[attr-defined]
                continue
            panels.setdefault(about.rich_help_panel, []).append(command)  # type: ignore[attr-defined]
        lists = [
            f"Commands, {EVERY} explains them:",
            *(named(f"  {panel}", names) for panel, names in panels.items()),
        ]
        return short, [*below, "\n".join(lists)]


def example_text(name: str, most: int | None) -> str:
    """The examples of a command, all or the first ones, each below its purpose."""
    shown = [f"  # {meaning}\n  {line}" for line, meaning in list(examples().get(name, {}).items())[:most]]
    return "\n".join(["Examples:", *shown]) if shown else ""


def examples() -> dict[str, dict[str, str]]:
    """For each command its examples and their purposes; `musclesolve` holds the examples of the whole."""
    from musclesolve._util.bundled_toml import bundled_toml

    return bundled_toml("musclesolve.cli", "examples.toml")


def with_options(command: Callable[..., None], *names: str) -> Callable[..., None]:
    """Add options of `OPTIONS` to a command; they choose the output mode before the command starts."""
    form = inspect.signature(command, eval_str=True)
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=OPTIONS[name])
        for name in names
    ]

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        mode.choose(**{name: arguments.pop(name) for name in names})
        command(**arguments)

    parameters = [*form.parameters.values(), *more]
    run.__signature__ = form.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


@contextmanager
def _usage_errors(words: list[str]) -> Iterator[None]:
    """Turn a wrong command line into an error of the input where a JSON document was requested."""
    try:
        yield
    except UsageError as error:
        if "--json" not in words:
            raise
        from musclesolve.errors import input_error

        mode.choose(json=True, quiet=mode.quiet)
        path = getattr(getattr(error, "ctx", None), "command_path", "musclesolve")
        place = path.partition(" ")[2] or None
        message = error.format_message()  # type: ignore[attr-defined]
        raise input_error("bad_usage", where=place, problem=message, remedy=f"see {path} --help") from None


app = typer.Typer(
    cls=Commands,
    help="Muscle forces of the legs from recorded motion and ground forces.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
)


def print_version(requested: bool) -> None:
    """Print the version and exit."""
    if requested:
        from musclesolve.version import __version__

        console().print(f"musclesolve {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options that stand before a command."""


BOTH, QUIET = ("quiet", "json"), ("quiet",)
"""Options that commands get besides their own."""
OF_DEVELOPERS = "For developers"
"""Commands that only the whole help lists."""
PANELS: dict[str, dict[Callable[..., None], tuple[str, ...]]] = {
    "Muscle forces": {
        desk_commands.desk: (),
        force_commands.demo: BOTH,
        force_commands.run: BOTH,
        force_commands.share: BOTH,
        force_commands.verify: BOTH,
        comparison_commands.compare: BOTH,
        comparison_commands.calibrate: BOTH,
        comparison_commands.fit_cost: BOTH,
        comparison_commands.average: BOTH,
        question_commands.ask: BOTH,
        live_command.live: BOTH,
        study_commands.study: BOTH,
        study_commands.dataset: BOTH,
    },
    "Recordings": {
        recording_commands.init: QUIET,
        recording_commands.check: BOTH,
        recording_commands.convert: QUIET,
    },
    "Look at results, hand them on": {
        result_commands.report: QUIET,
        result_commands.picture: QUIET,
        result_commands.plot: QUIET,
        result_commands.export: QUIET,
    },
    "What there is": {list_commands.list_: BOTH},
    OF_DEVELOPERS: {recording_commands.synthesize: QUIET, list_commands.benchmark: BOTH},
}
"""The commands by purpose, in the order of the help."""

for panel, commands in PANELS.items():
    for command, names in commands.items():
        called = command.__name__.strip("_").replace("_", "-")
        app.command(called, cls=Command, rich_help_panel=panel)(with_options(command, *names))


def main() -> None:
    """Entry point of the command ``musclesolve``."""
    try:
        environment.guard_streams()
        announce()
        environment.prepare()
        try:
            app(prog_name="musclesolve")
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt as stop:  # before or after a command: within it `report_errors` reports it
        complain(interrupt_message(stop))
        raise SystemExit(INTERRUPTED) from None
    finally:
        environment.finish()


if __name__ == "__main__":
    main()
