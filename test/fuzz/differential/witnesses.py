"""The engines that run a program, what each says of it, and whether they agree.

The interpreter is the reference: a program that it refuses or finds fault with is not well-formed,
which is the generator's mistake and not a difference. Every other engine must give the
interpreter's bits in exact mode, or stay within twice its radii in bounded mode; the virtual GPU
must find nothing; ptxas, where installed, must accept the PTX. Where a program names its threads,
the interpreter must itself give what `lockstep.py` makes of the text.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import tilewright
from tilewright.errors import reporting
from tilewright.runtime.packing import Packed
from tilewright.vgpu import read_launch

from differential import exported_library, lockstep, meaning
from differential.coverage import instructions_of
from differential.emit import load
from differential.kinds import KINDS
from differential.program import Program

PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")


@dataclass(frozen=True)
class Engine:
    """A way to run a program: a device and the environment that chooses its variant."""

    name: str
    device: str
    environment: tuple[tuple[str, str], ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    configs: tuple[tuple[str, Any], ...] = ()

    @property
    def code(self) -> tuple:
        """Engines of one code differ in how they run it."""
        kept = [item for item in self.environment if item[0] != "TILEWRIGHT_VGPU_MODE"]
        return (
            (self.device, *kept, *self.configs) if self.device.startswith("vgpu") else (self.name,)
        )

    @property
    def is_library(self) -> bool:
        """Whether it runs an exported library, called as from C."""
        return self.device.startswith("library")

    @property
    def is_schedule(self) -> bool:
        """Whether it runs what code is made of: then its values are the interpreter's, bit by
        bit."""
        return "schedule" in dict(self.options)


def _compiled(name: str, device: str, **variables: str) -> Engine:
    """Code compiled each time: what a cache on disk holds was compared before."""
    environment = {"TILEWRIGHT_CACHE": "0", **variables}
    return Engine(name, device, tuple(environment.items()))


def _exported(name: str, arch: str) -> Engine:
    """A library in C's form; on a GPU with the stand-in for its driver."""
    variables = {"TILEWRIGHT_CACHE": "0", "TILEWRIGHT_THREADS": "2"}
    if arch:
        variables |= {"TILEWRIGHT_LIBCUDA": str(exported_library.DRIVER),
                      "TILEWRIGHT_FAKE_GPUS": "9.0"}  # fmt: skip
    return Engine(name, f"library:{arch}", tuple(variables.items()))


def _scheduled(name: str, arch: str, order: int) -> Engine:
    return Engine(name, "interp", options=(("schedule", arch), ("thread_order", order)))


#: The order of turns, which is no order of the text.
TURNED = 5

ENGINES = {
    engine.name: engine
    for engine in (
        _compiled("cpu", "cpu", TILEWRIGHT_THREADS="2"),
        _compiled("cpu-1", "cpu", TILEWRIGHT_THREADS="1"),
        _compiled("cpu-avx2", "cpu", TILEWRIGHT_THREADS="2", TILEWRIGHT_CPU="avx2"),
        _compiled("cpu-amx", "cpu", TILEWRIGHT_THREADS="2", TILEWRIGHT_CPU="amx-in-software"),
        _compiled("sm_80", "vgpu:sm_80"),
        _compiled("sm_90", "vgpu:sm_90"),
        _compiled("sm_90a", "vgpu:sm_90a"),
        # What is asynchronous happens as late as it may.
        _compiled("sm_90a-late", "vgpu:sm_90a", TILEWRIGHT_VGPU_MODE="late"),
        # No producer: the program's threads start bulk copies, as the model may choose.
        replace(
            _compiled("sm_90a-threads", "vgpu:sm_90a"),
            configs=(("tl.disable_warp_specialized", True),),
        ),
        # The interpreter, whose roles and threads take turns in another order.
        Engine("interp-turned", "interp", options=(("thread_order", TURNED),)),
        # The interpreter on scheduled IR: late effects, and a random order.
        _scheduled("schedule-late", "sm_90a", 1),
        _scheduled("schedule", "sm_90a", TURNED),
        _scheduled("schedule-80", "sm_80", 1),
        # What `export_library` writes.
        _exported("exported", ""),
        _exported("exported-sm_90a", "sm_90a"),
    )
}

#: Ways to run the interpreter: they generate no code.
INTERPRETERS = {name for name, engine in ENGINES.items() if engine.device == "interp"}


def find_engine(name: str) -> Engine | None:
    """An engine of the table, or a GPU of this machine by its device ("cuda:0", `tw selftest`)."""
    is_device = name.startswith(("cuda:", "vgpu:"))
    return ENGINES.get(name) or (_compiled(name, name) if is_device else None)


@dataclass(frozen=True)
class Verdict:
    """What was seen. `kind`: "agree", "ill-formed" (the interpreter objects), "refused" (the engine
    does not support the program and says so), or a failure: "error", "difference", "finding",
    "undecided", "ptxas", "crash", "timeout"."""

    kind: str
    engine: str = ""
    text: str = ""
    #: Of generated code, see coverage.py.
    code: tuple[tuple[str, str, str], ...] = ()

    @property
    def is_failure(self) -> bool:
        return self.kind not in ("agree", "ill-formed", "refused")

    def __str__(self) -> str:
        return ": ".join(part for part in (self.engine, self.kind, self.text) if part)


@contextmanager
def _environment(engine: Engine) -> Iterator[None]:
    """The engine's variables are set while it compiles and runs."""
    saved = {name: os.environ.get(name) for name, _ in engine.environment}
    os.environ.update(engine.environment)
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


#: Texts of errors with which a GPU compiler may refuse a well-formed program.
REFUSALS = (
    "not supported on the GPU", "of shared memory, sm_", "not supported yet",
    "'T.gemm' with policy",  # which the block's warps cannot follow
)  # fmt: skip


#: What stands in for a compiled program, in tests of the fuzzer itself.
Plant = Callable[[Any], Any]


def examine(
    program: Program, engines: list[str] | None = None, plant: Plant | None = None,
    assembles: bool = True,
) -> list[Verdict]:  # fmt: skip
    """Runs a program on the interpreter and on `engines` (all if None). `assembles`: ptxas too."""
    with tempfile.TemporaryDirectory(prefix="tilewright-fuzz-") as folder:
        path = Path(folder) / f"seed_{program.seed}.py"
        path.write_text(KINDS[program.kind].emit(program, path.name))
        return examine_file(path, program.exact, engines, plant, assembles)


def examine_file(
    path: Path, exact: bool, engines: list[str] | None = None, plant: Plant | None = None,
    assembles: bool = True,
) -> list[Verdict]:  # fmt: skip
    """As `examine`, for the file of a program."""
    try:
        module = load(path)
        expected, radii = _reference(module, exact)
    except tilewright.TilewrightError as error:
        kind = "crash" if error.kind == "internal error" else "ill-formed"
        return [Verdict(kind, "interp", str(error))]
    if (meant := _meaning(path, module)) is not None:
        text, _ = _difference(module, expected, meant, {}, exact, "the text")
        if text:
            return [Verdict("difference", "interp", text)]
    verdicts = []
    made: dict[tuple, tuple[ModuleType, Any]] = {}  # the modes of a virtual GPU run the same code
    for name in engines or list(ENGINES):
        engine = find_engine(name)
        assert engine is not None, name
        with _environment(engine):
            if engine.code not in made:
                made[engine.code] = (load(path), None)
            module, kernel = made[engine.code]
            verdict, ptx, kernel = _witness(engine, module, kernel, expected, radii, exact, plant)
            made[engine.code] = (module, kernel)
        if verdict.kind == "agree" and ptx and PTXAS and assembles:
            verdict = _assemble(engine, ptx) or verdict
        verdicts.append(verdict)
    return verdicts


def _meaning(path: Path, module: ModuleType) -> list[np.ndarray] | None:
    """The arguments as the text of a program says, for kinds that have such a witness."""
    if hasattr(module, "expected"):
        return module.expected()
    if lockstep.names_threads(path):
        return lockstep.run(path, module)
    return meaning.run(path, module)[0] if "--kind values" in path.read_text() else None


@reporting
def _run(module: ModuleType, program, device: str, options: dict) -> tuple[list[np.ndarray], dict]:
    values, packed = module.arguments(), Packed()
    converted = [
        packed.convert(value, parameter, False)
        for value, parameter in zip(values, module.main.params, strict=True)
    ]
    result = program.run(device, converted, options)
    packed.write_back()
    return values, result


def _reference(module: ModuleType, exact: bool) -> tuple[list[np.ndarray], dict]:
    """The interpreter's values and radii; raises where it finds fault."""
    kernel = tilewright.compile(module.main, device="interp")
    values, result = _run(module, kernel.program, "interp", {"bounds": not exact})
    for finding in result["findings"]:
        if finding["severity"] != "note":
            raise tilewright.TilewrightError(finding["text"])
    return values, result["radii"]


def _witness(
    engine: Engine, module: ModuleType, kernel: Any, expected: list[np.ndarray], radii: dict,
    exact: bool, plant: Plant | None,
) -> tuple[Verdict, str, Any]:  # fmt: skip
    """What an engine says, its PTX if it has one, and the kernel. `kernel` has been compiled for
    another engine of this code, or is None."""
    try:
        if engine.is_library:
            values, result = exported_library.run(module, engine.device.partition(":")[2]), {}
        else:
            if kernel is None:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    configs = dict(engine.configs)
                    kernel = tilewright.compile(
                        module.main, device=engine.device, pass_configs=configs
                    )
            program = plant(kernel.program) if plant else kernel.program
            values, result = _run(module, program, engine.device, dict(engine.options))
    except tilewright.TilewrightError as error:
        is_gpu = engine.device not in ("cpu", "library:")
        refused = is_gpu and any(text in str(error) for text in REFUSALS)
        return Verdict("refused" if refused else "error", engine.name, str(error)), "", kernel
    verdict = _judge(engine, module, values, result, expected, radii, exact)
    ptx = kernel.ptx if "vgpu" in engine.device and verdict.kind == "agree" else ""
    if ptx:
        verdict = replace(verdict, code=tuple(sorted(instructions_of(ptx))))
    return verdict, ptx, kernel


def _judge(
    engine: Engine, module: ModuleType, values: list[np.ndarray], result: dict,
    expected: list[np.ndarray], radii: dict, exact: bool,
) -> Verdict:  # fmt: skip
    """What is to be said of a run: its findings, and the arguments after it."""
    found = [found for found in result.get("findings", ()) if found["severity"] != "note"]
    if engine.is_schedule and found:
        return Verdict("finding", engine.name, found[0]["text"])
    if any("[race]" in found["text"] for found in result.get("findings", ())):
        return Verdict("refused", engine.name, "roles without a barrier between them")
    for launch in map(read_launch, result.get("launches", ())):
        if launch.findings:
            return Verdict("finding", engine.name, str(launch.findings[0]))
    if engine.is_schedule:
        exact = True
        values, expected = _round_tf32(module, values), _round_tf32(module, expected)
    text, undecided = _difference(module, values, expected, radii, exact, "the interpreter")
    if text:
        return Verdict("difference", engine.name, text)
    if undecided > 0.01 * sum(value.size for value in expected):
        return Verdict("undecided", engine.name, f"{undecided} elements are undecided")
    return Verdict("agree", engine.name)


def _round_tf32(module: ModuleType, values: list[np.ndarray]) -> list[np.ndarray]:
    """Elements of tfloat32 without the 13 bits below their numbers. In scheduled IR some copies are
    loops over elements, which round these bits away, and others keep them."""
    result = []
    for value, parameter in zip(values, module.main.params, strict=True):
        seen_as = getattr(module, "SEEN_AS", {}).get(parameter["name"], parameter.get("dtype"))
        if seen_as == "tfloat32":
            bits = np.ascontiguousarray(value).view(np.uint32)
            rounded = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)  # ties away from zero
            value = np.where(np.isnan(bits.view(np.float32)), bits, rounded).view(value.dtype)
        result.append(value)
    return result


def _difference(
    module: ModuleType, got: list[np.ndarray], expected: list[np.ndarray], radii: dict,
    exact: bool, witness: str,
) -> tuple[str, int]:  # fmt: skip
    """The first difference of the arguments after a run, and how many elements are undecided."""
    text, undecided = "", 0
    for position, parameter in enumerate(module.main.params):
        have, want = got[position], expected[position]
        if seen_as := getattr(module, "SEEN_AS", {}).get(parameter["name"]):
            have, want = (array.view(meaning.numpy_of(seen_as)) for array in (have, want))
        strict = getattr(module, "STRICT", False)
        wrong, unknown = _compare(have, want, radii.get(position, 0.0), exact, strict)
        undecided += unknown
        if wrong.size and not text:
            at = np.unravel_index(wrong[0], have.shape)
            where = ", ".join(str(int(i)) for i in at)
            text = (
                f"{parameter['name']}[{where}] is {have[at]!r}, {witness} gives {want[at]!r}; "
                f"{wrong.size} of {have.size} elements differ"
            )
    return text, undecided


def _compare(
    got: np.ndarray, want: np.ndarray, radii, exact: bool, strict: bool
) -> tuple[np.ndarray, int]:  # fmt: skip
    """Positions that differ, and how many could not be compared. `strict`: in the signs of zeros
    too."""
    got, want = got.ravel(), want.ravel()
    if got.dtype.kind in "iub":
        return np.flatnonzero(got != want), 0
    with np.errstate(invalid="ignore"):
        got, want = got.astype(np.float64), want.astype(np.float64)
        same = (got == want) | (np.isnan(got) & np.isnan(want))
        if strict:
            same &= (np.signbit(got) == np.signbit(want)) | np.isnan(want)
        if exact:
            return np.flatnonzero(~same), 0
        radius = np.broadcast_to(np.asarray(radii, np.float64), got.shape)
        undecided = np.isinf(radius)
        near = np.abs(got - want) <= 2 * radius
    return np.flatnonzero(~(same | near | undecided)), int(undecided.sum())


def _assemble(engine: Engine, ptx: str) -> Verdict | None:
    """What ptxas has against the PTX."""
    arch = engine.device.removeprefix("vgpu:")
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        done = subprocess.run(
            [PTXAS, f"-arch={arch}", "-O0", "-o", os.devnull, file.name],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode:
        return Verdict("ptxas", engine.name, done.stderr.strip().splitlines()[0])
    return None
