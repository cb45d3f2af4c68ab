"use strict";
// The source: what was decided at each line and why, what the virtual GPU counted, heat in the margin.
(function () {
  const metrics = {
    warp_instructions: "warp instructions", tensor_operations: "tensor operations",
    shared_wavefronts: "passes of shared memory", conflicts: "bank conflicts (passes too many)",
    global_sectors: "sectors of global memory", excess: "sectors too many", bytes: "bytes moved",
  };

  function value(entry, metric) {
    if (metric === "conflicts") return (entry.shared_wavefronts || 0) - (entry.shared_wavefronts_ideal || 0);
    if (metric === "excess") return (entry.global_sectors || 0) - (entry.global_sectors_ideal || 0);
    return entry[metric] || 0;
  }

  /// Counters of all launches by line.
  function collect(report) {
    const lines = {};
    for (const launch of report.launches) {
      for (const entry of launch.counters ? launch.counters.source_lines : []) {
        if (!entry.location) continue;
        const sum = lines[key(entry.location)] ||= {};
        for (const [name, count] of Object.entries(entry)) if (typeof count === "number") sum[name] = (sum[name] || 0) + count;
      }
    }
    return lines;
  }

  const keywords = new Set(("and as assert break class continue def del elif else except finally for from global if import in " +
    "is lambda None not or pass raise return True False try while with yield").split(" "));
  function paint(text) {
    const out = [];
    const pattern = /(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|([A-Za-z_]\w*)|([^#"'A-Za-z_]+|.)/g;
    for (const found of text.matchAll(pattern)) {
      if (found[1]) out.push(el("span", { class: "comment" }, found[1]));
      else if (found[2]) out.push(el("span", { class: "string" }, found[2]));
      else if (found[3] && keywords.has(found[3])) out.push(el("span", { class: "key" }, found[3]));
      else out.push(found[0]);
    }
    return out;
  }

  function pair(actual, ideal) {
    if (!actual) return "";
    return actual > ideal ? `${number(actual)} / ${number(ideal)}` : number(actual);
  }

  const view = {
    name: "source", title: "Source", isPrinted: true, metric: "warp_instructions", hasRemarks: true,
    fill(node) {
      const report = TW.report(), lines = collect(report);
      const choice = el("select", { id: "metric", onchange: event => { view.metric = event.target.value; view.heat(); } },
        Object.entries(metrics).map(([name, text]) => el("option", { value: name }, text)));
      choice.value = view.metric;
      const shown = el("input", { type: "checkbox", id: "remarks", onchange: event => {
        view.hasRemarks = event.target.checked;
        for (const row of node.querySelectorAll("tr.remark")) row.hidden = !view.hasRemarks;
      } });
      shown.checked = view.hasRemarks;
      node.append(el("div", { class: "bar" }, el("label", {}, "Heat: ", choice), el("label", {}, shown, " decisions"),
        el("span", { class: "note" }, "A line chosen here is marked in the other views; arrow keys move, Enter shows its code.")));
      for (const [number_, file] of report.files.entries()) {
        const hasAny = Object.keys(lines).some(where => where.startsWith(number_ + ":")) ||
          report.remarks.some(remark => remark.location && remark.location[0] === number_) || number_ === 0;
        if (hasAny) node.append(view.file(report, number_, file, lines));
      }
      view.lines = lines;
      view.heat();
    },
    file(report, fileNumber, file, lines) {
      const heads = [["", ""], ["line", "number"], ["source", ""], ["instructions", "number"], ["tensor op", "number"],
        ["passes / least", "number"], ["sectors / least", "number"]];
      const body = el("tbody", { tabindex: 0, "aria-label": "source of " + file.name, onkeydown: event => view.key(event, fileNumber, file) });
      // The kernels' part of the file.
      const named = new Set(Object.keys(lines).concat(report.remarks.map(r => key(r.location)), [key(report.location)])
        .filter(where => where.startsWith(fileNumber + ":")).map(where => Number(where.split(":")[1])));
      const first = Math.max(file.first, Math.min(...named) - 6), last = Math.min(file.first + file.lines.length - 1, Math.max(...named) + 4);
      for (let n = first; n <= last; n++) {
        const where = [fileNumber, n], entry = lines[key(where)] || {};
        const conflicts = value(entry, "conflicts"), excess = value(entry, "excess");
        body.append(el("tr", { "data-line": key(where), onclick: () => TW.select(where) },
          el("td", { class: "heat" }), el("td", { class: "line" }, String(n)), el("td", {}, paint(file.lines[n - file.first] || "")),
          el("td", { class: "number" }, entry.warp_instructions ? number(entry.warp_instructions) : ""),
          el("td", { class: "number" }, entry.tensor_operations ? number(entry.tensor_operations) : ""),
          el("td", { class: "number" + (conflicts > 0 ? " high" : "") }, pair(entry.shared_wavefronts, entry.shared_wavefronts_ideal)),
          el("td", { class: "number" + (excess > 0 ? " high" : "") }, pair(entry.global_sectors, entry.global_sectors_ideal))));
        for (const finding of report.findings.filter(f => key(f.location) === key(where)))
          body.append(el("tr", { class: "finding" }, el("td"), el("td"), el("td", { class: "text", colspan: 5 }, `${finding.kind}: ${finding.message}`)));
        const said = {};
        for (const remark of report.remarks.filter(r => key(r.location) === key(where))) said[remark.message] = [remark, ((said[remark.message] || [0, 0])[1]) + 1];
        for (const [remark, count] of Object.values(said))
          body.append(el("tr", { class: "remark", hidden: !view.hasRemarks }, el("td"), el("td"),
            el("td", { class: "text" + (remark.data.refusal || remark.data.reason ? " refused" : ""), colspan: 5 },
              `${remark.kind}: ${remark.message}` + (count > 1 ? ` (${count} times)` : ""))));
      }
      return el("div", {}, el("h3", {}, file.name), el("div", { class: "scroll" }, el("table", { class: "listing" },
        el("thead", {}, el("tr", {}, heads.map(([text, kind]) => el("th", { scope: "col", class: kind || undefined }, text)))), body)));
    },
    heat() {
      const most = Math.max(1, ...Object.values(view.lines).map(entry => value(entry, view.metric)));
      const total = Object.values(view.lines).reduce((sum, entry) => sum + value(entry, view.metric), 0) || 1;
      for (const row of view.node.querySelectorAll("tr[data-line]")) {
        const count = value(view.lines[row.dataset.line] || {}, view.metric), cell = row.firstChild;
        const share = count / most;
        cell.style.background = count > 0 ? `hsl(${50 - 45 * share} 95% ${70 - 18 * share}% / ${0.25 + 0.75 * share})` : "";
        cell.title = count > 0 ? `${number(count)} ${metrics[view.metric]}, ${(100 * count / total).toFixed(1)} %` : "";
      }
    },
    key(event, fileNumber, file) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (event.key === "Enter" && TW.location) { TW.show("code"); return; }
      if (!step) return;
      event.preventDefault();
      const rows = [...view.node.querySelectorAll(`tr[data-line^="${fileNumber}:"]`)];
      const here = rows.findIndex(row => row.dataset.line === key(TW.location));
      const next = rows[Math.min(rows.length - 1, Math.max(0, here + step))];
      TW.select(next.dataset.line.split(":").map(Number));
    },
    update() {
      for (const row of view.node.querySelectorAll("tr.selected")) row.classList.remove("selected");
      const row = TW.location && view.node.querySelector(`tr[data-line="${key(TW.location)}"]`);
      if (!row) return;
      row.classList.add("selected");
      if (TW.shown === "source") row.scrollIntoView({ block: "nearest" });
    },
  };
  TW.views.push(view);
})();
