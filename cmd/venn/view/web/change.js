// How does a change travel? A peer's summaries and tails, and how long each took to be known to the others.

import { bytes, colours, count, csv, h, percent, seconds, Table } from "./dom.js";
import { buttons, stack } from "./export.js";
import { Plot } from "./plot.js";

/** @typedef {import("./model.js").Update} Update */
/** @typedef {import("./model.js").Peer} Peer */

/** what names an update. @param {Update} u */
const what = (u) => (u.number ? `Tail ${u.sequence}.${u.number}` : `Summary ${u.sequence}`);

/** says is how much an update says. @param {Update} u */
const says = (u) =>
  u.number ? `+${count(u.added)} −${count(u.removed)} keys` : `${count(u.keys)} keys, ${bytes(u.bytes)}`;

export class ChangePage {
  /** @param {import("./main.js").App} app @param {HTMLElement} at */
  constructor(app, at) {
    this.app = app;
    /** @type {Update|null} */ this.update = null; // null: the latest
    this.plot = new Plot("Share of the others that have heard of it", percent, 260);
    this.table = new Table(
      [
        { title: "Peer", text: true, value: (u) => app.model.name(u.n) },
        {
          title: "What",
          text: true,
          value: (u) => what(u),
          hint: "a summary, or a tail: what has changed since the summary",
        },
        { title: "Published", value: (u) => u.t, show: (u) => seconds(u.t) },
        { title: "Says", text: true, value: (u) => u.keys || u.added + u.removed, show: says },
        { title: "Heard of by", value: (u) => u.reached.size },
        {
          title: "Half after",
          value: (u) => this.after(u, 0.5) ?? Infinity,
          show: (u) => this.text(this.after(u, 0.5)),
        },
        { title: "All after", value: (u) => this.after(u, 1) ?? Infinity, show: (u) => this.text(this.after(u, 1)) },
      ],
      {
        sort: 2,
        down: true,
        limit: 300,
        key: (u) => u,
        pick: (u) => {
          this.update = u;
          app.select(u.n);
        },
      },
    );
    this.missing = h("p", { class: "lead" });
    this.sums = h("div", { class: "figures" });
    this.box = h("div", {});
    at.append(
      h(
        "p",
        { class: "lead" },
        "When a collection changes a little, its peer publishes a tail within a second: a short list of what " +
          "it gained and lost since its summary. When tails bear no more, a new summary follows. The chart " +
          "shows how many of the others know of it after how long; ",
        "of a summary, its first part counts. Pick a peer in the table or by its name above.",
      ),
      this.box,
      h(
        "div",
        { class: "bar" },
        (this.title = h("b", {})),
        buttons("venn-change", { svg: () => stack([this.plot.drawing()]), csv: () => csv(this.plot.rows()) }),
      ),
      this.sums,
      h(
        "div",
        { class: "columns wide" },
        h(
          "div",
          { class: "card" },
          h("h2", {}, "Who has heard of it ", h("small", {}, "share of the others, from its publication")),
          this.plot.element,
          this.missing,
        ),
        h("div", { class: "card" }, h("h2", {}, "Summaries and tails published"), this.table.element),
      ),
    );
  }

  close() {
    this.plot.close();
  }

  /** others are those that can hear of a peer's summary. @param {number} n */
  others(n) {
    return this.app.model.watched.filter((p) => p.n !== n);
  }

  /**
   * after is how long it took until a share of the others had heard.
   * @param {Update} e
   * @param {number} share
   * @returns {number|null} ms
   */
  after(e, share) {
    const times = [...e.reached.values()].map((t) => t - e.t).sort((a, b) => a - b);
    const need = Math.ceil(share * this.others(e.n).length);
    return need > 0 && times.length >= need ? (times[need - 1] ?? null) : null;
  }

  /** @param {number|null} t */
  text(t) {
    return t === null ? "not yet" : seconds(Math.max(0, t));
  }

  draw() {
    const m = this.app.model;
    const all = [...m.updates.values()].flat();
    const old = this.update;
    if (old && !all.includes(old))
      this.update = all.find((u) => u.n === old.n && u.sequence === old.sequence && u.number === old.number) ?? null;
    const n = this.app.selected ?? this.update?.n ?? all.at(-1)?.n ?? 0;
    const e = this.update?.n === n ? this.update : m.updates.get(n)?.at(-1);
    this.table.set(this.app.selected === null ? all : all.filter((x) => x.n === n), e);
    this.changing(n);
    this.title.textContent = e ? `${what(e)} of ${m.name(n)}` : `${m.name(n)} has published no summary yet`;
    if (!e) {
      this.sums.replaceChildren();
      this.plot.set([0], []);
      this.missing.textContent = "";
      return;
    }
    const others = this.others(n);
    this.sums.replaceChildren(
      ...[
        ["published", seconds(e.t)],
        ["says", says(e)],
        ["heard of by", `${e.reached.size} of ${others.length}`],
        ["half after", this.text(this.after(e, 0.5))],
        ["all after", this.text(this.after(e, 1))],
      ].map(([l, v]) => h("div", {}, h("div", { class: "l" }, l), h("div", { class: "v" }, v))),
    );
    const last = Math.max(1000, ...[...e.reached.values()].map((t) => t - e.t)) * 1.05,
      points = 160;
    const x = Array.from({ length: points + 1 }, (_, i) => (last * i) / points / 1000);
    const colour = colours(m.classes);
    const curve = (/** @type {Peer[]} */ who) => {
      const times = who
        .map((p) => e.reached.get(p.n))
        .filter((t) => t !== undefined)
        .map((t) => (t - e.t) / 1000)
        .sort((a, b) => a - b);
      let k = 0;
      return x.map((t) => {
        while ((times[k] ?? Infinity) <= t) k++;
        return k / Math.max(1, who.length);
      });
    };
    const series =
      m.classes.length > 1
        ? m.classes.map((c) => ({
            label: c || "–",
            stroke: colour.get(c) ?? "",
            values: curve(others.filter((p) => (p.class || "") === c)),
            dash: [5, 3],
          }))
        : [];
    this.plot.set(x, [{ label: "all", stroke: "#e0702c", values: curve(others) }, ...series]);
    const deaf = others.filter((p) => !e.reached.has(p.n));
    this.missing.textContent = deaf.length
      ? `Not heard of it yet: ${deaf
          .slice(0, 12)
          .map((p) => p.name)
          .join(", ")}${deaf.length > 12 ? ` and ${deaf.length - 12} more` : ""}.`
      : "";
  }

  /** changing is the box to change a peer's keys. @param {number} n */
  changing(n) {
    const m = this.app.model,
      can = this.app.can.change && !m.over;
    if (!can) {
      if (this.boxed) this.box.replaceChildren();
      this.boxed = false;
      return;
    }
    if (!this.boxed) {
      this.boxed = true;
      this.add = h("input", { id: "add", type: "number", min: 0, max: 1000, value: 20, "aria-label": "Keys to add" });
      this.remove = h("input", { type: "number", min: 0, max: 1000, value: 20, "aria-label": "Keys to remove" });
      this.who = h("b", {});
      this.said = h("span", { class: "key", role: "status" });
      this.button = h("button", { class: "main", id: "change" }, "Change");
      this.box.replaceChildren(
        h(
          "form",
          {
            class: "card ask",
            onsubmit: (/** @type {Event} */ e) => {
              e.preventDefault();
              this.send();
            },
          },
          h("span", {}, "Let ", this.who, " take in"),
          this.add,
          "keys that others hold and drop",
          this.remove,
          this.button,
          this.said,
        ),
      );
    }
    this.n = n;
    this.who.textContent = m.name(n);
    this.button.disabled = !m.report;
    if (!m.report) this.said.textContent = "once the report is there: before, it would make the report wrong";
    else if (this.said.textContent.startsWith("once")) this.said.textContent = "";
  }

  async send() {
    this.said.textContent = "…";
    try {
      const r = await fetch("change", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ peer: this.n, add: Number(this.add.value), remove: Number(this.remove.value) }),
      });
      if (!r.ok) throw new Error(await r.text());
      const did = await r.json();
      this.update = null;
      this.said.textContent = `added ${did.added}, removed ${did.removed}: the others hear of it`;
    } catch (e) {
      this.said.textContent = String(/** @type {any} */ (e).message ?? e);
    }
  }
}
