"use strict";
// What all views share: the data, the choice of kernel, launch and line, and small helpers.
const TW = { views: [], reports: [], comparisons: [], kernel: 0, launch: 0, location: null };

TW.report = () => TW.reports[TW.kernel];
TW.current = () => TW.report().launches[TW.launch];

/// An element: el("p", {class: "note"}, "text", child, …).
function el(name, attributes, ...children) {
  const space = "http://www.w3.org/2000/svg";
  const isSvg = ["svg", "g", "rect", "path", "line", "text", "title", "circle", "polyline"].includes(name);
  const node = isSvg ? document.createElementNS(space, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

function number(value, digits) {
  if (value === null || value === undefined) return "–";
  if (Math.abs(value) >= 1000 || Number.isInteger(value)) return Math.round(value).toLocaleString("en");
  return value.toPrecision(digits || 3);
}

function scaled(value, unit) {
  const steps = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [step, letter] of steps) if (Math.abs(value) >= step) return (value / step).toPrecision(3) + " " + letter + unit;
  return number(value) + " " + unit;
}

function bytes(value) {
  if (value >= 1 << 20) return (value / (1 << 20)).toFixed(1) + " MiB";
  if (value && value % 1024 === 0) return number(value / 1024) + " KiB";
  return value >= 10240 ? (value / 1024).toFixed(1) + " KiB" : number(value) + " bytes";
}

/// A table: heads are texts, "#" before one sets its column to the right.
function table(heads, rows, caption) {
  const isNumber = heads.map(head => head.startsWith("#"));
  const head = el("tr", {}, heads.map((text, n) =>
    el("th", { scope: "col", class: isNumber[n] ? "number" : undefined }, text.replace(/^#/, ""))));
  const body = rows.map(row => el("tr", row.here ? { class: "here" } : {}, row.map((cell, n) =>
    el("td", { class: isNumber[n] ? "number" : undefined }, cell instanceof Node ? cell : String(cell)))));
  return el("div", { class: "scroll" }, el("table", {}, caption ? el("caption", { class: "off-screen" }, caption) : null,
    el("thead", {}, head), el("tbody", {}, body)));
}

function model(text) {
  return el("span", { class: "model", title: "computed by a model, not measured" }, text || "a model");
}

/// "file.py:12", a button that shows the line.
function locationButton(where) {
  if (!where) return "–";
  const file = TW.report().files[where[0]];
  const name = file.name.split("/").pop() + ":" + where[1];
  return el("button", { type: "button", class: "code", title: textOf(where) || name,
    onclick: () => { TW.select(where); TW.show("source"); } }, name);
}

function textOf(where) {
  if (!where) return "";
  const file = TW.report().files[where[0]];
  return file ? (file.lines[where[1] - file.first] || "").trim() : "";
}

function key(where) { return where ? where[0] + ":" + where[1] : ""; }

/// Tells screen readers.
function say(text) { document.getElementById("status").textContent = text; }

/// Colours that differ; as many as needed, the same for the same number.
function colour(index, lightness) {
  return `hsl(${(index * 137.508) % 360} 62% ${lightness || 62}%)`;
}

/// The value of an expression of the compiler: a number, ["d", k], [sign, lhs, rhs].
function evaluate(expr, dims) {
  if (typeof expr === "number") return expr;
  if (expr[0] === "d") return dims[expr[1]];
  const a = evaluate(expr[1], dims), b = evaluate(expr[2], dims);
  switch (expr[0]) {
    case "+": return a + b;
    case "-": return a - b;
    case "*": return a * b;
    case "//": return b === 0 ? 0 : Math.floor(a / b);
    case "%": return b === 0 ? a : a - b * Math.floor(a / b);
    case "^": return Number(BigInt.asIntN(64, BigInt(a) ^ BigInt(b)));
    case "min": return Math.min(a, b);
    case "max": return Math.max(a, b);
  }
  throw new Error("unknown sign " + expr[0]);
}

/// A function of indices that is as fast as an expression can be.
function compileExpr(expr) {
  const write = e => {
    if (typeof e === "number") return `(${e})`;
    if (e[0] === "d") return `d[${e[1]}]`;
    const a = write(e[1]), b = write(e[2]);
    switch (e[0]) {
      case "//": return `floorDiv(${a}, ${b})`;
      case "%": return `floorMod(${a}, ${b})`;
      case "^": return `(${a} ^ ${b})`;
      case "min": case "max": return `Math.${e[0]}(${a}, ${b})`;
      default: return `(${a} ${e[0]} ${b})`;
    }
  };
  const floorDiv = (a, b) => b === 0 ? 0 : Math.floor(a / b);
  const floorMod = (a, b) => b === 0 ? a : a - b * Math.floor(a / b);
  return new Function("floorDiv", "floorMod", `return d => ${write(expr)};`)(floorDiv, floorMod);
}
