"""How numba is driven: parts of a sweep are compiled no further than the sweep needs them.

Numba optimises every function with all that it calls, and makes machine code of it, even where only other
compiled functions call it: a sweep of three hundred functions takes half as long again to compile. A part
stays in LLVM's intermediate language. The whole that it is linked into is optimised as ever, so that its
draws are the same to the last bit, and as fast to within three per cent.
"""

from typing import Any, ClassVar

from numba import _dynfunc  # type: ignore[attr-defined]
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering


class _Part(JITCodeLibrary):
    """Code to link into other code."""

    def _optimize_final_module(self) -> None:
        """Leave it to the whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    """Lower a function to code that is linked into other code."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        library = state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        library.finalize()
        lowered = state.cr
        # Numba tells compiled functions apart by their entry points, so a part has one, which leads nowhere.
        module, name, nowhere = lowered.fndesc.lookup_module(), lowered.fndesc.qualname, 0
        entry = _dynfunc.make_function(module, name, "", nowhere, lowered.env, (library,))
        state.targetctx.insert_user_function(entry, lowered.fndesc, [library])
        state.cr = lowered._replace(cfunc=entry)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _WholeLowering(NativeLowering):
    """Lower a function to machine code, and its parts with it."""

    _name = "whole_lowering"

    def run_pass(self, state: Any) -> bool:
        super().run_pass(state)
        # Errors with values in their messages are made in the environment of the part that raises them.
        for variable in state.library._final_module.global_variables:
            environment = lookup_environment(variable.name)
            if environment is not None:
                state.library.codegen.set_env(variable.name, environment)
        return True


class _OurCompiler(Compiler):
    """Numba's compiler, with one pass of our own."""

    lowering: ClassVar[type[NativeLowering]]

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.passes[:] = [
            (self.lowering if step is NativeLowering else step, told) for step, told in pipeline.passes
        ]
        pipeline.finalize()
        return [pipeline]


class PartCompiler(_OurCompiler):
    """Numba's compiler, for functions that only other compiled functions call."""

    lowering = _PartLowering


class WholeCompiler(_OurCompiler):
    """Numba's compiler, for functions that Python calls."""

    lowering = _WholeLowering
