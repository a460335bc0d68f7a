// How was this query answered? Queries as they end, and the path of one.

import { bytes, count, css, h, percent, seconds, Table } from "./dom.js";
import { buttons, escape, svg } from "./export.js";

/** @typedef {import("./model.js").Query} Query */
/** @typedef {import("./model.js").Step} Step */

/** words for why a peer was asked */
const whys = /** @type {Record<string, string>} */ ({
  matched: "its summary, as held here, matches the key",
  named: "a contact named it",
  returned: "a forwarded query found it",
  linked: "nothing spoke for anybody, so all linked peers were asked",
  forwarded: "the query was handed on to it",
  contact: "it knows a range that is not known here, or not well: it was asked who may hold the key",
});
const across = 500; // pixels of the picture of a path
const helpers = ["contact", "forwarded"]; // are asked for names, not whether they hold the key
const results = /** @type {Record<string, string>} */ ({
  holds: "holds it",
  lacks: "does not",
  failed: "no answer",
  answered: "answered",
  pending: "not waited for",
});
/** bytesOf is what a query's questions and answers weigh, as far as it is known. @param {Query} q */
const bytesOf = (q) => q.steps.reduce((/** @type {number} */ sum, /** @type {Step} */ s) => sum + (s.bytes ?? 0), 0);
const tone = (/** @type {string} */ r) =>
  r === "holds" || r === "answered" ? "yes" : r === "lacks" || r === "failed" ? "no" : "maybe";

export class QueriesPage {
  /** @param {import("./main.js").App} app @param {HTMLElement} at */
  constructor(app, at) {
    this.app = app;
    /** @type {Query|null} */ this.query = null;
    this.table = new Table(
      [
        { title: "Ended", value: (q) => q.t, show: (q) => seconds(q.t) },
        { title: "Asked by", text: true, value: (q) => app.model.name(q.n) },
        { title: "Wanted", text: true, value: (q) => (q.all ? "all" : "one") },
        { title: "Found", value: (q) => q.found.length },
        { title: "Probes", value: (q) => q.probes },
        { title: "False", value: (q) => q.false },
        { title: "Messages", value: (q) => q.messages },
        { title: "Bytes", value: bytesOf, show: (q) => bytes(bytesOf(q)), hint: "of the steps: questions and answers" },
        { title: "ms", value: (q) => q.ms, show: (q) => q.ms.toFixed(0) },
        { title: "End", text: true, value: (q) => q.end },
        {
          title: "Key",
          text: true,
          value: (q) => q.key,
          show: (q) => (q.key.length > 16 ? `${q.key.slice(0, 15)}…` : q.key),
        },
      ],
      {
        sort: 0,
        down: true,
        limit: 300,
        key: (q) => q,
        pick: (q) => {
          this.query = q;
          this.draw();
        },
      },
    );
    this.filter = h(
      "select",
      { onchange: () => this.draw() },
      ...[
        ["", "all"],
        ["one", "those that want one"],
        ["all", "those that want all"],
        ["none", "those that found nobody"],
        ["slow", "those over a second"],
        ["peer", "those of the selected peer"],
      ].map(([v, t]) => h("option", { value: v }, t)),
    );
    this.path = h("div", { class: "card", id: "path" });
    this.sums = h("div", { class: "figures" });
    this.box = h("div", {});
    at.append(
      h(
        "p",
        { class: "lead" },
        "A query asks those first whose summary matches the key, the likeliest first. ",
        "Who knows little asks a better informed peer for names; if that is not enough, neighbours hand the query on. ",
        "Click a query to see its path.",
      ),
      this.box,
      h(
        "div",
        { class: "bar" },
        h("label", {}, "Show ", this.filter),
        buttons("venn-queries", { svg: () => this.svg(), csv: () => this.table.csv() }),
      ),
      this.sums,
      h(
        "div",
        { class: "columns wide" },
        h("div", { class: "card" }, h("h2", {}, "Queries"), this.table.element),
        this.path,
      ),
    );
  }

  draw() {
    const m = this.app.model,
      f = this.filter.value;
    this.asking();
    const shown = /** @type {Record<string, (q: Query) => boolean>} */ ({
      "": () => true,
      one: (q) => !q.all,
      all: (q) => q.all,
      none: (q) => !q.found.length,
      slow: (q) => q.ms > 1000,
      peer: (q) => q.n === this.app.selected,
    });
    const list = m.queries.filter(shown[f] ?? (() => true));
    this.table.set(list, this.query);
    const mean = (/** @type {(q: Query) => number} */ g) =>
      list.length ? list.reduce((s, q) => s + g(q), 0) / list.length : 0;
    const times = list.map((q) => q.ms).sort((a, b) => a - b);
    const at = (/** @type {number} */ p) => times[Math.min(times.length - 1, Math.floor(p * times.length))] ?? 0;
    this.sums.replaceChildren(
      ...[
        ["queries", count(list.length)],
        ["found somebody", percent(mean((q) => (q.found.length ? 1 : 0)))],
        ["probes a query", mean((q) => q.probes).toFixed(2)],
        ["of them false", mean((q) => q.false).toFixed(2)],
        ["messages", mean((q) => q.messages).toFixed(2)],
        ["bytes", bytes(mean(bytesOf))],
        ["half end within", `${at(0.5).toFixed(0)} ms`],
        ["99 % within", `${at(0.99).toFixed(0)} ms`],
      ].map(([l, v]) => h("div", {}, h("div", { class: "l" }, l), h("div", { class: "v" }, v))),
    );
    this.showPath();
  }

  showPath() {
    const q = this.query,
      m = this.app.model;
    if (!q) {
      const text = m.queries.length ? "Click a query." : "No query has ended yet.";
      this.path.replaceChildren(h("h2", {}, "Path"), h("p", { class: "empty" }, text));
      return;
    }
    const found = q.found.length === 0 ? "Nobody found" : `${q.found.length} found`;
    this.path.replaceChildren(
      h("h2", {}, "Path ", h("small", {}, q.all ? "all holders wanted" : "one holder wanted")),
      h("p", { class: "mono" }, q.key),
      h(
        "div",
        {},
        this.peer(q.n),
        " asked. ",
        h("b", { class: q.found.length ? "yes" : "no" }, found),
        `: ${q.end}; ${q.messages} messages, ${q.probes} probes, ${q.false} of them false, ` +
          `${bytes(bytesOf(q))}, ${q.ms} ms.`,
      ),
      this.drawing(q),
      h("div", {}, ...q.steps.map((/** @type {Step} */ s, /** @type {number} */ i) => this.step(s, i, q.ms))),
      h(
        "p",
        { class: "lead" },
        q.steps.length
          ? "The blue bar is the probability, as estimated before, that the peer holds the key. The times are " +
              "when it was asked, from the query's begin, and how long its answer took; the bytes are those " +
              "of question and answer."
          : "Nobody was asked.",
      ),
    );
  }

  /** peer is a peer's name that selects it. @param {number} n */
  peer(n) {
    return n < 0
      ? "a stranger"
      : h("button", { class: "link", onclick: () => this.app.select(n) }, this.app.model.name(n));
  }

  /** step is one question. @param {Step} s @param {number} i @param {number} ms that the query took */
  step(s, i, ms) {
    const chance = helpers.includes(s.why)
      ? h("span", {})
      : h(
          "span",
          { class: "prob", title: `probability ${s.probability}` },
          h("i", { style: `width:${100 * s.probability}%` }),
        );
    const took = s.took ? ` + ${s.took.toFixed(1)}` : "";
    const share = (/** @type {number} */ t) => `${Math.min(100, (100 * t) / Math.max(ms, 0.1)).toFixed(1)}%`;
    return h(
      "div",
      { class: "step", title: whys[s.why] ?? s.why },
      h("span", { class: "s" }, i + 1),
      h(
        "span",
        {},
        this.peer(s.peer),
        h("span", { class: "key", style: "margin-left:8px" }, `${s.why}${s.names ? `, brought ${s.names} names` : ""}`),
      ),
      chance,
      h("span", { class: tone(s.result) }, results[s.result] ?? s.result),
      s.at !== undefined
        ? h(
            "span",
            { class: "when", title: "when it was asked, and how long the answer took" },
            h(
              "span",
              { class: "line" },
              h("i", { style: `left:${share(s.at)};width:max(2px, ${share(s.took ?? 0)})` }),
            ),
            h("span", {}, `${s.at.toFixed(1)}${took} ms`),
            h("span", {}, s.bytes ? bytes(s.bytes) : "–"),
          )
        : null,
    );
  }

  /** drawing is the path as a picture. @param {Query} q */
  drawing(q) {
    const e = h("div", {});
    e.innerHTML = this.picture(q);
    e.firstChild.setAttribute("class", "path");
    e.firstChild.querySelector("rect")?.remove();
    return e;
  }

  /** @param {Query} q */
  picture(q) {
    const m = this.app.model,
      steps = q.steps.slice(0, 24),
      row = 26;
    const height = Math.max(70, 24 + row * steps.length),
      y0 = height / 2;
    const x = (/** @type {Step} */ s) => (helpers.includes(s.why) ? 190 : 330);
    const ink = css("--ink"),
      good = css("--good"),
      bad = css("--bad"),
      soft = css("--soft");
    const of = (/** @type {string} */ r) => (r === "holds" ? good : r === "lacks" || r === "failed" ? bad : soft);
    let body = "",
      from = null;
    steps.forEach((/** @type {Step} */ s, /** @type {number} */ i) => {
      const y = 16 + row * i,
        named = s.why === "named" || s.why === "returned",
        end = x(s);
      if (end === 190) from = { x: 190, y };
      const a = named && from ? from : { x: 62, y: y0 },
        mid = (a.x + end) / 2;
      const width = s.why === "matched" || named ? 1 + 2.5 * s.probability : 1.5;
      body +=
        `<path d="M${a.x + 8},${a.y} C${mid},${a.y} ${mid},${y} ${end - 8},${y}" fill="none" ` +
        `stroke="${of(s.result)}" ` +
        `stroke-width="${width}" stroke-opacity=".75" ${s.result === "lacks" ? 'stroke-dasharray="4 3"' : ""}/>` +
        `<circle cx="${end}" cy="${y}" r="6" fill="${of(s.result)}"/>` +
        `<text x="${end + 11}" y="${y + 4}" fill="${ink}">${escape(m.name(s.peer))}</text>`;
      if (s.took) {
        const ended = ((s.at ?? 0) + s.took).toFixed(0);
        body += `<text x="${across - 4}" y="${y + 4}" text-anchor="end" fill="${soft}">${ended} ms</text>`;
      }
    });
    const hidden = q.steps.length - steps.length;
    body +=
      `<circle cx="62" cy="${y0}" r="8" fill="${css("--accent")}"/>` +
      `<text x="62" y="${y0 + 24}" text-anchor="middle" fill="${ink}">${escape(m.name(q.n))}</text>`;
    if (hidden) body += `<text x="330" y="${height + 10}" fill="${soft}">and ${hidden} more</text>`;
    return svg(across, height + (hidden ? 20 : 6), body);
  }

  /** asking is the box to ask for a key oneself. */
  asking() {
    const m = this.app.model,
      can = this.app.can.ask && !m.over;
    if (!can) {
      if (this.boxed) this.box.replaceChildren();
      this.boxed = false;
      return;
    }
    const n = this.app.selected ?? m.watched[0]?.n ?? 0;
    if (!this.boxed) {
      this.boxed = true;
      this.key = h("input", {
        type: "text",
        id: "key",
        placeholder: "A key: a CID, hex:… or any text",
        "aria-label": "Key",
      });
      this.all = h("input", { type: "checkbox" });
      this.who = h("b", {});
      this.said = h("span", { class: "key", role: "status" });
      const submit = (/** @type {Event} */ e) => {
        e.preventDefault();
        this.send();
      };
      const any = () => {
        const all = this.app.model.queries;
        if (all.length) this.key.value = all[Math.floor(Math.random() * all.length)]?.key ?? "";
      };
      this.box.replaceChildren(
        h(
          "form",
          { class: "card ask", onsubmit: submit },
          h("span", {}, "Ask ", this.who, " for"),
          this.key,
          h("label", { class: "key" }, this.all, "all holders"),
          h("button", { class: "main", id: "ask" }, "Ask"),
          h("button", { type: "button", title: "A key that a query has asked for", onclick: any }, "Any key"),
          this.said,
        ),
      );
    }
    this.who.textContent = m.name(n);
  }

  async send() {
    const n = this.app.selected ?? this.app.model.watched[0]?.n ?? 0;
    this.said.textContent = "asking …";
    try {
      const body = JSON.stringify({ peer: n, key: this.key.value, all: this.all.checked });
      const r = await fetch("ask", { method: "POST", headers: { "content-type": "application/json" }, body });
      if (!r.ok) throw new Error(await r.text());
      this.query = { ...(await r.json()), t: this.app.model.end };
      this.said.textContent = "";
      this.draw();
    } catch (e) {
      this.said.textContent = String(/** @type {any} */ (e).message ?? e);
    }
  }

  svg() {
    return this.query
      ? this.picture(this.query)
      : svg(400, 60, `<text x="16" y="34" fill="${css("--ink")}">no query is selected</text>`);
  }
}
