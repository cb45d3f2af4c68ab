"""Rewrites expressions whose operators Python does not let us overload.

    a and b          bool_end(b) if and_begin(a) else bool_skip()
    x if c else y    choose_end(y) if choose_else(x if choose_begin(c) else None)
                                    else choose_result()
    a < b < c        a < (t := value(b)) and t < c, rewritten as `and`
    not a            not_(a)
    x in (1, 2)      in_(x, (1, 2))
    min(a, b)        builtin(min)(a, b)
    l.append(x)      container(l).append(x)

The hooks run the operands in place (no lambdas), so names, walrus and tracebacks stay Python's.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

HOOKS = "tw.hooks"  # not an identifier: no name of the user's can collide

_BUILTINS = frozenset(
    "min max range sum any all pow divmod bool round int float print sorted len abs".split()
)

# Methods that change a Python container; run-time control flow cannot decide on them.
_MUTATORS = frozenset(
    "append extend insert pop popitem clear remove reverse sort update setdefault add "
    "discard".split()
)


def name(identifier: str, context: type[ast.expr_context] = ast.Load) -> ast.Name:
    """A use of a local name."""
    return ast.Name(id=identifier, ctx=context())


def hook(attribute: str) -> ast.Attribute:
    """The hook of that name."""
    return ast.Attribute(value=name(HOOKS), attr=attribute, ctx=ast.Load())


def call(function: ast.expr, *arguments: ast.expr) -> ast.Call:
    """A call."""
    return ast.Call(func=function, args=list(arguments), keywords=[])


def constant(value: Any) -> ast.Constant:
    """A constant; tuples of constants are constants too."""
    return ast.Constant(value=value)


_END_OF_LINE = 4096


def _head(origin: ast.AST) -> ast.AST:
    """The part of a statement that stands for it in messages: not its whole body."""
    if isinstance(origin, ast.If | ast.While):
        return origin.test if hasattr(origin.test, "lineno") else origin
    if isinstance(origin, ast.For):
        return origin.iter
    if isinstance(origin, ast.With):
        return origin.items[0].context_expr
    return origin


def copy_tree(node: Any) -> Any:
    """A copy of a tree, in a third of the time of `copy.deepcopy`, which dominates the start of a
    program otherwise. Nodes without fields (`ast.Load()`) are shared, as the parser shares them."""
    made = node.__class__.__new__(node.__class__)
    for name, value in vars(node).items():
        if isinstance(value, ast.AST):
            value = copy_tree(value) if vars(value) else value
        elif isinstance(value, list):
            value = [copy_tree(part) if isinstance(part, ast.AST) else part for part in value]
        vars(made)[name] = value
    return made


def located(node: Any, origin: ast.AST) -> Any:
    """`node` and its new parts with the position of `origin`; parts with one keep it."""
    head = _head(origin)
    position = {field: getattr(head, field) for field in ("lineno", "col_offset")}
    # One line only: a call whose position spans lines would be reported at its last one.
    position["end_lineno"] = head.lineno
    single = head.end_lineno == head.lineno
    position["end_col_offset"] = head.end_col_offset if single else _END_OF_LINE
    stack = [node]
    while stack:
        current = stack.pop()
        if "lineno" in current._attributes:
            if getattr(current, "lineno", None) is not None:
                continue
            for field, value in position.items():
                setattr(current, field, value)
        stack.extend(ast.iter_child_nodes(current))
    return node


class ExpressionRewriter(ast.NodeTransformer):
    """Rewrites the expressions of one function. `local_names` hide builtins."""

    def __init__(self, local_names: set[str]) -> None:
        self._local = local_names
        self._temporaries = 0

    @contextmanager
    def temporaries_of_statement(self) -> Iterator[None]:
        """The next statement takes the same names for its temporaries. Looking at the locals of a
        frame takes as long as there are names, and each loop looks."""
        before = self._temporaries
        yield
        self._temporaries = before

    def temporary(self, what: str = "t") -> str:
        """A local name that neither this statement nor one around it has."""
        self._temporaries += 1
        return f"tw.{what}{self._temporaries}"

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        values = [self.visit(value) for value in node.values]
        begin = "and_begin" if isinstance(node.op, ast.And) else "or_begin"
        result = values[-1]
        for value in reversed(values[:-1]):
            result = self._boolean(begin, value, result, node)
        return result

    def _boolean(self, begin: str, left: ast.expr, right: ast.expr, at: ast.AST) -> ast.expr:
        choice = ast.IfExp(
            test=call(hook(begin), left),
            body=call(hook("bool_end"), right),
            orelse=call(hook("bool_skip")),
        )
        return located(choice, at)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not):
            return located(call(hook("not_"), node.operand), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        left = self.visit(node.left)
        others = [self.visit(other) for other in node.comparators]
        parts: list[ast.expr] = []
        for position, (operator, right) in enumerate(zip(node.ops, others, strict=True)):
            following = left_of_next = right
            if position + 1 < len(others):
                temporary = self.temporary()
                following = ast.NamedExpr(
                    target=name(temporary, ast.Store), value=call(hook("value"), right)
                )
                left_of_next = name(temporary)
            parts.append(located(self._comparison(left, operator, following), node))
            left = left_of_next
        result = parts[-1]
        for part in reversed(parts[:-1]):
            result = self._boolean("and_begin", part, result, node)
        return result

    def _comparison(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> ast.expr:
        if isinstance(operator, ast.In):
            return call(hook("in_"), left, right)
        if isinstance(operator, ast.NotIn):
            return call(hook("not_in"), left, right)
        return ast.Compare(left=left, ops=[operator], comparators=[right])

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        first = ast.IfExp(
            test=call(hook("choose_begin"), node.test), body=node.body, orelse=constant(None)
        )
        choice = ast.IfExp(
            test=call(hook("choose_else"), first),
            body=call(hook("choose_end"), node.orelse),
            orelse=call(hook("choose_result")),
        )
        return located(choice, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        self.generic_visit(node)
        node.value = located(call(hook("assign"), constant(node.target.id), node.value), node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name) and function.id in _BUILTINS - self._local:
            node.func = located(call(hook("builtin"), function), function)
        elif isinstance(function, ast.Attribute) and function.attr in _MUTATORS:
            function.value = located(call(hook("container"), function.value), function.value)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        return node  # a function of its own: rewrite.py decides
