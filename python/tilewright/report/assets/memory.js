"use strict";
// Shared memory over the program, and the timeline of one block.
(function () {
  function legend(entries) {
    return el("div", { class: "legend" }, entries.map(([fill, text]) => el("span", {}, el("i", { style: `background:${fill}` }), text)));
  }

  function memory(report, launch) {
    const tiles = launch.tiles.filter(tile => tile.offset !== undefined);
    if (!tiles.length) return el("p", {}, "This launch uses no shared memory.");
    const statements = launch.statements, columns = Math.max(statements.length, 1);
    // The axis counts statements: position of the first one at or after an op.
    const at = op => { const n = statements.findIndex(statement => statement.first >= op); return n < 0 ? columns : n; };
    const limits = [...new Map(Object.entries(report.limits).map(([arch, limit]) => [limit.max_shared_bytes, arch]).reverse())].filter(([size]) => size >= launch.shared_bytes * 0.5);
    const here = report.limits[report.arch].max_shared_bytes;
    const most = Math.max(launch.shared_bytes, 1);
    const left = 74, top = 12, right = 12, bottom = 62, width = 980, height = 380;
    const x = n => left + n / columns * (width - left - right), y = size => top + size / most * (height - top - bottom);
    const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", id: "memory-picture",
      "aria-label": `shared memory: ${tiles.length} tiles in ${launch.shared_bytes} bytes over ${columns} statements` });
    // A line at each power of two, four to eight of them; and at the end, where it has room.
    const step = 2 ** Math.max(Math.ceil(Math.log2(most / 8)), 0), marks = [];
    for (let size = 0; size < most - step / 2; size += step) marks.push(size);
    for (const size of [...marks, most]) {
      svg.append(el("line", { class: "axis", x1: left, x2: width - right, y1: y(size), y2: y(size) }),
        el("text", { x: left - 6, y: y(size) + 4, "text-anchor": "end", class: "quiet" }, bytes(size)));
    }
    tiles.forEach((tile, n) => {
      const live = tile.live || [0, launch.ops];
      const from = x(at(live[0])), to = Math.max(x(at(live[1] + 1)), from + 4), version = tile.bytes / tile.versions;
      const top = y(tile.offset), tall = Math.max(y(tile.offset + tile.bytes) - top, 2);
      const fill = tile.space === "barrier" ? "var(--quiet)" : colour(n, 70);
      const title = `${tile.name}: bytes ${tile.offset} to ${tile.offset + tile.bytes}` + (tile.versions > 1 ? `, ${tile.versions} versions of ${version}` : "") + (tile.live ? "" : ", all the time");
      const group = el("g", { "data-tile": tile.name, style: "cursor:pointer", onclick: () => { if (tile.location) TW.select(tile.location); } }, el("title", {}, title),
        el("rect", { x: from, y: top, width: to - from, height: tall, fill, opacity: 0.85, stroke: "var(--paper)" }));
      for (let v = 1; v < tile.versions; v++) group.append(el("line", { x1: from, x2: to, y1: y(tile.offset + v * version), y2: y(tile.offset + v * version), stroke: "var(--paper)", "stroke-dasharray": "5 3" }));
      const label = tile.name + (tile.versions > 1 ? ` (${tile.versions} versions)` : ""), room = Math.floor((to - from - 8) / 6.4);
      if (tall >= 12 && room > 1) group.append(el("text", { x: from + 5, y: top + Math.min(tall / 2 + 4, 16), style: "fill:#111" }, label.length > room ? label.slice(0, room - 1) + "…" : label));
      svg.append(group);
    });
    const base = height - bottom + 6;
    statements.forEach((statement, n) => {
      const last = statements.findIndex(other => other.first > statement.last), end = last < 0 ? columns : last;
      if (end - n > 1) svg.append(el("rect", { x: x(n), y: base + statement.depth * 5, width: x(end) - x(n) - 1, height: 3, fill: "var(--accent)" }, el("title", {}, `${statement.op}, line ${statement.location ? statement.location[1] : "?"}`)));
      const tick = el("rect", { x: x(n), y: base + 18, width: Math.max(x(n + 1) - x(n) - 1, 1), height: 9, fill: "var(--edge)", style: "cursor:pointer", onclick: () => statement.location && TW.select(statement.location) },
        el("title", {}, `${statement.op}, line ${statement.location ? statement.location[1] + ": " + textOf(statement.location) : "?"}`));
      svg.append(tick);
      if (statement.location && n % Math.ceil(columns / 28) === 0) svg.append(el("text", { x: x(n), y: base + 40, class: "quiet" }, String(statement.location[1])));
    });
    svg.append(el("text", { x: left, y: height - 3, class: "quiet" }, "statements of the program, by line; blue bars are loops and branches"));
    const rows = tiles.map(tile => [tile.name, tile.space, tile.dtype || "–", tile.shape ? tile.shape.join(" x ") : "–", number(tile.versions), number(tile.offset), number(tile.bytes), locationButton(tile.location)]);
    return el("div", {}, el("p", { class: "note" }, `${bytes(launch.shared_bytes)} of the ${bytes(here)} that ${report.arch} gives a block. ` +
      "Tiles that are never needed at the same time share bytes. Limits: " + limits.sort((a, b) => a[0] - b[0]).map(([size, arch]) => `${arch} ${bytes(size)}${size < launch.shared_bytes ? " (too small)" : ""}`).join(", ") + "."),
      el("div", { class: "scroll" }, svg), table(["tile", "in", "dtype", "shape", "#versions", "#offset", "#bytes", "line"], rows));
  }

  const KINDS = { run: ["hsl(210 55% 62%)", "instructions"], tensor: ["hsl(265 55% 66%)", "products of the warp"], load: ["hsl(40 90% 62%)", "waits for loads"],
    copy: ["hsl(25 90% 60%)", "copies; waits for copies"], product: ["hsl(320 60% 66%)", "asynchronous products; waits for them"],
    barrier: ["hsl(0 70% 60%)", "waits at a barrier"], mbarrier: ["hsl(355 45% 45%)", "waits for an mbarrier"] };

  const view = {
    name: "memory", title: "Memory and time", isPrinted: true, zoom: 1, start: 0,
    fill(node) {
      const report = TW.report(), launch = TW.current();
      if (!launch) return;
      node.append(el("h2", { style: "margin-top:0" }, "Shared memory"), memory(report, launch));
      if (!launch.trace) { node.append(el("p", { class: "note" }, "No block was traced.")); return; }
      const timeline = launch.trace.timeline;
      node.append(el("h2", {}, `Timeline of block (${launch.trace.block.join(", ")}) `, model()),
        el("p", { class: "note" }, `The order of events is that of the virtual GPU (${number(launch.trace.events)} events); their times are a model of ${timeline.machine}: ${timeline.rules}.` +
          (launch.trace.is_truncated ? " The block did more than was recorded." : "")));
      view.zoom = 1;
      view.start = 0;
      const step = (id, text, change) => el("button", { type: "button", id, onclick: () => { change(); view.draw(); } }, text);
      node.append(el("div", { class: "bar" }, step("zoom-in", "Zoom in", () => { view.zoom = Math.min(256, view.zoom * 2); }),
        step("zoom-out", "Zoom out", () => { view.zoom = Math.max(1, view.zoom / 2); }),
        step("earlier", "Earlier", () => { view.start -= 0.5 / view.zoom; }), step("later", "Later", () => { view.start += 0.5 / view.zoom; }),
        el("span", { class: "note" }, "A click on a stretch chooses its source line.")), legend(Object.values(KINDS)));
      view.picture = el("div", { class: "scroll" });
      view.told = el("p", { class: "told", role: "status", id: "time-told" }, `${number(timeline.total)} cycles in all.`);
      node.append(view.told, view.picture);
      view.draw();
      const warps = launch.trace.warps, whole = timeline.total * warps || 1, causes = {};
      for (const stall of timeline.stalls) causes[stall.cause] = (causes[stall.cause] || 0) + stall.cycles;
      node.append(el("h3", {}, "Stalls by cause ", model()), table(["cause", "#cycles of all warps", "#share"],
        Object.entries(causes).sort((a, b) => b[1] - a[1]).map(([cause, cycles]) => [KINDS[cause][1], number(cycles), (100 * cycles / whole).toFixed(1) + " %"])),
        el("h3", {}, "Lines that wait most"), table(["line", "source", "cause", "#cycles"], timeline.stalls.slice(0, 12).map(stall =>
          [stall.file < 0 ? "–" : locationButton([stall.file, stall.line]), el("code", {}, stall.file < 0 ? "" : textOf([stall.file, stall.line])), KINDS[stall.cause][1], number(stall.cycles)])));
    },
    draw() {
      const launch = TW.current(), timeline = launch.trace.timeline;
      view.start = Math.max(0, Math.min(1 - 1 / view.zoom, view.start));
      const from = view.start * timeline.total, to = from + timeline.total / view.zoom;
      const left = 118, row = 20, width = 1100, top = 8, height = top + timeline.rows.length * row + 28;
      const x = time => left + (time - from) / (to - from || 1) * (width - left - 8);
      const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", id: "timeline-picture",
        "aria-label": `timeline of ${timeline.rows.length} rows, cycles ${Math.round(from)} to ${Math.round(to)}` });
      for (let part = 0; part <= 8; part++) {
        const time = from + (to - from) * part / 8;
        svg.append(el("line", { class: "axis", x1: x(time), x2: x(time), y1: top, y2: height - 22 }),
          el("text", { x: x(time), y: height - 8, "text-anchor": part === 8 ? "end" : "middle", class: "quiet" }, number(Math.round(time))));
      }
      timeline.rows.forEach((entry, n) => {
        const y = top + n * row;
        svg.append(el("text", { x: left - 6, y: y + 14, "text-anchor": "end" }, entry.name));
        const paths = {}, spans = [];
        for (const span of entry.spans) {
          const [start, end, kind] = span;
          if (end < from || start > to) continue;
          const a = x(Math.max(start, from)), b = Math.max(x(Math.min(end, to)), a + 0.6);
          (paths[kind] ||= []).push(`M${a.toFixed(1)} ${y + 2}H${b.toFixed(1)}V${y + row - 3}H${a.toFixed(1)}z`);
          spans.push([a, b, span]);
        }
        const group = el("g", { "data-row": entry.name });
        for (const [kind, pieces] of Object.entries(paths)) group.append(el("path", { d: pieces.join(""), fill: KINDS[kind][0] }));
        const find = event => {
          const box = svg.getBoundingClientRect(), at = (event.clientX - box.left) * width / box.width;
          return spans.filter(([a, b]) => at >= a && at <= b).pop();
        };
        group.addEventListener("mousemove", event => {
          const found = find(event);
          if (!found) return;
          const [start, end, kind, file, line] = found[2];
          view.told.textContent = `${entry.name}: cycles ${number(start)} to ${number(end)}, ${KINDS[kind][1]}` + (file >= 0 ? `, line ${line}: ${textOf([file, line])}` : "");
        });
        group.addEventListener("click", event => {
          const found = find(event);
          if (found && found[2][3] >= 0) { TW.select([found[2][3], found[2][4]]); }
        });
        svg.append(group);
      });
      view.picture.replaceChildren(svg);
      view.mark();
    },
    /// The stretches of the chosen line stand out.
    mark() {
      const launch = TW.current();
      view.picture?.querySelectorAll(".chosen").forEach(node => node.remove());
      if (!TW.location || !view.picture || !launch.trace) return;
      const svg = view.picture.querySelector("svg"), timeline = launch.trace.timeline, from = view.start * timeline.total, to = from + timeline.total / view.zoom;
      const x = time => 118 + (time - from) / (to - from || 1) * (1100 - 126), pieces = [];
      timeline.rows.forEach((entry, n) => entry.spans.forEach(([start, end, , file, line]) => {
        if (file !== TW.location[0] || line !== TW.location[1] || end < from || start > to) return;
        const a = x(Math.max(start, from)), b = Math.max(x(Math.min(end, to)), a + 1);
        pieces.push(`M${a} ${8 + n * 20 + 1}H${b}V${8 + n * 20 + 18}H${a}z`);
      }));
      svg.append(el("path", { class: "chosen", d: pieces.join(""), fill: "none", stroke: "var(--ink)", "stroke-width": 1.3 }));
    },
    update() { if (view.isFilled) view.mark(); },
  };
  TW.views.push(view);
})();
