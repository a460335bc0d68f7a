// Who knows what of whom? A pixel for each pair of peers, and the figures of peers and of classes of lines in tables.

import { bytes, count, css, h, hint, rate, speed, Table } from "./dom.js";
import { buttons, escape, svg } from "./export.js";
import { at, levelsPerBit } from "./model.js";

/** @typedef {import("./model.js").Peer} Peer */

const most = 1000; // rows and columns that have a pixel of their own
const full = 1 + 12 * levelsPerBit; // a false-positive rate of 1 in 4096 has the full colour

export class MatrixPage {
  perCol = 1; // columns of a pixel
  perRow = 1; // rows of a pixel
  /** @type {{key: string, rows: number[], cols: number[], band: (p: Peer|undefined) => string}|null} */ order = null;

  /** @param {import("./main.js").App} app @param {HTMLElement} at */
  constructor(app, at) {
    this.app = app;
    this.canvas = h("canvas", {
      id: "matrix",
      onmousemove: (/** @type {MouseEvent} */ e) => this.point(e),
      onmouseleave: () => hint(""),
      onclick: (/** @type {MouseEvent} */ e) => this.pick(e),
    });
    this.rows = h("div", { class: "rows", style: "grid-area:c" });
    this.cols = h("div", { class: "cols", style: "grid-area:b" });
    this.canvas.style.gridArea = "d";
    this.scale = h("canvas", { width: 120, height: 10 });
    this.sortBy = h(
      "select",
      {
        onchange: () => {
          this.order = null;
          this.draw();
        },
      },
      h("option", { value: "class" }, "line"),
      h("option", { value: "group" }, "role or group"),
      h("option", { value: "keys" }, "number of keys"),
    );
    this.peers = new Table(
      [
        { title: "Peer", text: true, value: (p) => p.name },
        { title: "Line", text: true, value: (p) => p.class || "–" },
        { title: "Keys", value: (p) => p.keys, show: (p) => count(p.keys) },
        { title: "Knows of", value: (p) => p.origins, hint: "others whose summary it holds, at least a part" },
        { title: "Known by", value: (p) => p.known, hint: "others that hold a part of its summary" },
        { title: "Holds", value: (p) => p.bytes, show: (p) => bytes(p.bytes), hint: "of others' summaries" },
        {
          title: "In vain",
          value: (p) => p.false,
          show: (p) => p.false.toFixed(2),
          hint:
            "peers that a query would ask in vain if it asked all whose summary, " +
            "as far as it is held, does not rule the key out",
        },
      ],
      { sort: 6, down: true, key: (p) => p.n, pick: (p) => app.select(p.n) },
    );
    this.byClass = new Table([
      { title: "Line", text: true, value: (c) => c.name || "–" },
      { title: "Peers", value: (c) => c.peers },
      { title: "Know of", value: (c) => c.origins, show: (c) => c.origins.toFixed(1) },
      { title: "Known by", value: (c) => c.known, show: (c) => c.known.toFixed(1) },
      { title: "Hold", value: (c) => c.bytes, show: (c) => bytes(c.bytes) },
      { title: "In vain", value: (c) => c.false, show: (c) => c.false.toFixed(2) },
      {
        title: "Not heard of",
        value: (c) => c.missing,
        show: (c) => count(c.missing),
        hint: "pairs of peers: the first is of this line and holds nothing of the second",
      },
    ]);
    this.shown = h("span", { class: "key" });
    at.append(
      h(
        "p",
        { class: "lead" },
        "A row is a peer that knows, a column one that is known. The stronger the colour, the more surely the" +
          " row's peer can tell what the column's peer holds; ",
        "no colour: it has not heard of it. A pale row is starved: its line carries too little. A pale column" +
          " is a peer that nobody hears of.",
      ),
      h(
        "div",
        { class: "bar" },
        h("label", {}, "Sort by ", this.sortBy),
        h("span", { class: "scale" }, "not heard of", this.scale, "false-positive rate 1 in 4096 or less"),
        this.shown,
        buttons("venn-matrix", { svg: () => this.svg(), csv: () => this.peers.csv() }),
      ),
      h(
        "div",
        { class: "columns" },
        h("div", { class: "card" }, h("div", { class: "matrix" }, this.cols, this.rows, this.canvas)),
        h(
          "div",
          {},
          h(
            "div",
            { class: "card" },
            h("h2", {}, "By line ", h("small", {}, "means over peers")),
            this.byClass.element,
          ),
          h("div", { class: "card" }, h("h2", {}, "Peers"), this.peers.element),
        ),
      ),
    );
  }

  close() {
    hint("");
  }

  /** focus scrolls to a peer's row. @param {number} _n */
  focus(_n) {
    this.peers.body.querySelector(".on")?.scrollIntoView({ block: "nearest" });
  }

  /**
   * arranged are the peers in the order of rows and columns: those that are watched, and for columns all others after
   * them.
   */
  arranged() {
    const m = this.app.model,
      by = this.sortBy.value;
    const key = `${m.peers.length} ${by} ${m.groups.length}`;
    if (this.order?.key === key && by !== "keys") return this.order;
    const classes = new Map(m.classes.map((c, i) => [c, i]));
    const sorted = [...m.all].sort((a, b) => {
      if (by === "keys") return (m.status[b.n]?.keys ?? 0) - (m.status[a.n]?.keys ?? 0) || a.n - b.n;
      const c = (classes.get(a.class || "") ?? 99) - (classes.get(b.class || "") ?? 99),
        g = (a.group || "").localeCompare(b.group || "");
      return (by === "class" ? c || g : g || c) || a.n - b.n;
    });
    const band = (/** @type {Peer|undefined} */ p) =>
      by === "keys" ? "" : by === "class" ? p?.class || "" : p?.group || "";
    this.order = { key, rows: sorted.filter((p) => p.self).map((p) => p.n), cols: sorted.map((p) => p.n), band };
    return this.order;
  }

  draw() {
    const m = this.app.model;
    this.figures();
    const { rows, cols, band } = this.arranged();
    if (!rows.length) return;
    const w = Math.min(most, cols.length),
      hgt = Math.min(most, rows.length);
    this.perCol = cols.length / w;
    this.perRow = rows.length / hgt;
    if (this.canvas.width !== w || this.canvas.height !== hgt) {
      this.canvas.width = w;
      this.canvas.height = hgt;
    }
    this.canvas.style.aspectRatio = `${w} / ${Math.max(hgt, w / 24)}`;
    const c = this.canvas.getContext("2d");
    const image = c.createImageData(w, hgt);
    const ramp = this.ramp();
    const sum = new Float64Array(w),
      pairs = new Float64Array(w),
      bin = new Uint32Array(m.peers.length);
    cols.forEach((n, x) => {
      const b = Math.floor(x / this.perCol);
      bin[n] = b;
      pairs[b] = at(pairs, b) + 1;
    });
    for (let y = 0; y < hgt; y++) {
      const first = Math.floor(y * this.perRow),
        last = Math.floor((y + 1) * this.perRow);
      sum.fill(0);
      for (let r = first; r < last; r++) {
        m.rows[at(rows, r)]?.each((of, level) => {
          const x = at(bin, of);
          sum[x] = at(sum, x) + level;
        });
      }
      for (let x = 0; x < w; x++) {
        const mean = at(sum, x) / (at(pairs, x) * (last - first));
        image.data.set(ramp.of(Math.min(full, Math.ceil(mean))), 4 * (y * w + x));
      }
      if (this.perCol === 1) image.data.set(ramp.self, 4 * (y * w + at(bin, at(rows, y))));
    }
    c.putImageData(image, 0, 0);
    const n = this.app.selected;
    if (n !== null && this.perCol === 1) {
      const x = cols.indexOf(n),
        y = rows.indexOf(n);
      c.fillStyle = this.app.dark() ? "rgba(255,255,255,.38)" : "rgba(200,60,20,.42)";
      if (y >= 0) c.fillRect(0, y, w, 1);
      if (x >= 0) c.fillRect(x, 0, 1, hgt);
    }
    this.labels(this.rows, rows, band, "top");
    this.labels(this.cols, cols, band, "left");
    this.shown.textContent =
      this.perCol > 1
        ? `${count(cols.length)} peers, about ${Math.round(this.perCol)} × ${Math.round(this.perRow)} pairs a pixel`
        : "";
    this.drawScale(ramp);
  }

  /**
   * labels writes the names of bands beside the matrix.
   * @param {HTMLElement} at
   * @param {number[]} all
   * @param {(p: Peer|undefined) => string} band
   * @param {"top"|"left"} side
   */
  labels(at, all, band, side) {
    const bands = [];
    all.forEach((n, i) => {
      const b = band(this.app.model.peers[n]);
      const last = bands.at(-1);
      if (last?.name === b) last.end = i + 1;
      else bands.push({ name: b, start: i, end: i + 1 });
    });
    const room = side === "top" ? 0.03 : 0.09;
    at.replaceChildren(
      ...bands
        .filter((b) => b.name && (b.end - b.start) / all.length > room)
        .map((b) => h("span", { style: `${side}:${(50 * (b.start + b.end)) / all.length}%` }, b.name)),
    );
  }

  /** ramp are the colours of cells. */
  ramp() {
    const dark = this.app.dark();
    const none = dark ? [35, 40, 45] : [238, 240, 242],
      low = dark ? [49, 66, 84] : [196, 217, 236],
      high = dark ? [120, 200, 255] : [13, 71, 130];
    const table = [];
    for (let v = 0; v <= full; v++) {
      const x = (v - 1) / (full - 1);
      table.push(
        v === 0
          ? [...none, 255]
          : [0, 1, 2].map((i) => Math.round(at(low, i) + x * (at(high, i) - at(low, i)))).concat(255),
      );
    }
    return { of: (/** @type {number} */ v) => table[v], self: dark ? [90, 98, 106, 255] : [205, 209, 213, 255], table };
  }

  /** @param {any} ramp */
  drawScale(ramp) {
    const c = this.scale.getContext("2d");
    ramp.table.forEach((/** @type {number[]} */ t, /** @type {number} */ i) => {
      c.fillStyle = `rgb(${t.slice(0, 3)})`;
      c.fillRect((i * 120) / ramp.table.length, 0, 3, 10);
    });
  }

  figures() {
    const m = this.app.model;
    const list = m.watched.map((p) => {
      const s = m.status[p.n];
      return {
        n: p.n,
        name: p.name,
        class: p.class,
        keys: s?.keys ?? 0,
        origins: s?.origins ?? 0,
        known: m.known[p.n] ?? 0,
        bytes: s?.bytes ?? 0,
        false: s?.false ?? 0,
      };
    });
    this.peers.set(list, this.app.selected);
    this.byClass.set(
      m.classes.map((name) => {
        const of = list.filter((p) => (p.class || "") === name),
          mean = (/** @type {(p: any) => number} */ f) => of.reduce((s, p) => s + f(p), 0) / Math.max(1, of.length);
        return {
          name,
          peers: of.length,
          origins: mean((p) => p.origins),
          known: mean((p) => p.known),
          bytes: mean((p) => p.bytes),
          false: mean((p) => p.false),
          missing: of.reduce((s, p) => s + m.peers.length - 1 - p.origins, 0),
        };
      }),
    );
  }

  /** pair is the pair of peers under the mouse, if a pixel is one. @param {MouseEvent} e */
  pair(e) {
    if (!this.order) return null;
    const b = this.canvas.getBoundingClientRect();
    const x = Math.floor(((e.clientX - b.left) / b.width) * this.order.cols.length),
      y = Math.floor(((e.clientY - b.top) / b.height) * this.order.rows.length);
    const row = this.order.rows[y],
      col = this.order.cols[x];
    return row === undefined || col === undefined ? null : { row, col };
  }

  /** @param {MouseEvent} e */
  point(e) {
    const m = this.app.model,
      pair = this.pair(e);
    if (!pair) return hint("");
    const { row, col } = pair,
      p = m.peers[row],
      v = m.at(row, col);
    const what =
      row === col
        ? "itself"
        : !v
          ? `has not heard of ${m.name(col)}`
          : `holds ${bytes(m.held(row, col))} of ${m.name(col)}'s summary\n` +
            `false-positive rate ${rate((v - 1) / levelsPerBit)}`;
    hint(`${m.name(row)} (${p?.class || speed(p?.rate ?? 0)})\n${what}`, e);
  }

  /** @param {MouseEvent} e */
  pick(e) {
    const pair = this.pair(e);
    if (pair) this.app.select(pair.row);
  }

  svg() {
    const size = 640,
      left = 80,
      top = 40,
      soft = css("--soft");
    const height = (size * this.canvas.height) / this.canvas.width;
    let body = `<text x="${left}" y="18" fill="${css("--ink")}" font-weight="600">Who knows what of whom</text>`;
    for (const [at, all, side] of /** @type {[HTMLElement, string, string][]} */ ([
      [this.rows, "rows", "top"],
      [this.cols, "cols", "left"],
    ])) {
      for (const s of at.children) {
        const share = parseFloat(/** @type {any} */ (s).style[side]) / 100;
        const [x, y, anchor] =
          all === "rows" ? [left - 6, top + share * height + 4, "end"] : [left + share * size, top - 6, "middle"];
        body += `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${soft}">${escape(s.textContent)}</text>`;
      }
    }
    body +=
      `<image x="${left}" y="${top}" width="${size}" height="${height}" preserveAspectRatio="none" ` +
      `style="image-rendering:pixelated" xlink:href="${this.canvas.toDataURL()}"/>`;
    return svg(left + size + 20, top + height + 20, body);
  }
}
