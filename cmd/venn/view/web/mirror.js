// What came from where? The bytes that clients of this peer's mirror got, and its last fetches.

import { bytes, count, csv, h, percent, Table } from "./dom.js";
import { buttons } from "./export.js";

/** @typedef {import("./model.js").Fetch} Fetch */

export class MirrorPage {
  /** @param {import("./main.js").App} app @param {HTMLElement} at */
  constructor(app, at) {
    this.app = app;
    this.sums = h("div", { class: "figures" });
    this.table = new Table(
      [
        { title: "Ended", text: true, value: (f) => f.ended, show: (f) => new Date(f.ended).toLocaleTimeString() },
        { title: "Content", text: true, value: (f) => f.name, hint: "as the client asked for it" },
        { title: "From peers", value: (f) => f.from_peers, show: (f) => bytes(f.from_peers) },
        { title: "From origin", value: (f) => f.from_origin, show: (f) => bytes(f.from_origin) },
        { title: "ms", value: (f) => f.took_ms, show: (f) => count(f.took_ms), hint: "from the request to the end" },
        {
          title: "Went wrong",
          text: true,
          value: (f) => f.error ?? (f.tried ?? []).join("; "),
          show: (f) => (f.error ? `failed: ${f.error}` : (f.tried ?? []).join("; ")),
        },
      ],
      { sort: 0, down: true, key: (f) => f },
    );
    this.lead = h("p", { class: "lead" });
    at.append(
      this.lead,
      h("div", { class: "bar" }, buttons("venn-mirror", { csv: () => csv(this.rows()) })),
      this.sums,
      h("div", { class: "card" }, h("h2", {}, "The last fetches"), this.table.element),
    );
  }

  /** rows are the last fetches, for a file. */
  rows() {
    /** @type {any[][]} */ const rows = [["ended", "content", "sum", "from_peers", "from_origin", "took_ms", "error"]];
    for (const f of this.app.model.mirror?.recent ?? [])
      rows.push([f.ended, f.name, f.sum, f.from_peers, f.from_origin, f.took_ms, f.error ?? ""]);
    return rows;
  }

  draw() {
    const m = this.app.model.mirror;
    this.lead.textContent = m
      ? `Clients ask at http://${m.listen}. What is not in the cache comes from peers that have it, else from the origin.`
      : this.app.model.status.length > 0 // the mirror's state comes with the peer's
        ? "This peer has no mirror."
        : "";
    const came = m ? m.from_peers + m.from_origin : 0;
    this.sums.replaceChildren(
      ...(m
        ? [
            ["from peers", bytes(m.from_peers)],
            ["from origin", bytes(m.from_origin)],
            ["of what came, by peers", came ? percent(m.from_peers / came) : "–"],
            ["from cache", bytes(m.from_cache)],
            ["given to clients", bytes(m.to_clients)],
            ["given to peers", bytes(m.to_peers)],
            ["contents", count(m.files)],
            [`cache, of ${bytes(m.limit)}`, bytes(m.bytes)],
            ["being fetched", count(m.fetching)],
          ]
        : []
      ).map(([l, v]) => h("div", {}, h("div", { class: "l" }, l), h("div", { class: "v" }, v))),
    );
    this.table.set(m?.recent ?? []);
  }
}
