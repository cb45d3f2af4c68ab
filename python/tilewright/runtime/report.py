"""What a report of a kernel is made of: `kernel.report_data()` (docs/reference/report.md).

Everything is data of the compiler and of the virtual GPU: decisions, counters by source line, IR
with the source line of each of its lines, placements, live ranges, and the events of one block.
"""

from __future__ import annotations

import json
import linecache
from collections.abc import Mapping
from typing import Any

from tilewright.report.machines import MACHINES, occupancy, predict, work_of
from tilewright.report.timeline import make_timeline
from tilewright.runtime.device import ARCHS
from tilewright.support.errors import LanguageError, shorten

#: The version of the schema of `report_data`.
SCHEMA = 1

#: A launch with more blocks than this is run for one of them.
MOST_BLOCKS = 64

#: Lines of source around those that a kernel names; a shorter file is shown whole.
_MARGIN, _WHOLE = 20, 2000


class _Files:
    """The source files of a report: each has a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._lines: list[set[int]] = []

    def location(self, file: str, line: int) -> list[int] | None:
        """[file, line], or None for code of no line."""
        if not file or line <= 0:
            return None
        number = self._numbers.setdefault(file, len(self._numbers))
        if number == len(self._lines):
            self._lines.append(set())
        self._lines[number].add(line)
        return [number, line]

    def location_text(self, text: str) -> list[int] | None:
        """The same of "file.py:12"."""
        file, _, line = text.rpartition(":")
        return self.location(file, int(line)) if file and file != "ptx" else None

    def describe(self) -> list[dict[str, Any]]:
        """The text of each file, from line "first" on."""
        described = []
        for file, named in zip(self._numbers, self._lines, strict=True):
            lines = [line.rstrip("\n") for line in linecache.getlines(file)]
            first, last = 1, len(lines)
            if last > _WHOLE:
                first, last = max(1, min(named) - _MARGIN), min(last, max(named) + _MARGIN)
            described.append(
                {"name": shorten(file), "first": first, "lines": lines[first - 1 : last]}
            )
        return described


class Gatherer:
    """Gathers the data of one report."""

    def __init__(self, kernel: Any, arch: str) -> None:
        if arch not in ARCHS:
            raise LanguageError(f"unknown architecture '{arch}'", hint=f"use {', '.join(ARCHS)}")
        self.kernel, self.arch = kernel, arch
        self.files = _Files()
        self.files.location(kernel.prim_func.location.file, kernel.prim_func.location.line)

    def gather(
        self, values: list[Any], made_up: dict[str, Any] | None, blocks: str
    ) -> dict[str, Any]:
        """The report for a call with these arguments, in parameter order."""
        from tilewright._core import core
        from tilewright.support.version import __version__

        code = self.kernel._compiled(self.arch)
        plan, stages = self._stages(code)
        run = self._run(values, blocks)
        launches = self._launches(plan, run, code, values)
        predicted = self._predict(launches, values)
        location = self.kernel.prim_func.location
        data = {
            "schema": SCHEMA,
            "tilewright": __version__,
            "name": self.kernel.name,
            "location": self.files.location(location.file, location.line),
            "device": self.kernel.placement.device,
            "arch": self.arch,
            "config": {key: repr(value) for key, value in (self.kernel.config or {}).items()},
            "params": self._params(values),
            "made_up": made_up,
            "launches": launches,
            "remarks": self._remarks(code) + predicted,
            "stages": stages,
            "findings": self._findings(run["findings"]),
            "verification": None,
            "limits": core.arch_limits(list(ARCHS)),
            "reproduce": self._reproduce(made_up),
        }
        data["files"] = self.files.describe()
        return data

    def _predict(self, launches: list[dict[str, Any]], values: list[Any]) -> list[dict[str, Any]]:
        """Puts the model's prediction into each launch, and gives the remarks about them."""
        from tilewright.runtime.prediction import as_data, predict_call

        for launch in launches:
            launch["prediction"] = None
        if not any(launch["counters"] for launch in launches):
            return []
        prediction = predict_call(self.kernel, values, self.arch)
        location = self.kernel.prim_func.location
        remarks = []
        for launch, found in zip(launches, as_data(prediction), strict=False):
            launch["prediction"] = {"is_model": True, "machine": prediction.machine, **found}
            data = {
                "arch": self.arch,
                "machine": prediction.machine,
                "microseconds": found["microseconds"],
                "limited_by": found["limited_by"],
                "cycle": [name for name, _ in found["cycle"]["steps"]],
                "cycle_cycles": found["cycle"]["cycles"],
            }
            remarks.append(
                {
                    "location": self.files.location(location.file, location.line),
                    "kind": "prediction",
                    "buffer": "",
                    "message": f"predicted for {prediction.machine}: {found['text']}",
                    "data": data,
                }
            )
        return remarks

    # ---- The program ----

    def _params(self, values: list[Any]) -> list[dict[str, Any]]:
        described = []
        for position, (parameter, value) in enumerate(zip(self.kernel.params, values, strict=True)):
            is_tensor = parameter["kind"] == "tensor" and hasattr(value, "shape")
            described.append(
                {
                    "name": parameter["name"],
                    "dtype": str(parameter["dtype"]),
                    "shape": [int(extent) for extent in value.shape] if is_tensor else [],
                    "bytes": int(value.nbytes) if is_tensor else 0,
                    "is_tensor": is_tensor,
                    "is_written": bool(parameter.get("is_written")),
                    "is_returned": position in self.kernel.out_idx,
                }
            )
        return described

    def _remarks(self, code: dict[str, Any]) -> list[dict[str, Any]]:
        """The decisions of this architecture, and those that belong to none."""
        from tilewright.runtime.kernel import _read_remark

        wanted = [_read_remark(found) for found in code["remarks"]]
        wanted += [remark for remark in self.kernel._remarks if "arch" not in remark.data]
        return [
            {
                "location": self.files.location(remark.file, remark.line),
                "kind": remark.kind,
                "buffer": remark.buffer,
                "message": remark.message,
                "data": {
                    key: list(value) if isinstance(value, tuple) else value
                    for key, value in remark.data.items()
                },
            }
            for remark in wanted
        ]

    def _stages(self, code: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The plan, and the texts of the program on its way to code."""
        from tilewright._core import core

        plan: dict[str, Any] = {"kernels": []}
        stages = []
        for name, text in self.kernel.program.describe_gpu(self.arch, []):
            found = json.loads(text)
            if name == "plan":
                plan = found
                continue
            lines = [
                None
                if location is None
                else self.files.location(found["files"][location[0]], location[1])
                for location in found["lines"]
            ]
            kind = "threads" if name == "threads" else "pass"
            stages.append({"name": name, "kind": kind, "text": found["text"], "lines": lines})
        self.ptx_locations: dict[int, list[int] | None] = {}
        ptx = code["ptx"]
        module = core.vgpu_load(ptx, "kernel.ptx") if ptx.strip() else None
        for line, file, source, _, _ in module.instructions() if module else ():
            self.ptx_locations[line] = self.files.location(file, source)
        count = ptx.count("\n") + 1
        lines = [self.ptx_locations.get(number) for number in range(1, count + 1)]
        stages.append({"name": "ptx", "kind": "ptx", "text": ptx, "lines": lines})
        sass = self._sass()
        return plan, [*stages, sass] if sass else stages

    def _sass(self) -> dict[str, Any] | None:
        """Machine code, where ptxas and nvdisasm are found."""
        from tilewright.runtime.ptxas import disassemble, find_nvdisasm, find_ptxas

        if not find_ptxas() or not find_nvdisasm():
            return None
        listing = disassemble(self.kernel._ptx(self.arch), self.arch)
        lines = [self.ptx_locations.get(number) for _, number in listing]
        text = "\n".join(line for line, _ in listing)
        return {"name": "sass", "kind": "sass", "text": text, "lines": lines}

    # ---- The run ----

    def _run(self, values: list[Any], blocks: str) -> dict[str, Any]:
        """One run on the virtual GPU, with the trace of a block."""
        from tilewright.runtime.arguments import convert_argument
        from tilewright.runtime.packing import with_strides_of
        from tilewright.runtime.verify import to_numpy
        from tilewright.support.waiting import waiting

        def run(is_alone: bool) -> dict[str, Any]:
            copies: dict[int, Any] = {}
            arrays = [copies.setdefault(id(value), to_numpy(value)) for value in values]
            converted = [
                with_strides_of(value, convert_argument(array, parameter), parameter)
                for value, array, parameter in zip(values, arrays, self.kernel.params, strict=True)
            ]
            checks = "none" if is_alone else "all"
            return self.kernel.program.run(
                f"vgpu:{self.arch}", converted, {"trace": (0, is_alone), "checks": checks}
            )

        grids = [_count(launch["grid"]) for launch in self.kernel.program.summary()["kernels"]]
        is_alone = blocks == "one" or (
            blocks == "auto" and any(grid is not None and grid > MOST_BLOCKS for grid in grids)
        )
        with waiting(f"run '{self.kernel.name}' on vgpu:{self.arch} for its report"):
            found = run(is_alone)
            if is_alone and found["stopped"]:  # its blocks wait for each other
                found, is_alone = run(False), False
        self.is_alone = is_alone
        return found

    def _launches(
        self, plan: dict[str, Any], run: dict[str, Any], code: dict[str, Any], values: list[Any]
    ) -> list[dict[str, Any]]:
        summary = self.kernel.summary(self.arch)["kernels"]
        results = [json.loads(text) for text in run["launches"]]
        tensor_bytes = sum(int(getattr(value, "nbytes", 0)) for value in values)
        launches = []
        for number, (info, launch) in enumerate(zip(code["kernels"], summary, strict=True)):
            described = plan["kernels"][number] if number < len(plan["kernels"]) else {}
            result = results[number] if number < len(results) else None
            entry: dict[str, Any] = {
                "name": info["name"],
                "grid": launch["grid"],
                "threads": info["threads"],
                "program_threads": described.get("threads", info["threads"]),
                "shared_bytes": info["shared_bytes"],
                "registers": launch["gpu"].get("registers"),
                "spilled_bytes": launch["gpu"].get("spill_store_bytes"),
                "tiles": [self._located(tile) for tile in described.get("tiles", [])],
                "statements": [self._located(s) for s in described.get("statements", [])],
                "ops": described.get("ops", 0),
                "is_one_block": self.is_alone,
            }
            entry.update(self._measured(entry, result, tensor_bytes))
            launches.append(entry)
        return launches

    def _located(self, entry: dict[str, Any]) -> dict[str, Any]:
        """With "location" instead of a file's name."""
        entry = dict(entry)
        entry["location"] = self.files.location(entry.pop("file", ""), entry.pop("line", 0))
        for access in entry.get("accesses", []):
            access["location"] = self.files.location(access.pop("file", ""), access.pop("line", 0))
        return entry

    def _measured(
        self, launch: dict[str, Any], result: dict[str, Any] | None, tensor_bytes: int
    ) -> dict[str, Any]:
        """Counters, timeline, occupancy and roofline."""
        from tilewright._core import core

        limits = core.arch_limits(list(ARCHS))
        resident = {
            arch: occupancy(limits[arch], launch["threads"], launch["shared_bytes"],
                            launch["registers"])
            for arch in ARCHS
        }  # fmt: skip
        measured: dict[str, Any] = {"occupancy": resident, "counters": None, "trace": None}
        measured["roofline"], measured["work"] = {}, None
        if result is None:
            return measured
        counters = result["counters"]
        for line in counters["source_lines"]:
            line["location"] = self.files.location_text(line.pop("source"))
        for line in counters.get("lines", []):
            line["location"] = self.files.location_text(line.pop("source"))
        measured["counters"] = counters
        if result.get("trace"):
            launch["grid"] = result["trace"]["grid"]  # with the numbers of this call
        blocks = _count(launch["grid"]) or 1
        work = work_of(counters, blocks if self.is_alone else 1, tensor_bytes)
        measured["work"] = work
        measured["roofline"] = {
            arch: predict(machine, work, blocks, resident[arch]["blocks"])
            for arch, machine in MACHINES.items()
        }
        trace = result.get("trace")
        if trace is not None:
            machine = MACHINES[self.arch]
            locations = {
                line: tuple(location) for line, location in self.ptx_locations.items() if location
            }
            measured["trace"] = {
                "block": trace["block"],
                "warps": trace["warps"],
                "is_truncated": trace["is_truncated"],
                "events": len(trace["events"]),
                "timeline": make_timeline(trace, locations, machine, launch["program_threads"]),
                "accesses": [
                    {**access, "location": self.ptx_locations.get(access["ptx_line"])}
                    for access in trace["accesses"]
                ],
            }
        return measured

    # ---- What was found, and how to see it again ----

    def _findings(self, findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
        left_out = ("file", "line", "column", "details", "other")
        return [
            {
                **{key: value for key, value in finding.items() if key not in left_out},
                "location": self.files.location(finding["file"], finding["line"]),
            }
            for finding in findings
        ]

    def add_verification(self, data: dict[str, Any], result: Any) -> None:
        """Adds what `kernel.verify` said."""
        data["verification"] = {
            "is_right": bool(result),
            "headline": result.headline,
            "engines": list(result.engines),
            "refused": dict(result.refused),
            "differences": [str(difference) for difference in result.differences],
            "findings": [finding["text"] for finding in result.findings],
        }

    def _reproduce(self, made_up: dict[str, Any] | None) -> dict[str, str]:
        location = self.kernel.prim_func.location
        script = shorten(location.file)
        return {
            "command": f"tw run {script} --device vgpu:{self.arch} --report report.html",
            "python": f'kernel.report("report.html", arch="{self.arch}")'
            if made_up is not None
            else f'kernel.report("report.html", *arguments, arch="{self.arch}")',
            "ptx": f"tw compile {script} --arch {self.arch} --emit ptx",
            "verify": "kernel.verify()" if made_up is not None else "kernel.verify(*arguments)",
        }


def _count(grid: list[Any]) -> int | None:
    """The blocks of a grid; None if an extent is known to the call only."""
    count = 1
    for extent in grid:
        if not isinstance(extent, int):
            return None
        count *= extent
    return count


def report_data(
    kernel: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    arch: str | None = None,
    sizes: Mapping[str, int] | None = None,
    blocks: str = "auto",
    verify: bool = False,
) -> dict[str, Any]:
    """The data of a report for a call with these arguments, or with made-up ones."""
    from tilewright.runtime.made_up import make_inputs
    from tilewright.runtime.verify import _allocate, verify_on

    if blocks not in ("auto", "all", "one"):
        raise LanguageError(f"'blocks' must be 'auto', 'all' or 'one', got {blocks!r}")
    made_up = None
    if not args and not kwargs and len(kernel.params) > len(kernel.out_idx):
        values, made_up = make_inputs(kernel.params, kernel.out_idx, sizes)
    elif sizes:
        raise LanguageError("'sizes' are for made-up inputs: pass them without arguments")
    else:
        values = kernel._arrange(args, dict(kwargs))
    return report_call(kernel, _allocate(kernel, list(values)), made_up, arch, blocks,
                       verify_on if verify else None)  # fmt: skip


def report_kernel(kernel: Any, call: list[Any] | None) -> dict[str, Any]:
    """The data for the arguments of a call, None for outputs, or for made-up ones."""
    from tilewright.runtime.made_up import make_inputs
    from tilewright.runtime.verify import _allocate

    made_up = None
    if call is None:
        call, made_up = make_inputs(kernel.params, kernel.out_idx)
    return report_call(kernel, _allocate(kernel, list(call)), made_up, None)


def report_call(
    kernel: Any,
    values: list[Any],
    made_up: dict[str, Any] | None,
    arch: str | None,
    blocks: str = "auto",
    verify_on: Any = None,
) -> dict[str, Any]:
    """The same for arguments in parameter order, outputs included."""
    gatherer = Gatherer(kernel, arch or kernel.placement.arch)
    data = gatherer.gather(values, made_up, blocks)
    if verify_on is not None:
        call = [None if n in kernel.out_idx else value for n, value in enumerate(values)]
        gatherer.add_verification(data, verify_on(kernel, call, ["cpu", f"vgpu:{gatherer.arch}"]))
    return data
