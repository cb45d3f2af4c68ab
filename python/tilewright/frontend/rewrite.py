"""Rewrites the statements of a kernel function into calls of the hooks.

The result is an ordinary Python function with the user's file name and positions, so tracebacks
and carets point at the user's text. The shapes, with `s` and `l` for state objects:

    if c: A else: B      s = if_(c, names, live, line)
                         if s.then(): A
                         if s.otherwise(): names = s.values; B
                         if s.finish(): names = s.values
    for i in x: A        l = for_(x, number)
                         for item in l:
                             if l.rebinding: names = l.values
                             i = item; A
                         if l.finish(): names = l.values
    while c: A           l = while_(number)
                         while l.next():
                             if l.rebinding: names = l.values
                             if l.test(c): A
                         if l.finish(): names = l.values
    x = e                x = bind(e), or assign("x", e) where x may hold a variable
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from types import CodeType

from tilewright.frontend.carried import LoopInfo
from tilewright.frontend.hooks import Hooks
from tilewright.frontend.jumps import KeepGoing, jumps_in, structure_jumps
from tilewright.frontend.liveness import Assigned, Liveness, assigned
from tilewright.frontend.named_statements import use_python_statements
from tilewright.frontend.rewrite_expr import (
    HOOKS,
    ExpressionRewriter,
    call,
    constant,
    copy_tree,
    hook,
    located,
    name,
)
from tilewright.frontend.syntax import check_syntax
from tilewright.support.errors import Location
from tilewright.support.source import location_of

_FUNCTION = "tw.function"
_BODY = "tw.body"

_IN_PLACE = {
    ast.Add: "iadd",
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
    ast.BitAnd: "iand",
    ast.BitOr: "ior",
    ast.BitXor: "ixor",
    ast.MatMult: "imatmul",
}


def rewrite_function(
    node: ast.FunctionDef, file: str, kind: str, free_names: tuple[str, ...]
) -> tuple[CodeType, Hooks]:
    """The code of the rewritten function, and the hooks that its extra free name must hold."""
    check_syntax(node, file, kind)
    hooks = Hooks(file, kind)
    if kind == "prim_func":
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        hooks.parameters = {argument.arg: None for argument in arguments}
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and _is_store(part):
                if hooks.parameters.get(part.id, part) is None:
                    hooks.parameters[part.id] = location_of(file, part)
    function = FunctionRewriter(copy_tree(node), file, hooks).function()
    # Wrapped in a function whose parameters are the free names, so that they compile as such.
    wrapper = ast.FunctionDef(
        name="tw.wrapper",
        args=ast.arguments(
            posonlyargs=[],
            args=[ast.arg(arg=free) for free in (HOOKS, *free_names)],
            kwonlyargs=[],
            kw_defaults=[],
            defaults=[],
        ),
        body=[function],
        decorator_list=[],
        type_params=[],
    )
    module = ast.Module(body=[located(wrapper, node)], type_ignores=[])
    compiled = compile(ast.fix_missing_locations(module), file, "exec", dont_inherit=True)
    outer = next(c for c in compiled.co_consts if isinstance(c, CodeType))
    code = next(c for c in outer.co_consts if isinstance(c, CodeType))
    return code.replace(co_name=node.name, co_qualname=node.name), hooks


class FunctionRewriter:
    """Rewrites one function; `node` is changed."""

    def __init__(self, node: ast.FunctionDef, file: str, hooks: Hooks) -> None:
        use_python_statements(node.body, hooks.kind)
        node.body = structure_jumps(node.body)
        self._node = node
        self._file = file
        self._hooks = hooks
        self._liveness = Liveness(node)
        parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        self._parameters = {argument.arg for argument in parameters}
        stores = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _is_store(n)]
        self._stores = Counter(stores)
        self._assigned: Assigned = {}
        local_names = assigned(node.body, self._assigned) | self._parameters
        self._expressions = ExpressionRewriter(local_names)
        self._loop_states: list[str] = []

    def function(self) -> ast.FunctionDef:
        """The rewritten definition, without decorators, annotations and defaults."""
        node = self._node
        body = self._block(node.body)
        if "return" in jumps_in([s for s in node.body if not isinstance(s, ast.Return)]):
            begin = ast.Assign(targets=[name(_FUNCTION, ast.Store)], value=call(hook("function")))
            body.insert(0, located(begin, node))
        arguments = copy.copy(node.args)
        arguments.defaults = []
        arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
        for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
            argument.annotation = None
        # Not under its own name, which would hide the global of that name from the body.
        function = ast.FunctionDef(
            name=_BODY,
            args=arguments,
            body=body,
            decorator_list=[],
            type_params=[],
        )
        return ast.copy_location(function, node)

    # ---- Blocks and small pieces ----

    def _block(self, block: list[ast.stmt]) -> list[ast.stmt]:
        result: list[ast.stmt] = []
        for statement in block:
            visit = getattr(self, f"_visit_{type(statement).__name__}", self._visit_other)
            with self._expressions.temporaries_of_statement():
                result += [located(new, statement) for new in visit(statement)]
        return result or [ast.Pass()]

    def _expr(self, node: ast.expr) -> ast.expr:
        if isinstance(node, KeepGoing):
            loop = name(self._loop_states[-1]) if self._loop_states else constant(None)
            function = name(_FUNCTION) if "return" in node.kinds else constant(None)
            kinds = constant(tuple(sorted(node.kinds)))
            return located(call(hook("keep_going"), loop, function, kinds), node)
        return self._expressions.visit(node)

    def _at(self, node: ast.stmt, assigns: str | None = None) -> ast.stmt:
        arguments = [constant(node.lineno), constant(node.col_offset + 1)]
        if assigns is not None:
            arguments.append(constant(assigns))
        return ast.Expr(value=call(hook("at"), *arguments))

    def _method(self, state: str, method: str, *arguments: ast.expr) -> ast.Call:
        return call(_attribute(state, method), *arguments)

    def _rebind(self, state: str, names: tuple[str, ...]) -> list[ast.stmt]:
        """`names = state.values`, unbinding those that have no value."""
        if not names:
            return []
        targets = ast.Tuple(elts=[name(n, ast.Store) for n in names], ctx=ast.Store())
        unbind: list[ast.stmt] = []
        for n in names:
            test = ast.Compare(left=name(n), ops=[ast.Is()], comparators=[hook("UNBOUND")])
            delete = ast.Delete(targets=[name(n, ast.Del)])
            unbind.append(ast.If(test=test, body=[delete], orelse=[]))
        return [
            ast.Assign(targets=[targets], value=_attribute(state, "values")),
            ast.If(test=_attribute(state, "lost"), body=unbind, orelse=[]),
        ]

    def _rebind_if(self, test: ast.expr, state: str, names: tuple[str, ...]) -> list[ast.stmt]:
        body = self._rebind(state, names)
        return [ast.If(test=test, body=body, orelse=[])] if body else [ast.Expr(value=test)]

    # ---- Control flow ----

    def _visit_If(self, node: ast.If) -> list[ast.stmt]:
        return self._if(node, self._expr(node.test))

    def _if(self, node: ast.If, test: ast.expr) -> list[ast.stmt]:
        names = tuple(sorted(assigned([*node.body, *node.orelse], self._assigned)))
        after = self._liveness.after[node]
        live = tuple(n for n in names if n in after)
        state = self._expressions.temporary("if")
        begin = call(hook("if_"), test, constant(names), constant(live), constant(node.lineno))
        result = [
            self._at(node),
            ast.Assign(targets=[name(state, ast.Store)], value=begin),
            ast.If(test=self._method(state, "then"), body=self._block(node.body), orelse=[]),
        ]
        if node.orelse:
            restore = ast.If(
                test=_attribute(state, "rebinding"),
                body=self._rebind(state, names) or [ast.Pass()],
                orelse=[],
            )
            body = [located(restore, node), *self._block(node.orelse)]
            result.append(ast.If(test=self._method(state, "otherwise"), body=body, orelse=[]))
        return result + self._rebind_if(self._method(state, "finish"), state, names)

    def _loop_info(self, node: ast.For | ast.While, targets: set[str]) -> tuple[int, LoopInfo]:
        names = assigned(node.body, self._assigned) | targets
        if isinstance(node, ast.While):
            names |= assigned([node.test])
        locations: dict[str, Location] = {}
        for part in ast.walk(ast.Module(body=node.body, type_ignores=[])):
            if isinstance(part, ast.Name) and _is_store(part):
                known = locations.get(part.id)
                here = location_of(self._file, part)
                locations[part.id] = min(known, here, key=lambda p: p[1:3]) if known else here
        info = LoopInfo(
            line=node.lineno,
            names=tuple(sorted(names)),
            targets=frozenset(targets),
            live_in=frozenset(self._liveness.at_head[node] & names),
            live_after=frozenset(self._liveness.at_end[node] & names),
            has_exit=bool({"break", "return"} & jumps_in(node.body)),
            locations=locations,
        )
        self._hooks.loops.append(info)
        return len(self._hooks.loops) - 1, info

    def _visit_For(self, node: ast.For) -> list[ast.stmt]:
        number, info = self._loop_info(node, assigned([node.target]))
        state = self._expressions.temporary("for")
        item = self._expressions.temporary("item")
        begin = call(hook("for_"), self._expr(node.iter), constant(number))
        self._loop_states.append(state)
        body = [
            *self._rebind_if(_attribute(state, "rebinding"), state, info.names),
            *self._bind_target(node.target, name(item), "for"),
        ]
        body = [located(new, node) for new in body] + self._block(node.body)
        self._loop_states.pop()
        loop = ast.For(target=name(item, ast.Store), iter=name(state), body=body, orelse=[])
        return [
            self._at(node),
            ast.Assign(targets=[name(state, ast.Store)], value=begin),
            loop,
            *self._rebind_if(self._method(state, "finish"), state, info.names),
            *self._loop_else(node, state),
        ]

    def _visit_While(self, node: ast.While) -> list[ast.stmt]:
        number, info = self._loop_info(node, set())
        state = self._expressions.temporary("while")
        begin = call(hook("while_"), constant(number))
        self._loop_states.append(state)
        test = self._method(state, "test", self._expr(node.test))
        body = [
            *self._rebind_if(_attribute(state, "rebinding"), state, info.names),
            self._at(node),
            ast.If(test=test, body=self._block(node.body), orelse=[]),
        ]
        self._loop_states.pop()
        return [
            self._at(node),
            ast.Assign(targets=[name(state, ast.Store)], value=begin),
            ast.While(test=self._method(state, "next"), body=body, orelse=[]),
            *self._rebind_if(self._method(state, "finish"), state, info.names),
            *self._loop_else(node, state),
        ]

    def _loop_else(self, node: ast.For | ast.While, state: str) -> list[ast.stmt]:
        """`else` of a loop: an `if` on "was not left by break"."""
        if not node.orelse:
            return []
        branch = ast.copy_location(ast.If(test=None, body=node.orelse, orelse=[]), node.orelse[0])
        self._liveness.after[branch] = self._liveness.after[node]
        return self._if(branch, self._method(state, "completed"))

    def _visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        state = self._loop_states[-1]
        skip = ast.If(test=_attribute(state, "skips"), body=[ast.Continue()], orelse=[])
        return [
            self._at(node),
            ast.If(test=self._method(state, "breaks"), body=[ast.Break()], orelse=[]),
            skip,
        ]

    def _visit_Continue(self, node: ast.Continue) -> list[ast.stmt]:
        test = self._method(self._loop_states[-1], "continues")
        return [self._at(node), ast.If(test=test, body=[ast.Continue()], orelse=[])]

    def _visit_Return(self, node: ast.Return) -> list[ast.stmt]:
        value = constant(None)
        if node.value is not None:
            value = call(hook("value"), self._expr(node.value))
        if node in self._node.body:
            return [self._at(node), ast.Return(value=value)]
        result = self._expressions.temporary("result")
        loops = ast.Tuple(elts=[name(state) for state in self._loop_states], ctx=ast.Load())
        has_value = constant(node.value is not None)
        test = self._method(_FUNCTION, "returns", name(result), has_value, loops)
        return [
            self._at(node),
            ast.Assign(targets=[name(result, ast.Store)], value=value),
            ast.If(test=test, body=[ast.Return(value=name(result))], orelse=[]),
        ]

    def _visit_With(self, node: ast.With) -> list[ast.stmt]:
        inner: list[ast.stmt] = []
        items = []
        for item in node.items:
            variables = item.optional_vars
            if variables is not None:
                entered = self._expressions.temporary("with")
                inner += self._bind_target(variables, name(entered), "with")
                variables = located(name(entered, ast.Store), item.context_expr)
            items.append(
                ast.withitem(context_expr=self._expr(item.context_expr), optional_vars=variables)
            )
        body = [located(new, node) for new in inner] + self._block(node.body)
        return [self._at(node), ast.With(items=items, body=body)]

    # ---- Assignments ----

    def _store(self, target: str, value: ast.expr) -> ast.stmt:
        """`target = value` for a name."""
        if self._stores[target] > 1 or target in self._parameters:
            value = call(hook("assign"), constant(target), value)
        else:
            value = call(hook("bind"), value)
        return ast.Assign(targets=[name(target, ast.Store)], value=value)

    def _bind_target(self, target: ast.expr, value: ast.expr, what: str) -> list[ast.stmt]:
        """Binds the names of a `for` or `with` target afresh: never a store into a variable."""
        if isinstance(target, ast.Name):
            bound = ast.Assign(targets=[target], value=call(hook("bind"), value))
            return [located(bound, target)]
        if isinstance(target, ast.Tuple | ast.List) and not _has_star(target):
            count = constant(len(target.elts))
            value = call(hook("unpack"), value, count, constant(what))
            parts = [self._expressions.temporary() for _ in target.elts]
            targets = ast.Tuple(elts=[name(p, ast.Store) for p in parts], ctx=ast.Store())
            result = [located(ast.Assign(targets=[targets], value=value), target)]
            for element, part in zip(target.elts, parts, strict=True):
                result += self._bind_target(element, name(part), what)
            return result
        return [located(ast.Assign(targets=[target], value=value), target)]

    def _assign_target(self, target: ast.expr, value: ast.expr) -> list[ast.stmt]:
        """Assigns an already evaluated `value` to any target."""
        if isinstance(target, ast.Name):
            return [self._store(target.id, value)]
        if isinstance(target, ast.Tuple | ast.List):
            parts = [self._expressions.temporary() for _ in target.elts]
            stores: list[ast.expr] = []
            result: list[ast.stmt] = []
            for element, part in zip(target.elts, parts, strict=True):
                stored: ast.expr = name(part, ast.Store)
                if isinstance(element, ast.Starred):
                    stored = ast.Starred(value=stored, ctx=ast.Store())
                    element = element.value
                stores.append(stored)
                result += self._assign_target(element, name(part))
            if not _has_star(target):
                value = call(hook("unpack"), value, constant(len(parts)), constant("="))
            unpacked = ast.Tuple(elts=stores, ctx=ast.Store())
            return [ast.Assign(targets=[unpacked], value=value), *result]
        if isinstance(target, ast.Subscript):
            owner = self._expressions.visit(target.value)
            return [self._set_item(value, owner, self._key(target), target)]
        if isinstance(target, ast.Attribute):
            owner = self._expressions.visit(target.value)
            target.value = located(call(hook("mutable"), owner), target)
        return [ast.Assign(targets=[target], value=value)]

    def _key(self, target: ast.Subscript) -> ast.expr:
        """The index of a subscript as an expression of its own; slices have no other."""
        index = self._expressions.visit(target.slice)
        return ast.Subscript(value=hook("key"), slice=index, ctx=ast.Load())

    def _set_item(
        self, value: ast.expr, owner: ast.expr, key: ast.expr, target: ast.Subscript
    ) -> ast.stmt:
        """`owner[key] = value`, at the place of `target`."""
        return ast.Expr(value=located(call(hook("set_item"), value, owner, key), target))

    def _visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        value = self._expr(node.value)
        if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            target = node.targets[0].id
            return [self._at(node, target), self._store(target, value)]
        temporary = self._expressions.temporary("value")
        evaluated = ast.Assign(
            targets=[name(temporary, ast.Store)], value=call(hook("value"), value)
        )
        result: list[ast.stmt] = [self._at(node), evaluated]
        for target in node.targets:
            result += self._assign_target(target, name(temporary))
        return result

    def _visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        operation = hook(_IN_PLACE[type(node.op)])
        right = self._expr(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            read = ast.copy_location(name(target.id), target)
            return [self._at(node), self._store_again(target.id, call(operation, read, right))]
        if isinstance(target, ast.Attribute):
            target.value = located(call(hook("mutable"), self._expr(target.value)), target)
            node.value = right
            return [self._at(node), node]
        owner, key = self._expressions.temporary("owner"), self._expressions.temporary("key")
        read = _subscript(owner, key, target)
        result = call(hook("value"), call(operation, read, right))
        return [
            self._at(node),
            ast.Assign(targets=[name(owner, ast.Store)], value=self._expr(target.value)),
            ast.Assign(targets=[name(key, ast.Store)], value=self._key(target)),
            self._set_item(result, name(owner), name(key), target),
        ]

    def _store_again(self, target: str, value: ast.expr) -> ast.stmt:
        value = call(hook("assign"), constant(target), value)
        return ast.Assign(targets=[name(target, ast.Store)], value=value)

    def _visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        annotation = self._expressions.visit(node.annotation)
        if not isinstance(node.target, ast.Name):
            return [self._at(node), node]
        target = node.target.id
        if node.value is None:
            value = call(hook("declare"), constant(target), annotation)
            return [
                self._at(node),
                ast.Assign(targets=[name(target, ast.Store)], value=value),
            ]
        value = call(hook("typed"), annotation, self._expr(node.value))
        return [
            self._at(node, target),
            ast.Assign(targets=[name(target, ast.Store)], value=value),
        ]

    # ---- The rest ----

    def _visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        message: ast.expr = constant(None)
        failure: ast.expr = name("AssertionError")
        if node.msg is not None:
            text = self._expr(node.msg)
            empty = ast.arguments(
                posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]
            )
            message = ast.Lambda(args=empty, body=text)
            failure = call(failure, copy_tree(text))
        holds = call(hook("assert_"), self._expr(node.test), message)
        test = ast.UnaryOp(op=ast.Not(), operand=holds)
        return [self._at(node), ast.If(test=test, body=[ast.Raise(exc=failure)], orelse=[])]

    def _visit_Raise(self, node: ast.Raise) -> list[ast.stmt]:
        return [self._at(node), ast.Expr(value=call(hook("before_raise"))), node]

    def _visit_Expr(self, node: ast.Expr) -> list[ast.stmt]:
        if isinstance(node.value, ast.Constant):  # a docstring
            return []
        node.value = self._expr(node.value)
        return [self._at(node), node]

    def _visit_FunctionDef(self, node: ast.FunctionDef) -> list[ast.stmt]:
        return [node]  # runs as Python

    def _visit_other(self, node: ast.stmt) -> list[ast.stmt]:
        return [node]  # pass, import


def _attribute(state: str, attribute: str) -> ast.Attribute:
    return ast.Attribute(value=name(state), attr=attribute, ctx=ast.Load())


def _subscript(owner: str, key: str, at: ast.AST) -> ast.Subscript:
    read = ast.Subscript(value=name(owner), slice=name(key), ctx=ast.Load())
    return ast.copy_location(read, at)


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _has_star(target: ast.Tuple | ast.List) -> bool:
    return any(isinstance(element, ast.Starred) for element in target.elts)
