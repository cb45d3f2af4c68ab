"use strict";
// What changed from one kernel of the page to another.
(function () {
  function change(figure) {
    if (figure.a === null || figure.b === null || figure.a === undefined || figure.b === undefined || !figure.a) return "–";
    const share = (figure.b / figure.a - 1) * 100;
    if (!share) return "same";
    const text = (share > 0 ? "+" : "") + share.toFixed(1) + " %";
    return el("span", { class: share < 0 ? "good" : "bad" }, text);
  }
  const of = entry => entry ? `${number(entry.warp_instructions)} / ${number(entry.tensor_operations)} / ${number(entry.shared_wavefronts)} / ${number(entry.global_sectors)}` : "–";

  const view = {
    name: "compare", title: "Compare", isPrinted: true, pair: 0,
    fill(node) {
      const choice = el("select", { id: "pair", onchange: event => { view.pair = Number(event.target.value); view.draw(); } },
        TW.comparisons.map((pair, n) => el("option", { value: n }, `${pair.a + 1}: ${TW.reports[pair.a].name}, ${TW.reports[pair.a].arch} → ${pair.b + 1}: ${TW.reports[pair.b].name}, ${TW.reports[pair.b].arch}`)));
      choice.value = view.pair;
      view.body = el("div", {});
      node.append(el("div", { class: "bar" }, el("label", {}, "From and to: ", choice)), view.body);
      view.draw();
    },
    draw() {
      const pair = TW.comparisons[view.pair];
      const decisions = list => list.length ? table(["kind", "at", "decision", "#times"], list.map(entry => [entry.kind, el("code", {}, entry.line), entry.message, entry.count]))
        : el("p", { class: "note" }, "none");
      view.body.replaceChildren(el("h2", {}, "Counters and resources"),
        table(["figure", "#before", "#after", "#change"], pair.figures.map(figure => [figure.name, number(figure.a), number(figure.b), change(figure)])),
        el("h2", {}, "Decisions that are gone"), decisions(pair.removed), el("h2", {}, "Decisions that are new"), decisions(pair.added),
        el("h2", {}, "Tiles"), pair.tiles.length ? table(["tile", "before", "after"], pair.tiles.map(tile => [tile.name, el("code", {}, tile.a || "absent"), el("code", {}, tile.b || "absent")])) : el("p", { class: "note" }, "All tiles are placed alike."),
        el("h2", {}, "Lines whose counters differ"), el("p", { class: "note" }, "warp instructions / tensor operations / passes of shared memory / sectors"),
        pair.lines.length ? table(["source", "#before", "#after"], pair.lines.map(line => [el("code", {}, line.text), of(line.a), of(line.b)])) : el("p", { class: "note" }, "none"));
    },
    update() {},
  };
  TW.views.push(view);
})();
