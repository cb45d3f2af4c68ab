"""Declarations of eager kernels: `T.const`, `T.empty` and parameters declared in the body.

An eager function is run twice. The *probe* run stops when every tensor parameter is declared; it
finds the constants of `T.const` from the shapes of the actual tensors. The *build* run traces with
those constants as Python integers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tilewright.frontend import trace
from tilewright.frontend.functions import declare_parameter
from tilewright.frontend.trace import Buffer, IndexExpr, describe
from tilewright.support.errors import LanguageError, Location
from tilewright.types.dtypes import narrow_name
from tilewright.types.tensor_type import TensorType, check_shape

__tracebackhide__ = True  # pytest shows the user's frames


class ProbeDone(BaseException):
    """Ends the probe run."""


class Unknown:
    """A constant, or an expression of constants, in the probe run."""

    def __init__(self, name: str) -> None:
        self.tw_constant_name = name

    def combine(self, *_: Any) -> Unknown:
        """An expression of it, which is unknown too."""
        return Unknown("")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = combine
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __truediv__ = combine

    def _refuse(self, *_: Any) -> Any:
        raise LanguageError(
            "a T.const is used before all tensors are declared",
            hint="declare the tensors ('A: T.Tensor[[M, N], dtype]') right after T.const",
        )

    __bool__ = __index__ = __int__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __hash__ = object.__hash__


class Declarations:
    """What an eager function declares, in either run."""

    def __init__(
        self,
        tensors: dict[str, tuple[int, ...] | None],
        constants: dict[str, int],
        strides_of: Callable[[str], tuple[int, ...] | None] = lambda _: None,
    ) -> None:
        self.tensors = tensors  # parameter: shape of the actual tensor, if there is one
        self.strides_of = strides_of  # parameter: its strides, in elements
        self.reads_strides = False  # a constant is a stride of a tensor
        self.constants = dict(constants)
        self.given = frozenset(constants)  # those that the caller names, known from the start
        self.named: set[str] = set()  # by T.const
        self.probing = True
        self.declared: set[str] = set()
        self.order: list[str] = []  # of the declared ones
        self.outputs: list[tuple[str, Buffer]] = []

    def restart(self) -> None:
        """Begins the build run."""
        self.probing = False
        self.declared.clear()
        self.order.clear()

    def returned(self, function: str, result: Any, location: Location) -> list[str]:
        """The names of the outputs that the function returns, in order."""
        values = list(result) if isinstance(result, tuple | list) else [result]
        if result is None:
            values = []
        names = []
        for value in values:
            name = next((n for n, buffer in self.outputs if buffer is value), None)
            if name is None:
                raise LanguageError(
                    f"'{function}' must return tensors of T.empty, got {describe(value)}",
                    location=location,
                )
            names.append(name)
        for name, _ in self.outputs:
            if name not in names:
                raise LanguageError(
                    f"the output '{name}' of '{function}' is not returned", location=location
                )
        return names


def _declarations(what: str) -> Declarations:
    state = trace.require(what)
    if state.eager is None:
        raise LanguageError(
            f"'{what}' is only allowed in the body of an eager @tilelang.jit kernel"
        )
    return state.eager


def declare_tensor(kind: str, name: str, annotation: Any) -> Any:
    """`name: T.Tensor[...]` in a kernel's body."""
    if kind != "eager" or not isinstance(annotation, TensorType):
        raise LanguageError(
            f"'{name}' is annotated but has no value",
            hint="only eager @tilelang.jit kernels declare tensor parameters in their body",
        )
    declarations = _declarations("T.Tensor")
    if name not in declarations.tensors:
        raise LanguageError(
            f"'{name}: T.Tensor[...]' declares a parameter, but the function has none of that name"
        )
    declarations.declared.add(name)
    declarations.order.append(name)
    if declarations.probing:
        _match(declarations, name, annotation)
        if declarations.declared >= set(declarations.tensors):
            raise ProbeDone
        return annotation
    return declare_parameter(trace.require("T.Tensor"), name, annotation)


def _match(declarations: Declarations, name: str, annotation: TensorType) -> None:
    """Finds constants from the shape and the strides of the actual tensor."""
    actual = declarations.tensors[name]
    if actual is None:
        return
    is_narrow = narrow_name(annotation.dtype) is not None  # two numbers in a byte
    if actual and is_narrow:
        actual = (*actual[:-1], actual[-1] * 2)
    if len(actual) != len(annotation.shape):
        raise LanguageError(
            f"parameter '{name}': expected a tensor of {len(annotation.shape)} dimensions, "
            f"got {len(actual)} (shape {' x '.join(map(str, actual))})"
        )
    _take(declarations, name, "extent", annotation.shape, actual)
    declared = getattr(annotation, "strides", ())
    if any(getattr(stride, "tw_constant_name", "") for stride in declared):
        declarations.reads_strides = True
        strides = declarations.strides_of(name)
        if strides and is_narrow:
            strides = (*(stride * 2 for stride in strides[:-1]), strides[-1])
        if strides:
            _take(declarations, name, "stride", declared, strides)


def _take(
    declarations: Declarations, name: str, what: str, declared: Sequence[Any], given: Sequence[int]
) -> None:
    """Finds constants from the extents or strides of the actual tensor."""
    for position, (wanted, actual) in enumerate(zip(declared, given, strict=True)):
        constant = getattr(wanted, "tw_constant_name", "")
        if not constant:
            continue
        known = declarations.constants.setdefault(constant, actual)
        if known != actual:
            raise LanguageError(
                f"parameter '{name}': {what} {position} is '{constant}' = {known} by an earlier "
                f"tensor, got {actual}"
            )


def const(names: str, dtype: Any = "int32") -> Any:
    """Names extents that are taken from the tensors of a call: `M, N = T.const("M, N")`.

    They are Python integers while the kernel is traced; other extents give another kernel.

    Example:
        @tilewright.jit
        def double(A):
            M, N = T.const("M, N")
            A: T.Tensor((M, N), "float32")
            B = T.empty((M, N), "float32")
            with T.Kernel(M, threads=128) as bx:
                for j in T.Parallel(N):
                    B[bx, j] = A[bx, j] * 2.0
            return B
    """
    declarations = _declarations("T.const")
    found = []
    for name in names.replace(",", " ").split():
        declarations.named.add(name)
        if name in declarations.given or (
            name in declarations.constants and not declarations.probing
        ):
            found.append(declarations.constants[name])
        elif declarations.probing:
            found.append(Unknown(name))
        else:
            raise LanguageError(
                f"the constant '{name}' is not the extent or a stride of any tensor parameter",
                hint=f"pass it to compile({name}=...) or make it a parameter of the function",
            )
    return found[0] if len(found) == 1 else tuple(found)


def empty(*shape: Any, dtype: Any = None) -> Any:
    """An output tensor of an eager kernel: `C = T.empty((M, N), dtype)`, returned at the end.

    Example:
        @tilewright.jit
        def double(A):
            M, N = T.const("M, N")
            A: T.Tensor((M, N), "float32")
            B = T.empty((M, N), "float32")
            with T.Kernel(M, threads=128) as bx:
                for j in T.Parallel(N):
                    B[bx, j] = A[bx, j] * 2.0
            return B
    """
    declarations = _declarations("T.empty")
    extents = list(shape)
    if dtype is None:
        dtype = extents.pop() if len(extents) > 1 else "float32"
    if len(extents) == 1 and isinstance(extents[0], list | tuple):
        extents = list(extents[0])
    if declarations.probing:
        return TensorType([e for e in extents if isinstance(e, int)], dtype)
    state = trace.require("T.empty")
    name = state.take_name(f"out{len(declarations.outputs)}")
    checked = check_shape(extents, f"T.empty '{name}'", allow_zero=True)
    for extent in checked:
        if not isinstance(extent, int) and type(extent) is not IndexExpr:
            raise LanguageError(
                f"T.empty '{name}': the extent {extent} is not known before the call"
            )
    buffer = declare_parameter(state, name, TensorType(checked, dtype))
    declarations.outputs.append((name, buffer))
    return buffer
