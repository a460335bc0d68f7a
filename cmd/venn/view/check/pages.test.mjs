// Tests of the pages' tables, charts and figures under node, on a document of a few lines. What they look like is for
// view.mjs, in a browser.

import assert from "node:assert/strict";
import { test } from "node:test";
import { element } from "./dom.mjs";
import { random, run } from "./run.mjs";
import { BytesPage } from "../web/bytes.js";
import { ChangePage } from "../web/change.js";
import { csv, percent, bytes, seconds, Table } from "../web/dom.js";
import { GraphPage } from "../web/graph.js";
import { MirrorPage } from "../web/mirror.js";
import { MatrixPage } from "../web/matrix.js";
import { Model } from "../web/model.js";
import { QueriesPage } from "../web/queries.js";
import { Grid, mean } from "../web/series.js";

const header = { venn_view: 1, source: "testnet", network: "n", began: "" };

/** pages makes all pages over a run. The graph is a table: there is no WebGL. */
function pages(log, live = false) {
  const app = { model: new Model(), can: { ask: live, change: live, recorded: !live }, selected: null, dark: () => false, select(n) { app.selected = n; } };
  app.model.add([header, ...log]);
  return { app, all: [GraphPage, MatrixPage, BytesPage, QueriesPage, ChangePage, MirrorPage].map((P) => new P(app, element())) };
}

test("every page can be drawn at any time, whoever is selected and whatever was clicked", () => {
  const log = run(20, 4000), { app, all } = pages(log, true), draw = random(5);
  const [, matrix, byBytes, queries, change] = all;
  for (let i = 0; i < 150; i++) {
    app.model.seek(i % 10 ? draw(app.model.end + 100) : 0);
    if (i % 3 === 0) app.select(draw(3) ? draw(20) : null);
    if (i % 4 === 1) for (const page of [byBytes.links, queries.table, change.table]) page.body.all("tr")[draw(5)]?.click();
    if (i % 5 === 1) matrix.point({ clientX: draw(100), clientY: draw(100) }); // before it is drawn anew
    for (const page of all) page.draw();
    matrix.point({ clientX: draw(100), clientY: draw(100) });
    queries.svg();
    for (const plot of [byBytes.use, byBytes.ways, byBytes.over, change.plot]) plot.rows();
  }
  app.model.add([header]);
  for (const page of all) page.draw();
});

test("a clicked link has no use before its first line", () => {
  const log = run(4, 0).slice(0, 4);
  log.push({ type: "status", t: 10, n: 0, keys: 1, links: 1, origins: 0, parts: 0, bytes: 0, false: 0, sent: 0, received: 0, pubsub: 0, direct: 0, delta: 0, epoch: 0, line_out: 1000, line_in: 1000 });
  for (let t = 10_000; t <= 30_000; t += 10_000) log.push({ type: "links", t, n: 0, links: [[1, "near", 0.5, 3, t, t]] });
  const { app, all } = pages(log), page = all[2];
  page.draw();
  page.links.body.all("tr")[0].click();
  page.draw();
  assert.ok(page.over.series[0].values.some((v) => Math.abs(v - 1) < 1e-9), "1 byte a ms is all of 1000 a second");
  app.model.seek(5000);
  page.draw();
  assert.ok(page.over.series.every((s) => s.values.every((v) => v === null)));
});

test("the page of a mirror tells what came from where, and a failure", () => {
  const fetch = { name: "go/a.zip", sum: "gozip-ab", ended: "2026-01-02T03:04:05Z", took_ms: 12.4, from_peers: 3000, from_origin: 1000 };
  const mirror = { type: "mirror", t: 20, n: 0, listen: "127.0.0.1:5005", files: 2, bytes: 4000, limit: 1e9, fetching: 0, from_peers: 3000, from_origin: 1000, from_cache: 0, to_peers: 0, to_clients: 4000, recent: [fetch, { ...fetch, name: "apt/b.deb", error: "nobody has it" }] };
  const { app, all } = pages([{ type: "peer", t: 0, n: 0, name: "a", id: "a", self: true }, { type: "status", t: 10, n: 0, keys: 1 }, mirror]), page = all[5];
  page.draw();
  assert.match(page.sums.textContent, /75 %/);
  assert.match(page.table.body.textContent, /failed: nobody has it/);
  assert.equal(page.rows().length, 3);
  app.model.seek(10);
  page.draw();
  assert.match(page.lead.textContent, /no mirror/);
  app.model.seek(5);
  page.draw();
  assert.equal(page.lead.textContent, "", "whether it has one is not known yet");
});

test("a table sorts, keeps its order, and says how many more there are", () => {
  const picked = [];
  const t = new Table([{ title: "Name", text: true, value: (r) => r.name }, { title: "n", value: (r) => r.n, show: (r) => `${r.n}!` }], { sort: 1, down: true, limit: 2, key: (r) => r.n, pick: (r) => picked.push(r.n) });
  const shown = () => t.body.all("tr").map((r) => r.all("td")[1].textContent);
  t.set([{ name: "a", n: 1 }, { name: "c", n: 3 }, { name: "b", n: 2 }], 3);
  assert.deepEqual(shown(), ["3!", "2!"]);
  assert.deepEqual(t.body.all("tr").map((r) => r.attributes.get("class") ?? ""), ["on", ""]);
  assert.equal(t.more.textContent, "1 more");
  t.heads[1].all("button")[0].click();
  assert.deepEqual(shown(), ["1!", "2!"]);
  t.heads[0].all("button")[0].click();
  assert.deepEqual(shown(), ["1!", "2!"]);
  t.heads[0].all("button")[0].click();
  assert.deepEqual(shown(), ["3!", "2!"]);
  t.body.all("tr")[1].click();
  assert.deepEqual(picked, [2]);
  assert.equal(t.csv(), "Name,n\r\nc,3\r\nb,2\r\na,1\r\n");
});

test("figures are written as people read them", () => {
  assert.equal(csv([["a,b", 'say "x"', null, 0]]), '"a,b","say ""x""",,0\r\n');
  assert.deepEqual([0, 999, 1000, 99_449, 1e6, 12e12].map(bytes), ["0 B", "999 B", "1.00 kB", "99.4 kB", "1.00 MB", "12000 GB"]);
  assert.deepEqual([0, 1, 0.5, 0.0512, 0.00051].map(percent), ["0 %", "100 %", "50 %", "5.1 %", "0.051 %"]);
  assert.deepEqual([0, 1234, 599_400, 600_000, 725_000, 5_492_800].map(seconds), ["0.0 s", "1.2 s", "599.4 s", "10 min 0 s", "12 min 5 s", "1 h 31 min"]);
});

test("counters that begin late, or again from 0, give no false rates", () => {
  const sums = [[1000, 500_000], [5000, 504_000], [7000, 1000], [11_000, 5000]].map(([t, v]) => ({ t, v }));
  const grid = new Grid(0, 10_000, 2000, 240);
  assert.deepEqual(grid.seconds, [2, 4, 6, 8, 10]);
  assert.deepEqual(grid.rates(sums, (s) => s.v), [null, 1000, 750, 750, 1000]);
  assert.deepEqual(grid.values(sums.slice(0, 2), (s) => s.v), [501_000, 503_000, 504_000, 504_000, 504_000]);
  assert.deepEqual(grid.rates([], (s) => s.v), Array(5).fill(null));
  assert.equal(new Grid(0, 1e6, 2000, 240).step, 5000);
  assert.equal(new Grid(5, 5, 2000, 240).points, 1);
  assert.deepEqual(mean([[1, null, null], [3, 5, null]], 3), [2, 5, null]);
});

test("links of networks beyond 65,536 peers are told apart", () => {
  const m = new Model();
  m.add([header]);
  const link = (to, kind, share) => ({ to, kind, share, rtt: 0, sent: 0, received: 0 });
  m.links[0] = [link(131_073, "near", 0)];
  m.links[1] = [link(65_537, "near", 0), link(262_143, "near", 0), link(0, "random", 0.5)];
  assert.deepEqual(
    GraphPage.prototype.edges.call({ app: { model: m } }).map((e) => [e.a, e.b, e.kind, e.share]),
    [[0, 131_073, "near", 0], [1, 65_537, "near", 0], [1, 262_143, "near", 0], [0, 1, "random", 0.5]],
  );
});
