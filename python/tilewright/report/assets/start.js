"use strict";
// Unpacks the data and starts the page.
(function () {
  const tabs = document.getElementById("tabs"), views = document.getElementById("views");

  async function unpack() {
    const packed = document.getElementById("data").textContent.trim();
    const raw = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
    const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  function fill(view) {
    if (view.isFilled) return;
    view.isFilled = true;
    view.node.replaceChildren();
    view.fill(view.node);
  }

  TW.show = function (name, isQuiet) {
    for (const view of TW.views) {
      const isHere = view.name === name;
      view.node.hidden = !isHere;
      view.tab.setAttribute("aria-selected", isHere);
      if (isHere) tabs.scrollLeft = view.tab.offsetLeft - tabs.offsetLeft - 20;
      view.tab.tabIndex = isHere ? 0 : -1;
      if (isHere) {
        fill(view);
        if (view.update) view.update();
        if (!isQuiet) history.replaceState(null, "", "#" + name);
      }
    }
    TW.shown = name;
  };

  /// A line of source is chosen: all views mark it.
  TW.select = function (where) {
    TW.location = where;
    for (const view of TW.views) if (view.isFilled && view.update) view.update();
    if (where) say(`line ${where[1]}: ${textOf(where)}`);
  };

  function restart() {
    const report = TW.report(), launch = TW.current();
    for (const view of TW.views) view.isFilled = false;
    TW.location = null;
    document.getElementById("name").textContent = report.name;
    document.getElementById("subtitle").textContent =
      `${report.arch}, ${launch ? launch.grid.join(" x ") + " blocks of " + launch.threads + " threads, " : ""}` +
      `Tilewright ${report.tilewright}`;
    const launches = document.getElementById("launch");
    launches.replaceChildren(...report.launches.map((entry, n) => el("option", { value: n }, entry.name)));
    launches.value = TW.launch;
    document.getElementById("choose-launch").hidden = report.launches.length < 2;
    TW.show(TW.shown || "summary", true);
  }

  function chooseTheme() {
    const button = document.getElementById("theme"), order = ["auto", "light", "dark"];
    let theme = "auto";
    try { theme = localStorage.getItem("tilewright-theme") || "auto"; } catch (error) { /* a file's page may have none */ }
    const apply = () => {
      if (theme === "auto") document.documentElement.removeAttribute("data-theme");
      else document.documentElement.dataset.theme = theme;
      button.textContent = "Theme: " + theme;
    };
    button.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % 3];
      try { localStorage.setItem("tilewright-theme", theme); } catch (error) { /* then it is not kept */ }
      apply();
    });
    apply();
  }

  function makeTabs() {
    for (const view of TW.views) {
      view.tab = el("button", { type: "button", role: "tab", id: "tab-" + view.name, "aria-controls": "view-" + view.name,
        onclick: () => TW.show(view.name) }, view.title);
      view.node = el("section", { role: "tabpanel", id: "view-" + view.name, "aria-labelledby": "tab-" + view.name,
        class: "view" + (view.isPrinted ? "" : " no-print"), hidden: true });
      tabs.append(view.tab);
      views.append(view.node);
    }
    tabs.addEventListener("keydown", event => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const here = TW.views.findIndex(view => view.name === TW.shown);
      const next = event.key === "Home" ? 0 : event.key === "End" ? TW.views.length - 1
        : step ? (here + step + TW.views.length) % TW.views.length : -1;
      if (next < 0) return;
      event.preventDefault();
      TW.show(TW.views[next].name);
      TW.views[next].tab.focus();
    });
  }

  window.addEventListener("beforeprint", () => TW.views.filter(view => view.isPrinted).forEach(fill));
  window.addEventListener("hashchange", () => {
    const name = location.hash.slice(1);
    if (TW.views.some(view => view.name === name)) TW.show(name, true);
  });

  unpack().then(data => {
    Object.assign(TW, data);
    if (!TW.comparisons.length) TW.views = TW.views.filter(view => view.name !== "compare");
    const kernels = document.getElementById("kernel");
    kernels.append(...TW.reports.map((report, n) =>
      el("option", { value: n }, `${n + 1}: ${report.name}, ${report.arch}`)));
    document.getElementById("choose-kernel").hidden = TW.reports.length < 2;
    kernels.addEventListener("change", () => { TW.kernel = Number(kernels.value); TW.launch = 0; restart(); });
    document.getElementById("launch").addEventListener("change", event => {
      TW.launch = Number(event.target.value);
      restart();
    });
    chooseTheme();
    makeTabs();
    const wanted = location.hash.slice(1);
    TW.shown = TW.views.some(view => view.name === wanted) ? wanted : "summary";
    restart();
    document.body.dataset.ready = "true";
  }).catch(error => {
    views.textContent = "This report cannot be shown: " + error.message;
  });
})();
