"""Random indices: affine, reversed, wrapped; inside a tile, or around a tensor's edge."""

from __future__ import annotations

import random
from dataclasses import dataclass

from differential.program import Buffer, Program


@dataclass(frozen=True)
class Var:
    """An index variable in scope; its values are 0 .. count-1."""

    name: str
    count: int


class Indices:
    """Draws indices for buffers of a program."""

    def __init__(self, program: Program, rng: random.Random) -> None:
        self.program = program
        self.rng = rng

    def inside(self, extent: str, variables: list[Var]) -> str:
        """An index that never leaves 0 .. extent-1."""
        rng, size = self.rng, self.program.value(extent)
        forms = [str(rng.randrange(size)), f"{extent} - 1"]
        for var in variables:
            if var.count <= size:
                forms += [var.name, var.name, var.name, f"{extent} - 1 - {var.name}"]
            if var.count < size:
                forms.append(f"{var.name} + {rng.randint(1, size - var.count)}")
            if (var.count + 1) // 2 <= size:
                forms.append(f"{var.name} // 2")
            forms.append(
                f"({var.name} * {rng.choice((1, 2, 3, 5))} + {rng.randrange(7)}) % {extent}"
            )
        if len(variables) > 1:
            first, second = rng.sample(variables, 2)
            forms.append(f"({first.name} + {second.name}) % {extent}")
        return rng.choice(forms)

    def around(self, tensor: Buffer, dim: int, variables: list[Var]) -> str:
        """An index of a tensor that is only read: in the block's region, anywhere or outside."""
        rng = self.rng
        base = tensor.base[dim]
        if rng.random() < 0.25 or not variables:
            return self.inside(tensor.shape[dim], variables)
        var = rng.choice(variables).name
        plain = f"{base} + {var}" if base != "0" else var
        if rng.random() < 0.75:
            return plain
        return rng.choice((f"{plain} - {rng.randint(1, 3)}", f"{plain} + {rng.randint(1, 9)}",
                           f"2 * ({plain})"))  # fmt: skip

    def near(self, extent: str, variables: list[Var]) -> str:
        """An index of a view of a tensor: inside, or a little beyond either end."""
        if self.rng.random() < 0.6 or not variables:
            return self.inside(extent, variables)
        shift = self.rng.randint(1, 4)
        return f"{self.rng.choice(variables).name} {self.rng.choice('+-')} {shift}"

    def owned(self, tensor: Buffer, dim: int, variables: list[Var]) -> str:
        """An index in the block's own region of a tensor that blocks write."""
        inner = self.inside(tensor.tile[dim], variables)
        return inner if tensor.base[dim] == "0" else f"{tensor.base[dim]} + {inner}"

    def read(self, buffer: Buffer, variables: list[Var]) -> tuple[str, ...]:
        """The indices of an element to read."""
        if buffer.role == "in":
            pick = lambda dim: self.around(buffer, dim, variables)  # noqa: E731
        elif buffer.role == "view" and buffer.space == "global":
            pick = lambda dim: self.near(buffer.shape[dim], variables)  # noqa: E731
        elif buffer.role == "own":
            pick = lambda dim: self.owned(buffer, dim, variables)  # noqa: E731
        else:
            pick = lambda dim: self.inside(buffer.shape[dim], variables)  # noqa: E731
        return tuple(pick(dim) for dim in range(len(buffer.shape)))

    def each(self, buffer: Buffer, variables: list[Var]) -> tuple[str, ...]:
        """Indices that no two iterations share: one variable a dimension, plain, shifted or
        reversed. `variables` has one for each dimension of the region."""
        extents = buffer.tile if buffer.role == "own" else buffer.shape
        result = []
        for dim, (extent, var) in enumerate(zip(extents, variables, strict=True)):
            spare = self.program.value(extent) - var.count
            index = self.rng.choice(
                [var.name] * 4
                + ([f"{extent} - 1 - {var.name}"] if spare >= 0 else [])
                + ([f"{var.name} + {self.rng.randint(1, spare)}"] if spare > 0 else [])
            )
            base = buffer.base[dim] if buffer.role == "own" else "0"
            result.append(index if base == "0" else f"{base} + {index}")
        return tuple(result)

    def condition(self, variables: list[Var]) -> str:
        """A condition on index variables."""
        rng = self.rng
        if not variables:
            return rng.choice(("bx == 0", "bx % 2 == 0", "bx >= 1"))
        var = rng.choice(variables)
        limit = rng.randint(0, max(1, var.count))
        forms = [f"{var.name} < {limit}", f"{var.name} >= {limit}", f"{var.name} % 2 == 0",
                 f"{var.name} != {limit}", f"not ({var.name} % 3 == 1)"]  # fmt: skip
        if len(variables) > 1:
            other = rng.choice([v for v in variables if v is not var])
            forms += [f"{var.name} >= {other.name}", f"({var.name} + {other.name}) % 2 == 1",
                      f"{var.name} < {limit} and {other.name} > {rng.randrange(4)}",
                      f"{var.name} == 0 or {other.name} < {limit}"]  # fmt: skip
        return rng.choice(forms)
