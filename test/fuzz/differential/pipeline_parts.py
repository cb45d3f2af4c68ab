"""What random programs of pipelines are made of: dtypes, extents, tiles and their tensors."""

from __future__ import annotations

from dataclasses import dataclass

from differential.program import Stmt


@dataclass(frozen=True)
class Types:
    """Dtypes of a product: its operands, its sums, and the largest operand. `rounds`: sums are not
    exact, and engines may differ as far as the interpreter's error radii."""

    a: str
    b: str
    sums: str
    largest: int
    rounds: bool = False


def _alike(dtype: str, sums: str, largest: int) -> Types:
    return Types(dtype, dtype, sums, largest)


#: With the largest operand for which sums stay exact, but for the last.
TYPES = (
    _alike("float16", "float32", 3), _alike("float16", "float32", 3),
    _alike("bfloat16", "float32", 3), _alike("float8_e4m3fn", "float32", 2),
    _alike("float8_e5m2", "float32", 2), _alike("int8", "int32", 3), _alike("uint8", "int32", 3),
    Types("int8", "uint8", "int32", 3), Types("uint8", "int8", "int32", 3),
    _alike("tfloat32", "float32", 3), _alike("float32", "float32", 3),
    _alike("float16", "float16", 1),
    Types("float16", "float16", "float16", 9, rounds=True),
)  # fmt: skip
#: Tiles that loops use besides operands of products.
OTHER_TYPES = ("bool", "int16", "int32", "int64", "uint16", "uint64", "float32", "float64",
               "float16", "bfloat16", "float8_e4m3fn", "uint8", "int8", "float8_e5m2")  # fmt: skip
SIZES = {"bool": 1, "float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "float32": 4, "int32": 4,
         "tfloat32": 4}  # fmt: skip
#: Rows of a product of warpgroups, and the numbers of threads that share them.
ROWS = {64: (128, 128, 128, 256), 128: (128, 256, 256), 192: (128, 384, 384)}
COLUMNS = (8, 16, 24, 32, 40, 64, 96, 128)
#: The blocks of a cluster, in each dimension of the grid.
CLUSTERS = ((2, 1), (1, 2), (2, 2), (4, 1), (1, 4), (2, 1), (1, 2))


def size_of(dtype: str) -> int:
    """Bytes of an element."""
    return SIZES.get(dtype, 8 if "64" in dtype else 1)


def given_as(dtype: str) -> str:
    """The dtype of a tensor that a tile is copied from or to."""
    return "float32" if dtype == "tfloat32" else dtype


@dataclass
class Text(Stmt):
    """Lines as they are."""

    text: list[str]

    def lines(self) -> list[str]:
        return self.text


@dataclass
class Operand:
    """A tile, the tensor it is copied from, and the dimension that the loop walks."""

    tile: str
    tensor: str
    shape: tuple[str, ...]
    walked: int
    starts: tuple[str, ...] = ()
    #: What the statements see: the tile or a view of it.
    seen: str = ""
    dtype: str = ""
    #: Whether it is copied once, in front of the loop.
    is_held: bool = False
