"""A compiled kernel: callable, with its program and what was decided about it."""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

from tilewright.frontend.functions import PrimFunc
from tilewright.runtime.arguments import (
    bind_symbols,
    convert_argument,
    get_stream,
    output_maker,
)
from tilewright.runtime.device import Placement, place
from tilewright.runtime.kernel_texts import KernelTexts
from tilewright.runtime.packing import Packed
from tilewright.runtime.pass_config import deterministic, fast_math, names_fast_math, settings
from tilewright.support import environment
from tilewright.support.errors import LanguageError, reporting, shorten
from tilewright.support.suggest import hint_for
from tilewright.support.waiting import is_shown, waiting

if TYPE_CHECKING:
    from pathlib import Path

    from tilewright.runtime.prediction import Prediction
    from tilewright.runtime.progress import ProgressLine
    from tilewright.runtime.ptxas import Cubin
    from tilewright.runtime.verify import Verification
    from tilewright.types.kernel_param import KernelParam

__tracebackhide__ = True  # pytest shows the user's frames


class Remark(NamedTuple):
    """A decision of the compiler, at a line of the user's source.

    `message` is a sentence for readers; `kind`, `buffer` and `data` say the same to programs. Kinds
    and their data (integers and words; "arch", and "divisible" for code of special calls, are
    there for each decision about GPU code):

    - "access": how a tensor or tile (`buffer`) is read, written or updated by a statement: "width"
      in elements, "instruction", "lines_per_warp" of 128 bytes, "refusal" (why it is not wider);
      for operands of a gemm "instruction" is "ldmatrix" and "count" how many;
    - "gemm": a product that leaves the tensor cores: "unit", "reason"; on the CPU one that uses the
      host's dot products: "unit";
    - "placement": a fragment (`buffer`) that lives in shared memory: "space", "reason";
    - "pipeline": a copy that is not overlapped: "reason";
    - "fusion", "rows", "transposed": which statements run together on the CPU, row by row, or on
      tiles stored transposed, and what stands in the way (docs/cpu.md);
    - "operand", "prefetch", "accumulator", "update": how a product on the CPU gets its operands,
      what is prefetched, where its sums begin and end, and which tensors are updated under locks;
    - "overlap": a call has arguments that share memory, and runs code of its own on the CPU;
    - "prediction": what the cost model predicts for a launch (of reports and `predict` only):
      "microseconds", "machine", "limited_by", "cycle" and its "cycle_cycles";
    - "spill": registers that ptxas keeps in memory, with all its figures;
    - "device": why a kernel runs where it does;
    - "unused": a parameter that the kernel never uses;
    - "cache": why nothing is kept on disk.
    """

    file: str
    line: int
    severity: str
    kind: str
    buffer: str
    message: str
    data: dict[str, Any]

    def __str__(self) -> str:
        return f"{shorten(self.file)}:{self.line}: {self.severity}: {self.message}"

    def __repr__(self) -> str:
        return f"<{self.kind} {self}>"


class Remarks(list[Remark]):
    """A list of remarks that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from tilewright.support.html import table

        rows = [(f"{shorten(r.file)}:{r.line}", r.kind, r.buffer, r.message) for r in self]
        return table(("line", "kind", "tile", "decision"), rows, f"{len(self)} remarks")


class TilewrightWarning(UserWarning):
    """A result depends on what it should not, or a figure says less than it seems to."""

    __module__ = "tilewright.kernel"  # where users find it


#: Called while a kernel runs with the number of the launch, its blocks that are done, and all.
Progress = Callable[[int, int, int], Any]

#: What `JITKernel.ir` shows of the way to GPU code, in order.
GPU_STAGES = ("tile", "layouts", "threads", "nvvm", "llvm", "ptx")

#: The stages of CPU code after the passes on tile IR, and their names there.
CPU_STAGES = {"host": "host", "host-llvm": "llvm", "asm": "asm"}

#: While this is a dictionary, calls check their arguments and run nothing; it gets copies of the
#: arguments of the first call of each kernel, by its id (`tw compile`, `tw check`).
skipped_calls: dict[int, list[Any]] | None = None

#: While this is a dictionary, it gets copies of the arguments of the first call of each kernel, by
#: its id, and the call goes on (`tw run --report`).
first_calls: dict[int, list[Any]] | None = None

#: Called with each kernel after it was compiled and after each run; `tw run` listens.
listeners: list[Any] = []


class JITKernel(KernelTexts):
    """A compiled kernel. Call it with numpy arrays or torch tensors, in parameter order.

    Parameters named by `out_idx` are left out of the call: they are allocated and returned.
    """

    def __init__(
        self,
        prim_func: PrimFunc,
        out_idx: Sequence[int] | int | None = None,
        placement: Placement | None = None,
        pass_configs: dict[str, Any] | None = None,
        target: Any = None,
    ) -> None:
        self.prim_func = prim_func
        self.program = prim_func.program
        self.params = prim_func.params
        self._is_strided = any(p.get("is_strided") or "narrow" in p for p in self.params)
        visible = [parameter for parameter in self.params if "pointed" not in parameter]
        self._visible = len(visible)  # a call fills the others, which follow them
        own = prim_func.out_idx if out_idx is None else out_idx  # what it returns itself
        self.out_idx = _normalize_outputs(own, visible)
        self.pass_configs = pass_configs or {}
        if names_fast_math(self.pass_configs):  # else what the function was traced with holds
            self._set("fast_math", fast_math(self.pass_configs))
        for setting in settings(self.pass_configs):
            self._set(setting, True)
        if placement is None and target is not None:
            placement = place(target)
        self.placement = placement or Placement("interp", "interp", None)
        self.findings: list[dict[str, Any]] = []
        self.last_run: dict[str, Any] = {}
        self._remarks: list[Remark] = []
        self.options: dict[str, Any] = {}
        self.seconds: dict[str, float] = dict(prim_func.seconds)  # how long each phase took
        self.latency: float | None = None  # of the tuner, in milliseconds
        self.ref_latency: float | None = None
        self.config: dict[str, Any] | None = None
        self._gpu: dict[tuple[str, ...], dict[str, Any]] = {}
        self._kernel: Any = None  # the program on the engine of its device
        self._progress: Progress | None = None
        self._line: ProgressLine | None = None  # on a terminal, of launches on the CPU
        self._cubins: dict[str, Cubin] = {}
        if self.placement.reason is not None:
            self._remark("device", self.placement.reason)
        for parameter in self.params:
            if not parameter.get("is_used", True):
                self._remark("unused", f"parameter '{parameter['name']}' is never used")
        self._compile()
        self._tell("compiled")

    def _set(self, setting: str, is_set: bool) -> None:
        """Gives the program a setting; a program that differs is a copy, which costs."""
        if self.program.has_setting(setting) != is_set:
            self.program = self.program.with_setting(setting, is_set)

    def _tell(self, event: str) -> None:
        for listener in listeners:
            listener(event, self)

    def watch(self, progress: Progress | None) -> Progress | None:
        """Has `progress(launch, blocks_done, blocks)` called some twenty times a second while the
        kernel runs on the CPU; an exception from there ends the launch. Gives the previous one."""
        previous, self._progress = self._progress, progress
        self._kernel.set_progress(progress)
        return previous

    @reporting
    def _compile(self) -> None:
        """Compiles for the device: what it cannot do is said now, not at the first call."""
        device = self.placement.device
        start = time.perf_counter()
        goal = self.placement.arch if self.placement.is_gpu else f"the {device.upper()}"
        with waiting(f"compile '{self.name}' for {goal}"):
            self._kernel = self.program.kernel(device)
        self._kernel.set_deterministic(deterministic(self.pass_configs))
        if device == "cpu" and is_shown():
            from tilewright.runtime.progress import ProgressLine

            self._line = ProgressLine(self)
            self.watch(self._line)
        code = self._kernel.code([], self.placement.is_gpu)
        if self.placement.is_gpu:
            self._gpu[(self.placement.arch,)] = code
        self._note_code(code, start)

    def _note_code(self, code: dict[str, Any] | None, start: float) -> None:
        """Notes how long it took to have code; None where the engine needs none."""
        if code is None:
            return
        self.seconds["load" if code["from_cache"] else "compile"] = time.perf_counter() - start
        self._remark_cache()

    def _remark_cache(self) -> None:
        """Says, once, why nothing is kept on disk."""
        from tilewright._core import core

        problem = core.cache_status()["problem"]
        if problem and not any(remark.kind == "cache" for remark in self._remarks):
            self._remark("cache", problem)

    def _remark(self, kind: str, message: str) -> None:
        location = self.prim_func.location
        self._remarks.append(Remark(location.file, location.line, "remark", kind, "", message, {}))

    @property
    def remarks(self) -> Remarks:
        """What the compiler decided, up to now: a call may need code that no other has needed."""
        return Remarks(self._remarks + [_read_remark(found) for found in self._kernel.remarks])

    @property
    def counters(self) -> list[dict[str, Any]]:
        """What the virtual GPU counted in the last run, for each launch: instructions, bytes,
        shared-memory passes ("shared_wavefronts") and how many would do, …

        Example:
            kernel = tilewright.compile(func, device="vgpu:sm_80")
            kernel(a, b)
            kernel.counters[0]["shared_wavefronts"]
        """
        return [json.loads(launch)["counters"] for launch in self.last_run.get("launches", [])]

    @property
    def name(self) -> str:
        """The name of the traced function."""
        return self.prim_func.__name__

    @property
    def execution_backend(self) -> str:
        """TileLang's name for its default way of calling kernels; here there is one way only."""
        return "tvm_ffi"

    @property
    def adapter(self) -> Any:
        """TileLang's way to the compiled module of TVM: refused where it is used."""
        from tilewright.support.not_part import NotPart

        reason = "call the kernel; kernel.ptx and kernel.ir(stage) show its code"
        return NotPart("tilelang.jit.JITKernel.adapter", reason)

    @reporting
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        is_quick = not (self._is_strided or self._visible < len(self.params))
        if is_quick and not (kwargs or self.options) and first_calls is None:
            start = time.perf_counter() if listeners else 0.0
            result = self._kernel.call_again(args)  # if it was called like this before
            if self._line is not None:
                self._line.finish()
            if result is not NotImplemented:
                if listeners:
                    self.last_run = {"seconds": time.perf_counter() - start}
                    self._tell("ran")
                return result
        values = self._arrange(args, kwargs)
        on_cuda = self.placement.is_cuda
        gathered = self._gather(values, on_cuda)
        packed = Packed()
        converted = [
            None if position in self.out_idx else packed.convert(value, parameter, on_cuda)
            for position, (value, parameter) in enumerate(zip(values, self.params, strict=True))
        ]
        if self._is_strided:
            packed.check_overlaps()
        symbols = bind_symbols(self.params, converted) if self.out_idx else {}
        inputs = [value for n, value in enumerate(values) if n not in self.out_idx]
        makers: list[Any] = [None] * len(values)
        for position in self.out_idx:
            parameter = self.params[position]
            makers[position] = output_maker(parameter, symbols, inputs)
            values[position] = makers[position]()
            converted[position] = convert_argument(values[position], parameter, on_cuda)
        self._run(values, converted, makers)
        packed.write_back()
        if gathered is not None:
            gathered.scatter()
        if not self.out_idx:
            return None
        outputs = [values[position] for position in self.out_idx]
        return outputs[0] if len(outputs) == 1 else outputs

    def _gather(self, values: list[Any], on_cuda: bool) -> Any:
        """Fills in the memory that addresses lead to; None if the kernel has no addresses."""
        if self._visible == len(self.params):
            return None
        if on_cuda:
            raise LanguageError("addresses (T.ptr) are not followed on a GPU yet")
        from tilewright.runtime.pointed import Gathered

        return Gathered(self.params, values)

    def _arrange(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments in parameter order, None for outputs."""
        wanted = [n for n in range(self._visible) if n not in self.out_idx]
        names = [self.params[n]["name"] for n in wanted]
        if len(args) + len(kwargs) != len(wanted):
            outputs = f" ({len(self.out_idx)} outputs are returned)" if self.out_idx else ""
            raise LanguageError(
                f"kernel '{self.name}' takes {len(wanted)} arguments ({', '.join(names)})"
                f"{outputs}, "
                f"got {len(args) + len(kwargs)}"
            )
        values: list[Any] = [None] * len(self.params)
        for position, value in zip(wanted, args, strict=False):
            values[position] = value
        for key, value in kwargs.items():
            if key not in names[len(args) :]:
                raise LanguageError(f"kernel '{self.name}' has no further argument '{key}'")
            values[wanted[names.index(key)]] = value
        return values

    def _run(self, values: list[Any], converted: list[Any], makers: list[Any]) -> None:
        if skipped_calls is not None:
            self._skip(values, converted)
            return
        self._keep_call(first_calls, values)
        device = self.placement.device
        options = {**_environment_options(), **self.options}
        options["unwritten"] = [n for n, maker in enumerate(makers) if maker is not None]
        if deterministic(self.pass_configs) is not None:
            options.setdefault("deterministic", deterministic(self.pass_configs))
        if self.placement.is_cuda:
            options["stream"] = get_stream(values)
        with nullcontext() if self._line else waiting(f"run '{self.name}' on {device}"):
            self.last_run = self._kernel.call(values, converted, makers, options)
        if self._line is not None:
            self._line.finish()
        self.findings = self.last_run["findings"]
        sys.stdout.write(self.last_run.get("output", ""))  # of T.print
        self._tell("ran")
        self._report_findings(raise_all=bool(options.get("strict", True)))

    def _skip(self, values: list[Any], converted: list[Any]) -> None:
        """In place of a run: its arguments are checked, and kept if this is the first call."""
        self.program.check_arguments(converted)
        self._keep_call(skipped_calls, values)

    def _keep_call(self, calls: dict[int, list[Any]] | None, values: list[Any]) -> None:
        """Keeps copies of the arguments of the first call, None for outputs."""
        if calls is None or id(self) in calls:
            return
        from tilewright.runtime.verify import to_numpy

        calls[id(self)] = [
            None if position in self.out_idx else to_numpy(value)
            for position, value in enumerate(values)
        ]

    def _report_findings(self, raise_all: bool) -> None:
        """Findings are errors; `options["strict"] = False` makes those warnings that let the kernel
        run to its end."""
        serious = [finding for finding in self.findings if finding["severity"] != "note"]
        if not serious:
            return
        from tilewright.runtime.findings import FindingsError, location_of, render_finding

        if raise_all or any(finding["severity"] == "error" for finding in serious):
            raise FindingsError(serious, self.prim_func.location)
        for finding in serious:
            location = location_of(finding) or self.prim_func.location
            text = render_finding(finding, location, "warning")
            warnings.warn_explicit(text, TilewrightWarning, location.file, location.line)

    @reporting
    def ir(
        self, stage: str = "tile", arch: str | None = None, divisible: Sequence[str] = ()
    ) -> str:
        """The program as text, at one stage of its way to code.

        "tile" is as it was traced. To GPU code for `arch`: "layouts" after layout inference,
        "threads" the code of one thread, "nvvm" the same in LLVM's and NVVM's dialects, "llvm"
        optimised LLVM IR, "ptx" what the GPU is given. To CPU code: "host" loops and vectors,
        "host-llvm" optimised LLVM IR, "asm" the machine's code. The name of a pass gives the IR
        after it.

        The code is right for all shapes. A call in which 16 divides some of the symbols in the
        shapes of its tensors takes GPU code with wider accesses: `divisible` names the symbols, and
        shows that code.
        """
        from tilewright._core import core

        passes = core.pass_names()
        known = [*GPU_STAGES, *CPU_STAGES, *(name for names in passes.values() for name in names)]
        if stage not in known:
            hint = hint_for(stage, known) or f"the stages are {', '.join(known)}"
            raise LanguageError(f"there is no stage '{stage}'", hint=hint)
        if stage == "tile":
            return self.program.text()
        if stage == "ptx":
            return self._compiled(arch, divisible)["ptx"]
        if stage in CPU_STAGES:
            return self.program.compile_cpu()[CPU_STAGES[stage]]
        stage = {"layouts": "tile-infer-layouts"}.get(stage, stage)
        if stage in passes["check"]:
            dumps = self.program.check([stage])
        elif stage in passes["cpu"]:
            dumps = self.program.compile_cpu([stage])["dumps"]
        else:
            arch = arch or self.placement.arch
            dumps = self.program.compile_gpu(arch, [stage], list(divisible))["dumps"]
        return dict(dumps)[stage]

    def get_profiler(self, tensor_supply_type: Any = None) -> Any:
        """A profiler that makes inputs for this kernel, times it and compares it (profiler.py)."""
        from tilewright.runtime.profiler import Profiler
        from tilewright.runtime.supply import TensorSupplyType

        return Profiler(self, tensor_supply_type or TensorSupplyType.Auto)

    def _compiled(self, arch: str | None = None, divisible: Sequence[str] = ()) -> dict[str, Any]:
        """PTX, launch facts and remarks for `arch`, compiled on first use."""
        key = (arch or self.placement.arch, *divisible)
        if key not in self._gpu:
            start = time.perf_counter()
            with waiting(f"compile '{self.name}' for {key[0]}"):
                if self.placement.is_gpu and key[0] == self.placement.arch:
                    self._gpu[key] = self._kernel.code(list(divisible), True)
                else:
                    self._gpu[key] = self.program.compile_gpu(key[0], [], list(divisible))
                    self._remarks += map(_read_remark, self._gpu[key]["remarks"])
            self._note_code(self._gpu[key], start)
        return self._gpu[key]

    @property
    def ptx(self) -> str:
        """PTX of the kernel for its target's architecture, sm_80 where none is named."""
        return self._ptx(None)

    @reporting
    def _ptx(self, arch: str | None) -> str:
        return self._compiled(arch)["ptx"]

    @reporting
    def cubin(self, arch: str | None = None) -> bytes:
        """Machine code, by ptxas. A kernel that spills registers gets a remark."""
        return self._assembled(arch or self.placement.arch).data

    def export_library(self, path: str | Path, **options: Any) -> list[Path]:
        """Writes the kernel as a library for C and C++, as `tilewright.export_library` does:
        "out/gemm" writes out/gemm.h, out/gemm.a and out/gemm.json. Gives the files."""
        from tilewright.runtime.export import export_library

        return export_library(path, self, **options)

    def _assembled(self, arch: str) -> Cubin:
        if arch not in self._cubins:
            from tilewright.runtime.ptxas import assemble  # and subprocess: not at every start

            cubin = self._cubins[arch] = assemble(self._ptx(arch), arch)
            location = self.prim_func.location
            for name, usage in cubin.usage.items():
                if usage.spills:
                    text = (
                        f"'{name}' spills for {arch}: {usage.registers} registers, "
                        f"{usage.spill_store_bytes} bytes of spill stores and "
                        f"{usage.spill_load_bytes} bytes of spill loads a thread"
                    )
                    data = {"arch": arch, **asdict(usage)}
                    self._remarks.append(
                        Remark(location.file, location.line, "remark", "spill", "", text, data)
                    )
        return self._cubins[arch]

    @reporting
    def summary(self, arch: str | None = None) -> dict[str, Any]:
        """What the kernel is: name, parameters, and for each launch its grid, threads and tiles.

        With `arch`, or on a GPU device, each launch also has "gpu": dynamic shared memory and,
        where ptxas is installed, its figures (`registers`, `spill_store_bytes`, …).
        """
        summary = self.program.summary()
        arch = arch or (self.placement.arch if self.placement.is_gpu else None)
        if arch is None:
            return summary
        from tilewright.runtime.ptxas import find_ptxas

        usage = self._assembled(arch).usage if find_ptxas() else {}
        for launch, info in zip(summary["kernels"], self._compiled(arch)["kernels"], strict=True):
            figures = asdict(usage[info["name"]]) if usage else {}
            launch["gpu"] = {"arch": arch, "shared_bytes": info["shared_bytes"], **figures}
        return summary

    @reporting
    def verify(
        self,
        *args: Any,
        arch: str | None = None,
        ptx: str | None = None,
        sizes: Mapping[str, int] | None = None,
        **kwargs: Any,
    ) -> Verification:
        """Runs the kernel on every engine and compares all values with the interpreter's.

        Arguments are those of a call, and are copied. Without any, inputs are made up; `sizes`
        gives shape symbols their values. The engines are the CPU and the virtual GPUs of sm_80,
        sm_90 and sm_90a, one for each kind of code; with `arch` the virtual GPU of that one alone,
        with `arch="all"` the CPU and those of all. Values agree when they differ by at most the
        error radii that the interpreter carries for both runs. Prints one line, and what is wrong.
        The result is true if all engines agree and no check found anything; of each tensor that
        differs it names the first element, by its logical index, both values, and the Python line
        that wrote it. `ptx` runs in place of the kernel's own PTX.
        """
        from tilewright.runtime.verify import verify

        result = verify(self, args, kwargs, arch, ptx, sizes)
        print(result if not result else result.headline)
        return result

    @reporting
    def predict(
        self,
        *args: Any,
        arch: str | None = None,
        sizes: Mapping[str, int] | None = None,
        **kwargs: Any,
    ) -> Prediction:
        """How long a call would take on a GPU of `arch`, by the cost model: a prediction.

        Arguments are those of a call, and are not changed. Without any, inputs are made up; `sizes`
        gives shape symbols their values. Some blocks run on the virtual GPU, alone. The result has
        `milliseconds`, the `machine` that stands for the architecture, and for each launch what
        limits it and its critical cycle; printed, it says so.
        """
        from tilewright.runtime.prediction import predict

        return predict(self, args, kwargs, arch, sizes)

    @reporting
    def report_data(
        self,
        *args: Any,
        arch: str | None = None,
        sizes: Mapping[str, int] | None = None,
        blocks: str = "auto",
        verify: bool = False,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """What the compiler decided and the virtual GPU counted, as data that JSON can hold.

        Arguments are those of a call, and are copied. Without any, inputs are made up; `sizes`
        gives shape symbols their values. `blocks` says what runs on the virtual GPU: "all", the
        first "one", or "auto", which is one for grids of more than 64. With `verify` the result
        is compared with the interpreter's. docs/reference/report.md has the schema.
        """
        from tilewright.runtime.report import report_data

        return report_data(self, args, kwargs, arch, sizes, blocks, verify)

    @reporting
    def report(self, path: str, *args: Any, **options: Any) -> None:
        """Writes an HTML page that shows what the compiler decided and what it costs.

        The page needs nothing but itself: source with decisions and counters, IR and PTX of every
        stage, layouts, shared memory, a timeline, a summary. The arguments after the path are those
        of `report_data`.
        """
        from tilewright.report.page import write_page

        data = self.report_data(*args, **options)
        try:
            write_page(path, [data])
        except OSError as error:
            raise LanguageError(f"'{path}' cannot be written: {error.strerror}") from None

    def _repr_html_(self) -> str:
        """For notebooks: the parameters and the launches with their tiles, as tables."""
        from tilewright.support.html import table

        parameters = []
        for position, parameter in enumerate(self.params):
            is_tensor = parameter["kind"] == "tensor"
            shape = " x ".join(map(str, parameter["shape"])) if is_tensor else "a number"
            role = "returned" if position in self.out_idx else "argument"
            if is_tensor and parameter.get("is_written") and role == "argument":
                role += ", written"
            parameters.append((parameter["name"], parameter["dtype"], shape, role))
        head = f"kernel '{self.name}' on {self.placement.device}"
        text = table(("parameter", "dtype", "shape", "role"), parameters, head)
        for number, launch in enumerate(self.program.summary()["kernels"]):
            grid, threads = (
                " x ".join(map(str, launch[name])) or "1" for name in ("grid", "threads")
            )
            tiles = [
                (t["name"], t["scope"], t["dtype"], " x ".join(map(str, t["shape"])), t["bytes"])
                for t in launch["tiles"]
            ]
            caption = f"launch {number}: grid {grid}, {threads} threads"
            text += table(("tile", "in", "dtype", "shape", "bytes"), tiles, caption)
        return text

    def __repr__(self) -> str:
        """Name, device, parameters and launches, on one line."""
        described = []
        for position, parameter in enumerate(self.params):
            shape = ", ".join(map(str, parameter["shape"]))
            extents = f"[{shape}]" if parameter["kind"] == "tensor" else ""
            out = "returns " if position in self.out_idx else ""
            described.append(f"{out}{parameter['name']}: {parameter['dtype']}{extents}")
        launches = []
        for launch in self.program.summary()["kernels"]:
            grid, threads = (
                " x ".join(map(str, launch[name])) or "1" for name in ("grid", "threads")
            )
            launches.append(f"grid {grid}, {threads} threads")
        head = f"<kernel '{self.name}' on {self.placement.device}"
        return f"{head}: ({', '.join(described)}); {'; '.join(launches)}>"


def _read_remark(decided: tuple[str, int, str, str, str, str]) -> Remark:
    file, line, kind, buffer, message, text = decided
    data = json.loads(text)
    if "divisible" in data:
        data["divisible"] = tuple(data["divisible"])
    return Remark(file, line, "remark", kind, buffer, message, data)


def _environment_options() -> dict[str, Any]:
    check = environment.switch("TILEWRIGHT_CHECK")
    if check is None:
        return {}
    return {"check": True} if check else {"check": False, "checks": "none"}


def _normalize_outputs(out_idx: Any, params: list[KernelParam]) -> list[int]:
    """Positions of the parameters that are allocated; negative ones count from the end."""
    if out_idx is None:
        return []
    wanted = list(out_idx) if isinstance(out_idx, list | tuple) else [out_idx]
    result = []
    for index in wanted:
        if isinstance(index, bool) or not isinstance(index, int):
            raise LanguageError(f"out_idx must be integers, got {index!r}")
        if not -len(params) <= index < len(params):
            raise LanguageError(
                f"out_idx {index} is out of range; number of parameters: {len(params)}"
            )
        position = index % len(params)
        if params[position]["kind"] != "tensor":
            raise LanguageError(
                f"out_idx {index}: parameter '{params[position]['name']}' is not a tensor"
            )
        if position in result:
            raise LanguageError(f"out_idx names parameter '{params[position]['name']}' twice")
        result.append(position)
    return result
