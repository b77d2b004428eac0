"""How numba is driven: parts of a sweep are compiled no further than the sweep needs them.

Numba optimises every function with all that it calls, and makes machine code of it, even where only other
compiled functions call it: a sweep of three hundred functions takes half as long again to compile. A part
stays in LLVM's intermediate language. The whole that it is linked into is optimised as ever, so that its
draws are the same to the last bit, and as fast to within three per cent.

Where Python calls a whole, its generator is taken apart by C code alone. Numba does this by Python code,
at each call: that takes twenty microseconds, more than a sweep of a micro corpus, and a process that is
interrupted in the midst of it dies.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from llvmlite import ir
from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core import boxing, cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.pythonapi import NativeValue, _unboxers
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


BITGEN = ("state", "fnptr_next_uint64", "fnptr_next_uint32", "fnptr_next_double")
"""What numba calls the first fields of NumPy's struct ``bitgen_t``, in their order, a pointer each."""


def _taken_apart(kind: Any, bit_generator: Any, to: Any) -> NativeValue:
    """Read the fields of a bit generator from the struct that it offers to C.

    A ``Generator`` takes no bit generator that does not offer it, so there is no error to handle.
    """
    builder, pointer = to.builder, cgutils.voidptr_t
    get_type = ir.FunctionType(pointer, [to.pyapi.pyobj, pointer])
    get = cgutils.get_or_insert_function(builder.module, get_type, "PyCapsule_GetPointer")
    capsule = to.pyapi.object_getattr_string(bit_generator, "capsule")
    name = to.context.insert_const_string(builder.module, "BitGenerator")
    struct = builder.bitcast(builder.call(get, [capsule, name]), cgutils.intp_t.as_pointer())
    to.pyapi.decref(capsule)
    found = cgutils.create_struct_proxy(kind)(to.context, builder)
    found.parent = bit_generator
    for position, field in enumerate(BITGEN):
        setattr(found, field, builder.load(builder.gep(struct, [cgutils.intp_t(position)])))
    found.state_address = found.state
    return NativeValue(found._getvalue())


@contextmanager
def _generators_taken_apart_in_c() -> Iterator[None]:
    """Ways in from Python that are compiled in the block take generators apart as `_taken_apart` does."""
    known, kind = _unboxers.functions, types.NumPyRandomBitGeneratorType
    known[kind] = _taken_apart
    try:
        yield
    finally:
        known[kind] = boxing.unbox_numpy_random_bitgenerator


@register_pass(mutates_CFG=True, analysis_only=False)
class _WholeLowering(NativeLowering):
    """Lower a function to machine code, and its parts with it."""

    _name = "whole_lowering"

    def run_pass(self, state: Any) -> bool:
        with _generators_taken_apart_in_c():
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
