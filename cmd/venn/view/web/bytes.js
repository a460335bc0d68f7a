// Where do the bytes go? The use of the lines' budgets over time, by class, and what the bytes are; links by what they carried.

import { bytes, colours, csv, h, kindColour, percent, Table } from "./dom.js";
import { buttons } from "./export.js";
import { Plot } from "./plot.js";

const grain = 2000; // ms between points, at least

export class BytesPage {
  /** @param {import("./main.js").App} app @param {HTMLElement} at */
  constructor(app, at) {
    this.app = app;
    this.use = new Plot("Use of the budgets for summaries, by line", percent);
    this.ways = new Plot("Bytes received a second", (v) => `${bytes(v)}/s`);
    this.of = h("select", { onchange: () => this.draw() });
    this.links = new Table([
      { title: "Peer", text: true, value: (l) => app.model.name(l.from) }, { title: "Linked with", text: true, value: (l) => app.model.name(l.to) },
      { title: "Why", text: true, value: (l) => l.kind, show: (l) => h("span", {}, h("span", { class: "dot", style: `background:${kindColour(l.kind)}` }), l.kind) },
      { title: "Sent", value: (l) => l.sent, show: (l) => bytes(l.sent) }, { title: "Received", value: (l) => l.received, show: (l) => bytes(l.received) },
    ], { sort: 3, down: true, limit: 200, pick: (l) => app.select(l.from) });
    this.totals = new Table([
      { title: "Line", text: true, value: (c) => c.name || "–" }, { title: "Peers", value: (c) => c.peers },
      { title: "Received", value: (c) => c.received, show: (c) => bytes(c.received), hint: "a peer, of summaries, with announcements" },
      { title: "By mesh", value: (c) => c.pubsub, show: (c) => bytes(c.pubsub), hint: "parts that came by pubsub" }, { title: "Directly", value: (c) => c.direct, show: (c) => bytes(c.direct) },
      { title: "Deltas", value: (c) => c.delta, show: (c) => bytes(c.delta) }, { title: "Other", value: (c) => c.other, show: (c) => bytes(c.other), hint: "announcements, control messages, and what was known already" },
      { title: "Sent", value: (c) => c.sent, show: (c) => bytes(c.sent) },
    ]);
    this.linksTitle = h("h2", {}, "Links");
    at.append(
      h("p", { class: "lead" }, "Summaries may use a share of every line, no more. The first chart says how much of that the peers of a line receive, the second what it is: ",
        "parts of summaries by the mesh or fetched directly, deltas in place of parts, and the rest, which is announcements, control messages and repeats."),
      h("div", { class: "bar" }, h("label", {}, "Second chart of ", this.of), buttons("venn-bytes", { svg: () => this.both(), csv: () => csv([...this.use.rows(), [], ...this.ways.rows()]) })),
      h("div", { class: "columns" }, h("div", { class: "card" }, h("h2", {}, "Use of the budget received ", h("small", {}, "mean over peers of a line")), this.use.element),
        h("div", { class: "card" }, h("h2", {}, "What is received ", h("small", {}, "bytes a second and peer")), this.ways.element)),
      h("div", { class: "columns" }, h("div", { class: "card" }, h("h2", {}, "So far, a peer"), this.totals.element), h("div", { class: "card" }, this.linksTitle, this.links.element)));
  }

  close() { this.use.close(); this.ways.close(); }

  /** both charts in one picture */
  both() {
    const a = this.use.svg(), b = this.ways.svg();
    const inner = (/** @type {string} */ s) => s.replace(/^<svg[^>]*>/, "").replace(/<\/svg>$/, "");
    return a.replace('height="300" viewBox="0 0 760 300"', 'height="600" viewBox="0 0 760 600"').replace("</svg>", "") + `<g transform="translate(0 300)">${inner(b).replace('height="100%"', 'height="300"')}</g></svg>`;
  }

  draw() {
    const m = this.app.model, classes = m.classes, selected = this.app.selected;
    const options = ["", ...classes, ...(selected !== null && m.peers[selected]?.self ? [`#${selected}`] : [])];
    const text = options.join("|");
    if (this.optionText !== text) {
      this.optionText = text;
      const value = this.of.value;
      this.of.replaceChildren(...options.map((o) => h("option", { value: o }, o === "" ? "all peers" : o[0] === "#" ? m.name(Number(o.slice(1))) : o)));
      this.of.value = options.includes(value) ? value : options.at(-1)?.[0] === "#" ? options.at(-1) : "";
    }
    const step = Math.max(grain, Math.ceil(m.now / 240 / 1000) * 1000), points = Math.max(1, Math.floor(m.now / step));
    const x = Array.from({ length: points }, (_, i) => ((i + 1) * step) / 1000);
    const colour = colours(classes);
    const of = (/** @type {string} */ c) => m.watched.filter((p) => (p.class || "") === c).map((p) => p.n);
    this.use.set(x, classes.map((c) => {
      const received = this.rates(of(c), step, points, (s) => s.received), line = this.mean(of(c), step, points, (s) => s.line_in);
      return { label: c || "all", stroke: colour.get(c) ?? "", values: received.map((v, i) => (v === null || !line[i] ? null : v / line[i])) };
    }));
    const chosen = this.of.value, who = chosen[0] === "#" ? [Number(chosen.slice(1))] : chosen ? of(chosen) : m.watched.map((p) => p.n);
    const pubsub = this.rates(who, step, points, (s) => s.pubsub), direct = this.rates(who, step, points, (s) => s.direct), delta = this.rates(who, step, points, (s) => s.delta);
    const all = this.rates(who, step, points, (s) => s.received);
    this.ways.set(x, [
      { label: "by mesh", stroke: "#3b82c4", values: pubsub }, { label: "directly", stroke: "#e08a3c", values: direct }, { label: "deltas", stroke: "#4aa564", values: delta },
      { label: "other", stroke: "#8d97a3", values: all.map((v, i) => (v === null ? null : Math.max(0, v - (pubsub[i] ?? 0) - (direct[i] ?? 0) - (delta[i] ?? 0)))) },
    ]);
    this.totals.set([...classes.map((name) => ({ name, of: of(name) })), { name: "all", of: m.watched.map((p) => p.n) }].map(({ name, of }) => {
      const mean = (/** @type {(s: any) => number} */ f) => of.reduce((s, n) => s + (m.status[n] ? f(m.status[n]) : 0), 0) / Math.max(1, of.length);
      const row = { name, peers: of.length, received: mean((s) => s.received), sent: mean((s) => s.sent), pubsub: mean((s) => s.pubsub), direct: mean((s) => s.direct), delta: mean((s) => s.delta), other: 0 };
      row.other = Math.max(0, row.received - row.pubsub - row.direct - row.delta);
      return row;
    }));
    this.linksTitle.textContent = selected !== null && m.links[selected] ? `Links of ${m.name(selected)}` : "Links, those that carried most first";
    this.links.set(m.links.flatMap((all, from) => (selected !== null && m.links[selected] && from !== selected ? [] : (all ?? []).map((l) => ({ from, ...l })))));
  }

  /**
   * at is a figure of a peer at the end of each step, on the straight line between the statuses before and after.
   * @param {number} n @param {number} step @param {number} points @param {(s: any) => number} f @returns {(number|null)[]}
   */
  at(n, step, points, f) {
    const out = new Array(points).fill(null), all = this.app.model.history[n] ?? [];
    let i = 0;
    for (let k = 0; k < points; k++) {
      const t = (k + 1) * step;
      while (i < all.length && all[i].t <= t) i++;
      if (i === 0) continue;
      const a = all[i - 1], b = all[i];
      out[k] = b ? f(a) + ((f(b) - f(a)) * (t - a.t)) / (b.t - a.t) : f(a);
    }
    return out;
  }

  /** mean of a figure over peers @param {number[]} who @param {number} step @param {number} points @param {(s: any) => number} f */
  mean(who, step, points, f) {
    const sum = new Array(points).fill(0), n = new Array(points).fill(0);
    for (const p of who) this.at(p, step, points, f).forEach((v, i) => { if (v !== null) { sum[i] += v; n[i]++; } });
    return sum.map((s, i) => (n[i] ? s / n[i] : null));
  }

  /** rates are the means of a figure's growth a second and peer @param {number[]} who @param {number} step @param {number} points @param {(s: any) => number} f */
  rates(who, step, points, f) {
    const sum = new Array(points).fill(0), n = new Array(points).fill(0);
    for (const p of who) {
      let before = 0;
      this.at(p, step, points, f).forEach((v, i) => { if (v !== null) { sum[i] += (v - before) / (step / 1000); n[i]++; before = v; } });
    }
    return sum.map((s, i) => (n[i] ? s / n[i] : null));
  }
}
