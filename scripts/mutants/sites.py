"""Where a file can be mutated, found in clang's syntax tree.

A mutation replaces one or two ranges of the text by `(tw::mutant({id}) ? changed : original)`, both
of the same type, so that one build holds all of them. Where it costs nothing to see that both are
equal, the mutant is not noted as reached. The kinds:

    ±1         a literal, a sum, a product, a shift, a strict comparison that becomes a loose one
    swapped    the operands of - / % and of comparisons; neighbouring arguments of one type
    dropped    a condition is always or never met, one side of && or || goes, == becomes !=
    signedness an operation, predicate or cast for signed numbers becomes the one for unsigned ones
    width      a type or a cast of another width

Only expressions inside of functions are read: what is computed when a library is loaded, or by the
compiler, cannot be switched at run time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from clang.cindex import (
    Config,
    Cursor,
    CursorKind,
    Diagnostic,
    Index,
    TranslationUnit,
    TypeKind,
)  # fmt: skip

Config.set_library_file("/usr/lib/llvm-22/lib/libclang-22.so.1")

INTEGERS = {
    TypeKind.INT, TypeKind.UINT, TypeKind.LONG, TypeKind.ULONG, TypeKind.LONGLONG,
    TypeKind.ULONGLONG, TypeKind.SHORT, TypeKind.USHORT, TypeKind.CHAR_S, TypeKind.UCHAR,
    TypeKind.SCHAR,
}  # fmt: skip
#: In text: what an operator of the tree looks like between its operands.
LOOSE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
#: Operations of MLIR and LLVM by signedness, both ways.
SIGNS = (
    ("DivSIOp", "DivUIOp"), ("RemSIOp", "RemUIOp"), ("ShRSIOp", "ShRUIOp"), ("ExtSIOp", "ExtUIOp"),
    ("MaxSIOp", "MaxUIOp"), ("MinSIOp", "MinUIOp"), ("SIToFPOp", "UIToFPOp"),
    ("FPToSIOp", "FPToUIOp"), ("SDivOp", "UDivOp"), ("SRemOp", "URemOp"), ("AShrOp", "LShrOp"),
    ("SExtOp", "ZExtOp"), ("SMaxOp", "UMaxOp"), ("SMinOp", "UMinOp"), ("FloorDivSIOp", "DivSIOp"),
    ("CeilDivSIOp", "DivSIOp"),
)  # fmt: skip
WIDTHS = (
    ("getI32Type", "getI64Type"), ("getI8Type", "getI16Type"), ("getI16Type", "getI32Type"),
    ("getI64Type", "getI32Type"), ("getF32Type", "getF64Type"), ("getF16Type", "getF32Type"),
    ("getBF16Type", "getF32Type"), ("getF64Type", "getF32Type"),
)  # fmt: skip
#: Of enumerators: slt and ult, and so on.
#: Calls whose neighbouring arguments may be exchanged without a change.
COMMUTATIVE = re.compile(
    r"\b(?:F?(?:Add|Mul)[IF]?Op|(?:And|Or|XOr)I?Op|[SU]?(?:Max|Min)\w*Op|e\.(?:add|mul)"
    r"|(?:std::)?(?:max|min|gcd|lcm|equal)(?:<\w+)?"
    r"|operator(?:==|!=|\+|\*|&|\|))(?:::create|>)?\s*$"
)
ASSIGNMENT = re.compile(r"operator(?:[-+*/%&|^]|<<|>>)?=|operator(?:<<|>>|\+\+|--|\[\]|\(\))")
#: Types of texts: what a message says is no computation.
TEXTS = re.compile(r"\b(?:Twine|StringRef|char|basic_string|StringLiteral)\b")
PREDICATE = re.compile(r"\b([su])(lt|le|gt|ge)$")
OTHER_CAST = {
    "int64_t": ("uint32_t", "int32_t"), "uint64_t": ("int32_t", "uint32_t"),
    "int32_t": ("uint16_t", "int16_t"), "uint32_t": ("int16_t", "uint16_t"),
    "int": ("uint16_t", "int16_t"), "unsigned": ("int16_t", "uint16_t"),
}  # fmt: skip


@dataclass(frozen=True)
class Edit:
    """Bytes `start` to `stop` become `text`, with {id} in it."""

    start: int
    stop: int
    text: str


@dataclass(frozen=True)
class Mutation:
    """One change, as a person reads it and as edits."""

    file: str
    line: int
    kind: str
    was: str
    becomes: str
    edits: tuple[Edit, ...]

    @property
    def span(self) -> tuple[int, int]:
        return min(e.start for e in self.edits), max(e.stop for e in self.edits)

    @property
    def key(self) -> tuple[str, tuple[int, int], str]:
        return self.file, self.span, self.becomes


def parse(path: Path, arguments: list[str], text: str | None = None) -> TranslationUnit:
    """The tree of a file, or of another text in its stead."""
    unsaved = [(str(path), text)] if text is not None else None
    return Index.create(excludeDecls=True).parse(str(path), arguments, unsaved)


def errors_of(unit: TranslationUnit, path: Path) -> list[int]:
    """Where in the file the compiler finds errors; -1 for those elsewhere."""
    found = [d for d in unit.diagnostics if d.severity >= Diagnostic.Error]
    return [
        d.location.offset if d.location.file and d.location.file.name == str(path) else -1
        for d in found
    ]


class Finder:
    """Collects the mutations of one file."""

    def __init__(self, unit: TranslationUnit, path: Path, name: str) -> None:
        self.unit, self.path, self.name = unit, path, name
        self.text = path.read_bytes()
        self.found: dict[tuple, Mutation] = {}

    def find(self) -> list[Mutation]:
        for cursor in self.unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == str(self.path):
                self._walk(cursor, inside=False)
        return list(self.found.values())

    # ---- The walk ----

    def _walk(self, cursor: Cursor, inside: bool) -> None:
        kind = cursor.kind
        if kind in (CursorKind.FUNCTION_TEMPLATE, CursorKind.STATIC_ASSERT, CursorKind.ENUM_DECL,
                    CursorKind.CLASS_TEMPLATE, CursorKind.TYPE_REF,
                    CursorKind.TEMPLATE_REF):  # fmt: skip
            return
        children = list(cursor.get_children())
        if kind in (CursorKind.FUNCTION_DECL, CursorKind.CXX_METHOD, CursorKind.CONSTRUCTOR,
                    CursorKind.CONVERSION_FUNCTION, CursorKind.DESTRUCTOR):  # fmt: skip
            if re.search(
                rb"\bconst(expr|eval)\b",
                self.text[cursor.extent.start.offset :][:200].split(b"(")[0],
            ):
                return
            for child in children:
                if child.kind == CursorKind.COMPOUND_STMT:
                    self._walk(child, inside=True)
            return
        if kind == CursorKind.VAR_DECL and self._is_constant(cursor):
            return
        if inside:
            self._mutate(cursor, children)
        if kind == CursorKind.CASE_STMT:
            children = children[1:]
        for child in children:
            self._walk(child, inside)

    def _is_constant(self, cursor: Cursor) -> bool:
        head = self.text[cursor.extent.start.offset : cursor.location.offset]
        return b"constexpr" in head or b"static" in head

    def _mutate(self, cursor: Cursor, children: list[Cursor]) -> None:
        match cursor.kind:
            case CursorKind.INTEGER_LITERAL:
                self._literal(cursor)
            case CursorKind.BINARY_OPERATOR if len(children) == 2:
                self._binary(cursor, *children)
            case CursorKind.COMPOUND_ASSIGNMENT_OPERATOR if len(children) == 2:
                self._compound(cursor, *children)
            case CursorKind.UNARY_OPERATOR if len(children) == 1:
                self._negation(cursor, children[0])
            case CursorKind.IF_STMT if children:
                self._condition(children[0])
            case CursorKind.CONDITIONAL_OPERATOR if len(children) == 3:
                self._condition(children[0])
            case CursorKind.CALL_EXPR:
                self._call(cursor)
            case CursorKind.DECL_REF_EXPR:
                self._enumerator(cursor)
            case CursorKind.CXX_STATIC_CAST_EXPR:
                self._cast(cursor)

    # ---- Text ----

    def _range(self, cursor: Cursor) -> tuple[int, int]:
        return cursor.extent.start.offset, cursor.extent.end.offset

    def _source(self, cursor: Cursor) -> str:
        start, stop = self._range(cursor)
        return self.text[start:stop].decode()

    def _operator(self, left: Cursor, right: Cursor) -> str:
        """What stands between two operands, or nothing if that is no operator (a macro's)."""
        between = self.text[self._range(left)[1] : self._range(right)[0]].decode()
        between = re.sub(r"//[^\n]*|/\*.*?\*/", "", between).strip().strip("()").strip()
        return between if re.fullmatch(r"[-+*/%<>=!&|^]{1,2}", between) else ""

    def _add(self, cursor: Cursor, kind: str, becomes: str, form: str | None = None) -> None:
        """`becomes` in the stead of the cursor, converted to its type unless `form` says how."""
        start, stop = self._range(cursor)
        was = self.text[start:stop].decode()
        if not was or was.count("(") != was.count(")"):
            return
        form = form or "(tw::mutant({{id}}) ? static_cast<decltype({was})>({becomes}) : ({was}))"
        # A text may hold braces: only {id} is filled in later.
        new = form.format(was=_quoted(was), becomes=_quoted(becomes))
        self._keep(cursor, kind, was, becomes, (Edit(start, stop, new),))

    def _keep(self, cursor: Cursor, kind: str, was: str, becomes: str, edits: tuple[Edit, ...]
              ) -> None:  # fmt: skip
        line = cursor.extent.start.line
        mutation = Mutation(self.name, line, kind, _short(was), _short(becomes), edits)
        self.found.setdefault((edits[0].start, edits[-1].stop, becomes), mutation)

    # ---- The kinds ----

    def _literal(self, cursor: Cursor) -> None:
        text = self._source(cursor)
        if not re.fullmatch(r"[0-9][0-9a-fA-FxX']*[uUlL]*", text):
            return
        plain = "(tw::mutant({{id}}) ? ({becomes}) : {was})"
        self._add(cursor, "±1", f"{text} + 1", plain)
        if int(re.sub(r"[uUlL']", "", text), 0) > 0:
            self._add(cursor, "±1", f"{text} - 1", plain)

    def _binary(self, cursor: Cursor, left: Cursor, right: Cursor) -> None:
        operator = self._operator(left, right)
        a, b = self._source(left), self._source(right)
        whole = self._source(cursor)
        is_integer = cursor.type.get_canonical().kind in INTEGERS
        either = "(tw::mutant({{id}}) ? ({becomes}) : ({was}))"
        if operator in LOOSE:
            noted = either
            if _is_pure(a) and _is_pure(b):
                same = f"({_quoted(a)}) == ({_quoted(b)})"
                noted = f"(tw::differs({{{{id}}}}, {same}) ? ({{becomes}}) : ({{was}}))"
            self._add(cursor, "±1", f"{a} {LOOSE[operator]} {b}", noted)
            self._add(cursor, "swapped", f"{a} {TURNED[operator]} {b}", either)
        elif operator in ("==", "!="):
            self._add(cursor, "dropped", f"{a} {'!=' if operator == '==' else '=='} {b}", either)
        elif operator in ("&&", "||"):
            # Where the other side decides, the change makes none.
            value = "true" if operator == "||" else "false"
            first, second = (f"static_cast<bool>({_quoted(side)})" for side in (a, b))
            told = f"tw::told({{{{id}}}}, {value}, "
            switch = "(tw::switched({{id}}) ? static_cast<bool>({becomes}) : "
            self._add(cursor, "dropped", a, f"{switch}({first} {operator} {told}{second})))")
            self._add(cursor, "dropped", b, f"{switch}({told}{first}) {operator} {second}))")
        elif operator in ("+", "-", "*", "/", "%", "<<", ">>") and is_integer:
            for sign in "+-":
                self._add(cursor, "±1", f"({whole}) {sign} 1")
            if operator in ("-", "/", "%"):
                self._add(cursor, "swapped", f"({b}) {operator} ({a})")

    def _compound(self, cursor: Cursor, left: Cursor, right: Cursor) -> None:
        if right.type.get_canonical().kind in INTEGERS:
            self._add(right, "±1", f"({self._source(right)}) + 1")

    def _negation(self, cursor: Cursor, operand: Cursor) -> None:
        text = self._source(cursor)
        if text.startswith("!") and not text.startswith("!="):
            form = "(tw::mutant({{id}}) ? static_cast<bool>({becomes}) : ({was}))"
            self._add(cursor, "dropped", text[1:], form)

    def _condition(self, condition: Cursor) -> None:
        if not condition.kind.is_expression() and condition.kind != CursorKind.UNEXPOSED_EXPR:
            return
        for always in ("true", "false"):
            form = "tw::always({{id}}, {becomes}, static_cast<bool>({was}))"
            self._add(condition, "dropped", always, form)

    def _call(self, cursor: Cursor) -> None:
        arguments = [a for a in cursor.get_arguments() if a is not None and self._source(a)]
        text = self._source(cursor)
        head, bracket, rest = text.partition("(")
        called = cursor.spelling if cursor.spelling.startswith("operator") else head
        if ASSIGNMENT.fullmatch(called):
            arguments = []  # the target would become a temporary, also with no mutant on
        for first, second in pairwise(arguments):
            if not COMMUTATIVE.search(called):
                self._swap(first, second)
        if not bracket or not text.endswith(")"):
            return
        for kind, table in (("signedness", SIGNS), ("width", WIDTHS)):
            for one, other in (*table, *((b, a) for a, b in SIGNS if kind == "signedness")):
                if re.search(rf"\b{one}\b", head):
                    changed = re.sub(rf"\b{one}\b", other, head) + bracket + rest
                    self._name(cursor, kind, changed)

    def _name(self, cursor: Cursor, kind: str, changed: str) -> None:
        """The call of another function; operations are taken as the values they give."""
        form = "(tw::mutant({{id}}) ? ({becomes}) : ({was}))"
        if kind == "signedness":
            form = "(tw::mutant({{id}}) ? ::mlir::Value({becomes}) : ::mlir::Value({was}))"
        elif "F" in changed:
            form = "(tw::mutant({{id}}) ? ::mlir::Type({becomes}) : ::mlir::Type({was}))"
        self._add(cursor, kind, changed, form)

    def _swap(self, first: Cursor, second: Cursor) -> None:
        a, b = self._source(first), self._source(second)
        types = [_plain(c.type.get_canonical().spelling) for c in (first, second)]
        if (
            a == b
            or types[0] != types[1]
            or not types[0]
            or TEXTS.search(types[0])
            or "std::move" in a + b
        ):
            return
        if first.kind == CursorKind.LAMBDA_EXPR or "{" in a + b or "\n" in a + b:
            return
        (sa, ea), (sb, eb) = self._range(first), self._range(second)
        if ea > sb or a.count("(") != a.count(")") or b.count("(") != b.count(")"):
            return
        edits = tuple(
            Edit(start, stop, f"(tw::mutant({{id}}) ? ({_quoted(new)}) : ({_quoted(old)}))")
            for start, stop, new, old in ((sa, ea, b, a), (sb, eb, a, b))
        )
        self._keep(first, "swapped", f"{a}, {b}", f"{b}, {a}", edits)

    def _enumerator(self, cursor: Cursor) -> None:
        text = self._source(cursor)
        if found := PREDICATE.search(text):
            other = text[: found.start(1)] + ("u" if found[1] == "s" else "s") + found[2]
            self._add(cursor, "signedness", other, "(tw::mutant({{id}}) ? {becomes} : {was})")

    def _cast(self, cursor: Cursor) -> None:
        found = re.fullmatch(
            r"static_cast<(?:std::)?(\w+)>\((.*)\)", self._source(cursor), re.DOTALL
        )
        if found and found[1] in OTHER_CAST:
            unsigned, narrow = OTHER_CAST[found[1]]
            self._add(cursor, "signedness", f"static_cast<{unsigned}>({found[2]})")
            self._add(cursor, "width", f"static_cast<{narrow}>({found[2]})")


def _is_pure(text: str) -> bool:
    """Whether an expression may be computed once more."""
    text = text.replace(".size()", "")
    return not re.search(r"\(|\+\+|--|(?<![=!<>])=(?!=)", text)


def _quoted(text: str) -> str:
    return text.replace("{", "\x01").replace("}", "\x02")


def fill(text: str, number: int) -> str:
    """An edit's text with the number of its mutant."""
    return text.replace("{id}", str(number)).replace("\x01", "{").replace("\x02", "}")


def _plain(spelling: str) -> str:
    return re.sub(r"\bconst\b|&", "", spelling).strip()


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 160 else text[:157] + "..."


def find(path: Path, name: str, arguments: list[str]) -> Iterator[Mutation]:
    yield from Finder(parse(path, arguments), path, name).find()
