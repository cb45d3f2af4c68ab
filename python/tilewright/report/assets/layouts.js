"use strict";
// Layouts: who holds which element of a tile, in which bank and line it lies, and what the lanes of a
// warp touch in one access.
(function () {
  const BANKS = 32, BANK_BYTES = 4, WARP = 32;

  /// A placed tile: where(element) gives {thread, slot} or {address, bank}; element is [i, j, …].
  class Placed {
    constructor(tile) {
      this.tile = tile;
      this.shape = tile.layout.shape;
      this.isFragment = tile.layout.thread !== undefined;
      if (this.isFragment) {
        this.thread = compileExpr(tile.layout.thread);
        this.slot = compileExpr(tile.layout.slot);
        this.replicas = tile.layout.replicas;
      } else {
        this.outputs = tile.layout.outputs.map(compileExpr);
        this.extents = tile.layout.output_shape;
      }
    }
    where(index) {
      if (this.isFragment) {
        const owners = [];
        for (let r = 0; r < this.replicas; r++) owners.push({ thread: this.thread([...index, r]), slot: this.slot([...index, r]) });
        return { owners, thread: owners[0].thread, slot: owners[0].slot };
      }
      const position = this.outputs.reduce((sum, output, n) => sum * this.extents[n] + output(index), 0);
      const address = (this.tile.offset || 0) + position * this.tile.element_bytes;
      return { position, address, bank: Math.floor(address / BANK_BYTES) % BANKS, line: Math.floor(address / (BANKS * BANK_BYTES)) };
    }
    /// Byte offset in shared memory -> element, for tiles there.
    inverse() {
      if (!this.elements) {
        this.elements = new Map();
        for (const index of this.all()) this.elements.set(this.where(index).position, index);
      }
      return this.elements;
    }
    *all() {
      const index = this.shape.map(() => 0);
      while (true) {
        yield [...index];
        let dim = index.length - 1;
        while (dim >= 0 && ++index[dim] === this.shape[dim]) index[dim--] = 0;
        if (dim < 0) return;
      }
    }
    elementAt(address) {
      const inside = address - this.tile.offset;
      if (inside < 0 || inside >= this.tile.bytes) return null;
      return this.inverse().get(Math.floor(inside / this.tile.element_bytes)) || null;
    }
  }
  TW.Placed = Placed;

  /// A picture of a tile. All but the last two dimensions are chosen by `prefix`.
  class Picture {
    constructor(placed, onPick) {
      this.placed = placed;
      this.prefix = placed.shape.slice(0, -2).map(() => 0);
      this.rows = placed.shape.length > 1 ? placed.shape.at(-2) : 1;
      this.columns = placed.shape.at(-1);
      this.picked = null;
      this.onPick = onPick;
      this.node = el("div", {});
      this.draw();
    }
    index(row, column) { return this.placed.shape.length > 1 ? [...this.prefix, row, column] : [column]; }
    draw() {
      const { rows, columns } = this, tile = this.placed.tile;
      const size = this.size = Math.max(4, Math.min(26, Math.floor(860 / Math.max(columns, 8))));
      const left = 34, top = 18, width = left + columns * size + 4, height = top + rows * size + 4;
      this.left = left;
      this.top = top;
      const svg = this.svg = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, tabindex: 0, role: "application",
        "aria-label": `${tile.name}, ${rows} rows of ${columns} elements; arrow keys move over elements`,
        onmousemove: event => this.point(event), onclick: event => this.point(event), onkeydown: event => this.key(event) });
      const paths = new Map(), labels = [];
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          const where = this.placed.where(this.index(row, column));
          const group = this.placed.isFragment ? where.thread : where.bank;
          const x = left + column * size, y = top + row * size;
          if (!paths.has(group)) paths.set(group, []);
          paths.get(group).push(`M${x} ${y}h${size}v${size}h${-size}z`);
          if (size >= 20) labels.push(el("text", { x: x + size / 2, y: y + size / 2 + 4, "text-anchor": "middle", style: `font-size:${size > 22 ? 9.5 : 8.5}px;fill:#111` },
            this.placed.isFragment ? `${where.thread}` : `${where.bank}`));
        }
      }
      for (const [group, pieces] of [...paths].sort((a, b) => a[0] - b[0])) {
        const fill = this.placed.isFragment ? colour(group % WARP, 76 - 8 * (Math.floor(group / WARP) % 4)) : `hsl(${group * 360 / BANKS} 60% 72%)`;
        svg.append(el("path", { d: pieces.join(""), fill, class: size > 7 ? "grid" : undefined, "data-group": group }));
      }
      const step = Math.max(1, Math.ceil(24 / size));
      for (let column = 0; column < columns; column += step * (columns / step > 40 ? 4 : 1))
        svg.append(el("text", { x: left + column * size, y: top - 5, class: "quiet" }, String(column)));
      for (let row = 0; row < rows; row += Math.max(1, Math.ceil(13 / size)) * (rows > 64 ? 4 : 1))
        svg.append(el("text", { x: left - 5, y: top + row * size + Math.min(size, 11), "text-anchor": "end", class: "quiet" }, String(row)));
      this.same = el("path", { class: "same" });
      this.pick = el("path", { class: "pick" });
      svg.append(...labels, this.same, this.pick);
      const dims = this.prefix.map((value, dim) => el("label", {}, dim === 0 && tile.versions > 1 ? "version " : `index ${dim} `, el("input", { type: "number", min: 0, max: this.placed.shape[dim] - 1, value,
        "aria-label": `index ${dim} of ${tile.name}`, onchange: event => { this.prefix[dim] = Math.max(0, Math.min(this.placed.shape[dim] - 1, Number(event.target.value))); this.draw(); } })));
      this.node.replaceChildren(dims.length ? el("div", { class: "bar" }, dims) : "", el("div", { class: "scroll" }, svg));
    }
    point(event) {
      const box = this.svg.getBoundingClientRect(), scale = this.svg.viewBox.baseVal.width / box.width;
      const column = Math.floor(((event.clientX - box.left) * scale - this.left) / this.size);
      const row = Math.floor(((event.clientY - box.top) * scale - this.top) / this.size);
      if (row >= 0 && row < this.rows && column >= 0 && column < this.columns) this.choose(row, column);
    }
    key(event) {
      const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[event.key];
      if (!step) return;
      event.preventDefault();
      const [row, column] = this.picked || [0, 0];
      this.choose(Math.max(0, Math.min(this.rows - 1, row + step[0])), Math.max(0, Math.min(this.columns - 1, column + step[1])));
    }
    choose(row, column) {
      if (this.picked && this.picked[0] === row && this.picked[1] === column) return;
      this.picked = [row, column];
      this.outline(this.pick, [[row, column]]);
      this.onPick(this, this.index(row, column));
    }
    outline(path, cells) {
      const { left, top, size } = this;
      path.setAttribute("d", cells.map(([r, c]) => `M${left + c * size} ${top + r * size}h${size}v${size}h${-size}z`).join(""));
    }
    /// Marks all elements for which `test(where, index)` holds.
    mark(test) {
      const cells = [];
      for (let row = 0; row < this.rows; row++)
        for (let column = 0; column < this.columns; column++) {
          const index = this.index(row, column);
          if (test(this.placed.where(index), index)) cells.push([row, column]);
        }
      this.outline(this.same, cells);
      return cells.length;
    }
    show(index) {
      const rank = index.length;
      if (rank > 2) { this.prefix = index.slice(0, -2); this.draw(); }
      this.picked = rank > 1 ? [index.at(-2), index.at(-1)] : [0, index[0]];
      this.outline(this.pick, [this.picked]);
    }
  }

  function describe(placed, index) {
    const where = placed.where(index), name = `${placed.tile.name}[${index.join(", ")}]`;
    if (placed.isFragment)
      return `${name}: ` + where.owners.map(o => `thread ${o.thread} (warp ${Math.floor(o.thread / WARP)}, lane ${o.thread % WARP}), slot ${o.slot}`).join("; ");
    return `${name}: byte ${where.address} of shared memory, bank ${where.bank}, line ${where.line} of 128 bytes`;
  }

  /// How the banks serve one access: [phase][wavefront] -> lanes (as vgpu/Counters/MemoryCounter.h).
  function wavefronts(access) {
    const unit = access.bytes <= 4 ? 4 : access.bytes === 8 ? 8 : 16, lanes = Math.min(WARP, 128 / unit), result = [];
    for (let first = 0; first < WARP; first += lanes) {
      for (let offset = 0; offset < Math.max(access.bytes, 1); offset += unit) {
        const banks = 128 / unit, passes = [], served = new Map();
        for (let lane = first; lane < first + lanes; lane++) {
          const address = access.addresses[lane];
          if (address === null || address === undefined) continue;
          const word = Math.floor((address + offset) / unit), bank = word % banks;
          if (!served.has(word)) {
            let pass = 0;
            while (passes[pass] && passes[pass].has(bank)) pass++;
            (passes[pass] ||= new Map()).set(bank, []);
            served.set(word, [pass, bank]);
          }
          const [pass, at] = served.get(word);
          passes[pass].get(at).push(lane);
        }
        if (passes.length) result.push({ unit, passes });
      }
    }
    return result;
  }
  TW.wavefronts = access => {
    const phases = wavefronts(access);
    return { actual: phases.reduce((sum, phase) => sum + phase.passes.length, 0), ideal: phases.length };
  };

  const view = {
    name: "layouts", title: "Layouts", isPrinted: true, chosen: 0, other: -1, access: -1, lane: 0,
    fill(node) {
      const launch = TW.current();
      if (view.owner !== launch) { view.owner = launch; view.chosen = 0; view.other = -1; view.access = -1; }
      view.tiles = launch ? launch.tiles.filter(tile => tile.layout) : [];
      if (!view.tiles.length) { node.append(el("p", {}, "This launch has no tiles.")); return; }
      view.placed = view.tiles.map(tile => new Placed(tile));
      view.accesses = (launch.trace ? launch.trace.accesses : []).filter(access => !access.is_asynchronous);
      const list = el("div", { class: "list", role: "group", "aria-label": "tiles" }, view.tiles.map((tile, n) =>
        el("button", { type: "button", "data-tile": tile.name, "aria-pressed": n === view.chosen, onclick: () => { view.chosen = n; view.other = -1; view.access = -1; view.draw(); } },
          tile.name, el("small", {}, `${tile.space}, ${tile.dtype}, ${tile.shape.join(" x ")}` + (tile.versions > 1 ? `, ${tile.versions} versions` : "")))));
      view.list = list;
      view.stage = el("div", {});
      node.append(el("div", { class: "split" }, el("div", {}, list), view.stage));
      view.draw();
    },
    /// Statements that read one of the tiles and write the other.
    conversions() {
      const found = [], launch = TW.current(), names = view.tiles.map(tile => tile.name);
      for (const statement of launch.statements) {
        for (const read of statement.reads) for (const written of statement.writes) {
          const a = names.indexOf(read), b = names.indexOf(written);
          if (a < 0 || b < 0 || a === b || !statement.accesses) continue;
          if (view.tiles[a].layout.notation === view.tiles[b].layout.notation) continue;
          if (!found.some(entry => entry.a === a && entry.b === b)) found.push({ a, b, location: statement.location });
        }
      }
      return found;
    },
    draw() {
      for (const [n, button] of [...view.list.children].entries()) button.setAttribute("aria-pressed", n === view.chosen);
      const placed = view.placed[view.chosen], tile = placed.tile;
      view.told = el("p", { class: "told", role: "status", id: "layout-told" }, "Point at an element, or move over the picture with the arrow keys.");
      const others = el("select", { id: "layout-other", onchange: event => { view.other = Number(event.target.value); view.draw(); } },
        el("option", { value: -1 }, "no other tile"), view.tiles.map((t, n) => n === view.chosen ? null : el("option", { value: n }, t.name)));
      others.value = view.other;
      const conversions = view.conversions().filter(entry => entry.a === view.chosen || entry.b === view.chosen);
      view.picture = new Picture(placed, view.pick);
      const legend = placed.isFragment ? `Colours are lanes of a warp, shades are warps; numbers are threads. ${tile.layout.threads} threads hold ${tile.layout.slots} elements each` +
        (tile.layout.replicas > 1 ? `, each element ${tile.layout.replicas} times.` : ".") : "Colours and numbers are banks of 4 bytes.";
      view.stage.replaceChildren(el("h2", { style: "margin-top:0" }, tile.name, " ", locationButton(tile.location)),
        el("pre", { id: "layout-notation" }, tile.layout.notation),
        el("p", { class: "note" }, legend),
        el("div", { class: "bar" }, el("label", {}, "Beside it: ", others), conversions.length ? el("span", { class: "note" }, "Conversions: ",
          conversions.map(entry => el("button", { type: "button", onclick: () => { view.chosen = entry.a; view.other = entry.b; view.draw(); } },
            `${view.tiles[entry.a].name} → ${view.tiles[entry.b].name}, line ${entry.location ? entry.location[1] : "?"}`))) : null),
        view.told, view.picture.node);
      if (view.other >= 0) {
        const second = view.placed[view.other];
        view.second = new Picture(second, view.pick);
        view.stage.append(el("h3", {}, second.tile.name), el("pre", {}, second.tile.layout.notation), view.second.node);
      } else view.second = null;
      if (!placed.isFragment) view.stage.append(view.accessPart(tile));
    },
    pick(picture, index) {
      const placed = picture.placed, where = placed.where(index), both = [view.picture, view.second].filter(Boolean);
      let text = describe(placed, index);
      for (const each of both) {
        if (each !== picture && each.placed.shape.length === index.length && index.every((value, n) => value < each.placed.shape[n])) {
          each.show(index);
          text += "; " + describe(each.placed, index);
        }
        if (placed.isFragment && each.placed.isFragment) each.mark(there => there.owners.some(o => o.thread === where.thread));
        else if (each === picture) each.mark(there => there.bank === where.bank);
      }
      if (placed.isFragment) {
        const count = view.picture.placed === placed ? placed.tile.layout.slots : 0;
        text += count ? `. Outlined: what thread ${where.thread} holds.` : "";
      } else text += `. Outlined: elements in bank ${where.bank}.`;
      view.told.textContent = text;
    },
    /// The accesses of warps to a shared tile, as the virtual GPU saw them.
    accessPart(tile) {
      const inside = access => {
        const first = access.addresses.find(address => address !== null);
        return access.space === "shared" && first >= tile.offset && first < tile.offset + tile.bytes;
      };
      const names = new Set(TW.current().statements.filter(s => s.reads.concat(s.writes).includes(tile.name)).map(s => key(s.location)));
      const overlays = view.tiles.filter(t => t !== tile && t.offset !== undefined && t.offset < tile.offset + tile.bytes && tile.offset < t.offset + t.bytes);
      const candidates = view.accesses.filter(inside).filter(access => !overlays.length || names.has(key(access.location)));
      const node = el("div", {}, el("h2", {}, "Accesses of a warp"));
      if (!candidates.length) {
        node.append(el("p", { class: "note" }, "No lane of the traced warps touched this tile; asynchronous copies and wgmma do it without lanes."));
        return node;
      }
      if (view.access < 0 || view.access >= candidates.length) view.access = 0;
      const choice = el("select", { id: "access", onchange: event => { view.access = Number(event.target.value); view.lane = 0; view.drawAccess(tile, candidates, body); } },
        candidates.map((access, n) => el("option", { value: n }, `line ${access.location ? access.location[1] : "?"}: ${access.opcode}, warp ${access.warp} (ptx:${access.ptx_line})`)));
      choice.value = view.access;
      const body = el("div", {});
      node.append(el("div", { class: "bar" }, el("label", {}, "Access: ", choice),
        el("button", { type: "button", id: "previous-lane", onclick: () => { view.lane = (view.lane + WARP - 1) % WARP; view.drawAccess(tile, candidates, body); } }, "Previous lane"),
        el("button", { type: "button", id: "next-lane", onclick: () => { view.lane = (view.lane + 1) % WARP; view.drawAccess(tile, candidates, body); } }, "Next lane")), body);
      view.drawAccess(tile, candidates, body);
      return node;
    },
    drawAccess(tile, candidates, body) {
      const access = candidates[view.access], phases = wavefronts(access), placed = view.placed[view.chosen];
      const passes = phases.reduce((sum, phase) => sum + phase.passes.length, 0);
      const cell = 24, left = 60, rowsTotal = phases.reduce((sum, phase) => sum + phase.passes.length + 0.4, 0);
      const width = left + BANKS * cell + 4, height = 20 + rowsTotal * cell + 4;
      const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `banks of the access, ${passes} passes` });
      for (let bank = 0; bank < BANKS; bank++) svg.append(el("text", { x: left + bank * cell + cell / 2, y: 14, "text-anchor": "middle", class: "quiet" }, String(bank)));
      let y = 20;
      phases.forEach((phase, n) => {
        phase.passes.forEach((pass, p) => {
          svg.append(el("text", { x: left - 6, y: y + 16, "text-anchor": "end", class: p ? "quiet" : undefined, style: p ? "fill:var(--warm)" : undefined }, `pass ${n + 1}${p ? "." + p : ""}`));
          const span = phase.unit / BANK_BYTES;
          for (let bank = 0; bank < BANKS; bank++) svg.append(el("rect", { x: left + bank * cell, y, width: cell - 1, height: cell - 2, fill: "var(--panel)" }));
          for (const [bank, lanes] of pass) {
            const isHere = lanes.includes(view.lane);
            svg.append(el("rect", { x: left + bank * span * cell, y, width: span * cell - 1, height: cell - 2, fill: p ? "var(--warm)" : "hsl(210 60% 70%)",
              stroke: isHere ? "var(--ink)" : undefined, "stroke-width": isHere ? 2.5 : undefined }, el("title", {}, "lanes " + lanes.join(", "))),
              el("text", { x: left + (bank + 0.5) * span * cell, y: y + 15, "text-anchor": "middle", style: "fill:#111" }, lanes.length > 1 ? `${lanes[0]}…${lanes.at(-1)}` : String(lanes[0])));
          }
          y += cell;
        });
        y += 0.4 * cell;
      });
      const address = access.addresses[view.lane];
      let text = `lane ${view.lane} does not take part`;
      if (address !== null && address !== undefined) {
        const element = placed.elementAt(address), count = Math.max(1, access.bytes / tile.element_bytes);
        text = `lane ${view.lane}: ${access.bytes} bytes at byte ${address}, bank ${Math.floor(address / BANK_BYTES) % BANKS}` + (element ? `, ${tile.name}[${element.join(", ")}]${count > 1 ? ` and ${count - 1} more` : ""}` : "");
        if (element) view.picture.show(element);
      }
      const touched = new Set();
      for (const at of access.addresses) if (at !== null && at !== undefined)
        for (let offset = 0; offset < access.bytes; offset += tile.element_bytes) { const e = placed.elementAt(at + offset); if (e) touched.add(e.join()); }
      view.picture.mark((where, index) => touched.has(index.join()));
      body.replaceChildren(el("p", { class: "told", role: "status", id: "access-told", "data-passes": passes, "data-least": phases.length },
        `${passes} passes, ${phases.length} would do. Numbers are lanes. ${text}.`), el("div", { class: "scroll" }, svg));
    },
    update() {},
  };
  TW.views.push(view);
})();
