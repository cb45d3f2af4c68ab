"""Which form a jitted function has, told from its source: *eager* if its own body opens a kernel or
declares tensors, or its signature does and no function in it could be the kernel, else *lazy*."""

from __future__ import annotations

import ast
import inspect
from types import FunctionType

from tilewright.frontend.functions import declared_in_body
from tilewright.frontend.twins import annotations_of
from tilewright.language.addresses import PointerType
from tilewright.support.source import function_node
from tilewright.types.tensor_type import TensorType

_EAGER_NAMES = ("Kernel", "const", "empty")


def is_eager(function: FunctionType) -> bool:
    """True if the function itself is a kernel, and does not return one."""
    has_inner = False
    stack: list[ast.AST] = list(function_node(function).body)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            has_inner |= isinstance(node, ast.FunctionDef)
            continue
        if isinstance(node, ast.AnnAssign) and node.value is None:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _EAGER_NAMES and _is_language(node.func.value, function):
                return True
        stack.extend(ast.iter_child_nodes(node))
    return not has_inner and bool(annotated_tensors(function))  # a macro opens the kernel


def _is_language(node: ast.expr, function: FunctionType) -> bool:
    """True if the expression names the language module, as the function would see it."""
    try:
        scope = inspect.getclosurevars(function)
        value = eval(ast.unparse(node), {}, {**scope.globals, **scope.nonlocals})
    except Exception:
        return False  # a local of the function, or not a name at all
    return getattr(value, "__name__", "") == "tilewright.language"


def tensor_parameters(function: FunctionType) -> tuple[str, ...]:
    """The parameters that the body declares as tensors, in the order of the signature."""
    return declared_in_body(function_node(function))


def annotated_tensors(function: FunctionType) -> dict[str, TensorType | PointerType]:
    """The parameters that the signature declares as tensors (`A: T.Tensor((M, N), "float32")`), or
    as addresses of such (`A: T.ptr`)."""
    try:
        annotations = annotations_of(function, {})
    except NameError:  # of a text that only its own module can read
        return {}
    return {
        name: kind
        for name, kind in annotations.items()
        if isinstance(kind, TensorType | PointerType)
    }
