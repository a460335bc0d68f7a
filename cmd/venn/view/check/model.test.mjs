// Tests of what the page computes, without a browser: node --test.

import assert from "node:assert/strict";
import { test } from "node:test";
import { random, run } from "./run.mjs";
import { levelsPerBit, Model, Row } from "../web/model.js";

const header = { venn_view: 1, source: "testnet", network: "n", began: "" };
/** state returns what a model shows. */
const state = (m) => structuredClone({
  applied: m.applied, now: m.now, peers: m.peers, status: m.status, history: m.history.filter((x) => x?.length), links: m.links,
  linkHistory: m.linkHistory.filter((x) => x?.length), rows: m.rows.map((r) => r && { ...r }), known: m.known.map((k) => k || 0), queries: m.queries, updates: m.updates, phase: m.phase,
  report: m.report,
});

test("any time that is sought shows what a run up to there shows", () => {
  const log = run(20, 9000), m = new Model(), draw = random(7);
  m.add([header, ...log]);
  assert.ok(m.checkpoints.length > 4);
  for (let i = 0; i < 60; i++) {
    const t = draw(m.end + 10);
    m.seek(t);
    const plain = new Model();
    plain.add([header, ...log.filter((l) => l.t <= t)]);
    plain.now = t;
    assert.deepEqual(state(m), state(plain), `at ${t}`);
  }
  m.seek(Infinity);
  const plain = new Model();
  plain.add([header, ...log]);
  assert.deepEqual(state(m), state(plain));
  assert.ok(m.live);
});

test("going back applies few lines, and checkpoints stay few", () => {
  const m = new Model();
  m.add([header, ...run(10, 200_000)]);
  assert.ok(m.checkpoints.length <= 65, `${m.checkpoints.length} checkpoints`);
  let applied = 0;
  const apply = m.apply;
  m.apply = function (l) { applied++; return apply.call(this, l); };
  for (let t = m.end; t > 0; t -= Math.ceil(m.end / 50)) {
    applied = 0;
    m.seek(t);
    assert.ok(applied <= m.spacing, `${applied} lines for ${t}`);
  }
});

test("a paused model takes lines in and shows them later", () => {
  const m = new Model(), log = run(5, 100);
  m.add([header, ...log.slice(0, 50)]);
  m.seek(m.now);
  const shown = state(m);
  m.add(log.slice(50));
  assert.deepEqual(state(m), shown);
  m.seek(Infinity);
  assert.equal(m.applied, log.length);
});

test("a header begins anew", () => {
  const m = new Model();
  m.add([header, ...run(20, 5000)]);
  m.add([header, { type: "peer", t: 3, n: 0, name: "a", id: "a" }]);
  assert.equal(m.all.length, 1);
  assert.equal(m.log.length, 1);
  assert.equal(m.checkpoints.length, 0);
});

test("numbers may come before their peers", () => {
  const m = new Model();
  m.add([header, { type: "status", t: 1, n: 7, keys: 1 }, { type: "links", t: 1, n: 7, links: [[3, "near", 0, 1, 2, 3]] }, { type: "peer", t: 2, n: 3, name: "c", id: "c" }]);
  assert.equal(m.name(7), "a stranger");
  assert.deepEqual([m.all.length, m.watched.length, m.groups.length, m.group(undefined)], [1, 0, 1, ""]);
});

test("updates reach those who learn of them or of later ones", () => {
  const m = new Model();
  m.add([header, { type: "epoch", t: 1, n: 0, sequence: 1, keys: 5, parts: 1, bytes: 9 }, { type: "tail", t: 2, n: 0, sequence: 1, number: 1, added: 1, removed: 0 }]);
  m.add([{ type: "learned", t: 5, n: 1, learned: [[0, 1, 3]] }, { type: "learned", t: 6, n: 2, learned: [[0, 1, 4, 1]] }]);
  const [summary, tail] = m.updates.get(0);
  assert.deepEqual([...summary.reached], [[1, 3], [2, 4]]);
  assert.deepEqual([...tail.reached], [[2, 4]]);
  for (let i = 2; i < 40; i++) m.add([{ type: "epoch", t: i + 10, n: 0, sequence: i, keys: 5, parts: 1, bytes: 9 }]);
  assert.equal(m.updates.get(0).length, 20);
});

test("a row holds what its changes add up to", () => {
  const draw = random(3), row = new Row(), plain = new Map();
  let known = 0;
  for (let i = 0; i < 300; i++) {
    const cells = new Map();
    for (let k = draw(20); k >= 0; k--) {
      const of = draw(50), parts = draw(3);
      cells.set(of, [of, parts, draw(1000), draw(400) / 10]);
    }
    row.change([...cells.values()], (_of, by) => { known += by; });
    for (const [of, parts, bytes, bits] of cells.values()) {
      if (parts) plain.set(of, [Math.min(255, 1 + Math.round(bits * levelsPerBit)), bytes]);
      else plain.delete(of);
    }
    assert.deepEqual([...row.of], [...plain.keys()].sort((a, b) => a - b));
    assert.equal(known, plain.size);
    for (let of = 0; of < 50; of++) {
      assert.equal(row.level(of), plain.get(of)?.[0] ?? 0);
      if (row.find(of) >= 0) assert.equal(row.bytes[row.find(of)], plain.get(of)[1]);
    }
  }
});

test("checkpoints of large rows take bounded memory", () => {
  const m = new Model(), peers = 300;
  m.add([header]);
  for (let t = 0; t < 40; t++) {
    m.add(Array.from({ length: peers }, (_, n) => ({ type: "held", t, n, held: Array.from({ length: t ? 1 : 3000 }, (_, of) => [of, 1, t + 1, 3]) })));
  }
  for (let n = 0; n < 30_000; n++) m.add([{ type: "held", t: 40 + n, n: n % peers, held: [[n % 3000, 1, n, 3]] }]);
  const rows = new Set(m.checkpoints.flatMap((c) => c.rows.filter((r) => r).map((r) => r.of)));
  const bytes = [...rows].reduce((sum, of) => sum + 9 * of.length, 0);
  assert.ok(bytes < 130e6 && m.checkpoints.length > 4, `${bytes} bytes in ${m.checkpoints.length} checkpoints`);
  m.seek(10_000);
  assert.equal(m.rows[0].bytes.length, 3000);
});
