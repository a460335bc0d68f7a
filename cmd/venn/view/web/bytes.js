// Where do the bytes go? The use of the lines' budgets over time, what the bytes are, and the use of single links.

import { bytes, colours, csv, h, kindColour, percent, Table } from "./dom.js";
import { buttons, stack } from "./export.js";
import { Plot } from "./plot.js";
import { Grid, mean } from "./series.js";

/** @typedef {import("./model.js").Status} Status */

const grain = 2000; // ms between points, at least
const most = 240; // points
const busiest = 6; // links of a peer that have a line in the chart

/** what is received, with the sum in a status */
const ways = /** @type {[string, string, (s: Status) => number][]} */ ([
  ["by mesh", "#3b82c4", (s) => s.pubsub],
  ["directly", "#e08a3c", (s) => s.direct],
  ["deltas", "#4aa564", (s) => s.delta],
  ["announcements", "#8a6fc2", (s) => s.announced ?? 0],
]);
const rest = /** @type {[string, string, (s: Status) => number]} */ ([
  "repeats",
  "#8d97a3",
  (s) =>
    Math.max(
      0,
      ways.reduce((left, [, , f]) => left - f(s), s.received),
    ),
]);

export class BytesPage {
  /** @param {import("./main.js").App} app @param {HTMLElement} at */
  constructor(app, at) {
    this.app = app;
    /** @type {{from: number, to: number}|null} the link that was clicked */ this.link = null;
    this.use = new Plot("Use of the budgets for summaries, by line", percent);
    this.ways = new Plot("Bytes received a second", (v) => `${bytes(v)}/s`);
    this.over = new Plot("Use of links' budgets", percent);
    const redraw = () => this.draw();
    this.way = h("select", { onchange: redraw }, ...["received", "sent"].map((v) => h("option", { value: v }, v)));
    this.of = h("select", { onchange: redraw });
    this.links = new Table(
      [
        { title: "Peer", text: true, value: (l) => app.model.name(l.from) },
        { title: "Linked with", text: true, value: (l) => app.model.name(l.to) },
        {
          title: "Why",
          text: true,
          value: (l) => l.kind,
          show: (l) => h("span", {}, h("span", { class: "dot", style: `background:${kindColour(l.kind)}` }), l.kind),
        },
        { title: "Sent", value: (l) => l.sent, show: (l) => bytes(l.sent) },
        { title: "Received", value: (l) => l.received, show: (l) => bytes(l.received) },
      ],
      {
        sort: 3,
        down: true,
        limit: 200,
        key: (l) => `${l.from} ${l.to}`,
        pick: (l) => {
          this.link = l;
          app.select(l.from);
        },
      },
    );
    const sum = (/** @type {string} */ title, /** @type {string} */ id, /** @type {string} */ hint) => ({
      title,
      value: (/** @type {any} */ c) => c[id],
      show: (/** @type {any} */ c) => bytes(c[id]),
      hint,
    });
    this.totals = new Table([
      { title: "Line", text: true, value: (c) => c.name || "–" },
      { title: "Peers", value: (c) => c.peers },
      {
        title: "Used in",
        value: (c) => c.in,
        show: (c) => percent(c.in),
        hint: "of what the line may receive, since it was first seen",
      },
      {
        title: "out",
        value: (c) => c.out,
        show: (c) => percent(c.out),
        hint: "of what the line may send, since it was first seen",
      },
      sum("Received", "received", "a peer, of summaries, with announcements"),
      sum("By mesh", "by mesh", "parts that came by pubsub"),
      sum("Directly", "directly", "parts that were fetched"),
      sum("Deltas", "deltas", "in place of parts"),
      sum("Announced", "announcements", "who holds what"),
      sum("Repeats", "repeats", "what was known already, and what headers add"),
      sum("Sent", "sent", "of all that counts"),
    ]);
    this.linksTitle = h("h2", {}, "Links");
    this.overTitle = h("small", {});
    const card = (/** @type {any[]} */ ...inside) => h("div", { class: "card" }, ...inside);
    at.append(
      h(
        "p",
        { class: "lead" },
        "Summaries may use a share of every line, on average: after a pause a line may carry a second's worth" +
          " at once, and 16 kB at least, ",
        "so a point of the first chart, and a short run's average in the table, may lie above 100 %. ",
        "The figure in the head is another one: the busiest link in its busiest five seconds, what it may " +
          "carry at once included.",
      ),
      h(
        "div",
        { class: "bar" },
        h("label", {}, "First chart: ", this.way),
        h("label", {}, "Second chart: ", this.of),
        buttons("venn-bytes", {
          svg: () => stack([this.use, this.ways, this.over].map((p) => p.drawing())),
          csv: () => csv([this.use, this.ways, this.over].flatMap((p) => [...p.rows(), []])),
        }),
      ),
      h(
        "div",
        { class: "columns" },
        card(h("h2", {}, "Use of the budget ", h("small", {}, "mean over peers of a line")), this.use.element),
        card(h("h2", {}, "What is received ", h("small", {}, "bytes a second and peer")), this.ways.element),
      ),
      card(h("h2", {}, "So far, a peer"), this.totals.element),
      h(
        "div",
        { class: "columns" },
        card(h("h2", {}, "Links over time ", this.overTitle), this.over.element),
        card(this.linksTitle, this.links.element),
      ),
    );
  }

  close() {
    for (const p of [this.use, this.ways, this.over]) p.close();
  }

  draw() {
    const m = this.app.model,
      classes = m.classes,
      selected = this.app.selected;
    if (this.link?.from !== selected) this.link = null;
    this.options(classes, selected);
    const begun = m.history.reduce((t, all) => Math.min(t, all[0]?.t ?? t), m.now);
    const grid = new Grid(begun, m.now, grain, most),
      x = grid.seconds;
    const of = (/** @type {string} */ c) => m.watched.filter((p) => (p.class || "") === c).map((p) => p.n);
    const colour = colours(classes),
      sent = this.way.value === "sent";
    this.use.set(
      x,
      classes.map((c) => {
        const carried = this.rates(grid, of(c), sent ? (s) => s.sent : (s) => s.received);
        const may = mean(
          of(c).map((n) => grid.values(m.history[n] ?? [], (s) => (sent ? s.line_out : s.line_in))),
          grid.points,
        );
        return {
          label: c || "all",
          stroke: colour.get(c) ?? "",
          values: carried.map((v, i) => (v === null || !may[i] ? null : v / may[i])),
        };
      }),
    );
    const chosen = this.of.value;
    const who = chosen[0] === "#" ? [Number(chosen.slice(1))] : chosen ? of(chosen) : m.watched.map((p) => p.n);
    const parts = ways.map(([label, stroke, f]) => ({ label, stroke, values: this.rates(grid, who, f) }));
    const all = this.rates(grid, who, (s) => s.received);
    const left = all.map((v, i) =>
      v === null
        ? null
        : Math.max(
            0,
            parts.reduce((r, p) => r - (p.values[i] ?? 0), v),
          ),
    );
    this.ways.set(x, [...parts, { label: rest[0], stroke: rest[1], values: left }]);
    const everybody = { name: "all", of: m.watched.map((p) => p.n) };
    this.totals.set(
      [...classes.map((name) => ({ name, of: of(name) })), everybody].map((c) => this.total(c.name, c.of)),
    );
    const one = selected !== null && m.links[selected] ? selected : null;
    this.linksTitle.textContent = one !== null ? `Links of ${m.name(one)}` : "Links, those that carried most first";
    const rows = m.links.flatMap((ls, from) =>
      one !== null && from !== one ? [] : (ls ?? []).map((l) => ({ from, ...l })),
    );
    this.links.set(rows, this.link && `${this.link.from} ${this.link.to}`);
    this.overTime(grid, x, one, rows);
  }

  /** options are those whom the second chart can show. @param {string[]} classes @param {number|null} selected */
  options(classes, selected) {
    const m = this.app.model,
      one = selected !== null && m.peers[selected]?.self ? `#${selected}` : null;
    const options = ["", ...classes, ...(one ? [one] : [])],
      text = options.join("|");
    if (this.optionText === text) return;
    this.optionText = text;
    const value = this.of.value,
      name = (/** @type {string} */ o) => (o === "" ? "all peers" : o === one ? m.name(selected ?? 0) : o);
    this.of.replaceChildren(...options.map((o) => h("option", { value: o }, name(o))));
    this.of.value = options.includes(value) ? value : (one ?? "");
  }

  /**
   * rates are the means of a figure's growth a second and peer
   * @param {Grid} grid
   * @param {number[]} who
   * @param {(s: Status) => number} f
   */
  rates(grid, who, f) {
    return mean(
      who.map((n) => grid.rates(this.app.model.history[n] ?? [], f)),
      grid.points,
    );
  }

  /** total is what peers have received and sent on average. @param {string} name @param {number[]} who */
  total(name, who) {
    const m = this.app.model,
      row = /** @type {Record<string, any>} */ ({ name, peers: who.length });
    const average = (/** @type {(s: Status) => number} */ f) =>
      who.reduce((sum, n) => sum + (m.status[n] ? f(m.status[n]) : 0), 0) / Math.max(1, who.length);
    for (const [label, , f] of [...ways, rest]) row[label] = average(f);
    row.received = average((s) => s.received);
    row.sent = average((s) => s.sent);
    const used = (/** @type {(s: Status) => number} */ f, /** @type {(s: Status) => number} */ line) => {
      let carried = 0,
        may = 0;
      for (const n of who) {
        const all = m.history[n] ?? [];
        all.forEach((s, i) => {
          const before = all[i - 1];
          if (!before) return;
          carried += f(s) < f(before) ? f(s) : f(s) - f(before);
          may += (line(s) * (s.t - before.t)) / 1000;
        });
      }
      return may ? carried / may : 0;
    };
    row.in = used(
      (s) => s.received,
      (s) => s.line_in,
    );
    row.out = used(
      (s) => s.sent,
      (s) => s.line_out,
    );
    return row;
  }

  /**
   * overTime draws the use of the link that was clicked, in both directions. Else it draws that of the busiest links,
   * of the selected peer or of all.
   * @param {Grid} grid
   * @param {number[]} x
   * @param {number|null} one
   * @param {{from: number, to: number, sent: number, received: number}[]} rows
   */
  overTime(grid, x, one, rows) {
    const m = this.app.model;
    if (this.link) {
      const { from, to } = this.link;
      this.overTitle.textContent = `between ${m.name(from)} and ${m.name(to)}, of what the slower end's budget carries`;
      this.over.set(x, [
        { label: `to ${m.name(to)}`, stroke: "#e08a3c", values: this.linkUse(grid, from, to, true) },
        { label: `from ${m.name(to)}`, stroke: "#3b82c4", values: this.linkUse(grid, from, to, false) },
      ]);
      return;
    }
    const links = rows
      .filter((l) => l.from < l.to || one !== null)
      .sort((a, b) => b.sent + b.received - a.sent - a.received)
      .slice(0, busiest);
    const colour = colours(links.map((_, i) => String(i)));
    const of = one === null ? "" : ` of ${m.name(one)}`;
    this.overTitle.textContent = `the busiest${of}, each in its busier direction; click one for both`;
    this.over.set(
      x,
      links.map(({ from, to }, k) => {
        const out = this.linkUse(grid, from, to, true),
          back = this.linkUse(grid, from, to, false);
        const values = out.map((v, i) => (v === null ? null : Math.max(v, back[i] ?? 0)));
        return {
          label: one === null ? `${m.name(from)} – ${m.name(to)}` : m.name(to),
          stroke: colour.get(String(k)) ?? "",
          values,
        };
      }),
    );
  }

  /**
   * linkUse is the use of a link's budget, the lesser of both ends', over time. The bytes are those of all of venn's
   * protocols.
   * @param {Grid} grid @param {number} from @param {number} to @param {boolean} out to the other end, or from it
   */
  linkUse(grid, from, to, out) {
    const m = this.app.model,
      here = m.status[from],
      there = m.status[to];
    const may = out
      ? Math.min(here?.line_out ?? Infinity, there?.line_in ?? Infinity)
      : Math.min(here?.line_in ?? Infinity, there?.line_out ?? Infinity);
    const history = (m.linkHistory[from] ?? []).flatMap((e) =>
      e.links.filter((l) => l[0] === to).map((l) => ({ t: e.t, v: out ? l[4] : l[5] })),
    );
    return grid.rates(history, (s) => s.v).map((v) => (v === null ? null : v / may));
  }
}
