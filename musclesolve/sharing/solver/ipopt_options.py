"""The options of Ipopt, shared by both ways to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from musclesolve._util.checks import check_integer, check_number, check_type
from musclesolve.errors import InputError, input_error


def bad_option(reason: str) -> InputError:
    """The error of an option that Ipopt does not take."""
    return InputError(
        f"Ipopt refuses an option: {reason.lstrip('0123456789: ')}",
        code="unknown_name",
        where="options",
        expected="options of Ipopt, https://coin-or.github.io/Ipopt/OPTIONS.html",
    )


Watch = Callable[[int, float], bool | None]


@dataclass(frozen=True)
class IpoptOptions:
    """Options of Ipopt.

    Attributes:
        tolerance: Ipopt's `tol`, on the scaled problem.
        max_iterations: for each frame.
        options: any option of Ipopt by its name (https://coin-or.github.io/Ipopt/OPTIONS.html), such as
            {"hessian_approximation": "limited-memory", "mu_strategy": "adaptive", "print_level": 5,
            "output_file": "ipopt.log"}. They come after the ones that are set here.
        option_file: a file `ipopt.opt` with further options.
        callback: `callback(iteration, objective)` is called at every iteration; it ends the frame by returning True.
            The objective is scaled.
    """

    tolerance: float = 1e-13
    max_iterations: int = 300
    options: Mapping[str, Any] | tuple[tuple[str, Any], ...] = ()
    option_file: str | None = None
    callback: Watch | None = None

    def __post_init__(self) -> None:
        check_number(self.tolerance, "tolerance", "a positive number", above=0.0)
        check_integer(self.max_iterations, "max_iterations", 0)
        try:
            pairs = tuple(sorted((str(key), value) for key, value in dict(self.options).items()))
        except (TypeError, ValueError):
            kind, expected = type(self.options).__name__, "a dictionary of options by name"
            raise input_error("wrong_type", where="options", expected=expected, given=kind) from None
        for key, value in pairs:
            where = f"the option {key!r} of Ipopt"
            check_type(value, str | int | float, where, "a number or a text")  # type: ignore[arg-type]
        if self.callback is not None:
            expected = "a function of iteration and objective"
            check_type(self.callback, Callable, "callback", expected)  # type: ignore[arg-type]
        object.__setattr__(self, "options", pairs)

    def ipopt(self) -> dict[str, Any]:
        """All options by name, for a scaled problem; without output unless they ask for it."""
        own = {"print_level": 0, "sb": "yes", "tol": self.tolerance, "max_iter": self.max_iterations}
        own |= {"bound_relax_factor": 0.0, "constr_viol_tol": 1e-9, "compl_inf_tol": self.tolerance}
        own |= {"nlp_scaling_method": "none"}
        if self.option_file is not None:
            own["option_file_name"] = str(self.option_file)
        return own | dict(self.options)

    def casadi_callback(self, program: Mapping[str, Any]) -> Any:
        """The callback as an object of CasADi; None without one."""
        if self.callback is None:
            return None
        import casadi

        watch = self.callback

        class Watching(casadi.Callback):  # type: ignore[misc]
            """Counts iterations and hands the objective on."""

            def __init__(self) -> None:
                casadi.Callback.__init__(self)
                self.count = 0
                self.error: Exception | None = None
                self.construct("watching", {})

            def get_n_in(self) -> int:
                return int(casadi.nlpsol_n_out())

            def get_sparsity_in(self, i: int) -> Any:
                sizes = {"f": 1, "x": program["x"].numel(), "lam_x": program["x"].numel()}
                sizes |= {
                    "g": program["g"].numel(),
                    "lam_g": program["g"].numel(),
                    "lam_p": program["p"].numel(),
                }
                return casadi.Sparsity.dense(sizes.get(casadi.nlpsol_out(i), 0), 1)

            def eval(self, arguments: Any) -> list[int]:
                place = [casadi.nlpsol_out(i) for i in range(len(arguments))].index("f")
                try:
                    stop = watch(self.count, float(arguments[place]))
                except Exception as error:  # CasADi would print it; it is raised again after the frame
                    self.error, stop = error, True
                self.count += 1
                return [int(bool(stop))]

        return Watching()
