"use strict";
// IR and machine code: any two stages side by side, linked by source line; what a pass changed.
(function () {
  /// Values are numbered anew after each pass: that is no change.
  const plain = line => line.replace(/%[A-Za-z_]*\d+(_\d+)?/g, "%_").replace(/%[A-Za-z]+_\d+/g, "%_").trim();

  /// The steps from `a` to `b` (Myers): [" ", line of a, line of b], ["-", a], ["+", b].
  function difference(a, b) {
    const before = a.map(plain), after = b.map(plain);
    let start = 0, end = 0;
    while (start < a.length && start < b.length && before[start] === after[start]) start++;
    while (end < a.length - start && end < b.length - start && before[a.length - 1 - end] === after[b.length - 1 - end]) end++;
    const n = a.length - start - end, m = b.length - start - end, most = Math.min(n + m, 4000);
    const trace = [];
    let furthest = new Map([[1, 0]]), isFound = n + m === 0;
    for (let d = 0; d <= most && !isFound; d++) {
      trace.push(new Map(furthest));
      for (let k = -d; k <= d; k += 2) {
        let x = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1)) ? furthest.get(k + 1) : furthest.get(k - 1) + 1;
        while (x < n && x - k < m && before[start + x] === after[start + x - k]) x++;
        furthest.set(k, x);
        if (x >= n && x - k >= m) { isFound = true; break; }
      }
    }
    const middle = [];
    if (!isFound) {
      for (let i = 0; i < n; i++) middle.push(["-", start + i, -1]);
      for (let j = 0; j < m; j++) middle.push(["+", -1, start + j]);
    } else {
      let x = n, y = m;
      for (let d = trace.length - 1; d >= 0; d--) {
        const v = trace[d], k = x - y;
        const previous = k === -d || (k !== d && (v.get(k - 1) ?? -1) < (v.get(k + 1) ?? -1)) ? k + 1 : k - 1;
        const px = v.get(previous), py = px - previous;
        while (x > px && y > py && x > 0 && y > 0) { x--; y--; middle.push([" ", start + x, start + y]); }
        if (d > 0) middle.push(x === px ? ["+", -1, start + --y] : ["-", start + --x, -1]);
      }
      middle.reverse();
    }
    const steps = [];
    for (let i = 0; i < start; i++) steps.push([" ", i, i]);
    steps.push(...middle);
    for (let i = end; i > 0; i--) steps.push([" ", a.length - i, b.length - i]);
    return steps;
  }
  TW.difference = difference;

  function title(stage) {
    return { pass: "after " + stage.name, threads: "code of a thread (MLIR)", ptx: "PTX", sass: "machine code (SASS)" }[stage.kind];
  }

  const view = {
    name: "code", title: "IR and machine code", isPrinted: false, left: null, right: null, mode: "pair",
    fill(node) {
      const stages = TW.report().stages;
      // A pass that changes nothing says so in the list, and steps through the passes leave it out.
      const isSame = stages.map((stage, n) => n > 0 && stage.text === stages[n - 1].text);
      if (view.kernel !== TW.kernel) {
        view.kernel = TW.kernel;
        view.left = Math.max(0, stages.findLastIndex((stage, n) => stage.kind === "pass" && !isSame[n]));
        view.right = stages.findIndex(stage => stage.kind === "ptx");
      }
      const choose = (side, name) => el("label", {}, name + " ", el("select", { id: "stage-" + side, onchange: event => {
        view[side] = Number(event.target.value);
        view.draw();
      } }, stages.map((stage, n) => el("option", { value: n }, title(stage) + (isSame[n] ? " (no change)" : "")))));
      const left = choose("left", "Left"), right = choose("right", "Right");
      left.lastChild.value = view.left;
      right.lastChild.value = view.right;
      const mode = el("select", { id: "code-mode", onchange: event => { view.mode = event.target.value; view.draw(); } },
        el("option", { value: "pair" }, "side by side"), el("option", { value: "diff" }, "what changed from left to right"));
      mode.value = view.mode;
      const step = (text, by, name) => el("button", { type: "button", id: name, onclick: () => {
        let next = view.left + 1 + by;
        while (next > 0 && next < stages.length && isSame[next]) next += by;
        if (next <= 0 || next >= stages.length) return;
        view.left = next - 1;
        view.right = next;
        view.mode = mode.value = "diff";
        left.lastChild.value = view.left;
        right.lastChild.value = view.right;
        view.draw();
      } }, text);
      view.panes = el("div", { class: "panes" });
      view.told = el("p", { class: "note", id: "code-told" });
      node.append(el("div", { class: "bar" }, left, right, el("label", {}, "Show ", mode), step("Previous pass", -1, "previous-pass"), step("Next pass", 1, "next-pass")),
        view.told, view.panes);
      view.draw();
    },
    row(text, where, lineNumber, kind) {
      return el("div", { class: "row" + (kind ? " " + kind : ""), "data-where": where ? key(where) : undefined },
        el("span", { class: "n" }, lineNumber), (kind === "added" ? "+ " : kind === "removed" ? "- " : "") + text);
    },
    draw() {
      const stages = TW.report().stages, a = stages[view.left], b = stages[view.right];
      if (!a || !b) return;
      if (view.mode === "diff") view.panes.replaceChildren(view.diff(a, b));
      else view.panes.replaceChildren(...[a, b].map(stage => view.pane(stage)));
      view.update();
    },
    pane(stage) {
      const pane = el("div", { class: "pane", tabindex: 0, role: "region", "aria-label": title(stage) });
      pane.append(...stage.text.split("\n").map((text, n) => view.row(text, stage.lines[n], n + 1)));
      view.link(pane);
      return pane;
    },
    diff(a, b) {
      const before = a.text.split("\n"), after = b.text.split("\n"), steps = difference(before, after);
      const pane = el("div", { class: "pane diff", tabindex: 0, role: "region", "aria-label": `what changed from ${title(a)} to ${title(b)}` });
      const near = new Set();
      steps.forEach(([sign], n) => { if (sign !== " ") for (let k = n - 3; k <= n + 3; k++) near.add(k); });
      let isGap = false;
      steps.forEach(([sign, x, y], n) => {
        if (!near.has(n)) {
          if (!isGap) pane.append(el("div", { class: "row note" }, "⋯"));
          isGap = true;
          return;
        }
        isGap = false;
        if (sign === "-") pane.append(view.row(before[x], a.lines[x], x + 1, "removed"));
        else pane.append(view.row(after[y], b.lines[y], y + 1, sign === "+" ? "added" : ""));
      });
      const added = steps.filter(step => step[0] === "+").length, removed = steps.filter(step => step[0] === "-").length;
      if (!added && !removed) pane.replaceChildren(el("div", { class: "row" }, "Nothing changed but the numbers of values."));
      pane.dataset.added = added;
      pane.dataset.removed = removed;
      view.link(pane);
      return pane;
    },
    link(pane) {
      const locationOf = event => event.target.closest?.("[data-where]")?.dataset.where;
      pane.addEventListener("click", event => {
        const where = locationOf(event);
        view.isFromHere = pane;
        if (where) TW.select(where.split(":").map(Number));
        view.isFromHere = null;
      });
      pane.addEventListener("mouseover", event => view.mark("near", locationOf(event)));
      pane.addEventListener("mouseleave", () => view.mark("near", null));
    },
    mark(kind, where) {
      for (const row of view.panes.querySelectorAll("." + kind)) row.classList.remove(kind);
      if (where) for (const row of view.panes.querySelectorAll(`[data-where="${where}"]`)) row.classList.add(kind);
    },
    update() {
      const where = key(TW.location);
      view.mark("selected", where);
      view.told.textContent = TW.location ? `line ${TW.location[1]}: ${textOf(TW.location)}`
        : "Point at a line to see where else its source line is; click it to keep the mark.";
      if (TW.shown !== "code") return;
      for (const pane of view.panes.children) {
        const row = where && pane !== view.isFromHere && pane.querySelector(`[data-where="${where}"]`);
        if (row) pane.scrollTop = row.offsetTop - pane.offsetTop - pane.clientHeight / 3;
      }
    },
  };
  TW.views.push(view);
})();
