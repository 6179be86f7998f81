"""A compiled function and all functions that it calls are optimized together, once.

numba optimizes every function with all functions that it calls and makes machine code of it, before it compiles the
caller: a function three levels below Python is optimized and translated four times, although Python calls only the
first level. Here a part is only converted to LLVM code; the function that Python calls joins all of its parts, which
are then optimized and translated together. Half of the time of LLVM is saved.

numba provides for this: a function may have its own compiler (`pipeline_class`), which sets the library for its code.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite.binding import parse_assembly  # type: ignore[import-untyped]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.targetconfig import TargetConfig
from numba.core.typed_passes import IRLegalization


@contextmanager
def without_detours() -> Iterator[None]:
    """Compile without a quarter of numba's time: the search for cyclic garbage, and options read one by one.

    numba compares the options of functions a hundred thousand times, each time through a property for every option.
    """

    def values(config: TargetConfig) -> dict[str, Any]:
        """All options of a configuration, as from `TargetConfig.values`."""
        kind = type(config)
        if kind not in defaults:
            defaults[kind] = {name: option.default for name, option in kind.options.items()}
        return {**defaults[kind], **config._values}

    defaults, usual, collects = dict[type, dict[str, Any]](), TargetConfig.values, gc.isenabled()
    gc.disable()
    TargetConfig.values = values  # type: ignore[method-assign]
    try:
        yield
    finally:
        TargetConfig.values = usual  # type: ignore[method-assign]
        if collects:
            gc.enable()


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that only compiled code calls: not linked, not optimized as a whole, no machine code."""

    @property
    def codegen(self) -> Any:
        """The code generator, without addresses."""
        return _WithoutAddresses(self._codegen)

    def finalize(self) -> None:
        """Do nothing: the caller's library is finalized."""
        self._raise_if_finalized()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Zero, which numba uses for a function that Python cannot call."""
        self._ensure_finalized()
        return 0


class _WithoutAddresses:
    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing: the function has no Python objects (as when numba loads it from its cache)."""


class WholeLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function that Python calls, and of all parts that it calls directly or through parts."""

    def finalize(self) -> None:
        """Link each part once, then optimize and make machine code."""
        parts, waiting = dict[Any, None](), list(self._linking_libraries)
        while waiting:
            library = waiting.pop(0)
            if library not in parts:
                parts[library] = None
                if isinstance(library, PartLibrary):
                    waiting += library._linking_libraries
        self._linking_libraries = list(parts)
        super().finalize()

    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Machine code for numba's cache, without the LLVM code by which other functions could call this one.

        None does, and reading it takes most of the time of loading a function. From LLVM code numba reads the names of
        the functions alone, which here stop the program.
        """
        self._ensure_finalized()
        names = [one.name for one in self._get_module_for_linking().functions if not one.is_declaration]
        stops = [f'define void @"{name}"() {{ call void @llvm.trap() unreachable }}' for name in names]
        code = parse_assembly("\n".join(["declare void @llvm.trap()", *stops]))
        return self.name, "object", (self._get_compiled_object(), code.as_bitcode())


class _OwnLibrary(AnalysisPass):  # type: ignore[misc]
    library: type[JITCodeLibrary]

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[untyped-decorator]
class _OfPart(_OwnLibrary):
    _name, library = "library_of_a_part", PartLibrary


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[untyped-decorator]
class _OfWhole(_OwnLibrary):
    _name, library = "library_of_a_whole", WholeLibrary


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """The compiler of a function that only compiled code calls."""

    begin: type[_OwnLibrary] = _OfPart

    def define_pipelines(self) -> list[Any]:
        """The usual passes, with a separate library for the code."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(self.begin, IRLegalization)
        pipeline.finalize()
        return [pipeline]


class WholeCompiler(PartCompiler):
    """The compiler of a function that Python calls."""

    begin = _OfWhole
