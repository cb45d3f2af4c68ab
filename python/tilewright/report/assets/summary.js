"use strict";
// The summary: what runs, what limits it, what was found, and how to see it again.
(function () {
  function card(value, text, isModel) {
    return el("div", { class: "card" }, el("b", {}, value), el("span", {}, text, isModel ? " " : "", isModel ? model() : ""));
  }

  function percent(part, whole) { return whole ? (100 * part / whole).toFixed(0) + " %" : "–"; }

  function cards(report, launch) {
    const occupancy = launch.occupancy[report.arch], counters = launch.counters, roofline = launch.roofline[report.arch];
    const list = [
      card(launch.registers ? number(launch.registers) : "unknown",
        launch.registers ? "registers of a thread" : "registers: ptxas is not installed"),
      card(bytes(launch.shared_bytes), `shared memory of ${bytes(report.limits[report.arch].max_shared_bytes)}`),
      card(`${occupancy.warps} of ${occupancy.most_warps}`, `warps on a multiprocessor, limited by ${occupancy.limited_by.join(", ")}`),
    ];
    if (counters) {
      const blocks = launch.is_one_block ? ", one block" : "";
      list.push(card(number(counters.warp_instructions), "warp instructions" + blocks));
      list.push(card(scaled(counters.tensor_operations, "op"), "on tensor cores" + blocks));
      list.push(card(percent(counters.shared_wavefronts_ideal, counters.shared_wavefronts) ,
        `of shared-memory passes are needed (${number(counters.shared_wavefronts)} run, ${number(counters.shared_wavefronts_ideal)} would do)`));
      list.push(card(percent(counters.global_sectors_ideal, counters.global_sectors),
        `of sectors are needed (${number(counters.global_sectors)} moved, ${number(counters.global_sectors_ideal)} would do)`));
    }
    const predicted = launch.prediction; // null where there is no model of the GPU
    if (predicted) list.push(card(number(predicted.microseconds) + " us", `predicted for ${predicted.machine}, limited by ${predicted.limited_by}`, true));
    if (roofline) list.push(card(number(roofline.microseconds) + " us", `at best on ${roofline.machine.name}, limited by ${roofline.limited_by}`, true));
    if (launch.spilled_bytes) list.push(card(bytes(launch.spilled_bytes), "spilled by each thread"));
    return el("div", { class: "cards" }, list);
  }

  function launches(report) {
    return table(["launch", "grid", "#threads", "#shared memory", "#registers", "#tiles", "#statements"],
      report.launches.map(launch => [launch.name, launch.grid.join(" x "), number(launch.threads), bytes(launch.shared_bytes),
        number(launch.registers), launch.tiles.filter(tile => tile.space !== "barrier").length, launch.statements.length]));
  }

  function params(report) {
    return table(["parameter", "dtype", "shape", "#bytes", "role"], report.params.map(param => [param.name, param.dtype,
      param.is_tensor ? param.shape.join(" x ") : "a number", param.is_tensor ? number(param.bytes) : "–",
      (param.is_returned ? "returned" : "argument") + (param.is_written ? ", written" : "")]));
  }

  function occupancy(report, launch) {
    return table(["architecture", "#blocks", "#warps", "limited by", "fits"], Object.entries(launch.occupancy).map(([arch, occupancy]) => {
      const row = [arch, occupancy.fits ? occupancy.blocks : "–", occupancy.fits ? `${occupancy.warps} of ${occupancy.most_warps}` : "–",
        occupancy.fits ? occupancy.limited_by.join(", ") : "–",
        occupancy.fits ? "yes" : el("span", { class: "bad" }, `no: ${bytes(report.limits[arch].max_shared_bytes)} and ${report.limits[arch].max_threads} threads at most`)];
      row.here = arch === report.arch;
      return row;
    }));
  }

  function roofline(report, launch) {
    const width = 640, height = 300, left = 72, bottom = 40, top = 14, right = 16;
    const machines = Object.entries(launch.roofline);
    const work = launch.work;
    const log = Math.log10;
    const intensities = machines.map(([, r]) => r.ridge).concat(work.intensity || 1);
    const xs = [Math.floor(log(Math.min(...intensities))) - 0.5, Math.ceil(log(Math.max(...intensities))) + 0.5];
    const peaks = machines.map(([, r]) => r.peak_operations);
    const lowest = Math.min(...machines.map(([, r]) => Math.pow(10, xs[0]) * r.machine.gigabytes_per_second * 1e9));
    const ys = [log(lowest), log(Math.max(...peaks)) + 0.2];
    const x = v => left + (log(v) - xs[0]) / (xs[1] - xs[0]) * (width - left - right);
    const y = v => height - bottom - (log(v) - ys[0]) / (ys[1] - ys[0]) * (height - bottom - top);
    const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
      "aria-label": `roofline: ${work.intensity ? number(work.intensity) + " operations for each byte" : "no intensity"}` });
    for (let e = Math.ceil(xs[0]); e <= xs[1]; e++) {
      svg.append(el("line", { class: "axis", x1: x(10 ** e), x2: x(10 ** e), y1: top, y2: height - bottom }),
        el("text", { x: x(10 ** e), y: height - bottom + 14, "text-anchor": "middle", class: "quiet" }, e < 0 ? (10 ** e).toPrecision(1) : String(10 ** e)));
    }
    for (let e = Math.ceil(ys[0]); e <= ys[1]; e++) {
      svg.append(el("line", { class: "axis", x1: left, x2: width - right, y1: y(10 ** e), y2: y(10 ** e) }),
        el("text", { x: left - 6, y: y(10 ** e) + 4, "text-anchor": "end", class: "quiet" }, scaled(10 ** e, "op/s")));
    }
    svg.append(el("text", { x: (left + width) / 2, y: height - 8, "text-anchor": "middle" }, "operations for each byte of the tensors"));
    const drawn = new Set();
    machines.forEach(([arch, r], n) => {
      const sheet = r.machine.name;
      if (drawn.has(sheet) && arch !== report.arch) return;
      drawn.add(sheet);
      const isHere = arch === report.arch;
      const points = [[10 ** xs[0], 10 ** xs[0] * r.machine.gigabytes_per_second * 1e9], [r.ridge, r.peak_operations], [10 ** xs[1], r.peak_operations]];
      svg.append(el("polyline", { points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" "), fill: "none",
        stroke: colour(n, 55), "stroke-width": isHere ? 3 : 1.2, opacity: isHere ? 1 : 0.7 }, el("title", {}, `${arch}: ${sheet}`)));
      if (isHere) svg.append(el("text", { x: x(r.ridge) - 6, y: y(r.peak_operations) - 5, "text-anchor": "end", fill: colour(n, 45) }, `${arch}, ${sheet}`));
      if (isHere && work.intensity) {
        const reached = work.operations / (r.microseconds * 1e-6);
        svg.append(el("line", { x1: x(work.intensity), x2: x(work.intensity), y1: top, y2: height - bottom, stroke: "var(--warm)", "stroke-dasharray": "4 3" }));
        if (reached > 0) svg.append(el("circle", { cx: x(work.intensity), cy: y(Math.max(reached, 10 ** ys[0])), r: 5, fill: "var(--warm)" },
          el("title", {}, `${scaled(reached, "op/s")} predicted`)));
      }
    });
    const rows = machines.map(([arch, r]) => {
      const row = [arch, r.machine.name, number(r.microseconds) + " us", r.limited_by, scaled(r.peak_operations, "op/s"),
        r.machine.gigabytes_per_second + " GB/s", r.waves].concat(Object.values(r.bounds).map(time => number(time)));
      row.here = arch === report.arch;
      return row;
    });
    const heads = ["architecture", "GPU of the model", "#at least", "limited by", "#peak", "#memory", "#waves"]
      .concat(Object.keys(machines[0][1].bounds).map(name => "#" + name + ", us"));
    return el("div", {}, svg, table(heads, rows));
  }

  // The critical cycle: what an iteration waits for, and where the whole critical path is.
  function prediction(launch) {
    const found = launch.prediction, cycle = found.cycle;
    const blocks = found.resident === 1 ? "1 block" : `${found.resident} blocks`;
    const facts = `${number(found.waves)} waves of ${blocks} on a multiprocessor at ${number(found.gigahertz)} GHz, ` +
      `tensor cores busy for ${percent(found.tensor_use, 1)} of a block, ${bytes(found.main_bytes)} of main memory.`;
    return el("div", { id: "prediction" }, el("p", { class: "note" }, facts),
      cycle.steps.length ? el("p", {}, `An iteration takes ${number(cycle.cycles)} cycles, on this critical cycle:`) : null,
      cycle.steps.length ? table(["step", "#cycles"], cycle.steps.map(([name, cycles]) => [name, number(Math.round(cycles))])) : null,
      table(["in the critical path", "#share"], cycle.shares.slice(0, 8).map(([name, share]) => [name, percent(share, 1)])));
  }

  function findings(report) {
    if (!report.findings.length) return el("p", { class: "good" }, report.launches.some(l => l.is_one_block)
      ? "One block ran without checks; kernel.verify() and tw run --check check all of them."
      : "The checks of the virtual GPU found nothing.");
    return table(["severity", "kind", "line", "message", "#times"], report.findings.map(f =>
      [el("span", { class: f.severity === "note" ? "" : "bad" }, f.severity), f.kind, locationButton(f.location), f.message, f.count]));
  }

  function verification(report) {
    const found = report.verification;
    if (!found) return el("p", { class: "note" }, "Not verified in this report: kernel.report(…, verify=True) compares with the interpreter.");
    return el("div", {}, el("p", { class: found.is_right ? "good" : "bad", id: "verification" }, found.headline),
      found.differences.concat(found.findings).map(text => el("p", { class: "bad" }, text)));
  }

  TW.views.push({
    name: "summary", title: "Summary", isPrinted: true,
    fill(node) {
      const report = TW.report(), launch = TW.current();
      if (!launch) { node.append(el("p", {}, "The program launches no kernel.")); return; }
      node.append(cards(report, launch), el("h2", {}, "Findings"), findings(report), el("h2", {}, "Verification"), verification(report),
        el("h2", {}, "Launches"), launches(report), el("h2", {}, "Arguments"),
        report.made_up ? el("p", { class: "note" }, "Inputs were made up" + (Object.keys(report.made_up).length ?
          ": " + Object.entries(report.made_up).map(([name, value]) => `${name} = ${value}`).join(", ") : "") + ".") : null,
        params(report), el("h2", {}, "Occupancy of this code"), occupancy(report, launch));
      if (launch.prediction) node.append(el("h2", {}, "Predicted time ", model()), prediction(launch));
      if (launch.work) {
        node.append(el("h2", {}, "Roofline and least time ", model()),
          el("p", { class: "note" }, `${scaled(launch.work.operations, "op")} on ${launch.work.unit}, ${bytes(launch.work.tensor_bytes)} of tensors` +
            (launch.work.intensity ? `: ${number(launch.work.intensity)} operations for each byte.` : ".") +
            " A kernel takes as long as the part of the machine it uses most, at its peak; tensors are moved once; latencies are left out." +
            (launch.is_one_block ? " Counters of one block stand for all." : "")),
          roofline(report, launch));
      }
      const kinds = {};
      for (const remark of report.remarks) kinds[remark.kind] = (kinds[remark.kind] || 0) + 1;
      node.append(el("h2", {}, "Decisions"), table(["kind", "#how many"], Object.entries(kinds)),
        el("h2", {}, "See it again"), ...Object.entries(report.reproduce).map(([what, text]) => el("pre", { "data-what": what }, text)));
    },
  });
})();
