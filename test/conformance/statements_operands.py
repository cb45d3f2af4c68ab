"""Operands of statements in every form: how a kernel's text makes one, and what the host passes.

An operand is a logical array of `shape` and `dtype`. Its *form* says what the kernel allocates and
how the statement sees it; its *memory* says where that lies. All that the storage holds besides
the operand must stay as it was.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from conformance.engines import from_bits, numpy_of

MEMORIES = ("global", "shared", "fragment")
FORMS = (
    "plain",
    "bytes",  # T.view of narrower elements
    "words",  # T.view of wider elements
    "there and back",  # T.view of a T.view, which sees the elements themselves again
    "reshaped",  # T.reshape of another shape
    "slice",  # at an offset
    "strided",  # every second and third element
    "part",  # one matrix of a stack
    "layout",  # re-laid-out by the user
    "swizzled",  # the same, for the tensor cores; in shared memory
    "padded",  # with room behind each row; in shared memory
)
_SHARED_ONLY = ("swizzled", "padded")


def exists(form: str, memory: str, shape: tuple[int, ...], dtype: str) -> bool:
    """Whether the language has such an operand."""
    if form in _SHARED_ONLY and (memory != "shared" or len(shape) < 2):
        return False
    if form == "swizzled" and (len(shape) != 2 or shape[1] * numpy_of(dtype).itemsize % 16):
        return False
    if form == "layout" and memory == "fragment":
        return False  # a fragment's layout names threads: docs/internals/layouts.md
    if form in ("reshaped", "layout") and len(shape) == 1 and shape[0] % 4:
        return False
    row = shape[-1] * numpy_of(dtype).itemsize
    return form not in ("words", "there and back") or row % 8 == 0


def _other(dtype: str, candidates: tuple[str, ...]) -> str:
    """The first of these dtypes that is another one."""
    return next(name for name in candidates if name != dtype)


@dataclass(frozen=True)
class Operand:
    """`name` in the kernel is the operand, `name_root` its storage."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    form: str = "plain"
    memory: str = "global"

    # ---- Storage ----

    @property
    def root_dtype(self) -> str:
        size = numpy_of(self.dtype).itemsize
        if self.form == "bytes":
            return "uint8" if size > 1 else _other(self.dtype, ("int8", "uint8"))
        if self.form == "words":
            return "int64" if size < 8 else _other(self.dtype, ("float64", "int64"))
        return self.dtype

    @property
    def root_shape(self) -> tuple[int, ...]:
        *outer, last = self.shape
        size = numpy_of(self.dtype).itemsize
        match self.form:
            case "bytes" | "words":
                return (*outer, last * size // numpy_of(self.root_dtype).itemsize)
            case "reshaped":
                count = int(np.prod(self.shape))
                return (count // 4, 4) if len(self.shape) == 1 else (count,)
            case "slice":
                return (*(extent + 3 for extent in outer), last + 5)
            case "strided":
                return (*(2 * extent for extent in outer), 3 * last)
            case "part":
                return (3, *self.shape)
        return self.shape

    @property
    def seen(self) -> str:
        """The operand, as an expression of its root."""
        root = f"{self.name}_root"
        *outer, last = self.shape
        match self.form:
            case "bytes" | "words":
                return f'T.view({root}, {self.shape}, "{self.dtype}")'
            case "there and back":
                row = (*outer, last * numpy_of(self.dtype).itemsize // 8)
                wide = "int64" if self.dtype != "int64" else "float64"
                return f'T.view(T.view({root}, {row}, "{wide}"), {self.shape}, "{self.dtype}")'
            case "reshaped":
                return f"T.reshape({root}, {self.shape})"
            case "slice":
                parts = [f"2:{extent + 2}" for extent in outer] + [f"4:{last + 4}"]
                return f"{root}[{', '.join(parts)}]"
            case "strided":
                parts = [f"1:{2 * extent}:2" for extent in outer] + [f"0:{3 * last}:3"]
                return f"{root}[{', '.join(parts)}]"
            case "part":
                return f"{root}[1, {', '.join(f'0:{extent}' for extent in self.shape)}]"
        return root

    @property
    def layout(self) -> str:
        """A layout of the root, as an expression, or nothing."""
        shape, rank = self.shape, len(self.shape)
        match self.form:
            case "layout" if rank == 1:
                return f"T.Layout({shape}, lambda i: [i % 4, i // 4])"
            case "layout":
                names = "ijk"[:rank]
                turned = ", ".join(names[-1] + names[:-1])
                return f"T.Layout({shape}, lambda {', '.join(names)}: [{turned}])"
            case "swizzled":
                return f"tilewright.layout.make_swizzled_layout({self.name}_root)"
            case "padded" if rank == 2:
                return f"T.Layout({shape}, lambda i, j: [i * {shape[1] + 5} + j])"
            case "padded":
                return f"T.Layout({shape}, lambda i, j, k: [i, j * {shape[2] + 3} + k])"
        return ""

    # ---- Text ----

    @property
    def parameter(self) -> str:
        return f'{self.name.upper()}: T.Tensor({self.root_shape}, "{self.root_dtype}")'

    def load(self) -> list[str]:
        """Lines that make the operand from the parameter."""
        name, tensor = self.name, self.name.upper()
        lines = [f"{name}_root = {tensor}"]
        if self.memory != "global":
            lines = [f'{name}_root = T.alloc_{self.memory}({self.root_shape}, "{self.root_dtype}")']
        if self.layout:
            lines.append(f"T.annotate_layout({{{name}_root: {self.layout}}})")
        if self.memory != "global":
            lines.append(f"T.copy({tensor}, {name}_root)")
        return [*lines, f"{name} = {self.seen}"]

    def store(self) -> list[str]:
        """Lines that bring the operand back to the parameter."""
        return [] if self.memory == "global" else [f"T.copy({self.name}_root, {self.name.upper()})"]

    # ---- Host ----

    def _part(self, root: np.ndarray) -> np.ndarray:
        """The operand inside an array of the root, as a view of it."""
        *outer, last = self.shape
        match self.form:
            case "bytes" | "words":
                return root.view(numpy_of(self.dtype))
            case "reshaped":
                return root.reshape(self.shape)
            case "slice":
                return root[(*(slice(2, e + 2) for e in outer), slice(4, last + 4))]
            case "strided":
                return root[(*(slice(1, 2 * e, 2) for e in outer), slice(0, 3 * last, 3))]
            case "part":
                return root[1]
            case "layout" if self.memory == "global" and len(self.shape) == 1:
                return root.reshape(4, -1).T.reshape(self.shape)
            case "layout" if self.memory == "global":
                shape = (self.shape[-1], *self.shape[:-1])
                return np.moveaxis(root.reshape(shape), 0, -1)
        return root

    def place(self, values: np.ndarray, seed: int = 1) -> np.ndarray:
        """The argument of a call: the values where the operand lies, any bits elsewhere."""
        rng = np.random.default_rng(seed)
        if self.root_dtype == "bool":
            root = rng.integers(0, 2, self.root_shape).astype(bool)
        else:
            size = numpy_of(self.root_dtype).itemsize
            bits = rng.integers(0, 256, (*self.root_shape[:-1], self.root_shape[-1] * size), "u1")
            root = from_bits(bits.view(f"u{size}"), self.root_dtype)
        return self.replaced(root, values)

    def replaced(self, root: np.ndarray, values: np.ndarray) -> np.ndarray:
        """A copy of an argument with other values where the operand lies."""
        root = root.copy()
        if self.form == "layout" and self.memory == "global" and len(self.shape) == 1:
            return np.ascontiguousarray(values.reshape(-1, 4).T).reshape(self.shape)
        self._part(root)[...] = values.reshape(self.shape)
        return root


def write_kernel(operands: list[Operand], results: list[Operand], body: list[str],
                 threads: int) -> str:  # fmt: skip
    """The text of a kernel that loads all operands, runs the body and stores the results."""
    parameters = ", ".join(operand.parameter for operand in operands)
    lines = [line for operand in operands for line in operand.load()] + body
    lines += [line for operand in results for line in operand.store()]
    inside = "\n".join("        " + line for line in lines)
    return (
        f"@T.prim_func\ndef main({parameters}):\n"
        f"    with T.Kernel(1, threads={threads}):\n{inside}\n"
    )
